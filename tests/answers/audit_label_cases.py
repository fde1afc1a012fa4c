"""A true and a false text for every rule on labels: the rule speaks of the second and is silent on the first."""

from __future__ import annotations

PAIRS: dict[str, list[tuple[str, str]]] = {
    "direction_contradicted": [
        ("H100 NVLink: 450 GB/s per direction", "H100 NVLink: 900 GB/s per direction"),
        ("NVIDIA B200 SXM 的 NVLink 带宽为双向 1800 GB/s。", "NVIDIA B200 SXM 的 NVLink 带宽为单向 1800 GB/s。"),
    ],
    "link_rate": [
        ("NVLink 5: 100 GB/s bidirectional per link", "NVLink 5: 900 GB/s bidirectional per link"),
        ("H200: 18 NVLink links, 25 GB/s per direction per link", "H200: 18 NVLink links, 450 GB/s per direction per link"),
    ],
    "direction_missing": [
        ("GPU-to-GPU interconnect 700 GB/s per direction", "GPU-to-GPU interconnect 700 GB/s"),
        ("片间互连单向 300GB/s", "片间互连 600GB/s"),
    ],
    "bisection_is_injection": [
        ("GB200 NVL72: 32.4 TB/s bisection bandwidth one way", "GB200 NVL72: 130 TB/s bisection bandwidth"),
        ("GB200 NVL72 聚合带宽 130 TB/s", "GB200 NVL72 对分带宽 130 TB/s"),
    ],
    "bisection_both_ways": [("DGX H100: 1.8 TB/s of bisection bandwidth per direction", "DGX H100: bisection bandwidth 3.6 TB/s")],
    "any_pair_on_mesh": [
        ("MI300X: 64 GB/s per direction between any two GPUs over Infinity Fabric", "MI300X: 896 GB/s between any two GPUs over Infinity Fabric"),
        ("H100: 900 GB/s bidirectional over NVLink between any two GPUs", "MI325X Infinity Fabric：任意两卡之间 896 GB/s"),
    ],
    "mesh_total": [("H100 NVLink: 900 GB/s bidirectional per GPU", "MI300X Infinity Fabric: 896 GB/s bidirectional per GPU")],
    "directions_compared": [
        (
            "NVLink 900 GB/s bidirectional is 7x the 128 GB/s bidirectional of PCIe Gen5",
            "NVLink 900 GB/s bidirectional is 14x the 64 GB/s per direction of PCIe Gen5",
        )
    ],
    "nic_both_directions": [("NIC: 400 Gb/s per direction", "NIC: 400 Gb/s bidirectional")],
    "switch_direction": [
        ("Quantum-2 switch: 25.6 Tb/s per direction", "Quantum-2 switch: 51.2 Tb/s per direction"),
        ("Tomahawk 5 交换机，交换容量单向 51.2 Tb/s", "Tomahawk 5 交换机，交换容量双向 51.2 Tb/s"),
    ],
    "efa_generation": [("EFA v4: 6.4 Tb/s per node", "EFA v3: 6.4 Tb/s per node")],
    "pcie_direction": [
        ("PCIe Gen6 x16: 121 GB/s per direction, 242 GB/s in both directions", "PCIe Gen6 x16: 256 GB/s per direction"),
        ("主机接口 PCIe Gen5 x16，单向 63 GB/s", "主机接口 PCIe Gen5 x16，双向 63 GB/s"),
    ],
    "pcie_too_fast": [("PCIe Gen6 x16: 256 GB/s", "PCIe Gen5 x16: 256 GB/s"), ("PCIe Gen5 x8: 32 GB/s per direction", "PCIe Gen4 x8: 128 GB/s")],
    "bit_or_byte": [
        ("HBM 8 TB/s ; mem 192 GB", "HBM 8Tb/s ; mem 192Gb"),
        ("512台H100服务器，每台8×400G", "Backend network: 3.2T per node"),
        ("网卡 400G", "带宽：４００Ｇ"),
    ],
    "rate_without_time": [("NVLink 1.8TB/s", "NVLink 1.8TB")],
    "per_what": [("带宽：每卡 ４００Ｇ", "带宽：４００Ｇ")],
    "unit_missing": [("IB 800 Gb/s ; lat 500 ns ; power 1000 W", "IB 800 ; lat 500 ; power 1000")],
    "currency_missing": [("budget $2M. options: 4x DGX H100", "budget 2M. options: 4x DGX H100"), ("预算 200 万元", "预算 200万，8 台")],
    "twin_port": [("800G twin-port OSFP (2x400G)", "800G OSFP transceivers")],
    "sparse_as_dense": [
        ("H100 BF16 989 TFLOPS dense", "H100 BF16 1,979 TFLOPS dense"),
        ("B200 FP8 稠密算力 4500 TFLOPS", "B200 FP8 稠密算力 9000 TFLOPS"),
        ("GB200 NVL72: FP8 360 PFLOPS dense", "GB200 NVL72: FP8 720 PFLOPS dense"),
    ],
    "dense_as_sparse": [("H100 BF16 1,979 TFLOPS with sparsity", "H100 BF16 989 TFLOPS with sparsity")],
    "sparse_unlabelled": [
        ("H200: BF16 1979 TF with sparsity", "H200: BF16 1979 TF"),
        ("H100 SXM\nBF16 Tensor Core   1,979 TFLOPS*\n* with sparsity", "H100 SXM\nBF16 Tensor Core   1,979 TFLOPS"),
    ],
    "peak_unclear": [("H100 BF16 989 TFLOPS dense", "H100, 1,979 TFLOPS, 900 GB/s"), ("16384卡 BF16 稠密算力 共 1945P", "16384卡 共 1945P")],
    "peak_as_reached": [
        ("H100 peak of 989 TFLOPS dense in BF16", "H100: training at 989 TFLOPS BF16 per GPU"),
        ("H100 实测训练 400 TFLOPS BF16", "H100 实测训练 989 TFLOPS BF16"),
    ],
    "equivalent_peak": [("X1: 500 TFLOPS BF16 dense", "X1: 2 PFLOPS equivalent"), ("X1 稠密 BF16 算力 500 TFLOPS", "X1 等效算力 2 PFLOPS")],
    "precision_ladder": [
        ("X1: BF16 500 TFLOPS dense, FP8 1,000 TFLOPS dense", "X1: BF16 500 TFLOPS dense, FP8 2,000 TFLOPS dense"),
        ("B300: FP8 4,500 TFLOPS dense, FP4 15 PFLOPS dense", "B300: FP8 4,500 TFLOPS dense, FP4 9 PFLOPS dense"),
    ],
    "cube_and_vector": [("昇腾910B BF16 353.9 TFLOPS", "昇腾910B BF16 376 TFLOPS")],
    "clock_times_units": [
        (
            "H100: 528 tensor cores x 1,024 FLOP per clock x 1.83 GHz = 989 TFLOPS BF16 dense",
            "H100: 528 tensor cores x 1,024 FLOP per clock x 1.83 GHz = 1,979 TFLOPS BF16 dense",
        )
    ],
    "latency_no_basis": [("Latency: 2 us NIC to NIC", "Latency: 2 us"), ("端到端时延 2 us", "时延 2 us")],
    "latencies_compared": [
        ("port-to-port latency fell from 300 ns to 130 ns", "10 us against 0.1 us latency"),
        ("端到端时延从 5 us 降到 4 us", "芯片转发时延 200 ns，对比端到端 5 us"),
    ],
    "latencies_added": [("One hop of latency: 130 ns", "Total latency: 130 ns per hop plus 2 us end to end")],
    "chip_as_end_to_end": [
        ("Broadcom Tomahawk Ultra: latency 250 ns (port to port)", "Broadcom Tomahawk Ultra: latency 250 ns (GPU to GPU)"),
        ("InfiniBand NDR 时延 2 us（端到端）", "NVIDIA Quantum-2 QM9700 时延 330 ns（端到端）"),
    ],
    "end_to_end_as_chip": [("InfiniBand NDR: latency 3 us (end to end)", "InfiniBand NDR: latency 3 us (port to port)")],
    "time_unit": [
        ("NVLink latency 1.5 us GPU to GPU", "NVLink latency 1.5 ms GPU to GPU"),
        ("InfiniBand NDR latency 2 us end to end", "InfiniBand NDR latency 2 ms end to end"),
        ("交换芯片转发时延 130 ns", "交换芯片转发时延 130 us"),
    ],
    "light_in_fibre": [
        ("120 km of fibre add 600 us one way (5 us per km).", "120 km of fibre add 0.6 us one way (5 us per km)."),
        ("120 km 空芯光纤单向时延 410 us", "120 km 光纤单向时延 410 us"),
    ],
    "busbw_above_line": [("H100 all-reduce busbw 370 GB/s over NVLink", "H100 all-reduce busbw 482 GB/s over NVLink")],
    "busbw_impossible": [("MI300X all-reduce busbw 313 GB/s", "MI300X all-reduce busbw 500 GB/s")],
    "power_below_parts": [
        ("GB200 NVL72: rack power 120 kW", "GB200 NVL72: rack power 70 kW"),
        ("Rack power 120 kW, 72 GPUs at 1.2 kW each", "Rack power 70 kW, 72 GPUs at 1.2 kW each"),
        ("GB200 NVL72: 120 kW per rack, of which 72 GPUs x 1,200 W = 86.4 kW", "整柜功率 60 kW，含 72 颗 1200 W GPU"),
    ],
    "supplies_as_draw": [
        (
            "DGX B200: 14.3 kW maximum power draw, 6 power supplies of 3.3 kW (redundant)",
            "DGX B200: 19.8 kW maximum power draw, 6 power supplies of 3.3 kW (redundant)",
        )
    ],
    "either_or": [("Per rack: 120 kW", "Per rack: 120 kW (or 132 kW?)"), ("H20 96G 8卡机", "H20 141G 8卡机 x 2 台（或 96G 版）")],
    "pounds_as_kilograms": [("GB200 NVL72 weighs 1,360 kg", "GB200 NVL72 weighs 3,000 kg")],
    "mass_pair": [("DGX B200 weighs 142.4 kg (313.9 lb).", "DGX B200 weighs 142.4 kg (142.4 lb).")],
    "floor_load": [("GB200 NVL72 weighs 1,360 kg; floor load 2,400 kg/m2", "GB200 NVL72 weighs 1,360 kg; floor load 1,000 kg/m2")],
    "copper_reach": [("800G DAC cables up to 2 m", "800G DAC cables up to 7 m"), ("400G 有源铜缆 AEC 长 5 m", "400G 无源铜缆 DAC 长 5 m")],
    "copper_between_racks": [
        (
            "NVLink domain over 8 racks, connected with optical cables between the racks",
            "NVLink domain over 8 racks, connected with copper cables between the racks",
        )
    ],
    "air_cooled_rack": [
        ("air-cooled racks of 40 kW per rack", "air-cooled racks of 80 kW per rack"),
        ("机柜功率 80 kW，液冷", "机柜功率 80 kW，风冷"),
    ],
    "cooling_differs": [("GB200 NVL72, liquid-cooled, 120 kW", "GB200 NVL72, air-cooled, 120 kW")],
    "domain_beyond_limit": [
        ("UALink pod: 1,024 accelerators in one UALink domain", "UALink pod: 4,096 accelerators in one UALink domain"),
    ],
    "domain_beyond_system": [
        ("GB200 NVL72: 72 accelerators in one NVLink 5 domain", "GB200 NVL72: 576 accelerators in one NVLink 5 domain"),
        ("DGX H100 的单个 NVLink 域 8 卡", "DGX H100 的单个 NVLink 域 32 卡"),
    ],
    "node_is_domain": [("GB200 NVL72: 4 GPUs per node", "GB200 NVL72: 72 GPUs per node")],
    "slots_are_not_cards": [("20 slots for 10 GPUs", "20 slots for 20 GPUs")],
    "database_scale_up": [("Scale-up to 72 GPUs over NVLink", "Oracle database server, scale-up to 8 sockets")],
    "vendor_differs": [
        ("H100 BF16 989 TFLOPS dense", "H100 BF16 800 TFLOPS dense"),
        ("H100 显存带宽 3.35 TB/s", "昇腾910B 显存带宽 1.2 TB/s"),
        ("1,024 H100: 1,013 PFLOPS BF16 dense", "H100 TDP 1200 W"),
    ],
    "other_source": [("昇腾910B BF16 353.9 TFLOPS", "昇腾910B BF16 256 TFLOPS")],
    "disputed": [("B200 memory 180 GB", "B200 memory 192 GB")],
    "other_variant": [("H100 memory bandwidth 2.0 TB/s", "H100 SXM memory bandwidth 2.0 TB/s")],
    "off_by_thousand": [("H200 memory 141 GB", "H200 memory 141 TB"), ("H100 BF16 989 TFLOPS dense", "H100 BF16 989 PFLOPS dense")],
    "second_hand": [("H100 BF16 989 TFLOPS dense", "昇腾910B BF16 353.9 TFLOPS")],
    "two_values": [
        ("昇腾910B\n资料A：显存 64GB\n资料B：显存 64GB HBM2E", "昇腾910B\n资料A：显存 64GB\n资料B：显存 32GB HBM2E"),
    ],
    "gb_and_gib": [
        ("The V100 carries 32 GB (29.8 GiB) of memory.", "The V100 carries 32 GB (32 GiB) of memory."),
        ("910B4 单卡 64GB（60.96 GiB 可用）", "910B4 单卡 64GB（64 GiB）"),
    ],
}  # fmt: skip

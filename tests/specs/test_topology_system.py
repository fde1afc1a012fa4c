"""From a dump to a cluster: which system, how many, which network; what is assumed, asked, refused; and what looks wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tierspan.formats.topology import read_topology
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError
from tierspan.specs.catalog import accelerator_ids, system_ids
from tierspan.specs.topology import TopologyDump
from tierspan.specs.topology_system import cluster_of_topology, describe_topology
from tierspan.specs.topology_system.candidates import accelerator_of, table

LOGS = Path(__file__).parents[2].parent / "shared" / "cases" / "logs"
public = pytest.mark.skipif(not LOGS.is_dir(), reason="the public dumps are not here")


@pytest.fixture(autouse=True)
def strict_messages():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


def matrix(gpus: int = 8, cell: str = "NV18", nics: int = 0, near: str = "PIX", far: str = "SYS", changed: dict | None = None) -> str:
    """A matrix of ``nvidia-smi topo -m`` with one port near each accelerator; ``changed`` maps a pair to another cell."""
    names = [f"GPU{i}" for i in range(gpus)] + [f"NIC{i}" for i in range(nics)]
    changed = changed or {}

    def cell_of(a: str, b: str) -> str:
        if a == b:
            return "X"
        if (a, b) in changed or (b, a) in changed:
            return changed.get((a, b)) or changed[b, a]
        if a[:3] == b[:3] == "GPU":
            return cell
        return near if a[:3] != b[:3] and a[3:] == b[3:] else far

    return "\t" + "\t".join([*names, "CPU Affinity"]) + "\n" + "".join(f"{a}\t" + "\t".join(cell_of(a, b) for b in names) + "\t0-47\n" for a in names)


def links(per_gpu: list[int], rate: float = 26.562, down: int = 0, name: str = "NVIDIA H100 80GB HBM3") -> str:
    """Output of ``nvidia-smi nvlink -s``."""
    text = ""
    for number, count in enumerate(per_gpu):
        text += f"GPU {number}: {name} (UUID: GPU-{number})\n" + "".join(f"\t Link {i}: {rate} GB/s\n" for i in range(count))
        text += "".join(f"\t Link {count + i}: <inactive>\n" for i in range(down if number == 0 else 0))
    return text


def described(text: str, **given):
    return describe_topology(read_topology(text), **given)


def found(text: str, **given) -> dict[str, str]:
    """Findings by id with their severity; each renders in both languages."""
    result = described(text, **given).findings
    for finding in result:
        for lang in ("en", "zh"):
            assert messages.render_finding(finding, lang)
    return {finding.id.removeprefix("topology."): finding.severity for finding in result}


def refused(text: str, **given) -> str:
    with pytest.raises(InputError) as caught:
        described(text, **given)
    for lang in ("en", "zh"):
        assert messages.render_error(caught.value, lang)
    return caught.value.message_id


def test_tables_name_only_what_the_catalogue_has():
    known = set(accelerator_ids())
    assert {row["accelerator"] for row in table("products")} <= known
    assert {name for row in table("architectures") for name in row["accelerators"].split()} <= known
    assert accelerator_of("NVIDIA H100 80GB HBM3") == "h100-sxm5-80gb"
    assert accelerator_of("AMD Instinct MI300X") == "mi300x"
    assert accelerator_of("NVIDIA A100 80GB PCIe") == "a100-pcie-80gb"
    assert accelerator_of("NVIDIA A30") == ""
    # A name that leaves the memory open is no product name.
    assert accelerator_of("A100") == ""


@public
@pytest.mark.parametrize(
    ("name", "system", "accelerators", "node_size", "nic_gbps"),
    [
        ("nccl_topo_oci_h100.xml.txt", "dgx-h100", 8, 8, 360),
        ("nccl_topo_p4de.xml.txt", "dgx-a100", 8, 8, 200),
        ("nccl_topo_rccl_8p_90a.xml.txt", "mi250x-node8", 8, 8, 100),
        ("nebius_mlperf_sd_nccl_debug_2nodes_h100.txt", "dgx-h100", 16, 8, 400),
        ("mlperf_google_h200_8node_prolog_nccl.txt", "dgx-h200", 64, 8, 400),
        ("nvidia_smi_nvlink_s_gb200_k8stestinfra_issue371.txt", "gb200-nvl72", 4, 4, 400),
        ("nvidia_smi_topo_m_gb200_sglang_issue11208.txt", "gb200-nvl72", 4, 4, 400),
        ("nvidia_smi_topo_m_h100_9nic_issue1453.txt", "dgx-h100", 8, 8, 400),
        ("nvidia_smi_topo_m_p4d.24xlarge.txt", "dgx-a100", 8, 8, 200),
        ("nvidia_smi_topo_m_p5.48xlarge.txt", "dgx-h100", 8, 8, 400),
        ("nccl_allreduce_4x_h100_vm_issue309.txt", "dgx-h100", 32, 8, 400),
        ("nccl_allreduce_8x_h100_issue309.txt", "dgx-h100", 64, 8, 400),
        ("nccl_topo_ncv4.xml.txt", "a100-pcie-node8", 4, 4, 25),
    ],
)
def test_public_dumps_become_clusters(name, system, accelerators, node_size, nic_gbps):
    result = describe_topology(read_topology(LOGS / name))
    cluster = result.cluster
    assert (result.system, cluster.accelerators, cluster.node_size) == (system, accelerators, node_size)
    assert cluster.tiers[-1].bandwidth_Bps * 8 / 1e9 == pytest.approx(nic_gbps)
    assert cluster_of_topology(read_topology(LOGS / name)) == (cluster, result.assumptions, result.findings)


@public
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nccl_topo_g5.xml.txt", "topology.no_accelerators"),
        ("nccl_topo_ndv5.xml.txt", "topology.no_system"),
        ("nccl_topo_oci_b4_flattened.xml.txt", "topology.no_system"),
        ("nccl_graph_ncv4.xml.txt", "topology.no_system"),
        ("rocm_smi_showtopo_4gpu_pcie_issue108.txt", "topology.no_system"),
        ("ibnetdiscover_faked_superbench.txt", "topology.fabric_only"),
        ("ibnetdiscover_ndr_dgx_topograph.txt", "topology.fabric_only"),
        ("iblinkinfo_v100_roce_issue71.txt", "topology.fabric_only"),
    ],
)
def test_public_dumps_that_single_nothing_out_are_refused(name, reason):
    with pytest.raises(InputError) as caught:
        describe_topology(read_topology(LOGS / name))
    assert caught.value.message_id == reason
    assert name in messages.render_error(caught.value, "zh")


@public
def test_a_named_accelerator_settles_what_the_dump_leaves_open():
    result = describe_topology(read_topology(LOGS / "nccl_topo_ndv5.xml.txt"), accelerator="H100", accelerators=64)
    assert (result.system, result.cluster.accelerators) == ("dgx-h100", 64)
    fabric = describe_topology(read_topology(LOGS / "ibnetdiscover_ndr_dgx_topograph.txt"), accelerator="H100")
    assert (fabric.cluster.accelerators, fabric.nic_Bps) == (122 * 8, 25e9)
    assert {finding.id for finding in fabric.findings} >= {"topology.ask.nic", "topology.fabric_host_ports"}
    assert describe_topology(read_topology(LOGS / "nccl_topo_oci_h100.xml.txt"), system="hgx-h100").system == "hgx-h100"


@public
def test_findings_of_public_dumps():
    def ids(name: str) -> set[str]:
        return {finding.id.removeprefix("topology.") for finding in describe_topology(read_topology(LOGS / name)).findings}

    assert ids("nccl_topo_oci_h100.xml.txt") == {"nic_rate", "pcie_bridge"}
    assert ids("nccl_topo_p4de.xml.txt") == {"ask.nic", "pcie_card"}
    assert ids("nccl_topo_rccl_8p_90a.xml.txt") == {"nic_management", "nic_none"}
    assert ids("nvidia_smi_topo_m_h100_9nic_issue1453.txt") == {"ask.accelerator", "nic_far", "unread"}
    assert ids("nvidia_smi_topo_m_gb200_sglang_issue11208.txt") == {"ask.accelerator", "ask.nic", "no_direct_path", "unread"}
    assert ids("nvidia_smi_nvlink_s_gb200_k8stestinfra_issue371.txt") == {"ask.cut", "unread"}
    assert ids("mlperf_google_h200_8node_prolog_nccl.txt") == set()
    assert ids("nccl_v100_optcast_4ranks_with_stats.txt") == {"mixed_products"}


def test_links_and_their_rate_tell_the_generation():
    ambiguous = described(matrix())
    assert ambiguous.system == "dgx-h100"
    (asked,) = [finding for finding in ambiguous.findings if finding.id == "topology.ask.accelerator"]
    assert asked.severity == "question"
    assert {"h100-sxm5-80gb", "h200-sxm", "b200-sxm"} <= set(str(asked.values["candidates"]).split(", "))
    assert "accelerator" in {taken.field for taken in ambiguous.assumptions}
    # With the rate of a link NVLink 5 is told from NVLink 4.
    unnamed = links([18] * 8, 53.125).replace("NVIDIA H100 80GB HBM3", "")
    assert {"b200-sxm"} <= set(str(described(unnamed).findings[0].values["candidates"]).split(", "))
    assert "h100-sxm5-80gb" not in str(described(unnamed).findings[0].values["candidates"])
    # A name leaves no question.
    assert found(matrix() + links([18] * 8)) == {}
    assert described(matrix() + links([18] * 8)).cluster.accelerators == 8
    assert found(matrix(), accelerator="H200") == {}
    assert described(matrix(), accelerator="H200").system == "dgx-h200"
    assert described(matrix(cell="NV12")).system == "dgx-a100"
    assert described(matrix(16, "NV6")).system == "dgx-2"


def test_what_no_catalogue_system_has_is_refused():
    assert refused(matrix(cell="NV4")) == "topology.no_system"
    assert refused(matrix(cell="SYS")) == "topology.no_system"
    assert refused(links([18] * 8, name="NVIDIA X900")) == "topology.product_unknown"
    assert refused(matrix(16), accelerator="H100") == "topology.host_too_large_for"
    assert refused(matrix(16), system="dgx-h100") == "topology.host_too_large"


CUBE_MESH = {"NV1": "01 02 13 26 37 45 46 57", "NV2": "03 04 12 15 23 47 56 67"}


def test_cube_mesh_of_v100_is_uneven_by_design():
    cells = {(f"GPU{pair[0]}", f"GPU{pair[1]}"): cell for cell, pairs in CUBE_MESH.items() for pair in pairs.split()}
    text = matrix(cell="SYS", changed=cells)
    assert {gpu.links for gpu in read_topology(text).nodes[0].gpus} == {6}
    assert described(text).system == "dgx-v100"
    assert found(text) == {}
    assert found(matrix(cell="SYS", changed={**cells, ("GPU6", "GPU7"): "NV1"})) == {"links_fewer": "warning"}


def test_meshes_of_four():
    assert described(matrix(4, "NV2")).system.startswith("v100-node4")
    assert found(matrix(4, "NV4"), accelerator="A100-SXM4-80GB") == {"direct_mesh": "warning"}


def test_links_that_are_missing():
    assert found(matrix(changed={("GPU1", "GPU2"): "NV16"}), accelerator="H100") == {"pair_fewer": "warning"}
    assert found(matrix(changed={("GPU1", "GPU2"): "NODE"}), accelerator="H100") == {"pair_none": "error"}
    assert found(links([18] * 7 + [16])) == {"links_fewer": "warning"}
    assert found(links([16] + [18] * 7, down=2)) == {"links_down": "error"}
    assert found(links([12] * 8)) == {"links_differ": "warning"}


def test_ports_and_paths():
    near = matrix(nics=8)
    assert found(near, accelerator="H100") == {}
    assert "nic_far" not in found(matrix(nics=8, near="PHB"), accelerator="H100")
    assert found(matrix(nics=8, near="SYS"), accelerator="H100") == {"no_direct_path": "question"}
    assert found(matrix(nics=9), accelerator="H100") == {"nic_far": "warning"}
    assert found(matrix(nics=7), accelerator="H100") == {"ask.nic": "question", "no_direct_path": "warning"}
    assert found(matrix(nics=4, gpus=8), accelerator="H100")["ask.nic"] == "question"


XML = """<system version="1"><cpu numaid="0"><pci busid="b" class="0x060400" link_speed="{bridge} GT/s PCIe" link_width="16">
<pci busid="g0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="{width}"><gpu dev="0" sm="90" gdr="1">
<nvlink target="s" count="18" tclass="0x068000"/></gpu></pci>
<pci busid="g1" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="90" gdr="1">
<nvlink target="s" count="18" tclass="0x068000"/></gpu></pci>
<pci busid="n0" class="0x020700" link_speed="{nic_speed} GT/s PCIe" link_width="16">
<nic><net name="mlx5_0" dev="0" speed="{speed}" gdr="{gdr}"/></nic></pci>
<pci busid="n1" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"><nic><net name="mlx5_1" dev="1" speed="400000" gdr="1"/></nic></pci>
</pci></cpu></system>
"""
HEALTHY = {"bridge": "32.0", "width": 16, "nic_speed": "32.0", "speed": 400000, "gdr": 1}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {}),
        ({"width": 8}, {"pcie_card": "warning"}),
        ({"bridge": "8.0"}, {"pcie_bridge": "question"}),
        ({"nic_speed": "16.0"}, {"nic_pcie": "warning"}),
        ({"speed": 200000}, {"nic_slower": "warning"}),
        ({"speed": 390000}, {"nic_slower": "warning", "nic_rate": "question"}),
        ({"gdr": 0}, {"gdr_off": "warning"}),
        ({"speed": 1000, "gdr": 0}, {"nic_management": "info"}),
    ],
)
def test_pcie_and_rates_of_an_xml_dump(changed, expected):
    assert found(XML.format(**HEALTHY | changed)) == expected


def test_rates_are_per_accelerator():
    result = described(XML.format(**HEALTHY))
    assert (result.nic_Bps, result.node_size, result.cluster.accelerators) == (50e9, 2, 2)
    assert result.settings == {"system": "dgx-h100", "node_size": 2, "nic_Bps": 50e9}
    assert described(XML.format(**HEALTHY | {"speed": 1000, "gdr": 0})).nic_Bps == 25e9


def test_unknown_pcie_card_is_compared_with_the_others():
    text = XML.format(**HEALTHY | {"width": 8}).replace('device="0x2330"', 'device="0x9999"')
    assert found(text, accelerator="H100") == {"pcie_others": "warning"}


def log(*messages_: str, ranks: int = 2) -> str:
    head = [f"h{i}:1:1 [0] NCCL INFO comm 0x1 rank {i} nranks {ranks} cudaDev 0 nvmlDev 0 busId 1 - Init START" for i in range(ranks)]
    return "\n".join([*head, *(f"h0:1:1 [0] NCCL INFO {message}" for message in messages_), ""])


def test_what_the_library_says():
    assert found(log("Using network Socket"), accelerator="H100") == {"socket": "error"}
    assert found(log("Using network IB", "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0"), accelerator="H100") == {"gdr_log": "warning"}
    assert found(log("Using network IB", "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA"), accelerator="H100") == {}
    assert found(log("NVLS multicast support is not available on dev 0"), accelerator="H100") == {"nvls_off": "warning"}
    assert found(log("NVLS multicast support is not available on dev 0"), accelerator="A100") == {}
    assert found(log("Channel 00 : 0[0] -> 1[0] via SHM/direct/direct"), accelerator="H100") == {"shared_memory": "warning"}


def test_hosts_that_differ():
    text = log("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB") + "h1:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n"
    assert found(text, accelerator="H100") == {"host_ports": "warning", "ask.nic": "question"}
    both = "".join(f"{host}: {line}\n" for host, gpus in (("a", 8), ("b", 4)) for line in matrix(gpus).splitlines())
    assert found(both, accelerator="H100")["host_size"] == "warning"


def test_sick_links_of_a_fabric():
    rows = "".join(f'  3 {i}[ ] ==( 4X 106.25 Gbps Active/ LinkUp)==> {i} 1[ ] "n{i} HCA-1" ( )\n' for i in range(10, 14))
    head = "Switch: 0x1 MF0;leaf:MQM9700/U1:\n"

    def ids(row: str) -> dict[str, str]:
        return found(head + rows + row, accelerator="H100")

    base = ids("")
    assert set(base) == {"ask.nic"}
    assert ids('  3 20[ ] ==( 2X 106.25 Gbps Active/ LinkUp)==> 20 1[ ] "n20 HCA-1" ( Could be 4X)\n') == {**base, "fabric_could_be": "warning"}
    assert ids('  3 20[ ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 20 1[ ] "n20 HCA-1" ( )\n') == {**base, "fabric_slower": "warning"}
    assert ids('  3 20[ ] ==( 4X 106.25 Gbps Init/ LinkUp)==> 20 1[ ] "n20 HCA-1" ( )\n') == {**base, "fabric_state": "error"}
    assert ids('  3 20[ ] ==( Down/ Polling)==> [ ] "" ( )\n') == {**base, "fabric_ports_down": "info"}


def test_leaves_with_too_few_uplinks():
    text = 'Switch 65 "S-1" # "MF0;leaf" base port 0\n' + "".join(f'[{i}] "H-{i}"[1](0) # "n{i} mlx5_0" lid 2 4xNDR\n' for i in range(1, 5))
    assert "fabric_blocking" not in found(text + "".join(f'[{i}] "S-2"[{i}] # "MF0;spine" lid 9 4xNDR\n' for i in range(9, 13)), accelerator="H100")
    assert found(text + '[9] "S-2"[9] # "MF0;spine" lid 9 4xNDR\n', accelerator="H100")["fabric_blocking"] == "info"


def test_a_caller_that_names_another_accelerator_is_told():
    assert found(links([18] * 8), accelerator="H200") == {"told_differs": "warning"}


def test_a_mixed_dump_and_an_empty_one():
    text = links([18] * 8).replace("GPU 7: NVIDIA H100 80GB HBM3", "GPU 7: NVIDIA H200")
    assert found(text)["mixed_products"] == "warning"
    empty = replace(read_topology(matrix()), parts=())
    assert isinstance(empty, TopologyDump)
    with pytest.raises(InputError, match="no accelerators"):
        describe_topology(empty)


def test_every_system_with_links_is_found_again_by_its_accelerator():
    from tierspan.specs.catalog import system
    from tierspan.specs.topology_system.candidates import link_fact

    for name in system_ids():
        one = system(name)
        count = link_fact(one)
        if count and one.tiers[0].transport == "nvlink" and one.tiers[0].topology == "switched":
            result = described(matrix(one.node_size, f"NV{count}"), accelerator=one.accelerator)
            assert result.cluster.accelerator.id == one.accelerator
            assert result.cluster.node_size == one.node_size


def test_amd_meshes():
    table_of = "\n".join("GPU{}  {}".format(a, "  ".join("0" if a == b else "{cell}" for b in range(8))) for a in range(8))
    head = "       " + "  ".join(f"GPU{i}" for i in range(8))
    text = "".join(
        f"===== {title} between two GPUs =====\n{head}\n{table_of.replace('{cell}', cell)}\n"
        for title, cell in (("Weight", "15"), ("Hops", "1"), ("Link Type", "XGMI"))
    )
    result = described(text)
    assert result.system == "mi300x-node8"
    asked = next(finding for finding in result.findings if finding.id == "topology.ask.accelerator")
    assert asked.values["candidates"] == "mi300x, mi325x, mi350x, mi355x"
    assert found(text, accelerator="MI355X") == {}


def test_texts_of_findings_and_refusals():
    text = matrix(nics=9, changed={("GPU1", "GPU2"): "NV16"})
    told = [messages.render_finding(finding) for finding in described(text, accelerator="H100").findings]
    assert told == [
        "warning: line 1: GPU1 and GPU2 are joined by 16 links, the other pairs by 18\n"
        "  remedy: Look at nvidia-smi nvlink -s for both; a link is down.",
        "warning: line 1: behind SYS to every accelerator, while other ports are near: NIC8 (1 in all); "
        "taken for storage or management and not counted\n"
        "  remedy: Keep the library off them: NCCL_IB_HCA=^...; if they are meant for collectives, move them to another slot.",
    ]
    assert messages.render_finding(described(text, accelerator="H100").findings[0], "zh") == (
        "警告：line 1：GPU1 与 GPU2 之间有 16 条链路，其他各对有 18 条\n  处理办法：请查看两者的 nvidia-smi nvlink -s；有链路断开。"
    )
    with pytest.raises(InputError) as caught:
        described(matrix(cell="NV4"))
    assert str(caught.value) == (
        "error: 8 accelerators with 4 scale-up links each that are told: no system of the catalogue is singled out\n"
        "  remedy: Name the accelerator beside the dump (--accelerator H100), or name the system instead of the dump (--system dgx-h100)."
    )

"""Forms that dumps come in: tags of launchers, timestamps, ANSI codes, interleaved hosts, legends, cut and broken XML, inactive links."""

from __future__ import annotations

import pytest

from tierspan.formats.topology import read_topology, recognise
from tierspan.formats.topology.base import clean_lines
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError

MATRIX = """\
        GPU0    GPU1    NIC0    mlx5_1  CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      NV18    PIX     SYS     0-47    0               N/A
GPU1    NV18     X      NODE    PXB     48-95   1               N/A
NIC0    PIX     NODE     X      SYS
mlx5_1  SYS     PXB     SYS      X

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
"""
TOPOLOGY = """\
<system version="1">
  <cpu host_hash="0x1" numaid="0" arch="x86_64" vendor="GenuineIntel">
    <pci busid="0000:0a:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:0f:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0000:1c:00.0" count="18" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:0c:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x9a" maxconn="131072" gdr="1" coll="1"/></nic>
      </pci>
    </pci>
  </cpu>
</system>
"""


@pytest.fixture(autouse=True)
def strict_messages():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


def test_matrix_with_legend():
    (host,) = read_topology(MATRIX).nodes
    assert [nic.name for nic in host.nics] == ["mlx5_0", "mlx5_1"]
    assert host.nics[0].paths == {"GPU0": "PIX", "GPU1": "NODE"}
    assert host.between("GPU0", "GPU1").count == 18
    assert [gpu.numa for gpu in host.gpus] == ["0", "1"]


@pytest.mark.parametrize(
    "prefix",
    ["[1,0]<stdout>:", "[0] ", "0: ", "2026-03-01T10:00:00.123456789Z ", "[2026-03-01 10:00:00] ", "\x1b[32m", "[pod/worker-0/main] ", "node07: "],
)
def test_prefixes_fall_away(prefix):
    found = read_topology("".join(f"{prefix}{line}\n" for line in MATRIX.splitlines()))
    (host,) = found.nodes
    assert (len(host.gpus), len(host.nics), len(host.links)) == (2, 2, 1)
    assert found.unread == ()
    assert host.host == {"[pod/worker-0/main] ": "worker-0/main", "node07: ": "node07"}.get(prefix, "")


def test_interleaved_hosts_come_apart():
    other = MATRIX.replace("NV18", "NV12")
    both = [f"{tag}: {line}" for pair in zip(MATRIX.splitlines(), other.splitlines(), strict=True) for tag, line in zip("ab", pair, strict=True)]
    found = read_topology("\n".join(both))
    assert [(host.host, host.links[0].count) for host in found.nodes] == [("a", 18), ("b", 12)]


def test_matrix_cells_that_disagree_or_are_unknown_are_told():
    found = read_topology(MATRIX.replace("NV18     X ", "NV17     X ").replace("NODE    PXB", "WEIRD    PXB"))
    assert {unread.reason_id for unread in found.unread} == {"topology.unread.asymmetric", "topology.unread.cell"}
    (host,) = found.nodes
    assert host.links[0].count == 18
    assert host.nics[0].paths == {"GPU0": "PIX", "GPU1": "NODE"}


def test_matrix_without_affinity_columns_and_old_codes():
    (host,) = read_topology("\tGPU0\tGPU1\nGPU0\t X \tSOC\nGPU1\tSOC\t X \n").nodes
    assert host.links[0].path == "SYS"


def test_missing_rows_are_filled_from_the_others():
    text = "\n".join(line for line in MATRIX.splitlines() if not line.startswith("GPU1"))
    found = read_topology(text + "\n...\n")
    (host,) = found.nodes
    assert host.links[0].count == 18
    assert host.nics[1].paths == {"GPU0": "SYS", "GPU1": "PXB"}
    assert {unread.reason_id for unread in found.unread} == {"topology.unread.row_missing", "topology.unread.elided"}


def test_xml_is_read_whole():
    found = read_topology(TOPOLOGY)
    (host,) = found.nodes
    assert host.whole
    assert (host.gpus[0].links, host.nics[0].rate_Bps, host.nics[0].sharp) == (18, 50e9, True)
    assert host.nics[0].paths == {"GPU0": "PIX"}
    assert found.unread == ()


def test_xml_that_was_cut_or_lacks_its_head_is_salvaged():
    cut = read_topology(TOPOLOGY[: TOPOLOGY.index("</nic>")])
    assert (len(cut.nodes[0].gpus), len(cut.nodes[0].nics), cut.nodes[0].whole) == (1, 1, False)
    assert cut.unread[-1].reason_id == "topology.unread.cut"
    headless = read_topology("\n".join(TOPOLOGY.splitlines()[2:]))
    assert (len(headless.nodes[0].gpus), len(headless.nodes[0].nics)) == (1, 1)
    elided = read_topology(TOPOLOGY.replace("  </cpu>", "  ...\n  </cpu>"))
    assert [unread.reason_id for unread in elided.unread] == ["topology.unread.elided"]


def test_xml_in_one_line_with_prefix_and_comments():
    flat = " ".join(TOPOLOGY.split("\n"))
    assert len(read_topology(f"# source: somewhere\n<!-- a\ncomment <gpu dev='7'/> -->{flat}\n").nodes[0].gpus) == 1
    assert len(read_topology("".join(f"[0] {line}\n" for line in TOPOLOGY.splitlines())).nodes[0].nics) == 1


def test_xml_entities_are_never_expanded():
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY x SYSTEM "file:///etc/hostname">]>\n' + TOPOLOGY.replace(
        "mlx5_0", "&x;&a;"
    )
    (host,) = read_topology(bomb).nodes
    assert host.nics[0].name == "&x;&a;"


def test_xml_nested_too_deep_is_refused():
    with pytest.raises(InputError, match="nested deeper"):
        read_topology("<system>\n" + '<pci busid="x">' * 100)


def test_a_fused_file_comes_apart_by_host():
    second = TOPOLOGY.replace("0x1", "0x2").split("\n", 1)[1]
    found = read_topology(TOPOLOGY.replace("</system>\n", "") + second)
    assert [(host.host, len(host.gpus), len(host.nics)) for host in found.nodes] == [("0x1", 1, 1), ("0x2", 1, 1)]


def test_nvlink_with_inactive_links_and_another_command_behind():
    rate = "26.562 GB/s"
    text = f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n\t Link 0: {rate}\n\t Link 1: <inactive>\n\t Link 2: {rate}\nTue Mar  3\n\t Link 3: {rate}\n"
    (host,) = read_topology(text).nodes
    gpu = host.gpus[0]
    assert (gpu.name, gpu.links, gpu.links_down, gpu.link_Bps) == ("NVIDIA H100 80GB HBM3", 2, 1, 26.562e9)


def test_rocm_xgmi_with_numa():
    text = (
        "===== Hops between two GPUs =====\n       GPU0  GPU1\nGPU0   0     1\nGPU1   1     0\n"
        "===== Link Type between two GPUs =====\n       GPU0  GPU1\nGPU0   0     XGMI\nGPU1   XGMI  0\n"
        "===== Numa Nodes =====\nGPU[0]\t\t: (Topology) Numa Node: 0\nGPU[1]\t\t: (Topology) Numa Node: 1\n===== End of ROCm SMI Log =====\n"
    )
    found = read_topology(text)
    (host,) = found.nodes
    assert (host.links[0].kind, host.links[0].hops, [gpu.numa for gpu in host.gpus]) == ("xGMI", 1, ["0", "1"])
    assert found.unread == ()


LOG = """\
h1:1:2 [0] NCCL INFO NCCL version 2.23.4+cuda12.6
h1:1:2 [0] NCCL INFO NET/IB: [0] mlx5_0:uverbs0:1/RoCE provider=Mlx5 speed=400000 context=0x55 pciPath=/sys/devices/x ar=0
h1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>h1:1:3 [1] NCCL INFO NVLS multicast support is not available on dev 1
h1:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'
h1:1:2 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START
h1:1:3 [1] NCCL INFO ncclCommInitRank comm 0x5b rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2000 commId 0x1 - Init START
h1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0
h1:1:2 [0] NCCL INFO 4096 Bytes -> Algo 1 proto 2 time 25.8
h1:1:2 [0] NCCL WARN Call to ibv_modify_qp failed
h1:1:2 [0] NCCL INFO comm 0x5a rank
"""


def test_nccl_log_forms():
    found = read_topology(LOG)
    (report,) = found.reports
    assert (report.version, report.ranks, len(report.gpus)) == ("2.23.4+cuda12.6", 2, 2)
    (nic,) = report.nics
    assert (nic.name, nic.rate_Bps, nic.link_layer, nic.gpu_direct) == ("mlx5_0", 50e9, "RoCE", False)
    assert report.nvls is False
    assert report.gpu_direct is False
    assert report.transports == {"NET/IB": 1}
    assert report.algorithms == ("ring/Simple",)
    assert report.warnings == ("Call to ibv_modify_qp failed",)
    assert [unread.line for unread in found.unread] == [10]


def test_nccl_log_over_sockets_and_ofi():
    text = "h:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0> [1]eth1:fe80::1%eth1<0>\nh:1:1 [0] NCCL INFO Using network Socket\n"
    (report,) = read_topology(text).reports
    assert (report.network, report.nics[0].name) == ("Socket", "eth0")
    (report,) = read_topology(
        "h:1:1 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa\nh:1:1 [0] NCCL INFO Using network AWS Libfabric\n"
    ).reports
    assert report.network == "AWS Libfabric"
    assert report.plugins == ("OFI efa",)
    edge = "h:1:1 [3] NCCL INFO Channel 00/0 : 1[1] -> 0[0] [receive] via NET/AWS Libfabric/4(0)/GDRDMA comm 0x1 nRanks 2\n"
    (report,) = read_topology(edge).reports
    assert (report.transports, report.gpu_direct) == ({"NET/AWS Libfabric/GDRDMA": 1}, True)
    new = "h:1:1 [3] NCCL INFO comm 0x5a rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0\n"
    (report,) = read_topology(new).reports
    assert (report.ranks, report.gpus[0].id) == (16, "GPU3")


LINKS = """\
Switch: 0x0c42a10300b95bfa MF0;leaf1:MQM8700/U1:
           3    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       1    1[  ] "node00 HCA-1" ( )
           3    2[  ] ==( 2X        53.125 Gbps Active/  LinkUp)==>       2    1[  ] "node01 HCA-1" ( Could be 4X)
           3    3[  ] ==(                Down/ Polling)==>             [  ] "" ( )
           3    4[  ] ==( 4X        53.125 Gbps   Init/  LinkUp)==>       4    1[  ] "node02 HCA-1" ( )
           3    5[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       5    1[  ] "node03 HCA-1" ( )
"""


def test_iblinkinfo_down_and_degraded():
    found = read_topology(LINKS)
    (fabric,) = found.fabrics
    assert [(link.width, link.rate_Bps, link.could_be) for link in fabric.links] == [
        (4, 25e9, ""), (2, 12.5e9, "Could be 4X"), (4, 25e9, ""), (4, 12.5e9, ""),
    ]  # fmt: skip
    assert [(port.port, port.state) for port in fabric.ports_down] == [(3, "Down/ Polling")]
    assert fabric.links[2].state == "Init/LinkUp"
    assert found.unread == ()


def test_ibnetdiscover_with_prefix_keeps_its_port_numbers():
    text = 'Switch\t41 "S-01"\t\t# "MF0;s:MQM8700/U1" base port 0 lid 1 lmc 0\n[17]\t"H-02"[1](02) \t\t# "n1 mlx5_0" lid 2 4xHDR\n'
    for prefix in ("", "[0] ", "node01: "):
        (fabric,) = read_topology("".join(f"{prefix}{line}\n" for line in text.splitlines())).fabrics
        assert [(link.a, link.a_port, link.b, link.b_port) for link in fabric.links] == [("S-01", 17, "H-02", 1)]


def test_a_bundle_of_two_commands_is_read_whole():
    found = read_topology(MATRIX + "\n$ nvidia-smi nvlink -s\nGPU 0: NVIDIA H200 (UUID: x)\n\t Link 0: 26.562 GB/s\n")
    assert recognise(MATRIX + TOPOLOGY) == ("nccl-topology", "nvidia-smi-topo")
    assert len(found.parts) == 2


@pytest.mark.parametrize("text", ["hello\nworld\n", "GPU0 GPU1\n", "<html>\n</html>\n", "Rank 0\n"])
def test_what_is_no_dump_is_refused_with_a_remedy(text):
    with pytest.raises(InputError) as caught:
        read_topology(text)
    assert caught.value.message_id == "topology.unknown_format"
    for lang in ("en", "zh"):
        assert "NCCL_TOPO_DUMP_FILE" in messages.render_error(caught.value, lang)


def test_files_that_cannot_be_read(tmp_path):
    for name, content, message in (
        ("none.txt", None, "file.not_found"), ("empty.txt", b"  \n", "file.empty"), ("binary.txt", b"\x00\x01\x02", "file.not_text"),
    ):  # fmt: skip
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_topology(path)
        assert caught.value.message_id == message
        assert recognise(path) == ()
    with pytest.raises(InputError) as caught:
        read_topology(tmp_path)
    assert caught.value.message_id == "file.unreadable"


def test_utf16_and_stray_bytes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(MATRIX.encode("utf-16"))
    assert len(read_topology(path).nodes[0].gpus) == 2
    path.write_bytes(MATRIX.encode() + b"\xff\xfe garbage\n")
    assert len(read_topology(path).nodes[0].gpus) == 2


def test_overlong_lines_and_control_codes_are_cut():
    (line,) = clean_lines("\x1b[4mGPU0\x07\t" + "x" * 100_000)
    assert line.text.startswith("GPU0\t")
    assert len(line.text) <= 20_000

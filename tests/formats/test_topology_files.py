"""The public dumps: every file is read with the counts and rates that stand in it, or refused with a reason."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tierspan.formats.topology import read_topology, recognise
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError
from tierspan.specs.topology import PcieLink

LOGS = Path(__file__).parents[2].parent / "shared" / "cases" / "logs"
KINDS = {
    "iblinkinfo_v100_roce_issue71.txt": "iblinkinfo",
    "ibnetdiscover_faked_superbench.txt": "ibnetdiscover",
    "ibnetdiscover_ndr_dgx_topograph.txt": "ibnetdiscover",
    "mlperf_google_h200_8node_prolog_nccl.txt": "nccl-log",
    "nccl_graph_ncv4.xml.txt": "nccl-graph",
    "nccl_topo_g5.xml.txt": "nccl-topology",
    "nccl_topo_ncv4.xml.txt": "nccl-topology",
    "nccl_topo_ndv5.xml.txt": "nccl-topology",
    "nccl_topo_oci_b4_flattened.xml.txt": "nccl-topology",
    "nccl_topo_oci_h100.xml.txt": "nccl-topology",
    "nccl_topo_p4de.xml.txt": "nccl-topology",
    "nccl_topo_rccl_8p_90a.xml.txt": "nccl-topology",
    "nebius_mlperf_sd_nccl_debug_2nodes_h100.txt": "nccl-log",
    "nvidia_smi_nvlink_s_gb200_k8stestinfra_issue371.txt": "nvlink-status",
    "nvidia_smi_topo_m_gb200_sglang_issue11208.txt": "nvidia-smi-topo",
    "nvidia_smi_topo_m_h100_9nic_issue1453.txt": "nvidia-smi-topo",
    "nvidia_smi_topo_m_p4d.24xlarge.txt": "nvidia-smi-topo",
    "nvidia_smi_topo_m_p5.48xlarge.txt": "nvidia-smi-topo",
    "rocm_smi_showtopo_4gpu_pcie_issue108.txt": "rocm-smi-topo",
}

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="the public dumps are not here")


@pytest.fixture(autouse=True)
def strict_messages():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


def dump(name: str):
    return read_topology(LOGS / name)


def node(name: str):
    (found,) = dump(name).nodes
    return found


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_every_dump_is_recognised_as_one_kind_and_what_was_not_read_is_told(name, kind):
    assert recognise(LOGS / name) == (kind,)
    found = dump(name)
    assert found.kind == kind
    assert found.parts
    for unread in found.unread:
        for lang in ("en", "zh"):
            assert messages.text(unread.reason_id, lang, **unread.values)


def test_every_other_log_is_read_or_refused():
    for path in sorted(LOGS.iterdir()):
        reason = ""
        try:
            assert read_topology(path).parts
        except InputError as error:
            reason = error.message_id + messages.render_error(error, "zh")
        assert reason == "" or reason.startswith(("topology.unknown_format", "topology.nothing_read")), path.name


def test_nccl_topology_of_oci_h100():
    found = node("nccl_topo_oci_h100.xml.txt")
    assert (len(found.gpus), len(found.nics), found.cpus) == (8, 16, 2)
    assert {gpu.links for gpu in found.gpus} == {18}
    assert {gpu.switched for gpu in found.gpus} == {True}
    assert {gpu.pci_id for gpu in found.gpus} == {"10de:2330"}
    assert {gpu.name for gpu in found.gpus} == {"NVIDIA H100 80GB HBM3"}
    assert {gpu.architecture for gpu in found.gpus} == {"sm90"}
    assert {nic.rate_Bps for nic in found.nics} == {180_000e6 / 8}
    assert found.gpus[0].pcie == PcieLink(32e9, 16)
    assert found.bridges["0000:08:00.0"] == PcieLink(5e9, 16)
    for number, nic in enumerate(found.nics):
        paths = Counter(nic.paths.values())
        assert paths == {"PXB": 1, "PHB": 3, "SYS": 4}, nic.name
        assert nic.paths[f"GPU{number // 2}"] == "PXB"
    assert [gpu.numa for gpu in found.gpus] == ["0"] * 4 + ["1"] * 4


def test_nccl_topology_of_azure_ndv5_written_by_hand():
    found = node("nccl_topo_ndv5.xml.txt")
    assert (len(found.gpus), len(found.nics)) == (8, 8)
    assert all(nic.paths[f"GPU{number}"] == "PIX" for number, nic in enumerate(found.nics))
    assert {nic.rate_Bps for nic in found.nics} == {None}
    assert {nic.link_layer for nic in found.nics} == {"InfiniBand"}
    assert {gpu.name for gpu in found.gpus} == {""}
    assert {gpu.pcie for gpu in found.gpus} == {PcieLink(32e9, 16)}


def test_nccl_topology_of_azure_ncv4_has_links_to_themselves():
    found = dump("nccl_topo_ncv4.xml.txt")
    (host,) = found.nodes
    assert (len(host.gpus), len(host.nics), host.cpus) == (4, 1, 4)
    assert host.nics[0].rate_Bps == 100e9 / 8
    assert host.nics[0].gpu_direct is False
    assert host.nics[0].paths == {"GPU0": "PHB", "GPU1": "SYS", "GPU2": "SYS", "GPU3": "SYS"}
    assert [unread.reason_id for unread in found.unread] == ["topology.unread.self_link"] * 4
    assert {link.kind for link in host.links} == {"PCIe"}
    assert {gpu.name for gpu in host.gpus} == {"NVIDIA A100 80GB PCIe"}


def test_nccl_topology_of_p4de_has_pairs_behind_one_switch():
    found = node("nccl_topo_p4de.xml.txt")
    assert (len(found.gpus), len(found.nics)) == (8, 4)
    assert {gpu.pcie for gpu in found.gpus} == {PcieLink(8e9, 16)}
    assert {gpu.pcie_card for gpu in found.gpus} == {PcieLink(16e9, 16)}
    for number, nic in enumerate(found.nics):
        near = sorted(gpu for gpu, path in nic.paths.items() if path == "PIX")
        assert near == [f"GPU{2 * number}", f"GPU{2 * number + 1}"]


def test_nccl_topology_of_oci_b4():
    found = node("nccl_topo_oci_b4_flattened.xml.txt")
    assert (len(found.gpus), len(found.nics), found.cpus) == (8, 8, 4)
    assert {gpu.pcie for gpu in found.gpus} == {PcieLink(16e9, 16)}
    assert Counter(found.nics[0].paths.values()) == {"PIX": 2, "SYS": 6}


def test_rccl_topology_has_three_links_each():
    found = node("nccl_topo_rccl_8p_90a.xml.txt")
    assert (len(found.gpus), len(found.nics)) == (8, 1)
    assert {gpu.links for gpu in found.gpus} == {3}
    fast = [link for link in found.links if link.kind == "xGMI"]
    assert len(fast) == 12
    assert {link.count for link in fast} == {1}
    assert found.nics[0].rate_Bps == 1e9 / 8
    assert found.between("GPU0", "GPU1").kind == "xGMI"
    assert found.between("GPU0", "GPU3").path == "PHB"


def test_devices_without_a_class_are_not_guessed():
    found = dump("nccl_topo_g5.xml.txt")
    (host,) = found.nodes
    assert (len(host.gpus), len(host.nics), host.unnamed_devices) == (0, 0, 9)
    assert [unread.line for unread in found.unread] == [15, 16, 17, 18, 21, 22, 23, 24, 25]


def test_nccl_graphs():
    (graphs,) = dump("nccl_graph_ncv4.xml.txt").graphs
    assert [(graph.id, graph.pattern, graph.channel_count, len(graph.channels)) for graph in graphs.graphs] == [
        (0, "ring", 2, 2), (1, "balanced tree", 4, 4), (2, "tree", 4, 4),
    ]  # fmt: skip
    assert graphs.devices == 4
    assert graphs.graphs[0].channels == ((0, 1, 2, 3), (0, 3, 2, 1))
    assert {graph.intra_Bps for graph in graphs.graphs} == {12e9}
    assert {(graph.intra_path, graph.inter_path) for graph in graphs.graphs} == {("SYS", "PIX")}


@pytest.mark.parametrize(("name", "count", "numa"), [("nvidia_smi_topo_m_p4d.24xlarge.txt", 12, "1"), ("nvidia_smi_topo_m_p5.48xlarge.txt", 18, "1")])
def test_gpu_matrix_with_ansi_codes(name, count, numa):
    found = dump(name)
    (host,) = found.nodes
    assert len(host.gpus) == 8
    assert len(host.links) == 28
    assert {(link.kind, link.count) for link in host.links} == {("NVLink", count)}
    assert {gpu.links for gpu in host.gpus} == {count}
    assert host.gpus[7].numa == numa
    assert found.unread == ()


def test_gpu_matrix_with_nine_ports_and_rows_left_out():
    found = dump("nvidia_smi_topo_m_h100_9nic_issue1453.txt")
    (host,) = found.nodes
    assert (len(host.gpus), len(host.nics), len(host.links)) == (8, 9, 28)
    assert set(host.nics[0].paths.values()) == {"SYS"}
    near = {nic.id: [gpu for gpu, path in nic.paths.items() if path == "PIX"] for nic in host.nics[1:]}
    assert near == {f"NIC{number}": [f"GPU{8 - number}"] for number in range(1, 9)}
    assert [unread.values["label"] for unread in found.unread] == ["NIC5", "NIC6", "NIC7", "NIC8"]
    assert [gpu.numa for gpu in host.gpus] == ["0"] * 4 + ["1"] * 4


def test_gpu_matrix_of_a_gb200_tray_with_a_cut_row():
    found = dump("nvidia_smi_topo_m_gb200_sglang_issue11208.txt")
    (host,) = found.nodes
    assert (len(host.gpus), len(host.nics), len(host.links)) == (4, 6, 6)
    assert {gpu.links for gpu in host.gpus} == {18}
    assert {path for nic in host.nics for path in nic.paths.values()} == {"SYS"}
    assert [unread.reason_id for unread in found.unread if unread.line == 6] == ["topology.unread.row_short"]


def test_nvlink_state_of_gb200_whose_list_was_left_out():
    found = dump("nvidia_smi_nvlink_s_gb200_k8stestinfra_issue371.txt")
    (host,) = found.nodes
    assert [(gpu.name, gpu.links, gpu.link_Bps, gpu.listed_whole) for gpu in host.gpus] == [
        ("NVIDIA GB200", 18, 53.125e9, True), ("NVIDIA GB200", 2, 53.125e9, False),
    ]  # fmt: skip
    assert not host.whole
    assert [unread.line for unread in found.unread] == [24]


def test_rocm_matrix():
    found = dump("rocm_smi_showtopo_4gpu_pcie_issue108.txt")
    (host,) = found.nodes
    assert len(host.gpus) == 4
    assert [(link.kind, link.hops, link.weight) for link in host.links] == [("PCIe", 3, 52)] * 6
    assert found.unread == ()


def test_nccl_log_of_two_interleaved_nodes():
    (report,) = dump("nebius_mlperf_sd_nccl_debug_2nodes_h100.txt").reports
    assert report.version == "2.19.3+cuda12.3"
    assert report.driver == "12030"
    assert (report.ranks, report.hosts, len(report.gpus)) == (16, ("node01", "node02"), 15)
    assert report.network == "IBext"
    assert report.nvls is True
    assert report.gpu_direct is True
    assert (report.channels, report.trees, len(report.rings)) == (16, 16, 16)
    assert report.rings[0] == (0, 7, 6, 5, 4, 3, 2, 1, 8, 15, 14, 13, 12, 11, 10, 9)
    assert Counter(nic.host for nic in report.nics) == {"node01": 8, "node02": 8}
    assert {(nic.link_layer, nic.sharp) for nic in report.nics} == {("IB", True)}
    assert report.transports == {"NET/IBext/GDRDMA": 62, "P2P/CUMEM": 285}
    assert report.settings == {"NCCL_TOPO_FILE": "/var/run/nvidia-topologyd/virtualTopology.xml"}


def test_device_list_of_nccl_tests():
    (report,) = dump("mlperf_google_h200_8node_prolog_nccl.txt").reports
    assert (report.ranks, len(report.hosts), len(report.gpus)) == (64, 8, 64)
    assert {gpu.name for gpu in report.gpus} == {"NVIDIA H200"}
    assert report.gpus[0].bus == "0x8f"


def test_ibnetdiscover_of_a_cluster():
    found = dump("ibnetdiscover_ndr_dgx_topograph.txt")
    (fabric,) = found.fabrics
    assert {kind: len(fabric.of_kind(kind)) for kind in ("switch", "host", "aggregation", "router")} == {
        "switch": 40, "host": 542, "aggregation": 40, "router": 0,
    }  # fmt: skip
    # 2,228 ports report a cable, each cable twice.
    assert len(fabric.links) == 1114
    assert {(link.width, link.speed, link.rate_Bps) for link in fabric.links} == {(4, "NDR", 50e9)}
    kinds = {one.id: one.kind for one in fabric.nodes}
    assert Counter(tuple(sorted((kinds[link.a], kinds[link.b]))) for link in fabric.links) == {
        ("host", "switch"): 542, ("switch", "switch"): 532, ("aggregation", "switch"): 40,
    }  # fmt: skip
    assert Counter(fabric.hosts.values()) == {4: 109, 3: 11, 2: 2}
    assert {one.ports for one in fabric.of_kind("switch")} == {65}
    assert found.unread == ()


def test_ibnetdiscover_of_a_small_fabric():
    (fabric,) = dump("ibnetdiscover_faked_superbench.txt").fabrics
    assert (len(fabric.of_kind("switch")), len(fabric.of_kind("host")), len(fabric.of_kind("aggregation"))) == (8, 10, 1)
    assert len(fabric.links) == 18
    assert {link.rate_Bps for link in fabric.links} == {25e9}
    assert fabric.of_kind("host")[0].device == "ibp11s0f0"


def test_iblinkinfo_with_a_cut_end():
    found = dump("iblinkinfo_v100_roce_issue71.txt")
    (fabric,) = found.fabrics
    assert (len(fabric.of_kind("switch")), len(fabric.of_kind("host")), len(fabric.of_kind("aggregation"))) == (1, 4, 1)
    assert sorted(fabric.hosts) == ["node00", "node01", "node02", "node03"]
    assert len(fabric.links) == 5
    assert Counter((link.width, link.speed, link.rate_Bps) for link in fabric.links) == {(4, "EDR", 12.5e9): 4, (4, "HDR", 25e9): 1}
    assert {link.state for link in fabric.links} == {"Active/LinkUp"}
    assert [unread.line for unread in found.unread] == [15, 16]

"""Logs that people published, each with the verdict that its source bears out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tierspan.answers.compare import compare
from tierspan.answers.comparison.results import CompareAnswer
from tierspan.answers.comparison.setting import Asked
from tierspan.estimates.communication.constants import shipped
from tierspan.quantities.errors import InputError

LOGS = Path(__file__).parents[2].parent / "shared" / "cases" / "logs"


@dataclass(frozen=True)
class Label:
    """The verdict of each run of a file, and why; ``asked`` is what the source says outside of the log."""

    file: str
    verdicts: tuple[str, ...]
    why: str
    asked: Asked = Asked()  # noqa: RUF009


P5 = Asked(system="dgx-h100", transport="efa")
LABELS = (
    Label("hccl_demo_gaudi_benchmark_lines.txt", ("normal", "normal"), "the maker's own figures", Asked(system="gaudi3-node8")),
    Label("hccl_demo_gaudi_benchmark_lines.txt", ("not comparable",) * 2, "the log does not say which generation"),
    Label("ib_loopback_8M_superbench.log", ("normal", "normal"), "25 GB/s on HDR", Asked(nic="200Gb/s")),
    Label("ib_loopback_8M_superbench.log", ("not comparable",) * 2, "the log does not say the rate of the NIC"),
    Label("ib_loopback_all_sizes_superbench.log", ("normal",), "24 GB/s on HDR", Asked(nic="200Gb/s")),
    Label("ib_write_bw_all_sizes_rocm.txt", ("normal",), "205 Gb/s in both directions on 100 Gb/s", Asked(nic="100Gb/s")),
    Label("ib_write_bw_roce100_oci.txt", ("normal",), "98 of 100 Gb/s", Asked(nic="100Gb/s")),
    Label("mlperf_oracle_h100_resnet_nccl.log", ("normal",), "one healthy node, 51 MiB"),
    Label("mlperf_smc_h100_bert_nccl.log", ("normal",), "one healthy node"),
    Label("nccl_allgather_2x_a3mega_gcp.txt", ("normal",), "its guide's output", Asked(system="dgx-h100", nic="200Gb/s", transport="tcpxo")),
    Label("nccl_allgather_2x_a3ultra_h200_gcp.txt", ("normal",), "expected output of its guide", Asked(system="dgx-h200", transport="roce-gib")),
    Label("nccl_allgather_2x_a3mega_gcp.txt", ("not comparable",), "no list of devices"),
    Label("nccl_allgather_a100x8_superbench.log", ("normal",), "one healthy node"),
    Label("nccl_alltoall_a100x8_superbench.log", ("normal",), "one healthy node"),
    Label("nccl_broadcast_a100x8_superbench.log", ("normal",), "one healthy node"),
    Label("nccl_reduce_a100x8_superbench.log", ("normal",), "one healthy node"),
    Label("nccl_allreduce_2of8_h100_issue309.txt", ("normal",), "467 GB/s between two nodes"),
    Label("nccl_allreduce_8x_h100_issue309.txt", ("normal",), "321 GB/s over eight nodes: 12 % below, inside the band"),
    Label(
        "nccl_allreduce_2x_a100_ndv4_sriov_and_ipoib_azure_aks.txt", ("normal", "normal", "normal", "normal", "broken"),
        "SR-IOV is as it should be; the last run goes over IPoIB", Asked(system="dgx-a100"),
    ),
    Label("nccl_allreduce_2x_dgxa100_k8s_deepops.txt", ("normal",), "expected output of its guide", Asked(system="dgx-a100")),
    Label("nccl_allreduce_2x_h100_dell_xe9680_issue309.txt", ("normal",), "470 GB/s between two nodes"),
    Label("nccl_allreduce_2x_h100_oci.txt", ("normal",), "expected output of its guide"),
    Label(
        "nccl_allreduce_2x_p4de_and_p5_srun_prefixed_aws.txt", ("normal", "normal"),
        "four NICs of 100 Gb/s for eight devices; the second run is on newer nodes", Asked(system="dgx-a100", nic="50Gb/s", transport="efa"),
    ),
    Label("nccl_allreduce_2x_p4de_and_p5_srun_prefixed_aws.txt", ("broken", "normal"), "taken for the newer nodes, the first run is far off", P5),
    Label("nccl_allreduce_2x_p5_mpirun_tagged_aws.txt", ("slow",), "279 GB/s at 512 MiB, where the other log of such nodes has 428", P5),
    Label("nccl_allreduce_4x_h100_vm_issue309.txt", ("normal",), "366 GB/s over four nodes"),
    Label("nccl_allreduce_h100_1node_and_degraded_2node_issue290.txt", ("normal", "broken", "broken"), "the fabric is misconfigured"),
    Label("nccl_tuner_lines_interleaved_h100_issue1453.txt", ("broken",), "5 GB/s", Asked(system="dgx-h100")),
    Label("stas_p2pBandwidthLatencyTest_a100_h100_gb200.txt", ("normal",) * 3, "83 to 91 % of the links"),
    Label("nvbandwidth_gh200_superbench.log", ("not comparable",), "only copies between host and devices"),
    Label("torch_allreduce_bench_4nodes_stas.txt", ("not comparable",), "the accelerator is not said"),
    Label("torch_allreduce_bench_h200_and_a100_stas.txt", ("not comparable", "normal"), "the first table does not say its accelerator"),
)  # fmt: skip
REFUSED = ("mlperf_oracle_h100_resnet_nccl_failed.log", "nccl_topo_ndv5.xml.txt", "nvidia_smi_topo_m_p5.48xlarge.txt")


def answer_to(file: str, asked: Asked = Asked()) -> CompareAnswer:  # noqa: B008
    if not (LOGS / file).is_file():
        pytest.skip(f"{file} is not beside this checkout")
    if not shipped().record.get("intervals"):
        pytest.skip("no fitted intervals ship with this version")
    return compare(LOGS / file, asked=asked)


def test_enough_logs_are_labelled():
    assert len({label.file for label in LABELS}) >= 20


@pytest.mark.parametrize("label", [pytest.param(label, id=f"{label.file[:44]}-{'-'.join(label.verdicts)}") for label in LABELS])
def test_labelled_verdicts(label: Label):
    answer = answer_to(label.file, label.asked)
    told = [(run.verdict, None if run.ratio is None else round(run.ratio, 2), run.margin, run.reason) for run in answer.runs]
    assert tuple(run.verdict for run in answer.runs) == label.verdicts, (label.why, told)
    for run in answer.runs:
        assert run.reason or run.verdict != "not comparable"
        assert len(run.causes) <= 5
        assert all(cause.evidence and cause.next for cause in run.causes)
        assert run.causes == () or run.verdict in ("slow", "broken")


@pytest.mark.parametrize("file", REFUSED)
def test_refused_with_a_reason(file: str):
    with pytest.raises(InputError) as refused:
        answer_to(file)
    assert "\n  remedy: " in str(refused.value)


def test_the_degraded_fabric_is_named():
    answer = answer_to("nccl_allreduce_h100_1node_and_degraded_2node_issue290.txt", Asked(nic="400Gb/s"))
    assert answer.verdict == "broken"
    assert all(cause.tier == "scale-out" for cause in answer.runs[1].causes[:3])
    assert {"falls", "sick_cable"} & {cause.id for cause in answer.runs[1].causes}


def test_sockets_show_in_the_run_over_ipoib():
    answer = answer_to("nccl_allreduce_2x_a100_ndv4_sriov_and_ipoib_azure_aks.txt", Asked(system="dgx-a100"))
    assert "tcp" in [cause.id for cause in answer.runs[-1].causes][:2]


def test_reduction_in_switches_above_the_link_is_no_error():
    answer = answer_to("nccl_allreduce_h100_1node_and_degraded_2node_issue290.txt")
    assert answer.runs[0].verdict == "normal"
    assert "above_link" in [note.id for note in answer.runs[0].notes]


def test_rows_hold_what_the_file_says():
    answer = answer_to("nccl_allreduce_2x_h100_oci.txt")
    last = [row for row in answer.rows if row.in_place is False][-1]
    assert (last.size_bytes, last.time_s, last.algbw_Bps, last.busbw_Bps) == (17179869184.0, pytest.approx(0.068359), 251.32e9, 471.22e9)
    text = (LOGS / "nccl_allreduce_2x_h100_oci.txt").read_text(encoding="utf-8").splitlines()
    assert "17179869184" in text[(last.line or 0) - 1]


@pytest.mark.parametrize("dump", ["nccl_topo_ndv5.xml.txt", "nvidia_smi_topo_m_p5.48xlarge.txt", "nccl_topo_oci_h100.xml.txt"])
def test_a_topology_dump_stands_for_the_cluster(dump: str):
    answer = answer_to("nccl_allreduce_2x_h100_oci.txt", Asked(cluster=LOGS / dump, nic="400Gb/s"))
    assert (answer.verdict, answer.cluster) == ("normal", "dgx-h100")

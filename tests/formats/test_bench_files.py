"""Every public log: the benchmarks are read with the file's own values, everything else is refused with a reason."""

import dataclasses
import json
import math
from pathlib import Path

import pytest

from tierspan.formats.bench import read_benchmarks, recognise
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import has, render_error

SHARED = Path(__file__).parents[2].parent / "shared" / "cases"
LOGS = SHARED / "logs"

H100, A100 = "NVIDIA H100 80GB HBM3", "A100-SXM4-40GB"
V100S = "Tesla V100-PCIE-16GB + Tesla V100S-PCIE-32GB"
# file, then for each run: tool, samples, unread, operation, ranks, nodes, accelerator, first and last (size, time us, GB/s as the file prints them)
RUNS = {
    "hccl_demo_gaudi_benchmark_lines.txt": [
        ("hccl_demo", 1, 0, "all_reduce", 8, None, "", (268435456, 915.792, 512.957298), (268435456, 915.792, 512.957298)),
        ("hccl_demo", 1, 0, "all_gather", 8, None, "", (16777216, 230.642, 509.189283), (16777216, 230.642, 509.189283)),
    ],
    "ib_loopback_8M_superbench.log": [
        ("perftest", 1, 0, "point_to_point", 2, None, "", (8388608, None, 24056.72 * 2**20 / 1e9), (8388608, None, 24056.72 * 2**20 / 1e9)),
        ("perftest", 1, 0, "point_to_point", 2, None, "", (8388608, None, 24056.72 * 2**20 / 1e9), (8388608, None, 24056.72 * 2**20 / 1e9)),
    ],
    "ib_loopback_all_sizes_superbench.log": [
        ("perftest", 24, 0, "point_to_point", 2, None, "", (2, None, 5.30 * 2**20 / 1e9), (8388608, None, 23240.68 * 2**20 / 1e9)),
    ],
    "ib_write_bw_all_sizes_rocm.txt": [
        ("perftest", 23, 0, "point_to_point", 2, None, "", (2, None, 0.012281 / 8), (8388608, None, 204.59 / 8)),
    ],
    "ib_write_bw_roce100_oci.txt": [
        ("perftest", 1, 0, "point_to_point", 2, None, "", (65536, None, 98.01 / 8), (65536, None, 98.01 / 8)),
    ],
    "mlperf_google_h200_8node_prolog_nccl.txt": [
        ("nccl-tests", 2, 0, "all_reduce", 64, 8, "NVIDIA H200", (1731821448, 14196, 240.18), (1731821448, 14281, 238.74)),
    ],
    "mlperf_oracle_h100_resnet_nccl.log": [
        ("nccl-tests", 2, 0, "all_reduce", 8, 1, H100, (53687090, 287.0, 327.37), (53687090, 287.6, 326.68)),
    ],
    "mlperf_smc_h100_bert_nccl.log": [
        ("nccl-tests", 12, 0, "all_reduce", 8, 1, H100, (22020096, 147.7, 260.89), (704643072, 2688.5, 458.66)),
    ],
    "nccl_allgather_2x_a3mega_gcp.txt": [
        ("nccl-tests", 62, 0, "all_gather", 16, None, "", (0, 0.30, 0.0), (8589934592, 42630.7, 188.90)),
    ],
    "nccl_allgather_2x_a3ultra_h200_gcp.txt": [
        ("nccl-tests", 48, 0, "all_gather", 16, None, "", (1024, 54.07, 0.02), (8589934592, 23991, 335.67)),
    ],
    "nccl_allgather_a100x8_superbench.log": [
        ("nccl-tests", 68, 0, "all_gather", 8, 1, A100, (0, 34.27, 0.0), (8589934592, 32669, 230.07)),
    ],
    "nccl_allreduce_2of8_h100_issue309.txt": [
        ("nccl-tests", 28, 0, "all_reduce", 16, 2, H100, (1048576, 93.25, 21.08), (8589934592, 34514, 466.65)),
    ],
    "nccl_allreduce_2x_a100_ndv4_sriov_and_ipoib_azure_aks.txt": [
        ("nccl-tests", 32, 0, "all_reduce", 16, None, "", (8, 99.09, 0.0), (8589934592, 86106, 187.05)),
        ("perftest", 1, 0, "point_to_point", 2, None, "", (2, 5.50, None), (2, 5.50, None)),
        ("perftest", 23, 0, "point_to_point", 2, None, "", (2, None, 0.045291 / 8), (8388608, None, 197.48 / 8)),
        ("perftest", 23, 0, "point_to_point", 2, None, "", (2, None, 0.045526 / 8), (8388608, None, 196.55 / 8)),
        ("nccl-tests", 32, 0, "all_reduce", 16, None, "", (8, 82.21, 0.0), (8589934592, 5220040, 3.09)),
    ],
    "nccl_allreduce_2x_dgxa100_k8s_deepops.txt": [
        ("nccl-tests", 60, 0, "all_reduce", 16, None, "", (8, 38.63, 0.0), (4294967296, 42677, 188.70)),
    ],
    "nccl_allreduce_2x_h100_dell_xe9680_issue309.txt": [
        ("nccl-tests", 64, 0, "all_reduce", 16, 2, H100, (8, 68.52, 0.0), (17179869184, 68668, 469.10)),
    ],
    "nccl_allreduce_2x_h100_oci.txt": [
        ("nccl-tests", 10, 0, "all_reduce", 16, 2, H100, (1073741824, 4478.8, 449.51), (17179869184, 68427, 470.75)),
    ],
    "nccl_allreduce_2x_p4de_and_p5_srun_prefixed_aws.txt": [
        ("nccl-tests", 58, 0, "all_reduce", 16, 2, "", (8, 164.3, 0.0), (2147483648, 51406, 78.33)),
        ("nccl-tests", 64, 0, "all_reduce", 16, 2, "", (8, 69.12, 0.0), (17179869184, 66109, 487.26)),
    ],
    "nccl_allreduce_2x_p5_mpirun_tagged_aws.txt": [
        ("nccl-tests", 14, 0, "all_reduce", 16, 2, "", (0, 15.51, 0.0), (2147483648, 9195.2, 437.89)),
    ],
    "nccl_allreduce_2x_v100_roce_sriov_noisy_deepops.txt": [
        ("nccl-tests", 58, 0, "all_reduce", 16, None, "", (8, 2193.5, 0.0), (2147483648, 176189, 22.85)),
    ],
    "nccl_allreduce_4x_h100_vm_issue309.txt": [
        ("nccl-tests", 64, 0, "all_reduce", 32, 4, H100, (8, 83.42, 0.0), (17179869184, 91081, 365.46)),
    ],
    "nccl_allreduce_8x_h100_issue309.txt": [
        ("nccl-tests", 28, 0, "all_reduce", 64, 8, H100, (1048576, 117.0, 17.64), (8589934592, 52754, 320.57)),
    ],
    "nccl_allreduce_h100_1node_and_degraded_2node_issue290.txt": [
        ("nccl-tests", 12, 0, "all_reduce", 8, 1, H100, (134217728, 613.3, 382.99), (4294967296, 15773, 476.53)),
        ("nccl-tests", 22, 0, "all_reduce", 16, 2, H100, (8388608, 215.3, 73.04), (8589934592, 103538, 155.56)),
        ("nccl-tests", 22, 0, "all_reduce", 16, 2, H100, (8388608, 407.5, 38.60), (8589934592, 180166, 89.40)),
    ],
    "nccl_alltoall_a100x8_superbench.log": [
        ("nccl-tests", 68, 0, "all_to_all", 8, 1, A100, (0, 1.63, 0.0), (8589934592, 33234, 226.16)),
    ],
    "nccl_broadcast_a100x8_superbench.log": [
        ("nccl-tests", 68, 0, "broadcast", 8, 1, A100, (0, 34.61, 0.0), (8589934592, 36599, 234.70)),
    ],
    "nccl_reduce_a100x8_superbench.log": [
        ("nccl-tests", 68, 0, "reduce", 8, 1, A100, (0, 36.90, 0.0), (8589934592, 37539, 228.83)),
    ],
    "nccl_sendrecv_a100x8.txt": [
        ("nccl-tests", 8, 0, "send_recv", 8, 1, "A100", (134217728, 1211.2, 110.81), (1073741824, 5490.5, 195.56)),
    ],
    "nccl_tuner_lines_interleaved_h100_issue1453.txt": [
        ("nccl-tests", 20, 2, "all_reduce", 24, None, "", (1048576, 1626.5, 1.24), (536870912, 192903, 5.33)),
    ],
    "nccl_v100_optcast_4ranks_with_stats.txt": [
        ("nccl-tests", 2, 0, "all_reduce", 4, 2, V100S, (536870912, 103128, 7.81), (536870912, 119592, 6.73)),
        ("nccl-tests", 2, 0, "all_reduce", 4, 2, V100S, (536870912, 80965, 9.95), (536870912, 77677, 10.37)),
        ("nccl-tests", 2, 0, "all_reduce", 4, 2, V100S, (536870912, 60591, 13.29), (536870912, 61371, 13.12)),
    ],
    "torch_allreduce_bench_4nodes_stas.txt": [
        ("torch all_reduce benchmark", 20, 0, "all_reduce", 32, None, "", (32768, None, 0.92), (17179869184, None, 91.69)),
    ],
    "torch_allreduce_bench_h200_and_a100_stas.txt": [
        ("nccl-tests", 20, 0, "all_reduce", 8, 1, "", (32768, 43.83, 1.31), (17179869184, 127997, 234.89)),
        ("torch all_reduce benchmark", 20, 0, "all_reduce", 8, None, "H200", (32768, None, 1.44), (17179869184, None, 482.26)),
    ],
}  # fmt: skip
MATRICES = ("nvbandwidth_gh200_superbench.log", "stas_nvbandwidth_dgxstation_gb300_c2c.txt", "stas_p2pBandwidthLatencyTest_a100_h100_gb200.txt")
FAILED = "mlperf_oracle_h100_resnet_nccl_failed.log"


def log_path(name):
    path = LOGS / name
    if not path.exists():
        pytest.skip("the shared cases are not here")
    return path


def printed(sample):
    time = None if sample.time_s is None else sample.time_s * 1e6
    rate = sample.algbw_Bps if sample.busbw_Bps is None else sample.busbw_Bps
    return sample.size_bytes, time, None if rate is None else rate / 1e9


def close(found, wanted):
    return all(a == b if a is None or b is None else math.isclose(a, b, rel_tol=1e-12) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("name", RUNS)
def test_values_are_the_files(name):
    logs = read_benchmarks(log_path(name))
    assert len(logs) == len(RUNS[name])
    for log, (tool, samples, unread, operation, ranks, nodes, accelerator, first, last) in zip(logs, RUNS[name], strict=True):
        assert (log.tool, len(log.samples), len(log.unread)) == (tool, samples, unread)
        assert {sample.operation for sample in log.samples} == {operation}
        assert (log.context.ranks, log.context.nodes, log.context.accelerator) == (ranks, nodes, accelerator)
        assert close(printed(log.samples[0]), first)
        assert close(printed(log.samples[-1]), last)
        assert all(sample.line for sample in log.samples)
        assert log.place.file.endswith(name)
        json.dumps(dataclasses.asdict(log), allow_nan=False)


@pytest.mark.parametrize("name", [*RUNS, *MATRICES, FAILED])
def test_benchmarks_are_recognised(name):
    assert recognise(log_path(name).read_text(encoding="utf-8"))


def test_everything_else_is_refused():
    log_path(FAILED)
    others = [path for path in sorted(LOGS.iterdir()) if path.name not in (*RUNS, *MATRICES, FAILED)]
    assert len(others) == 18
    for path in [*others, SHARED / "inputs" / "measure_paste" / "megatron_log.txt"]:
        assert recognise(path.read_text(encoding="utf-8")) == "", path.name
        with pytest.raises(InputError) as caught:
            read_benchmarks(path)
        assert caught.value.message_id == "bench.not_recognised"
        for lang in ("en", "zh"):
            assert "nccl-tests" in render_error(caught.value, lang)


def test_a_failed_run_says_what_failed():
    with pytest.raises(InputError, match="no CUDA-capable device") as caught:
        read_benchmarks(log_path(FAILED))
    assert caught.value.place.line == 14


def test_every_reason_has_a_text():
    logs = read_benchmarks(log_path("nccl_tuner_lines_interleaved_h100_issue1453.txt"))
    assert [u.reason_id for u in logs[0].unread] == ["bench.row_headless", "bench.row_rate"]
    assert all(has(u.reason_id) for u in logs[0].unread)
    assert logs[0].context.algorithm == ""  # NCCL named its choice for 4 and 8 KiB only


def test_pasted_rows_without_a_header():
    (log,) = read_benchmarks(log_path(SHARED / "inputs" / "measure_paste" / "nccl_2node_tree_4nic.txt"))
    context = log.context
    assert (len(log.samples), context.ranks, context.nodes, context.ranks_per_node) == (10, 2, 2, 1)
    assert (context.algorithm, context.nics_per_node, context.accelerator) == ("Tree", 4, "H100")
    assert close(printed(log.samples[-1]), (33554432, 808.2, 41.52))


def test_the_facts_of_a_launch_line():
    (log,) = read_benchmarks(log_path("nccl_allreduce_2x_h100_dell_xe9680_issue309.txt"))
    context = log.context
    assert (context.library, context.library_version, context.hosts) == ("NCCL", "2.26.2", ("node01", "node02"))
    assert context.command == "all_reduce_perf_mpi -b 8 -e 16g -f 2 -g 1"
    assert context.environment["NCCL_NET_GDR_LEVEL"] == "1"
    assert log.average_busbw_Bps == pytest.approx(139.56e9)


def test_in_place_and_wrong_values():
    (log,) = read_benchmarks(log_path("nccl_sendrecv_a100x8.txt"))
    assert [(s.in_place, s.wrong) for s in log.samples[:2]] == [(False, 0), (True, None)]
    (log,) = read_benchmarks(log_path("nccl_reduce_a100x8_superbench.log"))
    assert (log.samples[0].redop, log.samples[0].root, log.samples[0].dtype) == ("sum", 0, "float")


def test_two_directions_are_told():
    (log,) = read_benchmarks(log_path("ib_write_bw_all_sizes_rocm.txt"))
    assert (log.directions, log.context.transport) == (2, "RoCE")
    assert read_benchmarks(log_path("ib_write_bw_roce100_oci.txt"))[0].directions == 1


def test_matrices():
    (log,) = read_benchmarks(log_path(MATRICES[0]))
    assert (len(log.matrices), log.context.accelerator, log.unread) == (15, "NVIDIA GH200 480GB", ())
    assert log.matrices[0].values == ((369.36e9, 269.33e9, 412.11e9), (323.36e9, 299.33e9, 312.11e9))
    assert (log.matrices[-1].quantity, log.matrices[-1].values) == ("latency", ((pytest.approx(772.58e-9),),))
    (log,) = read_benchmarks(log_path(MATRICES[1]))
    assert [m.values[0][0] / 1e9 for m in log.matrices] == pytest.approx([359.05, 377.15, 175.38, 171.76])
    logs = read_benchmarks(log_path(MATRICES[2]))
    assert [log.context.accelerator for log in logs] == ["A100", "H100", "GB200"]
    assert [len(log.matrices[0].rows) for log in logs] == [8, 8, 4]
    assert logs[1].matrices[0].values[2][1] == pytest.approx(393.28e9)

"""Damaged logs: nothing but InputError is raised, and no sample breaks the arithmetic of its run."""

import dataclasses
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tierspan.formats.bench import read_benchmarks, recognise
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import has
from tierspan.specs.benchmark import busbw_factor

LOGS = Path(__file__).parents[2].parent / "shared" / "cases" / "logs"
NAMES = (
    "nccl_allreduce_2x_p5_mpirun_tagged_aws.txt", "nccl_allreduce_h100_1node_and_degraded_2node_issue290.txt", "nccl_alltoall_a100x8_superbench.log",
    "nccl_tuner_lines_interleaved_h100_issue1453.txt", "nccl_allgather_2x_a3mega_gcp.txt", "nccl_sendrecv_a100x8.txt",
    "nccl_v100_optcast_4ranks_with_stats.txt", "mlperf_smc_h100_bert_nccl.log", "hccl_demo_gaudi_benchmark_lines.txt",
    "ib_loopback_all_sizes_superbench.log", "ib_write_bw_all_sizes_rocm.txt", "torch_allreduce_bench_h200_and_a100_stas.txt",
    "nvbandwidth_gh200_superbench.log", "stas_p2pBandwidthLatencyTest_a100_h100_gb200.txt", "mlperf_oracle_h100_resnet_nccl_failed.log",
)  # fmt: skip
SMALL = """\
size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)
524288          131072    fp32           24.15          21.71          21.03
Avg bus bandwidth:    21.0339GB/s
data_size(Bytes): |   aveg_time(us): | alg_bandwidth(GB/s): | check_result:
1073741824        |    5000.00    |     214.74836        | NULL
{"node": "n1", "nccl-bw:nvlink/allreduce_8589934592_time:0": 63896.0, "nccl-bw:nvlink/allreduce_8589934592_busbw:0": 235.26}
|   Size   | Time (us) | AlgBW (GB/s) | Correctness | NCCL Time (us) | NCCL AlgBW (GB/s) | NCCL Correctness | Speed Up |
| 32.0 MiB |   186.20  |    180.21    |     PASS    |      250.0     |       134.22      |       PASS       |   1.34   |
[rank 0] Dispatch bandwidth: 23.49 GB/s, avg_t=319.75 us | Combine bandwidth: 25.14 GB/s, avg_t=578.22 us
[tuning] Best dispatch (FP8): SMs 24, NVL chunk 24, RDMA chunk 8: 437 + 2412 us, 50.08 GB/s (RDMA), 99.93 GB/s (NVL)
| Dispatch #EP | Latency | RDMA bandwidth | Combine #EP | Latency | RDMA bandwidth |
| 8 | 77 us | 98 GB/s | 8 | 114 us | 127 GB/s |
The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 16 ranks):
 algbw: 44.947 GBps (359.6 Gbps)
 busbw: 84.275 GBps (674.2 Gbps)
"""
NOISE = "0123456789.-+eE#|/:[]()aZ \t\r\x00\x1b\u00e9\u4e2d"
PREFIXES = ("[1,0]<stdout>:", "0: ", " 12: ", "[0] ", "2026-01-02T03:04:05Z ", "worker-0 | ", "\x1b[31m", "n1:2:3 [0] NCCL INFO ")


def text_of(name):
    if name == "small":
        return SMALL
    path = LOGS / name
    if not path.exists():
        pytest.skip("the shared cases are not here")
    return path.read_text(encoding="utf-8")


def damaged(text, seed, strength):
    """A log with lines dropped, doubled, cut, spoilt, prefixed and joined."""
    draw = random.Random(seed)
    lines = []
    for line in text.split("\n"):
        kind = draw.random() / strength
        if kind < 0.02:
            continue
        if kind < 0.04:
            lines.append(line)
        elif kind < 0.07:
            line = line[: draw.randrange(len(line) + 1)]
        elif kind < 0.12 and line:
            at = draw.randrange(len(line))
            line = line[:at] + draw.choice(NOISE) + line[at + draw.randrange(2) :]
        elif kind < 0.15:
            line = draw.choice(PREFIXES) + line
        elif kind < 0.17 and lines:
            line = lines.pop() + line
        elif kind < 0.18:
            at = draw.randrange(len(line) + 1)
            line = line[:at] + "[0] n1:2:3 [0] NCCL INFO said\n" + line[at:]
        lines.append(line)
    return "\n".join(lines)


def half(value):
    """Half of the last printed place is at most this, for the two decimals of most tools and for long numbers cut short."""
    return 0.00501e9 + 0.02 * value


def assert_consistent(log):
    context = log.context
    json.dumps(dataclasses.asdict(log), allow_nan=False)
    for unread in log.unread:
        assert has(unread.reason_id)
        assert unread.line >= 1
    for sample in log.samples:
        assert sample.size_bytes >= 0
        assert any(v is not None for v in (sample.time_s, sample.algbw_Bps, sample.busbw_Bps))
        assert all(v is None or v >= 0 for v in (sample.algbw_Bps, sample.busbw_Bps))
        if sample.time_s is not None:
            assert sample.time_s > 0
            if sample.algbw_Bps is not None:
                rate = sample.size_bytes / sample.time_s
                assert abs(rate - sample.algbw_Bps) <= half(max(rate, sample.algbw_Bps)) + 0.5e9 * (sample.algbw_Bps % 1e9 == 0), sample
        if sample.algbw_Bps is not None and sample.busbw_Bps is not None and context.ranks and sample.operation:
            factor = busbw_factor(sample.operation, context.ranks)
            if log.size_basis == "per rank" and sample.operation == "all_gather":
                factor = context.ranks - 1
            if factor is not None:
                expected = factor * sample.algbw_Bps
                coarse = 1.5e9 * (sample.algbw_Bps % 1e8 == 0 or sample.busbw_Bps % 1e8 == 0)
                assert abs(expected - sample.busbw_Bps) <= (1 + factor) * 0.00501e9 + 0.02 * expected + coarse, sample


def outcome(text):
    try:
        return read_benchmarks(text), None
    except InputError as error:
        return (), error


def check(text):
    assert isinstance(recognise(text), str)
    logs, error = outcome(text + "\n")
    assert bool(logs) != bool(error)
    assert error is None or (has(error.message_id) and str(error))
    for log in logs:
        assert_consistent(log)


@pytest.mark.parametrize("name", [*NAMES, "small"])
def test_undamaged_logs_pass_the_same_check(name):
    check(text_of(name))


@pytest.mark.parametrize("name", [*NAMES, "small"])
@given(seed=st.integers(0, 2**32), strength=st.sampled_from((0.3, 1.0, 3.0)))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_logs(name, seed, strength):
    check(damaged(text_of(name), seed, strength))


@given(st.text(st.sampled_from(NOISE + "\n"), max_size=400))
@settings(max_examples=100, deadline=None)
def test_any_text(text):
    check(text)


@given(st.lists(st.sampled_from(SMALL.split()), max_size=60), st.sampled_from((" ", "\n", " | ")))
@settings(max_examples=60, deadline=None)
def test_words_in_any_order(words, between):
    check(between.join(words))


@given(st.binary(max_size=300))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(tmp_path, content):
    path = tmp_path / "x.log"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_benchmarks(path)


@pytest.mark.parametrize(
    "piece", ["a-worker-", "[0;", "1_", "x:1:1 ", "x_perf -b 8 ", "nccl-bw/", "Rank 1 Pid ", "9", "\x1b[", "NCCL_ALGO= ", '{"results":[']
)
def test_long_lines_are_read_in_no_time(piece):
    check(piece * 20000 + "\n# nThread 1 nGpus 1\n" + piece * 20000 + " NCCL INFO x")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.sampled_from(("nan", "float", "-1", "sum")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("size", "count", "time", "alg_bw", "rank")), inner, max_size=4),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(("version", "args", "env", "nccl_version", "config")), json_values), st.lists(json_values, max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_json(head, results):
    check(json.dumps({"nccl_version": 1, **head, "results": results}))


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.sampled_from(("float", "half", "odd")),
    st.floats(-1, 1e9),
    st.floats(-1, 1e4),
    st.floats(-1, 1e4),
)
@settings(max_examples=100, deadline=None)
def test_json_numbers(size, count, dtype, time, algbw, busbw):
    part = {"time": time, "alg_bw": algbw, "bus_bw": busbw, "nwrong": None}
    row = {"size": size, "count": count, "type": dtype, "redop": "sum", "root": "-1", "out_of_place": part, "in_place": part}
    check(json.dumps({"nccl_version": 1, "results": [row]}))

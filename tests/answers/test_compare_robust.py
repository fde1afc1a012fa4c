"""Whatever a reader yields, ``compare`` answers: no exception, no figure that is not finite, the same answer each time."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.answers.compare import compare_logs
from tierspan.answers.comparison.setting import Asked
from tierspan.faces.cli.plain import plain
from tierspan.faces.cli.render.compare import compare_parts
from tierspan.faces.cli.render.console import make_console
from tierspan.quantities.errors import InputError
from tierspan.specs.benchmark import OPERATIONS, BenchmarkContext, CollectiveLog, CollectiveSample, PairMatrix, StatedRate

rate = st.one_of(st.none(), st.just(0.0), st.floats(1.0, 1e13))
samples = st.builds(
    CollectiveSample,
    operation=st.sampled_from(OPERATIONS),
    size_bytes=st.one_of(st.just(0.0), st.floats(1.0, 1e12)),
    time_s=st.one_of(st.none(), st.just(0.0), st.floats(1e-7, 1e3)),
    algbw_Bps=rate,
    busbw_Bps=rate,
    in_place=st.sampled_from([None, True, False]),
    wrong=st.sampled_from([None, 0, 3]),
    line=st.integers(1, 99),
)
contexts = st.builds(
    BenchmarkContext,
    ranks=st.one_of(st.none(), st.integers(1, 4096)),
    nodes=st.one_of(st.none(), st.integers(1, 600)),
    ranks_per_node=st.one_of(st.none(), st.integers(1, 72)),
    accelerator=st.sampled_from(["", "NVIDIA H100 80GB HBM3", "Tesla V100-PCIE-16GB", "MI300X", "NVIDIA GB200", "what?", "GeForce"]),
    hosts=st.sampled_from([(), ("a",), ("a", "b")]),
    transport=st.sampled_from(["", "IB", "RoCE", "Socket", "efa", "carrier pigeon"]),
    nic_Bps=st.sampled_from([None, 12.5e9]),
    algorithm=st.sampled_from(["", "Ring", "NVLSTree", "Magic"]),
    protocol=st.sampled_from(["", "LL", "Simple", "X"]),
    nvls=st.sampled_from([None, True, False]),
    gpu_direct_rdma=st.sampled_from([None, True, False]),
    environment=st.sampled_from([{}, {"NCCL_IB_DISABLE": "1"}, {"NCCL_P2P_DISABLE": "1"}]),
)
matrices = st.builds(
    PairMatrix,
    title=st.sampled_from(["pairs", "host_to_device"]),
    quantity=st.sampled_from(["bandwidth", "latency"]),
    rows=st.just(("0", "1")),
    columns=st.just(("0", "1")),
    values=st.just(((None, 1e11), (2e10, 3e12))),
    directions=st.sampled_from([1, 2]),
)
logs = st.builds(
    CollectiveLog,
    tool=st.sampled_from(["nccl-tests", "perftest", "nvbandwidth"]),
    samples=st.lists(samples, max_size=6).map(tuple),
    context=contexts,
    size_basis=st.sampled_from(["total", "per rank"]),
    average_busbw_Bps=st.sampled_from([None, 1e10]),
    matrices=st.lists(matrices, max_size=1).map(tuple),
    rates=st.just((StatedRate("dispatch", 4e10),)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(logs, min_size=1, max_size=2), st.sampled_from([Asked(), Asked(system="dgx-h100", ranks=16), Asked(nic="100Gb/s")]))
def test_every_log_has_an_answer(found: list[CollectiveLog], asked: Asked):
    try:
        answer = compare_logs(found, (), asked)
    except InputError:
        return
    assert answer.verdict in ("normal", "slow", "broken", "not comparable")
    for row in answer.rows:
        numbers = (row.ratio, row.expected_busbw_Bps, row.low_busbw_Bps, row.high_busbw_Bps, row.expected_time_s)
        assert all(n is None or (math.isfinite(n) and n >= 0) for n in numbers)
        if row.low_busbw_Bps is not None and row.high_busbw_Bps is not None:
            assert row.low_busbw_Bps <= row.high_busbw_Bps
    assert all(c.evidence and c.next for c in answer.causes)
    json.dumps(plain(answer), allow_nan=False)
    assert answer == compare_logs(found, (), asked)


@settings(max_examples=25, deadline=None)
@given(st.lists(logs, min_size=1, max_size=2), st.sampled_from(["en", "zh"]))
def test_every_answer_can_be_shown(found: list[CollectiveLog], lang: str):
    import io

    try:
        answer = compare_logs(found, found[:1], Asked(system="dgx-h100", ranks=16), lang=lang)
    except InputError:
        return
    console = make_console(io.StringIO())
    for part in compare_parts(answer, lang):
        console.print(part)


def test_a_log_without_samples_says_why():
    log = CollectiveLog("deepep", (), BenchmarkContext(), rates=(StatedRate("dispatch", 4e10),))
    answer = compare_logs((log,))
    assert answer.verdict == "not comparable"
    assert "rates without size and time" in answer.runs[0].reason


@pytest.mark.parametrize("nic", ["400G", "fast", "-1Gb/s"])
def test_a_nic_that_cannot_be_read(nic: str):
    log = CollectiveLog("perftest", (CollectiveSample("point_to_point", 65536.0, None, 1e10, None),), BenchmarkContext(ranks=2))
    with pytest.raises(InputError):
        compare_logs((log,), (), Asked(nic=nic))

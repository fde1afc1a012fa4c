"""The verdict of ``compare``: which sizes decide, where the edges lie, what makes a run not comparable."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from compare_samples import MIB, SIZES, log_of, simple_law
from hypothesis import given
from hypothesis import strategies as st

from tierspan.answers.compare import compare_logs
from tierspan.answers.comparison.results import CompareAnswer
from tierspan.answers.comparison.setting import Asked
from tierspan.quantities.errors import InputError
from tierspan.specs.benchmark import CollectiveLog

HEALTHY = 472.5e9


def judged(*logs: CollectiveLog, asked: Asked | None = None) -> CompareAnswer:
    return compare_logs(logs, (), asked, expect=simple_law)


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(1.0, "normal"), (1.3, "normal"), (0.9, "normal"), (0.85, "slow"), (0.5, "slow"), (0.42, "broken"), (0.1, "broken")],
)
def test_the_edges_of_the_band(share: float, verdict: str):
    answer = judged(log_of(HEALTHY * share, latency_s=20e-6 / share))
    assert answer.verdict == verdict
    assert answer.runs[0].ratio == pytest.approx(share, rel=1e-6)
    assert answer.runs[0].margin == pytest.approx(share * 1.15, rel=1e-6)


def test_small_sizes_do_not_decide():
    assert judged(log_of(HEALTHY, shape=lambda size: 3.0 if size < 16 * MIB else 1.0)).verdict == "normal"


def test_a_slow_plateau_decides_over_good_middle_sizes():
    answer = judged(log_of(HEALTHY, shape=lambda size: 1.6 if size >= 1024 * MIB else 1.0))
    assert answer.verdict == "slow"
    assert answer.runs[0].decided_from_bytes == 2048 * MIB


def test_the_largest_size_decides_where_none_is_large():
    answer = judged(log_of(HEALTHY, sizes=(1024.0, MIB), shape=lambda size: 3.0 if size == MIB else 1.0))
    assert answer.verdict == "broken"
    assert [row.decides for row in answer.rows] == [False, True]


def test_one_slow_size_is_no_slow_run():
    assert judged(log_of(HEALTHY, shape=lambda size: 2.0 if size == SIZES[-1] else 1.0)).verdict == "normal"


def test_wrong_results_are_broken_whatever_the_speed():
    answer = judged(log_of(HEALTHY, wrong=3))
    assert answer.verdict == "broken"
    assert answer.causes[0].id == "wrong_results"


def test_the_worst_run_of_a_file_speaks_for_it():
    answer = judged(log_of(HEALTHY), log_of(HEALTHY * 0.7, latency_s=30e-6))
    assert [run.verdict for run in answer.runs] == ["normal", "slow"]
    assert answer.verdict == "slow"
    assert {row.run for row in answer.rows} == {0, 1}


def test_a_run_that_cannot_be_compared_does_not_hide_the_others():
    assert judged(log_of(HEALTHY), log_of(HEALTHY, accelerator="Unobtainium 9000", ranks=4)).verdict == "normal"


def test_an_unknown_accelerator_is_asked_for():
    answer = judged(log_of(HEALTHY, accelerator=""))
    assert answer.verdict == "not comparable"
    assert answer.causes == ()
    assert answer.runs[0].reason == "the log does not say: the accelerator. Add --system ID."
    assert judged(log_of(HEALTHY, accelerator=""), asked=Asked(system="dgx-h100")).verdict == "normal"


def test_a_flag_that_contradicts_the_log_is_told():
    def contradicted(system: str) -> list[object]:
        return [a.values["printed"] for a in judged(log_of(HEALTHY), asked=Asked(system=system)).assumptions if "printed" in a.values]

    assert contradicted("dgx-a100") == ["NVIDIA H100 80GB HBM3"]
    assert contradicted("hgx-h100") == []


def test_unknown_ranks_follow_from_the_rates_or_are_asked_for():
    log = log_of(HEALTHY)
    blind = replace(log, context=replace(log.context, ranks=None, nodes=None))
    answer = judged(blind)
    assert answer.runs[0].setting.ranks == 8
    assert any(a.reason_id == "compare.assumed.ranks_ratio" for a in answer.assumptions)
    coarse = replace(blind, samples=tuple(replace(s, busbw_Bps=None) for s in blind.samples))
    assert judged(coarse).runs[0].missing[0].flag == "-n N"


@pytest.mark.parametrize("ranks", [2, 3, 7, 8, 16, 32, 64])
def test_ranks_from_printed_rates(ranks: int):
    log = log_of(300e9, ranks=ranks)
    rounded = tuple(
        replace(s, algbw_Bps=round((s.algbw_Bps or 0) / 1e9, 2) * 1e9, busbw_Bps=round((s.busbw_Bps or 0) / 1e9, 2) * 1e9) for s in log.samples
    )
    answer = judged(replace(log, samples=rounded, context=replace(log.context, ranks=None)))
    assert answer.runs[0].setting.ranks == ranks


def test_a_device_is_known_by_the_name_that_drivers_print():
    for printed, known in {
        "NVIDIA H100 80GB HBM3": "h100-sxm5-80gb",
        "NVIDIA A100-SXM4-80GB": "a100-sxm4-80gb",
        "Tesla V100-PCIE-16GB": "v100-pcie",
        "NVIDIA H200": "h200-sxm",
        "AMD Instinct MI300X": "mi300x",
        "NVIDIA H100 NVL": "NVIDIA H100 NVL",
    }.items():
        run = judged(log_of(HEALTHY, accelerator=printed)).runs[0]
        assert run.setting.accelerator == known
        assert bool(run.setting.system) is (known != printed)


def test_a_cut_list_of_hosts_is_seen():
    answer = judged(log_of(300e9, ranks=64, nodes=2))
    assert answer.runs[0].setting.nodes == 8
    assert any(a.reason_id == "compare.assumed.nodes_cut" for a in answer.assumptions)


def test_assumed_nics_are_told_and_given_ones_are_not_assumed():
    log = log_of(300e9, ranks=64)
    assert any(a.field == "nic" and a.value == "400 Gb/s" for a in judged(log).assumptions)
    told = judged(log, asked=Asked(nic="200Gb/s"))
    assert not any(a.field == "nic" for a in told.assumptions)
    assert told.runs[0].setting.nic_Bps == 25e9


def test_more_nodes_than_ranks_are_refused():
    with pytest.raises(InputError, match="16 nodes cannot hold 8 ranks"):
        judged(log_of(HEALTHY), asked=Asked(nodes=16))


def test_a_rate_without_a_time_is_compared_as_a_rate():
    log = log_of(HEALTHY * 0.6, latency_s=30e-6)
    answer = judged(replace(log, samples=tuple(replace(s, time_s=None) for s in log.samples)))
    assert answer.verdict == "slow"
    assert answer.runs[0].ratio == pytest.approx(0.6, rel=0.02)


def test_two_logs_against_each_other():
    first, second = log_of(HEALTHY), log_of(HEALTHY * 0.8, latency_s=60e-6)
    answer = compare_logs((first,), (second,), expect=simple_law)
    assert len(answer.changes) == len(SIZES)
    assert "From 16 MiB up the second is slower (-2" in answer.changed
    assert "Up to 8 MiB it is slower" in answer.changed
    assert compare_logs((first,), (first,), expect=simple_law).changed == "From 16 MiB up the rates are the same (+0 %)."


def test_logs_without_common_sizes():
    answer = compare_logs((log_of(HEALTHY, sizes=(MIB,)),), (log_of(HEALTHY, sizes=(2 * MIB,)),), expect=simple_law)
    assert answer.changed == "The two logs have no operation and size in common."


@given(st.floats(0.05, 5.0), st.sampled_from(["all_reduce", "all_gather", "broadcast"]), st.sampled_from([2, 8, 16, 64]))
def test_the_verdict_never_gets_better_as_times_grow(share: float, operation: str, ranks: int):
    order = ["broken", "slow", "normal"]
    faster = judged(log_of(200e9 * share, operation=operation, ranks=ranks))
    slower = judged(log_of(200e9 * share / 1.5, operation=operation, ranks=ranks))
    assert order.index(slower.verdict) <= order.index(faster.verdict)
    assert all(row.ratio is not None and math.isfinite(row.ratio) for row in faster.rows)

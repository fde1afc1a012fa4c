"""Each cause shows with its traces, stays silent without, and never stands without evidence and a next step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compare_samples import MIB, log_of, simple_law

from tierspan.answers.compare import compare_logs
from tierspan.answers.comparison.causes import MOST, RULES
from tierspan.answers.comparison.results import CompareAnswer
from tierspan.answers.comparison.setting import Asked
from tierspan.quantities.messages import catalogue, languages
from tierspan.specs.benchmark import CollectiveLog

NET = 8 * 50e9 * 0.9


def judged(log: CollectiveLog, **asked) -> CompareAnswer:
    return compare_logs((log,), (), Asked(**asked), expect=simple_law)


def causes(log: CollectiveLog, **asked) -> list[str]:
    return [c.id for c in judged(log, **asked).causes]


def across(share: float, *, nodes: int = 2, **more) -> CollectiveLog:
    """A run over nodes at a share of what their NICs carry."""
    return log_of(NET * share, ranks=8 * nodes, nodes=nodes, latency_s=more.pop("latency_s", 40e-6), **more)


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_cause_has_its_texts(rule, lang: str):
    ids = {f"compare.cause.{rule.id}{part}" for part in ("", ".evidence", ".next")}
    assert ids <= catalogue(lang).keys()


def test_ids_of_causes_are_unique():
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_a_healthy_run_has_no_causes():
    for log in (log_of(472.5e9), across(1.0), across(1.0, nodes=8)):
        answer = judged(log)
        assert answer.verdict == "normal"
        assert answer.causes == ()


def test_causes_are_few_ordered_and_complete():
    found = judged(across(0.3, shape=lambda size: 1.0 if size < 256 * MIB else 1.4)).causes
    assert 1 <= len(found) <= MOST
    assert [c.points for c in found] == sorted((c.points for c in found), reverse=True)
    assert all(c.text and c.evidence and c.next and "{" not in c.evidence for c in found)


def test_reduction_in_the_switches_off():
    assert causes(log_of(0.8 * 450e9))[0] == "nvls_off"
    assert "nvls_off" not in causes(log_of(0.8 * 450e9, operation="all_gather"))
    # Said by the log, it is no fault any more: the expectation is that of a ring.
    assert judged(log_of(0.8 * 450e9, nvls=False)).verdict == "normal"


def test_a_path_through_pcie():
    assert causes(log_of(22e9))[0] == "pcie_path"
    assert "pcie_path" not in causes(log_of(250e9))
    said = judged(log_of(40e9, environment={"NCCL_P2P_DISABLE": "1"})).causes[0]
    assert (said.id, said.points) == ("pcie_path", 9.0)


def test_links_down_lie_between():
    assert "links_down" in causes(log_of(250e9))
    assert "nvls_off" not in causes(log_of(250e9))
    assert "links_down" not in causes(across(0.5))


@pytest.mark.parametrize("k", [4, 7, 2])
def test_a_missing_rail(k: int):
    found = judged(across(k / 8), nic="400Gb/s")
    if k == 7:
        assert found.verdict == "normal"
        return
    cause = next(c for c in found.causes if c.id == "rail_missing")
    assert cause.values["k"] == k
    assert f"{k} of 8" in cause.text


def test_sockets_instead_of_rdma():
    slow = log_of(8 * 50e9 * 0.2, ranks=16, nodes=2, latency_s=300e-6)
    assert causes(slow, nic="400Gb/s")[0] == "tcp"
    assert "tcp" not in causes(across(0.25), nic="400Gb/s")
    assert causes(across(0.5, environment={"NCCL_IB_DISABLE": "1"}))[0] == "tcp"


def test_no_gpu_direct():
    assert causes(across(0.5, gpu_direct_rdma=False))[0] == "no_gdr"
    assert "no_gdr" in causes(across(0.45))
    assert "no_gdr" not in causes(across(0.45, gpu_direct_rdma=True))
    assert "no_gdr" in causes(across(0.5, environment={"NCCL_NET_GDR_LEVEL": "LOC"}))


def test_collisions_weigh_more_on_ethernet_and_with_a_spread():
    def points(log: CollectiveLog, **asked) -> float:
        return next(c.points for c in judged(log, nic="400Gb/s", **asked).causes if c.id == "collisions")

    calm = points(across(0.78, nodes=4))
    assert points(across(0.78, nodes=4), transport="roce") > calm
    log = across(0.75, nodes=4)
    twice = tuple(replace(s, in_place=True, time_s=(s.time_s or 0) * 1.3) for s in log.samples)
    assert points(replace(log, samples=(*log.samples, *twice))) > calm


def test_a_sick_cable_between_two_nodes():
    assert "sick_cable" in causes(across(0.68), nic="400Gb/s")
    assert "sick_cable" not in causes(across(0.85), nic="400Gb/s")


def test_cross_rail_traffic():
    assert "cross_rail" in causes(log_of(NET * 0.6, operation="all_to_all", ranks=32, latency_s=40e-6), nic="400Gb/s")
    assert "cross_rail" not in causes(across(0.6), nic="400Gb/s")
    assert "cross_rail" in causes(across(0.6, environment={"NCCL_CROSS_NIC": "1"}), nic="400Gb/s")


def test_few_ranks_on_a_node():
    log = log_of(0.5 * 45e9, ranks=2, nodes=2, latency_s=40e-6)
    assert "few_ranks" in causes(log, nic="400Gb/s")


def test_other_nics_than_assumed():
    found = judged(across(0.25)).causes
    assert found[0].id == "other_nic"
    assert "fits 100 Gb/s" in found[0].evidence
    assert "other_nic" not in causes(across(0.25), nic="400Gb/s")


def test_a_rate_that_falls_with_size():
    assert "falls" in causes(across(0.5, shape=lambda size: 1.0 if size < 256 * MIB else 1.5))
    assert "falls" not in causes(across(0.5))


def test_mixed_up_rates():
    log = log_of(200e9)
    mixed = replace(log, samples=tuple(replace(s, busbw_Bps=s.algbw_Bps) for s in log.samples))
    assert causes(mixed)[0] == "wrong_denominator"
    assert "wrong_denominator" not in causes(log)


def test_bits_for_bytes_only_without_times():
    log = log_of(472.5e9 / 8)
    blind = replace(log, samples=tuple(replace(s, time_s=None) for s in log.samples))
    assert causes(blind)[0] == "bits_for_bytes"
    assert "bits_for_bytes" not in causes(log)


def test_only_small_sizes():
    log = log_of(472.5e9, sizes=(1024.0, MIB), shape=lambda size: 2.0)
    assert "small_sizes" in causes(log)
    assert [n.id for n in judged(log_of(472.5e9, sizes=(1024.0, MIB))).notes] == ["small_sizes_only"]


def test_jumping_times():
    assert "noise" in causes(log_of(472.5e9, shape=lambda size: 9.0 if size in (64 * MIB, 256 * MIB) else 1.4))
    assert "noise" not in causes(log_of(472.5e9, shape=lambda size: 1.4))


def test_few_iterations_and_debugging():
    assert "few_iterations" in causes(log_of(250e9, command="all_reduce_perf -b 8 -e 8G -f 2 -g 8 -n 1"))
    assert "few_iterations" not in causes(log_of(250e9, command="all_reduce_perf -b 8 -e 8G -f 2 -g 8 -n 20"))
    assert "debug" in causes(log_of(250e9, environment={"NCCL_DEBUG": "TRACE"}))


def test_busbw_above_the_link_is_no_error():
    answer = judged(log_of(472.5e9))
    assert (answer.verdict, [n.id for n in answer.notes]) == ("normal", ["above_link"])


def test_far_too_fast_is_told():
    assert "too_fast" in [n.id for n in judged(log_of(8 * 472.5e9)).notes]
    assert "too_fast" not in [n.id for n in judged(log_of(1.2 * 472.5e9)).notes]


def test_the_average_is_never_a_capability():
    answer = judged(log_of(472.5e9, average_busbw_Bps=120e9))
    assert answer.verdict == "normal"
    assert "average" in [n.id for n in answer.notes]


def test_a_dip_below_a_healthy_plateau():
    answer = judged(log_of(472.5e9, shape=lambda size: 1.6 if size == 32 * MIB else 1.0))
    assert answer.verdict == "normal"
    note = next(n for n in answer.notes if n.id == "dip")
    assert "from 32 MiB to 32 MiB" in note.evidence


def test_a_forced_algorithm():
    assert "forced" in [n.id for n in judged(log_of(0.8 * 450e9, algorithm="Ring")).notes]

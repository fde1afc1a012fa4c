"""The answer of ``tierspan collective``: typed, complete, with its errors."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import pytest

from tierspan.answers.collective import CURVE, OPERATIONS, ExpertTokens, collective
from tierspan.answers.validate import validate
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import languages, render_error, text
from tierspan.specs.catalog import cluster

GIB = float(2**30)
H100 = cluster("hgx-h100", 64)
SHARED = Path(__file__).parents[2].parent / "shared" / "validation" / "collectives.csv"


def test_one_collective():
    found = collective(operation="all_reduce", size_bytes=GIB, cluster=H100)
    assert (found.ranks, found.ranks_per_node) == (64, 8)
    assert found.low_s is not None
    assert found.high_s is not None
    assert found.low_s < found.time_s < found.high_s
    assert found.algbw_Bps == pytest.approx(GIB / found.time_s)
    assert found.busbw_Bps == pytest.approx(found.algbw_Bps * 2 * 63 / 64)
    assert found.bound == "wire"
    assert found.floor_s + found.wire_s < found.time_s * 1.0001
    assert [t.kind for t in found.tiers] == ["scale-up", "scale-out"]
    assert sum(t.binds for t in found.tiers) == 1
    assert found.span == "InfiniBand NDR"
    assert [p.size_bytes for p in found.curve] == pytest.approx(CURVE)
    assert found.half_peak_bytes is not None
    assert found.algorithm not in found.forced
    assert found.sources


def test_small_messages_are_bound_by_latency():
    assert collective(operation="all_reduce", size_bytes=8, cluster=H100, ranks=16).bound == "latency"


def test_forcing_is_never_faster_than_the_library_s_choice():
    own = collective(operation="all_reduce", size_bytes=GIB, cluster=H100)
    for algorithm in ("ring", "tree"):
        assert collective(operation="all_reduce", size_bytes=GIB, cluster=H100, algorithm=algorithm).time_s >= own.time_s


def test_experts():
    tokens = ExpertTokens(128, 7168, 8, 1.0, low_latency=True)
    found = collective(operation="dispatch", cluster=cluster("hgx-h800", 64), tokens=tokens)
    assert found.time_s == pytest.approx(173e-6, rel=0.2)
    assert found.busbw_Bps is None
    assert found.algorithm == "low latency"


def test_assumptions_are_told():
    found = collective(operation="all_reduce", size_bytes=GIB, cluster=H100, ranks=12, transport="carrier-pigeon")
    told = {a.field: text(a.reason_id, **a.values) for a in found.assumptions}
    assert set(told) == {"ranks_per_node", "transport", "placement"}
    assert "carrier-pigeon" in told["transport"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"operation": "all_reduse"}, "collective.unknown"),
        ({"algorithm": "rign"}, "collective.unknown"),
        ({"protocol": "LL64"}, "collective.unknown"),
        ({"ranks": 1}, "collective.one_rank"),
        ({"ranks": 65}, "collective.too_many_ranks"),
        ({"ranks_per_node": 9}, "collective.too_many_per_node"),
        ({"size_bytes": 0}, "value.not_positive"),
        ({"size_bytes": None}, "value.not_positive"),
        ({"size_bytes": float("nan")}, "value.not_positive"),
        ({"operation": "dispatch"}, "collective.tokens_missing"),
        ({"algorithm": "nvls"}, "collective.cannot_run"),
    ],
)
def test_errors_tell_rule_and_remedy(asked: dict[str, object], message: str):
    with pytest.raises(InputError) as caught:
        collective(**({"operation": "all_reduce", "size_bytes": GIB, "cluster": H100} | asked))  # type: ignore[arg-type]
    assert caught.value.message_id == message
    for lang in languages():
        assert "{" not in render_error(caught.value, lang)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_answers(operation: str):
    found = collective(operation=operation, size_bytes=GIB, cluster=H100, tokens=ExpertTokens(4096, 7168, 8))
    assert found.time_s > 0
    assert asdict(found)["operation"] == operation


@pytest.mark.skipif(not SHARED.exists(), reason="no public measurements beside this checkout")
def test_validation_of_the_public_file(tmp_path: Path):
    found = validate(SHARED, predictions=tmp_path / "out.csv")
    report = found.report
    assert report["predicted"] >= 0.95 * report["complete"]
    judged = report["by"]["three_sources"]
    assert judged["1 MiB and above"]["median_ape"] <= 0.10
    assert judged["below 1 MiB"]["median_ape"] <= 0.25
    assert abs(judged["all"]["bias"]) <= 0.05
    assert judged["all"]["rows"] + report["by"]["fewer_sources"]["all"]["rows"] == report["predicted"]
    assert 0.7 < report["overall"]["coverage80"] < 0.95
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == report["rows"]
    assert sum(line["status"] == "predicted" and bool(line["measured"]) for line in lines) == report["predicted"]
    assert {line["unit"] for line in lines} == {"us"}


def test_collectives_can_be_cross_validated(tmp_path: Path):
    header = "id,source,url_or_issue,collective,accelerator,n_gpus,n_nodes,nic_gbps_per_gpu,size_bytes,time_us,algbw_GBps,busbw_GBps,notes,flags"
    rows = [f"C{p}{k},s,page{p},all_reduce,H100-80GB,16,2,400,{2**k},{30 + 2**k / 2.5e5},,,," for p in range(3) for k in range(10, 30, 2)]
    path = tmp_path / "collectives.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    told: list[tuple[int, int]] = []
    found = validate(path, split="source", progress=lambda done, total: told.append((done, total)))
    assert found.cross_validated == "source"
    assert told[-1] == (3, 3)
    assert found.report["predicted"] == 30
    assert found.report["by"]["three_sources"]["all"]["rows"] == 30
    assert all(line.low is not None and line.low < (line.predicted or 0) for line in found.lines)

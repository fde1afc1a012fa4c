"""Classes, folds and the shape of validation reports."""

import hashlib
import json

import numpy as np
import pytest

from tierspan.answers.validation import classes
from tierspan.answers.validation.report import memory_report, operations_report, serving_report, training_report
from tierspan.estimates.calibration.folds import FOLDS, fold_of_group, group_fold, publisher
from tierspan.formats.measurements.cells import Cells
from tierspan.formats.measurements.rows import memory_row, operation_row, serving_row, training_row

S_KEYS = {"rows", "median_ape", "mean_ape", "p90_ape", "bias", "coverage80"}


def row(i=0, **cells):
    given = {
        "id": f"r{i}",
        "source": "S",
        "model": "M",
        "accelerator": "h100",
        "n_accelerators": "8",
        "node_size": "8",
        "hbd_size": "8",
        "global_batch": "8",
        "seq_len": "4",
        "tp": "1",
        "pp": "1",
        "layers": "2",
        "hidden": "4",
        "metric": "step_time_s",
        "value": "2",
        "flags": "",
        "moe": "no",
    }
    return training_row(Cells("f", i + 2, given | {k: str(v) for k, v in cells.items()}))


NANOTRON = "HF Ultra-Scale Playbook interactive benchmark (nanotron)"


def test_a_training_report_has_the_agreed_keys_and_is_json():
    rows = [row(0), row(1, source=NANOTRON), row(2, flags="DUPLICATE"), row(3, flags="LORA", moe="yes"), row(4, tp="")]
    report = training_report(
        rows, [2.2, 4.0, 2.0, 1.0, np.nan], 0.5, 3.0, host_bound=[True, False, None, False, None], reasons=["", "", "", "", "no tp"]
    )
    assert {"kind", "rows", "predicted", "excluded", "overall", "curated", "by", "ranking", "slopes", "memory"} <= set(report)
    assert (report["kind"], report["rows"], report["complete"], report["predicted"]) == ("training", 5, 3, 3)
    assert (report["excluded"], report["not_predicted"]) == ({"DUPLICATE": 1}, {"no tp": 1})
    assert set(report["overall"]) == S_KEYS
    assert report["overall"]["rows"] == 3
    assert report["curated"]["rows"] == 2
    assert report["without_lora"]["rows"] == 1
    assert report["overall"]["coverage80"] == 1.0
    assert set(report["by"]) == {"source", "regime", "accelerator", "span", "density"}
    assert set(report["by"]["regime"]) == {"one node, host-bound, dense", "one node, device-bound, moe", "nanotron"}
    assert list(report["by"]["span"])[:2] == ["one node", "many nodes"]
    assert report["by"]["span"]["many nodes"] is None
    assert report["by"]["density"]["moe"]["rows"] == 1
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_the_parts_of_a_report_add_up():
    rng = np.random.default_rng(0)
    rows = [
        row(i, source=[NANOTRON, "A", "B"][i % 3], accelerator=f"a{i % 4}", moe=["yes", "no"][i % 2], n_accelerators=[4, 64][i % 5 > 2])
        for i in range(60)
    ]
    report = training_report(rows, rng.uniform(1, 4, 60), host_bound=[bool(i % 2) for i in range(60)])
    for name in ("source", "regime", "accelerator", "density"):
        assert sum(s["rows"] for s in report["by"][name].values()) == report["overall"]["rows"] == 60
    assert report["curated"]["rows"] == 60 - report["by"]["source"][NANOTRON]["rows"]


@pytest.mark.parametrize(
    ("n", "node", "hbd", "span", "wide"),
    [
        (8, 8, 8, "one node", False),
        (9, 8, 8, "many nodes", False),
        (64, 4, 72, "one node", True),
        (128, 4, 72, "many nodes", True),
        (4, 4, 72, "one node", False),
        (64, "", 256, "one node", False),
        (64, "", "", "", False),
    ],
)
def test_span(n, node, hbd, span, wide):
    r = row(n_accelerators=n, node_size=node, hbd_size=hbd)
    assert (classes.span(r), classes.in_wide_domain(r)) == (span, wide)


def test_tensor_groups_across_nodes_are_nanotron_rows_only():
    cells = {"tp": 16, "n_accelerators": 64}
    assert classes.tensor_groups_across_nodes(row(source=NANOTRON, **cells))
    assert not classes.tensor_groups_across_nodes(row(**cells))
    assert not classes.tensor_groups_across_nodes(row(source=NANOTRON, **cells, pp=2))
    assert not classes.tensor_groups_across_nodes(row(source=NANOTRON, tp=16, n_accelerators=512))


def test_folds_are_fixed_and_hold_whole_groups():
    for name in ("S|M|h100", "a|b|c", "超节点|M|x", "x|y|z"):
        assert fold_of_group(name) == int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10
    assert group_fold(row()) == fold_of_group("S|M|h100") == group_fold(row(1, tp=4))
    assert {fold_of_group(f"a|b|{i}") for i in range(200)} == set(range(FOLDS))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("MLPerf Training v4.1 logs", "MLPerf"),
        ("MLPerf Training v5.0 logs", "MLPerf"),
        ("vTrain measured ground truth (single-node)", "vTrain"),
        ("BigScience GPT-2 V100 experiments (Jean Zay)", "BigScience"),
        ("NVIDIA Megatron-LM README 2020", "Megatron-LM"),
        ("NVIDIA Megatron-Bridge performance summary", "NVIDIA Megatron-Bridge performance summary"),
        ("Google tpu-recipes (example logs)", "Google"),
        ("MaxText README / TPU config READMEs", "Google"),
        ("Ascend ModelLink README MFU table", "Ascend"),
    ],
)
def test_publishers(source, name):
    assert publisher(source) == name


def test_rankings_need_eight_plans():
    rows = [row(i, source=NANOTRON, value=i + 1) for i in range(8)]
    times = [r.value for r in rows]
    assert training_report(rows, times)["ranking"][0] == {
        "group": "nanotron M @ 8",
        "plans": 8,
        "kendall_tau": 1.0,
        "regret": 0.0,
        "regret_top3": 0.0,
    }
    assert training_report(rows[:7], times[:7])["ranking"] == []


def test_slopes_by_hand():
    # Weak scaling 8 -> 16: measured throughput per accelerator falls to 80 %, predicted to 90 %.
    rows = [row(0, dp=8, value=2), row(1, n_accelerators=16, dp=16, global_batch=16, value=2.5)]
    assert training_report(rows, [1.0, 1 / 0.9])["slopes"] == pytest.approx({"series": 1, "steep": 1, "error_points": 10, "error_points_steep": 10})
    assert training_report(rows[:1], [1.0])["slopes"] == {"series": 0, "steep": 0, "error_points": None, "error_points_steep": None}


def test_memory_report():
    cells = {"id": "m", "source": "s", "model": "M", "accelerator": "h100", "n_accelerators": "8", "tp": "1", "pp": "1", "dp": "8"}
    rows = [
        memory_row(Cells("f", i, cells | {"outcome": o, "peak_reserved_gb": p}))
        for i, (o, p) in enumerate([("fits", "40"), ("fits", "70"), ("oom", ""), ("oom", "")])
    ]
    report = memory_report(rows, [44.0, 85.0, 90.0, 10.0], ["fits", "oom", "oom", ""])
    assert report["predicted"] == 3
    assert report["memory"]["accuracy"] == pytest.approx(2 / 3)
    assert (report["memory"]["oom_recall"], report["memory"]["fits_recall"]) == (1.0, 0.5)
    assert report["memory"]["peak_median_ape"] == pytest.approx((0.1 + 15 / 70) / 2)


def test_peaks_are_compared_with_reserved_memory_where_it_is_given():
    cells = {"id": "m", "source": "s", "model": "M", "accelerator": "h100", "n_accelerators": "8", "tp": "1", "pp": "1", "dp": "8", "outcome": "fits"}
    both = memory_row(Cells("f", 2, cells | {"peak_reserved_gb": "50", "peak_allocated_gb": "40"}))
    allocated = memory_row(Cells("f", 3, cells | {"peak_allocated_gb": "40"}))
    assert memory_report([both], [55.0], ["fits"])["memory"]["peak_median_ape"] == pytest.approx(0.1)
    assert memory_report([allocated], [50.0], ["fits"])["memory"]["peak_median_ape"] == pytest.approx(0.25)


def test_serving_counts_two_quantities_a_row():
    cells = {"id": "s", "model_path": "m", "system": "h", "isl": "1", "osl": "1", "silicon_ttft_ms": "100", "silicon_tpot_ms": "10"}
    rows = [serving_row(Cells("f", 2, cells)), serving_row(Cells("f", 3, cells | {"flags": "NOT_SCORABLE"}))]
    report = serving_report(rows, [110, 110], [12, 12])
    assert (report["predicted"], report["excluded"], report["overall"]["rows"]) == (1, {"NOT_SCORABLE": 1}, 2)
    assert report["by"]["quantity"]["tpot"]["bias"] == pytest.approx(0.2)


def test_operations_score_numbers_only():
    cells = {"id": "o", "domain": "power", "source": "s", "metric": "m", "unit": "kW"}
    rows = [operation_row(Cells("f", i, cells | {"value": v})) for i, v in enumerate(["10", ">90", "5"])]
    report = operations_report(rows, [11, 11, np.nan], ["", "", "circular"])
    assert (report["predicted"], report["not_predicted"]) == (1, {"circular": 1})
    assert report["by"]["domain"]["power"]["median_ape"] == pytest.approx(0.1)

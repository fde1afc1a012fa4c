import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tierspan.estimates.calibration import memory_fit, memory_rows

FILE = Path(__file__).parents[2].parent / "shared" / "validation" / "memory.csv"
FITTED = Path(memory_fit.__file__).parents[2] / "laws" / "memory" / "fitted.json"
ROW = {
    "source": "nowhere", "model": "nanotron llama 1.34G", "layers": "16", "hidden": "2048", "heads": "32", "kv_heads": "32", "ffn": "8192",
    "vocab": "131072", "experts": "", "topk": "", "seq_len": "4096", "accelerator": "H100-80GB", "n_accelerators": "8", "tp": "2", "sp": "yes",
    "pp": "1", "vpp": "1", "cp": "", "ep": "", "dp": "4", "zero": "0", "micro_batch": "2", "global_batch": "256", "recompute": "",
    "precision": "bf16", "after_pp_fix": "no", "outcome": "fits", "peak_allocated_gb": "", "peak_reserved_gb": "27.1", "notes": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> memory_rows.MemoryRows:
    if not FILE.exists():
        pytest.skip("the shared measurements are not here")
    return memory_rows.read_memory_rows(FILE)


def constants() -> dict[str, dict[str, float]]:
    return json.loads(FITTED.read_text(encoding="utf-8"))["constants"]


def test_shipped_constants_belong_to_this_law() -> None:
    assert json.loads(FITTED.read_text(encoding="utf-8"))["law_sha256"] == memory_fit.law_hash(), "fit the memory constants again"


def test_shipped_constants_stand_inside_their_physical_bounds() -> None:
    for stack in memory_fit.NANOTRON:
        for name, (low, high) in memory_fit.FREE.items():
            if name not in memory_fit.STRUCTURE[stack]:
                assert low <= constants()[stack][name] <= high


def test_a_size_in_the_name_tells_whether_embeddings_are_tied() -> None:
    big = ROW | {"model": "nanotron llama 80G", "layers": "80", "hidden": "8192", "heads": "64", "kv_heads": "64", "ffn": "28672"}
    got = memory_rows.memory_rows([ROW, big])
    assert got.models.tied_embeddings.tolist() == [1.0, 0.0]


def test_an_incomplete_row_is_left_out_with_its_reason() -> None:
    got = memory_rows.memory_rows([ROW | {"seq_len": ""}, ROW, ROW | {"model": "deepseekv2 (4 layers)"}])
    assert dict(got.unread) == {0: "seq_len", 2: "architecture not in the columns"}
    assert got.position.tolist() == [1]


def test_an_empty_width_is_taken_from_the_same_model_and_said() -> None:
    got = memory_rows.memory_rows([ROW, ROW | {"ffn": ""}])
    assert got.models.ffn.tolist() == [8192.0, 8192.0]
    assert "ffn" in got.assumed[1]
    assert "ffn" not in got.assumed[0]
    assert "recompute" in got.assumed[0]


@pytest.mark.parametrize(("fix", "pp", "stack"), [("no", "1", "nanotron-single"), ("no", "2", "nanotron-staged"), ("yes", "1", "nanotron-fixed")])
def test_variants_of_the_software(fix: str, pp: str, stack: str) -> None:
    assert memory_rows.stack_of(ROW | {"after_pp_fix": fix, "pp": pp}) == stack


def test_runs_without_stages_after_the_change_keep_no_gathered_inputs() -> None:
    assert memory_rows.stack_of(ROW | {"source": "grid (benchmark, job 14016400)"}) == "nanotron-single"
    assert memory_rows.stack_of(ROW | {"source": "grid (benchmark, job 14019166)"}) == "nanotron-staged"


def test_the_peak_of_a_nanotron_row_is_that_of_the_first_stage() -> None:
    # one micro-batch: the logits make the last stage the heaviest, which decides on life and death
    row = ROW | {"pp": "2", "tp": "1", "micro_batch": "8", "global_batch": "32", "after_pp_fix": "yes", "dp": "4"}
    grid = memory_rows.memory_rows([row])
    assert grid.first_stage.tolist() == [True]
    peak, _ = memory_fit.predict_rows(grid, constants(), np.array([8e10]))
    heaviest, _ = memory_fit.predict_rows(replace(grid, first_stage=np.array([False])), constants(), np.array([8e10]))
    assert heaviest[0] > 1.2 * peak[0]
    between = np.array([float(peak[0] + heaviest[0]) / 2 + constants()["nanotron-fixed"]["outside_bytes"]])
    assert memory_fit.predict_rows(grid, constants(), between)[1].tolist() == [True]


def test_errors_by_hand() -> None:
    got = memory_rows.memory_rows([ROW, ROW | {"outcome": "oom", "peak_reserved_gb": ""}])
    e = memory_fit.errors_of(got, np.array([54.2e9, 50e9]), np.array([False, False]))
    assert (e.accuracy, e.oom_recall, e.fits_recall, e.peak_rows) == (0.5, 0.0, 1.0, 1)
    assert e.peak_median_ape == pytest.approx(1.0)


def test_shipped_constants_meet_the_measurements(rows: memory_rows.MemoryRows) -> None:
    offered = memory_rows.offered_bytes(rows.accelerators)
    peak, dies = memory_fit.predict_rows(rows, constants(), offered)
    e = memory_fit.errors_of(rows, peak, dies)
    assert e.accuracy is not None
    assert e.peak_median_ape is not None
    assert e.fits_recall is not None
    assert e.peak_p90_ape is not None
    assert e.accuracy > 0.975
    assert e.fits_recall > 0.97
    assert e.peak_median_ape < 0.05
    assert e.peak_p90_ape < 0.13


@pytest.mark.slow
def test_a_model_left_out_of_the_fit_is_met_as_well(rows: memory_rows.MemoryRows) -> None:
    e = memory_fit.leave_one_model_out(rows, memory_rows.offered_bytes(rows.accelerators))["all"]
    assert e.accuracy is not None
    assert e.peak_median_ape is not None
    assert e.fits_recall is not None
    assert e.peak_p90_ape is not None
    assert e.accuracy > 0.97
    assert e.fits_recall > 0.965
    assert e.peak_median_ape < 0.05
    assert e.peak_p90_ape < 0.14

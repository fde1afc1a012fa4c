"""The file that Perfetto opens: well formed, and showing the schedule that one expects; ``predict --trace`` as a user types it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tierspan as ts
from tierspan.faces.cli import main as entry
from tierspan.faces.exports.lanes import micros, on_grid, placed
from tierspan.faces.exports.perfetto import events, write_trace
from tierspan.quantities.errors import InputError
from tierspan.specs.models import model
from tierspan.specs.trace import Span, Trace

JOB = ["predict", "--system", "dgx-h100", "-n", "256", "--model", "llama-3.1-70b", "--seq-len", "8192", "--global-batch", "512", "--tp", "4"]
JOB += ["--precision", "bf16", "--stack", "megatron-core", "--pp", "8"]
REQUIRED = {
    "M": {"name", "pid", "tid", "args"}, "X": {"name", "cat", "pid", "tid", "ts", "dur"}, "C": {"name", "pid", "ts", "args"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"}, "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
}  # fmt: skip
ALL = [("gpipe", 1), ("1f1b", 1), ("interleaved", 4), ("zb-h1", 1), ("zb-h2", 1), ("dualpipe", 1)]
Event = dict[str, Any]


def deep(**more: object) -> Trace:
    """Llama 3.1 405B, eight stages of eight virtual chunks."""
    given = {"system": "dgx-h100", "accelerators": 1024, "model": "llama-3.1-405b", "sequence_length": 8192, "global_batch": 256}
    return ts.trace(**{**given, "tp": 8, "pp": 8, "vpp": 8, "cp": 2, "precision": "bf16", **more})  # type: ignore[arg-type]


def experts(schedule: str, vpp: int) -> Trace:
    return deep(model="deepseek-v3", accelerators=256, tp=1, cp=1, ep=8, vpp=vpp, global_batch=512, sequence_length=4096, schedule=schedule)


def read(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return found


def check(found: list[Event]) -> None:
    """The rules of the format that viewers rely on."""
    assert {event["ph"] for event in found} <= set(REQUIRED)
    rows: dict[tuple[int, int], list[Event]] = defaultdict(list)
    flows: dict[str, dict[int, Event]] = {"s": {}, "f": {}}
    named = {(e["pid"], e["tid"]) for e in found if e["name"] == "thread_name"}
    processes = {e["pid"] for e in found if e["name"] == "process_name"}
    for event in found:
        assert REQUIRED[event["ph"]] <= set(event), event
        assert event["pid"] in processes
        if event["ph"] == "M":
            continue
        # exact in binary, so that no reader rounds neighbours into each other
        assert event["ts"] * 8 == int(event["ts"] * 8) >= 0
        if event["ph"] == "X":
            assert event["dur"] * 8 == int(event["dur"] * 8) >= 0
            assert (event["pid"], event["tid"]) in named
            rows[event["pid"], event["tid"]].append(event)
        elif event["ph"] in flows:
            assert event["id"] not in flows[event["ph"]]
            flows[event["ph"]][event["id"]] = event
    for row in rows.values():
        # Perfetto drops a slice that overlaps its neighbour
        assert all(one["ts"] + one["dur"] <= other["ts"] for one, other in pairwise(row))
    assert flows["s"].keys() == flows["f"].keys()
    for number, start in flows["s"].items():
        end = flows["f"][number]
        assert (start["cat"], start["name"]) == (end["cat"], end["name"])
        assert start["ts"] <= end["ts"]
        assert start["pid"] != end["pid"]
        for flow in (start, end):
            assert any(s["ts"] <= flow["ts"] <= s["ts"] + s["dur"] for s in around(rows[flow["pid"], flow["tid"]], flow["ts"])), flow
    timed = [event["ts"] for event in found if event["ph"] != "M"]
    assert timed == sorted(timed)


def around(row: list[Event], at: float) -> list[Event]:
    """The slices next to a time."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if row[middle]["ts"] <= at else (low, middle)
    return row[max(low - 2, 0) : low + 1]


def bubble_us(found: list[Event]) -> float:
    """What the mean rank waits for others, from nothing but the file.

    Gaps of the compute row and the time after the last event of the rank, less what traffic explains: the message that the next task got
    while it waited, what the rank's own sends held up, the parameters before its first task, and its gradients after the last one.
    """
    slices = [e for e in found if e["ph"] == "X"]
    end = max(e["ts"] + e["dur"] for e in slices)
    sends = {(e["pid"], e["tid"], e["ts"]): e for e in slices if e["cat"].endswith("_send")}
    came: dict[tuple[int, float], list[Event]] = defaultdict(list)
    starts = {e["id"]: e for e in found if e["ph"] == "s"}
    for flow in (e for e in found if e["ph"] == "f"):
        start = starts[flow["id"]]
        came[flow["pid"], flow["ts"]].append(sends[start["pid"], start["tid"], start["ts"]])
    waits = []
    for pid in sorted({e["pid"] for e in slices}):
        mine = [e for e in slices if e["pid"] == pid]
        held: dict[float, float] = defaultdict(float)
        for e in mine:
            if e["cat"].endswith("_send"):
                held[e["ts"]] += e["args"].get("exposed_us", 0.0)
        gathered = sum(e["args"].get("exposed_us", 0.0) for e in mine if e["cat"] == "parameter_gather")
        free, waited = gathered, 0.0
        for e in (e for e in mine if e["cat"] in ("forward", "backward", "pair", "input_gradient", "weight_gradient")):
            gap = max(e["ts"] - free, 0.0)
            travelled = max((min(m["ts"] + m["dur"], e["ts"]) - max(m["ts"], free) for m in came[pid, e["ts"]]), default=0.0)
            waited += gap - min(max(travelled, 0.0), gap)
            free = e["ts"] + e["dur"]
            free += held[free]
        waits.append(waited + end - max(e["ts"] + e["dur"] for e in mine if e["cat"] in ("optimizer", "gradient_reduce")))
    return sum(waits) / len(waits)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("trace") / "step.json"
    size = write_trace(deep(), path)
    assert size == path.stat().st_size
    return read(path)


def test_pp8_vpp8_is_well_formed(found):
    assert set(found) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert found["displayTimeUnit"] == "ms"
    check(found["traceEvents"])


def test_pp8_vpp8_shows_the_interleaved_order(found):
    """Narayanan et al. 2021, section 2.2: warm-up of 2 (p - s - 1) + (v - 1) p passes, then forward and backward in turn."""
    slices = [e for e in found["traceEvents"] if e["ph"] == "X"]
    for stage in range(8):
        ran = [e for e in slices if e["pid"] == 128 * stage and e["cat"] in ("forward", "backward")]
        ahead = 2 * (8 - stage - 1) + 7 * 8
        kinds = ["forward"] * ahead + ["forward", "backward"] * (256 - ahead) + ["backward"] * ahead
        assert [e["cat"] for e in ran] == kinds
        for kind in ("forward", "backward"):
            virtual = [(k % 64 // 8, k // 64 * 8 + k % 8) for k in range(256)]
            order = [(chunk if kind == "forward" else 7 - chunk, micro_batch) for chunk, micro_batch in virtual]
            assert [(e["args"]["chunk"], e["args"]["micro_batch"]) for e in ran if e["cat"] == kind] == order
    assert ran[0]["name"] == "forward 0, chunk 0"
    assert ran[0]["args"]["layers"] == "13-14"


def test_pp8_vpp8_shows_the_bubble(found):
    about = found["otherData"]
    measured = bubble_us(found["traceEvents"]) / 1e6
    told = ts.predict(
        system="dgx-h100", accelerators=1024, model="llama-3.1-405b", sequence_length=8192, global_batch=256, tp=8, pp=8, vpp=8, cp=2,
        precision="bf16", timeline=True,
    ).timeline  # fmt: skip
    assert told is not None
    assert measured == pytest.approx(about["bubble_s"], rel=0.01)
    assert measured / about["step_time_s"] == pytest.approx(told.bubble_share, rel=0.01)


@pytest.mark.parametrize(("more", "above"), [({"system": "gb200-nvl72", "accelerators": 64, "cp": 1, "global_batch": 32}, 0.04), ({}, 0.25)])
def test_bubble_of_even_stages_is_the_published_one(more: dict[str, Any], above: float):
    """(p - 1) / (v m) of the work, Narayanan et al. 2021, section 2.2, for stages alike (128 layers, hardly a vocabulary).

    The formula knows no messages: over NVLink they add up to 4 % to the bubble, over InfiniBand up to 25 %.
    """
    written = list(events(deep(model=replace(model("llama-3.1-405b"), layers=128, vocab=1024), **more)))
    work = sum(e["dur"] for e in written if e["ph"] == "X" and e["cat"] in ("forward", "backward")) / 8
    ideal = 7 / (8 * 32)
    assert ideal <= bubble_us(written) / work <= ideal * (1 + above)


@pytest.mark.parametrize(("schedule", "vpp"), ALL)
def test_every_schedule_is_well_formed_and_shows_its_bubble(schedule: str, vpp: int):
    """The file of H2 ends with its last stage, where the next step has begun on the first: the waits are those within the step of a stage."""
    trace = experts(schedule, vpp)
    written = list(events(trace))
    check(written)
    assert bubble_us(written) / 1e6 == pytest.approx(trace.bubble_s, rel=0.03)
    in_flight = defaultdict(list)
    for event in written:
        if event["ph"] == "C":
            assert event["name"] == "micro-batches in flight"
            in_flight[event["pid"]].append(event["args"]["value"])
    assert [max(values) for values in in_flight.values()] == pytest.approx([counter.peak for counter in trace.counters])
    assert all(values[0] in (0.0, 1 / vpp) and values[-1] == 0 for values in in_flight.values())


def test_rows_are_compute_and_each_tier_by_its_name(found):
    names = [e for e in found["traceEvents"] if e["ph"] == "M"]
    assert [e["args"]["name"] for e in names if e["name"] == "thread_name" and e["pid"] == 0] == [
        "compute", "NVLink 4 (NVSwitch): tensor-parallel traffic", "InfiniBand NDR: context-parallel traffic", "InfiniBand NDR: activations sent",
        "InfiniBand NDR: activation gradients sent", "InfiniBand NDR: parameters and gradients",
    ]  # fmt: skip
    processes = {e["pid"]: e["args"]["name"] for e in names if e["name"] == "process_name"}
    assert processes[256] == "rank 256: stage 2 of 8, layers 3-4, 19-20, ..., 115-116"
    assert [e["args"]["sort_index"] for e in names if e["name"] == "process_sort_index"] == list(range(8))


def test_the_file_says_what_it_shows(found):
    about = found["otherData"]
    assert about["product"] == f"tierspan {ts.__version__}"
    assert (about["system"], about["model"], about["schedule"], about["micro_batches"]) == ("dgx-h100", "llama-3.1-405b", "interleaved", 32)
    assert about["plan"].items() >= {"tp": 8, "pp": 8, "vpp": 8, "cp": 2, "dp": 8}.items()
    assert about["drawn_s"] + about["not_drawn_s"] == pytest.approx(about["step_time_s"])
    assert "count from 0" in about["about"]


def test_languages_name_the_same_things(tmp_path: Path):
    trace = experts("dualpipe", 1)
    files = {lang: tmp_path / f"{lang}.json" for lang in ("en", "zh")}
    for lang, path in files.items():
        write_trace(trace, path, lang=lang)
    english, chinese = (read(path)["traceEvents"] for path in files.values())
    assert [{k: v for k, v in e.items() if k not in ("name", "args")} for e in english] == [
        {k: v for k, v in e.items() if k not in ("name", "args")} for e in chinese
    ]
    assert [e.get("args") for e in english if e["ph"] != "M"] == [e.get("args") for e in chinese if e["ph"] != "M"]
    names = {e["name"] for e in chinese}
    assert {"前向 0，块 0", "优化器", "在途微批次", "专家并行通信", "梯度归约，块 0"} <= names
    assert not any(e["name"].startswith("trace.") for e in (*english, *chinese))


def test_the_same_trace_is_the_same_file(tmp_path: Path):
    trace = experts("1f1b", 1)
    for name in ("a.json", "b.json", "a.json.gz", "b.json.gz"):
        write_trace(trace, tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()


def test_a_long_step_stays_small(tmp_path: Path):
    """126 micro-batches through 64 chunks: 16,128 tasks and as many messages, 16 MB of text, 1.1 MB packed."""
    trace = deep(global_batch=1008)
    assert write_trace(trace, tmp_path / "step.json") < 20e6
    assert write_trace(trace, tmp_path / "step.json.gz") < 1.5e6


def test_what_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(InputError) as caught:
        write_trace(experts("1f1b", 1), tmp_path / "none" / "step.json")
    assert caught.value.message_id == "validation.cannot_write"


SPANS = st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1e-3), st.floats(0, 1e-4), st.sampled_from(["tp", "gradient_send", "parameter_gather"])))


@given(SPANS)
@settings(deadline=None)
def test_rows_never_overlap_and_lose_nothing(parts: list[tuple[int, float, float, Any]]):
    spans = sorted((Span(rank, 2, start, start + length, kind) for rank, start, length, kind in parts), key=lambda s: (s.rank, s.stream, s.start_s))
    rows = placed(spans)
    assert [row.span for row in rows] == spans
    by_lane = defaultdict(list)
    for row in rows:
        by_lane[row.span.rank, row.lane].append(row)
        assert (row.start, row.end) == (on_grid(row.span.start_s), on_grid(row.span.end_s))
    assert all(one.end <= other.start for lane in by_lane.values() for one, other in pairwise(lane))
    kinds = {(key[0], key[1].family, key[1].again): {row.span.kind for row in lane} for key, lane in by_lane.items()}
    assert all(len(kind) == 1 for kind in kinds.values())


@given(st.integers(0, 10**12))
def test_times_are_exact_in_microseconds(grid: int):
    assert micros(grid) * 8 == grid
    assert json.loads(json.dumps(micros(grid))) * 1000 == grid * 125


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = entry.main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_writes_the_file_and_says_where(tmp_path: Path, capsys):
    path = tmp_path / "step.json.gz"
    code, out, err = run(capsys, *JOB, "--vpp", "5", "--trace", str(path))
    assert code == 0
    assert err.startswith(f"Wrote {path} (0.3 MB): open it at ui.perfetto.dev")
    assert "Timeline (dgx-h100)" in out
    check(read(path)["traceEvents"])


@pytest.mark.parametrize("options", [("--json",), ("--brief",), ("--timeline",), ("--lang", "zh")])
def test_it_goes_with_other_options(options: tuple[str, ...], tmp_path: Path, capsys):
    path = tmp_path / "step.json"
    code, out, err = run(capsys, *JOB, *options, "--trace", str(path))
    assert code == 0
    assert str(path) in err
    about = read(path)["otherData"]
    if options == ("--json",):
        assert json.loads(out)["timeline"]["step_time_s"] == about["step_time_s"]
    if options == ("--lang", "zh"):
        assert about["about"].startswith("每个流水线级")


def test_a_plan_that_does_not_fit_has_a_trace_and_one_that_cannot_run_has_none(tmp_path: Path, capsys):
    path = tmp_path / "step.json"
    code, _, err = run(capsys, *JOB, "--micro-batch", "8", "--trace", str(path))
    assert (code, path.is_file()) == (1, True)
    assert "Wrote" in err
    path.unlink()
    code, out, err = run(capsys, *JOB, "--vpp", "2", "--schedule", "zb-h1", "--trace", str(path))
    assert (code, path.exists()) == (1, False)
    assert err == f"No trace: {path} is not written, for the plan cannot run.\n"
    assert "2 virtual stages with a schedule that has none" in out


def test_bad_paths_are_refused_before_the_work(tmp_path: Path, capsys):
    scenario = tmp_path / "job.yaml"
    scenario.write_text("cluster: {system: dgx-h100, accelerators: 8}\nmodel: llama-3.1-8b\njob: {sequence_length: 4096, global_batch: 8}\n", "utf-8")
    for path, said in ((tmp_path / "none" / "x.json", "there is no folder"), (tmp_path, "is a folder"), (scenario, "would be overwritten")):
        code, out, err = run(capsys, "predict", str(scenario), "--trace", str(path))
        assert (code, out) == (2, "")
        assert said in err
    assert scenario.read_text("utf-8").startswith("cluster")


def test_two_systems_have_no_trace(tmp_path: Path, capsys):
    path = tmp_path / "step.json"
    code, out, err = run(capsys, *JOB, "--beside", "dgx-b200", "--trace", str(path))
    assert (code, out, path.exists()) == (2, "", False)
    assert err.startswith("error: --trace: the step of one system is written, and two are compared")

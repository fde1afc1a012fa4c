"""The benchmarks are well formed, and a failing one fails the run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):
    """The entry of the benchmarks, with a registry of one."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import __main__ as entry
    from benchmarks.spec import BenchSpec

    def put(run) -> object:
        monkeypatch.setattr(entry, "SPECS", (BenchSpec("one", "why?", "rows", (1, 10), run, (0, 100)),))
        return entry

    yield put
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)


def test_names_are_unique_and_sizes_grow(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.registry import SPECS

    names = [spec.name for spec in SPECS]
    assert len(set(names)) == len(names)
    assert all(list(axis) == sorted(set(axis)) and axis for spec in SPECS for axis in (spec.sizes, spec.severities))


def test_sizes_and_severities_are_run(bench, capsys):
    from benchmarks.spec import Measurement

    seen = []

    def run(size: int, severity: int) -> Measurement:
        seen.append((size, severity))
        return Measurement(1234.5, "ms", "detail")

    assert bench(run).main([]) == 0
    assert seen == [(1, 0), (10, 0), (10, 100)]
    assert capsys.readouterr().out.splitlines()[1].split() == ["one", "1", "0", "1,234", "ms", "detail"]


def test_smoke_runs_once(bench):
    from benchmarks.spec import Measurement

    seen = []
    assert bench(lambda size, severity: seen.append((size, severity)) or Measurement(1, "ms")).main(["--smoke"]) == 0
    assert seen == [(1, 0)]


def test_what_cannot_run_is_told_and_what_fails_fails(bench, capsys):
    from benchmarks.spec import NotAvailableError

    def absent(_size: int, _severity: int):
        raise NotAvailableError("no such thing")

    def broken(_size: int, _severity: int):
        raise ValueError("bad")

    assert bench(absent).main(["--smoke"]) == 0
    assert bench(broken).main(["--smoke"]) == 1
    out = capsys.readouterr().out
    assert "skipped: no such thing" in out
    assert "failed: ValueError: bad" in out


def test_an_unknown_name_is_wrong_usage(bench, capsys):
    with pytest.raises(SystemExit) as leave:
        bench(lambda *_: None).main(["two"])
    assert leave.value.code == 2
    assert "no benchmark two" in capsys.readouterr().err

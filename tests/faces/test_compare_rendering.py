"""What people see of ``compare`` and ``collective``: hand-made answers against the texts in ``golden``.

After a wanted change of the texts: TIERSPAN_WRITE_GOLDEN=1 pytest tests/faces/test_compare_rendering.py, then read the difference.
"""

from __future__ import annotations

import io
import os
import unicodedata
from pathlib import Path

import pytest

from tierspan.answers.collective import CollectiveAnswer, CollectivePoint, TierCrossed
from tierspan.answers.compare import compare_logs
from tierspan.answers.comparison.expectation import Expectation
from tierspan.answers.comparison.setting import Asked
from tierspan.faces.cli.render.collective import collective_parts
from tierspan.faces.cli.render.compare import compare_parts
from tierspan.faces.cli.render.parts import WIDTH
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Assumption
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample, Unread

GOLDEN = Path(__file__).parent / "golden"


def law(setting, sizes) -> Expectation:
    import numpy as np

    size = np.asarray(sizes, dtype=float)
    share = setting.cluster.tiers[1].bandwidth_Bps / 50e9
    time = 1e-4 + size / (190e9 * share)
    factor = 2 * 31 / 32
    names = ("ring",) * len(sizes), ("Simple",) * len(sizes)
    return Expectation(size, time, 0.9 * time, 1.2 * time, factor, "busbw", *names, 50e9, 368e9 * share, profile_version="hand-made")


def log(accelerator: str = "NVIDIA H100 80GB HBM3") -> CollectiveLog:
    samples = []
    for line, power in enumerate((3, 12, 20, 24, 27, 30, 33), 10):
        size = float(2**power)
        time = 1.1e-4 + size / (96e9 if power < 33 else 88e9)
        wrong = 2 if power == 20 else 0
        samples.append(
            CollectiveSample("all_reduce", size, time, size / time, size / time * 2 * 31 / 32, False, "float", "sum", wrong=wrong, line=line)
        )
    context = BenchmarkContext(ranks=32, nodes=4, accelerator=accelerator, hosts=("a", "b", "c", "d"), nvls=True, algorithm="")
    unread = (Unread(9, "###", "compare.reason.no_figure", {}),)
    return CollectiveLog("nccl-tests", tuple(samples), context, average_busbw_Bps=60e9, unread=unread, place=Place("job.log", 1), title="night run")


COLLECTIVE = CollectiveAnswer(
    operation="all_reduce", size_bytes=2.0**30, ranks=32, ranks_per_node=8, time_s=5.9e-3, low_s=5.3e-3, high_s=7.9e-3, algbw_Bps=182e9,
    busbw_Bps=353e9, algorithm="ring", protocol="Simple", floor_s=8.5e-5, wire_s=5.7e-3, bound="wire", span="InfiniBand NDR",
    binding_tier="InfiniBand NDR", line_rate_Bps=50e9, effective_Bps=46e9, half_peak_bytes=2.0**25,
    curve=tuple(
        CollectivePoint(
            2.0**p, 4e-5 + 2.0**p / 190e9, None, None, 2.0**p / (4e-5 + 2.0**p / 190e9), None if p < 10 else 2.0**p / (2e-5 + 2.0**p / 368e9),
            "tree" if p < 20 else "ring", "LL" if p < 20 else "Simple",
        )
        for p in range(3, 35)
    ),
    tiers=(
        TierCrossed("NVLink 4 (NVSwitch)", "scale-up", "nvlink", 8, 4, 450e9, 1.5e-6, False),
        TierCrossed("InfiniBand NDR", "scale-out", "infiniband", 32, 1, 50e9, 6e-6, True),
    ),
    forced={"tree": 6.8e-3, "nvls_tree": 6.0e-3}, assumptions=(Assumption("ranks_per_node", 8, "collective.assumed.ranks_per_node"),),
    sources=("public logs",), profile_version="hand-made",
)  # fmt: skip
SHOWN = {
    "compare": lambda lang: compare_parts(compare_logs((log(),), (), Asked(nic="400Gb/s"), lang=lang, expect=law), lang),
    "compare_missing": lambda lang: compare_parts(compare_logs((log(""),), (), lang=lang, expect=law), lang),
    "compare_two": lambda lang: compare_parts(compare_logs((log(),), (log(),), Asked(nic="400Gb/s"), lang=lang, expect=law), lang, brief=True),
    "collective": lambda lang: collective_parts(COLLECTIVE, lang),
}


def shown(name: str, lang: str) -> str:
    stream = io.StringIO()
    Session(lang, stdout=stream).show(*SHOWN[name](lang))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", SHOWN)
def test_golden(name: str, lang: str):
    text = shown(name, lang)
    path = GOLDEN / f"{name}.{lang}.txt"
    if os.environ.get("TIERSPAN_WRITE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", SHOWN)
def test_no_line_is_wider_than_the_page(name: str, lang: str):
    wide = [line for line in shown(name, lang).splitlines() if sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) > WIDTH]
    assert wide == []

"""The communication figures that people reported, as logs of one row: what ``compare`` says of each.

Run as a program this prints the table of ``docs/guides/verdicts.md``, and writes it there::

    .venv/bin/python tests/answers/comm_cases.py
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tierspan.answers.collective import ExpertTokens, collective
from tierspan.answers.compare import compare_logs
from tierspan.answers.comparison.expectation import Expectation, nothing
from tierspan.answers.comparison.results import CompareAnswer, ComparedRow
from tierspan.answers.comparison.setting import Asked, Setting
from tierspan.specs.benchmark import BenchmarkContext, CollectiveLog, CollectiveSample

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "cases" / "cases.csv"
REVIEW = Path(__file__).with_name("comm_review.json")
PAGE = ROOT / "docs" / "guides" / "verdicts.md"
TRUSTED = ("maintainer", "project_benchmark")
BEGIN, END = "<!-- verdicts:begin -->", "<!-- verdicts:end -->"
GIB = 1024.0**3
LOW_LATENCY_BYTES = 128 * 7168.0
"""128 tokens of 7,168 elements: what the low-latency benchmark of experts sends; it stands for that mode here."""

_SYSTEMS = {
    "H100-SXM": "dgx-h100", "H100": "dgx-h100", "H200": "dgx-h200", "H800": "hgx-h800", "A100-80G": "dgx-a100", "GB200": "gb200-nvl72",
    "H20": "hgx-h20",
}  # fmt: skip
_OPERATIONS = {"all_reduce": "all_reduce", "alltoall": "all_to_all", "all_gather": "all_gather", "dispatch": "dispatch", "combine": "combine"}
_SIZE_UNITS = {"KiB": 1024.0, "MiB": 1024.0**2, "GiB": GIB}


@dataclass(frozen=True)
class Case:
    """One reported figure: the log it makes and what its author says besides."""

    id: str
    source_type: str
    link: str
    what: str
    reported: str
    log: CollectiveLog
    asked: Asked


def cases() -> list[Case]:
    """The rows of kind ``comm``."""
    with CASES.open(encoding="utf-8", newline="") as file:
        return [case_of(row) for row in csv.DictReader(file) if row["kind"] == "comm"]


def case_of(row: dict[str, str]) -> Case:
    """A row as a log of one sample with a rate and no time."""
    said = dict(re.split(r"<?=", part, maxsplit=1) for part in row["config"].split(";") if "=" in part)
    per_node = int(said.get("gpu_per_node", said.get("n_gpu", "8")))
    # A figure for one NIC holds on any number of nodes; two is the least that uses it.
    nodes = int(said.get("nodes", "2" if "nic" in said else "1"))
    per_node = 8 if "ep" in said or "mode" in said else per_node
    ranks = 2 if "p2p" in row["metric"] else int(said.get("n_gpu", str(per_node * nodes)))
    operation = _operation(row, said)
    rate = _middle(row["value"]) * 1e9
    busbw, algbw = (None, rate) if "algbw" in row["metric"] else (rate, None)
    if row["metric"] == "per_nic_bw":
        # What one NIC carries is the share of the buffer that leaves the node.
        busbw, algbw = None, rate * ranks / (ranks - per_node)
    time = _middle(row["value"]) * 1e-6 if row["unit"] == "us" else None
    size = LOW_LATENCY_BYTES if said.get("mode") == "low_latency" else _size(said.get("size", ""))
    sample = CollectiveSample(operation, size, time, None if time else algbw, None if time else busbw)
    algorithm = {"ring": "Ring", "Tree": "Tree"}.get(said.get("algo", ""), "")
    context = BenchmarkContext(
        ranks=ranks, nodes=1 if "p2p" in row["metric"] else nodes, algorithm=algorithm, nvls=False if said.get("nvls") == "0" else None
    )
    asked = Asked(system=_SYSTEMS.get(said.get("gpu", "")), nic=_nic(said, per_node), transport={"RoCE": "roce"}.get(said.get("fabric", "")))
    log = CollectiveLog("reported figure", (sample,), context, title=row["id"])
    return Case(row["id"], row["source_type"], row["link"], row["config"], f"{row['metric']} {row['value']} {row['unit']}", log, asked)


def _operation(row: dict[str, str], said: dict[str, str]) -> str:
    if "p2p" in row["metric"]:
        return "send_recv"
    if row["metric"].startswith("rdma_algbw") or "op" in said:
        return "combine" if said.get("op") == "combine" else "dispatch"
    return _OPERATIONS.get(said.get("coll", "all_reduce"), said.get("coll", "all_reduce"))


def _middle(text: str) -> float:
    """A number, or the middle of a range."""
    parts = [float(p) for p in text.split("-")]
    return sum(parts) / len(parts)


def _size(text: str) -> float:
    """The largest size of a range; 8 GiB where the report says large or nothing."""
    found = re.search(r"(\d+)(KiB|MiB|GiB)$", text)
    return float(found[1]) * _SIZE_UNITS[found[2]] if found else 8 * GIB


def _nic(said: dict[str, str], per_node: int) -> float | None:
    """Bytes/s per accelerator and direction of a text such as ``8x(2x200G) CX7``."""
    text = said.get("nic", "")
    rate = re.search(r"(\d+)G", text)
    if rate is None:
        return None
    total = float(rate[1]) * 1e9 / 8
    for factor in re.findall(r"(\d+)x", text):
        total *= float(factor)
    return total / per_node if "x" in text else total


def answer_of(case: Case) -> CompareAnswer:
    """What ``compare`` says of it."""
    expects_tokens = case.log.samples[0].operation in ("dispatch", "combine")
    return compare_logs((case.log,), (), case.asked, expect=_tokens_expected if expects_tokens else None)


def _tokens_expected(setting: Setting, sizes: Sequence[float]) -> Expectation:
    """Dispatch and combine as their benchmark runs them, in its own unit: bytes to each node that a token goes to, the own one too, over time."""
    if setting.cluster is None or setting.ranks is None or setting.nodes is None:
        return nothing(sizes, "compare.reason.missing")
    combine, fast = setting.operation == "combine", any(s == LOW_LATENCY_BYTES for s in sizes)
    tokens = ExpertTokens(128 if fast else 4096, 7168, 8, 2.0 if combine or setting.context.protocol == "bf16" else 1.0, fast, None if fast else 4)
    found = collective(operation=setting.operation, cluster=setting.cluster, ranks=setting.ranks, ranks_per_node=8, tokens=tokens)
    time, low, high = found.time_s, found.low_s or math.nan, found.high_s or math.nan
    if fast:
        # The report adds a dispatch (FP8) and a combine (BF16).
        other = collective(
            operation="combine", cluster=setting.cluster, ranks=setting.ranks, ranks_per_node=8, tokens=replace(tokens, element_bytes=2.0)
        )
        time, low, high = time + other.time_s, low + (other.low_s or math.nan), high + (other.high_s or math.nan)
    size = found.size_bytes / tokens.topk * min(setting.nodes, 4)
    ones = np.ones(len(sizes))
    scale = sizes[0] / size
    return Expectation(np.asarray(sizes, dtype=float), *(ones * t * (1.0 if fast else scale) for t in (time, low, high)), unit="algbw")


def inside(answer: CompareAnswer) -> bool:
    """Whether the figure lies inside the 80 % band."""
    row = answer.rows[0]
    if row.ratio is None or not row.expected_busbw_Bps or not row.low_busbw_Bps or not row.high_busbw_Bps:
        return False
    return row.low_busbw_Bps <= row.ratio * row.expected_busbw_Bps <= row.high_busbw_Bps


def table() -> str:
    """All cases with verdict, figures, cause and the reviewed reason."""
    reviewed: dict[str, str] = json.loads(REVIEW.read_text(encoding="utf-8"))
    head = ["case", "setting", "reported", "expected (80 % band)", "verdict", "first cause", "reviewed"]
    lines = [head, ["---"] * len(head)]
    for case in cases():
        answer = answer_of(case)
        row = answer.rows[0]
        expected = _expected(row)
        kind = "" if case.source_type == "user_report" else f" ({case.source_type.replace('_', ' ')})"
        cause = answer.causes[0].id.replace("_", " ") if answer.causes else "-"
        cells = [
            f"[{case.id}]({case.link}){kind}",
            case.what.replace(";", ", "),
            case.reported,
            expected,
            answer.verdict,
            cause,
            reviewed.get(case.id, ""),
        ]
        lines.append([cell.replace("|", "/") for cell in cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _expected(row: ComparedRow) -> str:
    """The expectation with its band, in the unit of the report: a rate, or a time."""
    rate, low, high = row.expected_busbw_Bps, row.low_busbw_Bps, row.high_busbw_Bps
    if rate is None or low is None or high is None:
        return "-"
    if row.time_s:
        size = rate * (row.expected_time_s or math.nan)
        return f"{1e6 * size / rate:.0f} ({1e6 * size / high:.0f} to {1e6 * size / low:.0f}) us"
    return f"{_rate(rate)} ({_rate(low)} to {_rate(high)}) GB/s"


def _rate(rate_Bps: float | None) -> str:
    return "-" if rate_Bps is None else f"{rate_Bps / 1e9:.3g}"


def write_page() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
    write_page()

"""What the rows of an nccl-tests table say about operation and number of ranks.

nccl-tests rarely prints either. The program makes busbw from algbw by a factor of the operation and the ranks, and for the
operations that gather or scatter prints ``size = count x element x ranks``; so both follow from the rows, by vote of the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tierspan.formats.bench.base import Printed, factor_fits
from tierspan.specs.benchmark import busbw_factor

_MOST_RANKS = 1_000_000
_SLOPES = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "all_to_all": 1.0, "gather": 1.0, "scatter": 1.0}


@dataclass(frozen=True, slots=True)
class Shape:
    """What one row says: bytes over elements, reduction, root and the pairs of algbw and busbw."""

    size: int
    payload: int | None
    redop: str
    root: int | None
    pairs: tuple[tuple[Printed, Printed], ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deduced:
    """The operation ("" if the rows fit several) and the ranks (``None`` likewise), with the factors that rows may have."""

    operation: str
    ranks: int | None
    factors: tuple[float, ...] = ()


def deduce(rows: Sequence[Shape], *, named: Sequence[str], columns: Sequence[str], declared: int | None, least: int) -> Deduced:
    """Find operation and ranks.

    Args:
        rows: the rows of one table.
        named: operations that the log names around the table, best first.
        columns: the table's header, () if it has none.
        declared: ranks that the log states.
        least: ranks that there are at least.
    """
    live = [row for row in rows if row.size > 0]
    multiples = Counter(row.size // row.payload for row in live if row.payload and row.size % row.payload == 0)
    times = multiples.most_common(1)[0][0] if multiples else None
    gathers = times is not None and times > 1
    candidates = _candidates(live, columns, gathers=gathers) if times is not None else list(named[:1]) or ["all_reduce"]
    ranks, factors = _ranks(live, candidates, times if gathers else None, declared, least)
    if "all_reduce" in candidates and len(candidates) > 1:
        ratio_one = all(factor_fits(a, b, 1.0) for row in live for a, b in row.pairs)
        if not ratio_one:
            candidates = ["all_reduce"]
        elif declared is not None and declared > 2:
            candidates = [c for c in candidates if c != "all_reduce"]
            ranks, factors = declared, (1.0,)
    operation = next((name for name in named if name in candidates), candidates[0] if len(candidates) == 1 else "")
    if times is None and not named:
        operation = "all_reduce" if ranks is not None and any(not factor_fits(a, b, 1.0) for row in live for a, b in row.pairs if b.value > 1) else ""
        operation = operation if factors and max(factors) > 1 else ""
    if operation and ranks is None and (factor := busbw_factor(operation, declared or 0)) is not None and declared and declared >= least:
        ranks, factors = declared, (factor,)
    return Deduced(operation, ranks, factors)


def _candidates(rows: Sequence[Shape], columns: Sequence[str], *, gathers: bool) -> list[str]:
    count = max(len(rows), 1)
    reduces = sum(row.redop not in ("", "none") for row in rows) * 2 > count
    rooted = sum(row.root is not None and row.root >= 0 for row in rows) * 2 > count
    # alltoall and sendrecv are not checked in place: their second column of wrong values is N/A where the first is a number.
    checked = [row.wrong for row in rows if len(row.wrong) == 2 and row.wrong[0] != "N/A"]
    unchecked_in_place = sum(wrong[1] == "N/A" for wrong in checked) * 2 > len(checked) if checked else None
    if gathers:
        if reduces:
            return ["reduce_scatter"]
        if rooted:
            return ["gather", "scatter"]
        if unchecked_in_place is not None:
            return ["all_to_all"] if unchecked_in_place else ["all_gather"]
        if columns and "root" not in columns:
            # Old versions: alltoall has an empty redop column, all_gather has none.
            return ["all_to_all"] if "redop" in columns else ["all_gather"]
        return ["all_gather", "all_to_all"]
    if rooted:
        return ["reduce"] if reduces else ["broadcast"]
    if not reduces:
        return ["send_recv"]
    telling = [factor_fits(a, b, 1.0) for row in rows for a, b in row.pairs if b.value > 20 * b.half]
    if sum(telling) * 2 < len(telling):
        return ["all_reduce"]
    if unchecked_in_place is None:
        return ["all_reduce", "send_recv"]
    return ["send_recv"] if unchecked_in_place else ["all_reduce"]


def _ranks(
    rows: Sequence[Shape], candidates: Sequence[str], times: int | None, declared: int | None, least: int
) -> tuple[int | None, tuple[float, ...]]:
    operation = candidates[0]
    if times is not None:
        return times, (_factor(operation, times),)
    slope = _SLOPES.get(operation)
    if slope is None:
        return declared, (1.0,)
    votes: Counter[int] = Counter()
    for row in rows:
        for algbw, busbw in row.pairs:
            low, high = _interval(algbw, busbw, slope)
            if high - low < 50:
                votes.update(range(low, high + 1))
    if declared is not None and declared > 1:
        votes[declared] += 0
    if not votes:
        return (declared, (_factor(operation, declared),)) if declared is not None and declared > 1 else (None, ())
    fits = {n: sum(factor_fits(a, b, _factor(operation, n)) for row in rows for a, b in row.pairs) for n in votes if n >= max(least, 2)}
    if not fits:
        return None, ()
    most = max(fits.values())
    best = sorted(n for n, count in fits.items() if count == most)
    if declared in best:
        return declared, (_factor(operation, declared or 0),)
    if len(best) == 1:
        return best[0], (_factor(operation, best[0]),)
    return None, tuple(_factor(operation, n) for n in best)


def _factor(operation: str, ranks: int) -> float:
    return busbw_factor(operation, ranks) or 1.0


def _interval(algbw: Printed, busbw: Printed, slope: float) -> tuple[int, int]:
    """The whole numbers n with busbw = slope (n - 1) / n x algbw within the rounding; a wide range tells nothing."""
    if algbw.low <= 0:
        return 0, _MOST_RANKS
    low, high = busbw.low / algbw.high, busbw.high / algbw.low
    if high < slope / 2 or low >= slope:
        return 0, _MOST_RANKS
    last = slope / (slope - high) if high < slope else _MOST_RANKS
    return max(2, int(slope / (slope - low))), min(int(last) + 1, _MOST_RANKS)

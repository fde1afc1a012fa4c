"""Peaks: density, precision, die and package, clock, per watt, what a matrix product reaches."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.trial.base import Amount, Case, Family, Slots, Trap, Word, amount, renamed, reworded, scaled, swapped
from tierspan.answers.audit.trial.facts import accelerators, from_facts, name_of, own, sources_of, used
from tierspan.specs.catalog.tables import rows_by_id

_SPARSE_MAKERS = ("ampere", "hopper", "hopper-pcie", "blackwell", "blackwell-ultra", "ada")
_PREFIX = {"TFLOPS": "PFLOPS", "PFLOPS": "EFLOPS", "TOPS": "POPS"}
_PRECISIONS = ("tf32", "bf16", "fp16", "fp8", "int8")


def peak(flops: float, precision: str, *, whole: bool = False) -> Amount:
    """FLOP/s as a sheet prints them; integer operations as TOPS."""
    if precision == "int8":
        return Amount(flops / 1e12, "TOPS")
    return Amount(flops / 1e15, "PFLOPS") if whole or flops >= 1e16 else Amount(flops / 1e12, "TFLOPS")


def sparse_of(thing: str, precision: str) -> float | None:
    """The sparse peak where the maker has one: as printed for twice the rate, so 1,979 and not 1,978 beside 989."""
    facts = used("accelerator", thing)
    if rows_by_id("accelerators")[thing]["architecture"] not in _SPARSE_MAKERS or f"peak_flops.{precision}" not in facts:
        return None
    dense = facts[f"peak_flops.{precision}"].value
    narrower = facts.get("peak_flops." + {"tf32": "bf16", "bf16": "fp8", "fp16": "fp8"}.get(precision, ""))
    return narrower.value if narrower and abs(narrower.value / dense / 2 - 1) < 0.01 else 2 * dense


def _peaks() -> Iterator[Case]:
    for thing in accelerators():
        facts = used("accelerator", thing)
        for precision in _PRECISIONS:
            fact = facts.get(f"peak_flops.{precision}")
            if fact is None or " per " in fact.original or "-core" in thing:
                continue
            slots: dict[str, Amount | Word | str] = {
                "part": name_of("accelerators", thing),
                "precision": precision.upper(),
                "dense": peak(fact.value, precision),
                "dense_w": Word("dense"),
                "sparse_w": Word("sparse"),
            }
            sparse = sparse_of(thing, precision)
            if sparse is not None:
                slots["sparse"] = peak(sparse, precision)
                slots["double_sparse"] = peak(2 * sparse, precision)
            yield Case(f"{thing}-{precision}", slots, from_facts(fact))


def _ladder() -> Iterator[Case]:
    for thing in accelerators():
        facts = used("accelerator", thing)
        if {"peak_flops.bf16", "peak_flops.fp8"} <= facts.keys() and "-core" not in thing:
            wide, narrow = facts["peak_flops.bf16"].value, facts["peak_flops.fp8"].value
            slots: dict[str, Amount | Word | str] = {
                "part": name_of("accelerators", thing),
                "bf16": peak(wide, "bf16"),
                "fp8": peak(narrow, "fp8"),
                "bf16_plain": peak(wide, "bf16"),
                "fp8_plain": peak(narrow, "fp8"),
                "dense_w": Word("dense"),
            }
            if (sparse := sparse_of(thing, "bf16")) is not None and (narrower := sparse_of(thing, "fp8")) is not None:
                slots |= {"bf16_sparse": peak(sparse, "bf16"), "fp8_sparse": peak(narrower, "fp8")}
            yield Case(thing, slots, from_facts(facts["peak_flops.bf16"], facts["peak_flops.fp8"]))


def _achieved() -> Iterator[Case]:
    for thing in accelerators():
        facts = used("accelerator", thing)
        for precision in ("bf16", "fp8"):
            if f"achievable.{precision}" in facts and f"peak_flops.{precision}" in facts:
                share, dense = facts[f"achievable.{precision}"], facts[f"peak_flops.{precision}"]
                slots: Slots = {
                    "part": name_of("accelerators", thing),
                    "precision": precision.upper(),
                    "dense": peak(dense.value, precision),
                    "reached": peak(share.value * dense.value, precision),
                    "percent": Amount(100 * share.value, "%"),
                }
                yield Case(f"{thing}-{precision}", slots, from_facts(share, dense))


def _efficiency() -> Iterator[Case]:
    for thing in accelerators():
        facts = used("accelerator", thing)
        if {"peak_flops.bf16", "power"} <= facts.keys() and not thing.startswith(("mi250", "trainium")):
            dense, power = facts["peak_flops.bf16"], facts["power"]
            slots: Slots = {
                "part": name_of("accelerators", thing),
                "dense": peak(dense.value, "bf16"),
                "power": Amount(power.value, "W"),
                "per_watt": Amount(dense.value / power.value / 1e12, "TFLOPS/W"),
            }
            yield Case(thing, slots, from_facts(dense, power))


def _clock() -> Iterator[Case]:
    for thing, facts in own("clock").items():
        slots: Slots = {
            "part": name_of("accelerators", thing),
            "units": Amount(float(facts["units"]["value"])),
            "per_clock": Amount(float(facts["per_clock"]["value"])),
            "clock": Amount(float(facts["clock"]["value"]), "GHz"),
            "dense": peak(used("accelerator", thing)["peak_flops.bf16"].value, "bf16"),
        }
        yield Case(thing, slots, sources_of(facts))


def _package() -> Iterator[Case]:
    printed = {"mi250x-gcd": ("AMD Instinct MI250X", 2.0), "ascend-910c": ("Ascend 910C", 1.0)}
    for thing, (name, factor) in printed.items():
        facts = used("accelerator", thing)
        flops, held = facts["peak_flops.bf16"].value * factor, facts["memory"].value * factor / 1e9
        slots: Slots = {
            "package": name,
            "per_package": peak(flops, "bf16"),
            "per_die": peak(flops / 2, "bf16"),
            "memory_package": Amount(held, "GB"),
            "memory_die": Amount(held / 2, "GB"),
        }
        yield Case(thing, slots, from_facts(facts["peak_flops.bf16"], facts["memory"]))


def _superchip() -> Iterator[Case]:
    for thing in ("gb200", "gb300"):
        for precision in ("bf16", "fp8"):
            fact = used("accelerator", thing)[f"peak_flops.{precision}"]
            slots: Slots = {
                "one": name_of("accelerators", thing).removesuffix(" GPU"),
                "precision": precision.upper(),
                "dense": peak(fact.value, precision),
                "double": peak(2 * fact.value, precision),
            }
            yield Case(f"{thing}-{precision}", slots, from_facts(fact))


def _double_sparse(slots: Slots) -> Slots | None:
    return {"sparse": slots["double_sparse"]} if "double_sparse" in slots else None


def _sparse_ladder(slots: Slots) -> Slots | None:
    return {"bf16": slots["bf16_sparse"], "fp8": slots["fp8_sparse"]} if "bf16_sparse" in slots else None


FAMILIES = (
    Family(
        "peak",
        _peaks,
        (
            swapped("sparse as dense", "dense", "sparse", needs=("dense_w",), without=("sparse",)),
            reworded("sparse as dense", "sparse_w", "dense", needs=("sparse",), without=("dense",)),
            Trap("sparse as dense", ("dense", "sparse"), lambda s: {"dense": s["sparse"], "sparse": s["double_sparse"]} if "sparse" in s else None),
            reworded("dense as sparse", "dense_w", "sparse", needs=("dense",), without=("sparse",)),
            Trap("density label wrong", ("sparse",), _double_sparse, ("dense",)),
            renamed("off by a thousand", "dense", _PREFIX, without=("sparse",)),
            scaled("vendor against catalogue", "dense", 4, without=("sparse",)),
            scaled("vendor against catalogue", "dense", 1 / 8, without=("sparse",)),
            scaled("vendor against catalogue", "dense", 7, without=("sparse",)),
        ),
    ),
    Family(
        "ladder",
        _ladder,
        (
            *(scaled("precision ladder", name, 2) for name in ("fp8", "fp8_plain")),
            *(scaled("precision ladder", name, 2) for name in ("bf16", "bf16_plain")),
            Trap("sparse as dense", ("bf16", "fp8"), _sparse_ladder),
        ),
    ),
    Family("achieved", _achieved, (scaled("percentage and count", "percent", 0.8), scaled("percentage and count", "reached", 0.5))),
    Family(
        "efficiency",
        _efficiency,
        (scaled("FLOP/s per watt", "per_watt", 7), scaled("FLOP/s per watt", "per_watt", 2), scaled("FLOP/s per watt", "power", 0.25)),
    ),
    Family("clock", _clock, (scaled("clock x units", "units", 2), scaled("clock x units", "clock", 1.2), scaled("clock x units", "dense", 2))),
    Family(
        "package",
        _package,
        (
            swapped("die and package", "per_die", "per_package", needs=("per_package",)),
            swapped("die and package", "memory_die", "memory_package", needs=("memory_package",)),
            Trap("die and package", ("per_package", "per_die"), lambda s: {"per_package": s["per_die"], "per_die": s["per_package"]}),
        ),
    ),
    Family(
        "superchip",
        _superchip,
        (
            swapped("superchip and GPU", "dense", "double"),
            swapped("superchip and GPU", "double", "dense"),
            Trap("superchip and GPU", ("dense", "double"), lambda s: {"dense": s["double"], "double": amount(s, "double").times(2)}),
        ),
    ),
)

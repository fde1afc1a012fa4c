"""Memory and its bandwidth."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.trial.base import Amount, Case, Family, Trap, amount, renamed, scaled
from tierspan.answers.audit.trial.facts import accelerators, from_facts, name_of, used
from tierspan.quantities.facts import Fact

_GIB = 2.0**30


def held(fact: Fact) -> Amount:
    """The memory with the unit that its source prints."""
    return Amount(fact.value / _GIB, "GiB") if "GiB" in fact.original else Amount(fact.value / 1e9, "GB")


def speed(fact: Fact) -> Amount:
    """The bandwidth with the unit that its source prints."""
    return Amount(fact.value / 1e12, "TB/s") if "TB/s" in fact.original else Amount(fact.value / 1e9, "GB/s")


def _memory() -> Iterator[Case]:
    for thing in accelerators():
        facts = used("accelerator", thing)
        # Of a card of two the catalogue keeps one half: the sheet prints the whole.
        if not {"memory", "memory_bandwidth"} <= facts.keys() or " per " in facts["memory"].original:
            continue
        memory, bandwidth = held(facts["memory"]), speed(facts["memory_bandwidth"])
        slots: dict[str, Amount | str] = {
            "part": name_of("accelerators", thing),
            "memory": memory,
            "bandwidth": bandwidth,
            "bandwidth_plain": bandwidth,
        }
        if memory.unit == "GB":
            slots["memory_gib"] = Amount(facts["memory"].value / _GIB, "GiB")
        yield Case(thing, slots, from_facts(facts["memory"], facts["memory_bandwidth"]))


FAMILIES = (
    Family(
        "memory",
        _memory,
        (
            Trap("GB and GiB", ("memory", "memory_gib"), lambda s: {"memory_gib": amount(s, "memory").named("GiB")} if "memory_gib" in s else None),
            Trap(
                "GB and GiB",
                ("memory", "memory_gib"),
                lambda s: {"memory_gib": amount(s, "memory").times(_GIB / 1e9).named("GiB")} if "memory_gib" in s else None,
            ),
            *(renamed("GB and GiB", name, {"GB/s": "GiB/s"}) for name in ("bandwidth", "bandwidth_plain")),
            *(renamed("bits for bytes", name, {"TB/s": "Tb/s", "GB/s": "Gb/s"}) for name in ("bandwidth", "bandwidth_plain")),
            renamed("bits for bytes", "memory", {"GB": "Gb"}, without=("memory_gib",)),
            *(scaled("vendor against catalogue", name, factor) for name in ("bandwidth", "bandwidth_plain") for factor in (2, 0.25)),
            scaled("node as accelerator", "memory", 8, without=("memory_gib",)),
            renamed("off by a thousand", "memory", {"GB": "TB"}, without=("memory_gib",)),
        ),
    ),
)

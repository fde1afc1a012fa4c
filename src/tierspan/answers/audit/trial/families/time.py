"""Latency and its basis, light in fibre."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.trial.base import Amount, Case, Family, Slots, Trap, Word, amount, renamed, scaled
from tierspan.answers.audit.trial.facts import name_of, own, sources_of, systems, used


def _latencies() -> Iterator[Case]:
    for thing, facts in own("latency").items():
        slots: Slots = {
            "device": facts["name"]["value"],
            "latency": Amount(float(facts["value"]["value"]), "ns"),
            "basis_w": Word(facts["value"]["basis"]),
        }
        yield Case(thing, slots, sources_of(facts))
    seen = set()
    for _, _, fabrics in systems():
        fabric = fabrics[-1]
        if fabric in seen or not fabric.startswith(("ib-hdr", "ib-ndr", "ib-xdr", "roce-400", "efa-p5")):
            continue
        seen.add(fabric)
        fact = used("fabric", fabric)["latency"]
        slots = {
            "device": name_of("fabrics", fabric),
            "latency": Amount(fact.value * 1e6, "us"),
            "basis_w": Word("end"),
        }
        yield Case(fabric, slots, (fact.source.reference,))


def _fibres() -> Iterator[Case]:
    per_km = float(own("fibre")["smf"]["per_km"]["value"])
    for thing, facts in own("fibre").items():
        if thing != "smf":
            length = float(facts["length"]["value"])
            slots: Slots = {
                "km": Amount(length, "km"),
                "delay": Amount(length * per_km, "us"),
                "per_km": Amount(per_km, "us"),
            }
            yield Case(thing, slots, (*sources_of(facts), *sources_of(own("fibre")["smf"])))


def _as_end_to_end(slots: Slots) -> Slots | None:
    return {"basis_w": Word("end")} if amount(slots, "latency").unit == "ns" else {"basis_w": Word("port")}


def _untold(slots: Slots) -> Slots | None:
    # "adapter latency" says it without the word
    return None if "adapter" in str(slots["device"]) else {"basis_w": Word("")}


FAMILIES = (
    Family(
        "latency",
        _latencies,
        (
            Trap("latency basis", ("latency", "basis_w"), _as_end_to_end),
            renamed("time unit off", "latency", {"ns": "us", "us": "ms"}),
            renamed("time unit off", "latency", {"ns": "ms", "us": "s"}),
            Trap("basis not told", ("latency", "basis_w"), _untold),
        ),
    ),
    Family(
        "fibre",
        _fibres,
        (
            renamed("time unit off", "delay", {"us": "ms"}),
            renamed("time unit off", "delay", {"us": "ns"}),
            scaled("length x delay", "delay", 2, needs=("per_km",)),
            scaled("length x delay", "delay", 0.5),
        ),
    ),
)

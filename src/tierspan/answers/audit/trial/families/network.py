"""The network: cards of a node, switches, bills of materials, blocking."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.trial.base import Amount, Case, Family, Slots, Trap, Word, amount, renamed, reworded, scaled, swapped
from tierspan.answers.audit.trial.facts import branded, from_facts, name_of, own, sources_of, systems, used
from tierspan.answers.audit.trial.families.bandwidth import bits

_BYTES = {"Gb/s": "GB/s", "Tb/s": "TB/s"}


def _nics() -> Iterator[Case]:
    for system, _, fabrics in systems():
        facts = used("system", system)
        network = used("fabric", fabrics[-1])
        if (
            "nics_per_node" not in facts
            or not fabrics[-1].startswith(("ib-hdr", "ib-ndr", "ib-xdr", "roce-400"))
            or "nvl72" in system
            or not branded(system)
        ):
            continue
        number, each = facts["nics_per_node"].value, network["bandwidth"].value
        slots: Slots = {
            "system": name_of("systems", system),
            "nics": Amount(number),
            "rate": bits(each),
            "rate_gpu": bits(each),
            "total": bits(number * each),
            "each_w": Word("each"),
        }
        yield Case(system, slots, from_facts(facts["nics_per_node"], network["bandwidth"]))
    for thing, facts_own in own("nics").items():
        number, gigabits = float(facts_own["nics"]["value"]), float(facts_own["rate"]["value"])
        slots = {
            "system": facts_own["name"]["value"],
            "nics": Amount(number),
            "rate": Amount(gigabits, "Gb/s"),
            "total": bits(number * gigabits * 1e9 / 8),
            "each_w": Word("each"),
        }
        if thing != "p5":
            yield Case(thing, slots, sources_of(facts_own))


def _storage() -> Iterator[Case]:
    for system, facts in own("storage").items():
        number, each = used("system", system)["nics_per_node"].value, used("fabric", "ib-ndr-400")["bandwidth"].value
        spare = float(facts["nics"]["value"])
        slots: Slots = {
            "system": name_of("systems", system),
            "nics": Amount(number),
            "storage": Amount(spare),
            "all": Amount(number + spare),
            "rate": bits(each),
            "total": bits(number * each),
            "wrong_total": bits((number + spare) * each),
            "compute_w": Word("compute"),
        }
        yield Case(system, slots, sources_of(facts))


def _switches() -> Iterator[Case]:
    for thing, facts in own("switch").items():
        slots: Slots = {
            "switch": facts["name"]["value"],
            "capacity": Amount(float(facts["capacity"]["value"]), "Tb/s"),
            "ports": Amount(float(facts["ports"]["value"])),
            "port_rate": Amount(float(facts["port_rate"]["value"]), "Gb/s"),
            "each_w": Word("each"),
        }
        yield Case(thing, slots, sources_of(facts))


def _bills() -> Iterator[Case]:
    # Two tiers without blocking of the 64-port switch: half of a leaf's ports go up, the spines take all of them.
    ports = int(float(own("switch")["quantum-2"]["ports"]["value"]))
    for servers in (16, 32, 64, 96, 128, 192, 256):
        endpoints = servers * 8
        leaves = endpoints // (ports // 2)
        slots: Slots = {
            "servers": Amount(servers),
            "nics": Amount(8),
            "endpoints": Amount(endpoints),
            "leaves": Amount(leaves),
            "down": Amount(ports // 2),
            "up": Amount(ports // 2),
            "spines": Amount(leaves / 2),
            "ports": Amount(ports),
            "blocking_w": Word("blocking_none"),
        }
        yield Case(f"servers-{servers}", slots, sources_of(own("switch")["quantum-2"]))


def _narrow() -> Iterator[Case]:
    ports = int(float(own("switch")["quantum-2"]["ports"]["value"]))
    for ratio in (2, 3, 7):
        up = ports // (ratio + 1)
        slots: Slots = {"down": Amount(up * ratio), "up": Amount(up), "ratio": Amount(ratio), "oversub_w": Word("oversub")}
        yield Case(f"ratio-{ratio}", slots, sources_of(own("switch")["quantum-2"]))


FAMILIES = (
    Family(
        "nics",
        _nics,
        (
            # Twice the sum, with no direction told, may count both directions: not wrong.
            scaled("accelerators x rate", "total", 2, needs=("nics", "each_w")),
            scaled("accelerators x rate", "total", 4, needs=("nics",)),
            scaled("accelerators x rate", "nics", 1.5, needs=("total",)),
            renamed("bits for bytes", "total", _BYTES),
            *(renamed("bits for bytes", name, _BYTES) for name in ("rate", "rate_gpu")),
            swapped("accelerator as node", "total", "rate", needs=("nics", "rate")),
            *(swapped("node as accelerator", name, "total") for name in ("rate", "rate_gpu")),
        ),
    ),
    Family(
        "storage",
        _storage,
        (
            swapped("storage counted as compute", "total", "wrong_total"),
            Trap("storage counted as compute", ("nics", "total"), lambda s: {"nics": s["all"], "total": s["wrong_total"]}),
            renamed("bits for bytes", "total", _BYTES),
        ),
    ),
    Family(
        "switch",
        _switches,
        (
            scaled("ports x rate", "ports", 0.75),
            scaled("ports x rate", "port_rate", 0.25),
            scaled("ports x rate", "capacity", 2, needs=("each_w",)),
            scaled("ports x rate", "port_rate", 0.5, needs=("each_w",)),
            renamed("bits for bytes", "capacity", _BYTES),
        ),
    ),
    Family(
        "bom",
        _bills,
        (
            scaled("bill of materials", "spines", 0.5),
            scaled("bill of materials", "leaves", 0.5),
            scaled("bill of materials", "servers", 1.5),
            Trap(
                "blocking the wrong way", ("up", "blocking_w"), lambda s: {"up": amount(s, "up").times(0.5), "spines": amount(s, "spines").times(0.5)}
            ),
        ),
    ),
    Family(
        "narrow",
        _narrow,
        (
            reworded("blocking the wrong way", "oversub_w", "oversub_wrong"),
            Trap("blocking the wrong way", ("down", "up", "oversub_w"), lambda s: {"down": s["up"], "up": s["down"]}),
            scaled("blocking the wrong way", "up", 0.5, needs=("oversub_w",)),
        ),
    ),
)

"""Power, current, mass: racks and servers against their parts, supplies, volts and amperes."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.trial.base import Amount, Case, Family, Slots, Trap, Word, amount, renamed, scaled, swapped
from tierspan.answers.audit.trial.facts import from_facts, name_of, own, sources_of, systems, used
from tierspan.specs.catalog.tables import rows_by_id


def _named(thing: str) -> str:
    return name_of("systems", thing)


def _racks() -> Iterator[Case]:
    for system, card, _ in systems():
        facts, parts = used("system", system), used("accelerator", card)
        size = int(rows_by_id("systems")[system]["unit_accelerators"])
        if "nvl72" in system and "unit_power" in facts and "power" in parts:
            slots: Slots = {
                "system": _named(system),
                "rack": Amount(facts["unit_power"].value / 1e3, "kW"),
                "count": Amount(size),
                "gpu": Amount(parts["power"].value, "W"),
                "gpus": Amount(size * parts["power"].value / 1e3, "kW"),
            }
            yield Case(system, slots, from_facts(facts["unit_power"], parts["power"]))


def _servers() -> Iterator[Case]:
    for system, card, _ in systems():
        facts, parts = used("system", system), used("accelerator", card)
        size = int(rows_by_id("systems")[system]["node_size"])
        if "unit_power" in facts and "power" in parts and system.startswith("dgx") and size * parts["power"].value < facts["unit_power"].value:
            slots: Slots = {
                "system": _named(system),
                "power": Amount(facts["unit_power"].value / 1e3, "kW"),
                "count": Amount(size),
                "gpu": Amount(parts["power"].value, "W"),
            }
            yield Case(system, slots, from_facts(facts["unit_power"], parts["power"]))


def _supplies() -> Iterator[Case]:
    for system, facts in own("supply").items():
        count, rating = float(facts["count"]["value"]), float(facts["rating"]["value"])
        slots: Slots = {
            "system": _named(system),
            "power": Amount(float(facts["power"]["value"]), "kW"),
            "count": Amount(count),
            "rating": Amount(rating, "kW"),
            "nameplate": Amount(count * rating, "kW"),
            "maximum_w": Word("maximum"),
            "supply_w": Word("shelves" if "nvl72" in system else "supplies"),
        }
        yield Case(system, slots, sources_of(facts))


def _currents() -> Iterator[Case]:
    for thing, facts in own("current").items():
        volts, amperes = float(facts["voltage"]["value"]), float(facts["current"]["value"])
        name = facts["name"]["value"] if "name" in facts else _named(thing)
        slots: Slots = {
            "system": name,
            **({"rack": name} if "nvl72" in thing else {}),
            "voltage": Amount(volts, "V"),
            "current": Amount(amperes, "A"),
            "power": Amount(volts * amperes / 1e3, "kW"),
        }
        yield Case(thing, slots, sources_of(facts))


def _masses() -> Iterator[Case]:
    for thing, facts in own("mass").items():
        slots: Slots = {
            "system": facts["name"]["value"] if "name" in facts else _named(thing),
            "kg": Amount(float(facts["kg"]["value"]), "kg"),
            "lb": Amount(float(facts["lb"]["value"]), "lb"),
        }
        yield Case(thing, slots, sources_of(facts))


def _optics() -> Iterator[Case]:
    for thing, facts in own("optics").items():
        watts = float(facts["power"]["value"])
        for modules in (256, 1024):
            slots: Slots = {
                "name": facts["name"]["value"],
                "modules": Amount(modules),
                "watt": Amount(watts, "W"),
                "power": Amount(modules * watts / 1e3, "kW"),
            }
            yield Case(f"{thing}-{modules}", slots, sources_of(facts))


def _parts(slots: Slots) -> float:
    return amount(slots, "count").value * amount(slots, "gpu").value


def _server(slots: Slots) -> float:
    return amount(slots, "power").value * 1e3


def _below_parts(slots: Slots) -> Slots:
    return {"rack": amount(slots, "gpus").times(0.8)}


FAMILIES = (
    Family(
        "rack",
        _racks,
        (
            Trap("rack below its parts", ("rack", "count", "gpu"), _below_parts),
            scaled("accelerators x rate", "gpus", 0.5, needs=("gpu",)),
            renamed("off by a thousand", "rack", {"kW": "W"}),
            scaled("rack below its parts", "gpu", 2, without=("gpus",)),
        ),
    ),
    Family(
        "server",
        _servers,
        (
            Trap("rack below its parts", ("power", "count", "gpu"), lambda s: {"power": Amount(_parts(s) * 0.8 / 1e3, "kW")}),
            Trap("rack below its parts", ("power", "count", "gpu"), lambda s: {"gpu": amount(s, "gpu").times(1.2 * _server(s) / _parts(s))}),
            renamed("off by a thousand", "power", {"kW": "W"}),
        ),
    ),
    Family(
        "supply",
        _supplies,
        (
            swapped("nameplate as draw", "power", "nameplate", without=("nameplate",)),
            Trap("nameplate as draw", ("power", "nameplate"), lambda s: {"power": s["nameplate"]}),
            scaled("nameplate as draw", "nameplate", 0.5, needs=("rating", "count")),
        ),
    ),
    Family(
        "current",
        _currents,
        (
            scaled("W, V and A", "current", 2),
            scaled("W, V and A", "power", 0.5),
            scaled("W, V and A", "voltage", 2),
            scaled("W, V and A", "current", 0.1),
        ),
    ),
    Family(
        "mass",
        _masses,
        (
            Trap("kg and lb", ("kg", "lb"), lambda s: {"kg": amount(s, "lb").named("kg"), "lb": amount(s, "kg").named("lb")}),
            Trap("kg and lb", ("kg", "lb"), lambda s: {"kg": amount(s, "lb").named("kg")}),
            Trap("kg and lb", ("kg", "lb"), lambda s: {"lb": amount(s, "kg").named("lb")}),
            scaled("kg and lb", "lb", 2.2046),
        ),
    ),
    Family(
        "optics",
        _optics,
        (scaled("watts x count", "power", 2), scaled("watts x count", "watt", 0.5), renamed("off by a thousand", "power", {"kW": "W"})),
    ),
)

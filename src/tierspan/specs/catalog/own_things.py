"""Checked lines of users' own parts as rows of the catalogue's tables: what each kind must have, and what it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tierspan.quantities.errors import InputError, nearest_names
from tierspan.specs.catalog.own_reading import Line
from tierspan.specs.catalog.tables import Row, fact_of, shipped_rows
from tierspan.specs.precision import PRECISIONS

KINDS: Final = ("accelerator", "system", "fabric", "network", "switch", "optics", "cable", "fibre")
_UNITS: Final = {
    "memory": "B",
    "memory_bandwidth": "B/s",
    "power": "W",
    "bandwidth": "B/s",
    "latency": "s",
    "unit_power": "W",
    "pair_bandwidth": "B/s",
}
_COUNTS: Final = ("node_size", "unit_accelerators", "scale_up_domain")
_ALONE: Final = "pcie4"
"""The tier of an accelerator that no system holds: its domain is itself, so nothing is ever sent over it."""
_NO: Final = ("", "0", "no", "none")


def tables_of(lines: Sequence[Line]) -> Mapping[str, Sequence[Row]]:
    """Rows of the tables ``accelerators``, ``accelerator_facts``, ``systems``, ``system_facts``, ``tiers``, ``fabrics``, ``fabric_facts``, ``parts``.

    Raises:
        InputError: a thing lacks what its kind needs, is named twice, or refers to what is not there.
    """
    things: dict[str, list[Line]] = {}
    for line in lines:
        things.setdefault(line.row["id"], []).append(line)
    made = {id_: _Thing(id_, listed) for id_, listed in things.items()}
    tables: dict[str, list[Row]] = {}
    for thing in made.values():
        for name, row in thing.rows(made):
            tables.setdefault(name, []).append(row)
    return tables


class _Thing:
    """All lines of one id."""

    def __init__(self, id_: str, lines: list[Line]) -> None:
        self.id = id_
        self.lines = lines
        self.used = {line.row["key"]: line for line in lines if line.row["used"] == "1"}
        self.kind = self._kind()
        self._check()

    def rows(self, things: Mapping[str, _Thing]) -> Iterator[tuple[str, Row]]:
        """Table and row, for all tables that the kind fills."""
        facts = [line.row for line in self.lines if line.row["key"] != "kind"]
        if self.kind == "accelerator":
            yield from self._accelerator(facts, things)
        elif self.kind == "system":
            yield from self._system(facts, things)
        else:
            yield from (("parts", {**row, "kind": self.kind}) for row in facts)
            if self.kind in ("fabric", "network") and self._is_tier():
                yield from self._fabric(facts)

    def words(self, key: str, default: str = "") -> str:
        """The words of a key."""
        return self.used[key].row["value"] if key in self.used else default

    def count(self, key: str, default: int | None = None) -> int:
        """The whole number of a key."""
        if key not in self.used and default is not None:
            return default
        self._need(key)
        return int(float(self.used[key].row["value"]))

    def _kind(self) -> str:
        line = self.used.get("kind")
        if line is None:
            raise InputError("own_parts.no_kind", place=self.lines[0].at("id"), id=self.id, allowed=", ".join(KINDS))
        kind = line.row["value"]
        if kind not in KINDS:
            raise InputError("own_parts.kind", place=line.at("value"), value=kind, allowed=", ".join(nearest_names(kind, KINDS) or KINDS))
        return kind

    def _check(self) -> None:
        if self.id in _shipped_ids():
            raise InputError("own_parts.shipped", place=self.lines[0].at("id"), value=self.id)
        seen: dict[str, Line] = {}
        for line in self.lines:
            key = line.row["key"]
            if line.row["used"] == "1":
                if key in seen:
                    raise InputError("own_parts.used_twice", place=line.at("used"), name=key, id=self.id, line=seen[key].number)
                seen[key] = line
            unit = _UNITS.get(key, "FLOP/s" if key.startswith("peak_flops.") else "1" if key in _COUNTS else "")
            if unit and fact_of(line.row).unit != unit:
                raise InputError("own_parts.dimension", place=line.at("unit"), name=key, value=line.row["unit"], expected=unit)
            if key in _COUNTS and float(line.row["value"]) % 1:
                raise InputError("own_parts.whole", place=line.at("value"), name=key, value=line.row["value"])
            precision = key.removeprefix("peak_flops.")
            if precision != key and precision not in (*PRECISIONS, "fp4"):
                raise InputError("own_parts.precision", place=line.at("key"), value=precision, allowed=", ".join((*PRECISIONS, "fp4")))

    def _need(self, *keys: str) -> None:
        for key in keys:
            if key not in self.used:
                raise InputError("own_parts.needs", place=self.lines[0].at("id"), id=self.id, kind=self.kind, name=key)

    def _accelerator(self, facts: list[Row], things: Mapping[str, _Thing]) -> Iterator[tuple[str, Row]]:
        self._need("memory", "memory_bandwidth")
        if not any(key.startswith("peak_flops.") for key in self.used):
            raise InputError("own_parts.needs", place=self.lines[0].at("id"), id=self.id, kind=self.kind, name="peak_flops.bf16")
        home = next((thing.id for thing in things.values() if thing.kind == "system" and thing.words("accelerator") == self.id), "")
        named = {"id": self.id, "name": self.words("name", self.id), "vendor": self.words("vendor", "any"), "kind": self.words("class", "gpu")}
        year = self.words("year") if self.words("year").isdigit() else ""
        yield "accelerators", {**named, "year": year, "architecture": self.words("architecture"), "default_system": home or f"{self.id}-alone"}
        yield from (("accelerator_facts", row) for row in facts)
        if not home:
            yield from _alone(self)

    def _system(self, facts: list[Row], things: Mapping[str, _Thing]) -> Iterator[tuple[str, Row]]:
        self._need("accelerator", "node_size", "scale_up")
        card = self.used["accelerator"]
        own = [thing.id for thing in things.values() if thing.kind == "accelerator"]
        known = [*own, *(row["id"] for row in shipped_rows("accelerators"))]
        if card.row["value"] not in known:
            raise _no_such(card, known)
        node = self.count("node_size")
        yield (
            "systems",
            {
                "id": self.id,
                "name": self.words("name", self.id),
                "vendor": self.words("vendor", "any"),
                "accelerator": card.row["value"],
                "node_size": str(node),
                "unit_accelerators": str(self.count("unit_accelerators", node)),
            },
        )
        yield from (("system_facts", row) for row in facts)
        yield "tiers", self._tier("scale_up", str(self.count("scale_up_domain", node)), things)
        if "scale_out" in self.used:
            yield "tiers", self._tier("scale_out", "", things)

    def _tier(self, key: str, size: str, things: Mapping[str, _Thing]) -> Row:
        line = self.used[key]
        fabric = line.row["value"]
        own = [thing.id for thing in things.values() if thing.kind in ("fabric", "network")]
        known = [*own, *(row["id"] for row in shipped_rows("fabrics"))]
        if fabric not in known:
            raise _no_such(line, known)
        if fabric in things and not things[fabric]._is_tier():
            raise InputError("own_parts.no_tier", place=line.at("value"), value=fabric)
        source = {name: line.row[name] for name in ("source", "source_kind", "date", "note")}
        return {"id": self.id, "fabric": fabric, "domain_size": size, "carries_training": "1", **source}

    def _is_tier(self) -> bool:
        return {"bandwidth", "latency", "transport"} <= self.used.keys()

    def _fabric(self, facts: list[Row]) -> Iterator[tuple[str, Row]]:
        transport = self.used["transport"]
        known = sorted({row["transport"] for row in shipped_rows("fabrics")})
        if transport.row["value"] not in known:
            raise _no_such(transport, known)
        flags = {name: "0" if self.words(name).casefold() in _NO else "1" for name in ("in_network_reduction", "memory_semantics")}
        named = {"id": self.id, "name": self.words("name", self.id), "kind": "scale-up" if self.kind == "fabric" else "scale-out"}
        yield "fabrics", {**named, "transport": transport.row["value"], "topology": self.words("topology", "switched"), **flags}
        yield from (("fabric_facts", row) for row in facts)


def _alone(thing: _Thing) -> Iterator[tuple[str, Row]]:
    id_ = f"{thing.id}-alone"
    named = {"name": f"{thing.words('name', thing.id)}, one alone", "vendor": thing.words("vendor", "any")}
    yield "systems", {"id": id_, **named, "accelerator": thing.id, "node_size": "1", "unit_accelerators": "1"}
    source = {"source": "no system of it is described", "source_kind": "assumed", "date": "", "note": ""}
    yield "tiers", {"id": id_, "fabric": _ALONE, "domain_size": "1", "carries_training": "1", **source}


def _no_such(line: Line, known: Sequence[str]) -> InputError:
    value = line.row["value"]
    near = ", ".join(nearest_names(value, known)) or ", ".join(known[:8])
    return InputError("own_parts.reference", place=line.at("value"), name=line.row["key"], value=value, allowed=near)


def _shipped_ids() -> frozenset[str]:
    from tierspan.specs.catalog.parts import shipped_part_ids

    tables = ("accelerators", "systems", "fabrics")
    return frozenset({*(row["id"] for name in tables for row in shipped_rows(name)), *shipped_part_ids()})

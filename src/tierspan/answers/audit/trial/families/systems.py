"""Nodes, racks and domains: what adds up over accelerators, whole sheets, and sizes of domains."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tierspan.answers.audit.trial.base import Amount, Case, Family, Slots, Trap, Word, amount, renamed, reworded, scaled, swapped
from tierspan.answers.audit.trial.facts import accelerators, branded, fabric_of, from_facts, name_of, own, sources_of, systems, used
from tierspan.answers.audit.trial.families.bandwidth import bits, rate
from tierspan.answers.audit.trial.families.compute import peak, sparse_of
from tierspan.answers.audit.trial.families.memory import held, speed
from tierspan.specs.catalog.tables import rows, rows_by_id


def _nodes() -> Iterator[Case]:
    for system, card, fabrics in systems():
        size = int(rows_by_id("systems")[system]["node_size"])
        if "nvlink" not in fabrics[0] or size != 8 or not system.startswith(("dgx", "hgx")):
            continue
        facts, links = used("accelerator", card), used("fabric", fabrics[0])
        if not {"memory", "peak_flops.bf16"} <= facts.keys() or "bandwidth" not in links:
            continue
        each = links["bandwidth"].value
        memory, flops = held(facts["memory"]), facts["peak_flops.bf16"].value
        slots: Slots = {
            "system": name_of("systems", system),
            "part": name_of("accelerators", card),
            "count": Amount(size),
            "memory": memory,
            "memory_total": memory.times(size),
            "both": rate(2 * each),
            "both_total": Amount(2 * each * size / 1e12, "TB/s"),
            "precision": "BF16",
            "peak": peak(flops, "bf16"),
            "peak_total": peak(flops * size, "bf16", whole=True),
            "dense_w": Word("dense"),
            "both_w": Word("both"),
        }
        yield Case(system, slots, from_facts(facts["memory"], facts["peak_flops.bf16"], links["bandwidth"]))


def _sheets() -> Iterator[Case]:
    for thing in accelerators():
        facts, links = used("accelerator", thing), used("fabric", fabric_of(thing))
        needed = {"memory", "memory_bandwidth", "peak_flops.bf16", "peak_flops.fp8", "power"}
        if not needed <= facts.keys() or "nvlink" not in fabric_of(thing) or "bridge" in fabric_of(thing):
            continue
        each = links["bandwidth"].value
        wide, narrow = facts["peak_flops.bf16"].value, facts["peak_flops.fp8"].value
        slots: dict[str, Amount | Word | str] = {
            "part": name_of("accelerators", thing),
            "size": Amount(float(rows_by_id("systems")[rows_by_id("accelerators")[thing]["default_system"]]["node_size"])),
            "memory": held(facts["memory"]),
            "bandwidth": speed(facts["memory_bandwidth"]),
            "bandwidth_plain": speed(facts["memory_bandwidth"]),
            "bf16": peak(wide, "bf16"),
            "bf16_plain": peak(wide, "bf16"),
            "fp8": peak(narrow, "fp8"),
            "both": rate(2 * each),
            "each": rate(each),
            "power": Amount(facts["power"].value, "W"),
            "both_w": Word("both"),
            "dense_w": Word("dense"),
            "sparse_w": Word("sparse"),
        }
        if (sparse := sparse_of(thing, "bf16")) is not None and (narrower := sparse_of(thing, "fp8")) is not None:
            slots |= {"bf16_sparse": peak(sparse, "bf16"), "fp8_sparse": peak(narrower, "fp8")}
        yield Case(thing, slots, from_facts(*(facts[key] for key in sorted(needed)), links["bandwidth"]))


def _planes() -> Iterator[Case]:
    for system, card, fabrics in systems():
        if len(fabrics) < 2 or not {"bandwidth"} <= used("fabric", fabrics[1]).keys() or system.startswith(("tpu", "v100", "trn1", "dgx-spark")):
            continue
        if not fabrics[0].startswith(("nvlink", "xgmi", "ub")) or "mi250" in fabrics[0]:
            continue
        up, out = used("fabric", fabrics[0])["bandwidth"], used("fabric", fabrics[1])["bandwidth"]
        slots: Slots = {
            "part": name_of("accelerators", card),
            "fabric": name_of("fabrics", fabrics[0]),
            "up_each": rate(up.value),
            "network": re.split(r",| \d+ Gb/s", name_of("fabrics", fabrics[1]))[0],
            "out_each": bits(out.value),
            "sum": rate(up.value + out.value),
            "sum_w": "",
        }
        yield Case(system, slots, from_facts(up, out))


def _domains() -> Iterator[Case]:
    fabric_of_system = {line["id"]: line["fabric"] for line in reversed(rows("tiers")) if line["carries_training"] == "1" and line["domain_size"]}
    for system, _, fabrics in systems():
        if (
            not branded(system)
            or fabrics[0] != fabric_of_system.get(system)
            or not fabrics[0].startswith(("nvlink3", "nvlink4-s", "nvlink5", "ub", "ici", "xgmi-mi3"))
        ):
            continue
        line = next(line for line in rows("tiers") if line["id"] == system)
        slots: Slots = {
            "system": name_of("systems", system),
            "fabric": name_of("fabrics", fabrics[0]),
            "domain": Amount(float(line["domain_size"])),
        }
        yield Case(system, slots, (line["source"],))
    for thing, facts in own("domain").items():
        if thing == "ualink":
            slots = {"system": "UALink 1.0 pod", "fabric": "UALink", "domain": Amount(float(facts["size"]["value"]))}
            yield Case(thing, slots, sources_of(facts))


_BITS = {"GB/s": "Gb/s", "TB/s": "Tb/s"}


def _sparse_sheet(slots: Slots) -> Slots | None:
    return {"bf16": slots["bf16_sparse"], "fp8": slots["fp8_sparse"]} if "bf16_sparse" in slots else None


def _sparse_csv(slots: Slots) -> Slots | None:
    return {"bf16_plain": slots["bf16_sparse"]} if "bf16_sparse" in slots else None


FAMILIES = (
    Family(
        "node",
        _nodes,
        (
            scaled("accelerators x rate", "memory_total", 2, needs=("memory",)),
            scaled("accelerators x rate", "both_total", 0.5, needs=("both",)),
            scaled("accelerators x rate", "count", 2, needs=("memory", "memory_total")),
            scaled("FLOP/s x count", "peak_total", 2, needs=("peak",)),
            scaled("FLOP/s x count", "peak", 2, needs=("peak_total",)),
            swapped("node as accelerator", "memory", "memory_total"),
            swapped("node as accelerator", "both", "both_total"),
            swapped("accelerator as node", "both_total", "both", needs=("both",)),
            swapped("accelerator as node", "memory_total", "memory", needs=("memory",)),
            renamed("bits for bytes", "both", _BITS, without=("both_total",)),
            renamed("bits for bytes", "both_total", _BITS),
            reworded("both directions as one", "both_w", "each", needs=("both",)),
        ),
    ),
    Family(
        "sheet",
        _sheets,
        (
            Trap("sparse as dense", ("bf16", "fp8"), _sparse_sheet),
            Trap("sparse as dense", ("bf16_plain",), _sparse_csv),
            reworded("sparse as dense", "sparse_w", "dense", needs=("bf16_sparse",)),
            scaled("precision ladder", "fp8", 2, needs=("bf16",)),
            renamed("bits for bytes", "bandwidth", _BITS),
            renamed("bits for bytes", "both", _BITS),
            reworded("both directions as one", "both_w", "each", needs=("both",)),
            swapped("both directions as one", "each", "both"),
            swapped("one direction as both", "both", "each"),
            scaled("vendor against catalogue", "bandwidth", 2),
            scaled("vendor against catalogue", "memory", 2),
            scaled("vendor against catalogue", "power", 0.5),
            scaled("node as accelerator", "memory", 8),
            scaled("node as accelerator", "both", 8),
        ),
    ),
    Family("planes", _planes, (reworded("planes summed", "sum_w", "sum"), renamed("bits for bytes", "out_each", {"Gb/s": "GB/s"}))),
    Family(
        "domain",
        _domains,
        (
            scaled("domain beyond the fabric", "domain", 8),
            scaled("domain beyond the fabric", "domain", 2),
            Trap("domain beyond the fabric", ("domain",), lambda s: {"domain": Amount(amount(s, "domain").value * 4)}),
        ),
    ),
)

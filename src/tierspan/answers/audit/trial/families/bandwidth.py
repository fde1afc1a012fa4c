"""Scale-up links: direction, links, rate."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.answers.audit.trial.base import Amount, Case, Family, Slots, Trap, Word, amount, renamed, reworded, scaled, swapped
from tierspan.answers.audit.trial.facts import accelerators, fabric_of, from_facts, name_of, own, sources_of, used

_BITS = {"GB/s": "Gb/s", "TB/s": "Tb/s"}
_BYTES = {"Gb/s": "GB/s", "Tb/s": "TB/s"}


def rate(value_Bps: float) -> Amount:
    """Bytes per second as a sheet prints them."""
    return Amount(value_Bps / 1e12, "TB/s") if value_Bps >= 1e12 and not value_Bps % 1e11 else Amount(value_Bps / 1e9, "GB/s")


def bits(value_Bps: float) -> Amount:
    """Bytes per second as bits, as networks print them."""
    gigabits = value_Bps * 8 / 1e9
    return Amount(gigabits / 1e3, "Tb/s") if gigabits >= 1000 else Amount(gigabits, "Gb/s")


def _links() -> Iterator[Case]:
    for thing in accelerators():
        fabric = fabric_of(thing)
        facts = used("fabric", fabric)
        if not {"links", "link_bandwidth", "bandwidth"} <= facts.keys() or "ports" in fabric:
            continue
        each, link, links = facts["bandwidth"].value, facts["link_bandwidth"].value, facts["links"].value
        slots: dict[str, Amount | Word | str] = {
            "part": name_of("accelerators", thing),
            "fabric": name_of("fabrics", fabric),
            "links": Amount(links),
            "link_each": rate(link),
            "link_both": rate(2 * link),
            "each": rate(each),
            "both": rate(2 * each),
            "both_w": Word("both"),
            "each_w": Word("each"),
        }
        if fabric.startswith(("nvlink4", "nvlink5")):
            slots |= {"raw_each": rate(each).times(1 / _payload()), "raw_both": rate(2 * each).times(1 / _payload())}
        yield Case(thing, slots, from_facts(facts["bandwidth"], facts["links"], facts["link_bandwidth"]))


def _payload() -> float:
    return float(own("raw")["nvlink4"]["share"]["value"])


def _ports() -> Iterator[Case]:
    for thing in accelerators():
        fabric = fabric_of(thing)
        if "ports" in fabric:
            facts = used("fabric", fabric)
            port, links = bits(facts["link_bandwidth"].value), facts["links"].value
            slots: Slots = {
                "part": name_of("accelerators", thing),
                "links": Amount(links),
                "port": port,
                "total": bits(facts["bandwidth"].value),
                "each_w": Word("each"),
            }
            yield Case(thing, slots, from_facts(facts["bandwidth"], facts["links"]))


def _fabric() -> Iterator[Case]:
    for thing in accelerators():
        fabric = fabric_of(thing)
        facts = used("fabric", fabric)
        if "bandwidth" in facts and "both" in facts["bandwidth"].original and thing.startswith("tpu"):
            each = facts["bandwidth"].value
            slots: Slots = {
                "part": name_of("accelerators", thing),
                "fabric": name_of("fabrics", fabric),
                "each": rate(each),
                "both": rate(2 * each),
                "both_w": Word("both"),
                "each_w": Word("each"),
            }
            yield Case(thing, slots, from_facts(facts["bandwidth"]))


def _pcie() -> Iterator[Case]:
    nics = {"Gen4": "200G", "Gen5": "400G", "Gen6": "800G"}
    for thing, facts in own("pcie").items():
        generation = facts["name"]["value"]
        slots: Slots = {
            "gen": generation,
            "lanes": Amount(float(facts["lanes"]["value"])),
            "each": Amount(float(facts["each"]["value"]), "GB/s"),
            "both": Amount(float(facts["both"]["value"]), "GB/s"),
            "nic": nics[generation],
            "both_w": Word("both"),
            "each_w": Word("each"),
        }
        yield Case(thing, slots, sources_of(facts))


def _more_links(slots: Slots) -> Slots:
    return {"links": amount(slots, "links").times(4 / 3)}


def _faster_nic(slots: Slots) -> Slots:
    return {"nic": {"200G": "400G", "400G": "800G", "800G": "1600G"}[str(slots["nic"])]}


_DIRECTION = (
    reworded("both directions as one", "both_w", "each", needs=("both",), without=("each", "links")),
    reworded("one direction as both", "each_w", "both", needs=("each",), without=("both", "links")),
    swapped("both directions as one", "each", "both", without=("both", "links", "lanes")),
    reworded("direction not told", "both_w", "", needs=("both",), without=("each", "link_both")),
)

FAMILIES = (
    Family(
        "links",
        _links,
        (
            *_DIRECTION,
            Trap("links x rate", ("links", "link_both", "both"), _more_links),
            Trap("links x rate", ("links", "link_each", "each"), _more_links),
            swapped("links x rate", "both", "each", needs=("links", "link_both")),
            swapped("link as accelerator", "both", "link_both", without=("links", "link_both", "each")),
            swapped("accelerator as link", "link_both", "both", needs=("links", "both")),
            swapped("accelerator as link", "link_each", "each", needs=("links", "each")),
            renamed("bits for bytes", "both", _BITS),
            renamed("bits for bytes", "each", _BITS, without=("both",)),
            swapped("raw as payload", "both", "raw_both", without=("links", "each")),
            swapped("raw as payload", "each", "raw_each", without=("links", "both")),
            scaled("vendor against catalogue", "both", 2, without=("links", "each")),
            scaled("vendor against catalogue", "each", 4, without=("links", "both")),
            scaled("vendor against catalogue", "both", 1 / 9, without=("links", "each", "link_both")),
        ),
    ),
    Family(
        "ports",
        _ports,
        (
            scaled("ports x rate", "total", 2),
            scaled("ports x rate", "links", 8 / 7),
            renamed("bits for bytes", "total", _BYTES),
            renamed("bits for bytes", "port", _BYTES),
        ),
    ),
    Family(
        "fabric",
        _fabric,
        (
            *_DIRECTION,
            renamed("bits for bytes", "both", _BITS),
            renamed("bits for bytes", "each", _BITS),
            scaled("vendor against catalogue", "both", 4),
            scaled("vendor against catalogue", "each", 8),
        ),
    ),
    Family(
        "pcie",
        _pcie,
        (
            reworded("both directions as one", "both_w", "each", needs=("both",), without=("each",)),
            reworded("one direction as both", "each_w", "both", needs=("each",), without=("both",)),
            scaled("lanes x rate", "lanes", 0.5),
            scaled("lanes x rate", "each", 0.5, without=("both", "nic")),
            renamed("bits for bytes", "both", _BITS),
            renamed("bits for bytes", "each", _BITS, without=("both", "nic")),
            Trap("PCIe against NIC", ("nic",), _faster_nic),
        ),
    ),
)

"""Which accelerators and systems of the catalogue a dump can be: by product name, architecture, links of an accelerator, size of a host."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.specs.catalog import accelerator, accelerator_ids, resolve, system, system_ids
from tierspan.specs.hardware import System
from tierspan.specs.topology_system.inventory import Inventory, link_kinds, link_sum, links_per_gpu, usual

_DATA: Final = Path(__file__).parent / "data"
_RAW_SHARE: Final = (0.97, 1.08)  # printed link rates lie between the payload and the signalling rate
_TRANSPORTS: Final = {"NVLink": "nvlink", "xGMI": "xgmi"}


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """Rows of ``data/<name>.csv``."""
    with (_DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def accelerator_of(product: str) -> str:
    """Catalogue id of a product name as drivers print it; "" where the catalogue lacks it."""
    plain = " ".join(product.split())
    for row in table("products"):
        if row["product"].casefold() == plain.casefold():
            return row["accelerator"]
    for name in (plain, plain.removeprefix("NVIDIA ").removeprefix("Tesla ")):
        try:
            found = resolve("accelerator", name)
        except UnknownNameError:
            continue
        # A name that leaves something open is no product name.
        if not found.assumed:
            return found.id
    return ""


def product_names(found: Inventory) -> dict[str, int]:
    """Accelerators by product name, of those that have one."""
    count: dict[str, int] = {}
    for gpu in found.gpus:
        if gpu.name:
            count[gpu.name] = count.get(gpu.name, 0) + 1
    return count


def accelerators_possible(found: Inventory) -> tuple[str, ...]:
    """Accelerators that the architecture allows; all where it is not told."""
    architectures = {gpu.architecture for gpu in found.gpus if gpu.architecture}
    if not architectures:
        return accelerator_ids()
    rows = [row for row in table("architectures") if row["architecture"] in architectures]
    return tuple(name for row in rows for name in row["accelerators"].split())


def systems_possible(found: Inventory, accelerators: tuple[str, ...], *, named: bool) -> list[System]:
    """Systems that the dump can be; those whose host has exactly this size where there are some.

    Where the accelerator is ``named`` the rest only orders; otherwise the links, or at least NVLS, must single systems out.
    """
    systems = [system(name) for name in system_ids()]
    mine = [one for one in systems if one.accelerator in accelerators and one.node_size >= found.node_size]
    if not named:
        mine = [one for one in mine if _fits(one, found)]
    exact = [one for one in mine if one.node_size == found.node_size]
    return exact or mine


def link_fact(one: System) -> int | None:
    """Scale-up links of one accelerator of a system, where the catalogue knows it."""
    return next((round(fact.value) for fact in one.tiers[0].facts if fact.key == "links" and fact.used), None)


def _fits(one: System, found: Inventory) -> bool:
    links, kinds = links_per_gpu(found.nodes), link_kinds(found.nodes)
    tier = one.tiers[0]
    wanted = {_TRANSPORTS[kind] for kind in kinds if kind in _TRANSPORTS}
    if not wanted and links is not None:
        wanted = {"nvlink"}
    if wanted and tier.transport not in wanted:
        return False
    if links is None:
        # Without links only the architecture or in-switch reduction says anything.
        said = found.nvls is not None or any(gpu.architecture for gpu in found.gpus)
        return said and not (found.nvls and not tier.in_network_reduction)
    known = link_fact(one)
    if known is None:
        return any(gpu.architecture for gpu in found.gpus)
    if tier.topology != "switched":
        links = link_sum(found.nodes) or links
    if known != links or (found.nvls and not tier.in_network_reduction):
        return False
    rate = usual(gpu.link_Bps for gpu in found.gpus if gpu.link_Bps)
    return rate is None or _RAW_SHARE[0] <= rate * links / tier.bandwidth_Bps <= _RAW_SHARE[1]


def ordered(accelerators: set[str]) -> list[str]:
    """The oldest first; of one year the larger memory: what an unsaid variant usually means."""
    return sorted(accelerators, key=lambda name: (accelerator(name).year or 9999, -accelerator(name).memory_bytes, name))


def named_accelerator(found: Inventory, place: Place) -> tuple[str, dict[str, int]]:
    """The accelerator that most product names stand for, and all names by count.

    Raises:
        InputError: the catalogue lacks the product.
    """
    names = product_names(found)
    if not names:
        return "", names
    most = max(names, key=lambda name: names[name])
    identity = accelerator_of(most)
    if not identity:
        raise InputError("topology.product_unknown", place=place, name=most, count=names[most])
    return identity, names

"""The cluster of a question, from a scenario's section and what the caller says besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tierspan.answers.habits import Notebook
from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.findings import Assumption, Finding
from tierspan.specs.catalog import default_system, known_names, resolve
from tierspan.specs.hardware import Cluster
from tierspan.specs.inline import cluster_from_mapping

if TYPE_CHECKING:
    from tierspan.formats.scenario.scenario import Scenario

PlaceOf = Callable[[str], Place]
_OF_CLUSTER: Final = ("system", "accelerator", "accelerators", "node_size", "domain_size", "nic")
_DOCUMENTS: Final = (".yaml", ".yml", ".json")
_DUMPS: Final = (".xml", ".txt", ".log", ".out")


def cluster_for(read: Scenario | None, told: Mapping[str, Any], said_at: PlaceOf, book: Notebook) -> Cluster:
    """The cluster of a scenario with what the caller ``told`` put over it; a told system replaces all but the number of accelerators.

    Raises:
        InputError: a value or file cannot be used.
        UnknownNameError: nobody knows the system or accelerator.
    """
    given = {name: told[name] for name in _OF_CLUSTER if name in told}
    merged: dict[str, Any] = dict(read.cluster) if read else {}
    if "system" in given or "accelerator" in given:
        merged = {key: value for key, value in merged.items() if key == "accelerators"}
    if "tiers" in merged:
        for name in ("domain_size", "nic"):
            if name in given and (name != "nic" or _has_network(merged["tiers"])):
                raise InputError("question.tiers_override", place=said_at(name), key=name)
    if "nic" in given:
        merged.pop("nic_Bps", None)
    merged |= given
    if isinstance(merged.get("nic"), int | float) and not isinstance(merged["nic"], bool) and "nic" in given:
        merged["nic_Bps"] = merged.pop("nic")
    inner: list[tuple[str, PlaceOf]] = []

    def place_of(path: str) -> Place:
        for prefix, of in inner:
            if path == prefix or path.startswith(prefix + "."):
                return of(path[len(prefix) + 1 :])
        head = path.removeprefix("cluster.").split(".")[0].removesuffix("_Bps")
        if head in given:
            return said_at(head)
        return read.place_of(path) if read else Place(key=path)

    folder = read.folder if read and "system" not in given else Path()
    _open_system(merged, folder, inner)
    _open_dump(merged, folder, book)
    _name_system(merged, place_of, book)
    cluster = cluster_from_mapping(merged, place_of, "cluster")
    described = merged["system"].get("tiers") if isinstance(merged.get("system"), Mapping) else merged.get("tiers")
    if described is not None and not _has_network(described) and (network := cluster.tiers[-1]).kind == "scale-out":
        book.note("network", network.name, "question.network_assumed", latency=round(network.latency_s * 1e6, 2))
    return cluster


def _has_network(tiers: object) -> bool:
    """Whether described tiers have one beyond the scale-up tiers; what is no list of mappings is refused elsewhere."""
    return not isinstance(tiers, list | tuple) or any(not isinstance(tier, Mapping) or tier.get("kind") != "scale-up" for tier in tiers)


def _open_system(merged: dict[str, Any], folder: Path, inner: list[tuple[str, PlaceOf]]) -> None:
    """Read a system that is given as a file: a description of a system, or a cluster without its count."""
    given = merged.get("system")
    if not isinstance(given, str | Path) or Path(given).suffix.lower() not in _DOCUMENTS:
        return
    from tierspan.formats.scenario.document import read_document

    document = read_document(folder / given)
    data: Mapping[str, Any] = document.data
    prefix = ""
    if isinstance(data.get("cluster"), dict):
        data, prefix = data["cluster"], "cluster."
    if "system" in data:
        merged.pop("system")
        merged |= {key: value for key, value in data.items() if key not in merged}
        inner += [(f"cluster.{key}", lambda path, key=key: document.place_of(f"{prefix}{key}" + (f".{path}" if path else ""))) for key in data]  # type: ignore[misc]
    else:
        merged["system"] = {key: value for key, value in data.items() if key != "accelerators"}
        merged.setdefault("accelerators", data.get("accelerators"))
        inner.append(("cluster.system", lambda path: document.place_of(prefix + path)))


def question_system(path: str | Path, *, accelerator: str | None = None) -> tuple[Mapping[str, object], tuple[Assumption, ...], tuple[Finding, ...]]:
    """The keys of a cluster that a topology dump tells (system, and where they differ node_size and nic_Bps), what was assumed, what was found.

    Args:
        path: a dump that ``formats.topology`` reads.
        accelerator: catalogue name of the accelerator, where the dump does not settle it.

    Raises:
        InputError: the file is no dump that is known, or nothing in it singles out a system.
        UnknownNameError: the catalogue has no such accelerator.
    """
    from tierspan.formats.topology import read_topology
    from tierspan.specs.topology_system import describe_topology

    described = describe_topology(read_topology(path), accelerator=accelerator)
    # How many accelerators there are is asked for elsewhere.
    assumed = tuple(taken for taken in described.assumptions if taken.field != "accelerators")
    return described.settings, assumed, described.findings


def _open_dump(merged: dict[str, Any], folder: Path, book: Notebook) -> None:
    """Read a system that is given as a topology dump; what the caller says of node and network goes before what the dump says."""
    given = merged.get("system")
    if not isinstance(given, str | Path) or not _is_dump(given, folder):
        return
    named = merged.get("accelerator")
    settings, assumed, found = question_system(folder / given, accelerator=named if isinstance(named, str) else None)
    told = {key.removesuffix("_Bps") for key, value in merged.items() if value is not None}
    merged["system"] = settings["system"]
    merged |= {key: value for key, value in settings.items() if key.removesuffix("_Bps") not in told}
    book.assumptions += [taken for taken in assumed if taken.field not in told - {"system", "accelerators"}]
    book.assumptions += [
        Assumption("topology", found_one.severity, found_one.id, found_one.values) for found_one in found if found_one.severity != "info"
    ]


def _is_dump(given: str | Path, folder: Path) -> bool:
    """Whether ``given`` names a topology dump: by its ending, or a file that is there and whose name the catalogue lacks."""
    if Path(given).suffix.lower() in _DUMPS:
        return True
    try:
        return (folder / given).is_file() and str(given) not in known_names("system")
    except (OSError, ValueError):
        return False


def _name_system(merged: dict[str, Any], place_of: PlaceOf, book: Notebook) -> None:
    """Settle names: an accelerator given as system stands for the system it usually comes in; what an alias leaves open is noted."""
    name = merged.get("system")
    if isinstance(name, str):
        try:
            found = resolve("system", name, place=place_of("cluster.system"))
        except UnknownNameError as error:
            try:
                card = resolve("accelerator", name)
            except UnknownNameError:
                raise error from None
            merged["system"] = default_system(card.id)
            if card.assumed:
                book.note("accelerator", card.id, "question.alias", name=name, assumed=card.assumed)
            book.note("system", merged["system"], "question.usual_system", name=name)
        else:
            if found.assumed:
                book.note("system", found.id, "question.alias", name=name, assumed=found.assumed)
    elif name is None and "tiers" not in merged and isinstance(merged.get("accelerator"), str):
        card = resolve("accelerator", merged["accelerator"], place=place_of("cluster.accelerator"))
        if card.assumed:
            book.note("accelerator", card.id, "question.alias", name=merged["accelerator"], assumed=card.assumed)
        book.note("system", default_system(card.id), "question.usual_system", name=merged["accelerator"])

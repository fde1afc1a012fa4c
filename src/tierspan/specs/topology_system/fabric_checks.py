"""What looks wrong in a fabric: links not active, slower or narrower than their like, hosts with fewer ports, leaves with too few uplinks."""

from __future__ import annotations

from collections.abc import Iterator

from tierspan.quantities.errors import Place
from tierspan.quantities.findings import Finding
from tierspan.specs.topology import Fabric, FabricLink, FabricNode
from tierspan.specs.topology_system.inventory import usual

_LISTED = 5
_WIDTH_WORDS = ("could be",)


def of_fabric(fabric: Fabric) -> Iterator[Finding]:
    """Findings of a fabric."""
    nodes = {node.id: node for node in fabric.nodes}
    place = fabric.place
    yield from _states(fabric, nodes)
    yield from _degraded(fabric, nodes)
    uneven = _uneven_hosts(fabric)
    if uneven:
        names, most = uneven
        values = {"names": _listed(names), "count": len(names), "others": most}
        yield Finding("topology.fabric_host_ports", "warning", values, place)
    yield from _leaves(fabric, nodes)
    if fabric.ports_down:
        first = fabric.ports_down[0]
        values = {"count": len(fabric.ports_down), "first": f"{_name(nodes, first.node)} {first.port} ({first.state})"}
        yield Finding("topology.fabric_ports_down", "info", values, Place(place.file, first.line))


def _states(fabric: Fabric, nodes: dict[str, FabricNode]) -> Iterator[Finding]:
    for link in fabric.links:
        if link.state and link.state.lower() != "active/linkup":
            yield Finding("topology.fabric_state", "error", {**_ends(link, nodes), "state": link.state}, Place(fabric.place.file, link.line))


def _degraded(fabric: Fabric, nodes: dict[str, FabricNode]) -> Iterator[Finding]:
    """Links that the tool says could run faster, and links below the usual rate of their kind."""
    groups: dict[frozenset[str], list[FabricLink]] = {}
    for link in fabric.links:
        kinds = frozenset(nodes[end].kind if end in nodes else "" for end in (link.a, link.b))
        groups.setdefault(kinds, []).append(link)
    for links in groups.values():
        most = usual(link.rate_Bps for link in links if link.rate_Bps)
        for link in links:
            place = Place(fabric.place.file, link.line)
            if any(word in link.could_be.lower() for word in _WIDTH_WORDS):
                yield Finding("topology.fabric_could_be", "warning", {**_ends(link, nodes), "runs": _runs(link), "could": link.could_be}, place)
            elif most and link.rate_Bps and link.rate_Bps < most:
                values = {**_ends(link, nodes), "runs": _runs(link), "others": f"{most * 8 / 1e9:g}"}
                yield Finding("topology.fabric_slower", "warning", values, place)


def _uneven_hosts(fabric: Fabric) -> tuple[list[str], int] | None:
    """Hosts with fewer ports than most have; only where most have more than one."""
    hosts = fabric.hosts
    most = usual(hosts.values())
    if most is None or most < 2:
        return None
    fewer = sorted(name for name, count in hosts.items() if count < most)
    return (fewer, most) if fewer else None


def _leaves(fabric: Fabric, nodes: dict[str, FabricNode]) -> Iterator[Finding]:
    """Leaf switches whose uplinks carry less than their host ports."""
    down: dict[str, float] = {}
    up: dict[str, float] = {}
    for link in fabric.links:
        for end, other in ((link.a, link.b), (link.b, link.a)):
            kinds = (nodes[end].kind if end in nodes else "", nodes[other].kind if other in nodes else "")
            if kinds == ("switch", "host"):
                down[end] = down.get(end, 0.0) + (link.rate_Bps or 0.0)
            elif kinds == ("switch", "switch"):
                up[end] = up.get(end, 0.0) + (link.rate_Bps or 0.0)
    blocked = [(name, down[name] / up[name]) for name in down if up.get(name) and down[name] > up[name]]
    if blocked:
        worst = max(blocked, key=lambda pair: pair[1])
        values = {"count": len(blocked), "leaves": len(down), "worst": _name(nodes, worst[0]), "ratio": f"{worst[1]:.2g}"}
        yield Finding("topology.fabric_blocking", "info", values, fabric.place)


def _ends(link: FabricLink, nodes: dict[str, FabricNode]) -> dict[str, object]:
    return {"a": f"{_name(nodes, link.a)} {link.a_port}", "b": f"{_name(nodes, link.b)} {link.b_port}"}


def _name(nodes: dict[str, FabricNode], identity: str) -> str:
    return nodes[identity].name or identity if identity in nodes else identity


def _runs(link: FabricLink) -> str:
    rate = f"{link.rate_Bps * 8 / 1e9:g} Gb/s" if link.rate_Bps else "?"
    return f"{link.width or '?'}x{link.speed or '?'} ({rate})"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")

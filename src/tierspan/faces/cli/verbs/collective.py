"""``tierspan collective``: what one collective costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tierspan.faces.cli.message_size import parse_sizes
from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.question_options import brief_option
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import InputError, Place

if TYPE_CHECKING:
    from tierspan.answers.collective import CollectiveAnswer, ExpertTokens

_PLACES = {"system": "--system", "accelerators": "-n", "node_size": "--per-node", "nic": "--nic"}


@click.command()
@click.argument("operation", metavar="OPERATION")
@click.argument("size", required=False, metavar="[SIZE]")
@click.option("--system", metavar="ID|FILE", required=True, help="collective.option.system")
@click.option("-n", "--ranks", type=click.IntRange(min=2), required=True, metavar="N", help="collective.option.ranks")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="collective.option.nodes")
@click.option("--per-node", type=click.IntRange(min=1), metavar="N", help="collective.option.per_node")
@click.option("--nic", metavar="RATE", help="compare.option.nic")
@click.option("--transport", metavar="NAME", help="compare.option.transport")
@click.option("--algorithm", metavar="NAME", help="collective.option.algorithm")
@click.option("--protocol", type=click.Choice(["LL", "LL128", "Simple"], case_sensitive=False), help="collective.option.protocol")
@click.option("--in-network", is_flag=True, help="collective.option.in_network")
@click.option("--no-nvls", is_flag=True, help="collective.option.no_nvls")
@click.option("--tokens", type=click.IntRange(min=1), metavar="N", help="collective.option.tokens")
@click.option("--hidden", type=click.IntRange(min=1), metavar="N", help="collective.option.hidden")
@click.option("--topk", type=click.IntRange(min=1), metavar="N", help="collective.option.topk")
@click.option("--element-bytes", type=float, default=1.0, metavar="N", help="collective.option.element_bytes")
@click.option("--low-latency", is_flag=True, help="collective.option.low_latency")
@brief_option
@json_option
@click.pass_obj
def command(
    session: Session, /, operation: str, size: str | None, system: str, ranks: int, nodes: int | None, per_node: int | None, nic: str | None,
    transport: str | None, algorithm: str | None, protocol: str | None, in_network: bool, no_nvls: bool, brief: bool, as_json: bool, **experts: Any,
) -> int:  # fmt: skip
    """Tell time, busbw, algorithm, floor and bound of one collective, and the curve over sizes."""
    from tierspan.answers.collective import EXPERTS, OPERATIONS, collective
    from tierspan.answers.comparison.setting import TRANSPORTS, nic_rate
    from tierspan.answers.habits import Notebook
    from tierspan.answers.question_cluster import cluster_for
    from tierspan.specs.hardware import check_reach

    operation = _plain(operation, OPERATIONS)
    low, high = _sizes(operation, size, EXPERTS)
    each = _per_node(ranks, nodes, per_node)
    book = Notebook({})
    told: dict[str, Any] = {"system": system, "accelerators": ranks, **({"nic": nic_rate(nic)} if nic is not None else {})}
    cluster = cluster_for(None, told, lambda name: Place(key=_PLACES.get(name, name)), book)
    if each is not None:
        # Hosts that are not full still stand in their whole cluster.
        count = max(ranks, -(-ranks // each) * cluster.node_size)
        check_reach(cluster.tiers, count, Place(key="--nodes" if nodes is not None else "--per-node"))
        cluster = replace(cluster, accelerators=count)
    found = collective(
        operation=operation,
        cluster=cluster,
        size_bytes=high,
        ranks=ranks,
        ranks_per_node=each,
        algorithm=algorithm.casefold().replace("-", "_") if algorithm else None,
        protocol=protocol,
        nvls=False if no_nvls else None,
        transport=TRANSPORTS.get(transport.casefold(), transport.casefold()) if transport else None,
        in_network=True if in_network else None,
        tokens=_tokens(operation, experts, EXPERTS),
    )
    answer = _cut(replace(found, assumptions=(*book.assumptions, *found.assumptions)), low, high)
    if as_json:
        session.json(answer)
    else:
        from tierspan.faces.cli.render.collective import collective_parts

        session.show(*collective_parts(answer, session.lang, brief=brief))
    return 0


def _plain(name: str, known: tuple[str, ...]) -> str:
    """The operation as the laws call it: ``allreduce``, ``all-reduce`` and ``alltoall`` are known too."""
    folded = {k.replace("_", ""): k for k in known}
    return folded.get(name.casefold().replace("-", "").replace("_", ""), name)


def _sizes(operation: str, size: str | None, experts: tuple[str, ...]) -> tuple[float | None, float | None]:
    if operation in experts:
        return None, None
    if size is None:
        raise InputError("cli.option.missing", key="SIZE", verb="collective")
    return parse_sizes(size, Place(key="SIZE"))


def _per_node(ranks: int, nodes: int | None, per_node: int | None) -> int | None:
    """Ranks on a node; the two ways to say it must agree."""
    if nodes is None:
        return per_node
    each = -(-ranks // nodes)
    if nodes > ranks:
        raise InputError("compare.nodes_above_ranks", place=Place(key="--nodes"), value=nodes, ranks=ranks)
    if per_node is not None and per_node != each:
        raise InputError("collective.nodes_and_per_node", place=Place(key="--per-node"), value=per_node, nodes=nodes, ranks=ranks)
    return each


def _tokens(operation: str, given: dict[str, Any], experts: tuple[str, ...]) -> ExpertTokens | None:
    from tierspan.answers.collective import ExpertTokens

    needed = ("tokens", "hidden", "topk")
    if operation not in experts:
        return None
    missing = [f"--{name}" for name in needed if given[name] is None]
    if missing:
        raise InputError("collective.tokens_said_in_part", place=Place(key=missing[0]), operation=operation, missing=", ".join(missing))
    return ExpertTokens(given["tokens"], given["hidden"], given["topk"], given["element_bytes"], given["low_latency"])


def _cut(answer: CollectiveAnswer, low: float | None, high: float | None) -> CollectiveAnswer:
    """The curve between the sizes asked for; the whole of it where one size was."""
    if low is None or high is None or low == high:
        return answer
    return replace(answer, curve=tuple(p for p in answer.curve if low <= p.size_bytes * 1.0001 and p.size_bytes <= high * 1.0001))

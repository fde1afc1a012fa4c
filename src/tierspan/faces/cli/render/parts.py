"""What the answers about a job have in common: numbers as people read them, the bar of a step, groups, tiers, memory, assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tierspan.quantities.messages import fill, has
from tierspan.quantities.printing import format_count, format_duration, format_number

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from tierspan.answers.results import CaseView, GroupPlacement, HostMemory, MemoryView, Neighbour, TierView
    from tierspan.faces.cli.render.table import Sheet
    from tierspan.quantities.findings import Assumption

WIDTH: Final = 100
BAR: Final = 60
MARKS: Final = "█▓▒░▚·"
UNKNOWN: Final = "-"
_STYLES: Final = ("cyan", "green", "yellow", "magenta", "blue", "dim")


def said(message_id: str, lang: str, /, **values: object) -> str:
    """A text of the catalogues."""
    return fill(message_id, lang, values)


def named(prefix: str, name: str, lang: str) -> str:
    """The text of ``prefix.name``; the name itself where no text tells it better."""
    return fill(f"{prefix}.{name}", lang, {}) if has(f"{prefix}.{name}") else name


def number_of(value: float | None, digits: int = 3) -> str:
    """A number of ``digits`` significant digits, a dash where it is not known."""
    return UNKNOWN if value is None or not math.isfinite(value) else format_number(value, digits)


def percent(share: float | None, decimals: int = 1) -> str:
    """A share as a number of percent, without the sign (that stands in the head or the sentence)."""
    return UNKNOWN if share is None or not math.isfinite(share) else f"{100 * share:.{decimals}f}"


def seconds(value: float, lang: str) -> str:
    """A time with its unit."""
    return format_duration(value, lang=lang) if math.isfinite(value) else UNKNOWN


def count(value: float, lang: str) -> str:
    """A large count: 405 B, 4050 亿."""
    if not math.isfinite(value):
        return UNKNOWN
    return format_count(value, lang=lang) if abs(value) >= 1e6 else format_number(value, 4)


def whole(value: int) -> str:
    """A whole number with its groups of three."""
    return f"{value:,}"


def gigabytes(size: float) -> str:
    """Bytes as a number of GB with one decimal."""
    return f"{size / 1e9:,.1f}" if math.isfinite(size) else UNKNOWN


def fitted(part: RenderableType) -> RenderableType:
    """``part`` no wider than ``WIDTH``, however wide the terminal is."""
    from rich.constrain import Constrain

    return Constrain(part, WIDTH)


def title(message_id: str, lang: str, /, **values: object) -> Text:
    """A heading."""
    from rich.text import Text

    return Text(said(message_id, lang, **values), style="bold")


def lines(*texts: str, head: Text | None = None) -> RenderableType:
    """Paragraphs under a heading, indented; long ones wrap inside their indent."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    body = [Padding(Text(text), (0, 0, 0, 2 if head is not None else 0)) for text in texts]
    return fitted(Group(*([head] if head is not None else []), *body))


def stacked_bar(shares: Sequence[tuple[str, float]], *, width: int = BAR, limit: tuple[str, float] | None = None) -> RenderableType:
    """Shares of one whole as one bar with a legend; marks tell the parts apart without colour.

    Args:
        shares: label and share (0..1) of each part, at most six.
        width: characters that a whole takes.
        limit: label and share of a mark under the bar.
    """
    from rich.cells import cell_len
    from rich.console import Group
    from rich.text import Text

    from tierspan.faces.cli.render.bars import stacked

    drawn = stacked([share for _, share in shares], width, MARKS)
    bar, legend = Text("  "), Text()
    used = WIDTH
    for index, (label, share) in enumerate(shares):
        mark, style = MARKS[index], _STYLES[index]
        bar.append(mark * drawn.count(mark), style=style)
        entry = f" {label} {percent(share)} %"
        # An entry is never broken: a new line starts where it does not fit.
        used += cell_len(entry) + 4
        if used > WIDTH:
            legend.append("\n  " if index else "  ")
            used = cell_len(entry) + 3
        else:
            legend.append("   ")
        legend.append(mark, style=style).append(entry)
    if limit is not None:
        bar.append(f"\n  {' ' * max(round(limit[1] * width) - 1, 0)}▲ {limit[0]}")
    return fitted(Group(bar, legend))


def plan_text(case: CaseView, lang: str) -> str:
    """The plan in one line, with the sizes that say something."""
    s = case.strategy
    sizes = [("TP", s.tp), ("PP", s.pp), ("VPP", s.vpp), ("CP", s.cp), ("EP", s.ep), ("DP", case.dp)]
    told = [f"{name} {size}" for name, size in sizes if size > 1 or name == "DP"]
    told.append(f"ZeRO {s.zero}" + (f" / {s.shard_group}" if s.shard_group else ""))
    told.append(said("predict.plan.micro", lang, size=s.micro_batch, count=number_of(case.micro_batches, 4)))
    told.append(said("predict.plan.recompute", lang, kind=named("recompute", s.recompute, lang)))
    if s.dispatcher is not None and s.ep > 1:
        told.append(said("predict.plan.dispatcher", lang, kind=s.dispatcher))
    if s.expert_imbalance > 1.0:
        told.append(said("predict.plan.imbalance", lang, value=number_of(s.expert_imbalance, 4)))
    return said("list.comma", lang).join(told)


def case_lines(case: CaseView, lang: str) -> str:
    """Model, job and plan, one sentence."""
    active = "" if case.parameters_active == case.parameters_total else said("predict.case.active", lang, active=count(case.parameters_active, lang))
    return said(
        "predict.case",
        lang,
        parameters=count(case.parameters_total, lang),
        active=active,
        sequence=whole(case.sequence_length),
        batch=whole(case.global_batch),
        precision=case.precision.upper(),
        stack=case.stack,
        plan=plan_text(case, lang),
    )


def groups_table(placement: Iterable[GroupPlacement], lang: str) -> RenderableType | None:
    """Where the parallel groups run; None where every group has one member."""
    from tierspan.faces.cli.render.table import drawn

    sheet = groups_sheet(placement, lang)
    return fitted(drawn(sheet)) if sheet.rows else None


def groups_sheet(placement: Iterable[GroupPlacement], lang: str) -> Sheet:
    """Where the parallel groups run; no rows where every group has one member."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    rows = tuple(
        (
            named("kind", g.kind, lang),
            whole(g.size),
            whole(g.stride),
            g.tier,
            said("predict.of", lang, part=whole(g.members_per_domain), all=whole(g.size)),
        )
        for g in placement
        if g.size > 1
    )
    heads = [said(f"predict.groups.{name}", lang) for name in ("group", "size", "stride", "tier", "inside")]
    columns = (
        Column(heads[0]),
        number(heads[1], said("unit.ranks", lang)),
        number(heads[2], said("unit.ranks", lang)),
        Column(heads[3]),
        number(heads[4]),
    )
    return Sheet(columns, rows, said("predict.groups", lang))


def tiers_table(tiers: Sequence[TierView], lang: str) -> list[RenderableType]:
    """The tiers as the prediction used them, and what a domain adds up to."""
    from tierspan.faces.cli.render.table import drawn

    return [fitted(drawn(tiers_sheet(tiers, lang))), lines(*tiers_remarks(tiers, lang))]


def tiers_remarks(tiers: Sequence[TierView], lang: str) -> list[str]:
    """On which basis bandwidths stand, what a domain adds up to and what it does not."""
    remarks = [said("predict.tiers.basis", lang)]
    for t in tiers[:1]:
        if t.domain_size > 1:
            values = {
                "tier": t.name,
                "size": whole(t.domain_size),
                "memory": number_of(t.domain_memory_bytes / 1e12),
                "peak": number_of(t.domain_peak_flops / 1e15),
            }
            remarks.append(said("predict.tiers.pool", lang, **values))
            remarks.append(said("predict.tiers.memory_semantics" if t.memory_semantics else "predict.tiers.messages", lang, tier=t.name))
    return remarks


def tiers_sheet(tiers: Sequence[TierView], lang: str) -> Sheet:
    """The tiers as the prediction used them."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    rows = tuple(
        (
            t.name,
            named("tier_kind", t.kind, lang),
            whole(t.domain_size),
            number_of(t.bandwidth_Bps / 1e9),
            number_of(t.achievable_Bps / 1e9),
            number_of(t.latency_s * 1e6),
            t.transport,
            number_of(t.exposed_s),
        )
        for t in tiers
    )
    names = ("name", "kind", "domain", "line", "achievable", "latency", "transport", "exposed")
    units = ("", "", "unit.accelerators", "unit.GBps", "unit.GBps", "unit.us", "", "unit.s")
    columns = [
        number(said(f"predict.tiers.{name}", lang), said(unit, lang)) if unit else Column(said(f"predict.tiers.{name}", lang))
        for name, unit in zip(names, units, strict=True)
    ]
    return Sheet(tuple(columns), rows, said("predict.tiers", lang))


MEMORY_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "weights": ("weights",),
    "gradients": ("gradients",),
    "optimizer": ("optimizer",),
    "activations": ("activations", "logits", "transients"),
    "working": ("communication", "step"),
    "allocator": ("fragmentation", "reserve"),
}


def memory_parts(memory: MemoryView, lang: str) -> list[RenderableType]:
    """Memory of the heaviest rank: sentence, bar against what is usable, terms."""
    from tierspan.faces.cli.render.table import drawn

    parts = memory_texts(memory, lang)
    if not math.isfinite(memory.total_bytes):
        return [lines(*parts, head=title("predict.memory", lang))]
    # Above the usable memory the bar shows parts of what is needed.
    whole_bytes = max(memory.usable_bytes if math.isfinite(memory.usable_bytes) else 0.0, memory.total_bytes)
    shares = [(named("memory_part", name, lang), sum(memory.terms.get(t, 0.0) for t in terms) / whole_bytes) for name, terms in MEMORY_PARTS.items()]
    limit = (said("predict.memory.usable", lang, size=gigabytes(memory.usable_bytes)), memory.usable_bytes / whole_bytes)
    return [
        lines(*parts, head=title("predict.memory", lang)),
        stacked_bar(shares, limit=limit if math.isfinite(limit[1]) else None),
        fitted(drawn(memory_sheet(memory, lang))),
    ]


def memory_texts(memory: MemoryView, lang: str) -> list[str]:
    """Whether it fits, what is live of it, and what the host holds."""
    told = [memory_sentence(memory, lang)]
    if math.isfinite(memory.allocated_bytes):
        told.append(said("predict.memory.allocated", lang, allocated=gigabytes(memory.allocated_bytes), reserved=gigabytes(memory.total_bytes)))
    if memory.host is not None:
        told.append(host_sentence(memory.host, lang))
    return told


def memory_sheet(memory: MemoryView, lang: str) -> Sheet:
    """Memory of the heaviest rank by term, the largest first; what is under 50 MB is left out."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    rows = tuple(
        (named("memory", name, lang), gigabytes(size), percent(size / memory.total_bytes))
        for name, size in sorted(memory.terms.items(), key=lambda item: -item[1])
        if size >= 5e7
    )
    columns = (Column(said("predict.memory.part", lang)), number(said("predict.memory.size", lang), "GB"), number(said("predict.share", lang), "%"))
    return Sheet(columns, rows)


def host_sentence(host: HostMemory, lang: str) -> str:
    """How much host memory a node needs for what is offloaded, against what the system has, or that nobody knows that."""
    values = {"rank": gigabytes(host.bytes_per_rank), "node": gigabytes(host.bytes_per_node)}
    if host.available_bytes_per_node is None:
        return said("predict.memory.host_unknown", lang, **values)
    enough = host.bytes_per_node <= host.available_bytes_per_node
    found = gigabytes(host.available_bytes_per_node)
    return said("predict.memory.host" if enough else "predict.memory.host_exceeds", lang, available=found, **values)


def memory_sentence(memory: MemoryView, lang: str) -> str:
    """How much is needed, how much there is, the margin and the risk."""
    if not math.isfinite(memory.total_bytes):
        return said("predict.memory.unknown", lang)
    margin = memory.margin_bytes
    values = {
        "need": gigabytes(memory.total_bytes),
        "usable": gigabytes(memory.usable_bytes),
        "margin": gigabytes(abs(margin)),
        "share": percent(abs(margin) / memory.usable_bytes if memory.usable_bytes > 0 else math.nan, 0),
        "stage": named("stage", memory.heaviest_stage, lang),
        "risk": percent(memory.oom_probability, 0),
    }
    return said("predict.memory.fits" if memory.fits else "predict.memory.exceeds", lang, **values)


def neighbours_parts(neighbours: Sequence[Neighbour], lang: str) -> list[RenderableType]:
    """Public measurements near this job, and how far the model was off on each."""
    from tierspan.faces.cli.render.table import drawn

    if not neighbours:
        return []
    return [fitted(drawn(neighbours_sheet(neighbours, lang))), lines(said("predict.neighbours.about", lang))]


def neighbours_sheet(neighbours: Sequence[Neighbour], lang: str) -> Sheet:
    """Public measurements near this job, and how far the model was off on each."""
    from tierspan.faces.cli.render.table import Column, Sheet, number

    rows = tuple(
        (
            n.source,
            n.model,
            n.accelerator,
            whole(n.accelerators),
            n.plan,
            number_of(n.measured_s),
            f"{100 * n.error:+.0f}" if math.isfinite(n.error) else UNKNOWN,
        )
        for n in neighbours
    )
    head = [said(f"predict.neighbours.{name}", lang) for name in ("source", "model", "accelerator", "count", "plan", "measured", "error")]
    columns = (*(Column(text) for text in head[:3]), number(head[3]), Column(head[4]), number(head[5], "s"), number(head[6], "%"))
    return Sheet(columns, rows, said("predict.neighbours", lang))


def assumptions_parts(taken: Sequence[Assumption], lang: str, *, head: Text | None = None) -> list[RenderableType]:
    """What nobody said, the values with one reason together."""
    if not taken:
        return []
    return [lines(*assumption_texts(taken, lang), head=head if head is not None else title("cli.assumptions", lang))]


def assumption_texts(taken: Sequence[Assumption], lang: str) -> list[str]:
    """What nobody said, one sentence a reason."""
    by_reason: dict[str, list[str]] = {}
    for a in taken:
        reason = fill(a.reason_id, lang, {**a.values, "value": a.value})
        by_reason.setdefault(reason, []).append(f"{a.field} = {_value(a.value, lang)}")
    colon = said("render.colon", lang)
    comma = said("list.comma", lang)
    return [f"{comma.join(fields)}{colon}{reason}" for reason, fields in by_reason.items()]


def _value(value: object, lang: str) -> str:
    if isinstance(value, bool):
        return said("value.on" if value else "value.off", lang)
    return number_of(value, 4) if isinstance(value, float) else str(value)


def sources_parts(sources: Sequence[str], profile_version: str, lang: str) -> list[RenderableType]:
    """Where the figures come from, each source once, and the version of the constants."""
    told = list(dict.fromkeys(sources))
    if profile_version:
        told.append(said("predict.profile", lang, version=profile_version))
    return [lines(*told, head=title("cli.sources", lang))] if told else []

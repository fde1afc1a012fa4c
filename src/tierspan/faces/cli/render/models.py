"""The sheet of a model: parameters, shape, cache, and what the figures leave out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.keyvalue import pairs
from tierspan.faces.cli.render.table import Column, Sheet, drawn, number, table
from tierspan.quantities.messages import fill
from tierspan.quantities.printing import format_bytes, format_count, format_number

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.model import ModelAnswer


def model(answer: ModelAnswer, lang: str) -> list[RenderableType]:
    """A model for people."""
    from rich.text import Text

    spec = answer.spec
    rows = [
        (_t("id", lang), answer.id),
        (_t("parameters_total", lang), _exact(answer.parameters_total, lang)),
        (_t("parameters_active", lang), _exact(answer.parameters_active, lang)),
        (_t("kv", lang), format_bytes(answer.kv_bytes_per_token)),
        (_t("layers", lang), f"{spec.layers}"),
        (_t("width", lang), f"{spec.hidden:,}"),
        (_t("heads", lang), f"{spec.heads} / {spec.kv_heads}"),
        (_t("vocabulary", lang), f"{spec.vocab:,}"),
    ]
    if spec.experts:
        rows.append(
            (_t("experts", lang), fill("cli.catalog.experts_chosen", lang, {"experts": spec.experts, "topk": spec.topk, "layers": spec.moe_layers}))
        )
    parts = [(name.replace("_", " "), f"{count:,}") for name, count in asdict(answer.parts).items() if name not in ("total", "active") and count]
    shown: list[RenderableType] = [pairs(rows, title=spec.name), table([Column(_t("part", lang)), number(_t("parameters", lang))], parts)]
    shown += [drawn(flops_sheet(answer, lang)), Text(fill("flops.about", lang, {}))]
    if answer.notes:
        shown.append(Text("\n".join(fill(note.id, lang, note.values) for note in answer.notes)))
    if spec.source:
        shown.append(pairs([(fill("cli.facts.source", lang, {}), spec.source)]))
    return shown


def flops_sheet(answer: ModelAnswer, lang: str) -> Sheet:
    """FLOP a token, forward, by part: of a layer of each kind and of the whole model."""
    flops = answer.flops
    layers = [(name, parts) for name, parts in (("dense_layer", flops.dense_layer), ("moe_layer", flops.moe_layer)) if parts is not None]
    rows = []
    for part, size in (*asdict(flops.model).items(), ("total", flops.model.total)):
        if size == 0.0:
            continue
        # the output layer is no part of a layer
        cells = ["" if part == "output_layer" else _millions(getattr(parts, part)) for _, parts in layers]
        rows.append((fill(f"flops.{part}", lang, {}), *cells, _millions(size), f"{100 * size / flops.model.total:.1f}"))
    heads = [number(fill(f"flops.{name}", lang, {}), "MFLOP") for name, _ in layers]
    whole = number(fill("flops.model", lang, {"layers": answer.spec.layers}), "MFLOP")
    columns = (Column(fill("flops.part", lang, {})), *heads, whole, number(fill("predict.share", lang, {}), "%"))
    return Sheet(columns, tuple(rows), fill("flops.title", lang, {"length": f"{flops.sequence_length:,}"}))


def _millions(size: float) -> str:
    return "" if size == 0.0 else format_number(size / 1e6, 4)


def _exact(count: int, lang: str) -> str:
    return f"{format_count(count, lang=lang)} ({count:,})"


def _t(name: str, lang: str) -> str:
    return fill(f"cli.catalog.{name}", lang, {})

"""The sheet of a model: parameters, shape, cache, and what the figures leave out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tierspan.faces.cli.render.keyvalue import pairs
from tierspan.faces.cli.render.table import Column, number, table
from tierspan.quantities.messages import fill
from tierspan.quantities.printing import format_bytes, format_count

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.model import ModelAnswer


def model(answer: ModelAnswer, lang: str) -> list[RenderableType]:
    """A model for people."""
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
    if answer.notes:
        from rich.text import Text

        shown.append(Text("\n".join(fill(note.id, lang, note.values) for note in answer.notes)))
    if spec.source:
        shown.append(pairs([(fill("cli.facts.source", lang, {}), spec.source)]))
    return shown


def _exact(count: int, lang: str) -> str:
    return f"{format_count(count, lang=lang)} ({count:,})"


def _t(name: str, lang: str) -> str:
    return fill(f"cli.catalog.{name}", lang, {})

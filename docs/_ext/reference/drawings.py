"""Drawings of the guides: made by the code that draws the pages of answers, so that a guide shows what a reader will see."""

from __future__ import annotations

import tierspan as ts
from tierspan.faces.figures.machine import groups_drawing, tiers_drawing

WIDTH = 700
LLAMA = {
    "system": "dgx-h100", "accelerators": 1024, "model": "llama-3.1-405b", "sequence_length": 8192, "global_batch": 256,
    "tp": 8, "pp": 8, "vpp": 8, "cp": 2,
}  # fmt: skip


def groups_of_llama(lang: str) -> str:
    """The tiers of 128 DGX H100, and where the groups of Llama 3.1 405B run on them."""
    prediction = ts.predict(**LLAMA)  # type: ignore[arg-type]
    drawn = (tiers_drawing(prediction, lang, WIDTH), groups_drawing(prediction, lang, WIDTH))
    return "\n".join(f'<div class="drawn">{svg}</div>\n' for svg in drawn)

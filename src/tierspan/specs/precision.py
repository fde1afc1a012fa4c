"""Number formats of training, as names and as codes for arrays."""

from __future__ import annotations

from typing import Final

PRECISIONS: Final = ("fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8")
"""Canonical names; the position is the code used in arrays."""

PRECISION_CODE: Final = {name: code for code, name in enumerate(PRECISIONS)}

PEAK_FALLBACK: Final = {"mxfp8": "fp8", "bf16": "fp16", "fp16": "bf16", "nvfp4": "fp4"}
"""Whose peak a precision takes when the sheet names no peak of its own (mxfp8 runs on the FP8 units; nvfp4 is the sheet's FP4)."""

"""Training logs: the time of each iteration as Megatron-LM prints it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tierspan.quantities.errors import InputError, Place

_STEP: Final = re.compile(r"iteration\s+(\d+)\s*/\s*\d+.*?elapsed time per iteration \((ms|s)\):\s*([0-9.]+(?:[eE][-+]?\d+)?)")
_MOST_BYTES: Final = 256 * 2**20


def read_step_times(path: str | Path) -> tuple[tuple[int, float], ...]:
    """Iterations and their times in s (``iteration 10/100 | elapsed time per iteration (ms): 3300.5``), in the order of the log.

    Returns:
        Nothing where the file holds no such line.

    Raises:
        InputError: the file cannot be read.
    """
    name = str(path)
    try:
        if Path(path).stat().st_size > _MOST_BYTES:
            return ()
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise InputError("file.not_found", place=Place(name), path=name) from None
    except (OSError, ValueError) as problem:
        raise InputError("file.unreadable", place=Place(name), path=name, reason=getattr(problem, "strerror", None) or str(problem)) from None
    found = [(int(m[1]), _seconds(m[3], m[2])) for m in _STEP.finditer(text)]
    return tuple((step, seconds) for step, seconds in found if seconds > 0)


def _seconds(number: str, unit: str) -> float:
    try:
        return float(number) * (1e-3 if unit == "ms" else 1.0)
    except ValueError:
        return 0.0

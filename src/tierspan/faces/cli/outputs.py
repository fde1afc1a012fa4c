"""Files that a verb is to write, checked before the work begins: nobody waits for minutes to learn that a folder is missing."""

from __future__ import annotations

import os
from pathlib import Path

from tierspan.quantities.errors import InputError, Place


def check_writable(path: str | Path, *inputs: str | Path) -> None:
    """Check that ``path`` can be written, and is none of the files that are read.

    Raises:
        InputError: the folder does not exist, the path is a folder or may not be written, or it names one of ``inputs``.
    """
    out = Path(path)
    place = Place(str(path))
    try:
        if any(out.exists() and out.samefile(source) for source in inputs if Path(source).exists()):
            raise InputError("output.is_input", place=place, path=str(path))
        folder = out.parent
        if not folder.is_dir():
            raise InputError("output.no_folder", place=place, path=str(path), folder=str(folder))
        if out.is_dir():
            raise InputError("output.is_folder", place=place, path=str(path))
        may_write = os.access(out if out.exists() else folder, os.W_OK)
    except (OSError, ValueError) as problem:
        raise InputError("validation.cannot_write", place=place, path=str(path), reason=getattr(problem, "strerror", None) or str(problem)) from None
    if not may_write:
        raise InputError("output.not_allowed", place=place, path=str(path))

"""Workbooks, PDF and HTML are opened in a process of their own, with bounded time and memory.

Their libraries follow what the file says, and a hostile file says things that take hours or gigabytes. No check beforehand finds them all; the
operating system's limits do.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Final

from tierspan.formats.sheets.limits import MAX_CPU_SECONDS, MAX_MEMORY_BYTES, MAX_WALL_SECONDS, mebibytes
from tierspan.quantities.errors import InputError, Place

KINDS: Final = ("xlsx", "pdf", "html")
_CODE: Final = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from tierspan.formats.sheets.contained import serve; "
    "sys.stdout.write(serve(sys.argv[2], sys.argv[3], sys.stdin.buffer.read()))"
)
Payload = Mapping[str, Any]
"""``sections``: ``[{"name", "page", "rows": [[number, spans, [cell, ...]], ...]}, ...]``; ``findings``: ``[[id, severity, values, line, key]]``."""


def contained(kind: str, raw: bytes, name: str) -> Payload:
    """What ``formats.sheets.<kind>.unpack(raw, name)`` returns, from a process of its own.

    Raises:
        InputError: as ``unpack``, or too much time or memory was needed.
    """
    command = [sys.executable or "", "-I", "-X", "utf8", "-W", "ignore", "-c", _CODE, json.dumps(sys.path), kind, name]
    environment = {**os.environ, "OPENPYXL_LXML": "False"}
    try:
        done = subprocess.run(command, input=raw, capture_output=True, timeout=MAX_WALL_SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired:
        raise _too_heavy(name) from None
    except (OSError, ValueError):
        # Where no process can be started (a browser, a frozen program).
        return _work(kind, raw, name)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        if done.returncode < 0 or b"MemoryError" in done.stderr:
            raise _too_heavy(name) from None
        raise InputError("sheet.damaged", place=Place(name), format=kind.upper(), reason="?") from None
    if "error" in answer:
        raise InputError(answer["error"], place=Place(name, answer["line"], key=answer["key"]), **answer["values"])
    return dict(answer)


def serve(kind: str, name: str, raw: bytes) -> str:
    """What the other process answers, as JSON; it limits itself first."""
    _limit_self()
    # openpyxl loads NumPy where it finds it, for nothing that is needed here.
    sys.modules["numpy"] = None  # type: ignore[assignment]
    try:
        answer: Payload = _work(kind, raw, name)
    except InputError as error:
        answer = {"error": error.message_id, "line": error.place.line, "key": error.place.key, "values": error.values}
    except (MemoryError, RecursionError):
        heavy = _too_heavy(name)
        answer = {"error": heavy.message_id, "line": None, "key": "", "values": heavy.values}
    return json.dumps(answer)


def _work(kind: str, raw: bytes, name: str) -> Payload:
    module = importlib.import_module(f"tierspan.formats.sheets.{kind}")
    found: Payload = module.unpack(raw, name)
    return found


def _limit_self() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        for what, most in ((resource.RLIMIT_AS, MAX_MEMORY_BYTES), (resource.RLIMIT_CPU, MAX_CPU_SECONDS)):
            _, hard = resource.getrlimit(what)
            limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(what, (limit, hard))


def _too_heavy(name: str) -> InputError:
    return InputError("sheet.too_heavy", place=Place(name), seconds=MAX_CPU_SECONDS, memory=mebibytes(MAX_MEMORY_BYTES))

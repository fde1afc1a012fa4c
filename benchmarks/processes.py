"""CPU and wall time of whole processes: what a user waits for."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.spec import Measurement, NotAvailableError
from tierspan.faces.cli import registry

ROOT = Path(__file__).parent.parent


def times_of(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds (user and system) and wall seconds of a process.

    Raises:
        RuntimeError: it failed; the text is the first line of what it said.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def best_of(arguments: Sequence[str], repeats: int) -> Measurement:
    """Least CPU time of ``tierspan ARGUMENTS`` over the repeats, and the least wall time beside it.

    Raises:
        NotAvailableError: this tierspan has no such verb.
        RuntimeError: the command failed.
    """
    if not arguments[0].startswith("-") and arguments[0] not in registry.available():
        raise NotAvailableError(f"the verb {arguments[0]} is not there")
    runs = [times_of([sys.executable, "-m", "tierspan", *arguments]) for _ in range(repeats)]
    cpu, wall = min(c for c, _ in runs), min(w for _, w in runs)
    return Measurement(cpu * 1e3, "CPU ms", f"wall {wall * 1e3:.0f} ms, best of {repeats}")


def help_start(repeats: int, _severity: int) -> Measurement:
    """``tierspan --help``."""
    return best_of(["--help"], repeats)


def bare_interpreter(repeats: int, _severity: int) -> Measurement:
    """The interpreter alone: the floor under every other start."""
    runs = [times_of([sys.executable, "-c", "pass"]) for _ in range(repeats)]
    return Measurement(min(c for c, _ in runs) * 1e3, "CPU ms", f"wall {min(w for _, w in runs) * 1e3:.0f} ms, best of {repeats}")


def package_import(repeats: int, _severity: int) -> Measurement:
    """``import tierspan`` in a fresh interpreter."""
    runs = [times_of([sys.executable, "-c", "import tierspan"]) for _ in range(repeats)]
    return Measurement(min(c for c, _ in runs) * 1e3, "CPU ms", f"wall {min(w for _, w in runs) * 1e3:.0f} ms, best of {repeats}")


def predict_dense(accelerators: int, _severity: int) -> Measurement:
    """One dense prediction, whole process, by number of accelerators."""
    layout = ["--tp", "8", "--pp", "1"] if accelerators < 128 else ["--tp", "8", "--pp", "8", "--vpp", "2"]
    batch = str(max(accelerators, 64))
    job = ["--model", "llama-3.1-70b", "--seq-len", "8192", "--global-batch", batch]
    return best_of(["predict", "--system", "dgx-h100", "-n", str(accelerators), *job, *layout, "--json"], 3)


def predict_supernode(accelerators: int, _severity: int) -> Measurement:
    """One mixture-of-experts prediction on CloudMatrix384 supernodes: 165,888 accelerators are 432 of them."""
    job = ["--model", "deepseek-v3", "--seq-len", "4096", "--global-batch", str(4 * accelerators)]
    layout = ["--ep", str(min(accelerators, 256))]
    return best_of(["predict", "--system", "cloudmatrix384", "-n", str(accelerators), *job, *layout, "--json"], 3)

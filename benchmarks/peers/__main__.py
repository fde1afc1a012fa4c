"""``python -m benchmarks.peers``: run other predictors on the scored rows of a training file and write ``validation/peers.csv``."""

from __future__ import annotations

import argparse
import csv
import importlib
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.peers.cases import NotExpressibleError, OutOfMemoryError, PeerCase, scored_cases

PEERS = ("llm_analysis", "calculon", "simumax")
HEADER = ("id", "peer", "version", "predicted_step_s", "status", "reason")


def main(arguments: list[str]) -> int:
    """Run the peers whose checkouts are named; 1 where one cannot be started."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--rows", default="validation/training.csv", help="the training file")
    parser.add_argument("--out", default="validation/peers.csv", help="where to write")
    for peer in PEERS:
        parser.add_argument(f"--{peer.replace('_', '-')}", metavar="CHECKOUT", help="a git checkout of this peer")
        parser.add_argument(f"--{peer.replace('_', '-')}-every", metavar="N", type=int, default=1, help="run it on each N-th row only (it is slow)")
    given = parser.parse_args(arguments)
    every_case = scored_cases(given.rows)
    lines: list[tuple[str, ...]] = []
    failed = False
    for peer in PEERS:
        checkout = getattr(given, peer)
        if checkout is None:
            continue
        module = importlib.import_module(f"benchmarks.peers.{peer}")
        try:
            tool = module.Peer(Path(checkout).resolve())
        except Exception as problem:
            print(f"{module.NAME}: cannot be started: {type(problem).__name__}: {problem}", file=sys.stderr)
            failed = True
            continue
        cases = every_case[:: getattr(given, f"{peer}_every")]
        started = time.process_time()
        found = [line(tool, case, module.NAME, version(checkout)) for case in cases]
        done = sum(entry[4].startswith("predicted") for entry in found)
        print(f"{module.NAME}: {done} of {len(cases)} rows predicted, {time.process_time() - started:.0f} s of CPU time", file=sys.stderr)
        lines += found
    with Path(given.out).open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(lines)
    return int(failed)


def line(tool: object, case: PeerCase, name: str, commit: str) -> tuple[str, ...]:
    """One line of the table."""
    try:
        return case.id, name, commit, f"{tool.predict(case):.6g}", "predicted", ""  # type: ignore[attr-defined]
    except NotExpressibleError as reason:
        return case.id, name, commit, "", "not expressible", str(reason)
    except OutOfMemoryError as reason:
        return case.id, name, commit, f"{reason.step_s:.6g}", "predicted, refused", str(reason)


def version(checkout: str) -> str:
    """The commit of a checkout."""
    done = subprocess.run(["git", "-C", checkout, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

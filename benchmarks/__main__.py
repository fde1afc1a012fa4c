"""``python -m benchmarks [--smoke] [NAME ...]``: run benchmarks and print a table."""

from __future__ import annotations

import argparse
import sys

from benchmarks.registry import SPECS
from benchmarks.spec import BenchSpec, NotAvailableError

HEAD = ("benchmark", "size", "severity", "value", "unit", "detail")


def main(arguments: list[str]) -> int:
    """Run the named benchmarks (all by default); 2 for an unknown name, 1 where one failed. One that cannot run here is told, and is no failure."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Benchmarks of tierspan. Timing is information, never a gate.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(spec.name for spec in SPECS)}")
    parser.add_argument("--smoke", action="store_true", help="each benchmark once, at its smallest size")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - {spec.name for spec in SPECS}
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}")
    write(HEAD)
    failed = False
    for spec in SPECS:
        if not given.names or spec.name in given.names:
            for size, severity in [spec.smoke] if given.smoke else points(spec):
                cells = measured(spec, size, severity)
                failed = failed or cells[-1].startswith("failed: ")
                write(cells)
    return int(failed)


def points(spec: BenchSpec) -> list[tuple[int, int]]:
    """Sizes of the first severity, then the largest size of the others."""
    return [(size, spec.severities[0]) for size in spec.sizes] + [(spec.sizes[-1], severity) for severity in spec.severities[1:]]


def measured(spec: BenchSpec, size: int, severity: int) -> tuple[str, ...]:
    try:
        got = spec.run(size, severity)
    except NotAvailableError as reason:
        return spec.name, f"{size:,}", str(severity), "-", "", f"skipped: {reason}"
    except Exception as fault:
        return spec.name, f"{size:,}", str(severity), "-", "", f"failed: {type(fault).__name__}: {fault}"
    return spec.name, f"{size:,}", str(severity), f"{got.value:,.4g}" if got.value < 1000 else f"{got.value:,.0f}", got.unit, got.detail


def write(cells: tuple[str, ...]) -> None:
    name, size, severity, value, unit, detail = cells
    print(f"{name:18} {size:>9} {severity:>8} {value:>12} {unit:8} {detail}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

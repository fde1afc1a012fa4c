"""How many collectives one core evaluates in a second, in one call."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.spec import Measurement, NotAvailableError

LEAST_SECONDS = 0.5
MEBIBYTE = 2**20


def evaluations(rows: int, severity: int) -> Measurement:
    """Collectives in a CPU second, in batches of ``rows``; severity 0 is all_reduce on one system, 100 mixes operations, systems and spans."""
    evaluate = collectives(rows, severity)
    evaluate()  # the first call pays for imports and page faults
    rounds, start = 0, time.process_time()
    while time.process_time() - start < LEAST_SECONDS:
        evaluate()
        rounds += 1
    spent = time.process_time() - start
    return Measurement(rows * rounds / spent, "1/CPU s", f"{rounds} batches of {rows:,}, {spent / rounds * 1e3:.2f} CPU ms each")


def collectives(rows: int, severity: int) -> Callable[[], object]:
    """A function that prices ``rows`` different collectives, every algorithm and protocol of the library's choice for each.

    Raises:
        NotAvailableError: the laws are not there yet.
    """
    try:
        from tierspan.estimates.communication import CollectiveCase
        from tierspan.estimates.communication.estimate import batch_of, evaluate
        from tierspan.specs.catalog import cluster
    except ImportError as missing:
        raise NotAvailableError(f"not built yet: {missing}") from missing

    systems = ("hgx-h100", "hgx-a100", "mi300x-node8", "gb200-nvl72") if severity else ("hgx-h100",)
    operations = ("all_reduce", "all_gather", "all_to_all", "broadcast") if severity else ("all_reduce",)
    machines = {name: cluster(name, 1024) for name in systems}
    cases = []
    for i in range(rows):
        machine = machines[systems[i % len(systems)]]
        operation = operations[(i // len(systems)) % len(operations)]
        cases.append(CollectiveCase(operation, 8.0 * (1 + i % MEBIBYTE), machine, (8, 16, 64, 512)[(i // 16) % 4], machine.node_size))
    batch = batch_of(cases)
    return lambda: evaluate(batch)

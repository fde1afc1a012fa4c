"""How many strategies one core evaluates in a second with the closed form."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields

from benchmarks.spec import Measurement, NotAvailableError

LEAST_SECONDS = 0.5


def evaluations(rows: int, severity: int) -> Measurement:
    """Evaluations in a CPU second, in batches of ``rows``; severity 0 is a dense model, 100 a mixture of experts with latent attention."""
    estimate = closed_form(rows, severity)
    estimate()  # the first call pays for imports and page faults
    rounds, start = 0, time.process_time()
    while time.process_time() - start < LEAST_SECONDS:
        estimate()
        rounds += 1
    spent = time.process_time() - start
    return Measurement(rows * rounds / spent, "1/CPU s", f"{rounds} batches of {rows:,}, {spent / rounds * 1e3:.2f} CPU ms each")


def closed_form(rows: int, severity: int) -> Callable[[], object]:
    """The closed form over ``rows`` different strategies of one job: a function that evaluates all of them once.

    Raises:
        NotAvailableError: the floor of estimates is not there yet.
    """
    try:
        import numpy as np

        from tierspan.estimates.cases import Case, arrays_of
        from tierspan.estimates.step import Cases, estimate_step
        from tierspan.specs.arrays import StrategyBatch
        from tierspan.specs.catalog import cluster
        from tierspan.specs.models import model
        from tierspan.specs.profile.profile import shipped_profile
        from tierspan.specs.stacks.stack import stack
        from tierspan.specs.strategy import Job, Strategy
    except ImportError as missing:
        raise NotAvailableError(f"not built yet: {missing}") from missing

    expert = severity > 0
    system, name = ("gb200-nvl72", "deepseek-v3") if expert else ("dgx-h100", "llama-3.1-405b")
    plans = [
        Strategy(tp=tp, pp=pp, cp=cp, ep=8 if expert else 1, vpp=vpp, micro_batch=micro, zero=zero)
        for tp in (1, 2, 4, 8)
        for pp in (1, 2, 4, 8)
        for cp in (1, 2)
        for vpp in (1, 2)
        for micro in (1, 2)
        for zero in (1, 3)
    ]
    machine, job = cluster(system, 1024), Job(8192, 1024)
    one = arrays_of([Case(model(name), machine, job, plan, stack("megatron-core")) for plan in plans], shipped_profile())
    index = np.arange(rows) % len(plans)
    strategies = StrategyBatch(**{f.name: getattr(one.strategies, f.name)[index] for f in fields(StrategyBatch)})
    first = np.zeros(1, dtype=np.int64)
    cases = Cases(one.models.take(first), one.clusters.take(first), strategies, one.stacks.take(first), one.constants.take(first))
    return lambda: estimate_step(cases)

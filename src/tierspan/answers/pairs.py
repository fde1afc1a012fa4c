"""Which tier joins two ranks: the innermost one that has both in one domain."""

from __future__ import annotations

from collections.abc import Sequence

from tierspan.answers.question import Question
from tierspan.answers.results import PairView, TierView
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.arrays import strides

PLACE = Place(key="--pair")


def pair_between(question: Question, tiers: Sequence[TierView], first: int, second: int) -> PairView:
    """The tier between two ranks of the plan, as the prediction used it, and the parallel groups that hold both.

    Args:
        question: cluster and plan; rank r stands in domain ``r // domain size`` of every tier (ranks fill domains in order).
        tiers: the tiers of the cluster, innermost first, as predicted.
        first: a rank, from 0.
        second: another rank.

    Raises:
        InputError: no such rank, or the same one twice.
    """
    count = question.cluster.accelerators
    for rank in (first, second):
        if not 0 <= rank < count:
            raise InputError("pair.no_rank", place=PLACE, rank=rank, accelerators=count, last=count - 1)
    if first == second:
        raise InputError("pair.same", place=PLACE, rank=first)
    sizes = [tier.domain_size or count for tier in question.cluster.tiers]
    at = next((t for t, size in enumerate(sizes[:-1]) if first // size == second // size), len(sizes) - 1)
    tier, view = question.cluster.tiers[at], tiers[at]
    return PairView(
        first=first,
        second=second,
        tier=tier.name,
        kind=tier.kind,
        domains={t.name: (first // size, second // size) for t, size in zip(question.cluster.tiers, sizes, strict=True) if size < count},
        bandwidth_Bps=view.bandwidth_Bps,
        achievable_Bps=view.achievable_Bps,
        latency_s=view.latency_s,
        pair_bandwidth_Bps=tier.pair_bandwidth_Bps,
        groups=shared_groups(question, first, second),
    )


def shared_groups(question: Question, first: int, second: int) -> tuple[str, ...]:
    """Kinds of parallelism whose group holds both ranks; none where the plan does not divide the ranks.

    ``dp`` is the group that reduces gradients, context-parallel ranks included; a pipeline group holds the same place of every stage.
    """
    s, n = question.strategy, question.cluster.accelerators
    each = s.tp * s.pp * s.cp
    if n % each:
        return ()
    dp = n // each
    step = strides(s, float(dp))
    sizes = {"tp": s.tp, "cp": s.cp, "dp": dp, "pp": s.pp}
    places = [{name: rank // int(step[name]) % size for name, size in sizes.items()} for rank in (first, second)]
    apart = {name for name in sizes if places[0][name] != places[1][name]}
    held = {"tp": apart <= {"tp"}, "cp": apart <= {"cp"}, "ep": False, "pp": apart <= {"pp"}, "dp": apart <= {"dp", "cp"}}
    if s.ep > 1:
        stride = int(step["ep"])
        held["ep"] = first % stride == second % stride and first // (stride * s.ep) == second // (stride * s.ep)
    return tuple(name for name, both in held.items() if both)

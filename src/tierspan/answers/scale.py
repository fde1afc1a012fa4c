"""``tierspan scale``: the curve over sizes, and the cause of each loss of throughput per accelerator."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from tierspan.answers.predict import predict_many
from tierspan.answers.question import Question, resized
from tierspan.answers.results import Prediction, ScalePoint, Scaling
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.findings import Finding
from tierspan.specs.catalog import cluster_of
from tierspan.specs.hardware import Cluster, check_reach
from tierspan.specs.profile.profile import Profile

KNEE = 0.05
"""Loss of throughput per accelerator between two neighbouring sizes, per doubling, from which the curve counts as bent."""


def scale(
    question: Question, sizes: Sequence[int], *, weak: bool = False, node_sizes: Sequence[int] | None = None, profile: Profile | None = None
) -> Scaling:
    """Predict the job at several sizes; the first is the reference.

    Args:
        question: the job at the reference size.
        sizes: accelerators, in any order, larger or smaller than the reference.
        weak: the global batch grows with the data parallelism (else it stays: strong scaling).
        node_sizes: cards a node (fewer cards a node): every size with each of them.
        profile: constants; default the shipped ones.

    Raises:
        InputError: no sizes, or the reference size cannot run.
    """
    if not sizes:
        raise InputError("scale.no_sizes")
    per_node = list(node_sizes or [question.cluster.node_size])
    pairs = [(n, per_node[0]) for n in sizes] if len(per_node) == 1 else [(n, h) for h in per_node for n in sizes]
    base_n = sizes[0]
    for n in sizes:
        check_reach(question.cluster.tiers, n, Place(key="sizes"))
    questions = [_resized(question, n, base_n, weak, node) for n, node in pairs]
    predictions = predict_many(questions, profile=profile)
    reference = predictions[0]
    if reference.status == "invalid":
        first = next(f for f in reference.findings if f.severity == "error")
        raise InputError("scale.reference", accelerators=base_n, rule=first.id)
    points = tuple(_point(p, reference) for p in predictions)
    return Scaling("weak" if weak else "strong", base_n, points, _knee(points), tuple(_advice(points, predictions)), predictions)


def _resized(question: Question, n: int, base: int, weak: bool, node_size: int) -> Question:
    group = question.strategy.tp * question.strategy.pp * question.strategy.cp
    batch = question.job.global_batch
    if weak:
        batch = max(round(batch * max(n // group, 1) / max(base // group, 1)), 1)
    return resized(question, _cluster(question.cluster, n, node_size), batch)


def _cluster(cluster: Cluster, n: int, node_size: int) -> Cluster:
    """The cluster with another number of accelerators and, where asked, fewer cards a node.

    The scale-up domain shrinks with the node where the two are one.
    """
    if node_size == cluster.node_size or cluster.system is None:
        tiers = cluster.tiers
        if node_size != cluster.node_size and tiers[0].domain_size == cluster.node_size:
            tiers = (replace(tiers[0], domain_size=node_size), *tiers[1:])
        return replace(cluster, accelerators=n, node_size=node_size, tiers=tiers)
    smaller = cluster_of(cluster.system, n, node_size=node_size, place=Place(key="node_sizes"))
    tiers = (replace(cluster.tiers[0], domain_size=smaller.tiers[0].domain_size), *cluster.tiers[1:])
    return replace(cluster, accelerators=n, node_size=node_size, tiers=tiers)


def _cost(p: Prediction) -> dict[str, float]:
    """Accelerator-seconds a token by cause: terms of compute by name, traffic by kind."""
    per = p.case.accelerators / (p.case.global_batch * p.case.sequence_length)
    out: dict[str, float] = {}
    for t in p.terms:
        out[t.name] = out.get(t.name, 0.0) + t.seconds * per
    return out


def _point(p: Prediction, reference: Prediction) -> ScalePoint:
    mine, theirs = _cost(p), _cost(reference)
    total = sum(mine.values())
    losses = {} if p.status == "invalid" else {k: (mine.get(k, 0.0) - theirs.get(k, 0.0)) / total for k in {**mine, **theirs}}
    losses = {k: v for k, v in sorted(losses.items(), key=lambda kv: -abs(kv[1])) if abs(v) >= 5e-4}
    efficiency = p.tokens_per_s_per_accelerator / reference.tokens_per_s_per_accelerator
    pick = max if efficiency < 1 else min
    return ScalePoint(
        accelerators=p.case.accelerators, node_size=p.case.node_size, dp=p.case.dp, global_batch=p.case.global_batch,
        step_time_s=p.step_time_s, low_s=p.low_s, high_s=p.high_s, tokens_per_s=p.tokens_per_s,
        tokens_per_s_per_accelerator=p.tokens_per_s_per_accelerator, efficiency=efficiency,
        speedup=p.tokens_per_s / reference.tokens_per_s, mfu=p.mfu, losses=losses,
        main_cause=pick(losses, key=lambda k: losses[k]) if losses and p is not reference else "", fits=p.memory.fits, status=p.status,
    )  # fmt: skip


def _knee(points: Sequence[ScalePoint]) -> int | None:
    """The largest size before throughput per accelerator falls by more than ``KNEE`` a doubling."""
    ordered = sorted((p for p in points if p.status != "invalid" and p.node_size == points[0].node_size), key=lambda p: p.accelerators)
    for a, b in itertools.pairwise(ordered):
        doublings = math.log2(b.accelerators / a.accelerators) if b.accelerators > a.accelerators else 0.0
        if doublings and 1.0 - (b.efficiency / a.efficiency) ** (1.0 / doublings) > KNEE:
            return a.accelerators
    return None


def _advice(points: Sequence[ScalePoint], predictions: Sequence[Prediction]) -> list[Finding]:
    """What to change against the main cause of the loss at the largest valid size (the worst, where node sizes differ)."""
    lost = [(p, q) for p, q in zip(points, predictions, strict=True) if p.status != "invalid" and p.efficiency < 0.98 and p.main_cause]
    if not lost:
        return []
    point, prediction = max(lost, key=lambda pq: (pq[0].accelerators, -pq[0].efficiency))
    values = {
        "accelerators": point.accelerators, "points": round(100 * point.losses[point.main_cause], 1),
        "micro_batches": round(prediction.case.micro_batches, 1),
        "pp": prediction.case.strategy.pp, "vpp": prediction.case.strategy.vpp, "tp": prediction.case.strategy.tp, "dp": point.dp,
    }  # fmt: skip
    return [Finding(f"scale.advice.{point.main_cause}", "info", values)]

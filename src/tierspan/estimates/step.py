"""How a training step is composed: the one place that puts laws together, for arrays of cases."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tierspan.estimates.exchange import step_exchange
from tierspan.estimates.layer import Cases, Pieces, layer_passes, logits_passes, network_of, pieces_of, sum_of
from tierspan.laws.flops import model_flops_per_step
from tierspan.laws.pipeline import PipelineTime, pipeline_time
from tierspan.laws.schedules import DUALPIPE, ZB_H1, Passes, dualpipe_bubble_s, model_copies, zero_bubble_s
from tierspan.specs.arrays import Array

__all__ = ["COMMUNICATION", "COMPUTE_TERMS", "Cases", "StepEstimate", "estimate_step", "network_of"]

COMPUTE_TERMS = ("matmul", "attention", "memory_bound", "logits", "recompute", "host")
COMMUNICATION = ("tp", "cp", "ep", "pp", "dp")


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """Seconds of one training step, shape (n,) each.

    ``terms`` add up to ``step_time_s``: compute terms, ``imbalance``, ``bubble``, ``optimizer``, ``constant``, ``jitter`` and the exposed
    part of each kind of traffic. ``traffic`` splits the exposed traffic by (kind, tier index); ``hidden`` is what compute covers, by kind.
    """

    step_time_s: Array
    terms: dict[str, Array]
    traffic: dict[tuple[str, int], Array]
    hidden: dict[str, Array]
    micro_batches: Array
    flops_per_step: Array
    host_bound: Array


def estimate_step(cases: Cases) -> StepEstimate:
    """Time of one step, its terms and its traffic by tier, for every row at once."""
    m, s, k = cases.models, cases.strategies, cases.constants
    pieces = pieces_of(cases)
    micro_batches, layers, traffic = pieces.micro_batches, pieces.layers, pieces.traffic
    forward, backward = pieces.forward, pieces.backward
    run = _pipeline(cases, pieces)

    stages, copies = pieces.stages, model_copies(s.schedule)
    if np.any(copies > 1):
        stages = replace(stages, heaviest=stages.heaviest * copies)
    # traffic hides behind the time that a layer takes, launches included: a layer that the host binds hides no less, and no more, than it lasts
    lasts = pieces.layer / pieces.device
    ends = step_exchange(cases, pieces.network, micro_batches, stages, sum_of(forward) * lasts, sum_of(backward) * lasts)
    scale = micro_batches / s.pp
    per_layer = scale * layers
    terms: dict[str, Array] = {name: per_layer * (forward[name] + backward[name]) for name in forward}
    terms["logits"] = scale * pieces.logits
    terms["recompute"] = per_layer * pieces.again
    terms["host"] = per_layer * (pieces.layer - pieces.device)
    terms["imbalance"] = run.imbalance
    terms["bubble"] = run.bubble
    nodes = np.maximum(cases.clusters.accelerators / cases.clusters.node_size, 1.0)
    slots = micro_batches + s.pp - 1.0
    terms["wait"] = np.where((nodes >= k.wait_nodes) & (s.pp > 1), k.slot_wait_s * (1.0 - 1.0 / s.pp) * slots, 0.0)
    # the copies of a model share the optimizer's work as replicas do
    terms["optimizer"] = ends.optimizer_s / copies
    terms["constant"] = k.step_constant_s * np.ones_like(run.bubble)
    split: dict[tuple[str, int], Array] = {}
    hidden: dict[str, Array] = {}
    for kind, tier, value in traffic.by_tier:
        split[kind, tier] = split.get((kind, tier), 0.0) + per_layer * value
    for kind, tier, value in ends.by_tier:
        split[kind, tier] = split.get((kind, tier), 0.0) + value
    for kind in COMMUNICATION:
        parts = [v for (name, _), v in split.items() if name == kind]
        if parts:
            terms[kind] = sum(parts[1:], parts[0])
    subtotal = sum_of(terms)
    terms["jitter"] = subtotal * k.jitter * np.log2(nodes)
    for part in (traffic.hidden, ends.hidden):
        for kind, value in part.items():
            hidden[kind] = hidden.get(kind, 0.0) + value * (per_layer if part is traffic.hidden else 1.0)
    flops = model_flops_per_step(m, s)
    return StepEstimate(subtotal + terms["jitter"], terms, split, hidden, micro_batches, flops, (pieces.host > pieces.device).astype(np.float64))


def _pipeline(cases: Cases, pieces: Pieces) -> PipelineTime:
    """What the schedule makes of the layers: closed forms of ``laws.pipeline`` and, where one is asked for, of ``laws.schedules``."""
    s, stages, layer, logits = cases.strategies, pieces.stages, pieces.layer, pieces.logits
    full, last = stages.heaviest * layer, stages.last * layer + logits
    heaviest = np.maximum(full, last)
    total = pieces.layers * layer + logits
    if not np.any(s.schedule >= ZB_H1):
        return pipeline_time(pieces.micro_batches, heaviest, total, s.pp, s.vpp)
    # the outer ranks of DualPipe hold the first stage of one copy and the last of the other, half of the micro-batches each
    both = s.schedule == DUALPIPE
    framed = np.isclose(stages.heaviest * s.pp, pieces.layers + 2.0)
    ends = full - np.where(framed, layer, 0.0) + last
    heaviest = np.where(both, np.maximum(full, ends / 2.0), heaviest)
    run = pipeline_time(pieces.micro_batches, heaviest, total, s.pp, s.vpp)
    each, head = layer_passes(cases, pieces), logits_passes(pieces)
    here, headed = np.where(last > full, stages.last, stages.heaviest), np.where(last > full, 1.0, 0.0)
    slow = Passes(*(here * x + headed * y for x, y in zip(each.parts, head.parts, strict=True)))
    rest = Passes(*(pieces.layers * x + y - z for x, y, z in zip(each.parts, head.parts, slow.parts, strict=True)))
    light = last < full
    lighter = Passes(*(np.where(light, stages.last * x + y, 0.0) for x, y in zip(each.parts, head.parts, strict=True)))
    zero = zero_bubble_s(s.schedule, s.pp, pieces.micro_batches, slow, rest, lighter)
    # a pair computes both passes and hides the expert traffic
    covered = sum((value for kind, _, value in pieces.whole_traffic.by_tier if kind == "ep"), np.zeros(1))
    inner = Passes(*(stages.heaviest * x for x in each.parts))
    both_ways = dualpipe_bubble_s(s.pp, inner, stages.heaviest * (layer - (1.0 - pieces.relief) * covered), ends - 2.0 * full)
    bubble = np.where(both, both_ways, zero)
    return replace(run, bubble=np.where((s.schedule >= ZB_H1) & (s.pp > 1), bubble, run.bubble))

"""Schedules that split the backward pass or run both ways, in closed form: what fill and drain add, and what each stage keeps in flight.

F, B and W are the seconds of a forward pass, of the gradient of the input and of the gradient of the weight of one micro-batch on a stage.
Bubbles of p even stages: zero-bubble H1 ``(p - 1)(F + B - W)``, H2 ``(p - 1)(F + B - 2 W)`` (Qi et al. 2023, "Zero Bubble Pipeline
Parallelism", table 2); DualPipe ``(p/2 - 1)(F&B + (B + W) - 3 W)`` with F&B an overlapped pair (DeepSeek-AI 2024, "DeepSeek-V3 Technical
Report", table 2, which writes B for the whole backward pass). With uneven stages ``(p - 1) x`` becomes the sum over all but the heaviest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tierspan.specs.arrays import Array
from tierspan.specs.strategy import SCHEDULE_CODE

GPIPE, ZB_H1, ZB_H2, DUALPIPE = (float(SCHEDULE_CODE[name]) for name in ("gpipe", "zb-h1", "zb-h2", "dualpipe"))


@dataclass(frozen=True, slots=True)
class Passes:
    """Seconds of forward pass, input gradient and weight gradient of one micro-batch, shape (n,)."""

    forward_s: Array
    input_s: Array
    weight_s: Array

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Forward, input gradient, weight gradient."""
        return self.forward_s, self.input_s, self.weight_s


def zero_bubble_s(schedule: Array, pp: Array, micro_batches: Array, heaviest: Passes, rest: Passes, lighter: Passes | None = None) -> Array:
    """Bubble of zero-bubble H1 and H2 in s, shape (n,): what the step lasts beyond the work of the heaviest stage.

    The heaviest stage never waits once its first input is there. It ends with the weight gradients that it held back, h of them (H1 p, H2
    2 p - 1, at most all), while its last input gradient travels up and the first stage adds its last weight gradient:
    ``max(B_rest + W_first - h W, 0)``. H1 waits for the first input as well, ``F_rest``; in H2 that wait overlaps the earlier step, so it counts
    only as part of the maximum. The first stage may bind instead: it waits for the first gradient after h forward passes, then works on. For even
    stages, B and F at least W, this is the source's formula; with fewer than 2 p - 1 micro-batches H2 keeps more of its bubble than the
    source's table says.

    Args:
        schedule: code, H2 where it is that of zb-h2, else H1.
        pp: stages.
        micro_batches: a step and pipeline.
        heaviest: passes of the heaviest stage.
        rest: sums over all other stages.
        lighter: passes of the last stage where it is lighter than the heaviest, else zeros. In H2 the heaviest stage, which stands before
            it then, has work in hand while a micro-batch is there and back; H1 holds too few for that.
    """
    early = [np.where(schedule == ZB_H2, x, 0.0) for x in lighter.parts] if lighter is not None else [0.0 * pp] * 3
    behind = Passes(*early)
    first = Passes(*(x / np.maximum(pp - 1.0, 1.0) for x in rest.parts))
    ahead = np.minimum(np.where(schedule == ZB_H2, 2.0 * pp - 1.0, pp), micro_batches)

    def ending(stage: Passes, forward: Array, back: Array) -> Array:
        last = back + first.weight_s - ahead * stage.weight_s
        return np.where(schedule == ZB_H2, np.maximum(forward + last, 0.0), forward + np.maximum(last, 0.0))

    ends = ending(heaviest, rest.forward_s - behind.forward_s, rest.input_s - behind.input_s)
    # the last stage waits for all before it and has less to do
    others = rest.forward_s + heaviest.forward_s - behind.forward_s, rest.input_s + heaviest.input_s - behind.input_s
    its_own = ending(behind, *others) + micro_batches * (sum_passes(behind) - sum_passes(heaviest))
    ends = np.where(sum_passes(behind) > 0, np.maximum(ends, its_own), ends)
    round_trip = rest.forward_s + heaviest.forward_s + rest.input_s + heaviest.input_s - first.input_s
    begins = round_trip + micro_batches * sum_passes(first) - ahead * first.forward_s - micro_batches * sum_passes(heaviest)
    return np.where(pp > 1, np.maximum(ends, begins), 0.0)


def sum_passes(passes: Passes) -> Array:
    """Forward and whole backward pass in s."""
    return passes.forward_s + passes.input_s + passes.weight_s


def dualpipe_bubble_s(pp: Array, inner: Passes, pair_s: Array, excess_s: Array) -> Array:
    """Bubble of DualPipe in s, shape (n,): what the step lasts beyond the work of the heaviest rank.

    Where the ends of the model are heavier than its middle, the outer ranks hold both and wait the less for it, by ``excess_s`` in each of the
    p - 1 passes of fill and drain; where they are lighter, the turn-round at the ends is shorter, by at most half a micro-batch. Both
    corrections are ours, read off schedules that the timeline engine played (tests hold them against it); the rest is the source's.

    Args:
        pp: stages, even.
        inner: passes of a stage in the middle (no output layer).
        pair_s: a forward and a backward pass of opposite directions on it that overlap.
        excess_s: first and last stage together, less two inner ones: all passes of one micro-batch.
    """
    even = (pp / 2.0 - 1.0) * (pair_s + inner.input_s - 2.0 * inner.weight_s)
    shorter = np.minimum(-excess_s, pair_s / 2.0)
    return np.maximum(even - np.where(excess_s > 0, (pp - 1.0) * excess_s, shorter), 0.0)


def dualpipe_pair_share(pp: Array, micro_batches: Array) -> Array:
    """Share of the micro-batches that pass the mean rank of DualPipe as overlapped pairs, 0 to 1, shape (n,).

    On the rank at depth d of the published order main phase ``2 (m/2 - p + d + 1)`` and turn-round ``p/2 - d - 1`` have ``m - 3 p/2 + d + 1``
    pairs (one less on the innermost ranks); the mean depth is ``(p/2 - 1)/2``.
    """
    pairs = micro_batches - 1.5 * pp + 1.0 + (pp / 2.0 - 1.0) / 2.0 - 2.0 / pp
    return np.clip(pairs / micro_batches, 0.0, 1.0)


def model_copies(schedule: Array) -> Array:
    """Copies of a stage's parameters that a pipeline rank keeps: DualPipe two (one for each direction), else one; shape (n,)."""
    return np.where(schedule == DUALPIPE, 2.0, 1.0)


def peak_in_flight(schedule: Array, pp: Array, vpp: Array, micro_batches: Array, stage: Array) -> Array:
    """Most micro-batches whose activations stage ``stage`` (from 0) keeps, in units of the whole stage; shape (n,).

    1F1B: ``p - stage``. GPipe: all. Interleaved with v chunks: the warm-up of ``2 (p - stage - 1) + (v - 1) p + 1`` chunks, each 1/v of a
    stage: on the first stage ``p (1 + (p - 1) / (p v))`` (Korthikanti et al. 2022, section 4.2.3). Activations are kept until the gradient
    of the weight is there: H1 p, H2 2 p - 1 on every stage (Qi et al. 2023, table 2); DualPipe p + 1 (DeepSeek-AI 2024, table 2). Never more
    than all micro-batches.
    """
    plain = pp - stage
    chunks = (2.0 * (plain - 1.0) + (vpp - 1.0) * pp + 1.0) / vpp
    held = np.where((vpp > 1) & (pp > 1), chunks, plain)
    if np.any(schedule >= ZB_H1):
        held = np.where(schedule == ZB_H1, pp, held)
        held = np.where(schedule == ZB_H2, 2.0 * pp - 1.0, held)
        held = np.where((schedule == DUALPIPE) & (pp > 1), pp + 1.0, held)
    return np.where(schedule == GPIPE, micro_batches, np.minimum(held, micro_batches))

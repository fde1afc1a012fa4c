"""Which strategies can run at all: rules as masks over arrays, each with the values that explain it for a single case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierspan.laws.schedules import DUALPIPE, GPIPE, ZB_H1
from tierspan.quantities.findings import Finding, Severity
from tierspan.specs.arrays import Array, ClusterArrays, ModelArrays, StrategyBatch

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: ``broken`` is a mask of the cases that break it, ``values`` the figures its message shows. Errors make a plan invalid."""

    id: str
    severity: Severity
    broken: Callable[[ModelArrays, StrategyBatch, ClusterArrays], Mask]
    values: Callable[[ModelArrays, StrategyBatch, ClusterArrays], Mapping[str, Array]]


NEEDS_GROUPS = frozenset(
    f"strategy.{name}" for name in ("batch", "expert_group", "shard_group", "interleaved_batches", "few_micro_batches", "dualpipe")
)
"""Rules on the data-parallel size: they say nothing where the accelerators cannot be cut into groups."""


def _divides(part: Array, whole: Array) -> Mask:
    """Whether ``part`` divides ``whole`` (both may be fractions that came from a division: then it does not)."""
    ratio = whole / np.maximum(part, 1e-9)
    return np.asarray(np.abs(ratio - np.round(ratio)) < 1e-9)


def _gated_moe(m: ModelArrays) -> Mask:
    return np.asarray(m.experts > 0)


RULES: tuple[Rule, ...] = (
    Rule(
        "strategy.world_size", "error",
        lambda m, s, c: ~_divides(s.tp * s.pp * s.cp, c.accelerators) | (s.dp < 1),
        lambda m, s, c: {"accelerators": c.accelerators, "tp": s.tp, "pp": s.pp, "cp": s.cp, "group": s.tp * s.pp * s.cp},
    ),
    Rule(
        "strategy.heads", "error",
        lambda m, s, c: ~_divides(s.tp, m.heads),
        lambda m, s, c: {"heads": m.heads, "tp": s.tp},
    ),
    Rule(
        "strategy.kv_heads", "info",
        lambda m, s, c: (m.kv_lora_rank == 0) & (s.tp > m.kv_heads),
        lambda m, s, c: {"kv_heads": m.kv_heads, "tp": s.tp, "copies": s.tp / np.maximum(m.kv_heads, 1.0)},
    ),
    Rule(
        "strategy.ffn", "error",
        lambda m, s, c: (m.ffn > 0) & ~_divides(s.tp, m.ffn),
        lambda m, s, c: {"ffn": m.ffn, "tp": s.tp},
    ),
    Rule(
        "strategy.experts_without_moe", "error",
        lambda m, s, c: (m.experts == 0) & (s.ep > 1),
        lambda m, s, c: {"ep": s.ep},
    ),
    Rule(
        "strategy.experts", "error",
        lambda m, s, c: _gated_moe(m) & ~_divides(s.ep, m.experts),
        lambda m, s, c: {"experts": m.experts, "ep": s.ep},
    ),
    Rule(
        "strategy.expert_group", "error",
        lambda m, s, c: _gated_moe(m) & ~_divides(s.ep * s.etp, s.dp * s.cp * s.tp),
        lambda m, s, c: {"ep": s.ep, "etp": s.etp, "ranks": s.dp * s.cp * s.tp, "dp": s.dp, "cp": s.cp, "tp": s.tp},
    ),
    Rule(
        "strategy.more_stages_than_layers", "error",
        lambda m, s, c: s.pp * s.vpp > m.layers + 2,
        lambda m, s, c: {"layers": m.layers, "pp": s.pp, "vpp": s.vpp, "slots": s.pp * s.vpp},
    ),
    Rule(
        "strategy.uneven_stages", "info",
        lambda m, s, c: ~_divides(s.pp * s.vpp, m.layers) & (s.pp * s.vpp <= m.layers + 2),
        lambda m, s, c: {"layers": m.layers, "pp": s.pp, "vpp": s.vpp, "slots": s.pp * s.vpp},
    ),
    Rule(
        "strategy.vpp_without_pp", "error",
        lambda m, s, c: (s.vpp > 1) & (s.pp == 1),
        lambda m, s, c: {"vpp": s.vpp},
    ),
    Rule(
        "strategy.batch", "error",
        lambda m, s, c: (s.global_batch < s.dp * s.micro_batch) | ~_divides(s.micro_batch * s.dp, s.global_batch),
        lambda m, s, c: {"global_batch": s.global_batch, "dp": s.dp, "micro_batch": s.micro_batch, "product": s.dp * s.micro_batch},
    ),
    Rule(
        "strategy.interleaved_batches", "error",
        lambda m, s, c: (s.vpp > 1) & (s.pp > 1) & (s.micro_batches < s.pp),
        lambda m, s, c: {"micro_batches": s.micro_batches, "pp": s.pp},
    ),
    Rule(
        "strategy.schedule_chunks", "error",
        lambda m, s, c: (s.vpp > 1) & (s.schedule >= GPIPE),
        lambda m, s, c: {"vpp": s.vpp},
    ),
    Rule(
        "strategy.dualpipe", "error",
        lambda m, s, c: (s.schedule == DUALPIPE) & (~_divides(np.array(2.0), s.pp) | ~_divides(np.array(2.0), s.micro_batches)
                                                    | (s.micro_batches < 2.0 * s.pp)),
        lambda m, s, c: {"pp": s.pp, "micro_batches": s.micro_batches},
    ),
    Rule(
        "strategy.few_micro_batches", "warning",
        lambda m, s, c: (s.pp > 1) & (s.schedule < ZB_H1) & (s.micro_batches < 2.0 * s.pp / s.vpp),
        lambda m, s, c: {"micro_batches": s.micro_batches, "pp": s.pp, "share": (s.pp - 1.0) / s.vpp / s.micro_batches},
    ),
    Rule(
        "strategy.sequence", "error",
        lambda m, s, c: ~_divides(s.cp * np.where(s.sp > 0, s.tp, 1.0), s.sequence_length),
        lambda m, s, c: {"sequence_length": s.sequence_length, "cp": s.cp, "tp": s.tp},
    ),
    Rule(
        "strategy.shard_group", "error",
        lambda m, s, c: ~_divides(s.shard_group, s.dp * s.cp),
        lambda m, s, c: {"shard_group": s.shard_group, "ranks": s.dp * s.cp},
    ),
    Rule(
        "strategy.tp_across_domains", "warning",
        lambda m, s, c: s.tp * s.tp_stride > c.domain_size[0],
        lambda m, s, c: {"tp": s.tp, "domain": c.domain_size[0]},
    ),
    Rule(
        "strategy.ep_across_domains", "info",
        lambda m, s, c: (s.ep > 1) & (s.ep * s.ep_stride > c.domain_size[0]),
        lambda m, s, c: {"ep": s.ep, "domain": c.domain_size[0]},
    ),
    Rule(
        "strategy.zero3_with_pipeline", "warning",
        lambda m, s, c: (s.zero == 3) & (s.pp > 1),
        lambda m, s, c: {"pp": s.pp},
    ),
)  # fmt: skip


def valid(models: ModelArrays, strategies: StrategyBatch, clusters: ClusterArrays) -> Mask:
    """Mask of the strategies that break no rule of severity error, shape (n,)."""
    ok: Mask = np.ones(np.broadcast_shapes(strategies.tp.shape, models.layers.shape, clusters.accelerators.shape), dtype=bool)
    for rule in RULES:
        if rule.severity == "error":
            ok = ok & ~rule.broken(models, strategies, clusters)
    return ok


def explain(models: ModelArrays, strategies: StrategyBatch, clusters: ClusterArrays) -> tuple[Finding, ...]:
    """The rules that a single case breaks, with the figures that show it."""
    found: list[Finding] = []
    for rule in RULES:
        if rule.id in NEEDS_GROUPS and any(f.id == "strategy.world_size" for f in found):
            continue  # without whole groups its figures would be fractions
        if bool(np.ravel(rule.broken(models, strategies, clusters))[0]):
            values = {k: _plain(np.ravel(v)[0]) for k, v in rule.values(models, strategies, clusters).items()}
            found.append(Finding(rule.id, rule.severity, values))
    return tuple(found)


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else round(float(value), 3)

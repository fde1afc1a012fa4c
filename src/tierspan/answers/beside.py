"""Two systems on the same job: per step, per accelerator and per watt, and why they differ; sums of peak FLOP/s decide nothing."""

from __future__ import annotations

from tierspan.answers.results import Comparison, Difference, Prediction


def compare_systems(a: Prediction, b: Prediction) -> Comparison:
    """Compare two predictions of the same job (``a`` against ``b``): speed-ups are above 1 where ``a`` is faster."""
    names = {t.name for t in (*a.terms, *b.terms)}
    differences = []
    for name in names:
        of_a, of_b = _sum(a, name), _sum(b, name)
        if abs(of_b - of_a) > 1e-3 * max(a.step_time_s, b.step_time_s):
            differences.append(Difference(name, _tier(a, name), _tier(b, name), of_b - of_a))
    differences.sort(key=lambda d: -abs(d.seconds))
    return Comparison(
        a=a,
        b=b,
        speedup_per_step=b.step_time_s / a.step_time_s,
        speedup_per_accelerator=a.tokens_per_s_per_accelerator / b.tokens_per_s_per_accelerator,
        tokens_per_joule_a=None if a.power_W is None else a.tokens_per_s / a.power_W,
        tokens_per_joule_b=None if b.power_W is None else b.tokens_per_s / b.power_W,
        peak_flops_ratio=_peak(a) / _peak(b),
        differences=tuple(differences),
    )


def _sum(p: Prediction, name: str) -> float:
    return sum(t.seconds for t in p.terms if t.name == name)


def _tier(p: Prediction, name: str) -> str:
    """The tier that carries most of a term."""
    own = [t for t in p.terms if t.name == name]
    return max(own, key=lambda t: t.seconds).tier if own else ""


def _peak(p: Prediction) -> float:
    """Peak FLOP/s of all accelerators together."""
    return p.model_flops_per_step / p.step_time_s / p.mfu

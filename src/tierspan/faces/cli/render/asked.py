"""What a prediction tells beside the step: the bytes that ranks send, and what was asked for (training on so many tokens, the tier of two ranks)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tierspan.faces.cli.render.parts import count, lines, named, number_of, percent, said, seconds, title, whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierspan.answers.results import PairView, Prediction, Traffic, TrainingView

_SIZES: Final = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def asked_parts(prediction: Prediction, lang: str, *, named: bool = False) -> list[RenderableType]:
    """Training and pairs, where they were asked for; ``named``: under the name of the system (two answers side by side)."""
    told = [*training_texts(prediction, lang), *pairs_texts(prediction, lang)]
    head = title("volumes.of", lang, name=prediction.case.system or prediction.case.accelerator) if named else None
    return [lines(*told, head=head)] if told else []


def training_texts(prediction: Prediction, lang: str) -> list[str]:
    """Days, accelerator-hours and energy to train on the tokens that were named; nothing where none were."""
    t = prediction.training
    if t is None:
        return []
    values = {
        "tokens": count(t.tokens, lang),
        "steps": whole(t.steps),
        "time": seconds(t.time_s, lang),
        "interval": training_interval(t, lang),
        "hours": count(t.accelerator_hours, lang),
        "energy": "" if t.energy_J is None else said("training.energy", lang, value=number_of(t.energy_J / 3.6e9)),
    }
    return [said("training.text", lang, **values)]


def training_interval(training: TrainingView, lang: str) -> str:
    """The 80 % interval in brackets; nothing where there is none."""
    if not math.isfinite(training.low_s):
        return ""
    return said("predict.interval", lang, low=seconds(training.low_s, lang), high=seconds(training.high_s, lang))


def pairs_texts(prediction: Prediction, lang: str) -> list[str]:
    """One paragraph for each pair of ranks that was named."""
    return [_pair(pair, lang) for pair in prediction.pairs]


def _pair(pair: PairView, lang: str) -> str:
    comma = said("list.comma", lang)
    domains = [
        said("pair.together", lang, tier=tier, domain=first) if first == second else said("pair.apart", lang, tier=tier, first=first, second=second)
        for tier, (first, second) in pair.domains.items()
    ]
    groups = comma.join(named("kind", kind, lang) for kind in pair.groups)
    values = {
        "first": whole(pair.first),
        "second": whole(pair.second),
        "tier": pair.tier,
        "kind": named("tier_kind", pair.kind, lang),
        "line": number_of(pair.bandwidth_Bps / 1e9),
        "achievable": number_of(pair.achievable_Bps / 1e9),
        "latency": number_of(pair.latency_s * 1e6),
        "alone": "" if pair.pair_bandwidth_Bps is None else said("pair.alone", lang, value=number_of(pair.pair_bandwidth_Bps / 1e9)),
        "domains": comma.join(domains) or said("pair.one_domain", lang),
        "groups": said("pair.groups", lang, groups=groups) if groups else said("pair.no_group", lang),
    }
    return said("pair.text", lang, **values)


def volume_texts(prediction: Prediction, lang: str) -> list[str]:
    """Bytes of a layer, what the data-parallel traffic comes to, and how rows without a time are meant; nothing where nothing is sent."""
    sent = [t for t in prediction.traffic if t.bytes_per_rank > 0]
    told = []
    comma = said("list.comma", lang)
    layer = [
        said("volumes.part", lang, kind=named("kind", t.kind, lang), size=size_of(t.bytes_per_layer), tier=t.tier) for t in sent if t.bytes_per_layer
    ]
    if layer:
        told.append(said("volumes.layer", lang, parts=comma.join(layer)))
    told += _data_parallel([t for t in sent if t.kind == "dp"], lang)
    if any(untimed(t) for t in sent):
        told.append(said("volumes.untimed", lang))
    return told


def _data_parallel(traffic: list[Traffic], lang: str) -> list[str]:
    if not traffic:
        return []
    hidden, shown = sum(t.hidden_s for t in traffic), sum(t.exposed_s for t in traffic)
    share = hidden / (hidden + shown) if hidden + shown > 0 else 0.0
    values = {"size": number_of(sum(t.bytes_per_rank for t in traffic) / 1e9), "share": percent(share, 0)}
    return [said("volumes.dp_hidden" if share >= 0.005 else "volumes.dp", lang, **values)]


def untimed(traffic: Traffic) -> bool:
    """Whether only bytes run on this tier: the time of the collective stands on another one."""
    return traffic.bytes_per_rank > 0 and traffic.exposed_s == 0.0 and traffic.hidden_s == 0.0


def size_of(size: float) -> str:
    """Bytes with the unit that suits them."""
    scale, unit = next(((s, u) for s, u in _SIZES if size >= s), (1.0, "B"))
    return f"{number_of(size / scale)} {unit}"

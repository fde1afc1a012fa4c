"""The question behind predict, fit and scale: cluster, model, job and plan, completed, with everything that had to be assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack, cast

from tierspan.answers.habits import Notebook, habits, usual_precision, usual_stack
from tierspan.answers.question_cluster import cluster_for
from tierspan.quantities.display import Shown
from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.findings import Assumption
from tierspan.specs.hardware import Cluster
from tierspan.specs.model import ModelSpec
from tierspan.specs.stacks.stack import stack, stacks
from tierspan.specs.strategy import MEGATRON_ORDER, Dispatcher, Job, Schedule, Strategy

if TYPE_CHECKING:
    from tierspan.formats.scenario.scenario import Scenario

PlaceOf = Callable[[str], Place]
GROUPS: Final = ("tp", "pp", "cp", "ep", "vpp")
OFFLOADS: Final = ("optimizer_offload", "activation_offload", "parameter_offload")
"""Schedules whose memory is told, but whose step time is still that of 1F1B."""
_NEEDED: Final = ("sequence_length", "global_batch")


@dataclass(frozen=True, slots=True, repr=False)
class Question(Shown):
    """One training job on one cluster with one plan; ``assumptions`` lists what nobody said."""

    cluster: Cluster
    model: ModelSpec
    job: Job
    strategy: Strategy
    stack: str
    assumptions: tuple[Assumption, ...] = ()


class Given(TypedDict, total=False):
    """What a caller may say; everything else comes from the scenario, the catalogue or the habits of the stack.

    ``system`` is a catalogue id, the path of a YAML or JSON description, or such a mapping; ``accelerator`` names one without its
    system. ``nic`` is the scale-out bandwidth per accelerator as text ("400Gb/s") or in bytes/s per direction. ``model`` is a catalogue
    id, the path of a ``config.json``, such a mapping, or a ``ModelSpec``. ``tokens`` of the whole training may be text ("15T"). The rest
    are the fields of ``Job`` and ``Strategy``; ``dp`` is derived, and only compared where it is given.
    """

    system: str | Path | Mapping[str, Any] | None
    accelerator: str | Mapping[str, Any] | None
    accelerators: int | None
    node_size: int | None
    domain_size: int | None
    nic: str | float | None
    model: str | Path | Mapping[str, Any] | ModelSpec | None
    sequence_length: int | None
    global_batch: int | None
    precision: str | None
    kind: str | None
    lora: bool | None
    tokens: float | str | None
    tp: int | None
    pp: int | None
    vpp: int | None
    cp: int | None
    ep: int | None
    etp: int | None
    dp: int | None
    zero: int | None
    shard_group: int | None
    micro_batch: int | None
    recompute: str | None
    sp: bool | None
    schedule: str | None
    overlap_grad_reduce: bool | None
    overlap_param_gather: bool | None
    overlap_tp: bool | None
    overlap_p2p: bool | None
    optimizer_offload: float | None
    activation_offload: float | None
    parameter_offload: float | None
    expert_imbalance: float | None
    dispatcher: str | None
    rank_order: str | None
    stack: str | None


def build_question(scenario: str | Path | Scenario | None = None, *, place_of: PlaceOf | None = None, **given: Unpack[Given]) -> Question:
    """The question that a scenario and the values ``given`` make; a given value replaces the one of the scenario.

    Args:
        scenario: a scenario file, or one that was read.
        place_of: where a given value was written (by its name), for errors.
        given: see ``Given``.

    Raises:
        InputError: a file or value cannot be used, or something that nobody may guess is missing (system, number of accelerators, model,
            sequence length, global batch).
        UnknownNameError: an accelerator, system, model, stack or setting that nobody knows.
    """
    from tierspan.formats.scenario import read_scenario
    from tierspan.formats.scenario.settings import BY_NAME, checked

    said_at = place_of or (lambda name: Place(key=name))
    told = {name: value for name, value in given.items() if value is not None}
    unknown = next((name for name in told if name not in Given.__annotations__), None)
    if unknown is not None:
        raise UnknownNameError("question.unknown_setting", unknown, Given.__annotations__)
    for name, value in told.items():
        if name in BY_NAME:
            told[name] = checked(BY_NAME[name], value, said_at(name))
    read = read_scenario(scenario) if isinstance(scenario, str | Path) else scenario
    values = {**(read.values if read else {}), **told}
    _refuse_gaps(values, read)
    book = Notebook(values)
    cluster = cluster_for(read, told, said_at, book)
    model = _model(values.get("model"), read, said_at)
    name = _stack(values, read, said_at, cluster, book)
    job = Job(
        sequence_length=cast("int", values["sequence_length"]),
        global_batch=cast("int", values["global_batch"]),
        precision=book.take("precision", usual_precision(cluster.accelerator), "question.precision", accelerator=cluster.accelerator.name),
        lora=bool(values.get("lora", False)),
        tokens=cast("float | None", values.get("tokens")),
    )
    strategy = _strategy(values, job, model, cluster, name, book)
    _refuse_experts(values, strategy, model, read, said_at)
    _compare_dp(values.get("dp"), strategy, cluster, read, said_at)
    return Question(cluster, model, job, strategy, name, tuple(book.assumptions))


def _refuse_gaps(values: Mapping[str, object], read: Scenario | None) -> None:
    cluster = read.cluster if read else {}
    gaps = []
    if not any(part.get(key) for part in (values, cluster) for key in ("system", "accelerator", "tiers")):
        gaps.append("system")
    if values.get("accelerators") is None and cluster.get("accelerators") is None:
        gaps.append("accelerators")
    if values.get("model") is None and not (read and read.model):
        gaps.append("model")
    gaps += [name for name in _NEEDED if values.get(name) is None]
    if gaps:
        from tierspan.formats.scenario.settings import BY_NAME

        flags = " ".join(f"{BY_NAME[gap].flags[0] if gap in BY_NAME else '--' + gap} ..." for gap in gaps)
        keys = ", ".join(BY_NAME[gap].path if gap in BY_NAME else {"system": "cluster.system"}.get(gap, gap) for gap in gaps)
        place = Place(read.document.file) if read else None
        raise InputError("question.incomplete", place=place, missing=", ".join(gaps), flags=flags, keys=keys)


def _model(given: object, read: Scenario | None, said_at: PlaceOf) -> ModelSpec:
    place, folder = said_at("model"), Path()
    if given is None and read is not None:
        given, place, folder = read.model, read.place_of("model"), read.folder
    if isinstance(given, ModelSpec):
        return given
    if isinstance(given, Mapping):
        from tierspan.formats.hf_config import model_from_mapping

        return model_from_mapping(given, place)
    if not isinstance(given, str | Path):
        raise InputError("scenario.type_model", place=place, key="model", value=given)
    path = folder / given
    if isinstance(given, Path) or str(given).endswith(".json") or (path / "config.json").is_file():
        from tierspan.formats.hf_config import read_config

        return read_config(path)
    from tierspan.specs.models import model

    return model(given, place)


def _stack(values: Mapping[str, object], read: Scenario | None, said_at: PlaceOf, cluster: Cluster, book: Notebook) -> str:
    given, place = values.get("stack"), said_at("stack")
    if given is None and read is not None and read.stack is not None:
        given, place = read.stack, read.place_of("stack")
    if given is None:
        name = usual_stack(cluster.accelerator)
        reason = "question.stack_unknown" if name == "unknown" else "question.stack"
        book.note("stack", name, reason, accelerator=cluster.accelerator.name, family=stack(stack(name).family).name, listed=", ".join(stacks()))
    elif not isinstance(given, str):
        raise InputError("scenario.type_text", place=place, key="stack", value=given)
    elif given not in stacks():
        raise UnknownNameError("question.stack_name", given, stacks(), place=place, listed=", ".join(stacks()))
    else:
        name = given
    book.stack_name = stack(name).name
    return name


def _strategy(values: Mapping[str, object], job: Job, model: ModelSpec, cluster: Cluster, name: str, book: Notebook) -> Strategy:
    usual = habits(name)
    one = [group for group in GROUPS if values.get(group) is None and (group != "ep" or model.experts) and (group != "vpp" or values.get("pp"))]
    if one:
        book.note(", ".join(one), 1, "question.groups_of_one")
    tp, pp, cp, ep, vpp = (cast("int", values.get(group) or 1) for group in GROUPS)
    zero = book.take("zero", usual.zero)
    ranks = max(cluster.accelerators // (tp * pp * cp), 1)
    share = max(job.global_batch // ranks, 1) if _takes_whole_share(zero, pp) else 1
    etp = values.get("etp")
    if etp is None and model.experts and tp > 1 and usual.etp is not None:
        etp = book.take("etp", usual.etp)
    imbalance, dispatcher = _experts(model, ep, name, book)
    many = ranks * cp > 1
    schedule = cast("Schedule", values.get("schedule") or ("interleaved" if vpp > 1 else "1f1b"))
    offload = {name: float(cast("float", values.get(name) or 0.0)) for name in OFFLOADS}
    if any(offload.values()):
        book.note("step time", "no offload", "question.offload_untimed")
    return Strategy(
        tp=tp,
        pp=pp,
        cp=cp,
        ep=ep,
        etp=cast("int | None", etp),
        vpp=vpp,
        sp=book.take("sp", usual.sp_from is not None) if tp > 1 else False,
        zero=zero,
        shard_group=cast("int | None", values.get("shard_group")),
        micro_batch=book.take("micro_batch", share, "question.whole_share" if share > 1 else "question.habit"),
        recompute=book.take("recompute", usual.recompute),
        schedule=schedule,
        optimizer_offload=offload["optimizer_offload"],
        activation_offload=offload["activation_offload"],
        parameter_offload=offload["parameter_offload"],
        expert_imbalance=imbalance,
        dispatcher=dispatcher,
        overlap_grad_reduce=_switch(values, "overlap_grad_reduce", usual.overlap_grad_reduce, many, book),
        overlap_param_gather=_switch(values, "overlap_param_gather", usual.overlap_param_gather, many, book),
        overlap_tp=_switch(values, "overlap_tp", usual.overlap_tp, tp > 1, book),
        overlap_p2p=_switch(values, "overlap_p2p", usual.overlap_p2p and vpp > 1, pp > 1, book),
        rank_order=book.take("rank_order", MEGATRON_ORDER, "question.rank_order"),
    )


def _takes_whole_share(zero: int, pp: int) -> bool:
    """A stack that shards everything and has no pipeline gives each rank its whole share of the batch at once."""
    return zero == 3 and pp == 1


def by_whole_share(question: Question) -> bool:
    """Whether the micro-batch is the whole share of a rank by habit, not by what anybody said."""
    strategy = question.strategy
    return _takes_whole_share(strategy.zero, strategy.pp) and any(a.field == "micro_batch" for a in question.assumptions)


def resized(question: Question, cluster: Cluster, global_batch: int | None = None) -> Question:
    """The same job and plan on another number of accelerators, with another global batch where that is given.

    A micro-batch that is the whole share of a rank by habit becomes the share at the new size.
    """
    s, job = question.strategy, replace(question.job, global_batch=global_batch or question.job.global_batch)
    moved = replace(question, cluster=cluster, job=job)
    if not by_whole_share(question):
        return moved
    share = max(job.global_batch // max(cluster.accelerators // (s.tp * s.pp * s.cp), 1), 1)
    reason = "question.whole_share" if share > 1 else "question.habit"
    taken = tuple(replace(a, value=share, reason_id=reason) if a.field == "micro_batch" else a for a in question.assumptions)
    return replace(moved, strategy=replace(s, micro_batch=share), assumptions=taken)


def _experts(model: ModelSpec, ep: int, name: str, book: Notebook) -> tuple[float, Dispatcher | None]:
    """How uneven the experts are loaded and what sends tokens to them; noted where there are experts, and where tokens travel."""
    if not model.experts:
        return 1.0, None
    imbalance = float(book.take("expert_imbalance", 1.0, "question.experts_even"))
    if imbalance > 1.0:
        book.note("memory", "experts evenly loaded", "question.imbalance_memory")
    if ep == 1:
        return imbalance, cast("Dispatcher | None", book.values.get("dispatcher"))
    usual: Dispatcher = "deepep" if stack(name).dispatch_once > 0 else "alltoall"
    return imbalance, book.take("dispatcher", usual, "question.dispatcher")


def _refuse_experts(values: Mapping[str, object], strategy: Strategy, model: ModelSpec, read: Scenario | None, said_at: PlaceOf) -> None:
    """Settings of experts for a model without any, and a load that no routing can make.

    A token goes to different experts: of its choices at most as many as a rank holds arrive there, and at most all of them.
    """

    def place(name: str) -> Place:
        told = read is not None and name in read.values and read.values[name] == values.get(name)
        return read.place_of(f"strategy.{name}") if read is not None and told else said_at(name)

    if not model.experts:
        name = "dispatcher" if values.get("dispatcher") is not None else "expert_imbalance"
        if cast("float", values.get("expert_imbalance") or 1.0) > 1.0 or values.get("dispatcher") is not None:
            raise InputError("question.no_experts", place=place(name), key=f"strategy.{name}", model=model.name)
        return
    most = max(min(float(strategy.ep), model.experts / max(model.topk, 1)), 1.0)
    if strategy.expert_imbalance > most:
        told = {"value": strategy.expert_imbalance, "most": round(most, 3), "ep": strategy.ep, "experts": model.experts, "topk": model.topk}
        raise InputError("question.imbalance", place=place("expert_imbalance"), **told)


def _switch(values: Mapping[str, object], name: str, usual: bool, matters: bool, book: Notebook) -> bool:
    """A given switch, or the habit: noted only where the plan has such traffic."""
    return book.take(name, usual) if matters else bool(values.get(name, usual))


def _compare_dp(given: object, strategy: Strategy, cluster: Cluster, read: Scenario | None, said_at: PlaceOf) -> None:
    """Data parallelism is derived; one that is given must agree."""
    rest = strategy.tp * strategy.pp * strategy.cp
    if given is None or cast("int", given) * rest == cluster.accelerators:
        return
    place = read.place_of("strategy.dp") if read and "dp" in read.values else said_at("dp")
    sizes = {"tp": strategy.tp, "pp": strategy.pp, "cp": strategy.cp, "product": cast("int", given) * rest}
    raise InputError("question.dp", place=place, dp=given, accelerators=cluster.accelerators, **sizes)


def question_on(
    first: Question,
    system: str | Path | Mapping[str, Any],
    /,
    scenario: str | Path | Scenario | None = None,
    *,
    place_of: PlaceOf | None = None,
    **given: Unpack[Given],
) -> Question:
    """The same question on another system: same count, model, job and plan.

    What was said about the first system (node, domain, NIC) does not hold for the other, nor does a stack that does not run on it: where
    the two accelerators usually run different stacks, the usual one of the other is taken and noted.

    Args:
        first: the question that ``scenario`` and ``given`` made.
        system: the other system; see ``Given``.
        scenario: as in ``build_question``.
        place_of: as in ``build_question``.
        given: as in ``build_question``.
    """
    told: dict[str, Any] = {name: value for name, value in given.items() if name not in ("accelerator", "node_size", "domain_size", "nic")}
    told["system"] = system
    found = build_question(scenario, place_of=place_of, **cast("Given", told))
    usual = usual_stack(found.cluster.accelerator)
    if found.stack == usual or usual == usual_stack(first.cluster.accelerator):
        return found
    found = build_question(scenario, place_of=place_of, **cast("Given", told | {"stack": usual}))
    noted = Assumption("stack", usual, "question.stack_other", {"accelerator": found.cluster.accelerator.name, "stack": first.stack})
    return replace(found, assumptions=(noted, *found.assumptions))

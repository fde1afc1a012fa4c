"""A measured row as a plan: fields that are empty are assumed by the habits of the stack, and every assumption is listed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from tierspan.formats.measurements.hints import said_accumulation, said_overlap, said_precision, says_size_one, switch, traits
from tierspan.formats.measurements.stacks import StackDefaults, flash_attention_from, host_defaults, printed_vpp, stack_defaults, stack_of
from tierspan.quantities.errors import Place, UnsupportedError
from tierspan.quantities.findings import Assumption
from tierspan.specs.measurement import FilledRow, MemoryRow, Stack, TrainingRow
from tierspan.specs.precision import PRECISIONS
from tierspan.specs.strategy import Job, Strategy

T = TypeVar("T")
NEED_COUNTS = ("n_accelerators", "global_batch", "seq_len")


@dataclass(slots=True)
class Notebook:
    """Collects what had to be assumed."""

    basis: str
    assumptions: list[Assumption] = field(default_factory=list)

    def take(self, name: str, given: T | None, default: T, reason: str = "validation.assumed.stack", basis: str = "") -> T:
        """``given`` where the source gives it, else ``default``, noted."""
        if given is not None:
            return given
        self.assumptions.append(Assumption(name, default, reason, {"field": name, "value": default, "basis": basis or self.basis}))
        return default


def fill_training(row: TrainingRow) -> FilledRow:
    """The plan that a training row ran, its empty fields assumed.

    Raises:
        UnsupportedError: the row lacks what nobody may guess (counts, batch, sequence length, TP or PP of a stack that has
            them, precision), its sizes do not multiply out, or its model is not a transformer throughout.
    """
    place = Place(key=row.id)
    for name in NEED_COUNTS:
        if getattr(row, name) is None:
            raise UnsupportedError("validation.unfilled.field", place=place, field=name)
    found = traits(row)
    if "hybrid" in found:
        raise UnsupportedError("validation.unfilled.hybrid", place=place, model=row.model)
    stack = stack_of(row)
    defaults = stack_defaults(stack)
    book = Notebook(defaults.basis)
    tp, pp = (_size(row, name, defaults, book, place) for name in ("tp", "pp"))
    cp = book.take("cp", row.cp, 1)
    n, batch = row.n_accelerators or 0, row.global_batch or 0
    dp = _data_parallel(n, tp, pp, cp, row.dp, place)
    micro = _micro_batch(row, defaults, dp, pp, batch, book, place)
    ep = row.ep or (book.take("ep", row.ep, 1) if row.moe else 1)
    overlap = said_overlap(row)
    vpp, interleaved = _interleaving(row, stack, defaults, pp, book)
    sp_said = row.sp if row.sp is not None else switch(row, "SEQ_PARALLEL")
    strategy = Strategy(
        tp=tp, pp=pp, cp=cp, ep=ep, etp=_expert_tp(row, defaults, tp, ep, n // pp, book), vpp=vpp,
        sp=tp > 1 and (bool(sp_said) if sp_said is not None else book.take("sp", None, _splits_sequence(row, defaults))),
        zero=_zero(row, defaults, book), shard_group=row.shard_group, micro_batch=micro,
        recompute=book.take("recompute", row.recompute, defaults.recompute),
        schedule="interleaved" if interleaved else "1f1b",
        overlap_grad_reduce=book.take("overlap_grad_reduce", overlap.get("overlap_grad_reduce"), defaults.overlap_grad_reduce),
        overlap_param_gather=book.take("overlap_param_gather", overlap.get("overlap_param_gather"), defaults.overlap_param_gather),
        overlap_tp=tp > 1 and book.take("overlap_tp", overlap.get("overlap_tp"), defaults.overlap_tp),
        overlap_p2p=pp > 1 and book.take("overlap_p2p", overlap.get("overlap_p2p"), defaults.overlap_p2p and interleaved),
    )  # fmt: skip
    job = Job(row.seq_len or 0, batch, _precision(row, defaults, book, place), lora="lora" in found)
    node, domain, nic = _host(row, n, book)
    host = host_defaults(row.accelerator, row.source)
    return FilledRow(
        id=row.id, strategy=strategy, job=job, accelerator=row.accelerator, accelerators=n, node_size=node, domain_size=domain,
        nic_bandwidth_Bps=nic, stack=stack,
        gradient_bytes=book.take("gradient_bytes", 2 if "pure-bf16" in found else None, defaults.gradient_bytes),
        flash_attention=book.take("flash_attention", None, _fuses_attention(row, defaults)),
        traits=found, assumptions=tuple(book.assumptions), system=host.system if host else None,
    )  # fmt: skip


def fill_memory(row: MemoryRow) -> FilledRow:
    """The plan of a memory row; the batch of a row that prints none is dp * micro_batch (one micro-batch), noted.

    Raises:
        UnsupportedError: counts, sequence length or micro-batch are missing, or the sizes do not multiply out.
    """
    place = Place(key=row.id)
    for name in ("n_accelerators", "tp", "pp", "micro_batch"):
        if getattr(row, name) is None:
            raise UnsupportedError("validation.unfilled.field", place=place, field=name)
    stack = stack_of(row)
    defaults = stack_defaults(stack)
    book = Notebook(defaults.basis)
    n, tp, pp, micro = row.n_accelerators or 0, row.tp or 0, row.pp or 0, row.micro_batch or 0
    cp = book.take("cp", row.cp, 1)
    ep = book.take("ep", row.ep, 1)
    vpp = book.take("vpp", row.vpp, 1)
    dp = _data_parallel(n, tp, pp, cp, row.dp, place)
    if stack.family == "torchtitan" and pp > 1:
        micro = book.take("micro_batch", None, max(micro // pp, 1), "validation.assumed.local_batch")
    host = host_defaults(row.accelerator, row.source)
    node = book.take("node_size", None, host.node_size if host else n, "validation.assumed.host", host.basis if host else "")
    nic = book.take("nic_gbps", None, host.nic_gbps if host else None, "validation.assumed.host", host.basis if host else "")
    strategy = Strategy(
        tp=tp, pp=pp, cp=cp, ep=ep, vpp=vpp, etp=defaults.etp if ep > 1 else None,
        sp=tp > 1 and book.take("sp", row.sp, defaults.sp_from is not None), zero=book.take("zero", row.zero, defaults.zero),
        micro_batch=micro, recompute=book.take("recompute", row.recompute, defaults.recompute),
        schedule="interleaved" if vpp > 1 else "1f1b", overlap_grad_reduce=defaults.overlap_grad_reduce,
        overlap_param_gather=defaults.overlap_param_gather, overlap_tp=defaults.overlap_tp, overlap_p2p=defaults.overlap_p2p,
    )  # fmt: skip
    seq = (
        row.seq_len
        if row.seq_len is not None or stack.family != "torchtitan"
        else book.take("seq_len", None, 8192, "validation.assumed.repo_default")
    )
    if seq is None:
        raise UnsupportedError("validation.unfilled.field", place=place, field="seq_len")
    batch = book.take("global_batch", row.global_batch, dp * micro * (pp if stack.family == "torchtitan" else 1))
    if row.precision not in PRECISIONS:
        raise UnsupportedError("validation.unfilled.precision", place=place, value=row.precision or "-", known=", ".join(PRECISIONS))
    return FilledRow(
        id=row.id, strategy=strategy, job=Job(seq, batch, row.precision), accelerator=row.accelerator, accelerators=n, node_size=node,
        domain_size=node, nic_bandwidth_Bps=None if nic is None else nic * 1e9 / 8, stack=stack,
        gradient_bytes=book.take("gradient_bytes", None, defaults.gradient_bytes), flash_attention=defaults.flash_attention is not False,
        traits=frozenset(), assumptions=tuple(book.assumptions),
    )  # fmt: skip


def _size(row: TrainingRow, name: str, defaults: StackDefaults, book: Notebook, place: Place) -> int:
    given: int | None = getattr(row, name)
    if given is not None:
        return given
    if says_size_one(row, name):
        return 1
    if name in defaults.absent:
        return book.take(name, None, 1)
    raise UnsupportedError("validation.unfilled.field", place=place, field=name)


def _data_parallel(n: int, tp: int, pp: int, cp: int, given: int | None, place: Place) -> int:
    group = tp * pp * cp
    if n % group or (given is not None and given != n // group):
        raise UnsupportedError("validation.unfilled.product", place=place, n=n, tp=tp, pp=pp, cp=cp, dp=given if given is not None else "-")
    return n // group


def _micro_batch(row: TrainingRow, defaults: StackDefaults, dp: int, pp: int, batch: int, book: Notebook, place: Place) -> int:
    if row.micro_batch is not None:
        return row.micro_batch
    share = max(batch // dp, 1)
    accumulation = said_accumulation(row)
    if accumulation:
        return max(share // accumulation, 1)
    rule = defaults.micro_batch
    if rule == "no accumulation":
        return book.take("micro_batch", None, share)
    if rule == "pipeline":
        return book.take("micro_batch", None, max(share // pp, 1))
    if isinstance(rule, int):
        return book.take("micro_batch", None, min(rule, share))
    raise UnsupportedError("validation.unfilled.field", place=place, field="micro_batch")


def _interleaving(row: TrainingRow, stack: Stack, defaults: StackDefaults, pp: int, book: Notebook) -> tuple[int, bool]:
    """Chunks per stage, and whether the schedule interleaves."""
    if pp == 1:
        return 1, False
    if row.vpp is not None:
        return row.vpp, row.vpp > 1
    said = row.overlap.lower()
    if "interleaved 1f1b" in said:
        return book.take("vpp", None, 2, "validation.assumed.two_chunks"), True
    if "1f1b" in said:
        return 1, False
    printed = printed_vpp(stack, row.model, row.accelerator, pp)
    if printed is not None:
        return book.take("vpp", None, printed, "validation.assumed.printed_elsewhere"), printed > 1
    chunk = defaults.vpp_layers
    layers = row.layers or 0
    vpp = layers // (chunk * pp) if chunk and layers and layers % (chunk * pp) == 0 else 1
    return book.take("vpp", None, vpp), vpp > 1


def _splits_sequence(row: TrainingRow, defaults: StackDefaults) -> bool:
    return defaults.sp_from is not None and (row.year is None or row.year >= defaults.sp_from)


def _fuses_attention(row: TrainingRow, defaults: StackDefaults) -> bool:
    by_year = row.year is None or row.year >= flash_attention_from()
    return by_year if defaults.flash_attention is None else defaults.flash_attention


def _expert_tp(row: TrainingRow, defaults: StackDefaults, tp: int, ep: int, per_stage: int, book: Notebook) -> int | None:
    if row.etp is not None or not row.moe:
        return row.etp
    if tp == 1:
        return None
    if defaults.etp is not None:
        return book.take("etp", None, defaults.etp)
    if ep > 1 and per_stage % (ep * tp):
        return book.take("etp", None, 1, "validation.assumed.only_size_that_fits")
    return book.take("etp", None, tp)


def _zero(row: TrainingRow, defaults: StackDefaults, book: Notebook) -> int:
    if row.zero == 0 and "FSDP=0" in row.notes:
        # The source prints that FSDP is off, which says nothing about the distributed optimizer.
        return book.take("zero", None, defaults.zero)
    return book.take("zero", row.zero, defaults.zero)


def _precision(row: TrainingRow, defaults: StackDefaults, book: Notebook, place: Place) -> str:
    """The precision given, or printed in name or notes, or the stack's; an empty one is never taken for BF16."""
    precision = row.precision or said_precision(row)
    if not precision:
        if defaults.precision is None:
            raise UnsupportedError("validation.unfilled.field", place=place, field="precision")
        precision = book.take("precision", None, defaults.precision)
    if precision not in PRECISIONS:
        raise UnsupportedError("validation.unfilled.precision", place=place, value=precision, known=", ".join(PRECISIONS))
    return precision


def _host(row: TrainingRow, n: int, book: Notebook) -> tuple[int, int, float | None]:
    """Node size, scale-up domain and scale-out rate in bytes/s per accelerator and direction."""
    host = host_defaults(row.accelerator, row.source)
    why, basis = "validation.assumed.host", host.basis if host else ""
    node = row.node_size or row.hbd_size if row.node_size or host is None else None
    node = book.take("node_size", node, host.node_size if host else n, why, basis)
    domain = row.hbd_size
    if domain is None:
        domain = book.take("domain_size", None, min(n, host.slice_limit) if host and host.slice_limit else node, why, basis)
    nic = row.nic_gbps
    if nic is None and n > domain:
        nic = book.take("nic_gbps", None, host.nic_gbps if host else None, why, basis)
    elif nic is None:
        nic = host.nic_gbps if host else None  # one domain: no traffic leaves it, so nothing is assumed that counts
    return node, domain, None if nic is None else nic * 1e9 / 8

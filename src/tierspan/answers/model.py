"""What is this model: parameters by part, KV cache, and what the figures leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tierspan.answers.model_flops import FlopParts, ModelFlops, model_flops
from tierspan.formats.hf_config import read_config
from tierspan.laws.parameters import ParameterCounts, kv_bytes_per_token, kv_elements_per_token, parameter_counts
from tierspan.quantities.display import Shown
from tierspan.quantities.errors import UnknownNameError
from tierspan.quantities.messages import text
from tierspan.specs.model import ModelSpec
from tierspan.specs.models import model

_KV_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "fp32": 4.0}
USUAL_SEQUENCE = 4096
"""Length at which attention is counted where nobody names one, or the most positions of the model where they are fewer."""
_SHAPE = (
    "layers", "dense_layers", "moe_layers", "hidden", "heads", "kv_heads", "head_dim", "v_head_dim", "ffn", "mlp_matrices", "vocab",
    "tied_embeddings", "experts", "topk", "moe_ffn", "shared_ffn", "q_lora_rank", "kv_lora_rank", "rope_head_dim", "window",
    "windowed_layers", "mtp_layers", "max_positions",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """One remark: the message that says it and its values."""

    id: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class ModelAnswer(Shown):
    """A model and what follows from its architecture.

    ``kv_bytes_per_token`` is for a 16-bit cache, before windows cut it; ``parts`` are parameters of one layer (or of the whole table,
    see ``ParameterCounts``); ``flops`` what one token costs forward.
    """

    spec: ModelSpec
    parts: ParameterCounts
    kv_elements_per_token: int
    kv_bytes_per_token: float
    notes: tuple[Note, ...]
    flops: ModelFlops

    @property
    def id(self) -> str:
        """Id in the catalogue, or the name of the file."""
        return self.spec.id

    @property
    def parameters_total(self) -> int:
        """All parameters, without multi-token prediction."""
        return self.parts.total

    @property
    def parameters_active(self) -> int:
        """Parameters that one token passes through."""
        return self.parts.active

    def to_dict(self, lang: str = "en") -> dict[str, object]:
        """The answer as plain values, for JSON; notes are told in ``lang``."""
        parts = {name: count for name, count in asdict(self.parts).items() if name not in ("total", "active")}
        return {
            "id": self.id,
            "name": self.spec.name,
            "parameters_total": self.parameters_total,
            "parameters_active": self.parameters_active,
            **{name: getattr(self.spec, name) for name in _SHAPE},
            "kv_bytes_per_token": self.kv_bytes_per_token,
            "kv_elements_per_token": self.kv_elements_per_token,
            "kv_bytes_per_token_by_precision": {name: self.kv_elements_per_token * size for name, size in _KV_BYTES.items()},
            "parameters_by_part": parts,
            "parameters_dense_layer": self.parts.dense_layer if self.spec.dense_layers else 0,
            "parameters_moe_layer": self.parts.moe_layer(self.spec.experts) if self.spec.moe_layers else 0,
            "flops_sequence_length": self.flops.sequence_length,
            "flops_per_token": self.flops.model.total,
            "flops_per_token_by_part": asdict(self.flops.model),
            "flops_per_token_dense_layer": _of_layer(self.flops.dense_layer),
            "flops_per_token_moe_layer": _of_layer(self.flops.moe_layer),
            "notes": [{"id": note.id, "text": text(note.id, lang, **note.values)} for note in self.notes],
            "source": self.spec.source,
        }


def _of_layer(parts: FlopParts | None) -> dict[str, float] | None:
    """Parts of a layer (the output layer is none) with their sum."""
    return None if parts is None else {**{name: size for name, size in asdict(parts).items() if name != "output_layer"}, "total": parts.total}


def describe_model(file_or_id: str | Path, *, sequence_length: int | None = None) -> ModelAnswer:
    """Describe a model from its ``config.json`` (or the folder that holds it) or by its id or alias.

    Args:
        file_or_id: path, id or alias.
        sequence_length: tokens of a sequence, for the FLOP of attention; default ``USUAL_SEQUENCE``.

    Raises:
        InputError: the file cannot be read or describes no model that is known; the error names line, key, value, rule and remedy.
        UnknownNameError: neither a file nor a known name.
    """
    spec = load_model(file_or_id)
    length = sequence_length or min(USUAL_SEQUENCE, spec.max_positions or USUAL_SEQUENCE)
    cache = kv_elements_per_token(spec), kv_bytes_per_token(spec)
    return ModelAnswer(spec, parameter_counts(spec), *cache, tuple(_notes(spec)), model_flops(spec, length))


def load_model(file_or_id: str | Path) -> ModelSpec:
    """The model behind a path, an id or an alias; an owner in front (``owner/Name-hf``) does not matter where no such file exists."""
    name = str(file_or_id)
    path = Path(name)
    if "\0" not in name and name.strip() and (path.is_file() or (path / "config.json").is_file()):
        return read_config(path)
    try:
        return model(name)
    except UnknownNameError as unknown:
        if isinstance(file_or_id, str) and name.count("/") == 1 and not name.startswith((".", "/")):
            try:
                return model(name.split("/")[1].removesuffix("-hf"))
            except UnknownNameError:
                pass
        if isinstance(file_or_id, Path) or name.endswith(".json") or "/" in name or "\\" in name:
            return read_config(path)
        raise unknown


def _notes(m: ModelSpec) -> list[Note]:
    counts = parameter_counts(m)
    notes = []
    for part in m.partial:
        values: dict[str, object] = {}
        if part == "sparse_indexer":
            values = {"parameters": m.layers * counts.indexer, "topk": m.indexer_topk, "elements": m.layers * m.indexer_head_dim}
        notes.append(Note(f"models.note.{part}", values))
    if m.mtp_layers:
        notes.append(Note("models.note.mtp", {"layers": m.mtp_layers, "parameters": counts.mtp}))
    if m.windowed_layers and m.window:
        rest = kv_bytes_per_token(m) * (m.layers - m.windowed_layers) / m.layers
        kind = "chunk" if m.window_chunked else "window"
        notes.append(Note(f"models.note.{kind}", {"layers": m.windowed_layers, "all": m.layers, "window": m.window, "bytes": round(rest)}))
    if m.kv_lora_rank:
        notes.append(Note("models.note.latent_replication"))
    elif m.kv_heads < m.heads:
        notes.append(Note("models.note.kv_replication", {"kv_heads": m.kv_heads}))
    return notes

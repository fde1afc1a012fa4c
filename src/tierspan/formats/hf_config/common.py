"""Sizes that every family names alike, and the checks that hold for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tierspan.formats.hf_config.keys import Keys

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HIDDEN = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads")
FFN = ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length")


@dataclass(frozen=True, slots=True)
class Shape:
    """Depth and width of a model and of its attention."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int

    def fields(self) -> dict[str, Any]:
        """As fields of ``ModelSpec``; values are as wide as keys."""
        return {
            "layers": self.layers, "hidden": self.hidden, "heads": self.heads, "kv_heads": self.kv_heads, "head_dim": self.head_dim,
            "v_head_dim": self.head_dim, "vocab": self.vocab,
        }  # fmt: skip


def shape(keys: Keys, kv_default: int | None = None, head_dim_default: int | None = None) -> Shape:
    """Read the shape; ``num_key_value_heads`` null or absent means as many as heads (or the family's default).

    Checks: hidden is a multiple of heads unless the head size is given; heads are a multiple of KV heads.
    """
    hidden, heads = keys.whole(*HIDDEN), keys.whole(*HEADS)
    head_key, hidden_key = _present(keys, HEADS), _present(keys, HIDDEN)
    head_dim = keys.optional("head_dim", "attention_head_dim", "kv_channels")
    if head_dim is None:
        head_dim = head_dim_default
    if head_dim is None:
        keys.multiple(hidden_key, hidden, head_key, heads)
        head_dim = hidden // heads
    kv_heads = keys.optional("num_key_value_heads", "num_kv_heads", "num_query_groups") or kv_default or heads
    keys.multiple(head_key, heads, "num_key_value_heads", kv_heads)
    return Shape(keys.whole(*LAYERS), hidden, heads, kv_heads, head_dim, keys.whole("vocab_size", "padded_vocab_size"))


def positions(keys: Keys) -> int:
    """Longest sequence the file promises, 0 where it does not say."""
    return keys.optional(*POSITIONS) or 0


def tied(keys: Keys, default: bool) -> bool:
    """Whether input and output embeddings are one table; the default differs by family."""
    return keys.flag("tie_word_embeddings", default=default)


def _present(keys: Keys, names: tuple[str, ...]) -> str:
    return next((name for name in names if keys.has(name)), names[0])

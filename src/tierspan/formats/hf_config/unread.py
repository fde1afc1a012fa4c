"""Keys that change the architecture and that a family did not read: better refused than ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tierspan.formats.hf_config.keys import Keys

_ARCHITECTURAL = re.compile(
    r"expert|mamba|ssm|linear_(attn|key|value|num|conv)|conv_kernel|lora_rank|_heads?$|head_dim|_kv_|layer_types|layers_block_type"
    r"|block_configs|hybrid|pattern|shared_layers|sparse|index_|indexer|moe_|mtp|nextn|intermediate|recurrent|hc_mult|_gate$|compress"
    r"|per_layer|altup|laurel|latent|global_head|double_wide|decoder_layers|encoder_layers|num_layers$"
)
_HARMLESS = re.compile(
    r"^(num_beams|num_beam_groups|num_labels|num_return_sequences|output_.*|router_.*loss.*|aux_loss.*|.*_loss(_.*)?|n_group|topk_group"
    r"|norm_topk_prob|scoring_func|routed_scaling_factor|moe_router_.*|topk_method|ep_size|pretraining_tp|.*rope.*|partial_rotary_factor"
    r"|rotary_.*|use_cache|max_window_layers|quantization_config|.*dropout.*|.*token_ids?|.*_dtype|router_jitter_noise|sparsify.*"
    r"|pruned_heads|index_topk_freq|decoder_start.*|encoder_no_repeat.*|cross_attention.*|is_.*|tie_encoder_decoder"
    r"|use_bidirectional_attention|hidden_act.*|vocab_size_per_layer_input|moe_capacity.*|moe_aux.*|moe_token_.*|moe_grouped_gemm"
    r"|moe_permute_fusion|.*fusion.*|init.*|num_experts_per_.*|experts_per_token|seq_aux|num_logits_to_keep)$"
)
_OFF: tuple[Any, ...] = (None, False, 0, "", [], {})


def unread_keys(keys: Keys) -> Iterator[tuple[str, Any]]:
    """Keys that nobody read, are switched on, and look as if they changed layers, widths or the number of either."""
    for key, value in keys.data.items():
        if key in keys.read or value in _OFF or _HARMLESS.search(key):
            continue
        if _ARCHITECTURAL.search(key):
            yield key, value

import numpy as np
import pytest

from tierspan.laws import counts
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.model import ModelSpec
from tierspan.specs.strategy import Job, Strategy

LLAMA_70B = ModelSpec("a", "a", 80, 8192, 64, 8, 128, 128, 28672, 3, 128256, 80)
GPT = ModelSpec("g", "g", 4, 64, 8, 8, 8, 8, 256, 2, 1000, 4, tied_embeddings=True, learned_positions=128)
MIXTRAL = ModelSpec("m", "m", 32, 4096, 32, 8, 128, 128, 14336, 3, 32000, 0, experts=8, topk=2, moe_ffn=14336)
DEEPSEEK = ModelSpec(
    "d", "d", 61, 7168, 128, 128, 192, 128, 18432, 3, 129280, 3,
    experts=256, topk=8, moe_ffn=2048, shared_ffn=2048, q_lora_rank=1536, kv_lora_rank=512, rope_head_dim=64,
)  # fmt: skip


def arrays(*models: ModelSpec) -> ModelArrays:
    return ModelArrays.of(models)


def batch(*plans: Strategy, n: int = 1024) -> StrategyBatch:
    return StrategyBatch.of([(p, Job(4096, 1024), n) for p in plans])


def test_totals_of_published_models() -> None:
    total = counts.total_parameters(arrays(LLAMA_70B, MIXTRAL, DEEPSEEK))
    assert total == pytest.approx([70.55e9, 46.70e9, 671.0e9], rel=1e-3)
    active = counts.active_parameters(arrays(LLAMA_70B, MIXTRAL, DEEPSEEK))
    assert active == pytest.approx([70.55e9, 12.88e9, 37.6e9], rel=2e-3)


def test_parts_of_a_small_model_by_hand() -> None:
    m = arrays(GPT)
    assert counts.attention_parameters(m) == [4 * 64 * 64]
    assert counts.dense_mlp_parameters(m) == [2 * 64 * 256]
    assert counts.embedding_parameters(m) == [(1000 + 128) * 64]
    assert counts.total_parameters(m) == [4 * (4 * 64 * 64 + 2 * 64 * 256 + 128) + 1128 * 64 + 64]


def test_a_row_keeps_its_own_kind() -> None:
    together = counts.total_parameters(arrays(LLAMA_70B, MIXTRAL, DEEPSEEK))
    alone = [counts.total_parameters(arrays(m))[0] for m in (LLAMA_70B, MIXTRAL, DEEPSEEK)]
    np.testing.assert_array_equal(together, alone)


def test_tensor_ranks_together_hold_a_layer_and_the_copied_norms() -> None:
    part = counts.rank_layer(arrays(LLAMA_70B), batch(Strategy(tp=8)))
    norms = counts.norm_parameters(arrays(LLAMA_70B))
    whole = counts.dense_layer_parameters(arrays(LLAMA_70B))
    np.testing.assert_allclose(8 * (part.attention - norms + part.dense_mlp) + norms, whole)


def test_more_tensor_ranks_than_key_value_heads_copy_them() -> None:
    few = ModelSpec("f", "f", 2, 1024, 16, 2, 64, 64, 4096, 3, 1000, 2)
    part = counts.rank_layer(arrays(few), batch(Strategy(tp=8)))
    query_and_output = 2 * 1024 * 1024 / 8
    one_key_value_head = 1024 * 1 * 128
    assert part.attention[0] == pytest.approx(query_and_output + one_key_value_head + 2 * 1024)


def test_expert_ranks_together_hold_all_experts() -> None:
    plan = Strategy(tp=2, ep=8, etp=1)
    part = counts.rank_layer(arrays(MIXTRAL), batch(plan))
    np.testing.assert_allclose(part.experts * 8, 8 * counts.expert_parameters(arrays(MIXTRAL)))
    assert counts.expert_replicas(batch(plan)) == [1024 / 8]
    assert counts.expert_replicas(batch(Strategy(tp=2, ep=8))) == [1024 / 16]

"""FLOP of a model by part: against the sum that MFU is measured by, and against counts by hand."""

import pytest

from tierspan.answers.model import describe_model
from tierspan.faces.cli.main import main
from tierspan.laws.flops import model_flops_per_step
from tierspan.specs.arrays import ModelArrays, StrategyBatch
from tierspan.specs.models import model
from tierspan.specs.strategy import Job, Strategy


@pytest.mark.parametrize("name", ["gpt3-175b", "llama-3.1-405b", "deepseek-v3", "gpt-oss-120b", "mixtral-8x7b", "qwen3-0.6b"])
@pytest.mark.parametrize("length", [128, 4096, 131072])
def test_parts_add_up_to_the_flops_of_mfu(name, length):
    flops = describe_model(name, sequence_length=length).flops
    step = model_flops_per_step(ModelArrays.of([model(name)]), StrategyBatch.of([(Strategy(), Job(length, 10), 1)]))[0]
    assert 3 * flops.model.total * 10 * length == pytest.approx(step)


def test_layers_add_up_to_the_model():
    spec, flops = model("deepseek-v3"), describe_model("deepseek-v3").flops
    assert (spec.dense_layers, spec.moe_layers) == (3, 58)
    layers = 3 * flops.dense_layer.total + 58 * flops.moe_layer.total
    assert layers + flops.model.output_layer == pytest.approx(flops.model.total)
    assert flops.moe_layer.experts == 2 * 8 * 3 * 7168 * 2048
    assert flops.moe_layer.router == 2 * 7168 * 256
    assert flops.model.output_layer == 2 * 7168 * 129280


def test_gpt3_by_hand():
    flops = describe_model("gpt3-175b").flops
    layer, h = flops.dense_layer, 12288
    assert flops.sequence_length == 2048
    assert (layer.attention_projections, layer.feed_forward) == (2 * 4 * h * h, 2 * 8 * h * h)
    assert layer.attention_scores == 2 * 1024 * 2 * h
    assert flops.moe_layer is None


def test_json_has_the_parts_beside_the_keys_it_had():
    answer = describe_model("deepseek-v3", sequence_length=8192).to_dict()
    assert answer["flops_sequence_length"] == 8192
    assert sum(answer["flops_per_token_by_part"].values()) == pytest.approx(answer["flops_per_token"])
    assert answer["flops_per_token_moe_layer"]["total"] == pytest.approx(
        sum(v for k, v in answer["flops_per_token_moe_layer"].items() if k != "total")
    )
    assert describe_model("llama-3.1-8b").to_dict()["flops_per_token_moe_layer"] is None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command_shows_them(lang, capsys):
    assert main(["catalog", "model", "gpt3-175b", "--seq-len", "1024", "--lang", lang]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "1,208 116,000 " in told
    assert "1,024" in told

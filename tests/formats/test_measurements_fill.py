"""Measured rows as plans: what the source gives is kept, what it leaves empty is assumed and listed."""

from pathlib import Path

import pytest

from tierspan.formats.measurements import (
    excluded_reason,
    fill_memory,
    fill_training,
    is_complete,
    measured_step_time_s,
    read_measurements,
    stack_of,
    traits,
)
from tierspan.formats.measurements.cells import Cells
from tierspan.formats.measurements.hints import said_accumulation, said_overlap, said_precision
from tierspan.formats.measurements.rows import training_row
from tierspan.quantities.errors import UnsupportedError
from tierspan.quantities.messages import fill as fill_text

SHARED = Path(__file__).parents[2].parent / "shared" / "validation"


def row(**cells):
    given = {
        "id": "r",
        "source": "NVIDIA NeMo framework performance docs",
        "date": "2024-10-07",
        "framework": "NeMo 24.07",
        "model": "LLAMA3-70B",
        "moe": "no",
        "layers": "80",
        "hidden": "8192",
        "seq_len": "8192",
        "accelerator": "h100-sxm5-80gb",
        "node_size": "8",
        "hbd_size": "8",
        "n_accelerators": "64",
        "tp": "4",
        "pp": "4",
        "cp": "2",
        "micro_batch": "1",
        "global_batch": "128",
        "precision": "fp8",
        "metric": "tokens_per_s_per_gpu",
        "value": "1600",
    }
    return training_row(Cells("f.csv", 2, given | {k: str(v) for k, v in cells.items()}))


@pytest.fixture(scope="module")
def training():
    path = SHARED / "training.csv"
    if not path.exists():
        pytest.skip("the shared measurement files are not here")
    return read_measurements(path).training


def test_given_fields_are_kept_and_not_listed():
    filled = fill_training(
        row(
            vpp=5,
            recompute="full",
            zero=3,
            shard_group=8,
            sp="no",
            nic_gbps_per_accelerator=200,
            overlap="TP_COMM_OVERLAP=False OVERLAP_GRAD_REDUCE=0",
        )
    )
    s = filled.strategy
    assert (s.tp, s.pp, s.cp, s.vpp, s.micro_batch, s.recompute, s.zero, s.shard_group, s.sp, s.schedule) == (
        4,
        4,
        2,
        5,
        1,
        "full",
        3,
        8,
        False,
        "interleaved",
    )
    assert (s.overlap_tp, s.overlap_grad_reduce) == (False, False)
    assert (filled.job.sequence_length, filled.job.global_batch, filled.job.precision, filled.job.lora) == (8192, 128, "fp8", False)
    assert filled.nic_bandwidth_Bps == 25e9
    assert set(filled.assumed) == {"overlap_param_gather", "overlap_p2p", "gradient_bytes", "flash_attention"}
    assert filled.assumed_columns == ()


def test_empty_fields_are_assumed_and_listed():
    filled = fill_training(row(cp="", n_accelerators=32))
    assert (filled.strategy.cp, filled.strategy.vpp, filled.strategy.zero, filled.strategy.sp, filled.gradient_bytes) == (1, 5, 1, True, 2)
    assert set(filled.assumed_columns) == {"cp", "vpp", "zero", "sp", "recompute", "nic_gbps"}
    for assumption in filled.assumptions:
        for lang in ("en", "zh"):
            assert "{" not in fill_text(assumption.reason_id, lang, assumption.values)


@pytest.mark.parametrize(
    ("cells", "vpp"),
    [
        ({}, 5),
        ({"model": "Other", "layers": 64}, 4),
        ({"model": "Other", "layers": 40}, 1),
        ({"pp": 1, "dp": 8}, 1),
        ({"model": "LLAMA2-70B"}, 20),
        ({"vpp": 2}, 2),
    ],
)
def test_interleaving_of_nemo(cells, vpp):
    assert fill_training(row(**cells)).strategy.vpp == vpp


def test_a_schedule_named_in_the_overlap_text_wins():
    base = {
        "source": "PyTorch torchtitan benchmarks",
        "framework": "torchtitan",
        "layers": 126,
        "tp": 8,
        "pp": 8,
        "cp": 1,
        "n_accelerators": 512,
        "global_batch": 256,
        "micro_batch": "",
    }
    plain = fill_training(row(**base, overlap="torch.compile, AsyncTP, PP schedule 1F1B")).strategy
    turns = fill_training(row(**base, overlap="torch.compile, AsyncTP, PP schedule Interleaved 1F1B")).strategy
    assert (plain.vpp, plain.schedule, plain.overlap_tp, plain.micro_batch) == (1, "1f1b", True, 4)
    assert (turns.vpp, turns.schedule) == (2, "interleaved")


def test_blank_tensor_and_pipeline_sizes_are_one_only_where_the_stack_has_none():
    fsdp = row(
        source="MosaicML llm-foundry benchmarking README", framework="Composer/llm-foundry (PyTorch FSDP)", tp="", pp="", cp="", overlap="FSDP PURE"
    )
    filled = fill_training(fsdp)
    assert (filled.strategy.tp, filled.strategy.pp, filled.strategy.zero, filled.gradient_bytes) == (1, 1, 3, 2)
    with pytest.raises(UnsupportedError) as caught:
        fill_training(row(tp=""))
    assert (caught.value.message_id, caught.value.values["field"]) == ("validation.unfilled.field", "tp")
    assert fill_training(row(tp="", notes="model-parallel size tp=1")).strategy.tp == 1


def test_a_blank_precision_is_never_bf16():
    with pytest.raises(UnsupportedError, match="precision"):
        fill_training(row(precision=""))
    assert fill_training(row(precision="", model="Llama 3 8B BF16")).job.precision == "bf16"
    logged = fill_training(row(source="MLPerf Training v5.1 logs", framework="NeMo/Megatron", precision=""))
    assert (logged.job.precision, "precision" in logged.assumed) == ("fp8", True)
    with pytest.raises(UnsupportedError, match="fp5"):
        fill_training(row(precision="fp5"))


def test_sizes_that_do_not_multiply_out():
    with pytest.raises(UnsupportedError) as caught:
        fill_training(row(dp=3))
    assert caught.value.message_id == "validation.unfilled.product"
    with pytest.raises(UnsupportedError, match="65"):
        fill_training(row(n_accelerators=65))


def test_hybrid_models_are_not_predicted():
    with pytest.raises(UnsupportedError, match="state-space"):
        fill_training(row(notes="hybrid Mamba-2/attention MoE: dense-transformer FLOP formula does not apply"))


@pytest.mark.parametrize(
    ("cells", "stack"),
    [
        ({}, "nemo-24.07"),
        ({"framework": "Megatron-Bridge (NeMo 26.04.01)"}, "megatron-bridge-26.04.01"),
        ({"framework": "Megatron-LM", "date": "2021-04"}, "megatron-lm-2021"),
        ({"framework": "Megatron-LM", "date": "2022-05"}, "megatron-lm-2022"),
        ({"framework": "Megatron-LM", "source": "SimuMax B200 validation (real ms column)", "date": "2026-04"}, "simumax-megatron-2026"),
        ({"framework": "Megatron-DeepSpeed", "date": "2022-02"}, "megatron-deepspeed-2022"),
        ({"framework": "Megatron-DeepSpeed (Habana)", "source": "MLPerf Training v3.0 logs"}, "habana-2024"),
        ({"framework": "NeMo/Megatron", "source": "MLPerf Training v4.1 logs"}, "mlperf-nemo-v4.1"),
        ({"framework": "NeMo/Megatron", "source": "MLPerf Training v5.0 logs", "accelerator": "mi325x"}, "mlperf-nemo-rocm-2024"),
        ({"framework": "", "source": "MLPerf Training v4.1 logs"}, "mlperf-unknown-2024"),
        ({"framework": "NeMo (DGX Cloud recipe)", "model": "Maxtext Llama3 70b FP8"}, "maxtext-gpu-2024"),
        ({"framework": "NeMo (DGX Cloud recipe)"}, "nemo-2024"),
        ({"framework": "MaxText (JAX)", "accelerator": "tpu-v5p"}, "maxtext-tpu-2024"),
        ({"framework": "nanotron v0.5"}, "nanotron-0.5"),
        ({"framework": "NeuronX Distributed", "accelerator": "trainium1-core", "notes": "Neuron 2.16.0; strong"}, "neuronx-2.16.0"),
        ({"framework": "MegaScale"}, "megascale-2024"),
        ({"framework": "ModelLink Mcore"}, "modellink-2024"),
        ({"framework": "own", "date": ""}, "unknown"),
    ],
)
def test_stacks(cells, stack):
    assert stack_of(row(**cells)).id == stack


def test_hints():
    assert traits(row(flags="TRUNCATED")) == {"truncated"}
    assert {"lora", "fine-tuning", "packed"} <= traits(row(notes="LoRA fine-tune: base weights frozen, packed 8192 sequences"))
    assert "lora" in traits(row(model="Llama3 70b LoRA FP8"))
    bridge = {"framework": "Megatron-Bridge (NeMo 25.09)", "model": "DeepSeekV3 (dropless)"}
    assert "mtp" in traits(row(**bridge))
    assert "mtp" not in traits(row(**bridge, notes="without MTP head"))
    assert said_accumulation(row(model="Llama (TP=4, MBS=1, GA=64)")) == 64
    assert said_accumulation(row(notes="logged gradient_accumulation_steps 4; x")) == 4
    assert said_precision(row(notes="MXFP8; ; GB300")) == "mxfp8"
    assert said_overlap(row(overlap="TP_COMM_OVERLAP=1 LAYER_CUDA_GRAPH=1")) == {"overlap_tp": True}
    assert said_overlap(row(overlap="1f1b; no gradient bucketing")) == {"overlap_grad_reduce": False}
    assert said_overlap(row(overlap="OVERLAP_PARAM_GATHER_WITH_OPTIM_STEP=False")) == {}
    assert said_overlap(row(overlap="NO_OVERLAP_GRAD_REDUCE=True")) == {}


def test_the_note_beside_megascale_and_its_baseline_holds_for_megascale_only():
    cells = {"source": "MegaScale (NSDI 24) Table 1+2", "notes": "MegaScale also changes the algorithm (parallel block, sliding-window attention)"}
    assert {"parallel-block", "sliding-window"} <= traits(row(**cells, framework="MegaScale"))
    assert not traits(row(**cells, framework="Megatron-LM"))


def test_a_tpu_domain_is_its_slice():
    def slice_of(kind, n):
        return fill_training(row(framework="MaxText", accelerator=kind, n_accelerators=n, tp=1, pp=1, cp="", node_size="", hbd_size="")).domain_size

    assert (slice_of("tpu-v5p", 6144), slice_of("tpu-v6e", 1024), slice_of("tpu-v6e", 64)) == (6144, 256, 64)


def test_fsdp_off_is_no_word_on_the_distributed_optimizer():
    filled = fill_training(row(zero=0, notes="BF16; FSDP=0; GB200"))
    assert (filled.strategy.zero, "zero" in filled.assumed) == (1, True)
    assert fill_training(row(zero=0)).strategy.zero == 0


def test_expert_tensor_size_fits_the_groups():
    moe = {"moe": "yes", "ep": 64, "n_accelerators": 64, "tp": 2, "pp": 1, "cp": 1}
    assert fill_training(row(**moe)).strategy.etp == 1
    assert fill_training(row(**(moe | {"ep": 8}))).strategy.etp == 2
    assert fill_training(row(**moe, etp=1)).strategy.etp == 1
    assert fill_training(row(**(moe | {"ep": ""}))).strategy.ep == 1


def test_every_complete_shared_row_becomes_a_plan(training):
    complete = [r for r in training if is_complete(r)]
    assert len(complete) == 1844
    for r in complete:
        filled = fill_training(r)
        s = filled.strategy
        assert s.tp * s.pp * s.cp <= filled.accelerators
        assert filled.domain_size >= 1
        assert filled.nic_bandwidth_Bps is None or filled.nic_bandwidth_Bps > 1e9
        assert s.vpp == 1 or s.schedule == "interleaved"
        assert filled.accelerators <= filled.domain_size or filled.nic_bandwidth_Bps is not None or "tpu" in filled.accelerator


def test_given_columns_are_never_changed(training):
    for r in training:
        if excluded_reason(r) or not measured_step_time_s(r):
            continue
        try:
            filled = fill_training(r)
        except UnsupportedError:
            continue
        for name in ("tp", "pp", "cp", "micro_batch", "shard_group", "recompute", "zero"):
            value = getattr(r, name)
            if value is not None and not (name == "zero" and "FSDP=0" in r.notes):
                assert getattr(filled.strategy, name) == value, (r.id, name)
                assert name not in filled.assumed


def test_lora_rows_of_the_shared_file(training):
    assert {r.id for r in training if "LORA" in r.flags} <= {r.id for r in training if "lora" in traits(r)}


def test_every_shared_memory_row_becomes_a_plan():
    path = SHARED / "memory.csv"
    if not path.exists():
        pytest.skip("the shared measurement files are not here")
    rows = read_measurements(path).memory
    filled = [fill_memory(r) for r in rows]
    assert len(filled) == 3011
    nanotron = next(f for f, r in zip(filled, rows, strict=True) if r.model.startswith("nanotron"))
    assert (nanotron.stack.family, nanotron.gradient_bytes, nanotron.strategy.recompute) == ("nanotron", 4, "none")

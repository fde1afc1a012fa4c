"""SimuMax (github.com/MooreThreads/SimuMax): dense and expert models, tensor, pipeline, expert and context parallelism, ZeRO-1.

The tool wants operators measured on the machine; a buyer has none. So the system file is a spec sheet: peak, memory and links from
tierspan's catalogue, and the starter values of its own documentation for what no sheet tells (0.75 of the peak, 0.9 of the memory,
0.5 of the links, latencies of 40, 10 and 30 us).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers.cases import NotExpressibleError, PeerCase

NAME = "SimuMax"
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
OPERATIONS = {"all_reduce": (2, -1), "all_gather": (1, -1), "reduce_scatter": (1, -1), "p2p": (1, 0), "all2all": (1, -1)}


class Peer:
    """Runs SimuMax from a checkout."""

    def __init__(self, checkout: Path) -> None:
        sys.path.insert(0, str(checkout))
        os.environ.setdefault("MPLBACKEND", "Agg")
        self.scratch = tempfile.mkdtemp()
        with _silence(self.scratch):
            self.config = importlib.import_module("simumax.core.config")
            self.tool = importlib.import_module("simumax.core.perf_llm").PerfLLM

    def predict(self, case: PeerCase) -> float:
        """Step time in s."""
        strategy, model = _strategy(case), _model(case)
        with _silence(self.scratch):
            try:
                tool = self.tool()
                tool.configure(
                    strategy_config=self.config.StrategyConfig(**strategy),
                    model_config=self.config.ModelConfig(**model),
                    system_config=self.config.SystemConfig.init_from_dict(_system(case)),
                )
                tool.run_estimate()
                found = tool._analysis_single_iter_cost_impl()
            except (AssertionError, ValueError, KeyError, NotImplementedError, TypeError, ZeroDivisionError, IndexError) as problem:
                raise NotExpressibleError(f"{type(problem).__name__}: {problem}".replace("\n", " ")[:120]) from None
        value, unit = str(found["duration_time_per_iter"]).split()
        return float(value) * SECONDS[unit]


@contextlib.contextmanager
def _silence(folder: str) -> Any:
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        os.chdir(here)


def _model(case: PeerCase) -> dict[str, Any]:
    m = case.model
    told: dict[str, Any] = {
        "model_name": "row",
        "hidden_size": m.hidden,
        "head_num": m.heads,
        "kv_head_num": m.kv_heads,
        "head_size": m.head_dim,
        "intermediate_size": m.ffn or m.moe_ffn,
        "layer_num": m.layers,
        "vocab_size": m.vocab,
        "use_swiglu": m.mlp_matrices == 3,
    }
    if m.experts:
        told |= {"model_type": "moe", "expert_num": m.experts, "topk": m.topk, "moe_ffn_hidden_size": m.moe_ffn, "dense_layers": m.dense_layers}
        if m.shared_ffn:
            told["moe_shared_expert_intermediate_size"] = m.shared_ffn
    if m.kv_lora_rank:
        told |= {
            "attention_type": "mla",
            "v_head_dim": m.v_head_dim,
            "qk_head_dim": m.head_dim - m.rope_head_dim,
            "qk_pos_emb_head_dim": m.rope_head_dim,
            "q_lora_rank": m.q_lora_rank,
            "kv_lora_rank": m.kv_lora_rank,
            "head_size": m.v_head_dim,
        }
    return told


def _strategy(case: PeerCase) -> dict[str, Any]:
    s, job = case.strategy, case.case.job
    if s.zero > 1:
        raise NotExpressibleError(f"ZeRO-{s.zero}")
    if job.lora:
        raise NotExpressibleError("LoRA")
    if case.width == "fp4":
        raise NotExpressibleError("FP4")
    if job.global_batch % (case.dp * s.micro_batch):
        raise NotExpressibleError("an incomplete last micro-batch")
    told: dict[str, Any] = {
        "seq_len": job.sequence_length,
        "micro_batch_size": s.micro_batch,
        "micro_batch_num": case.micro_batches,
        "dtype": "bf16",
        "fp8": case.width == "fp8",
        "world_size": case.accelerators,
        "tp_size": s.tp,
        "cp_size": s.cp,
        "pp_size": s.pp,
        "ep_size": s.ep,
        "etp_size": (s.etp or s.tp) if case.model.experts else 1,
        "enable_sequence_parallel": s.sp and s.tp > 1,
        "interleaving_size": s.vpp if s.pp > 1 else 1,
        "pp_comm_async": s.vpp == 1,
        "zero_state": s.zero if case.dp > 1 else 0,
        "enable_recompute": s.recompute != "none",
        "attention_sparse_ratio": 0.5,
    }
    if s.recompute != "none":
        layers = case.model.layers // s.pp
        told |= {"recompute_granularity": "full_block" if s.recompute == "full" else "sdp_only", "recompute_layer_num": layers}
    return told


def _system(case: PeerCase) -> dict[str, Any]:
    accelerator = case.case.cluster.accelerator
    half = (accelerator.peak_flops.get("bf16") or accelerator.peak_flops.get("fp16") or case.peak_flops) / 1e12
    eight = accelerator.peak_flops.get("fp8", 2e12 * half) / 1e12

    def unit(tflops: float) -> dict[str, Any]:
        return {"tflops": tflops, "efficient_factor": 0.75, "accurate_efficient_factor": {}}

    memory = {"efficient_factor": 0.9, "gbps": accelerator.memory_bandwidth_Bps / 1e9, "latency_us": 40}
    names = ("default", "matmul", "sdp_fwd", "sdp_bwd", "group_matmul")
    node = min(case.domain, case.accelerators)
    return {
        "sys_name": "sheet",
        "num_per_node": node,
        "accelerator": {
            "backend": "cuda",
            "mem_gbs": accelerator.memory_bytes / 2**30,
            "op": {name: unit(half) for name in names} | {name: unit(eight) for name in ("fp8_matmul", "fp8_group_matmul")},
            "bandwidth": dict.fromkeys(("default", "permute_fwd", "permute_bwd", "ce", "ce_fusion"), memory),
            "mode": "roofline",
        },
        "networks": {
            "intra_with_pcie": False,
            "low_intra_node": _network(case.inner.bandwidth_Bps, 10),
            "high_intra_node": _network(case.inner.bandwidth_Bps, 10),
            # of the whole node: the tool divides it by the accelerators of a node
            "inter_node": _network(case.outer.bandwidth_Bps * node, 30),
        },
    }


def _network(bandwidth_Bps: float, latency_us: float) -> dict[str, Any]:
    return {
        "processor_usage": 0.0,
        "bandwidth": {"efficient_factor": 0.5, "gbps": bandwidth_Bps / 1e9, "latency_us": latency_us},
        "op": {name: {"scale": scale, "offset": offset} for name, (scale, offset) in OPERATIONS.items()},
    }

"""llm-analysis (github.com/cli99/llm-analysis): FLOPs over a share of the peak that the user gives (0.5 here, for every row alike).

It says itself that it leaves out the traffic of data and pipeline parallelism and the bubble of the pipeline.
"""

from __future__ import annotations

import importlib
import logging
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.cases import NotExpressibleError, PeerCase

NAME = "llm-analysis"
EFFICIENCY = 0.5
RECOMPUTE = {"none": 0, "selective": 1, "full": 4}


class Peer:
    """Runs llm-analysis from a checkout."""

    def __init__(self, checkout: Path) -> None:
        sys.path.insert(0, str(checkout))
        logging.disable(logging.CRITICAL)
        self.config = importlib.import_module("llm_analysis.config")
        self.analysis = importlib.import_module("llm_analysis.analysis")
        # Its check of its own FLOP count holds for plain MLPs four times as wide as the model, and would refuse every gated one.
        self.analysis.within_range = lambda *_: True

    def predict(self, case: PeerCase) -> float:
        """Step time in s."""
        s, m, job = case.strategy, case.model, case.case.job
        if s.cp > 1:
            raise NotExpressibleError("context parallelism")
        if m.kv_lora_rank:
            raise NotExpressibleError("latent attention")
        if m.experts and (m.shared_ffn or m.dense_layers):
            raise NotExpressibleError("shared experts or dense layers among experts")
        if job.lora:
            raise NotExpressibleError("LoRA")
        if s.tp * s.pp * case.dp != case.accelerators:
            raise NotExpressibleError("accelerators left over")
        try:
            tool = self.analysis.LLMAnalysis(self._model(case), self._gpu(case), parallelism_config=self._parallel(case), flops_efficiency=EFFICIENCY)
            told = tool.training(
                batch_size_per_gpu=s.micro_batch,
                gradient_accumulation_steps=case.micro_batches,
                seq_len=job.sequence_length,
                activation_recomputation=self.analysis.ActivationRecomputation(RECOMPUTE[s.recompute]),
                ds_zero=self.analysis.DSZeRO(3 if s.zero == 3 else 0),
            )
        except (AssertionError, ValueError, ZeroDivisionError) as problem:
            raise NotExpressibleError(str(problem)[:120]) from None
        return float(told["latency_per_iter"])

    def _model(self, case: PeerCase) -> Any:
        m = case.model
        return self.config.ModelConfig(
            name=case.id,
            num_layers=m.layers,
            n_head=m.heads,
            hidden_dim=m.hidden,
            vocab_size=m.vocab,
            max_seq_len=case.case.job.sequence_length,
            num_key_value_heads=m.kv_heads,
            ffn_embed_dim=m.moe_ffn if m.experts else m.ffn,
            moe_num_experts=m.experts or 1,
            moe_top_k=m.topk or 1,
            mlp_gated_linear_units=m.mlp_matrices == 3,
        )

    def _gpu(self, case: PeerCase) -> Any:
        accelerator = case.case.cluster.accelerator
        return self.config.GPUConfig(
            name=accelerator.id,
            mem_per_GPU_in_GB=accelerator.memory_bytes / 1e9,
            hbm_bandwidth_in_GB_per_sec=accelerator.memory_bandwidth_Bps / 1e9,
            intra_node_bandwidth_in_GB_per_sec=case.inner.bandwidth_Bps / 1e9,
            intra_node_min_message_latency=case.inner.latency_s,
            peak_fp16_TFLOPS=case.peak_flops / 1e12,
            # of the whole node, as in its own files (200 and 400 GB/s)
            inter_node_bandwidth_in_GB_per_sec=case.outer.bandwidth_Bps * case.case.cluster.node_size / 1e9,
        )

    def _parallel(self, case: PeerCase) -> Any:
        s = case.strategy
        # "dp" is its word for ranks that share one copy of the weights and gather them for each micro-batch: ZeRO-3 alone.
        return self.config.ParallelismConfig(
            tp_size=s.tp,
            pp_size=s.pp,
            dp_size=case.dp if s.zero == 3 else 1,
            rdp_size=1 if s.zero == 3 else case.dp,
            ep_size=s.ep if case.model.experts else 1,
            sp_size=s.tp if s.sp else 1,
        )

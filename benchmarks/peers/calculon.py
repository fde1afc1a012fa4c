"""Calculon (github.com/calculon-ai/calculon): dense models, tensor and pipeline and data parallelism, ZeRO-1.

System files are made from spec sheets: peak, memory and links from tierspan's catalogue; efficiencies by size of work, efficiencies and
latencies of the links, processor use and the cost of vector work are those of the two system files that Calculon ships for 8 accelerators
(A100 and, for what came later, H100). A gated MLP is given as a plain one of 1.5 times the width (the same FLOPs); fewer key-value
heads than heads and the vocabulary are unknown to it.
"""

from __future__ import annotations

import importlib
import logging
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.cases import NotExpressibleError, OutOfMemoryError, PeerCase

NAME = "Calculon"
GIB = 2**30


class Peer:
    """Runs Calculon from a checkout."""

    def __init__(self, checkout: Path) -> None:
        sys.path.insert(0, str(checkout))
        self.llm = importlib.import_module("calculon.llm.llm").Llm
        self.system = importlib.import_module("calculon.system").System
        io = importlib.import_module("calculon.io")
        self.shipped = {name: io.read_json_file(str(checkout / "systems" / f"{name}.json")) for name in ("a100_80g", "h100_80g_nvl8")}
        self.log = logging.getLogger("calculon")
        self.log.setLevel(logging.CRITICAL)

    def predict(self, case: PeerCase) -> float:
        """Step time in s."""
        try:
            return self._time(case, 1.0)
        except self.llm.Error as problem:
            if "Mem tier" not in str(problem):
                raise NotExpressibleError(str(problem)[:120]) from None
        except AssertionError as problem:
            raise NotExpressibleError(f"assertion: {problem}"[:120]) from None
        # All rows ran: its own time for them is more use to a reader than a refusal, so the check is lifted, and said to be.
        raise OutOfMemoryError(self._time(case, 1000.0))

    def _time(self, case: PeerCase, memory: float) -> float:
        if case.width == "fp4":
            raise NotExpressibleError("FP4")
        datatype = "float8" if case.width == "fp8" else "float16"
        system = self.system(self._system(case, datatype, memory))
        model = self.llm(self.llm.Application(_application(case)), self.log)
        model.compile(system, self.llm.Execution.from_json(_execution(case, datatype)))
        model.run(system)
        return float(model.get_total_time())

    def _system(self, case: PeerCase, datatype: str, memory: float) -> dict[str, Any]:
        accelerator = case.case.cluster.accelerator
        old = any(name in accelerator.id for name in ("a100", "v100"))
        base = self.shipped["a100_80g" if old else "h100_80g_nvl8"]
        shipped = base["matrix"]["float16"]
        vector = base["vector"]["float16"]
        units = {"tflops": case.peak_flops / 1e12, "gflops_efficiency": shipped["gflops_efficiency"]}
        half = accelerator.peak_flops.get("bf16") or accelerator.peak_flops.get("fp16") or case.peak_flops
        slow = {"tflops": half / 1e12 * vector["tflops"] / shipped["tflops"], "gflops_efficiency": vector["gflops_efficiency"]}
        inner, outer = base["networks"]
        return {
            "matrix": {datatype: units},
            "vector": {datatype: slow},
            "mem1": {**base["mem1"], "GiB": memory * accelerator.memory_bytes / GIB, "GBps": accelerator.memory_bandwidth_Bps / 1e9},
            "mem2": base["mem2"],
            "processing_mode": base["processing_mode"],
            "networks": [
                {**inner, "bandwidth": case.inner.bandwidth_Bps / 1e9, "size": case.domain, "must_be_filled": False},
                {**outer, "bandwidth": case.outer.bandwidth_Bps / 1e9, "must_be_filled": False},
            ],
        }


def _application(case: PeerCase) -> dict[str, int]:
    m = case.model
    if m.experts:
        raise NotExpressibleError("experts")
    width = m.ffn * 3 // 2 if m.mlp_matrices == 3 else m.ffn
    return {
        "hidden": m.hidden,
        "feedforward": width,
        "seq_size": case.case.job.sequence_length,
        "attn_heads": m.heads,
        "attn_size": m.head_dim,
        "num_blocks": m.layers,
    }


def _execution(case: PeerCase, datatype: str) -> dict[str, Any]:
    s, job = case.strategy, case.case.job
    if s.cp > 1:
        raise NotExpressibleError("context parallelism")
    if s.zero > 1:
        raise NotExpressibleError(f"ZeRO-{s.zero}")
    if job.lora:
        raise NotExpressibleError("LoRA")
    if s.tp * s.pp * case.dp != case.accelerators:
        raise NotExpressibleError("accelerators left over")
    return {
        "num_procs": case.accelerators,
        "tensor_par": s.tp,
        "pipeline_par": s.pp,
        "data_par": case.dp,
        "tensor_par_net": int(s.tp > case.domain),
        "pipeline_par_net": int(case.accelerators > case.domain),
        "data_par_net": int(s.tp * case.dp > case.domain),
        "batch_size": job.global_batch,
        "microbatch_size": s.micro_batch,
        "datatype": datatype,
        "fused_activation": True,
        "attention_type": "multihead",
        "activation_recompute": {"selective": "attn_only"}.get(s.recompute, s.recompute),
        "pipeline_interleaving": s.vpp if s.pp > 1 else 1,
        "optimizer_sharding": s.zero == 1 and case.dp > 1,
        "tensor_par_comm_type": "rs_ag" if s.sp and s.tp > 1 else "ar",
        "tensor_par_overlap": "none",
        "seq_par_ag_redo": False,
        "data_par_overlap": s.overlap_grad_reduce and case.dp > 1,
        "weight_offload": False,
        "activations_offload": False,
        "optimizer_offload": False,
        "training": True,
    }

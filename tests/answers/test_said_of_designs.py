"""What an answer says where constants come from another part, and where attention is known to run unfused."""

from __future__ import annotations

from tierspan.answers.predict import predict
from tierspan.answers.question import build_question


def reasons(**given: object) -> list[str]:
    asked = {"accelerators": 64, "sequence_length": 4096, "global_batch": 256, "model": "llama-3.1-8b", **given}
    return [a.reason_id for a in predict(build_question(**asked)).assumptions]  # type: ignore[arg-type]


def test_a_part_that_nobody_measured_is_said_to_follow_its_design() -> None:
    assert "predict.accelerator_of_design" in reasons(system="hgx-h800")
    assert "predict.accelerator_of_design" not in reasons(system="dgx-h100")


def test_a_design_of_its_own_is_said_to_start_from_its_ceiling() -> None:
    told = reasons(system="gaudi3-node8")
    assert "predict.accelerator_of_design" not in told
    assert "predict.accelerator_from_ceiling" in told


def test_sinks_that_run_unfused_are_said() -> None:
    def of(stack: str, model: str = "gpt-oss-120b") -> list[str]:
        return reasons(system="dgx-b200", model=model, ep=8, stack=stack)

    assert "predict.sinks_unfused" in of("megatron-bridge-26.02")
    assert "predict.sinks_unfused" not in of("megatron-core")
    assert "predict.sinks_unfused" not in of("megatron-bridge-26.02", "mixtral-8x7b")

"""What a software stack does where the question does not say, and which stack an accelerator usually runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeVar, cast

from tierspan.formats.measurements.stacks import StackDefaults, stack_defaults
from tierspan.quantities.findings import Assumption
from tierspan.specs.hardware import Accelerator
from tierspan.specs.measurement import Stack as StackName
from tierspan.specs.stacks.stack import stack, stacks

T = TypeVar("T")

# The first rule whose words all stand in vendor, kind or id decides.
_USUAL_STACK: Final = (
    (("tpu",), "maxtext-tpu"),
    (("trainium",), "neuronx"),
    (("ascend",), "modellink"),
    (("gaudi",), "habana"),
    (("nvidia",), "megatron-core"),
    (("amd",), "megatron-core"),
)
_UNKNOWN: Final = "unknown"


@dataclass(slots=True)
class Notebook:
    """Takes values and writes down those that nobody gave."""

    values: dict[str, object]
    stack_name: str = ""
    assumptions: list[Assumption] = field(default_factory=list)

    def take(self, name: str, default: T, reason: str = "question.habit", /, **more: object) -> T:
        """The given value of ``name``, else ``default``, noted with its reason."""
        given = self.values.get(name)
        if given is not None:
            return cast("T", given)
        self.note(name, default, reason, **more)
        return default

    def note(self, name: str, value: object, reason: str, /, **more: object) -> None:
        """Write down that ``value`` was taken for ``name``."""
        self.assumptions.append(Assumption(name, value, reason, {"field": name, "stack": self.stack_name, **more}))


def usual_stack(accelerator: Accelerator) -> str:
    """The stack that this accelerator usually runs; ``unknown`` where nobody can tell."""
    words = f"{accelerator.vendor} {accelerator.kind} {accelerator.id} {accelerator.name}".casefold()
    return next((name for needed, name in _USUAL_STACK if all(word in words for word in needed)), _UNKNOWN)


def habits(name: str) -> StackDefaults:
    """The habits of a stack, or of the nearest one of its family that has some."""
    nothing_known = stack_defaults(StackName("", "", None))
    seen: set[str] = set()
    while name in stacks() and name not in seen:
        seen.add(name)
        found = stack_defaults(StackName(name, "", None))
        if found != nothing_known and name != _UNKNOWN:
            return found
        name = stack(name).family
    return nothing_known


def usual_precision(accelerator: Accelerator) -> str:
    """BF16, or FP16 where the sheet names that and no BF16; a sheet that names neither leaves BF16, and the plan is then refused."""
    return "fp16" if "fp16" in accelerator.peak_flops and "bf16" not in accelerator.peak_flops else "bf16"

"""Measurement files: read, typed, and completed into plans that can be predicted."""

from tierspan.formats.measurements.fill import fill_memory, fill_training
from tierspan.formats.measurements.hints import traits
from tierspan.formats.measurements.measured import EXCLUDED_FLAGS, excluded_reason, is_complete, measured_collective_time_us, measured_step_time_s
from tierspan.formats.measurements.reader import read_measurements
from tierspan.formats.measurements.stacks import stack_defaults, stack_of

__all__ = [
    "EXCLUDED_FLAGS",
    "excluded_reason",
    "fill_memory",
    "fill_training",
    "is_complete",
    "measured_collective_time_us",
    "measured_step_time_s",
    "read_measurements",
    "stack_defaults",
    "stack_of",
    "traits",
]

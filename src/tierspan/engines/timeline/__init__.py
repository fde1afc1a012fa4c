"""Pipeline timeline: a step played task by task, the independent second method next to the closed form of ``laws``."""

from tierspan.engines.timeline.engine import play
from tierspan.engines.timeline.result import Span, Timeline
from tierspan.engines.timeline.schedules import Schedule, Task, make_schedule
from tierspan.engines.timeline.work import Bulk, ChunkWork, Inside, Piece, Send, Work

__all__ = ["Bulk", "ChunkWork", "Inside", "Piece", "Schedule", "Send", "Span", "Task", "Timeline", "Work", "make_schedule", "play"]

"""DualPipe: two copies of the model, micro-batches enter at both ends, forward and backward of opposite directions overlap.

DeepSeek-AI 2024, "DeepSeek-V3 Technical Report", section 3.2.1; the eight phases of a rank are those of the published implementation
(github.com/deepseek-ai/DualPipe).
"""

from __future__ import annotations

from collections import deque

from tierspan.engines.timeline.schedules.base import Block, Schedule, Task


def dualpipe(stages: int, micro_batches: int) -> Schedule:
    """Stage s holds chunk 0 at place s of the first copy and chunk 1 at place ``stages - 1 - s`` of the second.

    The first half of the micro-batches takes the first copy. ``stages`` is even, ``micro_batches`` even and at least ``2 stages``.
    """
    ways = (tuple((s, 0) for s in range(stages)), tuple((s, 1) for s in reversed(range(stages))))
    order = tuple(_Rank(stages, micro_batches, s).run() for s in range(stages))
    return Schedule("dualpipe", micro_batches, ways, order)


class _Rank:
    """The order of one rank; direction 0 is the one whose end is nearer to the rank's front, 1 the opposite."""

    def __init__(self, stages: int, micro_batches: int, stage: int) -> None:
        self.stages, self.half_batches = stages, micro_batches // 2
        self.swap = int(stage >= stages // 2)
        self.depth = min(stage, stages - 1 - stage)
        self.out: list[Block] = []
        self.waiting: deque[Task] = deque()
        self.forwards, self.backwards = [0, 0], [0, 0]

    def _next(self, counts: list[int], direction: int) -> tuple[int, int]:
        chunk = direction ^ self.swap
        micro = counts[chunk] + chunk * self.half_batches
        counts[chunk] += 1
        return micro, chunk

    def _forward(self, direction: int) -> Block:
        return (Task("F", *self._next(self.forwards, direction)),)

    def _backward(self, direction: int, split: bool = False) -> Block:
        at = self._next(self.backwards, direction)
        if split:
            self.waiting.append(Task("W", *at))
            return (Task("B", *at),)
        return (Task("B", *at), Task("W", *at))

    def _weight(self) -> None:
        self.out.append((self.waiting.popleft(),))

    def run(self) -> tuple[Block, ...]:
        """The eight phases; inner ranks (greater depth) turn round earlier."""
        half, depth, out = self.stages // 2, self.depth, self.out
        inner = half - depth - 1
        out += [self._forward(0) for _ in range(2 * inner)]
        for _ in range(depth + 1):
            out += [self._forward(0), self._forward(1)]
        for _ in range(inner):
            out.append(self._backward(1, split=True))
            self._weight()
            out.append(self._forward(1))
        for i in range(self.half_batches - self.stages + depth + 1):
            if i == 0 and inner == 0:
                # on the innermost ranks this forward feeds the very next backward of the neighbour: it does not wait for a partner
                out += [self._forward(0), self._backward(1)]
            else:
                out.append((*self._forward(0), *self._backward(1)))
            out.append((*self._forward(1), *self._backward(0)))
        for _ in range(inner):
            out.append(self._backward(1))
            out.append((*self._forward(1), *self._backward(0)))
        split = False
        for i in range(depth + 1):
            split = split or (i == (depth + 1) // 2 and depth % 2 == 1)
            out.append(self._backward(1, split))
            split = split or (i == (depth + 1) // 2 and depth % 2 == 0)
            out.append(self._backward(0, split))
        for _ in range(inner):
            self._weight()
            out.append(self._backward(0, split=True))
        while self.waiting:
            self._weight()
        return tuple(out)

"""One rank of a stage: its streams (compute, host, one for each tier) and what it has done so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tierspan.engines.timeline.result import Span, SpanKind
from tierspan.engines.timeline.schedules.base import Block, Task, label
from tierspan.engines.timeline.work import Bulk, ChunkWork, Piece, Work


class Rank:
    """Times are seconds from the start of the step. Streams work first in, first out; tasks come in the order of the schedule."""

    def __init__(self, chunks: Sequence[ChunkWork], micro_batches: Sequence[int], work: Work, record: bool) -> None:
        self.chunks, self.work = chunks, work
        self.left = list(micro_batches)
        self.free = self.host_free = self.last_part = 0.0
        self.first_start: float | None = None
        self.tier_free: dict[int, float] = defaultdict(float)
        self.ends: list[tuple[float, str, int]] = []
        self.tail: list[tuple[Bulk, int]] = []
        self.compute_s = self.bubble_s = 0.0
        self.exposed: dict[tuple[str, int], float] = defaultdict(float)
        self.beside: list[tuple[float, float]] = []
        self.held = self.peak = 0
        self.spans: list[Span] | None = [] if record else None
        for i, bulk in ((i, bulk) for i, chunk in enumerate(chunks) for bulk in chunk.first if bulk.exposed_s > 0):
            # what never overlaps is gathered before the stage does anything
            self._show_bulk(self.free, self.free + bulk.exposed_s, bulk.tier, "gather", bulk.kind, i, exposed_s=bulk.exposed_s)
            self.exposed[bulk.kind, bulk.tier] += bulk.exposed_s
            self.free += bulk.exposed_s
            self.tier_free[bulk.tier] = self.last_part = self.free
        self.hold = self.free
        self.shared: dict[int, float] = {}
        # the whole parameters have their place already, so these gathers run ahead from the start of the step
        self.coming: list[dict[int, tuple[float, float, str]]] = []
        for i, chunk in enumerate(chunks):
            flows = {}
            for tier, (seconds, kind) in _by_tier(chunk.first).items():
                begin = self.tier_free[tier]
                self.tier_free[tier] = begin + seconds
                flows[tier] = (begin, begin + seconds, kind)
                self._show_bulk(begin, begin + seconds, tier, "gather", kind, i)
                self.beside.append((begin, begin + seconds))
            self.coming.append(flows)

    def _piece(self, kind: str, chunk: int) -> Piece:
        c = self.chunks[chunk]
        return c.forward if kind == "F" else c.backward if kind == "B" else c.weight

    def _show(
        self, start: float, end: float, stream: str, text: str, kind: SpanKind, tasks: Block = (), traffic: str = "", exposed_s: float = 0.0
    ) -> None:
        # a block without work (a chunk that holds no layer) is passed all the same
        if self.spans is not None and (end > start or kind == "block"):
            self.spans.append(Span(start, end, stream, text, kind, tasks, None, traffic, exposed_s))

    def _show_bulk(
        self, start: float, end: float, tier: int, kind: SpanKind, traffic: str, chunk: int | None, tasks: Block = (), exposed_s: float = 0.0
    ) -> None:
        if self.spans is not None and end > start:
            self.spans.append(Span(start, end, f"tier {tier}", f"{kind} {traffic}", kind, tasks, chunk, traffic, exposed_s))

    def run(self, block: Block, arrival: float, sent: float, sends: Block) -> tuple[float, float]:
        """Work off ``block``, whose inputs have arrived at ``arrival`` (the last one left its sender at ``sent``).

        Returns the time when its results leave, and when the stage is free again (later where the results of ``sends``, which leave the
        stage, hold it up).
        """
        compute = host = beside = covered = 0.0
        both = len(block) > 1 and block[0].kind == "F"
        hides: list[tuple[str, int, float]] = []
        for task in block:
            piece = self._piece(task.kind, task.chunk)
            compute += piece.compute_s
            host += piece.host_s
            for part in piece.traffic:
                beside += part.hidden_s
                if both and part.kind in self.work.covered:
                    covered += part.exposed_s
                    hides.append((part.kind, part.tier, part.exposed_s))
                else:
                    self.exposed[part.kind, part.tier] += part.exposed_s
                    compute += part.exposed_s
                    self.compute_s -= part.exposed_s
        rest = max(covered - compute, 0.0)
        for kind, tier, seconds in hides:
            self.exposed[kind, tier] += rest * seconds / covered if rest else 0.0
        compute += rest
        self.compute_s -= rest
        beside = min(beside + covered - rest, compute)
        start, end = self._place(block, compute, host, arrival, sent, beside)
        self._count(block)
        text = "+".join(label(task) for task in block) if self.spans is not None else ""
        self._show(start, end, "compute", text, "block", block)
        self._inside(block, start, end, rest / covered if covered else 1.0, both)
        leave = self._after(block, start, end)
        self.free = leave
        if sends:
            tier, hold = self.work.send.tier, self.work.send.exposed * self.work.send.seconds * len(sends)
            self.exposed["pp", tier] += hold
            self.free = leave + hold
            if self.work.send.seconds > 0:
                self._show(leave, leave + self.work.send.seconds, f"tier {tier}", f"send {text}", "send", sends, "pp", hold)
                self.beside.append((leave, leave + self.work.send.seconds))
        return leave, self.free

    def _place(self, block: Block, compute: float, host: float, arrival: float, sent: float, beside: float) -> tuple[float, float]:
        """Start and end on the compute stream, with gathers before and, layer by layer, during the block."""
        ready = max(self.free, arrival)
        wait = ready - self.free
        if wait > 0:
            # what of the gap the last input was on its way is traffic, the rest is the schedule's
            travelling = min(wait, max(arrival - max(sent, self.free), 0.0))
            if travelling > 0:
                self.exposed["pp", self.work.send.tier] += travelling
            self.bubble_s += wait - travelling
        launch = self.host_free
        if host > 0:
            self.host_free = launch + host
            ready_host = max(ready, launch)
            self.compute_s += ready_host - ready
            ready = ready_host
            if self.spans is not None:
                self._show(launch, self.host_free, "host", "launch " + "+".join(label(t) for t in block), "launch", block)
        start, end = self._gather(block, ready, compute)
        if self.work.contention > 1.0:
            slower = self._contended(start, compute, beside)
            end += slower
            self.compute_s += slower
        if self.host_free > end:
            self.compute_s += self.host_free - end
            end = self.host_free
        self.compute_s += compute
        if self.first_start is None:
            self.first_start = start
        return start, end

    def _gather(self, block: Block, ready: float, compute: float) -> tuple[float, float]:
        """Gathers run one part ahead of compute; gathers and the scatters of the same block share the stream of their tier."""
        before: list[Bulk] = []
        behind: dict[int, float] = defaultdict(float)
        start = ready
        for task in block:
            c = self.chunks[task.chunk]
            if task.kind != "W" and c.gather is not None:
                before.append(c.gather)
                late = c.gather.exposed_s
                self.exposed[c.gather.kind, c.gather.tier] += late
                self._show_bulk(start, start + late, c.gather.tier, "gather", c.gather.kind, task.chunk, (task,), late)
                start += late
            if task.kind == "B" and c.scatter is not None:
                behind[c.scatter.tier] += c.scatter.seconds
        self.shared = {}
        parts = max((bulk.parts for bulk in before), default=1)
        part = pace = compute / parts
        flows = _by_tier(before)
        firsts: dict[int, float] = {}
        for tier, (seconds, kind) in flows.items():
            firsts[tier] = first = max(self.tier_free[tier], self.last_part) + seconds / parts
            if first > start:
                self.exposed[kind, tier] += first - start
                start = first
        for tier, (seconds, kind) in flows.items():
            step = (seconds + behind[tier]) / parts
            if step > pace:
                self.exposed[kind, tier] += (parts - 1) * (step - pace)
                pace = step
        last = start + (parts - 1) * pace
        for tier, (seconds, kind) in flows.items():
            begin = firsts[tier] - seconds / parts
            # the gather of the last part runs while the part before it computes
            done = max(firsts[tier], last - pace + seconds / parts) if parts > 1 else firsts[tier]
            self._show_bulk(begin, done, tier, "gather", kind, None, tuple(t for t in block if t.kind != "W"))
            self.tier_free[tier] = done
            self.beside.append((begin, done))
            self.shared[tier] = begin + seconds
        end = last + part
        for task in block:
            if task.kind == "F" and self.coming[task.chunk]:
                start, end = self._first(task.chunk, start, end)
        self.last_part = end - part
        return start, end

    def _first(self, chunk: int, start: float, end: float) -> tuple[float, float]:
        """The first forward pass of a chunk follows the parts of its parameters as they come in."""
        parts = max((bulk.parts for bulk in self.chunks[chunk].first), default=1)
        for tier, (begin, done, kind) in self.coming[chunk].items():
            later = max(start, begin + (done - begin) / parts)
            last = max(end + later - start, done + (end - start) / parts)
            self.exposed[kind, tier] += last - end
            start, end = later, last
        self.coming[chunk] = {}
        return start, end

    def _after(self, block: Block, start: float, end: float) -> float:
        """Gradients: scattered after each backward pass, reduced after a chunk's last one, bucket by bucket beside compute."""
        leave = end
        ready: list[tuple[Bulk, Task]] = []
        for task in block:
            c = self.chunks[task.chunk]
            if task.kind == "B" and c.scatter is not None:
                late = c.scatter.exposed_s
                self._show_bulk(leave, leave + late, c.scatter.tier, "reduce", c.scatter.kind, task.chunk, (task,), late)
                leave += late
                self.exposed[c.scatter.kind, c.scatter.tier] += late
                ready.append((c.scatter, task))
            if task.kind == "W":
                self.left[task.chunk] -= 1
                if not self.left[task.chunk]:
                    ready += [(bulk, task) for bulk in c.reduce]
                    self.tail += [(bulk, task.chunk) for bulk in c.reduce if bulk.exposed_s > 0]
        for bulk, task in sorted(ready, key=lambda one: -one[0].parts):
            # each is ready part by part as the block computes; the finest cut begins first
            tier, seconds, kind, parts = bulk.tier, bulk.seconds, bulk.kind, bulk.parts
            begin = max(self.tier_free[tier], start + (end - start) / parts)
            # scatters of a block that gathers on this tier ran between its gathers, at the pace of the block
            done = max(self.shared.pop(tier, begin) + seconds, end + seconds / parts)
            self.tier_free[tier] = done
            self.ends.append((done, kind, tier))
            self._show_bulk(begin, done, tier, "reduce", kind, task.chunk, (task,) if task.kind == "B" else ())
            self.beside.append((begin, done))
        return leave

    def _inside(self, block: Block, start: float, end: float, left: float, both: bool) -> None:
        """``left`` of the traffic that opposite micro-batches (``both``) cover is exposed all the same."""
        if self.spans is None:
            return
        for task in block:
            for part in self._piece(task.kind, task.chunk).traffic:
                until = min(start + part.exposed_s + part.hidden_s, end)
                shown = part.exposed_s * (left if both and part.kind in self.work.covered else 1.0)
                self._show(start, until, f"tier {part.tier}", f"{part.kind} {label(task)}", "inside", (task,), part.kind, shown)

    def _contended(self, start: float, compute: float, beside: float) -> float:
        """Seconds that ``compute`` loses while traffic runs beside it: known intervals of the tier streams, and traffic inside the block."""
        factor = self.work.contention
        lost, done, now = 0.0, 0.0, start
        self.beside = sorted(interval for interval in self.beside if interval[1] > start)
        for begin, finish in self.beside:
            begin, finish = max(begin, now), max(finish, now)
            if done + (begin - now) >= compute:
                break
            done += begin - now
            slow = min(finish - begin, (compute - done) * factor)
            done += slow / factor
            lost += slow * (1.0 - 1.0 / factor)
            now = begin + slow
        own = min(beside, max(compute - done, 0.0) * factor)
        return lost + own * (1.0 - 1.0 / factor)

    def _count(self, block: Block) -> None:
        """Activations are kept from the forward pass until the gradient of the weight is there."""
        self.held += sum(task.kind == "F" for task in block)
        self.peak = max(self.peak, self.held)
        self.held -= sum(task.kind == "W" for task in block)

    def finish(self, end_s: float) -> float:
        """End of the stage: gradients still under way, what never overlaps, then the optimizer."""
        now = self.free
        for done, kind, tier in sorted(self.ends):
            if done > now:
                self.exposed[kind, tier] += done - now
                now = done
        for bulk, chunk in self.tail:
            late = bulk.exposed_s
            self.exposed[bulk.kind, bulk.tier] += late
            self._show_bulk(now, now + late, bulk.tier, "reduce", bulk.kind, chunk, exposed_s=late)
            now += late
        self._show(now, now + end_s, "compute", "optimizer", "optimizer")
        return now + end_s


def _by_tier(bulks: Sequence[Bulk]) -> dict[int, tuple[float, str]]:
    """Seconds on each tier: what comes together shares the stream of its tier."""
    out: dict[int, tuple[float, str]] = {}
    for bulk in bulks:
        if bulk.seconds > 0:
            out[bulk.tier] = (out.get(bulk.tier, (0.0, ""))[0] + bulk.seconds, bulk.kind)
    return out

"""What the timeline is played from: how long each task of each chunk takes, and what it sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tierspan.quantities.errors import InputError


@dataclass(frozen=True, slots=True)
class Inside:
    """Traffic inside a task (TP, CP, EP) on tier ``tier``: ``exposed_s`` stops its compute, ``hidden_s`` runs beside it."""

    kind: str
    tier: int
    exposed_s: float
    hidden_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Piece:
    """One task: ``compute_s`` on the device, ``traffic`` inside it, ``host_s`` to launch it (the host runs ahead of the device)."""

    compute_s: float
    traffic: tuple[Inside, ...] = ()
    host_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Bulk:
    """Traffic of parameters or gradients of one chunk on tier ``tier``.

    ``seconds`` may overlap compute, layer by layer or bucket by bucket in ``parts`` equal parts; ``exposed_s`` comes on top and never does.
    """

    seconds: float
    tier: int
    parts: int = 1
    exposed_s: float = 0.0
    kind: str = "dp"


NOTHING = Piece(0.0)


@dataclass(frozen=True, slots=True)
class ChunkWork:
    """The tasks of one chunk of one stage.

    ``forward``, ``backward`` (gradient of the input, with what is computed again), ``weight`` (gradient of the weight). ``first``: gathered
    once, before the chunk's first forward pass. ``gather``: before every forward and backward pass (sharded parameters). ``scatter``: after
    every backward pass. ``reduce``: once, as the chunk's last gradient is computed.
    """

    forward: Piece
    backward: Piece
    weight: Piece = NOTHING
    first: tuple[Bulk, ...] = ()
    gather: Bulk | None = None
    scatter: Bulk | None = None
    reduce: tuple[Bulk, ...] = ()


@dataclass(frozen=True, slots=True)
class Send:
    """Activations or their gradients to the neighbour on tier ``tier``.

    ``seconds`` until they arrive; the share ``exposed`` (0 to 1) of it holds up the sender's compute.
    """

    seconds: float = 0.0
    tier: int = 0
    exposed: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """Everything a step does: ``chunks[stage][chunk]``, ``send`` between neighbours, ``end_s`` at the end of each stage (optimizer).

    ``covered``: kinds of traffic that a block of two opposite micro-batches hides behind the other's compute (DualPipe).
    ``contention``: compute takes so many times as long while traffic runs beside it (1: not at all).
    """

    chunks: tuple[tuple[ChunkWork, ...], ...]
    send: Send = field(default_factory=Send)
    end_s: tuple[float, ...] = ()
    covered: frozenset[str] = frozenset({"ep"})
    contention: float = 1.0

    def check(self, stages: int, chunks: int) -> None:
        """Check that the shape is that of the schedule and that no time is negative.

        Raises:
            InputError: another number of stages or chunks, a negative time, a contention below 1 or a share outside 0 to 1.
        """
        if len(self.chunks) != stages or any(len(row) != chunks for row in self.chunks) or (self.end_s and len(self.end_s) != stages):
            raise InputError("timeline.shape", stages=stages, chunks=chunks)
        for name, value in self._times():
            if not 0.0 <= value < float("inf"):
                raise InputError("timeline.time", name=name, value=value)
        if not self.contention >= 1.0:
            raise InputError("timeline.contention", value=self.contention)
        if not 0.0 <= self.send.exposed <= 1.0:
            raise InputError("timeline.time", name="send.exposed", value=self.send.exposed)

    def _times(self) -> Iterator[tuple[str, float]]:
        yield "send", self.send.seconds
        yield from (("end", value) for value in self.end_s)
        for chunk in (chunk for row in self.chunks for chunk in row):
            for name, piece in (("forward", chunk.forward), ("backward", chunk.backward), ("weight", chunk.weight)):
                yield name, piece.compute_s
                yield f"{name}.host", piece.host_s
                for part in piece.traffic:
                    yield part.kind, part.exposed_s
                    yield part.kind, part.hidden_s
            for bulk in (*chunk.first, *chunk.reduce, *(b for b in (chunk.gather, chunk.scatter) if b is not None)):
                yield bulk.kind, bulk.seconds
                yield bulk.kind, bulk.exposed_s

"""The arena that a model needs: the planned head of the arena, and the estimated tail."""

from __future__ import annotations

from dataclasses import dataclass

from ..foundation.columns import INTEGER, LIST, Column, Declared, attributes, within
from ..foundation.limits import naming_model
from ..model.model import Model
from .lifetimes import Buffer, planned_buffers
from .planner import plan, total_size
from .preparation import Preparation
from .tail import planning_size, tail_size

BASIS = (
    "head: activations and scratch buffers of the reference kernels, as the greedy planner places them; "
    "tail: an estimate for a 32-bit build, from the sizes of its structures, and from kernel data that was measured on x86-64; "
    "planning: an estimate of the memory that the planner needs, and that the head uses later; "
    "total: the tail plus the larger of head and planning. CMSIS-NN's scratch buffers, for example, have other sizes, so measure "
    "the arena with arena_used_bytes() on the device. Leave a margin, because allocation can need more bytes than are used at "
    "the end"
)
"""An explanation of the sizes."""


@dataclass(frozen=True, slots=True)
class PlacedBuffer(Declared):
    """A buffer with its place in the head."""

    columns = (
        *within("buffer", [Column("name"), *attributes("subgraph", "tensor", "node", type=INTEGER)]),
        *(Column("bytes", INTEGER, source="buffer.requirement.size"), Column("offset", INTEGER)),
        Column("first_step", INTEGER, source="buffer.requirement.first"),
        Column("last_step", INTEGER, source="buffer.requirement.last"),
    )

    buffer: Buffer
    offset: int

    @property
    def area(self) -> int:
        """The size in bytes, multiplied by the number of steps in which the buffer is needed."""
        wanted = self.buffer.requirement
        return wanted.size * (wanted.last - wanted.first + 1)


@dataclass(frozen=True, slots=True)
class Arena(Declared):
    """The memory of a model, in bytes."""

    columns = (
        *(Column("head", INTEGER), Column("tail_estimate", INTEGER, source="tail")),
        *(Column("planning_estimate", INTEGER, source="planning"), Column("total_estimate", INTEGER, source="total")),
        *(Column("basis", source=lambda _: BASIS), Column("buffers", LIST, parts=PlacedBuffer.columns)),
    )

    head: int
    """The plan of activations and scratch buffers."""
    tail: int
    """The estimated size of the data that stays in memory: structures, kernel data and variables."""
    planning: int
    """The estimated bytes that the planner needs. The head later uses the same memory."""
    buffers: tuple[PlacedBuffer, ...]

    @property
    def total(self) -> int:
        """The estimated size of the arena."""
        return self.tail + max(self.head, self.planning)


def plan_arena(model: Model, preparation: Preparation) -> Arena:
    """Return the arena of a model. Raise LimitError if planning its buffers takes too long."""
    buffers = planned_buffers(model, preparation)
    requirements = [buffer.requirement for buffer in buffers]
    with naming_model(model.path):
        offsets = plan(requirements)
    return Arena(
        total_size(requirements, offsets),
        tail_size(preparation),
        planning_size(preparation, len(buffers)),
        tuple(map(PlacedBuffer, buffers, offsets)),
    )

"""The arena that a model needs: the planned head of the arena, and the estimated tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
class PlacedBuffer:
    """A buffer with its place in the head."""

    buffer: Buffer
    offset: int

    @property
    def area(self) -> int:
        """The size in bytes, multiplied by the number of steps in which the buffer is needed."""
        wanted = self.buffer.requirement
        return wanted.size * (wanted.last - wanted.first + 1)


@dataclass(frozen=True, slots=True)
class Arena:
    """The memory of a model, in bytes."""

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

    def to_dict(self) -> dict[str, Any]:
        """Return the arena as plain data."""
        return {
            "head": self.head,
            "tail_estimate": self.tail,
            "planning_estimate": self.planning,
            "total_estimate": self.total,
            "basis": BASIS,
            "buffers": [
                {
                    "name": placed.buffer.name,
                    "subgraph": placed.buffer.subgraph,
                    "tensor": placed.buffer.tensor,
                    "node": placed.buffer.node,
                    "bytes": placed.buffer.requirement.size,
                    "offset": placed.offset,
                    "first_step": placed.buffer.requirement.first,
                    "last_step": placed.buffer.requirement.last,
                }
                for placed in self.buffers
            ],
        }


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

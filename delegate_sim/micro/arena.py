"""The arena that a model needs: the plan of its head, and an estimate of its tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model.model import Model
from .lifetimes import Buffer, planned_buffers
from .planner import plan, total_size
from .preparation import Preparation


@dataclass(frozen=True, slots=True)
class PlacedBuffer:
    """A buffer with its place in the head."""

    buffer: Buffer
    offset: int


@dataclass(frozen=True, slots=True)
class Arena:
    """The memory of a model: ``head`` is the size of the plan of activations and scratch buffers."""

    head: int
    buffers: tuple[PlacedBuffer, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the arena as a dictionary, for JSON."""
        return {"head": self.head}


def plan_arena(model: Model, preparation: Preparation) -> Arena:
    """Return the arena of a model."""
    buffers = planned_buffers(model, preparation)
    requirements = [buffer.requirement for buffer in buffers]
    offsets = plan(requirements)
    return Arena(total_size(requirements, offsets), tuple(map(PlacedBuffer, buffers, offsets)))

"""The greedy planner: places for buffers in the head of the arena.

Source: ``GreedyMemoryPlanner`` (``memory_planner/greedy_memory_planner.cc``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 16
ONLINE = -1
"""The value of ``offline_offset`` if the model file does not fix the offset of a buffer."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A buffer to place: its size, the first and last step that use it, and its offset if the model file fixes the offset."""

    size: int
    first: int
    last: int
    offline_offset: int = ONLINE


def aligned(size: int) -> int:
    """Return a size rounded up to the alignment of buffers."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def plan(requirements: Sequence[Requirement]) -> tuple[int, ...]:
    """Return the offset of each buffer.

    Buffers with a fixed offset come first. All other buffers are placed from the largest to the smallest. A buffer gets the first
    gap that is large enough between the placed buffers that are used at the same time.
    """
    offline = [index for index, wanted in enumerate(requirements) if wanted.offline_offset != ONLINE]
    online = [index for index, wanted in enumerate(requirements) if wanted.offline_offset == ONLINE]
    # The planner reverses the list before a stable sort, so the last of several equal buffers comes first.
    online.sort(key=lambda index: (-requirements[index].size, -index))
    offsets = [0] * len(requirements)
    starts: list[int] = []
    placed: list[tuple[int, int, int, int]] = []
    for index in (*offline, *online):
        wanted = requirements[index]
        offset = _first_gap(placed, wanted) if wanted.offline_offset == ONLINE else wanted.offline_offset
        offsets[index] = offset
        position = bisect_right(starts, offset)
        starts.insert(position, offset)
        placed.insert(position, (offset, offset + wanted.size, wanted.first, wanted.last))
    return tuple(offsets)


def _first_gap(placed: Sequence[tuple[int, int, int, int]], wanted: Requirement) -> int:
    size, first, last = wanted.size, wanted.first, wanted.last
    offset = 0
    for start, end, created, used in placed:
        if created <= last and first <= used:
            if start - offset >= size:
                return offset
            offset = max(offset, end)
    return offset


def total_size(requirements: Sequence[Requirement], offsets: Sequence[int]) -> int:
    """Return the size of a plan in bytes."""
    return max([offset + wanted.size for wanted, offset in zip(requirements, offsets, strict=True)], default=0)

"""The greedy planner: places for buffers in the head of the arena.

Source: ``GreedyMemoryPlanner`` (``memory_planner/greedy_memory_planner.cc``).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised

_MOST_PAIRS = 12_500_000
"""Largest number of pairs of buffers that are used at the same time. Planning compares each of these pairs."""
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
    gap that is large enough between the placed buffers that are used at the same time. Raise LimitError if too many pairs of
    buffers are used at the same time.
    """
    pairs = count_pairs(requirements)
    if pairs > raised(_MOST_PAIRS):
        words = f"{pairs:,} pairs of buffers are used at the same time, too many for a memory plan"
        raise LimitError(f"{words}{how_to_raise()}")
    offline = [index for index, wanted in enumerate(requirements) if wanted.offline_offset != ONLINE]
    online = [index for index, wanted in enumerate(requirements) if wanted.offline_offset == ONLINE]
    # The planner reverses the list before a stable sort, so the last of several equal buffers comes first.
    online.sort(key=lambda index: (-requirements[index].size, -index))
    offsets = [0] * len(requirements)
    placed = _PlacedBuffers(requirements)
    for index in (*offline, *online):
        wanted = requirements[index]
        is_online = wanted.offline_offset == ONLINE
        offsets[index] = _first_gap(placed.used_with(wanted), wanted.size) if is_online else wanted.offline_offset
        placed.add(wanted, offsets[index])
    return tuple(offsets)


def count_pairs(requirements: Sequence[Requirement]) -> int:
    """Return the number of pairs of buffers that are used at the same time."""
    ends = sorted([wanted.last for wanted in requirements])
    starts = sorted([wanted.first for wanted in requirements])
    # The buffers that are created before a buffer, and that are still used when the buffer is created.
    return sum([number - bisect_left(ends, first) for number, first in enumerate(starts)])


_start, _end = itemgetter(0), itemgetter(1)
_Span = tuple[int, int]
"""The offset of one or several adjacent buffers, and the offset of their end."""


class _PlacedBuffers:
    """The placed buffers, by the steps that use them.

    The steps are the leaves of a binary tree, in which the nodes ``2 * n`` and ``2 * n + 1`` are below node ``n``. So few nodes
    have a step, and a range of steps consists of few nodes.
    """

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        steps = sorted({step for wanted in requirements for step in (wanted.first, wanted.last)})
        self._leaves = {step: len(steps) + number for number, step in enumerate(steps)}
        self._used: dict[int, list[_Span]] = {}
        """For each node of the tree, the memory that all its steps use, as spans with gaps between them, in order."""
        self._created: dict[int, list[_Span]] = {}
        """For each node of the tree, the memory of buffers that its steps create, as spans with gaps between them, in order."""

    def add(self, wanted: Requirement, offset: int) -> None:
        span = offset, offset + wanted.size
        first, last = self._leaves[wanted.first], self._leaves[wanted.last]
        for node in _nodes_of_range(first, last):
            _add(self._used.setdefault(node, []), *span)
        for node in _nodes_of_step(first):
            _add(self._created.setdefault(node, []), *span)

    def used_with(self, wanted: Requirement) -> list[_Span]:
        """Return the memory that is used at the same time as a buffer, in order. Spans may overlap."""
        first, last = self._leaves[wanted.first], self._leaves[wanted.last]
        spans: list[_Span] = []
        for node in _nodes_of_step(first):
            spans += self._used.get(node, ())
        for node in _nodes_of_range(first + 1, last):
            spans += self._created.get(node, ())
        spans.sort()
        return spans


def _add(spans: list[_Span], start: int, end: int) -> None:
    first = bisect_left(spans, start, key=_end)
    last = bisect_right(spans, end, key=_start)
    if first < last:
        start, end = min(start, spans[first][0]), max(end, spans[last - 1][1])
    spans[first:last] = [(start, end)]


def _nodes_of_step(leaf: int) -> Iterator[int]:
    while leaf:
        yield leaf
        leaf //= 2


def _nodes_of_range(first: int, last: int) -> Iterator[int]:
    end = last + 1
    while first < end:
        if first % 2:
            yield first
            first += 1
        if end % 2:
            end -= 1
            yield end
        first //= 2
        end //= 2


def _first_gap(placed: Sequence[_Span], size: int) -> int:
    offset = 0
    for start, end in placed:
        if start - offset >= size:
            return offset
        offset = max(offset, end)
    return offset


def total_size(requirements: Sequence[Requirement], offsets: Sequence[int]) -> int:
    """Return the size of a plan in bytes."""
    return max([offset + wanted.size for wanted, offset in zip(requirements, offsets, strict=True)], default=0)

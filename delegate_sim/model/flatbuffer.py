"""The tables and vectors of a flatbuffer, read column by column through numpy, and never trusted.

Each vector of tables (tensors, operators, ...) is read with a handful of array operations, whatever its length and however
many subgraphs it is spread over. Every position is checked against the size of the file before it is followed, and what all
tables and vectors together claim to hold is checked against the size of the file, so that however many references lead to one
place, memory and time stay proportional to that size.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..limits import how_to_raise, raised
from .model import OPTIONAL_TENSOR

IDENTIFIER = b"TFL3"
_SMALLEST_TABLE = 8
"""Bytes: the reference to it and its own reference to a vtable."""
_SMALLEST_VTABLE = 4
_SHARING = 2
"""How many times the size of the file its parts may claim in all, since a writer may store equal parts only once."""
_GREATEST_STRUCTURE = 1 << 27
"""Bytes that tables, names and shapes may take, whatever the size of the file: about a million nodes."""
Positions = npt.NDArray[np.int64]
_Item = TypeVar("_Item")


class Malformed(Exception):
    """What is wrong with a file, worded to follow its name."""


class Flatbuffer:
    """The bytes, with gathers of little-endian numbers at any positions, and a budget of what may be read from them."""

    def __init__(self, content: memoryview) -> None:
        self.content = content
        self.size = len(content)
        if self.size == 0:
            raise Malformed("is empty")
        if self.size < 8:
            raise Malformed(f"is {self.size} byte{'s' if self.size > 1 else ''} long, too short for a TFLite model")
        found = bytes(content[4:8])
        if found != IDENTIFIER:
            raise Malformed(f"is not a TFLite model: the identifier at offset 4 is {found!r}, not {IDENTIFIER!r}")
        self._views: dict[str, npt.NDArray[Any]] = {}
        self._most = raised(_GREATEST_STRUCTURE)
        self._budget = min(_SHARING * self.size, self._most)

    def spend(self, amount: int, what: str) -> None:
        """Count bytes that tables or vectors claim to take; raises once all together exceed what the file can hold."""
        self._budget -= amount
        if self._budget < 0 and _SHARING * self.size > self._most:
            raise Malformed(f"has tables, names and shapes of more than {self._most >> 20:,} MiB{how_to_raise()}")
        if self._budget < 0:
            raise Malformed(f"is malformed: with {what}, its parts claim far more bytes than the file holds")

    def gather(self, kind: str, positions: Positions, what: str) -> npt.NDArray[Any]:
        """Read one number of numpy type ``kind`` at each position."""
        if not len(positions):
            return np.empty(0, kind)
        view = self._views.get(kind)
        if view is None:
            length = max(self.size - np.dtype(kind).itemsize + 1, 0)
            view = self._views[kind] = np.ndarray((length,), kind, self.content, strides=(1,))
        if int(positions.view(np.uint64).max()) >= len(view):  # negative positions exceed it as well
            raise Malformed(f"is truncated or malformed: {what} lies outside the file")
        values: npt.NDArray[Any] = view[positions]
        return values

    def follow(self, positions: Positions, what: str) -> Positions:
        """Return where the offsets at these positions point; 0 (absent) stays 0."""
        targets = _nowhere(positions)
        present = positions > 0
        located = positions[present]
        targets[present] = located + self.gather("<u4", located, what)
        return targets

    def vectors(self, positions: Positions, width: int, what: str) -> tuple[Positions, Positions]:
        """Return (start, count) of the vectors that the offsets at these positions point to; absent ones are (0, 0)."""
        targets = self.follow(positions, what)
        counts = _nowhere(targets)
        present = targets > 0
        if not present.any():
            return targets, counts
        counts[present] = self.gather("<u4", targets[present], what)
        starts = np.where(present, targets + 4, 0)
        if bool((starts + counts * width > self.size).any()):
            raise Malformed(f"is truncated or malformed: {what} runs past the end of the file")
        return starts, counts

    def numbers(self, positions: Positions, kind: str, what: str) -> tuple[npt.NDArray[Any], Positions]:
        """Read the vectors of numbers that the offsets at these positions point to: all end to end, and each one's length."""
        width = np.dtype(kind).itemsize
        starts, counts = self.vectors(positions, width, what)
        self.spend(int(counts.sum()) * width, what)
        return self.gather(kind, _elements(starts, counts, width), what), counts

    def strings(self, positions: Positions, what: str) -> list[str]:
        """Read the strings that the offsets at these positions point to; absent ones are empty."""
        starts, counts = self.vectors(positions, 1, what)
        self.spend(int(counts.sum()), what)
        content = self.content
        return [
            str(content[start : start + count], "utf-8", "replace")
            for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        ]

    def root(self, name: str) -> Tables:
        """Return the table that the file begins with."""
        return Tables(self, name, self.gather("<u4", np.zeros(1, np.int64), "the root").astype(np.int64))


class Tables:
    """Tables of one kind, read by column. A position of 0 is an absent table, whose fields are absent."""

    def __init__(self, buffer: Flatbuffer, name: str, positions: Positions) -> None:
        self.buffer = buffer
        self.what = f"one of its {name} tables"
        self.positions = positions
        self.present = positions > 0
        self._located = positions[self.present]
        buffer.spend(len(self._located) * _SMALLEST_TABLE, f"its {name} tables")
        self._vtables = self._located - buffer.gather("<i4", self._located, self.what)
        self._sizes = buffer.gather("<u2", self._vtables, self.what).astype(np.int64)
        if bool((self._sizes < _SMALLEST_VTABLE).any()):
            raise Malformed(f"is malformed: {self.what} has no vtable")
        self._largest_size = int(self._sizes.max(initial=0))

    def __len__(self) -> int:
        return len(self.positions)

    def at(self, slot: int) -> Positions:
        """Return where each table keeps the field of this slot number, 0 where it has none."""
        entry = 4 + 2 * slot
        fields = _nowhere(self.positions)
        if entry + 2 > self._largest_size:
            return fields
        has_entry = entry + 2 <= self._sizes
        offsets = _nowhere(self._vtables)
        offsets[has_entry] = self.buffer.gather("<u2", self._vtables[has_entry] + entry, self.what)
        fields[self.present] = np.where(offsets > 0, self._located + offsets, 0)
        return fields

    def column(self, slot: int, kind: str, default: int = 0) -> npt.NDArray[Any]:
        """Read a scalar of numpy type ``kind`` from each table."""
        fields = self.at(slot)
        present = fields > 0
        values = np.full(len(fields), default, kind)
        values[present] = self.buffer.gather(kind, fields[present], self.what)
        return values

    def numbers(self, slot: int, kind: str, default: int = 0) -> list[Any]:
        """Read a scalar of numpy type ``kind`` from each table, as Python numbers."""
        listed: list[Any] = self.column(slot, kind, default).tolist()
        return listed

    def rows(self, slot: int, kind: str) -> list[tuple[int, ...]]:
        """Read a vector of numbers from each table."""
        flat, counts = self.buffer.numbers(self.at(slot), kind, f"a vector of {self.what}")
        return split(flat.tolist(), counts.tolist())

    def optional_rows(self, slot: int, kind: str) -> list[tuple[int, ...] | None]:
        """Read a vector of numbers from each table, None where the table has none."""
        has_row = (self.at(slot) > 0).tolist()
        return [row if present else None for row, present in zip(self.rows(slot, kind), has_row, strict=True)]

    def tensor_rows(self, slot: int, limits: Positions, place: Callable[[int], str]) -> list[tuple[int, ...]]:
        """Read a vector of tensor indices from each table; ``limits`` is how many tensors each may choose from."""
        flat, counts = self.buffer.numbers(self.at(slot), "<i4", f"a vector of {self.what}")
        outside = (flat < OPTIONAL_TENSOR) | (flat >= np.repeat(limits, counts))
        if bool(outside.any()):
            element = int(outside.argmax())
            table = int(np.searchsorted(np.cumsum(counts), element, side="right"))
            raise Malformed(f"is malformed: {place(table)} names tensor {flat[element]}, of {limits[table]} tensors")
        return split(flat.tolist(), counts.tolist())

    def strings(self, slot: int) -> list[str]:
        """Read a string from each table."""
        return self.buffer.strings(self.at(slot), f"a name of {self.what}")

    def spans(self, slot: int, offset_slot: int, size_slot: int, what: str) -> list[tuple[int, int] | None]:
        """Return (offset, size) of the bytes that each table keeps, in the flatbuffer or, in large models, after it."""
        starts, counts = self.buffer.vectors(self.at(slot), 1, what)
        spans: list[tuple[int, int] | None] = [
            (start, count) if start else None for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        ]
        offsets, sizes = self.column(offset_slot, "<u8"), self.column(size_slot, "<u8")
        for index in np.flatnonzero((offsets > 1) & (starts == 0)).tolist():
            offset, size = int(offsets[index]), int(sizes[index])
            if offset + size > self.buffer.size:
                raise Malformed(f"is truncated: {what} (number {index}) lies at offset {offset}, past the end of the file")
            spans[index] = (offset, size)
        return spans

    def children(self, slot: int, name: str) -> Tables:
        """Return the one table that each table refers to."""
        return Tables(self.buffer, name, self.buffer.follow(self.at(slot), f"one of its {name} tables"))

    def child_vectors(self, slot: int, name: str) -> tuple[Tables, list[int]]:
        """Return the tables of the vector that each table refers to, all end to end, and the length of each vector."""
        buffer, what = self.buffer, f"a vector of {name} tables"
        starts, counts = buffer.vectors(self.at(slot), 4, what)
        buffer.spend(int(counts.sum()) * 4, what)
        return Tables(buffer, name, buffer.follow(_elements(starts, counts, 4), f"one of its {name} tables")), counts.tolist()


def _nowhere(positions: Positions) -> Positions:
    return np.zeros(len(positions), np.int64)


def _elements(starts: Positions, counts: Positions, width: int) -> Positions:
    """Return the positions of the elements of vectors, end to end."""
    elements = np.arange(int(counts.sum()), dtype=np.int64)
    elements *= width
    elements += np.repeat(starts - (np.cumsum(counts) - counts) * width, counts)
    return elements


def split(items: Iterable[_Item], counts: Sequence[int]) -> list[tuple[_Item, ...]]:
    """Cut items that lie end to end into rows of these lengths."""
    joined = tuple(items)
    if not joined:
        return [()] * len(counts)
    return [joined[end - count : end] for end, count in zip(itertools.accumulate(counts), counts, strict=True)]

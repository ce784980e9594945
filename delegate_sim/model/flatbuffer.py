"""The tables and vectors of a flatbuffer, read column by column, and never trusted.

Each vector of tables (tensors, operators, ...) is read with a handful of loops that run within Python's own functions, whatever
its length and however many subgraphs it is spread over. Every position is checked against the size of the file before it is
followed, and what all tables and vectors together claim to hold is checked against the size of the file, so that however many
references lead to one place, memory and time stay proportional to that size.
"""

from __future__ import annotations

import copy
import functools
import itertools
import operator
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from ..limits import how_to_raise, raised
from .layouts import OUTSIDE, FieldColumns, read_columns
from .model import OPTIONAL_TENSOR

IDENTIFIER = b"TFL3"
_SMALLEST_TABLE = 8
"""Bytes: the reference to it and its own reference to a vtable."""
_SMALLEST_VTABLE = 4
_SHARING = 2
"""How many times the size of the file its parts may claim in all, since a writer may store equal parts only once."""
_GREATEST_STRUCTURE = 1 << 27
"""Bytes that tables, names and shapes may take, whatever the size of the file: about a million nodes."""
_REFERENCE, _TO_VTABLE, _VTABLE_ENTRY = "<I", "<i", "<H"
_BLOCK = 1 << 12
_FEW_LAYOUTS = 64
"""Different vtables of tables that are read row by row: writers keep a handful, only a hostile file has more."""
_NO_FIELDS: Mapping[int, str] = MappingProxyType({})
_Item = TypeVar("_Item")


class Malformed(Exception):
    """What is wrong with a file, worded to follow its name."""


def _outside(what: str) -> Malformed:
    """Return what is wrong with a file that refers to something behind its end or before its beginning."""
    return Malformed(f"is truncated or malformed: {what} lies outside the file")


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
        self._most = raised(_GREATEST_STRUCTURE)
        self._budget = min(_SHARING * self.size, self._most)

    def spend(self, amount: int, what: str) -> None:
        """Count bytes that tables or vectors claim to take; raises once all together exceed what the file can hold."""
        self._budget -= amount
        if self._budget < 0 and _SHARING * self.size > self._most:
            raise Malformed(f"has tables, names and shapes of more than {self._most >> 20:,} MiB{how_to_raise()}")
        if self._budget < 0:
            raise Malformed(f"is malformed: with {what}, its parts claim far more bytes than the file holds")

    def gather(self, kind: str, positions: Sequence[int], what: str) -> list[Any]:
        """Read one number of struct's format ``kind`` at each position; none is below 0."""
        if not positions:
            return []
        try:
            return self._read(kind, struct.calcsize(kind), positions)
        except (IndexError, struct.error):
            raise _outside(what) from None

    def _read(self, kind: str, width: int, positions: Sequence[int]) -> list[Any]:
        if isinstance(positions, range) and positions.step == width:
            return list(struct.unpack_from(f"<{len(positions)}{kind[-1]}", self.content, positions[0]))
        if len(positions) > 1 and width > 1 and sys.byteorder == "little":
            words = [position // width for position in positions]
            if sum(words) * width == sum(positions):
                # Writers align numbers: whole ones are taken from a view of the file in half the time.
                view = self.content[: self.size - self.size % width].cast(kind[-1])  # type: ignore[call-overload]
                return list(operator.itemgetter(*words)(view))
        return list(itertools.chain.from_iterable(map(_reader(kind), itertools.repeat(self.content), positions)))

    def numbers(self, kind: str, positions: Sequence[int], what: str, absent: Any = 0) -> list[Any]:
        """Read the same where a position is not 0; ``absent`` stands for those that are."""
        if 0 not in positions:
            return self.gather(kind, positions, what)
        located = list(filter(None, positions))
        if not located:
            return [absent] * len(positions)
        found = iter(self.gather(kind, located, what))
        return [next(found) if position else absent for position in positions]

    def follow(self, positions: Sequence[int], what: str) -> list[int]:
        """Return where the offsets at these positions point; 0 (absent) stays 0."""
        if not any(positions):
            return [0] * len(positions)
        return list(map(operator.add, positions, self.numbers(_REFERENCE, positions, what)))

    def lengths(self, targets: Sequence[int], width: int, what: str) -> list[int]:
        """Return how many elements, of so many bytes, the vectors at these positions have; absent ones have none."""
        if not any(targets):
            return [0] * len(targets)
        counts = self.numbers(_REFERENCE, targets, what)
        if max(targets) + 4 + max(counts) * width > self.size:
            sizes = [count * width for count in counts]
            if max(map(operator.add, targets, sizes)) + 4 > self.size:
                raise Malformed(f"is truncated or malformed: {what} runs past the end of the file")
        return counts

    def rows(self, targets: Sequence[int], counts: Sequence[int], kind: str, what: str) -> list[tuple[int, ...]]:
        """Read the vectors of numbers at these positions, which have these lengths; absent ones are empty."""
        total = sum(counts)
        self.spend(total * struct.calcsize(kind), what)
        return self._vectors(kind[-1], targets, counts) if total else [()] * len(counts)

    def byte_rows(self, targets: Sequence[int], sizes: Sequence[int], what: str) -> list[bytes]:
        """Read the vectors at these positions, which have these sizes in bytes; absent ones are empty."""
        total = sum(sizes)
        self.spend(total, what)
        return list(itertools.chain.from_iterable(self._vectors("s", targets, sizes))) if total else [b""] * len(sizes)

    def strings(self, targets: Sequence[int], what: str) -> list[str]:
        """Read the strings at these positions; absent ones are empty."""
        encoded = self.byte_rows(targets, self.lengths(targets, 1, what), what)
        try:
            return list(map(bytes.decode, encoded))
        except UnicodeDecodeError:
            return [text.decode("utf-8", "replace") for text in encoded]

    def _vectors(self, code: str, targets: Sequence[int], counts: Sequence[int]) -> list[tuple[Any, ...]]:
        """Unpack vectors that are known to lie within the file."""
        content = self.content
        readers = {count: _reader(f"<4x{count}{code}") for count in set(counts)}
        if len(readers) == 1:
            return list(map(readers.popitem()[1], itertools.repeat(content), targets))
        return [readers[count](content, target) for target, count in zip(targets, counts, strict=True)]

    def root(self, name: str) -> Tables:
        """Return the table that the file begins with."""
        return Tables(self, name, self.gather(_REFERENCE, [0], "the root"))


class Tables:
    """Tables of one kind, read by column. A position of 0 is an absent table, whose fields are absent.

    ``fields`` are those that are read at once of each table, none of which is absent then.
    """

    def __init__(self, buffer: Flatbuffer, name: str, positions: Sequence[int], fields: Mapping[int, str] = _NO_FIELDS) -> None:
        self.buffer = buffer
        self.what = f"one of its {name} tables"
        self.positions = positions
        self._located = list(filter(None, positions)) if 0 in positions else positions
        buffer.spend(len(self._located) * _SMALLEST_TABLE, f"its {name} tables")
        distances = buffer.gather(_TO_VTABLE, self._located, self.what)
        self._vtables = list(map(operator.sub, self._located, distances))
        distinct = list(set(self._vtables))
        if min(distinct, default=0) < 0:
            raise _outside(self.what)
        self._sizes = dict(zip(distinct, buffer.gather(_VTABLE_ENTRY, distinct, self.what), strict=True))
        """Bytes of each vtable."""
        if min(self._sizes.values(), default=_SMALLEST_VTABLE) < _SMALLEST_VTABLE:
            raise Malformed(f"is malformed: {self.what} has no vtable")
        self._columns = self._read(fields)

    def __len__(self) -> int:
        return len(self.positions)

    def with_any(self, fields: Mapping[int, str]) -> tuple[Sequence[int], Tables]:
        """Return the tables that have any of these fields, which are read at once of each, and before them their numbers.

        Where layouts are many, these are all tables that are there.
        """
        chosen = copy.copy(self)
        sizes = self._sizes
        if len(sizes) <= _FEW_LAYOUTS:
            sizes = {vtable: size for vtable, size in sizes.items() if self._offsets(vtable, fields)}
        chosen._sizes = sizes
        places = [place for place, vtable in enumerate(self._vtables) if vtable in sizes]
        chosen._located = chosen.positions = [self._located[place] for place in places]
        chosen._vtables = [self._vtables[place] for place in places]
        chosen._columns = chosen._read(fields)
        numbers = self._numbers() if places else ()
        return [numbers[place] for place in places], chosen

    def _numbers(self) -> Sequence[int]:
        """Return the numbers of the tables that are there."""
        if len(self._located) == len(self):
            return range(len(self))
        return [number for number, position in enumerate(self.positions) if position]

    def _read(self, fields: Mapping[int, str]) -> FieldColumns | None:
        """Read fields at once, unless one of them needs to be checked by itself."""
        if not fields or not 0 < len(self._sizes) <= _FEW_LAYOUTS:
            return None
        layouts = {vtable: self._offsets(vtable, fields) for vtable in self._sizes}
        return read_columns(self.buffer.content, self._located, self._vtables, layouts, fields)

    def _column(self, slot: int, absent: int = 0) -> Sequence[Any] | None:
        """Return what was read of a field; None if nothing was."""
        return None if self._columns is None else self._columns.get(slot, absent)

    def _offsets(self, vtable: int, fields: Iterable[int]) -> Mapping[int, int]:
        """Return where a vtable says that these fields are, but for those that it has not."""
        size = min(self._sizes[vtable], self.buffer.size - vtable)
        entries = [(slot, 4 + 2 * slot) for slot in fields]
        read = struct.Struct(_VTABLE_ENTRY).unpack_from
        found = {slot: read(self.buffer.content, vtable + entry)[0] for slot, entry in entries if entry + 2 <= size}
        if size < self._sizes[vtable]:
            found |= {slot: OUTSIDE for slot, entry in entries if size < entry + 2 <= self._sizes[vtable]}
        return {slot: offset for slot, offset in found.items() if offset}

    def at(self, slot: int) -> Sequence[int]:
        """Return where each table keeps the field of this slot number, 0 where it has none."""
        entry = 4 + 2 * slot
        sized = [vtable for vtable, size in self._sizes.items() if entry + 2 <= size]
        entries = self.buffer.gather(_VTABLE_ENTRY, [vtable + entry for vtable in sized], self.what)
        offsets = dict.fromkeys(self._sizes, 0) | dict(zip(sized, entries, strict=True))
        if not any(offsets.values()):
            return [0] * len(self)
        own = map(offsets.__getitem__, self._vtables)
        fields = [offset and position + offset for position, offset in zip(self._located, own, strict=True)]
        return fields if len(fields) == len(self) else spread(fields, self._numbers(), len(self), 0)

    def targets(self, slot: int, what: str) -> Sequence[int]:
        """Return where the offset that each table keeps in this field points to; 0 where it has none."""
        column = self._column(slot)
        return self.buffer.follow(self.at(slot), what) if column is None else column

    def vectors(self, slot: int, width: int, what: str) -> tuple[list[int], list[int]]:
        """Return (starts, counts) of the vector that each table refers to; absent ones are 0 and 0."""
        targets = self.targets(slot, what)
        return [target and target + 4 for target in targets], self.buffer.lengths(targets, width, what)

    def lengths(self, slot: int, width: int, what: str) -> list[int]:
        """Return how many elements, of so many bytes, the vector has that each table refers to; absent ones have none."""
        return self.buffer.lengths(self.targets(slot, what), width, what)

    def numbers(self, slot: int, kind: str, default: Any = 0) -> Sequence[Any]:
        """Read a scalar of struct's format ``kind`` from each table."""
        column = self._column(slot, default)
        return self.buffer.numbers(kind, self.at(slot), self.what, default) if column is None else column

    def rows(self, slot: int, kind: str) -> list[tuple[int, ...]]:
        """Read a vector of numbers from each table."""
        what = f"a vector of {self.what}"
        targets = self.targets(slot, what)
        return self.buffer.rows(targets, self.buffer.lengths(targets, struct.calcsize(kind), what), kind, what)

    def tensor_rows(self, slot: int, limits: Sequence[int], place: Callable[[int], str]) -> list[tuple[int, ...]]:
        """Read a vector of tensor indices from each table; ``limits`` is how many tensors each may choose from."""
        rows = self.rows(slot, "<i")
        elements = list(itertools.chain.from_iterable(rows))
        if not elements or (min(elements) >= OPTIONAL_TENSOR and max(elements) < min(limits)):
            return rows
        for table, (row, limit) in enumerate(zip(rows, limits, strict=True)):
            for element in row:
                if not OPTIONAL_TENSOR <= element < limit:
                    raise Malformed(f"is malformed: {place(table)} names tensor {element}, of {limit} tensors")
        return rows

    def strings(self, slot: int) -> list[str]:
        """Read a string from each table."""
        what = f"a name of {self.what}"
        return self.buffer.strings(self.targets(slot, what), what)

    def spans(
        self, slot: int, offset_slot: int, size_slot: int, what: str, numbers: Sequence[int]
    ) -> list[tuple[int, int] | None]:
        """Return (offset, size) of the bytes that each table keeps, in the flatbuffer or, in large models, after it.

        ``numbers`` are those of the tables, to name one.
        """
        targets = self.targets(slot, what)
        counts = self.buffer.lengths(targets, 1, what)
        spans: list[tuple[int, int] | None] = [None] * len(self)
        if any(targets):
            spans = [(target + 4, count) if target else None for target, count in zip(targets, counts, strict=True)]
        offsets, sizes = self.numbers(offset_slot, "<Q"), self.numbers(size_slot, "<Q")
        if not any(offsets):
            return spans
        for index, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
            if offset > 1 and not targets[index]:
                if offset + size > self.buffer.size:
                    raise Malformed(
                        f"is truncated: {what} (number {numbers[index]}) lies at offset {offset}, past the end of the file"
                    )
                spans[index] = (offset, size)
        return spans

    def children(self, slot: int, name: str) -> Tables:
        """Return the one table that each table refers to."""
        return Tables(self.buffer, name, self.targets(slot, f"one of its {name} tables"))

    def child_vectors(self, slot: int, name: str) -> tuple[Tables, list[int]]:
        """Return the tables of the vector that each table refers to, all end to end, and the length of each vector."""
        references, counts = self._references(slot, name)
        return Tables(self.buffer, name, self.buffer.follow(references, f"one of its {name} tables")), counts

    def child_blocks(self, slot: int, name: str, fields: Mapping[int, str]) -> tuple[Iterator[Tables], list[int]]:
        """Return the same tables, some thousands at a time, so that what is read of them on the way takes little memory."""
        references, counts = self._references(slot, name)
        blocks = [references[start : start + _BLOCK] for start in range(0, len(references), _BLOCK)] or [[]]
        what = f"one of its {name} tables"
        return (Tables(self.buffer, name, self.buffer.follow(block, what), fields) for block in blocks), counts

    def _references(self, slot: int, name: str) -> tuple[Sequence[int], list[int]]:
        """Return where the vector of tables that each table refers to says where they are, all end to end, and the lengths."""
        buffer, what = self.buffer, f"a vector of {name} tables"
        starts, counts = self.vectors(slot, 4, what)
        buffer.spend(sum(counts) * 4, what)
        elements = [range(start, start + 4 * count, 4) for start, count in zip(starts, counts, strict=True) if count]
        return elements[0] if len(elements) == 1 else list(itertools.chain.from_iterable(elements)), counts


@functools.lru_cache(maxsize=1 << 10)
def _reader(form: str) -> Callable[..., tuple[Any, ...]]:
    """Return what reads a form of struct from a position."""
    return struct.Struct(form).unpack_from


def spread(items: Iterable[_Item], numbers: Iterable[int], count: int, absent: _Item) -> list[_Item]:
    """Return so many items: these in the places of these numbers, and ``absent`` in all others."""
    found = [absent] * count
    for number, item in zip(numbers, items, strict=True):
        found[number] = item
    return found


def split(items: Iterable[_Item], counts: Sequence[int]) -> list[tuple[_Item, ...]]:
    """Cut items that lie end to end into rows of these lengths."""
    joined = tuple(items)
    if not joined:
        return [()] * len(counts)
    return [joined[end - count : end] for end, count in zip(itertools.accumulate(counts), counts, strict=True)]

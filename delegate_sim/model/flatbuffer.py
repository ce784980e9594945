"""The tables and vectors of a flatbuffer, read column by column, and never trusted.

Each vector of tables (tensors, operators, ...) is read with a handful of loops that run within Python's own functions, whatever
its length and however many subgraphs it is spread over. Every position is checked against the size of the file before it is
followed, and what all tables and vectors together claim to hold is checked against the size of the file, so that however many
references lead to one place, memory and time stay proportional to that size.
"""

from __future__ import annotations

import functools
import itertools
import operator
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

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
_REFERENCE, _TO_VTABLE, _VTABLE_ENTRY = "<I", "<i", "<H"
OFFSET = "offset"
"""In the place of a number's format: a field that says where something else lies."""
_ABSENT = b""
"""What an empty field of struct reads as."""
_OUTSIDE = 1 << 16
_BLOCK = 1 << 14
_FEW_LAYOUTS = 64
"""Different vtables of tables that are read row by row: writers keep a handful, only a hostile file has more."""
_NO_FIELDS: Mapping[int, str] = MappingProxyType({})
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
        self._most = raised(_GREATEST_STRUCTURE)
        self._budget = min(_SHARING * self.size, self._most)

    def spend(self, amount: int, what: str) -> None:
        """Count bytes that tables or vectors claim to take; raises once all together exceed what the file can hold."""
        self._budget -= amount
        if self._budget < 0 and _SHARING * self.size > self._most:
            raise Malformed(f"has tables, names and shapes of more than {self._most >> 20:,} MiB{how_to_raise()}")
        if self._budget < 0:
            raise Malformed(f"is malformed: with {what}, its parts claim far more bytes than the file holds")

    def gather(self, kind: str, positions: Sequence[int], what: str) -> list[int]:
        """Read one number of struct's format ``kind`` at each position."""
        if not positions:
            return []
        unpack, width = _number(kind)
        if min(positions) < 0 or max(positions) + width > self.size:
            raise Malformed(f"is truncated or malformed: {what} lies outside the file")
        if len(positions) > 1 and sys.byteorder == "little" and not functools.reduce(operator.or_, positions) % width:
            # Writers align numbers: whole ones are taken from a view of the file in half the time.
            view = self.content[: self.size - self.size % width].cast(kind[-1])  # type: ignore[call-overload]
            return list(operator.itemgetter(*[position // width for position in positions])(view))
        return list(itertools.chain.from_iterable(map(unpack, itertools.repeat(self.content), positions)))

    def follow(self, positions: Sequence[int], what: str) -> list[int]:
        """Return where the offsets at these positions point; 0 (absent) stays 0."""
        return _where_present(lambda located: map(operator.add, located, self.gather(_REFERENCE, located, what)), positions)

    def vectors(self, targets: Sequence[int], width: int, what: str) -> tuple[list[int], list[int]]:
        """Return (starts, counts) of the vectors at these positions; absent ones are 0 and 0."""
        counts = _where_present(lambda located: self.gather(_REFERENCE, located, what), targets)
        if not any(targets):
            return counts, counts
        starts = [target + 4 for target in targets] if 0 not in targets else [target and target + 4 for target in targets]
        is_inside = max(starts) + max(counts) * width <= self.size
        if not is_inside and any(start + count * width > self.size for start, count in zip(starts, counts, strict=True)):
            raise Malformed(f"is truncated or malformed: {what} runs past the end of the file")
        return starts, counts

    def rows(self, targets: Sequence[int], kind: str, what: str) -> list[tuple[int, ...]]:
        """Read the vectors of numbers at these positions; absent ones are empty."""
        width = struct.calcsize(kind)
        starts, counts = self.vectors(targets, width, what)
        total = sum(counts)
        self.spend(total * width, what)
        if not total:
            return [()] * len(counts)
        content = self.content
        readers = {count: struct.Struct(f"<{count}{kind[-1]}").unpack_from for count in set(counts)}
        return [readers[count](content, start) for start, count in zip(starts, counts, strict=True)]

    def strings(self, targets: Sequence[int], what: str) -> list[str]:
        """Read the strings at these positions; absent ones are empty."""
        starts, counts = self.vectors(targets, 1, what)
        self.spend(sum(counts), what)
        content = self.content
        readers = {count: struct.Struct(f"{count}s").unpack_from for count in set(counts)}
        return [readers[count](content, start)[0].decode("utf-8", "replace") for start, count in zip(starts, counts, strict=True)]

    def root(self, name: str) -> Tables:
        """Return the table that the file begins with."""
        return Tables(self, name, self.gather(_REFERENCE, [0], "the root"))


class Tables:
    """Tables of one kind, read by column. A position of 0 is an absent table, whose fields are absent."""

    def __init__(self, buffer: Flatbuffer, name: str, positions: Sequence[int], fields: Mapping[int, str] = _NO_FIELDS) -> None:
        self.buffer = buffer
        self.what = f"one of its {name} tables"
        self.positions = positions
        located = [position for position in positions if position] if 0 in positions else positions
        buffer.spend(len(located) * _SMALLEST_TABLE, f"its {name} tables")
        vtables = list(map(operator.sub, located, buffer.gather(_TO_VTABLE, located, self.what)))
        distinct = list(dict.fromkeys(vtables))
        self._sizes = dict(zip(distinct, buffer.gather(_VTABLE_ENTRY, distinct, self.what), strict=True))
        """Bytes of each vtable: writers keep one for all tables that are alike."""
        self._largest_size = max(self._sizes.values(), default=0)
        if min(self._sizes.values(), default=_SMALLEST_VTABLE) < _SMALLEST_VTABLE:
            raise Malformed(f"is malformed: {self.what} has no vtable")
        self._located = located
        self._vtables = vtables if len(distinct) > 1 else None
        self._columns = self._read_ahead(fields) if fields and 0 < len(distinct) <= _FEW_LAYOUTS else {}

    def __len__(self) -> int:
        return len(self.positions)

    def _read_ahead(self, fields: Mapping[int, str]) -> dict[int, list[Any]]:
        """Read all these fields of each table at once.

        Nothing is read where a field lies outside the file or overlaps another: then fields are read one by one, with all checks.
        """
        offsets = {vtable: self._offsets(vtable, fields) for vtable in self._sizes}
        last = {slot: max([own.get(slot, 0) for own in offsets.values()]) for slot in fields}
        in_order = sorted(fields, key=last.__getitem__)
        forms = {vtable: _form(own, in_order, fields) for vtable, own in offsets.items()}
        if "" in forms.values() or max(self._located) + max(map(struct.calcsize, forms.values())) > self.buffer.size:
            return {}
        readers = {vtable: struct.Struct(form).unpack_from for vtable, form in forms.items()}
        content = self.buffer.content
        if self._vtables is None:
            (reader,) = readers.values()
            rows = list(map(reader, itertools.repeat(content), self._located))
        else:
            rows = [readers[vtable](content, place) for vtable, place in zip(self._vtables, self._located, strict=True)]
        columns: dict[int, list[Any]] = dict(zip(in_order, map(list, zip(*rows, strict=True)), strict=True))
        for slot, kind in fields.items():
            distances = {own.get(slot, 0) for own in offsets.values()}
            if kind != OFFSET or distances == {0}:
                continue
            if len(distances) == 1:
                places: Iterable[int] = map(distances.pop().__add__, self._located)
            else:
                own_offsets = {vtable: own.get(slot, 0) for vtable, own in offsets.items()}
                places = map(operator.add, map(own_offsets.__getitem__, self._vtables or ()), self._located)
            if 0 not in distances:
                columns[slot] = list(map(operator.add, places, columns[slot]))
            else:
                pairs = zip(places, columns[slot], strict=True)
                columns[slot] = [_ABSENT if number == _ABSENT else place + number for place, number in pairs]
        if len(self._located) < len(self):
            columns = {slot: self._spread(column, _ABSENT) for slot, column in columns.items()}
        return columns

    def _offsets(self, vtable: int, fields: Iterable[int]) -> Mapping[int, int]:
        """Return where a vtable says that these fields are, but for those that it has not."""
        size = min(self._sizes[vtable], self.buffer.size - vtable)
        entries = [(slot, 4 + 2 * slot) for slot in fields]
        read = struct.Struct(_VTABLE_ENTRY).unpack_from
        found = {slot: read(self.buffer.content, vtable + entry)[0] for slot, entry in entries if entry + 2 <= size}
        if size < self._sizes[vtable]:
            found |= {slot: _OUTSIDE for slot, entry in entries if size < entry + 2 <= self._sizes[vtable]}
        return {slot: offset for slot, offset in found.items() if offset}

    def at(self, slot: int) -> list[int]:
        """Return where each table keeps the field of this slot number, 0 where it has none."""
        entry = 4 + 2 * slot
        if entry + 2 > self._largest_size:
            return [0] * len(self)
        sized = [vtable for vtable, size in self._sizes.items() if entry + 2 <= size]
        entries = self.buffer.gather(_VTABLE_ENTRY, [vtable + entry for vtable in sized], self.what)
        offsets = dict.fromkeys(self._sizes, 0) | dict(zip(sized, entries, strict=True))
        different = set(offsets.values())
        if len(different) == 1:
            (offset,) = different
            return self._spread([position + offset for position in self._located]) if offset else [0] * len(self)
        own = map(offsets.__getitem__, self._vtables or ())
        return self._spread([offset and position + offset for position, offset in zip(self._located, own, strict=True)])

    def _spread(self, fields: list[Any], absent: Any = 0) -> list[Any]:
        """Put something where a table is absent."""
        return fields if len(fields) == len(self) else _where_present(lambda _: fields, self.positions, absent)

    def targets(self, slot: int, what: str) -> list[int]:
        """Return where the offset that each table keeps in this field points to; 0 where it has none."""
        column = self._columns.get(slot)
        if column is not None:
            return [number or 0 for number in column] if _ABSENT in column else column
        return self.buffer.follow(self.at(slot), what)

    def vectors(self, slot: int, width: int, what: str) -> tuple[list[int], list[int]]:
        """Return (starts, counts) of the vector that each table refers to; absent ones are 0 and 0."""
        return self.buffer.vectors(self.targets(slot, what), width, what)

    def numbers(self, slot: int, kind: str, default: int = 0) -> list[int]:
        """Read a scalar of struct's format ``kind`` from each table."""
        column = self._columns.get(slot)
        if column is not None:
            return [default if number == _ABSENT else number for number in column] if _ABSENT in column else column
        return _where_present(lambda located: self.buffer.gather(kind, located, self.what), self.at(slot), default)

    def rows(self, slot: int, kind: str) -> list[tuple[int, ...]]:
        """Read a vector of numbers from each table."""
        what = f"a vector of {self.what}"
        return self.buffer.rows(self.targets(slot, what), kind, what)

    def optional_rows(self, slot: int, kind: str) -> list[tuple[int, ...] | None]:
        """Read a vector of numbers from each table, None where the table has none."""
        what = f"a vector of {self.what}"
        targets = self.targets(slot, what)
        rows = self.buffer.rows(targets, kind, what)
        return [row if target else None for row, target in zip(rows, targets, strict=True)]

    def tensor_rows(self, slot: int, limits: Sequence[int], place: Callable[[int], str]) -> list[tuple[int, ...]]:
        """Read a vector of tensor indices from each table; ``limits`` is how many tensors each may choose from."""
        rows = self.rows(slot, "<i")
        elements = itertools.chain.from_iterable
        greatest = min(limits, default=0)
        if min(elements(rows), default=0) >= OPTIONAL_TENSOR and max(elements(rows), default=OPTIONAL_TENSOR) < greatest:
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

    def spans(self, slot: int, offset_slot: int, size_slot: int, what: str, first: int = 0) -> list[tuple[int, int] | None]:
        """Return (offset, size) of the bytes that each table keeps, in the flatbuffer or, in large models, after it.

        ``first`` is the number of the first table.
        """
        starts, counts = self.vectors(slot, 1, what)
        spans: list[tuple[int, int] | None] = [None] * len(self)
        if any(starts):
            spans = [(start, count) if start else None for start, count in zip(starts, counts, strict=True)]
        offsets, sizes = self.numbers(offset_slot, "<Q"), self.numbers(size_slot, "<Q")
        if not any(offsets):
            return spans
        for index, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
            if offset > 1 and not starts[index]:
                if offset + size > self.buffer.size:
                    raise Malformed(
                        f"is truncated: {what} (number {first + index}) lies at offset {offset}, past the end of the file"
                    )
                spans[index] = (offset, size)
        return spans

    def children(self, slot: int, name: str, fields: Mapping[int, str] = _NO_FIELDS) -> Tables:
        """Return the one table that each table refers to."""
        return Tables(self.buffer, name, self.targets(slot, f"one of its {name} tables"), fields)

    def child_vectors(self, slot: int, name: str, fields: Mapping[int, str] = _NO_FIELDS) -> tuple[Tables, list[int]]:
        """Return the tables of the vector that each table refers to, all end to end, and the length of each vector."""
        references, counts = self._references(slot, name)
        return Tables(self.buffer, name, self.buffer.follow(references, f"one of its {name} tables"), fields), counts

    def child_blocks(self, slot: int, name: str, fields: Mapping[int, str]) -> tuple[Iterator[Tables], list[int]]:
        """Return the same tables, some thousands at a time, so that what is read of them on the way takes little memory."""
        references, counts = self._references(slot, name)
        blocks = [references[start : start + _BLOCK] for start in range(0, len(references), _BLOCK)] or [[]]
        what = f"one of its {name} tables"
        return (Tables(self.buffer, name, self.buffer.follow(block, what), fields) for block in blocks), counts

    def _references(self, slot: int, name: str) -> tuple[list[int], list[int]]:
        """Return where the vector of tables that each table refers to says where they are, all end to end, and the lengths."""
        buffer, what = self.buffer, f"a vector of {name} tables"
        starts, counts = self.vectors(slot, 4, what)
        buffer.spend(sum(counts) * 4, what)
        elements = [range(start, start + 4 * count, 4) for start, count in zip(starts, counts, strict=True)]
        references = list(itertools.chain.from_iterable(elements))
        return references, counts


def _form(offsets: Mapping[int, int], in_order: Iterable[int], fields: Mapping[int, str]) -> str:
    """Return struct's format of a table's fields, empty ones in the place of absent ones; "" if they are not in this order."""
    form, end = "<", 0
    for slot in in_order:
        if slot not in offsets:
            form += "0s"
            continue
        kind = _REFERENCE if fields[slot] == OFFSET else fields[slot]
        if not end <= offsets[slot] < _OUTSIDE:
            return ""
        form += f"{offsets[slot] - end}x{kind[-1]}"
        end = offsets[slot] + struct.calcsize(kind)
    return form


def _where_present(read: Callable[[Sequence[int]], Iterable[Any]], positions: Sequence[int], absent: Any = 0) -> list[Any]:
    """Return what is read at the positions that are there, all at once, and ``absent`` for those that are 0."""
    if 0 not in positions:
        return list(read(positions))
    located = [position for position in positions if position]
    if not located:
        return [absent] * len(positions)
    found = iter(read(located))
    return [next(found) if position else absent for position in positions]


@functools.cache
def _number(kind: str) -> tuple[Callable[..., tuple[int, ...]], int]:
    """Return what reads a number of struct's format ``kind`` from a position, and its bytes."""
    form = struct.Struct(kind)
    return form.unpack_from, form.size


def split(items: Iterable[_Item], counts: Sequence[int]) -> list[tuple[_Item, ...]]:
    """Cut items that lie end to end into rows of these lengths."""
    joined = tuple(items)
    if not joined:
        return [()] * len(counts)
    return [joined[end - count : end] for end, count in zip(itertools.accumulate(counts), counts, strict=True)]

"""Checked access to the tables of a flatbuffer by the names in the schema.

``Tables`` reads one field of many tables at once, so the loops run inside Python's built-in functions. The accessors of the
``tflite`` package are much slower.

``Flatbuffer`` checks every position against the file size before it reads the bytes at the position. It also limits the total
size of all tables, vectors and strings that it reads, in proportion to the file size. Memory and time therefore stay
proportional to the file size, even if many references have the same target.

A position of 0 means that a field is absent, because no field can be at the start of a file.
"""

from __future__ import annotations

import functools
import itertools
import operator
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from ..bundles.ranged import Content
from ..foundation.limits import how_to_raise, raised
from . import schema
from .model import OPTIONAL_TENSOR

_SMALLEST_TABLE = 8
"""Smallest size of a table in bytes: a reference to the table, and the table's reference to its vtable."""
_SMALLEST_VTABLE = 4
_SHARING = 2
"""Largest allowed ratio of the total size to the file size.

The ratio may be above 1, because data with several references is counted once for each reference.
"""
_GREATEST_STRUCTURE = 1 << 27
"""Largest size in bytes of all tables, names and shapes of a file, enough for about a million nodes."""
_REFERENCE, _TO_VTABLE, _VTABLE_ENTRY = "<I", "<i", "<H"
_BLOCK = 1 << 12
_Item = TypeVar("_Item")


class Malformed(Exception):
    """Raised if a file is not valid.

    The message is the second half of a sentence that begins with the file's name.
    """


def _outside(what: str) -> Malformed:
    return Malformed(f"is truncated or malformed: {what} lies outside the file")


class Flatbuffer:
    """The bytes of a file, and a limit on the total size that is read.

    In all methods, the argument ``what`` describes the data in error messages.
    """

    def __init__(self, content: Content) -> None:
        self.content: Any = content
        self.size = len(content)
        if self.size == 0:
            raise Malformed("is empty")
        if self.size < 8:
            raise Malformed(f"is {self.size} byte{'s' if self.size > 1 else ''} long, too short for a TFLite model")
        self._most = raised(_GREATEST_STRUCTURE)
        self._budget = min(_SHARING * self.size, self._most)

    def spend(self, amount: int, what: str) -> None:
        """Add a size in bytes to the total size. Raise Malformed if the total is above the limit."""
        self._budget -= amount
        if self._budget < 0 and _SHARING * self.size > self._most:
            raise Malformed(f"has more than {self._most >> 20:,} MiB of tables, names and shapes{how_to_raise()}")
        if self._budget < 0:
            raise Malformed(f"is malformed: its parts, including {what}, claim far more bytes than the file holds")

    def gather(self, kind: str, positions: Sequence[int], what: str) -> list[Any]:
        """Read one number at each position.

        ``kind`` is the struct format of the numbers. Positions must not be negative.
        """
        try:
            return [number for (number,) in map(_reader(kind), itertools.repeat(self.content), positions)]
        except struct.error:
            raise _outside(what) from None

    def numbers(self, kind: str, positions: Sequence[int], what: str, absent: Any = 0) -> list[Any]:
        """Read one number at each position. An absent field (position 0) gives the number ``absent``."""
        if 0 not in positions:
            return self.gather(kind, positions, what)
        present = list(filter(None, positions))
        if not present:
            return [absent] * len(positions)
        numbers = iter(self.gather(kind, present, what))
        return [next(numbers) if position else absent for position in positions]

    def follow(self, positions: Sequence[int], what: str) -> list[int]:
        """Return the target of the reference at each position, or 0 for an absent field (position 0)."""
        if not any(positions):
            return [0] * len(positions)
        return list(map(operator.add, positions, self.numbers(_REFERENCE, positions, what)))

    def lengths(self, targets: Sequence[int], width: int, what: str) -> list[int]:
        """Return the length of the vector at each position. An absent vector has length 0.

        ``width`` is the size of an element in bytes.
        """
        if not any(targets):
            return [0] * len(targets)
        counts = self.numbers(_REFERENCE, targets, what)
        if max(targets) + 4 + max(counts) * width > self.size:
            sizes = [count * width for count in counts]
            if max(map(operator.add, targets, sizes)) + 4 > self.size:
                raise Malformed(f"is truncated or malformed: {what} runs past the end of the file")
        return counts

    def rows(self, targets: Sequence[int], counts: Sequence[int], code: str, what: str) -> list[tuple[int, ...]]:
        """Read vectors of numbers, with the lengths ``counts``. An absent vector is read as empty."""
        total = sum(counts)
        self.spend(total * struct.calcsize(f"<{code}"), what)
        return self._vectors(code, targets, counts) if total else [()] * len(counts)

    def byte_rows(self, targets: Sequence[int], sizes: Sequence[int], what: str) -> list[bytes]:
        """Read vectors of bytes, with the lengths ``sizes``. An absent vector is read as empty."""
        total = sum(sizes)
        self.spend(total, what)
        return list(itertools.chain.from_iterable(self._vectors("s", targets, sizes))) if total else [b""] * len(sizes)

    def strings(self, targets: Sequence[int], what: str) -> list[str]:
        """Read strings. An absent string is read as empty."""
        encoded = self.byte_rows(targets, self.lengths(targets, 1, what), what)
        try:
            return list(map(bytes.decode, encoded))
        except UnicodeDecodeError:
            return [text.decode("utf-8", "replace") for text in encoded]

    def _vectors(self, code: str, targets: Sequence[int], counts: Sequence[int]) -> list[tuple[Any, ...]]:
        content = self.content
        readers = {count: _reader(f"<4x{count}{code}") for count in set(counts)}
        return [readers[count](content, target) for target, count in zip(targets, counts, strict=True)]

    def root(self, name: str) -> Tables:
        """Return the root table of the file."""
        return Tables(self, name, self.gather(_REFERENCE, [0], "the root"))


class RangedFlatbuffer(Flatbuffer):
    """A flatbuffer in a file that is read in parts."""

    def gather(self, kind: str, positions: Sequence[int], what: str) -> list[Any]:
        """Read the numbers at these positions. All missing parts of the file are fetched at once."""
        form = struct.Struct(kind)
        if max(positions, default=0) + form.size > self.size:
            raise _outside(what)
        parts = self.content.read_each([(position, position + form.size) for position in positions])
        return [number for (number,) in map(form.unpack, parts)]

    def _vectors(self, code: str, targets: Sequence[int], counts: Sequence[int]) -> list[tuple[Any, ...]]:
        forms = [struct.Struct(f"<{count}{code}") for count in counts]
        spans = [(target + 4, target + 4 + form.size) for target, form in zip(targets, forms, strict=True)]
        return [form.unpack(part) for form, part in zip(forms, self.content.read_each(spans), strict=True)]


def flatbuffer_of(content: Content) -> Flatbuffer:
    """Return the flatbuffer in the bytes of a file. Raise Malformed if the bytes are not valid."""
    return Flatbuffer(content) if isinstance(content, memoryview) else RangedFlatbuffer(content)


class Tables:
    """Tables of one type, which are read one field at a time.

    A table at position 0 is absent and has no fields.
    """

    def __init__(self, buffer: Flatbuffer, name: str, positions: Sequence[int], title: str = "") -> None:
        self.buffer = buffer
        self.what = f"one of its {title or name} tables"
        self.positions = positions
        self._fields = schema.table_fields(name)
        present = list(filter(None, positions)) if 0 in positions else positions
        buffer.spend(len(present) * _SMALLEST_TABLE, f"its {title or name} tables")
        distances = buffer.gather(_TO_VTABLE, present, self.what)
        vtables = list(map(operator.sub, present, distances))
        distinct = list(set(vtables))
        if min(distinct, default=0) < 0:
            raise _outside(self.what)
        self._vtable_sizes = dict(zip(distinct, buffer.gather(_VTABLE_ENTRY, distinct, self.what), strict=True))
        if min(self._vtable_sizes.values(), default=_SMALLEST_VTABLE) < _SMALLEST_VTABLE:
            raise Malformed(f"is malformed: {self.what} has no vtable")
        self._vtables: Sequence[int | None] = vtables
        if len(present) < len(positions):
            following = iter(vtables)
            self._vtables = [next(following) if position else None for position in positions]

    def __len__(self) -> int:
        return len(self.positions)

    def at(self, field: str) -> list[int]:
        """For each table, return the position of a field, or 0 if the table lacks the field.

        Tables with the same layout share a vtable, which is read only once.
        """
        entry = 4 + 2 * self._fields[field].slot
        vtables = [vtable for vtable, size in self._vtable_sizes.items() if entry + 2 <= size]
        entries = self.buffer.gather(_VTABLE_ENTRY, [vtable + entry for vtable in vtables], self.what)
        if not any(entries):
            return [0] * len(self)
        offsets = dict[int | None, int](zip(vtables, entries, strict=True))
        own = map(offsets.get, self._vtables)
        return [position + offset if offset else 0 for position, offset in zip(self.positions, own, strict=True)]

    def targets(self, field: str, what: str) -> list[int]:
        """For each table, return the position that a field refers to, or 0 if the table lacks the field."""
        return self.buffer.follow(self.at(field), what)

    def lengths(self, field: str, what: str) -> list[int]:
        """Return the length of the vector in a field of each table. An absent vector has length 0."""
        return self.buffer.lengths(self.targets(field, what), self._fields[field].element_size, what)

    def vectors(self, field: str, what: str) -> tuple[list[int], list[int]]:
        """Return the positions of the first elements and the lengths of the vectors in a field of each table.

        For an absent vector, the position and the length are 0.
        """
        targets = self.targets(field, what)
        counts = self.buffer.lengths(targets, self._fields[field].element_size, what)
        return [target and target + 4 for target in targets], counts

    def numbers(self, field: str) -> list[Any]:
        """Read a numeric field of each table."""
        declared = self._fields[field]
        assert declared.format is not None
        return self.buffer.numbers(declared.format, self.at(field), self.what, declared.default)

    def flags(self, field: str) -> list[bool]:
        """Read a bool field of each table."""
        return self.buffer.numbers("<?", self.at(field), self.what, bool(self._fields[field].default))

    def rows(self, field: str) -> list[tuple[int, ...]]:
        """Read a vector of numbers from each table."""
        element = self._fields[field].element
        assert element is not None
        what = f"a vector of {self.what}"
        targets = self.targets(field, what)
        return self.buffer.rows(targets, self.buffer.lengths(targets, self._fields[field].element_size, what), element, what)

    def tensor_rows(self, field: str, limits: Sequence[int], place: Callable[[int], str]) -> list[tuple[int, ...]]:
        """Read a vector of tensor indices from each table.

        For each table, ``limits`` has the number of tensors in the table's subgraph. ``place`` returns the name of a table by
        index, for error messages.
        """
        rows = self.rows(field)
        elements = list(itertools.chain.from_iterable(rows))
        if not elements or (min(elements) >= OPTIONAL_TENSOR and max(elements) < min(limits)):
            return rows
        for table, (row, limit) in enumerate(zip(rows, limits, strict=True)):
            for element in row:
                if not OPTIONAL_TENSOR <= element < limit:
                    raise Malformed(f"is malformed: {place(table)} refers to tensor {element}, but there are {limit} tensors")
        return rows

    def strings(self, field: str) -> list[str]:
        """Read a string field of each table."""
        what = f"a name of {self.what}"
        return self.buffer.strings(self.targets(field, what), what)

    def spans(self, field: str, offset_field: str, size_field: str, what: str, first: int = 0) -> list[tuple[int, int] | None]:
        """Return the place of each table's data in the file, as (offset, size), or None for a table without data.

        The data is in ``field``. In a large model, ``offset_field`` and ``size_field`` may instead give a place after the
        flatbuffer. ``first`` is the number of the first table in error messages.
        """
        targets = self.targets(field, what)
        counts = self.buffer.lengths(targets, 1, what)
        spans: list[tuple[int, int] | None] = [None] * len(self)
        if any(targets):
            spans = [(target + 4, count) if target else None for target, count in zip(targets, counts, strict=True)]
        offsets, sizes = self.numbers(offset_field), self.numbers(size_field)
        if not any(offsets):
            return spans
        for index, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
            if offset > 1 and not targets[index]:
                if offset + size > self.buffer.size:
                    number = first + index
                    raise Malformed(f"is truncated: {what} (number {number}) lies at offset {offset}, past the end of the file")
                spans[index] = (offset, size)
        return spans

    def children(self, field: str) -> Tables:
        """Return the child table in a field of each table."""
        name = self._target(field)
        return Tables(self.buffer, name, self.targets(field, f"one of its {name} tables"))

    def child_vectors(self, field: str) -> tuple[Tables, list[int]]:
        """Return the tables in a vector field of all tables, as one ``Tables``. Also return the length of each vector."""
        references, counts = self._references(field)
        return self._referred(field, references), counts

    def child_blocks(self, field: str) -> tuple[Iterator[Tables], list[int]]:
        """Return the tables in a vector field of all tables, and the length of each vector.

        To save memory, the iterator yields the tables in blocks of a few thousand tables.
        """
        references, counts = self._references(field)
        blocks = [references[start : start + _BLOCK] for start in range(0, len(references), _BLOCK)] or [[]]
        return (self._referred(field, block) for block in blocks), counts

    def _target(self, field: str) -> str:
        name = self._fields[field].target
        assert name is not None
        return name

    def _references(self, field: str) -> tuple[Sequence[int], list[int]]:
        what = f"a vector of {self._target(field)} tables"
        starts, counts = self.vectors(field, what)
        self.buffer.spend(sum(counts) * 4, what)
        # bounded: the vectors lie in the file, and the budget counts them
        elements = [range(start, start + 4 * count, 4) for start, count in zip(starts, counts, strict=True) if count]
        return elements[0] if len(elements) == 1 else list(itertools.chain.from_iterable(elements)), counts

    def _referred(self, field: str, references: Sequence[int]) -> Tables:
        name = self._target(field)
        return Tables(self.buffer, name, self.buffer.follow(references, f"one of its {name} tables"))


@functools.lru_cache(maxsize=1 << 10)
def _reader(form: str) -> Callable[..., tuple[Any, ...]]:
    return struct.Struct(form).unpack_from


def split(items: Iterable[_Item], counts: Sequence[int]) -> list[tuple[_Item, ...]]:
    """Split items into consecutive rows. ``counts`` has the length of each row."""
    joined = tuple(items)
    if not joined:
        return [()] * len(counts)
    return [joined[end - count : end] for end, count in zip(itertools.accumulate(counts), counts, strict=True)]

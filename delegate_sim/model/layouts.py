"""Fields of many tables of a flatbuffer, read at once of each table.

Writers keep one vtable, which says where a table has its fields, for all tables that are alike. There are few such layouts, and
within one a field lies at the same offset of every table, or in none: no table is asked whether it has it.
"""

from __future__ import annotations

import itertools
import operator
import struct
from collections.abc import Mapping, Sequence
from typing import Any

OFFSET = "offset"
"""In the place of a number's format: a field that says where something else lies."""
OUTSIDE = 1 << 16
"""In the place of a field's offset: a vtable says it outside the file."""
_REFERENCE = "<I"
_Columns = Mapping[int, Sequence[Any]]
"""Fields of some tables, by number."""


class FieldColumns:
    """Fields of many tables, that have been read. ``parts`` are those of each layout, and how many tables have it."""

    def __init__(self, fields: Mapping[int, str], parts: Sequence[tuple[_Columns, int]], places: Sequence[int]) -> None:
        self._fields = fields
        self._parts = parts
        self._in_order = operator.itemgetter(*places) if places else None

    def get(self, slot: int, absent: Any) -> Sequence[Any] | None:
        """Return a field of each table, ``absent`` where a table has none; None if this field was not read.

        Of a field that says where something lies, this is that place.
        """
        if slot not in self._fields:
            return None
        parts = [(columns.get(slot), count) for columns, count in self._parts]
        if all(column is None for column, _ in parts):
            return [absent] * sum([count for _, count in parts])
        joined: list[Any] = []
        for column, count in parts:
            joined += column or [absent] * count
        return joined if self._in_order is None else list(self._in_order(joined))


def read_columns(
    content: memoryview,
    positions: Sequence[int],
    vtables: Sequence[int],
    layouts: Mapping[int, Mapping[int, int]],
    fields: Mapping[int, str],
) -> FieldColumns | None:
    """Read these fields of tables, whose ``layouts`` say at which offsets they are, by vtable and number.

    None if a field lies outside the file or overlaps another.
    """
    alike: dict[int, Sequence[int]] = dict.fromkeys(layouts, positions)
    places: list[int] = []
    if len(layouts) > 1:
        alike, places = _grouped(positions, vtables, layouts)
    parts = []
    for vtable, own in alike.items():
        columns = _read_alike(content, own, layouts[vtable], fields)
        if columns is None:
            return None
        parts.append((columns, len(own)))
    return FieldColumns(fields, parts, places)


def _grouped(
    positions: Sequence[int], vtables: Sequence[int], layouts: Mapping[int, Mapping[int, int]]
) -> tuple[dict[int, Sequence[int]], list[int]]:
    """Return the positions of the tables of each layout, and where each table is when these are put end to end."""
    alike: dict[int, list[int]] = {vtable: [] for vtable in layouts}
    for vtable, position in zip(vtables, positions, strict=True):
        alike[vtable].append(position)
    starts = itertools.accumulate(map(len, alike.values()), initial=0)
    following = {vtable: itertools.count(start) for vtable, start in zip(alike, starts, strict=False)}
    return {**alike}, list(map(next, map(following.__getitem__, vtables)))


def _read_alike(
    content: memoryview, positions: Sequence[int], offsets: Mapping[int, int], fields: Mapping[int, str]
) -> _Columns | None:
    """Read the fields of tables of one layout."""
    if not offsets:
        return {}
    form, end = "<", 0
    in_order = sorted(offsets, key=offsets.__getitem__)
    for slot in in_order:
        kind = _REFERENCE if fields[slot] == OFFSET else fields[slot]
        if not end <= offsets[slot] < OUTSIDE:
            return None
        form += f"{offsets[slot] - end}x{kind[-1]}"
        end = offsets[slot] + struct.calcsize(kind)
    if max(positions) + end > len(content):
        return None
    rows = map(struct.Struct(form).unpack_from, itertools.repeat(content), positions)
    columns: dict[int, Sequence[Any]] = dict(zip(in_order, zip(*rows, strict=True), strict=True))
    for slot, offset in offsets.items():
        if fields[slot] == OFFSET:
            columns[slot] = [position + offset + distance for position, distance in zip(positions, columns[slot], strict=True)]
    return columns

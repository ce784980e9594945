"""The builtin options of nodes. Options are read on first use.

This module reads a few tables of a file that is already loaded. Use ``flatbuffer.py`` to load a file, because only
``flatbuffer.py`` checks all tables.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..bundles.ranged import Content, unpacked
from . import schema

_REFERENCE, _TO_VTABLE, _VTABLE_ENTRY = (struct.Struct(code) for code in ("<I", "<i", "<H"))


class FileTable(NamedTuple):
    """A table at a position of the file. Reading past the end of the file raises struct.error."""

    content: Content
    name: str
    position: int

    @classmethod
    def root(cls, content: Content) -> FileTable:
        """Return the root table of a model."""
        return cls(content, "Model", unpacked(_REFERENCE, content, 0)[0])

    @property
    def fields(self) -> Mapping[str, schema.Field]:
        """The fields of the table in the schema, or an empty mapping if the schema lacks the table."""
        return schema.table_fields(self.name)

    def place(self, field: str) -> int:
        """Return the position of a field in the file, or 0 if the table lacks the field."""
        vtable = self.position - unpacked(_TO_VTABLE, self.content, self.position)[0]
        entry = 4 + 2 * self.fields[field].slot
        if vtable < 0 or entry + 2 > unpacked(_VTABLE_ENTRY, self.content, vtable)[0]:
            return 0
        offset: int = unpacked(_VTABLE_ENTRY, self.content, vtable + entry)[0]
        return offset and self.position + offset

    def places(self) -> dict[int, int]:
        """Return the positions of the stored fields, keyed by slot. Fields that the schema lacks are included."""
        vtable = self.position - unpacked(_TO_VTABLE, self.content, self.position)[0]
        slots = (unpacked(_VTABLE_ENTRY, self.content, vtable)[0] - 4) // 2
        offsets = unpacked(struct.Struct(f"<{slots}H"), self.content, vtable + 4)
        return {slot: self.position + offset for slot, offset in enumerate(offsets) if offset}

    def target(self, field: str) -> int:
        """Return the position that a field refers to, or 0 if the table lacks the field."""
        place = self.place(field)
        return place and self._follow(place)

    def value(self, field: str) -> Any:
        """Return the value of a field: a number, a vector of numbers or a string. An absent field has its default value."""
        declared = self.fields[field]
        place = self.place(field)
        if not place:
            return declared.default
        if declared.format is not None:
            return unpacked(struct.Struct(declared.format), self.content, place)[0]
        start = self._follow(place)
        (count,) = unpacked(_REFERENCE, self.content, start)
        elements = unpacked(struct.Struct(f"<{count}{declared.element or 's'}"), self.content, start + 4)
        return elements if declared.element else elements[0].decode("utf-8", "replace")

    def children(self, field: str) -> list[FileTable]:
        """Return the tables in a vector field."""
        name, start = self.fields[field].target, self.target(field)
        if not start:
            return []
        assert name is not None
        (count,) = unpacked(_REFERENCE, self.content, start)
        # bounded: the reader has counted these tables
        return [FileTable(self.content, name, self._follow(start + 4 + 4 * number)) for number in range(count)]

    def _follow(self, place: int) -> int:
        distance: int = unpacked(_REFERENCE, self.content, place)[0]
        return place + distance


class Options:
    """The builtin options of a node, as attributes with the schema's field names.

    If the node has no options table, ``table`` is None and, as in the runtime, every field is 0 or empty.
    """

    def __init__(self, table: str | None, values: Mapping[str, Any]) -> None:
        self.table = table
        self._values = values
        vars(self).update(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return 0

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._values.items())


@functools.cache
def absent_options(table: str) -> Options:
    """Return the options of a node without an options table: all fields are 0 or empty."""
    return Options(None, {name: type(default)() for name, default in schema.default_values(table).items()})


class OptionsReader:
    """A reader of the options tables of a file. Nodes with equal options share one ``Options`` object."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self._layouts: dict[tuple[str, int], _OptionsLayout] = {}
        """Layouts of options tables, keyed by table name and vtable position. Many tables share one vtable."""
        self._by_bytes: dict[tuple[str, bytes, bytes], Options] = {}
        self._by_place: dict[tuple[str, int], Options] = {}

    def read(self, place: tuple[str, int]) -> Options:
        """Return the options in the table with this name and position. Fields past the end of the file are absent."""
        options = self._by_place.get(place)
        if options is None:
            options = self._by_place[place] = self._read(*place)
        return options

    def _read(self, name: str, position: int) -> Options:
        key = self._key(name, position)
        options = self._by_bytes.get(key) if key is not None else None
        if options is None:
            options = Options(name, _values(FileTable(self.content, name, position)))
            if key is not None:
                self._by_bytes[key] = options
        return options

    def has(self, name: str, position: int, field: str) -> bool:
        """Return whether an options table stores a field. A field that is not stored has its default value."""
        table = FileTable(self.content, name, position)
        try:
            return field in table.fields and table.place(field) > 0
        except struct.error:
            return False

    def _key(self, name: str, position: int) -> tuple[str, bytes, bytes] | None:
        """Return the table's name and all bytes that decide its values, or None if the file is too short."""
        content = self.content
        try:
            vtable = position - unpacked(_TO_VTABLE, content, position)[0]
            known = self._layouts.get((name, vtable))
            if known is None:
                if vtable < 0:
                    return None
                size = unpacked(_VTABLE_ENTRY, content, vtable)[0]
                known = self._layouts[name, vtable] = _layout(name, bytes(content[vtable : vtable + size]))
            parts = [bytes(content[position + 4 : position + known.end])]
            for offset, width in known.elsewhere:
                # Equal vectors may be at different distances from their tables, so the distance is not part of the key.
                parts[0] = parts[0][: offset - 4] + bytes(4) + parts[0][offset:]
                start = position + offset + unpacked(_REFERENCE, content, position + offset)[0]
                (count,) = unpacked(_REFERENCE, content, start)
                parts.append(bytes(content[start : start + 4 + count * width]))
        except struct.error:
            return None
        return name, known.vtable, b"".join(parts)


class _OptionsLayout(NamedTuple):
    """The layout of a table: its vtable, the end of its inline fields, and its vectors and strings.

    ``elsewhere`` has a pair for each vector or string: the offset of the reference to it, and the size of an element in bytes.
    """

    vtable: bytes
    end: int
    elsewhere: tuple[tuple[int, int], ...]


@functools.lru_cache(maxsize=1 << 10)
def _layout(name: str, vtable: bytes) -> _OptionsLayout:
    end, elsewhere = 4, []
    for field in schema.table_fields(name).values():
        entry = 4 + 2 * field.slot
        offset = int.from_bytes(vtable[entry : entry + 2], "little") if entry + 2 <= len(vtable) else 0
        if offset:
            end = max(end, offset + field.size)
            if field.format is None:
                elsewhere.append((offset, field.element_size))
    return _OptionsLayout(vtable, end, tuple(elsewhere))


def _values(table: FileTable) -> Mapping[str, Any]:
    """Return the value of each field of a table, by name.

    If a field is outside the file, this field and all fields after it in the schema have default values.
    """
    values = schema.default_values(table.name)
    try:
        for name in values:
            values[name] = table.value(name)
    except struct.error:
        pass
    return MappingProxyType(values)

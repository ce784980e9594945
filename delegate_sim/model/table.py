"""Access to single tables of a flatbuffer by the names in the schema.

This module reads a few tables of a file that is already loaded. Use ``flatbuffer.py`` to load a file, because only
``flatbuffer.py`` checks all tables.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..bundles.ranged import Content, unpacked
from . import schema

_REFERENCE, _TO_VTABLE, _VTABLE_ENTRY = (struct.Struct(code) for code in ("<I", "<i", "<H"))


@dataclass(frozen=True, slots=True)
class FileTable:
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
        return self._place(self.fields[field].slot)

    def _place(self, slot: int) -> int:
        vtable = self.position - unpacked(_TO_VTABLE, self.content, self.position)[0]
        entry = 4 + 2 * slot
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

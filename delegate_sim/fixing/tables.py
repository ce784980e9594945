"""The tables of an existing file by position, to be referred to, or copied with some of their fields changed."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType

from ..errors import FixError
from .layout import NewTable, Old

_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "Model": "<I * * * * * * * * *",
        "SubGraph": "* * * * * <i",
        "Tensor": "* <b <I * * <? * * <? * <I",
        "Operator": "<I * * <B * * <b * * <Q <Q <B * <i",
    }
)
"""The fields of each table that is ever copied, by slot: the struct format of a number, or * for a reference."""

_POSITIONS: Mapping[str, frozenset[int]] = MappingProxyType({"Operator": frozenset({9})})


class FileTables:
    """Reads positions from the bytes of a file that the reader of models has checked."""

    def __init__(self, content: memoryview) -> None:
        self.content = content
        self.root = self._reference(0)

    def _number(self, kind: str, position: int) -> int:
        value: int = struct.unpack_from(kind, self.content, position)[0]
        return value

    def _reference(self, position: int) -> int:
        return position + self._number("<I", position)

    def fields(self, table: int) -> dict[int, int]:
        """Return where a table keeps each field that it has, by slot."""
        vtable = table - self._number("<i", table)
        slots = (self._number("<H", vtable) - 4) // 2
        offsets = struct.unpack_from(f"<{slots}H", self.content, vtable + 4)
        return {slot: table + offset for slot, offset in enumerate(offsets) if offset}

    def child(self, table: int, slot: int) -> int | None:
        """Return what a field of a table refers to, None if the table lacks it."""
        place = self.fields(table).get(slot)
        return None if place is None else self._reference(place)

    def children(self, table: int, slot: int) -> list[int]:
        """Return the tables of the vector that a field refers to."""
        start = self.child(table, slot)
        if start is None:
            return []
        count = self._number("<I", start)
        return [self._reference(start + 4 + 4 * number) for number in range(count)]

    def text(self, table: int, slot: int) -> str:
        """Return a string that a field of a table refers to, an empty one if the table lacks it."""
        start = self.child(table, slot)
        if start is None:
            return ""
        return bytes(self.content[start + 4 : start + 4 + self._number("<I", start)]).decode("utf-8", "replace")

    def copied(self, name: str, table: int) -> NewTable:
        """Return a table with the numbers of an existing one, and references to what that one refers to.

        Raises FixError where it has fields that the schema does not know: what they hold could not be carried over.
        """
        kinds = _FIELDS[name].split()
        copy = NewTable(positions=_POSITIONS.get(name, frozenset()))
        for slot, place in self.fields(table).items():
            if slot >= len(kinds):
                raise FixError(
                    f"one of its {name} tables has a field that is newer than the schema known here (number {slot}); "
                    "it would be lost"
                )
            if kinds[slot] == "*":
                copy.references[slot] = Old(self._reference(place))
            else:
                copy.numbers[slot] = (kinds[slot], struct.unpack_from(kinds[slot], self.content, place)[0])
        return copy

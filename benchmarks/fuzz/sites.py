"""Every place of a .tflite file that means something: offsets, vtables, lengths, indices, enumerations, sizes and constants."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from delegate_sim.model import schema

OFFSET, VTABLE, LENGTH, NUMBER, ELEMENT, BYTE = "offset", "vtable", "length", "number", "element", "byte"


class Site(NamedTuple):
    """A number in the file: what it is, where it stands, how it is packed, and the field that it belongs to."""

    kind: str
    position: int
    format: str
    field: str


_TABLES: Mapping[str, Mapping[int, str]] = {
    "Model": {1: "OperatorCode", 2: "SubGraph", 4: "Buffer", 6: "Metadata", 7: "SignatureDef"},
    "SubGraph": {0: "Tensor", 3: "Operator"},
    "SignatureDef": {0: "TensorMap", 1: "TensorMap"},
    "SparsityParameters": {2: "DimensionMetadata"},
}
"""The vectors of tables, by table and slot."""
_TABLE: Mapping[str, Mapping[int, str]] = {"Tensor": {4: "QuantizationParameters", 6: "SparsityParameters"}}
"""The single tables."""
_UNIONS: Mapping[str, Mapping[int, tuple[int, str]]] = {
    "Operator": {4: (3, "BuiltinOptions"), 11: (10, "BuiltinOptions2")},
    "QuantizationParameters": {5: (4, "QuantizationDetails")},
    "DimensionMetadata": {3: (2, "SparseIndexVector"), 5: (4, "SparseIndexVector")},
}
"""The unions: the slot of the type, and its enumeration."""
_MOST_SITES = 200_000
_MOST_ELEMENTS = 64
"""Elements of one vector that are sites; the others are like them."""


def sites(content: bytes) -> list[Site]:
    """Return the places of a well-formed file, root first."""
    found: list[Site] = []
    (root,) = struct.unpack_from("<I", content)
    found.append(Site(OFFSET, 0, "<I", "root"))
    waiting = [("Model", root)]
    seen: set[tuple[str, int]] = set()
    while waiting and len(found) < _MOST_SITES:
        name, table = waiting.pop()
        if (name, table) in seen:
            continue
        seen.add((name, table))
        try:
            for site, child in _of_table(content, name, table):
                found.append(site)
                if child is not None:
                    waiting.append(child)
        except struct.error:
            continue
    return found


def _of_table(content: bytes, name: str, table: int) -> Iterator[tuple[Site, tuple[str, int] | None]]:
    (back,) = struct.unpack_from("<i", content, table)
    yield Site(VTABLE, table, "<i", name), None
    vtable = table - back
    size, own_size = struct.unpack_from("<HH", content, vtable)
    yield Site(VTABLE, vtable, "<H", f"{name} size"), None
    yield Site(VTABLE, vtable + 2, "<H", f"{name} own size"), None
    del own_size
    entries = {}
    for slot in range((size - 4) // 2):
        place = vtable + 4 + 2 * slot
        (offset,) = struct.unpack_from("<H", content, place)
        yield Site(VTABLE, place, "<H", f"{name}.{slot}"), None
        if offset:
            entries[slot] = table + offset
    numbers = {field.slot: field for field in schema.table_fields(name).values()}
    for slot, place in entries.items():
        field = numbers.get(slot)
        if field is not None and field.format is not None:
            yield Site(NUMBER, place, field.format, f"{name}.{field.name}"), None
            continue
        element = field.element if field is not None else None
        yield from _reference(content, name, slot, place, element, entries)


def _reference(
    content: bytes, name: str, slot: int, place: int, element: str | None, entries: Mapping[int, int]
) -> Iterator[tuple[Site, tuple[str, int] | None]]:
    label = f"{name}.{slot}"
    target = place + struct.unpack_from("<I", content, place)[0]
    if slot in _TABLE.get(name, {}):
        yield Site(OFFSET, place, "<I", label), (_TABLE[name][slot], target)
        return
    if slot in _UNIONS.get(name, {}):
        kind_slot, enumeration = _UNIONS[name][slot]
        kind = content[entries[kind_slot]] if kind_slot in entries else 0
        table = schema.enum_names(enumeration).get(kind, "")
        yield Site(OFFSET, place, "<I", label), (table, target) if table and table != "NONE" else None
        return
    yield Site(OFFSET, place, "<I", label), None
    (count,) = struct.unpack_from("<I", content, target)
    yield Site(LENGTH, target, "<I", label), None
    if slot in _TABLES.get(name, {}):
        for index in range(min(count, (len(content) - target) // 4)):
            at = target + 4 + 4 * index
            yield Site(OFFSET, at, "<I", label), (_TABLES[name][slot], at + struct.unpack_from("<I", content, at)[0])
        return
    width = struct.calcsize(f"<{element or 'B'}")
    for index in range(min(count, _MOST_ELEMENTS, (len(content) - target - 4) // width)):
        yield Site(ELEMENT if element else BYTE, target + 4 + width * index, f"<{element or 'B'}", label), None

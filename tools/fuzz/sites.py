"""Every place of a .tflite file that means something: offsets, vtables, lengths, indices, enumerations, sizes and constants."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from delegate_sim.model import schema

OFFSET, VTABLE, LENGTH, NUMBER, ELEMENT, BYTE = "offset", "vtable", "length", "number", "element", "byte"


class Site(NamedTuple):
    """A number in the file: what it is, where it stands, how it is packed, and the field and table that it belongs to."""

    kind: str
    position: int
    format: str
    field: str
    table: int = 0


_UNIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Operator": {
        "builtin_options": ("builtin_options_type", "BuiltinOptions"),
        "builtin_options2": ("builtin_options2_type", "BuiltinOptions2"),
    },
    "QuantizationParameters": {"details": ("details_type", "QuantizationDetails")},
    "DimensionMetadata": {
        "array_segments": ("array_segments_type", "SparseIndexVector"),
        "array_indices": ("array_indices_type", "SparseIndexVector"),
    },
}
"""The unions, by table and field: the field of the type, and its enumeration."""
_MOST_SITES = 200_000
_MOST_ELEMENTS = 64
"""Elements of one vector that are sites; the others are like them."""


def sites(content: bytes) -> list[Site]:
    """Return the places of a well-formed file, root first."""
    result: list[Site] = []
    (root,) = struct.unpack_from("<I", content)
    result.append(Site(OFFSET, 0, "<I", "root"))
    waiting = [("Model", root)]
    seen: set[tuple[str, int]] = set()
    while waiting and len(result) < _MOST_SITES:
        name, table = waiting.pop()
        if (name, table) in seen:
            continue
        seen.add((name, table))
        try:
            for site, child in _of_table(content, name, table):
                result.append(site._replace(table=table))
                if child is not None:
                    waiting.append(child)
        except struct.error:
            continue
    return result


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
    fields = {field.slot: field for field in schema.table_fields(name).values()}
    for slot, place in entries.items():
        if slot in fields:
            yield from _of_field(content, name, fields[slot], place, entries)


def _of_field(
    content: bytes, name: str, field: schema.Field, place: int, entries: Mapping[int, int]
) -> Iterator[tuple[Site, tuple[str, int] | None]]:
    label = f"{name}.{field.name}"
    if field.format is not None:
        yield Site(NUMBER, place, field.format, label), None
        return
    target = place + struct.unpack_from("<I", content, place)[0]
    if field.name in _UNIONS.get(name, {}):
        type_field, enumeration = _UNIONS[name][field.name]
        type_place = entries.get(schema.table_fields(name)[type_field].slot)
        table = schema.enum_names(enumeration).get(content[type_place] if type_place else 0, "")
        yield Site(OFFSET, place, "<I", label), (table, target) if table and table != "NONE" else None
        return
    if field.target is not None and not field.is_vector:
        yield Site(OFFSET, place, "<I", label), (field.target, target)
        return
    yield Site(OFFSET, place, "<I", label), None
    (count,) = struct.unpack_from("<I", content, target)
    yield Site(LENGTH, target, "<I", label), None
    if field.target is not None:
        for index in range(min(count, (len(content) - target) // 4)):
            at = target + 4 + 4 * index
            yield Site(OFFSET, at, "<I", label), (field.target, at + struct.unpack_from("<I", content, at)[0])
        return
    width = field.element_size
    for index in range(min(count, _MOST_ELEMENTS, (len(content) - target - 4) // width)):
        kind = ELEMENT if field.element else BYTE
        yield Site(kind, target + 4 + width * index, f"<{field.element or 'B'}", label), None

"""The header and the sections of a LiteRT-LM file.

Source: google-ai-edge/LiteRT-LM. ``schema/core/litertlm_read.cc`` reads the start of the file: magic number, version, end of
the header, header. ``schema/core/litertlm_header_schema.fbs`` is the schema of the header, a flatbuffer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..foundation.limits import how_to_raise, raised
from ..foundation.work_budget import spend_steps
from .bundle_error import READING, BundleError
from .member import Member, check_name, stored_member
from .ranged import Content

HEADER_START = 32
"""The position of the header in the file. The magic number, the version and the header's end come before it."""
KNOWN_MAJOR = 1
TFLITE_MODEL = 3
DATA_TYPES = {
    0: "NONE",
    1: "GenericBinaryData",
    2: "Deprecated",
    TFLITE_MODEL: "TFLiteModel",
    4: "SP_Tokenizer",
    5: "LlmMetadataProto",
    6: "HF_Tokenizer_Zlib",
    7: "TFLiteWeights",
    8: "EmbeddingMetadataProto",
    9: "ExecutorMetadataProto",
    10: "TtsMetadataProto",
    11: "AsrMetadataProto",
}
"""The names of the sections' data types (``AnySectionDataType``)."""
MODEL_TYPE, CONSTRAINT, ACTIVATION_TYPE = "model_type", "backend_constraint", "prefer_activation_type"
_NAME_KEYS = (MODEL_TYPE, "name")
_STRING_VALUE = 9
"""The union type ``VData.StringValue``."""
_SCALARS = {1: "<B", 2: "<b", 3: "<H", 4: "<h", 5: "<I", 6: "<i", 7: "<f", 8: "<?", 10: "<Q", 11: "<q"}
"""The ``struct`` formats of all other union types of ``VData``. Each of these types is a struct with one member."""
_MOST_SECTIONS = 4096
_STEPS_FOR_A_TABLE = 30
_BYTES_IN_A_STEP = 50
_MOST_ITEMS = 1024
_READING_ERRORS = (struct.error, ValueError, IndexError, TypeError, OverflowError)

ItemValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a file: its data type, its range of bytes, and its items as pairs of key and value.

    If an item has no value or a value of unknown type, its value is None.
    """

    number: int
    data_type: int
    begin: int
    end: int
    items: tuple[tuple[str, ItemValue], ...] = ()

    @property
    def size(self) -> int:
        """The number of bytes; 0 if the section ends before it begins."""
        return max(0, self.end - self.begin)

    @property
    def is_model(self) -> bool:
        """Whether the section contains a TFLite model."""
        return self.data_type == TFLITE_MODEL

    @property
    def kind(self) -> str:
        """The name of the data type, or the data type's number if the name is not known."""
        return DATA_TYPES.get(self.data_type, f"data type {self.data_type}")

    def item(self, key: str) -> str | None:
        """Return the text of the last item with this key, or None if there is no such item.

        ``key`` must be in lower case. The case of the items' keys is ignored.
        """
        values = [value for name, value in self.items if name.lower() == key and isinstance(value, str)]
        return values[-1] if values else None


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file: its format version, the position after it, the items of the file, and the file's sections."""

    version: tuple[int, int, int]
    end: int
    items: tuple[tuple[str, ItemValue], ...]
    sections: tuple[Section, ...]


def read_header(content: Content) -> Header:
    """Read the header of a LiteRT-LM file. Raises BundleError.

    The caller must check the magic number first. The result also has sections that lie outside the file. Raises LimitError if the
    items or the shared bytes of sections are too much work.
    """
    try:
        version = struct.unpack("<III", bytes(content[8:20]))
        if version[0] != KNOWN_MAJOR:
            raise BundleError(f"has version {version[0]} of the LiteRT-LM format; only version {KNOWN_MAJOR} is known")
        end = int.from_bytes(bytes(content[24:HEADER_START]), "little")
        header = bytes(content[HEADER_START:end])
        items, sections = _tables(header)
        _count_shared_bytes(sections, len(content))
        return Header(version, end, items, sections)
    except _READING_ERRORS as error:
        raise BundleError("is a damaged LiteRT-LM file: its header cannot be read") from error


def with_offsets(beginning: bytes, sections: Sequence[Section]) -> bytes:
    """Return the file's bytes up to the end of the header, with the positions of ``sections`` in the header.

    ``sections`` must have the same order as in the header. Raises BundleError.
    """
    header = bytearray(beginning[HEADER_START:])
    try:
        for table, section in zip(_section_tables(bytes(header)), sections, strict=True):
            for slot, value in ((1, section.begin), (2, section.end)):
                at = table.Offset(4 + 2 * slot)
                if not at:
                    raise ValueError("absent")
                struct.pack_into("<Q", header, table.Pos + at, value)
    except _READING_ERRORS as error:
        raise BundleError("is damaged: the positions of its sections cannot be written") from error
    return beginning[:HEADER_START] + bytes(header)


def read_litertlm(content: Content) -> Sequence[Member]:
    """Return the sections that contain models, with the names of ``section_names``. Raises BundleError."""
    return list(_members(content, read_header(content)))


def section_names(sections: Sequence[Section]) -> tuple[str, ...]:
    """Return a unique name for each section: the value of the section's item ``model_type`` or ``name``.

    If a section has no such item, its name is its number. Raises BundleError for a name that is too long.
    """
    names = dict[str, None]()
    for section in sections:
        name = next((value for key, value in section.items if key in _NAME_KEYS and isinstance(value, str) and value), "")
        name = name or f"section-{section.number}"
        check_name(name)
        while name in names:
            name += f"-{section.number}"
        names[name] = None
    return tuple(names)


def _count_shared_bytes(sections: Sequence[Section], size: int) -> None:
    sizes = sum([max(0, min(section.end, size) - min(section.begin, size)) for section in sections])
    spend_steps(max(0, sizes - size), READING)


def _tables(header: bytes) -> tuple[tuple[tuple[str, ItemValue], ...], tuple[Section, ...]]:
    root, tables = _root(header), _section_tables(header)
    known: dict[int, tuple[tuple[str, ItemValue], ...]] = {}
    sections = [
        Section(
            number,
            _scalar(table, 3, "<B"),
            _scalar(table, 1, "<Q"),
            _scalar(table, 2, "<Q"),
            _items(table, known),
        )
        for number, table in enumerate(tables)
    ]
    system = root.Offset(4)
    return _items(_child(root, 0), known) if system else (), tuple(sections)


def _root(header: bytes) -> Any:
    from flatbuffers.table import Table  # imports numpy

    return Table(header, *struct.unpack_from("<I", header))


def _section_tables(header: bytes) -> list[Any]:
    table = _child(_root(header), 1)
    count = _length(table)
    if count > raised(_MOST_SECTIONS):
        raise BundleError(f"claims {count:,} sections{how_to_raise()}")
    return _vector(table, count)


def _members(content: Content, header: Header) -> Iterator[Member]:
    models = [section for section in header.sections if section.is_model]
    for section, name in zip(models, section_names(models), strict=True):
        if section.begin > section.end:
            raise BundleError(f"is damaged: section {section.number} ends before it begins")
        if section.end > len(content):
            raise BundleError(
                f"is truncated or damaged: section {section.number} ends at byte {section.end:,}, but the file has "
                f"{len(content):,} bytes"
            )
        yield stored_member(name, content[section.begin : section.end])


def _items(table: Any, known: dict[int, tuple[tuple[str, ItemValue], ...]]) -> tuple[tuple[str, ItemValue], ...]:
    """Return the items in the first field of a table as pairs of key and value.

    Several tables may share this field, so it is read once. ``known`` has the items that were read, by position.
    """
    at = table.Offset(4)
    start = table.Vector(at) if at else 0
    if start not in known:
        known[start] = _read_items(table)
    return known[start]


def _read_items(table: Any) -> tuple[tuple[str, ItemValue], ...]:
    items = list[tuple[str, ItemValue]]()
    for item in _vector(table, min(_length(table), raised(_MOST_ITEMS))):
        key = item.Offset(4)
        if key:
            items.append((_string(item, key), _value(item)))
    return tuple(items)


def _value(item: Any) -> ItemValue:
    kind, value = item.Offset(6), item.Offset(8)
    if not kind or not value:
        return None
    union = item.Bytes[item.Pos + kind]
    child = _child(item, 2)
    if union == _STRING_VALUE:
        at = child.Offset(4)
        return _string(child, at) if at else ""
    scalar: ItemValue = struct.unpack_from(_SCALARS[union], child.Bytes, child.Pos)[0] if union in _SCALARS else None
    return scalar


def _child(table: Any, slot: int) -> Any:
    at = table.Offset(4 + 2 * slot)
    if not at:
        raise ValueError("absent")
    return type(table)(table.Bytes, table.Indirect(table.Pos + at))


def _string(table: Any, at: int) -> str:
    position = table.Indirect(table.Pos + at)
    size = int.from_bytes(table.Bytes[position : position + 4], "little")
    spend_steps(size // _BYTES_IN_A_STEP, READING)
    return str(table.String(table.Pos + at).decode("utf-8", "replace"))


def _length(table: Any) -> int:
    at = table.Offset(4)
    count = int(table.VectorLen(at)) if at else 0
    if count > len(table.Bytes):
        raise ValueError("too long")
    return count


def _vector(table: Any, count: int) -> list[Any]:
    if not count:
        return []
    spend_steps(_STEPS_FOR_A_TABLE * count, READING)
    start = table.Vector(table.Offset(4))
    # bounded: callers limit the number of sections and items
    return [type(table)(table.Bytes, table.Indirect(start + 4 * index)) for index in range(count)]


def _scalar(table: Any, slot: int, form: str) -> int:
    at = table.Offset(4 + 2 * slot)
    return int(struct.unpack_from(form, table.Bytes, table.Pos + at)[0]) if at else 0

"""The sections of a LiteRT-LM file.

Source: google-ai-edge/LiteRT-LM, ``schema/core/litertlm_read.cc`` (magic, version, end of the header, header) and
``schema/core/litertlm_header_schema.fbs`` (the header, a flatbuffer).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from ..foundation.limits import how_to_raise, raised
from .bundle_error import BundleError
from .member import Member
from .ranged import Content

_HEADER_START = 32
_KNOWN_MAJOR = 1
_TFLITE_MODEL = 3
_NAME_KEYS = ("model_type", "name")
_STRING_VALUE = 9
"""The union type ``VData.StringValue``."""
_MOST_SECTIONS = 4096


def read_litertlm(content: Content) -> Sequence[Member]:
    """Return the sections that contain models. Raises BundleError.

    The name of a section is its ``model_type`` or ``name``. A section that has neither is named by its number.
    """
    try:
        major = int.from_bytes(bytes(content[8:12]), "little")
        if major != _KNOWN_MAJOR:
            raise BundleError(f"has version {major} of the LiteRT-LM format; only version {_KNOWN_MAJOR} is known")
        end = int.from_bytes(bytes(content[24:32]), "little")
        header = bytes(content[_HEADER_START:end])
        return list(_members(content, header))
    except (struct.error, ValueError, IndexError, TypeError, OverflowError) as error:
        raise BundleError("is a damaged LiteRT-LM file: its header cannot be read") from error


def _members(content: Content, header: bytes) -> Iterator[Member]:
    import flatbuffers
    from flatbuffers.number_types import UOffsetTFlags

    flags = flatbuffers.number_types
    root = flatbuffers.table.Table(header, flatbuffers.encode.Get(UOffsetTFlags.packer_type, header, 0))
    sections = _vector(_child(root, 1), 0)
    if len(sections) > raised(_MOST_SECTIONS):
        raise BundleError(f"claims {len(sections):,} sections{how_to_raise()}")
    seen: set[str] = set()
    for number, section in enumerate(sections):
        if _scalar(section, 3, flags.Uint8Flags) != _TFLITE_MODEL:
            continue
        begin, end = _scalar(section, 1, flags.Uint64Flags), _scalar(section, 2, flags.Uint64Flags)
        if not begin <= end <= len(content):
            raise BundleError(
                f"is truncated or damaged: section {number} ends at byte {end:,}, but the file has {len(content):,} bytes"
            )
        name = _name(section) or f"section-{number}"
        if name in seen:
            name = f"{name}-{number}"
        seen.add(name)
        yield _member(name, content[begin:end])


def _member(name: str, view: Content) -> Member:
    return Member(name, lambda count: bytes(view[:count]), lambda: view)


def _name(section: Any) -> str:
    """Return the name of a section: the value of its first item whose key is in ``_NAME_KEYS``, or an empty string."""
    for item in _vector(section, 0):
        key = item.Offset(4)
        if key and item.String(item.Pos + key).decode("utf-8", "replace") in _NAME_KEYS:
            kind, value = item.Offset(6), item.Offset(8)
            if kind and value and item.Bytes[item.Pos + kind] == _STRING_VALUE:
                text = _child(item, 2)
                at = text.Offset(4)
                return text.String(text.Pos + at).decode("utf-8", "replace") if at else ""
    return ""


def _child(table: Any, slot: int) -> Any:
    import flatbuffers

    at = table.Offset(4 + 2 * slot)
    if not at:
        raise ValueError("absent")
    return flatbuffers.table.Table(table.Bytes, table.Indirect(table.Pos + at))


def _vector(table: Any, slot: int) -> list[Any]:
    import flatbuffers

    at = table.Offset(4 + 2 * slot)
    if not at:
        return []
    count, start = table.VectorLen(at), table.Vector(at)
    if count > len(table.Bytes):
        raise ValueError("too long")
    return [
        flatbuffers.table.Table(table.Bytes, table.Indirect(start + 4 * index)) for index in range(min(count, len(table.Bytes)))
    ]


def _scalar(table: Any, slot: int, flags: Any) -> int:
    at = table.Offset(4 + 2 * slot)
    return int(table.Get(flags, table.Pos + at)) if at else 0

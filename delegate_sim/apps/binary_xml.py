"""Binary XML, the form of the manifest in an APK.

Source: ``libs/androidfw/include/androidfw/ResourceTypes.h`` of platform/frameworks/base (``ResXMLTree_node``,
``ResXMLTree_attrExt``, ``ResStringPool_header``, ``Res_value``).
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping

from ..bundles.bundle_error import READING
from ..foundation.work_budget import spend_steps

_FILE, _STRING_POOL, _RESOURCE_MAP, _START_ELEMENT = 0x0003, 0x0001, 0x0180, 0x0102
_NAMES = {
    0x01010003: "name",
    0x0101028E: "required",
    0x010104EA: "extractNativeLibs",
    0x0101020C: "minSdkVersion",
    0x01010270: "targetSdkVersion",
}
"""Android's numbers of attributes. Android reads an attribute by its number, whatever its name is."""
_UTF8 = 1 << 8
_STRING, _BOOLEAN = 0x03, 0x12
_NONE = 0xFFFFFFFF
_ELEMENT_HEADER = 36
_ATTRIBUTE = struct.Struct("<4xII3xBI")
_LONGEST_STRING = 1_000
"""Largest number of characters of a string that is kept. Names of libraries and packages are shorter."""
_CHUNKS_IN_A_STEP = 4
_BYTES_OF_TEXT_IN_A_STEP = 25
"""A decoded string takes up to four times as many bytes as in the file."""

Element = tuple[str, Mapping[str, str]]
"""The name of an element and its attributes. Numbers and truth values are texts, as in XML."""


class XmlError(ValueError):
    """Raised if bytes are not XML in the form that Android reads."""


def is_binary_xml(content: bytes) -> bool:
    """Return whether bytes begin like binary XML."""
    return content[:2] == struct.pack("<H", _FILE)


def elements(content: bytes, wanted: Collection[str]) -> Iterator[Element]:
    """Yield the elements with the wanted names, in order. Raises XmlError."""
    try:
        yield from _elements(content, wanted)
    except struct.error as error:
        raise XmlError("it ends too early") from error


def _elements(content: bytes, wanted: Collection[str]) -> Iterator[Element]:
    strings, numbers = _Strings(b""), tuple[int, ...]()
    at = struct.unpack_from("<H", content, 2)[0]
    chunks = 0
    while at + 8 <= len(content):
        kind, header, size = struct.unpack_from("<HHI", content, at)
        if size < max(header, 8) or at + size > len(content):
            raise XmlError(f"the part at byte {at:,} has a wrong size")
        chunks += 1
        spend_steps(chunks % _CHUNKS_IN_A_STEP == 0, READING)
        if kind == _STRING_POOL:
            strings = _Strings(content[at : at + size])
        elif kind == _RESOURCE_MAP:
            numbers = struct.unpack_from(f"<{(size - header) // 4}I", content, at + header)
        elif kind == _START_ELEMENT and size >= _ELEMENT_HEADER:
            name = strings.text(struct.unpack_from("<I", content, at + 20)[0])
            if name in wanted:
                yield name, _attributes(content[at : at + size], header, strings, numbers)
        at += size


def _attributes(chunk: bytes, header: int, strings: _Strings, numbers: tuple[int, ...]) -> Mapping[str, str]:
    start, size, count = struct.unpack_from("<HHH", chunk, 24)
    content = chunk[header + start : header + start + count * size]
    if size != _ATTRIBUTE.size or len(content) != count * size:
        raise XmlError("an element has attributes outside it")
    spend_steps(count, READING)
    attributes = dict[str, str]()
    for key, raw, kind, data in _ATTRIBUTE.iter_unpack(content):
        name = _NAMES.get(numbers[key], "") if key < len(numbers) else ""
        if raw != _NONE or kind == _STRING:
            value = strings.text(raw if raw != _NONE else data)
        else:
            value = str(bool(data)).lower() if kind == _BOOLEAN else str(data)
        attributes.setdefault(name or strings.text(key), value)
    return attributes


class _Strings:
    """A pool of strings. Each string is decoded when it is first used."""

    def __init__(self, chunk: bytes) -> None:
        self._chunk = chunk
        self._known: dict[int, str] = {}
        self._count, self._flags, self._start = (0, 0, 0)
        if chunk:
            self._count, self._flags, self._start = struct.unpack_from("<I4xII", chunk, 8)

    def text(self, index: int) -> str:
        """Return a string, or "" if there is none with this index or it is too long."""
        if index not in self._known:
            self._known[index] = self._decoded(index) if index < self._count else ""
        return self._known[index]

    def _decoded(self, index: int) -> str:
        chunk, header = self._chunk, struct.unpack_from("<H", self._chunk, 2)[0]
        at = self._start + struct.unpack_from("<I", chunk, header + 4 * index)[0]
        if self._flags & _UTF8:
            at = _length(chunk, at, "B")[1]
            length, at = _length(chunk, at, "B")
            encoding = "utf-8"
        else:
            length, at = _length(chunk, at, "H")
            length, encoding = 2 * length, "utf-16-le"
        if length > 2 * _LONGEST_STRING:
            return ""
        # Strings may share bytes, so a small file can have many long strings.
        spend_steps(length // _BYTES_OF_TEXT_IN_A_STEP, READING)
        return chunk[at : at + length].decode(encoding, "replace")


def _length(chunk: bytes, at: int, unit: str) -> tuple[int, int]:
    """Return a length and the position after it. A length takes one unit, or two if the first has its highest bit set."""
    size = struct.calcsize(unit)
    high = 1 << (8 * size - 1)
    first = struct.unpack_from(f"<{unit}", chunk, at)[0]
    if not first & high:
        return first, at + size
    return ((first & (high - 1)) << (8 * size)) | struct.unpack_from(f"<{unit}", chunk, at + size)[0], at + 2 * size

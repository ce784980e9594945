"""Options of custom operators, which a file stores as flexbuffers."""

from __future__ import annotations

import struct
from typing import Any

from ..bundles.ranged import part_of
from ..foundation.work_budget import spend_bytes, spend_steps
from .model import Model, Node

_READING_ERRORS = (AssertionError, IndexError, KeyError, OverflowError, TypeError, ValueError, struct.error)

_SMALLEST = 3
"""The size of the smallest flexbuffer: a value, its type, and its width."""
_WIDTHS = (1, 2, 4, 8)
_LONGEST_KEY = 256
"""Number of bytes of a key that are compared, more than a key has that is asked for."""
_STEPS_OF_A_SEARCH = 10
_READING = "reading the options of custom operators"


def custom_options(model: Model, node: Node) -> FlexbufferMap:
    """Return the options of a custom operator. If the node has no options, every key is absent."""
    offset, size = node.custom_options or (0, 0)
    if not isinstance(model.content, memoryview):
        spend_bytes(size, _READING)
    return FlexbufferMap(part_of(model.content, offset, offset + size))


class _StoredValue:
    """Bytes for the flexbuffers package, which slices them. Only short slices are copied.

    The package takes everything behind the start of a key to search for the key's end. A file decides how much that is, and how
    many nodes have the same options.
    """

    def __init__(self, content: memoryview) -> None:
        self._content = content

    def __len__(self) -> int:
        return len(self._content)

    def __getitem__(self, key: int | slice) -> int | bytes | _StoredValue:
        if isinstance(key, int):
            return self._content[key]
        return _StoredValue(self._content[key]) if key.stop is None else bytes(self._content[key])

    def find(self, byte: int) -> int:
        """Return the position of the first such byte, at most ``_LONGEST_KEY``, or -1 if there is none."""
        place = bytes(self._content[:_LONGEST_KEY]).find(byte)
        return _LONGEST_KEY if place < 0 and len(self) > _LONGEST_KEY else place


class FlexbufferMap:
    """The map in a flexbuffer.

    For a missing, unreadable or wrongly typed value, methods return None or an empty result.
    """

    def __init__(self, content: bytes | memoryview) -> None:
        from flatbuffers import flexbuffers  # imported here because few models need it

        self._map: Any = {}
        self._values: dict[str, Any] = {}
        self._is_valid = False
        try:
            root = flexbuffers.GetRoot(_StoredValue(memoryview(content)))
            self._is_valid = len(content) >= _SMALLEST and content[-1] in _WIDTHS
            self._map = root.AsMap
        except _READING_ERRORS:
            pass

    @property
    def is_valid(self) -> bool:
        """Whether the content is a flexbuffer. A valid flexbuffer need not have a map."""
        return self._is_valid

    def _value(self, key: str) -> Any:
        """Return the value of a key. A key is searched for once. Raise one of ``_READING_ERRORS`` if there is none."""
        if key not in self._values:
            spend_steps(_STEPS_OF_A_SEARCH, _READING)
            try:
                self._values[key] = self._map[key]
            except _READING_ERRORS:
                self._values[key] = None
        if self._values[key] is None:
            raise KeyError(key)
        return self._values[key]

    def has(self, key: str) -> bool:
        """Return whether the map has a key with a value other than null."""
        try:
            return not self._value(key).IsNull
        except _READING_ERRORS:
            return False

    def text(self, key: str) -> str | None:
        """Return the value of a key as text, or None if the value is not a string."""
        try:
            value = self._value(key)
            if not value.IsString:
                return None
            text = value.AsString
            spend_bytes(len(text), _READING)
            return str(text)
        except (*_READING_ERRORS, UnicodeError):
            return None

    def part(self, key: str) -> FlexbufferMap:
        """Return the map under a key, or an empty map if there is no map."""
        entries = FlexbufferMap(b"")
        try:
            value = self._value(key)
            entries._map = value.AsMap if value.IsMap else {}
        except _READING_ERRORS:
            pass
        return entries

    def integers(self, key: str) -> list[int]:
        """Return the integers of the vector under a key, or an empty list if there is no vector."""
        try:
            value = self._value(key)
            vector = value.AsTypedVector if value.IsTypedVector or value.IsFixedTypedVector else value.AsVector
            spend_steps(len(vector), _READING)
            return [int(vector[position].AsInt) for position in range(len(vector))]
        except _READING_ERRORS:
            return []

    def number(self, key: str) -> float | None:
        """Return the value of a key as a number, or None if the value is not a number."""
        try:
            value = self._value(key)
            return float(value.AsFloat) if value.IsNumeric else None
        except _READING_ERRORS:
            return None

    def integer(self, key: str) -> int | None:
        """Return the value of a key as an integer, without its fraction, or None if the value is not a number."""
        try:
            value = self._value(key)
            if not (value.IsNumeric or value.IsBool):
                return None
            return int(value.AsFloat if value.IsFloat else value.AsInt)
        except _READING_ERRORS:
            return None

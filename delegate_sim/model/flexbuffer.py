"""Options of custom operators, which a file stores as flexbuffers."""

from __future__ import annotations

import struct
from typing import Any

from ..bundles.ranged import part_of
from .model import Model, Node

_READING_ERRORS = (AssertionError, IndexError, KeyError, OverflowError, TypeError, ValueError, struct.error)

_SMALLEST = 3
"""The size of the smallest flexbuffer: a value, its type, and its width."""
_WIDTHS = (1, 2, 4, 8)


def custom_options(model: Model, node: Node) -> FlexbufferMap:
    """Return the options of a custom operator. If the node has no options, every key is absent."""
    offset, size = node.custom_options or (0, 0)
    return FlexbufferMap(part_of(model.content, offset, offset + size))


class FlexbufferMap:
    """The map in a flexbuffer.

    For a missing, unreadable or wrongly typed value, methods return None or an empty result.
    """

    def __init__(self, content: bytes | memoryview) -> None:
        from flatbuffers import flexbuffers  # imported here because few models need it

        self._map: Any = {}
        self._is_valid = False
        try:
            root = flexbuffers.GetRoot(bytes(content))
            self._is_valid = len(content) >= _SMALLEST and content[-1] in _WIDTHS
            self._map = root.AsMap
        except _READING_ERRORS:
            pass

    @property
    def is_valid(self) -> bool:
        """Whether the content is a flexbuffer. A valid flexbuffer need not have a map."""
        return self._is_valid

    def has(self, key: str) -> bool:
        """Return whether the map has a key with a value other than null."""
        try:
            return not self._map[key].IsNull
        except _READING_ERRORS:
            return False

    def text(self, key: str) -> str | None:
        """Return the value of a key as text, or None if the value is not a string."""
        try:
            value: Any = self._map[key]
            return str(value.AsString) if value.IsString else None
        except (*_READING_ERRORS, UnicodeError):
            return None

    def part(self, key: str) -> FlexbufferMap:
        """Return the map under a key, or an empty map if there is no map."""
        entries = FlexbufferMap(b"")
        try:
            value: Any = self._map[key]
            entries._map = value.AsMap if value.IsMap else {}
        except _READING_ERRORS:
            pass
        return entries

    def integers(self, key: str) -> list[int]:
        """Return the integers of the vector under a key, or an empty list if there is no vector."""
        try:
            value: Any = self._map[key]
            vector = value.AsTypedVector if value.IsTypedVector or value.IsFixedTypedVector else value.AsVector
            return [int(vector[position].AsInt) for position in range(len(vector))]
        except _READING_ERRORS:
            return []

    def number(self, key: str) -> float | None:
        """Return the value of a key as a number, or None if the value is not a number."""
        try:
            value: Any = self._map[key]
            return float(value.AsFloat) if value.IsNumeric else None
        except _READING_ERRORS:
            return None

    def integer(self, key: str) -> int | None:
        """Return the value of a key as an integer, without its fraction, or None if the value is not a number."""
        try:
            value: Any = self._map[key]
            if not (value.IsNumeric or value.IsBool):
                return None
            return int(value.AsFloat if value.IsFloat else value.AsInt)
        except _READING_ERRORS:
            return None

"""Read protocol buffers without their schema. Every length is checked against the number of remaining bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ...foundation.limits import raised
from ...foundation.work_budget import spend_steps

_MOST_FIELDS = 1 << 20
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_WIDTHS = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_LONGEST_VARINT = 10

FieldValue = int | bytes


class ProtobufError(ValueError):
    """Raised if bytes are not a protocol buffer."""


class ProtobufMessage:
    """One message: its fields in order, as pairs of number and value. Nested messages, strings and packed numbers are bytes."""

    def __init__(self, content: bytes) -> None:
        self._fields = tuple(fields_of(content))

    def all(self, number: int) -> list[FieldValue]:
        """Return all values of a field."""
        return [value for field, value in self._fields if field == number]

    def has(self, number: int) -> bool:
        """Return whether the message has a field."""
        return any(field == number for field, _ in self._fields)

    def integer(self, number: int) -> int:
        """Return the last integer of a field as a signed number, or 0 if there is none."""
        values = [value for value in self.all(number) if isinstance(value, int)]
        return _signed(values[-1]) if values else 0

    def content(self, number: int) -> bytes | None:
        """Return the last bytes value of a field, or None if there is none."""
        values = [value for value in self.all(number) if isinstance(value, bytes)]
        return values[-1] if values else None

    def text(self, number: int) -> str:
        """Return the last string of a field, or an empty string if there is none."""
        return (self.content(number) or b"").decode("utf-8", "replace")

    def message(self, number: int) -> ProtobufMessage | None:
        """Return the last message of a field, or None if there is none. Raises ProtobufError."""
        content = self.content(number)
        return None if content is None else ProtobufMessage(content)

    def messages(self, number: int) -> list[ProtobufMessage]:
        """Return all messages of a field. Raises ProtobufError."""
        return [ProtobufMessage(value) for value in self.all(number) if isinstance(value, bytes)]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the fields, in order."""
        return tuple([field for field, _ in self._fields])


def packed_integers(message: ProtobufMessage, number: int) -> list[int]:
    """Return the integers of a repeated field, which may be packed. Raises ProtobufError."""
    integers = list[int]()
    for value in message.all(number):
        if isinstance(value, int):
            integers.append(_signed(value))
            continue
        at = 0
        while at < len(value):
            integer, at = _varint(value, at)
            integers.append(_signed(integer))
    return integers


def fields_of(content: bytes) -> Iterator[tuple[int, FieldValue]]:
    """Yield the fields of a message in order, as pairs of number and value. Raises ProtobufError, and LimitError."""
    at, count, most = 0, 0, raised(_MOST_FIELDS)
    while at < len(content):
        count += 1
        if count > most:
            raise ProtobufError(f"has more than {most:,} fields")
        spend_steps(1, "reading the fields of a protocol buffer")
        key, at = _varint(content, at)
        number, kind = key >> 3, key & 7
        if not number:
            raise ProtobufError("has a field without a number")
        if kind == _VARINT:
            value, at = _varint(content, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(content, at)
        elif kind in _WIDTHS:
            size = _WIDTHS[kind]
        else:
            raise ProtobufError(f"has a field of the unknown wire type {kind}")
        if size > len(content) - at:
            raise ProtobufError("ends inside a field")
        part = content[at : at + size]
        at += size
        yield number, part if kind == _BYTES else int.from_bytes(part, "little")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(_LONGEST_VARINT):
        if at + count >= len(content):
            raise ProtobufError("ends inside a number")
        byte = content[at + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value & ((1 << 64) - 1), at + count + 1
    raise ProtobufError("has a number of more than 64 bits")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value

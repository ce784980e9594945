"""The error for an invalid value, with and without the value."""

from __future__ import annotations

_NO_VALUE = object()


class InvalidValueError(ValueError):
    """Raised for an invalid value. ``expected`` says what is valid. It never quotes the value, because a file may contain it."""

    def __init__(self, expected: str, value: object = _NO_VALUE) -> None:
        super().__init__(expected if value is _NO_VALUE else f"{expected}, not {value!r}")
        self.expected = expected


def expected_of(error: Exception) -> str:
    """Return the message of an error for a value that a file contains. The message does not quote the value."""
    return getattr(error, "expected", "") or "is not valid"

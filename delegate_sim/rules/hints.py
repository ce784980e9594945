"""Hints that change something else than hints for their kind of problem usually do."""

from __future__ import annotations

from enum import Enum


class HintKind(Enum):
    """The part of a model or conversion that a hint changes."""

    CONVERSION = "conversion"
    """The settings of the conversion, such as the types of tensors."""
    RESHAPE = "reshape"
    """The dimensions of tensors, by a RESHAPE before or after the node."""
    OTHER = "other"
    """Something else, such as the code of the model, or an option of the delegate."""


class Hint(str):
    """The text of a hint, with what it changes."""

    __slots__ = ("way",)

    way: HintKind

    def __new__(cls, text: str, way: HintKind) -> Hint:
        """Return a hint."""
        hint = super().__new__(cls, text)
        hint.way = way
        return hint

    def __getnewargs__(self) -> tuple[str, HintKind]:  # type: ignore[override]
        return str(self), self.way


def by_reshape(text: str) -> Hint:
    """Return a hint that changes the dimensions of tensors."""
    return Hint(text, HintKind.RESHAPE)


def in_code(text: str) -> Hint:
    """Return a hint about types or quantization that does not ask for another conversion."""
    return Hint(text, HintKind.OTHER)

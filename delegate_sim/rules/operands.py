"""The operands that a check reads, and sets of numbers that a check allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..graph.graph import NodeView
from ..model.model import OPTIONAL_TENSOR, Tensor
from ..model.numbers import as_list, read_as


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand or a result of a node, with its name in messages."""

    position: int
    name: str
    is_result: bool = False

    @property
    def data(self) -> tuple[str, int]:
        """The side (``input`` or ``output``) and the position, as plain data."""
        return ("output" if self.is_result else "input", self.position)

    def tensor(self, node: NodeView) -> Tensor:
        """Return the tensor, or ``NO_TENSOR`` if the operand is omitted or missing."""
        indices = node.node.outputs if self.is_result else node.node.inputs
        index = indices[self.position] if self.position < len(indices) else OPTIONAL_TENSOR
        return node.tensor(index)

    def is_given(self, node: NodeView) -> bool:
        """Return whether the node has this operand. False if the operand is omitted."""
        indices = node.node.outputs if self.is_result else node.node.inputs
        return self.position < len(indices) and indices[self.position] >= 0


def operand(position: int, name: str = "") -> Operand:
    """Return the operand at a position."""
    return Operand(position, name or f"input {position}")


def result(position: int = 0, name: str = "") -> Operand:
    """Return the result at a position."""
    return Operand(position, name or (f"output {position}" if position else "output"), is_result=True)


INPUT = operand(0)
OUTPUT = result()


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A set of allowed numbers. ``words`` describes the set, as in "at most 4". ``data`` has the limits as plain data."""

    words: str
    holds: Callable[[int], bool]
    data: tuple[str | int, ...]

    def __contains__(self, number: int) -> bool:
        return self.holds(number)


def exactly(*allowed: int) -> Numbers:
    """Allow only these numbers."""
    return Numbers(listed(map(str, allowed)), frozenset(allowed).__contains__, ("exactly", *sorted(set(allowed))))


def at_most(limit: int) -> Numbers:
    """Allow numbers of ``limit`` or less."""
    return Numbers(f"at most {limit}", lambda number: number <= limit, ("at most", limit))


def at_least(least: int) -> Numbers:
    """Allow numbers of ``least`` or more."""
    return Numbers(f"at least {least}", lambda number: number >= least, ("at least", least))


def between(least: int, most: int) -> Numbers:
    """Allow numbers in a range, both ends included."""
    return Numbers(f"{least} to {most}", lambda number: least <= number <= most, ("between", least, most))


def up_to_one() -> Numbers:
    """Allow 1 or less, because a file may store operator version 1 as 0. The description is only "1"."""
    return replace(at_most(1), words="1")


def allowed_numbers(numbers: int | Numbers) -> Numbers:
    """Return ``numbers`` as a set. A single number becomes a set of one number."""
    return exactly(numbers) if isinstance(numbers, int) else numbers


def listed(names: Iterable[str]) -> str:
    """Join names for a sentence: "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def counted(number: int, name: str) -> str:
    """Return a number with its noun: "no inputs", "1 input", "2 inputs"."""
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"


_WORD = 4
"""The size of an INT32 in bytes."""


def stored_integers(node: NodeView, tensor: Tensor) -> list[int]:
    """Return the elements of a constant or persistent tensor, or no elements if they are not known.

    The bytes of other types than integers are read as INT32, as by delegates that do not look at the type. Raises LimitError if
    there are too many elements.
    """
    values = node.value(tensor)
    if values is None:
        return []
    if "INT" in tensor.type:
        return as_list(values)
    return as_list(read_as(values, "<i4")) if values.nbytes % _WORD == 0 else []

"""Demands on layers that both backends use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...rules.kinds import BROADCAST, HYBRID, RANK, SHAPE, TENSOR_TYPE
from ...rules.operands import listed
from .steps import Need, Query
from .tensors import Info

Said = str | Callable[[Query], str]


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A tensor of a call, with its name in messages. ``of`` returns None if the call lacks the tensor."""

    name: str
    of: Callable[[Query], Info | None]


INPUT = QueryPart("input 0", lambda call: call.input)
SECOND = QueryPart("input 1", lambda call: call.second)
OUTPUT = QueryPart("output", lambda call: call.output)
WEIGHTS = QueryPart("weights", lambda call: call.weights)
BIAS = QueryPart("bias", lambda call: call.bias)


def of_type(part: QueryPart, types: Iterable[str], said: Said = "", *, hint: str = "") -> Need[Query]:
    """Demand that a tensor has one of these types."""
    allowed = tuple(types)

    def find(call: Query) -> str | None:
        info = part.of(call)
        return None if info is None or info.type in allowed else f"{part.name} is {info.type}"

    return Need(TENSOR_TYPE, f"{part.name} of type {listed(allowed)}", find, said, hint)


def same_type(part: QueryPart, other: QueryPart, said: Said = "", *, hint: str = "") -> Need[Query]:
    """Demand that two tensors have the same type."""

    def find(call: Query) -> str | None:
        one, two = part.of(call), other.of(call)
        if one is None or two is None or one.type == two.type:
            return None
        return f"{one.type} {part.name} and {two.type} {other.name}"

    return Need(HYBRID, f"the same type in {part.name} and {other.name}", find, said, hint)


def same_size(part: QueryPart, other: QueryPart, said: Said = "") -> Need[Query]:
    """Demand that two tensors have the same number of elements."""

    def find(call: Query) -> str | None:
        one, two = part.of(call), other.of(call)
        if one is None or two is None or one.element_count == two.element_count:
            return None
        return f"{one.element_count} elements in {part.name} and {two.element_count} in {other.name}"

    return Need(SHAPE, f"as many elements in {part.name} as in {other.name}", find, said)


def ranked(part: QueryPart, ranks: range, words: str, said: Said = "") -> Need[Query]:
    """Demand that the number of dimensions is in a range. ``words`` describes the range."""

    def find(call: Query) -> str | None:
        info = part.of(call)
        return None if info is None or info.rank in ranks else f"{part.name} of rank {info.rank}"

    return Need(RANK, f"{part.name} of rank {words}", find, said)


def same_rank(part: QueryPart, other: QueryPart, said: Said = "") -> Need[Query]:
    """Demand that two tensors have the same number of dimensions."""

    def find(call: Query) -> str | None:
        one, two = part.of(call), other.of(call)
        if one is None or two is None or one.rank == two.rank:
            return None
        return f"{part.name} of rank {one.rank} and {other.name} of rank {two.rank}"

    return Need(RANK, f"the same rank in {part.name} and {other.name}", find, said)


def broadcast(said: Said = "") -> Need[Query]:
    """Demand that each size of the first two inputs is 1 or the size of the output."""

    def find(call: Query) -> str | None:
        for at in range(call.output.rank):
            size = call.output.size(at)
            for info in call.inputs[:2]:
                offset = call.output.rank - info.rank
                if 0 <= offset <= at and info.size(at - offset) not in (1, size):
                    one, two, result = (list(tensor.known_shape) for tensor in (*call.inputs[:2], call.output))
                    return f"inputs of shape {one} and {two}, output of shape {result}"
        return None

    return Need(BROADCAST, "inputs that can be broadcast to the output", find, said)

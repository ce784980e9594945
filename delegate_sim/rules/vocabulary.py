"""The checks that the rules of several delegates use. Each function has the name of its demand.

The argument of a function is an operand (``INPUT``, ``operand(1, "weights")``, ``result()``) or an option. If only one
delegate has a demand, the delegate's rules use ``check`` with their own function.

Each function sets ``Check.data``, from which the version of a rule set is computed. The version also includes two wordings:
the wording of a check without ``data``, and the wording of the condition in ``where``. Change these wordings only together
with the demand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar

from ..graph.graph import NodeView, fused_activation
from ..model.model import Tensor
from .kinds import ACTIVATION, ATTRIBUTE, CONSTANT, HYBRID, OPERAND_COUNT, RANK, SHAPE, TENSOR_TYPE, VERSION, Kind
from .operands import Numbers, Operand, allowed_numbers, at_most, counted, listed, up_to_one
from .rule import Check, NodeFinder

T = TypeVar("T")
Predicate = Callable[[NodeView], bool]


def check(kind: Kind, needed: str, finder: NodeFinder, hint: str = "", *, data: tuple[object, ...] = ()) -> Check[object]:
    """Return a check that does not depend on the target.

    ``finder`` describes the actual value if a node fails the demand. It returns None if the node meets the demand.
    """
    return Check(kind, needed, lambda node, _: finder(node), hint, data=data)


def check_for_target(kind: Kind, needed: str, finder: Callable[[NodeView, T], str | None], hint: str = "") -> Check[T]:
    """Return a check that depends on the node and on the target."""
    return Check(kind, needed, finder, hint)


def refused_if(kind: Kind, needed: str, condition: Predicate, found: str, hint: str = "") -> Check[object]:
    """Return a check that refuses a node if it meets a condition. ``found`` describes the actual value."""
    return Check(kind, needed, lambda node, _: found if condition(node) else None, hint)


def where(condition: Predicate, words: str, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Limit these checks to nodes that meet a condition. ``words`` describes the condition."""
    return tuple(_only_where(condition, words, check, ("where", words)) for check in checks)


def where_given(which: Operand, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Limit these checks to nodes that have the optional operand ``which``."""
    return tuple(_only_where(which.is_given, "if given", check, ("given", *which.data)) for check in checks)


def _only_where(condition: Predicate, words: str, inner: Check[T], data: tuple[object, ...]) -> Check[T]:
    find_inner = inner.finder

    def find(node: NodeView, target: T) -> str | None:
        return find_inner(node, target) if condition(node) else None

    applies = ", ".join(filter(None, (words, inner.applies)))
    return replace(inner, applies=applies, finder=find, data=(*data, inner.data) if inner.data else ())


def max_version(limit: int) -> Check[object]:
    """Demand an operator version of at most ``limit``. Version 0 also passes."""
    return version(up_to_one() if limit == 1 else at_most(limit))


def version(allowed: int | Numbers) -> Check[object]:
    """Demand one of the allowed operator versions."""
    numbers = allowed_numbers(allowed)

    def find(node: NodeView, _: object) -> str | None:
        return None if node.version in numbers else f"version {node.version}"

    return Check(VERSION, f"version {numbers.words}", find, data=("version", numbers.data))


def operand_count(inputs: int | Numbers | None = None, outputs: int | Numbers | None = None) -> Check[object]:
    """Demand certain numbers of operands and results. Omitted operands (index -1) are counted too."""
    sides = [(allowed_numbers(inputs), "input")] if inputs is not None else []
    sides += [(allowed_numbers(outputs), "output")] if outputs is not None else []

    inputs_hold, outputs_hold = (None if side is None else allowed_numbers(side).holds for side in (inputs, outputs))

    def find(node: NodeView, _: object) -> str | None:
        counts = {"input": len(node.node.inputs), "output": len(node.node.outputs)}
        if (inputs_hold is None or inputs_hold(counts["input"])) and (outputs_hold is None or outputs_hold(counts["output"])):
            return None
        return " and ".join([counted(counts[side], side) for _, side in sides])

    needed = " and ".join(
        [f"{numbers.words} {side}{'' if numbers.words in ('1', 'at least 1') else 's'}" for numbers, side in sides]
    )
    return Check(OPERAND_COUNT, needed, find, data=("operand count", *[(side, numbers.data) for numbers, side in sides]))


def given(which: Operand) -> Check[object]:
    """Demand that the node has this operand."""

    def find(node: NodeView, _: object) -> str | None:
        return None if which.is_given(node) else f"no {which.name}"

    return Check(OPERAND_COUNT, which.name, find, data=("given", *which.data))


def typed(which: Operand, types: Collection[str], *, kind: Kind = TENSOR_TYPE, hint: str = "") -> Check[object]:
    """Demand that a tensor has one of these types."""
    tensor_of, allowed = which.tensor, frozenset(types)

    def find(node: NodeView, _: object) -> str | None:
        name = tensor_of(node).type
        return None if name in allowed else f"{which.name} is {name}"

    return Check(kind, f"{which.name} of type {listed(types)}", find, hint, data=("type", *which.data, sorted(allowed)))


def same_type(first: Operand, second: Operand, *, kind: Kind = HYBRID, hint: str = "") -> Check[object]:
    """Demand that two tensors have the same type."""

    def find(node: NodeView, _: object) -> str | None:
        one, other = first.tensor(node).type, second.tensor(node).type
        return None if one == other else f"{one} {first.name} and {other} {second.name}"

    return Check(
        kind, f"the same type in {first.name} and {second.name}", find, hint, data=("same type", first.data, second.data)
    )


def rank(which: Operand, allowed: int | Numbers, *, kind: Kind = RANK, hint: str = "") -> Check[object]:
    """Demand that a tensor's number of dimensions is one of the allowed numbers."""
    tensor_of, numbers = which.tensor, allowed_numbers(allowed)
    holds = numbers.holds

    def find(node: NodeView, _: object) -> str | None:
        count = len(tensor_of(node).shape)
        return None if holds(count) else f"{which.name} of rank {count}"

    return Check(kind, f"{which.name} of rank {numbers.words}", find, hint, data=("rank", *which.data, numbers.data))


def ranks_at_most(limit: int, *, results: bool = False) -> Check[object]:
    """Demand that no operand has more than ``limit`` dimensions. With ``results``, check results instead of operands."""
    side = "output" if results else "input"

    def find(node: NodeView, _: object) -> str | None:
        for position, tensor in enumerate(node.outputs if results else node.inputs):
            if len(tensor.shape) > limit:
                return f"{side} {position} of rank {len(tensor.shape)}"
        return None

    return Check(RANK, f"{side}s of rank at most {limit}", find, data=("ranks", side, limit))


def has_elements(which: Operand, *, allows_negative: bool = True) -> Check[object]:
    """Demand that no dimension of a tensor is 0.

    Negative sizes occur only in malformed files, and some delegates do not check for them. With ``allows_negative``, negative
    sizes pass the check.
    """
    tensor_of = which.tensor

    def find(node: NodeView, _: object) -> str | None:
        shape = tensor_of(node).shape
        is_empty = 0 in shape or (not allows_negative and shape and min(shape) < 0)
        return f"{which.name} of shape {list(shape)}" if is_empty else None

    data = ("elements", *which.data, *(() if allows_negative else ("none below 0",)))
    return Check(SHAPE, f"{which.name} without a dimension of size 0", find, data=data)


def constant(which: Operand, *, hint: str = "") -> Check[object]:
    """Demand that an operand is stored in the model file (``kTfLiteMmapRo``). An omitted operand fails the check."""

    def find(node: NodeView, _: object) -> str | None:
        return None if which.tensor(node).is_constant else f"{which.name} is not constant"

    return Check(CONSTANT, constant_words(which.name), find, hint, data=("constant", *which.data))


def constant_words(name: str) -> str:
    """Return words for a constant operand, such as ``a constant bias`` or ``constant weights``."""
    is_plural = name.endswith("s") and not name.endswith(("axis", "bias"))
    return f"constant {name}" if is_plural else f"a constant {name}"


def constants(*which: Operand) -> Check[object]:
    """Demand that all of these operands are stored in the model file."""

    def find(node: NodeView, _: object) -> str | None:
        return next((f"{operand.name} is not constant" for operand in which if not operand.tensor(node).is_constant), None)

    names = [operand.name for operand in which]
    data = ("constant", *[operand.data for operand in which])
    return Check(CONSTANT, f"constant {', '.join(names[:-1])} and {names[-1]}", find, data=data)


def activation(allowed: Collection[str], *, hint: str = "") -> Check[object]:
    """Demand that the fused activation is one of the allowed activations."""
    names = [name for name in allowed if name != "NONE"]
    needed = f"a fused {listed(names)}" if names else "no fused activation"
    if names and len(names) < len(allowed):
        needed = f"no fused activation, or {listed(names)}"

    def find(node: NodeView, _: object) -> str | None:
        return None if (name := fused_activation(node)) in allowed else f"fused {name}"

    return Check(ACTIVATION, needed, find, hint, data=("activation", sorted(allowed)))


def option(name: str, allowed: int | Numbers, *, hint: str = "") -> Check[object]:
    """Demand that a builtin option has one of the allowed values. A flag that is not set has the value 0."""
    numbers = allowed_numbers(allowed)

    def find(node: NodeView, _: object) -> str | None:
        value = getattr(node.options, name)
        return None if value in numbers else f"{name} {value}"

    return Check(ATTRIBUTE, f"{name} {numbers.words}", find, hint, data=("option", name, numbers.data))


def unset(name: str, *, kind: Kind = ATTRIBUTE, hint: str = "") -> Check[object]:
    """Demand that a flag in the builtin options is not set."""

    def find(node: NodeView, _: object) -> str | None:
        return f"{name} true" if getattr(node.options, name) else None

    return Check(kind, f"{name} false", find, hint, data=("unset", name))


TensorFinder = Callable[[Tensor], str | None]
"""A function that describes a tensor that fails a check, or returns None if the tensor passes."""
NamedTensors = Callable[[NodeView], Iterable[tuple[str, Tensor]]]
"""A function that returns named tensors of a node, in the order in which the delegate checks them."""


class TensorDemand(NamedTuple):
    """A demand that several tensors of a node must meet."""

    kind: Kind
    needed: str
    finder: TensorFinder
    hint: str = ""

    def find(self, node: NodeView, tensor: Tensor) -> str | None:
        """Describe a tensor of a node that does not meet the demand. A tensor with many scales is judged once."""
        if tensor.quantization is None or not tensor.quantization.is_per_channel:
            return self.finder(tensor)
        return node.graph.of_tensor(self.finder, tensor, self.finder)


def inputs(node: NodeView, positions: slice = slice(None)) -> Iterator[tuple[str, Tensor]]:
    """Yield the operands of a node at some positions. Omitted operands are left out."""
    for position, index in enumerate(node.node.inputs[positions], positions.start or 0):
        if index >= 0:
            yield f"input {position}", node.tensor(index)


def outputs(node: NodeView) -> Iterator[tuple[str, Tensor]]:
    """Yield the results of a node. Omitted results are left out."""
    for position, index in enumerate(node.node.outputs):
        if index >= 0:
            yield f"output {position}", node.tensor(index)


def of_tensors(tensors: NamedTensors, *demands: TensorDemand) -> tuple[Check[object], ...]:
    """Return one check for each demand.

    The delegate applies all demands to one tensor before it reads the next tensor. It stops at the first tensor that fails a
    demand.
    """

    def check_of(demand: TensorDemand) -> Check[object]:
        def find(node: NodeView) -> str | None:
            before: list[Tensor] = []
            for name, tensor in tensors(node):
                description = demand.find(node, tensor)
                if description is not None:
                    is_first = all(other.find(node, earlier) is None for earlier in before for other in demands)
                    return f"{name} {description}" if is_first else None
                before.append(tensor)
            return None

        return check(demand.kind, demand.needed, find, demand.hint)

    return tuple(map(check_of, demands))

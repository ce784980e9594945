"""Checks of the XNNPACK rules beyond the shared vocabulary (``delegates/xnnpack/xnnpack_delegate.cc``).

The delegate stops at the first condition that a node does not meet, so that the order of a rule's checks decides which reason is
given. It says why only in builds with XNNPACK_DELEGATE_ENABLE_LOGGING.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ....graph.graph import NodeView
from ....model import schema
from ....rules import kinds
from ....rules.number_sets import Numbers, at_most, exactly, listed
from ....rules.operands import OUTPUT, Operand, operand
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import activation, check, check_for_target, constant, has_elements, operand_count, rank, typed
from ..node_visit import Visit
from .types import Types, of_types
from .upstream import method

T = TypeVar("T")

MAX_RANK = 6
"""``XNN_MAX_TENSOR_DIMS``."""
ANY_RANK = at_most(MAX_RANK)

INPUT = operand(0, "input")
FIRST, SECOND = operand(0, "first input"), operand(1, "second input")
WEIGHTS, BIAS = operand(1, "weights"), operand(2, "bias")


def xnnpack_rule(function: str, *checks: Check[Visit]) -> OpRule[Visit]:
    """Return the rule of an operator, which a method of ``Subgraph`` visits."""
    return OpRule(checks).from_source(method(function))


def unary(inputs: Types, outputs: Types, *checks: Check[Visit], shapes_from: str = "") -> OpRule[Visit]:
    """Return the rule of an operator of one operand; its shape is looked at in all releases, or from one on."""
    return xnnpack_rule(
        "VisitUnaryNode",
        operands(1),
        *counting_from(shapes_from, *shaped(INPUT, ANY_RANK)),
        *of_types(INPUT, inputs),
        *of_types(OUTPUT, outputs),
        *checks,
    )


def binary(types: Types, *checks: Check[Visit], shapes_from: str = "") -> OpRule[Visit]:
    """Return the rule of an operator of two operands; their shapes are looked at in all releases, or from one on."""
    return xnnpack_rule(
        "VisitBinaryNode",
        operands(2),
        *counting_from(shapes_from, *shaped(FIRST, ANY_RANK), *shaped(SECOND, ANY_RANK)),
        *of_types(FIRST, types),
        *of_types(SECOND, types),
        *of_types(OUTPUT, types),
        *checks,
    )


SHAPES_FROM = "litert-1.3.0"
"""The release from which shapes are looked at for all operators; for which they were before is measured, not read."""


def counting_from(release: str, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Return these checks for releases of the runtime from this one on; for all if none is named."""
    return tuple(each.from_release(release) if release else each for each in checks)


def counting_before(release: str, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Return these checks for releases of the runtime before this one."""
    return tuple(each.before_release(release) for each in checks)


def operands(inputs: int | Numbers, outputs: int | Numbers = 1) -> Check[object]:
    """``CheckNumInputsAndOutputs``."""
    overload = "expected_num_inputs" if isinstance(inputs, int) else "min_num_inputs"
    return operand_count(inputs, outputs).from_source(method("CheckNumInputsAndOutputs", overload))


def shaped(which: Operand, ranks: int | Numbers) -> tuple[Check[object], ...]:
    """``CheckTensorShape``: the number of dimensions, and no dimension of 0."""
    place = method("CheckTensorShape", "min_num_dims")
    return rank(which, ranks).from_source(place), has_elements(which, allows_negative=False).from_source(place)


def vector(which: Operand) -> Check[object]:
    """``CheckShapeTensorShape`` without squeezing: a shape is a vector."""
    return rank(which, exactly(1)).from_source(method("CheckShapeTensorShape"))


def integers(which: Operand, *types: str, function: str = "CheckTensorType") -> Check[object]:
    """``CheckTensorType`` and the like, for shapes and axes."""
    return typed(which, types, hint=f"convert with {listed(types)} for this operand").from_source(method(function))


def stored(which: Operand) -> Check[object]:
    """``CheckTensorStaticAllocation``: in the model file."""
    return constant(which).from_source(method("CheckTensorStaticAllocation"))


def stored_or_unpacked(which: Operand) -> Check[Visit]:
    """``CheckTensorStaticAllocation`` unless a node before makes the tensor from constants alone."""

    def find(node: NodeView, visit: Visit) -> str | None:
        tensor = which.tensor(node)
        return None if tensor.is_constant or visit.unpacking.makes(tensor) else f"{which.name} not constant"

    needed = f"constant {which.name}, or made from constants by DEQUANTIZE or DENSIFY"
    return check_for_target(kinds.CONSTANT, needed, find).from_source(method("CheckTensorStaticAllocation"))


RELU_TO_RELU6 = (0, 1, 2, 3)
"""``TfLiteFusedActivation``: none, RELU, RELU_N1_TO_1 and RELU6, which bound results."""
BOUNDING_ACTIVATION = activation(("NONE", "RELU", "RELU6", "RELU_N1_TO_1")).from_source(method("ConvertActivationToOutputRange"))


def padding_mode(node: NodeView) -> str | None:
    """The padding of a builtin operator: SAME, VALID, or None, as of a node without options."""
    return None if node.options.table is None else schema.enum_names("Padding").get(node.options.padding)


PADDING = check(
    kinds.ATTRIBUTE, "padding SAME or VALID", lambda node: None if padding_mode(node) else "no padding mode"
).from_source(method("CalculatePadding"))


def positive(function: str, *names: str) -> Check[object]:
    """Demand that these options are at least 1."""

    def find(node: NodeView) -> str | None:
        return next((f"{name} {found}" for name in names if (found := getattr(node.options, name)) <= 0), None)

    return check(kinds.ATTRIBUTE, f"{' and '.join(names)} of at least 1", find).from_source(method(function))


SMALLEST_CONVERSION, LARGEST_CONVERSION = 1.0 / 256.0, 128.0
"""The ratios of scales that XNNPACK converts with."""


def elements_of(node: NodeView, position: int) -> Sequence[int]:
    """Return the elements of a constant operand."""
    value = node.value(node.input(position))
    return () if value is None else value.tolist()

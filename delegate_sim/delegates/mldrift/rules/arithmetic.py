"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....refusal import Refusal
from ....rules.kinds import BROADCAST, CONSTANT, NEIGHBOR, OPERATOR, RANK, TENSOR_TYPE
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check, refused_if, where
from ...gpu_compatibility import arithmetic, bhwc, checks, is_linear
from ..target import BATCH, BuildProblems, problem_if, unread_constants
from . import ANY_NUMBERS, SIGNED, SOURCE, UNSIGNED, USUAL_TENSORS, only_tensors, parsed_by, tensors
from .checks import (
    COUNTS,
    FUSABLE_ELEMENTWISE,
    READABLE_RESULT,
    RESULTS,
    Checks,
    before,
    exact_inputs,
    other_inputs,
    positive_rank,
    readable,
    runtime_or_constant,
    since,
    version_up_to,
    with_results,
)

_COMPARISONS = ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL")
_PARSER = "ElementwiseOperationParser"

_FLOATS = tensors("BFLOAT16")
_INTEGERS = tensors(*SIGNED)
FLOATS_AND_INTEGERS = tensors("BFLOAT16", *SIGNED)
_COMPARED = tensors(inputs=(*SIGNED, *UNSIGNED), outputs=("BOOL",))
_LOGICAL = only_tensors(("BOOL", *SIGNED), ("BOOL", *SIGNED))


@functools.cache
def unary(all_tensors: Checks, *, version: int = 2) -> OpRule[Any]:
    """Return the rule of a unary operator."""
    return parsed_by(
        _PARSER,
        *version_up_to(version),
        *arithmetic.UNARY,
        *with_results(*exact_inputs(1, 0, 1), *readable(0)),
        all_tensors=all_tensors,
    )


def _has_two_runtime_operands(node: NodeView) -> bool:
    return len(node.node.inputs) == 2 == checks.runtime_input_count(node) and len(node.node.outputs) == 1


def _has_two_constants(node: NodeView) -> bool:
    return len(node.node.inputs) == 2 and checks.runtime_input_count(node) == 0


_NOT_TWICE = refused_if(
    NEIGHBOR,
    "two different operands",
    lambda node: node.node.input(0) == node.node.input(1),
    "the same tensor as both operands",
    "use an equivalent operator with one operand",
).saying("No support of few identical inputs in the same operation.")


def _not_broadcastable(node: NodeView) -> str | None:
    fits = arithmetic.is_broadcastable(node.input(0).shape, node.input(1).shape)
    return None if fits else checks.shapes(node)


_BROADCAST: Checks = (
    check(
        BROADCAST, "shapes that broadcast: aligned at the last dimension, with equal sizes or a size of 1", _not_broadcastable
    ).saying("Inputs dimensions sizes don't match, broadcasting isn't applicable."),
    positive_rank("operands", lambda node: node.inputs[:2]),
    *READABLE_RESULT,
    positive_rank("output", lambda node: (node.output(0),)),
)


@functools.cache
def _two_runtime_operands(*, may_be_one: bool) -> Checks:
    own = (
        *(() if may_be_one else (_NOT_TWICE,)),
        *readable(0),
        *readable(1),
        *where(lambda node: node.input(0).rank != node.input(1).rank, "of different ranks", *_BROADCAST),
    )
    return where(_has_two_runtime_operands, "for two runtime inputs", *own)


# Constant operands. The checks of two constants were measured with the binary of LiteRT 2.3.

_IN_FUNCTION = SOURCE.with_symbol("ElementwiseOperationParser::CanParseInputsWithConstTensor")
_QUANTIZED = ("INT8", "UINT8", "INT4")
_MAX_RANK = 4


def _is_quantized(tensor: Tensor) -> bool:
    return tensor.type in _QUANTIZED and tensor.is_affine


def _reads_as_float(tensor: Tensor) -> bool:
    return tensor.type in checks.FLOAT or _is_quantized(tensor)


def _unusable(node: NodeView) -> str | None:
    constant = next((tensor for tensor in node.inputs[:2] if tensor.is_constant), None)
    if constant is None:
        return None
    if constant.sparsity is not None:
        return "a sparse constant"
    if constant.element_count == 1:
        fits = _reads_as_float(constant) or constant.type == "INT32"
        return None if fits else f"a constant with one element of type {constant.type}"
    if not _reads_as_float(constant) or is_linear(constant.shape) or constant.rank <= _MAX_RANK:
        return None
    return f"a constant of rank {constant.rank}"


_ONE_CONSTANT = (
    check(
        CONSTANT,
        "a constant that is not sparse and has at most rank 4; a single element must be float, INT32 or quantized",
        _unusable,
    )
    .saying("Can't parse inputs with const tensors.")
    .from_source(_IN_FUNCTION)
)


def _dump(tensor: Tensor) -> str:
    return f"{{\n  type: {tensor.type}\n  data: {{...}}\n  dims: {checks.joined(tensor.shape)}\n}}"


def _unusable_of_two(name: str, tensor: Tensor) -> checks.Found | None:
    if tensor.sparsity is not None:
        return "a sparse constant", f"{name}: sparse constant tensor {_dump(tensor)}"
    if tensor.rank > _MAX_RANK:
        return f"a constant of rank {tensor.rank}", f"{name}: constant tensor with rank > 4: {_dump(tensor)}"
    if tensor.type in (*checks.FLOAT, "INT32", "BOOL") or _is_quantized(tensor):
        return None
    message = f"{name}: unsupported constant tensor type: {tensor.type} {_dump(tensor)}"
    return f"a constant of type {tensor.type}", message


def _two_constants(name: str) -> Checks:
    """Require two constants of the same type and of the output's rank. ``name`` is ML Drift's name of the operator."""

    def unusable(node: NodeView) -> checks.Found | None:
        return _unusable_of_two(name, node.input(0)) or _unusable_of_two(name, node.input(1))

    def types(node: NodeView) -> checks.Found | None:
        one, other = node.input(0).type, node.input(1).type
        message = f"{name}: constant inputs have different types: {one} vs {other}"
        return None if one == other else (f"{one} and {other} constants", message)

    def ranks(node: NodeView) -> checks.Found | None:
        first, second, result = node.input(0).rank, node.input(1).rank, node.output(0).rank
        if first == second == result:
            return None
        message = f"{name}: constant inputs and output must have the same rank, but got {first}, {second} and {result}"
        return f"constants of rank {first} and {second}, output of rank {result}", message

    needed = "constants of rank at most 4 that are FLOAT32, FLOAT16, INT32, BOOL or quantized"
    return checks.case(
        checks.asked(CONSTANT, needed, unusable),
        checks.asked(TENSOR_TYPE, "constants of one type", types),
        checks.asked(RANK, "constants with the rank of the output", ranks),
        source=_IN_FUNCTION,
    )


def _constant_operands(name: str) -> Checks:
    return (
        *where(
            lambda node: not _has_two_runtime_operands(node) and not _has_two_constants(node),
            "if the inputs are neither two runtime tensors nor two constants",
            *exact_inputs(1, 1, 1),
            _ONE_CONSTANT,
        ),
        *where(
            _has_two_constants,
            "for two constants",
            *before("litert-2.3.0", other_inputs(1).from_source(COUNTS)),
            *since("litert-2.3.0", *_two_constants(name)),
        ),
    )


_THREE_PAIRS = checks.operand_pairs(((2, 0), (1, 1), (0, 2)), f"{checks.TWO_OPERANDS}; or 2 constant inputs and 1 output")
PAIRS: Checks = (*before("litert-2.3.0", *arithmetic.BINARY), *since("litert-2.3.0", _THREE_PAIRS))


def binary(
    name: str,
    *first: Check[object],
    all_tensors: Checks,
    version: Checks | None = None,
    may_be_one: bool = False,
    last: Checks = (),
) -> OpRule[Any]:
    """Return the rule of a binary operator. ``name`` appears in the messages about two constants."""
    counts = first or PAIRS
    own = (*_two_runtime_operands(may_be_one=may_be_one), *_constant_operands(name), *last)
    return parsed_by(_PARSER, *(version or version_up_to(2)), *counts, *with_results(*own), all_tensors=all_tensors)


_ACTIVATED: Checks = (*PAIRS, checks.KNOWN_ACTIVATION)
_XOR = check(OPERATOR, "an operator on the GPU compatibility list", lambda node: f"{node.op}, which is not on the list")


_SELECT = parsed_by(
    "SelectV2OperationParser",
    *version_up_to(1),
    arithmetic.SELECT_OPERANDS,
    arithmetic.SELECT_CONDITION,
    arithmetic.selected_value(1),
    arithmetic.selected_value(2),
    *runtime_or_constant(0),
    *runtime_or_constant(1),
    *runtime_or_constant(2),
    *RESULTS,
    all_tensors=tensors(*ANY_NUMBERS),
)

RULES = {
    **dict.fromkeys(("CEIL", "EXP", "FLOOR", "LOG", "ROUND", "RSQRT", "SQRT"), unary(_FLOATS)),
    **dict.fromkeys(("COS", "NEG", "SIGN", "SIN"), unary(FLOATS_AND_INTEGERS)),
    **{op: binary(op.lower(), all_tensors=_COMPARED) for op in _COMPARISONS},
    "ABS": unary(FLOATS_AND_INTEGERS, version=5),
    "ADD": binary(
        "add",
        arithmetic.ADD_OPERANDS,
        arithmetic.ENHANCED_BROADCAST,
        version=version_up_to(6, older=2),
        may_be_one=True,
        last=(FUSABLE_ELEMENTWISE,),
        all_tensors=FLOATS_AND_INTEGERS,
    ),
    "ADD_N": binary("add", arithmetic.ADD_N, version=version_up_to(6, older=2), may_be_one=True, all_tensors=USUAL_TENSORS),
    "ATAN2": binary("atan2", all_tensors=FLOATS_AND_INTEGERS),
    "BITWISE_XOR": parsed_by(
        _PARSER,
        *version_up_to(2),
        _XOR.saying("Not supported op BITWISE_XOR").from_source(checks.COMPATIBILITY.with_branch("default")),
        all_tensors=_LOGICAL,
    ),
    "DIV": binary("div", *_ACTIVATED, last=(FUSABLE_ELEMENTWISE,), all_tensors=FLOATS_AND_INTEGERS),
    "FLOOR_DIV": binary("floor_div", version=version_up_to(3), all_tensors=_INTEGERS),
    "FLOOR_MOD": binary("floor_mod", all_tensors=_INTEGERS),
    "LOGICAL_AND": binary("logical_and", all_tensors=_LOGICAL),
    "LOGICAL_NOT": unary(_LOGICAL),
    "LOGICAL_OR": binary("logical_or", all_tensors=_LOGICAL),
    "MAXIMUM": binary("maximum", version=version_up_to(4), all_tensors=FLOATS_AND_INTEGERS),
    "MINIMUM": binary("minimum", version=version_up_to(4), all_tensors=FLOATS_AND_INTEGERS),
    "MUL": binary(
        "mul",
        arithmetic.MUL_OPERANDS,
        arithmetic.ENHANCED_BROADCAST,
        checks.KNOWN_ACTIVATION,
        version=version_up_to(8, older=4),
        may_be_one=True,
        last=(FUSABLE_ELEMENTWISE,),
        all_tensors=FLOATS_AND_INTEGERS,
    ),
    "POW": binary("pow", all_tensors=_FLOATS),
    "RIGHT_SHIFT": binary("shift_right", all_tensors=_INTEGERS),
    "SELECT": _SELECT,
    "SELECT_V2": _SELECT,
    "SQUARE": unary(USUAL_TENSORS),
    "SQUARED_DIFFERENCE": binary("squared_diff", all_tensors=USUAL_TENSORS),
    "SUB": binary("subtract", *_ACTIVATED, last=(FUSABLE_ELEMENTWISE,), all_tensors=FLOATS_AND_INTEGERS),
}


def unread_operands(node: NodeView) -> Iterator[Refusal]:
    """Yield a problem for each constant operand that has several elements and an unsupported type."""
    return unread_constants(node, [position for position in (0, 1) if node.input(position).element_count > 1])


_WITH_TWO_OPERANDS = (
    *("ADD", "ADD_N", "ATAN2", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "MUL", "POW", "RIGHT_SHIFT"),
    *("SQUARED_DIFFERENCE", "SUB", *_COMPARISONS),
)
_SELECTIONS = ("SELECT", "SELECT_V2")
BUILD_PROBLEMS: BuildProblems = {
    **dict.fromkeys(_WITH_TWO_OPERANDS, unread_operands),
    **dict.fromkeys(_SELECTIONS, lambda node: unread_constants(node, (0, 1, 2))),
}
WEBGPU_PROBLEMS: BuildProblems = dict.fromkeys(
    _SELECTIONS, problem_if(BATCH, 0, lambda node: bhwc(node.input(0).shape).b > 1 == bhwc(node.output(0).shape).b)
)

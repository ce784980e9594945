"""StableHLO operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.kinds import RANK, SHAPE, TENSOR_TYPE
from ....rules.operands import operand
from ....rules.rule import Check
from ....rules.vocabulary import check, rank, typed
from ...gpu_compatibility.checks import COMPATIBILITY, FLOAT, Found, asked, case, operands
from ..target import LOWERED, BuildProblems
from .arithmetic import FLOATS_AND_INTEGERS, PAIRS, binary, unread_operands
from .checks import RESULTS, available, integer_constant, integers, readable, with_results
from .composites import composite
from .tensors import ANY_NUMBERS, SIGNED, parsed_by, tensors


def _other_than_first(node: NodeView) -> str | None:
    types = [node.input(position).type for position in range(3)]
    return None if len(set(types)) == 1 else f"types {', '.join(types)}"


def _unlike_operand(compared: int, scalar: int) -> Callable[[NodeView], str | None]:
    """Return a finder that compares the shapes of the operands at positions ``compared`` and 1.

    If the operand at position ``scalar`` has one element, the finder accepts any shapes.
    """

    def find(node: NodeView) -> str | None:
        shape, operand_shape = node.input(compared).shape, node.input(1).shape
        if shape == operand_shape or node.input(scalar).element_count == 1:
            return None
        return f"shapes {list(shape)} and {list(operand_shape)}"

    return find


_CLAMP = parsed_by(
    "ClampOperationsParser",
    operands(3, 0, 1),
    check(TENSOR_TYPE, "three operands of the same type", _other_than_first)
    .saying("Clamp tensors must all be the same type")
    .from_source(COMPATIBILITY),
    check(SHAPE, "a minimum that is a scalar or has the shape of the operand", _unlike_operand(0, 0))
    .saying("Min tensor must be the same shape as the input, or a scalar")
    .from_source(COMPATIBILITY),
    check(SHAPE, "a maximum that is a scalar or has the shape of the operand", _unlike_operand(2, 2))
    .saying("Max tensor must be the same shape as the input, or a scalar")
    .from_source(COMPATIBILITY),
    *with_results(*readable(0), *readable(1), *readable(2)),
    all_tensors=FLOATS_AND_INTEGERS,
)
_CBRT = parsed_by(
    "CbrtOperationParser",
    operands(1, 0, 1),
    typed(operand(0), (*FLOAT, "BFLOAT16")).saying("Only support float inputs").from_source(COMPATIBILITY),
    check(
        TENSOR_TYPE,
        "the same type in input and output",
        lambda node: (
            None if node.input(0).type == node.output(0).type else f"{node.input(0).type} input and {node.output(0).type} output"
        ),
    )
    .saying("Input and output types must match")
    .from_source(COMPATIBILITY),
    *with_results(*readable(0)),
    all_tensors=tensors("BFLOAT16"),
)

# Broadcasts


def _mapping_size(node: NodeView) -> str | None:
    source, dimensions = node.input(0).rank, node.input(1).shape
    return None if source == dimensions[0] else f"{dimensions[0]} dimensions for an input of rank {source}"


def _mapping(node: NodeView) -> Found | None:
    source, result, dimensions = node.input(0).shape, node.output(0).shape, integers(node, 1)
    description = f"dimensions {dimensions} from {list(source)} to {list(result)}"
    for size, dimension in zip(source, dimensions, strict=False):
        if not 0 <= dimension < len(result):
            return Found(description, "Require 0 <= index val < rank(result)")
        if size not in (1, result[dimension]):
            return Found(description, "Requires dim(input, d) = 1 || dim(input, d) = dim(output, index[d])")
    return None if len(set(dimensions)) == len(dimensions) else Found(description, "Index values must be unique")


def _one_to_four(is_result: bool) -> Check[object]:
    side = "output" if is_result else "input"

    def find(node: NodeView) -> str | None:
        rank = (node.output(0) if is_result else node.input(0)).rank
        return None if 1 <= rank <= 4 else f"{side} of rank {rank}"

    return check(RANK, f"{side} of rank 1 to 4", find).saying(f"Only supports 1D-4D {side} tensor.")


_DIMENSIONS = operand(1, "dimensions")
_BROADCAST_IN_DIM = parsed_by(
    "BroadcastInDimOperationParser",
    *case(
        operands(1, 1, 1).saying("requires one runtime input, one const input, and one output"),
        rank(_DIMENSIONS, 1).saying("Only support 1D indices"),
        typed(_DIMENSIONS, ("INT32",)).saying("Only support int32 indices"),
        check(SHAPE, "one entry of dimensions for each dimension of the input", _mapping_size).saying(
            "Require size(indices) = rank(operand)"
        ),
    ),
    *with_results(
        available(0),
        _one_to_four(is_result=False),
        _one_to_four(is_result=True),
        *integer_constant(1, "linear"),
        asked(
            SHAPE, "a separate output dimension for each input dimension, of the same size unless the input size is 1", _mapping
        ),
        *readable(0),
    ),
    all_tensors=tensors(*ANY_NUMBERS),
)

_INTEGERS = tensors(*SIGNED)

RULES = {
    "STABLEHLO_BROADCAST_IN_DIM": _BROADCAST_IN_DIM,
    "STABLEHLO_CBRT": _CBRT,
    "STABLEHLO_CLAMP": _CLAMP,
    "STABLEHLO_REMAINDER": parsed_by(
        "RemainderOperationParser", *PAIRS, *readable(0), *readable(1), *RESULTS, all_tensors=_INTEGERS
    ),
    "STABLEHLO_SHIFT_LEFT": binary("shift_left", all_tensors=_INTEGERS),
    "STABLEHLO_COMPOSITE": composite(),
}


# Building the model


def _lowered(node: NodeView) -> Iterator[Refusal]:
    yield LOWERED.failure(node.output(0))


BUILD_PROBLEMS: BuildProblems = {"STABLEHLO_SHIFT_LEFT": unread_operands}
WEBGPU_PROBLEMS: BuildProblems = {"STABLEHLO_COMPOSITE": _lowered}

"""Joining and splitting."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.kinds import OPERAND_COUNT, SHAPE
from ....rules.vocabulary import check, where
from ...gpu_compatibility.checks import Found, asked
from ..target import Bhwc, BuildProblems, bhwc, constants_read, unread_constants
from .checks import (
    FUSED,
    RANKED_RESULT,
    RESULTS,
    RESULTS_FROM_2_1_5,
    available,
    axes,
    before,
    integers,
    one_scale,
    other_inputs,
    ranked,
    readable,
    readable_tensor,
    runtime_inputs,
    runtime_or_constant,
    since,
    version_up_to,
    with_results,
)
from .tensors import ANY_NUMBERS, parsed_by, tensors

# Joining


def _axis_is_hidden(first: Bhwc, other: Bhwc, axis: int) -> bool:
    return all(first[position] != other[position] for position in range(4) if position != axis)


def _no_axis(node: NodeView) -> str | None:
    """Return a refusal if the inputs cannot be joined along any axis (``GetAxis``).

    An axis is excluded if an input differs in size from the first input along all three other axes.
    """
    if not node.node.inputs:
        return None
    first, *others = [bhwc(tensor.shape) for tensor in node.inputs]
    if all(any(_axis_is_hidden(first, other, axis) for other in others) for axis in (0, 1, 2, 3)):
        return f"shapes {', '.join(str(list(tensor.shape)) for tensor in node.inputs)}"
    return None


def _all_given(node: NodeView) -> Found | None:
    for position, index in enumerate(node.node.inputs):
        if index < 0:
            return Found(f"no input {position}", f"input #{position} tensor is not available")
    return None


_CONCATENATION = parsed_by(
    "ConcatenationOperationParser",
    *version_up_to(6, older=2),
    *with_results(
        asked(OPERAND_COUNT, "all inputs", _all_given),
        *readable_tensor("an input", lambda node: node.inputs),
        check(SHAPE, "inputs with the shape of the first input, except for one dimension", _no_axis).saying(
            "Couldn't find an axis to concatenate by."
        ),
        *FUSED,
    ),
    all_tensors=tensors(*ANY_NUMBERS),
)


def _has_other_inputs(node: NodeView) -> bool:
    return len(node.node.inputs) != 1


# Splitting


def _is_split(node: NodeView) -> bool:
    return int(node.options.num_splits) != 1


_SPLIT = parsed_by(
    "SplitOperationParser",
    *where(lambda node: int(node.options.num_splits) == 1, "into one part", *RESULTS, *readable(0)),
    *where(
        _is_split,
        "into several parts",
        available(1),
        available(0),
        axes("the input", lambda node: node.input(1), lambda node: integers(node, 0)[:1]),
        *readable(1),
        *RESULTS,
    ),
)
_SPLIT_V = parsed_by(
    "SplitVOperationParser",
    *before("litert-2.2.0", other_inputs(2)),
    runtime_inputs(1),
    *since("litert-2.2.0", other_inputs(2)),
    *with_results(
        *readable(0),
        *where(
            _is_split,
            "into several parts",
            available(0),
            available(2),
            axes("the input", lambda node: node.input(0), lambda node: integers(node, 2)[:1]),
        ),
    ),
)


def _has_several_parts(node: NodeView) -> bool:
    return int(node.options.num) != 1


_UNPACK = parsed_by(
    "UnpackOperationParser",
    *where(lambda node: int(node.options.num) == 1, "into one part", *readable(0), *RESULTS),
    *where(
        _has_several_parts,
        "into several parts",
        available(0),
        *ranked(0),
        axes("the input", lambda node: node.input(0), lambda node: (node.options.axis,)),
        one_scale(0),
        *RESULTS,
    ),
)

RULES = {
    "CONCATENATION": _CONCATENATION,
    "PACK": parsed_by(
        "PackOperationParser",
        *where(lambda node: len(node.node.inputs) == 1, "of one input", *readable(0), *RESULTS),
        *where(_has_other_inputs, "of several inputs", *RESULTS_FROM_2_1_5),
        *where(_has_other_inputs, "of several inputs", *runtime_or_constant()),
        *where(
            _has_other_inputs,
            "of several inputs",
            axes("the output", lambda node: node.output(0), lambda node: (node.options.axis,)),
            *before("litert-2.1.5", *RANKED_RESULT),
        ),
        all_tensors=tensors(*ANY_NUMBERS),
    ),
    "SPLIT": _SPLIT,
    "SPLIT_V": _SPLIT_V,
    "UNPACK": _UNPACK,
}


# Building the model


def _constants_split(node: NodeView) -> Iterator[Refusal]:
    """Yield a problem if the operand that ML Drift reads as data is constant.

    If the number of parts is 1, ML Drift reads the axis operand as data.
    """
    return constants_read(node, 1 if _is_split(node) else 0)


BUILD_PROBLEMS: BuildProblems = {
    "CONCATENATION": lambda node: unread_constants(node, range(len(node.node.inputs))),
    "PACK": lambda node: unread_constants(node, range(len(node.node.inputs)) if _has_other_inputs(node) else ()),
    "SPLIT": _constants_split,
    "UNPACK": lambda node: constants_read(node, *((0,) if _has_several_parts(node) else ())),
}

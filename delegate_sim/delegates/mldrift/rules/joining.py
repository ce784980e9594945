"""Joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_COUNT, SHAPE
from ....rules.vocabulary import check, where
from ...gpu_compatibility.checks import Found, asked
from ..demands.checks import (
    FUSED,
    other_inputs,
    runtime_inputs,
    version_up_to,
)
from ..demands.parsing import SEEN_FIRST, parsed_by
from ..demands.reading import (
    ALL_RUNTIME_OR_CONSTANT,
    RANKED_RESULT,
    RESULTS,
    available,
    axes,
    integers,
    ranked,
    readable,
    readable_tensor,
)
from ..demands.tensors import with_tensors
from ..shapes import Bhwc, bhwc

# Joining


def _axis_is_hidden(first: Bhwc, other: Bhwc, axis: int) -> bool:
    return all(first[each] != other[each] for each in range(4) if each != axis)


def _no_axis(node: NodeView) -> str | None:
    """``GetAxis``: inputs that differ from the first in three axes rule an axis out, and all four have to be."""
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
    *RESULTS,
    asked(OPERAND_COUNT, "all inputs", _all_given),
    *readable_tensor("an input", lambda node: node.inputs),
    check(SHAPE, "inputs that differ from the first in one dimension only", _no_axis).saying(
        "Couldn't find an axis to concatenate by."
    ),
    *FUSED,
)


def _has_one_input(node: NodeView) -> bool:
    return len(node.node.inputs) == 1


def _has_other_inputs(node: NodeView) -> bool:
    return len(node.node.inputs) != 1


# Splitting


def _is_split(node: NodeView) -> bool:
    return int(node.options.num_splits) != 1


def _is_not_split(node: NodeView) -> bool:
    return int(node.options.num_splits) == 1


_SPLIT = parsed_by(
    "SplitOperationParser",
    *where(_is_not_split, "into one part", *RESULTS, *readable(0)),
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
    runtime_inputs(1),
    other_inputs(2),
    *RESULTS,
    *readable(0),
    *where(
        _is_split,
        "into several parts",
        available(0),
        available(2),
        axes("the input", lambda node: node.input(0), lambda node: integers(node, 2)[:1]),
    ),
)


def _is_one_part(node: NodeView) -> bool:
    return int(node.options.num) == 1


def _has_several_parts(node: NodeView) -> bool:
    return int(node.options.num) != 1


_UNPACK = parsed_by(
    "UnpackOperationParser",
    *where(_is_one_part, "into one part", *readable(0), *RESULTS),
    *where(
        _has_several_parts,
        "into several parts",
        available(0),
        *ranked(0),
        axes("the input", lambda node: node.input(0), lambda node: (node.options.axis,)),
        *readable(0),
        *RANKED_RESULT,
        *RESULTS,
    ),
)

RULES = with_tensors(
    {
        "CONCATENATION": _CONCATENATION,
        "PACK": parsed_by(
            "PackOperationParser",
            *where(_has_one_input, "of one input", *readable(0), *RESULTS),
            *where(_has_other_inputs, "of several inputs", *SEEN_FIRST),
            *where(_has_other_inputs, "of several inputs", *ALL_RUNTIME_OR_CONSTANT),
            *where(
                _has_other_inputs,
                "of several inputs",
                axes("the output", lambda node: node.output(0), lambda node: (node.options.axis,)),
                *RANKED_RESULT,
            ),
        ),
        "SPLIT": _SPLIT,
        "SPLIT_V": _SPLIT_V,
        "UNPACK": _UNPACK,
    }
)

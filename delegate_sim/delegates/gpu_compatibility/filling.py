"""ONE_HOT."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.hints import in_code
from ...rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, SHAPE
from ...rules.number_sets import counted
from ...rules.operands import operand
from ...rules.vocabulary import check, operand_count, typed
from .checks import COMPATIBILITY, INT32, case, saying


def _wrong_counts_both(node: NodeView) -> str | None:
    counts = len(node.node.inputs), len(node.node.outputs)
    if counts[0] == 4 or counts[1] == 1:
        return None
    return f"{counted(counts[0], 'input')} and {counted(counts[1], 'output')}"


def _one_hot_axis(node: NodeView) -> str | None:
    """Return the axis as text unless the axis is -1 or equals the size of the indices' last dimension.

    The runtime compares the axis with a size, not with a rank. For scalar indices, releases before LiteRT 2.1.6 read memory with
    unknown contents.
    """
    axis, shape = node.options.axis, node.input(0).shape
    return None if axis == -1 or (shape and axis == shape[-1]) else f"axis {axis} with indices of shape {list(shape)}"


def _one_hot_dimension(node: NodeView) -> str | None:
    shape = node.input(0).shape
    first = 1 if len(shape) > 3 else 0
    return None if all(size == 1 for size in shape[first:-1]) else f"indices of shape {list(shape)}"


def _say_one_hot_dimension(node: NodeView) -> str:
    shape = node.input(0).shape
    first = 1 if len(shape) > 3 else 0
    return f"Unsupported non-singleton dim at {next((at for at in range(first, len(shape) - 1) if shape[at] != 1), 0)}"


def _one_hot_values(node: NodeView) -> str | None:
    for position, name in ((2, "on"), (3, "off")):
        value = node.input(position)
        if not value.is_constant or value.rank > 1 or (value.rank == 1 and value.shape[0] > 1):
            return f"{name} value {'constant' if value.is_constant else 'not constant'}, of shape {list(value.shape)}"
    return None


ONE_HOT_AXIS = check(ATTRIBUTE, "an axis of -1, or an axis equal to the last size of the indices", _one_hot_axis)
_ONE_HOT_SAYS = "Indices must be int32 type, on/off tensors must be constant, scalar, float type, axis must be -1 or last dim"
ONE_HOT = case(
    *saying(
        "Expects 4 inputs and 1 output",
        (
            check(OPERAND_COUNT, "4 inputs, or 1 output", _wrong_counts_both).before_release("litert-2.1.6"),
            operand_count(4, 1).from_release("litert-2.1.6"),
        ),
    ),
    *saying(_ONE_HOT_SAYS, (typed(operand(0, "index tensor"), INT32, hint=in_code("use INT32 indices")), ONE_HOT_AXIS)),
    check(SHAPE, "indices of size 1 in all dimensions except batch and channels", _one_hot_dimension).saying(
        _say_one_hot_dimension
    ),
    *saying(
        _ONE_HOT_SAYS,
        (
            typed(operand(2, "on value"), ("FLOAT32",), hint=in_code("use FLOAT32 values")),
            typed(operand(3, "off value"), ("FLOAT32",), hint=in_code("use FLOAT32 values")),
            check(CONSTANT, "constant scalars as on value and off value", _one_hot_values),
        ),
    ),
    source=COMPATIBILITY.with_symbol("CheckOneHotGpuDelegateCompatibility"),
)

"""Convolutions, pooling, resizing and matrix products."""

from __future__ import annotations

from typing import Any

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, RANK, SHAPE
from ....rules.operands import INPUT, OUTPUT, operand
from ..steps import Layer, Need, Query
from ..tensors import Info, Thrown, info_of, input_info, output_info
from .checks import (
    FUSED,
    constant_weights,
    inputs_at_least,
    inputs_exactly,
    outputs_exactly,
    place,
    readable,
    same_padding,
    unary_call,
    values_of,
    visited,
)

_WEIGHTS, _BIAS, _THIRD = operand(1, "weights"), operand(2, "bias"), operand(2)
_SAME = 0


def _bias_of(node: NodeView) -> Info | None:
    return info_of(node.input(2)) if _BIAS.is_given(node) else None


def _window(node: NodeView, source: Info, sides: tuple[tuple[str, int, int], ...]) -> dict[str, Any]:
    """Return strides, dilations and padding. ``sides`` has the name of a side, its dimension of the input and its window."""
    options = node.options
    values: dict[str, Any] = {}
    for side, dimension, window in sides:
        stride, dilation = getattr(options, f"stride_{side}"), getattr(options, f"dilation_{side}_factor") or 1
        padding = same_padding(source.size(dimension), window, stride, dilation, is_same=options.padding == _SAME)
        values |= {f"stride_{side}": stride, f"dilation_{side}": dilation, f"padding_{side}": padding, f"window_{side}": window}
    return values


def _convolution(node: NodeView) -> Query:
    source, weights = input_info(node, 0), input_info(node, 1)
    values = _window(node, source, (("h", 1, weights.size(1)), ("w", 2, weights.size(2))))
    return Query((source,), (output_info(node),), weights, _bias_of(node), values)


def _convolution_3d(node: NodeView) -> Query:
    source, weights = input_info(node, 0), input_info(node, 1)
    values = _window(node, source, (("d", 1, weights.size(0)), ("h", 2, weights.size(1)), ("w", 3, weights.size(2))))
    return Query((source,), (output_info(node),), weights, _bias_of(node), values)


def _transpose_convolution(node: NodeView) -> Query:
    source, weights, output = input_info(node, 2), input_info(node, 1), output_info(node)
    shape = values_of(node, 0)
    values: dict[str, Any] = {}
    for side, dimension in (("h", 1), ("w", 2)):
        stride, window, size = getattr(node.options, f"stride_{side}"), weights.size(dimension), source.size(dimension)
        padding = same_padding(size, window, stride, 1, is_same=node.options.padding == _SAME)
        if len(shape) > dimension and node.input(0).is_constant:
            total = (size - 1) * stride + window - shape[dimension] if node.options.padding == _SAME else 0
            padding = total // 2, total - total // 2
        values |= {f"stride_{side}": stride, f"padding_{side}": padding, f"window_{side}": window, f"dilation_{side}": 1}
    return Query((source,), (output,), weights, None, values)


def _pooling(node: NodeView) -> Query:
    call = unary_call(node)
    sides = (("h", 1, node.options.filter_height), ("w", 2, node.options.filter_width))
    return call._replace(values={**_window(node, call.input, sides), "kind": node.op})


def _resize(node: NodeView) -> Query:
    options = node.options
    values = {"align_corners": options.align_corners, "half_pixel_centers": options.half_pixel_centers, "kind": node.op}
    return unary_call(node)._replace(values=values)


def _size_count(node: NodeView) -> int:
    return node.input(1).shape[0] if node.input(1).rank == 1 else 0


def _not_two_sizes(node: NodeView) -> str | None:
    return None if _size_count(node) == 2 else f"a size of shape {list(node.input(1).shape)}"


def _weights_rank(node: NodeView) -> str | None:
    rank = input_info(node, 1).rank
    return None if rank == 2 else f"weights of rank {rank}"


def _rows(info: Info, columns: int) -> Info:
    """Return a tensor of rank 2 with rows of the given size, if it has a higher rank."""
    return info.with_shape((info.element_count // columns, columns)) if info.rank > 2 else info


def _uneven(info: Info, columns: int) -> str | None:
    is_even = info.rank <= 2 or info.element_count % columns == 0
    return None if is_even else f"{info.element_count} elements for rows of {columns}"


def _not_deduced(node: NodeView, side: str, columns: int) -> str:
    return f"TfLiteArmnnDelegate: Failed to deduce {side} tensor shape from filter size #{columns} #{place(node)[10:]}"


def _fully_connected(node: NodeView) -> Query:
    weights = input_info(node, 1)
    source = _rows(input_info(node, 0), weights.size(1))
    # The description of the result as an operand gives a scalar one dimension.
    output = _rows(info_of(node.output(0)), weights.size(0))
    return Query((source,), (output,), weights, _bias_of(node))


def _batch_mat_mul(node: NodeView) -> Query:
    values = {"transpose_x": bool(node.options.adj_x), "transpose_y": bool(node.options.adj_y)}
    return Query((input_info(node, 0), input_info(node, 1)), (output_info(node),), values=values)


def _negative(node: NodeView) -> str | None:
    """Find a negative stride or dilation (``NonNegative``). Raises Thrown."""
    options = node.options
    names = ("stride_d", "stride_w", "stride_h", "dilation_d_factor", "dilation_w_factor", "dilation_h_factor")
    negative = next((f"{name} {getattr(options, name)}" for name in names if getattr(options, name) < 0), None)
    if negative is not None:
        raise Thrown(f"TfLiteArmnnDelegate: Non-negative value in node {node.node.index}", negative)
    return None


_POSITIVE: Need[NodeView] = Need(
    ATTRIBUTE, "strides and dilations of at least 0", _negative, hint="use positive strides and dilations"
)


def _convolved(word: str, name: str, call: Any, line: int, function: str) -> Any:
    return visited(
        f"Convolution.hpp:{function}",
        inputs_at_least(2),
        outputs_exactly(),
        _POSITIVE,
        readable(INPUT, OUTPUT),
        *FUSED,
        readable(_WEIGHTS, _BIAS),
        Layer(word, name, call, f"Convolution.hpp:{line}", function),
    )


_POOLED = visited(
    "Pooling.hpp:VisitPooling2dOperator",
    inputs_exactly(1),
    outputs_exactly(),
    readable(INPUT, OUTPUT),
    *FUSED,
    Layer("POOLING_2D", "pooling", _pooling, "Pooling.hpp:103"),
)


_RESIZED = visited(
    "Resize.hpp",
    inputs_exactly(2),
    outputs_exactly(),
    readable(INPUT, OUTPUT),
    Need(
        OPERAND_COUNT,
        "a size of 2 elements",
        _not_two_sizes,
        lambda node: (
            "TfLiteArmnnDelegate: The Size-Input-Tensor of the Resize operation requires to have a dimension of 2 "
            f"[new_hight, new width] but a tensor with a dimension of #{_size_count(node)} was given. "
            f"Operator: #{place(node)[10:]}"
        ),
        "give the new height and width",
    ),
    Layer("RESIZE", "resize", _resize, "Resize.hpp:31", "ValidateResizeOperator"),
)

RULES = {
    "CONV_2D": _convolved("CONV2D", "convolution", _convolution, 119, "VisitConv2dOperator"),
    "CONV_3D": _convolved("CONV3D", "convolution_3d", _convolution_3d, 306, "VisitConv3dOperator"),
    "DEPTHWISE_CONV_2D": _convolved("DEPTHWISE_CONV2D", "depthwise", _convolution, 484, "VisitDepthwiseConv2dOperator"),
    "TRANSPOSE_CONV": visited(
        "Convolution.hpp:VisitTransposeConv2dOperator",
        inputs_exactly(3),
        outputs_exactly(),
        _POSITIVE,
        readable(_THIRD, OUTPUT, _WEIGHTS),
        constant_weights(_WEIGHTS, "TfLiteArmnnDelegate:  Not constant allocation type: {number}"),
        Layer(
            "TRANSPOSE_CONV2D",
            "transpose_convolution",
            _transpose_convolution,
            "Convolution.hpp:689",
            "VisitTransposeConv2dOperator",
        ),
    ),
    "AVERAGE_POOL_2D": _POOLED,
    "L2_POOL_2D": _POOLED,
    "MAX_POOL_2D": _POOLED,
    "RESIZE_BILINEAR": _RESIZED,
    "RESIZE_NEAREST_NEIGHBOR": _RESIZED,
    "FULLY_CONNECTED": visited(
        "FullyConnected.hpp",
        inputs_at_least(2),
        outputs_exactly(),
        readable(INPUT, _WEIGHTS, OUTPUT),
        *FUSED,
        Need(
            RANK,
            "weights of rank 2",
            _weights_rank,
            lambda node: (
                "TfLiteArmnnDelegate: Dimension #$d for Fully Connected weights is not supported by Armnn in operator "
                f"#{input_info(node, 1).rank} node #{node.node.builtin_code}: "
            ),
        ),
        readable(_BIAS),
        Need(
            SHAPE,
            "an input whose number of elements is a multiple of the row of weights",
            lambda node: _uneven(input_info(node, 0), input_info(node, 1).size(1)),
            lambda node: _not_deduced(node, "input", input_info(node, 1).size(1)),
        ),
        Need(
            SHAPE,
            "an output whose number of elements is a multiple of the rows of weights",
            lambda node: _uneven(output_info(node), input_info(node, 1).size(0)),
            lambda node: _not_deduced(node, "output", input_info(node, 1).size(0)),
        ),
        Layer("FULLY_CONNECTED", "fully_connected", _fully_connected, "FullyConnected.hpp:150"),
    ),
    "BATCH_MATMUL": visited(
        "BatchMatMul.hpp",
        inputs_exactly(2),
        outputs_exactly(),
        readable(INPUT, operand(1), OUTPUT),
        Layer("BATCH_MATMUL", "batch_mat_mul", _batch_mat_mul, "BatchMatMul.hpp:75"),
    ),
}
"""The rules by operator."""

_POOLED_3D = visited(
    "Pooling.hpp:VisitPooling3dOperator",
    inputs_exactly(1),
    outputs_exactly(),
    readable(INPUT, OUTPUT),
    Layer("POOLING_3D", "pooling_3d", unary_call, "Pooling.hpp:288"),
)
CUSTOM_RULES = {"AveragePool3D": _POOLED_3D, "MaxPool3D": _POOLED_3D}
"""The rules of custom operators. Their windows and fused activations are not read."""

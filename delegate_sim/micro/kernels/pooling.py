"""Pooling operators."""

from __future__ import annotations

from collections.abc import Mapping

from ...graph.graph import NodeView
from ...model import schema
from ...rules.kinds import QUANTIZATION
from ...rules.operands import INPUT, OUTPUT
from ...rules.vocabulary import check, rank
from ..checks import (
    FLOAT32,
    FLOAT32_INT8_INT16,
    INT8_INT16,
    ONE_TO_ONE,
    SAME_TYPES,
    of_type,
    same_parameters,
    takes,
)
from ..kernel import MicroKernel, in_source
from ..quantization import scale

_LARGEST_DIFFERENCE = 1e-6


def _scale_difference(node: NodeView) -> str | None:
    first, second = scale(node.input(0)), scale(node.output(0))
    return None if abs(first - second) <= _LARGEST_DIFFERENCE else f"input with scale {first:g} and output with scale {second:g}"


_SAME_ZERO_POINT = same_parameters(INPUT, OUTPUT)[1]


def _pooling(symbol: str) -> MicroKernel:
    return MicroKernel(
        in_source(
            "pooling_common.cc",
            "PoolingPrepare",
            *of_type(
                INPUT,
                INT8_INT16,
                check(
                    QUANTIZATION, "input and output with the same scale", _scale_difference, "quantize both with the same scale"
                ),
                _SAME_ZERO_POINT,
            ),
            takes(INPUT, FLOAT32_INT8_INT16),
        ),
        in_source("pooling.cc", symbol),
    )


def _window_count(node: NodeView, size: int, window: int, stride: int) -> int:
    if stride <= 0:
        return size
    padding = schema.enum_names("Padding").get(node.options.padding)
    if padding == "SAME":
        return -(-size // stride)
    return max(0, (size + stride - window) // stride) if padding == "VALID" else 0


def _pooled_shape(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    source, options = node.input(0).shape, node.options
    height = _window_count(node, source[1], options.filter_height, options.stride_h)
    width = _window_count(node, source[2], options.filter_width, options.stride_w)
    return {0: (source[0], height, width, source[3])}


KERNELS = {
    "AVERAGE_POOL_2D": _pooling("AverageEval"),
    "L2_POOL_2D": MicroKernel(
        in_source("l2_pool_2d.cc", "L2Prepare", ONE_TO_ONE, rank(INPUT, 4), rank(OUTPUT, 4), SAME_TYPES, takes(INPUT, FLOAT32)),
        in_source("l2_pool_2d.cc", "L2Eval"),
        shapes=_pooled_shape,
    ),
    "MAX_POOL_2D": _pooling("MaxEval"),
}

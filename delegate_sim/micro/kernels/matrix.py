"""Matrix products."""

from __future__ import annotations

from collections.abc import Mapping

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...rules.kinds import QUANTIZATION, SHAPE
from ...rules.number_sets import at_most, between
from ...rules.operands import INPUT, OUTPUT, operand
from ...rules.vocabulary import check, rank, same_type, where
from ..checks import (
    ACTIVATION_RANGE,
    FLOAT32_INT8_INT16,
    INT8,
    INT8_INT16,
    INT16,
    SAME_TYPES,
    TWO_TO_ONE,
    dimension,
    of_type,
    symmetric,
    takes,
    with_cmsis_nn,
)
from ..kernel import MicroKernel, in_source
from ..kinds import HYBRID
from ..quantization import affine, scales
from .convolution import FILTER, bias_scale_fits, int4_filter, is_per_channel

_SECOND = operand(1)
_PER_TENSOR = "quantize the filter per tensor"


def _filter_types(node: NodeView) -> str | None:
    source, filters = node.input(0).type, node.input(1).type
    allowed = {"FLOAT32": ("FLOAT32",), "INT8": ("INT8", "INT4"), "INT16": ("INT8",)}.get(source)
    return None if allowed is None or filters in allowed else f"{source} input and {filters} filter"


def _per_channel_types(node: NodeView) -> str | None:
    source, filters = node.input(0).type, node.input(1).type
    return None if source in INT8_INT16 and filters != "INT4" else f"{source} input and {filters} filter with several scales"


def _int16_channels(node: NodeView) -> str | None:
    count = len(scales(node.input(1)))
    return f"{node.input(0).type} input and a filter with {count} scales" if count > 1 and node.input(0).type == "INT16" else None


def _channel_count(node: NodeView) -> str | None:
    quantization = affine(node.input(1))
    if quantization is None:
        return None
    channels = dimension(node.input(1), quantization.dimension)
    return (
        None if len(quantization.scales) == channels else f"filter with {len(quantization.scales)} scales for {channels} channels"
    )


def _product(node: NodeView) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Return the shapes of both operands, padded with 1 to the same rank, and this rank."""
    left, right = node.input(0).shape, node.input(1).shape
    count = max(len(left), len(right))
    # bounded: the reader limits ranks
    return (1,) * (count - len(left)) + left, (1,) * (count - len(right)) + right, count


def _batch_sizes(node: NodeView) -> str | None:
    left, right, count = _product(node)
    for first, second in zip(left[: count - 2], right[: count - 2], strict=True):
        if first != second and 1 not in (first, second):
            return f"input 0 of shape {list(node.input(0).shape)} and input 1 of shape {list(node.input(1).shape)}"
    return None


def _inner_sizes(node: NodeView) -> str | None:
    left, right, _ = _product(node)
    first = left[-2] if node.options.adj_x else left[-1]
    second = right[-1] if node.options.adj_y else right[-2]
    return None if first == second else f"inner dimensions of {first} and {second} elements"


def _product_shape(node: NodeView) -> tuple[int, ...]:
    left, right, count = _product(node)
    batch = [second if first == 1 else first for first, second in zip(left[: count - 2], right[: count - 2], strict=True)]
    return (*batch, left[-1] if node.options.adj_x else left[-2], right[-2] if node.options.adj_y else right[-1])


def _output_shape(node: NodeView) -> str | None:
    shape, result = _product_shape(node), node.output(0).shape
    if len(shape) <= len(result) and element_count(shape) == element_count(result):
        return None
    return f"output of shape {list(result)} for a product of shape {list(shape)}"


def _shapes(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    return {0: _product_shape(node)}


def _transposed_copies(node: NodeView) -> tuple[int, ...]:
    copies = [node.input(0)] if node.options.adj_x else []
    copies += [] if node.options.adj_y else [node.input(1)]
    return tuple(tensor.byte_size for tensor in copies)


KERNELS = {
    "BATCH_MATMUL": MicroKernel(
        in_source(
            "batch_matmul.cc",
            "BatchMatMulPrepare",
            TWO_TO_ONE,
            takes(INPUT, FLOAT32_INT8_INT16),
            takes(_SECOND, FLOAT32_INT8_INT16),
            same_type(INPUT, _SECOND, kind=HYBRID),
            SAME_TYPES,
            rank(INPUT, between(2, 5)),
            rank(_SECOND, between(2, 5)),
            *with_cmsis_nn("batch_matmul.cc", rank(INPUT, at_most(4)), rank(_SECOND, at_most(4))),
            *of_type(INPUT, INT16, *symmetric(INPUT, _SECOND, OUTPUT)),
            check(SHAPE, "batch dimensions that are equal or 1", _batch_sizes),
            check(SHAPE, "inner dimensions of the same size", _inner_sizes),
            check(SHAPE, "an output with as many elements and dimensions as the product", _output_shape),
        ),
        in_source("batch_matmul.cc", "BatchMatMulEval"),
        shapes=_shapes,
        persistent=_transposed_copies,
    ),
    "FULLY_CONNECTED": MicroKernel(
        in_source(
            "fully_connected.cc",
            "FullyConnectedPrepare",
            SAME_TYPES,
            *with_cmsis_nn("fully_connected.cc", takes(INPUT, FLOAT32_INT8_INT16)),
            check(HYBRID, "FLOAT32 input with FLOAT32 filter, INT8 with INT8 or INT4, or INT16 with INT8", _filter_types),
            *where(
                lambda node: node.input(0).type != "FLOAT32",
                "unless input is FLOAT32",
                *where(
                    is_per_channel,
                    "if the filter has several scales",
                    check(
                        QUANTIZATION,
                        "INT8 or INT16 input, and no INT4 filter",
                        _per_channel_types,
                        _PER_TENSOR,
                    ),
                    check(QUANTIZATION, "filter with one scale for each channel", _channel_count),
                ),
                *where(lambda node: not is_per_channel(node), "if the filter has one scale", bias_scale_fits()),
                takes(OUTPUT, ("UINT8", "INT8", "INT16")),
                ACTIVATION_RANGE,
            ),
            *with_cmsis_nn(
                "fully_connected.cc",
                check(QUANTIZATION, "a filter with one scale if input is INT16", _int16_channels, _PER_TENSOR),
                *of_type(INPUT, INT16, *symmetric(INPUT, OUTPUT)),
            ),
        ),
        in_source(
            "fully_connected.cc",
            "FullyConnectedEval",
            takes(INPUT, FLOAT32_INT8_INT16),
            *of_type(INPUT, INT8, takes(FILTER, ("INT8", "INT4"))),
        ),
        scratch=int4_filter,
    ),
}

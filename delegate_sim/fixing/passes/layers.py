"""Convolutions and matrix products: biases, and constant operands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ...model.model import Node, Quantization, Tensor
from ..work import Work
from .base import Exactness, Pass
from .elementwise import _pass

_BIAS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"CONV_2D": (2, 0), "DEPTHWISE_CONV_2D": (2, 3), "FULLY_CONNECTED": (2, 0), "TRANSPOSE_CONV": (3, 0)}
)
"""Position of the bias, and the dimension of the weights that counts the results."""
_SOURCE: Mapping[str, int] = MappingProxyType({"TRANSPOSE_CONV": 2})
_TYPES: Mapping[str, str] = MappingProxyType({"FLOAT32": "FLOAT32", "INT8": "INT32", "UINT8": "INT32", "INT16": "INT64"})


def _zero_bias(work: Work, node: Node) -> Sequence[Node] | None:
    position, dimension = _BIAS[node.op]
    source, weights = work.input(node, _SOURCE.get(node.op, 0)), work.input(node, 1)
    kind = _TYPES.get(source.type)
    if work.input(node, position).index >= 0 or len(node.inputs) < position or kind is None or weights.rank <= dimension:
        return None
    units = weights.shape[dimension]
    quantization = None
    if kind != "FLOAT32":
        if source.quantization is None or weights.quantization is None or len(source.quantization.scales) != 1:
            return None
        scales = source.quantization.scales * weights.quantization.scales
        quantization = Quantization("affine", scales.astype(np.float32), np.zeros(len(scales), np.int64), 0)
    name = f"{work.output(node).name}/bias"
    bias = work.constant(name, kind, np.zeros(units), quantization)
    return [node._replace(inputs=(*node.inputs[:position], bias, *node.inputs[position + 1 :]))]


def _matrix_of(work: Work, weights: Tensor) -> tuple[int, int] | None:
    """Return the sizes of a constant matrix, which may have leading dimensions of 1."""
    if not work.has_elements(weights) or weights.type != "FLOAT32" or weights.rank < 2 or set(weights.shape[:-2]) - {1}:
        return None
    return weights.shape[-2], weights.shape[-1]


def _batch_matmul(work: Work, node: Node) -> Sequence[Node] | None:
    """FULLY_CONNECTED of all rows, as the same matrix multiplies each of them."""
    options, target = work.options(node), work.output(node)
    source, weights = work.input(node, 0), work.input(node, 1)
    sizes = _matrix_of(work, weights)
    if sizes is None or options.adj_x or source.type != "FLOAT32" or source.is_constant or work.is_open(source, target):
        return None
    depth, units = sizes[::-1] if options.adj_y else sizes
    if not source.rank or source.shape[-1] != depth or target.shape[-1:] != (units,):
        return None
    rows = math.prod(source.shape[:-1])
    if rows != math.prod(target.shape[:-1]):
        return None
    read = work.later(weights)
    matrix = work.computed(
        f"{weights.name}/transposed",
        "FLOAT32",
        (units, depth),
        lambda: read().reshape(sizes) if options.adj_y else read().reshape(sizes).T,
    )
    flat, result = work.result(source, "rows", (rows, depth)), work.result(target, "rows", (rows, units))
    return [
        work.reshape(node.inputs[0], flat),
        work.node("FULLY_CONNECTED", [flat, matrix, -1], [result]),
        work.reshape(result, node.outputs[0]),
    ]


def _symmetric(work: Work, node: Node) -> Sequence[Node] | None:
    if not work.options(node).asymmetric_quantize_inputs:
        return None
    return [work.editor.with_options(node, asymmetric_quantize_inputs=False)]


_DYNAMIC = """
BATCH_MATMUL BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN FULLY_CONNECTED LSTM RNN SVDF UNIDIRECTIONAL_SEQUENCE_LSTM
UNIDIRECTIONAL_SEQUENCE_RNN
"""

PASSES: tuple[Pass, ...] = (
    _pass(
        "bias-of-zeros",
        " ".join(_BIAS),
        "a bias of zeros where there is none",
        "FLOAT32, or quantised with a scale for the operand",
        Exactness.EXACT,
        _zero_bias,
    ),
    _pass(
        "matrix-product-as-layer",
        "BATCH_MATMUL",
        "FULLY_CONNECTED of all rows, with RESHAPE before and behind",
        "FLOAT32, the second operand one constant matrix, a known shape, adj_x not set",
        Exactness.ROUNDING,
        _batch_matmul,
    ),
    _pass(
        "symmetric-activations",
        _DYNAMIC,
        "asymmetric_quantize_inputs cleared, so activations are quantised without a zero point",
        "weights quantised alone (dynamic range), with asymmetric_quantize_inputs",
        Exactness.APPROXIMATE,
        _symmetric,
    ),
)

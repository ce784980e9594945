"""Small models, and the node that XNNPACK computes wrongly in them in some releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fixtures.builder import ModelBuilder

SAME, VALID = 0, 1


def convolution(
    op: str = "CONV_2D",
    size: tuple[int, int] = (16, 16),
    window: tuple[int, int] = (3, 3),
    strides: tuple[int, int] = (4, 4),
    dilation: int = 1,
    padding: int = SAME,
    kind: str = "FLOAT32",
) -> bytes:
    """Return a convolution with three channels. All weights are 1."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    ends = [(own - 1) * dilation + 1 for own in window]
    results = [
        math.ceil((own if padding == SAME else own - end + 1) / stride)
        for own, end, stride in zip(size, ends, strides, strict=True)
    ]
    scale = 0.5 if kind == "INT8" else None
    shape = (3, *window, 3) if op == "CONV_2D" else (1, *window, 3)
    weights = graph.tensor("w", kind, shape, np.ones(shape), scale=scale)
    bias = graph.tensor("b", "INT32" if scale else "FLOAT32", (3,), np.zeros(3), scale=0.25 if scale else None)
    source = graph.input("x", kind, (1, *size, 3), scale=scale)
    result = graph.tensor("y", kind, (1, *results, 3), scale=8.0 if scale else None)
    options: dict[str, Any] = {"padding": padding, "stride_h": strides[0], "stride_w": strides[1]}
    options |= {"dilation_h_factor": dilation, "dilation_w_factor": dilation}
    graph.node(op, [source, weights, bias], [result], options=options | ({} if op == "CONV_2D" else {"depth_multiplier": 1}))
    graph.outputs(result)
    return bytes(builder.bytes())


def square(
    permutation: Sequence[int] = (1, 0, 2),
    size: int = 3,
    outputs: str = "y",
    reader: str = "",
    between: str = "",
    second: str = "",
    kind: str = "FLOAT32",
    **options: bool,
) -> bytes:
    """Return a TRANSPOSE, perhaps the operator ``between``, and a BATCH_MATMUL of the result ``t`` with itself.

    ``reader`` is another operator that reads ``t``. ``second`` is an operator that computes the second operand from ``t``.
    """
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    shape, scale = [size] * len(permutation), 0.5 if kind == "INT8" else None
    names = {"x": graph.input("x", kind, shape, scale=scale)}

    def node(op: str, operands: str, result: str, *constants: int, **values: Any) -> None:
        names[result] = graph.tensor(result, kind, shape, scale=scale)
        graph.node(op, [*[names[name] for name in operands.split()], *constants], [names[result]], options=values or None)

    def added(op: str, operand: str, result: str) -> None:
        if op == "RESHAPE":
            node(op, operand, result, graph.tensor("shape", "INT32", [len(shape)], shape), new_shape=shape)
        else:
            node(op, operand, result)

    order = graph.tensor("order", "INT32", [len(permutation)], list(permutation))
    node("TRANSPOSE", "x", "s" if between else "t", order)
    if between:
        added(between, "s", "t")
    if second:
        added(second, "t", "u")
    node("BATCH_MATMUL", "t u" if second else "t t", "y", **{"adj_x": False, "adj_y": False, **options})
    if reader:
        node(reader, "t", "z")
    graph.outputs(*[names[name] for name in outputs.split()])
    return bytes(builder.bytes())


def blockwise(is_blockwise: bool = True) -> bytes:
    """Return a FULLY_CONNECTED with INT4 weights. It has a scale for each block of 32 weights, or for each output channel."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    data = bytes([0x21] * (4 * 64 // 2))
    if is_blockwise:
        scales = graph.tensor("scales", "FLOAT16", [4, 2], np.full((4, 2), 0.5))
        weights = graph.tensor("w", "INT4", [4, 64], data, blockwise=[scales, -1, 32])
    else:
        weights = graph.tensor("w", "INT4", [4, 64], data, scale=[0.5] * 4)
    result = graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("FULLY_CONNECTED", [graph.input("x", "FLOAT32", [1, 64]), weights, -1], [result], 5, {})
    graph.outputs(result)
    return bytes(builder.bytes())


def layer(shape: Sequence[int], depth: int, kind: str = "INT8", keep_num_dims: bool = False) -> bytes:
    """Return a FULLY_CONNECTED of float activations. Its weights have ``depth`` columns."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("w", kind, [3, depth], np.ones((3, depth)), scale=0.5 if kind == "INT8" else None)
    rows = shape[:-1] if keep_num_dims else [math.prod(shape) // depth]
    result = graph.tensor("y", "FLOAT32", [*rows, 3])
    graph.node(
        "FULLY_CONNECTED", [graph.input("x", "FLOAT32", shape), weights, -1], [result], 5, {"keep_num_dims": keep_num_dims}
    )
    graph.outputs(result)
    return bytes(builder.bytes())


ROWS: dict[str, tuple[bytes, bool]] = {
    "image": (layer((1, 2, 2, 4), 16), True),
    "smaller rows": (layer((2, 8), 4), True),
    "one row": (layer((1, 8), 4), False),
    "vector": (layer((16,), 4), False),
    "rows of the same size": (layer((2, 3, 8), 8), False),
    "kept dimensions": (layer((2, 3, 8), 8, keep_num_dims=True), False),
    "float weights": (layer((1, 2, 2, 4), 16, kind="FLOAT32"), False),
}
"""A model, and whether its rows are wrong in litert-1.3.0, by what the layer reads."""
PADDING, PRODUCT = "xnnpack-numbers-negative-padding", "xnnpack-numbers-matrix-square"
CASES: dict[str, tuple[bytes, str | None]] = {
    "stride above the window": (convolution(), PADDING),
    "stride above the window, depthwise": (convolution("DEPTHWISE_CONV_2D"), PADDING),
    "stride above the window, INT8": (convolution(kind="INT8"), PADDING),
    "stride above the window, depthwise, INT8": (convolution("DEPTHWISE_CONV_2D", kind="INT8"), PADDING),
    "stride above the window in the width": (convolution(window=(3, 2), strides=(1, 4)), PADDING),
    "stride above the window in the height": (convolution(window=(1, 3), strides=(2, 1)), PADDING),
    "windows that end at the edge": (convolution(size=(15, 15)), None),
    "windows that end behind the edge": (convolution(size=(17, 17)), None),
    "dilated window": (convolution(dilation=2), None),
    "dilated window below the stride": (convolution(strides=(6, 6), dilation=2, size=(18, 18)), PADDING),
    "window of one pixel": (convolution(window=(1, 1)), None),
    "no padding": (convolution(padding=VALID), None),
    "square": (square(), PRODUCT),
    "square of INT8": (square(kind="INT8"), PRODUCT),
    "square of rank 2": (square((0, 1)), PRODUCT),
    "square of rank 4": (square((0, 2, 3, 1)), PRODUCT),
    "square of swapped matrices": (square((0, 2, 1)), None),
    "square of swapped matrices in another order": (square((1, 2, 0)), PRODUCT),
    "square of one element": (square(size=1), None),
    "product with its transposed matrix": (square(adj_y=True), None),
    "product of its transposed matrix": (square(adj_x=True), None),
    "another reader": (square(outputs="y z", reader="ABS"), None),
    "square of an output": (square(outputs="y t"), None),
    "square of another result": (square(between="ABS"), None),
    "product with a copy": (square(second="RESHAPE"), None),
}
"""A model, and the code of its condition, by what the model is."""

"""Nodes that fail, or do not, when ML Drift builds its model: each case was tried with LiteRT 2.3 and WebGPU over SwiftShader."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fixtures.builder import ModelBuilder

AXIS, BATCH, CHANNELS, EMPTY, TYPE, SIZE, OPERATOR, GROUPS, WEIGHTS = (
    f"mldrift-build-{name}" for name in ("axis", "batch", "channels", "empty", "type", "size", "operator", "groups", "weights")
)

F = "FLOAT32"


class Case(NamedTuple):
    """An accepted node, and the code of what fails; None if the kernels are built. Constants are given as arrays."""

    op: str
    code: str | None
    inputs: Any
    outputs: Any
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    backend: str = "webgpu"


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def one(value: int) -> Any:
    return np.array(value, np.int32)


def bytes_of(*shape: int) -> Any:
    return np.ones(shape, np.int8)


def weights(*shape: int) -> Any:
    return np.ones(shape, np.float32)


IMAGE = (1, 2, 2, 3)
STRIDES = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}


def joined(kind: str) -> tuple[Any, Any]:
    return [(kind, IMAGE), np.ones(IMAGE, kind.lower())], [(kind, (1, 2, 2, 6))]


MATRIX = (1, 4, 4)

CASES = [
    # Custom operators of MediaPipe
    Case("TransformTensorBilinear", SIZE, [(F, (1, 8, 8, 4)), (F, MATRIX)], [(F, (1, 4, 4, 4))]),
    Case("TransformTensorBilinear", None, [(F, (1, 8, 8, 4)), (F, MATRIX)], [(F, (1, 4, 4, 4))], backend="opencl"),
    Case("TransformTensor", SIZE, [(F, (1, 8, 8, 4)), (F, MATRIX)], [(F, (1, 4, 4, 4))]),
    Case("AlignmentPointsToTransformMatrix", OPERATOR, [(F, (1, 2, 2))], [(F, MATRIX)]),
    Case("TransformLandmarks", None, [(F, (1, 80, 2)), (F, MATRIX)], [(F, (1, 80, 2))]),
    Case("RoIToTransformMatrix", None, [(F, (1, 1, 4))], [(F, MATRIX)]),
    Case("KeepIfMax2D", None, [(F, (1, 8, 8, 4))], [(F, (1, 8, 8, 4))]),
    # Axes that are taken as they are
    Case("CUMSUM", None, [(F, IMAGE), one(1)], [(F, IMAGE)]),
    Case("CUMSUM", None, [(F, (2, 3)), one(-2)], [(F, (2, 3))]),
    Case("CUMSUM", AXIS, [(F, IMAGE), one(-1)], [(F, IMAGE)]),
    Case("CUMSUM", AXIS, [(F, IMAGE), one(5)], [(F, IMAGE)]),
    Case("CUMSUM", AXIS, [(F, IMAGE), one(-1)], [(F, IMAGE)], backend="opencl"),
    Case("TRANSPOSE", None, [(F, (2, 3)), ints(1, 0)], [(F, (3, 2))]),
    Case("TRANSPOSE", AXIS, [(F, (2, 3)), ints(-1, -2)], [(F, (3, 2))]),
    Case("TRANSPOSE", AXIS, [(F, (2, 3, 4)), ints(0, 2, -2)], [(F, (2, 4, 3))]),
    # Constants that become nodes of the model
    Case("CONCATENATION", None, *joined("INT32"), {"axis": 3}),
    Case("CONCATENATION", TYPE, *joined("INT16"), {"axis": 3}),
    Case("CONCATENATION", TYPE, *joined("UINT32"), {"axis": 3}),
    Case("PACK", TYPE, [("INT16", (2, 3)), np.ones((2, 3), np.int16)], [("INT16", (2, 2, 3))], {"values_count": 2}),
    Case("GATHER", TYPE, [np.ones((4, 3), np.int16), ("INT32", (2,))], [("INT16", (2, 3))]),
    Case("SELECT_V2", TYPE, [("BOOL", IMAGE), ("INT16", IMAGE), np.ones(IMAGE, np.int16)], [("INT16", IMAGE)]),
    Case("MUL", TYPE, [("INT16", IMAGE), np.ones(IMAGE, np.int16)], [("INT16", IMAGE)]),
    Case("EQUAL", TYPE, [("UINT16", IMAGE), np.ones(IMAGE, np.uint16)], [("BOOL", IMAGE)]),
    # Batches
    Case("DEQUANTIZE", None, [bytes_of(1, 8)], [(F, (1, 8))]),
    Case("DEQUANTIZE", None, [bytes_of(2, 3, 4, 5)], [(F, (2, 3, 4, 5))]),
    Case("DEQUANTIZE", BATCH, [bytes_of(4, 8)], [(F, (4, 8))]),
    Case("DEQUANTIZE", BATCH, [bytes_of(2, 3, 4)], [(F, (2, 3, 4))]),
    Case("SELECT_V2", None, [("BOOL", (1, 3)), (F, IMAGE), (F, IMAGE)], [(F, IMAGE)]),
    Case("SELECT_V2", BATCH, [("BOOL", (2, 3)), (F, IMAGE), (F, IMAGE)], [(F, IMAGE)]),
    Case("SELECT_V2", None, [("BOOL", (2, 3)), (F, IMAGE), (F, IMAGE)], [(F, IMAGE)], backend="opencl"),
    Case("PRELU", None, [(F, (1, 2, 2, 3)), np.ones((2, 2, 3), np.float32)], [(F, (1, 2, 2, 3))]),
    Case("PRELU", BATCH, [(F, (2, 2, 2, 3)), np.ones((2, 2, 3), np.float32)], [(F, (2, 2, 2, 3))]),
    Case("PRELU", None, [(F, (2, 2, 2, 3)), np.ones((2, 2, 3), np.float32)], [(F, (2, 2, 2, 3))], backend="opencl"),
    Case("PRELU", None, [(F, (2, 2, 2, 3)), np.ones((1, 1, 3), np.float32)], [(F, (2, 2, 2, 3))]),
    Case("FULLY_CONNECTED", None, [(F, (1, 8, 16)), bytes_of(4, 16)], [(F, (8, 4))]),
    Case("FULLY_CONNECTED", BATCH, [(F, (1, 9, 16)), bytes_of(4, 16)], [(F, (9, 4))]),
    Case("FULLY_CONNECTED", BATCH, [(F, (1, 9, 16)), bytes_of(4, 16)], [(F, (9, 4))], backend="opencl"),
    Case("FULLY_CONNECTED", None, [(F, (2, 16, 16)), bytes_of(4, 16)], [(F, (32, 4))]),
    Case("FULLY_CONNECTED", None, [(F, (1, 9, 16)), np.ones((4, 16), np.float32)], [(F, (9, 4))]),
    Case("FULLY_CONNECTED", None, [(F, (1, 9, 16)), bytes_of(4, 16)], [(F, (1, 9, 4))], {"keep_num_dims": True}),
    # Groups of convolutions
    Case("CONV_2D", GROUPS, [(F, (1, 4, 4, 10)), weights(4, 3, 3, 5), weights(4)], [(F, (1, 4, 4, 4))], STRIDES),
    Case("CONV_2D", GROUPS, [(F, (1, 4, 4, 16)), weights(2, 3, 3, 8), weights(2)], [(F, (1, 4, 4, 2))], STRIDES),
    Case("CONV_2D", None, [(F, (1, 4, 4, 16)), weights(8, 3, 3, 8), weights(8)], [(F, (1, 4, 4, 8))], STRIDES),
    Case("CONV_2D", None, [(F, (1, 4, 4, 6)), weights(4, 3, 3, 3), weights(4)], [(F, (1, 4, 4, 4))], STRIDES),
    Case("DEPTHWISE_CONV_2D", None, [(F, IMAGE), weights(1, 3, 3, 3)], [(F, IMAGE)], {**STRIDES, "depth_multiplier": 1}),
    Case(
        "DEPTHWISE_CONV_2D", None, [(F, IMAGE), weights(1, 3, 3, 3), weights(3)], [(F, IMAGE)], {**STRIDES, "depth_multiplier": 1}
    ),
    Case(
        "DEPTHWISE_CONV_2D", None, [(F, IMAGE), (F, (1, 3, 3, 3)), weights(3)], [(F, IMAGE)], {**STRIDES, "depth_multiplier": 1}
    ),
    Case(
        "DEPTHWISE_CONV_2D",
        WEIGHTS,
        [(F, IMAGE), (F, (1, 3, 3, 6)), weights(6)],
        [(F, (1, 2, 2, 6))],
        {**STRIDES, "depth_multiplier": 2},
    ),
    # Channels, and sizes of 0
    Case("TOPK_V2", None, [(F, (2, 5)), one(2)], [(F, (2, 2)), ("INT32", (2, 2))]),
    Case("TOPK_V2", CHANNELS, [(F, (2, 3)), one(2)], [(F, (2, 2)), ("INT32", (2, 2))]),
    Case("TOPK_V2", CHANNELS, [(F, (3,)), one(2)], [(F, (2,)), ("INT32", (2,))]),
    Case("RELU", EMPTY, [(F, (0, 2, 2, 3))], [(F, (0, 2, 2, 3))]),
    Case("RELU", EMPTY, [(F, (1, 2, 0, 3))], [(F, (1, 2, 0, 3))]),
    Case("RELU", None, [(F, (1, 2, 2, 0))], [(F, (1, 2, 2, 0))]),
    Case("CONCATENATION", None, [(F, (1, 4, 4, 2)), (F, (1, 0, 4, 2))], [(F, (1, 4, 4, 2))], {"axis": 1}),
    Case("SPLIT", None, [one(2), (F, (1, 4, 0, 2))], [(F, (1, 4, 0, 2))] * 2, {"num_splits": 2}),
    Case("SPLIT", EMPTY, [one(3), (F, (1, 0, 4, 2))], [(F, (1, 0, 4, 1))] * 2, {"num_splits": 2}),
]


def model_of(case: Case) -> bytes:
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    operands = []
    for given in case.inputs:
        if isinstance(given, np.ndarray):
            scale = {"scale": 0.5} if given.dtype == np.int8 else {}
            operands.append(graph.tensor("constant", given.dtype.name.upper(), given.shape, given, **scale))
        else:
            operands.append(graph.input("x", *given))
    results = [graph.tensor("y", *each) for each in case.outputs]
    if case.op.isupper():
        options = None if case.op in ("RELU", "PRELU") else case.options
        graph.node(case.op, operands, results, 5 if case.op == "FULLY_CONNECTED" else 1, options)
    else:
        graph.node("CUSTOM", operands, results, custom=case.op)
    graph.outputs(*results)
    return bytes(builder.bytes())

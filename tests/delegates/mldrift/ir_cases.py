"""Nodes, and what the second path says of each (``tflite/support``), None where it is taken."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tests.graphs import arena, constant, quantized

F = arena("FLOAT32", 1, 4, 4, 8, name="x")
G = arena("FLOAT32", 1, 4, 4, 8, name="y")
MATRIX = arena("FLOAT32", 2, 8)
VECTOR = arena("FLOAT32", 8)
DEEP = arena("FLOAT32", 1, 1, 4, 4, 8)
BOOL = arena("BOOL", 1, 4, 4, 8)
INT32 = arena("INT32", 1, 4, 4, 8)
INT64 = arena("INT64", 1, 4, 4, 8)
EIGHT = constant(np.ones(8), "FLOAT32")
FIXED = constant(np.ones((1, 4, 4, 8)), "FLOAT32")
FILTER = constant(np.ones((8, 3, 3, 8)), "FLOAT32")
DEPTH_FILTER = constant(np.ones((1, 3, 3, 8)), "FLOAT32")
WEIGHTS = constant(np.ones((4, 8)), "FLOAT32")
PER_CHANNEL = quantized(arena("INT8", 1, 4, 4, 8), 0.5, 0.25)
STEPS = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1, "padding": 0}
DEPTHWISE = {**STEPS, "depth_multiplier": 1}
POOL = {"stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 2}
UNEQUAL = "Input and output shapes must be equal."
HALVES = [arena("FLOAT32", 1, 4, 4, 4), arena("FLOAT32", 1, 4, 4, 4)]


def ints(*values: int, kind: str = "INT32") -> Any:
    return constant(np.array(values), kind)


def axis(value: int) -> Any:
    return constant(np.array(value), "INT32")


def typed(name: str, number: int) -> str:
    return f"Unsupported dtype for {name}: {number}"


def ranked(name: str, rank: int, least: int, most: int) -> str:
    return f"Invalid number of dimensions for {name}: {rank}, while expected to be in [{least}, {most}]."


def fixed(name: str) -> str:
    return f"{name} should not be a constant tensor."


def not_fixed(name: str) -> str:
    return f"{name} should be a constant tensor."


class Case(NamedTuple):
    """A node, and what is said of it."""

    op: str
    said: str | None
    inputs: Any
    outputs: Any
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    version: int = 1


CASES = [
    # One operand
    *[Case(op, None, [F], [G]) for op in ("ABS", "CEIL", "ELU", "GELU", "HARD_SWISH", "LOGISTIC", "STABLEHLO_CBRT", "TANH")],
    Case("ABS", "Unsupported version: 6", [F], [G], version=6),
    Case("ABS", "Invalid number of inputs: 2, while expected 1.", [F, G], [G]),
    Case("ABS", "Invalid number of outputs: 2, while expected 1.", [F], [G, F]),
    Case("ABS", "Invalid tensor ID for inputs[0]: -1, which should be in [0, 1)", [None], [G]),
    Case("ABS", typed("inputs[0]", 4), [INT64], [G]),
    Case("ABS", typed("outputs[0]", 6), [F], [BOOL]),
    Case("ABS", "Input and output dimension mismatch: [1,4,4,8], [2,8]", [F], [MATRIX]),
    Case("ABS", fixed("inputs[0]"), [FIXED], [G]),
    Case("CAST", None, [BOOL], [G], version=7),
    Case("LOGICAL_NOT", None, [BOOL], [BOOL]),
    # Two operands
    *[Case(op, None, [F, VECTOR], [G]) for op in ("ADD", "DIV", "POW", "SQUARED_DIFFERENCE", "LESS", "STABLEHLO_REMAINDER")],
    Case("ADD", None, [F, DEEP], [DEEP]),
    Case("ADD", "Unsupported version: 7", [F, G], [G], version=7),
    Case("ADD", "input0 and input1 dimension mismatch: [1,4,4,8], [3]", [F, arena("FLOAT32", 3)], [G]),
    Case("ADD", "Input and output dimension mismatch: [1,4,4,8], [8], [3]", [F, VECTOR], [arena("FLOAT32", 3)]),
    Case("ADD", "Invalid 2 constant inputs: 0 & 1", [FIXED, EIGHT], [G]),
    Case("ADD", typed("inputs[1]", 6), [F, BOOL], [G]),
    Case("LOGICAL_AND", None, [BOOL, BOOL], [BOOL]),
    Case("BITWISE_XOR", None, [INT32, INT32], [INT32]),
    # Activations
    *[Case(op, None, [F], [G]) for op in ("RELU", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU")],
    Case("RELU", "Unsupported version: 3, supported versions are [1, 2]", [F], [G], version=3),
    Case("RELU", UNEQUAL, [F], [MATRIX]),
    Case("RELU", typed("inputs[0]", 9), [PER_CHANNEL], [G]),
    Case("SOFTMAX", None, [F], [G], {"beta": 1.0}),
    Case("SOFTMAX", "Unsupported version: 3", [F], [G], {"beta": 1.0}, version=3),
    Case("SOFTMAX", "Softmax beta != 1.0 is not supported.", [F], [G], {"beta": 0.5}),
    Case("SOFTMAX", UNEQUAL, [F], [MATRIX], {"beta": 1.0}),
    Case("PRELU", None, [F, EIGHT], [G]),
    Case("PRELU", None, [F, constant(np.ones((4, 4, 8)), "FLOAT32")], [G]),
    Case("PRELU", not_fixed("inputs[1]"), [F, VECTOR], [G]),
    Case("PRELU", "Alpha shape does not match input shape.", [F, constant(np.ones((1, 1, 8)), "FLOAT32")], [G]),
    Case(
        "PRELU",
        "Linear alpha shape does not match the number of input channels: 4 vs 8",
        [F, constant(np.ones(4), "FLOAT32")],
        [G],
    ),
    # Conversions
    Case("BITCAST", None, [arena("FLOAT32", 2)], [arena("INT32", 2)]),
    Case("BITCAST", None, [arena("INT32", 2)], [arena("INT16", 2, 2)]),
    Case("BITCAST", None, [arena("INT16", 2, 2)], [arena("INT32", 2)]),
    Case(
        "BITCAST",
        "If input and output types have the same element size, they must have the same number of elements",
        [arena("FLOAT32", 2)],
        [arena("INT32", 3)],
    ),
    Case(
        "BITCAST",
        "Last output dim(4) must be equal to input element size(4) divided by output element size(2)",
        [arena("INT32", 2)],
        [arena("INT16", 2, 4)],
    ),
    Case(
        "BITCAST",
        "Shapes must match in all but last dim, but got [3] vs [2,2]",
        [arena("INT32", 3)],
        [arena("INT16", 2, 2)],
    ),
    Case("DEQUANTIZE", None, [quantized(arena("INT8", 1, 8), 0.5)], [arena("FLOAT32", 1, 8)]),
    Case("DEQUANTIZE", "Unsupported quantization scale size", [PER_CHANNEL], [G]),
    Case("DEQUANTIZE", ranked("input", 1, 2, 4), [constant(np.ones(8), "INT8")], [VECTOR]),
    Case("DEQUANTIZE", None, [arena("INT8", 8)], [VECTOR], version=3),
    Case("QUANTIZE", None, [F], [quantized(arena("INT8", 1, 4, 4, 8), 0.5)]),
    Case("QUANTIZE", "Unsupported version.", [F], [PER_CHANNEL], version=3),
    Case("QUANTIZE", "Encountered Quantize output with no quant params", [F], [arena("INT8", 1, 4, 4, 8)]),
    Case("QUANTIZE", "Unsupported quantization scale size", [F], [PER_CHANNEL]),
    Case("QUANTIZE", typed("input", 9), [PER_CHANNEL], [PER_CHANNEL]),
    # Convolutions
    Case("CONV_2D", None, [F, FILTER, EIGHT], [G], STEPS),
    Case("CONV_2D", None, [F, FILTER, None], [G], STEPS),
    Case("CONV_2D", None, [F, FILTER], [arena("FLOAT32", 1, 2, 2, 8)], {**STEPS, "padding": 1}),
    Case("CONV_2D", None, [F, FILTER], [arena("FLOAT32", 1, 2, 2, 8)], {**STEPS, "stride_h": 2, "stride_w": 2}),
    Case("CONV_2D", "Invalid number of inputs: 1, must be 2 or 3", [F], [G], STEPS),
    Case("CONV_2D", typed("inputs[2]", 2), [F, FILTER, ints(*range(8))], [G], STEPS),
    Case("CONV_2D", ranked("inputs[0]", 2, 4, 4), [MATRIX, FILTER], [G], STEPS),
    Case(
        "CONV_2D",
        "Weights channel and bias mismatch: [8,3,3,8], [4]",
        [F, FILTER, constant(np.ones(4), "FLOAT32")],
        [G],
        STEPS,
    ),
    Case(
        "CONV_2D",
        "Weights channel not divisible by input channel: [1,4,4,8], [8,3,3,3]",
        [F, constant(np.ones((8, 3, 3, 3)), "FLOAT32")],
        [G],
        STEPS,
    ),
    Case(
        "CONV_2D",
        "Input, weights, output height mismatch: [1,4,4,8], [8,3,3,8], [1,3,4,8], padding: same, dilation: 1, stride: 1",
        [F, FILTER],
        [arena("FLOAT32", 1, 3, 4, 8)],
        STEPS,
    ),
    Case("CONV_2D", "Input and output batch mismatch: [1,4,4,8], [2,4,4,8]", [F, FILTER], [arena("FLOAT32", 2, 4, 4, 8)], STEPS),
    Case(
        "CONV_2D", "Output and weights channel mismatch: [1,4,4,4], [8,3,3,8]", [F, FILTER], [arena("FLOAT32", 1, 4, 4, 4)], STEPS
    ),
    Case("CONV_2D", "Invalid constant inputs: 0, 1", [FIXED, FILTER], [G], STEPS),
    Case(
        "CONV_2D",
        "quant_params->quantized_dimension must be 0 for quantized tensors.",
        [F, quantized(constant(np.ones((8, 3, 3, 8)), "INT8"), *[0.5] * 8, dimension=3)],
        [G],
        STEPS,
    ),
    Case(
        "CONV_2D",
        "tflite_tensor->quantization.type must be kTfLiteAffineQuantization for quantized tensors.",
        [F, constant(np.ones((8, 3, 3, 8)), "INT8")],
        [G],
        STEPS,
    ),
    Case("DEPTHWISE_CONV_2D", None, [F, DEPTH_FILTER, EIGHT], [G], DEPTHWISE),
    Case("DEPTHWISE_CONV_2D", "Unsupported runtime bias tensor", [F, DEPTH_FILTER, VECTOR], [G], DEPTHWISE),
    Case(
        "DEPTHWISE_CONV_2D",
        "Invalid tensor ID for inputs[2]: -1, which should be in [0, 3)",
        [F, DEPTH_FILTER, None],
        [G],
        DEPTHWISE,
    ),
    Case("DEPTHWISE_CONV_2D", "Weights output channel must be 1: [8,3,3,8]", [F, FILTER], [G], DEPTHWISE),
    Case(
        "DEPTHWISE_CONV_2D",
        "Input channel, weights channel and depth multiplier mismatch: [1,4,4,8], [1,3,3,8], 2",
        [F, DEPTH_FILTER],
        [G],
        {**DEPTHWISE, "depth_multiplier": 2},
    ),
    Case("MAX_POOL_2D", None, [F], [G], POOL),
    Case("MAX_POOL_2D", "Unsupported filter size: 0x2", [F], [G], {**POOL, "filter_height": 0}),
    Case("AVERAGE_POOL_2D", "Unsupported stride size: 1x0", [F], [G], {**POOL, "stride_w": 0}),
    Case("AVERAGE_POOL_2D", typed("inputs[0]", 9), [PER_CHANNEL], [G], POOL),
    Case("AVERAGE_POOL_2D", ranked("outputs[0]", 2, 3, 4), [F], [MATRIX], POOL),
    Case("RESIZE_BILINEAR", None, [F, ints(4, 4)], [G], {}),
    Case(
        "RESIZE_BILINEAR",
        "If half_pixel_centers is True, align_corners must be False.",
        [F, ints(4, 4)],
        [G],
        {"align_corners": True, "half_pixel_centers": True},
    ),
    Case("RESIZE_NEAREST_NEIGHBOR", typed("inputs[0]", 2), [INT32, ints(4, 4)], [INT32], {}),
    Case("TRANSPOSE_CONV", None, [ints(1, 4, 4, 8), FILTER, F], [G]),
    Case("TRANSPOSE_CONV", "Invalid number of inputs: 2, while expected 4.", [ints(1, 4, 4, 8), FILTER], [G]),
    Case("TRANSPOSE_CONV", "Passed output shape must be equal to output dimensions", [ints(1, 4, 4, 4), FILTER, F], [G]),
    Case("TRANSPOSE_CONV", "Output shape must be a 1D tensor.", [axis(4), FILTER, F], [G]),
    Case(
        "TRANSPOSE_CONV",
        "Invalid number of inputs: 4, while expected 3.Invalid constant inputs: 0, 1, 2",
        [ints(1, 4, 4, 8), FILTER, FIXED, EIGHT],
        [G],
    ),
    # Matrix products
    Case("FULLY_CONNECTED", None, [MATRIX, WEIGHTS, None], [arena("FLOAT32", 2, 4)]),
    Case("FULLY_CONNECTED", None, [MATRIX, quantized(constant(np.ones((4, 8)), "INT8"), 0.5)], [arena("FLOAT32", 2, 4)]),
    Case(
        "FULLY_CONNECTED",
        "Unsupported quantization type for weights: 1",
        [MATRIX, quantized(constant(np.ones((4, 8)), "UINT8"), 0.5)],
        [arena("FLOAT32", 2, 4)],
    ),
    Case(
        "FULLY_CONNECTED",
        "Weights size mismatch for FC reshape. Got 32 but expected 24 (flat) or 24 (batch)",
        [MATRIX, WEIGHTS],
        [arena("FLOAT32", 2, 3)],
    ),
    Case("FULLY_CONNECTED", "Unsupported weights format: 1", [MATRIX, WEIGHTS], [arena("FLOAT32", 2, 4)], {"weights_format": 1}),
    Case(
        "FULLY_CONNECTED",
        "Unsupported 3D weights for quantized FC",
        [MATRIX, quantized(constant(np.ones((1, 4, 8)), "INT8"), 0.5)],
        [arena("FLOAT32", 2, 4)],
    ),
    Case(
        "FULLY_CONNECTED",
        "Invalid constant inputs: 0, 1",
        [constant(np.ones((2, 8)), "FLOAT32"), WEIGHTS],
        [arena("FLOAT32", 2, 4)],
    ),
    Case("BATCH_MATMUL", None, [MATRIX, arena("FLOAT32", 8, 4)], [arena("FLOAT32", 2, 4)], {}),
    Case("BATCH_MATMUL", None, [MATRIX, WEIGHTS], [arena("FLOAT32", 2, 4)], {"adj_y": True}),
    Case(
        "BATCH_MATMUL",
        "The inner dimensions of the first and second inputs mismatch: [2,8] vs [4,8]",
        [MATRIX, WEIGHTS],
        [arena("FLOAT32", 2, 8)],
        {},
    ),
    Case(
        "BATCH_MATMUL",
        "If the second input is a constant tensor, only 2D, 3D, or 4D tensor is supported, but got 1D",
        [MATRIX, EIGHT],
        [arena("FLOAT32", 2, 4)],
        {},
    ),
    Case(
        "BATCH_MATMUL",
        "Only tensor-wise quantized input is supported, but the size of scale is not 1: 2",
        [PER_CHANNEL, F],
        [G],
        {},
    ),
    # Reductions
    Case("MEAN", None, [F, ints(1, -1)], [arena("FLOAT32", 1, 4)], {}),
    Case("MEAN", "Invalid axis value: 4, for input tensor with 4 dimensions.", [F, ints(4)], [G], {}),
    Case("MEAN", typed("inputs[0]", 3), [arena("UINT8", 2), ints(0)], [G], {}),
    Case("REDUCE_ANY", None, [BOOL, ints(1)], [arena("BOOL", 1, 4, 8)], {}),
    Case("SUM", not_fixed("inputs[1]"), [F, arena("INT32", 1)], [G], {}),
    Case("ARG_MAX", None, [F, axis(-1)], [arena("INT32", 1, 4, 4)]),
    Case("ARG_MAX", None, [INT64, axis(3)], [arena("INT64", 1, 4, 4, 1)]),
    Case("ARG_MAX", "Output dimension mismatch: [4,8], [1,4,4,8]", [F, axis(3)], [arena("INT32", 4, 8)]),
    Case("ARG_MAX", "Index for axis out of range: 4, while input has 4 dimensions", [F, axis(4)], [arena("INT32", 1, 4, 4)]),
    Case("ARG_MAX", "Dimension tensor is not a scalar, with shape: [2]", [F, ints(1, 2)], [arena("INT32", 1, 4, 4)]),
    Case("CUMSUM", None, [F, axis(-1)], [G]),
    Case("CUMSUM", "Invalid axis value: 4", [F, axis(4)], [G]),
    Case("CUMSUM", "Invalid number of axis values: 2, should be 1", [F, ints(0, 1)], [G]),
    Case("TOPK_V2", None, [F, axis(2)], [arena("FLOAT32", 1, 4, 4, 2), arena("INT32", 1, 4, 4, 2)], version=2),
    Case("TOPK_V2", "TopK k-tensor must be a constant tensor.", [F, arena("INT32")], [F, INT32]),
    Case("TOPK_V2", "TopK k-tensor must be a scalar.", [F, ints(1, 2)], [F, INT32]),
    # Joining and splitting
    Case("CONCATENATION", None, [F, G], [arena("FLOAT32", 1, 4, 4, 16)], {}),
    Case("CONCATENATION", "Invalid number of inputs: 1, should be at least 2", [F], [G], {}),
    Case("CONCATENATION", "Output concat dim is: 17, should be: 16", [F, G], [arena("FLOAT32", 1, 4, 4, 17)], {}),
    Case(
        "CONCATENATION",
        "Input[1] dim height is: 2, should be: 4",
        [F, arena("FLOAT32", 1, 2, 4, 8)],
        [arena("FLOAT32", 1, 4, 4, 16)],
        {},
    ),
    Case("CONCATENATION", "Invalid all constant inputs: [0, 1]", [EIGHT, EIGHT], [arena("FLOAT32", 16)], {}),
    Case("PACK", None, [MATRIX, MATRIX], [arena("FLOAT32", 2, 2, 8)], {"axis": -1}),
    Case("PACK", "Invalid axis value: 3, should be in [0, 3)", [MATRIX, MATRIX], [arena("FLOAT32", 2, 2, 8)], {"axis": 3}),
    Case("PACK", "Unsupported version. Should be 1, is instead: 2", [MATRIX], [G], {}, version=2),
    Case("SPLIT", None, [ints(3), F], HALVES, {"num_splits": 2}),
    Case("SPLIT", ranked("inputs[0]", 0, 1, 1), [axis(3), F], HALVES, {"num_splits": 2}),
    Case("SPLIT", "Axis should be in [0, 4), is -1", [ints(-1), F], HALVES, {"num_splits": 2}),
    Case("SPLIT", "Invalid number of outputs: 2, which should be: 3", [ints(3), F], HALVES, {"num_splits": 3}),
    Case("SPLIT", "Invalid num_splits: 0, should be > 0", [ints(3), F], HALVES, {}),
    Case("SPLIT", "Input and output tensor[0] dims do not agree on dim 3", [ints(1), F], HALVES, {"num_splits": 2}),
    Case("SPLIT_V", None, [F, ints(4, 4), axis(-1)], HALVES, {"num_splits": 2}),
    Case("SPLIT_V", "Invalid axis: 4", [F, ints(4, 4), axis(4)], HALVES, {"num_splits": 2}),
    Case(
        "SPLIT_V",
        "Output tensor[1] split dim is: 5, should be: 3",
        [F, ints(3, 5), axis(3)],
        [arena("FLOAT32", 1, 4, 4, 3), arena("FLOAT32", 1, 4, 4, 5)],
        {"num_splits": 2},
    ),
    Case("UNPACK", None, [MATRIX], [VECTOR, VECTOR], {"num": 2, "axis": 0}),
    Case("UNPACK", "Invalid number of outputs: 1, while expected 2.", [MATRIX], [VECTOR], {"num": 2}),
    Case("UNPACK", "input.dims[axis] must match params->num.", [MATRIX], [VECTOR, VECTOR], {"num": 2, "axis": 1}),
    Case("UNPACK", "output[1] rank mismatch.", [MATRIX], [VECTOR, MATRIX], {"num": 2}),
    # Padding, blocks, slices
    Case("PAD", None, [F, constant(np.zeros((4, 2)))], [G]),
    Case("PAD", "Paddings tensor first dimension must be equal to input rank.", [F, constant(np.zeros((3, 2)))], [G]),
    Case("PAD", "Invalid number of inputs: 3, should be 2", [F, constant(np.zeros((4, 2))), EIGHT], [G]),
    Case("PADV2", None, [F, constant(np.zeros((4, 2))), constant(np.ones(1), "FLOAT32")], [G]),
    Case("PADV2", "constant_values tensor must be scalar.", [F, constant(np.zeros((4, 2))), EIGHT], [G]),
    Case("PADV2", typed("inputs[2]", 2), [F, constant(np.zeros((4, 2))), axis(0)], [G]),
    Case("MIRROR_PAD", None, [F, constant(np.zeros((4, 2)))], [G], {"mode": 0}),
    Case(
        "MIRROR_PAD",
        "Only Reflective padding is supported for Mirror Pad operation.",
        [F, constant(np.zeros((4, 2)))],
        [G],
        {"mode": 1},
    ),
    Case("DEPTH_TO_SPACE", None, [F], [arena("FLOAT32", 1, 8, 8, 2)], {"block_size": 2}),
    Case("SPACE_TO_DEPTH", "SPACE_TO_DEPTH block_size = 1 is a no-op.", [F], [G], {"block_size": 1}),
    Case("SLICE", None, [F, ints(0, 0, 0, 0), ints(1, 2, 4, -1)], [arena("FLOAT32", 1, 2, 4, 8)]),
    Case("SLICE", "Slice is out of bounds for dimension 1", [F, ints(0, 3, 0, 0), ints(1, 2, 4, 8)], [G]),
    Case("SLICE", "Begin tensor elements must be equal to input tensor rank", [F, ints(0, 0), ints(1, 2)], [G]),
    Case("SLICE", "Begin and size tensors must have the same number of elements", [F, ints(0, 0), ints(1)], [G]),
    Case(
        "STRIDED_SLICE",
        None,
        [F, ints(0, 0, 0, 0), ints(1, 4, 4, 8), ints(1, 2, 1, 1)],
        [arena("FLOAT32", 1, 2, 4, 8)],
        {},
    ),
    Case("STRIDED_SLICE", None, [F, ints(0, 0, 0), ints(4, 4, 8), ints(2, 1, 1)], [arena("FLOAT32", 1, 2, 4, 8)], {}),
    Case("STRIDED_SLICE", "shrink_axis_mask are not supported", [F, ints(0), ints(1), ints(1)], [G], {"shrink_axis_mask": 1}),
    Case(
        "STRIDED_SLICE",
        "Strides must be positive. Negative strides (-1) are not supported.",
        [F, ints(0, 0, 0, 0), ints(1, 4, 4, 8), ints(1, 1, 1, -1)],
        [G],
        {},
    ),
    Case(
        "STRIDED_SLICE",
        "Output shape mismatch at dimension 1. Expected 2, got 4",
        [F, ints(0, 0, 0, 0), ints(1, 4, 4, 8), ints(1, 2, 1, 1)],
        [G],
        {},
    ),
    Case("STRIDED_SLICE", typed("inputs[1]", 9), [F, constant([0] * 4, "INT8"), ints(1, 4, 4, 8), ints(1, 1, 1, 1)], [G], {}),
    Case("DYNAMIC_UPDATE_SLICE", None, [F, MATRIX, arena("INT32", 4)], [G]),
    Case("DYNAMIC_UPDATE_SLICE", fixed("start_indices"), [F, MATRIX, ints(0, 0, 0, 0)], [G]),
    Case(
        "DYNAMIC_UPDATE_SLICE",
        "Update shape must be less than or equal to the operand shape.",
        [F, arena("FLOAT32", 9), arena("INT32", 4)],
        [G],
    ),
    # Lookups, broadcasts and others
    Case("EMBEDDING_LOOKUP", None, [arena("INT32", 3), WEIGHTS], [arena("FLOAT32", 3, 8)]),
    Case(
        "EMBEDDING_LOOKUP",
        "Quantization params are null for weights",
        [arena("INT32", 3), constant(np.ones((4, 8)), "INT8")],
        [arena("FLOAT32", 3, 8)],
    ),
    Case("EMBEDDING_LOOKUP", "Invalid constant inputs: 0, 1", [ints(1, 2), WEIGHTS], [arena("FLOAT32", 2, 8)]),
    Case("GATHER", None, [F, ints(0, 1)], [G], {}),
    Case("GATHER", ranked("inputs[1]", 0, 1, 1), [F, axis(0)], [G], {}),
    Case("ONE_HOT", None, [arena("INT32", 3), axis(4), arena("FLOAT32"), arena("FLOAT32", 1)], [MATRIX], {}),
    Case("ONE_HOT", "", [ints(1, 2), axis(4), arena("FLOAT32"), arena("FLOAT32")], [MATRIX], {}),
    Case("ONE_HOT", "On tensor must have a single value", [arena("INT32", 3), axis(4), VECTOR, VECTOR], [MATRIX], {}),
    Case("RESHAPE", None, [F, ints(4, 32)], [DEEP]),
    Case("RESHAPE", ranked("outputs[0]", 6, 0, 5), [F], [arena("FLOAT32", 1, 1, 1, 1, 1, 128)]),
    Case("REVERSE_V2", None, [F, ints(-1)], [G]),
    Case("REVERSE_V2", "Invalid axis value: 4, should be in [0, 4)", [F, ints(4)], [G]),
    Case("STABLEHLO_BROADCAST_IN_DIM", None, [VECTOR, ints(3)], [arena("FLOAT32", 1, 1, 1, 8)]),
    Case(
        "STABLEHLO_BROADCAST_IN_DIM",
        "Output dims must be 1 at index 1 or equal to output dims: 4 != 1",
        [VECTOR, ints(3)],
        [G],
    ),
    Case("TILE", None, [MATRIX, ints(2, 1)], [arena("FLOAT32", 4, 8)], version=2),
    Case("TILE", "output shape does not match (input_shape * multiples).", [MATRIX, ints(2, 1)], [MATRIX]),
    Case("TILE", "multiples length must match input rank.", [MATRIX, ints(2)], [MATRIX]),
    Case("TRANSPOSE", None, [F, ints(0, 2, 1, 3)], [G], version=9),
    Case("TRANSPOSE", "Permutation tensor must be constant", [F, arena("INT32", 4)], [G]),
    Case("TRANSPOSE", "Permutation tensor must be INT32", [F, constant([0, 1], "INT64")], [G]),
    Case("TRANSPOSE", "Permutation for transpose is invalid. Size: 1", [F, ints(0)], [G]),
    Case("SELECT_V2", None, [BOOL, F, arena("FLOAT32")], [G]),
    Case(
        "SELECT",
        "The 'if' and 'else' tensors must have the same shape as the output, be a scalar, or have a single element.",
        [BOOL, F, VECTOR],
        [G],
    ),
    Case("STABLEHLO_CLAMP", None, [F, arena("FLOAT32", 1), G], [F]),
    Case("STABLEHLO_CLAMP", "If max sh != input sh, max should have exactly one dimension.", [F, arena("FLOAT32"), G], [F]),
    Case("STABLEHLO_CLAMP", "If min sh != input sh, min should have exactly one value.", [F, G, VECTOR], [F]),
]

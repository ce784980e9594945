"""The acceptance rules against ``model_builder.cc``: a node, and what ML Drift says of it, None where it takes the node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from delegate_sim.delegates.mldrift.rules import RULES
from delegate_sim.delegates.mldrift.target import MlDriftTarget
from delegate_sim.model import schema
from delegate_sim.model.model import Quantization
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, NEWEST, parse_release
from tests.support.graphs import arena, constant, node_view, quantized

F = arena("FLOAT32", 1, 4, 4, 8, name="x")
G = arena("FLOAT32", 1, 4, 4, 8, name="y")
MATRIX = arena("FLOAT32", 2, 8, name="m")
VECTOR = arena("FLOAT32", 8, name="v")
SCALAR = arena("FLOAT32", name="s")
DEEP = arena("FLOAT32", 1, 1, 4, 4, 8, name="deep")
DEEPER = arena("FLOAT32", 1, 1, 1, 4, 4, 8, name="deeper")
WIDE = arena("INT64", 1, 4, 4, 8, name="wide")
INT32 = arena("INT32", 1, 4, 4, 8, name="i")
BOOL = arena("BOOL", 1, 4, 4, 8, name="b")
PER_CHANNEL = quantized(arena("INT8", 1, 4, 4, 8, name="q"), 0.5, 0.25)
ONE, EIGHT = constant(np.ones(1), "FLOAT32"), constant(np.ones(8), "FLOAT32")
IMAGE = constant(np.ones((4, 4, 8)), "FLOAT32")
FILTER = constant(np.ones((8, 3, 3, 8)), "FLOAT32")
POINT_WEIGHTS = quantized(constant(np.ones((8, 1, 1, 8)), "INT8"), 0.5)
UNSIGNED = quantized(constant(np.ones((8, 8)), "UINT8"), 0.5)
MATRIX_WEIGHTS = quantized(constant(np.ones((8, 8)), "INT8"), 0.5)
FLOAT_WEIGHTS = constant(np.ones((8, 8)), "FLOAT32")
STEPS = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
SHUFFLED = {"weights_format": 1}
STRIDE = {"stride_h": 1, "stride_w": 1}
POOL = {"stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 2}
ALIKE = "No support of few identical inputs in the same operation."
SCALES = "Unsupported quantization scale size"
NO_DATA = "src has no data."
LINEAR = "Isn't linear convertible."
AXIS = "Index for axis out of range"
LAYOUT = "Unknown layout."


def rank_5(name: str) -> str:
    return f"Tensor dimensions must be less than 5. {name}"


def typed(kind: str, name: str) -> str:
    return f"Tensor type({kind}) is not supported. {name}"


def too_new(limit: int, found: int) -> str:
    return f"Max version supported: {limit}. Requested version {found}."


class Case(NamedTuple):
    """A node, and what is said of it."""

    op: str
    said: str | None
    inputs: Any
    outputs: Any
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    version: int = 1
    release: str = DEFAULT_RELEASE


def ints(*values: int, kind: str = "INT32") -> Any:
    return constant(np.array(values), kind)


STARTS = [F, ints(0, 0, 0, 0), ints(1, 2, 4, 8)]
CUT = arena("FLOAT32", 1, 2, 4, 8)
STRIDES = [F, ints(0, 0, 0, 0), ints(1, 4, 4, 8), ints(1, 2, 1, 1)]
IDS = arena("INT32", 3, name="ids")
ROWS = arena("FLOAT32", 3, 8)
PAIRS = constant(np.zeros((4, 2)), "INT32")

CASES = [
    # One operand
    *[Case(op, None, [F], [G]) for op in ("ABS", "CEIL", "ELU", "EXP", "GELU", "LOGISTIC", "NEG", "ROUND", "RSQRT", "TANH")],
    Case("ABS", too_new(5, 6), [F], [G], version=6),
    Case("GELU", too_new(3, 4), [F], [G], version=4),
    Case("CEIL", "Expected 0 const input tensor(s), but node has 1 const input(s).", [EIGHT], [VECTOR]),
    Case("CEIL", "Expected 1 runtime input tensor(s), but node has 2 runtime input(s).", [F, G], [G]),
    Case("CEIL", "Expected 1 output tensor(s), but node has 2 output(s).", [F], [F, G]),
    Case("CEIL", rank_5("deep"), [DEEP], [DEEP]),
    Case("CEIL", 'Tensor "deeper" has bad input dims size: 6.', [DEEPER], [DEEPER]),
    Case("CEIL", 'Tensor "deep" has bad input dims size: 5.', [DEEP], [DEEP], release="litert-2.1.5"),
    Case("CEIL", typed("INT64", "wide"), [WIDE], [WIDE]),
    Case("CEIL", SCALES, [PER_CHANNEL], [G]),
    Case("CEIL", SCALES, [F], [PER_CHANNEL]),
    Case("LOGICAL_NOT", None, [BOOL], [BOOL]),
    Case("LOGICAL_NOT", typed("FLOAT32", "x"), [F], [G]),
    # Two operands
    Case("ADD", None, [F, G], [F], version=6),
    Case("ADD", too_new(6, 7), [F, G], [F], version=7),
    Case("ADD", too_new(2, 3), [F, G], [F], version=3, release="litert-2.1.5"),
    Case("ADD", "ADD requires two input tensors.", [F], [G]),
    Case("ADD_N", "ADD_N only supports 2 inputs.", [F, G, F], [G]),
    Case("MUL", "MUL requires two input tensors.", [F], [G]),
    Case("ADD", None, [F, arena("FLOAT32", 4, 8)], [G]),
    Case("ADD", "Doesn't support broadcasting - input0: [1,4,4,8], input1: [3,8]", [F, arena("FLOAT32", 3, 8)], [G]),
    Case(
        "SUB",
        "Inputs dimensions sizes don't match, broadcasting isn't applicable.",
        [F, arena("FLOAT32", 3, 8)],
        [G],
    ),
    Case("SUB", 'Tensor "s" has bad input dims size: 0.', [F, SCALAR], [G]),
    Case("SUB", "Op can only handle 1 or 2 operand(s).", [F], [G]),
    Case("SUB", None, [F, ONE], [G]),
    Case("SUB", None, [F, IMAGE], [G]),
    Case("SUB", "Can't parse inputs with const tensors.", [F, constant(np.ones(1), "INT16")], [G]),
    Case("SUB", None, [F, constant(np.ones((4, 8)), "INT16")], [G]),
    Case("SUB", "TfLiteFusedActivation.kTfLiteActSignBit", [F, G], [F], {"fused_activation_function": 5}),
    Case("ADD", "Unsupported fused activation: 5", [F, G], [F], {"fused_activation_function": 5}),
    Case("SUB", "Op can only handle 1 or 2 operand(s).", [EIGHT, EIGHT], [VECTOR], release="litert-2.2.0"),
    Case("SUB", None, [EIGHT, constant(np.ones(8), "FLOAT32")], [VECTOR]),
    Case(
        "SUB",
        "subtract: constant inputs have different types: FLOAT32 vs INT32",
        [EIGHT, constant(np.ones(8), "INT32")],
        [VECTOR],
    ),
    Case(
        "SUB",
        "subtract: constant inputs and output must have the same rank, but got 1, 1 and 2",
        [EIGHT, constant(np.ones(8), "FLOAT32")],
        [MATRIX],
    ),
    Case(
        "MAXIMUM",
        "maximum: unsupported constant tensor type: INT64 {\n  type: INT64\n  data: {...}\n  dims: [2]\n}",
        [ints(1, 2, kind="INT64"), ints(1, 2, kind="INT64")],
        [arena("FLOAT32", 2)],
    ),
    Case(
        "MAXIMUM",
        "maximum: constant tensor with rank > 4: {\n  type: FLOAT32\n  data: {...}\n  dims: [1,1,1,1,2]\n}",
        [constant(np.ones((1, 1, 1, 1, 2)), "FLOAT32"), ONE],
        [arena("FLOAT32", 2)],
    ),
    Case("BITWISE_XOR", "Not supported op BITWISE_XOR", [INT32, INT32], [INT32]),
    Case("EQUAL", None, [F, G], [BOOL]),
    Case("LESS", None, [arena("UINT16", 2), arena("UINT16", 2)], [arena("BOOL", 2)]),
    Case("LOGICAL_OR", None, [BOOL, arena("BOOL", 1, 4, 4, 8)], [BOOL]),
    Case("MAXIMUM", too_new(4, 5), [F, G], [F], version=5),
    Case("STABLEHLO_SHIFT_LEFT", None, [INT32, arena("INT32", 1, 4, 4, 8)], [INT32]),
    # Selection, StableHLO
    Case("SELECT_V2", None, [BOOL, F, ONE], [G]),
    Case("SELECT_V2", "Expected 3 inputs and 1 output", [BOOL, F], [G]),
    Case(
        "SELECT_V2",
        "Cond must be float or bool type, if, else tensors must be either be same the shape as output or constant, scalar.",
        [INT32, F, G],
        [G],
    ),
    Case(
        "SELECT_V2",
        "Cond must be float or bool type, if, else tensors must be either be same the shape as output or constant, scalar.",
        [BOOL, F, EIGHT],
        [G],
    ),
    Case("SELECT_V2", "Unsupported tensor type in NewConstNode: INT8", [BOOL, PER_CHANNEL, G], [G]),
    Case("STABLEHLO_CBRT", None, [F], [G]),
    Case("STABLEHLO_CBRT", "Only support float inputs", [INT32], [INT32]),
    Case("STABLEHLO_CBRT", "Input and output types must match", [F], [arena("FLOAT16", 1, 4, 4, 8)]),
    Case("STABLEHLO_CLAMP", None, [F, G, arena("FLOAT32", 1, 4, 4, 8)], [F]),
    Case("STABLEHLO_CLAMP", "Clamp tensors must all be the same type", [INT32, F, G], [F]),
    Case("STABLEHLO_CLAMP", "Min tensor must be the same shape as the input, or a scalar", [VECTOR, F, G], [F]),
    Case("STABLEHLO_CLAMP", "Max tensor must be the same shape as the input, or a scalar", [F, G, VECTOR], [F]),
    Case("STABLEHLO_REMAINDER", None, [F, G], [F]),
    # Activations
    Case("RELU", None, [F], [G]),
    Case("RELU", "Expected 1 runtime input tensor(s), but node has 0 runtime input(s).", [EIGHT], [VECTOR]),
    Case("RELU", None, [EIGHT], [VECTOR], release="litert-2.1.5"),
    Case("RELU", "Expected 0 const input tensor(s), but node has 1 const input(s).", [EIGHT], [VECTOR], release="litert-2.1.3"),
    Case("RELU_0_TO_1", "Not supported op RELU_0_TO_1", [F], [G]),
    Case("RELU_0_TO_1", None, [F], [G], release="litert-2.1.3"),
    Case("HARD_SWISH", None, [F], [G]),
    Case("SOFTMAX", None, [F], [G], {"beta": 1.0}, version=4),
    Case("SOFTMAX", "Softmax.beta != 1 is not supported.", [F], [G], {"beta": 2.0}),
    Case("SOFTMAX", too_new(2, 3), [F], [G], {"beta": 1.0}, version=3, release="litert-2.1.3"),
    Case("PRELU", None, [F, EIGHT], [G]),
    Case("PRELU", None, [F, IMAGE], [G]),
    Case("PRELU", "Linear alpha shape does not match the number of input channels.", [F, ONE], [G]),
    Case("PRELU", "Alpha shape does not match input shape.", [F, constant(np.ones((4, 4, 4)), "FLOAT32")], [G]),
    Case("PRELU", NO_DATA, [F, VECTOR], [G]),
    Case("PRELU", "Invalid input tensor index: 1", [F], [G]),
    Case("PRELU", "Batch size is not equal to 1.", [F, constant(np.ones((2, 4, 4, 8)), "FLOAT32")], [G]),
    # Conversion
    Case("CAST", None, [F], [INT32]),
    Case("CAST", "Invalid number of inputs: 2, while expected at most 1.", [F, G], [G]),
    Case("QUANTIZE", None, [F], [quantized(arena("INT8", 1, 4, 4, 8), 0.5)]),
    Case("QUANTIZE", "Encountered Quantize output with no quant params", [F], [arena("INT8", 1, 4, 4, 8)]),
    Case("DEQUANTIZE", None, [quantized(arena("INT8", 1, 4, 4, 8), 0.5)], [G]),
    Case("DEQUANTIZE", "Dequantize for Densify is not supported", [arena("INT8", 1, 4, 4, 8)], [G]),
    Case("DEQUANTIZE", None, [arena("INT8", 1, 4, 4, 8)], [G], release="litert-2.1.5"),
    Case("DEQUANTIZE", SCALES, [PER_CHANNEL], [G]),
    Case("DEQUANTIZE", "Unsupported dequantization type.", [quantized(arena("INT16", 4), 0.5)], [VECTOR]),
    Case("DEQUANTIZE", "Unsupported dims for tensor: c Got dims:1", [constant(np.ones(8), "INT8", name="c")], [VECTOR]),
    Case("DEQUANTIZE", None, [constant(np.ones((2, 4)), "INT8")], [MATRIX]),
    Case("BITCAST", None, [arena("INT32", 2, 3)], [arena("INT8", 2, 3, 4)]),
    Case(
        "BITCAST",
        "If input and output types have the same element size, they must have the same shapes",
        [arena("INT32", 2)],
        [arena("FLOAT32", 3)],
    ),
    Case("BITCAST", "Shapes must match in all but last dim", [arena("INT32", 2, 3)], [arena("INT8", 2, 2, 4)]),
    Case(
        "BITCAST",
        "Last output dim must be equal to input element size divided by output element size",
        [arena("INT32", 2, 3)],
        [arena("INT8", 2, 3, 2)],
    ),
    # Convolutions
    Case("CONV_2D", None, [F, FILTER, EIGHT], [G], STEPS),
    Case("CONV_2D", "Incorrect stride values: stride_height = 0, stride_width = 0", [F, FILTER, EIGHT], [G]),
    Case(
        "CONV_2D",
        "Expected 1 or 2 input tensor(s), but node has 0 runtime inputs.",
        [constant(np.ones((1, 4, 4, 8)), "FLOAT32"), FILTER],
        [G],
        STEPS,
    ),
    Case("CONV_2D", None, [F, POINT_WEIGHTS, EIGHT], [G], STEPS),
    Case("CONV_2D", "input must be a runtime tensor", [constant(np.ones((1, 4, 4, 8)), "FLOAT32"), FILTER, VECTOR], [G], STEPS),
    Case("CONV_2D", "Requested index goes beyond array size: 1 vs 1", [F], [G], STEPS),
    Case(
        "DEPTHWISE_CONV_2D", None, [F, constant(np.ones((1, 3, 3, 8)), "FLOAT32"), EIGHT], [G], {**STEPS, "depth_multiplier": 1}
    ),
    Case("DEPTHWISE_CONV_2D", "input.dims.size != 4", [MATRIX, FILTER, EIGHT], [G], {**STEPS, "depth_multiplier": 1}),
    Case("AVERAGE_POOL_2D", None, [F], [G], POOL),
    Case("AVERAGE_POOL_2D", "Incorrect kernel values: kernel_height = 0, kernel_width = 0", [F], [G]),
    Case(
        "RESIZE_BILINEAR",
        "If half_pixel_centers is True, align_corners must be False.",
        [F, ints(8, 8)],
        [G],
        {"align_corners": True, "half_pixel_centers": True},
    ),
    Case("TRANSPOSE_CONV", None, [ints(1, 4, 4, 8), FILTER, F], [G], STRIDE),
    Case("TRANSPOSE_CONV", None, [ints(1, 4, 4, 8), arena("FLOAT32", 8, 3, 3, 8), F], [G], STRIDE),
    # Matrix products
    Case("FULLY_CONNECTED", None, [MATRIX, MATRIX_WEIGHTS, EIGHT], [MATRIX], version=14),
    Case("FULLY_CONNECTED", "Expected Int8, Int4, or Int2 quantized tensor: 1", [MATRIX, UNSIGNED, EIGHT], [MATRIX]),
    Case("FULLY_CONNECTED", None, [MATRIX, FLOAT_WEIGHTS, EIGHT], [MATRIX]),
    Case("FULLY_CONNECTED", "FullyConnected doesn't support constant input.", [FLOAT_WEIGHTS, FLOAT_WEIGHTS], [MATRIX]),
    Case(
        "FULLY_CONNECTED",
        "Unsupported FullyConnected weights format: 1",
        [MATRIX, FLOAT_WEIGHTS],
        [MATRIX],
        {"weights_format": 1},
    ),
    Case("FULLY_CONNECTED", "input #1 tensor is not available", [MATRIX], [MATRIX]),
    Case("BATCH_MATMUL", None, [MATRIX, arena("FLOAT32", 8, 8)], [MATRIX]),
    Case("BATCH_MATMUL", None, [MATRIX, FLOAT_WEIGHTS], [MATRIX]),
    Case("BATCH_MATMUL", "Not supported batched mat mul case: non-constant tensor", [FLOAT_WEIGHTS, MATRIX], [MATRIX]),
    Case("BATCH_MATMUL", "Not supported batched mat mul case: second input has unsupported rank", [MATRIX, EIGHT], [MATRIX]),
    Case("BATCH_MATMUL", "Not supported batched mat mul case: too many inputs", [FLOAT_WEIGHTS, FLOAT_WEIGHTS], [MATRIX]),
    Case("BATCH_MATMUL", "Expected 2 inputs and 1 output, got: 1 inputs and 1 outputs", [MATRIX], [MATRIX]),
    # Reductions
    Case("MEAN", None, [F, ints(1, 2)], [arena("FLOAT32", 1, 8)]),
    Case("MEAN", AXIS, [F, ints(4)], [arena("FLOAT32", 1, 8)]),
    Case("MEAN", "Expected 1 const input tensor(s), but node has 0 const input(s).", [F, arena("INT32", 1)], [MATRIX]),
    Case("MEAN", "MEAN supports int32 tensor for axes. But node has INT64", [F, ints(1, kind="INT64")], [MATRIX]),
    Case("SUM", LAYOUT, [DEEP, ints(1)], [F]),
    Case("REDUCE_ALL", None, [BOOL, ints(1)], [arena("BOOL", 1, 4, 8)]),
    Case("ARG_MAX", None, [F, ints(1)], [arena("INT32", 1, 4, 8)]),
    Case("ARG_MAX", None, [INT32, ints(1)], [arena("INT32", 1, 4, 8)]),
    Case("ARG_MAX", typed("INT32", "i"), [INT32, ints(1)], [arena("INT32", 1, 4, 8)], release="litert-2.2.0"),
    Case("ARG_MAX", "[2]  cannot be reduced to scalar.", [F, ints(1, 2)], [arena("INT32", 1, 4, 8)]),
    Case("CUMSUM", "Input/output must be float type and indices must be constant int32 type", [F, arena("INT32", 1)], [G]),
    Case("TOPK_V2", None, [F, ints(4)], [G, INT32]),
    Case("TOPK_V2", "TopK k must be scalar.", [F, ints(4, 5)], [G, INT32]),
    Case("TOPK_V2", "Expected 1 runtime input tensor(s), but node has 2 runtime input(s).", [F, arena("INT32")], [G, INT32]),
    # Shapes
    Case("RESHAPE", None, [INT32, ints(1)], [INT32]),
    Case("RESHAPE", too_new(1, 2), [F], [G], version=2),
    Case("TRANSPOSE", None, [F, ints(0, 2, 1, 3)], [G]),
    Case("TRANSPOSE", "Permutation for transpose is invalid.", [F, ints(0)], [G]),
    Case("TRANSPOSE", "src has wrong size.", [F, ints(0, 1, 2, 3, kind="INT64")], [G]),
    Case("CONCATENATION", None, [F, G], [arena("FLOAT32", 1, 4, 4, 16)]),
    Case("CONCATENATION", "Couldn't find an axis to concatenate by.", [F, arena("FLOAT32", 2, 5, 5, 9)], [G]),
    Case("CONCATENATION", too_new(2, 3), [F, G], [G], version=3, release="litert-2.1.5"),
    Case("PACK", None, [MATRIX, arena("FLOAT32", 2, 8)], [arena("FLOAT32", 2, 2, 8)], {"axis": -3}),
    Case("PACK", AXIS, [MATRIX, MATRIX], [arena("FLOAT32", 2, 2, 8)], {"axis": 3}),
    Case("PACK", None, [MATRIX], [arena("FLOAT32", 1, 2, 8)], {"axis": 9}),
    Case("UNPACK", None, [F], [G, G], {"num": 2, "axis": 1}),
    Case("UNPACK", AXIS, [F], [G, G], {"num": 2, "axis": 4}),
    Case("UNPACK", None, [F], [G], {"num": 1, "axis": 4}),
    Case("SPLIT", None, [ints(3), F], [G, G], {"num_splits": 2}),
    Case("SPLIT", AXIS, [ints(-5), F], [G, G], {"num_splits": 2}),
    Case("SPLIT", None, [ints(9), F], [G], {"num_splits": 1}),
    Case("SPLIT_V", None, [F, ints(4, 4), ints(3)], [G, G], {"num_splits": 2}),
    Case("SPLIT_V", AXIS, [F, ints(4, 4), ints(4)], [G, G], {"num_splits": 2}),
    Case("SPLIT_V", "Expected 2 const input tensor(s), but node has 1 const input(s).", [F, ints(4)], [G], {"num_splits": 1}),
    Case("SLICE", None, STARTS, [CUT], version=8),
    Case("SLICE", "Output height doesn't match", STARTS, [G]),
    Case("SLICE", "Invalid number of inputs: 2, while expected at least 3.", STARTS[:2], [CUT]),
    Case("SLICE", "Constant input is not supported.", [IMAGE, *STARTS[1:]], [CUT]),
    Case("SLICE", "The dimensionality of `starts` (3D) must match `sizes` (4D).", [F, ints(0, 0, 0), ints(1, 2, 4, 8)], [CUT]),
    Case("SLICE", "Slicing starts count must be 3 or 4 for 4d input", [F, ints(0, 0), ints(1, 2)], [CUT]),
    Case("SLICE", None, [F, ints(0, 0, 0), ints(2, -1, 8)], [CUT]),
    Case("STRIDED_SLICE", None, STRIDES, [CUT], version=2),
    Case("STRIDED_SLICE", too_new(2, 4), STRIDES, [CUT], version=4),
    Case("STRIDED_SLICE", "Slice does not support shrink_axis_mask parameter. ", STRIDES, [CUT], {"shrink_axis_mask": 1}),
    Case("STRIDED_SLICE", "STRIDED_SLICE requires 4 inputs.", STRIDES[:3], [CUT]),
    Case("STRIDED_SLICE", "STRIDED_SLICE input/params dimensions mismatch.", [MATRIX, *STRIDES[1:]], [CUT]),
    Case("STRIDED_SLICE", "Output shape mismatch", STRIDES, [G]),
    Case("STRIDED_SLICE", "stride values must be non-zero", [*STRIDES[:3], ints(1, 0, 1, 1)], [CUT]),
    Case("STRIDED_SLICE", "Reverse slices are not supported.", [*STRIDES[:3], ints(1, -1, 1, 1)], [CUT]),
    Case("GATHER", None, [F, IDS], [G]),
    Case("GATHER", "Only support 1D indices", [F, arena("INT32", 2, 2)], [G]),
    Case("GATHER", "Only support 1D indices\n", [F, arena("INT32", 2, 2)], [G], release="litert-2.1.5"),
    Case("GATHER", "Only accept INT32 indices", [F, arena("INT64", 3)], [G]),
    Case("GATHER", "Input / output dtype mismatch.", [F, IDS], [INT32]),
    Case("PAD", None, [F, PAIRS], [G], version=5),
    Case("PAD", "Invalid paddings tensor shape: expected 4x2 or 3x2, got 2x2", [F, constant(np.zeros((2, 2)), "INT32")], [G]),
    Case("PAD", "src has wrong size.", [F, constant(np.zeros((4, 2)), "INT64")], [G]),
    Case("PADV2", "[8]  cannot be reduced to scalar.", [F, PAIRS, EIGHT], [G]),
    Case(
        "MIRROR_PAD",
        "Only Reflective padding is supported for Mirror Pad operation. But node has 2",
        [F, PAIRS],
        [G],
        {"mode": 1},
    ),
    Case("REVERSE_V2", None, [F, ints(1)], [G]),
    Case("REVERSE_V2", AXIS, [F, ints(9)], [G]),
    Case("TILE", None, [F, ints(1, 1, 1, 2)], [G]),
    Case("DEPTH_TO_SPACE", "DEPTH_TO_SPACE block_size = 1 is a no-op.", [F], [G], {"block_size": 1}),
    Case("SPACE_TO_DEPTH", "SPACE_TO_DEPTH block_size must be > 1.", [F], [G], {"block_size": 0}),
    Case("SPACE_TO_DEPTH", None, [F], [G], {"block_size": 2}),
    Case("EMBEDDING_LOOKUP", None, [IDS, FLOAT_WEIGHTS], [ROWS]),
    Case("EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP: Empty quantization params.", [IDS, constant(np.ones((8, 8)), "INT8")], [ROWS]),
    Case("EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP: Unsupported weights type.", [IDS, UNSIGNED], [ROWS]),
    Case("EMBEDDING_LOOKUP", "Expected 1D, but got 2D input #0.", [arena("INT32", 3, 1), FLOAT_WEIGHTS], [ROWS]),
    Case("EMBEDDING_LOOKUP", "Expected 8, but got 4 for output.dim[1].", [IDS, FLOAT_WEIGHTS], [arena("FLOAT32", 3, 4)]),
    Case("ONE_HOT", None, [IDS, ints(8), ONE, ONE], [ROWS], {"axis": -1}),
    Case("ONE_HOT", "OneHot axis must be -1 or the last dimension.", [IDS, ints(8), ONE, ONE], [ROWS], {"axis": 1}),
    Case(
        "ONE_HOT",
        "Unspported non-singleton dim at 0",
        [arena("INT32", 2, 3), ints(8), ONE, ONE],
        [ROWS],
        {"axis": -1},
        release="litert-2.1.5",
    ),
    Case("DYNAMIC_UPDATE_SLICE", None, [F, CUT, arena("INT32", 4)], [G]),
    Case("DYNAMIC_UPDATE_SLICE", "start_indices must be a runtime tensor", [F, CUT, ints(0, 0, 0, 0)], [G]),
    Case("DYNAMIC_UPDATE_SLICE", "start_indices must be of type int32.", [F, CUT, arena("INT64", 4)], [G]),
    Case(
        "DYNAMIC_UPDATE_SLICE",
        "Updated_slice shape must be less or equal to the array to update, but they are updated_slice: [1448], "
        "array_to_update: [1248]",
        [CUT, F, arena("INT32", 4)],
        [CUT],
    ),
    Case("STABLEHLO_BROADCAST_IN_DIM", None, [VECTOR, ints(3)], [G]),
    Case("STABLEHLO_BROADCAST_IN_DIM", "Require 0 <= index val < rank(result)", [VECTOR, ints(4)], [G]),
    Case("STABLEHLO_BROADCAST_IN_DIM", "Require size(indices) = rank(operand)", [VECTOR, ints(2, 3)], [G]),
    Case("STABLEHLO_BROADCAST_IN_DIM", "Index values must be unique", [arena("FLOAT32", 4, 4), ints(1, 1)], [G]),
    # Not known
    Case("WHERE", "Operation is not supported.", [BOOL], [WIDE]),
    Case("DENSIFY", "Operation is not supported.", [F], [G]),
    Case("ARG_MIN", "Operation is not supported.", [F, ints(1)], [INT32]),
]


def verdict(case: Case, **changes: Any) -> Any:
    arguments = {"version": case.version, "options": case.options, **changes}
    node = node_view(case.op, case.inputs, case.outputs, **arguments)
    return RULES.validate(node, MlDriftTarget(parse_release(case.release)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    found = verdict(case)
    assert [reason.kind for reason in found.reasons] == ([] if case.said is None else [case.said])
    assert found.is_supported == (case.said is None)


_LIKE_OTHERS = """
COS FLOOR LOG SIGN SIN SQRT SQUARE RELU6 RELU_N1_TO_1 LEAKY_RELU ATAN2 DIV FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS_EQUAL
LOGICAL_AND MINIMUM NOT_EQUAL POW RIGHT_SHIFT SQUARED_DIFFERENCE SELECT MAX_POOL_2D RESIZE_NEAREST_NEIGHBOR REDUCE_ANY REDUCE_MAX
REDUCE_MIN REDUCE_PROD LSTM STABLEHLO_COMPOSITE
"""
"""Operators whose rules are those of others that have cases, and those that have tests of their own."""


def test_every_operator_has_cases():
    covered = {case.op for case in CASES}
    assert set(RULES.rules) - set(RULES.custom) - covered <= set(_LIKE_OTHERS.split())


def test_every_refusal_says_something_of_its_own():
    for op, rule in RULES.rules.items():
        for check in rule.all_checks:
            assert check.said is not None, (op, check.needed)


@pytest.mark.parametrize(("op", "said"), [("ADD", None), ("MUL", None), ("SUB", ALIKE), ("MAXIMUM", ALIKE)])
def test_one_tensor_as_both_operands(op, said):
    node = node_view(op, [F, F], [G])
    view = node.graph.view(node.node._replace(inputs=(0, 0)))
    assert [reason.kind for reason in RULES.validate(view, MlDriftTarget()).reasons] == ([said] if said else [])


# Types


@pytest.mark.parametrize(
    ("op", "inputs", "further", "further_outputs"),
    [
        ("TANH", [F], {"BFLOAT16"}, {"BFLOAT16"}),
        ("NEG", [F], {"BFLOAT16", "INT16", "INT32"}, {"BFLOAT16", "INT16", "INT32"}),
        (
            "RESHAPE",
            [F],
            {"INT16", "INT32", "UINT16", "UINT32", "BFLOAT16"},
            {"BOOL", "INT16", "INT32", "UINT16", "UINT32", "BFLOAT16"},
        ),
        ("LOGISTIC", [F], {"BFLOAT16"}, {"BFLOAT16"}),
        ("HARD_SWISH", [F], set(), set()),
    ],
)
def test_types(op, inputs, further, further_outputs):
    def accepted(side):
        found = set()
        for kind in schema.enum_names("TensorType").values():
            tensors = {"inputs": [inputs[0]], "outputs": [G], side: [F._replace(type=kind)]}
            if RULES.validate(node_view(op, tensors["inputs"], tensors["outputs"]), MlDriftTarget()).is_supported:
                found.add(kind)
        return found

    assert accepted("inputs") == {"FLOAT32", "FLOAT16", "BOOL", "INT2", "INT4", "INT8", "UINT8"} | further
    assert accepted("outputs") == {"FLOAT32", "FLOAT16", "INT8", "UINT8"} | further_outputs


def test_types_of_constants_are_not_looked_at():
    assert verdict(Case("GATHER", None, [ints(1, 2, kind="INT64"), IDS], [arena("INT64", 3)])).reasons[0].kind == typed(
        "INT64", ""
    )
    assert verdict(Case("ADD", None, [F, constant(np.ones((4, 8)), "INT64")], [G])).is_supported


def test_a_rank_comes_before_a_type_tensor_by_tensor():
    deep = arena("INT64", 1, 1, 4, 4, 8, name="both")
    assert verdict(Case("RESHAPE", None, [deep], [G])).reasons[0].kind == rank_5("both")
    assert verdict(Case("CONCATENATION", None, [WIDE, DEEP], [G])).reasons[0].kind == typed("INT64", "wide")


# Blockwise weights


def test_blockwise_weights_of_a_matrix_product_are_not_looked_at():
    blockwise = Quantization("blockwise", np.zeros(0, np.float32), np.zeros(0, np.int64), 0, 32, 1, 2)
    weights = constant(np.ones((8, 64)), "INT8")._replace(quantization=blockwise)
    assert verdict(Case("FULLY_CONNECTED", None, [MATRIX, weights], [MATRIX])).is_supported


def test_the_newest_release_is_the_default():
    assert MlDriftTarget().release == NEWEST

"""Nodes with the version and the features that each should have, at least one for every demand."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from delegate_sim.model import schema
from delegate_sim.model.model import Sparsity
from tests.support.graphs import arena, node_view, quantized

_OPERAND = re.compile(r"(\w+)(?:\[([\d,]*)\])?(?:\*(\d+)(?:@(\d))?)?(~)?")


def tensor(text):
    """A tensor by its type, [shape], *number of scales, @dimension of the scales and ~ for sparse; - is one left out."""
    if text == "-":
        return None
    kind, shape, scales, dimension, sparse = _OPERAND.fullmatch(text).groups()
    made = arena(kind, *map(int, filter(None, ("2,4" if shape is None else shape).split(","))))
    if scales:
        made = quantized(made, *[0.5] * int(scales), dimension=int(dimension or 0))
    return made._replace(sparsity=Sparsity((), (), ())) if sparse else made


class Case(NamedTuple):
    """A node, and for each of its features in order: the version that it demands, and that of the node without it."""

    op: str
    operands: str
    features: dict[str, tuple[int, int]]
    options: dict[str, Any] | None = {}  # noqa: RUF012 - never changed

    @property
    def node(self):
        inputs, _, outputs = self.operands.partition("->")
        options = self.options if schema.options_table(self.op) else None
        return node_view(self.op, list(map(tensor, inputs.split())), list(map(tensor, outputs.split())), options=options)

    def __str__(self):
        return f"{self.op} {self.operands} {self.options or ''}"


def typed(op: str, operands: str, lowest: int = 1, **versions: int) -> list[Case]:
    """Cases that differ in one type, which stands as T; the keywords are types and the versions that they demand."""
    return [
        Case(op, re.sub(r"\bT\b", kind, operands), {f"{kind.lower()}-type": (version, lowest)})
        for kind, version in versions.items()
    ]


ASYMMETRIC = {"asymmetric_quantize_inputs": True}
GROUPED = "INT8[1,4,4,8] INT8[8,3,3,2] INT32 -> INT8"
PER_CHANNEL, HYBRID, SYMMETRIC_OR_NOT = "per-channel", "hybrid-weights", "asymmetric-quantize-inputs"
FULL, BASIC = {"kernel_type": 0}, {"kernel_type": 1}
NOT_POWER_OF_TWO = {"pot_scale_int16": False}
RANK_3, RANK_5, RANK_6, RANK_7 = "[1,2,3]", "[1,2,3,4,5]", "[1,1,1,1,1,1]", "[1,1,1,1,1,1,1]"

CASES = [
    Case("FULLY_CONNECTED", "FLOAT32 FLOAT32 FLOAT32 -> FLOAT32", {}),
    Case("FULLY_CONNECTED", "FLOAT32 FLOAT32 - -> FLOAT32", {}),
    Case("FULLY_CONNECTED", "UINT8 UINT8 INT32 -> UINT8", {}),
    Case("FULLY_CONNECTED", "UINT8 UINT8 INT32 -> UINT8", {"shuffled-weights": (2, 1)}, {"weights_format": 1}),
    Case("FULLY_CONNECTED", "FLOAT32 INT8[8,4] FLOAT32 -> FLOAT32", {HYBRID: (3, 1)}),
    Case("FULLY_CONNECTED", "FLOAT32 INT4[8,4] FLOAT32 -> FLOAT32", {}),
    Case(
        "FULLY_CONNECTED", "FLOAT32 INT8[8,4] FLOAT32 -> FLOAT32", {SYMMETRIC_OR_NOT: (9, 3), HYBRID: (3, 1)}, options=ASYMMETRIC
    ),
    Case("FULLY_CONNECTED", "FLOAT32 INT8[8,4]*1 FLOAT32 -> FLOAT32", {HYBRID: (3, 1)}),
    Case("FULLY_CONNECTED", "FLOAT32 INT8[1,4]*1 FLOAT32 -> FLOAT32", {PER_CHANNEL: (12, 3), HYBRID: (3, 1)}),
    Case(
        "FULLY_CONNECTED",
        "FLOAT32 INT8[8,4]*8 FLOAT32 -> FLOAT32",
        {PER_CHANNEL: (12, 9), SYMMETRIC_OR_NOT: (9, 12), HYBRID: (3, 1)},
        ASYMMETRIC,
    ),
    Case("FULLY_CONNECTED", "INT8 INT8[8,4]*8 INT32 -> INT8", {"int8-type": (4, 1)}),
    Case("FULLY_CONNECTED", "INT8 INT4[8,4] INT32 -> INT8", {"int4-weights": (10, 4), "int8-type": (4, 1)}),
    Case("FULLY_CONNECTED", "INT16 INT4 INT64 -> INT16", {"int4-weights": (13, 1)}),
    Case(
        "FULLY_CONNECTED",
        "INT16 INT4 INT64 -> INT16",
        {"int4-weights": (13, 11), "quantized-bias-type": (11, 13)},
        {"quantized_bias_type": 4},
    ),
    Case("FULLY_CONNECTED", "INT16 INT8 INT64 -> INT16", {"quantized-bias-type": (11, 1)}, {"quantized_bias_type": 4}),
    Case("FULLY_CONNECTED", "INT16 INT8 INT64 -> INT16", {}),
    Case("FULLY_CONNECTED", "INT16 INT16 INT64 -> INT16", {"int16-type": (7, 1)}),
    Case("FULLY_CONNECTED", "FLOAT32 FLOAT32[8,4]~ FLOAT32 -> FLOAT32", {"sparse-weights": (8, 1)}),
    Case("FULLY_CONNECTED", "FLOAT32 FLOAT32 -> FLOAT32", {"missing-bias": (6, 1)}),
    Case("FULLY_CONNECTED", "FLOAT32 FLOAT32 FLOAT32 -> FLOAT32", {"keep-num-dims": (5, 1)}, {"keep_num_dims": True}),
    Case(
        "FULLY_CONNECTED",
        "INT8 INT8 -> INT8",
        {"missing-bias": (6, 5), "keep-num-dims": (5, 6), "int8-type": (4, 6)},
        {"keep_num_dims": True},
    ),
    Case("FULLY_CONNECTED", "FLOAT32 INT2 FLOAT32 -> FLOAT32", {"int2-weights": (14, 3), HYBRID: (3, 14)}),
    Case("CONV_2D", "FLOAT32[1,4,4,2] FLOAT32[8,3,3,2] FLOAT32 -> FLOAT32", {}),
    Case("CONV_2D", "FLOAT32[] FLOAT32[8,3,3,2] FLOAT32 -> FLOAT32", {}),
    Case("CONV_2D", "FLOAT32[1,4,4,2] INT8[8,3,3,2]*1 FLOAT32 -> FLOAT32", {HYBRID: (2, 1)}),
    Case("CONV_2D", "FLOAT32[1,4,4,2] INT8[8,3,3,2]*8 FLOAT32 -> FLOAT32", {PER_CHANNEL: (5, 2), HYBRID: (2, 1)}),
    Case("CONV_2D", "INT8[1,4,4,2] INT8[8,3,3,2]*8 INT32 -> INT8", {"int8-type": (3, 1)}),
    Case("CONV_2D", "INT8[1,4,4,2] INT4[8,3,3,2] INT32 -> INT8", {"int4-weights": (7, 3), "int8-type": (3, 1)}),
    Case("CONV_2D", GROUPED, {"grouped-convolution": (6, 3), "int8-type": (3, 6)}),
    Case("CONV_2D", "INT16[1,4,4,2] INT16[8,3,3,2] INT64 -> INT16", {}),
    Case("CONV_2D", "INT16[1,4,4,2] INT16[8,3,3,2] INT64 -> INT16 INT16", {"int16-type": (4, 1)}),
    Case("CONV_2D", "INT16[1,4,4,2] INT8[8,3,3,2] INT64 -> INT16", {"quantized-bias-type": (8, 1)}, {"quantized_bias_type": 4}),
    Case("DEPTHWISE_CONV_2D", "FLOAT32 FLOAT32[1,3,3,8] FLOAT32 -> FLOAT32", {}),
    Case("DEPTHWISE_CONV_2D", "FLOAT32 FLOAT32[1,3,3,8] FLOAT32 -> FLOAT32", {"dilation": (2, 1)}, {"dilation_w_factor": 2}),
    Case("DEPTHWISE_CONV_2D", "FLOAT32 FLOAT32[1,3,3,8] FLOAT32 -> FLOAT32", {"dilation": (2, 1)}, {"dilation_h_factor": 2}),
    Case("DEPTHWISE_CONV_2D", "FLOAT32 FLOAT32[1,3,3,8] FLOAT32 -> FLOAT32", {"dilation": (2, 1)}, None),
    Case("DEPTHWISE_CONV_2D", "FLOAT32 INT8[1,3,3,8]*1 FLOAT32 -> FLOAT32", {HYBRID: (4, 1)}),
    Case("DEPTHWISE_CONV_2D", "FLOAT32 INT8[1,3,3,8]*8@3 FLOAT32 -> FLOAT32", {PER_CHANNEL: (6, 4), HYBRID: (4, 1)}),
    Case(
        "DEPTHWISE_CONV_2D",
        "INT8 INT8[1,3,3,8] INT32 -> INT8",
        {"int8-type": (3, 2), "dilation": (2, 3)},
        {"dilation_w_factor": 2},
    ),
    Case("DEPTHWISE_CONV_2D", "INT8 INT4[1,3,3,8] INT32 -> INT8", {"int4-weights": (7, 3), "int8-type": (3, 1)}),
    Case("DEPTHWISE_CONV_2D", "INT16 INT16[1,3,3,8] INT64 -> INT16 INT16", {"int16-type": (5, 1)}),
    Case("TRANSPOSE_CONV", "INT32 FLOAT32 FLOAT32 -> FLOAT32", {}),
    Case("TRANSPOSE_CONV", "INT32 FLOAT32 FLOAT32 - -> FLOAT32", {}),
    Case("TRANSPOSE_CONV", "INT32 FLOAT32 FLOAT32 FLOAT32 -> FLOAT32", {"transposed-convolution-bias": (3, 1)}),
    Case("TRANSPOSE_CONV", "INT32 INT8 INT8 -> INT8", {"int8-type": (2, 1)}),
    Case("TRANSPOSE_CONV", "INT32 FLOAT32 FLOAT32 -> FLOAT32", {"fused-activation": (4, 1)}, {"fused_activation_function": 1}),
    Case(
        "TRANSPOSE_CONV",
        "INT16 INT8 INT16 -> INT16",
        {"quantized-bias-type": (5, 2), "int8-type": (2, 5)},
        {"quantized_bias_type": 4},
    ),
    Case("EMBEDDING_LOOKUP", "INT32 FLOAT32[8,4] -> FLOAT32", {}),
    Case("EMBEDDING_LOOKUP", "INT32 INT8[1,4]*1 -> FLOAT32", {}),
    Case("EMBEDDING_LOOKUP", "INT32 INT8[8,4]*8 -> FLOAT32", {PER_CHANNEL: (4, 1)}),
    Case("EMBEDDING_LOOKUP", "INT32 INT4[8,4] -> FLOAT32", {"int4-weights": (4, 1)}),
    Case("EMBEDDING_LOOKUP", "INT32 INT2[8,4] -> FLOAT32", {"int2-weights": (5, 1)}),
    Case("EMBEDDING_LOOKUP", "INT32 INT2[8,4]*8 -> FLOAT32", {PER_CHANNEL: (4, 5), "int2-weights": (5, 4)}),
    Case("FAKE_QUANT", "FLOAT32 -> FLOAT32", {"narrow-range": (2, 1)}, {"narrow_range": True}),
    Case("SVDF", "FLOAT32 INT8 -> FLOAT32", {SYMMETRIC_OR_NOT: (4, 2), HYBRID: (2, 1)}, ASYMMETRIC),
    *typed("SVDF", "T INT8 -> INT8", INT8=3),
    Case("BATCH_MATMUL", "FLOAT32 INT8 -> FLOAT32", {}),
    Case("BATCH_MATMUL", "FLOAT32 INT8 -> FLOAT32", {SYMMETRIC_OR_NOT: (4, 1)}, ASYMMETRIC),
    *typed("BATCH_MATMUL", "T T -> T", INT16=3, INT8=2),
    Case("LSTM", "INT16 - INT8 -> INT16", {"int16-type": (5, 1)}, FULL),
    Case("LSTM", "FLOAT32 - INT8 -> FLOAT32", {SYMMETRIC_OR_NOT: (4, 3), HYBRID: (3, 1)}, {**FULL, **ASYMMETRIC}),
    Case("LSTM", "FLOAT32 - INT8 -> FLOAT32", {"basic-lstm": (2, 1)}, {**BASIC, **ASYMMETRIC}),
    Case("UNIDIRECTIONAL_SEQUENCE_LSTM", "INT16 - INT8 -> INT16", {"int16-type": (5, 1)}),
    Case(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "FLOAT32 - INT8 -> FLOAT32",
        {"diagonal-recurrent-weights": (4, 3), SYMMETRIC_OR_NOT: (3, 4), HYBRID: (2, 4)},
        {"diagonal_recurrent_tensors": True, **ASYMMETRIC},
    ),
    *[
        Case(op, "FLOAT32 INT8 -> FLOAT32", {SYMMETRIC_OR_NOT: (3, 2), HYBRID: (2, 1)}, ASYMMETRIC)
        for op in ("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_LSTM")
    ],
    Case("RNN", "FLOAT32 INT8 -> INT8", {}),
    *typed("GATHER", "T INT32 -> T", INT4=7, INT16=4, BOOL=3, INT8=2),
    Case("GATHER", "FLOAT8_E5M2 INT32 -> FLOAT8_E5M2", {"float8-type": (8, 1)}),
    Case("GATHER", "INT8 INT16 -> INT8", {"int16-indices": (6, 2), "int8-type": (2, 6)}),
    Case("GATHER", "FLOAT32 INT32 -> FLOAT32", {"batch-dims": (5, 1)}, {"batch_dims": 1}),
    Case("GATHER_ND", "FLOAT8_E4M3FN INT32 -> FLOAT8_E4M3FN", {"float8-type": (6, 1)}),
    *typed("GATHER_ND", "T INT32 -> T", BOOL=5, INT16=3, STRING=2),
    Case("GATHER_ND", "INT16 INT16 -> INT16", {"int16-indices": (4, 3), "int16-type": (3, 4)}),
    *typed("SIGN", "T -> T", INT32=2),
    *typed("SIN", "T -> T", FLOAT16=2),
    *typed("COS", "T -> T", FLOAT16=2),
    *typed("MUL", "T*1 T*1 -> T*1", FLOAT16=8, UINT32=7, COMPLEX64=6, INT64=5, INT16=4, INT8=2),
    Case("MUL", "INT16 INT16 -> INT16", {"int16-unquantized": (7, 1)}),
    *typed("ADD", "T*1 T*1 -> T*1", FLOAT16=6, INT64=4, INT8=2),
    Case("ADD", "INT16 INT16 -> INT16", {"int16-unquantized": (5, 1)}),
    Case("ADD", "INT16*1 INT16*1 -> INT16*1", {"int16-type": (3, 1)}, NOT_POWER_OF_TWO),
    Case("ADD", "INT16*1 INT16*1 -> INT16*1", {}),
    Case("ADD", f"FLOAT32{RANK_5} FLOAT32[5] -> FLOAT32", {}),
    *typed("SUB", "T T -> T", INT64=4, INT8=2),
    Case("SUB", "INT16 INT16 -> INT16", {"int16-type": (5, 1)}, NOT_POWER_OF_TWO),
    Case("SUB", f"INT8{RANK_5} INT8[5] -> INT8", {"broadcast-rank": (3, 2), "int8-type": (2, 3)}),
    Case("SUB", f"FLOAT32{RANK_5} FLOAT32{RANK_5} -> FLOAT32", {}),
    Case("DIV", f"FLOAT32[5] FLOAT32{RANK_5} -> FLOAT32", {"broadcast-rank": (2, 1)}),
    Case("DIV", "FLOAT32[4] FLOAT32[3,4] -> FLOAT32", {}),
    *typed("ABS", "T*1 -> T*1", INT32=5, INT16=3, INT8=2, UINT8=2),
    Case("ABS", "INT16 -> INT16", {"int16-unquantized": (4, 1)}),
    *typed("MAXIMUM", "T T -> T", INT16=4, INT8=2),
    Case("MINIMUM", f"FLOAT32{RANK_5} FLOAT32[5] -> FLOAT32", {"broadcast-rank": (3, 1)}),
    Case("MINIMUM", "INT16 INT16 -> INT8", {}),
    *typed("MAX_POOL_2D", "T -> T", INT16=3, INT8=2),
    *typed("LOGISTIC", "T -> T", INT16=3, INT8=2),
    *typed("TRANSPOSE", "T INT32 -> T", FLOAT16=9, BFLOAT16=8, INT4=7, INT16=5, BOOL=3, INT8=2),
    Case("TRANSPOSE", f"FLOAT32{RANK_7} INT32 -> FLOAT32", {"high-rank": (8, 1)}),
    Case("TRANSPOSE", f"INT16{RANK_6} INT32 -> INT16", {"high-rank": (6, 5), "int16-type": (5, 6)}),
    Case("TRANSPOSE", f"INT8{RANK_5} INT32 -> INT8", {"high-rank": (4, 2), "int8-type": (2, 4)}),
    Case("SPLIT", "INT32 FLOAT8_E4M3FN -> FLOAT8_E4M3FN", {"float8-type": (5, 1)}),
    *typed("SPLIT", "INT32 T -> T", INT16=4, INT32=3, INT8=2),
    Case("SPLIT_V", "FLOAT8_E4M3FN INT32 -> FLOAT8_E4M3FN", {"float8-type": (3, 1)}),
    *typed("SPLIT_V", "T INT32 -> T", INT8=2),
    *typed("SPARSE_TO_DENSE", "INT32 INT32 T -> T", INT8=3, UINT8=3, INT64=2),
    *typed("SLICE", "T INT32 -> T", FLOAT16=8, INT4=7, UINT32=6, INT16=4, STRING=3, INT8=2),
    Case("SLICE", f"INT8{RANK_5} INT32 -> INT8", {"high-rank": (5, 2), "int8-type": (2, 5)}),
    Case("UNPACK", "FLOAT8_E5M2 -> FLOAT8_E5M2", {"float8-type": (6, 1)}),
    *typed("UNPACK", "T -> T", INT8=2, UINT8=2, BOOL=3, INT16=4, FLOAT16=5, BFLOAT16=5),
    Case("PACK", "FLOAT8_E5M2 -> FLOAT8_E5M2", {"float8-type": (5, 1)}),
    *typed("PACK", "T T -> T", INT8=2, INT16=3, UINT32=4),
    Case("DEQUANTIZE", "FLOAT8_E5M2 -> FLOAT32", {"float8-type": (9, 1)}),
    *typed("DEQUANTIZE", "T*1 -> FLOAT32", UINT4=8, INT2=7, INT4=6, INT16=3, FLOAT16=3, INT8=2),
    Case("DEQUANTIZE", "INT8[8,4]*4@1 -> FLOAT32", {PER_CHANNEL: (5, 2), "int8-type": (2, 1)}),
    Case("DEQUANTIZE", "INT8[8,4]*4 -> FLOAT32", {"int8-type": (2, 1)}),
    *typed("QUANTIZE", "FLOAT32 -> T", UINT4=5, INT4=4, INT16=2),
    *typed("QUANTIZE", "T -> INT8", UINT4=5, INT4=4),
    Case("QUANTIZE", "FLOAT32 -> INT16[8,4]*8", {PER_CHANNEL: (3, 2), "int16-type": (2, 3)}),
    Case("QUANTIZE", "FLOAT32 -> INT8", {}),
    *typed("FLOOR_DIV", "T T -> T", INT16=3, INT8=3, FLOAT32=2),
    *typed("FLOOR_MOD", "T T -> T", INT16=2, INT8=2),
    *typed("L2_NORMALIZATION", "T -> T", INT8=2),
    *typed("RELU", "T -> T", INT16=3, INT8=2, UINT8=2),
    *typed("STRIDED_SLICE", "T INT32 -> T", UINT32=7, STRING=5, BOOL=3, INT8=2),
    Case("STRIDED_SLICE", f"FLOAT32{RANK_5} INT32 -> FLOAT32", {"high-rank": (4, 1)}),
    Case("STRIDED_SLICE", "FLOAT32 -> FLOAT32", {"slice-offset": (8, 1)}, {"offset": True}),
    Case("STRIDED_SLICE", "FLOAT32 -> FLOAT32", {"ellipsis-mask": (6, 1)}, {"ellipsis_mask": 1}),
    Case("STRIDED_SLICE", "FLOAT32 -> FLOAT32", {"new-axis-mask": (6, 1)}, {"new_axis_mask": 1}),
    Case("REVERSE_V2", "FLOAT8_E5M2 -> FLOAT8_E5M2", {"float8-type": (4, 1)}),
    *typed("REVERSE_V2", "T INT32 -> T", INT8=3, BOOL=2),
    *typed("RESIZE_BILINEAR", "T INT32 -> T", INT16=4, INT8=2),
    Case("RESIZE_BILINEAR", "INT8 -> INT8", {"half-pixel-centers": (3, 2), "int8-type": (2, 3)}, {"half_pixel_centers": True}),
    Case("RESIZE_BILINEAR", "FLOAT32 -> FLOAT32", {}, {"align_corners": True}),
    *typed("RESIZE_NEAREST_NEIGHBOR", "T INT32 -> T", INT16=4, INT8=2),
    Case(
        "RESIZE_NEAREST_NEIGHBOR",
        "FLOAT32 -> FLOAT32",
        {"half-pixel-centers": (3, 3), "align-corners": (3, 3)},
        {"half_pixel_centers": True, "align_corners": True},
    ),
    *typed("TILE", "T INT32 -> T", INT8=3, STRING=2),
    *typed("SQUEEZE", "T -> T", STRING=2),
    *typed("BATCH_TO_SPACE_ND", "T[1,2,2,4] INT32 -> T", INT16=4, INT8=2),
    Case("SPACE_TO_BATCH_ND", f"INT8{RANK_3} INT32 -> INT8", {"rank-other-than-4": (3, 2), "int8-type": (2, 3)}),
    Case("FILL", "INT32 FLOAT8_E5M2 -> FLOAT8_E5M2", {"float8-type": (5, 1)}),
    *typed("FILL", "INT32 T -> T", FLOAT16=4, INT8=3, INT16=3, BOOL=2, STRING=2),
    Case("FILL", "INT8 -> INT8", {}),
    *typed("EQUAL", "T T -> BOOL", INT16=5, STRING=3, INT8=2),
    *typed("NOT_EQUAL", "T T -> BOOL", INT16=4, STRING=3, INT8=2),
    *typed("LEAKY_RELU", "T -> T", INT16=2),
    *typed("RANGE", "T T T -> T", INT64=2),
    Case("PAD", "FLOAT8_E5M2 -> FLOAT8_E5M2", {"float8-type": (6, 1)}),
    *typed("PADV2", "T INT32 -> T", BOOL=5, INT16=3, INT8=2),
    Case("PAD", f"INT16{RANK_5} -> INT16", {"high-rank": (4, 3), "int16-type": (3, 4)}),
    Case("CONCATENATION", "FLOAT8_E5M2 -> FLOAT8_E5M2", {"float8-type": (7, 1)}),
    *typed("CONCATENATION", "T T -> T", FLOAT16=6, INT4=5, UINT32=4, INT16=3, INT8=2),
    *typed("SOFTMAX", "T -> T", FLOAT16=4, INT16=3, INT8=2),
    *typed("MEAN", "T -> T", INT16=3, INT8=2),
    *typed("ARG_MAX", "T -> INT32", BOOL=3, INT8=2),
    *typed("SELECT", "T T T -> T", UINT32=4, INT8=2),
    Case("SELECT", f"BOOL FLOAT32 FLOAT32{RANK_5} -> FLOAT32", {"high-rank": (3, 1)}),
    Case("SELECT", f"BOOL{RANK_6} FLOAT32 FLOAT32 -> FLOAT32", {}),
    *typed("SELECT_V2", "T T T -> T", UINT32=2),
    *typed("SUM", "T -> T", INT8=2),
    *typed("TOPK_V2", "T INT32 -> T INT32", INT16=3, INT8=2),
    Case("TOPK_V2", "INT8 INT16 -> INT8 INT32", {"int16-indices": (3, 2), "int8-type": (2, 3)}),
    Case("TOPK_V2", "FLOAT32 INT32 -> FLOAT32 INT16", {"int16-indices": (3, 1)}),
    *typed("EXP", "T -> T", INT8=2, INT16=2),
    *typed("DYNAMIC_UPDATE_SLICE", "T T INT32 -> T", BFLOAT16=6, INT4=5, INT16=4, FLOAT16=3),
    Case("DYNAMIC_UPDATE_SLICE", "INT16 INT16 INT64 -> INT16", {"int16-type": (4, 2), "int64-indices": (2, 4)}),
    Case("BROADCAST_TO", "FLOAT32 INT32 -> FLOAT32", {}),
    Case("BROADCAST_TO", "FLOAT8_E5M2 INT32 -> FLOAT8_E5M2", {"float8-type": (4, 2)}),
    *typed("BROADCAST_TO", "T INT32 -> T", 2, INT8=3, INT16=3),
    Case("CAST", "FLOAT32 -> FLOAT8_E5M2", {"float8-type": (9, 1)}),
    *typed("CAST", "T -> FLOAT32", INT2=8, UINT4=8, BFLOAT16=7, INT4=6, FLOAT64=5, FLOAT16=5, UINT16=4, INT8=3, UINT32=2),
    *typed("CAST", "FLOAT32 -> T", INT2=8, UINT4=8, BFLOAT16=7, FLOAT64=5, FLOAT16=5, UINT16=4, INT8=3, UINT32=2),
    Case("CAST", "FLOAT32 -> INT4", {}),
    Case("CAST", "INT8 -> UINT32", {"int8-type": (3, 2), "uint32-type": (2, 3)}),
    Case("WHERE", "BOOL -> INT64", {}),
    Case("WHERE", "FLOAT32 -> INT64", {"non-bool-condition": (2, 1)}),
    *typed("GELU", "T -> T", FLOAT16=3, INT8=2, UINT8=2),
    Case("RESHAPE", "INT8 INT32 -> INT8", {}),
]

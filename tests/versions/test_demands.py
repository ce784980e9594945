from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from delegate_sim.graph.graph import file_graphs
from delegate_sim.model import schema
from delegate_sim.model.model import Sparsity
from delegate_sim.model.reader import load
from delegate_sim.versions.demands import (
    DEMANDS,
    LOWEST_VERSIONS,
    Feature,
    NodePosition,
    VersionCause,
    expected_version,
    features_above,
    shared_version,
    version_cause,
    version_features,
    version_without,
)
from delegate_sim.versions.features import FEATURES
from fixtures.builder import ModelBuilder
from tests.graphs import arena, node_view, quantized

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "keras.zip"
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_version_and_features(case):
    node = case.node
    expected = [Feature(code, version) for code, (version, _) in case.features.items()]
    assert list(version_features(node)) == expected
    lowest = LOWEST_VERSIONS.get(case.op, 1)
    assert expected_version(node) == (expected[0].version if expected else lowest)
    assert {code: version_without(node, {code}) for code in case.features} == {
        code: version for code, (_, version) in case.features.items()
    }
    assert version_without(node, case.features) == lowest


@pytest.mark.parametrize("case", CASES, ids=str)
def test_features_above_are_enough_and_none_of_them_is_needless(case):
    node = case.node
    for version in range(LOWEST_VERSIONS.get(case.op, 1), 15):
        codes = [feature.code for feature in features_above(node, version)]
        assert version_without(node, codes) <= version
        for code in codes:
            assert version_without(node, set(codes) - {code}) > version


@pytest.mark.parametrize(
    ("factor", "features"), [(2.0, ["upward-rescale", "int8-type"]), (1.99, ["int8-type"]), (0.0, ["int8-type"])]
)
def test_product_that_is_scaled_up(factor, features):
    operand = quantized(arena("INT8", 4), factor)
    node = node_view("MUL", [operand, quantized(arena("INT8", 4), 0.5)], [quantized(arena("INT8", 4), 1.0)])
    assert [feature.code for feature in version_features(node)] == features
    assert expected_version(node) == (3 if len(features) == 2 else 2)


def test_features_given_by_others_take_these_along():
    node = Case("FULLY_CONNECTED", "FLOAT32 INT8[8,4]*8 FLOAT32 -> FLOAT32", {}, ASYMMETRIC).node
    assert features_above(node, 12) == ()
    assert features_above(node, 9) == (Feature(PER_CHANNEL, 12),)
    assert features_above(node, 5) == (Feature(PER_CHANNEL, 12), Feature(SYMMETRIC_OR_NOT, 9))
    assert features_above(node, 2) == (Feature(HYBRID, 3),)


def test_no_feature_lowers_a_version_below_the_lowest():
    node = Case("BROADCAST_TO", "INT8 INT32 -> INT8", {}).node
    assert features_above(node, 1) is None
    assert version_cause(node, 1) == VersionCause((), (), False)


def test_unknown_feature():
    node = Case("ADD", "INT8 INT8 -> INT8", {}).node
    for ask in (version_without, shared_version):
        with pytest.raises(ValueError, match="unknown feature 'int9-type'"):
            ask(node, ["int9-type"])


def test_custom_operator_has_no_features_whatever_its_name():
    node = node_view("ADD", [arena("INT8", 4)], [arena("INT8", 4)], custom=True)
    assert version_features(node) == ()
    assert expected_version(node) == 1


def test_malformed_nodes_are_read_as_far_as_they_go():
    for op in DEMANDS:
        node = node_view(op, [], [])
        assert expected_version(node) >= 1
        assert features_above(node, 15) == ()


def _mixed_model():
    """A model of two float nodes and, in another subgraph, one of INT8, which share an operator; and one of another operator."""
    builder = ModelBuilder()
    for number, kinds in enumerate((("FLOAT32", "FLOAT32"), ("INT8",))):
        graph = builder.subgraph(f"graph{number}")
        last = graph.input("x", "FLOAT32", [1, 4])
        for position, kind in enumerate(kinds):
            source = graph.tensor(f"a{position}", kind, [1, 4])
            last = graph.tensor(f"b{position}", kind, [1, 4])
            graph.node("MEAN", [source], [last], 2, {})
        graph.node("RESHAPE", [last], [graph.tensor("c", "FLOAT32", [4])], 3, {})
        graph.outputs(last)
    return load(builder.bytes())


def test_version_that_another_node_demands():
    graphs = file_graphs(_mixed_model())
    node = graphs[0].view(graphs[0].nodes[0])
    assert (node.version, expected_version(node), shared_version(node)) == (2, 1, 2)
    assert features_above(node, 1) == ()
    assert version_cause(node, 1) == VersionCause((Feature("int8-type", 2),), (NodePosition(1, 0),), True)
    assert version_cause(node, 2) == VersionCause((), (), True)
    assert shared_version(node, ["int8-type"]) == 1


def test_version_that_the_rule_does_not_explain():
    graphs = file_graphs(_mixed_model())
    node = graphs[0].view(graphs[0].nodes[2])
    assert (node.op, node.version, shared_version(node)) == ("RESHAPE", 3, 1)
    assert version_cause(node, 2) == VersionCause((), (), False)


def test_operators_without_demands_have_version_1():
    """Those of the schema that the rule does not name, and all that it names are of the schema."""
    named = set(schema.enum_names("BuiltinOperator").values())
    assert named >= DEMANDS.keys() >= LOWEST_VERSIONS.keys()
    for op in named - DEMANDS.keys() - {"CUSTOM"}:
        assert expected_version(node_view(op, [arena("INT8", 4)] * 3, [arena("INT8", 4)])) == 1


CONVERTER_SETTINGS = {
    "_experimental_disable_per_channel",
    "_experimental_disable_per_channel_quantization_for_dense_layers",
    "_experimental_full_integer_quantization_bias_type",
    "_experimental_low_bit_qat",
    "experimental_new_dynamic_range_quantizer",
    "inference_input_type",
    "optimizations",
    "representative_dataset",
    "target_spec.supported_ops",
    "target_spec.supported_types",
}
"""Attributes of tf.lite.TFLiteConverter (``tflite/python/lite.py``, LiteRT) that the advice may name."""


def test_every_feature_is_explained():
    assert {
        code for demands in DEMANDS.values() for demand in demands for code in (demand.code, *demand.given)
    } == FEATURES.keys()
    for code, explanation in FEATURES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
        assert not explanation.title.endswith(".")
        assert explanation.meaning.endswith(".")
        assert explanation.advice.endswith(".")
        assert len(explanation.advice) > 40
        assert {*re.findall(r"\bconverter\.([\w.]*\w)", explanation.advice)} <= CONVERTER_SETTINGS
    assert Feature("keep-num-dims", 5).explanation is FEATURES["keep-num-dims"]


def test_every_demand_has_a_case():
    met = {}
    for case in CASES:
        for feature in version_features(case.node):
            met.setdefault(DEMANDS[case.op], set()).add((feature.version, feature.code))
    met[DEMANDS["MUL"]].add((3, "upward-rescale"))
    missing = {
        op: left
        for op, demands in DEMANDS.items()
        if (left := {(demand.version, demand.code) for demand in demands} - met.get(demands, set()))
    }
    assert missing == {}


needs_corpus = pytest.mark.skipif(not CORPUS.exists(), reason="the converted models (../shared) are not here")


def _corpus_graphs(archive, name):
    return file_graphs(load(archive.read(name)))


@needs_corpus
def test_agreement_with_converted_models():
    """Models of the quantisers that do not mark versions by the rule stand apart."""
    agreed, differing, by_operator = Counter(), Counter(), Counter()
    with zipfile.ZipFile(CORPUS) as archive:
        for name in archive.namelist():
            by_rule = ".int16x8." not in name and ".int8_oldq." not in name
            for graph in _corpus_graphs(archive, name):
                for node in graph.nodes:
                    if not node.is_custom and shared_version(graph.view(node)) == node.version:
                        agreed[by_rule] += 1
                    elif not node.is_custom:
                        differing[by_rule] += 1
                        by_operator[by_rule, node.op] += 1
    assert differing[True] == 0, by_operator
    assert agreed[True] > 50_000
    assert agreed[False] / (agreed[False] + differing[False]) > 0.1, by_operator


@needs_corpus
def test_asymmetric_inputs_of_distilbert():
    with zipfile.ZipFile(CORPUS) as archive:
        (hybrid,) = _corpus_graphs(archive, "distilbert_batch8.dyn_unfold.tf215.tflite")
        (floating,) = _corpus_graphs(archive, "distilbert_batch8.f32_unfold.tf215.tflite")
    nodes = [hybrid.view(node) for node in hybrid.nodes if node.op == "FULLY_CONNECTED"]
    (twin_version,) = {node.version for node in floating.nodes if node.op == "FULLY_CONNECTED"}
    assert twin_version == 5
    assert {(node.version, shared_version(node), shared_version(node, [SYMMETRIC_OR_NOT])) for node in nodes} == {(9, 9, 5)}
    demanding = {node.node.index for node in nodes if expected_version(node) > 5}
    assert 0 < len(demanding) < len(nodes)
    for node in nodes:
        cause = version_cause(node, 5)
        assert cause.is_explained
        assert cause.features == (Feature(SYMMETRIC_OR_NOT, 9),)
        assert {position.node for position in cause.nodes} == demanding
    assert {features_above(node, 5) for node in nodes if node.node.index in demanding} == {(Feature(SYMMETRIC_OR_NOT, 9),)}

"""Versions of builtin operators that ``BuiltinOpResolver`` loads.

For each family of releases, the table has all operators of the oldest release, and then the changes in each later release. No
release drops a version.

``tools/upstream/resolver_versions.py`` tested every version of every operator on every release with a wheel: TensorFlow 2.10
and later, ``tflite-runtime`` 2.10 to 2.14, and ``ai-edge-litert``. The tests agree with ``core/kernels/register.cc`` in LiteRT
1.1.0 and later. LiteRT 1.4.1 has no wheel, so ``register.cc`` is the only source for this release.
"""

from __future__ import annotations

from collections.abc import Mapping

_TENSORFLOW: Mapping[tuple[int, ...], Mapping[int, str]] = {
    (2, 10): {
        1: """
            ADD_N ASSIGN_VARIABLE ATAN2 BROADCAST_ARGS BUCKETIZE CALL_ONCE CEIL COMPLEX_ABS CONV_3D CONV_3D_TRANSPOSE COS
            CUMSUM DENSIFY DYNAMIC_UPDATE_SLICE ELU EMBEDDING_LOOKUP_SPARSE EXP EXPAND_DIMS FLOOR FLOOR_MOD HARD_SWISH
            HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP HASHTABLE_SIZE IF IMAG L2_POOL_2D
            LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LSH_PROJECTION MATRIX_DIAG MATRIX_SET_DIAG
            MULTINOMIAL NEG NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 ONE_HOT POW PRELU RANDOM_STANDARD_NORMAL
            RANDOM_UNIFORM RANGE RANK READ_VARIABLE REAL REDUCE_ALL REDUCE_ANY RELU_0_TO_1 RELU_N1_TO_1 RESHAPE
            REVERSE_SEQUENCE RFFT2D ROUND SCATTER_ND SEGMENT_SUM SELECT_V2 SHAPE SIN SKIP_GRAM SQRT SQUARE UNIQUE
            UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM VAR_HANDLE WHILE ZEROS_LIKE
        """,
        2: """
            DEPTH_TO_SPACE DIV FAKE_QUANT FLOOR_DIV GELU GREATER GREATER_EQUAL L2_NORMALIZATION LEAKY_RELU LESS LESS_EQUAL
            LOG_SOFTMAX MIRROR_PAD REDUCE_PROD RSQRT SELECT SPACE_TO_DEPTH SPLIT_V SQUARED_DIFFERENCE SQUEEZE SUM TOPK_V2
            WHERE
        """,
        3: """
            ARG_MAX ARG_MIN AVERAGE_POOL_2D BATCH_TO_SPACE_ND BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN
            BROADCAST_TO CONCATENATION EMBEDDING_LOOKUP EQUAL FILL GATHER_ND LOGISTIC MAX_POOL_2D MEAN NOT_EQUAL PACK QUANTIZE
            REDUCE_MAX REDUCE_MIN RELU RELU6 REVERSE_V2 RNN SOFTMAX SPACE_TO_BATCH_ND SPARSE_TO_DENSE TANH TILE TRANSPOSE_CONV
            UNIDIRECTIONAL_SEQUENCE_LSTM UNIDIRECTIONAL_SEQUENCE_RNN
        """,
        4: "ABS ADD BATCH_MATMUL CAST LSTM MAXIMUM MINIMUM PAD PADV2 RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR SPLIT SVDF UNPACK",
        5: "DEQUANTIZE GATHER MUL SLICE SUB TRANSPOSE",
        6: "CONV_2D DEPTHWISE_CONV_2D STRIDED_SLICE",
        9: "FULLY_CONNECTED",
    },
    (2, 11): {1: "SIGN UNSORTED_SEGMENT_MIN", 6: "MUL"},
    (2, 12): {
        2: "SIGN",
        3: "SELECT",
        4: "FILL TRANSPOSE_CONV UNIDIRECTIONAL_SEQUENCE_LSTM",
        5: "ABS",
        6: "TRANSPOSE",
        7: "CONV_2D",
    },
    (2, 13): {
        1: "BITCAST BITWISE_XOR RIGHT_SHIFT",
        2: "EXP FLOOR_MOD",
        3: "FLOOR_DIV GREATER_EQUAL LESS MIRROR_PAD TOPK_V2",
        4: "BATCH_TO_SPACE_ND EQUAL GATHER_ND SPACE_TO_BATCH_ND",
        5: "ADD CAST",
        6: "GATHER",
        7: "DEPTHWISE_CONV_2D MUL",
        10: "FULLY_CONNECTED",
    },
    (2, 14): {2: "RANGE SELECT_V2", 4: "CONCATENATION PACK SELECT", 6: "SLICE", 8: "STRIDED_SLICE"},
    (2, 15): {
        1: "DILATE REDUCE_WINDOW STABLEHLO_RNG_BIT_GENERATOR STABLEHLO_SCATTER",
        2: "LOG",
        3: "RSQRT",
        5: "TRANSPOSE_CONV",
        6: "CAST",
        7: "GATHER",
        8: "CONV_2D",
        11: "FULLY_CONNECTED",
    },
    (2, 16): {
        1: """
            STABLEHLO_ADD STABLEHLO_GATHER STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD
            STABLEHLO_REDUCE_WINDOW
        """,
        5: "GATHER_ND",
    },
    (2, 17): {12: "FULLY_CONNECTED"},
    (2, 18): {
        1: "STABLEHLO_AND STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT",
        2: "DYNAMIC_UPDATE_SLICE",
        4: "EMBEDDING_LOOKUP",
        6: "DEQUANTIZE",
        13: "FULLY_CONNECTED",
    },
    (2, 19): {1: "STABLEHLO_CASE", 3: "DYNAMIC_UPDATE_SLICE", 7: "CAST"},
    (2, 20): {4: "DYNAMIC_UPDATE_SLICE", 5: "PAD PADV2", 7: "TRANSPOSE"},
    (2, 21): {
        2: "SQRT",
        4: "NOT_EQUAL QUANTIZE",
        5: "CONCATENATION DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP EQUAL",
        7: "DEQUANTIZE SLICE",
        8: "CAST",
        14: "FULLY_CONNECTED",
    },
    (2, 22): {
        2: "COS SIN",
        3: "GELU SPLIT_V",
        4: "BROADCAST_TO REVERSE_V2 SOFTMAX",
        5: "FILL PACK SPLIT",
        6: "ADD DYNAMIC_UPDATE_SLICE GATHER_ND PAD PADV2 QUANTIZE UNPACK",
        7: "CONCATENATION",
        8: "GATHER MUL SLICE",
        9: "CAST DEQUANTIZE TRANSPOSE",
    },
}
"""For each TensorFlow release, the operators with a new highest version, grouped by this version.

TensorFlow 2.22 was measured with its release candidate 2.22.0rc0.
"""

_LITERT: Mapping[tuple[int, ...], Mapping[int, str]] = {
    (1, 0): {
        1: """
            ADD_N ASSIGN_VARIABLE ATAN2 BITCAST BITWISE_XOR BROADCAST_ARGS BUCKETIZE CALL_ONCE CEIL COMPLEX_ABS CONV_3D
            CONV_3D_TRANSPOSE COS CUMSUM DENSIFY DILATE ELU EMBEDDING_LOOKUP_SPARSE EXPAND_DIMS FLOOR HARD_SWISH HASHTABLE
            HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP HASHTABLE_SIZE IF IMAG L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION
            LOGICAL_AND LOGICAL_NOT LOGICAL_OR LSH_PROJECTION MATRIX_DIAG MATRIX_SET_DIAG MULTINOMIAL NEG
            NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 ONE_HOT POW PRELU RANDOM_STANDARD_NORMAL RANDOM_UNIFORM RANK
            READ_VARIABLE REAL REDUCE_ALL REDUCE_ANY REDUCE_WINDOW RELU_0_TO_1 RELU_N1_TO_1 RESHAPE REVERSE_SEQUENCE RFFT2D
            RIGHT_SHIFT ROUND SCATTER_ND SEGMENT_SUM SHAPE SIN SKIP_GRAM SQRT SQUARE STABLEHLO_ADD STABLEHLO_COMPOSITE
            STABLEHLO_GATHER STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD STABLEHLO_REDUCE_WINDOW
            STABLEHLO_RNG_BIT_GENERATOR STABLEHLO_SCATTER UNIQUE UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN
            UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM VAR_HANDLE WHILE ZEROS_LIKE
        """,
        2: """
            DEPTH_TO_SPACE DIV DYNAMIC_UPDATE_SLICE EXP FAKE_QUANT FLOOR_MOD GELU GREATER L2_NORMALIZATION LEAKY_RELU
            LESS_EQUAL LOG LOG_SOFTMAX RANGE REDUCE_PROD SELECT_V2 SIGN SPACE_TO_DEPTH SPLIT_V SQUARED_DIFFERENCE SQUEEZE SUM
            WHERE
        """,
        3: """
            ARG_MAX ARG_MIN AVERAGE_POOL_2D BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN BROADCAST_TO FLOOR_DIV
            GREATER_EQUAL LESS LOGISTIC MAX_POOL_2D MEAN MIRROR_PAD NOT_EQUAL QUANTIZE REDUCE_MAX REDUCE_MIN RELU RELU6
            REVERSE_V2 RNN RSQRT SOFTMAX SPARSE_TO_DENSE TANH TILE TOPK_V2 UNIDIRECTIONAL_SEQUENCE_RNN
        """,
        4: """
            BATCH_MATMUL BATCH_TO_SPACE_ND CONCATENATION EMBEDDING_LOOKUP EQUAL FILL LSTM MAXIMUM MINIMUM PACK PAD PADV2
            RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR SELECT SPACE_TO_BATCH_ND SPLIT SVDF UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK
        """,
        5: "ABS ADD GATHER_ND SUB TRANSPOSE_CONV",
        6: "CAST DEQUANTIZE SLICE TRANSPOSE",
        7: "DEPTHWISE_CONV_2D GATHER MUL",
        8: "CONV_2D STRIDED_SLICE",
        13: "FULLY_CONNECTED",
    },
    (1, 1): {1: "STABLEHLO_AND STABLEHLO_CASE STABLEHLO_SHIFT_LEFT", 3: "DYNAMIC_UPDATE_SLICE", 7: "CAST"},
    (1, 2): {7: "TRANSPOSE"},
    (1, 3): {4: "DYNAMIC_UPDATE_SLICE"},
    (2, 0): {2: "SQRT", 5: "PAD PADV2"},
    (2, 1): {4: "NOT_EQUAL QUANTIZE", 5: "EQUAL", 7: "DEQUANTIZE SLICE", 8: "CAST", 14: "FULLY_CONNECTED"},
    (2, 1, 2): {5: "CONCATENATION DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP"},
    (2, 1, 3): {5: "UNPACK", 6: "QUANTIZE", 8: "DEQUANTIZE"},
    (2, 1, 6): {
        2: "COS SIN",
        3: "GELU",
        4: "SOFTMAX",
        6: "ADD CONCATENATION DYNAMIC_UPDATE_SLICE",
        8: "MUL SLICE",
        9: "TRANSPOSE",
    },
    (2, 2): {
        3: "SPLIT_V",
        4: "BROADCAST_TO REVERSE_V2",
        5: "FILL PACK SPLIT",
        6: "GATHER_ND PAD PADV2 UNPACK",
        7: "CONCATENATION",
        8: "GATHER",
        9: "CAST DEQUANTIZE",
    },
    (2, 4): {10: "CAST", 15: "FULLY_CONNECTED"},
}
"""For each LiteRT release, the operators with a new highest version, grouped by this version.

LiteRT's first release loads more operators than TensorFlow 2.17, and fewer operators than TensorFlow 2.18.
"""

LOADED: Mapping[str, Mapping[tuple[int, ...], Mapping[int, str]]] = {"tf": _TENSORFLOW, "litert": _LITERT}
"""For each family and release, the operators with a new highest version. The oldest release comes first."""

MINIMUM: Mapping[str, int] = {"BROADCAST_TO": 2}
"""The lowest version of each operator that has no version 1. All releases have the same lowest version."""

NEWEST_OPERATORS: Mapping[str, Mapping[tuple[int, ...], str]] = {
    "tf": {
        (2, 10): "ATAN2",
        (2, 11): "SIGN",
        (2, 13): "RIGHT_SHIFT",
        (2, 15): "REDUCE_WINDOW",
        (2, 17): "STABLEHLO_COMPOSITE",
        (2, 18): "STABLEHLO_CBRT",
        (2, 19): "STABLEHLO_CASE",
    },
    "litert": {(1, 0): "STABLEHLO_COMPOSITE", (1, 1): "STABLEHLO_CASE"},
}
"""For each family and release, the operator with the highest builtin code in the schema.

This operator may have no kernel.
"""

NEWEST_TYPES: Mapping[str, Mapping[tuple[int, ...], str]] = {
    "tf": {(2, 10): "UINT16", (2, 11): "INT4", (2, 17): "BFLOAT16", (2, 21): "UINT4", (2, 22): "FLOAT8_E5M2"},
    "litert": {(1, 0): "BFLOAT16", (2, 1, 0): "INT2", (2, 1, 2): "UINT4", (2, 1, 6): "FLOAT8_E5M2"},
}
"""For each family and release, the loaded tensor type with the highest code (``ConvertTensorType``).

A release loads all types with lower codes.

The types were measured with the wheels. For releases without a wheel, the source is ``core/api/flatbuffer_conversions.cc`` at
LiteRT's tags.
"""

"""Which versions of builtin operators the runtime's own CPU kernels load, by release.

A model with any other fails to load, whatever delegate would accept the node. The facts are those of ``BuiltinOpResolver``
(``core/kernels/register.cc``) of LiteRT 1.1.0 and later; older releases, and TensorFlow Lite's, count as LiteRT 1.1.0.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ..releases.catalogue import Release

OLDEST_KNOWN = "litert-1.1.0"
"""The oldest release whose versions are known."""

_FIRST_MAXIMUM = {
    1: """
        ADD_N ASSIGN_VARIABLE ATAN2 BITCAST BITWISE_XOR BROADCAST_ARGS BUCKETIZE CALL_ONCE CEIL COMPLEX_ABS CONV_3D
        CONV_3D_TRANSPOSE COS CUMSUM DENSIFY DILATE ELU EMBEDDING_LOOKUP_SPARSE EXPAND_DIMS FLOOR HARD_SWISH HASHTABLE
        HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP HASHTABLE_SIZE IF IMAG L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION
        LOGICAL_AND LOGICAL_NOT LOGICAL_OR LSH_PROJECTION MATRIX_DIAG MATRIX_SET_DIAG MULTINOMIAL NEG NON_MAX_SUPPRESSION_V4
        NON_MAX_SUPPRESSION_V5 ONE_HOT POW PRELU RANDOM_STANDARD_NORMAL RANDOM_UNIFORM RANK READ_VARIABLE REAL REDUCE_ALL
        REDUCE_ANY REDUCE_WINDOW RELU_0_TO_1 RELU_N1_TO_1 RESHAPE REVERSE_SEQUENCE RFFT2D RIGHT_SHIFT ROUND SCATTER_ND
        SEGMENT_SUM SHAPE SIN SKIP_GRAM SQRT SQUARE STABLEHLO_ADD STABLEHLO_AND STABLEHLO_CASE STABLEHLO_COMPOSITE
        STABLEHLO_GATHER STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD STABLEHLO_REDUCE_WINDOW
        STABLEHLO_RNG_BIT_GENERATOR STABLEHLO_SCATTER STABLEHLO_SHIFT_LEFT UNIQUE UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN
        UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM VAR_HANDLE WHILE ZEROS_LIKE
    """,
    2: """
        DEPTH_TO_SPACE DIV EXP FAKE_QUANT FLOOR_MOD GELU GREATER L2_NORMALIZATION LEAKY_RELU LESS_EQUAL LOG LOG_SOFTMAX RANGE
        REDUCE_PROD SELECT_V2 SIGN SPACE_TO_DEPTH SPLIT_V SQUARED_DIFFERENCE SQUEEZE SUM WHERE
    """,
    3: """
        ARG_MAX ARG_MIN AVERAGE_POOL_2D BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN BROADCAST_TO
        DYNAMIC_UPDATE_SLICE FLOOR_DIV GREATER_EQUAL LESS LOGISTIC MAX_POOL_2D MEAN MIRROR_PAD NOT_EQUAL QUANTIZE REDUCE_MAX
        REDUCE_MIN RELU RELU6 REVERSE_V2 RNN RSQRT SOFTMAX SPARSE_TO_DENSE TANH TILE TOPK_V2 UNIDIRECTIONAL_SEQUENCE_RNN
    """,
    4: """
        BATCH_MATMUL BATCH_TO_SPACE_ND CONCATENATION EMBEDDING_LOOKUP EQUAL FILL LSTM MAXIMUM MINIMUM PACK PAD PADV2
        RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR SELECT SPACE_TO_BATCH_ND SPLIT SVDF UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK
    """,
    5: "ABS ADD GATHER_ND SUB TRANSPOSE_CONV",
    6: "DEQUANTIZE SLICE TRANSPOSE",
    7: "CAST DEPTHWISE_CONV_2D GATHER MUL",
    8: "CONV_2D STRIDED_SLICE",
    13: "FULLY_CONNECTED",
}
"""The operators of the oldest release known, by the highest version that it loads."""

_RAISED_MAXIMUM: Mapping[tuple[int, ...], Mapping[str, int]] = {
    (1, 2): {"TRANSPOSE": 7},
    (1, 3): {"DYNAMIC_UPDATE_SLICE": 4},
    (2, 0): {"PAD": 5, "PADV2": 5, "SQRT": 2},
    (2, 1): {"CAST": 8, "DEQUANTIZE": 7, "EQUAL": 5, "FULLY_CONNECTED": 14, "NOT_EQUAL": 4, "QUANTIZE": 4, "SLICE": 7},
    (2, 1, 2): {"CONCATENATION": 5, "DYNAMIC_UPDATE_SLICE": 5, "EMBEDDING_LOOKUP": 5},
    (2, 1, 3): {"DEQUANTIZE": 8, "QUANTIZE": 6, "UNPACK": 5},
    (2, 1, 6): {
        "ADD": 6,
        "CONCATENATION": 6,
        "COS": 2,
        "DYNAMIC_UPDATE_SLICE": 6,
        "GELU": 3,
        "MUL": 8,
        "SIN": 2,
        "SLICE": 8,
        "SOFTMAX": 4,
        "TRANSPOSE": 9,
    },
    (2, 2): {
        "BROADCAST_TO": 4,
        "CAST": 9,
        "CONCATENATION": 7,
        "DEQUANTIZE": 9,
        "FILL": 5,
        "GATHER": 8,
        "GATHER_ND": 6,
        "PACK": 5,
        "PAD": 6,
        "PADV2": 6,
        "REVERSE_V2": 4,
        "SPLIT": 5,
        "SPLIT_V": 3,
        "UNPACK": 6,
    },
}
"""The highest version from each release of LiteRT on, oldest first, where it differs from that of the release before."""

_MINIMUM = {"BROADCAST_TO": 2}
"""The lowest version, where it is not 1."""


def unresolved(op: str, version: int, release: Release) -> str | None:
    """Return why a release cannot load a builtin operator in this version, None if it can."""
    maximum = _maximum_versions(release).get(op)
    if maximum is None:
        return f"{release} has no CPU kernel for {op}"
    minimum = _MINIMUM.get(op, 1)
    if minimum <= version <= maximum:
        return None
    known = f"version {minimum} only" if minimum == maximum else f"versions {minimum} to {maximum}"
    return f"{release} does not load {op} version {version}: it knows {known}"


@functools.cache
def _maximum_versions(release: Release) -> Mapping[str, int]:
    maximum = {op: version for version, ops in _FIRST_MAXIMUM.items() for op in ops.split()}
    for since, raised in _RAISED_MAXIMUM.items():
        if release.family == "litert" and release.version >= since:
            maximum.update(raised)
    return maximum

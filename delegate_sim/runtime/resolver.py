"""Versions of builtin operators that ``BuiltinOpResolver`` loads.

For each family of releases, the table has all operators of the oldest release, and then the changes in each later release. No
release drops a version.

``tools/upstream/resolver_versions.py`` tested every version of every operator on every release with a wheel: TensorFlow 2.10
and later, ``tflite-runtime`` 2.10 to 2.14, and ``ai-edge-litert``. The tests agree with ``core/kernels/register.cc`` in LiteRT
1.1.0 and later. LiteRT 1.4.1 has no wheel, so ``register.cc`` is the only source for this release.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from typing import NamedTuple

from ..model import schema
from ..releases.catalogue import Release, parse_release

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


_FAILED = "Registration failed."


class Loads(enum.Enum):
    """Whether a release loads an operator or a type. ``UNKNOWN`` if ``resolver`` does not cover the release."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "not known"


class _Versions(NamedTuple):
    maximum: Mapping[str, int]
    highest_code: int
    highest_type: int


def loads(op: str, version: int, release: Release) -> Loads:
    """Return whether a release's own kernels load this version of a builtin operator.

    A release that is not in the table is treated like the next older release in the table. If the table has no older release,
    the result is ``UNKNOWN``.
    """
    known = _versions(release)
    if known is None:
        return Loads.UNKNOWN
    return Loads.YES if MINIMUM.get(op, 1) <= version <= known.maximum.get(op, 0) else Loads.NO


def highest_version(op: str, release: Release) -> int | None:
    """Return the highest version of an operator that a release loads.

    Return None if the release loads no version, or if the table does not cover the release.
    """
    known = _versions(release)
    return None if known is None else known.maximum.get(op)


def unresolved(op: str, version: int, release: Release) -> str | None:
    """Return a message if a release does not load a version of a builtin operator, or if this is not known.

    Return None if the release loads the version.
    """
    known = _versions(release)
    if known is None:
        return f"it is not known whether {release} loads {op} version {version}"
    maximum = known.maximum.get(op)
    if maximum is None:
        return f"{release} has no CPU kernel for {op}"
    minimum = MINIMUM.get(op, 1)
    if minimum <= version <= maximum:
        return None
    span = f"version {minimum} only" if minimum == maximum else f"versions {minimum} to {maximum}"
    return f"{release} does not load {op} version {version}: it supports {span}"


def refusal_lines(op: str, version: int, release: Release) -> tuple[str, ...]:
    """Return the lines that a release logs if it does not load a builtin operator.

    Return no lines if the release loads the operator, or if the table does not cover the release. ``op`` is ``UNKNOWN(code)``
    for an operator that this package's schema lacks.

    The error of TensorFlow Lite's ``Interpreter`` class in Python contains these lines. The error has no line breaks if the
    release's schema lacks the operator.
    """
    known = _versions(release)
    if known is None or loads(op, version, release) is Loads.YES:
        return ()
    code = schema.enum_values("BuiltinOperator").get(op)
    name = op if code is not None else ""
    if code is None:
        code = int(op.removeprefix("UNKNOWN(").removesuffix(")"))
    if code > known.highest_code:
        return f"Op builtin_code out of range: {code}. Are you using old TFLite binary with newer model?", _FAILED
    return (
        f"Didn't find op for builtin opcode '{name}' version '{version}'. An older version of this builtin might be supported. "
        "Are you using an old TFLite binary with a newer model?",
        _FAILED,
    )


def loads_type(name: str, release: Release, *, is_constant: bool = False) -> Loads:
    """Return whether a release loads tensors of a type.

    ``name`` is ``UNKNOWN(code)`` for a type that this package's schema lacks.
    """
    known = _versions(release)
    if known is None:
        return Loads.UNKNOWN
    is_refused = _type_code(name) > known.highest_type or (is_constant and _is_unpacked(name, release))
    return Loads.NO if is_refused else Loads.YES


def tensor_refusal_line(name: str, tensor: int, release: Release) -> str:
    """Return the line that a release logs for a tensor of a type that it does not load."""
    if _is_unpacked(name, release) and loads_type(name, release) is Loads.YES:
        return f"Tensor {tensor} is invalidly specified in schema."
    return f"Unsupported data type {_type_code(name)} in tensor"


def _is_unpacked(name: str, release: Release) -> bool:
    """Return whether a release expects one byte for each value of a packed type, so that constants of the type are too short."""
    return name == "INT4" and not release.is_at_least(_PACKED)


_PACKED = parse_release("tf-2.12")


def _type_code(name: str) -> int:
    code = schema.enum_values("TensorType").get(name)
    return int(name.removeprefix("UNKNOWN(").removesuffix(")")) if code is None else code


@functools.lru_cache(maxsize=64)
def _versions(release: Release) -> _Versions | None:
    tables = LOADED[release.family]
    if release.version[:2] < min(tables):
        return None
    maximum: dict[str, int] = {}
    for since, changed in tables.items():
        if release.version >= since:
            maximum.update({op: version for version, ops in changed.items() for op in ops.split()})
    newest, newest_type = [
        [name for since, name in table[release.family].items() if (*release.version, 0) >= since][-1]
        for table in (NEWEST_OPERATORS, NEWEST_TYPES)
    ]
    return _Versions(maximum, schema.enum_values("BuiltinOperator")[newest], schema.enum_values("TensorType")[newest_type])

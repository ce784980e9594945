"""The TFLite schema: names of types and operators, the fields of tables, and the families of operators.

The schema is in ``tflite_schema.json``, which ``make schema`` generates (``tools/schema.py``).
"""

from __future__ import annotations

import functools
import json
import pkgutil
import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

_DATA = json.loads(pkgutil.get_data(__package__, "tflite_schema.json") or b"")

TFLITE_VERSION: str = _DATA["version"]
"""The release of the ``tflite`` package that ``make schema`` read."""

ENUMS: Mapping[str, Mapping[int, str]] = {
    name: {value: member for member, value in members.items()} for name, members in _DATA["enums"].items()
}
"""The members of enums and unions, by value."""

TABLES: Mapping[str, Mapping[str, Sequence[Any]]] = _DATA["tables"]
"""The fields of tables: slot, type, and the default of a number. ``[type]`` is a vector."""

OPTIONS_TABLES: Mapping[str, str] = _DATA["options"]
"""The options table of each builtin operator that has one."""

_BITS = {
    2: "INT2",
    4: "INT4 UINT4",
    8: "INT8 UINT8 BOOL FLOAT8_E4M3FN FLOAT8_E5M2",
    16: "INT16 UINT16 FLOAT16 BFLOAT16",
    32: "INT32 UINT32 FLOAT32",
    64: "INT64 UINT64 FLOAT64 COMPLEX64",
    128: "COMPLEX128",
}
BITS_PER_ELEMENT: Mapping[str, int] = {name: bits for bits, names in _BITS.items() for name in names.split()}
"""The number of bits of one element, for each type with a fixed size."""

TYPES_WITHOUT_SIZE = frozenset({"STRING", "RESOURCE", "VARIANT"})
"""Types whose elements have no fixed size. Tensors of these types have no size until a value is set."""

NUMPY_TYPES: Mapping[str, str] = {
    "FLOAT32": "<f4",
    "FLOAT16": "<f2",
    "INT32": "<i4",
    "UINT8": "<u1",
    "INT64": "<i8",
    "BOOL": "<u1",
    "INT16": "<i2",
    "COMPLEX64": "<c8",
    "INT8": "<i1",
    "FLOAT64": "<f8",
    "COMPLEX128": "<c16",
    "UINT64": "<u8",
    "UINT32": "<u4",
    "UINT16": "<u2",
}
"""The numpy type of each tensor type that numpy can read directly."""

CUSTOM = 32
"""The builtin code of a custom operator."""

_NUMBERS = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64"
_STRUCT_CODES: Mapping[str, str] = dict(zip(_NUMBERS.split(), "?bBhHiIqQfd", strict=True))
"""The format characters of the struct module, keyed by the schema's numeric type."""


class Field(NamedTuple):
    """A field of a table. ``default`` is the value of an absent field."""

    name: str
    slot: int
    type: str
    """The type, as in ``TABLES``."""
    default: Any

    @property
    def format(self) -> str | None:
        """The struct format of a numeric field, or None for a reference."""
        code = _STRUCT_CODES.get(self.type)
        return None if code is None else f"<{code}"

    @property
    def is_vector(self) -> bool:
        """True if the field refers to a vector."""
        return self.type.startswith("[")

    @property
    def element(self) -> str | None:
        """The struct format character of the elements if the field is a vector of numbers. None for all other fields."""
        return _STRUCT_CODES.get(self.type[1:-1]) if self.is_vector else None

    @property
    def target(self) -> str | None:
        """The type of the tables in the field, or None if the field contains no tables."""
        name = self.type.strip("[]")
        return name if name in TABLES else None

    @property
    def size(self) -> int:
        """The size of the field in the table in bytes: a number or a reference."""
        return struct.calcsize(self.format or "<I")

    @property
    def element_size(self) -> int:
        """The size in bytes of one element of the field's vector or string."""
        return 4 if self.target is not None else struct.calcsize(f"<{self.element or 's'}")


def enum_names(name: str) -> Mapping[int, str]:
    """Return the names of the members of an enum or union, by value."""
    return ENUMS[name]


@functools.cache
def enum_values(name: str) -> Mapping[str, int]:
    """Return the values of the members of an enum or union, by name."""
    return MappingProxyType({member: value for value, member in ENUMS[name].items()})


def is_operator(name: str) -> bool:
    """Return whether the schema has a builtin operator of this name."""
    return name in enum_values("BuiltinOperator")


def tensor_type_name(value: int) -> str:
    """Return the name of a tensor type, or ``UNKNOWN(value)`` for a type that is newer than the schema."""
    return ENUMS["TensorType"].get(value, f"UNKNOWN({value})")


def operator_name(value: int) -> str:
    """Return the name of a builtin operator, or ``UNKNOWN(value)`` for an operator that is newer than the schema."""
    return ENUMS["BuiltinOperator"].get(value, f"UNKNOWN({value})")


def builtin_code(op: str) -> int:
    """Return the code of a builtin operator."""
    return enum_values("BuiltinOperator")[op]


def options_table(op: str) -> str:
    """Return the name of a builtin operator's options table, or "" if the operator has no options table."""
    return OPTIONS_TABLES.get(op, "")


@functools.cache
def table_fields(table: str) -> Mapping[str, Field]:
    """Return the fields of a table by name. The result is empty if the schema lacks the table."""
    return MappingProxyType({name: _field(name, *declared) for name, declared in TABLES.get(table, {}).items()})


def _field(name: str, slot: int, declared_type: str, default: Any = None) -> Field:
    field = Field(name, slot, declared_type, default)
    if field.format is None:
        return field._replace(default=() if field.element else "")
    return field


def default_values(table: str) -> dict[str, Any]:
    """Return the default value of each field of a table, by name."""
    return {name: field.default for name, field in table_fields(table).items()}


_TYPES = """
    NO_TYPE FLOAT32 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT16 FLOAT64 COMPLEX128 UINT64 RESOURCE VARIANT
    UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4
"""
_TYPE_NUMBERS = {name: number for number, name in enumerate(_TYPES.split())}


def type_number(name: str) -> int:
    """Return the runtime's number for a type (``TfLiteType``). Model files use other numbers for the types."""
    return _TYPE_NUMBERS.get(name, 0)


# Files with rules, kernels and tests are named after families, or have several small families. Only the families of a model's
# operators are imported.
_FAMILIES = {
    # Activation functions, and normalization over channels or along one dimension.
    "activation": """
        ELU GELU HARD_SWISH L2_NORMALIZATION LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOGISTIC LOG_SOFTMAX PRELU RELU RELU6
        RELU_0_TO_1 RELU_N1_TO_1 SOFTMAX TANH
    """,
    # Elementwise arithmetic, comparison, logic and selection.
    "arithmetic": """
        ABS ADD ADD_N ATAN2 BITWISE_XOR CEIL COS DIV EQUAL EXP FLOOR FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL LOG
        LOGICAL_AND LOGICAL_NOT LOGICAL_OR MAXIMUM MINIMUM MUL NEG NOT_EQUAL POW RIGHT_SHIFT ROUND RSQRT SELECT SELECT_V2 SIGN SIN
        SQRT SQUARE SQUARED_DIFFERENCE SUB
    """,
    # Copies of all elements in another type or encoding.
    "conversion": "BITCAST BUCKETIZE CAST DENSIFY DEQUANTIZE FAKE_QUANT QUANTIZE",
    # Convolutions and transposed convolutions.
    "convolution": "CONV_2D CONV_3D CONV_3D_TRANSPOSE DEPTHWISE_CONV_2D TRANSPOSE_CONV",
    # Pooling windows.
    "pooling": "AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D",
    # Resizing of images.
    "resizing": "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    # Matrix products and diagonals.
    "matrix": "BATCH_MATMUL FULLY_CONNECTED MATRIX_DIAG MATRIX_SET_DIAG",
    # Layers with a state that passes from step to step.
    "recurrent": """
        BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN LSTM RNN SVDF UNIDIRECTIONAL_SEQUENCE_LSTM
        UNIDIRECTIONAL_SEQUENCE_RNN
    """,
    # Results computed from all elements, or all earlier elements, along some dimensions.
    "reduction": "ARG_MAX ARG_MIN CUMSUM MEAN REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD SUM",
    # Copies of all elements in another shape or order of dimensions, and the shape itself.
    "reshaping": """
        BATCH_TO_SPACE_ND DEPTH_TO_SPACE EXPAND_DIMS RANK RESHAPE SHAPE SPACE_TO_BATCH_ND SPACE_TO_DEPTH SQUEEZE TRANSPOSE
    """,
    # Reading, writing or reversing ranges of a tensor.
    "slicing": "DYNAMIC_UPDATE_SLICE REVERSE_SEQUENCE REVERSE_V2 SLICE STRIDED_SLICE",
    # Joining several tensors into one tensor, or splitting one tensor into several tensors.
    "joining": "CONCATENATION PACK SPLIT SPLIT_V UNPACK",
    # Adding elements around a tensor.
    "padding": "MIRROR_PAD PAD PADV2",
    # Finding, reading or writing elements by index, key or segment.
    "gathering": """
        CONCAT_EMBEDDINGS EMBEDDING_LOOKUP EMBEDDING_LOOKUP_SPARSE GATHER GATHER_ND HASHTABLE_LOOKUP LSH_PROJECTION SCATTER_ND
        SEGMENT_SUM SKIP_GRAM SPARSE_TO_DENSE TOPK_V2 UNIQUE UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN UNSORTED_SEGMENT_PROD
        UNSORTED_SEGMENT_SUM WHERE
    """,
    # Filling tensors with repeated, counted or constant values.
    "filling": "BROADCAST_ARGS BROADCAST_TO FILL ONE_HOT RANGE TILE ZEROS_LIKE",
    # Random numbers.
    "random": "MULTINOMIAL RANDOM_STANDARD_NORMAL RANDOM_UNIFORM",
    # Calls of other subgraphs, and resources that keep their values between invocations: variables and hash tables.
    "control_flow": """
        ASSIGN_VARIABLE CALL CALL_ONCE DELEGATE HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE IF READ_VARIABLE
        VAR_HANDLE WHILE
    """,
    # Selecting detected boxes.
    "detection": "NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5",
    # Fourier transforms and complex numbers.
    "signal": "COMPLEX_ABS IMAG REAL RFFT2D",
    # StableHLO operators, two of them without the STABLEHLO prefix.
    "stablehlo": """
        DILATE REDUCE_WINDOW STABLEHLO_ABS STABLEHLO_ADD STABLEHLO_AND STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CASE STABLEHLO_CBRT
        STABLEHLO_CLAMP STABLEHLO_COMPARE STABLEHLO_COMPOSITE STABLEHLO_CONCATENATE STABLEHLO_CONVERT STABLEHLO_CONVOLUTION
        STABLEHLO_COSINE STABLEHLO_CUSTOM_CALL STABLEHLO_DIVIDE STABLEHLO_DOT_GENERAL STABLEHLO_DYNAMIC_SLICE
        STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_GATHER STABLEHLO_IOTA STABLEHLO_LOG
        STABLEHLO_LOGISTIC STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_PAD
        STABLEHLO_POWER STABLEHLO_REDUCE STABLEHLO_REDUCE_WINDOW STABLEHLO_REMAINDER STABLEHLO_RESHAPE
        STABLEHLO_RNG_BIT_GENERATOR STABLEHLO_RSQRT STABLEHLO_SCATTER STABLEHLO_SELECT STABLEHLO_SHIFT_LEFT STABLEHLO_SLICE
        STABLEHLO_SORT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_TRANSPOSE STABLEHLO_WHILE
    """,
    # Custom operators.
    "custom": "",
}

FAMILIES: Mapping[str, frozenset[str]] = {name: frozenset(ops.split()) for name, ops in _FAMILIES.items()}
"""The builtin operators of each family."""

FAMILY_OF: Mapping[str, str] = {op: family for family, ops in FAMILIES.items() for op in ops}
"""The family of each builtin operator."""

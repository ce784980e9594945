"""Constants of the Neural Networks API: operand types, operations, result codes, feature levels.

Upstream: NeuralNetworksTypes.h; common/types/src/TypeUtils.cpp.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class OperandType(IntEnum):
    """Type of an operand, numbered as in NeuralNetworksTypes.h."""

    FLOAT32, INT32, UINT32, TENSOR_FLOAT32, TENSOR_INT32, TENSOR_QUANT8_ASYMM, BOOL, TENSOR_QUANT16_SYMM = range(8)
    TENSOR_FLOAT16, TENSOR_BOOL8, FLOAT16, TENSOR_QUANT8_SYMM_PER_CHANNEL, TENSOR_QUANT16_ASYMM, TENSOR_QUANT8_SYMM = range(8, 14)
    TENSOR_QUANT8_ASYMM_SIGNED, MODEL = range(14, 16)
    OEM_SCALAR = 10000
    TENSOR_OEM_BYTE = 10001

    def __str__(self) -> str:
        return self.name

    def __format__(self, format_spec: str) -> str:
        return format(self.name, format_spec)


class OperationType(IntEnum):
    """Code of an operation, numbered as in NeuralNetworksTypes.h."""

    ADD, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DEPTHWISE_CONV_2D, DEPTH_TO_SPACE, DEQUANTIZE, EMBEDDING_LOOKUP = range(8)
    FLOOR, FULLY_CONNECTED, HASHTABLE_LOOKUP, L2_NORMALIZATION, L2_POOL_2D, LOCAL_RESPONSE_NORMALIZATION, LOGISTIC = range(8, 15)
    LSH_PROJECTION, LSTM, MAX_POOL_2D, MUL, RELU, RELU1, RELU6, RESHAPE, RESIZE_BILINEAR, RNN, SOFTMAX = range(15, 26)
    SPACE_TO_DEPTH, SVDF, TANH, BATCH_TO_SPACE_ND, DIV, MEAN, PAD, SPACE_TO_BATCH_ND, SQUEEZE, STRIDED_SLICE, SUB = range(26, 37)
    TRANSPOSE, ABS, ARGMAX, ARGMIN, AXIS_ALIGNED_BBOX_TRANSFORM, BIDIRECTIONAL_SEQUENCE_LSTM = range(37, 43)
    BIDIRECTIONAL_SEQUENCE_RNN, BOX_WITH_NMS_LIMIT, CAST, CHANNEL_SHUFFLE, DETECTION_POSTPROCESSING, EQUAL, EXP = range(43, 50)
    EXPAND_DIMS, GATHER, GENERATE_PROPOSALS, GREATER, GREATER_EQUAL, GROUPED_CONV_2D, HEATMAP_MAX_KEYPOINT = range(50, 57)
    INSTANCE_NORMALIZATION, LESS, LESS_EQUAL, LOG, LOGICAL_AND, LOGICAL_NOT, LOGICAL_OR, LOG_SOFTMAX, MAXIMUM = range(57, 66)
    MINIMUM, NEG, NOT_EQUAL, PAD_V2, POW, PRELU, QUANTIZE, QUANTIZED_16BIT_LSTM, RANDOM_MULTINOMIAL, REDUCE_ALL = range(66, 76)
    REDUCE_ANY, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, REDUCE_SUM, ROI_ALIGN, ROI_POOLING, RSQRT, SELECT, SIN, SLICE = range(76, 87)
    SPLIT, SQRT, TILE, TOPK_V2, TRANSPOSE_CONV_2D, UNIDIRECTIONAL_SEQUENCE_LSTM, UNIDIRECTIONAL_SEQUENCE_RNN = range(87, 94)
    RESIZE_NEAREST_NEIGHBOR, QUANTIZED_LSTM, IF, WHILE, ELU, HARD_SWISH, FILL, RANK, BATCH_MATMUL, PACK = range(94, 104)
    MIRROR_PAD, REVERSE = range(104, 106)
    TRANSPOSE_CONV = TRANSPOSE_CONV_2D  # its name in the NDK
    OEM_OPERATION = 10000


class ResultCode(IntEnum):
    """The NNAPI result codes that this package returns."""

    NO_ERROR = 0
    UNEXPECTED_NULL = 3
    BAD_DATA = 4
    OP_FAILED = 5


class Preference(IntEnum):
    """The execution preference of a compilation."""

    LOW_POWER = 0
    FAST_SINGLE_ANSWER = 1
    SUSTAINED_SPEED = 2


class AndroidRelease(IntEnum):
    """An Android release with a simulated NNAPI runtime. From Android 11 on, the runtime is updated separately from Android."""

    ANDROID_10 = 10
    ANDROID_11 = 11
    ANDROID_12 = 12
    ANDROID_13 = 13


# The feature level of each release's own runtime. Later updates of the runtime can raise the level.
MAX_FEATURE_LEVEL = {
    AndroidRelease.ANDROID_10: 3,
    AndroidRelease.ANDROID_11: 4,
    AndroidRelease.ANDROID_12: 5,
    AndroidRelease.ANDROID_13: 8,
}

# The numbers that NNAPI and the delegate use for the feature levels.
API_LEVELS = {1: 27, 2: 28, 3: 29, 4: 30, 5: 31, 6: 1000006, 7: 1000007, 8: 1000008}


def feature_level(api_level: int) -> int:
    """Return the feature level, counted from 1, for an NNAPI constant such as 29 or 1000006.

    For a number between two of NNAPI's constants, return the level of the smaller constant. For a number below 27, return 0.
    """
    return max((level for level, number in API_LEVELS.items() if number <= api_level), default=0)


class Version(NamedTuple):
    """The version of NNAPI that a model or an operation needs, or that a device supports.

    ``level`` is a feature level. If ``runtime_only`` is True, only the runtime itself supports this version, and no driver does.

    Upstream: common/types/include/nnapi/Types.h, Version.
    """

    level: int
    runtime_only: bool = False

    def combine(self, other: Version) -> Version:
        """Return the lowest version that satisfies both versions."""
        return Version(max(self.level, other.level), self.runtime_only or other.runtime_only)

    def fits(self, available: Version) -> bool:
        """Return whether a device with the version ``available`` supports this version."""
        return self.level <= available.level and (available.runtime_only or not self.runtime_only)


_T = OperandType

# Element size in bytes and lowest feature level of each type. Upstream: TypeUtils.cpp getNonExtensionSize, Validation.cpp
# validateOperandType.
_TYPES: dict[int, tuple[int, int]] = {
    _T.FLOAT32: (4, 1),
    _T.INT32: (4, 1),
    _T.UINT32: (4, 1),
    _T.TENSOR_FLOAT32: (4, 1),
    _T.TENSOR_INT32: (4, 1),
    _T.TENSOR_QUANT8_ASYMM: (1, 1),
    _T.BOOL: (1, 3),
    _T.TENSOR_QUANT16_SYMM: (2, 3),
    _T.TENSOR_FLOAT16: (2, 3),
    _T.TENSOR_BOOL8: (1, 3),
    _T.FLOAT16: (2, 3),
    _T.TENSOR_QUANT8_SYMM_PER_CHANNEL: (1, 3),
    _T.TENSOR_QUANT16_ASYMM: (2, 3),
    _T.TENSOR_QUANT8_SYMM: (1, 3),
    _T.TENSOR_QUANT8_ASYMM_SIGNED: (1, 4),
    _T.MODEL: (0, 4),
    _T.OEM_SCALAR: (0, 1),
    _T.TENSOR_OEM_BYTE: (1, 1),
}

_SCALARS = frozenset({_T.FLOAT32, _T.INT32, _T.UINT32, _T.BOOL, _T.FLOAT16, _T.MODEL, _T.OEM_SCALAR})


def is_known_type(code: int) -> bool:
    """Return whether the code is an operand type of NNAPI itself."""
    return code in _TYPES


def is_tensor(code: int) -> bool:
    """Return whether the code is a tensor type."""
    return code not in _SCALARS


def is_extension(code: int) -> bool:
    """Return whether an operand type or an operation belongs to an extension. Codes of extensions have a prefix."""
    return (code & 0xFFFFFFFF) >> 16 != 0


def element_size(code: int) -> int:
    """Return the number of bytes of one element."""
    return _TYPES[code][0]


def type_level(code: int) -> int:
    """Return the lowest feature level that includes the type."""
    return _TYPES[code][1]


def type_of(code: int) -> OperandType | int:
    """Return the type with a number, or the number if no type has it."""
    return OperandType(code) if code in _TYPES else code


def element_count(dimensions: tuple[int, ...]) -> int:
    """Return the product of the dimensions in unsigned 32-bit arithmetic, as in the runtime."""
    count = 1
    for dimension in dimensions:
        count = count * dimension & 0xFFFFFFFF
    return count

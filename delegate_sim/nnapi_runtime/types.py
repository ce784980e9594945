"""Constants of the Neural Networks API: operand types, operations, result codes, feature levels.

Upstream: NeuralNetworksTypes.h; common/types/src/TypeUtils.cpp.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class OperandType(IntEnum):
    """Type of an operand, numbered as in NeuralNetworksTypes.h."""

    FLOAT32 = 0
    INT32 = 1
    UINT32 = 2
    TENSOR_FLOAT32 = 3
    TENSOR_INT32 = 4
    TENSOR_QUANT8_ASYMM = 5
    BOOL = 6
    TENSOR_QUANT16_SYMM = 7
    TENSOR_FLOAT16 = 8
    TENSOR_BOOL8 = 9
    FLOAT16 = 10
    TENSOR_QUANT8_SYMM_PER_CHANNEL = 11
    TENSOR_QUANT16_ASYMM = 12
    TENSOR_QUANT8_SYMM = 13
    TENSOR_QUANT8_ASYMM_SIGNED = 14
    MODEL = 15
    OEM_SCALAR = 10000
    TENSOR_OEM_BYTE = 10001

    def __str__(self) -> str:
        return self.name

    def __format__(self, format_spec: str) -> str:
        return format(self.name, format_spec)


class OperationType(IntEnum):
    """Code of an operation, numbered as in NeuralNetworksTypes.h."""

    ADD = 0
    AVERAGE_POOL_2D = 1
    CONCATENATION = 2
    CONV_2D = 3
    DEPTHWISE_CONV_2D = 4
    DEPTH_TO_SPACE = 5
    DEQUANTIZE = 6
    EMBEDDING_LOOKUP = 7
    FLOOR = 8
    FULLY_CONNECTED = 9
    HASHTABLE_LOOKUP = 10
    L2_NORMALIZATION = 11
    L2_POOL_2D = 12
    LOCAL_RESPONSE_NORMALIZATION = 13
    LOGISTIC = 14
    LSH_PROJECTION = 15
    LSTM = 16
    MAX_POOL_2D = 17
    MUL = 18
    RELU = 19
    RELU1 = 20
    RELU6 = 21
    RESHAPE = 22
    RESIZE_BILINEAR = 23
    RNN = 24
    SOFTMAX = 25
    SPACE_TO_DEPTH = 26
    SVDF = 27
    TANH = 28
    BATCH_TO_SPACE_ND = 29
    DIV = 30
    MEAN = 31
    PAD = 32
    SPACE_TO_BATCH_ND = 33
    SQUEEZE = 34
    STRIDED_SLICE = 35
    SUB = 36
    TRANSPOSE = 37
    ABS = 38
    ARGMAX = 39
    ARGMIN = 40
    AXIS_ALIGNED_BBOX_TRANSFORM = 41
    BIDIRECTIONAL_SEQUENCE_LSTM = 42
    BIDIRECTIONAL_SEQUENCE_RNN = 43
    BOX_WITH_NMS_LIMIT = 44
    CAST = 45
    CHANNEL_SHUFFLE = 46
    DETECTION_POSTPROCESSING = 47
    EQUAL = 48
    EXP = 49
    EXPAND_DIMS = 50
    GATHER = 51
    GENERATE_PROPOSALS = 52
    GREATER = 53
    GREATER_EQUAL = 54
    GROUPED_CONV_2D = 55
    HEATMAP_MAX_KEYPOINT = 56
    INSTANCE_NORMALIZATION = 57
    LESS = 58
    LESS_EQUAL = 59
    LOG = 60
    LOGICAL_AND = 61
    LOGICAL_NOT = 62
    LOGICAL_OR = 63
    LOG_SOFTMAX = 64
    MAXIMUM = 65
    MINIMUM = 66
    NEG = 67
    NOT_EQUAL = 68
    PAD_V2 = 69
    POW = 70
    PRELU = 71
    QUANTIZE = 72
    QUANTIZED_16BIT_LSTM = 73
    RANDOM_MULTINOMIAL = 74
    REDUCE_ALL = 75
    REDUCE_ANY = 76
    REDUCE_MAX = 77
    REDUCE_MIN = 78
    REDUCE_PROD = 79
    REDUCE_SUM = 80
    ROI_ALIGN = 81
    ROI_POOLING = 82
    RSQRT = 83
    SELECT = 84
    SIN = 85
    SLICE = 86
    SPLIT = 87
    SQRT = 88
    TILE = 89
    TOPK_V2 = 90
    TRANSPOSE_CONV_2D = 91
    TRANSPOSE_CONV = 91  # its name in the NDK
    UNIDIRECTIONAL_SEQUENCE_LSTM = 92
    UNIDIRECTIONAL_SEQUENCE_RNN = 93
    RESIZE_NEAREST_NEIGHBOR = 94
    QUANTIZED_LSTM = 95
    IF = 96
    WHILE = 97
    ELU = 98
    HARD_SWISH = 99
    FILL = 100
    RANK = 101
    BATCH_MATMUL = 102
    PACK = 103
    MIRROR_PAD = 104
    REVERSE = 105
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

"""Operators that move elements: shapes, slices, padding and gathering.

PACK, SPLIT, SPLIT_V and UNPACK are accepted without any demand of their own.
"""

from __future__ import annotations

from ....rules.kinds import TENSOR_TYPE
from ....rules.numbers import at_least, exactly
from ....rules.operands import operand
from ....rules.vocabulary import operand_count, rank, refused_if
from ...gpu_compatibility import shape
from ...gpu_compatibility.checks import COMPATIBILITY, runtime_operands
from .checks import INT32, UP_TO_1, UP_TO_2, UP_TO_4, gpu_rule

_INPUT = operand(0, "input")
_PAD = gpu_rule("PadOperationParser", *shape.PAD, version_in=UP_TO_2)

RULES = {
    "CONCATENATION": gpu_rule("ConcatenationOperationParser", version_in=UP_TO_2),
    "DEPTH_TO_SPACE": gpu_rule("DepthToSpaceOperationParser", *shape.BLOCKS),
    "GATHER": gpu_rule(
        "GatherOperationParser",
        *shape.GATHER,
        refused_if(
            TENSOR_TYPE, "data of another type than INT32", lambda node: node.input(0).type == "INT32", "INT32 data"
        ).before_release("litert-1.1.0"),
        version_in=UP_TO_1,
        inputs=INT32,
    ),
    "MIRROR_PAD": gpu_rule("PadOperationParser", *shape.MIRROR_PAD, version_in=UP_TO_2),
    "ONE_HOT": gpu_rule(
        "OneHotOperationParser",
        *shape.ONE_HOT,
        version_in=UP_TO_1,
        cases=(COMPATIBILITY.symbol, "CheckOneHotGpuDelegateCompatibility"),
        inputs=INT32,
    ),
    "PACK": gpu_rule("PackOperationParser"),
    "PAD": _PAD,
    "PADV2": _PAD,
    "RESHAPE": gpu_rule("ReshapeOperationParser", runtime_operands(1, 1), version_in=UP_TO_1),
    "SLICE": gpu_rule("SliceOperationParser", operand_count(at_least(3)), rank(_INPUT, exactly(3, 4)), version_in=UP_TO_2),
    "SPACE_TO_DEPTH": gpu_rule("SpaceToDepthOperationParser", *shape.BLOCKS, version_in=UP_TO_2),
    "SPLIT": gpu_rule("SplitOperationParser"),
    "SPLIT_V": gpu_rule("SplitVOperationParser"),
    "STRIDED_SLICE": gpu_rule(
        "StridedSliceOperationParser",
        *shape.SLICE_MASKS,
        rank(_INPUT, exactly(3, 4)),
        version_in=UP_TO_4,
    ),
    "TILE": gpu_rule("TileOperationParser", runtime_operands(1, 1)),
    "TRANSPOSE": gpu_rule("TransposeOperationParser", runtime_operands(1, 1), version_in=UP_TO_4),
    "UNPACK": gpu_rule("UnpackOperationParser", cases=()),
}

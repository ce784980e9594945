"""Operators that move elements: shapes, slices, padding, gathering (``NNAPIDelegateKernel::Validate``, ``nnapi_delegate.cc``)."""

from __future__ import annotations

import numpy as np

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, OpRule, for_each
from ..target import FEATURE_LEVEL_6, FEATURE_LEVEL_7, NNAPI_1_1, NNAPI_1_2, NNAPI_1_3, Target
from .checks import (
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    INPUT_TYPE,
    OPERAND_RANK,
    OPERAND_VALUE,
    OPERATOR_VARIANT,
    at_most_rank,
    constant_if_present,
    constant_int32,
    float_quant8_int32_operand,
    float_quant8_operand,
    has_elements,
    input_count,
    max_version,
    min_level,
    no_activation,
    option,
    typed,
)

_INT32 = np.iinfo(np.int32)
_FLOAT16_TOO = ("FLOAT16", "FLOAT32", "UINT8", "INT8")
_FLOAT16_INT32_TOO = ("FLOAT32", "FLOAT16", "INT32", "UINT8", "INT8")


def _fits_int32(node: NodeView, tensor: Tensor) -> bool:
    value = node.value(tensor)
    return value is not None and bool(((value >= _INT32.min) & (value <= _INT32.max)).all())


def _reshapes_to_scalar(node: NodeView, _: Target) -> str | None:
    if len(node.inputs) != 1:
        return None
    shape = node.options.new_shape or ()
    # Old models say [0] for a scalar.
    return None if shape and shape != (0,) else f"new shape {list(shape)}"


def _different_quantization(node: NodeView) -> str | None:
    first = node.input(0)
    if first.type != "UINT8":
        return None
    for position, other in enumerate(node.inputs[1:], 1):
        if other.scale != first.scale or other.zero_point != first.zero_point:
            return f"input {position} with scale {other.scale:g} and zero point {other.zero_point}"
    return None


def _with_pad_value(node: NodeView, _: Target) -> str | None:
    return "3 inputs" if len(node.inputs) == 3 else None


def _not_float_without_pad_value(node: NodeView, _: Target) -> str | None:
    found = node.input(0).type
    return f"input 0 is {found}" if len(node.inputs) != 3 and found != "FLOAT32" else None


def _nonzero_crops(node: NodeView) -> str | None:
    crops = node.input(2)
    value = node.value(crops)
    if value is None:
        return "crops that are not constant"
    size = crops.data[1] if crops.data else value.nbytes
    return None if size == 16 and not value.tobytes().strip(b"\0") else f"crops {value.tolist()}"


def _permutation(node: NodeView, _: Target) -> str | None:
    return None if len(node.inputs) > 1 and node.input(1).is_constant else "permutation is not constant"


def _split_sizes(node: NodeView, _: Target) -> str | None:
    sizes = node.input(1)
    if sizes.type == "INT32" and sizes.rank == 1 and sizes.is_constant:
        return None
    return f"sizes of type {sizes.type} and rank {sizes.rank}, {'constant' if sizes.is_constant else 'not constant'}"


def _split_values(node: NodeView) -> list[int] | None:
    axis = node.input(2)
    if _split_sizes(node, Target(0, False)) is not None or axis.type != "INT32" or not axis.is_constant:
        return None
    sizes = node.value(node.input(1))
    return None if sizes is None else sizes[: node.input(1).shape[0]].tolist()


def _zero_split(node: NodeView, _: Target) -> str | None:
    sizes = _split_values(node)
    return f"sizes {sizes}" if sizes is not None and 0 in sizes else None


def _zero_remainder(node: NodeView, _: Target) -> str | None:
    """``ComputeSplitVUnknownSplitSize``: what is left for a size of -1."""
    sizes = _split_values(node)
    axis = node.value(node.input(2))
    if sizes is None or axis is None or -1 not in sizes or not len(axis):
        return None
    shape = node.input(0).shape
    position = int(axis[0]) + (len(shape) if axis[0] < 0 else 0)
    if not 0 <= position < len(shape):
        return None
    remainder = shape[position] - sum(size for size in sizes if size != -1)
    return f"sizes {sizes} of {shape[position]} elements" if remainder == 0 else None


def _fills_scalar(node: NodeView) -> str | None:
    dimensions = node.input(0)
    return "no dimensions" if dimensions.is_constant and dimensions.shape[:1] == (0,) else None


def _large_dimensions(node: NodeView) -> str | None:
    dimensions = node.input(0)
    if not dimensions.is_constant or dimensions.type != "INT64":
        return None
    return None if _fits_int32(node, dimensions) else "dimensions beyond INT32"


def _large_fill_value(node: NodeView, _: Target) -> str | None:
    value = node.input(1)
    if not value.is_constant or value.type != "INT64":
        return None
    return None if _fits_int32(node, value) else "a value beyond INT32"


def _pack_last_axis(node: NodeView) -> str | None:
    axis = node.options.axis
    return f"axis {axis}" if axis in (-1, node.input(0).rank) else None


def _unpack_last_axis(node: NodeView) -> str | None:
    axis = node.options.axis
    return f"axis {axis}" if axis in (-1, node.input(0).rank - 1) else None


def _unknown_mirror_mode(node: NodeView) -> str | None:
    return None if node.options.table and node.options.mode in (0, 1) else "an unknown mode"


def _null_squeeze(node: NodeView) -> str | None:
    return None if node.options.squeeze_dims else "no squeeze_dims"


_NOT_LAST_AXIS = "an axis other than the last"

RULES = {
    "RESHAPE": OpRule(
        (
            max_version(1),
            float_quant8_operand().below_level(FEATURE_LEVEL_6),
            float_quant8_int32_operand().from_level(FEATURE_LEVEL_6),
            at_most_rank(4, 0),
            at_most_rank(4, 0, output=True),
            constant_if_present(1, "shape"),
            Check("nnapi-rank", OPERAND_RANK, "a new shape with dimensions", _reshapes_to_scalar, "do not reshape to a scalar"),
        )
    ),
    "SQUEEZE": OpRule(
        (
            max_version(1),
            min_level(NNAPI_1_1),
            option("squeeze_dims that are given", _null_squeeze).from_level(NNAPI_1_1).below_level(NNAPI_1_2),
        )
    ),
    "EXPAND_DIMS": OpRule((max_version(1), min_level(NNAPI_1_2), typed(0, _FLOAT16_INT32_TOO), constant_int32(1, "axis"))),
    "CONCATENATION": OpRule(
        (
            max_version(2),
            no_activation(),
            at_most_rank(4, 0),
            typed(0, _FLOAT16_TOO),
            option("UINT8 operands of one scale and zero point", _different_quantization).below_level(NNAPI_1_2),
        )
    ),
    "SPLIT": OpRule(
        (
            max_version(3),
            min_level(NNAPI_1_2),
            typed(1, FLOAT_QUANT8_INT32).from_level(NNAPI_1_3),
            typed(1, ("FLOAT32", "UINT8", "INT32")).below_level(NNAPI_1_3),
            constant_int32(0, "axis"),
        )
    ),
    "SPLIT_V": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_3),
            typed(0, FLOAT_QUANT8_INT32),
            Check("nnapi-constant-operand", INPUT_TYPE, "a constant INT32 vector of sizes", _split_sizes),
            constant_int32(2, "axis"),
            Check("nnapi-operand-value", INPUT_TYPE, "sizes other than 0", _zero_split),
            Check("nnapi-operand-value", INPUT_TYPE, "a remaining size other than 0", _zero_remainder),
        )
    ),
    "PACK": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_3),
            typed(0, FLOAT_QUANT8_INT32).from_level(FEATURE_LEVEL_6),
            typed(0, ("FLOAT32", "INT8")).below_level(FEATURE_LEVEL_6),
            option(_NOT_LAST_AXIS, _pack_last_axis, "target feature level 6").below_level(FEATURE_LEVEL_6),
        )
    ),
    "UNPACK": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_3),
            typed(0, FLOAT_QUANT8),
            option("an input of rank above 1", lambda node: None if node.input(0).rank > 1 else f"rank {node.input(0).rank}"),
            at_most_rank(4, 0, kind=OPERAND_VALUE),
            option(_NOT_LAST_AXIS, _unpack_last_axis),
        )
    ),
    **for_each(
        ("PAD", "PADV2"),
        max_version(2),
        float_quant8_operand(),
        min_level(NNAPI_1_1),
        has_elements(),
        input_count(range(2, 1 << 31), "at least 2 inputs"),
        Check("nnapi-operand-count", OPERATOR_VARIANT, "2 inputs before NNAPI 1.2", _with_pad_value).below_level(NNAPI_1_2),
        Check("nnapi-input-type", INPUT_TYPE, "FLOAT32 before NNAPI 1.2", _not_float_without_pad_value).below_level(NNAPI_1_2),
    ),
    "MIRROR_PAD": OpRule(
        (
            max_version(2),
            min_level(FEATURE_LEVEL_7),
            float_quant8_int32_operand(),
            option("mode REFLECT or SYMMETRIC", _unknown_mirror_mode),
            has_elements(),
            input_count((2,), "2 inputs"),
        )
    ),
    "REVERSE_V2": OpRule(
        (max_version(3), min_level(FEATURE_LEVEL_7), float_quant8_int32_operand(), input_count((2,), "2 inputs"))
    ),
    "SPACE_TO_BATCH_ND": OpRule((max_version(2), min_level(NNAPI_1_1))),
    "BATCH_TO_SPACE_ND": OpRule(
        (max_version(2), min_level(NNAPI_1_1), option("two pairs of constant crops of 0", _nonzero_crops))
    ),
    "SPACE_TO_DEPTH": OpRule((max_version(2), typed(0, FLOAT_QUANT8))),
    "DEPTH_TO_SPACE": OpRule((typed(0, FLOAT_QUANT8),)),
    "STRIDED_SLICE": OpRule((max_version(2), float_quant8_operand(), min_level(NNAPI_1_1))),
    "SLICE": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_2),
            typed(0, FLOAT_QUANT8_INT32),
            typed(1, ("INT32",), name="begin"),
            typed(2, ("INT32",), name="size"),
        )
    ),
    "TRANSPOSE": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_1),
            Check(
                "nnapi-constant-operand",
                "kInputTensorShouldHaveConstantShape",
                "a constant permutation",
                _permutation,
                "fix the permutation before converting",
            ),
        )
    ),
    "TILE": OpRule(
        (max_version(1), min_level(NNAPI_1_2), typed(0, FLOAT_QUANT8_INT32), typed(1, ("INT32",), name="multipliers"))
    ),
    "FILL": OpRule(
        (
            max_version(1),
            min_level(NNAPI_1_3),
            Check(
                "nnapi-constant-operand",
                INPUT_TYPE,
                "constant dimensions",
                lambda node, _: None if node.input(0).is_constant else "dimensions are not constant",
            ),
            typed(0, ("INT32", "INT64"), name="dimensions"),
            option("a result with dimensions", _fills_scalar),
            option("dimensions that fit INT32", _large_dimensions),
            typed(1, ("FLOAT32", "INT32", "INT64"), name="value"),
            Check("nnapi-operand-value", INPUT_TYPE, "a value that fits INT32", _large_fill_value),
        )
    ),
    "GATHER": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_2),
            typed(0, _FLOAT16_INT32_TOO),
            typed(1, ("INT32",), name="positions"),
            Check(
                "nnapi-rank",
                OPERAND_RANK,
                "positions with dimensions",
                lambda node, _: None if node.input(1).rank else "scalar positions",
            ),
        )
    ),
    "EMBEDDING_LOOKUP": OpRule((max_version(1), typed(1, ("FLOAT32",), name="values"))),
    "HASHTABLE_LOOKUP": OpRule((max_version(1), typed(0, ("FLOAT32",), "kUnsupportedOutputType", output=True))),
}

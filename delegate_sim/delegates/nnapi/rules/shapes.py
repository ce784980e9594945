"""Reshaping, padding and filling."""

from __future__ import annotations

from contextlib import suppress

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....model.numbers import as_list, bounds
from ....nnapi_runtime.types import OperandType
from ....refusal import Refused
from ....rules.kinds import OPERAND_COUNT, OPERAND_VALUE, RANK, in_code
from ....rules.operands import INPUT, OUTPUT, at_least, at_most, operand
from ....rules.rule import Rules
from ....rules.vocabulary import check, constant, has_elements, operand_count, rank, refused_if, typed, where
from ..lowering.builder import PartitionBuilder, kernel_error
from ..lowering.operator import LoweredNode, first_integer, first_number, int8_operator, operator, with_scalars
from ..target import (
    FLOAT,
    FLOAT16_QUANT8_INT32,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    INT32,
    SOURCE,
    UNSUPPORTED_INPUT_TYPE,
    NnapiTarget,
    below_level,
    constant_int32,
    from_level,
    max_op_version,
    min_level,
    op_version,
    type_in,
)

_T = OperandType


def _reshapes_to_scalar(node: NodeView) -> str | None:
    if len(node.inputs) != 1:
        return None
    shape = node.options.new_shape or ()
    # In old models, the shape [0] means a scalar.
    return None if shape and shape != (0,) else f"new shape {list(shape)}"


_NO_CROPS_SIZE = 16


def _nonzero_crops(node: NodeView) -> str | None:
    crops = node.input(2)
    value = node.value(crops)
    if value is None:
        return "crops that are not constant"
    size = crops.data[1] if crops.data else value.nbytes
    return None if size == _NO_CROPS_SIZE and not value.tobytes().strip(b"\0") else f"crops {as_list(value)}"


_REFLECT, _SYMMETRIC = 0, 1

_REFLECT, _SYMMETRIC = 0, 1


def _unknown_mirror_mode(node: NodeView) -> bool:
    return not (node.options.table and node.options.mode in (_REFLECT, _SYMMETRIC))


_HAS_ELEMENTS = has_elements(INPUT).from_source(SOURCE.with_symbol("HasZeroes"))

_INDICES = ("INT32", "INT64")


def _fits_int32(node: NodeView, tensor: Tensor) -> bool:
    value = node.value(tensor)
    return value is not None and (not len(value) or -(2**31) <= bounds(value)[0] <= bounds(value)[1] < 2**31)


def _fills_scalar(node: NodeView) -> bool:
    dimensions = node.input(0)
    return dimensions.is_constant and dimensions.shape[:1] == (0,)


def _is_large_int64(node: NodeView, tensor: Tensor) -> bool:
    return tensor.is_constant and tensor.type == "INT64" and not _fits_int32(node, tensor)


def _add_reshape(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    if len(node.inputs) == 1:
        shape = node.options.new_shape or ()
        builder.add_vector(len(shape), is_null=not len(shape))
    builder.finish(node)


def _add_squeeze(builder: PartitionBuilder, node: LoweredNode) -> None:
    dimensions = node.options.squeeze_dims or ()
    builder.add_inputs(node)
    builder.add_vector(len(dimensions), is_null=not len(dimensions))
    builder.finish(node)


def _add_pad(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower PAD or PADV2. The padding value becomes a scalar.

    The real delegate checks the type of the value, but ignores a failure to add the scalar.
    """
    if len(node.inputs) != 3:
        builder.add_inputs(node)
    else:
        builder.add_input(node, 0)
        builder.add_input(node, 1)
        if node.operand(2) >= 0:
            _add_value(builder, node)
    builder.add_outputs(node)
    builder.add_operation(node, "PAD_V2" if len(node.inputs) != 2 and node.operand(2) >= 0 else "PAD")


def _add_value(builder: PartitionBuilder, node: LoweredNode) -> None:
    value = node.view.input(2)
    if value.type not in ("FLOAT16", "FLOAT32", "UINT8", "INT8"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    if not value.is_constant:
        codes = {"FLOAT16": _T.TENSOR_FLOAT16, "FLOAT32": _T.FLOAT32}
        with suppress(Refused):
            builder.add_scalar_tensor(node, value, codes.get(value.type, _T.INT32))
    elif value.type in ("FLOAT16", "FLOAT32"):
        builder.add_float(first_number(node.view, value))
    else:
        offset = 128 if value.type == "INT8" and node.converts_int8 else 0
        builder.add_int(int(first_number(node.view, value)) + offset)


def _add_fill(builder: PartitionBuilder, node: LoweredNode) -> None:
    dimensions, value = node.view.input(0), node.view.input(1)
    if dimensions.type == "INT32":
        builder.add_flagged_input(node, 0)
    elif dimensions.type == "INT64":
        size = 4 * dimensions.element_count
        builder.add_constant(_T.TENSOR_INT32, dimensions.shape, size, dimensions.scale, dimensions.zero_point)
    else:
        raise kernel_error("nnapi-scalar-type", node.index, dimensions)
    if value.type not in ("FLOAT32", "INT32", "INT64"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    if not value.is_constant:
        builder.add_scalar_tensor(node, value, _T.FLOAT32 if value.type == "FLOAT32" else _T.INT32)
    elif value.type == "FLOAT32":
        builder.add_float(first_number(node.view, value))
    else:
        builder.add_int(first_integer(node.view, 1))
    builder.finish(node)


_BLOCK_SIZE = with_scalars(lambda node: [int(node.options.block_size)])
_PAD = int8_operator(
    max_op_version(2),
    FLOAT_QUANT8_OPERAND,
    min_level("1.1"),
    _HAS_ELEMENTS,
    operand_count(at_least(2)),
    refused_if(
        OPERAND_COUNT,
        "2 inputs before NNAPI 1.2",
        lambda node: len(node.inputs) == 3,
        "3 inputs",
        "pad with zeros and omit the padding value, or use NNAPI 1.2",
    ).when(below_level("1.2")),
    *where(
        lambda node: len(node.inputs) != 3,
        "without a padding value",
        typed(INPUT, FLOAT, hint=in_code("pad float tensors, or use NNAPI 1.2")).when(below_level("1.2")),
    ),
    operation="PAD",
    add=_add_pad,
)

RULES: Rules[NnapiTarget] = {
    "BATCH_TO_SPACE_ND": int8_operator(
        max_op_version(2),
        min_level("1.1"),
        check(
            OPERAND_VALUE,
            "two pairs of constant crops that are all 0",
            _nonzero_crops,
            "crop with a SLICE after the node instead",
        ),
        add=with_scalars(without=2),  # NNAPI does not crop
    ),
    "DEPTH_TO_SPACE": int8_operator(type_in(INPUT, FLOAT_QUANT8), add=_BLOCK_SIZE),
    "EXPAND_DIMS": int8_operator(
        op_version(1),
        min_level("1.2"),
        type_in(INPUT, FLOAT16_QUANT8_INT32),
        constant_int32(operand(1, "axis")),
        add=with_scalars(lambda node: [first_integer(node.view, 1)], without=1),
    ),
    "RESHAPE": int8_operator(
        op_version(1),
        FLOAT_QUANT8_OPERAND.when(below_level("6")),
        FLOAT_QUANT8_INT32_OPERAND.when(from_level("6")),
        rank(INPUT, at_most(4)),
        rank(OUTPUT, at_most(4)),
        *where(lambda node: len(node.inputs) > 1, "if there is one", constant(operand(1, "shape"))),
        check(RANK, "a new shape with at least one dimension", _reshapes_to_scalar, "do not reshape to a scalar"),
        add=_add_reshape,
    ),
    "SPACE_TO_BATCH_ND": int8_operator(max_op_version(2), min_level("1.1")),
    "SPACE_TO_DEPTH": int8_operator(max_op_version(2), type_in(INPUT, FLOAT_QUANT8), add=_BLOCK_SIZE),
    "SQUEEZE": operator(
        op_version(1),
        min_level("1.1"),
        refused_if(
            OPERAND_VALUE,
            "given squeeze_dims",
            lambda node: not node.options.squeeze_dims,
            "no squeeze_dims",
            "list the dimensions to squeeze, or use NNAPI 1.2",
        )
        .when(from_level("1.1"))
        .when(below_level("1.2")),
        add=_add_squeeze,
    ),
    "TRANSPOSE": int8_operator(
        max_op_version(2), min_level("1.1"), constant(operand(1, "permutation"), hint="fix the permutation before converting")
    ),
    "MIRROR_PAD": operator(
        max_op_version(2),
        min_level("7"),
        FLOAT_QUANT8_INT32_OPERAND,
        refused_if(OPERAND_VALUE, "mode REFLECT or SYMMETRIC", _unknown_mirror_mode, "an unknown mode", "pad with a known mode"),
        _HAS_ELEMENTS,
        operand_count(2),
        add=with_scalars(lambda node: [node.options.mode if node.options.mode in (_REFLECT, _SYMMETRIC) else -1]),
    ),
    "PAD": _PAD,
    "PADV2": _PAD,
    "FILL": operator(
        op_version(1),
        min_level("1.3"),
        constant(operand(0, "shape")).reported_as(UNSUPPORTED_INPUT_TYPE),
        type_in(operand(0, "shape"), _INDICES),
        refused_if(
            OPERAND_VALUE, "a result with dimensions", _fills_scalar, "no dimensions", "use a constant instead of a scalar FILL"
        ),
        refused_if(
            OPERAND_VALUE,
            "dimensions that fit INT32",
            lambda node: _is_large_int64(node, node.input(0)),
            "dimensions beyond INT32",
            "use dimensions that fit INT32",
        ),
        type_in(operand(1, "value"), (*FLOAT, *_INDICES)),
        refused_if(
            OPERAND_VALUE,
            "a value that fits INT32",
            lambda node: _is_large_int64(node, node.input(1)),
            "a value beyond INT32",
            "use a value that fits INT32",
        ).reported_as(UNSUPPORTED_INPUT_TYPE),
        add=_add_fill,
    ),
    "TILE": int8_operator(
        op_version(1),
        min_level("1.2"),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        typed(operand(1, "list of multiples"), INT32, hint=in_code("use INT32 multiples")),
    ),
}

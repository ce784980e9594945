"""Joining, splitting, slicing and gathering."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import as_list
from ....rules.kinds import CONSTANT, OPERAND_COUNT, OPERAND_VALUE, by_reshape, in_code
from ....rules.operands import INPUT, OUTPUT, at_least, at_most, counted, operand
from ....rules.rule import Rules
from ....rules.vocabulary import check, operand_count, rank, refused_if, typed
from ..lowering.builder import PartitionBuilder, kernel_error
from ..lowering.operands import SIGNED
from ..lowering.operator import LoweredNode, first_integer, int8_operator, operator, with_scalars
from ..target import (
    FEATURE_LEVEL_6,
    FLOAT,
    FLOAT16_QUANT8_INT32,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8_INT32,
    INT32,
    NO_ACTIVATION,
    OUTPUT_TYPE,
    QUANTIZED_TYPES,
    SOURCE,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERAND_VALUE,
    NnapiTarget,
    below_level,
    constant_int32,
    from_level,
    max_op_version,
    min_level,
    op_version,
    type_and_storage,
    type_in,
)


def _different_quantization(node: NodeView) -> str | None:
    first = node.input(0)
    if first.type != "UINT8":
        return None
    for position, other in enumerate(node.inputs[1:], 1):
        if other.scale != first.scale or other.zero_point != first.zero_point:
            return f"input {position} with scale {other.scale:g} and zero point {other.zero_point}"
    return None


def _split_sizes(node: NodeView) -> str | None:
    sizes = node.input(1)
    if sizes.type == "INT32" and sizes.rank == 1 and sizes.is_constant:
        return None
    return f"sizes of rank {sizes.rank}, {type_and_storage(sizes)}"


def _split_values(node: NodeView) -> list[int] | None:
    axis = node.input(2)
    if _split_sizes(node) is not None or axis.type != "INT32" or not axis.is_constant:
        return None
    sizes = node.value(node.input(1))
    return None if sizes is None else as_list(sizes[: node.input(1).shape[0]])


def _zero_split(node: NodeView) -> str | None:
    sizes = _split_values(node)
    return f"sizes {sizes}" if sizes is not None and 0 in sizes else None


def _zero_remainder(node: NodeView) -> str | None:
    sizes = _split_values(node)
    axis = node.value(node.input(2))
    if sizes is None or axis is None or -1 not in sizes or not len(axis):
        return None
    shape = node.input(0).shape
    position = int(axis[0]) + (len(shape) if axis[0] < 0 else 0)
    if not 0 <= position < len(shape):
        return None
    remainder = shape[position] - sum(size for size in sizes if size != -1)
    return f"sizes {sizes} for {shape[position]} elements" if remainder == 0 else None


_NOT_LAST_AXIS = "an axis other than the last"


def _pack_last_axis(node: NodeView) -> str | None:
    axis = node.options.axis
    return f"axis {axis}" if axis in (-1, node.input(0).rank) else None


def _unpack_last_axis(node: NodeView) -> str | None:
    axis = node.options.axis
    return f"axis {axis}" if axis in (-1, node.input(0).rank - 1) else None


_SPARSE_PROJECTION = 1


def _is_sparse(node: NodeView) -> bool:
    return bool(node.options.type == _SPARSE_PROJECTION)


def _axis(node: LoweredNode) -> list[int]:
    axis = int(node.options.axis)
    return [axis + node.view.input(0).rank if axis < 0 else axis]


def _masks(node: LoweredNode) -> list[int]:
    options = node.options
    return [int(options.begin_mask), int(options.end_mask), int(options.shrink_axis_mask)]


def _add_pack(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower PACK to NNAPI's PACK. Below feature level 6, lower PACK to CONCATENATION and RESHAPE.

    The first operand of NNAPI's PACK is the axis.
    """
    if builder.target_feature_level < FEATURE_LEVEL_6:
        _add_concatenation_and_reshape(builder, node)
        return
    axis = node.options.axis
    builder.add_int(axis + node.view.input(0).rank + 1 if axis < 0 else axis)
    builder.add_inputs(node)
    builder.finish(node)


def _add_concatenation_and_reshape(builder: PartitionBuilder, node: LoweredNode) -> None:
    first = node.view.input(0)
    axis = node.options.axis
    if axis < 0:
        axis += first.rank + 1
    if not 0 <= axis < first.rank:  # for axes below 0, the real delegate reads memory with unknown contents
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(first.shape))
    for position in range(len(node.inputs)):
        builder.add_flagged_input(node, position, SIGNED)
    builder.add_int(axis)
    size = sum([tensor.shape[axis] for tensor in node.view.inputs if axis < tensor.rank])
    shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
    joined = builder.add_intermediate(node, first, shape, first.scale, first.zero_point)
    builder.add_operation(node, "CONCATENATION")
    builder.append_reshape(node, joined)


def _add_split(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position, index in enumerate(node.inputs):
        if index != node.operand(0):
            builder.add_input(node, position)
    builder.add_int(first_integer(node.view, 0))
    builder.add_int(node.options.num_splits)
    builder.finish(node)


def _add_slices(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower SPLIT_V to one SLICE for each result. Sizes and axis are constant.

    Source: ``TransformSplitVIntoSupportedOps`` and ``ComputeSplitVUnknownSplitSize``.
    """
    source = node.view.input(0)
    value = node.view.value(node.view.input(1))
    sizes = [] if value is None else list(map(int, as_list(value)))
    axis = first_integer(node.view, 2)
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    rest = source.shape[axis] - sum(size for size in sizes if size != -1)
    for position, size in enumerate(sizes[: len(node.outputs)]):
        actual = rest if size == -1 else size
        if actual <= 0:
            raise kernel_error("nnapi-split-size", node.index, size=actual)
        builder.add_flagged_input(node, 0, SIGNED)
        builder.add_vector(source.rank)  # begin
        builder.add_vector(source.rank)  # size
        builder.add_output(node, position, SIGNED)
        builder.add_operation(node, "SLICE")


def _add_reshape_and_split(builder: PartitionBuilder, node: LoweredNode) -> None:
    source = node.view.input(0)
    axis, count = node.options.axis, node.options.num
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank - 1:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    if not count == source.shape[axis] == len(node.outputs):
        raise kernel_error("nnapi-split-count", node.index, count=count, size=source.shape[axis], outputs=len(node.outputs))
    shape = (*source.shape[:axis], source.shape[axis] * source.shape[axis + 1], *source.shape[axis + 2 :])
    builder.add_flagged_input(node, 0, SIGNED)
    builder.add_vector(len(shape))
    # A scale of 0 is not valid in NNAPI.
    scale = source.scale or (1.0 if source.type in QUANTIZED_TYPES else 0.0)
    flat = builder.add_intermediate(node, source, shape, scale, source.zero_point)
    builder.add_operation(node, "RESHAPE")
    builder.inputs.append(flat)
    builder.add_int(axis)
    builder.add_int(count)
    for position in range(len(node.outputs)):
        builder.add_output(node, position, SIGNED)
    builder.add_operation(node, "SPLIT")


_NNAPI_SPARSE_PROJECTION = 3


def _add_gather(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_input(node, 0)
    builder.add_int(node.options.axis)
    builder.add_unchecked_input(node, 1)
    builder.finish(node)


def _add_projection(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    kind = node.options.type
    if kind == _SPARSE_PROJECTION:
        kind = _NNAPI_SPARSE_PROJECTION
        builder.leave_out()
    builder.add_int(kind)
    builder.finish(node)


RULES: Rules[NnapiTarget] = {
    "CONCATENATION": int8_operator(
        max_op_version(2),
        NO_ACTIVATION,
        rank(INPUT, at_most(4)),
        type_in(INPUT, ("FLOAT16", *FLOAT_QUANT8)),
        check(
            OPERAND_VALUE,
            "UINT8 operands with the same scale and zero point",
            _different_quantization,
            "quantize all operands with the same scale and zero point, or use NNAPI 1.2",
        ).when(below_level("1.2")),
        add=with_scalars(_axis),
        converts_all_inputs=True,
    ),
    "PACK": operator(
        op_version(2),
        min_level("1.3"),
        type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level("6")),
        type_in(INPUT, ("FLOAT32", "INT8")).when(below_level("6")),
        check(
            OPERAND_VALUE, _NOT_LAST_AXIS, _pack_last_axis, "pack along another axis and transpose, or use feature level 6"
        ).when(below_level("6")),
        add=_add_pack,
    ),
    "SPLIT": operator(
        op_version(3),
        min_level("1.2"),
        type_in(operand(1), FLOAT_QUANT8_INT32).when(from_level("1.3")),
        type_in(operand(1), FLOAT_UINT8_INT32).when(below_level("1.3")),
        constant_int32(operand(0, "axis")),
        add=_add_split,
    ),
    "SPLIT_V": operator(
        op_version(2),
        min_level("1.3"),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        check(CONSTANT, "a constant INT32 vector of sizes", _split_sizes, "make the sizes a constant INT32 vector").reported_as(
            UNSUPPORTED_INPUT_TYPE
        ),
        constant_int32(operand(2, "axis")),
        check(OPERAND_VALUE, "sizes other than 0", _zero_split, "remove empty parts").reported_as(UNSUPPORTED_INPUT_TYPE),
        check(OPERAND_VALUE, "at least one element for the size -1", _zero_remainder, "remove the empty part")
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .from_source(SOURCE.with_symbol("ComputeSplitVUnknownSplitSize")),
        operation="",
        add=_add_slices,
    ),
    "UNPACK": operator(
        op_version(2),
        min_level("1.3"),
        type_in(INPUT, FLOAT_QUANT8),
        rank(INPUT, at_least(2), kind=OPERAND_VALUE, hint="unpack tensors of at least two dimensions"),
        rank(INPUT, at_most(4)).reported_as(UNSUPPORTED_OPERAND_VALUE),
        check(OPERAND_VALUE, _NOT_LAST_AXIS, _unpack_last_axis, "unpack along another axis, after a TRANSPOSE"),
        operation="",
        add=_add_reshape_and_split,
    ),
    "REVERSE_V2": operator(max_op_version(3), min_level("7"), FLOAT_QUANT8_INT32_OPERAND, operand_count(2), operation="REVERSE"),
    "SLICE": int8_operator(
        max_op_version(2),
        min_level("1.2"),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        typed(operand(1, "begin"), INT32, hint=in_code("use INT32 for begin and size")),
        typed(operand(2, "size"), INT32, hint=in_code("use INT32 for begin and size")),
    ),
    "STRIDED_SLICE": int8_operator(max_op_version(2), FLOAT_QUANT8_OPERAND, min_level("1.1"), add=with_scalars(_masks)),
    "LSH_PROJECTION": operator(
        op_version(1),
        refused_if(
            OPERAND_VALUE,
            "a dense projection before NNAPI 1.2",
            _is_sparse,
            "a sparse projection",
            "use a dense projection, or use NNAPI 1.2",
        )
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .when(below_level("1.2")),
        check(
            OPERAND_COUNT,
            "2 inputs if the projection is sparse",
            lambda node: counted(len(node.inputs), "input") if _is_sparse(node) and len(node.inputs) != 2 else None,
            "remove the weights, or use a dense projection",
        ),
        add=_add_projection,
    ),
    "TOPK_V2": int8_operator(
        max_op_version(2),
        min_level("1.2"),
        type_in(INPUT, FLOAT_QUANT8_INT32),
        constant_int32(operand(1, "k")),
        add=with_scalars(lambda node: [first_integer(node.view, 1)], inputs=slice(1)),
    ),
    "EMBEDDING_LOOKUP": operator(op_version(1), typed(operand(1, "table"), FLOAT)),
    "GATHER": int8_operator(
        op_version(2),
        min_level("1.2"),
        type_in(INPUT, FLOAT16_QUANT8_INT32),
        typed(operand(1, "index tensor"), INT32, hint=in_code("use INT32 indices")),
        rank(operand(1, "index tensor"), at_least(1), hint=by_reshape("give the index a dimension with RESHAPE")),
        add=_add_gather,
    ),
    "HASHTABLE_LOOKUP": operator(op_version(1), typed(OUTPUT, FLOAT, kind=OUTPUT_TYPE)),
}

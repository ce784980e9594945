"""Convolutions, pooling, resizing and matrix products."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Node
from ....nnapi_runtime.types import OperandType
from ....rules.kinds import BROADCAST, OPERAND_VALUE, OPTIONAL_OPERAND, by_reshape
from ....rules.operands import INPUT, OUTPUT, at_least, between, operand
from ....rules.rule import Rules
from ....rules.vocabulary import (
    check,
    check_for_target,
    constant,
    constants,
    operand_count,
    rank,
    refused_if,
    same_type,
    typed,
    unset,
    where,
)
from ..lowering.builder import PartitionBuilder, kernel_error
from ..lowering.operands import CONVERT_INT8, PER_CHANNEL, REPEATED_SCALE, SIGNED
from ..lowering.operator import (
    LoweredNode,
    activation_code,
    add_zero_bias,
    first_integer,
    int8_operator,
    operator,
    padding_code,
    weighted_operator,
    with_scalars,
)
from ..target import (
    FEATURE_LEVEL,
    FILTER_AREA,
    FLOAT,
    FLOAT_OPERAND,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8_OPERAND,
    NNAPI_1_3,
    NO_ACTIVATION,
    OUTPUT_TYPE,
    PER_CHANNEL_WEIGHTS,
    QUANT8,
    RESTRICTED_SCALES_ONLY,
    SOURCE,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERAND_VALUE,
    NnapiTarget,
    below_level,
    hybrid_with_weights,
    max_op_version,
    min_level,
    not_hybrid,
    op_version,
    type_in,
    with_accelerator,
)

_T = OperandType


def _dilation(node: NodeView) -> str | None:
    width, height = node.options.dilation_w_factor, node.options.dilation_h_factor
    return None if width == 1 and height == 1 else f"dilation {height} x {width}"


def _groups(node: NodeView) -> str | None:
    source, weights = node.input(0).shape[3:4], node.input(1).shape[3:4]
    return None if source == weights else f"{source} input and {weights} filter channels"


_NO_DILATION = check(OPERAND_VALUE, "dilation 1", _dilation, "use NNAPI 1.2").when(below_level("1.2"))

_MAX_WINDOW = 256


def _large_window(node: NodeView) -> str | None:
    if node.input(0).type not in QUANT8:
        return None
    width, height = node.options.filter_width, node.options.filter_height
    return None if width * height <= _MAX_WINDOW else f"window {height} x {width}"


def _not_square(node: NodeView) -> str | None:
    height, width = node.output(0).shape[1:2], node.output(0).shape[2:3]
    return None if height == width else f"output {' x '.join(map(str, height + width))}"


_CONSTANT_SIZE = (
    operand_count(at_least(2)),
    *where(lambda node: len(node.inputs) > 1, "if there is one", constant(operand(1, "size"))),
)

_WITHOUT_SHIFT = "resize without align_corners and half_pixel_centers, or use NNAPI 1.3"

_NO_SHIFTED_GRID = (
    unset("align_corners", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level("1.3")),
    unset("half_pixel_centers", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level("1.3")),
)


def _broadcasts(node: NodeView) -> str | None:
    first, second = node.input(0).shape, node.input(1).shape
    return None if len(first) == len(second) and first[:-2] == second[:-2] else f"shapes {list(first)} and {list(second)}"


def _kept_dimensions(node: NodeView, target: NnapiTarget) -> str | None:
    return f"keep_num_dims at feature level {target.level}" if node.options.keep_num_dims else None


_WEIGHTS = (1, 2)
"""Positions of the operands that are dequantized if the input is float."""


def _add_convolution(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    _add_inputs_with_dense_weights(builder, node)
    builder.add_scalars(padding_code(node), options.stride_w, options.stride_h)
    groups = _group_count(node)
    builder.add_scalars(*([] if groups is None else [groups]), activation_code(node), *_dilation_scalars(node))
    builder.add_outputs(node)
    builder.add_dequantized_weights(node, _WEIGHTS)
    builder.add_operation(node, "CONV_2D" if groups is None else "GROUPED_CONV_2D")


def _depthwise(node: LoweredNode) -> list[bool | int]:
    options = node.options
    strides = options.stride_w, options.stride_h
    return [padding_code(node), *strides, options.depth_multiplier, activation_code(node), *_dilation_scalars(node)]


def _add_transpose_convolution(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower TRANSPOSE_CONV. Weights with a single scale are treated as quantized per channel."""
    options, source = node.options, node.view.input(2)
    builder.add_unchecked_input(node, 2, SIGNED if builder.target_feature_level >= NNAPI_1_3 else CONVERT_INT8)
    builder.add_unchecked_input(node, 1, PER_CHANNEL | (REPEATED_SCALE if source.type == "FLOAT32" else 0))
    if len(node.inputs) == 4 and node.operand(3) >= 0:
        builder.add_unchecked_input(node, 3)
    else:
        add_zero_bias(builder, node, 2, 1, first_integer(node.view, 0, 3))
    builder.add_unchecked_input(node, 0)
    builder.add_scalars(padding_code(node), options.stride_w, options.stride_h, activation_code(node), False)  # NHWC last
    builder.finish(node)


def _dilation_scalars(node: LoweredNode) -> list[bool | int]:
    width, height = node.options.dilation_w_factor, node.options.dilation_h_factor
    return [] if (width, height) == (1, 1) else [False, width, height]  # NHWC first


def _group_count(node: LoweredNode) -> int | None:
    source, weights = node.view.input(0), node.view.input(1)
    if not source.shape or not weights.shape or source.shape[3:4] == weights.shape[3:4]:
        return None
    channels, filter_channels = ((*tensor.shape, 1, 1, 1, 1)[3] for tensor in (source, weights))
    if not filter_channels:
        raise kernel_error("nnapi-division-by-zero", node.index, weights)
    return channels // filter_channels


def _add_inputs_with_dense_weights(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position, index in enumerate(node.inputs):
        densify = _densify_of(builder, index) if position == 1 else None
        if densify is None:
            builder.add_input(node, position)
        else:
            _unpack_sparse_weights(builder, node, densify, is_widened=index in builder.widened)


def _densify_of(builder: PartitionBuilder, weights: int) -> Node | None:
    dequantize = builder.widened.get(weights)
    if dequantize is None:
        return builder.densified.get(weights)
    builder.node = dequantize.index
    return builder.densified.get(dequantize.input(0))


_DENSE_TYPES = {"FLOAT32": (_T.TENSOR_FLOAT32, 4), "FLOAT16": (_T.TENSOR_FLOAT16, 2), "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 1)}
"""The NNAPI type and the element size in bytes of unpacked weights, by the type of the sparse weights."""


def _unpack_sparse_weights(builder: PartitionBuilder, node: LoweredNode, densify: Node, is_widened: bool) -> None:
    builder.node = densify.index
    weights, dense = builder.graph.tensor(densify.input(0)), builder.graph.tensor(densify.output(0))
    if weights.sparsity is None:
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="without sparsity parameters")
    if weights.type not in _DENSE_TYPES:
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="which it cannot unpack")
    is_float = is_widened and weights.type == "FLOAT16"
    code, size = _DENSE_TYPES["FLOAT32" if is_float else weights.type]
    builder.add_constant(code, dense.shape, size * dense.element_count, dense.scale, dense.zero_point)


def _third_tensor_is_int8(view: NodeView) -> bool:
    """Return whether tensor 2 of the graph is INT8. By mistake, the real delegate reads tensor 2 instead of operand 2."""
    return view.graph.tensors[2].type == "INT8"


def _pooling(node: LoweredNode) -> list[int]:
    options = node.options
    sizes = options.stride_w, options.stride_h, options.filter_width, options.filter_height
    return [padding_code(node), *sizes, activation_code(node)]


_POOLING = with_scalars(_pooling)


def _grid(node: LoweredNode, size: tuple[int, int], is_bilinear: bool) -> list[bool | int]:
    """Return width and height, the layout NHWC, and the shift of the grid if there is one."""
    shifts = [bool(node.options.align_corners), bool(node.options.half_pixel_centers)]
    return [*size, *([] if is_bilinear and not any(shifts) else [False]), *(shifts if any(shifts) else [])]


def _bilinear(node: LoweredNode) -> list[bool | int]:
    shape = (*node.view.output(0).shape, 0, 0, 0)
    return _grid(node, (shape[2], shape[1]), is_bilinear=True)


def _nearest_neighbor(node: LoweredNode) -> list[bool | int]:
    return _grid(node, (first_integer(node.view, 1, 1), first_integer(node.view, 1)), is_bilinear=False)


def _add_fully_connected(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower FULLY_CONNECTED.

    An omitted bias becomes zeros. NNAPI's result has two dimensions, so a RESHAPE follows if ``keep_num_dims`` is set.
    """
    for position, index in enumerate(node.inputs):
        if index >= 0:
            builder.add_input(node, position)
    if len(node.inputs) != 3 or node.operand(2) < 0:
        add_zero_bias(builder, node, 0, 1, (*node.view.input(1).shape, 0)[0])
    builder.add_int(activation_code(node))
    if not node.options.keep_num_dims:
        builder.add_outputs(node)
        builder.add_dequantized_weights(node, _WEIGHTS)
        builder.add_operation(node, "FULLY_CONNECTED")
        return
    flat = [_add_flat_result(builder, node, position) for position in range(len(node.outputs))]
    builder.add_dequantized_weights(node, _WEIGHTS)
    builder.add_operation(node, "FULLY_CONNECTED")
    if flat:
        builder.append_reshape(node, flat[-1])


def _add_flat_result(builder: PartitionBuilder, node: LoweredNode, position: int) -> int:
    result = node.view.output(position)
    units = result.shape[-1] if result.shape else 0
    if not units:
        raise kernel_error("nnapi-division-by-zero", node.index, result)
    shape = (result.element_count // units, units)
    return builder.add_intermediate(node, result, shape, result.scale, result.zero_point)


RULES: Rules[NnapiTarget] = {
    "CONV_2D": weighted_operator(
        max_op_version(5),
        not_hybrid(hybrid_with_weights(1)).when(below_level("1.2")),
        FLOAT_UINT8_OPERAND.when(below_level("1.2")),
        refused_if(
            PER_CHANNEL_WEIGHTS,
            "weights with one scale",
            lambda node: node.input(1).is_per_channel,
            "weights with one scale per channel",
        ).when(below_level("1.2")),
        RESTRICTED_SCALES_ONLY.when(below_level("1.2")),
        operand_count(3).of_kind(OPTIONAL_OPERAND),
        _NO_DILATION,
        check(
            OPERAND_VALUE,
            "the same number of input channels and filter channels",
            _groups,
            "use NNAPI 1.2 for grouped convolutions",
        ).when(below_level("1.2")),
        add=_add_convolution,
        is_hybrid=hybrid_with_weights(1),
    ),
    "DEPTHWISE_CONV_2D": weighted_operator(
        max_op_version(3),
        FLOAT_UINT8_OPERAND.when(below_level("1.2")),
        RESTRICTED_SCALES_ONLY.when(below_level("1.2")),
        _NO_DILATION,
        add=with_scalars(_depthwise),
    ),
    "TRANSPOSE_CONV": operator(
        max_op_version(3).before_release("tf-2.15"),
        max_op_version(4).from_release("tf-2.15"),
        min_level("1.2"),
        constants(operand(0, "output shape"), operand(1, "filter")),
        add=_add_transpose_convolution,
        converts_int8=_third_tensor_is_int8,
        reads_graph=True,
    ),
    "AVERAGE_POOL_2D": int8_operator(
        max_op_version(2),
        FLOAT_QUANT8_OPERAND,
        check(FILTER_AREA, f"a window of at most {_MAX_WINDOW} elements", _large_window).when(with_accelerator(False)),
        add=_POOLING,
    ),
    "L2_POOL_2D": operator(
        op_version(1), FLOAT_OPERAND, NO_ACTIVATION.reported_as(UNSUPPORTED_OPERAND_VALUE).when(below_level("1.2")), add=_POOLING
    ),
    "MAX_POOL_2D": int8_operator(max_op_version(2), FLOAT_QUANT8_OPERAND, add=_POOLING),
    "RESIZE_BILINEAR": int8_operator(
        max_op_version(3),
        rank(INPUT, 4),
        FLOAT_QUANT8_OPERAND,
        *_CONSTANT_SIZE,
        check(OPERAND_VALUE, "an output with equal height and width", _not_square, "use NNAPI 1.2").when(below_level("1.2")),
        *_NO_SHIFTED_GRID,
        typed(INPUT, FLOAT).when(below_level("1.2")),
        add=with_scalars(_bilinear, inputs=slice(1)),
    ),
    "RESIZE_NEAREST_NEIGHBOR": int8_operator(
        max_op_version(3),
        min_level("1.2"),
        FLOAT_QUANT8_OPERAND,
        *_CONSTANT_SIZE,
        *_NO_SHIFTED_GRID,
        add=with_scalars(_nearest_neighbor, inputs=slice(1)),
    ),
    "BATCH_MATMUL": operator(
        op_version(2),
        min_level("6"),
        type_in(INPUT, ("FLOAT32", "INT32", "INT8")),
        same_type(INPUT, operand(1)),
        rank(INPUT, between(2, 4)),
        check(BROADCAST, "equal batch dimensions", _broadcasts, "give both operands the same batch dimensions")
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .from_source(SOURCE.with_symbol("IsBroadcastBatchMatMul")),
        add=with_scalars(lambda node: [bool(node.options.adj_x), bool(node.options.adj_y)]),
    ),
    "FULLY_CONNECTED": weighted_operator(
        max_op_version(5),
        refused_if(
            OUTPUT_TYPE,
            "an output of a type other than INT16",
            lambda node: OUTPUT.tensor(node).type == "INT16",
            "INT16 output",
            "quantize activations to 8 bits instead of 16",
        ),
        not_hybrid(hybrid_with_weights(1)).when(below_level("1.2")),
        FLOAT_UINT8_OPERAND.when(below_level("1.2")),
        RESTRICTED_SCALES_ONLY.when(below_level("1.2")),
        check_for_target(
            FEATURE_LEVEL,
            "feature level 30 for keep_num_dims",
            _kept_dimensions,
            by_reshape("use feature level 30, or restore the dimensions with RESHAPE"),
        )
        .from_source(SOURCE.with_symbol("ExpectMinAndroidSdkVersion"))
        .when(below_level("1.3")),
        add=_add_fully_connected,
        is_hybrid=hybrid_with_weights(1),
    ),
}

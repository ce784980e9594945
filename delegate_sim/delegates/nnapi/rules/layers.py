"""Convolutions, pooling, resizing, matrix products and recurrent layers."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import BROADCAST, OPERAND_VALUE, OPTIONAL_OPERAND, by_reshape, in_code
from ....rules.operands import INPUT, OUTPUT, Operand, at_least, between, exactly, operand, result
from ....rules.rule import Check, Rules, op_rule
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
from ..target import (
    FEATURE_LEVEL,
    FEATURE_LEVEL_6,
    FILTER_AREA,
    FLOAT,
    FLOAT_OPERAND,
    FLOAT_QUANT8,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8,
    FLOAT_UINT8_OPERAND,
    NNAPI_1_1,
    NNAPI_1_2,
    NNAPI_1_3,
    NO_ACTIVATION,
    OUTPUT_TYPE,
    PER_CHANNEL,
    QUANT8,
    RESTRICTED_SCALES_ONLY,
    SOURCE,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERAND_RANK,
    UNSUPPORTED_OPERAND_VALUE,
    NnapiTarget,
    below_level,
    from_level,
    hybrid_with_weights,
    is_basic_lstm,
    is_hybrid_lstm,
    level_demand,
    max_op_version,
    min_level,
    not_hybrid,
    op_version,
    quantized_as,
    type_in,
    with_accelerator,
)


def _dilation(node: NodeView) -> str | None:
    width, height = node.options.dilation_w_factor, node.options.dilation_h_factor
    return None if width == 1 and height == 1 else f"dilation {height} x {width}"


def _groups(node: NodeView) -> str | None:
    source, weights = node.input(0).shape[3:4], node.input(1).shape[3:4]
    return None if source == weights else f"{source} input and {weights} filter channels"


_NO_DILATION = check(OPERAND_VALUE, "dilation 1", _dilation, "use NNAPI 1.2").when(below_level(NNAPI_1_2))

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
    unset("align_corners", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level(NNAPI_1_3)),
    unset("half_pixel_centers", kind=OPERAND_VALUE, hint=_WITHOUT_SHIFT).when(below_level(NNAPI_1_3)),
)


def _broadcasts(node: NodeView) -> str | None:
    first, second = node.input(0).shape, node.input(1).shape
    return None if len(first) == len(second) and first[:-2] == second[:-2] else f"shapes {list(first)} and {list(second)}"


def _is_unit_range(tensor: Tensor) -> bool:
    return tensor.scale == 1 / 128 and tensor.zero_point == 128


def _unit_range(which: Operand) -> Check[object]:
    hint = f"quantize the {which.name} to the range from -1 to 127/128"
    return quantized_as(which, "a scale of 1/128 and a zero point of 128", _is_unit_range, hint)


_BASIC_KERNEL = where(
    is_basic_lstm,
    "basic kernel",
    typed(operand(2, "weight tensor"), ("UINT8",)),
    _unit_range(operand(0, "input")),
    _unit_range(OUTPUT),
    quantized_as(
        result(1, "cell state"),
        "a scale of 16/32768 or a zero point of 0",
        lambda tensor: tensor.scale == 16 / 32768 or tensor.zero_point == 0,
        "quantize the cell state symmetrically",
    ),
    constant(operand(2, "weight tensor"), hint="store the weights in the model file"),
    constant(operand(3, "bias"), hint="store the biases in the model file"),
)
_FULL_KERNEL = where(
    lambda node: not is_basic_lstm(node),
    "full kernel",
    typed(operand(4, "weight tensor"), FLOAT_QUANT8).when(from_level(NNAPI_1_3)),
    typed(operand(4, "weight tensor"), FLOAT_UINT8).when(below_level(NNAPI_1_3)),
)
_FLOAT_WEIGHTS = typed(operand(1, "weight tensor"), FLOAT, hint=in_code("keep the weights in float"))
(_FLOAT_WEIGHTS_IF_ANY,) = where(lambda node: len(node.inputs) >= 2, "if there is one", _FLOAT_WEIGHTS)
_SEQUENCE_LSTM = (min_level(NNAPI_1_2), not_hybrid(hybrid_with_weights(2)))


def _kept_dimensions(node: NodeView, target: NnapiTarget) -> str | None:
    return f"keep_num_dims at feature level {target.level}" if node.options.keep_num_dims else None


def _normalized_layer(node: NodeView, target: NnapiTarget) -> str | None:
    return f"24 inputs at feature level {target.level}" if len(node.inputs) == 24 else None


RULES: Rules[NnapiTarget] = {
    "CONV_2D": op_rule(
        max_op_version(5),
        not_hybrid(hybrid_with_weights(1)).when(below_level(NNAPI_1_2)),
        FLOAT_UINT8_OPERAND.when(below_level(NNAPI_1_2)),
        refused_if(
            PER_CHANNEL, "weights with one scale", lambda node: node.input(1).is_per_channel, "weights with one scale per channel"
        ).when(below_level(NNAPI_1_2)),
        RESTRICTED_SCALES_ONLY.when(below_level(NNAPI_1_2)),
        operand_count(3).of_kind(OPTIONAL_OPERAND),
        _NO_DILATION,
        check(
            OPERAND_VALUE,
            "the same number of input channels and filter channels",
            _groups,
            "use NNAPI 1.2 for grouped convolutions",
        ).when(below_level(NNAPI_1_2)),
    ),
    "DEPTHWISE_CONV_2D": op_rule(
        max_op_version(3),
        FLOAT_UINT8_OPERAND.when(below_level(NNAPI_1_2)),
        RESTRICTED_SCALES_ONLY.when(below_level(NNAPI_1_2)),
        _NO_DILATION,
    ),
    "TRANSPOSE_CONV": op_rule(
        max_op_version(3).before_release("tf-2.15"),
        max_op_version(4).from_release("tf-2.15"),
        min_level(NNAPI_1_2),
        constants(operand(0, "output shape"), operand(1, "filter")),
    ),
    "AVERAGE_POOL_2D": op_rule(
        max_op_version(2),
        FLOAT_QUANT8_OPERAND,
        check(FILTER_AREA, f"a window of at most {_MAX_WINDOW} elements", _large_window).when(with_accelerator(False)),
    ),
    "L2_POOL_2D": op_rule(
        op_version(1), FLOAT_OPERAND, NO_ACTIVATION.reported_as(UNSUPPORTED_OPERAND_VALUE).when(below_level(NNAPI_1_2))
    ),
    "MAX_POOL_2D": op_rule(max_op_version(2), FLOAT_QUANT8_OPERAND),
    "RESIZE_BILINEAR": op_rule(
        max_op_version(3),
        rank(INPUT, 4),
        FLOAT_QUANT8_OPERAND,
        *_CONSTANT_SIZE,
        check(OPERAND_VALUE, "an output with equal height and width", _not_square, "use NNAPI 1.2").when(below_level(NNAPI_1_2)),
        *_NO_SHIFTED_GRID,
        typed(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
    ),
    "RESIZE_NEAREST_NEIGHBOR": op_rule(
        max_op_version(3), min_level(NNAPI_1_2), FLOAT_QUANT8_OPERAND, *_CONSTANT_SIZE, *_NO_SHIFTED_GRID
    ),
    "BATCH_MATMUL": op_rule(
        op_version(2),
        min_level(FEATURE_LEVEL_6),
        type_in(INPUT, ("FLOAT32", "INT32", "INT8")),
        same_type(INPUT, operand(1)),
        rank(INPUT, between(2, 4)),
        check(BROADCAST, "equal batch dimensions", _broadcasts, "give both operands the same batch dimensions")
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .from_source(SOURCE.with_symbol("IsBroadcastBatchMatMul")),
    ),
    "FULLY_CONNECTED": op_rule(
        max_op_version(5),
        refused_if(
            OUTPUT_TYPE,
            "an output of a type other than INT16",
            lambda node: OUTPUT.tensor(node).type == "INT16",
            "INT16 output",
            "quantize activations to 8 bits instead of 16",
        ),
        not_hybrid(hybrid_with_weights(1)).when(below_level(NNAPI_1_2)),
        FLOAT_UINT8_OPERAND.when(below_level(NNAPI_1_2)),
        RESTRICTED_SCALES_ONLY.when(below_level(NNAPI_1_2)),
        check_for_target(
            FEATURE_LEVEL,
            "feature level 30 for keep_num_dims",
            _kept_dimensions,
            by_reshape("use feature level 30, or restore the dimensions with RESHAPE"),
        )
        .from_source(SOURCE.with_symbol("ExpectMinAndroidSdkVersion"))
        .when(below_level(NNAPI_1_3)),
    ),
    "BIDIRECTIONAL_SEQUENCE_LSTM": op_rule(op_version(1), *_SEQUENCE_LSTM),
    "LSTM": op_rule(
        max_op_version(3),
        level_demand(NNAPI_1_1),
        not_hybrid(is_hybrid_lstm).when(below_level(NNAPI_1_2)),
        *_BASIC_KERNEL,
        check_for_target(
            FEATURE_LEVEL,
            "feature level 29 for layer normalization",
            _normalized_layer,
            "use feature level 29, or do not use layer normalization",
        )
        .from_source(SOURCE.with_symbol("ExpectMinAndroidSdkVersion"))
        .when(below_level(NNAPI_1_2)),
        *_FULL_KERNEL,
    ),
    "RNN": op_rule(op_version(1), operand_count(5), _FLOAT_WEIGHTS_IF_ANY),
    "SVDF": op_rule(
        op_version(1),
        operand_count(5).reported_as(UNSUPPORTED_OPERAND_RANK),
        _FLOAT_WEIGHTS_IF_ANY,
        level_demand(NNAPI_1_1).reported_as(UNSUPPORTED_OPERAND_RANK),
        # The delegate checks the weights twice.
        _FLOAT_WEIGHTS,
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": op_rule(max_op_version(2), *_SEQUENCE_LSTM, operand_count(exactly(20, 24))),
    "UNIDIRECTIONAL_SEQUENCE_RNN": op_rule(op_version(1), min_level(NNAPI_1_2), not_hybrid(hybrid_with_weights(1))),
}

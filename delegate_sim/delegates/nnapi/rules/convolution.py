"""Convolutions, pooling, resizing and matrix products (``NNAPIDelegateKernel::Validate``, ``nnapi_delegate.cc``)."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import Check, OpRule
from ..target import FEATURE_LEVEL_6, NNAPI_1_2, NNAPI_1_3, Target
from .checks import (
    INPUT_TYPE,
    OPERAND_VALUE,
    OUTPUT_TYPE,
    constant_if_present,
    float_operand,
    float_quant8_operand,
    float_uint8_operand,
    input_count,
    max_version,
    min_level,
    no_activation,
    not_hybrid,
    option,
    option_unset,
    ranked,
    restricted_scales,
    typed,
)


def _per_channel_weights(node: NodeView, _: Target) -> str | None:
    weights = node.input(1)
    return "weights with one scale per channel" if weights.is_per_channel else None


def _without_bias(node: NodeView, _: Target) -> str | None:
    return None if len(node.inputs) == 3 else f"{len(node.inputs)} inputs"


def _dilation(node: NodeView) -> str | None:
    width, height = node.options.dilation_w_factor, node.options.dilation_h_factor
    return None if width == 1 and height == 1 else f"dilation {height} x {width}"


def _groups(node: NodeView) -> str | None:
    source, weights = node.input(0).shape[3:4], node.input(1).shape[3:4]
    return None if source == weights else f"{source} input and {weights} filter channels"


def _int16_output(node: NodeView, _: Target) -> str | None:
    return "INT16 output" if node.output(0).type == "INT16" else None


def _large_window(node: NodeView, _: Target) -> str | None:
    if node.input(0).type not in ("UINT8", "INT8"):
        return None
    width, height = node.options.filter_width, node.options.filter_height
    return None if width * height <= 256 else f"window {height} x {width}"


def _not_square(node: NodeView) -> str | None:
    height, width = node.output(0).shape[1:2], node.output(0).shape[2:3]
    return None if height == width else f"output {height} x {width}"


def _keep_num_dims(node: NodeView, target: Target) -> str | None:
    return f"keep_num_dims at feature level {target.level}" if node.options.keep_num_dims else None


def _different_types(node: NodeView, _: Target) -> str | None:
    first, second = node.input(0).type, node.input(1).type
    return None if first == second else f"{first} with {second}"


def _broadcasts(node: NodeView, _: Target) -> str | None:
    first, second = node.input(0).shape, node.input(1).shape
    return None if len(first) == len(second) and first[:-2] == second[:-2] else f"shapes {list(first)} and {list(second)}"


_NO_DILATION = option("dilation 1", _dilation, "target NNAPI 1.2").below_level(NNAPI_1_2)
_CONSTANT_SIZE = (
    input_count(range(2, 1 << 31), "at least 2 inputs"),
    constant_if_present(1, "size"),
)
_NO_SHIFTED_GRID = (
    option_unset("align_corners").below_level(NNAPI_1_3),
    option_unset("half_pixel_centers").below_level(NNAPI_1_3),
)

RULES = {
    "CONV_2D": OpRule(
        (
            max_version(5),
            not_hybrid().below_level(NNAPI_1_2),
            float_uint8_operand().below_level(NNAPI_1_2),
            Check(
                "nnapi-per-channel", "kUnsupportedQuantizationType", "weights with one scale", _per_channel_weights
            ).below_level(NNAPI_1_2),
            restricted_scales().below_level(NNAPI_1_2),
            Check("nnapi-missing-bias", "kMissingRequiredOperand", "3 inputs", _without_bias, "add a bias of zeros"),
            _NO_DILATION,
            option("as many input as filter channels", _groups, "target NNAPI 1.2 for grouped convolutions").below_level(
                NNAPI_1_2
            ),
        )
    ),
    "DEPTHWISE_CONV_2D": OpRule(
        (
            max_version(3),
            float_uint8_operand().below_level(NNAPI_1_2),
            restricted_scales().below_level(NNAPI_1_2),
            _NO_DILATION,
        )
    ),
    "TRANSPOSE_CONV": OpRule(
        (
            max_version(3).before_release("litert-1.1.0"),
            max_version(4).from_release("litert-1.1.0"),
            min_level(NNAPI_1_2),
            Check(
                "nnapi-constant-operand",
                "kInputTensorShouldHaveConstantShape",
                "a constant output shape and constant weights",
                lambda node, _: None if node.input(0).is_constant and node.input(1).is_constant else "an operand is not constant",
                "fix the shapes before converting",
            ),
        )
    ),
    "FULLY_CONNECTED": OpRule(
        (
            max_version(5),
            Check("nnapi-output-type", OUTPUT_TYPE, "an output other than INT16", _int16_output),
            not_hybrid().below_level(NNAPI_1_2),
            float_uint8_operand().below_level(NNAPI_1_2),
            restricted_scales().below_level(NNAPI_1_2),
            Check(
                "nnapi-feature-level", "kUnsupportedAndroidVersion", "feature level 30 for keep_num_dims", _keep_num_dims
            ).below_level(NNAPI_1_3),
        )
    ),
    "BATCH_MATMUL": OpRule(
        (
            max_version(2),
            min_level(FEATURE_LEVEL_6),
            typed(0, ("FLOAT32", "INT32", "INT8")),
            Check("nnapi-hybrid", "kUnsupportedHybridOperator", "operands of one type", _different_types),
            ranked((2, 3, 4)),
            Check("nnapi-broadcast", INPUT_TYPE, "batch dimensions that are equal", _broadcasts),
        )
    ),
    "AVERAGE_POOL_2D": OpRule(
        (
            max_version(2),
            float_quant8_operand(),
            Check(
                "nnapi-filter-area", "kUnsupportedOperandSize", "a window of at most 256 elements", _large_window
            ).with_accelerator(False),
        )
    ),
    "MAX_POOL_2D": OpRule((max_version(2), float_quant8_operand())),
    "L2_POOL_2D": OpRule(
        (
            max_version(1),
            float_operand(),
            no_activation(kind=OPERAND_VALUE).below_level(NNAPI_1_2),
        )
    ),
    "RESIZE_BILINEAR": OpRule(
        (
            max_version(3),
            ranked((4,)),
            float_quant8_operand(),
            *_CONSTANT_SIZE,
            option("an output as high as wide", _not_square, "target NNAPI 1.2").below_level(NNAPI_1_2),
            *_NO_SHIFTED_GRID,
            float_operand().below_level(NNAPI_1_2),
        )
    ),
    "RESIZE_NEAREST_NEIGHBOR": OpRule(
        (max_version(3), min_level(NNAPI_1_2), float_quant8_operand(), *_CONSTANT_SIZE, *_NO_SHIFTED_GRID)
    ),
}

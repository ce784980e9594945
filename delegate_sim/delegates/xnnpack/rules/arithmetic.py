"""Activation functions, elementwise arithmetic, conversions and reductions.

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).

Source: ``VisitUnaryNode`` and ``Delegate::PrepareOpsToDelegate`` (``delegates/xnnpack/xnnpack_delegate.cc``).

A node that unpacks a constant is supported if all readers of the node's result are supported. If a DENSIFY does not unpack a
constant, the delegate does not visit the DENSIFY.
"""

from __future__ import annotations

from dataclasses import replace

from ....foundation.float32 import quotient
from ....graph.graph import NodeView
from ....model.numbers import as_list
from ....rules.kinds import ATTRIBUTE, CONSTANT, HYBRID, NEIGHBOR, OPERAND_VALUE, QUANTIZATION, SHAPE, TENSOR_TYPE
from ....rules.operands import OUTPUT, Operand, at_most, between, operand
from ....rules.rule import Check, OpRule, op_rule
from ....rules.vocabulary import check, check_for_target, option, rank, unset, where
from ..target import EIGHT_BIT_TYPES, Visit, datatype, densifies_constant, is_normal, only_scale
from .checks import (
    BOUNDING_ACTIVATION,
    EIGHT_BITS,
    FIRST,
    FLOAT16_ARITHMETIC,
    FLOAT32,
    FLOAT_ACTIVATIONS,
    FLOAT_ARITHMETIC,
    FLOAT_LAYERS,
    FLOAT_OR_8_BITS_ARITHMETIC,
    FLOAT_OR_8_BITS_LAYERS,
    FLOAT_OR_INT8,
    INPUT,
    LARGEST_CONVERSION,
    MAX_RANK,
    PREPARATION,
    SECOND,
    SHAPES_FROM,
    SMALLEST_CONVERSION,
    binary,
    counting_before,
    has_type,
    in_method,
    method,
    of_type,
    of_types,
    operands,
    shaped,
    stored,
    stored_or_unpacked,
    unary,
    xnnpack_rule,
)

_LOWEST_NEGATIVE_SCALE = -127.99609375


def _scale_ratio(node: NodeView) -> float | None:
    source, output = only_scale(node.input(0)), only_scale(node.output(0))
    return None if source is None or output is None else quotient(source, output)


def _unusable_ratio(node: NodeView) -> str | None:
    ratio = _scale_ratio(node)
    is_unusable = ratio is not None and (ratio < SMALLEST_CONVERSION or ratio > LARGEST_CONVERSION)
    return f"input scale / output scale = {ratio:g}" if is_unusable else None


def _has_normal_scales(node: NodeView) -> bool:
    return all(scale is None or is_normal(scale) for scale in map(only_scale, (node.input(0), node.output(0))))


def _unusable_negative_scale(node: NodeView) -> str | None:
    positive = _scale_ratio(node) if _has_normal_scales(node) else None
    if positive is None:
        return None
    ratio = quotient(positive * node.options.alpha, 1.0)
    if _LOWEST_NEGATIVE_SCALE <= ratio <= LARGEST_CONVERSION and abs(ratio) >= SMALLEST_CONVERSION:
        return None
    return f"input scale * alpha / output scale = {ratio:g}"


def _not_one_for_each_channel(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape and all(size == 1 for size in shape[:-1]) else f"slope of shape {list(shape)}"


_SLOPE_SHAPE = check(SHAPE, "a slope with size 1 in all dimensions except the last", _not_one_for_each_channel)
_AT_LEAST_VECTOR = between(1, MAX_RANK)

_UNARY = unary(FLOAT_ACTIVATIONS, shapes_from=SHAPES_FROM)

_LARGEST_SCALE = 256.0
_SMALLEST_SUM_SCALE = 1.0 / 1024.0
_SMALLEST_PRODUCT_SCALE = 1.0 / 65536.0


def _mixed_types(node: NodeView) -> str | None:
    first, second, output = node.input(0).type, node.input(1).type, node.output(0).type
    return None if first == second == output else f"{first}, {second} and {output}"


_ONE_TYPE = check(HYBRID, "the same type in all inputs and the output", _mixed_types)


def _sum_scale(which: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        tensor, output = which.tensor(node), node.output(0)
        if tensor.type not in EIGHT_BIT_TYPES:
            return None
        ratio = quotient(tensor.scale, output.scale)
        is_unusable = ratio < _SMALLEST_SUM_SCALE or ratio >= _LARGEST_SCALE
        return f"{which.name} scale / output scale = {ratio:g}" if is_unusable else None

    needed = f"{which.name} scale / output scale from 1/1024 to below 256 for 8-bit types"
    data = ("scale to the output's", *which.data, _SMALLEST_SUM_SCALE, _LARGEST_SCALE)
    return check(QUANTIZATION, needed, find, data=data).from_source(method("CheckTensorsInputOutputScale"))


def _product_scale(node: NodeView) -> str | None:
    first, second, output = node.input(0), node.input(1), node.output(0)
    if first.type not in EIGHT_BIT_TYPES:
        return None
    ratio = quotient(quotient(first.scale * second.scale, 1.0), output.scale)
    is_unusable = ratio < _SMALLEST_PRODUCT_SCALE or ratio >= _LARGEST_SCALE
    return f"product of the input scales / output scale = {ratio:g}" if is_unusable else None


_PRODUCT = check(
    QUANTIZATION,
    "product of the input scales / output scale from 1/65536 to below 256 for 8-bit types",
    _product_scale,
    data=("product of scales to the output's", _SMALLEST_PRODUCT_SCALE, _LARGEST_SCALE),
).from_source(method("CheckTensorsInputProductOutputScale"))

_SUM = binary(FLOAT_OR_8_BITS_ARITHMETIC, _ONE_TYPE, _sum_scale(FIRST), _sum_scale(SECOND), BOUNDING_ACTIVATION)


def _is_requantized(node: NodeView) -> bool:
    source_type = datatype(node.graph, node.input(0))
    return source_type in ("qint8", "quint8") and source_type == datatype(node.graph, node.output(0))


def _unknown_conversion(node: NodeView) -> str | None:
    if _is_requantized(node) or datatype(node.graph, node.input(0)) in ("fp32", "fp16"):
        return None
    return f"{node.input(0).type} to {node.output(0).type}"


def _refused_reader(node: NodeView, visit: Visit) -> str | None:
    reader = visit.unpacking.refused_readers.get(node.node.index)
    return None if reader is None else f"{reader.op}, which is refused, reads the result"


_UNPACKING = PREPARATION.with_branch("kTfLiteBuiltinDequantize &&")
_ACCEPTED_READERS = check_for_target(
    NEIGHBOR,
    "no unsupported reader of the result if the input is a constant",
    _refused_reader,
    "look at the refusal of the node that reads the result",
).from_source(PREPARATION.with_branch("Subgraph::VisitNode"))


def _unpacks_no_constant(node: NodeView, visit: Visit) -> str | None:
    if not visit.unpacking.widens_constant(node):
        return f"{node.input(0).type} to {node.output(0).type}"
    return _refused_reader(node, visit)


_UNPACKS_CONSTANT = check_for_target(
    CONSTANT,
    "a FLOAT16 or INT8 constant (from litert-1.2.0 on, INT8 with a scale), a FLOAT32 output, and no unsupported reader of the "
    "result",
    _unpacks_no_constant,
).from_source(_UNPACKING)


def _no_sparse_constant(node: NodeView) -> str | None:
    if densifies_constant(node):
        return None
    source = node.input(0)
    words = ("constant" if source.is_constant else "computed", "dense" if source.sparsity is None else "sparse")
    return f"{' '.join(words)} {source.type} to {node.output(0).type}"


_DEQUANTIZE = unary(EIGHT_BITS, outputs=FLOAT_ARITHMETIC)

_AXES = operand(1, "axes")


def _no_axes(node: NodeView) -> str | None:
    axes = node.value(node.input(1))
    return "no axes" if axes is None or not len(axes) else None


def _axis_of_scalar(node: NodeView) -> str | None:
    axes = node.value(node.input(1))
    is_first = axes is not None and len(axes) == 1 and axes[0] == 0
    return "axis 0 of a scalar" if is_first and not node.input(0).shape else None


def _too_many_axes(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return f"{count} axes" if count > MAX_RANK else None


def _reduction(*checks: Check[Visit]) -> OpRule[Visit]:
    return xnnpack_rule(
        "VisitReduceNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        has_type(_AXES, "INT32"),
        rank(_AXES, at_most(1)).from_source(method("CheckAxesTensorShape")),
        stored(_AXES),
        check(SHAPE, "at least 1 axis", _no_axes, "list the axes to reduce").from_release("litert-2.0.2"),
        check(SHAPE, "axes that the input has", _axis_of_scalar, "do not reduce a scalar").from_release("litert-2.1.5"),
        check(SHAPE, f"at most {MAX_RANK} axes", _too_many_axes, "name each axis once").from_release("litert-2.1.5"),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *checks,
    )


_SPATIAL_AXES = [1, 2]


def _beyond_image(node: NodeView) -> str | None:
    axes, source, output = node.value(node.input(1)), node.input(0), node.output(0)
    sorted_axes = [] if axes is None else sorted(as_list(axes))
    if sorted_axes == _SPATIAL_AXES and source.rank == 4 and output.rank == (4 if node.options.keep_dims else 2):
        return None
    return f"axes {sorted_axes} from shape {list(source.shape)} to shape {list(output.shape)}"


# The next three checks were measured; they are not in the source.
_OF_IMAGE = check(OPERAND_VALUE, "axes 1 and 2 of an input of rank 4", _beyond_image).before_release("litert-1.1.0")
_8_BITS_OF_IMAGE = where(lambda node: node.input(0).type in EIGHT_BIT_TYPES, "with an 8-bit input", _OF_IMAGE)
_FLOAT_ONLY = counting_before("litert-1.1.0", *in_method(FLOAT_OR_8_BITS_LAYERS.function, *of_type(INPUT, FLOAT32)))

RULES = {
    **dict.fromkeys(
        ("ABS", "CEIL", "FLOOR", "HARD_SWISH", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SQRT"), _UNARY
    ),
    **dict.fromkeys(("COS", "EXP", "SIN"), _UNARY.from_release("litert-1.3.0")),
    **dict.fromkeys(("LOGISTIC", "TANH"), unary(FLOAT_OR_8_BITS_ARITHMETIC, shapes_from=SHAPES_FROM)),
    "ELU": unary(FLOAT_OR_INT8.with_float16_from(FLOAT16_ARITHMETIC), shapes_from=SHAPES_FROM),
    "GELU": unary(
        FLOAT_ACTIVATIONS,
        unset("approximate", hint="convert with the exact GELU").before_release("litert-1.2.0"),
        shapes_from=SHAPES_FROM,
    ),
    "LEAKY_RELU": unary(
        FLOAT_OR_8_BITS_ARITHMETIC,
        check(
            ATTRIBUTE,
            "an alpha that is a finite, normal number other than 0",
            lambda node: None if is_normal(node.options.alpha) else f"alpha {node.options.alpha:g}",
        ),
        check(
            QUANTIZATION,
            "input scale / output scale from 1/256 to 128 for 8-bit types",
            lambda node: _unusable_ratio(node) if _has_normal_scales(node) else None,
            data=("scale to the output's", SMALLEST_CONVERSION, LARGEST_CONVERSION),
        ),
        check(
            QUANTIZATION,
            "input scale * alpha / output scale from 1/256 to 128, or from -128 to -1/256, for 8-bit types",
            _unusable_negative_scale,
            data=("scale times alpha to the output's", SMALLEST_CONVERSION, LARGEST_CONVERSION, _LOWEST_NEGATIVE_SCALE),
        ),
        shapes_from=SHAPES_FROM,
    ),
    "PRELU": binary(
        FLOAT_ARITHMETIC,
        *counting_before("litert-1.3.0", *in_method("VisitBinaryNode", *shaped(INPUT, _AT_LEAST_VECTOR), _SLOPE_SHAPE)),
        stored_or_unpacked(operand(1, "slope")),
        *counting_before("litert-1.3.0", *in_method("VisitBinaryNode", *shaped(OUTPUT, _AT_LEAST_VECTOR))),
        shapes_from=SHAPES_FROM,
    ),
    "SOFTMAX": xnnpack_rule(
        "VisitSoftmaxNode", option("beta", 1), operands(1), *of_types(INPUT, FLOAT_LAYERS), *of_types(OUTPUT, FLOAT_LAYERS)
    ),
    **dict.fromkeys(("ADD", "SUB"), _SUM),
    "DIV": binary(FLOAT_ARITHMETIC, BOUNDING_ACTIVATION),
    "LOG": _UNARY.from_release("litert-2.1.6"),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), binary(FLOAT_ARITHMETIC, shapes_from=SHAPES_FROM)),
    "MUL": binary(FLOAT_OR_8_BITS_ARITHMETIC, _ONE_TYPE, _PRODUCT, BOUNDING_ACTIVATION),
    "SQUARE": unary(FLOAT_ACTIVATIONS),
    "SQUARED_DIFFERENCE": binary(FLOAT_ARITHMETIC),
    "DENSIFY": op_rule(
        check(
            CONSTANT, "a sparse constant of type FLOAT32, FLOAT16 or INT8, and an output of the same type", _no_sparse_constant
        ),
        _ACCEPTED_READERS,
    ).from_source(PREPARATION.with_branch("kTfLiteBuiltinDensify &&")),
    "DEQUANTIZE": replace(
        _DEQUANTIZE, checks=(_ACCEPTED_READERS, *_DEQUANTIZE.checks), accepted_early=_UNPACKS_CONSTANT
    ).from_source(method("VisitUnaryNode"), _UNPACKING),
    "QUANTIZE": unary(
        FLOAT_OR_8_BITS_ARITHMETIC,
        check(
            QUANTIZATION,
            "input scale / output scale from 1/256 to 128 for 8-bit types",
            lambda node: _unusable_ratio(node) if _is_requantized(node) else None,
            data=("scale to the output's", SMALLEST_CONVERSION, LARGEST_CONVERSION),
        ),
        check(
            TENSOR_TYPE,
            "a float input, or an INT8 or UINT8 input and an output of the same type, both with one usable scale",
            _unknown_conversion,
        ),
    ),
    "MEAN": _reduction(*_8_BITS_OF_IMAGE),
    **dict.fromkeys(("REDUCE_MAX", "REDUCE_MIN"), _reduction().from_release("litert-1.3.0")),
    "SUM": _reduction(*_FLOAT_ONLY, _OF_IMAGE),
}

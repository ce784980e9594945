"""Rules of the Core ML delegate: the checks of each operator, in the delegate's order.

Source: ``IsNodeSupportedByDelegate`` (``delegates/coreml/coreml_delegate.mm``) and the functions of
``delegates/coreml/builders/op_validator.h``.

The delegate gives no reasons, and stops at the first failed check. If an operand is missing, some functions of the delegate
return an error status. The delegate reads this status as "supported". All other functions crash, so their rules require the
operand with ``given``.
"""

from __future__ import annotations

from typing import NamedTuple

from ..graph.graph import NodeView, fused_activation
from ..model.numbers import as_list, read_as
from ..releases.catalogue import NEWEST, Release
from ..rules import kinds
from ..rules.book import RuleBook, Unknown
from ..rules.kinds import ATTRIBUTE, BROADCAST, OPERAND_COUNT, RANK, SHAPE, TENSOR_TYPE, by_reshape, in_code
from ..rules.operands import INPUT, exactly, operand
from ..rules.rule import LITERT, Check, OpRule, Source
from ..rules.vocabulary import (
    activation,
    check,
    check_for_target,
    constant,
    given,
    max_version,
    option,
    rank,
    refused_if,
    typed,
    where,
    where_given,
)

COREML_2 = 2
COREML_3 = 3
MAX_RANK = 4


class CoreMlTarget(NamedTuple):
    """A target: the version of Core ML for the built models, and the release of the runtime."""

    coreml_version: int = COREML_3
    release: Release = NEWEST


SOURCE = Source(LITERT, "tflite/delegates/coreml/coreml_delegate.mm", "IsNodeSupportedByDelegate")
_VERSIONS = SOURCE.with_branch("registration->version > 1")
_DATA_TYPE = SOURCE.with_branch("->type != kTfLiteFloat32")

FLOAT_TYPES = ("FLOAT32", "FLOAT16")


def is_constant_number(node: NodeView, position: int) -> bool:
    """Return whether an operand is a constant with a single element."""
    tensor = node.input(position)
    return tensor.is_constant and tensor.element_count == 1


def has_missing_bias(node: NodeView) -> bool:
    """Return whether a node is a FULLY_CONNECTED with an omitted bias."""
    inputs = node.node.inputs
    return node.op == "FULLY_CONNECTED" and len(inputs) > 2 and inputs[2] < 0


NO_SIGN_BIT = refused_if(
    kinds.ACTIVATION,
    "a fused activation other than SIGN_BIT",
    lambda node: fused_activation(node) == "SIGN_BIT",
    "fused SIGN_BIT",
)


def coreml_rule(
    *checks: Check[CoreMlTarget], source: tuple[Source, ...] = (), version: int = 1, data: int = 0
) -> OpRule[CoreMlTarget]:
    """Return the rule of an operator: its version, the type of the operand at ``data``, then ``checks`` from ``source``."""
    common = (
        max_version(version).from_source(_VERSIONS),
        given(operand(data)).from_source(_DATA_TYPE),
        typed(operand(data), ("FLOAT32",)).from_source(_DATA_TYPE),
    )
    return OpRule((*common, *checks), source=(*source, SOURCE))


def builder(file: str, symbol: str) -> Source:
    """Return a source location in ``delegates/coreml/builders``."""
    return Source(LITERT, f"tflite/delegates/coreml/builders/{file}", symbol)


_KINDS = kinds.kinds_in("delegates", "coreml")
COREML_VERSION = _KINDS["coreml-version"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the delegate's wording."""


def _beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1.0 else f"beta {node.options.beta:g}"


_SOURCE = builder("util.cc", "IsBinaryOpSupported")


def _second_operand_type(node: NodeView) -> str | None:
    second = node.input(1)
    if second.type == "FLOAT32" or (second.type == "FLOAT16" and second.is_constant):
        return None
    return f"input 1 is {second.type}, {'constant' if second.is_constant else 'not constant'}"


def _not_broadcast(node: NodeView) -> str | None:
    # Before LiteRT 2.1.6, the delegate reads unknown memory behind shapes with more than four dimensions. The rule refuses them.
    first, second = node.input(0), node.input(1)
    description = f"shapes {list(first.shape)} and {list(second.shape)}"
    if max(first.rank, second.rank) > MAX_RANK:
        return description
    batch, *area, channels = zip(*[(1,) * (4 - tensor.rank) + tensor.shape for tensor in (first, second)], strict=True)
    has_number = is_constant_number(node, 0) or is_constant_number(node, 1)
    first_area, second_area = zip(*area, strict=True)
    if batch[0] != batch[1] and not has_number:
        return description
    if first_area != second_area and (1, 1) not in (first_area, second_area):
        return description
    return description if channels[0] != channels[1] and 1 not in channels else None


_BINARY = (
    given(operand(1)),
    check(TENSOR_TYPE, "input 1 of type FLOAT32, or a FLOAT16 constant", _second_operand_type).from_source(
        _SOURCE.with_symbol("IsBinaryOpSupportedType")
    ),
    check(BROADCAST, "shapes that Core ML broadcasts", _not_broadcast).from_source(_SOURCE.with_symbol("IsBroadcastable")),
)

_CONVOLUTION_SOURCE = builder("convolution_op_builder.cc", "IsConvolutionOpSupported")
_DEPTHWISE_SOURCE = (_CONVOLUTION_SOURCE, _CONVOLUTION_SOURCE.with_symbol("IsDepthwiseConvolutionOpSupported"))
_TRANSPOSE_SOURCE = (_CONVOLUTION_SOURCE, _CONVOLUTION_SOURCE.with_symbol("IsTransposeConvolutionOpSupported"))
_MAX_FILTER = 16384
_FILTER, _BIAS = operand(1, "filter"), operand(2, "bias")
_OUTPUT_SHAPE = operand(0, "output shape")


def _large_filter(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return f"a filter of shape {list(shape)}" if max(shape[1:3], default=0) > _MAX_FILTER else None


_FILTERED = (
    *where_given(_FILTER, constant(_FILTER)),
    check(SHAPE, f"a filter of at most {_MAX_FILTER} x {_MAX_FILTER}", _large_filter),
)
_CONVOLUTION = (NO_SIGN_BIT, *_FILTERED, given(_BIAS), constant(_BIAS))

_SIZE = operand(1, "size")

_WEIGHTS, _MATRIX_BIAS = operand(1, "weight matrix"), operand(2, "bias")


def _several_rows(node: NodeView) -> str | None:
    source = node.input(0)  # a scalar is not a row
    return None if source.shape[-1:] == (source.element_count,) else f"input shape {list(source.shape)}"


def _axes_beyond_area(node: NodeView) -> str | None:
    # Upstream also reads axes that are computed at run time. This check ignores them.
    axes = node.value(node.input(1))
    values = [] if axes is None else as_list(axes)
    return None if all((axis + 4) % 4 in (1, 2) for axis in values) else f"axes {values}"


_SHAPE = operand(1, "shape")


def _for_coreml_3(node: NodeView, target: CoreMlTarget) -> str | None:
    return f"Core ML {target.coreml_version}" if target.coreml_version >= COREML_3 else None


def _rank_in_options(node: NodeView) -> str | None:
    # The delegate reads the options only if the node has no shape operand.
    if len(node.node.inputs) != 1:
        return None
    count = len(node.options.new_shape)
    return None if count in (3, 4) else f"a new shape of {count} dimensions"


def _shape_type(node: NodeView) -> str | None:
    shape = node.input(1)
    return None if shape.type == "INT32" and shape.rank == 1 else f"{shape.type} shape of rank {shape.rank}"


def _rank_in_operand(node: NodeView) -> str | None:
    shape = node.input(1)
    return None if shape.shape[:1] in ((3,), (4,)) else f"a new shape of {shape.shape[0]} dimensions"


def _axis(node: NodeView) -> str | None:
    axis, dimensions = node.options.axis, node.input(0).rank
    return None if axis in (dimensions - 1, -1) else f"axis {axis} of {dimensions} dimensions"


_REFLECT = 0
_PADDING = operand(1, "padding")
_PAD_SOURCE = builder("pad_op_builder.cc", "IsPadOpSupported")


def _padding_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape[:2] == (4, 2) else f"padding of shape {list(shape)}"


def _not_padded(first_word: int, name: str) -> Check[object]:
    # Upstream reads the padding as 32-bit words, even if the padding has another type.
    def find(node: NodeView) -> str | None:
        padding = node.value(node.input(1))
        if padding is None:
            return None
        words = read_as(padding, "<i4")[first_word : first_word + 2]
        return f"padding {words.tolist()} of the {name}" if words.any() else None

    return check(ATTRIBUTE, f"no padding of the {name}", find, "pad height and width only")


def _mode(node: NodeView) -> str | None:
    return None if node.options.table is not None and node.options.mode == _REFLECT else "a mode other than REFLECT"


_PADDED = tuple(
    check_.from_source(_PAD_SOURCE)
    for check_ in (
        *where_given(
            _PADDING, constant(_PADDING), check(SHAPE, "padding of shape [4, 2]", _padding_shape, "pad only tensors of rank 4")
        ),
        _not_padded(0, "batch"),
        _not_padded(6, "channels"),
    )
)

_OPERATORS = {
    **dict.fromkeys(("HARD_SWISH", "LOGISTIC", "RELU", "RELU6", "RELU_N1_TO_1", "TANH"), coreml_rule()),
    **dict.fromkeys(("ADD", "MUL"), coreml_rule(*_BINARY, source=(_SOURCE,))),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), coreml_rule(activation(("NONE",)))),
    **dict.fromkeys(("PAD", "PADV2"), coreml_rule(*_PADDED, source=(_PAD_SOURCE,))),
    "SOFTMAX": coreml_rule(check(ATTRIBUTE, "beta 1", _beta, "set beta to 1, and scale the input with a MUL")),
    "CONV_2D": coreml_rule(*_CONVOLUTION, source=(_CONVOLUTION_SOURCE,)),
    "DEPTHWISE_CONV_2D": coreml_rule(*_CONVOLUTION, source=_DEPTHWISE_SOURCE, version=2),
    "TRANSPOSE_CONV": coreml_rule(*_FILTERED, given(_OUTPUT_SHAPE), constant(_OUTPUT_SHAPE), source=_TRANSPOSE_SOURCE, data=2),
    "RESIZE_BILINEAR": coreml_rule(
        given(_SIZE), constant(_SIZE), source=(builder("resize_bilinear_op_builder.cc", "IsResizeBilinearOpSupported"),)
    ),
    "FULLY_CONNECTED": coreml_rule(
        option("weights_format", 0),
        *where_given(_WEIGHTS, typed(_WEIGHTS, FLOAT_TYPES), constant(_WEIGHTS)),
        check(
            SHAPE,
            "one row of input",
            _several_rows,
            by_reshape(
                "run with a batch of 1; for a sequence, use RESHAPE to [1, length, 1, channels], CONV_2D with 1x1 filters and a "
                "second RESHAPE, and set coreml_version to 2"
            ),
        ),
        *where_given(_MATRIX_BIAS, typed(_MATRIX_BIAS, FLOAT_TYPES), constant(_MATRIX_BIAS)),
        *where(lambda node: not has_missing_bias(node), "unless the bias is omitted (operand -1)", NO_SIGN_BIT),
        source=(builder("fully_connected_op_builder.cc", "IsFullyConnectedOpSupported"),),
        version=6,
    ),
    "MEAN": coreml_rule(
        refused_if(ATTRIBUTE, "keep_dims true", lambda node: not node.options.keep_dims, "keep_dims false", "set keep_dims"),
        rank(INPUT, 4),
        check(ATTRIBUTE, "axes 1 and 2", _axes_beyond_area, "average over height and width only"),
        source=(builder("pooling_layer_builder.cc", "IsMeanOpSupported"),),
    ),
    "RESHAPE": coreml_rule(
        check_for_target(COREML_VERSION, "coreml_version 2", _for_coreml_3),
        check(RANK, "a new shape of 3 or 4 dimensions", _rank_in_options),
        *where_given(
            _SHAPE,
            constant(_SHAPE),
            check(TENSOR_TYPE, "an INT32 shape of rank 1", _shape_type, in_code("store the shape as an INT32 vector")),
            check(RANK, "a new shape of 3 or 4 dimensions", _rank_in_operand),
        ),
        source=(builder("reshape_op_builder.cc", "IsReshapeOpSupported"),),
    ),
    "CONCATENATION": coreml_rule(
        activation(("NONE",)),
        refused_if(
            OPERAND_COUNT,
            "at least 2 inputs",
            lambda node: len(node.node.inputs) < 2,
            "1 input",
            "remove the operator, which does nothing with one input",
        ),
        rank(INPUT, exactly(3, 4)),
        check(ATTRIBUTE, "the last axis", _axis, "concatenate channels"),
        source=(builder("concatenation_op_builder.cc", "IsConcatenationOpSupported"),),
    ),
    "MIRROR_PAD": coreml_rule(
        check(ATTRIBUTE, "mode REFLECT", _mode), *_PADDED, source=(_PAD_SOURCE.with_symbol("IsMirrorPadOpSupported"), _PAD_SOURCE)
    ),
}

RULES: RuleBook[CoreMlTarget] = RuleBook(
    "coreml", families=(_OPERATORS,), kinds=KINDS, source=SOURCE, unknown=Unknown("an operator that the Core ML delegate has")
)

"""Layers with weights or windows (convolutions, pooling, resizing, matrix products, recurrent layers), and compiled networks."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, HYBRID, OPTIONAL_OPERAND, SHAPE, TENSOR_TYPE, in_code
from ....rules.operands import INPUT, OUTPUT, operand
from ....rules.vocabulary import check, constant, option, refused_if, same_type, typed
from .checks import (
    CUSTOM_OPERATOR,
    EIGHT_BITS,
    OUTPUT_WITH_DIMENSIONS,
    SAME_TYPES,
    not_of_type,
    of_inputs,
    quantized_8_bits,
    vx_rule,
)


def _grouped_batch(node: NodeView) -> str | None:
    """Return the shapes of a grouped convolution unless the batch is 1.

    Upstream reads past the end of shapes with fewer than four dimensions. In real runs, the delegate accepted nodes if input and
    weights both had fewer than four dimensions. The delegate refused nodes if only the weights had a fourth dimension.
    """
    source, weights = node.input(0).shape, node.input(1).shape
    is_grouped = source[3:4] != weights[3:4]
    return f"input {list(source)} and weights {list(weights)}" if is_grouped and source[:1] != (1,) else None


_GROUPED_BATCH = check(SHAPE, "a batch of 1 if the convolution is grouped", _grouped_batch, "run with a batch of 1")


def _dilation(node: NodeView) -> str | None:
    options = node.options
    dilation = (options.dilation_d_factor, options.dilation_h_factor, options.dilation_w_factor)
    return f"dilation {' x '.join(map(str, dilation))}" if max(dilation) > 1 else None


_NO_DILATION = check(ATTRIBUTE, "no dilation", _dilation, "use a larger filter instead of dilation")

_POOL = vx_rule("Pool2dMapper::IsOpSupported")

_RESIZE = vx_rule(
    "ResizeMapper::IsOpSupported", constant(operand(1, "size")), *of_inputs(quantized_8_bits(), positions=slice(0, 1))
)
"""The rule for resizing. Upstream also checks that a constant size has data. This check never fails and is omitted here."""


def _mixed_matrices(node: NodeView) -> str | None:
    first, second = node.input(0).type, node.input(1).type
    return f"{first} and {second} inputs" if {first, second} == {"FLOAT32", "INT8"} else None


NO_INT32_OUTPUT = refused_if(
    TENSOR_TYPE, "an output that is not INT32", lambda node: node.output(0).type == "INT32", "an INT32 output"
)
_NO_FLOAT_WITH_INT8 = check(HYBRID, "inputs of any types except FLOAT32 with INT8", _mixed_matrices, "quantize both, or neither")
NOT_BOTH_ADJOINT = refused_if(
    ATTRIBUTE,
    "at most one of adj_x and adj_y",
    lambda node: bool(node.options.adj_x and node.options.adj_y),
    "adj_x and adj_y",
    "swap the operands and transpose the result",
)

_INPUT_WEIGHTS = operand(1, "input weight matrix")
_OUTPUT_STATE, _CELL_STATE = operand(18, "output state"), operand(19, "cell state")
"""Operands of UNIDIRECTIONAL_SEQUENCE_LSTM (``kernels/lstm_shared.h``)."""
_PROJECTION_WEIGHTS, _AUXILIARY_WEIGHTS = operand(16), operand(42)
"""The operands of BIDIRECTIONAL_SEQUENCE_LSTM that upstream checks: operands of the forward cell."""
_AUXILIARY_INPUT, _AUXILIARY_INPUT_WEIGHTS = operand(9), operand(10)
"""Operands of BIDIRECTIONAL_SEQUENCE_RNN.

If the list of operands is too short, upstream reads past the end of the list. Here, the node is refused
(``rules/malformed.py``).
"""

_FLOAT_WEIGHTS = typed(_INPUT_WEIGHTS, ("FLOAT32",), hint="convert without quantization")
"""Require float weights.

If the weights are omitted, upstream reads memory before the array of tensors. In real runs, the delegate refused the node.
"""


COMPILED_NETWORK = "vsi-npu"
"""The custom operator of networks that were compiled for the NPU beforehand (network binary graphs)."""

CUSTOM_RULES = {
    "WRNN_BIDI_SEQGRU": vx_rule(
        "CustomOpMap::IsOpSupported",
        refused_if(
            CUSTOM_OPERATOR,
            "another operator, because the mapper of this operator refuses every node",
            lambda node: True,
            "custom operator WRNN_BIDI_SEQGRU",
            "build the layer from builtin operators",
        ),
    ),
    "vsi-npu": vx_rule("NBGOpMap"),
}

RULES = {
    "CONV_2D": vx_rule("Conv2dMapper::IsOpSupported", SAME_TYPES, _GROUPED_BATCH),
    "CONV_3D": vx_rule("Conv3dMapper::IsOpSupported", _NO_DILATION, SAME_TYPES, constant(operand(1, "filter"))),
    "DEPTHWISE_CONV_2D": vx_rule("DepthwiseConv2dMapper::IsOpSupported", SAME_TYPES),
    "TRANSPOSE_CONV": vx_rule("TransposeConvMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
    "RESIZE_BILINEAR": _RESIZE,
    "RESIZE_NEAREST_NEIGHBOR": _RESIZE,
    "BATCH_MATMUL": vx_rule("BatchMatmul::IsOpSupported", NO_INT32_OUTPUT, _NO_FLOAT_WITH_INT8, NOT_BOTH_ADJOINT),
    "FULLY_CONNECTED": vx_rule(
        "FullyConnectedMapper::IsOpSupported",
        SAME_TYPES,
        option("weights_format", 0),
        *of_inputs(not_of_type("INT16", hint="quantize activations to 8 bits")),
    ),
    "BIDIRECTIONAL_SEQUENCE_LSTM": vx_rule(
        "BidirectionalSequenceLstm::IsOpSupported",
        _FLOAT_WEIGHTS,
        refused_if(
            OPTIONAL_OPERAND,
            "no projection weights",
            _PROJECTION_WEIGHTS.is_given,
            "projection weights",
            "build the layer without a projection",
        ),
        refused_if(
            OPTIONAL_OPERAND,
            "no auxiliary weights",
            _AUXILIARY_WEIGHTS.is_given,
            "auxiliary weights",
            "build the layer without an auxiliary input",
        ),
    ),
    "BIDIRECTIONAL_SEQUENCE_RNN": vx_rule(
        "BidirectionalSequenceRnn::IsOpSupported",
        _FLOAT_WEIGHTS,
        refused_if(
            OPTIONAL_OPERAND,
            "weights for the auxiliary input",
            lambda node: _AUXILIARY_INPUT.is_given(node) and not _AUXILIARY_INPUT_WEIGHTS.is_given(node),
            "an auxiliary input without weights",
            "build the layer without an auxiliary input",
        ),
    ),
    "RNN": vx_rule("Rnn"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": vx_rule(
        "UnidirectionalSequenceLstm::IsOpSupported",
        typed(INPUT, EIGHT_BITS, hint="quantize to 8 bits"),
        same_type(_OUTPUT_STATE, OUTPUT, kind=TENSOR_TYPE, hint=in_code("give the output and the output state the same type")),
        typed(_CELL_STATE, ("FLOAT16", "INT16"), hint="quantize to 8 bits"),
    ),
    "UNIDIRECTIONAL_SEQUENCE_RNN": vx_rule("UnidirectionalSequenceRnn::IsOpSupported", _FLOAT_WEIGHTS),
}

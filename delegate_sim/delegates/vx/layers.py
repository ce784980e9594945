"""Rules of the VX delegate for layers with weights or windows, for compiled networks, and for operators that move elements."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...model.model import Allocation
from ...rules.kinds import ATTRIBUTE, CONSTANT, HYBRID, OPTIONAL_OPERAND, SHAPE, TENSOR_TYPE, in_code
from ...rules.operands import INPUT, OUTPUT, operand
from ...rules.vocabulary import check, constant, constants, option, rank, refused_if, same_type, typed
from .checks import (
    AXIS,
    CUSTOM_OPERATOR,
    DYNAMIC_SHAPE,
    EIGHT_BITS,
    OUTPUT_WITH_DIMENSIONS,
    QUANTIZED_8_BITS,
    SAME_TYPES,
    not_of_type,
    of_inputs,
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

_RESIZE = vx_rule(
    "ResizeMapper::IsOpSupported", constant(operand(1, "size")), *of_inputs(QUANTIZED_8_BITS, positions=slice(0, 1))
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
(``rules/operands.py``).
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
    COMPILED_NETWORK: vx_rule("NBGOpMap"),
}


ARGUMENT_WITH_DIMENSIONS = refused_if(
    DYNAMIC_SHAPE,
    "at least one dimension in input and output",
    lambda node: not (node.input(0).rank and node.output(0).rank),
    "an input or output without dimensions",
    "give the input one more dimension, so that the result has one",
)


_CONSTANT_SHAPE = refused_if(
    CONSTANT,
    "a constant shape if the shape is an operand",
    lambda node: len(node.node.inputs) == 2 and not node.input(1).is_constant,
    "shape is not constant",
)

_BLOCKS = of_inputs(not_of_type("INT32", hint=in_code("cast to float around the operator")), QUANTIZED_8_BITS)
_RANK_4 = rank(INPUT, 4)


def _spatial_dimensions(node: NodeView) -> str | None:
    """Return the shape of the tensor with the block sizes, or None if this tensor has two elements.

    Upstream reads past the end of a shape without dimensions.
    """
    shape = node.input(1).shape
    return None if shape[:1] == (2,) else f"a block shape of shape {list(shape)}"


_TWO_BLOCKS = check(SHAPE, "two spatial dimensions", _spatial_dimensions, "use block sizes for height and width only")


def _unknown_size(node: NodeView) -> str | None:
    shape = node.input(0).shape
    return f"an input of shape {list(shape)}" if min(shape, default=1) <= 0 else None


_STRIDED_SLICE = (
    constants(operand(1, "begin"), operand(2, "end"), operand(3, "strides")),
    option("new_axis_mask", 0, hint="add the dimension with EXPAND_DIMS"),
    option("ellipsis_mask", 0, hint="write out all dimensions of the slice"),
)


def _sliced_batch(node: NodeView) -> str | None:
    """Return the shapes if the batch is sliced.

    If the output has no dimensions, upstream reads past the end of the output's shape. In real runs, the delegate refused such
    nodes.
    """
    source, result = node.input(0).shape, node.output(0).shape
    return f"input {list(source)} and output {list(result)}" if len(source) > 3 and source[:1] != result[:1] else None


_SLICE = (
    constants(operand(1, "begin"), operand(2, "size")),
    check(SHAPE, "the whole batch, if the input has more than three dimensions", _sliced_batch, "slice another dimension"),
)


_SPLIT = (
    refused_if(
        DYNAMIC_SHAPE,
        "an output that is not allocated at run time",
        # kTfLiteDynamic: STRING, RESOURCE or VARIANT
        lambda node: node.output(0).allocation is Allocation.DYNAMIC,
        "an output that is allocated at run time",
        "convert with another type for this tensor",
    ),
    *of_inputs(QUANTIZED_8_BITS),
)


_MIRROR_MODE = refused_if(
    ATTRIBUTE,
    "mode REFLECT or SYMMETRIC",
    lambda node: not node.options.table or node.options.mode not in (0, 1),
    "an unknown mode",
)

_EMBEDDING_LOOKUP = refused_if(
    HYBRID,
    "any types except a UINT8 table with an INT8 output",
    lambda node: node.input(1).type == "UINT8" and node.output(0).type == "INT8",
    "a UINT8 table and an INT8 output",
    in_code("give the table and the output the same type"),
)

_ONE_HOT = (
    constant(operand(1, "depth")),
    refused_if(TENSOR_TYPE, "an output that is not BOOL", lambda node: node.output(0).type == "BOOL", "a BOOL output"),
)

RULES = {
    "CONV_2D": vx_rule("Conv2dMapper::IsOpSupported", SAME_TYPES, _GROUPED_BATCH),
    "CONV_3D": vx_rule("Conv3dMapper::IsOpSupported", _NO_DILATION, SAME_TYPES, constant(operand(1, "filter"))),
    "DEPTHWISE_CONV_2D": vx_rule("DepthwiseConv2dMapper::IsOpSupported", SAME_TYPES),
    "TRANSPOSE_CONV": vx_rule("TransposeConvMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), vx_rule("Pool2dMapper::IsOpSupported")),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), _RESIZE),
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
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), vx_rule("ArgOpMapper::IsOpSupported", ARGUMENT_WITH_DIMENSIONS)),
    **dict.fromkeys(
        ("MEAN", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"), vx_rule("ReduceOpMapper::IsOpSupported", AXIS)
    ),
    "BATCH_TO_SPACE_ND": vx_rule("Batch2Space::IsOpSupported", _RANK_4, _TWO_BLOCKS, OUTPUT_WITH_DIMENSIONS),
    "DEPTH_TO_SPACE": vx_rule("Depth2SpaceMapper::IsOpSupported", *_BLOCKS),
    "EXPAND_DIMS": vx_rule("ExpandDimsMapper::IsOpSupported", AXIS),
    "RESHAPE": vx_rule("ReshapeMapper::IsOpSupported", _CONSTANT_SHAPE, OUTPUT_WITH_DIMENSIONS),
    "SHAPE": vx_rule(
        "ShapeMapper::IsOpSupported",
        check(SHAPE, "an input with positive sizes", _unknown_size, "fix the shapes before converting"),
    ),
    "SPACE_TO_BATCH_ND": vx_rule("Space2Batch::IsOpSupported", _RANK_4, OUTPUT_WITH_DIMENSIONS, _TWO_BLOCKS),
    "SPACE_TO_DEPTH": vx_rule("Space2DepthMapper::IsOpSupported", *_BLOCKS),
    "SQUEEZE": vx_rule("SqueezeMapper"),
    "TRANSPOSE": vx_rule("Transpose::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    "REVERSE_V2": vx_rule("ReverseV2::IsOpSupported", AXIS),
    "SLICE": vx_rule("Slice::IsOpSupported", *_SLICE),
    "STRIDED_SLICE": vx_rule("StridedSliceMapper::IsOpSupported", *_STRIDED_SLICE),
    "CONCATENATION": vx_rule("ConcatenationMapper"),
    "PACK": vx_rule("PackMapper"),
    "SPLIT": vx_rule("SplitMapper::IsOpSupported", *_SPLIT),
    "SPLIT_V": vx_rule("SplitVMapper::IsOpSupported", *_SPLIT),
    "UNPACK": vx_rule("UnpackMapper"),
    "MIRROR_PAD": vx_rule("MirrorPadMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS, _MIRROR_MODE),
    "PAD": vx_rule("PadMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    "EMBEDDING_LOOKUP": vx_rule("EmbeddingLookup::IsOpSupported", _EMBEDDING_LOOKUP),
    "GATHER": vx_rule("Gather::IsOpSupported"),
    "GATHER_ND": vx_rule("GatherNd::IsOpSupported"),
    "HASHTABLE_LOOKUP": vx_rule("HashtableLookup"),
    "SCATTER_ND": vx_rule("ScatterNDMapper::IsOpSupported", constant(operand(2, "shape"))),
    "BROADCAST_TO": vx_rule("BroadcastToMapper", int64_inputs=True),
    "ONE_HOT": vx_rule("OneHotMapper::IsOpSupported", *_ONE_HOT),
}

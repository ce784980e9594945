"""Building the delegate's own model of a partition, which can fail although the rules accept every node.

Source: ``BuildFinalModel`` (``delegates/gpu/common/model_builder.cc``), which ``DelegateKernelCore`` calls when a kernel is
initialised (``delegates/gpu/delegate.cc``). The compilation of shaders that follows is assumed to succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....graph.graph import Graph, NodeView
from ....graph.partition import Subset
from ....releases.catalogue import NEWEST, Release
from ...base import KernelFailure
from ...gpu_compatibility.questions import is_full_lstm
from ..failures import kernel_failure
from . import convolution, custom, elementwise, quantization, recurrent, reduction, shape
from .model import BuildError, GpuModel
from .reader import NodeReader, Values
from .transformations import clean_up

__all__ = ["PARSERS", "build_partition"]

Parser = Callable[[NodeReader], None]

_ONE_OPERAND = (
    "ABS", "COS", "ELU", "EXP", "FLOOR", "GELU", "LOG", "LOGISTIC", "NEG", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE", "TANH",
)  # fmt: skip
"""``IsOneArgumentOperation``."""
_TWO_OPERANDS = (
    "ADD", "ADD_N", "DIV", "EQUAL", "FLOOR_DIV", "FLOOR_MOD", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_AND",
    "MAXIMUM", "MINIMUM", "MUL", "NOT_EQUAL", "POW", "SQUARED_DIFFERENCE", "SUB",
)  # fmt: skip
_ONE_TO_ONE = (
    "CAST", "CUMSUM", "DEPTH_TO_SPACE", "HARD_SWISH", "LEAKY_RELU", "ONE_HOT", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SOFTMAX", "SPACE_TO_DEPTH", "TILE",
)  # fmt: skip

PARSERS: Mapping[str, Parser] = {
    **dict.fromkeys(_ONE_OPERAND, elementwise.parse_one_operand),
    **dict.fromkeys(_TWO_OPERANDS, elementwise.parse_two_operands),
    **dict.fromkeys(_ONE_TO_ONE, shape.parse_one_to_one),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), convolution.parse_pool),
    **dict.fromkeys(("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"), reduction.parse_reduction),
    **dict.fromkeys(("SELECT", "SELECT_V2"), elementwise.parse_select),
    **dict.fromkeys(("MIRROR_PAD", "PAD", "PADV2"), shape.parse_pad),
    "BATCH_MATMUL": convolution.parse_batch_matmul,
    "CONCATENATION": shape.parse_concatenation,
    "CONV_2D": convolution.parse_conv_2d,
    "DENSIFY": quantization.parse_densify,
    "DEPTHWISE_CONV_2D": convolution.parse_depthwise_conv_2d,
    "DEQUANTIZE": quantization.parse_dequantize,
    "FULLY_CONNECTED": convolution.parse_fully_connected,
    "GATHER": shape.parse_gather,
    "LSTM": recurrent.parse_lstm,
    "MEAN": reduction.parse_mean,
    "PACK": shape.parse_pack,
    "PRELU": elementwise.parse_prelu,
    "QUANTIZE": quantization.parse_quantize,
    "RESHAPE": shape.parse_reshape,
    "SLICE": shape.parse_slice,
    "SPLIT": shape.parse_split,
    "SPLIT_V": shape.parse_split_v,
    "STRIDED_SLICE": shape.parse_strided_slice,
    "TRANSPOSE": shape.parse_transpose,
    "TRANSPOSE_CONV": convolution.parse_transpose_conv,
    "UNPACK": shape.parse_unpack,
    "Convolution2DTransposeBias": custom.parse_transpose_conv_bias,
    "MaxPoolingWithArgmax2D": custom.parse_pool_with_argmax,
    "MaxUnpooling2D": custom.parse_unpool,
    "Resampler": custom.parse_resampler,
}


def build_partition(graph: Graph, subset: Subset, *, allow_quant_ops: bool, release: Release = NEWEST) -> KernelFailure | None:
    """Build the model of one partition, whose nodes the rules accept; return why that fails, None if it works."""
    model, values = GpuModel(), Values(graph, allow_quant_ops, release)
    current: int | None = None
    try:
        _add_border(model, values, graph, subset)
        for current in subset.nodes:
            _add_node(model, values, graph.view(graph.nodes[current]))
        current = None
        clean_up(model, graph)
    except BuildError as error:
        node = current if error.node is None else error.node
        return kernel_failure(error.code, node, error.tensor, **error.found)
    return None


def _add_node(model: GpuModel, values: Values, view: NodeView) -> None:
    if view.is_constant_float16_dequantize:
        return
    reader = NodeReader(model, values, view)
    PARSERS[view.op](reader)
    _update_variables(reader)


def _add_border(model: GpuModel, values: Values, graph: Graph, subset: Subset) -> None:
    """``PrecreateInputTensors`` and ``PrecreateOutputTensors``."""
    for index in subset.inputs:
        if not graph.tensors[index].is_constant:
            values.of(index)
    for index in subset.outputs:
        if not graph.tensors[index].is_constant:
            model.known_outputs.add(values.of(index))


def _update_variables(reader: NodeReader) -> None:
    """``CopyVariableTensorOutputs``: only an LSTM in its full form gives variables new values, its two states."""
    view = reader.view
    states = [recurrent.CELL_STATE, recurrent.OUTPUT_STATE] if is_full_lstm(view) else []
    for position, tensor in enumerate(view.inputs):
        if not tensor.is_variable:
            continue
        if position not in states:
            raise BuildError("gpu-build-variable", tensor, found="is a variable that the node only reads")
        states.remove(position)
        reader.values.update(tensor.index, reader.add("COPY"))
    if states:
        raise BuildError(
            "gpu-build-variable", view.input(states[0]), found="is not a variable, which the state of an LSTM must be"
        )

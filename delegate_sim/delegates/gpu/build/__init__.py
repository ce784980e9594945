"""Build the delegate's own model of a partition. The build can fail even if the rules accept every node.

Source: ``BuildFinalModel`` (``delegates/gpu/common/model_builder.cc``). ``DelegateKernelCore`` (``delegates/gpu/delegate.cc``)
calls this function when a kernel is initialized. The next step, shader compilation, is assumed to succeed, except for
operations without a shader. OpenCL has a kernel for all operations, OpenGL not.

Source for OpenGL: ``Registry`` (``delegates/gpu/gl/kernels/registry.cc``), ``GenerateCode`` of the shaders in the same folder,
and ``CheckBatchSizeForAllValues`` (``gl/api.cc``). These checks are read in the sources of TensorFlow 2.14 and of LiteRT of
August 2026, which have the same conditions. They are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module

from ....graph.graph import Graph, NodeView
from ....graph.partition import Subset
from ....model.schema import FAMILY_OF
from ....refusal import Refusal, Refused
from ....releases.catalogue import NEWEST, Release
from ...gpu_compatibility.checks import CELL_STATE, OUTPUT_STATE, is_full_lstm
from .model import GpuModel, Operation, Shape, Value, build_error, clean_up, predicted_error
from .reader import LINEAR, SCALAR, NodeReader, Parser, Values

__all__ = ["build_partition"]


_HEIGHT, _WIDTH, _CHANNELS = 1, 2, 3
_AREA = frozenset({_HEIGHT, _WIDTH})

_WITHOUT_SHADER = frozenset(
    (
        *("BATCHED_MATMUL", "CAST", "CUMSUM", "DENSIFY", "EQUAL", "GATHER", "GREATER", "GREATER_EQUAL", "LESS"),
        *("LESS_EQUAL", "LOGICAL_AND", "NOT_EQUAL", "ONE_HOT", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SELECT_V2", "SIGN"),
        *("SPLIT", "SUM", "TRANSPOSE"),
    )
)
"""The operations that no shader implements."""


def check_opengl(model: GpuModel, inputs: Sequence[Value]) -> None:
    """Raise Refused for the first operation that OpenGL cannot run, or if the values have different batches."""
    for operation in model.operations:
        if operation.kind in _WITHOUT_SHADER:
            raise predicted_error("gpu-build-shader", operation.node)
        needed = _LIMITS[operation.kind](operation) if operation.kind in _LIMITS else None
        if needed is not None:
            raise predicted_error("gpu-build-shader-case", operation.node, needed=needed)
    known = [*inputs, *[value for operation in model.operations for value in (*operation.inputs, *operation.outputs)]]
    sizes = [*dict.fromkeys(value.shape[0] for value in known)]
    if len(sizes) > 1:
        raise predicted_error("gpu-build-batch", found=f"{sizes[0]:,}", needed=f"{sizes[1]:,}")


def _is_pixel(shape: Shape) -> bool:
    return shape[_HEIGHT] == shape[_WIDTH] == 1


def _is_broadcast(first: Shape, second: Shape) -> bool:
    """Return whether a shader reads the second value as one pixel for all pixels of the first."""
    return first == second or (_is_pixel(second) and first[_CHANNELS] == second[_CHANNELS])


def _larger_first(operation: Operation) -> tuple[Shape, Shape]:
    first, second = operation.input(0).shape, operation.input(1).shape
    is_smaller = first[_HEIGHT] <= second[_HEIGHT] and first[_WIDTH] <= second[_WIDTH] and first[_CHANNELS] == second[_CHANNELS]
    return (second, first) if is_smaller else (first, second)


_SAME_OR_PIXEL = "operands of the same shape, or a second operand of height and width 1 with the same channels"


def _addition(operation: Operation) -> str | None:
    if len(operation.inputs) < 2 or _is_broadcast(*_larger_first(operation)):
        return None
    return _SAME_OR_PIXEL


def _multiplication(operation: Operation) -> str | None:
    if len(operation.inputs) < 2:
        return None
    first, second = _larger_first(operation)
    if all(second[axis] in (1, first[axis]) for axis in (_HEIGHT, _WIDTH, _CHANNELS)):
        return None
    return "a second operand whose sizes are 1 or those of the first"


def _two_operands(operation: Operation) -> str | None:
    if len(operation.inputs) == 2:
        return None if _is_broadcast(operation.input(0).shape, operation.input(1).shape) else _SAME_OR_PIXEL
    return None if operation.attributes in (SCALAR, LINEAR) else "a constant with one element, or with one for each channel"


def _constant(operation: Operation) -> str | None:
    """No shader implements a constant. The delegate merges zeros that a CONCAT appends, and unpacked weights."""
    return "operands that are computed at run time"


def _concatenation(operation: Operation) -> str | None:
    others = {_HEIGHT, _WIDTH, _CHANNELS} - {operation.attributes}
    if len(others) == 2 and len({tuple([value.shape[axis] for axis in sorted(others)]) for value in operation.inputs}) == 1:
        return None
    return "operands that differ only in height, width or channels"


def _convolution(operation: Operation) -> str | None:
    return None if len(operation.inputs) == 1 and operation.attributes in (None, 1) else "constant weights without groups"


def _constant_weights(operation: Operation) -> str | None:
    return None if len(operation.inputs) == 1 else "constant weights"


def _mean(operation: Operation) -> str | None:
    source, result = operation.input(0).shape, operation.output(0).shape
    is_of_area = operation.attributes == _AREA and _is_pixel(result) and source[_CHANNELS] == result[_CHANNELS]
    return None if is_of_area else "a mean over height and width, and no other axis"


def _padding(operation: Operation) -> str | None:
    return "four rows of paddings, and no padding of the batch" if operation.attributes else None


def _resizing(operation: Operation) -> str | None:
    source, result = operation.input(0).shape, operation.output(0).shape
    is_smaller = any(source[axis] > result[axis] for axis in _AREA)
    return "a result that is at least as large as the input" if is_smaller else None


_LIMITS: Mapping[str, Callable[[Operation], str | None]] = {
    "ADD": _addition,
    "ADD_N": _addition,
    "CONCAT": _concatenation,
    "CONSTANT": _constant,
    "CONVOLUTION_2D": _convolution,
    "CONVOLUTION_TRANSPOSED": _constant_weights,
    "DEPTHWISE_CONVOLUTION": _constant_weights,
    "MEAN": _mean,
    "MUL": _multiplication,
    "PAD": _padding,
    "RESIZE_BILINEAR": _resizing,
    "RESIZE_NEAREST_NEIGHBOR": _resizing,
    **dict.fromkeys(("DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "SUB"), _two_operands),
}
"""For an operation with a shader, a function that returns what the shader needs and the operation lacks, or None."""


def _parser_of(view: NodeView) -> Parser:
    rules = import_module("..rules", __package__)
    module = "layers" if view.node.is_custom else rules.MODULES[FAMILY_OF[view.op]]
    parsers: Mapping[str, Parser] = import_module(f".{module}", rules.__name__).PARSERS
    return parsers[view.op]


def build_partition(
    graph: Graph, subset: Subset, allow_quant_ops: bool, release: Release = NEWEST, is_opengl: bool = False
) -> Refusal | None:
    """Build the model of one partition of accepted nodes.

    Return the failure, or None if the build succeeds. The checks of the backends follow the sources, but are not recorded. So
    their failures are predictions.
    """
    model, values = GpuModel(), Values(graph, allow_quant_ops, release)
    current: int | None = None
    try:
        _add_boundary(model, values, graph, subset)
        for current in subset.nodes:
            _add_node(model, values, graph.view(graph.nodes[current]))
        current = None
        clean_up(model, graph)
        _check_elementwise(model)
        if is_opengl:
            check_opengl(model, [values.of(index) for index in subset.inputs if not graph.tensors[index].is_constant])
    except Refused as error:
        failure = error.refusal
        return failure if failure.node is not None else replace(failure, node=current)
    return None


def _check_elementwise(model: GpuModel) -> None:
    """Raise Refused if an elementwise operation reads several batches, but its result has one batch.

    The generated kernel then has no position of the batch, so it does not compile (``CreateElementwiseTwoInput``; TensorFlow
    issues 66712 and 57861).
    """
    operators: frozenset[str] = import_module("..rules.arithmetic", __package__).TWO_OPERANDS
    for operation in model.operations:
        if operation.kind not in operators or len(operation.inputs) < 2 or operation.output(0).shape[0] != 1:
            continue
        for value in operation.inputs:
            if value.shape[0] > 1:
                raise predicted_error("gpu-build-broadcast", operation.node, found=f"{value.shape[0]:,}")


def _add_node(model: GpuModel, values: Values, view: NodeView) -> None:
    if view.is_constant_float16_dequantize:
        return
    reader = NodeReader(model, values, view)
    _parser_of(view)(reader)
    _update_variables(reader)


def _add_boundary(model: GpuModel, values: Values, graph: Graph, subset: Subset) -> None:
    for index in subset.inputs:
        if not graph.tensors[index].is_constant:
            values.of(index)
    for index in subset.outputs:
        if not graph.tensors[index].is_constant:
            model.known_outputs.add(values.of(index))


def _update_variables(reader: NodeReader) -> None:
    """Update the variables for the two states of a full LSTM (``CopyVariableTensorOutputs``).

    No other operator may read variables.
    """
    view = reader.view
    states = [CELL_STATE, OUTPUT_STATE] if is_full_lstm(view) else []
    for position, tensor in enumerate(view.inputs):
        if not tensor.is_variable:
            continue
        if position not in states:
            raise build_error("gpu-build-variable", tensor, found="is a variable that the node reads but does not write")
        states.remove(position)
        reader.values.update(tensor.index, reader.add("COPY"))
    if states:
        raise build_error(
            "gpu-build-variable", view.input(states[0]), found="is not a variable, but the state of an LSTM must be one"
        )

"""Build the delegate's own model of a partition. The build can fail even if the rules accept every node.

Source: ``BuildFinalModel`` (``delegates/gpu/common/model_builder.cc``). ``DelegateKernelCore`` (``delegates/gpu/delegate.cc``)
calls this function when a kernel is initialized. The next step, shader compilation, is assumed to succeed, except for
operations without a shader. OpenCL has a kernel for all operations, OpenGL not.

Of the transformations of the model (``ApplyGeneralTransformations``,
``delegates/gpu/common/transformations/model_transformations.cc``), only those that can fail or that remove constants are
simulated. The others, such as the merging of an addition with a convolution, do not affect them.

Source for OpenGL: ``Registry`` (``delegates/gpu/gl/kernels/registry.cc``), ``GenerateCode`` of the shaders in the same folder,
and ``CheckBatchSizeForAllValues`` (``gl/api.cc``). These checks are read in the sources of TensorFlow 2.14 and of LiteRT of
August 2026, which have the same conditions. They are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module

from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...model.model import Tensor
from ...model.numbers import bounds
from ...model.schema import FAMILY_OF
from ...refusal import NodeIndex, Refusal, Refused
from ...releases.catalogue import NEWEST, Release
from ..gpu_compatibility.checks import CELL_STATE, OUTPUT_STATE, is_full_lstm
from .model import (
    DEQUANTIZED_TYPES,
    GATE_SUM,
    LINEAR,
    QUANTIZE_AND_DEQUANTIZE,
    SCALAR,
    GpuModel,
    NodeReader,
    Operation,
    Parser,
    Shape,
    Value,
    Values,
    build_error,
    consume,
    predicted_error,
    produce,
    replace_input,
)

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
    # A shader then reads the second value as one pixel for all pixels of the first.
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


_NO_STARTS = (0, 0, 0, 0)
_NO_STRIDES = (1, 1, 1, 1)
_BATCH = 0


def clean_up(model: GpuModel, graph: Graph) -> None:
    """Apply the transformations in order."""
    kinds = {operation.kind for operation in model.operations}
    _round_quantized_values(model)
    if not kinds.isdisjoint(("RESHAPE", "SLICE")):
        _remove_identities(model)
    if not kinds.isdisjoint(("CONSTANT", "DENSIFY")):
        merged = set[Operation]()
        for operation in model.operations:
            if operation.kind == "CONCAT":
                merged.update(_pad_instead_of_zeros(operation, graph))
        for operation in model.operations:
            if operation.kind in ("CONVOLUTION_2D", "DEPTHWISE_CONVOLUTION"):
                merged.update(_merge_densify(operation))
        model.operations = [operation for operation in model.operations if operation not in merged]
    for operation in model.operations:
        if operation.kind == GATE_SUM:
            # ``MergeAddWithConvolution`` reads the attributes of the ADD, but this ADD has no attributes.
            raise build_error("gpu-build-lstm", node=operation.node)


def _round_quantized_values(model: GpuModel) -> None:
    for operation in tuple(model.operations):
        if operation.kind == QUANTIZE_AND_DEQUANTIZE:
            continue
        for value in operation.outputs:
            if value.is_quantized and value.consumers:
                rounding = model.add(QUANTIZE_AND_DEQUANTIZE, operation.node)
                rounded = Value(value.shape, value.tensor)
                produce(rounding, rounded)
                for consumer in tuple(value.consumers):
                    replace_input(consumer, value, rounded)
                consume(rounding, value)
                value.is_quantized = False


def _remove_identities(model: GpuModel) -> None:
    for kind in _IDENTITIES:
        for operation in model.operations:
            if operation.kind == kind and is_identity(operation) and not model.is_output(operation.output(0)):
                _remove_keeping_input(operation)


def _is_identity_slice(operation: Operation) -> bool:
    starts, ends, strides = operation.attributes
    shape = operation.output(0).shape
    return bool(operation.input(0).shape == shape == ends and starts == _NO_STARTS and strides == _NO_STRIDES)


_IDENTITIES = {"RESHAPE": lambda operation: bool(operation.input(0).shape == operation.attributes), "SLICE": _is_identity_slice}


def is_identity(operation: Operation) -> bool:
    """Return whether an operation changes nothing."""
    return operation.kind in _IDENTITIES and _IDENTITIES[operation.kind](operation)


def _remove_keeping_input(operation: Operation) -> None:
    """Let the consumers of a result read the operand instead (``RemoveSimpleNodeKeepInput``), unless one already reads it."""
    if len(operation.outputs) != 1:
        raise build_error("gpu-build-output-count", node=operation.node, found=len(operation.outputs))
    source, result = operation.input(0), operation.output(0)
    del source.consumers[operation]
    for consumer in tuple(result.consumers):
        if consumer.reads(source):
            raise build_error("gpu-build-identity", source.tensor, operation.node, consumer=NodeIndex(consumer.node))
        replace_input(consumer, result, source)


def _pad_instead_of_zeros(operation: Operation, graph: Graph) -> Sequence[Operation]:
    """Replace a CONCAT that appends zeros by a PAD, and return the constant, which nothing else may read.

    Source: ``MakePaddingFromZerosConcat``.
    """
    if len(operation.inputs) != 2:
        return ()
    for value in operation.inputs:
        producer = value.producer
        if producer is not None and producer.kind == "CONSTANT" and _is_zero(producer.attributes, graph):
            if operation.attributes == _BATCH:
                return ()
            _check_only_consumer(producer, operation)
            operation.kind, operation.attributes = "PAD", False
            operation.inputs.remove(value)
            return (producer,)
    return ()


def _is_zero(tensor: Tensor, graph: Graph) -> bool:
    value = graph.model.constant(tensor)
    if value is None:
        return False
    if tensor.type in DEQUANTIZED_TYPES and tensor.quantization is not None:
        zero_point = tensor.quantization.zero_point
        return not len(value) or bounds(value) == (zero_point, zero_point)
    return not value.any()


def _merge_densify(operation: Operation) -> Sequence[Operation]:
    """Merge the DENSIFY of weights, which nothing else may read, and return the removed operations (``MergeDensify``)."""
    if len(operation.inputs) != 2:
        return ()
    merged = []
    producer, consumer = operation.input(1).producer, operation
    if producer is not None and producer.kind == QUANTIZE_AND_DEQUANTIZE:
        densify = producer.input(0).producer
        if densify is not None and densify.kind == "DENSIFY":
            _check_only_consumer(producer, operation)
            merged.append(producer)
            producer, consumer = densify, producer
    if producer is None or producer.kind != "DENSIFY":
        return ()
    _check_only_consumer(producer, consumer)
    operation.inputs.pop()
    return (*merged, producer)


def _check_only_consumer(operation: Operation, consumer: Operation) -> None:
    for value in operation.outputs:
        if any(reader is not consumer for reader in value.consumers):
            raise build_error("gpu-build-shared-constant", value.tensor, operation.node)


def _parser_of(view: NodeView) -> Parser:
    rules = import_module(".rules", __package__)
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
    parsers: dict[tuple[str, bool], Parser] = {}
    current: int | None = None
    try:
        for index in subset.inputs:
            if not graph.tensors[index].is_constant:
                values.of(index)
        model.known_outputs.update([values.of(index) for index in subset.outputs if not graph.tensors[index].is_constant])
        for current in subset.nodes:
            view = graph.view(graph.nodes[current])
            operator = view.op, view.node.is_custom
            parse = parsers[operator] = parsers.get(operator) or _parser_of(view)
            _add_node(model, values, view, parse)
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
    # The kernel of several batches with a result of one batch has no position of the batch, so it does not compile
    # (``CreateElementwiseTwoInput``; TensorFlow issues 66712 and 57861).
    operators: frozenset[str] = import_module(".rules.arithmetic", __package__).TWO_OPERANDS
    for operation in model.operations:
        if operation.kind not in operators or len(operation.inputs) < 2 or operation.output(0).shape[0] != 1:
            continue
        for value in operation.inputs:
            if value.shape[0] > 1:
                raise predicted_error("gpu-build-broadcast", operation.node, found=f"{value.shape[0]:,}")


def _add_node(model: GpuModel, values: Values, view: NodeView, parse: Parser) -> None:
    if view.is_constant_float16_dequantize:
        return
    reader = NodeReader(model, values, view)
    parse(reader)
    _update_variables(reader)


def _update_variables(reader: NodeReader) -> None:
    """Update the variables for the two states of a full LSTM. No other operator may read variables.

    Source: ``CopyVariableTensorOutputs``.
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

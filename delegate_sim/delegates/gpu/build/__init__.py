"""Build the delegate's own model of a partition. The build can fail even if the rules accept every node.

Source: ``BuildFinalModel`` (``delegates/gpu/common/model_builder.cc``). ``DelegateKernelCore`` (``delegates/gpu/delegate.cc``)
calls this function when a kernel is initialized. The next step, shader compilation, is assumed to succeed, except for
operations without a shader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module

from ....graph.graph import Graph, NodeView
from ....graph.partition import Subset
from ....model.operator_families import FAMILY_OF
from ....refusal import Refusal, Refused
from ....releases.catalogue import NEWEST, Release
from ...gpu_compatibility.checks import CELL_STATE, OUTPUT_STATE, is_full_lstm
from ..failures import build_error, predicted_error
from .model import GpuModel, clean_up
from .opengl import check_opengl
from .reader import NodeReader, Parser, Values

__all__ = ["build_partition"]


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

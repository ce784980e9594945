"""The subgraphs of a model as TensorFlow Lite Micro reads them.

The runtime does not read buffers outside the flatbuffer. It treats tensors with such buffers as activations. The runtime keeps
all nodes of the model in the execution plan.
"""

from __future__ import annotations

from ..graph.graph import Graph
from ..model.model import Allocation, Model, Node, Subgraph, Tensor

_SIZES = {
    "FLOAT16": 2,
    "BFLOAT16": 2,
    "FLOAT32": 4,
    "FLOAT64": 8,
    "INT16": 2,
    "INT32": 4,
    "UINT32": 4,
    "UINT8": 1,
    "UINT16": 2,
    "INT8": 1,
    "INT64": 8,
    "UINT64": 8,
    "BOOL": 1,
    "RESOURCE": 4,
    "COMPLEX64": 8,
    "COMPLEX128": 16,
    "INT4": 1,
}
"""The size in bytes of an element of each type (``TfLiteTypeSizeOf`` in ``memory_helpers.cc``)."""


def count_external_tensors(model: Model) -> int:
    """Return the number of tensors with data outside the flatbuffer that nodes read or that are outputs of a graph."""
    return sum([len(external_tensors(model, subgraph)) for subgraph in model.subgraphs])


def external_tensors(model: Model, subgraph: Subgraph) -> set[int]:
    """Return the tensors of a subgraph with data outside the flatbuffer that nodes read or that are outputs."""
    if not model.offset_buffers:
        return set()
    read = {index for node in subgraph.nodes for index in node.inputs}.union(subgraph.outputs)
    return {index for index in read if index >= 0 and subgraph.tensors[index].buffer in model.offset_buffers}


def variable_name(model: Model, node: Node) -> tuple[str, str] | None:
    """Return the container and the name of the variable that a VAR_HANDLE creates, or None for any other node."""
    if node.op != "VAR_HANDLE" or node.is_custom:
        return None
    options = model.options(node)
    return str(options.container or ""), str(options.shared_name or "")


def count_variables(model: Model) -> int:
    """Return the number of variables of a model."""
    return len({variable_name(model, node) for subgraph in model.subgraphs for node in subgraph.nodes} - {None})


def micro_graph(model: Model, subgraph: Subgraph) -> Graph:
    """Return the graph of a subgraph."""
    return Graph(
        model=model,
        index=subgraph.index,
        name=subgraph.name,
        tensors=tuple([_as_arena(tensor, tensor.buffer in model.offset_buffers) for tensor in subgraph.tensors]),
        nodes=subgraph.nodes,
        inputs=subgraph.inputs,
        outputs=subgraph.outputs,
        execution_plan=tuple(range(len(subgraph.nodes))),
    )


def _as_arena(tensor: Tensor, is_external: bool) -> Tensor:
    if tensor.data is None or (tensor.data[1] and not is_external):
        return tensor
    return tensor._replace(allocation=Allocation.VARIABLE if tensor.is_variable else Allocation.ARENA, data=None)


def is_allocated(tensor: Tensor) -> bool:
    """Return whether the flatbuffer has no data for a tensor. For such a tensor, the runtime allocates memory."""
    return tensor.data is None and tensor.value is None


def has_size(tensor: Tensor) -> bool:
    """Return whether the tensor's type has a known size in the runtime."""
    return tensor.type in _SIZES


def byte_size(tensor: Tensor) -> int:
    """Return the size of a tensor in the arena in bytes, or 0 for a type without a size. An INT4 element takes one byte."""
    return tensor.element_count * _SIZES.get(tensor.type, 0)

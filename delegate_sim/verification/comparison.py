"""Compare the results of a model with the results of the CPU's reference kernels."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..bundles.ranged import part_of
from ..fixing.flatbuffer.model_writing import write
from ..fixing.pass_workspace import Work, WorkCount
from ..foundation.late_numpy import np
from ..graph.graph import Graph
from ..hypothetical.model_editing import Editor, edited
from ..inference.difference import TensorDifference
from ..inference.inputs import InputArray
from ..model import schema
from ..model.model import Model, Node, Subgraph, Tensor
from ..model.reader import load

_WEIGHTS = {
    "BATCH_MATMUL": 1,
    "CONV_2D": 1,
    "DEPTHWISE_CONV_2D": 1,
    "EMBEDDING_LOOKUP": 1,
    "FULLY_CONNECTED": 1,
    "TRANSPOSE_CONV": 1,
}
"""The position of the weights, keyed by operator."""
_BITS = {"INT2": 2, "INT4": 4}
"""The number of bits of an element, for types with several elements in a byte."""
_FLOAT_SHARE, _HALF_SHARE, _QUANTIZED_SHARE = 1e-3, 1e-2, 5e-3
"""The largest error of right results, as a share of the largest value: with float32, float16 and quantized weights."""
_ROUNDED = 1.0001
"""A factor for the rounding of a step in float32."""


@dataclass(frozen=True, slots=True)
class ErrorTolerance:
    """The largest error of right results."""

    share: float
    """The error as a share of the largest value of the tensor."""
    steps: int = 1
    """The error of a quantized tensor, in steps of its stored values."""

    def excludes(self, difference: TensorDifference, step: float) -> bool:
        """Return whether a difference is larger than the tolerance. ``step`` is the value of one step (see ``step_of``)."""
        allowed = max(self.share * difference.range, self.steps * step * _ROUNDED)
        return bool(difference.problem) or difference.greatest > allowed


def step_of(graph: Graph, index: int) -> float:
    """Return the difference of neighboring values of a tensor: 1 if it is quantized, the scale if it was quantized, or 0."""
    tensor = graph.tensors[index]
    if tensor.scale:
        return 1.0
    writers = graph.writers.get(index, ())
    sources = [graph.tensors[node.input(0)] for node in writers if node.op == "DEQUANTIZE" and node.input(0) >= 0]
    return max([source.scale for source in sources], default=0.0)


def tolerance_for(model: Model) -> ErrorTolerance:
    """Return the tolerance for a model, which depends on the types of the constants that its nodes read."""
    graphs = model.subgraphs
    read = (graph.tensors[index] for graph in graphs for node in graph.nodes for index in node.inputs if index >= 0)
    if any(tensor.is_constant and tensor.type == "FLOAT16" for tensor in read):
        return ErrorTolerance(_HALF_SHARE)
    return ErrorTolerance(_QUANTIZED_SHARE if any(True for _ in _rounding_nodes(model)) else _FLOAT_SHARE)


def compared(name: str, references: Sequence[InputArray], values: Sequence[InputArray]) -> TensorDifference:
    """Return the difference of one tensor over all samples. Elements without a finite reference value are left out."""
    from ..inference.worker import ErrorTally  # imports numpy

    tally = ErrorTally()
    with np.errstate(all="ignore"):
        for reference, value in zip(references, values, strict=True):
            is_float = reference.dtype.kind == "f" and reference.shape == value.shape and reference.dtype == value.dtype
            tally.add(reference, np.where(np.isfinite(reference), value, reference) if is_float else value)
    return TensorDifference(name, **tally.found())


def with_float_weights(model: Model) -> Model:
    """Return the model with float weights in place of quantized weights of nodes that compute with floats.

    The CPU rounds the operands of such nodes, and accelerators do not. Return the same model if it has no such nodes.
    """
    nodes = {(graph.index, node.index) for graph, node in _rounding_nodes(model)}
    if not nodes:
        return model
    weights: dict[int, WorkCount] = {}

    def change(editor: Editor) -> None:
        work = Work(editor, None, weights)
        widened: dict[int, int] = {}
        for place, (origin, node) in enumerate(editor.nodes):
            if (editor.subgraph.index, node.index) in nodes:
                position = _WEIGHTS[node.op]
                index = node.inputs[position]
                if index not in widened:
                    widened[index] = _widened(work, editor.tensor(index))
                inputs = (*node.inputs[:position], widened[index], *node.inputs[position + 1 :])
                editor.nodes[place] = (origin, _without_rounding(editor, node._replace(inputs=inputs)))

    return load(b"".join(map(bytes, write(model, edited(model, change), weights))))


def _without_rounding(editor: Editor, node: Node) -> Node:
    names = {name for name, _ in editor.options_of(node)}
    flags = {"asymmetric_quantize_inputs": False} if "asymmetric_quantize_inputs" in names else {}
    return editor.with_options(node, **flags) if flags else node


def _widened(work: Work, tensor: Tensor) -> int:
    read = work.later(tensor) if tensor.type in schema.NUMPY_TYPES else functools.partial(_unpacked, work.model, tensor)
    quantization = tensor.quantization
    assert quantization is not None
    shape = [1 for _ in tensor.shape]
    if len(quantization.scales) > 1:
        shape[quantization.dimension] = len(quantization.scales)

    def widen() -> InputArray:
        scales = np.asarray(quantization.scales, np.float32).reshape(shape)
        zeros = np.asarray(quantization.zero_points, np.float32)
        shifts = zeros.reshape(shape) if zeros.size == scales.size else np.float32(0)
        return (read().astype(np.float32) - shifts) * scales

    return work.computed(f"{tensor.name}/float", "FLOAT32", tensor.shape, widen)


def _unpacked(model: Model, tensor: Tensor) -> InputArray:
    """Return the elements of a constant with several elements in a byte. The first element has the lowest bits."""
    assert tensor.data is not None
    offset, size = tensor.data
    stored = np.frombuffer(part_of(model.content, offset, offset + size), np.int8)
    bits = _BITS[tensor.type]
    shifts = np.array([6, 4, 2, 0] if bits == 2 else [4, 0], np.int8)
    elements: InputArray = np.left_shift(stored[:, None], shifts).astype(np.int8) >> np.int8(8 - bits)
    return elements.reshape(-1)[: tensor.element_count].reshape(tensor.shape)


def _rounding_nodes(model: Model) -> Iterator[tuple[Subgraph, Node]]:
    for graph in model.subgraphs:
        for node in graph.nodes:
            position = _WEIGHTS.get(node.op, len(node.inputs))
            if node.is_custom or position >= len(node.inputs) or min(node.inputs[position], node.outputs[0]) < 0:
                continue
            weights, result = graph.tensors[node.inputs[position]], graph.tensors[node.outputs[0]]
            is_quantized = weights.is_constant and weights.quantization is not None and len(weights.quantization.scales) > 0
            is_stored = weights.data is not None and weights.data[1] == weights.byte_size
            if is_quantized and is_stored and weights.type in ("INT8", "UINT8", *_BITS) and result.type == "FLOAT32":
                yield graph, node

"""What fails when ML Drift builds its own model of the nodes that it took: the process ends, and nothing is restored.

Not all that fails there is known: drivers compile the shaders.

Source: each parser's ``Parse`` (``ml_drift_delegate/tflite/model_builder.cc``) and ``ObjectReader``
(``ml_drift_delegate/tflite/object_reader.cc``), whose checks end the process. What ends it later, and is known of WebGPU alone,
was found with the binary of LiteRT 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...model.model import Tensor
from ...releases.catalogue import Release
from ..base import KernelFailure, kernel_failure
from ..gpu_compatibility.questions import runtime_input_count
from .failures import CHANNELS, CONSTANT_READ, CONSTANT_TYPE, EMPTY, LOWERED, WEIGHTS, WORDINGS
from .measured import NEWEST_MEASURED
from .shapes import bhwc


class _Problem(NamedTuple):
    code: str
    tensor: Tensor


_READ_AS_VALUE = {
    "SPLIT": (1,),
    "UNPACK": (0,),
    "ONE_HOT": (0,),
    "EMBEDDING_LOOKUP": (0,),
    "DYNAMIC_UPDATE_SLICE": (0, 1),
}
"""Operands that are read as values of the GPU, which constants are not."""


def _constants_read(node: NodeView) -> Iterator[_Problem]:
    positions = _READ_AS_VALUE.get(node.op, ())
    if node.op == "SPLIT" and node.options.num_splits == 1:
        positions = (0,)  # of a split into one part the axis is read instead
    if node.op == "UNPACK" and node.options.num == 1:
        positions = ()
    for position in positions:
        if node.input(position).is_constant:
            yield _Problem(CONSTANT_READ.name, node.input(position))


def _unread_types(node: NodeView) -> Iterator[_Problem]:
    for tensor in node.inputs:
        is_plain = tensor.quantization is None
        if node.op in _ELEMENTWISE and tensor.is_constant and tensor.element_count > 1 and tensor.type == "INT16":
            yield _Problem(CONSTANT_TYPE.name, tensor)
        if node.op == "BATCH_MATMUL" and tensor.is_constant and tensor.type == "INT8" and is_plain:
            yield _Problem(CONSTANT_TYPE.name, tensor)
    if node.op == "PADV2" and node.input(2).is_constant and _is_unread_padding(node.input(2)):
        yield _Problem(CONSTANT_TYPE.name, node.input(2))
    if node.op == "DEQUANTIZE" and node.input(0).type == "INT4" and not node.input(0).is_constant:
        yield _Problem(CONSTANT_TYPE.name, node.input(0))


def _is_unread_padding(value: Tensor) -> bool:
    return value.type == "INT32" or (value.type == "INT8" and value.quantization is None)


_NAMES = """
ADD ADD_N ATAN2 DIV EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL MAXIMUM MINIMUM MUL NOT_EQUAL POW RIGHT_SHIFT
SQUARED_DIFFERENCE STABLEHLO_SHIFT_LEFT SUB
"""
_ELEMENTWISE = frozenset(_NAMES.split())


def _unusable_weights(node: NodeView) -> Iterator[_Problem]:
    weights = node.input(1)
    if node.op == "FULLY_CONNECTED":
        bias = node.input(2)
        is_same = len(node.node.inputs) > 1 and node.node.input(0) == node.node.input(1)
        has_runtime_bias = weights.is_constant and len(node.node.inputs) > 2 and bias.index >= 0 and not bias.is_constant
        has_scales = not weights.is_constant and weights.type == "INT8" and weights.is_per_channel
        if is_same or has_scales:
            yield _Problem(WEIGHTS.name, weights)
        elif has_runtime_bias and runtime_input_count(node) == 2:
            yield _Problem(CONSTANT_READ.name, weights)
    if node.op in ("EMBEDDING_LOOKUP", "FULLY_CONNECTED") and _is_blockwise(weights):
        yield _Problem(WEIGHTS.name, weights)
    if node.op == "EMBEDDING_LOOKUP" and (not weights.is_constant or weights.rank == 4):
        yield _Problem(WEIGHTS.name, weights)
    if node.op == "ONE_HOT":
        for position in (2, 3):
            if not node.input(position).is_constant:
                yield _Problem(WEIGHTS.name, node.input(position))


def _is_blockwise(weights: Tensor) -> bool:
    return weights.quantization is not None and weights.quantization.kind == "blockwise"


def _on_webgpu(node: NodeView) -> Iterator[_Problem]:
    for tensor in (*node.inputs, *node.outputs):
        if tensor.index >= 0 and not tensor.is_constant and 0 in tensor.shape:
            yield _Problem(EMPTY.name, tensor)
    if node.op == "TOPK_V2" and node.input(0).rank > 1 and bhwc(node.input(0).shape).c % 4:
        yield _Problem(CHANNELS.name, node.input(0))
    if node.op == "STABLEHLO_COMPOSITE":
        yield _Problem(LOWERED.name, node.output(0))


_ANYWHERE: tuple[Callable[[NodeView], Iterator[_Problem]], ...] = (_constants_read, _unread_types, _unusable_weights)


def build_failure(graph: Graph, subset: Subset, backend: str, release: Release) -> KernelFailure | None:
    """Return the first node of a partition that ends the process while its model is built; None if none is known to."""
    for index in subset.nodes:
        node = graph.view(graph.nodes[index])
        if node.node.is_custom or node.is_constant_float16_dequantize:
            continue
        for problems in (*_ANYWHERE, *((_on_webgpu,) if backend == "webgpu" else ())):
            for problem in problems(node):
                failure = kernel_failure(WORDINGS, problem.code, index, problem.tensor)
                return failure if release.is_at_least(NEWEST_MEASURED) else failure._replace(is_known=False)
    return None

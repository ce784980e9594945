"""What fails when ML Drift builds its own model of the nodes that it took: the process ends, and nothing is restored.

Not all that fails there is known: drivers compile the shaders.

Source: each parser's ``Parse`` (``ml_drift_delegate/tflite/model_builder.cc``) and ``ObjectReader``
(``ml_drift_delegate/tflite/object_reader.cc``), whose checks end the process. What ends it later, and is known of WebGPU alone,
was found with the binary of LiteRT 2.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...model.model import Tensor
from ...named_tuples import NamedTuple
from ...releases.catalogue import Release
from ..base import KernelFailure, kernel_failure
from ..gpu_compatibility.questions import runtime_input_count
from .failures import AXES, BATCH, CHANNELS, CONSTANT_READ, CONSTANT_TYPE, EMPTY, LOWERED, WEIGHTS, WORDINGS
from .measured import NEWEST_MEASURED
from .rules.checks import integers
from .shapes import axes_of, bhwc, is_linear


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
    for position in _added_constants(node):
        if node.input(position).is_constant and node.input(position).type not in _ADDED_TYPES:
            yield _Problem(CONSTANT_TYPE.name, node.input(position))
    for tensor in node.inputs:
        if node.op == "BATCH_MATMUL" and tensor.is_constant and tensor.type == "INT8" and tensor.quantization is None:
            yield _Problem(CONSTANT_TYPE.name, tensor)
    if node.op == "PADV2" and node.input(2).is_constant and _is_unread_padding(node.input(2)):
        yield _Problem(CONSTANT_TYPE.name, node.input(2))
    if node.op == "DEQUANTIZE" and node.input(0).type == "INT4" and not node.input(0).is_constant:
        yield _Problem(CONSTANT_TYPE.name, node.input(0))


_ADDED_TYPES = ("FLOAT32", "FLOAT16", "INT8", "UINT8", "INT4", "INT2", "BOOL", "INT32")
"""Types of the constants that become nodes of the model (``ObjectReader::AddConstInput``)."""


def _added_constants(node: NodeView) -> Sequence[int]:
    """Return the operands that become such nodes if they are constant."""
    if node.op in _ELEMENTWISE:
        return [position for position in (0, 1) if node.input(position).element_count > 1]
    if node.op == "CONCATENATION" or (node.op == "PACK" and len(node.node.inputs) > 1):
        return range(len(node.node.inputs))
    return {"GATHER": (0, 1), "SELECT": (0, 1, 2), "SELECT_V2": (0, 1, 2)}.get(node.op, ())


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
        has_runtime_bias = weights.is_constant and node.node.input(2) >= 0 and not bias.is_constant
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


def _axes(node: NodeView) -> Iterator[_Problem]:
    if node.op == "CUMSUM" and any(not 0 <= axis + 4 - node.input(0).rank < 4 for axis in integers(node, 1)[:1]):
        yield _Problem(AXES.name, node.input(1))
    if node.op == "TRANSPOSE" and any(axis < 0 for axis in integers(node, 1)):
        yield _Problem(AXES.name, node.input(1))


def _unlike_constants(node: NodeView) -> Iterator[_Problem]:
    """A constant of two or three dimensions is built without batches (``DequantizeOperationParser::ReadConstTensor``)."""
    constant = node.input(0)
    if node.op == "DEQUANTIZE" and constant.is_constant and constant.rank in (2, 3) and constant.shape[0] != 1:
        yield _Problem(BATCH.name, constant)


def _is_blockwise(weights: Tensor) -> bool:
    return weights.quantization is not None and weights.quantization.kind == "blockwise"


_SPLIT_AXES = {"SPLIT": 0, "SPLIT_V": 2}
"""Which operand is the axis; of parts that are empty along it there are no kernels."""


def _is_divided_by(node: NodeView, result: Tensor) -> bool:
    """Whether a result has no batches, rows or columns, which work is divided by; one without channels does no harm."""
    if 0 not in result.shape:
        return False
    sizes = dict(zip(axes_of(result.rank), result.shape, strict=False))
    if node.op in _SPLIT_AXES:
        split = [axis % result.rank for axis in integers(node, _SPLIT_AXES[node.op])[:1]]
        sizes = {axis: size for position, (axis, size) in enumerate(sizes.items()) if position not in split}
    return any(size == 0 and axis != _CHANNELS_AXIS for axis, size in sizes.items())


_CHANNELS_AXIS = 3


def _on_webgpu(node: NodeView) -> Iterator[_Problem]:
    for tensor in node.outputs:
        if _is_divided_by(node, tensor):
            yield _Problem(EMPTY.name, tensor)
    if node.op == "TOPK_V2" and math.prod(node.input(0).shape[-1:]) < _VECTOR:
        yield _Problem(CHANNELS.name, node.input(0))
    if node.op in ("SELECT", "SELECT_V2") and bhwc(node.input(0).shape).b > 1 == bhwc(node.output(0).shape).b:
        yield _Problem(BATCH.name, node.input(0))
    if node.op == "PRELU" and bhwc(node.input(0).shape).b > 1 and not is_linear(node.input(1).shape):
        yield _Problem(BATCH.name, node.input(0))
    if node.op == "FULLY_CONNECTED" and _has_rows_as_batches(node):
        yield _Problem(BATCH.name, node.output(0))
    if node.op == "STABLEHLO_COMPOSITE":
        yield _Problem(LOWERED.name, node.output(0))


_VECTOR = 4
_FEW_ROWS = 8
"""Up to so many rows a matrix product has a kernel that does not look at batches."""


def _has_rows_as_batches(node: NodeView) -> bool:
    """Whether a matrix product with quantised weights, whose result is not reshaped, gives rows as batches."""
    weights, source, result = node.input(1), bhwc(node.input(0).shape), bhwc(node.output(0).shape)
    is_quantized = weights.is_constant and weights.quantization is not None and weights.quantization.is_affine
    return is_quantized and source.b == 1 and result.b > 1 and source.h * source.w > _FEW_ROWS


_ANYWHERE: tuple[Callable[[NodeView], Iterator[_Problem]], ...] = (
    _constants_read,
    _unread_types,
    _unusable_weights,
    _axes,
    _unlike_constants,
)


def build_failure(graph: Graph, subset: Subset, backend: str, release: Release) -> KernelFailure | None:
    """Return the first node of a partition that ends the process while its model is built; None if none is known to."""
    for index in subset.nodes:
        for problem in _problems(graph.view(graph.nodes[index]), backend == "webgpu"):
            failure = kernel_failure(WORDINGS, problem.code, index, problem.tensor)
            return failure if release.is_at_least(NEWEST_MEASURED) else failure._replace(is_known=False)
    return None


def _problems(node: NodeView, is_on_webgpu: bool) -> Iterator[_Problem]:
    if node.node.is_custom or node.is_constant_float16_dequantize:
        return
    for problems in (*_ANYWHERE, *((_on_webgpu,) if is_on_webgpu else ())):
        yield from problems(node)

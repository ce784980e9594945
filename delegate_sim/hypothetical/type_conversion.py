"""Simulate another conversion of a model: to float, with float16 weights, or quantized to 8-bit integers.

The simulation predicts everything that does not depend on data: types, versions, the positions of QUANTIZE and DEQUANTIZE, and
the number of scales of each tensor. Scales depend on data, so their values are not predicted. All results get one common scale,
unless the operator requires another. Products with large constants, such as the values of attention masks, get the scale that
follows from the constant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping

from ..foundation.float32 import all_float32, float32
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import Graph, file_graphs
from ..model.model import NO_TENSOR, Allocation, Model, Node, Tensor
from ..model.numbers import StoredNumbers, bounds
from .model_editing import Edited, Editor, demanded_versions, edited, unchanged, with_converted_versions, with_versions
from .quantization import BIAS, CHANNELS, LEVELS, LSTM, VALUES_KEPT, WEIGHTS, Quantizer, rescaled, zeros

_STORED = frozenset({"INT2", "INT4", "INT8", "UINT8", "INT16", "INT32", "INT64"})


_HUGE_SCALE = 1e20

_OLDER_VERSIONS: Mapping[str, int] = {"CONV_2D": 2, "DEPTHWISE_CONV_2D": 6, "FULLY_CONNECTED": 3}
"""Operators with weights that TensorFlow's older quantizer keeps quantized, each with the version that the quantizer writes."""


def as_float(model: Model, cache: AnalysisCache) -> Edited:
    """Return the model that a converter would write without quantization: ``converter.optimizations`` is empty."""
    return cache.get("float model", (model,), lambda: _as_float(model, cache))


def _as_float(model: Model, cache: AnalysisCache) -> Edited:
    if not any(_is_narrowed(tensor) for subgraph in model.subgraphs for tensor in subgraph.tensors):
        return unchanged(model)
    return _with_versions(edited(model, lambda editor: _widen(editor, model)), cache)


def as_int8(model: Model, cache: AnalysisCache) -> Edited:
    """Return the model that a converter would write with full integer quantization. Inputs and outputs stay float.

    The scales come from a calibration.
    """
    return _with_versions(_quantized_model(model, cache), cache)


def as_int8_per_tensor(model: Model, cache: AnalysisCache) -> Edited:
    """Return the model of ``as_int8`` if the converter has the setting ``_experimental_disable_per_channel``."""
    quantized = _quantized_model(model, cache)
    joined = quantized.then(lambda model: edited(model, lambda editor: _join_scales(editor, frozenset(CHANNELS))))
    return _with_versions(joined, cache)


def _quantized_model(model: Model, cache: AnalysisCache) -> Edited:
    def quantized() -> Edited:
        return as_float(model, cache).then(lambda floating: edited(floating, _quantize))

    return cache.get("quantized model", (model,), quantized)


def as_float16(model: Model, cache: AnalysisCache) -> Edited:
    """Return the model that a converter would write with float16 weights. A DEQUANTIZE converts each weight to float32."""
    return as_float(model, cache).then(lambda floating: _with_versions(edited(floating, _narrow_weights), cache))


def as_per_tensor(model: Model, cache: AnalysisCache) -> Edited:
    """Return the model in which all channels of a quantized weight tensor have the same scale."""
    return _lowered(edited(model, lambda editor: _join_scales(editor, frozenset(CHANNELS))), cache)


def as_dense_per_tensor(model: Model, cache: AnalysisCache) -> Edited:
    """Return the model in which all channels of a quantized FULLY_CONNECTED weight tensor have the same scale."""
    return _lowered(edited(model, lambda editor: _join_scales(editor, frozenset({"FULLY_CONNECTED"}))), cache)


def as_dynamic_range_per_tensor(model: Model, cache: AnalysisCache) -> Edited:
    """Return the model that TensorFlow's older quantizer would write with dynamic range quantization and one scale per tensor.

    The model quantizes data without a zero point. The weights of operators that the older quantizer does not support are
    dequantized. A model without dynamic range quantization does not change.
    """
    changed = _with_versions(edited(model, _use_older_quantizer), cache)
    return changed.then(lambda older: with_versions(older, _OLDER_VERSIONS))


def with_mask(model: Model, _: AnalysisCache, value: float) -> Edited:
    """Return a quantized model with ``value`` in its attention mask. The original mask has a number near the lowest float32.

    A converter derives several scales from the range of the mask. One example is the scale of the tensor that is multiplied by
    the mask. All these scales change.
    """
    return edited(model, lambda editor: _use_mask(editor, float32(value / LEVELS)))


CONVERSIONS: Mapping[str, Callable[[Model, AnalysisCache], Edited]] = {
    "float": as_float,
    "int8": as_int8,
    "int8-per-tensor": as_int8_per_tensor,
    "float16": as_float16,
    "per-tensor": as_per_tensor,
    "dense-per-tensor": as_dense_per_tensor,
    "dynamic-range-per-tensor": as_dynamic_range_per_tensor,
    "mask-1e4": functools.partial(with_mask, value=1e4),
    "mask-100": functools.partial(with_mask, value=100.0),
}
"""The conversions of a model, keyed by name. The last five conversions change only models that are already quantized."""


def _is_narrowed(tensor: Tensor) -> bool:
    return _is_quantized(tensor) or (tensor.type == "FLOAT16" and tensor.is_constant)


def _is_quantized(tensor: Tensor) -> bool:
    parameters = tensor.quantization
    return tensor.type in _STORED and parameters is not None and (not parameters.is_affine or len(parameters.scales) > 0)


def _widen(editor: Editor, model: Model) -> None:
    values: dict[Hashable, StoredNumbers | None] = {}
    for tensor in editor.graph.tensors:
        if _is_narrowed(tensor):
            editor.tensors[tensor.index] = _widened(tensor, model, values)
    replaced = {}
    for place, (origin, node) in enumerate(editor.nodes):
        if node.op == LSTM and node.intermediates:
            editor.nodes[place] = origin, node._replace(intermediates=())
        if _only_converts(editor.graph, node):
            replaced[node.output(0)] = node.input(0)
    editor.remove([origin for origin, node in editor.nodes if node.output(0) in replaced])
    editor.replace_operands(replaced)


def _only_converts(graph: Graph, node: Node) -> bool:
    is_whole = bool(node.inputs) and bool(node.outputs) and min((*node.inputs, *node.outputs)) >= 0
    if node.is_custom or node.op not in ("QUANTIZE", "DEQUANTIZE") or not is_whole:
        return False
    return _is_narrowed(graph.tensor(node.input(0))) or _is_narrowed(graph.tensor(node.output(0)))


def _widened(tensor: Tensor, model: Model, values: dict[Hashable, StoredNumbers | None]) -> Tensor:
    """Return a tensor as float. ``values`` has the values of constants, because many constants can share their bytes."""
    floating = tensor._replace(type="FLOAT32", quantization=None, scale=0.0, zero_point=0, sparsity=None, data=None)
    if not tensor.is_constant:
        return floating
    parameters = tensor.quantization
    one_scale = parameters is not None and len(parameters.scales) == 1 and len(parameters.zero_points) == 1
    scale = (parameters.scale, parameters.zero_point) if parameters is not None and one_scale else None
    form = tensor.data or tensor.index, tensor.type, tensor.element_count, scale
    if form not in values:
        values[form] = _widened_value(tensor, model, scale)
    return floating._replace(value=values[form])


def _widened_value(tensor: Tensor, model: Model, affine: tuple[float, int] | None) -> StoredNumbers | None:
    value: StoredNumbers | None = zeros("FLOAT32", tensor)
    stored = model.constant(tensor)
    if stored is not None and len(stored) == tensor.element_count <= VALUES_KEPT:
        numbers = all_float32(stored)
        if affine is not None:
            scale, zero_point = affine[0], float32(affine[1])
            numbers = all_float32([number * scale for number in all_float32([number - zero_point for number in numbers])])
        value = StoredNumbers.of("<f4", numbers)
    return value


def _with_versions(changed: Edited, cache: AnalysisCache) -> Edited:
    return changed.then(lambda model: with_converted_versions(model, cache))


def _narrow_weights(editor: Editor) -> None:
    read = {index for _, node in editor.nodes for index in node.inputs if index >= 0}
    widened = {}
    for index in sorted(read.union(editor.outputs)):
        tensor = editor.tensor(index)
        if tensor.is_constant and tensor.type == "FLOAT32":
            narrow = tensor._replace(type="FLOAT16", data=None, value=zeros("FLOAT16", tensor))
            editor.tensors[index] = tensor._replace(data=None, value=None, allocation=Allocation.ARENA)
            widened[editor.add_tensor(narrow)] = index
    for place, (narrowed, index) in enumerate(widened.items()):
        editor.insert("DEQUANTIZE", narrowed, index, at=place)


def _join_scales(editor: Editor, ops: frozenset[str]) -> None:
    for _, node in editor.nodes:
        if node.op in ops and not node.is_custom:
            for position in (WEIGHTS[node.op], BIAS[node.op]):
                index = node.inputs[position] if position < len(node.inputs) else -1
                tensor = editor.tensor(index)
                own = tensor.quantization
                if not tensor.is_constant or own is None or not own.is_affine:
                    continue
                if own.is_per_channel:
                    editor.tensors[index] = rescaled(tensor, bounds(own.scales)[1])
                elif own.dimension:
                    editor.tensors[index] = tensor._replace(quantization=own._replace(dimension=0))


def _use_mask(editor: Editor, scale: float) -> None:
    for tensor in editor.graph.tensors:
        if tensor.scale > _HUGE_SCALE:
            editor.tensors[tensor.index] = rescaled(tensor, scale)


def _use_older_quantizer(editor: Editor) -> None:
    _join_scales(editor, frozenset(CHANNELS))
    dequantized: dict[int, int] = {}
    for place, (origin, node) in enumerate(editor.nodes):
        position = WEIGHTS.get(node.op, -1)
        is_known = node.op in CHANNELS and not node.is_custom and position < len(node.inputs)
        weights = editor.tensor(node.inputs[position]) if is_known else NO_TENSOR
        if not weights.is_constant or weights.type != "INT8":
            continue
        if node.op in _OLDER_VERSIONS:
            editor.nodes[place] = origin, editor.with_options(node, asymmetric_quantize_inputs=False)
            continue
        if weights.index not in dequantized:
            floating = weights._replace(type="FLOAT32", quantization=None, scale=0.0, data=None, allocation=Allocation.ARENA)
            dequantized[weights.index] = editor.add_tensor(floating)
        inputs = tuple([dequantized.get(index, index) if at == position else index for at, index in enumerate(node.inputs)])
        editor.nodes[place] = origin, node._replace(inputs=inputs)
    for place, (narrow, index) in enumerate(dequantized.items()):
        editor.insert("DEQUANTIZE", narrow, index, at=place)


def _lowered(changed: Edited, cache: AnalysisCache) -> Edited:
    highest: dict[str, int] = {}
    for graph in file_graphs(changed.model):
        for node in graph.nodes:
            highest[node.op] = max(node.version, highest.get(node.op, 1))
    versions = {op: min(version, highest[op]) for op, version in demanded_versions(changed.model, cache).items()}
    return changed.then(lambda model: with_versions(model, versions))


def _quantize(editor: Editor) -> None:
    if editor.subgraph.index == 0:
        Quantizer(editor).run()

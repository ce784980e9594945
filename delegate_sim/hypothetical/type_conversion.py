"""Simulate another conversion of a model: to float, with float16 weights, or quantized to 8-bit integers.

The simulation predicts everything that does not depend on data: types, versions, the positions of QUANTIZE and DEQUANTIZE, and
the number of scales of each tensor. Scales depend on data, so their values are not predicted. All results get one common scale,
unless the operator requires another. Products with large constants, such as the values of attention masks, get the scale that
follows from the constant.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType

from ..foundation.float32 import all_float32, float32
from ..foundation.limits import bounded
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import Graph, file_graphs
from ..model import schema
from ..model.model import NO_TENSOR, Allocation, Model, Node, Quantization, Tensor
from ..model.numbers import RepeatedNumber, StoredNumbers, bounds
from .model_editing import Edited, Editor, demanded_versions, edited, unchanged, with_converted_versions, with_versions

_STORED = frozenset({"INT2", "INT4", "INT8", "UINT8", "INT16", "INT32", "INT64"})
_VALUES_KEPT = 1 << 12
"""Largest number of elements of a constant whose values are kept.

Larger constants are weights, and the simulation needs no values of weights.
"""

_MOST_ELEMENTS = 1 << 31
"""Upper limit for the number of elements of a constant. The file must store every element."""

_HUGE_SCALE = 1e20
_LEVELS = 255
"""The number of steps in the range of an INT8 tensor."""
_INFINITE = float("inf")
_RESULT_SCALE = float32(0.05)
_WEIGHT_SCALE = float32(0.01)
_FIXED_RESULTS: Mapping[str, tuple[float, int]] = {
    "L2_NORMALIZATION": (1 / 128, 0),
    "LOGISTIC": (1 / 256, -128),
    "LOG_SOFTMAX": (16 / 256, 127),
    "SOFTMAX": (1 / 256, -128),
    "TANH": (1 / 128, 0),
}
"""The scale and zero point that a kernel requires for its result, keyed by operator."""
_CHANNELS: Mapping[str, int] = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0}
"""The dimension of the weights that has one scale for each slice, keyed by operator."""
_WEIGHTS: Mapping[str, int] = MappingProxyType(dict.fromkeys(_CHANNELS, 1))
_DATA: Mapping[str, int] = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 0, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 2}
_BIAS: Mapping[str, int] = {"CONV_2D": 2, "DEPTHWISE_CONV_2D": 2, "FULLY_CONNECTED": 2, "TRANSPOSE_CONV": 3}

_OLDER_VERSIONS: Mapping[str, int] = {"CONV_2D": 2, "DEPTHWISE_CONV_2D": 6, "FULLY_CONNECTED": 3}
"""Operators with weights that TensorFlow's older quantizer keeps quantized, each with the version that the quantizer writes."""

_NAMES_OF_SAME_SCALE = """
AVERAGE_POOL_2D BATCH_TO_SPACE_ND BROADCAST_TO CONCATENATION DEPTH_TO_SPACE EXPAND_DIMS FILL GATHER GATHER_ND MAXIMUM MAX_POOL_2D
MINIMUM MIRROR_PAD PACK PAD PADV2 REDUCE_MAX REDUCE_MIN RELU RELU6 RESHAPE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_V2
SELECT SELECT_V2 SLICE SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT SPLIT_V SQUEEZE STRIDED_SLICE TILE TRANSPOSE UNPACK
"""
_SAME_SCALE = frozenset(_NAMES_OF_SAME_SCALE.split())
"""Operators whose results have the same scale as their operands."""
_RESCALING = frozenset({"CONCATENATION", "SELECT", "SELECT_V2"})
"""Operators whose operands get the scale of the result."""
_NAMES_OF_OTHERS = """
ABS ADD ARG_MAX ARG_MIN BATCH_MATMUL DIV EQUAL EXP GELU GREATER GREATER_EQUAL HARD_SWISH LEAKY_RELU LESS LESS_EQUAL LOG MEAN MUL
NOT_EQUAL ONE_HOT PRELU REDUCE_PROD RSQRT SQRT SQUARED_DIFFERENCE SUB SUM TOPK_V2
"""
_QUANTIZABLE = _SAME_SCALE.union(_FIXED_RESULTS, _CHANNELS, _NAMES_OF_OTHERS.split())
"""Operators that the converter of TensorFlow 2.21 quantizes if it knows the ranges of the operands (measured).

The quantization of ``_LSTM`` is that of TensorFlow 2.15 (measured).
"""

_OF_ANY_TYPE = ("SHAPE", "RANK")

_LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
_LSTM_WEIGHTS = range(1, 9)
_LSTM_BIASES = range(12, 16)
_LSTM_STATE, _LSTM_CELL = 18, 19
_LSTM_OPERANDS = frozenset({0, *_LSTM_WEIGHTS, *_LSTM_BIASES, _LSTM_STATE, _LSTM_CELL})
"""The operands of the only form of LSTM whose quantization is known: without peepholes, projection and layer normalization."""
_CELL_SCALE = 2.0**-12
"""The scale of the cell state of an LSTM. The quantizer chooses a power of two."""


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
    joined = quantized.then(lambda model: edited(model, lambda editor: _join_scales(editor, frozenset(_CHANNELS))))
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
    return _lowered(edited(model, lambda editor: _join_scales(editor, frozenset(_CHANNELS))), cache)


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
    return edited(model, lambda editor: _use_mask(editor, float32(value / _LEVELS)))


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
        if node.op == _LSTM and node.intermediates:
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
    value: StoredNumbers | None = _zeros("FLOAT32", tensor)
    stored = model.constant(tensor)
    if stored is not None and len(stored) == tensor.element_count <= _VALUES_KEPT:
        numbers = all_float32(stored)
        if affine is not None:
            scale, zero_point = affine[0], float32(affine[1])
            numbers = all_float32([number * scale for number in all_float32([number - zero_point for number in numbers])])
        value = StoredNumbers.of("<f4", numbers)
    return value


def _zeros(kind: str, tensor: Tensor) -> RepeatedNumber | None:
    count = tensor.element_count
    return RepeatedNumber(schema.NUMPY_TYPES[kind], 0, count) if 0 <= count < _MOST_ELEMENTS else None


def _with_versions(changed: Edited, cache: AnalysisCache) -> Edited:
    return changed.then(lambda model: with_converted_versions(model, cache))


def _narrow_weights(editor: Editor) -> None:
    read = {index for _, node in editor.nodes for index in node.inputs if index >= 0}
    widened = {}
    for index in sorted(read.union(editor.outputs)):
        tensor = editor.tensor(index)
        if tensor.is_constant and tensor.type == "FLOAT32":
            narrow = tensor._replace(type="FLOAT16", data=None, value=_zeros("FLOAT16", tensor))
            editor.tensors[index] = tensor._replace(data=None, value=None, allocation=Allocation.ARENA)
            widened[editor.add_tensor(narrow)] = index
    for place, (narrowed, index) in enumerate(widened.items()):
        editor.insert("DEQUANTIZE", narrowed, index, at=place)


def _join_scales(editor: Editor, ops: frozenset[str]) -> None:
    for _, node in editor.nodes:
        if node.op in ops and not node.is_custom:
            for position in (_WEIGHTS[node.op], _BIAS[node.op]):
                index = node.inputs[position] if position < len(node.inputs) else -1
                tensor = editor.tensor(index)
                own = tensor.quantization
                if not tensor.is_constant or own is None or not own.is_affine:
                    continue
                if own.is_per_channel:
                    editor.tensors[index] = _rescaled(tensor, bounds(own.scales)[1])
                elif own.dimension:
                    editor.tensors[index] = tensor._replace(quantization=own._replace(dimension=0))


def _use_mask(editor: Editor, scale: float) -> None:
    for tensor in editor.graph.tensors:
        if tensor.scale > _HUGE_SCALE:
            editor.tensors[tensor.index] = _rescaled(tensor, scale)


def _rescaled(tensor: Tensor, scale: float) -> Tensor:
    scale = float32(scale)
    parameters = Quantization("affine", RepeatedNumber("<f4", scale, 1), RepeatedNumber("<i8", 0, 1), 0)
    return tensor._replace(quantization=parameters, scale=scale, zero_point=0)


def _use_older_quantizer(editor: Editor) -> None:
    _join_scales(editor, frozenset(_CHANNELS))
    dequantized: dict[int, int] = {}
    for place, (origin, node) in enumerate(editor.nodes):
        position = _WEIGHTS.get(node.op, -1)
        is_known = node.op in _CHANNELS and not node.is_custom and position < len(node.inputs)
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
        _Quantizer(editor).run()


class _Quantizer:
    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.quantized: dict[int, int] = {}
        """The quantized copies of tensors that also stay float, keyed by index of the float tensor."""
        self.floating: dict[int, int] = {}
        """The float copies of quantized tensors, keyed by index of the quantized tensor."""
        self.reads = Counter([index for _, node in editor.nodes for index in node.inputs])
        self.writers = {index: node.op for _, node in editor.nodes for index in node.outputs}
        self.kept = frozenset([*editor.subgraph.inputs, *editor.outputs])
        """The inputs and outputs of the subgraph. No kernel writes over them."""
        self.parameters: dict[tuple[float, int], Quantization] = {}
        """Quantization parameters, keyed by scale and zero point. They are shared, because most results have equal parameters."""

    def run(self) -> None:
        """Quantize each supported node, and add QUANTIZE and DEQUANTIZE between quantized nodes and float nodes."""
        nodes, self.editor.nodes = self.editor.nodes, []
        for origin, node in nodes:
            if node.op in _QUANTIZABLE and not node.is_custom:
                self._quantize_node(origin, node)
            elif node.op == _LSTM and self._is_known_lstm(node):
                self._quantize_lstm(origin, node)
            elif node.op in _OF_ANY_TYPE:
                self.editor.nodes.append((origin, node))
            else:
                inputs = tuple([self._as_float(index) for index in node.inputs])
                self.editor.nodes.append((origin, node._replace(inputs=inputs)))
        self.editor.outputs = [self._as_float(index) for index in self.editor.outputs]

    def _tensor(self, index: int) -> Tensor:
        return self.editor.tensor(index)

    def _quantize_node(self, origin: int, node: Node) -> None:
        inputs = list(node.inputs)
        for position, index in enumerate(node.inputs):
            if self._tensor(index).type == "FLOAT32":
                inputs[position] = self._operand(node, inputs, position)
        scale, zero_point = self._scale_from_constants(node, inputs) or self._result_scale(node, inputs)
        if node.op in _RESCALING:
            inputs = [self._rescaled(index, scale, zero_point) for index in inputs]
        self.editor.nodes.append((origin, node._replace(inputs=tuple(inputs))))
        for index in node.outputs:
            if self._tensor(index).type == "FLOAT32":
                self.editor.tensors[index] = self._quantized(self._tensor(index), scale, zero_point)

    def _is_known_lstm(self, node: Node) -> bool:
        present = frozenset([position for position, index in enumerate(node.inputs) if index >= 0])
        constants = [self._tensor(node.input(position)) for position in (*_LSTM_WEIGHTS, *_LSTM_BIASES)]
        states = [self._tensor(node.input(position)) for position in (_LSTM_STATE, _LSTM_CELL)]
        return (
            present == _LSTM_OPERANDS
            and len(node.outputs) == 1
            and all(tensor.is_constant and tensor.type == "FLOAT32" for tensor in constants)
            and all(tensor.is_variable and tensor.type == "FLOAT32" for tensor in states)
        )

    def _quantize_lstm(self, origin: int, node: Node) -> None:
        """Quantize an LSTM. The scale of a bias is that of the weights of its gate times that of the data."""
        inputs = list(node.inputs)
        inputs[0] = self._as_quantized(inputs[0])
        for position in _LSTM_WEIGHTS:
            inputs[position] = self._constant(self._tensor(inputs[position]), "INT8", _WEIGHT_SCALE, None)
        for position, weights in zip(_LSTM_BIASES, _LSTM_WEIGHTS, strict=False):
            inputs[position] = self._bias(self._tensor(inputs[position]), self._tensor(inputs[0]), self._tensor(inputs[weights]))
        for position, kind, scale in ((_LSTM_STATE, "INT8", _RESULT_SCALE), (_LSTM_CELL, "INT16", _CELL_SCALE)):
            state = self._tensor(inputs[position])
            self.editor.tensors[state.index] = self._quantized(state, scale, 0)._replace(type=kind, allocation=state.allocation)
        result = self._quantized(self._tensor(node.outputs[0]), _RESULT_SCALE, 0)
        self.editor.tensors[result.index] = result
        gate = NO_TENSOR._replace(type="FLOAT32", shape=(0,), has_rank=True)
        intermediates = [self.editor.add_tensor(tensor) for tensor in (*(gate,) * 4, result._replace(name="", shape=(0,)))]
        self.editor.nodes.append((origin, node._replace(inputs=tuple(inputs), intermediates=tuple(intermediates))))

    def _operand(self, node: Node, inputs: list[int], position: int) -> int:
        tensor = self._tensor(inputs[position])
        if not tensor.is_constant:
            return self._as_quantized(inputs[position])
        if position == _BIAS.get(node.op):
            return self._bias(tensor, self._tensor(inputs[_DATA[node.op]]), self._tensor(inputs[_WEIGHTS[node.op]]))
        is_weight = position == _WEIGHTS.get(node.op)
        return self._constant(tensor, "INT8", _WEIGHT_SCALE, _CHANNELS[node.op] if is_weight else None)

    def _bias(self, tensor: Tensor, data: Tensor, weights: Tensor) -> int:
        """Quantize a bias. The converter writes the scale that kernels require: data scale times weight scale."""
        parameters = weights.quantization
        if parameters is None:
            return self._constant(tensor, "INT32", 0.0, None)
        return self._constant(tensor, "INT32", float32(data.scale * parameters.scale), 0 if parameters.is_per_channel else None)

    def _constant(self, tensor: Tensor, kind: str, scale: float, dimension: int | None) -> int:
        count = 1
        if dimension is not None and dimension < tensor.rank:
            count = bounded(max(tensor.shape[dimension], 1), "scales of a tensor")
        parameters = Quantization("affine", RepeatedNumber("<f4", scale, count), RepeatedNumber("<i8", 0, count), dimension or 0)
        return self.editor.add_tensor(
            tensor._replace(
                type=kind,
                quantization=parameters,
                scale=0.0 if count > 1 else scale,
                zero_point=0,
                data=None,
                value=_zeros(kind, tensor),
            )
        )

    def _result_scale(self, node: Node, inputs: list[int]) -> tuple[float, int]:
        if node.op in _FIXED_RESULTS:
            return _FIXED_RESULTS[node.op]
        if node.op in _SAME_SCALE and node.op != "CONCATENATION":
            own = [self._tensor(index) for index in inputs if self._tensor(index).type == "INT8"]
            if own:
                return own[0].scale, own[0].zero_point
        return _RESULT_SCALE, 0

    def _scale_from_constants(self, node: Node, inputs: list[int]) -> tuple[float, int] | None:
        """Return the scale and zero point of a result that follow from a large constant; otherwise None."""
        if min(node.inputs, default=0) < 0:
            return None
        return self._scale_of_large_product(node, inputs) or self._scale_of_large_sum(node, inputs)

    def _scale_of_large_product(self, node: Node, inputs: list[int]) -> tuple[float, int] | None:
        """Return the scale of a product with a large constant, such as the value of an attention mask; otherwise None.

        The range of the constant is known, and gives the scale of the constant. The CPU kernel writes the product over the other
        factor if nothing else reads this factor. The calibration then reads the range of the product for both tensors, so both
        get the same scale.
        """
        if node.op != "MUL" or len(node.inputs) != 2 or len(node.outputs) != 1:
            return None
        originals = [self.editor.graph.tensor(index) for index in node.inputs]
        place = next((number for number, tensor in enumerate(originals) if self._largest(tensor) >= _LEVELS), None)
        if place is None or originals[1 - place].is_constant:
            return None
        largest, factor = self._largest(originals[place]), originals[1 - place]
        product = float32(self._tensor(inputs[1 - place]).scale * largest)
        if not 0 < product < _INFINITE:
            return None
        constant, other = self._tensor(inputs[place]), self._tensor(inputs[1 - place])
        self.editor.tensors[constant.index] = _rescaled(constant, largest / _LEVELS)
        self._overwrite(factor, other.index, node, product)
        return product, 0

    def _scale_of_large_sum(self, node: Node, inputs: list[int]) -> tuple[float, int] | None:
        scales = [self._tensor(index).scale for index in inputs]
        if node.op not in ("ADD", "SUB") or len(inputs) != 2 or len(node.outputs) != 1 or max(scales) <= _RESULT_SCALE:
            return None
        for original, index in zip(node.inputs, inputs, strict=True):
            self._overwrite(self.editor.graph.tensor(original), index, node, max(scales))
        return max(scales), 0

    def _overwrite(self, original: Tensor, index: int, node: Node, scale: float) -> None:
        """Give an operand the scale of the result if the CPU kernel writes the result over this operand."""
        is_overwritten = self.reads[original.index] == 1 and original.index not in self.kept and not original.is_constant
        is_free = self.writers.get(original.index, "") not in _SAME_SCALE.union(_FIXED_RESULTS, _OF_ANY_TYPE)
        if is_overwritten and is_free and original.shape == self.editor.graph.tensor(node.outputs[0]).shape:
            self.editor.tensors[index] = self._quantized(self._tensor(index), scale, 0)

    def _largest(self, tensor: Tensor) -> float:
        """Return the largest absolute value of a small float constant, or 0 for other tensors."""
        if not tensor.is_constant or tensor.type != "FLOAT32" or not 0 < tensor.element_count <= _VALUES_KEPT:
            return 0.0
        stored = self.editor.graph.model.constant(tensor)
        return max(map(abs, bounds(stored))) if stored is not None and len(stored) else 0.0

    def _rescaled(self, index: int, scale: float, zero_point: int) -> int:
        tensor = self._tensor(index)
        if tensor.type != "INT8" or (tensor.scale, tensor.zero_point) == (scale, zero_point):
            return index
        if tensor.is_constant:
            # Only this node uses the quantized constant, so the converter gives the constant the scale that the node needs.
            self.editor.tensors[index] = self._quantized(tensor, scale, zero_point)._replace(allocation=tensor.allocation)
            return index
        result = self.editor.add_tensor(self._quantized(tensor, scale, zero_point))
        self.editor.insert("QUANTIZE", index, result)
        return result

    def _as_quantized(self, index: int) -> int:
        tensor = self._tensor(index)
        if tensor.type == "INT8":
            return index
        if index not in self.quantized:
            self.quantized[index] = self.editor.add_tensor(self._quantized(tensor, _RESULT_SCALE, 0))
            self.editor.insert("QUANTIZE", index, self.quantized[index])
        return self.quantized[index]

    def _as_float(self, index: int) -> int:
        if self._tensor(index).type != "INT8" or self.editor.graph.tensors[index].type != "FLOAT32":
            return index
        if index not in self.floating:
            self.floating[index] = self.editor.add_tensor(self.editor.graph.tensors[index])
            self.editor.insert("DEQUANTIZE", index, self.floating[index])
        return self.floating[index]

    def _quantized(self, tensor: Tensor, scale: float, zero_point: int) -> Tensor:
        parameters = self.parameters.get((scale, zero_point))
        if parameters is None:
            numbers = StoredNumbers.of("<f4", [scale]), StoredNumbers.of("<i8", [zero_point])
            parameters = self.parameters[scale, zero_point] = Quantization("affine", *numbers, 0)
        return tensor._replace(
            type="INT8", quantization=parameters, scale=float32(scale), zero_point=zero_point, allocation=Allocation.ARENA
        )

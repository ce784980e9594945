"""Quantize a subgraph as a converter does, with scales that do not depend on data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from ..foundation.float32 import float32
from ..foundation.limits import bounded
from ..model import schema
from ..model.model import NO_TENSOR, Allocation, Node, Quantization, Tensor
from ..model.numbers import RepeatedNumber, StoredNumbers, bounds
from .model_editing import Editor

VALUES_KEPT = 1 << 12
"""Largest number of elements of a constant whose values are kept.

Larger constants are weights, and the simulation needs no values of weights.
"""
_MOST_ELEMENTS = 1 << 31
"""Upper limit for the number of elements of a constant. The file must store every element."""
LEVELS = 255
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
CHANNELS: Mapping[str, int] = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0}
"""The dimension of the weights that has one scale for each slice, keyed by operator."""
WEIGHTS: Mapping[str, int] = MappingProxyType(dict.fromkeys(CHANNELS, 1))
_DATA: Mapping[str, int] = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 0, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 2}
BIAS: Mapping[str, int] = {"CONV_2D": 2, "DEPTHWISE_CONV_2D": 2, "FULLY_CONNECTED": 2, "TRANSPOSE_CONV": 3}
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
_QUANTIZABLE = _SAME_SCALE.union(_FIXED_RESULTS, CHANNELS, _NAMES_OF_OTHERS.split())
"""Operators that the converter of TensorFlow 2.21 quantizes if it knows the ranges of the operands (measured).

The quantization of ``LSTM`` is that of TensorFlow 2.15 (measured).
"""
_OF_ANY_TYPE = ("SHAPE", "RANK")
LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
_LSTM_WEIGHTS = range(1, 9)
_LSTM_BIASES = range(12, 16)
_LSTM_STATE, _LSTM_CELL = 18, 19
_LSTM_OPERANDS = frozenset({0, *_LSTM_WEIGHTS, *_LSTM_BIASES, _LSTM_STATE, _LSTM_CELL})
"""The operands of the only form of LSTM whose quantization is known: without peepholes, projection and layer normalization."""
_CELL_SCALE = 2.0**-12
"""The scale of the cell state of an LSTM. The quantizer chooses a power of two."""


def zeros(kind: str, tensor: Tensor) -> RepeatedNumber | None:
    """Return zeros for the elements of a constant, or None if no file can store so many elements."""
    count = tensor.element_count
    return RepeatedNumber(schema.NUMPY_TYPES[kind], 0, count) if 0 <= count < _MOST_ELEMENTS else None


def rescaled(tensor: Tensor, scale: float) -> Tensor:
    """Return a quantized tensor with a single scale, and 0 as zero point."""
    scale = float32(scale)
    parameters = Quantization("affine", RepeatedNumber("<f4", scale, 1), RepeatedNumber("<i8", 0, 1), 0)
    return tensor._replace(quantization=parameters, scale=scale, zero_point=0)


class Quantizer:
    """The quantization of one subgraph."""

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
            elif node.op == LSTM and self._is_known_lstm(node):
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
        if position == BIAS.get(node.op):
            return self._bias(tensor, self._tensor(inputs[_DATA[node.op]]), self._tensor(inputs[WEIGHTS[node.op]]))
        is_weight = position == WEIGHTS.get(node.op)
        return self._constant(tensor, "INT8", _WEIGHT_SCALE, CHANNELS[node.op] if is_weight else None)

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
                value=zeros(kind, tensor),
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
        place = next((number for number, tensor in enumerate(originals) if self._largest(tensor) >= LEVELS), None)
        if place is None or originals[1 - place].is_constant:
            return None
        largest, factor = self._largest(originals[place]), originals[1 - place]
        product = float32(self._tensor(inputs[1 - place]).scale * largest)
        if not 0 < product < _INFINITE:
            return None
        constant, other = self._tensor(inputs[place]), self._tensor(inputs[1 - place])
        self.editor.tensors[constant.index] = rescaled(constant, largest / LEVELS)
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
        if not tensor.is_constant or tensor.type != "FLOAT32" or not 0 < tensor.element_count <= VALUES_KEPT:
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

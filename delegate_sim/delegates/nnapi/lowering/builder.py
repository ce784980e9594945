"""Builder of a partition's NNAPI model.

Source: ``NNAPIOpBuilder`` and ``NnapiMappingContext`` (``delegates/nnapi/nnapi_delegate.cc``).

In some places, the delegate ignores a failure to add a tensor and treats the tensor as mapped. This builder does the same. Unlike
the delegate, this builder continues after a rejected call, so that every rejected call is reported. Without a simulated runtime,
no NNAPI model is built.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from ....graph.graph import Graph
from ....model.model import Allocation, Node, Tensor
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.operands import NnOperand
from ....nnapi_runtime.types import OperandType, OperationType
from ....refusal import Refusal, Refused
from ..target import QUANTIZED_TYPES, kernel_failure
from .operands import (
    DEQUANTIZED,
    INTERMEDIATE_TYPES,
    NEW_CONSTANT,
    NEW_CONSTANT_VALUE,
    OPERAND_TYPES,
    OPERATION,
    RESULT,
    SCALAR,
    SCALAR_TENSOR,
    SCALAR_VALUE,
    SIGNED,
    TENSOR,
    TENSOR_CHANNELS,
    VECTOR,
    VECTOR_VALUE,
    Site,
    operand_type,
    refused_at,
)

if TYPE_CHECKING:
    from .operator import LoweredNode

_BOOL, _INT32, _FLOAT32 = OperandType.BOOL.value, OperandType.INT32.value, OperandType.FLOAT32.value
_TENSOR_INT32, _TENSOR_FLOAT32 = OperandType.TENSOR_INT32.value, OperandType.TENSOR_FLOAT32.value
_OPERATIONS = {name: code.value for name, code in OperationType.__members__.items()}
_FLAGS = (b"\0", b"\1")
_TYPE_LINE = "Failed to add NN API tensor: type {type} is not supported."


def kernel_error(code: str, node: int | None, tensor: Tensor | None = None, **values: Any) -> Refused:
    """Return the exception for a failure while a node is lowered. ``values`` fill the placeholders of its message."""
    return Refused(kernel_failure(code, node, tensor, **values))


ModelMaker: TypeAlias = Callable[[Callable[[Refusal], None]], ModelBuilder]
"""A function that creates an NNAPI model builder. The builder reports rejected calls to the function in the argument."""


class PartitionBuilder:
    """The NNAPI model of a partition while it is built.

    Operands have the same indices as in the real delegate. ``inputs`` and ``outputs`` have the operands of the next operation.
    """

    def __init__(
        self,
        graph: Graph,
        target_feature_level: int,
        runtime_feature_level: int,
        make_model: ModelMaker | None = None,
        allows_dynamic: bool = False,
    ) -> None:
        self.graph = graph
        self.target_feature_level = target_feature_level
        self.runtime_feature_level = runtime_feature_level
        self.allows_dynamic = allows_dynamic
        self.operations: dict[int, list[str]] = {}
        self.mapped: dict[int, int] = {}
        """The index of each mapped tensor's NNAPI operand, keyed by the index of the tensor."""
        self.dequantized: dict[tuple[int, str], int] = {}
        """The operand with the float result of each added DEQUANTIZE.

        The key has the quantized operand (-1 if unmapped) and the requested type.
        """
        self.dequantized_types: dict[int, tuple[str, ...]] = {}
        """The requested types of each dequantized operand."""
        self.state_tensors: list[int] = []
        """State tensors. NNAPI returns their new values as outputs."""
        self.state_outputs: list[int] = []
        """The operands in which NNAPI returns the new states."""
        self.densified: dict[int, Node] = {}
        """The nodes that unpack sparse weights, keyed by output tensor."""
        self.widened: dict[int, Node] = {}
        """The nodes that convert float16 values to float32 at run time, keyed by output tensor."""
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.refused: list[Refusal] = []
        self.lines: list[str] = []
        """Lines that the delegate prints before the first rejected call."""
        self.node = -1
        """The node that the delegate looked up last."""
        self.model = None if make_model is None else make_model(self._note)
        self.operand_count = 0
        """The number of operands that the delegate has added."""
        self._at: tuple[Site, Tensor | None, str] = (OPERATION, None, "")

    def _note(self, refusal: Refusal) -> None:
        site, tensor, operation = self._at
        self.refused.append(refused_at(site, refusal, self.node, tensor, operation))

    def _new_index(self) -> int:
        self.operand_count += 1
        return self.operand_count - 1

    # Operands that are tensors of the graph

    def add_inputs(self, node: LoweredNode) -> None:
        """Add every operand of a node in order."""
        for position in range(len(node.inputs)):
            self.add_input(node, position)

    def add_input(self, node: LoweredNode, position: int) -> None:
        """Add a node's operand with the node's flags (``AddTensorInput``). Raises Refused if NNAPI lacks the tensor's type."""
        index = node.operand(position)
        operand = self.mapped.get(index)
        if operand is None:
            operand = self._new_operand(node.index, index, node.flags(position), node.is_hybrid)
        self.inputs.append(operand)

    def add_flagged_input(self, node: LoweredNode, position: int, flags: int = 0) -> None:
        """Add a node's operand with the given flags (``AddTensorInput``). Raises Refused if NNAPI lacks the tensor's type."""
        self.inputs.append(self.tensor_operand(node.index, node.operand(position), flags))

    def add_unchecked_input(self, node: LoweredNode, position: int, flags: int = 0, is_hybrid: bool = False) -> None:
        """Add an operand (``AddTensorInput``). Ignore a failure, as the real delegate does."""
        with suppress(Refused):
            self.inputs.append(self.tensor_operand(node.index, node.operand(position), flags, is_hybrid))

    def add_outputs(self, node: LoweredNode) -> None:
        """Add every result of a node in order."""
        self.outputs += [self.tensor_operand(node.index, index, node.output_flags) for index in node.outputs]

    def add_output(self, node: LoweredNode, position: int, flags: int = 0) -> None:
        """Add a result of a node (``AddTensorOutput``). Raise Refused if NNAPI lacks the tensor's type."""
        self.outputs.append(self.tensor_operand(node.index, node.result(position), flags))

    def add_unchecked_output(self, node: LoweredNode, position: int) -> None:
        """Add a result (``AddTensorOutput``). Ignore a failure, as the real delegate does."""
        with suppress(Refused):
            self.add_output(node, position)

    def tensor_operand(self, node: int, index: int, flags: int, is_hybrid: bool = False) -> int:
        """Return the NNAPI operand of a tensor (``AddTensor``). The operand is added when the tensor is first used."""
        operand = self.mapped.get(index)
        return self._new_operand(node, index, flags, is_hybrid) if operand is None else operand

    def _new_operand(self, node: int, index: int, flags: int, is_hybrid: bool) -> int:
        if index < 0:
            raise kernel_error("nnapi-absent-operand", node)
        operand = self.mapped[index] = self.operand_count
        self.operand_count += 1
        tensor = self.graph.tensors[index]
        if tensor.type not in OPERAND_TYPES:
            if not self.refused:
                self.lines.append(_TYPE_LINE.format(type=tensor.type))
            raise kernel_error("nnapi-tensor-type", node, tensor)
        if self.model is not None:
            self._add_operand_of(self.model, operand, tensor, flags, is_hybrid)
        return operand

    def _add_operand_of(self, model: ModelBuilder, own: int, tensor: Tensor, flags: int, is_hybrid: bool) -> None:
        if tensor.type == "FLOAT32" and tensor.shape and not self.allows_dynamic and tensor.allocation is not Allocation.CONSTANT:
            # Most operands are FLOAT32 tensors, and flags do not change FLOAT32 tensors.
            self._at = (TENSOR, tensor, "")
            model.add_operand(_TENSOR_FLOAT32, tensor.shape)
            return
        given = operand_type(tensor, flags, is_hybrid, self.allows_dynamic)
        self._at = (TENSOR, tensor, "")
        model.add_operand(given.code, given.dimensions, given.scale, given.zero_point)
        if given.channels is not None:
            self._at = (TENSOR_CHANNELS, tensor, "")
            model.set_channel_quantization(own, *given.channels)
        if tensor.is_constant:
            self._at = (given.value_site, tensor, "")
            model.set_value(own, given.length)

    # Operands that are not tensors of the graph

    def add_int(self, value: int) -> None:
        """Add an INT32 scalar as an operand (``AddScalarInt32Operand``)."""
        self._scalar(_INT32, struct.pack("<i", (int(value) + 0x80000000 & 0xFFFFFFFF) - 0x80000000))

    def add_float(self, value: float) -> None:
        """Add a FLOAT32 scalar as an operand (``AddScalarFloat32Operand``)."""
        self._scalar(_FLOAT32, struct.pack("<f", value))

    def add_bool(self, value: bool) -> None:
        """Add a BOOL scalar as an operand (``AddScalarBoolOperand``)."""
        self._scalar(_BOOL, _FLAGS[bool(value)])

    def add_scalars(self, *values: bool | int | float) -> None:
        """Add a scalar of the type of each value: BOOL, INT32 or FLOAT32."""
        for value in values:
            if isinstance(value, bool):
                self.add_bool(value)
            elif isinstance(value, float):
                self.add_float(value)
            else:
                self.add_int(value)

    def _scalar(self, code: int, value: bytes) -> None:
        own = self._new_index()
        self.inputs.append(own)
        if self.model is None:
            return
        self._at = (SCALAR, None, "")
        self.model.add_operand(code)
        self._at = (SCALAR_VALUE, None, "")
        self.model.set_value(own, len(value), value)

    def add_vector(self, count: int, code: int = _TENSOR_INT32, size: int = 4, scale: float = 0.0, is_null: bool = False) -> None:
        """Add a vector of ``count`` elements of ``size`` bytes (``AddVectorOperand``).

        If ``is_null``, the pointer to the values is null.
        """
        own = self._new_index()
        self.inputs.append(own)
        if self.model is None:
            return
        self._at = (VECTOR, None, "")
        self.model.add_operand(code, (count,), scale, 0)
        self._at = (VECTOR_VALUE, None, "")
        if is_null:
            self.model.omit(own)
        else:
            self.model.set_value(own, count * size)

    def leave_out(self, code: int = _TENSOR_FLOAT32, scale: float = 0.0) -> None:
        """Add a vector without elements for an omitted operand (``AddVector...Operand``)."""
        self.add_vector(0, code, scale=scale, is_null=True)

    def add_constant(self, code: int, dimensions: Sequence[int], length: int, scale: float = 0.0, zero_point: int = 0) -> None:
        """Add a constant of ``length`` bytes that is not a tensor of the graph (``AddNewInputConstantTensor``)."""
        own = self._new_index()
        self.inputs.append(own)
        if self.model is None:
            return
        self._at = (NEW_CONSTANT, None, "")
        self.model.add_operand(code, dimensions, scale, zero_point, has_pointer=True)
        self._at = (NEW_CONSTANT_VALUE, None, "")
        self.model.set_value(own, length)

    def add_result(
        self, code: int, dimensions: Sequence[int], scale: float = 0.0, zero_point: int = 0, has_pointer: bool = True
    ) -> int:
        """Add a result that is not a tensor of the graph and return its NNAPI operand (``AddAdditionalOutputTensor``)."""
        own = self._new_index()
        self.outputs.append(own)
        if self.model is not None:
            self._at = (RESULT, None, "")
            self.model.add_operand(code, dimensions, scale, zero_point, has_pointer)
        return own

    def add_state(self, node: LoweredNode, position: int, code: int = _TENSOR_FLOAT32, has_quantization: bool = False) -> None:
        """Add the result that receives the new value of a state tensor (``AddState...Tensor``)."""
        index = node.operand(position)
        if index < 0:
            raise kernel_error("nnapi-absent-operand", node.index)
        tensor = self.graph.tensors[index]
        scale, zero_point = (tensor.scale, tensor.zero_point) if has_quantization else (0.0, 0)
        self.state_outputs.append(self.add_result(code, tensor.shape, scale, zero_point))
        self.state_tensors.append(index)

    def add_scalar_tensor(self, node: LoweredNode, tensor: Tensor, code: int) -> None:
        """Add a scalar for a tensor with one element (``AddSingleValueTensorAsScalarOperand``).

        If the tensor already has an NNAPI operand, a second operand is added, but the operation uses the earlier operand.
        """
        if tensor.element_count != 1:
            raise kernel_error("nnapi-scalar-value", node.index, tensor, found=tensor.element_count)
        if self.model is not None:
            self._at = (SCALAR_TENSOR, tensor, "")
            self.model.add_operand(code)
        operand = self.mapped.get(tensor.index)
        if operand is None:
            operand = self.mapped[tensor.index] = self._new_index()
        self.inputs.append(operand)

    def add_intermediate(
        self,
        node: LoweredNode,
        tensor: Tensor,
        dimensions: Sequence[int],
        scale: float,
        zero_point: int,
        converts_int8: bool = False,
        has_pointer: bool = False,
    ) -> int:
        """Add a result with the type of ``tensor`` and return its NNAPI operand (``AddIntermediateOutputTensor``)."""
        if tensor.type not in INTERMEDIATE_TYPES:
            raise kernel_error("nnapi-intermediate-type", node.index, tensor, op=node.view.op)
        code = INTERMEDIATE_TYPES[tensor.type]
        if converts_int8:
            zero_point += 128
            code = OperandType.TENSOR_QUANT8_ASYMM if tensor.type == "INT8" else code
        return self.add_result(code, dimensions, scale, zero_point, has_pointer)

    # Operations

    def finish(self, node: LoweredNode) -> None:
        """Add the node's results, and then the NNAPI operation in ``node.operation``."""
        self.add_outputs(node)
        self.add_operation(node, node.operation)

    def add_operation(self, node: LoweredNode, operation: str) -> None:
        """Add an NNAPI operation with the collected inputs and outputs (``FinalizeAddOperation``)."""
        self._operation(node.index, operation, self.inputs, self.outputs)
        self.inputs, self.outputs = [], []

    def _operation(self, node: int, operation: str, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        self.operations.setdefault(node, []).append(operation)
        if self.model is not None:
            self._at = (OPERATION, None, operation)
            self.model.add_operation(_OPERATIONS[operation], inputs, outputs, node)

    def add_dequantized_weights(self, node: LoweredNode, positions: Iterable[int]) -> None:
        """Dequantize a node's quantized weights if the activations are float (``AddDequantizeOperatorsWhereNeeded``)."""
        if node.view.input(0).type != "FLOAT32":
            return
        for position in positions:
            weights = node.view.input(position)
            if weights.type in QUANTIZED_TYPES:
                self.add_dequantize(node, position, weights.type)

    def add_dequantize(self, node: LoweredNode, position: int, wanted: str) -> None:
        """Replace an operand of the next operation by its dequantized value (``AddDequantize``).

        A DEQUANTIZE is added only once for each operand and requested type.
        """
        index = node.operand(position)
        source = self.mapped.get(index, -1)
        result = self.dequantized.get((source, wanted))
        if result is None:
            if self.model is not None:
                self._at = (DEQUANTIZED, None, "")
                self.model.add_operand(_TENSOR_FLOAT32, self.graph.tensor(index).shape, has_pointer=True)
            result = self._new_index()
            self.note_dequantized(source, wanted, result)
            self._operation(node.index, "DEQUANTIZE", (source,), (result,))
        if position < len(self.inputs):
            self.inputs[position] = result

    def note_dequantized(self, source: int, wanted: str, result: int) -> None:
        """Record the operand with the result of a new DEQUANTIZE."""
        self.dequantized[source, wanted] = result
        self.dequantized_types[source] = (*self.dequantized_types.get(source, ()), wanted)

    def adopt(self, tensor: int, operand: NnOperand, dequantized: Iterable[tuple[str, NnOperand]]) -> Iterator[int]:
        """Map a tensor to a copy of an operand, and yield the operands with dequantized values of the tensor."""
        assert self.model is not None
        own = self.mapped[tensor] = self._new_index()
        self.model.copy_operand(operand)
        for wanted, result in dequantized:
            self.note_dequantized(own, wanted, self._new_index())
            self.model.copy_operand(result)
            yield self.dequantized[own, wanted]

    def append_reshape(self, node: LoweredNode, intermediate: int) -> None:
        """Add a RESHAPE from an intermediate result to the node's result (``AppendReshape``)."""
        self.inputs.append(intermediate)
        self.add_vector(node.view.output(0).rank)
        self.add_output(node, 0, SIGNED)
        self.add_operation(node, "RESHAPE")


def empty_pool(tensors: Sequence[Tensor], inputs: Iterable[int], outputs: Iterable[int]) -> str | None:
    """Return the name of the memory pool with 0 bytes, "input" or "output", or None if both pools have bytes.

    The output pool also has space for unmapped outputs. Type conversion and padding are ignored, because neither can change a
    size to 0.
    """
    for side, indices in (("input", inputs), ("output", outputs)):
        if not any(tensors[index].byte_size for index in indices):
            return side
    return None

"""The NNAPI model of a partition while it is built: the calls to NNAPI in their order.

Source: ``NNAPIOpBuilder`` and ``NnapiMappingContext`` (``delegates/nnapi/nnapi_delegate.cc``). Some calls of the original ignore
that adding a tensor failed; the tensor counts as mapped from then on, here as there. What the runtime refuses is noted, and the
building goes on as if it had not been, so that every refusal is found. Without a runtime no operands are made.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from ....graph.graph import Graph, NodeView
from ....model.model import Allocation, Node, Tensor
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.refusal import NnRefusal
from ....nnapi_runtime.types import OperandType, OperationType
from ...base import KernelFailure
from ..failures import kernel_failure
from . import call_sites as calls
from .call_sites import RefusedCall, Site
from .operand_types import INTERMEDIATE_TYPES, OPERAND_TYPES, SIGNED, operand_type

_BOOL, _INT32, _FLOAT32 = OperandType.BOOL.value, OperandType.INT32.value, OperandType.FLOAT32.value
_TENSOR_INT32, _TENSOR_FLOAT32 = OperandType.TENSOR_INT32.value, OperandType.TENSOR_FLOAT32.value
_OPERATIONS = {name: code.value for name, code in OperationType.__members__.items()}
_OPERATIONS["TRANSPOSE_CONV"] = OperationType.TRANSPOSE_CONV_2D.value
_FLAGS = (b"\0", b"\1")
_TYPE_LINE = "Failed to add NN API tensor: type {type} is not supported."


class KernelError(Exception):
    """Carries the failure to where its status would be looked at."""

    def __init__(self, failure: KernelFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def kernel_error(code: str, node: int | None, tensor: Tensor | None = None, **found: Any) -> KernelError:
    """Return the error of a failure that is worded from what was found."""
    return KernelError(kernel_failure(code, node, tensor, **found))


class PartitionBuilder:
    """The NNAPI model of a partition while it is built.

    Operands of NNAPI are numbered as the delegate numbers them. ``inputs`` and ``outputs`` are those of the operation that is
    being put together.
    """

    def __init__(
        self,
        graph: Graph,
        target_feature_level: int,
        runtime_feature_level: int,
        make_model: Callable[[Callable[[NnRefusal], None]], ModelBuilder] | None = None,
        allows_dynamic: bool = False,
    ) -> None:
        self.graph = graph
        self.target_feature_level = target_feature_level
        self.runtime_feature_level = runtime_feature_level
        self.allows_dynamic = allows_dynamic
        self.operations: dict[int, list[str]] = {}
        self.mapped: dict[int, int] = {}
        """The NNAPI operand of each tensor that has one."""
        self.dequantized: dict[tuple[int, str], int] = {}
        """The result of a DEQUANTIZE, by the operand and the type that it was asked for; -1 stands for unmapped operands."""
        self.state_tensors: list[int] = []
        """Inputs that NNAPI gives back as outputs."""
        self.state_outputs: list[int] = []
        """The operands in which it does."""
        self.densified: dict[int, Node] = {}
        """The node that unpacks sparse weights, by its output."""
        self.widened: dict[int, Node] = {}
        """The node that widens float16 values at run time, by its output."""
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.refused: list[RefusedCall] = []
        self.lines: list[str] = []
        """What the delegate prints while it maps, up to the first call that is refused."""
        self.node = -1
        """The node that the delegate looked up last."""
        self.model = None if make_model is None else make_model(self._note)
        self._next = 0
        self._at: tuple[Site, Tensor | None, str] = (calls.OPERATION, None, "")

    def _note(self, refusal: NnRefusal) -> None:
        self.refused.append(RefusedCall(self.node, refusal, *self._at))

    def _new_index(self) -> int:
        self._next += 1
        return self._next - 1

    # Tensors of the model

    def add_input(self, node: Node, index: int, flags: int = 0, is_hybrid: bool = False) -> None:
        """``AddTensorInput``; refuses types that NNAPI lacks."""
        self.inputs.append(self._tensor(node, index, flags, is_hybrid))

    def add_input_unchecked(self, node: Node, index: int, flags: int = 0, is_hybrid: bool = False) -> None:
        """``AddTensorInput`` where the original ignores its status."""
        with suppress(KernelError):
            self.add_input(node, index, flags, is_hybrid)

    def add_output(self, node: Node, index: int, flags: int = 0) -> None:
        """``AddTensorOutput``; refuses types that NNAPI lacks."""
        self.outputs.append(self._tensor(node, index, flags, is_hybrid=False))

    def add_output_unchecked(self, node: Node, index: int) -> None:
        """``AddTensorOutput`` where the original ignores its status."""
        with suppress(KernelError):
            self.add_output(node, index)

    def _tensor(self, node: Node, index: int, flags: int, is_hybrid: bool) -> int:
        """``AddTensor``."""
        known = self.mapped.get(index)
        if known is not None:
            return known
        if index < 0:
            raise kernel_error("nnapi-absent-operand", node.index)
        own = self.mapped[index] = self._next
        self._next += 1
        tensor = self.graph.tensors[index]
        if tensor.type not in OPERAND_TYPES:
            if not self.refused:
                self.lines.append(_TYPE_LINE.format(type=tensor.type))
            raise kernel_error("nnapi-tensor-type", node.index, tensor)
        if self.model is not None:
            self._add_operand_of(self.model, own, tensor, flags, is_hybrid)
        return own

    def _add_operand_of(self, model: ModelBuilder, own: int, tensor: Tensor, flags: int, is_hybrid: bool) -> None:
        if tensor.type == "FLOAT32" and tensor.shape and not self.allows_dynamic and tensor.allocation is not Allocation.CONSTANT:
            # The most frequent operands, which nothing is left to find out about.
            self._at = (calls.TENSOR, tensor, "")
            model.add_operand(_TENSOR_FLOAT32, tensor.shape)
            return
        given = operand_type(tensor, flags, is_hybrid, self.allows_dynamic)
        self._at = (calls.TENSOR, tensor, "")
        model.add_operand(given.code, given.dimensions, given.scale, given.zero_point)
        if given.channels is not None:
            self._at = (calls.TENSOR_CHANNELS, tensor, "")
            model.set_channel_quantization(own, *given.channels)
        if tensor.is_constant:
            self._at = (given.value_site, tensor, "")
            model.set_value(own, given.length)

    # Operands of the delegate's own

    def add_int(self, value: int) -> None:
        """``AddScalarInt32Operand``."""
        self._scalar(_INT32, struct.pack("<i", _int32(value)))

    def add_float(self, value: float) -> None:
        """``AddScalarFloat32Operand``."""
        self._scalar(_FLOAT32, struct.pack("<f", value))

    def add_bool(self, value: bool) -> None:
        """``AddScalarBoolOperand``."""
        self._scalar(_BOOL, _FLAGS[bool(value)])

    def _scalar(self, code: int, value: bytes) -> None:
        own = self._new_index()
        self.inputs.append(own)
        if self.model is None:
            return
        self._at = (calls.SCALAR, None, "")
        self.model.add_operand(code)
        self._at = (calls.SCALAR_VALUE, None, "")
        self.model.set_value(own, len(value), value)

    def add_vector(self, count: int, code: int = _TENSOR_INT32, size: int = 4, scale: float = 0.0, is_null: bool = False) -> None:
        """``AddVectorOperand`` of so many elements of ``size`` bytes; ``is_null``: there is no pointer to any values."""
        own = self._new_index()
        self.inputs.append(own)
        if self.model is None:
            return
        self._at = (calls.VECTOR, None, "")
        self.model.add_operand(code, (count,), scale, 0)
        self._at = (calls.VECTOR_VALUE, None, "")
        if is_null:
            self.model.omit(own)
        else:
            self.model.set_value(own, count * size)

    def leave_out(self, code: int = _TENSOR_FLOAT32, scale: float = 0.0) -> None:
        """``AddVector...Operand`` without elements, for an operand that is left out."""
        self.add_vector(0, code, scale=scale, is_null=True)

    def add_constant(self, code: int, dimensions: Sequence[int], length: int, scale: float = 0.0, zero_point: int = 0) -> None:
        """``AddNewInputConstantTensor`` of so many bytes."""
        own = self._new_index()
        self.inputs.append(own)
        if self.model is None:
            return
        self._at = (calls.NEW_CONSTANT, None, "")
        self.model.add_operand(code, dimensions, scale, zero_point, has_pointer=True)
        self._at = (calls.NEW_CONSTANT_VALUE, None, "")
        self.model.set_value(own, length)

    def add_result(
        self, code: int, dimensions: Sequence[int], scale: float = 0.0, zero_point: int = 0, has_pointer: bool = True
    ) -> int:
        """``AddAdditionalOutputTensor``: a result that is no tensor of the graph; returns its operand."""
        own = self._new_index()
        self.outputs.append(own)
        if self.model is not None:
            self._at = (calls.RESULT, None, "")
            self.model.add_operand(code, dimensions, scale, zero_point, has_pointer)
        return own

    def add_state(self, index: int, code: int = _TENSOR_FLOAT32, has_quantization: bool = False) -> None:
        """``AddState...Tensor``: the result in which NNAPI gives a state back."""
        if index < 0:
            raise kernel_error("nnapi-absent-operand", self.node)
        tensor = self.graph.tensors[index]
        scale, zero_point = (tensor.scale, tensor.zero_point) if has_quantization else (0.0, 0)
        self.state_outputs.append(self.add_result(code, tensor.shape, scale, zero_point))
        self.state_tensors.append(index)

    def add_scalar_tensor(self, node: Node, tensor: Tensor, code: int) -> None:
        """``AddSingleValueTensorAsScalarOperand``. Where the tensor has an operand already, another is added to no purpose."""
        if tensor.element_count != 1:
            raise kernel_error("nnapi-scalar-value", node.index, tensor, found=tensor.element_count)
        if self.model is not None:
            self._at = (calls.SCALAR_TENSOR, tensor, "")
            self.model.add_operand(code)
        known = self.mapped.get(tensor.index)
        if known is None:
            known = self.mapped[tensor.index] = self._new_index()
        self.inputs.append(known)

    def add_intermediate(
        self,
        node: Node,
        tensor: Tensor,
        dimensions: Sequence[int],
        scale: float,
        zero_point: int,
        converts_int8: bool = False,
        has_pointer: bool = False,
    ) -> int:
        """``AddIntermediateOutputTensor`` of the type of this tensor; returns its operand."""
        if tensor.type not in INTERMEDIATE_TYPES:
            raise kernel_error("nnapi-intermediate-type", node.index, tensor, op=node.op)
        code = INTERMEDIATE_TYPES[tensor.type]
        if converts_int8:
            zero_point += 128
            code = OperandType.TENSOR_QUANT8_ASYMM if tensor.type == "INT8" else code
        return self.add_result(code, dimensions, scale, zero_point, has_pointer)

    # Operations

    def add_operation(self, node: Node, operation: str) -> None:
        """``FinalizeAddOperation``."""
        self._operation(node, operation, self.inputs, self.outputs)
        self.inputs, self.outputs = [], []

    def _operation(self, node: Node, operation: str, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """``AddOperationToModel``."""
        self.operations.setdefault(node.index, []).append(operation)
        if self.model is not None:
            self._at = (calls.OPERATION, None, operation)
            self.model.add_operation(_OPERATIONS[operation], inputs, outputs, node.index)

    def add_dequantize(self, node: Node, position: int, index: int, wanted: str) -> None:
        """``AddDequantize``: once for each operand and wanted type; the operation reads the result from then on."""
        source = self.mapped.get(index, -1)
        found = self.dequantized.get((source, wanted))
        if found is None:
            if self.model is not None:
                self._at = (calls.DEQUANTIZED, None, "")
                self.model.add_operand(_TENSOR_FLOAT32, self.graph.tensor(index).shape, has_pointer=True)
            found = self.dequantized[source, wanted] = self._new_index()
            self._operation(node, "DEQUANTIZE", (source,), (found,))
        if position < len(self.inputs):
            self.inputs[position] = found

    def append_reshape(self, node: Node, intermediate: int) -> None:
        """``AppendReshape``."""
        self.inputs.append(intermediate)
        self.add_vector(self.graph.tensor(node.output(0)).rank)
        self.add_output(node, node.output(0), SIGNED)
        self.add_operation(node, "RESHAPE")


def _int32(value: int) -> int:
    """Return what is left of a number in 32 bits."""
    return (int(value) + 0x80000000 & 0xFFFFFFFF) - 0x80000000


Step: TypeAlias = Callable[[PartitionBuilder, NodeView], None]
"""A step in mapping one node."""

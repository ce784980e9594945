"""Operators of the delegate, each with its rule and its lowering, and the steps that several lowerings share.

Source: ``NNAPIDelegateKernel::Map`` and ``AddOpsAndTensors`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Node, Tensor
from ....model.options import Options
from ....nnapi_runtime.types import OperandType
from ....releases.catalogue import parse_release
from ....rules.rule import Check, OpRule
from ..target import NNAPI_1_3, NnapiTarget
from .builder import PartitionBuilder
from .operands import CONVERT_INT8, SCALAR_AS_TENSOR, SIGNED, WIDEN

NO_ACTIVATION_CODE = 0
_BYTES = 4
"""Bytes of a 32-bit integer."""


class LoweredNode:
    """A node that is lowered for a feature level, with the flags of the node's operands and results."""

    __slots__ = ("_flags", "_operator", "converts_int8", "index", "inputs", "is_hybrid", "output_flags", "outputs", "view")

    def __init__(self, view: NodeView, operator: NnapiOperator, target_feature_level: int) -> None:
        node = view.node
        self.view = view
        self.index, self.inputs, self.outputs = node.index, node.inputs, node.outputs
        self._operator = operator
        has_signed = target_feature_level >= NNAPI_1_3
        self.is_hybrid = operator.is_hybrid is not None and operator.is_hybrid(view)
        self.converts_int8 = not has_signed and operator.converts_int8 is not None and operator.converts_int8(view)
        signed = SIGNED if has_signed and not self.is_hybrid else 0
        self._flags = (SCALAR_AS_TENSOR if operator.takes_scalars else 0) | signed
        self.output_flags = (CONVERT_INT8 if self.converts_int8 else 0) | signed

    @property
    def operation(self) -> str:
        """The NNAPI operation of most nodes of the operator."""
        return self._operator.operation_of(self.view.op)

    @property
    def options(self) -> Options:
        """The builtin options."""
        return self.view.options

    def operand(self, position: int) -> int:
        """Return the tensor index of an operand, or -1 if the operand is omitted."""
        return self.inputs[position] if position < len(self.inputs) else -1

    def result(self, position: int) -> int:
        """Return the tensor index of a result, or -1 if the node does not have the result."""
        return self.outputs[position] if position < len(self.outputs) else -1

    def flags(self, position: int) -> int:
        """Return the flags of an operand.

        A float16 operand becomes float32 if the operand itself or an earlier operand is a float16 constant.
        """
        flags = self._flags
        if self.view.input(position).type == "FLOAT16" and any(
            tensor.type == "FLOAT16" and tensor.is_constant for tensor in self.view.inputs[: position + 1]
        ):
            flags |= WIDEN
        if self.converts_int8 and (position == 0 or self._operator.converts_all_inputs):
            flags |= CONVERT_INT8
        return flags


Step: TypeAlias = Callable[[PartitionBuilder, LoweredNode], None]
"""A function that lowers a node by adding NNAPI operands and operations to the partition's model."""


def add_plain(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower a node to an NNAPI operation that has the node's operands in order, and no parameters."""
    builder.add_inputs(node)
    builder.finish(node)


def with_scalars(
    scalars: Callable[[LoweredNode], Iterable[bool | int | float]] = lambda _: (),
    inputs: slice = slice(None),
    without: int | None = None,
) -> Step:
    """Return a step for an NNAPI operation with a node's operands in order, and then scalars: BOOL, INT32 or FLOAT32.

    Only the operands in ``inputs`` are added, and the operand at position ``without`` is left out.
    """

    def add(builder: PartitionBuilder, node: LoweredNode) -> None:
        for position in range(len(node.inputs))[inputs]:
            if position != without:
                builder.add_input(node, position)
        builder.add_scalars(*scalars(node))
        builder.finish(node)

    return add


@dataclass(frozen=True, eq=False)
class NnapiOperator(OpRule[NnapiTarget]):
    """All that the delegate does with one operator: the rule, and the lowering of a node to NNAPI operations."""

    operation: str | None = None
    """The NNAPI operation of most nodes. If None, it has the operator's name. Empty if every node becomes several operations."""
    add: Step = add_plain
    takes_scalars: bool = False
    """Whether scalars become vectors with one element (``IsScalarInputSupported``)."""
    converts_int8: Callable[[NodeView], bool] | None = None
    """Whether INT8 becomes UINT8 below NNAPI 1.3 (``NeedInt8Conversion``)."""
    converts_all_inputs: bool = False
    """Whether ``converts_int8`` applies to every input. If False, ``converts_int8`` applies only to the first input."""
    is_hybrid: Callable[[NodeView], bool] | None = None
    """Whether a node has float activations and quantized weights (``IsHybridOperator``)."""
    fold: Callable[[PartitionBuilder, NodeView], bool] | None = None
    """A function that is called for each node of the operator before any node is lowered.

    The function returns whether the node is folded into the nodes that read its result.
    """
    reads_graph: bool = False
    """True if the lowering reads more than the node and its operands. Otherwise, nodes of one form are lowered once."""

    def operation_of(self, op: str) -> str:
        """Return the NNAPI operation of most nodes of an operator with this row, or "" if every node becomes several."""
        return op if self.operation is None else self.operation

    def lower(self, builder: PartitionBuilder, node: Node) -> None:
        """Add what the lowering adds for a node."""
        self.add(builder, LoweredNode(builder.graph.view(node), self, builder.target_feature_level))


def operator(
    *checks: Check[NnapiTarget],
    operation: str | None = None,
    add: Step = add_plain,
    takes_scalars: bool = False,
    converts_int8: Callable[[NodeView], bool] | None = None,
    converts_all_inputs: bool = False,
    is_hybrid: Callable[[NodeView], bool] | None = None,
    fold: Callable[[PartitionBuilder, NodeView], bool] | None = None,
    reads_graph: bool = False,
    accepted_early: Check[NnapiTarget] | None = None,
    introduced: str = "",
) -> NnapiOperator:
    """Return an operator with these checks, in the delegate's order, and with the fields of ``NnapiOperator``."""
    return NnapiOperator(
        checks,
        accepted_early,
        parse_release(introduced) if introduced else None,
        (),
        operation,
        add,
        takes_scalars,
        converts_int8,
        converts_all_inputs,
        is_hybrid,
        fold,
        reads_graph,
    )


def first_is_int8(view: NodeView) -> bool:
    """Return whether the first operand is INT8."""
    return view.input(0).type == "INT8"


def weights_are_int8(view: NodeView) -> bool:
    """Return whether the input is INT8, and the weights are INT8 or UINT8 with affine quantization."""
    weights = view.input(1)
    quantization = weights.quantization
    is_affine = quantization is not None and quantization.is_affine
    return view.input(0).type == "INT8" and weights.type in ("INT8", "UINT8") and is_affine


int8_operator = functools.partial(operator, converts_int8=first_is_int8)
"""An operator whose first operand becomes UINT8 below NNAPI 1.3."""
binary_operator = functools.partial(int8_operator, takes_scalars=True, converts_all_inputs=True)
"""An operator on two operands, which may be scalars, and become UINT8 below NNAPI 1.3."""
weighted_operator = functools.partial(operator, converts_int8=weights_are_int8, converts_all_inputs=True)
"""An operator with weights, whose operands become UINT8 below NNAPI 1.3."""


def activation_code(node: LoweredNode) -> int:
    """Return NNAPI's number for the fused activation (``ConvertActivation``). An unknown activation is no activation."""
    value = node.options.fused_activation_function
    return int(value) if value in schema.enum_names("ActivationFunctionType") else NO_ACTIVATION_CODE


def padding_code(node: LoweredNode) -> int:
    """Return NNAPI's number for the padding scheme, "same" or "valid"."""
    return int(node.options.padding) + 1


def first_integer(view: NodeView, position: int, element: int = 0) -> int:
    """Return one element of a constant operand as a 32-bit integer (``data.i32``). The operand's type is ignored.

    If the element does not exist, return 0. In this case, the real delegate reads past the end of the constant.
    """
    value = view.value(view.input(position))
    if value is None:
        return 0
    data = value[: _BYTES * (element + 1)].tobytes()[_BYTES * element : _BYTES * (element + 1)]
    return int.from_bytes(data, "little", signed=True) if len(data) == _BYTES else 0


def first_number(view: NodeView, tensor: Tensor) -> float:
    """Return the first element of a constant.

    If the tensor has no elements, return 0. In this case, the real delegate reads memory with unknown contents.
    """
    value = view.value(tensor)
    return float(value[0]) if value is not None and len(value) else 0.0


def add_zero_bias(builder: PartitionBuilder, node: LoweredNode, source: int, weights: int, count: int) -> None:
    """Add a bias of zeros. The bias is FLOAT32 for a FLOAT32 input, and otherwise INT32.

    The scale of an INT32 bias is input scale * weight scale.
    """
    first, second = node.view.input(source), node.view.input(weights)
    if first.type == "FLOAT32":
        builder.add_vector(count, OperandType.TENSOR_FLOAT32)
    else:
        builder.add_vector(count, scale=first.scale * second.scale)

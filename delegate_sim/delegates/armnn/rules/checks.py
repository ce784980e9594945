"""Demands of the delegate itself that several operators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....graph.graph import NodeView, fused_activation
from ....model.model import Allocation
from ....rules.kinds import ACTIVATION, CONSTANT, OPERAND_COUNT, TENSOR_TYPE
from ....rules.operands import Operand, counted, operand, result, stored_integers
from ..compute_library import CPU_ACC
from ..kinds import READS_COMPUTED
from ..reference import CPU_REF
from ..steps import Layer, Need, Query, VisitRule, rule_of
from ..tensors import Info, Thrown, info_of, input_info, output_info

BACKENDS = {backend.name: backend for backend in (CPU_REF, CPU_ACC)}
"""The simulated backends by name."""

Own = Need[NodeView]
VisitStep = Own | Layer


def visited(place: str, *steps: VisitStep) -> VisitRule:
    """Return the rule of an operator.

    ``place`` is the delegate's file with the operator, and the function that visits it if the file has several functions.
    """
    file, _, function = place.partition(":")
    return rule_of(steps, BACKENDS, file, function or f"Visit{file.partition('.')[0]}Operator")


def place(node: NodeView) -> str:
    """Return the end of most messages."""
    return f"operator #{node.node.builtin_code} node #{node.node.index}: "


def inputs_exactly(count: int) -> Own:
    """Demand a number of operands (``ValidateNumInputs``)."""

    def find(node: NodeView) -> str | None:
        return None if len(node.node.inputs) == count else counted(len(node.node.inputs), "input")

    def said(node: NodeView) -> str:
        numbers = f"({len(node.node.inputs)} != {count})"
        return f"TfLiteArmnnDelegate: Unexpected number of inputs {numbers} in node #{node.node.index}"

    hint = "convert without a bias, and add it after the operator" if count == 3 else ""
    return Need(OPERAND_COUNT, counted(count, "input"), find, said, hint)


def outputs_exactly(count: Callable[[NodeView], int] = lambda _: 1, needed: str = "1 output") -> Own:
    """Demand a number of results (``ValidateNumOutputs``)."""

    def find(node: NodeView) -> str | None:
        return None if len(node.node.outputs) == count(node) else counted(len(node.node.outputs), "output")

    def said(node: NodeView) -> str:
        numbers = f"({len(node.node.outputs)} != {count(node)})"
        return f"TfLiteArmnnDelegate: Unexpected number of outputs {numbers} in node #{node.node.index}"

    return Need(OPERAND_COUNT, needed, find, said)


def inputs_at_least(count: int, words: str = "TfLiteArmnnDelegate: Minimum number of inputs") -> Own:
    """Demand at least a number of operands."""

    def find(node: NodeView) -> str | None:
        return None if len(node.node.inputs) >= count else counted(len(node.node.inputs), "input")

    def said(node: NodeView) -> str:
        return f"{words} ({count} != {len(node.node.inputs)}) in node #{node.node.index}"

    return Need(OPERAND_COUNT, f"at least {counted(count, 'input')}", find, said)


def readable(*which: Operand) -> Own:
    """Demand that Arm NN can describe these tensors, in this order. Omitted tensors are not read.

    ``find`` raises Thrown, because the delegate refuses other tensors with an exception.
    """

    def find(node: NodeView) -> str | None:
        for one in which:
            if one.is_given(node):
                _described(one, node)
        return None

    needed = f"{', '.join([one.name for one in which])} of a type that Arm NN knows, with at most 5 dimensions"
    return Need(TENSOR_TYPE, needed, find, hint="convert with FLOAT32 or INT8 tensors of at most 5 dimensions")


def _described(which: Operand, node: NodeView) -> None:
    try:
        info_of(which.tensor(node), is_result=which.is_result)
    except Thrown as thrown:
        if not thrown.detail:
            raise
        raise Thrown(thrown.text, f"{which.name} {thrown.detail}") from None


ALL_INPUTS: Need[NodeView] = Need(
    TENSOR_TYPE,
    "inputs of a type that Arm NN knows, with at most 5 dimensions",
    lambda node: readable(*map(operand, range(len(node.node.inputs)))).find(node),
    hint="convert with FLOAT32 or INT8 tensors of at most 5 dimensions",
)


def all_outputs(node: NodeView) -> str | None:
    """Find a result that Arm NN cannot describe. Raises Thrown."""
    return readable(*map(result, range(len(node.node.outputs)))).find(node)


def present(which: Operand) -> Own:
    """Demand that the value of an operand is stored or computed beforehand. The delegate does not ask, and crashes."""

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        has_data = tensor.allocation in (Allocation.CONSTANT, Allocation.PERSISTENT)
        return None if has_data or not which.is_given(node) else f"{which.name} is computed at run time"

    return Need(READS_COMPUTED, f"a constant {which.name}", find)


ALLOCATIONS = (None, Allocation.CONSTANT, Allocation.ARENA, Allocation.VARIABLE, Allocation.DYNAMIC, Allocation.PERSISTENT)
"""The places of data by the runtime's number (``TfLiteAllocationType``)."""


def constant_weights(which: Operand, text: str) -> Own:
    """Demand that weights are constant. The delegate throws an exception with this text if they are not."""

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        if tensor.is_constant or not which.is_given(node):
            return None
        number = ALLOCATIONS.index(tensor.allocation) if tensor.allocation in ALLOCATIONS else 0
        raise Thrown(text.format(number=number), f"{which.name} is not constant")

    return Need(CONSTANT, f"a constant {which.name}", find, hint="convert so that the weights are constants")


_ACTIVATIONS = {
    "RELU": ("relu", 0.0, 0.0),
    "RELU_N1_TO_1": ("bounded_relu", 1.0, -1.0),
    "RELU6": ("bounded_relu", 6.0, 0.0),
    "TANH": ("tanh", 1.0, 1.0),
}


def _unknown_activation(node: NodeView) -> str | None:
    name = fused_activation(node)
    return None if name == "NONE" or name in _ACTIVATIONS else f"fused {name}"


def _fused_call(node: NodeView) -> Query | None:
    name = fused_activation(node)
    if name == "NONE":
        return None
    output = output_info(node)
    return Query((output,), (output,), values=dict(zip(("function", "a", "b"), _ACTIVATIONS[name], strict=True)))


FUSED: Sequence[VisitStep] = (
    Need(ACTIVATION, "no fused activation, or RELU, RELU6, RELU_N1_TO_1 or TANH", _unknown_activation),
    Layer("ACTIVATION", "activation", _fused_call, "SharedFunctions.cpp:63"),
)
"""The fused activation, which the delegate checks as a layer on the output (``ValidateFusedActivationOperator``)."""


_LOW_HALF, _LARGEST = 0xFFFFFFFF, 0x7FFFFFFF


def values_of(node: NodeView, position: int) -> list[int]:
    """Return the elements of a constant or persistent operand, or no elements if they are not known.

    The delegate reads the elements as INT32. It then reads the halves of the first elements of an INT64 operand.
    """
    tensor = node.input(position)
    numbers = stored_integers(node, tensor)
    if tensor.type != "INT64":
        return numbers
    halves = [half for number in numbers for half in (number & _LOW_HALF, number >> 32)]
    return [half - (1 << 32) if half > _LARGEST else half for half in halves[: len(numbers)]]


def unary_call(node: NodeView) -> Query:
    """Return the question about a layer with the first operand and the result."""
    return Query((input_info(node, 0),), (output_info(node),))


def wrapped(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    return axis + rank if axis < 0 else axis


def same_padding(size: int, window: int, stride: int, dilation: int, *, is_same: bool) -> tuple[int, int]:
    """Return the padding before and after (``CalcPadding``)."""
    if not is_same or stride < 1:
        return 0, 0
    covered = ((size + stride - 1) // stride - 1) * stride + window + (dilation - 1) * (window - 1)
    total = max(covered - size, 0)
    return total // 2, total - total // 2


def expanded(first: Info, second: Info) -> tuple[Info, Info]:
    """Return two operands with the rank of the larger one (``ExpandTensorRankToEqual``)."""
    rank = max(first.rank, second.rank)
    one, two = ((1,) * (rank - info.rank) + info.known_shape for info in (first, second))
    return first.with_shape(one), second.with_shape(two)

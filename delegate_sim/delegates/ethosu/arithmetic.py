"""Activation functions, elementwise arithmetic, conversions, matrix products and recurrent layers."""

from __future__ import annotations

from collections.abc import Iterable

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...model.ethosu_programs import ETHOS_U
from ...model.model import OPTIONAL_TENSOR
from ...rules.kinds import ATTRIBUTE, BROADCAST, OPERAND_COUNT, OPTIONAL_OPERAND, RANK, READS_BEYOND_OPERANDS, SHAPE, TENSOR_TYPE
from ...rules.operands import INPUT, exactly
from ...rules.rule import Check, OpRule, Source
from ...rules.vocabulary import check, operand_count
from .checks import (
    EIGHT_BITS,
    ETHOSU_DELEGATE,
    FUSED,
    SAME_QUANTIZATIONS,
    SIGNED,
    bias,
    constraint,
    either_shape,
    ethosu_rule,
    input_types,
    same_type,
    upstream,
)
from .windows import CONSTANT_WEIGHTS

_POSITIVE_BETA = upstream(
    "ConstraintBetaRange",
    check(ATTRIBUTE, "beta at least 0", lambda node: None if node.options.beta >= 0 else f"beta {node.options.beta:g}"),
)


@constraint(
    "ConstraintInOutTypesValid",
    TENSOR_TYPE,
    "inputs of the same type; with UINT8 inputs, a UINT8 or INT32 output; with other inputs, an output that is not UINT8",
    "quantize the model fully to INT8",
)
def _types_that_fit(node: NodeView) -> str | None:
    first, second, result = node.input(0).type, node.input(1).type, node.output(0).type
    if first != second:
        return f"{first} and {second} inputs"
    allows_result = result in ("UINT8", "INT32") if first == "UINT8" else result != "UINT8"
    return None if allows_result else f"{first} inputs and {result} output"


@constraint(
    "ConstraintBroadcastShapes",
    BROADCAST,
    "in each dimension, equal input sizes or one input size of 1, and the larger size in the output",
)
def _broadcast_shapes(node: NodeView) -> str | None:
    if len(node.node.inputs) == 1:
        return None
    first, second, result = node.input(0).shape, node.input(1).shape, node.output(0).shape
    for one, other, out in zip(reversed(first), reversed(second), reversed(result), strict=False):
        if (one != other and 1 not in (one, other)) or out != max(one, other):
            return f"inputs of shapes {list(first)} and {list(second)}, output {list(result)}"
    return None


_BINARY = ethosu_rule(either_shape, _types_that_fit, *FUSED, _broadcast_shapes, operands=(0, 1), scalar_inputs=True, int32=True)
_EXTREMUM = ethosu_rule(either_shape, same_type, *SAME_QUANTIZATIONS, _broadcast_shapes, operands=(0, 1), scalar_inputs=True)


def _vector(node: NodeView) -> str | None:
    return "input of rank 1" if node.input(0).rank == 1 else None


def _uneven(node: NodeView) -> str | None:
    source, columns = node.input(0), node.input(1).size(1)
    met = columns and element_count(source.shape) % columns == 0
    return None if met else f"input of shape {list(source.shape)} and weights of shape {list(node.input(1).shape)}"


def _other_rank(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    met = not node.options.keep_num_dims or ranks[0] == ranks[1]
    return None if met else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


_OPERANDS = upstream(
    "ConstraintFullyConnected",
    check(RANK, "an input of a rank other than 1", _vector, "add a batch dimension"),
    check(SHAPE, "an input with a number of elements that is a multiple of the weights' columns", _uneven),
    check(RANK, "input and output of the same rank if keep_num_dims is set", _other_rank),
)

_STATE = 18


def _recurrent_other_rank(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    return None if ranks == (3, 3) else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


def _intermediates(node: NodeView) -> str | None:
    count = len(node.node.intermediates)
    return None if count == 5 else f"{count} intermediate tensors"


def _state(node: NodeView) -> str | None:
    return None if node.input(_STATE).is_variable else f"input {_STATE} is not a variable"


def _present(node: NodeView, positions: Iterable[int]) -> list[int]:
    return [position for position in positions if node.node.input(position) != OPTIONAL_TENSOR]


def _left_out(positions: range, words: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        present = _present(node, positions)
        return f"input {present[0]}" if present else None

    return check(OPTIONAL_OPERAND, f"no {words} (inputs {positions[0]} to {positions[-1]})", find)


def _cifg(node: NodeView) -> str | None:
    missing = sorted({*range(1, 9)} - {*_present(node, range(1, 9))})
    return f"no input {missing[0]}" if missing else None


_LSTM = upstream(
    "ConstraintLstm",
    check(RANK, "input and output of rank 3", _recurrent_other_rank),
    operand_count(inputs=exactly(24)),
    check(OPERAND_COUNT, "5 intermediate tensors", _intermediates),
    check(ATTRIBUTE, f"a variable as state (input {_STATE})", _state),
    check(OPTIONAL_OPERAND, "all weights (inputs 1 to 8), that is, no CIFG", _cifg),
    _left_out(range(9, 12), "peepholes"),
    _left_out(range(16, 18), "projection"),
    _left_out(range(20, 24), "layer normalization"),
)
_WEIGHTS = upstream(
    "ConstraintLstmWeightDimensions",
    check(
        READS_BEYOND_OPERANDS,
        "at least 9 results, because the delegate reads the shapes of results 5 to 8 as those of the recurrent weights",
        lambda node: f"{len(node.node.outputs)} results" if len(node.node.outputs) <= 8 else None,
        "build the layer from other operators",
    ),
)

COMPILED_NETWORK = ETHOS_U
"""The custom operator of networks that Vela compiled beforehand."""

CUSTOM_RULES: dict[str, OpRule[object]] = {
    COMPILED_NETWORK: OpRule(
        (), source=(Source(ETHOSU_DELEGATE, "ethosu_delegate.cc", "EthosuDelegate::IsNodeSupportedByDelegate"),)
    )
}

RULES = {
    **dict.fromkeys(("ABS", "GELU", "LEAKY_RELU", "LOG", "LOGISTIC", "RELU", "RELU6", "RELU_N1_TO_1", "TANH"), ethosu_rule()),
    **dict.fromkeys(("ADD", "MUL", "SUB"), _BINARY),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), _EXTREMUM),
    **dict.fromkeys(("PRELU", "SQUARED_DIFFERENCE"), ethosu_rule(operands=(0, 1))),
    "HARD_SWISH": ethosu_rule(*EIGHT_BITS, same_type),
    "SOFTMAX": ethosu_rule(same_type, either_shape, *_POSITIVE_BETA, batches=True),
    "EXP": ethosu_rule(*SIGNED),
    "RSQRT": ethosu_rule(*input_types("ConstraintInputInt8", INPUT, "INT8")),
    "QUANTIZE": ethosu_rule(scalar_inputs=True, scalar_outputs=True, strings=True),
    "FULLY_CONNECTED": ethosu_rule(*FUSED, *_OPERANDS, *CONSTANT_WEIGHTS, *bias(2), weights=(1,), batches=True),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": ethosu_rule(*SIGNED, same_type, *_LSTM, *_WEIGHTS, weights=(1,)),
}

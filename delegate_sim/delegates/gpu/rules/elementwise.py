"""Arithmetic, comparisons, logic, casts and activations.

Source: ``ElementwiseOperationParser``, ``CastOperationParser``, ``ReLUOperationParser``, ``PReLUOperationParser``,
``HardSwishOperationParser`` and ``SelectV2OperationParser`` (``delegates/gpu/common/model_builder.cc``), and the cases of
these operators in ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import Check
from ..questions import COMPARISONS, ONE_OPERAND
from .checks import (
    BROADCAST,
    NEIGHBOUR,
    SHAPE,
    TENSOR_TYPE,
    activation,
    check,
    counted,
    gpu_rule,
    gpu_rules,
    input_count,
    inputs_and_outputs,
    max_version,
    one_or_two_operands,
    operands,
    runtime_operands,
    shape_of,
    typed,
    where,
)

_TWO_OPERANDS = ("FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE")


def _not_broadcastable(node: NodeView) -> str | None:
    """``CheckAddMulBroadcastCompatibility``, without the flag for enhanced broadcast, which the delegate does not set."""
    shorter, longer = sorted((node.input(0).shape, node.input(1).shape), key=len)
    if len(shorter) <= 1 or len(shorter) == len(longer):
        return None
    if len(longer) == 4 and (
        (len(shorter) == 3 and longer[0] == 1)
        or (shorter == (1, 1) and longer[0] == 1)
        or (len(shorter) == 2 and shorter == (longer[0], longer[3]))
    ):
        return None
    return f"shapes {shape_of(node.input(0))} and {shape_of(node.input(1))}"


_BROADCAST = check(
    BROADCAST,
    "operands of one rank, one of rank 0 or 1, [h, w, c] or [1, 1] against [1, h, w, c], or [b, c] against [b, h, w, c]",
    _not_broadcastable,
)


def _each_smaller(node: NodeView) -> str | None:
    """Where both operands have one rank, as in the outer product of [n, 1] and [1, n]."""
    first, second = node.input(0), node.input(1)
    if first.rank != second.rank:
        return None
    pairs = list(zip(first.shape, second.shape, strict=True))
    if any(one < other for one, other in pairs) and any(one > other for one, other in pairs):
        return f"shapes {shape_of(first)} and {shape_of(second)}"
    return None


_TWO_INPUTS = input_count("2 inputs", lambda count: count == 2)


def _goes_elsewhere(node: NodeView, tensor: int) -> str | None:
    """Whether a tensor has another number of producers and consumers than one of each (``GetTensorInfo``)."""
    graph = node.graph
    producers, consumers = len(graph.writers.get(tensor, ())), len(graph.readers.get(tensor, ()))
    return None if producers == consumers == 1 else f"{counted(producers, 'producer')} and {counted(consumers, 'consumer')}"


def _consumer_gives_no_float(node: NodeView) -> str | None:
    consumer = node.graph.view(node.graph.readers[node.node.outputs[0]][0])
    is_taken = consumer.op in ("CAST", "SELECT", "SELECT_V2") and not consumer.node.is_custom
    if is_taken and consumer.output(0).type in ("FLOAT16", "FLOAT32"):
        return None
    return f"consumer {consumer.op}, which gives {consumer.output(0).type}"


_COMPARISON = (
    check(NEIGHBOUR, "1 producer and 1 consumer of the result", lambda node: _goes_elsewhere(node, node.node.outputs[0])),
    check(NEIGHBOUR, "a CAST or SELECT that gives float as the consumer", _consumer_gives_no_float),
)


def _condition_of_another_shape(node: NodeView) -> str | None:
    condition, result = node.input(0).shape, node.output(0).shape
    offset = len(result) - len(condition)
    if not condition or (offset >= 0 and all(size in (1, result[offset + at]) for at, size in enumerate(condition))):
        return None
    return f"condition {shape_of(node.input(0))}, output {shape_of(node.output(0))}"


def _value_of_another_shape(node: NodeView, position: int) -> str | None:
    value, result = node.input(position), node.output(0)
    if not value.shape or value.shape == result.shape or (value.rank == 1 and value.shape[0] <= 1):
        return None
    return f"input {position} {shape_of(value)}, output {shape_of(result)}"


def _matrix(node: NodeView, position: int, is_constant: bool) -> str | None:
    value = node.input(position)
    if value.rank != 2 or value.is_constant != is_constant:
        return None
    return f"input {position} of rank 2 and {'constant' if is_constant else 'not constant'}"


def _selected_value(position: int) -> tuple[Check, ...]:
    """One of the two values between which SELECT chooses."""
    constant_matrix = check(SHAPE, f"input {position} not constant if it is a matrix", lambda node: _matrix(node, position, True))
    runtime_matrix = check(SHAPE, f"input {position} constant if it is a matrix", lambda node: _matrix(node, position, False))
    return (
        typed(position, ("FLOAT16", "FLOAT32"), f"input {position}").before_release("litert-1.1.0"),
        check(
            BROADCAST,
            f"input {position} of the output's shape, or a scalar",
            lambda node: _value_of_another_shape(node, position),
        ),
        constant_matrix.from_release("litert-1.1.0").before_release("litert-2.1.6"),
        runtime_matrix.from_release("litert-2.1.6"),
    )


_SELECT = (
    max_version(1),
    inputs_and_outputs(3, 1),
    typed(0, ("BOOL", "FLOAT16", "FLOAT32"), "condition"),
    check(BROADCAST, "a condition that broadcasts to the output", _condition_of_another_shape).from_release("litert-2.1.6"),
    *_selected_value(1),
    *_selected_value(2),
)


def _is_bool_to_float(node: NodeView) -> bool:
    return node.input(0).type == "BOOL" and node.output(0).type in ("FLOAT16", "FLOAT32")


def _float_consumers(node: NodeView) -> str | None:
    consumers = len(node.graph.readers.get(node.node.outputs[0], ()))
    return None if consumers == 1 else counted(consumers, "consumer")


def _is_not_of_comparison(node: NodeView) -> bool:
    """A comparison's result that is cast to float is taken without looking further."""
    if not _is_bool_to_float(node):
        return True
    producer = node.graph.writers[node.node.inputs[0]][0]
    return producer.is_custom or producer.op not in COMPARISONS


def _cast_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    if _is_bool_to_float(node) or (source in ("FLOAT16", "FLOAT32") and result == "BOOL"):
        return None
    if source in ("FLOAT32", "INT32") and result in ("FLOAT32", "INT32"):
        return None
    return f"{source} to {result}"


_CAST = (
    *where(
        _is_bool_to_float,
        "from BOOL to float",
        check(NEIGHBOUR, "1 producer and 1 consumer of the input", lambda node: _goes_elsewhere(node, node.node.inputs[0])),
        check(NEIGHBOUR, "1 consumer of the output", _float_consumers),
    ),
    *where(
        _is_not_of_comparison,
        "unless a comparison's result becomes float",
        runtime_operands(1, 1),
        check(TENSOR_TYPE, "BOOL to or from float, or FLOAT32 and INT32 to each other", _cast_types),
    ),
)

RULES = {
    **gpu_rules(ONE_OPERAND, max_version(2), operands(1, 0, 1)),
    **gpu_rules(_TWO_OPERANDS, max_version(2), one_or_two_operands()),
    **gpu_rules(("DIV", "SUB"), max_version(2), one_or_two_operands(), activation()),
    "LOGICAL_AND": gpu_rule(max_version(2), one_or_two_operands(), inputs=("BOOL",), outputs=("BOOL",)),
    **gpu_rules(sorted(COMPARISONS), max_version(2), *_COMPARISON, outputs=("BOOL",)),
    "ADD": gpu_rule(max_version(2), _TWO_INPUTS, _BROADCAST.from_release("litert-1.1.0")),
    "ADD_N": gpu_rule(max_version(2), _TWO_INPUTS),
    "MUL": gpu_rule(
        max_version(3),
        _TWO_INPUTS,
        check(BROADCAST, "one operand that is nowhere the smaller", _each_smaller).before_release("litert-1.1.0"),
        _BROADCAST.from_release("litert-1.1.0"),
        activation(),
    ),
    **gpu_rules(("RELU", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU"), max_version(2)),
    "RELU_0_TO_1": gpu_rule(max_version(2)).from_release("litert-2.1.0"),
    "CAST": gpu_rule(*_CAST, inputs=("BOOL", "INT32"), outputs=("INT32", "BOOL")),
    "PRELU": gpu_rule(max_version(1)),
    "HARD_SWISH": gpu_rule(runtime_operands(1, 1)),
    **gpu_rules(("SELECT", "SELECT_V2"), *_SELECT, inputs=("BOOL",)),
}

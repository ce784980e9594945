"""Matrix products."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import CONSTANT, OPERAND_COUNT, RANK
from ...rules.number_sets import at_least, counted
from ...rules.vocabulary import check, operand_count, option, refused_if
from .checks import case
from .questions import runtime_input_count


def _too_many_runtime_inputs(node: NodeView) -> str | None:
    count = runtime_input_count(node)
    return counted(count, "runtime input") if count > 2 else None


def _changes_kept_rank(node: NodeView) -> str | None:
    source, result = node.input(0).shape, node.output(0).shape
    if not node.options.keep_num_dims or len(source) == len(result):
        return None
    return f"keep_num_dims with input shape {list(source)} and output shape {list(result)}"


def _say_counts(node: NodeView) -> str:
    inputs, outputs = len(node.node.inputs), len(node.node.outputs)
    return f"Expected 2 inputs and 1 output, got: {inputs} inputs and {outputs} outputs"


BATCH_MATMUL = case(operand_count(2, 1).saying(_say_counts))
FULLY_CONNECTED = case(
    operand_count(at_least(1)).saying("Expected at least 1 input"),
    option("weights_format", 0, hint="convert the weights without shuffling").saying(
        lambda node: f"Unsupported FullyConnected weights format: {node.options.weights_format}"
    ),
    check(OPERAND_COUNT, "at most 2 runtime inputs", _too_many_runtime_inputs).saying(
        "FullyConnected doesn't support more than 2 runtime inputs."
    ),
    refused_if(
        CONSTANT,
        "an input that is not constant",
        lambda node: node.input(0).is_constant,
        "a constant input",
        "compute the input at run time, or fold the operator",
    ).saying("FullyConnected doesn't support constant input."),
    check(RANK, "the same rank in input and output if keep_num_dims is set", _changes_kept_rank).saying(
        "Input and output dimensions different and FullyConnected doesn't support keep_num_dims."
    ),
)

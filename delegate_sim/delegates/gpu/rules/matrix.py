"""Matrix products."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import CONSTANT, OPERAND_COUNT, RANK
from ....rules.numbers import at_least, at_most, counted
from ....rules.vocabulary import check, operand_count, option, refused_if
from ..questions import runtime_input_count
from .checks import gpu_rule


def _too_many_runtime_inputs(node: NodeView) -> str | None:
    found = runtime_input_count(node)
    return counted(found, "runtime input") if found > 2 else None


def _changes_kept_rank(node: NodeView) -> str | None:
    source, result = node.input(0).shape, node.output(0).shape
    if not node.options.keep_num_dims or len(source) == len(result):
        return None
    return f"keep_num_dims with input {list(source)} and output {list(result)}"


RULES = {
    "BATCH_MATMUL": gpu_rule("BatchedMatMulOperationParser", operand_count(2, 1)),
    "FULLY_CONNECTED": gpu_rule(
        "FullyConnectedOperationParser",
        operand_count(at_least(1)),
        option("weights_format", 0, hint="convert the weights without shuffling"),
        check(OPERAND_COUNT, "at most 2 runtime inputs", _too_many_runtime_inputs),
        refused_if(
            CONSTANT,
            "an input that is not constant",
            lambda node: node.input(0).is_constant,
            "a constant input",
            "compute the input at run time, or fold the operator",
        ),
        check(RANK, "input and output of one rank with keep_num_dims", _changes_kept_rank),
        version_in=at_most(9),
    ),
}

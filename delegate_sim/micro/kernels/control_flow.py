"""Calls of other subgraphs, and variables that outlive an invocation."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, OPERAND_COUNT
from ...rules.operands import at_least, operand
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, typed
from ..checks import one_element
from ..target import MicroKernel, in_source

_HANDLE, _CONDITION = operand(0, "handle"), operand(0, "condition")


def _missing_subgraph(*fields: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        count = len(node.graph.model.subgraphs)
        for field in fields:
            index = getattr(node.options, field)
            if not 0 <= index < count:
                return f"{field} {index} of {count}"
        return None

    return check(ATTRIBUTE, "indices of existing subgraphs", find)


def _arguments(field: str, first: int, *, results: bool) -> Check[object]:
    def find(node: NodeView) -> str | None:
        subgraphs, index = node.graph.model.subgraphs, getattr(node.options, field)
        if not 0 <= index < len(subgraphs):
            return None
        given = len(node.node.inputs) - first, len(node.node.outputs)
        wanted = len(subgraphs[index].inputs), len(subgraphs[index].outputs)
        if given == wanted or (not results and given[0] == wanted[0]):
            return None
        return f"{given[0]} inputs and {given[1]} outputs, but {wanted[0]} and {wanted[1]} in subgraph {index}"

    return check(OPERAND_COUNT, f"as many operands as the subgraph in {field}", find)


def _loop_results(node: NodeView) -> str | None:
    counts = len(node.node.inputs), len(node.node.outputs)
    return None if counts[0] == counts[1] else f"{counts[0]} inputs and {counts[1]} outputs"


KERNELS = {
    "ASSIGN_VARIABLE": MicroKernel(
        in_source(
            "assign_variable.cc", "Prepare", operand_count(2, 0), typed(_HANDLE, ("RESOURCE", "INT32")), one_element(_HANDLE)
        ),
        in_source("assign_variable.cc", "Eval"),
    ),
    "CALL_ONCE": MicroKernel(
        in_source("call_once.cc", "CallOncePrepare", operand_count(0, 0), _missing_subgraph("init_subgraph_index")),
        in_source("call_once.cc", "CallOnceEval"),
    ),
    "IF": MicroKernel(
        in_source(
            "if.cc",
            "IfPrepare",
            operand_count(at_least(1)),
            typed(_CONDITION, ("BOOL",)),
            one_element(_CONDITION),
            _missing_subgraph("then_subgraph_index", "else_subgraph_index"),
            _arguments("then_subgraph_index", 1, results=True),
        ),
        in_source("if.cc", "IfEval"),
    ),
    "READ_VARIABLE": MicroKernel(in_source("read_variable.cc", "Prepare"), in_source("read_variable.cc", "Eval")),
    "VAR_HANDLE": MicroKernel(in_source("var_handle.cc", "VarHandlePrepare"), in_source("var_handle.cc", "VarHandleEval")),
    "WHILE": MicroKernel(
        in_source(
            "while.cc",
            "WhilePrepare",
            _missing_subgraph("cond_subgraph_index", "body_subgraph_index"),
            _arguments("cond_subgraph_index", 0, results=False),
            _arguments("body_subgraph_index", 0, results=True),
            check(OPERAND_COUNT, "as many outputs as inputs", _loop_results),
        ),
        in_source("while.cc", "WhileEval"),
    ),
}

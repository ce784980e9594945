"""The subgraphs that run, and variables that a model reads but never assigns.

The passes of ``fix`` rewrite only these subgraphs, because no run can check the results of any other subgraph.

Source: READ_VARIABLE fails at run time if no ASSIGN_VARIABLE ran before (``kernels/read_variable.cc: Eval``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ..foundation.printable import counted
from ..model.model import Model, Node
from .graph import file_graphs


def subgraphs_that_run(model: Model) -> frozenset[int]:
    """Return the first subgraph, the subgraphs of all signatures, and all subgraphs that they call directly or indirectly."""
    return subgraphs_from(model, {0, *[signature.subgraph for signature in model.signatures]})


def subgraphs_from(model: Model, roots: Iterable[int]) -> frozenset[int]:
    """Return the given subgraphs and all subgraphs that they call directly or through other subgraphs."""
    reached = {index for index in roots if 0 <= index < len(model.subgraphs)}
    waiting = list(reached)
    while waiting:
        for node in model.subgraphs[waiting.pop()].nodes:
            called = {index for index in called_subgraphs(model, node) if 0 <= index < len(model.subgraphs)} - reached
            reached |= called
            waiting += called
    return frozenset(reached)


def called_subgraphs(model: Model, node: Node) -> Iterator[int]:
    """Yield the subgraphs that a node calls.

    These are the values of all option fields with ``subgraph`` in their names.
    """
    if node.options is None or node.is_custom:
        return
    for name, value in model.options(node):
        if "subgraph" in name:
            yield from value if isinstance(value, Iterable) else (value,)


WITH_WEIGHTS = "Convert with TFLiteConverter.from_keras_model, or freeze the variables before the conversion"

_Variable: TypeAlias = "tuple[str, str]"


def unassigned_variables(model: Model) -> int:
    """Return how many variables the nodes of a file read, although no node of any subgraph assigns them.

    A node that is not a reader, such as a loop or a custom operator, may assign the variables of its operands, unless the file
    has no operator that assigns variables.
    """
    codes = [code.op for code in model.operator_codes]
    if "READ_VARIABLE" not in codes:
        return 0
    may_assign = "ASSIGN_VARIABLE" in codes
    read: set[_Variable] = set()
    assigned: set[_Variable] = set()
    for graph in file_graphs(model):
        variables: dict[int, _Variable] = {}
        for node in graph.nodes:
            if node.op == "VAR_HANDLE" and not node.is_custom and node.output(0) >= 0:
                options = graph.view(node).options
                variables[node.output(0)] = options.container or "", options.shared_name or ""
        for node in graph.nodes:
            operands = {variables[index] for index in node.inputs if index in variables}
            if node.op != "READ_VARIABLE" and (node.is_custom or may_assign):
                assigned |= operands
            else:
                read |= operands
            if node.op == "ASSIGN_VARIABLE" and not operands:
                return 0  # it may assign any variable
    return len(read - assigned)


def no_weights(model: Model) -> str:
    """Return two sentences about a file without its weights, without a final period, or an empty string."""
    number = unassigned_variables(model)
    return no_weights_text(number) if number else ""


def no_weights_text(variables: int) -> str:
    """Return two sentences about a file with this number of unassigned variables, without a final period."""
    return (
        f"This file was probably converted without its weights: it reads {counted(variables, 'variable')} that no node of the "
        f"file assigns. {WITH_WEIGHTS}"
    )

"""Find the subgraphs that run when the first subgraph or a signature runs.

The passes of ``fix`` rewrite only these subgraphs, because no run can check the results of any other subgraph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.model import Model, Node


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

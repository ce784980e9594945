"""Which pass of ``fix`` does to the file what a cause asks for, found by trying."""

from __future__ import annotations

from collections.abc import Iterable

from ..fixing.applying import apply_pass, start
from ..fixing.passes.base import Pass
from ..fixing.passes.catalogue import PASSES
from ..fixing.score import is_better, standing
from ..graph.graph import file_graphs
from ..model.model import Model
from ..runtime.suppositions import NodeKey
from ..runtime.target import Target


def pass_for(model: Model, target: Target, nodes: Iterable[NodeKey]) -> Pass | None:
    """Return the most exact pass that, applied to these nodes, makes a model better on a target; None if there is none."""
    keys = frozenset(nodes)
    graphs = file_graphs(model)
    operators = {graphs[key.subgraph].nodes[key.node].op for key in keys}
    before = None
    for each in sorted(PASSES.values(), key=lambda each: each.exactness):
        if each.ops and operators.isdisjoint(each.ops):
            continue
        made = apply_pass(start(model), each, keys)
        if made is None:
            continue
        before = before or [standing(model, target)]
        if is_better([standing(made.model, target)], before):
            return each
    return None

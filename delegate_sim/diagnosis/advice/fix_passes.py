"""Find the ``fix`` pass that removes a cause, by trying passes."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ...fixing.applying import apply_pass, start
from ...fixing.passes.base import Pass
from ...fixing.passes.catalogue import PASSES
from ...fixing.score import Standing, is_better, standing
from ...graph.graph import file_graphs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model
from ...runtime.target import Target
from ..effort import Tries, simulations_of

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 60


class PassFinder:
    """Tries passes on one model and target, which is simulated as it is but once."""

    def __init__(self, model: Model, target: Target) -> None:
        self._model = model
        self._target = target
        self._tries = Tries(simulations_of(model, _TRIED_AT_LEAST, _TRIED_AT_MOST))

    def pass_for(self, nodes: Iterable[NodeKey]) -> Pass | None:
        """Return the most exact pass that, applied to these nodes, makes the model better; None if there is none.

        After many tries with a large model none is found any more.
        """
        keys = frozenset(nodes)
        graphs = file_graphs(self._model)
        operators = {graphs[key.subgraph].nodes[key.node].op for key in keys}
        for each in sorted(PASSES.values(), key=lambda each: each.exactness):
            if each.ops and operators.isdisjoint(each.ops):
                continue
            if not self._tries.take():
                return None
            made = apply_pass(start(self._model), each, keys)
            if made is not None and is_better([standing(made.model, self._target)], [self._before]):
                return each
        return None

    @functools.cached_property
    def _before(self) -> Standing:
        return standing(self._model, self._target)

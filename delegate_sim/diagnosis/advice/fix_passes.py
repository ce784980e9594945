"""Find the ``fix`` pass that removes a cause, by trying passes."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ...fixing.applying import apply_pass, start
from ...fixing.passes.base import Pass
from ...fixing.passes.catalogue import PASSES
from ...fixing.score import Standing, is_better, standing
from ...graph.effort import Effort, Tries
from ...graph.graph import file_graphs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model
from ...runtime.target import Target

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 60


class PassFinder:
    """Tries passes on one model and target, simulating the original model only once."""

    def __init__(self, model: Model, target: Target, effort: Effort) -> None:
        self._model = model
        self._target = target
        self._effort = effort
        self._tries = Tries(effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST), effort)

    def pass_for(self, nodes: Iterable[NodeKey]) -> Pass | None:
        """Return a pass that improves the model when applied to these nodes; None if there is no such pass.

        Passes that keep the results exactly are tried first.

        The number of passes to try is limited. After that many tries, the result is None.
        """
        keys = frozenset(nodes)
        graphs = file_graphs(self._model)
        operators = {graphs[key.subgraph].nodes[key.node].op for key in keys}
        for pass_ in sorted(PASSES.values(), key=lambda pass_: pass_.exactness):
            if pass_.ops and operators.isdisjoint(pass_.ops):
                continue
            if not self._tries.take():
                return None
            self._effort.spend()
            rewritten = apply_pass(start(self._model), pass_, keys)
            if rewritten is not None and is_better([standing(rewritten.model, self._target)], [self._before]):
                return pass_
        return None

    @functools.cached_property
    def _before(self) -> Standing:
        return standing(self._model, self._target)

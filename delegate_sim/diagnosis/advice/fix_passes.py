"""Find the pass of ``fix`` that removes a cause. Passes are applied and simulated."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ...errors import MissingPackageError
from ...fixing.applying import apply_pass, start
from ...fixing.passes.base import Pass
from ...fixing.passes.catalogue import PASSES
from ...fixing.score import Standing, is_better, standing, standing_of
from ...foundation.columns import OBJECT, Column, Declared, within
from ...graph.effort import Effort, Tries
from ...graph.graph import file_graphs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model
from ...runtime.run import Run
from ..causes.change import result_words
from ..examiner import Cost

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 60


@dataclass(frozen=True, slots=True)
class FoundPass(Declared):
    """A pass of ``fix`` that improves a model. ``cost`` is the simulated result of applying only this pass."""

    columns = (
        *within("pass_", [Column("pass", source="name"), Column("exactness", source="exactness.key")]),
        Column("result", OBJECT, source="cost"),
    )

    pass_: Pass
    cost: Cost

    @property
    def text(self) -> str:
        """The pass and the result."""
        words = f"{self.pass_.exactness.words}; {result_words(self.cost)}"
        return f"the pass {self.pass_.name} of fix rewrites the file ({words})"


class PassFinder:
    """Search for passes that improve one model on one target. ``run`` is the result of the unchanged model."""

    def __init__(self, model: Model, run: Run, effort: Effort) -> None:
        self._model = model
        self._start = start(model)
        self._target = run.target
        self._before = standing_of(run)
        self._effort = effort
        self.has_left_out = False
        """Whether passes were not tried because the limit on simulations was reached."""
        self.missing = ""
        """The error message if a package that some passes need is not installed; otherwise empty."""
        self._tries = Tries(effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST), effort)
        self._required = _TRIED_AT_LEAST

    def pass_for(self, nodes: Iterable[NodeKey]) -> FoundPass | None:
        """Return the pass that improves the model most, with its result, or None if no pass improves the model.

        Passes are applied only to ``nodes``. Less exact passes are tried only if no exact pass helps. The number of tries is
        limited. If the limit on simulations was reached before, the first passes are tried nevertheless.
        """
        keys = frozenset(nodes)
        graphs = file_graphs(self._model)
        operators = {graphs[key.subgraph].nodes[key.node].op for key in keys}
        chosen: Pass | None = None
        best = self._before
        passes = [pass_ for pass_ in PASSES.values() if not pass_.is_for_wrong]
        for pass_ in sorted(passes, key=lambda pass_: pass_.exactness):
            if pass_.ops and operators.isdisjoint(pass_.ops):
                continue
            if chosen is not None and pass_.exactness > chosen.exactness:
                break
            self._required -= 1
            if not self._tries.take() and self._required < 0:
                self.has_left_out |= self._effort.is_over
                break
            self._effort.spend()
            then = self._with_pass(pass_, keys)
            if then is not None and is_better([then], [best]):
                chosen, best = pass_, then
        return None if chosen is None else self._on_all_nodes(chosen, keys, best)

    def _with_pass(self, pass_: Pass, nodes: Collection[NodeKey] | None) -> Standing | None:
        """Return the result of a pass.

        The result is None if the pass changes nothing, or needs a package that is not installed.
        """
        cache, key = self._effort.cache, (self._model, pass_, nodes)
        try:
            rewritten = cache.get("rewritten model", key, lambda: apply_pass(self._start, pass_, nodes, cache))
            return None if rewritten is None else standing(rewritten.model, self._target, self._effort.cache)
        except MissingPackageError as error:
            self.missing = str(error)
            return None

    def _on_all_nodes(self, pass_: Pass, nodes: Collection[NodeKey], of_cause: Standing) -> FoundPass:
        """Return the result of applying a pass to all nodes that it can rewrite.

        ``fix`` also applies passes to all nodes, not only to the nodes of a cause.
        """
        self._effort.spend()
        rest = [
            node
            for graph in file_graphs(self._model)
            for node in graph.nodes
            if (not pass_.ops or node.op in pass_.ops) and NodeKey(graph.index, node.index) not in nodes
        ]
        then = (self._with_pass(pass_, None) if rest else None) or of_cause
        return FoundPass(pass_, cost_of(then))


def rewritten(model: Model, pass_: Pass) -> Model | None:
    """Return the model after a pass was applied to all nodes, or None if the pass changes nothing or misses a package."""
    try:
        result = apply_pass(start(model), pass_, None)
    except MissingPackageError:
        return None
    return None if result is None else result.model


def cost_of(standing: Standing) -> Cost:
    """Return the measures of a rewritten model."""
    return Cost(standing.measures, standing.multiply_adds, standing.total_multiply_adds, standing.delegate.name)

"""Results of Prepare functions. Nodes of one form with operands in the same states are prepared once in an analysis."""

from __future__ import annotations

from typing import NamedTuple

from ..graph.analysis_cache import AnalysisCache
from ..graph.forms import OMITTED, Forms, FormTable, forms_of
from ..model.model import Allocation, Model, Node
from ..model.numbers import FlatNumbers
from ..releases.catalogue import Release
from .kernel import KernelNode, KernelSubgraph


class _NewState(NamedTuple):
    place: int
    """The position among the operands, the results and the intermediate tensors of the node."""
    type: str
    shape: tuple[int, ...]
    allocation: Allocation
    computed: FlatNumbers | None
    form: int


class _States(dict[int, int]):
    """The forms of a subgraph's tensors in their current states. Each form is computed when it is first used."""

    def __init__(self, forms: Forms, subgraph: KernelSubgraph) -> None:
        super().__init__()
        self._forms = forms
        self._subgraph = subgraph

    def __missing__(self, index: int) -> int:
        if index < 0:
            return OMITTED
        subgraph = self._subgraph
        model, source = subgraph.graph.model, subgraph.graph.tensors[index]
        tensor = subgraph.tensors.get(index)
        state = source if tensor is None else tensor.freeze()
        form = self[index] = self._forms.tensor(model, state) if state is source else self._forms.state(model, state)
        return form


class KernelResults:
    """The results of Prepare functions in one release."""

    def __init__(self, model: Model, release: Release, cache: AnalysisCache) -> None:
        self.forms = forms_of(cache, model)
        self.table: FormTable[tuple[int, ...], tuple[_NewState, ...]] = cache.get(
            "prepared nodes", (self.forms, release), FormTable[tuple[int, ...], tuple[_NewState, ...]]
        )

    def of(self, subgraph: KernelSubgraph) -> SubgraphResults:
        """Return the results for the nodes of a subgraph, whose tensors are in their current states."""
        return SubgraphResults(self, subgraph)


class SubgraphResults:
    """The results of Prepare functions for the nodes of one subgraph, in the order of the nodes' preparation."""

    def __init__(self, results: KernelResults, subgraph: KernelSubgraph) -> None:
        self._forms = results.forms
        self._table = results.table
        self._model = subgraph.graph.model
        self._subgraph = subgraph
        self._states = _States(results.forms, subgraph)
        self._key: tuple[int, ...] = ()

    def repeat(self, node: Node, is_delegated: bool) -> bool:
        """Do to the tensors of a node what was done for another node of the same form. Return whether there is such a node."""
        states = self._states
        operands = node.inputs + node.outputs + node.intermediates
        key = (self._forms.kind(self._model, node), is_delegated, *map(states.__getitem__, operands))
        changes = self._table.get(key)
        if changes is None:
            self._key = key
            return False
        if changes:
            for place, kind, shape, allocation, computed, form in changes:
                index = operands[place]
                tensor = self._subgraph.tensors[index]
                tensor.type, tensor.shape, tensor.allocation, tensor.computed = kind, shape, allocation, computed
                states[index] = form
        return True

    def note(self, running: KernelNode, node: Node, is_delegated: bool) -> None:
        """Keep what the Prepare function has done to a node, unless it depended on more than the node and its operands.

        Call this after each function that did not refuse the node, right after ``repeat``.
        """
        operands = (*node.inputs, *node.outputs, *node.intermediates)
        if running.reads_beyond_operands:
            self._states.clear()
            return
        for index in operands:
            self._states.pop(index, None)
        if running.node is not node or (running.has_dynamic_result and not is_delegated):
            return
        changes = []
        for place, index in enumerate(operands):
            form = self._states[index]
            if form != self._key[place + 2]:
                tensor = self._subgraph.tensors[index]
                changes.append(_NewState(place, tensor.type, tensor.shape, tensor.allocation, tensor.computed, form))
        self._table.add(self._key, tuple(changes))

"""Limit the simulations of a command, so that the command finishes within seconds even for a large model."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised
from ..model.model import Model, Node, Subgraph
from .analysis_cache import AnalysisCache
from .graph import Graph, file_graphs

_Item = TypeVar("_Item")

_MOST_NODES = 1_000_000
"""A command skips optional simulations and remaining targets of a model after it has simulated this number of nodes."""
_KEPT_FOR_A_TARGET = 5
"""Number of simulations that optional simulations leave to each remaining target, at most half of all simulations."""
_MOST_NODES_REQUIRED = 1_000_000
"""A question about a model is refused if its required simulations have more nodes than this number."""
_MOST_NODES_OF_A_QUESTION = 200_000
"""Largest number of nodes in all simulations for one question, such as whether a cause depends on other causes."""
_WEIGHT_OF_A_FORM = 2
"""Number of nodes that are added to a model's size for each form of node.

Nodes of one form share most results, so the first node of a form takes longer than the others.
"""
_WEIGHT_OF_A_SUBGRAPH = 16
"""Number of nodes that are added to a model's size for each subgraph.

Delegates are applied to each subgraph separately.
"""
_OF_A_NEW_FORM = 25
"""Number of nodes that are added for each form of node if the limit for one question is applied."""
_LARGE_MODEL = 3500
"""If a model has more nodes than this number, the time for a simulation grows with the square of the number of nodes."""
_USUAL_OPERANDS = 8
"""Number of operands and of tensors that are included in the cost of a node."""
_LIKE_A_NODE = 4
"""Number of further operands, or of further tensors of a subgraph, that cost as much as a node.

In the body of a composite, which a change may copy, each of them costs as much as a node.
"""
_COMPOSITE = "STABLEHLO_COMPOSITE"


class EffortQuestion(NamedTuple):
    """A question about a model, and the smallest number of simulations for an answer."""

    name: str
    simulations: int


SIMULATION = EffortQuestion("a simulation", 2)
DRAWING = EffortQuestion("a drawing of its graph", 8)
COMPARISON = EffortQuestion("a comparison", 12)
DIAGNOSIS = EffortQuestion("a diagnosis", 24)
REWRITING = EffortQuestion("a search for rewrites", 16)


class SharedEffort:
    """The limit on a command's simulations. All models of the command, such as the models of a bundle, share this limit."""

    def __init__(self) -> None:
        self._spent = 0

    def spend_nodes(self, nodes: int) -> None:
        """Add the nodes of a simulation to the total."""
        self._spent += nodes

    @property
    def is_over(self) -> bool:
        """True if no more optional simulations are allowed."""
        return self._spent >= raised(_MOST_NODES)

    @property
    def reason(self) -> str:
        """The message that a simulation or a model was left out."""
        return f"the simulations of a command are limited to {raised(_MOST_NODES):,} nodes{how_to_raise()}"


class Effort(SharedEffort):
    """The limit on a command's simulations of one model.

    If a command uses several limits one after another, each limit gets an equal part. ``parts`` is the number of these limits.
    ``whole`` is the larger limit that includes this limit, for the same model or for several models. Every simulation is also
    added to ``whole``.

    Required simulations are counted, but not limited. Callers check ``is_over`` or ``simulations`` before an optional
    simulation, and call ``begin_target`` before each of several targets.
    """

    def __init__(
        self, model: Model, parts: int = 1, whole: SharedEffort | None = None, cache: AnalysisCache | None = None
    ) -> None:
        super().__init__()
        self._model = model
        self._parts = parts
        self._whole = whole
        self.cache: AnalysisCache = cache or (whole.cache if isinstance(whole, Effort) else AnalysisCache())
        """The cache that all simulations of the model share."""
        self._kept = 0

    def spend(self, simulations: int = 1, changed: Model | None = None) -> None:
        """Add simulations of the whole model to the total. ``changed`` is the simulated model, if it is a changed one.

        The nodes that a change adds cost nothing, unless they are many more than the nodes of the model.
        """
        self.spend_nodes(simulations * self._cost_of(changed))

    def afford(self, simulations: int, changed: Model) -> bool:
        """Return whether simulations of a changed model are allowed. If they are not, no further optional simulations are."""
        if self.is_over or self._spent + simulations * self._cost_of(changed) <= self._most:
            return not self.is_over
        self.spend(simulations, changed)
        return False

    def _cost_of(self, changed: Model | None) -> int:
        added = 0 if changed is None else max(_node_count(changed) - 2 * self._nodes - _LARGE_MODEL, 0)
        return self._cost + added * max(added, _LARGE_MODEL) // _LARGE_MODEL

    def spend_nodes(self, nodes: int) -> None:
        """Add the nodes of a simulation to the total, and to the total of the larger limit."""
        super().spend_nodes(nodes)
        if self._whole is not None:
            self._whole.spend_nodes(nodes)

    def refusal(self, question: EffortQuestion, cost: int = 1) -> str:
        """Return the reason why the model is too large for a question, or "" if the model is small enough.

        ``cost`` is the relative cost of one simulation (see ``Target.effort``), which does not apply to what nodes of the same
        form share. Earlier simulations make no difference.
        """
        nodes, most = self._nodes, raised(_MOST_NODES_REQUIRED) // question.simulations
        size = self._size * cost
        # If the model is small, its forms need not be counted.
        if size + nodes * _WEIGHT_OF_A_FORM <= most or size + self._forms * _WEIGHT_OF_A_FORM <= most:
            return ""
        different = f"{self._forms:,} of them different" if self._forms < nodes else "all different"
        parts = {**self._sizes, f"{nodes:,} nodes ({different})": nodes + self._forms * _WEIGHT_OF_A_FORM}
        return f"{max(parts, key=parts.__getitem__)} are too many for {question.name}{how_to_raise()}"

    def require(self, question: EffortQuestion, cost: int = 1) -> None:
        """Raise LimitError if the model is too large for a question (see ``refusal``)."""
        reason = self.refusal(question, cost)
        if reason:
            raise LimitError(reason, self._model.path or "the model")

    @property
    def is_over(self) -> bool:
        """True if no more optional simulations are allowed."""
        return (self._whole is not None and self._whole.is_over) or self._spent >= self._most

    @property
    def _most(self) -> int:
        return raised(_MOST_NODES) // self._parts - self._kept

    def begin_target(self, remaining: int = 0, simulations: int = 1) -> None:
        """Begin the next of several targets, and spend the simulations that it takes.

        Raise LimitError if no more targets may be simulated. The optional simulations for this target leave nodes for the
        ``remaining`` targets.
        """
        most = raised(_MOST_NODES) // self._parts
        if self._spent >= most:
            raise LimitError(self.reason)
        self._kept = min(remaining * _KEPT_FOR_A_TARGET * self._cost, most // 2)
        self.spend(simulations)

    @property
    def left(self) -> int:
        """The number of optional simulations that are left, at least 0."""
        return max(-(-(self._most - self._spent) // self._cost), 0)

    def limit(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """Yield the items in order. Stop when no more optional simulations are allowed."""
        return itertools.takewhile(lambda _: not self.is_over, items)

    def check(self) -> None:
        """Raise LimitError if no more optional simulations are allowed."""
        if self.is_over:
            raise LimitError(self.reason)

    def simulations(self, at_least: int, at_most: int) -> int:
        """Return the number of simulations for one question, or 0 if no more optional simulations are allowed.

        The number is ``at_least`` for the largest models, and up to ``at_most`` for smaller models.
        """
        if self.is_over:
            return 0
        nodes = self._nodes + _OF_A_NEW_FORM * self._forms
        return min(at_most, max(at_least, raised(_MOST_NODES_OF_A_QUESTION) // max(nodes, 1)))

    @functools.cached_property
    def _cost(self) -> int:
        """The cost of one simulation in nodes: the sizes and forms of the model's parts, increased if the model is large."""
        return (self._size + _WEIGHT_OF_A_FORM * self._forms) * max(self._nodes, _LARGE_MODEL) // _LARGE_MODEL

    @functools.cached_property
    def _size(self) -> int:
        return self._nodes + sum(self._sizes.values())

    @property
    def _sizes(self) -> Mapping[str, int]:
        return self.cache.get("sizes", (self._model,), lambda: _sizes(self._model))

    @property
    def _nodes(self) -> int:
        return _node_count(self._model)

    @functools.cached_property
    def _forms(self) -> int:
        graphs = file_graphs(self._model)
        return sum([graph.results.get("number of forms", (), functools.partial(_count_forms, graph)) for graph in graphs])


def _node_count(model: Model) -> int:
    return sum([len(subgraph.nodes) for subgraph in model.subgraphs])


def _sizes(model: Model) -> Mapping[str, int]:
    """Return the sizes of operands, tensors, repeated inputs and outputs, subgraphs and bodies of composites, by words for them.

    The body of a composite is counted once more for each composite, because it may replace the composite. The same holds for the
    bodies of the composites in this body.
    """
    operands = [len(node.inputs) + len(node.outputs) for subgraph in model.subgraphs for node in subgraph.nodes]
    bodies = _size_of_bodies(model)
    listed = [len(subgraph.inputs) + len(subgraph.outputs) for subgraph in model.subgraphs]
    repeated = [max(count - len(subgraph.tensors), 0) for count, subgraph in zip(listed, model.subgraphs, strict=True)]
    return {
        f"{sum(operands):,} operands of nodes": sum([max(count - _USUAL_OPERANDS, 0) for count in operands]) // _LIKE_A_NODE,
        f"{sum([len(subgraph.tensors) for subgraph in model.subgraphs]):,} tensors": sum(map(_size_of_tensors, model.subgraphs)),
        f"{sum(listed):,} inputs and outputs of subgraphs": sum(repeated),
        f"{len(model.subgraphs):,} subgraphs": _WEIGHT_OF_A_SUBGRAPH * len(model.subgraphs),
        f"{bodies:,} nodes, operands and tensors in the bodies of all composites": bodies,
    }


def _size_of_tensors(subgraph: Subgraph) -> int:
    return max(len(subgraph.tensors) - _USUAL_OPERANDS * len(subgraph.nodes), 0) // _LIKE_A_NODE


def size_of_body(body: Subgraph) -> int:
    """Return the cost of a copy of a subgraph in nodes. Operands and tensors beyond the usual numbers are included."""
    operands = sum([len(node.inputs) + len(node.outputs) for node in body.nodes])
    usual = _USUAL_OPERANDS * len(body.nodes)
    return len(body.nodes) + max(operands - usual, 0) + max(len(body.tensors) - usual, 0)


def _size_of_bodies(model: Model) -> int:
    called = [
        [body for node in subgraph.nodes if node.op == _COMPOSITE and (body := _body(model, node))]
        for subgraph in model.subgraphs
    ]
    if not any(called):
        return 0
    sizes = [size_of_body(subgraph) for subgraph in model.subgraphs]
    inner = [sum([sizes[body] for body in bodies]) for bodies in called]
    return sum([sizes[body] + inner[body] for bodies in called for body in bodies])


def _body(model: Model, node: Node) -> int:
    index = 0 if node.is_custom else int(model.options(node).decomposition_subgraph_index)
    return index if 0 < index < len(model.subgraphs) else 0


def _count_forms(graph: Graph) -> int:
    """Return about how many forms of nodes a graph has (``forms.py``). The elements of constants are not compared."""
    own = [(one.type, one.shape, one.allocation, one.scale, one.zero_point, one.data and one.data[1]) for one in graph.tensors]
    operands, options = [*own, None], graph.model.options
    return len(
        {(node.op, node.version, options(node), *map(operands.__getitem__, node.inputs + node.outputs)) for node in graph.nodes}
    )


class Tries:
    """The limit on the simulations for one question. The limit on the whole command applies as well."""

    def __init__(self, count: int, effort: Effort) -> None:
        self._left = count
        self._effort = effort

    @property
    def are_over(self) -> bool:
        """True if no more tries are allowed."""
        return self._left <= 0 or self._effort.is_over

    def take(self) -> bool:
        """Use one try. Return whether the try was allowed."""
        was_left = not self.are_over
        self._left -= 1
        return was_left

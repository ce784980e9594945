"""The result of applying a delegate to a model.

A delegate adds nodes when it inlines a node (``Decision.origins``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from ..delegates.base import Delegate
from ..delegates.decision import Decision
from ..delegates.options import OptionValues
from ..foundation.columns import Column
from ..graph.analysis_cache import AnalysisCache
from ..graph.calls import with_kernels
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..model.model import Model, Node, Tensor
from ..model.precompiled import is_program
from ..refusal import Refusal
from ..releases.catalogue import Release
from ..rules.kinds import NOT_LOADED_KINDS, NOT_PREPARED_KINDS
from ..rules.rule import Verdict
from .target import Target

REFUSED = "refused"
"""The outcome if the runtime applies the delegate to no node."""

_NOT_LOADED = frozenset({kind.name for kind in NOT_LOADED_KINDS})
_NOT_PREPARED = frozenset({kind.name for kind in NOT_PREPARED_KINDS})


class AdviceText(Protocol):
    """The changes that remove a reason, as a diagnosis advises them."""

    @property
    def text(self) -> str:
        """All changes with their results, also of those that do not help."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Changes with their results. One of them is enough."""


@dataclass(frozen=True, eq=False, repr=False)
class SubgraphRun:
    """One subgraph after the delegate was applied. ``decision`` is None if the delegate was not applied to the subgraph."""

    graph: Graph
    decision: Decision | None = None
    subsets: tuple[Subset, ...] = ()
    """All partitions in execution order. Empty if no node was replaced."""
    plan: tuple[Subset, ...] = ()
    """All partitions in execution order, with the nodes that the delegate added to the graph (``Decision.origins``)."""
    taken: frozenset[int] = frozenset()
    """Nodes that run on the delegate because another subgraph's delegated node includes them."""
    advice: Mapping[tuple[int, str], tuple[AdviceText, ...]] = field(default_factory=dict)
    """Changes that each remove one reason, keyed by the reason's node and code. Empty without a diagnosis."""

    @functools.cached_property
    def delegated(self) -> frozenset[int]:
        """The nodes that run entirely on the delegate."""
        nodes = {kind: [subset.nodes for subset in self.subsets if subset.is_delegated == kind] for kind in (True, False)}
        return self.taken.union(*nodes[True]).difference(*nodes[False])

    def without_kernels(self) -> SubgraphRun:
        """Return a copy with all nodes on the CPU and with the same verdicts."""
        return replace(self, subsets=(), plan=(), taken=frozenset())


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The result of applying one delegate to a model."""

    target: Target
    outcome: str
    """``delegated``, ``none``, ``refused`` or ``restored``."""
    refusal: Refusal | None
    log_lines: tuple[str, ...]
    warnings: tuple[str, ...]
    subgraphs: tuple[SubgraphRun, ...]
    by_default: bool = False
    """Whether the runtime applied the delegate by default, without a request by the application."""
    removed: frozenset[int] = frozenset()
    """Subgraphs that LiteRT removes for a compiler plugin, because their composites are inlined or compiled."""
    application: Any = None
    """The report on the application of a runtime of whole models (``MicroReport``). None for delegates."""

    @property
    def delegate(self) -> Delegate:
        """The delegate that was applied."""
        return self.target.delegate

    @property
    def is_repeatable(self) -> bool:
        """Whether the run of the delegate alone can be simulated again, such as with a changed model."""
        return not (self.by_default or self.delegate.is_live_only)

    @property
    def is_rejected(self) -> bool:
        """Whether the delegate is predicted to fail, although the release's rules delegate nodes."""
        return self.refusal is not None and self.refusal.is_predicted

    @property
    def final_subgraphs(self) -> tuple[SubgraphRun, ...]:
        """The subgraphs as they finally run. If the delegate is predicted to fail, all nodes are on the CPU."""
        return tuple([subgraph.without_kernels() for subgraph in self.subgraphs]) if self.is_rejected else self.subgraphs

    @property
    def takes_nodes(self) -> bool:
        """Whether the delegate takes nodes, and nothing fails later."""
        return self.refusal is None and any(subgraph.delegated for subgraph in self.subgraphs)

    @property
    def awaits_board(self) -> bool:
        """Whether the delegate takes nodes that only the device compiles. Programs in the model file are compiled already."""
        return (
            bool(self.delegate.compiled_on_device)
            and self.takes_nodes
            and any(not is_program(subgraph.graph.nodes[index]) for subgraph in self.subgraphs for index in subgraph.delegated)
        )

    @property
    def first_line(self) -> str | None:
        """The first log line of the runtime. If only the delegate prints lines, its first line; None without lines."""
        decisions = [subgraph.decision for subgraph in self.subgraphs if subgraph.decision is not None]
        own = {line for decision in decisions for line in decision.log_lines}
        return next((line for line in self.log_lines if line not in own), next(iter(self.log_lines), None))

    @property
    def options(self) -> OptionValues:
        """The options of the delegate."""
        return self.target.options

    @property
    def release(self) -> Release:
        """The release of the runtime that applied the delegate."""
        return self.target.release

    @property
    def is_loaded(self) -> bool:
        """Whether the runtime loads the model."""
        return self.refusal is None or self.refusal.code not in _NOT_LOADED

    @property
    def is_prepared(self) -> bool:
        """Whether all CPU kernels can be prepared."""
        return self.refusal is None or self.refusal.code not in _NOT_PREPARED

    @property
    def fails_with_model(self) -> bool:
        """Whether the delegate is not applied, and the whole model therefore fails."""
        return self.outcome == REFUSED and self.delegate.accelerator.fails_with_model

    def __repr__(self) -> str:
        return f"<Run {self.delegate.name} on {self.release}: {self.outcome}>"


def option_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a delegate's options as plain data for JSON."""
    return {name: _option_value(value) for name, value in options.items()}


def _option_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str | list):
        return value
    return list(value) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions under which a model is simulated."""

    accepted: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """For each subgraph, the nodes that every delegate is assumed to accept."""
    fixed_shapes: bool = False
    """Whether every tensor has its shape from the model file."""
    repaired: frozenset[tuple[int, int]] = frozenset()
    """Nodes that the CPU kernels are assumed to accept, as (subgraph, node)."""
    ended: frozenset[str] = frozenset()
    """Codes of failures of a compiler plugin. These failures are assumed not to occur."""
    registered: frozenset[str] = frozenset()
    """Custom operators that the application is assumed to register, or that run on a delegate that is not simulated."""


NOTHING_ASSUMED = Assumptions()


class ChangedPlan(NamedTuple):
    """A subgraph after delegates were applied.

    The indices of added tensors follow the indices of the tensors in the model file.
    """

    nodes: tuple[Node, ...]
    plan: tuple[int, ...]
    added_tensors: tuple[Tensor, ...]
    outputs: tuple[int, ...]


def plan_after(graph: Graph, subsets: Sequence[Subset], kernel_name: str, given_tensors: int) -> ChangedPlan:
    """Replace each delegated partition with a kernel (``ReplaceNodeSubsetsWithDelegateKernels``)."""
    nodes, plan = with_kernels(graph, subsets, kernel_name)
    return ChangedPlan(nodes, plan, graph.tensors[given_tensors:], graph.outputs)


def attributed_decision(graph: Graph, decision: Decision) -> Decision:
    """Return the decision with verdicts, partitions and reasons for the nodes of the given graph.

    An inlined node has the reasons of all nodes that replace it, and is supported if all these nodes are supported.
    ``decision.graph`` does not change.
    """
    if not decision.origins:
        return decision
    verdicts: dict[int, Verdict] = {}
    for index, verdict in decision.verdicts.items():
        origin = decision.origins.get(index, index)
        before = verdicts.get(origin, Verdict(True))
        reasons = tuple(dict.fromkeys((*before.reasons, *verdict.reasons)))
        verdicts[origin] = Verdict(before.is_supported and verdict.is_supported, reasons)
    set_aside = {decision.origins.get(index, index): reason for index, reason in decision.set_aside.items()}
    preview = attributed_subsets(graph, decision, decision.preview)
    return replace(decision, verdicts=verdicts, set_aside=set_aside, preview=preview)


def attributed_subsets(graph: Graph, decision: Decision, subsets: Sequence[Subset]) -> tuple[Subset, ...]:
    """Return the partitions with the nodes and tensors of the given graph.

    An inlined node is in every partition that contains at least one of its replacements. Tensors that the delegate added are
    left out.
    """
    if not decision.origins:
        return tuple(subsets)
    return tuple(
        [
            Subset(
                subset.is_delegated,
                tuple(dict.fromkeys([decision.origins.get(node, node) for node in subset.nodes])),
                tuple([tensor for tensor in subset.inputs if tensor < len(graph.tensors)]),
                tuple([tensor for tensor in subset.outputs if tensor < len(graph.tensors)]),
            )
            for subset in subsets
        ]
    )


def attributed_failure(graph: Graph, decision: Decision, failure: Refusal) -> Refusal:
    """Return a failure with the node and the tensor of the given graph. A tensor that the delegate added becomes None."""
    if not decision.origins:
        return failure
    node = None if failure.node is None else decision.origins.get(failure.node, failure.node)
    tensor = failure.tensor if failure.tensor is not None and failure.tensor < len(graph.tensors) else None
    return replace(failure, node=node, tensor=tensor)


class OwnRuntime(Delegate):
    """A runtime that runs a whole model or none of it. It loads and prepares models itself, without the interpreter."""

    columns: Sequence[Column] = ()
    """The columns of ``Run.application``."""

    def evaluate(self, model: Model, target: Target, assumptions: Assumptions, cache: AnalysisCache) -> Run:
        """Return what the runtime does with each node of a model."""
        raise NotImplementedError

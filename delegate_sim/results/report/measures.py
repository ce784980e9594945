"""The numbers of a run that a baseline stores and a check compares."""

from __future__ import annotations

from dataclasses import dataclass

from ...runtime.interpreter import REFUSED, Run
from .outcome_words import SELECTED
from .placement import border_bytes

FAILS_LATER = "delegated, then fails"
"""The outcome of a run that delegates nodes, but after which the application's AllocateTensors fails."""

NONE_FAILS = "none, then fails"
"""The outcome of a run that delegates no node, but before which no CPU kernel was prepared: AllocateTensors fails."""

PREDICTED = "restored, as predicted"
"""The outcome of a run that delegates nodes by the rules of its release, whose kernels the newest sources could not make.

The measures are then those of a run that was restored; in the report the nodes are delegated, with a refusal that says so.
"""

NOT_PREPARED = "refused, not prepared"
"""The outcome of a run before which AllocateTensors fails, since a CPU kernel refuses a node."""

NOT_LOADED = "refused, not loaded"
"""The outcome of a model that the runtime does not load."""

TAKEN = frozenset({"delegated", SELECTED})
"""The outcomes of runs that take nodes, of a delegate and of a compiler plugin, and know nothing against their running."""

OUTCOMES = ("delegated", SELECTED, "none", REFUSED, "restored", PREDICTED, FAILS_LATER, NONE_FAILS, NOT_PREPARED, NOT_LOADED)
"""Every outcome that measures can have."""

NOT_RUNNING = frozenset({FAILS_LATER, NONE_FAILS, NOT_PREPARED, NOT_LOADED})
"""Those after which the application cannot run the model at all, on the CPU or elsewhere."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The numbers of one run, over all subgraphs.

    ``partitions`` counts all, as the runtime does; ``border_bytes`` is what goes into and out of the delegate's kernels in one
    inference, not counting constants. Without a delegated node both are 0.
    """

    outcome: str
    nodes: int
    delegated_nodes: int
    partitions: int
    delegate_kernels: int
    border_bytes: int

    @property
    def fallback_nodes(self) -> int:
        """Nodes that stay on the CPU."""
        return self.nodes - self.delegated_nodes

    @property
    def delegated_share(self) -> float:
        """The share of nodes that is delegated, from 0 to 1; 1 for a model without nodes."""
        return self.delegated_nodes / self.nodes if self.nodes else 1.0

    @property
    def is_delegated(self) -> bool:
        """True if anything runs on the delegate."""
        return self.delegated_nodes > 0


def measure(run: Run) -> Measures:
    """Return the numbers of a run."""
    outcome = _outcome(run)
    subgraphs = [subgraph.without_kernels() if outcome == PREDICTED else subgraph for subgraph in run.subgraphs]
    subsets = [(subgraph.graph, subset) for subgraph in subgraphs for subset in subgraph.subsets]
    kernels = [(graph, subset) for graph, subset in subsets if subset.is_delegated]
    return Measures(
        outcome=outcome,
        nodes=sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs]),
        delegated_nodes=sum([len(subgraph.delegated) for subgraph in subgraphs]),
        partitions=len(subsets),
        delegate_kernels=len(kernels),
        border_bytes=sum([border_bytes(graph, subset.inputs) + border_bytes(graph, subset.outputs) for graph, subset in kernels]),
    )


def _outcome(run: Run) -> str:
    """Return the outcome, told apart by whether the model then runs."""
    if run.outcome == REFUSED:
        return NOT_PREPARED if not run.is_prepared else run.outcome if run.is_loaded else NOT_LOADED
    if run.refusal is None or run.outcome == "restored":
        return SELECTED if run.delegate.is_plugin and run.outcome == "delegated" else run.outcome
    if run.refusal.is_predicted:
        return PREDICTED
    return FAILS_LATER if run.outcome == "delegated" else NONE_FAILS

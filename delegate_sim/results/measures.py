"""The numbers of a run, which a baseline keeps and a check compares."""

from __future__ import annotations

from dataclasses import dataclass

from ..runtime.interpreter import NOT_LOADED, NOT_PREPARED, Run
from .report import border_bytes

FAILS_LATER = "delegated, then fails"
"""The outcome of a run that delegates nodes, but after which the application's AllocateTensors fails."""

PREDICTED = "restored, as predicted"
"""The outcome of a run that delegates nodes by the rules of its release, whose kernels the newest sources could not make.

The measures are then those of a run that was restored; in the report the nodes are delegated, with a refusal that says so.
"""

OUTCOMES = ("delegated", "none", "refused", "restored", PREDICTED, FAILS_LATER, NOT_PREPARED, NOT_LOADED)
"""Every outcome that measures can have."""

NOT_RUNNING = frozenset({FAILS_LATER, NOT_PREPARED, NOT_LOADED})
"""Those after which the application cannot run the model at all, on the CPU or elsewhere."""


@dataclass(frozen=True)
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
        """Whether anything runs on the delegate."""
        return self.delegated_nodes > 0


def measure(run: Run) -> Measures:
    """Return the numbers of a run."""
    later = run.refusal if run.outcome in ("delegated", "none") else None
    outcome = run.outcome if later is None else PREDICTED if later.is_predicted else FAILS_LATER
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

"""The measures of a run. A baseline stores the measures, and a check compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...delegates.base import Delegate
from ...foundation.columns import INTEGER, NUMBER, TEXT, Column, Declared, by_key
from ...graph.partition import Subset
from ...runtime.interpreter import REFUSED, Run
from .number_risks import counted_risks
from .placement import bytes_across

if TYPE_CHECKING:
    from .multiply_adds import ComputeTotals

FAILS_LATER = "delegated, then fails"
"""The outcome if nodes are delegated, but AllocateTensors fails afterwards."""

NONE_FAILS = "none, then fails"
"""The outcome if no node is delegated, and AllocateTensors then fails because a CPU kernel refuses a node."""

PREDICTED = "restored, as predicted"
"""The outcome if the release's rules delegate nodes, but newer sources show that the delegate kernels fail.

The measures are then those of a restored run. The report shows the nodes as delegated, and a refusal explains the failure.
"""

NOT_PREPARED = "refused, not prepared"
"""The outcome if AllocateTensors fails before the delegate is applied, because a CPU kernel refuses a node."""

NOT_LOADED = "refused, not loaded"
"""The outcome if the runtime cannot load the model."""

TAKEN = "delegated"
"""The outcome if a delegate or a compiler plugin takes nodes, and no failure is predicted."""

OUTCOMES = (TAKEN, "none", REFUSED, "restored", PREDICTED, FAILS_LATER, NONE_FAILS, NOT_PREPARED, NOT_LOADED)
"""All values of ``Measures.outcome``."""

_OUTCOME_TEXTS = {
    REFUSED: "not applied",
    "restored": "rejected",
    PREDICTED: "rejected, as predicted",
    FAILS_LATER: "does not run",
    NONE_FAILS: "does not run",
    NOT_PREPARED: "does not run",
    NOT_LOADED: "not loaded",
}


def outcome_text(outcome: str, taken: str = TAKEN) -> str:
    """Return an outcome in words, for a cell of a table. ``taken`` is the text if nodes are taken (``OutcomeWords.outcome``)."""
    return taken if outcome == TAKEN else _OUTCOME_TEXTS.get(outcome, outcome)


NOT_RUNNING = frozenset({FAILS_LATER, NONE_FAILS, NOT_PREPARED, NOT_LOADED})
"""The outcomes with which the application cannot run the model."""

FURTHER = (
    Column(
        "border_bytes",
        INTEGER,
        "bytes that cross the boundaries of delegate kernels in one inference",
        "boundary byte",
        unit="bytes",
        caption="across boundaries",
        better=-1,
    ),
)
"""The measures of delegate kernels that every format has after the counts of partitions and kernels. Add new measures here."""
NUMBERS = (
    Column(
        "wrong_results",
        INTEGER,
        "number of nodes and outputs that the delegate computes wrongly for ordinary inputs, if it has rules for numbers",
        "wrong result",
        better=-1,
        since="0.3",
        is_optional=True,
    ),
    Column(
        "possibly_wrong_results",
        INTEGER,
        "number of further nodes and outputs that the delegate may compute wrongly, if it has rules for numbers",
        "possibly wrong result",
        since="0.3",
        is_optional=True,
    ),
)
"""The measures of numbers. Text shows them only if there are such results."""
MEASURES = (
    Column("outcome", TEXT, "delegated, none, refused or restored, with a note if the model cannot run at all"),
    Column("nodes", INTEGER, "number of nodes in all subgraphs"),
    Column("delegated_nodes", INTEGER, "number of nodes that the delegate takes", better=1),
    Column("partitions", INTEGER, "number of partitions, as the delegate or the runtime counts them", "partition", better=-1),
    Column("delegate_kernels", INTEGER, "number of partitions that run on the delegate", better=-1),
    *FURTHER,
    *NUMBERS,
)
"""The columns of ``Measures``."""


@dataclass(frozen=True, slots=True)
class Measures(Declared):
    """The measures of one run, over all subgraphs.

    The sides of a comparison, the costs in a diagnosis, and the cases of a check have them as ``measures``. For a report,
    ``to_pandas("runs")`` has these numbers.

    ``partitions`` is the sum of ``counted_partitions``. ``border_bytes`` is the total size of all inputs and outputs of
    delegate kernels in one inference, without constants. ``partitions`` and ``border_bytes`` are 0 if no node is delegated. The
    measures of numbers are None if the delegate has no rules for numbers.
    """

    columns = MEASURES

    outcome: str
    nodes: int
    delegated_nodes: int
    partitions: int
    delegate_kernels: int
    border_bytes: int
    wrong_results: int | None = None
    possibly_wrong_results: int | None = None

    @property
    def fallback_nodes(self) -> int:
        """The number of nodes that stay on the CPU."""
        return self.nodes - self.delegated_nodes

    @property
    def delegated_share(self) -> float:
        """The delegated share of nodes, from 0 to 1. If the model does not run, the share is 0; without nodes, it is 1."""
        if self.outcome in NOT_RUNNING:
            return 0.0
        return self.delegated_nodes / self.nodes if self.nodes else 1.0

    @property
    def is_delegated(self) -> bool:
        """Whether at least one node runs on the delegate."""
        return self.delegated_nodes > 0


DERIVED = (
    Column("fallback_nodes", INTEGER, "number of nodes that stay on the CPU", "node on the CPU", better=-1),
    Column(
        "delegated_share",
        NUMBER,
        "the share of nodes that are delegated, from 0 to 1; 0 if the delegate fails or the model does not run",
        better=1,
        digits=6,
    ),
)
"""The columns of properties of ``Measures``."""
_BY_KEY = by_key((*MEASURES, *DERIVED))


def measure_columns(*keys: str) -> tuple[Column, ...]:
    """Return the measures with these keys, and then all further measures and the measures of numbers."""
    return (*[_BY_KEY[key] for key in keys], *FURTHER, *NUMBERS)


def work_share(measures: Measures | None, compute: ComputeTotals | None) -> float | None:
    """Return the delegated share of multiply-adds, or None if it is not known. If the model does not run, the share is 0."""
    if measures is None or compute is None:
        return None
    return 0.0 if measures.outcome in NOT_RUNNING else round(compute.delegated_share, 6)


def measure(run: Run) -> Measures:
    """Return the measures of a run."""
    subsets = [(subgraph.graph, subset) for subgraph in run.final_subgraphs for subset in subgraph.subsets]
    kernels = [(graph, subset) for graph, subset in subsets if subset.is_delegated]
    counts = counted_risks(run)
    return Measures(
        outcome=_outcome(run),
        nodes=sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs]),
        delegated_nodes=sum([len(subgraph.delegated) for subgraph in run.final_subgraphs]),
        partitions=counted_partitions(run.delegate, [subset for _, subset in subsets]),
        delegate_kernels=len(kernels),
        border_bytes=sum([sum(bytes_across(graph, subset)) for graph, subset in kernels]),
        wrong_results=None if counts is None else counts.wrong,
        possibly_wrong_results=None if counts is None else counts.possibly_wrong,
    )


def awaits_compiler(delegate: Delegate, measures: Measures) -> bool:
    """Return whether the delegate takes only nodes that its compiler makes, and the model has no such node.

    The compiler is not simulated. So the result says nothing about the model after its compilation.
    """
    return bool(delegate.compiler) and measures.outcome == "none" and measures.nodes > 0


def counted_partitions(delegate: Delegate, subsets: Sequence[Subset]) -> int:
    """Return the number of partitions to report.

    For most delegates, this number includes partitions on the CPU, as in the runtime's log. For all other delegates, it
    includes only delegated partitions.
    """
    return sum(subset.is_delegated or delegate.counts_cpu_partitions for subset in subsets)


def _outcome(run: Run) -> str:
    if run.outcome == REFUSED:
        return NOT_PREPARED if not run.is_prepared else run.outcome if run.is_loaded else NOT_LOADED
    if run.refusal is None or run.outcome == "restored":
        return run.outcome
    if run.is_rejected:
        return PREDICTED
    return FAILS_LATER if run.outcome == TAKEN else NONE_FAILS

"""Compare several runs of one model. The results are delegated nodes per operator, and nodes that only some runs delegate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ...delegates.options import as_typed, option_value
from ...foundation.printable import counted
from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...model.model import Model, Node
from ...rules.rule import Reason
from ...runtime.interpreter import Run, simulate
from ...runtime.target import Target
from ..report.measures import TAKEN, measure, outcome_text
from ..report.placement import node_reasons


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator, its number of nodes, and the number of delegated nodes in each run."""

    op: str
    nodes: int
    delegated: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A node that some runs delegate and other runs do not.

    ``reasons`` has one entry for each run. The entry is None if the run delegates the node. Otherwise, the entry has the
    reasons why not.
    """

    subgraph: int
    node: Node
    reasons: tuple[tuple[Reason, ...] | None, ...]


def operator_rows(runs: Sequence[Run]) -> list[OperatorRow]:
    """Count the nodes of each operator. The most frequent operator comes first."""
    totals: Counter[str] = Counter()
    counts: list[Counter[str]] = [Counter() for _ in runs]
    for _, node, delegated in _nodes(runs):
        totals[node.op] += 1
        for count, is_delegated in zip(counts, delegated, strict=True):
            count[node.op] += is_delegated
    return [OperatorRow(op, nodes, tuple(count[op] for count in counts)) for op, nodes in totals.most_common()]


def disagreements(runs: Sequence[Run]) -> list[Disagreement]:
    """Return the nodes that only some runs delegate, in execution order."""
    differences = []
    final = [run.final_subgraphs for run in runs]
    for subgraph, node, delegated in _nodes(runs):
        if any(delegated) and not all(delegated):
            reasons = tuple(
                None if is_taken else node_reasons(subgraphs[subgraph], node.index, run.refusal)
                for run, subgraphs, is_taken in zip(runs, final, delegated, strict=True)
            )
            differences.append(Disagreement(subgraph, node, reasons))
    return differences


def _nodes(runs: Sequence[Run]) -> Iterator[tuple[int, Node, tuple[bool, ...]]]:
    final = [run.final_subgraphs for run in runs]
    for subgraph in runs[0].subgraphs:
        number = subgraph.graph.index
        delegated = [subgraphs[number].delegated for subgraphs in final]
        for index in subgraph.graph.execution_plan:
            yield number, subgraph.graph.nodes[index], tuple(index in nodes for nodes in delegated)


_LEFT = 24
"""Number of simulations that must be left for the model, because the commands that ask also simulate causes and fixes."""


def api_target(target: Target) -> Target | None:
    """Return the target with the API's defaults, or None if no option changes."""
    if target.defaults == "api":
        return None
    options = {
        option.name: option.default if target.options[option.name] == option.default_in(target.defaults) else value
        for option in target.delegate.options
        for value in (target.options[option.name],)
    }
    return None if options == target.options else replace(target, options=MappingProxyType(options), defaults="api")


def api_defaults_text(model: Model, run: Run, cache: AnalysisCache | None = None) -> str:
    """Return a sentence if the API's defaults give another result than the run. Otherwise, return an empty string."""
    target = api_target(run.target)
    if target is None:
        return ""
    effort = Effort(model)
    if effort.left < _LEFT * target.effort:
        return f"The result with the API's defaults is not simulated: {effort.reason}"
    measures = measure(simulate(model, target, cache=cache))
    if measures == measure(run):
        return ""
    of_all = f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')}"
    kernels = f" in {counted(measures.delegate_kernels, 'kernel')}"
    result = f"{of_all}{kernels}" if measures.outcome == TAKEN else outcome_text(measures.outcome)
    return f"An application that uses the API's defaults ({_changed(run, target)}): {result} (see --defaults api)"


def _changed(run: Run, target: Target) -> str:
    """Return a text with the API's values of the options that have another value in the run."""
    changed = {name: value for name, value in target.options.items() if value != run.options[name]}
    return ", ".join(
        [
            counted(value, "partition")
            if name == target.delegate.limits.option
            else as_typed(target.delegate.options, name, "" if value in (None, ()) else option_value(value))
            for name, value in changed.items()
        ]
    )

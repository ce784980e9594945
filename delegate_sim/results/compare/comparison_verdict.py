"""The verdict on a comparison in one sentence, and the differences between several runs of one model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...delegates.options import as_typed, option_value
from ...delegates.traits import Ranking
from ...foundation.printable import counted, share
from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...model.model import Model, Node
from ...rules.rule import Reason
from ...runtime.interpreter import Run, simulate
from ...runtime.target import Target
from ..report.findings import counts_text
from ..report.measures import NOT_RUNNING, TAKEN, awaits_compiler, measure, outcome_text
from ..report.outcome_words import words_of
from ..report.placement import node_reasons
from ..report.verdict import share_text

if TYPE_CHECKING:
    from .comparison import Side


_BYTES = "boundary bytes"
_SAME_SIZE = 0.05
"""If the sizes of the files differ by more than this share, the verdict names the sizes."""


class _Measured(NamedTuple):
    """One measure on both sides. ``gain`` is positive if B is better, negative if A is better, and 0 if both are equal."""

    gain: int
    a: str
    b: str
    noun: str

    def text(self, is_b: bool) -> str:
        """Return the value on the better side, then the value on the other side, as text."""
        return f"{self.b if is_b else self.a} instead of {self.a if is_b else self.b} {self.noun}"


def better_side(a: Side, b: Side) -> str:
    """Return the better side, ``A`` or ``B``. Return an empty string if both sides are equal.

    If the model runs on one side only, this side is better. Otherwise, fewer wrong results are better, if both delegates have
    rules for numbers. If only one has rules, a side with wrong results is not called better. Then the larger delegated share of
    multiply-adds decides. If these shares are equal, the following measures decide in order: share of nodes, number of kernels,
    possibly wrong results, boundary bytes. If the models have different numbers of nodes, the number of nodes on the CPU decides
    instead of the share of nodes.
    """
    return "" if _incomparable(a, b) else _larger(a, b)


def _larger(a: Side, b: Side) -> str:
    decisive = next((measured.gain for measured in _measured(a, b) if measured.gain), 0)
    return "B" if decisive > 0 else "A" if decisive < 0 else ""


def comparison_verdict(a: Side, b: Side) -> str:
    """Return a sentence without a period.

    It names the better side, the measures that are better, and the measures that are worse.
    """
    if reason := _incomparable(a, b):
        return f"No side is called better, because {reason}"
    better = better_side(a, b)
    if not better:
        return _equal(a, b) + _numbers(a, b) + _processors(a, b)
    is_b = better == "B"
    if _fails(a) != _fails(b):
        return f"{better} is better: the model does not run with {'A' if is_b else 'B'}"
    measured = [one for one in _measured(a, b) if one.gain]
    if len(measured) > 1:
        measured = [one for one in measured if one.noun != _BYTES]
    for_it = ", ".join([one.text(is_b) for one in measured if (one.gain > 0) == is_b])
    against_it = ", ".join([one.text(is_b) for one in measured if (one.gain > 0) != is_b])
    sizes = _sizes(*((b, a) if is_b else (a, b)))
    against = f", but {against_it}" if against_it else ""
    return f"{better} is better: {for_it}{against}{_numbers(a, b)}{sizes}{_processors(a, b)}"


def _processors(a: Side, b: Side) -> str:
    """Return which side alone computes on the CPU, and that counts of two delegates are not speed."""
    if a.run.delegate.name == b.run.delegate.name or _fails(a):
        return ""
    on_cpu = [name for name, side in (("A", a), ("B", b)) if side.run.delegate.computes_on_cpu]
    return f"{f'; {on_cpu[0]} computes on the CPU' if len(on_cpu) == 1 else ''}; these counts are not speed"


def _incomparable(a: Side, b: Side) -> str:
    for name, side in (("A", a), ("B", b)):
        if awaits_compiler(side.run.delegate, side.measures):
            return f"the model of {name} is not compiled with {side.run.delegate.compiler} yet, and the compiler is not simulated"
    selecting = [side.run.delegate.name for side in (a, b) if side.run.delegate.ranking is Ranking.PLUGINS]
    if len(selecting) == 1:
        return f"{selecting[0]} only selects nodes and does not run them"
    first, second = ("B", b), ("A", a)
    (name, side), (_, other) = (first, second) if _larger(a, b) == "B" else (second, first)
    if side.measures.wrong_results and other.measures.wrong_results is None and not _fails(other):
        counts = counts_text(side.measures, "")
        return f"{name} has {counts}, and the numbers of {other.run.delegate.name} are not known"
    return ""


def _numbers(a: Side, b: Side) -> str:
    sides = {"A": a.measures, "B": b.measures}
    unknown = [side.run.delegate.name for side in (a, b) if side.measures.wrong_results is None]
    if not unknown:  # the verdict has the numbers that differ
        names = ("wrong_results", "possibly_wrong_results")
        told: dict[str, Any] = {name: 0 for name in names if getattr(a.measures, name) != getattr(b.measures, name)}
        sides = {name: replace(measures, **told) for name, measures in sides.items()}
    texts = [f"{name} has {counts}" for name, measures in sides.items() if (counts := counts_text(measures, ""))]
    if not texts:
        return ""
    return "; " + "; ".join([*texts, *[f"the numbers of {name} are not known" for name in unknown]])


def _fails(side: Side) -> bool:
    return side.measures.outcome in NOT_RUNNING


def _measured(a: Side, b: Side) -> Iterator[_Measured]:
    yield _Measured(_fails(a) - _fails(b), "", "", "")
    if _fails(a) and _fails(b):
        return
    old, new = a.measures, b.measures
    work, other_work = a.compute, b.compute
    if old.wrong_results is not None and new.wrong_results is not None:
        yield _fewer(old.wrong_results, new.wrong_results, "wrong results")
    if work.multiply_adds and other_work.multiply_adds:
        yield _shares(
            (work.delegated_multiply_adds, work.multiply_adds),
            (other_work.delegated_multiply_adds, other_work.multiply_adds),
            "of multiply-adds",
        )
    if old.nodes and old.nodes == new.nodes:
        yield _shares((old.delegated_nodes, old.nodes), (new.delegated_nodes, new.nodes), "of nodes")
    elif old.delegated_nodes or new.delegated_nodes:
        left = dict.fromkeys([words_of(side.run.delegate.name).left for side in (a, b)])
        yield _fewer(old.fallback_nodes, new.fallback_nodes, f"nodes {' / '.join(left)}")
    if old.delegated_nodes and new.delegated_nodes:
        nouns = dict.fromkeys([words_of(side.run.delegate.name).kernels for side in (a, b)])
        yield _fewer(old.delegate_kernels, new.delegate_kernels, " / ".join(nouns))
    if old.possibly_wrong_results is not None and new.possibly_wrong_results is not None:
        yield _fewer(old.possibly_wrong_results, new.possibly_wrong_results, "possibly wrong results")
    if old.delegated_nodes and new.delegated_nodes:
        yield _fewer(old.border_bytes, new.border_bytes, _BYTES)


def _shares(a: tuple[int, int], b: tuple[int, int], noun: str) -> _Measured:
    texts = share(*a), share(*b)
    if texts[0] == texts[1]:
        texts = f"{a[0]:,} of {a[1]:,}", f"{b[0]:,} of {b[1]:,}"
        noun = noun.removeprefix("of ")
    return _Measured(b[0] * a[1] - a[0] * b[1], *texts, noun)


def _fewer(a: int, b: int, noun: str) -> _Measured:
    return _Measured(a - b, f"{a:,}", f"{b:,}", noun)


def _equal(side: Side, other: Side) -> str:
    measures, compute = side.measures, side.compute
    if _fails(side):
        return "A and B are equal: the model does not run"
    if not measures.delegated_nodes and not other.measures.delegated_nodes:
        return "A and B are equal: no node is delegated"
    if measures.nodes != other.measures.nodes:
        return f"A and B are equal: both leave {counted(measures.fallback_nodes, 'node')} {words_of(side.run.delegate.name).left}"
    shares = share_text(measures.delegated_nodes, measures.nodes, compute.delegated_multiply_adds, compute.multiply_adds)
    return f"A and B are equal: both {'delegate' if words_of(side.run.delegate.name).has_parts else 'accept'} {shares}"


def _sizes(better: Side, other: Side) -> str:
    size, other_size = better.model.size, other.model.size
    if not size or not other_size or abs(size / other_size - 1) <= _SAME_SIZE:
        return ""
    ratio = size / other_size
    return f"; its file has {f'{ratio:,.1f} times' if ratio > 1 else share(size, other_size) + ' of'} the size of the other file"


class OperatorRow(NamedTuple):
    """An operator, its number of nodes, and the number of delegated nodes in each run."""

    op: str
    nodes: int
    delegated: tuple[int, ...]


class Disagreement(NamedTuple):
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
    return None if options == target.options else target._replace(options=MappingProxyType(options), defaults="api")


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

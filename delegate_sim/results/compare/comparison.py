"""Compare two runs node by node. The runs are of two models on one target, or of one model on two targets.

Nodes are matched by structure, so renumbered and renamed nodes still match.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...foundation.columns import INTEGER, LIST, OBJECT, Column, Declared, Table, attributes, group, keys, values, within
from ...foundation.printable import counted
from ...graph.effort import COMPARISON, Effort
from ...hypothetical.hypothetical_changes import HypotheticalChanges, changed, simulate_changed
from ...model.model import Model
from ...rules.rule import Reason
from ...runtime.interpreter import Run, SubgraphRun, simulate
from ...runtime.target import Target
from ..report.display import Shown, Times, shown_times, times_tables
from ..report.findings import node_location
from ..report.measures import DERIVED, MEASURES, Measures, measure
from ..report.multiply_adds import COMPUTE, Compute, compute_of
from ..report.placement import CPU, node_reasons
from ..report.tables import RUN, STATE, TIME, model_name, reason_cells, run_columns, run_words
from ..report.verdict import verdict
from .comparison_verdict import better_side, comparison_verdict
from .model_changes import ADDED, REMOVED, Matching, NodeChange, compare_outlines
from .model_outline import outline

DELEGATE = "delegate"
"""The value of ``State.place`` for delegated nodes."""


@dataclass(frozen=True)
class Side(Declared):
    """One side of a comparison: a model and its run.

    If side B's model is a changed copy of side A's model, ``origins`` lists for each subgraph the index of each node in the
    original model. Added nodes have index -1.
    """

    columns = (
        Column("model", OBJECT, parts=(*attributes("path", "sha256"), Column("bytes", INTEGER, source="size"))),
        *within("run", run_columns("delegate", "runtime", "defaults", "options", "rule_set")),
        *within("run", [Column("refusal", OBJECT), Column("log_lines", LIST), *STATE]),
        group("measures", *within("measures", (*MEASURES, *DERIVED)), *within("compute", COMPUTE)),
    )

    model: Model
    run: Run
    origins: tuple[tuple[int, ...], ...] = ()

    @functools.cached_property
    def measures(self) -> Measures:
        """The measures of the run."""
        return measure(self.run)

    @functools.cached_property
    def compute(self) -> Compute:
        """The multiply-adds of the run."""
        return compute_of(self.run)


@dataclass(frozen=True, slots=True)
class State(Declared):
    """The placement of a node on one side.

    ``node`` is the index of the node, and ``place`` is ``delegate`` or ``cpu``. ``reasons`` says why the node runs on the CPU.
    ``reasons`` is empty for a delegated node.
    """

    columns = (Column("node", INTEGER), Column("runs_on", source="place"), Column("reasons", LIST))

    node: int
    place: str
    reasons: tuple[Reason, ...] = ()

    @property
    def demands(self) -> tuple[tuple[str, str], ...]:
        """The failed checks as pairs of code and needed value. The found values are left out."""
        return tuple([(reason.code, reason.needed) for reason in self.reasons])


@dataclass(frozen=True, slots=True)
class ComparedNode(Declared):
    """A pair of matching nodes, or a node that only one side has.

    ``op`` is the operator, and ``name`` is the name of the first output. They come from side B. If only side A has the node,
    they come from side A. ``changes`` lists the differences between the matching nodes.
    """

    columns = (
        *(Column("subgraph", INTEGER), *attributes("op", "name")),
        *[Column(side, OBJECT, parts=State.columns) for side in ("a", "b")],
        Column("changes", LIST, parts=attributes("what", "old", "new")),
    )

    subgraph: int
    op: str
    name: str
    a: State | None
    b: State | None
    changes: tuple[NodeChange, ...] = ()


_CHANGES = ("to_cpu", "to_delegate", "only_in_a", "only_in_b", "reasons_changed")
"""The lists of nodes that the table of nodes has."""
COMPARED = (
    *(Column("subgraph", INTEGER), *attributes("op", "name")),
    *(Column("node_a", INTEGER, source="a.node"), Column("node_b", INTEGER, source="b.node")),
    *(Column("runs_on_a", source="a.place"), Column("runs_on_b", source="b.place")),
    Column("codes", source=lambda node: reason_cells(_reasons(node))[0]),
    Column("reasons", source=lambda node: reason_cells(_reasons(node))[1]),
)
"""The columns of a compared node in tables."""


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The differences between two runs. Nodes are in execution order. ``to_dict`` returns plain data with a stable schema."""

    document = "compare"
    columns = (
        *(Column("better", source=lambda own: better_side(own.a, own.b) or None), Column("verdict")),
        *[Column(side, OBJECT, parts=Side.columns) for side in ("a", "b")],
        *[Column(change, LIST, parts=ComparedNode.columns) for change in (*_CHANGES, "same_reasons")],
        *(Column("input_changes", LIST, parts=(Column("subgraph", INTEGER), *attributes("name", "old", "new"))), TIME),
    )

    a: Side
    b: Side
    to_cpu: tuple[ComparedNode, ...]
    """Nodes that are delegated in A and on the CPU in B."""
    to_delegate: tuple[ComparedNode, ...]
    """Nodes that are on the CPU in A and delegated in B."""
    only_in_a: tuple[ComparedNode, ...]
    only_in_b: tuple[ComparedNode, ...]
    reasons_changed: tuple[ComparedNode, ...]
    """Nodes that are on the CPU in A and B, but for other reasons in B than in A."""
    same_reasons: tuple[ComparedNode, ...]
    """Nodes that are on the CPU in A and B for the same reasons."""
    input_changes: tuple[NodeChange, ...]
    """Subgraph inputs that differ between A and B."""
    matching: Matching
    """The matched nodes of the two models."""
    times: Times | None = None
    """The measured times of side A, and bounds on the time that the change saves. None if the user gave no op profiles."""

    @property
    def verdict(self) -> str:
        """A sentence without a period. It says which side is better, and in which measures."""
        return comparison_verdict(self.a, self.b)

    def _line(self) -> str:
        moved = f"{counted(len(self.to_cpu), 'node')} to the CPU, {len(self.to_delegate):,} to the delegate"
        sides = [f"{name} {model_name(side.model)}, {run_words(side.run)}" for name, side in (("A", self.a), ("B", self.b))]
        return "; ".join([*sides, moved])

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return {
            "nodes": lambda: Table(
                ("change", *keys(COMPARED)),
                [(change, *values(COMPARED, node)) for change in _CHANGES for node in getattr(self, change)],
            ),
            "runs": lambda: _sides_table(self.a, self.b),
            **times_tables(self._all_times),
        }

    @property
    def _all_times(self) -> tuple[Times, ...]:
        return () if self.times is None else (self.times,)

    def _summary(self) -> Sequence[tuple[str, str]]:
        sides = [(f"{name}: {verdict(side.run)}", "") for name, side in (("A", self.a), ("B", self.b))]
        return [(self.verdict, ""), *sides]

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {
            "runs": ("side", "nodes", "delegated", "partitions", "multiply_adds_delegated"),
            "nodes": ("change", "op", "node_a", "node_b", "reasons"),
            **shown_times(self._all_times),
        }


def compare(a: Side, b: Side, *, matching: Matching | None = None) -> Comparison:
    """Match the nodes of both sides. Find the nodes that have another place, or other reasons, in B than in A.

    ``matching`` is the matching of an earlier comparison of the two models.
    """
    if matching is None:
        matching = _match(a, b)
    changes: dict[tuple[int, int], list[NodeChange]] = defaultdict(list)
    for change in matching.changes:
        if change.node is not None and change.what not in (ADDED, REMOVED):
            changes[change.subgraph, change.node].append(change)
    nodes = list(_nodes(a.run, b.run, matching.old_of, changes))
    both = [(node, node.a, node.b) for node in nodes if node.a is not None and node.b is not None]
    return Comparison(
        a,
        b,
        to_cpu=tuple([node for node, old, new in both if old.place != CPU and new.place == CPU]),
        to_delegate=tuple([node for node, old, new in both if old.place == CPU and new.place != CPU]),
        only_in_a=tuple([node for node in nodes if node.b is None]),
        only_in_b=tuple([node for node in nodes if node.a is None]),
        reasons_changed=tuple([node for node, old, new in both if old.place == new.place and old.demands != new.demands]),
        same_reasons=tuple([node for node, old, new in both if old.place == new.place == CPU and old.demands == new.demands]),
        input_changes=tuple([change for change in matching.changes if change.node is None and change.old_node is None]),
        matching=matching,
    )


def _match(a: Side, b: Side) -> Matching:
    if a.model is b.model:
        plans = [subgraph.graph.execution_plan for subgraph in b.run.subgraphs]
        return Matching(tuple([dict(zip(plan, plan, strict=True)) for plan in plans]), ())
    return compare_outlines(outline(a.model), outline(b.model), b.origins)


def _nodes(
    a: Run, b: Run, old_of: Sequence[Mapping[int, int]], changes: Mapping[tuple[int, int], Sequence[NodeChange]]
) -> Iterator[ComparedNode]:
    olds, news = a.final_subgraphs, b.final_subgraphs
    for number in range(max(len(olds), len(news))):
        matched = old_of[number] if number < len(old_of) else {}
        old = olds[number] if number < len(olds) else None
        planned = frozenset() if old is None else frozenset(old.graph.execution_plan)
        if number < len(news):
            new = news[number]
            for index in new.graph.execution_plan:
                before = None if old is None or matched.get(index) not in planned else _state(a, old, matched[index])
                yield _compared(new, index, before, _state(b, new, index), changes.get((number, index), ()))
        if old is not None:
            matched_in_old = set(matched.values())
            for index in old.graph.execution_plan:
                if index not in matched_in_old:
                    yield _compared(old, index, _state(a, old, index), None)


def _compared(run: SubgraphRun, index: int, a: State | None, b: State | None, changes: Iterable[NodeChange] = ()) -> ComparedNode:
    place = node_location(run, index)
    return ComparedNode(run.graph.index, place.op, place.name, a, b, tuple(changes))


def _state(run: Run, subgraph: SubgraphRun, index: int) -> State:
    if index in subgraph.delegated:
        return State(index, DELEGATE)
    return State(index, CPU, node_reasons(subgraph, index, run.refusal))


def _reasons(node: ComparedNode) -> tuple[Reason, ...]:
    return next((state.reasons for state in (node.b, node.a) if state is not None and state.place == CPU), ())


def _sides_table(a: Side, b: Side) -> Table:
    rows = [(name, model_name(side.model), *values(RUN, side)) for name, side in (("A", a), ("B", b))]
    return Table(("side", "model", *keys(RUN)), rows)


def simulated_side(model: Model, target: Target) -> Side:
    """Simulate a model on a target. Raises LimitError if the model is too large for a comparison."""
    Effort(model).require(COMPARISON, target.effort)
    return Side(model, simulate(model, target))


def hypothetical_side(model: Model, target: Target, hypothetical: HypotheticalChanges) -> Side:
    """Simulate a model with a hypothetical change on a target.

    Raises OptionError if the change cannot be made. Raises LimitError if the changed model is too large for a comparison.
    """
    change = changed(model, hypothetical, target.release)
    Effort(change.model).require(COMPARISON, target.effort)
    run = simulate_changed(change, target, hypothetical)
    run = run if run.refusal is None else replace(run, refusal=change.in_file(run.refusal))
    return Side(change.model, run, change.origins)

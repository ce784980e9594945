"""Two runs side by side, as text: the log lines and the numbers of each run, and the nodes with different results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from delegate_sim.delegates.options import as_typed
from delegate_sim.foundation.printable import shortened
from delegate_sim.results.compare.comparison import ComparedNode, Comparison, Side, State
from delegate_sim.results.compare.comparison_verdict import api_defaults_text
from delegate_sim.results.compare.model_changes import NodeChange
from delegate_sim.results.report.measures import FURTHER, NUMBERS, outcome_text
from delegate_sim.results.report.outcome_words import OutcomeWords, words_of
from delegate_sim.results.report.placement import CPU
from delegate_sim.results.report.verdict import verdict
from delegate_sim.runtime.interpreter import Run

from ..console.layout import counted, message, name, node_list, operator_list, option_value
from ..console.terminal import Line, width
from .elements import findings
from .elements.measures import growth_lines, loop_lines, share_cell
from .elements.paragraphs import BAD, CODE, HEADING, HINT, heading_lines, indented, log_lines, more_lines, paragraph, table
from .elements.verdict import plugin_lines

if TYPE_CHECKING:
    from delegate_sim.timing.fixes import ChangeTimes
    from delegate_sim.timing.measured import Timing


_GROUPS_SHOWN = 20
_VARIANTS_SHOWN = 8
_CHANGES_SHOWN = 5
_INPUTS_SHOWN = 10


def compare_lines(comparison: Comparison, width: int, verbose: bool, assumed: str = "") -> Iterator[Line]:
    """Return the text of a comparison. ``assumed`` describes the hypothetical changes of B, if there are any."""
    return _Text(comparison, width, verbose, assumed).lines()


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class _ComparisonGroup:
    statements: tuple[_Statement, ...]
    variants: dict[tuple[int, str, str], list[ComparedNode]]

    @property
    def size(self) -> int:
        return sum(map(len, self.variants.values()))


class _Text:
    def __init__(self, comparison: Comparison, width: int, verbose: bool, assumed: str) -> None:
        self.comparison = comparison
        self.assumed = assumed
        self.width = width
        self.verbose = verbose
        runs = comparison.a.run, comparison.b.run
        self.refusals = {shortened(run.refusal.message) for run in runs if run.refusal is not None}
        self.told_hints: set[str] = set()
        self.has_several_subgraphs = max(len(side.run.subgraphs) for side in (comparison.a, comparison.b)) > 1

    def lines(self) -> Iterator[Line]:
        comparison = self.comparison
        yield from paragraph(comparison.verdict, self.width, "", "  ", style=HEADING)
        for side, run in (("A", comparison.a.run), ("B", comparison.b.run)):
            yield from paragraph(f"{side}: {verdict(run)}", self.width, "", "   ", style=HEADING)
        yield Line("")
        yield from self._side("A", comparison.a, comparison.b)
        yield from self._side("B", comparison.b, comparison.a)
        yield from self._numbers()
        yield from self._inputs()
        a, b = words_of(comparison.a.run.delegate.name), words_of(comparison.b.run.delegate.name)
        yield from self._section(f"Delegated in A, {b.left} in B", comparison.to_cpu, lambda node: _reasons(node.b))
        yield from self._section(
            f"{_capital(a.left)} in A, delegated in B", comparison.to_delegate, lambda node: _bare(_reasons(node.a))
        )
        yield from self._section("Only in A", comparison.only_in_a, lambda node: _bare(_placed(node.a, a)))
        yield from self._section("Only in B", comparison.only_in_b, lambda node: _placed(node.b, b))
        left = _capital(_either(a.left, b.left))
        differing = f"{left} on both sides, but not for the same reasons"
        yield from self._section(
            differing, comparison.reasons_changed, lambda node: _bare((*_reasons(node.a, "in A, "), *_reasons(node.b, "in B, ")))
        )
        yield from self._same_reasons(f"{left} on both sides, for the same reasons", comparison.same_reasons)
        if not (comparison.to_cpu or comparison.to_delegate or comparison.only_in_a or comparison.only_in_b):
            yield Line("")
            is_same = comparison.a.run.delegate.name == comparison.b.run.delegate.name
            where = "runs in the same place on both sides" if is_same else "that one delegate takes, the other takes too"
            yield Line(f"No node moves: every node {where}.")
        yield from plugin_lines([comparison.a.run, comparison.b.run], self.width, only_plugins=True)

    def _side(self, title: str, side: Side, other: Side) -> Iterator[Line]:
        run = side.run
        if title != "A":
            yield Line("")
        yield Line(f"{title}: {message(side.model.path or '-')}", HEADING)
        defaults = f" with defaults {side.run.target.defaults}" if side.run.target.defaults != other.run.target.defaults else ""
        options = _differing_options(side, other)
        yield from self._paragraph(message(f"{run.delegate.name} on {run.release}{defaults}{options}"), "  ")
        if self.assumed and title != "A":
            yield from self._paragraph(message(f"assumed: {self.assumed}"), "  ")
        if title != "A" and _fails_alike(run, other.run):
            yield from self._paragraph("The refusal and the log lines are the same as in A.", "  ")
            return
        if run.refusal is not None:
            refusal = run.refusal
            yield from self._paragraph(message(f"{refusal.code}: {refusal.text}"), "  ", BAD)
            yield from self._hint(refusal.hint, "    ")
        for warning in () if words_of(run.delegate.name).note else run.warnings:
            if warning not in other.run.warnings:
                yield from self._paragraph(message(f"warning: {warning}"), "  ")
        is_assumed = any(subgraph.graph.assumed for subgraph in run.subgraphs)  # the API's result would lack the assumption
        if not is_assumed and (api_text := api_defaults_text(side.model, run)):
            yield from self._paragraph(api_text, "  ")
        yield from log_lines(run.log_lines)

    def _numbers(self) -> Iterator[Line]:
        rows = [("", "A", "B", "B - A"), *_rows(self.comparison.a, self.comparison.b)]
        yield from heading_lines("Side by side")
        yield from table(rows, range(1, 4), self.width)
        a, b = self.comparison.a, self.comparison.b
        yield from loop_lines([a.run, b.run], self.width)
        yield from growth_lines(a.measures.nodes, b.measures.nodes, "B has {times} the nodes of A", self.width)

    def _inputs(self) -> Iterator[Line]:
        changes = self.comparison.input_changes
        if not changes:
            return
        yield from heading_lines("Inputs of the model")
        shown = changes if self.verbose else changes[:_INPUTS_SHOWN]
        for change in shown:
            where = f"subgraph {change.subgraph}, " if self.has_several_subgraphs else ""
            yield from self._paragraph(message(f"{where}{name(change.name)}: {_step(change)}"), "  ")
        yield from more_lines(len(changes) - len(shown), "input", "  ")

    def _section(
        self, title: str, nodes: Sequence[ComparedNode], statements: Callable[[ComparedNode], tuple[_Statement, ...]]
    ) -> Iterator[Line]:
        if not nodes:
            return
        groups: dict[tuple[_Statement, ...], _ComparisonGroup] = {}
        for node in nodes:
            stated = statements(node)
            group = groups.setdefault(stated, _ComparisonGroup(stated, {}))
            group.variants.setdefault((node.subgraph, node.op, self._found(node)), []).append(node)
        yield from heading_lines(f"{title}: {counted(len(nodes), 'node')}")
        ordered = sorted(groups.values(), key=lambda group: -group.size)
        shown = ordered if self.verbose else ordered[:_GROUPS_SHOWN]
        for group in shown:
            yield from self._group(group)
        yield from more_lines(sum([group.size for group in ordered[len(shown) :]]), "node", "  ")

    def _same_reasons(self, title: str, nodes: Sequence[ComparedNode]) -> Iterator[Line]:
        """Yield the operators that stay on the CPU whatever the side, or all nodes with reasons if ``verbose``.

        If no side delegates a node, the other lines say that already.
        """
        if self.verbose:
            yield from self._section(title, nodes, lambda node: _reasons(node.b))
        elif nodes and (self.comparison.a.measures.is_delegated or self.comparison.b.measures.is_delegated):
            yield Line("")
            text = f"{title}: {counted(len(nodes), 'node')} (--verbose shows the reasons)"
            yield from paragraph(text, self.width, "", "  ", style=HEADING)
            yield from self._paragraph(operator_list([node.op for node in nodes], self.width), "  ")

    def _group(self, group: _ComparisonGroup) -> Iterator[Line]:
        for statement in group.statements:
            yield from self._paragraph(message(statement.text), "  ", CODE)
        for hint in dict.fromkeys([statement.hint for statement in group.statements]):
            yield from self._hint(hint, "    ")
        variants = sorted(group.variants.items(), key=lambda variant: -len(variant[1]))
        shown = variants if self.verbose else variants[:_VARIANTS_SHOWN]
        for (subgraph, op, detail), nodes in shown:
            yield from self._variant(subgraph, op, detail, nodes)
        yield from more_lines(sum([len(nodes) for _, nodes in variants[len(shown) :]]), "node", "    ")

    def _variant(self, subgraph: int, op: str, detail: str, nodes: Sequence[ComparedNode]) -> Iterator[Line]:
        where = f"subgraph {subgraph}, " if self.has_several_subgraphs else ""
        label = f", {name(nodes[0].name)}" if len(nodes) == 1 and nodes[0].name else ""
        text = f"{where}{name(op)}: {counted(len(nodes), 'node')} [{self._indices(nodes)}]{label}"
        yield from self._paragraph(f"{text}, {message(detail)}" if detail else text, "    ")
        changes = sorted(findings.changes_alike([change for node in nodes for change in node.changes]), key=len, reverse=True)
        shown = changes if self.verbose else changes[:_CHANGES_SHOWN]
        for members in shown:
            number = "" if len(members) == len(nodes) else f" ({counted(len(members), 'node')})"
            yield from self._paragraph(message(f"{members[0].what} {_step(members[0])}{number}"), "      ")
        yield from more_lines(sum([len(members) for members in changes[len(shown) :]]), "change", "      ")

    def _indices(self, nodes: Sequence[ComparedNode]) -> str:
        """Return the indices of nodes in B, and the indices in A if these differ from the indices in B.

        If only one side has the nodes, return the indices on this side. A hypothetical B has no file, so only indices in A count.
        """
        room = None if self.verbose else self.width // 3
        in_a = sorted([node.a.node for node in nodes if node.a is not None])
        in_b = sorted([node.b.node for node in nodes if node.b is not None])
        if not in_b or in_a == in_b or (self.assumed and in_a):
            return node_list(in_a, room)
        if self.assumed:
            return "added by the change"
        return f"{node_list(in_b, room)}; in A {node_list(in_a, room)}" if in_a else node_list(in_b, room)

    def _found(self, node: ComparedNode) -> str:
        """Join the ``found`` texts of a node that only one side refuses.

        Omit texts that repeat the operator's name or the refusal of a whole run.
        """
        states = [state for state in (node.a, node.b) if state is not None and state.reasons]
        if len(states) != 1:
            return ""
        details = dict.fromkeys([reason.found for reason in states[0].reasons])
        return "; ".join([text for text in details if text != node.op and text not in self.refusals])

    def _hint(self, hint: str, indent: str) -> Iterator[Line]:
        if hint and hint not in self.told_hints:
            self.told_hints.add(hint)
            yield from self._paragraph(message(f"hint: {hint}"), indent, HINT)

    def _paragraph(self, text: str, indent: str, style: str = "") -> list[Line]:
        return indented(text, self.width, indent, style)


def _fails_alike(run: Run, other: Run) -> bool:
    """Return whether both runs have the same log lines and the same refusal. The texts ``found`` and ``needed`` may differ."""
    mine, theirs = run.refusal, other.refusal
    if mine is None or theirs is None or run.log_lines != other.log_lines:
        return False
    return (mine.code, mine.subgraph, mine.node, mine.hint) == (theirs.code, theirs.subgraph, theirs.node, theirs.hint)


def _differing_options(side: Side, other: Side) -> str:
    """Return the options that differ between the sides, or all set options if the sides have different delegates."""
    is_same = side.run.delegate.name == other.run.delegate.name
    options = {
        key: value
        for key, value in side.run.options.items()
        if (value != other.run.options[key] if is_same else value not in (None, ()))
    }
    declared = side.run.delegate.options
    texts = [as_typed(declared, key, "" if value is None else option_value(value)) for key, value in options.items()]
    return f": {' '.join(texts)}" if texts else ""


def _rows(a: Side, b: Side) -> Iterator[tuple[str, str, str, str]]:
    old, new = a.measures, b.measures
    first, second = words_of(a.run.delegate.name), words_of(b.run.delegate.name)
    nodes = [share_cell(side.measures, side.measures.delegated_nodes, side.measures.nodes) for side in (a, b)]
    work = [share_cell(side.measures, side.compute.delegated_multiply_adds, side.compute.multiply_adds) for side in (a, b)]
    yield "outcome", outcome_text(old.outcome), outcome_text(new.outcome), ""
    yield _row("nodes", old.nodes, new.nodes)
    yield _row("delegated", old.delegated_nodes, new.delegated_nodes)
    yield "share delegated", nodes[0], nodes[1], ""
    yield "share of multiply-adds", work[0], work[1], ""
    yield _row(_either(first.left, second.left), old.fallback_nodes, new.fallback_nodes)
    if a.run.delegate.counts_cpu_partitions == b.run.delegate.counts_cpu_partitions:
        yield _row("partitions", old.partitions, new.partitions)
    yield _row(_either(first.kernels, second.kernels), old.delegate_kernels, new.delegate_kernels)
    yield from [_row(column.title, column.of(old), column.of(new)) for column in FURTHER]
    numbers = [(column.title, column.of(old), column.of(new)) for column in NUMBERS]
    yield from [_row(title, before, after) for title, before, after in numbers if before or after]
    yield _row("multiply-adds", a.compute.multiply_adds, b.compute.multiply_adds)
    yield _row("multiply-adds delegated", a.compute.delegated_multiply_adds, b.compute.delegated_multiply_adds)


def _either(first: str, second: str) -> str:
    return first if first == second else f"{first} / {second}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _row(title: str, a: int | None, b: int | None) -> tuple[str, str, str, str]:
    first, second = ["not known" if number is None else f"{number:,}" for number in (a, b)]
    return title, first, second, f"{b - a:+,}" if a is not None and b is not None and a != b else ""


def _reasons(state: State | None, place: str = "") -> tuple[_Statement, ...]:
    reasons = () if state is None else state.reasons
    if not reasons:
        return (_Statement(f"{place}the node is not offered to any delegate"),)
    return tuple([_Statement(f"{place}{reason.code}: needs {reason.needed}", reason.hint) for reason in reasons])


def _placed(state: State | None, words: OutcomeWords) -> tuple[_Statement, ...]:
    if state is None or state.place != CPU:
        return (_Statement(words.taken),)
    return tuple([replace(statement, text=f"{words.left}, {statement.text}") for statement in _reasons(state)])


def _bare(statements: tuple[_Statement, ...]) -> tuple[_Statement, ...]:
    return tuple([_Statement(stated.text) for stated in statements])


def _step(change: NodeChange) -> str:
    return f"{change.old or 'none'} -> {change.new or 'none'}"


def timed_entry(comparison: Comparison, timings: Sequence[Timing]) -> dict[str, Any]:
    """Return a comparison as plain data."""
    if timings:
        from delegate_sim.timing.fixes import timed_comparison

        comparison = timed_comparison(comparison, timings)
    return comparison.to_dict()


def timed_lines(comparison: Comparison, timings: Sequence[Timing], verbose: bool, words: str = "") -> Iterator[Line]:
    """Yield a comparison as text."""
    yield from compare_lines(comparison, width(), verbose, words)
    if timings:
        from delegate_sim.timing.fixes import ChangeTimes

        yield from change_lines(ChangeTimes(comparison, tuple(timings)), verbose)


def change_lines(times: ChangeTimes, verbose: bool) -> Iterator[Line]:
    """Yield the measured times of side A, and bounds on the time that the change to side B can save."""
    from .timing import bounds_lines, timing_lines

    yield from timing_lines(times.timings, [times.run], width(), verbose)
    yield from heading_lines("What the change from A to B can save")
    yield from bounds_lines(times.bounds, times.run.delegate.name, width(), "  ")

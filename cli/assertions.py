"""Assertions about the effect of a delegate on a model.

The message of a failed assertion has the result, the reason and the fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from delegate_sim.diagnosis.advice.node_advice import advised
from delegate_sim.model.schema import is_operator
from delegate_sim.refusal import Refusal
from delegate_sim.results.report.measures import TAKEN, Measures, measure
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.results.report.verdict import verdict
from delegate_sim.rules.rule import Reason
from delegate_sim.runtime.interpreter import Run

from .console.layout import counted, message, name, node_list, option_value, share

if TYPE_CHECKING:
    from typing_extensions import Self

_LOG_LINES_SHOWN = 5
_GROUPS_SHOWN = 20
_NODE_LIST_WIDTH = 80


class Analysis:
    """The result of applying one delegate to one model, with assertions.

    An assertion raises AssertionError or returns the analysis, so assertions can be chained. Every assertion also fails if the
    model does not run or if no node is delegated. Otherwise, a model without delegated nodes would pass a limit on partitions.
    """

    def __init__(self, report: Report, model_name: str) -> None:
        self.report: Report = report
        self.run: Run = report.runs[0]
        self.measures: Measures = measure(self.run)
        self._model_name = model_name

    def __repr__(self) -> str:
        return f"<{name(self._model_name)} on {self.run.delegate.name}: {_outcome(self.run, self.measures)}>"

    @property
    def log_lines(self) -> tuple[str, ...]:
        """The lines that the runtime logs."""
        return self.run.log_lines

    def assert_partitions(self, max: int) -> Self:
        """Fail if there are more than ``max`` partitions. Partitions on the CPU also count, as in the runtime's log."""
        __tracebackhide__ = True
        partitions = self.measures.partitions
        return self._expect(partitions <= max, f"{counted(partitions, 'partition')}, at most {max:,} allowed")

    def assert_delegate_kernels(self, max: int) -> Self:
        """Fail if there are more than ``max`` partitions that run on the delegate."""
        __tracebackhide__ = True
        kernels = self.measures.delegate_kernels
        return self._expect(kernels <= max, f"{counted(kernels, 'delegate kernel')}, at most {max:,} allowed")

    def assert_delegated(self, min_share: float = 1.0) -> Self:
        """Fail if less than ``min_share`` of the nodes run on the delegate. Raises ValueError if the share is not from 0 to 1."""
        __tracebackhide__ = True
        if not 0 <= min_share <= 1:
            raise ValueError(f"min_share must be a number from 0 to 1, not {min_share!r}")
        delegated, nodes = self.measures.delegated_nodes, self.measures.nodes
        result = f"{delegated:,} of {counted(nodes, 'node')} delegated ({share(delegated, nodes)})"
        return self._expect(self.measures.delegated_share >= min_share, f"{result}, at least {min_share * 100:g} % required")

    def assert_fallback(self, max: int | None = None, forbid: str | Sequence[str] = ()) -> Self:
        """Fail if more than ``max`` nodes, or any node of a forbidden operator, stay on the CPU.

        Without arguments, no node may stay on the CPU. Raises ValueError if a forbidden builtin operator does not exist. The
        names of custom operators are not checked.
        """
        __tracebackhide__ = True
        forbidden = (forbid,) if isinstance(forbid, str) else tuple(forbid)
        _check_operators(forbidden)
        fallback = self.measures.fallback_nodes
        limit = 0 if max is None and not forbidden else max
        if limit is not None:
            self._expect(fallback <= limit, f"{counted(fallback, 'node')} on the CPU, at most {limit:,} allowed")
        operators = {group.op for group in _fallback_groups(self.run)}
        wrong = [op for op in forbidden if op in operators]
        return self._expect(not wrong, f"{', '.join(map(name, wrong))} on the CPU, which is forbidden")

    def _expect(self, is_met: bool, otherwise: str) -> Self:
        __tracebackhide__ = True
        if self.run.refusal is not None or (self.measures.nodes and not self.measures.is_delegated):
            is_met, otherwise = False, _outcome(self.run, self.measures)
        if not is_met:
            heading = f"{name(self._model_name)} on {self.run.delegate.name}: {otherwise}"
            run = advised(self.report.model, self.run)
            raise AssertionError("\n".join([heading, *_details(self.report, run, self.measures)]))
        return self


def _check_operators(names: Sequence[str]) -> None:
    for op in names:
        if op.isupper() and not is_operator(op):
            raise ValueError(f"there is no operator {op!r}; 'delegate-sim rules' lists them")


def _outcome(run: Run, measures: Measures) -> str:
    if measures.outcome != TAKEN:
        return message(verdict(run, measures))
    nodes = f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')}"
    kernels = f"{counted(measures.delegate_kernels, 'delegate kernel')} and {counted(measures.partitions, 'partition')}"
    return f"{measures.outcome}, with {nodes} in {kernels}"


def _details(report: Report, run: Run, measures: Measures) -> Iterator[str]:
    if report.model.path is not None:
        yield f"  model: {message(report.model.path)}"
    options = [f"{key}={option_value(value)}" for key, value in run.options.items() if value not in (None, ())]
    yield f"  target: {message(' '.join([f'{run.delegate.name} on {run.release}:', *options]))}"
    for line in run.log_lines[:_LOG_LINES_SHOWN]:
        yield f"  log: {message(line)}"
    if len(run.log_lines) > _LOG_LINES_SHOWN:
        yield f"  ... and {counted(len(run.log_lines) - _LOG_LINES_SHOWN, 'more log line')}"
    yield f"  outcome: {_outcome(run, measures)}"
    if run.refusal is not None:
        yield f"  refusal: {message(f'{run.refusal.code}: {run.refusal.text}')}"
        yield from _hint(run.refusal, "    ")
    yield from _fallback(run, measures)


def _hint(reason: Reason | Refusal, indent: str) -> Iterator[str]:
    if reason.hint:
        yield f"{indent}hint: {message(reason.hint)}"


@dataclass
class _ReasonGroup:
    """Nodes of one operator that stay on the CPU for the same reasons. ``reasons`` are the reasons of the first node."""

    subgraph: int
    op: str
    reasons: tuple[Reason, ...]
    nodes: list[int]
    is_uniform: bool = True
    """Whether the reasons of all nodes are identical."""


def _fallback_groups(run: Run) -> list[_ReasonGroup]:
    groups: dict[tuple[object, ...], _ReasonGroup] = {}
    for subgraph, index, reasons in on_cpu(run):
        op = subgraph.graph.nodes[index].op
        demands = tuple((reason.code, reason.needed, reason.hint) for reason in reasons)
        place = subgraph.graph.index
        group = groups.setdefault((place, op, demands), _ReasonGroup(place, op, reasons, []))
        group.nodes.append(index)
        group.is_uniform &= reasons == group.reasons
    return sorted(groups.values(), key=lambda group: -len(group.nodes))


def _fallback(run: Run, measures: Measures) -> Iterator[str]:
    groups = _fallback_groups(run)
    if not groups:
        return
    yield f"  on the CPU: {counted(measures.fallback_nodes, 'node')}"
    for group in groups[:_GROUPS_SHOWN]:
        place = f"subgraph {group.subgraph}, " if len(run.subgraphs) > 1 else ""
        yield f"    {place}{name(group.op)}: {counted(len(group.nodes), 'node')} [{node_list(group.nodes, _NODE_LIST_WIDTH)}]"
        if not group.reasons:
            yield "      this subgraph is not offered to the delegate"
        for reason in group.reasons:
            others = "" if group.is_uniform else f" (node {group.nodes[0]}; similar for the other nodes)"
            yield f"      {message(f'{reason.code}: {reason.message}')}{others}"
            yield from _hint(reason, "      ")
    left_out = groups[_GROUPS_SHOWN:]
    if left_out:
        number = sum([len(group.nodes) for group in left_out])
        yield f"    ... and {counted(number, 'more node')} ('delegate-sim analyze --verbose' lists all)"

"""A finding: one problem with a model on a target, or one remark, with the location."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...foundation.columns import INTEGER, Column, Declared, attributes, within
from ...foundation.printable import and_list, counted, printable
from ...graph.reachability import WITH_WEIGHTS
from ...rules.rule import Reason
from ...runtime.interpreter import Run, SubgraphRun
from .blockers import Ranks
from .measures import NUMBERS, Measures
from .number_risks import NumberRisk, number_risks
from .placement import hints_of

ERROR, WARNING, NOTE = "error", "warning", "note"

FINDING = (
    *attributes("level", "code"),
    *within("location", [Column("subgraph", INTEGER), Column("node", INTEGER), *attributes("op", "name")]),
    *attributes("message", "hint"),
    Column("ignored", is_optional=True),
)
"""The columns of a finding."""


@dataclass(frozen=True, slots=True)
class Location(Declared):
    """The location of a finding: a node, a subgraph, or the whole model.

    ``name`` is the name of the node's first output tensor.
    """

    subgraph: int | None = None
    subgraph_name: str = ""
    node: int | None = None
    op: str = ""
    name: str = ""


WHOLE_MODEL = Location()


@dataclass(frozen=True, slots=True)
class Finding(Declared):
    """A problem or a remark.

    ``delegate-sim explain`` explains ``code``. ``level`` is ``error``, ``warning`` or ``note``. ``statement`` is one line. It
    may contain unescaped names from a model. For a finding about a node, ``node_name`` is the subject of a sentence, and
    ``statement`` is the predicate. For all other findings, ``node_name`` is empty. ``hint`` says what to do, and may be empty.
    """

    columns = FINDING

    code: str
    level: str
    statement: str
    hint: str = ""
    location: Location = WHOLE_MODEL
    node_name: str = ""
    change: str = ""
    """The change of the node since the baseline, as text. Empty if the node is unchanged, or if there is no baseline."""
    measured_ms: float | None = None
    """The CPU time of the node in an op profile, in milliseconds. None if the time is not known."""
    ignored: str | None = None
    """The reason for which the configuration of a check ignores the finding. None if the finding is not ignored."""
    rank: int = 0
    """The rank of the cause among the run's causes. The main blocker has rank 0."""

    @property
    def message(self) -> str:
        """The finding as a sentence. For a node, the sentence contains the node's name and change."""
        changed = f" (changed: {self.change})" if self.change else ""
        measured = measured_text([self])
        node = f"{self.node_name} {self.statement}{changed}{measured}" if self.node_name else self.statement
        return node + self.why_ignored

    @property
    def why_ignored(self) -> str:
        """The reason for which the finding is ignored, as the end of a message. Empty if the finding is not ignored."""
        return "" if self.ignored is None else f" (ignored: {self.ignored})"


def measured_text(findings: Sequence[Finding]) -> str:
    """Return the measured CPU time of the findings' nodes as text. The text is empty if no time is known."""
    times = [finding.measured_ms for finding in findings if finding.measured_ms is not None]
    if not times:
        return ""
    known = f" for {len(times):,} of the nodes" if len(times) < len(findings) else ""
    return f" (measured: {sum(times):,.3f} ms{known})"


def node_location(subgraph: SubgraphRun, index: int | None) -> Location:
    """Return the location of a node, or of the whole subgraph if the index is None."""
    graph = subgraph.graph
    if index is None:
        return Location(graph.index, graph.name)
    node = graph.nodes[index]
    output = next((tensor for tensor in node.outputs if tensor >= 0), None)
    name = "" if output is None else graph.tensors[output].name
    return Location(graph.index, graph.name, index, node.op, name)


def node_finding(
    code: str,
    level: str,
    outcome: str,
    subgraph: SubgraphRun,
    index: int,
    reasons: Sequence[Reason],
    change: str = "",
    ranks: Ranks | None = None,
) -> Finding:
    """Return a finding about a node.

    ``outcome`` says what happens to the node. The statement has the outcome, then the reasons. ``change`` says how the node
    changed since the baseline. ``ranks`` has the ranks of the run's causes.
    """
    place = node_location(subgraph, index)
    names = [f"node {index}", *([f"of subgraph {place.subgraph}"] if place.subgraph else [])]
    node = f"{place.op} ({' '.join(names)}{f', {place.name}' if place.name else ''})"
    why = "; ".join([reason.message for reason in reasons]) or "the node is not offered to any delegate"
    hint = "; ".join(dict.fromkeys([hint for reason in reasons for hint in hints_of(subgraph, index, reason) if hint]))
    rank = 0 if ranks is None else ranks.of(place.op, [reason.code for reason in reasons])
    return Finding(code, level, f"{outcome}: {why}", hint, place, node, change, rank=rank)


def missing_weights(variables: int) -> Finding:
    """Return the finding about a file that reads variables and assigns no value to them."""
    statement = f"the file reads {counted(variables, 'variable')} that no node assigns, so its weights are probably missing"
    return Finding("missing-weights", WARNING, statement, WITH_WEIGHTS)


_NODES_TOLD = 5


def risk_findings(run: Run) -> Iterator[Finding]:
    """Yield a warning for each node that computes wrongly, and a note for each node that may compute wrongly."""
    for risk in number_risks(run):
        level = WARNING if risk.is_certain else NOTE
        subgraph, refusal = run.subgraphs[risk.subgraph], risk.refusal
        if risk.node is None:
            yield Finding(refusal.code, level, refusal.message, refusal.hint, node_location(subgraph, None))
            continue
        reason = Reason(refusal.code, "numbers", refusal.message, "", "", refusal.hint)
        outcome = "computes wrong numbers" if risk.is_certain else "may compute wrong numbers"
        yield node_finding(refusal.code, level, outcome, subgraph, risk.node, [reason])


def risks_text(risks: Sequence[NumberRisk], link: str, whole: str = "them") -> str:
    """Return the rest of a sentence about the delegate, with ``link`` before it: what the delegate computes wrongly.

    ``whole`` names the delegated nodes. Return "" if nothing is known to be wrong.
    """
    places = {(risk.subgraph, risk.node): risk.op for risk in risks if risk.node is not None}
    certain = {(risk.subgraph, risk.node) for risk in risks if risk.is_certain}
    wrong = {place: op for place, op in places.items() if place in certain}
    possible = {place: op for place, op in places.items() if place not in certain}
    outputs = [risk for risk in risks if risk.node is None]
    unwritten = "does not write" if any(risk.is_certain for risk in outputs) else "may not write"
    parts = [
        *([f"computes {len(wrong):,} of {whole} wrongly: {_listed(wrong)}"] if wrong else []),
        *([f"{unwritten} {counted(len(outputs), 'output')}"] if outputs else []),
        *([f"may compute {len(possible):,} of {whole} wrongly: {_listed(possible)}"] if possible else []),
    ]
    return link + ", and ".join(parts) if parts else ""


def counts_text(measures: Measures, link: str) -> str:
    """Return ``link`` and the numbers of wrong and possibly wrong results, or "" if there are none."""
    parts = [counted(number, column.noun) for column in NUMBERS if (number := column.of(measures))]
    return link + and_list(parts) if parts else ""


def _listed(nodes: Mapping[tuple[int, int], str]) -> str:
    names = [f"{printable(op)} {f'{subgraph}:' if subgraph else ''}{node}" for (subgraph, node), op in nodes.items()]
    more = f" and {len(names) - _NODES_TOLD:,} more" if len(names) > _NODES_TOLD else ""
    return ", ".join(names[:_NODES_TOLD]) + more


def unchecked_numbers(run: Run) -> Sequence[str]:
    """Return the words for numbers that were not checked in the run's release, if there are risks."""
    return () if not number_risks(run) or run.delegate.numbers_are_checked(run.release) else ("the numbers",)

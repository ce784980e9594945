"""Several delegates side by side, as text: a table of operators, and the nodes that only some delegates take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from delegate_sim.results.compare.delegate_differences import Disagreement, disagreements, operator_rows
from delegate_sim.results.report.outcome_words import words_of
from delegate_sim.rules.rule import Reason
from delegate_sim.runtime.interpreter import Run
from delegate_sim.runtime.target import target_names

from ...console.layout import counted, cut, item_list, message, name, node_list
from ...console.terminal import Line
from ..elements.paragraphs import HEADING, more_lines, table

_OPERATORS_SHOWN = 30
_GROUPS_SHOWN = 20
_WIDEST_OPERATOR = 32
_OPERATORS_WIDTH = 40


def comparison_lines(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    """Return the table of operators and the nodes that only some delegates take."""
    yield Line("Side by side: nodes delegated", HEADING)
    yield from _table(runs, width, verbose)
    yield Line("")
    yield from _disagreements(runs, width, verbose)


def _table(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    rows = operator_rows(runs)
    totals = [sum(row.nodes for row in rows), *[sum(row.delegated[column] for row in rows) for column in range(len(runs))]]
    shown = rows if verbose else rows[:_OPERATORS_SHOWN]
    cells = [("operator", "nodes", *target_names([run.target for run in runs]))]
    cells += [
        (cut(name(row.op), _WIDEST_OPERATOR), f"{row.nodes:,}", *(f"{count:,}" for count in row.delegated)) for row in shown
    ]
    cells.append(("all", *(f"{count:,}" for count in totals)))
    yield from table(cells, range(1, len(runs) + 2), width)
    yield from more_lines(len(rows) - len(shown), "operator")


def _disagreements(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    results = disagreements(runs)
    if not results:
        yield Line("The delegates agree on every node.")
        return
    yield Line(f"The delegates disagree on {counted(len(results), 'node')}", HEADING)
    groups: dict[tuple[int, tuple[str, ...]], list[Disagreement]] = {}
    for result in results:
        words = tuple(_state(reasons, run) for reasons, run in zip(result.reasons, runs, strict=True))
        groups.setdefault((result.subgraph, words), []).append(result)
    several = len(runs[0].subgraphs) > 1
    labels = target_names([run.target for run in runs])
    shown = list(groups.items()) if verbose else list(groups.items())[:_GROUPS_SHOWN]
    for (subgraph, words), members in shown:
        where = f"subgraph {subgraph}, " if several else ""
        nodes = node_list([member.node.index for member in members], None if verbose else width // 2)
        yield Line(f"  {where}{_operators(members, verbose)}: {counted(len(members), 'node')} [{nodes}]")
        states = [(label, message(state)) for label, state in zip(labels, words, strict=True)]
        yield from table(states, (), width, indent=4)
    yield from more_lines(len(groups) - len(shown), "group", after=" of nodes")


def _operators(members: Sequence[Disagreement], verbose: bool) -> str:
    """Return the operators of a group of nodes. If there are several operators, each has its number of nodes."""
    counts = Counter([member.node.op for member in members]).most_common()
    if len(counts) == 1:
        return name(counts[0][0])
    return item_list([f"{name(op)} {count:,}" for op, count in counts], None if verbose else _OPERATORS_WIDTH)


def _state(reasons: tuple[Reason, ...] | None, run: Run) -> str:
    if reasons is None:
        return "delegated"
    return "; ".join(f"{reason.code}: {reason.message}" for reason in reasons) or words_of(run.delegate.name).left

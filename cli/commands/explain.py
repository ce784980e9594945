"""``delegate-sim explain``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from delegate_sim.apps.manifest import CODES as APP
from delegate_sim.delegates.ahead_of_time import EXPLAINED as VELA
from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.errors import LimitError
from delegate_sim.foundation.printable import printable, suggestion
from delegate_sim.micro.target import EXPLAINED as MICRO
from delegate_sim.results.report.rule_set import rule_changes
from delegate_sim.rules.kinds import RUNTIME_KINDS, Explanation, Explanations
from delegate_sim.rules.rule import Source
from delegate_sim.versions.explanation import FEATURES

from ..codes import explanations, shared_sources
from ..console.output_file import FileCommand, Outputs
from ..console.terminal import Line, result_options, width, write_result
from ..options.shared import complete_codes
from ..text.elements.paragraphs import paragraph, table
from ..text.rules import when

if TYPE_CHECKING:
    from delegate_sim.device.parse.log_summary import ExplainedLog

_EPILOG = """\b
Examples:
  delegate-sim explain nnapi-missing-bias
  delegate-sim explain partition-limit
  delegate-sim explain
  delegate-sim explain --log device.txt
"""

_OF_THE_RUNTIME = frozenset(kind.name for kind in RUNTIME_KINDS)


@click.command("explain", cls=FileCommand, epilog=_EPILOG)
@click.argument("code", required=False, shell_complete=complete_codes)
@click.option(
    "--log",
    "log",
    metavar="FILE",
    type=click.Path(readable=False),
    help="Explain a device's log instead of a code: the outcome of each delegate, counts and errors.",
)
@click.option("--run", "number", metavar="N", type=click.IntRange(min=1), help="Explain only run N of the log, counted from 1.")
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show the log lines that were not used.")
def command(code: str | None, log: str | None, number: int | None, outputs: Outputs, verbose: bool) -> None:
    """Explain a CODE from a report: its meaning, what to do, and the operators that can have this code.

    Without CODE, list all codes and their titles. With --log, summarize a device's log. No model is needed.
    """
    if log is not None:
        if code is not None:
            raise click.UsageError("give a CODE or --log, not both")
        from ..text.device.log import summary_lines

        explained = _explained_log(log, number)
        write_result(outputs, explained.to_dict, lambda: summary_lines(explained, width(), verbose))
        return
    if number is not None:
        raise click.UsageError("--run needs --log")
    delegates = tuple(map(find_delegate, DELEGATE_NAMES))
    known = explanations(delegates)
    if code is None:
        titles = [(code, known[code].title) for code in sorted(known)]
        write_result(outputs, Explanations(known).to_dict, lambda: table(titles, (), width(), indent=0))
    elif code in known:
        single = Explanations({code: known[code]})
        write_result(outputs, single.to_dict, lambda: _explanation(code, known[code], delegates, width()))
    else:
        near = suggestion(code, known) or "; `delegate-sim rules --delegate NAME` lists the codes of a delegate"
        raise click.ClickException(f"there is no code {code}{near}")


def _explained_log(path: str, number: int | None) -> ExplainedLog:
    from delegate_sim.device.parse.log import read_runs_file
    from delegate_sim.device.parse.log_contents import LogError
    from delegate_sim.device.parse.log_runs import chosen_run, separate_runs
    from delegate_sim.device.parse.log_summary import ExplainedLog, summary_of

    logs = read_runs_file(path)
    try:
        runs = separate_runs(logs)
        chosen = runs if number is None else (chosen_run(runs, number),)
        return ExplainedLog(path, tuple(map(summary_of, chosen)))
    except LimitError as error:
        raise LogError(printable(f"{path}: {error.reason}")) from error


def _explanation(code: str, explanation: Explanation, delegates: tuple[Delegate, ...], columns: int) -> Iterator[Line]:
    yield Line(f"{code}: {explanation.title}", "bold")
    yield Line("")
    yield from paragraph(explanation.meaning, columns)
    yield Line("")
    yield from paragraph(f"What to do: {explanation.advice}", columns, style="cyan")
    yield Line("")
    if code in FEATURES:
        yield Line("A feature that raises the version of an operator.")
    elif code in MICRO:
        yield Line("Reported about TensorFlow Lite Micro.")
    elif code in APP:
        yield Line("Reported about Android applications.")
    elif code in VELA:
        yield Line("Reported about Arm's compiler Vela.")
    elif code in _OF_THE_RUNTIME or not any(code in delegate.kinds for delegate in delegates):
        yield Line("Applies to every delegate.")
        return
    for delegate in delegates:
        if code in delegate.kinds:
            yield from _use(code, delegate, columns)


def _use(code: str, delegate: Delegate, columns: int) -> Iterator[Line]:
    """Yield a delegate's conditions that have this code, each with operators and upstream sources."""
    yield Line(f"Delegate {delegate.name}", "bold")
    operators: dict[str, list[str]] = {}
    places: list[tuple[Source, str]] = []
    for op, rule in sorted(delegate.rules.rules.items()):
        for check in rule.checks:
            if delegate.rules.code_of(check.kind) == code:
                condition = when(check)
                operators.setdefault(f"{check.demand} ({condition})" if condition else check.demand, []).append(op)
                places.append((delegate.rules.source_of(check, rule), op))
    for needed, ops in operators.items():
        yield from paragraph(f"needs {needed}", columns, "  ", "    ")
        yield from paragraph(", ".join(dict.fromkeys(ops)), columns, "      ")
    if not operators:
        yield Line("  for any operator")
    for source in shared_sources(places):
        yield from paragraph(f"source: {source}", columns, "  ", "    ")
    yield from _history(code, delegate, columns)


def _history(code: str, delegate: Delegate, columns: int) -> Iterator[Line]:
    ops_by_change: dict[str, list[str]] = {}
    for change in rule_changes(delegate):
        for sign, checks in (("-", change.dropped), ("+", change.added)):
            for check in checks:
                if delegate.rules.code_of(check.kind) == code:
                    ops_by_change.setdefault(f"{change.release}: {sign} needs {check.demand}", []).append(change.op)
    if ops_by_change:
        yield Line("  changes in releases of the runtime:")
    for words, ops in ops_by_change.items():
        yield from paragraph(f"{words}: {', '.join(dict.fromkeys(ops))}", columns, "    ", "      ")

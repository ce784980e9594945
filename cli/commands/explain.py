"""``delegate-sim explain``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.diagnosis.problems import SUGGESTIONS
from delegate_sim.gate.explanations import GATE
from delegate_sim.results.rule_changes import rule_changes
from delegate_sim.rules.explanations import SHARED
from delegate_sim.rules.rule import Explanation
from delegate_sim.versions.features import FEATURES

from ..layout import wrapped
from ..suggestions import suggestion
from ..terminal import Line, width, write_lines
from ..text.rules import when

_EPILOG = """\b
Examples:
  delegate-sim explain nnapi-missing-bias
  delegate-sim explain partition-limit
  delegate-sim explain
"""


@click.command("explain", epilog=_EPILOG)
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain a CODE of a report: what it means, what to do about it, and which operators it concerns.

    Without CODE, all codes are listed with their titles.
    """
    delegates = tuple(map(find_delegate, DELEGATE_NAMES))
    known = explanations(delegates)
    if code is None:
        write_lines(_list(known))
    elif code in known:
        write_lines(_explanation(code, known[code], delegates, width()))
    else:
        raise click.ClickException(f"there is no code {code}{suggestion(code, known)}")


def explanations(delegates: tuple[Delegate, ...]) -> dict[str, Explanation]:
    """Return what stands behind every code that a report can have."""
    known = {**SHARED, **GATE, **FEATURES, **_suggestions()}
    for delegate in delegates:
        known.update(delegate.explanations)
    return known


def _suggestions() -> dict[str, Explanation]:
    """Return the kinds of change that a diagnosis suggests, as explanations."""
    return {
        code: Explanation(suggestion.title, "A change that delegate-sim diagnose suggests.", suggestion.change)
        for code, suggestion in SUGGESTIONS.items()
    }


def _list(known: Mapping[str, Explanation]) -> Iterator[Line]:
    longest = max(map(len, known))
    for code in sorted(known):
        yield Line(f"{code.ljust(longest)}  {known[code].title}")


def _explanation(code: str, explanation: Explanation, delegates: tuple[Delegate, ...], columns: int) -> Iterator[Line]:
    yield Line(f"{code}: {explanation.title}", "bold")
    yield Line("")
    yield from map(Line, wrapped(explanation.meaning, columns))
    yield Line("")
    yield from (Line(line, "cyan") for line in wrapped(f"What to do: {explanation.advice}", columns))
    yield Line("")
    if code in FEATURES:
        yield Line("A feature that raises the version of operators.")
    elif not any(code in delegate.explanations for delegate in delegates):
        yield Line("Concerns every delegate.")
    for delegate in delegates:
        if code in delegate.explanations:
            yield from _use(code, delegate, columns)


def _use(code: str, delegate: Delegate, columns: int) -> Iterator[Line]:
    """Name a delegate, and what it demands of which operators."""
    yield Line(f"Delegate {delegate.name}", "bold")
    operators: dict[str, list[str]] = {}
    for op, rule in sorted(delegate.rules.items()):
        for check in rule.checks:
            if check.code == code:
                condition = when(check)
                operators.setdefault(f"{check.needed} ({condition})" if condition else check.needed, []).append(op)
    for needed, ops in operators.items():
        yield from map(Line, wrapped(f"needs {needed}", columns, "  ", "    "))
        yield from map(Line, wrapped(", ".join(dict.fromkeys(ops)), columns, "      "))
    if not operators:
        yield Line("  whatever the operator")
    yield from _history(code, delegate, columns)


def _history(code: str, delegate: Delegate, columns: int) -> Iterator[Line]:
    """List what releases of the runtime changed in conditions of this code."""
    found: dict[str, list[str]] = {}
    for change in rule_changes(delegate):
        for sign, checks in (("-", change.gone), ("+", change.come)):
            for check in checks:
                if check.code == code:
                    found.setdefault(f"{change.release}: {sign} needs {check.needed}", []).append(change.op)
    if found:
        yield Line("  changed by releases of the runtime:")
    for words, ops in found.items():
        yield from map(Line, wrapped(f"{words}: {', '.join(dict.fromkeys(ops))}", columns, "    ", "      "))

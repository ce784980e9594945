"""A reason that stops several targets, said once, and the command that mends it with its simulated result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.diagnosis.advice.commands import fix_command
from delegate_sim.diagnosis.advice.plain_fix import search_fix
from delegate_sim.foundation.printable import and_list, printable
from delegate_sim.graph.effort import Effort
from delegate_sim.model.model import Model
from delegate_sim.results.report.blockers import has_open_input
from delegate_sim.results.report.verdict import subject
from delegate_sim.rules.kinds import DYNAMIC_TENSORS
from delegate_sim.runtime.interpreter import REFUSED, Run

from ...console.layout import counted
from ...console.terminal import Line
from ..elements.paragraphs import paragraph

_FEWEST = 2


def shared_refusal_lines(model: Model, runs: Sequence[Run], width: int) -> Iterator[Line]:
    """Yield a paragraph for each refusal of the whole graph that several delegates share."""
    by_code: dict[str, list[Run]] = {}
    for run in runs:
        if run.outcome == REFUSED and run.is_prepared and run.is_loaded and run.refusal is not None:
            by_code.setdefault(run.refusal.code, []).append(run)
    for code, stopped in by_code.items():
        if len(stopped) < _FEWEST:
            continue
        current = sorted(stopped, key=lambda run: bool(run.delegate.deprecated))
        names = and_list([run.delegate.name for run in current])
        title = current[0].delegate.kinds[code].title
        yield from paragraph(f"{counted(len(current), 'target')} do not start: {title} ({names})", width, "", "  ")
        if code == DYNAMIC_TENSORS.name and has_open_input(model):
            yield from _fix_lines(model, current[0], width)


def _fix_lines(model: Model, run: Run, width: int) -> Iterator[Line]:
    """Yield the command that fixes the sizes of inputs, and its simulated result for a target."""
    fix = search_fix(model, [run.target], Effort(model))
    if fix.plan is not None and fix.arguments:
        yield from paragraph(f"  with fixed sizes, {subject(run.target)}: {fix.result}", width, "", "    ")
        yield Line(f"    {printable(fix_command(model, run.target, *fix.arguments))}")

"""A reason that stops several targets, said once, and the command that mends it with its simulated result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.diagnosis.advice.plain_fix import shared_refusals
from delegate_sim.foundation.printable import and_list, printable
from delegate_sim.model.model import Model
from delegate_sim.results.report.verdict import subject
from delegate_sim.runtime.interpreter import Run

from ...console.layout import counted
from ...console.terminal import Line
from ..elements.paragraphs import paragraph


def shared_refusal_lines(model: Model, runs: Sequence[Run], width: int) -> Iterator[Line]:
    """Yield a paragraph for each refusal of the whole graph that several delegates share."""
    for shared in shared_refusals(model, runs):
        names = and_list([run.delegate.name for run in shared.runs])
        yield from paragraph(f"{counted(len(shared.runs), 'target')} do not start: {shared.title} ({names})", width, "", "  ")
        if shared.fix is not None:
            result = f"  with fixed sizes, {subject(shared.fix.run.target)}: {shared.fix.fix.result}"
            yield from paragraph(result, width, "", "    ")
            yield Line(f"    {printable(shared.fix.command)}")

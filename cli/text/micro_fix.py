"""The result of ``fix --micro`` as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.fixing.fix import Fixed
from delegate_sim.fixing.micro_search import MicroFixPlan
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.micro.report import MicroReport
from delegate_sim.micro.verdict import micro_verdict

from ..console.terminal import Line
from .elements.paragraphs import HEADING, heading_lines, indented, paragraph
from .fix import answer_text, proof_lines, step_lines

_TAKEN = "the runtime takes all nodes"


def micro_fix_lines(plan: MicroFixPlan, fixed: Fixed | None, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a fix: the verdicts on both models, the passes, and the differences between the outputs."""
    yield from paragraph(micro_verdict(plan.reports[0]), width, "", "  ", style=HEADING)
    yield from paragraph(answer_text(plan, fixed, _hint(plan), _TAKEN), width, style=HEADING)
    if plan.is_changed:
        yield Line("")
        yield from paragraph(f"Rewritten: {micro_verdict(plan.reports[-1])}", width, "", "  ")
        yield from heading_lines("Passes")
        for number, (step, report) in enumerate(zip(plan.steps, plan.reports[1:], strict=True), 1):
            yield from step_lines(number, step, width)
            yield from indented(_numbers(report), width, "     ")
    yield from proof_lines(plan, fixed, width, verbose)


def _numbers(report: MicroReport) -> str:
    if report.runs and report.arena is not None:
        return f"the model runs, with an arena of about {report.arena.total:,} bytes"
    return f"refused: {len(report.refused):,} of {len(report.nodes):,} nodes"


def _hint(plan: MicroFixPlan) -> str:
    if plan.allowed < Exactness.APPROXIMATE:
        return "--allow approximate tries more passes; delegate-sim diagnose --micro shows what is refused"
    return "delegate-sim diagnose --micro shows what is refused"

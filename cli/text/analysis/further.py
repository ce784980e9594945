"""Further steps after ``analyze``: the commands that explain and rewrite the model, and the result with the API's defaults."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.diagnosis.advice.commands import diagnose_command, fix_plan_command
from delegate_sim.foundation.printable import printable
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.results.compare.api_defaults import api_defaults_text
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run

from ...console.terminal import Line
from ..elements.paragraphs import HINT

_DIAGNOSE = "What each cause costs, and what to change:"
_FIX = "Whether fix, which rewrites the file, helps:"


def command_lines(report: Report, run: Run) -> Iterator[Line]:
    """Yield the ``diagnose`` and ``fix`` commands for a run with nodes on the CPU.

    The result of ``fix`` is not simulated here, because that takes as long as the analysis. The commands are not wrapped, so that
    they can be copied.
    """
    yield Line("")
    for title, command in ((_DIAGNOSE, diagnose_command), (_FIX, fix_plan_command)):
        yield Line(title, HINT)
        yield Line(f"  {printable(command(report.model, run.target))}", HINT)


def further_notes(report: Report, run: Run, cache: AnalysisCache) -> Iterator[str]:
    """Yield the result with the API's defaults if this result differs from the run, and the commands for nodes on the CPU."""
    is_alone = not report.is_chain or len([other for other in report.runs if not other.by_default]) == 1
    text = api_defaults_text(report.model, run, cache) if is_alone else ""
    if text:
        yield text
    if any(True for _ in on_cpu(run)):
        yield f"{_DIAGNOSE} {diagnose_command(report.model, run.target)}"
        yield f"{_FIX} {fix_plan_command(report.model, run.target)}"

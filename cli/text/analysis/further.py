"""The last lines of ``analyze``: the command that explains the nodes on the CPU, and the result with other defaults."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.diagnosis.advice.plain_fix import diagnose_command
from delegate_sim.foundation.printable import printable
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.results.compare.api_defaults import api_defaults_text
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run

from ...console.terminal import Line

_HINT = "cyan"
_DIAGNOSE = "What each cause costs, and what to change:"


def command_lines(report: Report, run: Run) -> Iterator[Line]:
    """Yield the ``diagnose`` command for a run with nodes on the CPU. The command is not wrapped, so that it can be copied."""
    yield Line("")
    yield Line(_DIAGNOSE, _HINT)
    yield Line(f"  {printable(diagnose_command(report.model, run.target))}", _HINT)


def further_notes(report: Report, run: Run, cache: AnalysisCache, *, is_single: bool) -> Iterator[str]:
    """Yield the result with the API's defaults if it differs, and the ``diagnose`` command for a run with nodes on the CPU."""
    text = "" if report.is_chain and not is_single else api_defaults_text(report.model, run, cache, len(report.runs))
    if text:
        yield text
    if is_single and any(True for _ in on_cpu(run)):
        yield f"{_DIAGNOSE} {diagnose_command(report.model, run.target)}"

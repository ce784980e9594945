"""The last lines of ``analyze``: commands that explain and rewrite the model, and the result with other defaults."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.diagnosis.advice.plain_fix import PlainFix, diagnose_command, fix_command, plain_fix
from delegate_sim.foundation.printable import printable
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.effort import Effort
from delegate_sim.results.compare.api_defaults import api_defaults_text
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run

from ...console.terminal import Line
from ..elements.paragraphs import paragraph

_HINT = "cyan"


def command_lines(report: Report, run: Run, width: int, *, names_fix: bool) -> Iterator[Line]:
    """Yield the ``diagnose`` command for a run with nodes on the CPU, and the ``fix`` command with its result if it helps.

    The commands are not wrapped, so that they can be copied.
    """
    yield Line("")
    yield Line("What each cause costs, and what to change:", _HINT)
    yield Line(f"  {printable(diagnose_command(report.model, run.target))}", _HINT)
    plain = _fix(report, run) if names_fix else None
    if plain is not None:
        yield from paragraph(_introduction(plain), width, "", "  ", style=_HINT)
        yield Line(f"  {printable(fix_command(report.model, run.target, *plain.arguments))}", _HINT)


def further_notes(report: Report, run: Run, cache: AnalysisCache, *, names_fix: bool) -> Iterator[str]:
    """Yield the result with the API's defaults if it differs, and the ``fix`` command with its result if it helps."""
    text = "" if report.is_chain and not names_fix else api_defaults_text(report.model, run, cache, len(report.runs))
    if text:
        yield text
    plain = _fix(report, run) if names_fix and any(True for _ in on_cpu(run)) else None
    if plain is not None:
        yield f"{_introduction(plain)} {fix_command(report.model, run.target, *plain.arguments)}"


def _fix(report: Report, run: Run) -> PlainFix | None:
    return plain_fix(report.model, run.target, Effort(report.model))


def _introduction(plain: PlainFix) -> str:
    return f"Rewrite the file without a new conversion ({plain.result}):"

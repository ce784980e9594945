"""The result of a delegate with the defaults of the delegate's API, as text."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.graph.effort import Effort
from delegate_sim.results.compare.api_defaults import api_defaults_text
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run

from ...console.terminal import Line
from ..elements.paragraphs import paragraph
from .view import View


def api_lines(report: Report, run: Run, view: View, *, label: str = "", effort: Effort | None = None) -> Iterator[Line]:
    """Yield a sentence if the result with the defaults of the delegate's API differs from ``run``.

    ``label`` is the name of the target among several targets. ``effort`` limits the simulations of all runs of a report together.
    """
    text = api_defaults_text(report.model, run, view.cache, len(report.runs), effort) if view.names_commands else ""
    if text:
        yield from paragraph(f"{label}: {text}" if label else text, view.width, "", "  ")

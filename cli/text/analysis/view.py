"""Display settings that the texts of ``analyze`` share."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.model.model import Model
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run

MANY = 4
"""From this number of models on, the text is a table, unless the view is verbose."""


class View(NamedTuple):
    """The width and the amount of detail of a text."""

    width: int
    verbose: bool
    names_commands: bool = False
    """Whether the text names further commands, and the result with the defaults of the delegate's API."""
    names_devices: bool = False
    """Whether the user named devices, or kinds of devices."""
    cache: AnalysisCache | None = None
    """The cache of the model's simulations."""


AnyReport = TypeVar("AnyReport", bound=Report)


def with_adviser(report: AnyReport, cache: AnalysisCache | None = None) -> AnyReport:
    """Return a report that computes the advice of a diagnosis on request (``advised_runs``)."""
    return replace(report, adviser=partial(_advised, cache))


def _advised(cache: AnalysisCache | None, model: Model, run: Run, is_alone: bool) -> Run:
    if not any(True for _ in on_cpu(run)):
        return run
    from delegate_sim.diagnosis.advice.node_advice import advised  # not needed if everything is delegated

    return advised(model, run, is_alone, cache=cache)

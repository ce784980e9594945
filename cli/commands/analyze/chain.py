"""``delegate-sim analyze --chain``: apply delegates one after another. The runtime's default delegate is the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, find_delegate
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.model.model import Model
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import simulate_chain
from delegate_sim.runtime.target import Target

from .analysis import AnalysisJob, report_lines


def chain(targets: Sequence[Target], *, applies_default: bool, names_fixes: bool) -> AnalysisJob:
    """Return the analysis of delegates that are applied one after another."""
    return AnalysisJob(targets, partial(_report, targets, applies_default), report_lines, names_fixes)


def _report(targets: Sequence[Target], applies_default: bool, model: Model, cache: AnalysisCache) -> Report:
    by_default = partial(_default_target, targets[0]) if applies_default else None
    return Report(model, simulate_chain(model, targets, by_default, cache=cache), is_chain=True)


def _default_target(target: Target) -> Target:
    """Return the target of the delegate that the runtime applies by default, with the release of ``target``.

    This function is only called if nodes remain for the default delegate, because importing the rules of this delegate takes
    time.
    """
    delegate = find_delegate(APPLIED_BY_DEFAULT)
    return replace(target, delegate=delegate, options=parse_options(delegate.name, delegate.options, {}), defaults="api")

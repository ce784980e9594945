"""Compare a target's result with the result for the API's defaults."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from ...delegates.options import as_typed, option_value
from ...foundation.printable import counted
from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...model.model import Model
from ...runtime.interpreter import Run, simulate
from ...runtime.target import Target
from ..report.measures import TAKEN, measure, outcome_text

_LEFT = 24
"""Number of simulations that must be left for the model, because the commands that ask also simulate causes and fixes."""


def api_target(target: Target) -> Target | None:
    """Return the target with the API's defaults, or None if no option changes."""
    if target.defaults == "api":
        return None
    options = {
        option.name: option.default if target.options[option.name] == option.default_in(target.defaults) else value
        for option in target.delegate.options
        for value in (target.options[option.name],)
    }
    return None if options == target.options else replace(target, options=MappingProxyType(options), defaults="api")


def api_defaults_text(model: Model, run: Run, cache: AnalysisCache | None = None) -> str:
    """Return a sentence if the API's defaults give another result than the run. Otherwise, return an empty string."""
    target = api_target(run.target)
    if target is None:
        return ""
    effort = Effort(model)
    if effort.left < _LEFT * target.effort:
        return f"The result with the API's defaults is not simulated: {effort.reason}"
    measures = measure(simulate(model, target, cache=cache))
    if measures == measure(run):
        return ""
    of_all = f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')}"
    kernels = f" in {counted(measures.delegate_kernels, 'kernel')}"
    result = f"{of_all}{kernels}" if measures.outcome == TAKEN else outcome_text(measures.outcome)
    return f"An application that uses the API's defaults ({_changed(run, target)}): {result} (see --defaults api)"


def _changed(run: Run, target: Target) -> str:
    """Return a text with the API's values of the options that have another value in the run."""
    changed = {name: value for name, value in target.options.items() if value != run.options[name]}
    return ", ".join(
        [
            counted(value, "partition")
            if name == target.delegate.limits.option
            else as_typed(target.delegate.options, name, "" if value in (None, ()) else option_value(value))
            for name, value in changed.items()
        ]
    )

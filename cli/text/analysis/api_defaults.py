"""The result of a delegate with the defaults of the delegate's API, as text."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.delegates.options import as_typed
from delegate_sim.graph.effort import Effort, EffortQuestion
from delegate_sim.results.report.measures import TAKEN, measure, outcome_text
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run, simulate
from delegate_sim.runtime.target import Target

from ...console.layout import counted, default_text
from ...console.terminal import Line
from ..elements.paragraphs import paragraph
from .view import View

_SIMULATIONS = 8
"""The time for simulating a delegate with both sets of defaults and for writing the text, as a number of simulations."""


def api_lines(report: Report, run: Run, view: View, *, is_named: bool = False) -> Iterator[Line]:
    """Yield a sentence if the result with the defaults of the delegate's API differs from ``run``.

    ``is_named`` adds the delegate's name.
    """
    target = view.api_targets.get(run.delegate.name)
    if target is None:
        return
    left_out = Effort(report.model).refusal(EffortQuestion("a second simulation", _SIMULATIONS * len(report.runs)))
    if left_out:
        yield from paragraph(f"The result with the API's defaults is not simulated: {left_out}", view.width, "", "  ")
        return
    measures = measure(simulate(report.model, target, cache=view.cache))
    if measures == measure(run):
        return
    of_all = f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')}"
    kernels = f" in {counted(measures.delegate_kernels, 'kernel')}"
    result = f"{of_all}{kernels}" if measures.outcome == TAKEN else outcome_text(measures.outcome)
    name = f"{run.delegate.name}: " if is_named else ""
    text = f"{name}An application that uses the API's defaults ({_changed(run, target)}): {result} (see --defaults api)"
    yield from paragraph(text, view.width, "", "  ")


def _changed(run: Run, target: Target) -> str:
    """Return a text with the options for which the value in the run differs from the API's default.

    The text has the API's values.
    """
    changed = {name: value for name, value in target.options.items() if value != run.options[name]}
    return ", ".join(
        [
            counted(value, "partition")
            if name == target.delegate.limits.option
            else as_typed(target.delegate.options, name, default_text(value))
            for name, value in changed.items()
        ]
    )

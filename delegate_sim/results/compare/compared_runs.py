"""Simulate the sides of a comparison. A side is a model on a target, with or without a hypothetical change."""

from __future__ import annotations

from dataclasses import replace

from ...graph.effort import COMPARISON, Effort
from ...hypothetical.hypothetical_changes import HypotheticalChanges, changed, simulate_changed
from ...model.model import Model
from ...runtime.interpreter import simulate
from ...runtime.target import Target
from .comparison import Side


def simulated_side(model: Model, target: Target) -> Side:
    """Simulate a model on a target. Raises LimitError if the model is too large for a comparison."""
    Effort(model).require(COMPARISON, target.effort)
    return Side(model, simulate(model, target))


def hypothetical_side(model: Model, target: Target, hypothetical: HypotheticalChanges) -> Side:
    """Simulate a model with a hypothetical change on a target.

    Raises OptionError if the change cannot be made. Raises LimitError if the changed model is too large for a comparison.
    """
    change = changed(model, hypothetical, target.release)
    Effort(change.model).require(COMPARISON, target.effort)
    run = simulate_changed(change, target, hypothetical)
    run = run if run.refusal is None else replace(run, refusal=change.in_file(run.refusal))
    return Side(change.model, run, change.origins)

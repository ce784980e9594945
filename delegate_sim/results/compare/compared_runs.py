"""Simulate the two sides of a comparison: a model on a target, as it is or with a hypothetical change."""

from __future__ import annotations

from dataclasses import replace

from ...hypothetical.hypothetical_changes import Supposition, changed_model, simulate_if
from ...model.model import Model
from ...runtime.interpreter import Assumptions, simulate
from ...runtime.target import Target
from .comparison import Side


def simulated_side(model: Model, target: Target) -> Side:
    """Apply a target's delegate to a model."""
    assumptions = Assumptions(has_own_resolver=target.has_own_resolver)
    run = simulate(model, target.delegate, target.options, target.release, target.defaults, assumptions)
    return Side(model, run, target.defaults)


def supposed_side(model: Model, target: Target, supposition: Supposition) -> Side:
    """Apply a target's delegate to a model under a supposition; raises OptionError for what the model does not have."""
    if target.has_own_resolver:
        supposition = replace(supposition, has_own_resolver=True)
    run = simulate_if(model, target.delegate, target.options, target.release, target.defaults, supposition)
    return Side(changed_model(model, supposition, target.release), run, target.defaults)

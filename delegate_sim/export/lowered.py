"""The models that a delegate builds for its backend, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..delegates.driver import LoweredModel
from ..foundation.columns import LIST, OBJECT, Column, Declared
from ..graph.graph import Graph
from ..model.model import Model
from ..results.report.tables import run_columns
from ..runtime.interpreter import simulate
from ..runtime.target import Target


@dataclass(frozen=True, slots=True)
class Lowered(Declared):
    """The models that a delegate builds from the partitions of a model."""

    document = "lowered"
    columns = (Column("model", OBJECT), *run_columns("delegate", "runtime", "options"), Column("models", LIST))

    model: Model
    target: Target
    models: tuple[LoweredModel, ...]


def lowered(model: Model, graphs: Sequence[Graph], target: Target) -> Lowered:
    """Apply a delegate to a model, and return the models that the delegate builds for its backend."""
    run = simulate(model, target)
    decisions = [run.subgraphs[graph.index].decision for graph in graphs]
    built = [
        built
        for decision in decisions
        if decision is not None and decision.findings is not None
        for built in target.delegate.behind.lowered(decision, target.options, target.release)
    ]
    return Lowered(model, target, tuple(built))

"""The picture of the arena of TensorFlow Lite Micro, as plain data."""

from __future__ import annotations

from typing import Any

from ..micro.delegate import application_of
from ..micro.report import analyze
from ..micro.resolver import resolver_lines
from ..model.model import Model
from ..runtime.target import Target
from .graph_tables import short_name

_MOST_BUFFERS = 2000
"""Largest number of buffers in the picture of an arena."""


def arena_entry(model: Model, target: Target) -> dict[str, Any] | None:
    """Return the columns of a table of buffers, and the lines of the resolver for the model. None if there is no arena.

    If there are too many buffers, return only the buffers with the largest products of size and lifetime.
    """
    report = analyze(model, application_of(target))
    arena = report.arena
    if arena is None:
        return None
    buffers = sorted(arena.buffers, key=lambda placed: -placed.area)[:_MOST_BUFFERS]
    return {
        "resolver": list(resolver_lines(report.operators, report.variables)),
        "head": arena.head,
        "tail": arena.tail,
        "total": arena.total,
        "left_out": len(arena.buffers) - len(buffers),
        "name": [short_name(placed.buffer.name) for placed in buffers],
        "bytes": [placed.buffer.requirement.size for placed in buffers],
        "offset": [placed.offset for placed in buffers],
        "first": [placed.buffer.requirement.first for placed in buffers],
        "last": [placed.buffer.requirement.last for placed in buffers],
        "scratch": [placed.buffer.tensor is None for placed in buffers],
    }

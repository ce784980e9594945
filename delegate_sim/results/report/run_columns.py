"""Columns of models, targets and outcomes that several results share."""

from __future__ import annotations

from ...delegates.base import Delegate
from ...delegates.traits import Ranking
from ...foundation.columns import INTEGER, LIST, OBJECT, TEXT, YES_OR_NO, Column, attributes, by_key, group, within
from ...runtime.run import option_values
from .measures import MEASURES, awaits_compiler, measure
from .multiply_adds import COMPUTE, has_programs
from .rule_set import rule_set_version

SELECTED = "selected"


def selected_state(delegate: Delegate) -> str | None:
    """Return the state of nodes that the delegate only selects, or None if it runs the nodes that it takes."""
    return SELECTED if delegate.ranking is Ranking.PLUGINS else None


MODEL = Column("model", OBJECT, "the model file", parts=attributes("path", "sha256"))
"""The column of a model, with the path and the digest of the file."""
NOT_SIMULATED = Column(
    "not_simulated", LIST, "what a limit left out", source=lambda own: own.not_simulated or None, is_optional=True
)
TIMES = Column("time", LIST, "the measured times of each op profile", source=lambda own: own.times or None, is_optional=True)
TIME = Column("time", OBJECT, "the measured times", source="times", is_optional=True)
STATE = (
    Column("state", source=lambda run: selected_state(run.target.delegate), is_optional=True),
    Column(
        "effective_feature_level",
        INTEGER,
        "the feature level that follows from the options",
        source=lambda run: run.target.delegate.behind.level(run.target.options),
        is_optional=True,
    ),
    Column("warnings", LIST, "warnings about the run"),
)
"""The columns that qualify an outcome, of a result with ``target`` and ``warnings``.

``state`` says that nodes are only selected.
"""
COMPILATION = (
    Column(
        "awaits_compiler",
        TEXT,
        "the compiler that must compile the model before the delegate takes nodes",
        source=lambda run: run.delegate.compiler if awaits_compiler(run.delegate, measure(run)) else None,
        is_optional=True,
    ),
    Column(
        "has_programs",
        YES_OR_NO,
        "true if nodes contain compiled programs; the multiply-adds of the model are then not known",
        source=lambda run: has_programs(run) or None,
        is_optional=True,
    ),
)
"""The columns of a run that say what a compiler did, or must do first."""
_RUN = by_key(
    (
        Column("delegate", TEXT, "the name of the delegate", source="target.delegate.name"),
        Column("runtime", TEXT, "the release of the runtime", source="target.release.name"),
        Column("defaults", TEXT, "the set of defaults", source="target.defaults"),
        Column("options", OBJECT, "the values of all options", source=lambda run: option_values(run.target.options)),
        Column("rule_set", TEXT, "the version of the delegate's rules", source=lambda run: rule_set_version(run.target.delegate)),
    )
)

COST = (*within("measures", MEASURES), *attributes("multiply_adds", "total_multiply_adds", type=INTEGER))
"""The columns of a result that has ``measures``, and multiply-adds of delegated nodes and of all nodes."""

MEASURED = group("measures", *within("measures", MEASURES), *within("compute", COMPUTE))
"""The measures and multiply-adds of a result, as one object."""


def run_columns(*keys: str) -> tuple[Column, ...]:
    """Return columns of a result that has a ``target``: ``delegate``, ``runtime``, ``defaults``, ``options`` and ``rule_set``."""
    return tuple([_RUN[key] for key in keys])

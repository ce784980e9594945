"""The result of ``fix`` as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..foundation.columns import INTEGER, LIST, OBJECT, Column, attributes, entry, head, within
from ..inference.difference import Difference
from ..results.report.tables import NOT_SIMULATED, STATE, run_columns
from .descent import FixStep, Trial
from .passes.base import EXACTNESS
from .score import Standing
from .search import Conflict, FixPlan

if TYPE_CHECKING:
    from ..results.report.display import Times
    from .fix import Fixed


class _Moved(NamedTuple):
    before: Standing
    after: Standing


_TARGET = (
    *(*within("before", run_columns("delegate", "runtime", "options")), *within("after", STATE)),
    *[Column(side, OBJECT, parts=Standing.columns) for side in ("before", "after")],
)
_SPLIT = (
    Column("written", source="fixed.second_path"),
    Column("operators", LIST, source=lambda own: [node.custom_code or node.op for node in own.plan.split.nodes]),
    Column("between", LIST, source="plan.split.between", parts=(*attributes("name", "type"), Column("shape", LIST))),
)


class _Fix(NamedTuple):
    plan: FixPlan
    fixed: Fixed | None
    times: Sequence[Times] | None = None


FIX = (
    *(Column("model", source="plan.model.path"), Column("written", source="fixed.path")),
    *within("plan", [Column("allowed", source="allowed.key"), EXACTNESS, Column("shapes", LIST, source="shape_entries")]),
    Column("targets", LIST, source=lambda own: map(_Moved, own.plan.before, own.plan.after), parts=_TARGET),
    Column("time", LIST, source="times", is_optional=True),
    Column("passes", LIST, source="plan.steps", parts=FixStep.columns),
    Column("not_kept", LIST, source="plan.rejected", parts=Trial.columns),
    Column("conflicts", LIST, source="plan.conflicts", parts=Conflict.columns),
    Column("with_shapes", OBJECT, source="plan.with_shapes", parts=[Column("shapes", source="shape_entries"), Column("after")]),
    *within("plan", [Column("simulations", INTEGER), NOT_SIMULATED]),
    Column("unread_bytes", INTEGER, source=lambda own: own.fixed.unread_bytes if own.fixed and own.fixed.path else None),
    Column("split", OBJECT, source=lambda own: own if own.plan.split else None, parts=_SPLIT),
    Column("difference", OBJECT, source="fixed.difference", parts=Difference.columns),
)
"""The columns of a fix."""


def fix_document(plan: FixPlan, fixed: Fixed | None, times: Sequence[Times] | None = None) -> dict[str, Any]:
    """Return the result of a fix as plain data (schema ``delegate-sim/fix/3``)."""
    return {**head("fix"), **entry(FIX, _Fix(plan, fixed, times))}


def fixes_document(
    path: str, results: Sequence[tuple[FixPlan, Fixed | None]], times: Sequence[Sequence[Times] | None]
) -> dict[str, Any]:
    """Return fixes for single targets as plain data (schema ``delegate-sim/fix-per-target/1``)."""
    fixes = [fix_document(plan, fixed, own) for (plan, fixed), own in zip(results, times, strict=True)]
    return {**head("fix-per-target"), "model": path, "fixes": fixes}

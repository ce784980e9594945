"""The result of ``fix`` as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..foundation.documents import schema_of
from ..results.report.outcome_words import state_entry
from ..runtime.interpreter import option_values
from ..version import __version__
from .score import Standing
from .search import FixPlan

if TYPE_CHECKING:
    from ..results.report.display import Times
    from .bundle_fix import BundlePlan, FixedBundle
    from .fix import Fixed


def fix_document(plan: FixPlan, fixed: Fixed | None, times: Sequence[Times] | None = None) -> dict[str, Any]:
    """Return the result of a fix as plain data (schema ``delegate-sim/fix/3``)."""
    return {
        **_head("fix"),
        "model": plan.model.path,
        "written": None if fixed is None else fixed.path,
        "allowed": plan.allowed.name.lower(),
        "exactness": plan.exactness.name.lower(),
        "shapes": plan.shape_entries,
        "targets": [
            {
                "delegate": before.target.delegate.name,
                "runtime": str(before.target.release),
                "options": option_values(before.target.options),
                **state_entry(after.delegate, after.target.options, after.warnings),
                "before": before.to_dict(),
                "after": after.to_dict(),
            }
            for before, after in zip(plan.before, plan.after, strict=True)
        ],
        **({} if times is None else {"time": _dicts(times)}),
        "passes": [
            {
                "name": step.name,
                "exactness": step.exactness.name.lower(),
                "holds_for": step.holds_for,
                "nodes": step.nodes,
                "after": _dicts(step.standings),
            }
            for step in plan.steps
        ],
        "not_kept": [
            {"name": trial.name, "exactness": trial.exactness.name.lower(), "is_worse": trial.is_worse} for trial in plan.rejected
        ],
        "conflicts": [
            {
                "delegate": conflict.alone.target.delegate.name,
                "alone": conflict.alone.to_dict(),
                "losing": [{"delegate": lost.target.delegate.name, "after": lost.to_dict()} for lost in conflict.losing],
            }
            for conflict in plan.conflicts
        ],
        "with_shapes": None
        if plan.with_shapes is None
        else {"shapes": plan.with_shapes.shape_entries, "after": _dicts(plan.with_shapes.after)},
        "simulations": plan.simulations,
        **({"not_simulated": list(plan.not_simulated)} if plan.not_simulated else {}),
        "unread_bytes": None if fixed is None or fixed.path is None else fixed.unread_bytes,
        "split": _split_entry(plan, fixed),
        "difference": None if fixed is None or fixed.difference is None else fixed.difference.to_dict(),
    }


def fixes_document(
    path: str, results: Sequence[tuple[FixPlan, Fixed | None]], times: Sequence[Sequence[Times] | None]
) -> dict[str, Any]:
    """Return fixes for single targets as plain data (schema ``delegate-sim/fix-per-target/1``)."""
    fixes = [fix_document(plan, fixed, own) for (plan, fixed), own in zip(results, times, strict=True)]
    return {**_head("fix-per-target"), "model": path, "fixes": fixes}


def bundle_fix_document(plan: BundlePlan, fixed: FixedBundle | None) -> dict[str, Any]:
    """Return the result for a bundle as plain data (schema ``delegate-sim/fix-bundle/1``)."""
    models = {} if fixed is None else fixed.models
    changes = () if fixed is None else fixed.engine
    return {
        **_head("fix-bundle"),
        "bundle": plan.path,
        "written": None if fixed is None else fixed.path,
        "sections": [
            {
                "number": section.number,
                "name": section.name,
                "is_changed": section.is_changed,
                "problem": section.problem or None,
                "fix": None if section.plan is None else fix_document(section.plan, models.get(section.number)),
            }
            for section in plan.sections
        ],
        "engine": [
            {"backend": change.backend, "before": change.before.to_dict(), "after": change.after.to_dict()} for change in changes
        ],
    }


def _split_entry(plan: FixPlan, fixed: Fixed | None) -> dict[str, Any] | None:
    if plan.split is None:
        return None
    return {
        "written": None if fixed is None else fixed.second_path,
        "operators": [node.custom_code or node.op for node in plan.split.nodes],
        "between": [{"name": tensor.name, "type": tensor.type, "shape": list(tensor.shape)} for tensor in plan.split.between],
    }


def _head(document: str) -> dict[str, Any]:
    return {"schema": schema_of(document), "delegate_sim": __version__}


def _dicts(results: Sequence[Standing | Times]) -> list[dict[str, Any]]:
    return [result.to_dict() for result in results]

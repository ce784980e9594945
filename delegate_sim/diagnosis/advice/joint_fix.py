"""The simulated result of ``delegate-sim fix`` for several targets of one model: one file that improves all targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...fixing.search import FixPlan
from ..diagnosis import Diagnosis
from .commands import joint_fix_command
from .plain_fix import search_fix, shape_arguments

_MOST_TARGETS = 4
"""Largest number of targets for which a common file is searched."""


@dataclass(frozen=True, slots=True)
class JointFix:
    """The result of ``delegate-sim fix`` for several targets, if the user does not choose passes.

    If the result is not known, ``plan`` is None and ``unknown`` is the reason.
    """

    plan: FixPlan | None
    command: str
    per_target_command: str = ""
    """The command that writes a file for each target."""
    unknown: str = ""


def joint_fix(diagnoses: Sequence[Diagnosis]) -> JointFix | None:
    """Search for the passes that ``delegate-sim fix`` applies to one model for all targets of its diagnoses.

    Return None if no rewrite improves the result on any target, if custom operators are not registered, or if no command line
    describes the targets.
    """
    model, targets = diagnoses[0].model, [diagnosis.target for diagnosis in diagnoses]
    if not 2 <= len(targets) <= _MOST_TARGETS or any(diagnosis.model is not model for diagnosis in diagnoses):
        return None
    # Without registered operators, fix cannot run the model to compare the outputs.
    if not any(diagnosis.findings for diagnosis in diagnoses) or any(diagnosis.lacks_operators for diagnosis in diagnoses):
        return None
    command = joint_fix_command(model, targets)
    if not command:
        return None
    plans = [search.searched for diagnosis in diagnoses if (search := diagnosis.known_fix_search) is not None]
    known = [other for plan in plans if plan is not None for other in (plan, plan.with_shapes) if other is not None]
    searched = search_fix(model, targets, diagnoses[0].effort, known)
    plan = searched.plan or searched.searched
    if plan is None:
        return JointFix(None, command, unknown=searched.unknown) if searched.unknown else None
    if not (plan.is_changed or plan.conflicts):
        return None
    shapes = shape_arguments(plan)
    return JointFix(plan, joint_fix_command(model, targets, *shapes), joint_fix_command(model, targets, *shapes, "--per-target"))

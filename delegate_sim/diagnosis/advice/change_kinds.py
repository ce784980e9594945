"""Map each kind of problem to the kind of change that solves the problem."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass

from ...rules.kinds import Problem


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A kind of change: its code, a short description, and instructions."""

    code: str
    title: str
    change: str


SUGGESTIONS: Mapping[str, Suggestion] = {
    code: Suggestion(code, **texts)
    for code, texts in json.loads(pkgutil.get_data(__package__, "change_kinds.json") or b"").items()
}
"""All kinds of change, keyed by code. The texts are in ``change_kinds.json``."""

SUGGESTION_FOR: Mapping[Problem, str] = {
    Problem.DYNAMIC_SHAPE: "fix-shapes",
    Problem.OPERATOR_VERSION: "lower-version",
    Problem.OPERATOR: "replace-operator",
    Problem.TARGET_LEVEL: "raise-target-level",
    Problem.DRIVER: "avoid-operation",
    Problem.RANK: "change-rank",
    Problem.TYPE: "change-type",
    Problem.QUANTIZATION: "change-quantization",
    Problem.CONSTANT: "change-constant",
    Problem.OPERANDS: "complete-operands",
    Problem.SHAPE: "change-shape",
    Problem.ATTRIBUTE: "change-attribute",
    Problem.LIMIT: "raise-limit",
    Problem.NEIGHBORS: "replace-operator",
    Problem.MODEL: "repair-node",
    Problem.RELEASE: "other-release",
}
"""The code of the change, keyed by kind of problem.

If a feature raised an operator's version, the code is ``change-converter-setting`` instead.
"""

OF_RUNTIME = "runtime"
"""The ``kind`` of a reason that concerns the whole graph."""

"""Failures to build the delegate's own model of a partition: problem codes and wording."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...model.model import Tensor
from ...refusal import Refused
from ...rules.kinds import kinds_in
from .. import decision

KINDS = kinds_in("delegates/gpu", "failures", is_shared=True)
"""The kind of each failure, by its code."""


def build_error(code: str, tensor: Tensor | None = None, node: int | None = None, **values: Any) -> Refused:
    """Return the exception for a failed step of the build. ``values`` fill the placeholders of its message."""
    return Refused(decision.kernel_failure(KINDS, code, node, tensor, **values))


def predicted_error(code: str, node: int | None = None, **values: Any) -> Refused:
    """Return the exception for a step after the build that is predicted to fail."""
    return Refused(replace(build_error(code, None, node, **values).refusal, is_predicted=True))

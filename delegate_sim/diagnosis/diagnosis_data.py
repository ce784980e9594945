"""A diagnosis as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..runtime.interpreter import option_values
from ..version import __version__

if TYPE_CHECKING:
    from ..fixing.passes.base import Pass
    from .diagnose import Cost, Diagnosis, RankedCause

SCHEMA = "delegate-sim/diagnosis/1"


def diagnosis_entry(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as plain data (schema ``delegate-sim/diagnosis/1``)."""
    target = diagnosis.target
    return {
        "schema": SCHEMA,
        "tool": {"name": "delegate-sim", "version": __version__},
        "model": {"path": diagnosis.model.path, "sha256": diagnosis.model.sha256},
        "delegate": target.delegate.name,
        "options": option_values(target.options),
        "runtime": str(target.release),
        "defaults": target.defaults,
        "log_lines": list(diagnosis.run.log_lines),
        "multiply_adds": diagnosis.total_multiply_adds,
        "now": _cost_entry(diagnosis.now),
        "nodes_beyond_limit": diagnosis.limited,
        "causes": [_finding_entry(finding, diagnosis.pass_for(finding)) for finding in diagnosis.findings],
        "without_all": _cost_entry(diagnosis.without_all),
    }


def _finding_entry(finding: RankedCause, fix: Pass | None) -> Mapping[str, Any]:
    cause = finding.cause
    return {
        "name": cause.name,
        "problem": cause.identity.problem.value,
        "title": cause.title,
        "codes": list(cause.codes),
        "operators": dict(cause.operators),
        "nodes": [key._asdict() for key in cause.nodes],
        "found": cause.found,
        "needed": cause.needed,
        "versions_without": [{**key._asdict(), "version": version} for key, version in cause.node_versions.items()],
        "suggestion": {"code": cause.suggestion, "change": cause.change},
        "fix": None if fix is None else {"pass": fix.name, "exactness": fix.exactness.name.lower()},
        "multiply_adds": finding.multiply_adds,
        "alone": None if finding.alone is None else _cost_entry(finding.alone),
        "together": None if finding.together is None else _cost_entry(finding.together),
        "needs": _needs_entry(finding),
        "following_nodes": [key._asdict() for key in finding.followers],
    }


def _needs_entry(finding: RankedCause) -> list[str] | None:
    """Return the names of the other causes that must go too; None if the end of this one brings nothing even then."""
    if finding.needs is None:
        return None
    return [":".join([identity.problem.value, *identity.subject]) for identity in finding.needs]


def _cost_entry(cost: Cost) -> dict[str, Any]:
    return {**asdict(cost.measures), "multiply_adds": cost.multiply_adds, "total_multiply_adds": cost.total_multiply_adds}

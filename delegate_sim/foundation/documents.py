"""The documents that delegate-sim writes, and the versions of their schemas.

``docs/stability.md`` says when a version changes.
"""

from __future__ import annotations

from typing import Any

from ..version import __version__

VERSIONS = {
    "baseline": 2,
    "bundle": 1,
    "check": 2,
    "compare": 2,
    "devices": 1,
    "diagnosis": 2,
    "diff": 2,
    "doctor": 1,
    "driver": 1,
    "engine": 1,
    "explanations": 1,
    "fix": 3,
    "fix-bundle": 1,
    "fix-per-target": 1,
    "inspect": 1,
    "live-difference": 1,
    "log": 1,
    "lowered": 1,
    "micro": 1,
    "micro-diagnosis": 1,
    "micro-fix": 1,
    "page": 1,
    "reconcile": 1,
    "reconcile-accelerators": 1,
    "reconcile-compiler": 1,
    "releases": 2,
    "report": 1,
    "rule-changes": 2,
    "rules": 2,
    "search": 2,
    "sweep": 3,
    "times": 1,
    "unpacked-bundle": 1,
    "unpacked-task": 1,
}
"""The version of each document's schema."""


def schema_of(document: str, version: int | None = None) -> str:
    """Return the value of the key ``schema`` in a document of the current or of another version.

    >>> schema_of("report")
    'delegate-sim/report/1'
    """
    return f"delegate-sim/{document}/{version or VERSIONS[document]}"


def head(document: str) -> dict[str, Any]:
    """Return the first entries of a document: the schema, and the version of this tool."""
    return {"schema": schema_of(document), "tool": {"name": "delegate-sim", "version": __version__}}

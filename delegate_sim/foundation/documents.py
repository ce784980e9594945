"""The documents that delegate-sim writes, and the versions of their schemas.

``docs/stability.md`` says when a version changes.
"""

from __future__ import annotations

from typing import Any

from ..version import __version__

SCHEMAS = (
    "delegate-sim/baseline/2",
    "delegate-sim/bundle/1",
    "delegate-sim/check/2",
    "delegate-sim/compare/2",
    "delegate-sim/devices/1",
    "delegate-sim/diagnosis/2",
    "delegate-sim/diff/2",
    "delegate-sim/doctor/1",
    "delegate-sim/driver/1",
    "delegate-sim/engine/1",
    "delegate-sim/explanations/1",
    "delegate-sim/fix/3",
    "delegate-sim/fix-bundle/1",
    "delegate-sim/fix-per-target/1",
    "delegate-sim/inspect/1",
    "delegate-sim/live-difference/1",
    "delegate-sim/log/1",
    "delegate-sim/lowered/1",
    "delegate-sim/micro/1",
    "delegate-sim/micro-diagnosis/1",
    "delegate-sim/micro-fix/1",
    "delegate-sim/page/1",
    "delegate-sim/reconcile/1",
    "delegate-sim/reconcile-accelerators/1",
    "delegate-sim/reconcile-compiler/1",
    "delegate-sim/releases/2",
    "delegate-sim/report/1",
    "delegate-sim/rule-changes/2",
    "delegate-sim/rules/2",
    "delegate-sim/search/2",
    "delegate-sim/sweep/3",
    "delegate-sim/times/1",
    "delegate-sim/unpacked-bundle/1",
    "delegate-sim/unpacked-task/1",
)
"""The schemas of all documents: the tool, the name of the document, and the version of its schema."""
_VERSION_KEYS = {
    **dict.fromkeys(("diff", "fix", "fix-bundle", "fix-per-target", "micro-diagnosis", "micro-fix"), "delegate_sim"),
    **dict.fromkeys(("engine", "micro", "page"), "version"),
    **dict.fromkeys(("bundle", "explanations", "log"), ""),
}
"""The key of this tool's version in documents without the key ``tool``. Empty for documents without a version."""
_BY_NAME = {schema.split("/")[1]: schema for schema in SCHEMAS}


def schema_of(document: str) -> str:
    """Return the value of the key ``schema`` in a document.

    >>> schema_of("report")
    'delegate-sim/report/1'
    """
    return _BY_NAME[document]


def head(document: str) -> dict[str, Any]:
    """Return the first entries of a document: the schema, and the version of this tool."""
    schema, key = {"schema": schema_of(document)}, _VERSION_KEYS.get(document)
    if key is None:
        return {**schema, "tool": {"name": "delegate-sim", "version": __version__}}
    return {**schema, key: __version__} if key else schema

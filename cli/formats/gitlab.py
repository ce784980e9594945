"""Results as a Code Quality report of GitLab."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from delegate_sim.gate.results import Case, Results
from delegate_sim.results.findings import ERROR, NOTE, WARNING, Finding

from ..layout import message, name
from .common import identified_findings, repository_path

_SEVERITIES = {ERROR: "major", WARNING: "minor", NOTE: "info"}


def render(results: Results) -> str:
    """Return an array with an entry for each finding."""
    used: set[str] = set()
    entries = []
    for case, finding, fingerprint in identified_findings(results):
        unique = fingerprint
        # The same model may be given twice.
        while unique in used:
            unique = hashlib.sha256(unique.encode("ascii")).hexdigest()[: len(fingerprint)]
        used.add(unique)
        entries.append(_entry(case, finding, unique))
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _entry(case: Case, finding: Finding, fingerprint: str) -> dict[str, Any]:
    hint = f". What to do: {message(finding.hint)}" if finding.hint else ""
    return {
        "description": f"{name(case.target)}: {message(finding.message)}{hint}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.level],
        "location": {"path": repository_path(case), "lines": {"begin": 1}},
    }

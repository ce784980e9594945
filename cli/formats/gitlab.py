"""Results as a Code Quality report of GitLab."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from delegate_sim.gate.results import Results
from delegate_sim.results.report.findings import ERROR, NOTE, WARNING

from ..console.layout import name
from .common import Group, grouped_findings, repository_path

_SEVERITIES = {ERROR: "major", WARNING: "minor", NOTE: "info"}


def render(results: Results) -> str:
    """Return an array with an entry for each group of findings."""
    used: set[str] = set()
    entries = []
    for group in grouped_findings(results):
        unique = group.fingerprint
        # If a model is given twice, its findings have equal fingerprints.
        while unique in used:
            unique = hashlib.sha256(unique.encode("ascii")).hexdigest()[: len(group.fingerprint)]
        used.add(unique)
        entries.append(_entry(group, unique))
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _entry(group: Group, fingerprint: str) -> dict[str, Any]:
    hint = f". What to do: {group.hint}" if group.hint else ""
    return {
        "description": f"{name(group.case.target)}: {group.text}{hint}",
        "check_name": group.first.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[group.first.level],
        "location": {"path": repository_path(group.case), "lines": {"begin": 1}},
    }

"""Results as a Code Quality report of GitLab."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from delegate_sim.gate.results import Case, Results
from delegate_sim.results.report.findings import ERROR, NOTE, WARNING

from ..console.layout import message, name
from .common import Group, grouped_findings, repository_path

_UNCHECKED = "unchecked-release"
"""The name of the check that finds releases that were not checked."""
_SEVERITIES = {ERROR: "major", WARNING: "minor", NOTE: "info"}


def render(results: Results) -> str:
    """Return an array with an entry for each unchecked release of a case, and for each group of findings."""
    entries = [_unchecked_entry(case, said) for case in results.cases if (said := case.unchecked)]
    entries += [_entry(group) for group in grouped_findings(results)]
    used: set[str] = set()
    for entry in entries:
        # If a model is given twice, its findings have equal fingerprints.
        while (unique := entry["fingerprint"]) in used:
            entry["fingerprint"] = hashlib.sha256(unique.encode("ascii")).hexdigest()[: len(unique)]
        used.add(unique)
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _unchecked_entry(case: Case, said: str) -> dict[str, Any]:
    identity = "\0".join([case.model, case.target, _UNCHECKED])
    return {
        "description": f"{name(case.target)}: {message(said)}",
        "check_name": _UNCHECKED,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32],
        "severity": _SEVERITIES[NOTE],
        "location": {"path": repository_path(case), "lines": {"begin": 1}},
    }


def _entry(group: Group) -> dict[str, Any]:
    hint = f". What to do: {group.hint}" if group.hint else ""
    return {
        "description": f"{name(group.case.target)}: {group.text}{hint}",
        "check_name": group.first.code,
        "fingerprint": group.fingerprint,
        "severity": _SEVERITIES[group.first.level],
        "location": {"path": repository_path(group.case), "lines": {"begin": 1}},
    }

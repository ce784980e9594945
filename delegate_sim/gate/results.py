"""What a command found, as data that every output format is made from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .changes import NodeChange
from .measures import Measures

ERROR, WARNING, NOTE = "error", "warning", "note"

PASSED = "passed"
BETTER = "better"
"""Passed, and better than the baseline says."""
FAILED = "failed"
UNREADABLE = "unreadable"
"""The model cannot be read, so that nothing is known of it."""


class Location(NamedTuple):
    """A node, or without one the model as a whole. ``name`` is that of the node's first output tensor."""

    subgraph: int | None = None
    subgraph_name: str = ""
    node: int | None = None
    op: str = ""
    name: str = ""


WHOLE_MODEL = Location()


class Finding(NamedTuple):
    """One thing that is wrong, or worth knowing.

    ``code`` is one that ``delegate-sim explain`` knows; ``level`` is ``error``, ``warning`` or ``note``; ``message`` is one
    line that may hold names from a model as they are; ``hint`` says what to do and may be empty.
    """

    code: str
    level: str
    message: str
    hint: str = ""
    location: Location = WHOLE_MODEL


@dataclass(frozen=True)
class Case:
    """One model on one target.

    ``model`` names the model in a baseline, ``path`` is how it is reached from the working directory. ``measures`` is None
    where there is nothing to measure: the model cannot be read, or is gone. ``baseline`` is None without an entry, and always
    in an analysis.
    """

    model: str
    path: str
    target: str
    delegate: str
    runtime: str
    options: Mapping[str, Any]
    status: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What else is to be said: better than the baseline, changed options or rules."""
    measures: Measures | None = None
    baseline: Measures | None = None
    changes: tuple[NodeChange, ...] = ()
    """What changed in the model since the baseline, node by node."""
    log_lines: tuple[str, ...] = ()
    sha256: str = ""
    rule_set: str = ""


@dataclass(frozen=True)
class Results:
    """All cases of one call of a command: ``analyze`` or ``check``."""

    command: str
    cases: tuple[Case, ...]

    @property
    def findings(self) -> list[tuple[Case, Finding]]:
        """Every finding with its case: errors first, then warnings, then notes."""
        found = [(case, finding) for case in self.cases for finding in case.findings]
        return sorted(found, key=lambda pair: (ERROR, WARNING, NOTE).index(pair[1].level))

    def count(self, status: str) -> int:
        """Return how many cases have a status."""
        return sum(case.status == status for case in self.cases)


def fingerprints(case: Case) -> Sequence[str]:
    """Return, for each finding of a case, a digest that stays the same when nodes are renumbered or wording changes.

    It is made of model, target, code, operator and tensor name; equal ones are told apart by their order.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for finding in case.findings:
        place = finding.location
        key = (case.model, case.target, finding.code, str(place.subgraph), place.op, place.name)
        digest = hashlib.sha256("\0".join([*key, str(seen[key])]).encode("utf-8", "backslashreplace")).hexdigest()
        seen[key] += 1
        found.append(digest[:32])
    return found

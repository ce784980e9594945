"""Findings that the configuration ignores, each with a reason: ``[[ignore]]``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ..results.report.findings import ERROR, NOTE, Finding
from .configuration_table import ConfigurationProblem, ConfigurationTable, parse_patterns, parse_targets, parse_text
from .results import FAILED, PASSED, Case


@dataclass(frozen=True, slots=True)
class Ignored:
    """A code whose findings do not fail a check, and the reason.

    ``models`` has patterns of models, or is None for all models. ``targets`` has names of targets, or is None for all targets.
    """

    code: str
    reason: str
    models: tuple[str, ...] | None = None
    targets: frozenset[str] | None = None


def read_ignored(table: ConfigurationTable, targets: Collection[str]) -> Ignored:
    """Read a table ``[[ignore]]``. Raises ConfigurationProblem."""
    code, reason = table.take("code", parse_text), table.take("reason", parse_text)
    for key, value in (("code", code), ("reason", reason)):
        if value is None:
            raise ConfigurationProblem(table.key, f"has no {key}; give the code of the findings, and the reason to ignore them")
    models = table.take("models", parse_patterns)
    chosen = table.take("targets", lambda value: parse_targets(value, targets))
    table.finish()
    return Ignored(code, reason, models, None if chosen is None else frozenset(chosen))


def without_ignored(
    cases: Iterable[Case], rows: Sequence[Ignored], group_of: Callable[[str], str], matches: Callable[[str, Sequence[str]], bool]
) -> list[Case]:
    """Return the cases with ignored findings as notes. A case passes if no other finding is an error.

    ``group_of`` returns the name that the configuration gives to a target. ``matches`` tells whether a model has a pattern.
    """
    return [_without(case, [row for row in rows if _concerns(row, case, group_of, matches)]) for case in cases]


def _concerns(row: Ignored, case: Case, group_of: Callable[[str], str], matches: Callable[[str, Sequence[str]], bool]) -> bool:
    is_target = row.targets is None or not row.targets.isdisjoint((case.target, group_of(case.target)))
    return is_target and (row.models is None or matches(case.model, row.models))


def _without(case: Case, rows: Sequence[Ignored]) -> Case:
    reasons = {row.code: row.reason for row in rows}
    if reasons.keys().isdisjoint(finding.code for finding in case.findings):
        return case
    findings = tuple([_ignored(finding, reasons) for finding in case.findings])
    fails = any(finding.level == ERROR for finding in findings)
    return replace(case, findings=findings, status=case.status if fails or case.status != FAILED else PASSED)


def _ignored(finding: Finding, reasons: dict[str, str]) -> Finding:
    return replace(finding, level=NOTE, ignored=reasons[finding.code]) if finding.code in reasons else finding

"""Findings that the configuration ignores, each with a reason: ``[[ignore]]``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..bundles.model_files import FilePattern
from ..delegates.base import Delegate
from ..delegates.vela import EXPLAINED as VELA
from ..foundation.printable import suggestion
from ..foundation.work_budget import spend_steps
from ..micro.target import EXPLAINED as MICRO
from ..results.report.findings import ERROR, NOTE
from . import GATE
from .configuration_table import ConfigurationProblem, ConfigurationTable, parse_model_patterns, parse_targets, parse_text
from .results import FAILED, PASSED, Case

_Matches = Callable[[str, Sequence[FilePattern]], bool]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A code whose findings do not fail a check, and the reason.

    ``models`` has patterns of models, or is None for all models. ``targets`` has names of targets, or is None for all targets.
    """

    code: str
    reason: str
    models: tuple[FilePattern, ...] | None = None
    targets: frozenset[str] | None = None


def codes_of(delegates: Iterable[Delegate]) -> frozenset[str]:
    """Return the codes that findings about these delegates, and about microcontrollers, may have."""
    return frozenset([*GATE, *MICRO, *VELA, *[code for delegate in delegates for code in delegate.kinds]])


def read_ignored(table: ConfigurationTable, targets: Collection[str], codes: Collection[str]) -> Ignored:
    """Read a table ``[[ignore]]``. ``codes`` are all codes of the targets. Raises ConfigurationProblem."""
    code, reason = table.take("code", parse_text), table.take("reason", parse_text)
    for key, value in (("code", code), ("reason", reason)):
        if value is None:
            raise ConfigurationProblem(table.key, f"has no {key}; give the code of the findings, and the reason to ignore them")
    models = table.take("models", parse_model_patterns)
    chosen = table.take("targets", lambda value: parse_targets(value, targets))
    table.finish()
    if code not in codes:
        near = suggestion(code, codes) or "; delegate-sim explain lists all codes"
        raise ConfigurationProblem((*table.key, "code"), f"the targets have no such code{near}")
    return Ignored(code, reason, models, None if chosen is None else frozenset(chosen))


def without_ignored(
    cases: Iterable[Case],
    rows: Sequence[Ignored],
    groups: Mapping[str, str],
    matches: Callable[[str, Sequence[FilePattern]], bool],
) -> list[Case]:
    """Return the cases with ignored findings as notes. A case passes if no other finding is an error.

    ``groups`` has the names that the configuration gives to targets. ``matches`` tells whether a model has a pattern.
    """
    return [_without(case, [row for row in rows if _concerns(row, case, groups, matches)]) for case in cases]


def _concerns(row: Ignored, case: Case, groups: Mapping[str, str], matches: _Matches) -> bool:
    spend_steps(1, "applying [[ignore]] of the configuration")
    is_target = row.targets is None or not row.targets.isdisjoint((case.target, groups.get(case.target, case.target)))
    return is_target and (row.models is None or matches(case.model, row.models))


def _without(case: Case, rows: Sequence[Ignored]) -> Case:
    reasons = {row.code: row.reason for row in rows}
    if reasons.keys().isdisjoint(finding.code for finding in case.findings):
        return case
    findings = tuple(
        [
            replace(finding, level=NOTE, ignored=reasons[finding.code]) if finding.code in reasons else finding
            for finding in case.findings
        ]
    )
    left = list(dict.fromkeys([finding.code for finding in findings if finding.level == ERROR]))
    if left:
        more = f"not ignored: {', '.join(left)}; to accept these findings too, add an [[ignore]] table for each code"
        return replace(case, findings=findings, notes=(*case.notes, more))
    return replace(case, findings=findings, status=case.status if case.status != FAILED else PASSED)

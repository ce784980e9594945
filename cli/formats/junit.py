"""Results as JUnit XML: a suite for each model, and a test for each target. Without times, the output is reproducible."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from delegate_sim.gate.results import FAILED, UNREADABLE, Case, Results
from delegate_sim.results.report.findings import ERROR, Finding

from ..console.layout import counted, message, name
from ..text.elements.findings import alike, finding_hint, finding_text
from .common import PROGRAM, model_name, repository_path

_FAILURE, _ERROR = "failure", "error"
_LOG_LINES = 200


def render(results: Results) -> str:
    """Return an XML document that follows Jenkins's schema ``junit-10.xsd``."""
    root = ElementTree.Element("testsuites", {"name": f"{PROGRAM} {results.command}", **_counts(results.cases)})
    models: dict[str, list[Case]] = {}
    for case in results.cases:
        models.setdefault(case.model, []).append(case)
    for cases in models.values():
        suite = ElementTree.SubElement(root, "testsuite", {"name": model_name(cases[0]), **_counts(cases)})
        for case in cases:
            _add_test(suite, case)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    verdicts = [_verdict(case) for case in cases]
    return {"tests": str(len(cases)), "failures": str(verdicts.count(_FAILURE)), "errors": str(verdicts.count(_ERROR))}


def _verdict(case: Case) -> str | None:
    if case.status == UNREADABLE:
        return _ERROR
    return _FAILURE if case.status == FAILED or _errors(case) else None


def _errors(case: Case) -> list[list[Finding]]:
    return [members for members in alike(case.findings) if members[0].level == ERROR]


def _add_test(suite: ElementTree.Element, case: Case) -> None:
    test = ElementTree.SubElement(suite, "testcase", {"name": name(case.target), "classname": repository_path(case)})
    element = _verdict(case)
    errors = _errors(case)
    if element is not None:
        said, kind = (finding_text(errors[0]), errors[0][0].code) if errors else (case.status, case.status)
        attributes = {"message": message(said), "type": kind}
        ElementTree.SubElement(test, element, attributes).text = "\n".join(map(_findings, errors))
    others = [_findings(members) for members in alike(case.findings) if members[0].level != ERROR]
    output = [*[f"note: {message(note)}" for note in case.notes], *others, *_log(case.log_lines)]
    if output:
        ElementTree.SubElement(test, "system-out").text = "\n".join(output)


def _log(log_lines: Sequence[str]) -> list[str]:
    lines = [message(line) for line in log_lines[:_LOG_LINES]]
    more = len(log_lines) - len(lines)
    return [*lines, *([f"... and {counted(more, 'more line')}"] if more else [])]


def _findings(members: Sequence[Finding]) -> str:
    first = members[0]
    hint = f"\n  What to do: {message(finding_hint(members))}" if first.hint else ""
    return f"{first.level} {first.code}: {message(finding_text(members))}{hint}"

"""Results for services of continuous integration: commands of GitHub Actions, GitLab's Code Quality, and JUnit XML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import click

from delegate_sim.foundation.files import naming_file, open_appended
from delegate_sim.gate.results import FAILED, UNREADABLE, Case, Results
from delegate_sim.results.report.findings import ERROR, NOTE, WARNING, Finding

from ..console.layout import counted, message, name
from ..text.elements.findings import LEVELS, alike, finding_hint, finding_text
from . import markdown
from .common import PROGRAM, Group, grouped_findings, model_name, number_titles, numbers, repository_path, state, title, verdict

_ANNOTATIONS = 10
"""Largest number of annotations that GitHub shows for a step."""
_COMMANDS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
_SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


def render(results: Results) -> str:
    """Return notices about unchecked releases, annotations (errors first) and a folded group with a line for each case.

    Annotations beyond the limit are only counted.
    """
    notices = dict.fromkeys([said for case in results.cases if (said := case.unchecked)])
    lines = [_command(_COMMANDS[NOTE], {"title": PROGRAM}, message(said)) for said in notices]
    lines += [*_annotations(results), _command("group", {}, f"{PROGRAM} {results.command}: {verdict(results)}")]
    lines += [_harmless(f"- {_line(case, results.command)}") for case in results.cases]
    lines.append(_command("endgroup", {}, ""))
    return "".join([f"{line}\n" for line in lines])


def write_summary(results: Results, environment: Mapping[str, str]) -> None:
    """Append the results as Markdown to the summary of the step. Do nothing if the environment does not name a summary file.

    Raises click.ClickException if writing fails.
    """
    path = environment.get(_SUMMARY_VARIABLE)
    if not path:
        return
    with naming_file(path, click.ClickException), open_appended(path) as file:
        file.write(markdown.render(results).encode("utf-8", "backslashreplace"))


def _annotations(results: Results) -> Iterator[str]:
    groups = [(case, members) for case in results.cases for members in alike(case.findings)]
    # Findings about nodes come first, because they have reasons. Findings about whole models only have numbers.
    groups.sort(key=lambda group: (LEVELS.index(group[1][0].level), group[1][0].location.node is None))
    shown = groups if len(groups) <= _ANNOTATIONS else groups[: _ANNOTATIONS - 1]
    for case, members in shown:
        yield _annotation(case, members)
    if len(shown) < len(groups):
        hidden = groups[len(shown) :]
        number = sum([len(members) for _, members in hidden])
        text = f"{counted(number, 'more finding')}; see the job summary"
        yield _command(_COMMANDS[hidden[0][1][0].level], {"title": PROGRAM}, text)


def _annotation(case: Case, members: Sequence[Finding]) -> str:
    finding = members[0]
    hint = f"\nWhat to do: {message(finding_hint(members))}" if finding.hint else ""
    properties = {"file": repository_path(case), "title": f"{finding.code} on {name(case.target)}"}
    return _command(_COMMANDS[finding.level], properties, message(finding_text(members)) + hint)


def _line(case: Case, command: str) -> str:
    said = ", ".join([f"{what} {number}" for what, number in zip(number_titles([case]), numbers(case), strict=True) if number])
    return f"{title(case)}: {state(case, command)}{'; ' if said else ''}{said}"


def _command(command: str, properties: Mapping[str, str], data: str) -> str:
    values = {key: _data(value).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items()}
    listed = ",".join([f"{key}={value}" for key, value in values.items()])
    return _harmless(f"::{command}{' ' if listed else ''}{listed}::{_data(data)}")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _harmless(line: str) -> str:
    """Break up commands of the older form ``##[command]``. The runner finds these commands anywhere in a line."""
    return line.replace("##[", "## [")


_UNCHECKED = "unchecked-release"
"""The name of the check that finds releases that were not checked."""
_SEVERITIES = {ERROR: "major", WARNING: "minor", NOTE: "info"}


def gitlab_report(results: Results) -> str:
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


_FAILURE, _ERROR = "failure", "error"
_LOG_LINES = 200


def junit_report(results: Results) -> str:
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
    output = [*[f"note: {message(note)}" for note in case.notes], *others, *map(message, case.log_lines[:_LOG_LINES])]
    if (more := len(case.log_lines) - _LOG_LINES) > 0:
        output.append(f"... and {counted(more, 'more line')}")
    if output:
        ElementTree.SubElement(test, "system-out").text = "\n".join(output)


def _findings(members: Sequence[Finding]) -> str:
    first = members[0]
    hint = f"\n  What to do: {message(finding_hint(members))}" if first.hint else ""
    return f"{first.level} {first.code}: {message(finding_text(members))}{hint}"

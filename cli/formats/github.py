"""Results as workflow commands of GitHub Actions: annotations, then a folded group with a line for each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from delegate_sim.foundation.files import naming_file, open_appended
from delegate_sim.gate.results import Case, Results
from delegate_sim.results.report.findings import ERROR, NOTE, WARNING, Finding

from ..console.layout import counted, message, name
from ..text.elements.findings import LEVELS, alike, finding_hint, finding_text
from . import markdown
from .common import PROGRAM, number_titles, numbers, repository_path, state, title, verdict

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
    listed = ",".join([f"{key}={_property(value)}" for key, value in properties.items()])
    return _harmless(f"::{command}{' ' if listed else ''}{listed}::{_data(data)}")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _harmless(line: str) -> str:
    """Break up commands of the older form ``##[command]``. The runner finds these commands anywhere in a line."""
    return line.replace("##[", "## [")

"""Results as Markdown, for a comment on a pull request or the summary of a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from delegate_sim.foundation.printable import printable
from delegate_sim.gate.results import FAILED, UNREADABLE, Case, Results
from delegate_sim.results.compare.model_changes import NodeChange
from delegate_sim.results.report.findings import Finding
from delegate_sim.results.report.outcome_words import DELEGATED, words_of

from ..console.layout import counted, cut, message, name
from ..text.elements import findings as findings_text
from ..text.elements.findings import change_text, changes_alike
from ..text.elements.strip import STATES_AND_MIXED, legend_texts, strip_text
from .common import PROGRAM, code, code_block, model_name, number_titles, numbers, row, state, target_text, text, title, verdict

_LONGEST = 50_000
"""Largest number of characters in the text. GitHub allows 65,536 characters in a comment."""
_TABLE_ROOM = 12_000
_STRIPS_ROOM = 4_000
_STRIP_WIDTH = 64
_FINDINGS_ROOM = 8_000
_CHANGES_ROOM = 5_000
_NOTES_ROOM = 2_000
_LOG_ROOM = 5_000
_MORE_ROOM = 100
"""Number of characters reserved for a line that counts the omitted items."""
_CHANGES_OPEN = 5
_LONGEST_TEXT = 400
_LONGEST_HINT = 2000


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line or paragraph, and the number of items that it lists."""

    text: str
    number: int = 1


def render(results: Results) -> str:
    """Return a verdict, a table of all cases, and sections with the details of cases."""
    cases = sorted(results.cases, key=lambda case: case.status not in (FAILED, UNREADABLE))
    head = "\n\n".join(
        [
            f"### {PROGRAM} {results.command}",
            *[f"**{_text(sentence, _LONGEST_HINT)}**" for sentence in results.verdicts],
            text(verdict(results)) if results.verdicts else f"**{text(verdict(results))}**",
            *([text(results.selected_only)] if results.selected_only else []),
            *_table(results, cases),
            *_strips(cases),
        ]
    )
    detailed = [case for case in cases if case.findings or case.changes or case.notes]
    sections = (_Piece(_section(case, results.command)) for case in detailed)
    shown, left_out = _fitting(sections, _LONGEST - len(head), len(detailed))
    return "\n\n".join([head, *shown, *([_more(left_out, "more case")] if left_out else [])]) + "\n"


def _listed(pieces: Sequence[_Piece], room: int, noun: str, bullet: str = "") -> list[str]:
    shown, left_out = _fitting(pieces, room, sum([piece.number for piece in pieces]))
    return [*shown, f"{bullet}{_more(left_out, noun)}"] if left_out else shown


def _fitting(pieces: Iterable[_Piece], room: int, number: int) -> tuple[list[str], int]:
    """Return the pieces that fit, and how many of the ``number`` items are omitted.

    ``room`` includes the line about omitted items. Pieces after the first that does not fit are not made.
    """
    shown: list[str] = []
    room -= _MORE_ROOM
    for piece in pieces:
        room -= len(piece.text) + 2
        if room < 0:
            return shown, number
        shown.append(piece.text)
        number -= piece.number
    return shown, 0


def _more(number: int, noun: str) -> str:
    return f"... and {counted(number, noun)}"


def _table(results: Results, cases: Sequence[Case]) -> Iterator[str]:
    if not cases:
        return
    titles = number_titles(cases)
    columns = ("model", "target", "status" if results.command == "check" else "outcome", *titles)
    rule = ["---"] * 3 + ["---:"] * len(titles)
    rows, left_out = _fitting((_Piece(_row(case, results.command)) for case in cases), _TABLE_ROOM, len(cases))
    yield "\n".join([row(columns), row(rule), *rows])
    if left_out:
        yield _more(left_out, "more case")


def _strips(cases: Sequence[Case]) -> Iterator[str]:
    pieces = [
        _Piece(f"- {code(strip_text(case.strip, _STRIP_WIDTH)[0])} {text(model_name(case))}, {text(name(case.target))}")
        for case in cases
        if len(case.strip) > 1
    ]
    if pieces:
        kinds = dict.fromkeys([words_of(case.delegate) for case in cases])
        # Only if all cases are of compiler plugins, the legend has the words for plugins.
        words = next(iter(kinds)) if len(kinds) == 1 else DELEGATED
        texts = legend_texts(words, f"the {words.actor}", STATES_AND_MIXED)
        legend = ", ".join([f"{code(glyph)} {text(meaning)}" for glyph, meaning in texts])
        yield f"Execution plans: {legend}"
        yield "\n".join(_listed(pieces, _STRIPS_ROOM, "more plan", "- "))


def _row(case: Case, command: str) -> str:
    status = text(state(case, command))
    emphasized = f"**{status}**" if case.status in (FAILED, UNREADABLE) else status
    return row([text(model_name(case)), text(name(case.target)), emphasized, *map(text, numbers(case))])


def _section(case: Case, command: str) -> str:
    parts = [
        f"#### {text(title(case))}: {text(state(case, command))}",
        f"Target: {_text(target_text(case))}",
        *_findings(case.findings),
        *_changes(case.changes),
        *_notes(case.notes),
        *_log(case.log_lines),
    ]
    return "\n\n".join(parts)


def _text(plain: str, longest: int = _LONGEST_TEXT) -> str:
    """Return the text of a list item. The text is never empty, because a lone dash turns the line above into a heading."""
    return text(cut(printable(plain), longest)) or "(empty)"


def _findings(findings: Sequence[Finding]) -> list[str]:
    groups: dict[tuple[str, str, str], list[list[Finding]]] = {}
    for members in findings_text.alike(findings):
        groups.setdefault((members[0].level, members[0].code, findings_text.finding_hint(members)), []).append(members)
    pieces = []
    for (level, found_code, hint), group in groups.items():
        pieces.append(_Piece(f"- **{level}** `{found_code}`", 0))
        pieces += [_Piece(f"  - {_text(findings_text.finding_text(members))}", len(members)) for members in group]
        if hint:
            pieces.append(_Piece(f"  - What to do: {_text(hint, _LONGEST_HINT)}", 0))
    return ["\n".join(_listed(pieces, _FINDINGS_ROOM, "more finding", "- "))] if pieces else []


def _notes(notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    lines = _listed([_Piece(f"- {_text(note)}") for note in notes], _NOTES_ROOM, "more note", "- ")
    return ["Notes:", "\n".join(lines)]


def _changes(changes: Sequence[NodeChange]) -> list[str]:
    """Return a list of changes in the model. If several nodes have the same change, they share a line."""
    if not changes:
        return []
    groups = changes_alike(changes)
    heading = f"What changed in the model since the baseline: {counted(len(changes), 'change')}"
    pieces = [_Piece(f"- {_text(change_text(members))}", len(members)) for members in groups]
    lines = "\n".join(_listed(pieces, _CHANGES_ROOM, "more change", "- "))
    return [f"{heading}\n\n{lines}" if len(groups) <= _CHANGES_OPEN else _folded(heading, lines)]


def _log(log_lines: Sequence[str]) -> list[str]:
    if not log_lines:
        return []
    lines = _listed([_Piece(message(line)) for line in log_lines], _LOG_ROOM, "more line")
    return [_folded("What the runtime prints", code_block(lines))]


def _folded(heading: str, content: str) -> str:
    """Return content that stays folded until the reader clicks the heading.

    Markdown in the content needs an empty line before and after the content.
    """
    return f"<details><summary>{heading}</summary>\n\n{content}\n\n</details>"

"""Notes on the results of compiler plugins, for the end of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.results.report.outcome_words import DelegateResult, plugin_notes

from ...console.layout import message
from ...console.terminal import Line
from .paragraphs import paragraph


def plugin_lines(results: Sequence[DelegateResult], width: int) -> Iterator[Line]:
    """Yield an empty line and the notes, or nothing if no result is from a compiler plugin."""
    for number, note in enumerate(plugin_notes(results)):
        if not number:
            yield Line("")
        yield from paragraph(message(note), width, "", "  " if number else "")

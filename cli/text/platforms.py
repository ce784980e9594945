"""Results by release of the platform behind a delegate, such as Android, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.results.compare.platform_table import PlatformRow
from delegate_sim.results.report.measures import TAKEN
from delegate_sim.results.report.outcome_words import DELEGATED

from ..console.layout import message, share
from ..console.terminal import Line
from .elements.measures import measures_text
from .elements.paragraphs import CODE, HEADING, HINT, paragraph


def platform_lines(rows: Sequence[PlatformRow], width: int) -> Iterator[Line]:
    """Yield a line for each platform release: the delegated nodes, and the refusal if there is a refusal."""
    if not rows:
        return
    yield Line("")
    if not any(row.measures.is_delegated or (row.refusal is not None and row.refusal.below is not None) for row in rows):
        yield Line(f"Releases of {rows[0].platform} make no difference: nothing is delegated.")
        return
    yield Line(f"By release of {rows[0].platform}", HEADING)
    told: list[str] = []
    for row in rows:
        measures = row.measures
        text = f"{row.release}: {measures_text(measures, DELEGATED, has_share=True)}"
        if row.compute.multiply_adds and measures.outcome == TAKEN:
            text += f", {share(row.compute.delegated_multiply_adds, row.compute.multiply_adds)} of multiply-adds"
        if row.refusal is not None and row.refusal.below is not None:
            text += f", {row.refusal.code}"
        yield from paragraph(text, width, "  ", "    ")
        if row.refusal is not None and row.refusal.below is not None and row.refusal.hint not in told:
            told.append(row.refusal.hint)
            place = "" if row.refusal.node is None else f"node {row.refusal.node}: "
            yield from paragraph(message(place + row.refusal.message), width, "    ", "    ", style=CODE)
            yield from paragraph(message(f"hint: {row.refusal.hint}"), width, "    ", "          ", style=HINT)
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        yield from paragraph(note, width, "  - ", "    ")

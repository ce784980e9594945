"""The scoreboard of recorded device runs as text."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.device.compare.reconcile import NOT_COMPARED
from delegate_sim.device.records import DIFFERENT, EQUAL, ComparedValue, RecordScore, Scoreboard

from ...console.layout import counted, message
from ...console.terminal import Line
from ..elements.paragraphs import BAD, GOOD, HEADING, heading_lines, more_lines, paragraph

CLASSES = {
    "fails-only-predicted": "the simulation says that the model fails on the accelerator, and it ran",
    "fails-only-recorded": "the model failed on the accelerator, and the simulation says that it runs",
    "more-nodes-predicted": "the simulation gives the accelerator more nodes than the device did",
    "fewer-nodes-predicted": "the simulation gives the accelerator fewer nodes than the device did",
    "other-operators": "as many nodes, but of other operators",
    "wrong-only-predicted": "the simulation says that outputs are wrong, and they were right",
    "wrong-only-recorded": "outputs were wrong, and the simulation does not say so",
    "accepted-only-predicted": "the rules accept nodes of the operator, and the device did not",
    "refused-only-predicted": "the rules have no node of the operator, and the device took some",
    "log-explained": "the log differs, and an assumption about the device explains it (reconcile)",
    "log-unexplained": "the log differs, and no assumption explains it (reconcile)",
    "no-model": "the model is not among the given models",
    "other-model": "the given model is another file: its digest or its number of nodes differs",
    "unreadable-model": "the given model cannot be simulated",
    "not-simulated": "the accelerator is not simulated",
    "unknown-release": "the rules of the release are not known",
    "states-nothing": "the record states nothing that can be compared",
    "too-many-simulations": "the simulations of a model are limited",
}
"""The meanings of the classes of differences, and of records that are not compared."""
_SHOWN = 25
_STYLES = {EQUAL: GOOD, NOT_COMPARED: ""}


def scoreboard_lines(board: Scoreboard, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the counts, the classes of differences with their meanings, and each record. Different records come first."""
    counts = f"{board.count(EQUAL)} equal, {board.count(DIFFERENT)} different, {board.count(NOT_COMPARED)} not compared"
    yield from paragraph(f"{counted(len(board.scores), 'record')}: {counts}", width, "", "  ", style=HEADING)
    for name, count in board.classes.most_common():
        yield from paragraph(f"{count} {name}: {CLASSES[name]}", width, "  ", "    ")
    scores = sorted(board.scores, key=lambda score: (score.status == NOT_COMPARED, score.status == EQUAL))
    yield from heading_lines("Records")
    for score in scores if verbose else scores[:_SHOWN]:
        yield from paragraph(message(_text(score)), width, "  ", "    ", style=_STYLES.get(score.status, BAD))
    yield from more_lines(0 if verbose else max(len(scores) - _SHOWN, 0), "record")


def _text(score: RecordScore) -> str:
    where = ", ".join([part for part in (score.subject or score.file, score.accelerator, score.release) if part])
    return f"{score.status}: {where}: {'; '.join(map(_value, score.values)) or score.reason}"


def _value(part: ComparedValue) -> str:
    difference = f" ({part.difference})" if part.difference else ""
    return f"{part.value}: predicted {part.predicted}, recorded {part.recorded}{difference}"

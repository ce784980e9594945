"""The table of releases as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from delegate_sim.llm.bundle import DELEGATES
from delegate_sim.releases.catalogue import PREFIX, ReleaseNote, releases_with
from delegate_sim.results.compare.release_table import Move, PlatformRow, ReleaseRow, ReleaseTable, Unloaded
from delegate_sim.results.report.findings import risks_text
from delegate_sim.results.report.measures import NOT_LOADED, NOT_RUNNING, TAKEN, outcome_text
from delegate_sim.results.report.outcome_words import DELEGATED, OutcomeWords, words_of
from delegate_sim.runtime.resolver import Loads

from ..console.layout import counted, item_list, message, name, node_list, share
from ..console.terminal import Line
from .elements.measures import measures_text, nodes_cell, work_text
from .elements.paragraphs import CODE, HEADING, HINT, heading_lines, indented, item_lines, more_lines, paragraph, table
from .elements.verdict import plugin_lines, verdict_lines


def platform_lines(rows: Sequence[PlatformRow], width: int) -> Iterator[Line]:
    """Yield a line for each platform release: the delegated nodes, and the refusal if there is a refusal."""
    if not rows:
        return
    yield Line("")
    below = [row.refusal if row.refusal is not None and row.refusal.below is not None else None for row in rows]
    if not any(row.measures.is_delegated for row in rows) and not any(below):
        yield Line(f"Releases of {rows[0].platform} make no difference: nothing is delegated.")
        return
    yield Line(f"By release of {rows[0].platform}", HEADING)
    told: list[str] = []
    for row, refusal in zip(rows, below, strict=True):
        text = f"{row.release}: {measures_text(row.measures, DELEGATED, has_share=True)}{work_text(row.measures, row.compute)}"
        yield from indented(text if refusal is None else f"{text}, {refusal.code}", width, "  ")
        if refusal is not None and refusal.hint not in told:
            told.append(refusal.hint)
            place = "" if refusal.node is None else f"node {refusal.node}: "
            yield from paragraph(message(place + refusal.message), width, "    ", "    ", style=CODE)
            yield from paragraph(message(f"hint: {refusal.hint}"), width, "    ", "          ", style=HINT)
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        yield from paragraph(note, width, "  - ", "    ")


FAMILIES = {"tf": "TensorFlow", "litert": "LiteRT"}
"""The name of each family of releases."""

_LITERT_LM = "LiteRT-LM"
_COLUMNS = ("loads", "delegated", "multiply-adds", "partitions", "moved")
_MOVES_SHOWN = 8
_NODES_WIDTH = 40


def releases_lines(releases: ReleaseTable, label: str, width: int, verbose: bool) -> Iterator[Line]:
    """Yield a table with a row for each span of releases with equal results, the changes between spans, and a summary."""
    spans = _spans(releases.rows)
    yield from verdict_lines(releases.newest, width)
    yield Line("")
    nodes = counted(releases.rows[0].measures.nodes, "node")
    yield Line(f"{label}: {nodes} by release of the runtime", HEADING)
    is_in_engine = releases.delegate.name in DELEGATES
    heads = ("releases", *([_LITERT_LM] if is_in_engine else []))
    rows = [(*heads, *_COLUMNS)]
    rows += [(span_text(span), *([_litert_lm_text(span)] if is_in_engine else []), *_cells(span)) for span in spans]
    last = len(rows[0]) - 1
    yield from table(rows, (last - 3, last - 2, last - 1, last), width, optional=(last, last - 1))
    for span in spans:
        yield from _step(span[0], words_of(releases.delegate.name), width, verbose)
    yield from _refusals(spans, width)
    yield from _wrong_numbers(releases.rows, width)
    yield Line("")
    for answer in answers(releases):
        yield from paragraph(answer, width, "", "  ")
    yield from platform_lines(releases.platforms, width)
    for reason in releases.not_simulated:
        yield from paragraph(f"Not simulated: {reason}", width, "", "  ")
    yield from plugin_lines([releases.newest], width)
    rows_by_note: dict[str, list[ReleaseRow]] = {}
    for row in releases.rows:
        for note in row.notes:
            rows_by_note.setdefault(note.template, []).append(row)
    said = [ReleaseNote(template, own[0].release).about(span_text(own)) for template, own in rows_by_note.items()]
    yield from item_lines(said, width, "Uncertain")


def answers(table: ReleaseTable) -> Iterator[str]:
    """Yield sentences about the releases that delegate the whole model, and about the first release that loads the model."""
    if table.delegate.history.starts_at_known:
        since = table.delegate.history.known_since
        yield (
            f"Not shown: releases before {since}. The earlier releases do not have {table.delegate.name}, or the delegate's "
            "rules in these releases are not known."
        )
    if table.full:
        parts = ", ".join(table.delegate.unchecked_parts(table.full[0]))
        yield f"Fully delegated: first in {table.full[0]}{f' (not checked: {parts})' if parts else ''}, last in {table.full[-1]}."
        wrong = [row for row in table.rows if row.is_full and row.measures.wrong_results]
        if wrong:
            groups = groupby(table.rows, lambda row: row in wrong)
            spans = item_list([span_text(list(own)) for is_wrong, own in groups if is_wrong])
            yield f"Fully delegated, but with wrong numbers: {spans}."
    else:
        yield "Fully delegated: in no known release."
    for family, first in table.first_loading.items():
        newest = [row for row in table.rows if row.release.family == family][-1]
        loaded = f"Loaded by {FAMILIES[family]}'s own kernels"
        if first is None and newest.loads is Loads.UNKNOWN:
            yield f"{loaded}: not known."
        elif first is None:
            unloaded = _unloaded_text(newest.unloaded, newest.unloaded_types)
            yield f"{loaded}: in no known release; {newest.release} does not load {unloaded}."
        elif not (first.because_of or first.because_of_types):
            yield f"{loaded}: from {first.release} on (the oldest known release)."
        else:
            unloaded = _unloaded_text(first.because_of, first.because_of_types)
            yield f"{loaded}: from {first.release} on (earlier releases do not load {unloaded})."


def _spans(rows: Sequence[ReleaseRow]) -> list[list[ReleaseRow]]:
    spans: list[list[ReleaseRow]] = []
    for row in rows:
        last = spans[-1][-1] if spans else None
        same = last is not None and _alike(row) == _alike(last)
        if same and not row.moves:
            spans[-1].append(row)
        else:
            spans.append([row])
    return spans


def _alike(row: ReleaseRow) -> tuple[object, ...]:
    return row.measures, row.unloaded, row.unloaded_types, row.loads, row.is_certain


def _cells(span: Sequence[ReleaseRow]) -> tuple[str, ...]:
    row = span[0]
    measures = row.measures
    moved = f"{sum([len(move.nodes) for move in row.moves]):,}"
    if measures.outcome in NOT_RUNNING:
        cells = ("", "", "") if measures.outcome == NOT_LOADED else ("-", "-", moved)
        return row.loads.value, outcome_text(measures.outcome), *cells
    delegated = f"{measures.delegated_nodes:,} ({nodes_cell(measures)})"
    if measures.outcome != TAKEN:
        delegated = outcome_text(measures.outcome)
    compute = row.compute
    return (
        row.loads.value,
        f"{delegated}{'' if row.is_certain else ' ?'}",
        share(compute.delegated_multiply_adds, compute.multiply_adds) if compute.multiply_adds else "-",
        f"{measures.partitions:,}",
        moved,
    )


def _litert_lm_text(span: Sequence[ReleaseRow]) -> str:
    versions = [name.removeprefix(PREFIX) for row in span for name in releases_with(str(row.release))]
    return " to ".join(dict.fromkeys([*versions[:1], *versions[-1:]]))


def span_text(span: Sequence[ReleaseRow]) -> str:
    """Return the first and the last release of a span as text."""
    first, last = span[0].release, span[-1].release
    return str(first) if first == last else f"{first} to {last}"


def _step(row: ReleaseRow, words: OutcomeWords, width: int, verbose: bool) -> Iterator[Line]:
    if not row.moves:
        return
    yield from heading_lines(f"From {row.release} on")
    moves = sorted(row.moves, key=lambda move: -len(move.nodes))
    shown = moves if verbose else moves[:_MOVES_SHOWN]
    for move in shown:
        yield from paragraph(move_text(move, words, verbose), width, "  ", "    ")
    yield from more_lines(sum([len(move.nodes) for move in moves[len(shown) :]]), "node")


def _refusals(spans: Sequence[Sequence[ReleaseRow]], width: int) -> Iterator[Line]:
    said: dict[str, list[ReleaseRow]] = {}
    for span in spans:
        for row in span:
            if row.loads is Loads.NO:
                said.setdefault(row.lines[0], []).append(row)
    if said:
        yield from heading_lines("Not loaded")
    for line, rows in said.items():
        families = [[row for row in rows if row.release.family == family] for family in FAMILIES]
        releases = item_list([span_text(own) for own in families if own])
        yield from indented(f"{releases}: {message(line)}", width, "  ")


def _wrong_numbers(rows: Sequence[ReleaseRow], width: int) -> Iterator[Line]:
    spans = [(text, list(own)) for text, own in groupby(rows, lambda row: risks_text(row.number_risks, "", "its nodes"))]
    if any(text for text, _ in spans):
        yield from heading_lines("Wrong numbers")
    for text, own in spans:
        if text:
            yield from paragraph(f"{span_text(own)}: {text}", width, "  ", "    ")


def move_text(move: Move, words: OutcomeWords, verbose: bool = False) -> str:
    """Return a description of a move: the nodes, the new place, and the reason."""
    nodes = node_list(sorted([node for _, node in move.nodes]), None if verbose else _NODES_WIDTH)
    why = message("; ".join([reason.message for reason in move.reasons])) or "it was not offered to any delegate"
    where = f"delegated; before: {why}" if move.is_delegated else f"{words.left}: {why}"
    return f"{name(move.op)}: {counted(len(move.nodes), 'node')} [{nodes}] {where}"


def _unloaded_text(unloaded: Sequence[Unloaded], types: Sequence[str]) -> str:
    """Return, as text, the operators and types that a release does not load, or "the file" for an inconsistent file."""
    operators = [f"{name(operator.op)} version {operator.version}" for operator in unloaded]
    return item_list([*operators, *[f"tensors of type {name(type_name)}" for type_name in types]], 80) or "the file"

"""The execution plan as a strip of characters (cells). A cell shows one node, or several nodes if the plan is long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from delegate_sim.results.report.display import DELEGATED, LEFT, MIXED, REFUSED, Lengths, Span, cells
from delegate_sim.results.report.outcome_words import OutcomeWords

from ...console.layout import counted, wrapped
from ...console.terminal import Line, can_write

STATES_AND_MIXED = (DELEGATED, REFUSED, LEFT, MIXED)
_BLOCKS = {DELEGATED: "\u2588", REFUSED: "\u2591", LEFT: "\u2592", MIXED: "\u259e"}
_ASCII = {DELEGATED: "#", REFUSED: ".", LEFT: "o", MIXED: "/"}
"""The characters to use if the output's encoding does not have the block characters."""
_STYLES = {DELEGATED: "green", REFUSED: "red", LEFT: "yellow", MIXED: "magenta"}
_ROWS = 4
_INDENT = 2
_FEWEST_CELLS = 16


def strip_lines(spans: Sequence[Span], words: OutcomeWords, delegate: str, width: int) -> Iterator[Line]:
    """Yield the strip in at most ``_ROWS`` lines, and a legend. Yield nothing if all nodes have the same state."""
    if len({span.state for span in spans}) < 2:
        return
    glyphs = _glyphs()
    room = width - _INDENT
    states, size = cells([(span.state, len(span.nodes)) for span in spans], room * _ROWS)
    for start in range(0, len(states), room):
        row = states[start : start + room]
        yield Line(" " * _INDENT + "".join([glyphs[state] for state in row]), "", tuple(_parts(row, _INDENT)))
    used = [state for state in STATES_AND_MIXED if state in states]
    texts = [f"{glyphs[state]} {text}" for state, (_, text) in zip(used, legend_texts(words, delegate, used), strict=True)]
    for line in wrapped(f"{'  '.join(texts)}  ({_scale(size)}, in running order)", width, " " * _INDENT):
        yield Line(line)


def strips_lines(rows: Sequence[tuple[str, Lengths, str]], width: int) -> Iterator[Line]:
    """Yield the strips of several targets with a common scale, and a legend. Yield nothing if the terminal is too narrow.

    A row has the name of a target, its groups of nodes in the order of the file, and the text after the strip.
    """
    names, after = max([len(name) for name, _, _ in rows]), max([len(text) for _, _, text in rows])
    start = _INDENT + names + 1
    room, glyphs = width - start - after - 1, _glyphs()
    if room < _FEWEST_CELLS:
        return
    used = set[str]()
    for name, lengths, text in rows:
        states, size = cells(lengths, room)
        used |= {*states}
        strip = "".join([glyphs[state] for state in states])
        yield Line(f"{' ' * _INDENT}{name:<{names}} {strip} {text:>{after}}", "", tuple(_parts(states, start)))
    meanings = {DELEGATED: "on the accelerator", REFUSED: "not taken", LEFT: "taken, but left on the CPU", MIXED: "mixed"}
    legend = "  ".join([f"{glyphs[state]} {meanings[state]}" for state in STATES_AND_MIXED if state in used])
    yield from map(Line, wrapped(f"{legend}  ({_scale(size)}, in the order of the file)", width, " " * _INDENT))


def _glyphs() -> Mapping[str, str]:
    return _BLOCKS if can_write("".join(_BLOCKS.values())) else _ASCII


def _scale(size: int) -> str:
    return "each cell is a node" if size == 1 else f"each cell is {counted(size, 'node')}"


def strip_text(lengths: Lengths, room: int) -> tuple[str, int]:
    """Return the strip with at most ``room`` characters, and the number of nodes per character."""
    states, size = cells(lengths, room)
    return "".join([_BLOCKS[state] for state in states]), size


def legend_texts(words: OutcomeWords, delegate: str, states: Iterable[str]) -> list[tuple[str, str]]:
    """Return the character and the meaning of each state."""
    meanings = {REFUSED: words.elsewhere, LEFT: f"{words.elsewhere}, although accepted", MIXED: "mixed"}
    return [(_BLOCKS[state], meanings.get(state, delegate)) for state in states]


def _parts(row: Sequence[str], start: int) -> Iterator[tuple[int, int, str]]:
    for state, members in groupby(row):
        end = start + len(list(members))
        yield start, end, _STYLES[state]
        start = end

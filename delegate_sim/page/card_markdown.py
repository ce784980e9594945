"""The card of a model as Markdown, for issues and pull requests."""

from __future__ import annotations

from itertools import groupby

from ..delegates.devices import MICROCONTROLLERS_TITLE
from ..foundation.printable import printable, shortened
from ..results.report.display import DELEGATED, LEFT, MIXED, REFUSED, cells
from .card import Card, CardRow
from .card_picture import shown_share

_CELLS = 32
_LETTERS = {DELEGATED: "█", REFUSED: "·", LEFT: "░", MIXED: "▒"}
_LEGEND = "█ on the accelerator, ▒ in part, ░ taken, but left on the CPU, · not taken"
_SPECIAL = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_[]<>|#~&$@"})


def card_markdown(card: Card) -> str:
    """Return the card as Markdown: the sentence, the command, and a table for each kind of devices."""
    parts = [f"### {_safe(card.model, 60)}: {_safe(card.headline, 400)}", ""]
    if card.advice is not None:
        parts += [_safe(card.advice.text, 300), "", "```sh", printable(card.advice.command), "```", ""]
    for group in card.groups:
        parts += [f"| {_safe(group.title, 80)} | {card.nodes:,} nodes | runs | kernels | |", "|---|---|--:|--:|---|"]
        parts += [*map(_line, group.rows), ""]
    end = f"Each strip is the model from left to right: {_LEGEND}. Simulated by delegate-sim {card.version} for {card.runtime}"
    return "\n".join([*parts, f"<sub>{end}{_safe(card.aside, 600)}.</sub>", ""])


def _line(row: CardRow) -> str:
    kernels = f"{row.kernels:,}" if row.lengths and row.group != MICROCONTROLLERS_TITLE else ""
    cell = f"**{_safe(row.label, 40)}**<br>{_safe(row.devices, 60)}"
    return f"| {cell} | {row_strip(row)} | {shown_share(row)} | {kernels} | {_safe(row.summary, 200)} |"


def row_strip(row: CardRow) -> str:
    """Return the strip of a target as letters in a code span. All strips of a card have the same scale."""
    total = sum([count for _, count in row.lengths])
    if not total:
        return ""
    states, _ = cells(row.lengths, _CELLS)
    text = "".join([_LETTERS[state] * len(list(members)) for state, members in groupby(states)])
    return f"`{text}`"


def _safe(text: str, most: int) -> str:
    return shortened(printable(text), most).translate(_SPECIAL)

"""The card of a model as Markdown, and as an SVG picture: as a file of its own, and at the top of the page.

The page's content security policy forbids styles in elements, so the picture has classes, and colors as attributes.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Set
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

from ..delegates.devices import MICROCONTROLLERS_TITLE
from ..errors import MissingPackageError
from ..foundation.printable import printable, share, shortened
from ..results.report.display import DELEGATED, LEFT, MIXED, REFUSED, cells
from .card import Card, CardGroup, CardRow, share_of

_WIDTH, _MARGIN = 1100, 24
_STRIP_LEFT, _STRIP_WIDTH, _STRIP_HEIGHT = 264, 400, 16
_STRIP_BOX = f"0 0 {_STRIP_WIDTH} {_STRIP_HEIGHT}"
_SHARE_RIGHT, _KERNELS_RIGHT, _TEXT_LEFT = 728, 788, 804
_ROW, _GROUP, _LINE = 40, 32, 14
_MOST_CELLS = 400
_HEADLINE_LETTERS, _TEXT_BLOCK_LETTERS, _COMMAND_LETTERS, _TEXT_LETTERS, _LABEL_LETTERS = 84, 136, 124, 37, 34
"""Largest numbers of letters in a line. They are estimates, because a picture cannot measure text."""
_DEVICES_LETTERS = 44
_TEXT_LINES = 4
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
_MONOSPACE = "ui-monospace, 'DejaVu Sans Mono', monospace"
_FILLS = {DELEGATED: "#1f7a6d", REFUSED: "url(#card-refused)", LEFT: "url(#card-left)", MIXED: "#7b6a9e"}
_LEGEND = ((DELEGATED, "on the accelerator"), (REFUSED, "not taken"), (LEFT, "taken, but left on the CPU"))
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
_STYLE = """
<style>
@media (prefers-color-scheme: dark) {
  .card-ground { fill: #1b1f25 } .card-ink { fill: #e6e9ed } .card-faint { fill: #a3acb7 } .card-line { stroke: #363d47 }
}
</style>"""
_PATTERNS = """
<defs>
<pattern id="card-refused" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="6" height="6" fill="#f3c3a6"/><rect width="3" height="6" fill="#c2501a"/></pattern>
<pattern id="card-left" width="4" height="4" patternUnits="userSpaceOnUse">
<rect width="4" height="4" fill="#f0e2ab"/><rect width="4" height="2" fill="#a98109"/></pattern>
</defs>"""


class CardPlace(NamedTuple):
    """The place of a card on a page. ``model`` is the number of its model."""

    model: int
    links: Set[str]
    """The delegates that the page shows in detail. Their names are links."""
    has_patterns: bool
    """Whether the picture has the patterns, which only the first picture of a page needs."""


def card_picture(card: Card, place: CardPlace | None = None) -> str:
    """Return the picture, as a file with a style for dark screens, or for a place on a page, which has the style."""
    is_file = place is None
    body = list[str]()
    bottom = _MARGIN + 8
    bottom = _text_block(body, f"{_safe(card.model, 60)} · {card.nodes:,} nodes", bottom, 1, 80, 14, "card-faint", "600")
    bottom = _text_block(body, card.headline + ".", bottom + 10, 4, _HEADLINE_LETTERS, 19, "card-ink", "700")
    if card.advice is not None:
        bottom = _text_block(body, card.advice.text, bottom + 4, 2, _TEXT_BLOCK_LETTERS, 13, "card-ink", "400")
        bottom = _text_block(body, card.advice.command, bottom + 2, 2, _COMMAND_LETTERS, 12, "card-ink", "400", _MONOSPACE)
    for number, group in enumerate(card.groups):
        bottom = _draw_group(body, group, number, bottom, place)
    bottom = _draw_legend(body, card, bottom + 22)
    height = bottom + _MARGIN - 8
    rows = [f"{row.label}: {shown_share(row)}, {row.summary}" for group in card.groups for row in group.rows]
    words = ". ".join([f"{card.model}, {card.nodes:,} nodes", card.headline, *rows])
    role, size = "img" if is_file else "group", f' width="{_WIDTH}" height="{height}"'
    return "".join(
        [
            f'<svg{_NAMESPACE + size if is_file else ""} viewBox="0 0 {_WIDTH} {height}" class="card" role="{role}" ',
            f'aria-label="{html.escape(_safe(words, 4000))}" font-family="{_FONT}">',
            _STYLE if is_file else "",
            _PATTERNS if place is None or place.has_patterns else "",
            f'\n<rect class="card-ground" width="{_WIDTH}" height="{height}" rx="10" fill="#ffffff"/>',
            *body,
            "\n</svg>\n",
        ]
    )


def card_list(card: Card, place: CardPlace) -> str:
    """Return the card as HTML, for screens too narrow for the picture. The strips are those of the picture."""
    parts = [f'<p class="card-sentence">{html.escape(_safe(card.headline, 400))}.</p>']
    if card.advice is not None:
        texts = [html.escape(_safe(text, 400)) for text in (card.advice.text, card.advice.command)]
        parts.append(f'<p class="card-advice">{texts[0]} <code>{texts[1]}</code></p>')
    for number, group in enumerate(card.groups):
        parts.append(f'<p class="card-group">{html.escape(_safe(group.title, 100))}</p>')
        for position, row in enumerate(group.rows):
            text = html.escape(f"{f'{share_of(row)}: ' if row.lengths else ''}{_safe(row.summary, 200)}")
            label = _linked(row, html.escape(_safe(row.label, _LABEL_LETTERS)), place)
            use = f'<use href="#{_strip_name(place, number, position)}"></use>'
            parts.append(f'<p class="card-row">{label} {text}</p><svg viewBox="{_STRIP_BOX}" class="card-strip">{use}</svg>')
    return "".join(parts)


def _linked(row: CardRow, label: str, place: CardPlace | None) -> str:
    if place is None or row.delegate not in place.links:
        return label
    return f'<a href="#target={row.delegate}{f"&amp;model={place.model}" if place.model else ""}">{label}</a>'


def _strip_name(place: CardPlace, group: int, row: int) -> str:
    return f"card-{place.model}-{group}-{row}"


def card_image(card: Card) -> bytes:
    """Return the picture as a PNG file of twice its size. Raises MissingPackageError without the package resvg-py."""
    try:
        renderer: Any = import_module("resvg_py")
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "a PNG of a card needs the package resvg-py: pip install resvg-py; SVG needs no package"
        ) from error
    image: bytes = renderer.svg_to_bytes(svg_string=card_picture(card), zoom=2.0)
    return image


def shown_share(row: CardRow) -> str:
    """Return the share of a target as shown in its row."""
    return share(row.part, row.whole) if row.lengths else "-"


def _draw_group(body: list[str], group: CardGroup, number: int, top: int, place: CardPlace | None) -> int:
    bottom = top + _GROUP
    body.append(_text(_MARGIN, bottom, group.title, 12, "card-faint", "600"))
    body.append(_rule(bottom + 8))
    bottom += 8
    for position, row in enumerate(group.rows):
        name = "" if place is None else f' id="{_strip_name(place, number, position)}"'
        bottom = _draw_row(body, row, name, bottom, place)
    return bottom


def _draw_row(body: list[str], row: CardRow, name: str, top: int, place: CardPlace | None) -> int:
    lines = _lines(row.summary, _TEXT_LETTERS, _TEXT_LINES)
    height = max(_ROW, 12 + _LINE * len(lines))
    middle = top + height // 2
    has_link = place is not None and row.delegate in place.links
    label = _text(_MARGIN, middle - 3, _safe(row.label, _LABEL_LETTERS), 13, "card-link" if has_link else "card-ink", "600")
    body.append(_linked(row, label, place))
    body.append(_text(_MARGIN, middle + 11, _safe(row.devices, _DEVICES_LETTERS), 10, "card-faint"))
    strip = f"<g{name}>{''.join(_strip(row))}</g>"
    body.append(f'\n<g transform="translate({_STRIP_LEFT} {middle - _STRIP_HEIGHT // 2})">{strip}</g>')
    body.append(_text(_SHARE_RIGHT, middle - 1, shown_share(row), 13, "card-ink", "700", anchor="end"))
    if row.lengths:
        body.append(
            _text(_SHARE_RIGHT, middle + 12, f"of {'nodes' if row.counts_nodes else 'work'}", 10, "card-faint", anchor="end")
        )
    if row.lengths and row.group != MICROCONTROLLERS_TITLE:
        body.append(_text(_KERNELS_RIGHT, middle - 1, f"{row.kernels:,}", 13, "card-ink", anchor="end"))
        kernels = "kernel" if row.kernels == 1 else "kernels"
        body.append(_text(_KERNELS_RIGHT, middle + 12, kernels, 10, "card-faint", anchor="end"))
    first = middle + 4 - _LINE * (len(lines) - 1) // 2
    for number, line in enumerate(lines):
        body.append(_text(_TEXT_LEFT, first + number * _LINE, line, 12, "card-ink"))
    body.append(_rule(top + height))
    return top + height


def _strip(row: CardRow) -> Iterator[str]:

    if not row.lengths:
        size = f'x="0.5" y="0.5" width="{_STRIP_WIDTH - 1}" height="{_STRIP_HEIGHT - 1}"'
        yield f'\n<rect {size} class="card-line" fill="none" stroke="#d4d8dd" stroke-dasharray="4"/>'
        return
    states, _ = cells(row.lengths, _MOST_CELLS)
    left, width = 0.0, _STRIP_WIDTH / max(len(states), 1)
    opacity = "" if row.is_applied else ' opacity="0.4"'
    for state, members in groupby(states):
        own = width * len(list(members))
        yield (
            f'\n<rect x="{left:.1f}" width="{max(own - 0.6, 0.4):.1f}" height="{_STRIP_HEIGHT}" fill="{_FILLS[state]}"{opacity}/>'
        )
        left += own


def _draw_legend(body: list[str], card: Card, top: int) -> int:
    left = _MARGIN
    for state, words in _LEGEND:
        body.append(f'\n<rect x="{left}" y="{top - 10}" width="12" height="12" fill="{_FILLS[state]}"/>')
        body.append(_text(left + 17, top, words, 11, "card-faint"))
        left += 34 + 6 * len(words)
    text = "Each strip is the model from left to right: a break in the same place is the same node."
    body.append(_text(left + 4, top, text, 11, "card-faint"))
    end = f"Simulated by delegate-sim {card.version} for {card.runtime}{card.aside}."
    return _text_block(body, end, top + 2, 3, 170, 11, "card-faint", "400")


def _text_block(
    body: list[str], text: str, top: int, most: int, letters: int, size: int, kind: str, weight: str, font: str = ""
) -> int:
    bottom = top
    for line in _lines(text, letters, most):
        bottom += size + 5
        body.append(_text(_MARGIN, bottom, line, size, kind, weight, font=font))
    return bottom


def _lines(text: str, letters: int, most: int) -> list[str]:
    lines = textwrap.wrap(_safe(text, letters * most * 2), letters)
    return lines if len(lines) <= most else [*lines[: most - 1], shortened(f"{lines[most - 1]} ...", letters)]


_INKS = {"card-ink": "#1c1f24", "card-faint": "#59616b", "card-link": "#0b57c2"}


def _text(
    left: int, bottom: int, text: str, size: int, kind: str, weight: str = "400", anchor: str = "start", font: str = ""
) -> str:
    family = f' font-family="{font}"' if font else ""
    return (
        f'\n<text x="{left}" y="{bottom}" class="{kind}" fill="{_INKS[kind]}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}"{family}>{html.escape(text)}</text>'
    )


def _rule(bottom: int) -> str:
    return f'\n<path d="M{_MARGIN} {bottom}H{_WIDTH - _MARGIN}" class="card-line" stroke="#d4d8dd"/>'


def _safe(text: str, most: int) -> str:
    return shortened(printable(text), most)


_CELLS = 32
_LETTERS = {DELEGATED: "█", REFUSED: "·", LEFT: "░", MIXED: "▒"}
_STRIP_LEGEND = "█ on the accelerator, ▒ in part, ░ taken, but left on the CPU, · not taken"
_SPECIAL = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_[]<>|#~&$@"})


def card_markdown(card: Card) -> str:
    """Return the card as Markdown: the sentence, the command, and a table for each kind of devices."""
    parts = [f"### {_escaped(card.model, 60)}: {_escaped(card.headline, 400)}", ""]
    if card.advice is not None:
        parts += [_escaped(card.advice.text, 300), "", "```sh", printable(card.advice.command), "```", ""]
    for group in card.groups:
        parts += [f"| {_escaped(group.title, 80)} | {card.nodes:,} nodes | runs | kernels | |", "|---|---|--:|--:|---|"]
        parts += [*map(_line, group.rows), ""]
    end = f"Each strip is the model from left to right: {_STRIP_LEGEND}. "
    end += f"Simulated by delegate-sim {card.version} for {card.runtime}"
    return "\n".join([*parts, f"<sub>{end}{_escaped(card.aside, 600)}.</sub>", ""])


def _line(row: CardRow) -> str:
    kernels = f"{row.kernels:,}" if row.lengths and row.group != MICROCONTROLLERS_TITLE else ""
    cell = f"**{_escaped(row.label, 40)}**<br>{_escaped(row.devices, 60)}"
    return f"| {cell} | {row_strip(row)} | {shown_share(row)} | {kernels} | {_escaped(row.summary, 200)} |"


def row_strip(row: CardRow) -> str:
    """Return the strip of a target as letters in a code span. All strips of a card have the same scale."""
    if not any(count for _, count in row.lengths):
        return ""
    states, _ = cells(row.lengths, _CELLS)
    text = "".join([_LETTERS[state] * len(list(members)) for state, members in groupby(states)])
    return f"`{text}`"


def _escaped(text: str, most: int) -> str:
    return shortened(printable(text), most).translate(_SPECIAL)

"""Assemble the page as one HTML file from the assets, with the content embedded as JSON."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from .card import card_of
from .card_picture import card_picture
from .content import PageView, page_content
from .micro_view import MicroView

_SCRIPTS = ("content.js", "drawing.js", "strip.js", "time.js", "panels.js", "verdicts.js", "arena.js", "page.js")
"""Scripts in the order in which they are joined. All scripts share one scope."""


def page(views: Sequence[PageView | MicroView]) -> str:
    """Return the page for some views as HTML. The page shows the first view when a reader opens it.

    The page loads nothing from the network or from other files.
    """
    return document(page_content(views), card_pictures(views))


def card_pictures(views: Sequence[PageView | MicroView]) -> str:
    """Return the cards of the models with results of several delegates, as HTML that needs no script."""
    by_model: dict[int, list[PageView]] = {}
    for view in views:
        if isinstance(view, PageView):
            by_model.setdefault(id(view.model), []).append(view)
    cards = [card_of(own[0].model, [view.run for view in own]) for own in by_model.values() if len(own) > 1]
    pictures = [card_picture(card, is_file=False, has_patterns=not number) for number, card in enumerate(cards)]
    return (
        f'<section class="cards" aria-label="Results of all targets" tabindex="0">{"".join(pictures)}</section>'
        if pictures
        else ""
    )


def document(content: Mapping[str, Any], cards: str = "") -> str:
    """Return the HTML of a page with content from ``page_content``. ``cards`` is HTML that stands before everything else."""
    script, style = _script(), _asset("page.css")
    names = ", ".join([model["name"] for model in content["models"]])
    parts = {
        "policy": _policy(script, style),
        "title": html.escape(f"{names} - delegate-sim"),
        "style": style,
        "cards": cards,
        "content": as_data(content),
        "script": script,
    }
    written = _asset("page.html")
    # Placeholders are replaced in one pass, so text from a model is never searched for placeholders.
    pieces = []
    for name, text in parts.items():
        before, _, written = written.partition("{{" + name + "}}")
        pieces += [before, text]
    return "".join([*pieces, written])


def as_data(content: Any) -> str:
    """Return content as JSON for an HTML element, with escapes so that no text can end the element."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    for character, escape in escapes.items():
        text = text.replace(character, escape)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def code_digests() -> tuple[str, str]:
    """Return the digests of the script and the style, in the form that content security policies use.

    All pages have the same script and the same style.
    """
    return f"'{_digest(_script())}'", f"'{_digest(_asset('page.css'))}'"


def _script() -> str:
    return "\n".join(['"use strict";', "(() => {", *map(_asset, _SCRIPTS), "})();", ""])


def _policy(script: str, style: str) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")

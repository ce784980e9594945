"""Assemble the page as one HTML file from the assets, with the content embedded as JSON."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from ..runtime.target import Target
from .card import Card, card_of
from .card_picture import CardPlace, card_list, card_markdown, card_picture
from .content import PageView, page_content

_SCRIPTS = ("content.js", "drawing.js", "strip.js", "time.js", "panels.js", "verdicts.js", "arena.js", "share.js", "page.js")
"""Scripts in the order in which they are joined. All scripts share one scope, which has the content."""
_MOST_CAUSES = 5
"""Largest number of causes of a target on a page without JavaScript."""


def page(views: Sequence[PageView], without_answer: Sequence[Target] = (), reason: str = "") -> str:
    """Return the page for some views as HTML, which loads nothing from the network or from other files.

    It opens with the target that the card advises about, or else with the first view. ``reason`` says why the targets in
    ``without_answer`` have no answer.
    """
    content = page_content(views)
    pictures: list[str] = []
    for number, card in cards_of(views, without_answer, reason).items():
        own = [entry for entry in content["views"] if entry["model"] == number]
        links = {entry["delegate"] for entry in own}
        place = CardPlace(number, links, has_patterns=not pictures)
        pictures.append(card_list(card, place) + card_picture(card, place))
        content["models"][number]["card"] = card_markdown(card)
        if number == 0 and card.advice is not None:
            named = (0, card.advice.delegate)
            content["first"] = [(entry["model"], entry["delegate"]) for entry in content["views"]].index(named)
    return document(content, "".join(pictures))


def cards_of(views: Sequence[PageView], without_answer: Sequence[Target] = (), reason: str = "") -> dict[int, Card]:
    """Return the cards of the models with results of several delegates, by the number of the model."""
    models = list({id(view.model): view.model for view in views}.values())
    cards = {}
    for number, model in enumerate(models):
        runs = [view.run for view in views if view.model is model]
        if len(runs) > 1:
            cards[number] = card_of(model, runs, without_answer, reason)
    return cards


def viewer() -> str:
    """Return the page that shows results from links. Its content is in the fragment of its address."""
    return document(None)


def document(content: Mapping[str, Any] | None, cards: str = "") -> str:
    """Return the HTML of a page with content from ``page_content``. ``cards`` is HTML that stands before everything else."""
    script, style = _script(), _asset("page.css")
    names = "A result" if content is None else ", ".join([model["name"] for model in content["models"]])
    parts = {
        "policy": _policy(script, style),
        "title": html.escape(f"{names} - delegate-sim"),
        "style": style,
        "name": html.escape(names),
        "hidden": "" if cards else " hidden",
        "cards": cards,
        "causes": "" if content is None else _causes(content),
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


def _causes(content: Mapping[str, Any]) -> str:

    parts = []
    for view in content["views"]:
        causes = view["causes"] or []
        if causes:
            title = f"{content['models'][view['model']]['name']}, {view['delegate']}: why nodes stay {view['words']['left']}"
            items = [f"<li>{_cause(cause)}</li>" for cause in causes[:_MOST_CAUSES]]
            items += [f"<li>{len(causes) - _MOST_CAUSES:,} more causes</li>"] if len(causes) > _MOST_CAUSES else []
            parts.append(f"<h3>{html.escape(title)}</h3><ul>{''.join(items)}</ul>")
    return f"<h2>Causes</h2>{''.join(parts)}" if parts else ""


def _cause(cause: Mapping[str, Any]) -> str:
    fix = cause["fix"]
    command = f"<br><code>{html.escape(fix['command'])}</code>" if fix else ""
    number = len(cause["nodes"])
    nodes = f"{number:,} {'node' if number == 1 else 'nodes'}"
    return f"<b>{html.escape(cause['title'])}</b> ({nodes}): {html.escape(cause['change'])}{command}"


def as_data(content: Any) -> str:
    """Return content as JSON for an HTML element, with escapes so that no text can end the element."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    for character, escape in escapes.items():
        text = text.replace(character, escape)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def code_digests() -> tuple[str, str]:
    """Return the digests of the script and the style, which all pages share, as content security policies write them."""
    return _digest(_script()), _digest(_asset("page.css"))


def _script() -> str:
    begin = ["function begin(content, options) {", *map(_asset, _SCRIPTS), "}"]
    return "\n".join(['"use strict";', "(() => {", _asset("link.js"), *begin, "start();", "})();", ""])


def _policy(script: str, style: str) -> str:
    own = f"script-src {_digest(script)}; style-src {_digest(style)}; img-src data:"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")

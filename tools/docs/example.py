"""The example of the application and of the site's first page: a model, and its card as HTML."""

from __future__ import annotations

from delegate_sim.api.arguments import target_of
from delegate_sim.api.functions import load
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.page.card import card_of
from delegate_sim.page.card_picture import CardPlace, card_list, card_picture
from delegate_sim.runtime.interpreter import simulate

from .browser import ROOT

EXAMPLE = ROOT / "fixtures" / "models" / "transformer_block.tflite"
CARD_STYLE = ROOT / "tools" / "docs" / "theme" / "card.css"


def example_card() -> str:
    """Return the card of the example on all targets: a picture, and a list for narrow screens. Both need ``CARD_STYLE``."""
    model = load(EXAMPLE)
    card = card_of(model, [simulate(model, target_of(name, {}, None, "benchmark")) for name in DELEGATE_NAMES])
    place = CardPlace(0, frozenset(), has_patterns=True)
    return f'<div class="cards">{card_list(card, place)}{card_picture(card, place).strip()}</div>'

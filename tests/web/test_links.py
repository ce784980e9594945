"""Links to results that the browser application copies."""

from __future__ import annotations

import re

import pytest

from delegate_sim import load
from delegate_sim.api.arguments import target_of
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.page.content import PageView
from delegate_sim.page.document import page as page_of
from delegate_sim.runtime.interpreter import simulate
from tests.support.pages import MODELS

pytestmark = pytest.mark.slow

MODEL = (MODELS / "transformer_block.tflite").read_bytes()


def test_a_link_opens_the_same_card_without_python(opened, tmp_path):
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.drop(("block.tflite", MODEL))
    opened.idle()
    page = opened.page
    page.click("text=Copy link to this result")
    page.get_by_text("No server sees it").wait_for(timeout=90_000)
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{opened.address}view.html#result=")
    seen = opened.context.new_page()
    seen.goto(link)
    seen.wait_for_selector("body.ready")
    (tmp_path / "block.tflite").write_bytes(MODEL)
    model = load(tmp_path / "block.tflite")
    runs = [PageView(model, simulate(model, target_of(name, {}, None, "benchmark"))) for name in DELEGATE_NAMES]
    cards = re.search(r'<section class="cards"[^>]*>(.*?)</section>', page_of(runs), re.DOTALL)[1]
    same = seen.evaluate("text => Object.assign(document.createElement('div'), { innerHTML: text }).innerHTML", cards)
    assert seen.inner_html(".cards") == same
    assert seen.locator(".causes > li").count() > 0
    seen.close()
    assert opened.outside == []

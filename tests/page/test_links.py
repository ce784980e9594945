"""Links to results: what the page copies, and what the viewer shows of a fragment."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

from delegate_sim.page.document import page, viewer
from tests.support.hostile_names import hostile_model
from tests.support.pages import MODELS, views

WIDE = {"width": 1280, "height": 900}
BLOCKED = "The action has been blocked."
"""The policy of the page blocks what a damaged link tries, before the page refuses the link."""


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Return the addresses of the viewer, and of pages whose links open it."""
    folder = tmp_path_factory.mktemp("links")
    (folder / "try").mkdir()
    (folder / "try" / "view.html").write_text(viewer(), encoding="utf-8")
    block = views(str(MODELS / "transformer_block.tflite"), delegates=("nnapi", "gpu", "hexagon"))
    for name, own in (("targets", block), ("hostile", views(hostile_model().bytes(), delegates=("nnapi", "gpu")))):
        text = page(own).replace('"site":""', json.dumps("site") + ":" + json.dumps(f"{folder.as_uri()}/"))
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {
        name: (folder / path).as_uri()
        for name, path in (("viewer", "try/view.html"), ("targets", "targets.html"), ("hostile", "hostile.html"))
    }


@pytest.fixture
def opened(browser):
    """Return what opens an address; when the test is over, nothing may have gone wrong in it."""
    wrong = []
    context = browser.new_context(viewport=WIDE, permissions=["clipboard-read", "clipboard-write"])

    def open_page(address):
        shown = context.new_page()
        shown.on(
            "console",
            lambda message: (
                wrong.append(message.text) if message.type in ("error", "warning") and BLOCKED not in message.text else None
            ),
        )
        shown.on("pageerror", lambda error: wrong.append(str(error)))
        shown.on(
            "request",
            lambda request: (
                None
                if request.url.split("#")[0] == address.split("#")[0] or request.url.startswith(("data:", "blob:"))
                else wrong.append(request.url[:80])
            ),
        )
        shown.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
        shown.goto(address)
        return shown

    yield open_page
    context.close()
    assert not wrong


def copied(shown, button):
    """Press a button and return the text on the clipboard."""
    shown.click(f"text={button}")
    shown.wait_for_function("() => document.querySelector('.share [role=status]').textContent")
    return shown.evaluate("navigator.clipboard.readText()")


def packed(value):
    """Return a value as the page packs it."""
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    compressor = zlib.compressobj(wbits=-15)
    return base64.urlsafe_b64encode(compressor.compress(text) + compressor.flush()).rstrip(b"=").decode()


@pytest.mark.parametrize("name", ["targets", "hostile"])
def test_a_link_opens_in_the_viewer_with_the_same_card(opened, addresses, name):
    shown = opened(addresses[name])
    link = copied(shown, "Copy link to this result")
    assert link.startswith(addresses["viewer"] + "#result=")
    assert len(link) < 60_000
    seen = opened(link)
    seen.wait_for_selector("body.ready")
    assert seen.inner_html(".cards") == shown.inner_html(".cards")
    for part in ("#verdicts", "#panel-causes"):
        assert seen.text_content(part) == shown.text_content(part)
    assert seen.locator(".card").count() == 1
    assert seen.text_content("#model") == shown.text_content("#model")
    assert seen.evaluate("window.hit") is None


def test_a_link_shows_the_target_and_the_node_that_were_chosen(opened, addresses):
    shown = opened(addresses["targets"] + "#target=hexagon&node=7")
    assert shown.input_value("#shown") == "2"
    assert shown.text_content("#panel-node h3").startswith("Node 7:")
    link = copied(shown, "Copy link to this result")
    assert link.endswith("&target=hexagon&node=7")
    seen = opened(link)
    assert seen.text_content("#panel-node h3").startswith("Node 7:")
    seen.wait_for_timeout(100)
    assert seen.evaluate(COLORS) > 2
    seen.click(".card a[href='#target=gpu']")
    assert seen.input_value("#shown") == "1"
    assert "#result=" in seen.url


def test_the_address_follows_the_choice(opened, addresses):
    shown = opened(addresses["targets"])
    shown.click(".card a[href='#target=gpu']")
    shown.wait_for_url("**#target=gpu*")
    shown.evaluate("location.hash = '#target=hexagon&node=3'")
    shown.wait_for_function("() => document.querySelector('#shown').value === '2'")
    assert shown.text_content("#panel-node h3").startswith("Node 3:")


def test_unknown_places_change_nothing(opened, addresses):
    shown = opened(addresses["targets"] + "#target=%3Cscript%3E&node=1e9&subgraph=-4&model=x")
    assert shown.input_value("#shown") == opened(addresses["targets"]).input_value("#shown")


def test_a_saved_page_has_the_result_of_the_link(opened, addresses, tmp_path):
    seen = opened(copied(opened(addresses["targets"]), "Copy link to this result"))
    with seen.expect_download() as download:
        seen.click("text=Save page")
    download.value.save_as(tmp_path / "saved.html")
    saved = opened((tmp_path / "saved.html").as_uri())
    assert saved.inner_html(".cards") == seen.inner_html(".cards")
    assert saved.inner_html("#verdicts") == seen.inner_html("#verdicts")


def test_the_card_is_copied_as_markdown_and_as_a_picture(opened, addresses):
    shown = opened(addresses["targets"])
    assert copied(shown, "Copy Markdown").startswith("### ")
    shown.click("text=Copy picture")
    shown.wait_for_function("() => document.querySelector('.share [role=status]').textContent.includes('picture')")
    types = shown.evaluate("navigator.clipboard.read().then((items) => items.flatMap((item) => item.types))")
    assert types == ["image/png"]


COLORS = """() => {
  const canvas = document.querySelector('#drawings canvas');
  return new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
}"""
CARD = '<svg viewBox="0 0 9 9" class="card">{}</svg>'
GROUPS = "".join([f'<g id="card-{number}">{f"<use href=#card-{number + 1}></use>" * 2}</g>' for number in range(25)])
FILLS = "".join([f'<pattern id="card-{own}"><rect fill="url(#card-{other})"></rect></pattern>' for own, other in ("ab", "bc")])
DAMAGED = {
    "empty": "",
    "no base64": "%%%",
    "no stream": "AAAA",
    "cut": packed({"content": {"views": []}, "cards": "x" * 5000})[:-12],
    "bomb": packed(b"[" + b"0," * 40_000_000 + b"0]"),
    "no JSON": packed(b"<script>window.hit = 1</script>"),
    "no object": packed(None),
    "no views": packed({"content": {"views": []}, "cards": ""}),
    "script": packed({"content": {}, "cards": CARD.format("<script>window.hit = 1</script>")}),
    "handler": packed({"content": {}, "cards": '<svg class="card" onload="window.hit = 1"></svg>'}),
    "image": packed({"content": {}, "cards": "<img src=x onerror='window.hit = 1'>"}),
    "address": packed({"content": {}, "cards": CARD.format('<a href="javascript:window.hit = 1">x</a>')}),
    "request": packed({"content": {}, "cards": CARD.format('<rect fill="url(https://example.com/x)"></rect>')}),
    "groups": packed({"content": {}, "cards": CARD.format(GROUPS)}),
    "one group": packed({"content": {}, "cards": CARD.format('<g id="card-1"></g>' + '<use href="#card-1"></use>' * 2)}),
    "patterns": packed({"content": {}, "cards": CARD.format(FILLS)}),
    "style": packed({"content": {}, "cards": CARD.format("<style>* { display: none }</style>")}),
}


@pytest.mark.parametrize("name", ["groups", "one group", "patterns"])
def test_a_card_that_repeats_itself_is_not_drawn(opened, addresses, name):
    seen = opened(f"{addresses['viewer']}#result={DAMAGED[name]}")
    assert "its card draws a part several times" in seen.inner_text(".problem")


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_link_gives_one_line(opened, addresses, name):
    seen = opened(f"{addresses['viewer']}#result={DAMAGED[name]}")
    seen.wait_for_selector(".problem")
    assert seen.locator("main > *").count() == 1
    assert seen.inner_text("body").strip() == seen.inner_text(".problem")
    assert "\n" not in seen.inner_text(".problem")
    assert seen.evaluate("window.hit") is None


def test_the_viewer_without_a_result_says_what_it_is_for(opened, addresses):
    seen = opened(addresses["viewer"])
    assert "open the whole link" in seen.inner_text(".problem")

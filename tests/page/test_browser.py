"""The page in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import json
import re

import pytest

LIGHT, DARK = "light", "dark"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture
def opened(browser, pages):
    """Return what opens a page; when the test is over, nothing may have gone wrong in it."""
    contexts, wrong = [], []

    def open_page(name, viewport=WIDE, scheme=LIGHT):
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.split("#")[0] == pages[name].split("#")[0] else wrong.append(f"request {request.url[:80]}")
            ),
        )
        page.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
        page.goto(pages[name])
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def text(page, selector):
    return page.text_content(selector).replace("\u00a0", " ")


def drawn(page, selector):
    """Return how many different colors a canvas has."""
    return page.evaluate(
        """selector => {
          const canvas = document.querySelector(selector);
          const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
          return new Set(pixels).size;
        }""",
        selector,
    )


def ink(page):
    """Return the left, top, right and bottom of the drawing on the canvas of the graph, in pixels; None if nothing is."""
    page.wait_for_timeout(60)
    return page.evaluate(
        """() => {
          const canvas = document.querySelector('#drawings canvas');
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
          copy.drawImage(canvas, 0, 0);
          const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
          const edges = [Infinity, Infinity, -1, -1];
          for (let y = 0; y < canvas.height; y += 1) for (let x = 0; x < canvas.width; x += 1) {
            if (!data[(y * canvas.width + x) * 4 + 3]) continue;
            edges[0] = Math.min(edges[0], x);
            edges[1] = Math.min(edges[1], y);
            edges[2] = Math.max(edges[2], x);
            edges[3] = Math.max(edges[3], y);
          }
          return edges[2] < 0 ? null : edges;
        }"""
    )


def drag_out_of_sight(page):
    """Drag the drawing of the graph until nothing of it is on the canvas."""
    page.locator("#drawings canvas").scroll_into_view_if_needed()
    at = page.locator("#drawings canvas").bounding_box()
    for _ in range(8):
        page.mouse.move(at["x"] + 10, at["y"] + 10)
        page.mouse.down()
        page.mouse.move(at["x"] + at["width"] - 10, at["y"] + 10)
        page.mouse.up()
        if ink(page) is None:
            return
    raise AssertionError("the drawing is still in sight")


@pytest.mark.parametrize("name", ["targets", "models", "hostile", "subgraphs", "fails", "many", "empty"])
@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, LIGHT), (NARROW, DARK)])
def test_the_page_opens_without_errors_and_draws(opened, name, viewport, scheme):
    page = opened(name, viewport, scheme)
    page.wait_for_function("document.querySelector('#drawings canvas').width > 300")
    page.wait_for_timeout(50)
    assert drawn(page, "#drawings canvas") > 3
    assert drawn(page, "#strips canvas") >= (1 if name == "empty" else 2)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("[...document.querySelectorAll('.cards')].every((cards) => cards.scrollWidth <= cards.clientWidth)")


def test_the_verdict_says_how_much_is_delegated_and_what_stays(opened):
    page = opened("targets")
    assert "11.1 %" in text(page, ".headline")
    assert "6 FULLY_CONNECTED" in text(page, ".headline")
    assert page.locator(".verdict.part").count() == 1
    assert "yielding 9 partitions" in text(page, ".log")


def test_the_table_of_targets_has_both_shares_and_repeats_no_target(opened):
    page = opened("targets")
    page.click("#targets-section summary")
    assert page.locator("#targets th").all_inner_texts()[:3] == ["target", "nodes", "multiply-adds"]
    assert text(page, "#targets tbody tr") == (
        "nnapi on litert-2.36 FULLY_CONNECTED (operator version above the maximum) stay on the CPU90.4 %11.1 %9"
        + text(page, "#targets tbody td:last-child")
    )
    for delegate, summary in zip(("NNAPI", "GPU", "Hexagon"), page.locator(".summary").all_inner_texts(), strict=True):
        assert delegate not in summary
        assert "%" not in summary


def test_a_model_that_does_not_run_is_not_shown_as_delegated(opened):
    page = opened("fails")
    page.select_option("#beside", "-1")
    assert "9 of 17 nodes" in text(page, ".headline")
    assert page.locator(".verdict.bad").count() == 1
    assert page.locator("#targets tr.bad").count() == 2
    page.click("#tab-nodes")
    assert page.locator("#panel-nodes .taken").count() == 9
    assert page.locator(".delegated, .facts").count() == 0


def test_each_target_beside_another_has_its_verdict(opened):
    page = opened("targets")
    page.select_option("#beside", "1")
    first, second = page.locator(".verdict").all()
    assert first.locator(".name").inner_text().startswith("A: transformer_block.tflite: nnapi")
    assert second.locator(".headline").inner_text().startswith("GPU runs")
    assert first.locator(".log").inner_text() != second.locator(".log").inner_text()
    page.click("#tab-causes")
    assert text(page, "#panel-causes .name").startswith("A: ")
    page.select_option("#beside", "-1")
    assert page.locator(".verdict").count() == 1
    assert page.locator("#beside option:disabled").all_inner_texts() == page.locator("#shown option:checked").all_inner_texts()


def test_a_window_without_room_for_the_drawing_is_no_error(opened):
    page = opened("targets", {"width": 390, "height": 40})
    page.wait_for_timeout(100)
    assert ink(page) is not None


def test_search_finds_by_operator_by_code_and_by_name(opened):
    page = opened("targets")
    for query, number in (("fully_connected", None), ("nnapi-operator-version", 6), ("no such thing", 0)):
        page.fill("#search", query)
        found = text(page, "#matches")
        assert found == "nothing found" if number == 0 else re.fullmatch(r"\d+ nodes", found)
        if number:
            assert found == f"{number} nodes"
    page.fill("#search", "nnapi-operator-version")
    page.press("#search", "Enter")
    assert text(page, "#matches") == "1 of 6"
    assert "FULLY_CONNECTED" in text(page, "#panel-node h3")
    page.click("#previous")
    assert text(page, "#matches") == "6 of 6"
    page.click("#tab-nodes")
    assert page.locator("#panel-nodes tbody button").count() == 6


def test_a_click_on_a_node_shows_its_reason_and_what_to_change(opened):
    page = opened("targets")
    page.wait_for_function("document.querySelector('#drawings canvas').width > 300")
    place = node_place(page, "FULLY_CONNECTED")
    page.mouse.click(*place)
    panel = text(page, "#panel-node")
    assert "nnapi-operator-version" in panel
    assert "version at most" in panel
    assert "What to change" in panel
    assert "input 0" in panel
    assert "FULLY_CONNECTED, on the CPU, refused" in text(page, "#announcer")


def node_place(page, op):
    """Return where the first node of an operator on the CPU is on the screen, as the page fits the drawing into the canvas."""
    content = json.loads(text(page, "#content"))
    view, graph = content["views"][0]["subgraphs"][0], content["graphs"][0]
    position = next(p for p, state in enumerate(view["states"]) if state and graph["ops"][graph["op"][p]] == op)
    boxes = view["boxes"]
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[0] + box[2] for box in boxes), max(box[1] + box[3] for box in boxes)
    canvas = page.locator("#drawings canvas")
    canvas.scroll_into_view_if_needed()
    at = canvas.bounding_box()
    width, height = at["width"] - 2, at["height"] - 2
    scale = min((width - 40) / (right - left), (height - 40) / (bottom - top), 1.4)
    node = [size / 2 for size in content["sizes"]["node"]]
    x = width / 2 + (view["x"][position] + node[0] - (left + right) / 2) * scale
    y = height / 2 + (view["y"][position] + node[1] - (top + bottom) / 2) * scale
    return at["x"] + 1 + x, at["y"] + 1 + y


def test_a_click_on_the_strip_selects_the_node(opened):
    page = opened("targets")
    page.locator("#strips canvas").scroll_into_view_if_needed()
    at = page.locator("#strips canvas").bounding_box()
    page.mouse.click(at["x"] + 4, at["y"] + 10)
    assert text(page, "#panel-node h3").startswith("Node 0:")


def test_the_switch_switches(opened):
    page = opened("targets")
    page.click("#targets-section summary")
    page.select_option("#shown", "1")
    assert "GPU runs 98.4 % of nodes" in text(page, ".headline")
    page.click("#targets tbody tr:nth-child(3) button")
    assert page.input_value("#shown") == "2"
    assert "none of 63 nodes" in text(page, ".headline")
    assert page.locator("#targets tr.current").count() == 1


def test_a_node_stays_selected_when_the_target_changes(opened):
    page = opened("targets")
    page.focus("#drawings canvas")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    before = text(page, "#panel-node h3").split(":")[0]
    page.select_option("#shown", "1")
    assert text(page, "#panel-node h3").split(":")[0] == before


def test_two_models_stand_side_by_side(opened):
    page = opened("models")  # with exactly two views, the page opens with both
    page.click("#tab-differences")
    assert page.locator("#drawings canvas").count() == 2
    assert page.locator("#strips canvas").count() == 2
    differences = text(page, "#panel-differences")
    assert "transformer_block.tflite" in differences
    assert "mobilenet_block.tflite" in differences
    assert re.search(r"Only in A: \d+ nodes", differences)


def test_what_two_targets_do_otherwise_is_listed(opened):
    page = opened("targets")
    page.select_option("#beside", "1")
    differences = text(page, "#panel-differences")
    assert "in B: 6 nodes" in differences
    entries = page.locator("#panel-differences li").all()
    assert [entry.inner_text().split(", ")[0] for entry in entries] == ["GATHER", "FULLY_CONNECTED"]
    assert [entry.locator("button").count() for entry in entries] == [1, 6]
    assert "Only in" not in differences  # an empty group has no heading
    page.click("#panel-differences button >> nth=0")
    assert "gpu" in text(page, "#panel-node")


def test_a_cause_marks_its_nodes(opened):
    page = opened("targets")
    button = page.locator(".causes > li > button").first
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert "6 nodes marked" in text(page, "#announcer")
    page.click("#tab-nodes")
    assert page.locator("#panel-nodes tbody button").count() == 6
    page.click("#tab-causes")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    page.click("#tab-boundaries")
    page.locator("#panel-boundaries tbody button").first.click()
    page.click("#tab-causes")
    assert button.get_attribute("aria-pressed") == "false"  # the nodes of a partition are shown without the marks of the cause


def test_a_cause_marks_the_nodes_that_it_also_frees_only_faintly(opened):
    page = opened("frees")
    page.locator(".causes > li > button").first.click()
    assert "20 nodes" in text(page, "#panel-causes")
    assert "1 node marked, and 20 that the fix also frees, faintly" in text(page, "#announcer")
    page.click("#tab-nodes")
    assert page.locator("#panel-nodes tbody button").count() == 1


def test_the_nodes_of_a_cause_come_into_view(opened):
    page = opened("targets")
    drag_out_of_sight(page)
    page.locator(".causes > li > button").first.click()
    left, top, right, bottom = ink(page)
    assert right - left > 200
    assert bottom - top > 100


def test_a_partition_in_view_is_marked_where_it_is(opened):
    page = opened("targets")
    page.click("#fit")
    whole = ink(page)
    page.click("#tab-boundaries")
    for number in range(page.locator("#panel-boundaries tbody button").count()):
        page.locator("#panel-boundaries tbody button").nth(number).click()
        assert ink(page) == pytest.approx(whole, abs=3)
        page.click("#tab-boundaries")
    drag_out_of_sight(page)
    page.locator("#panel-boundaries tbody button").first.click()
    assert ink(page) is not None


@pytest.mark.parametrize("width", [390, 1000, 1400, 1900])
@pytest.mark.parametrize("tab", ["boundaries", "nodes", "node"])
def test_no_table_is_cut_and_no_word_broken(opened, width, tab):
    page = opened("targets", {"width": width, "height": 900})
    page.click("#tab-nodes")
    if tab == "node":
        page.locator("#panel-nodes button").nth(20).click()
    else:
        page.click(f"#tab-{tab}")
    assert page.evaluate(
        """selector => {
          const scroller = document.querySelector(selector);
          return scroller.scrollWidth <= scroller.clientWidth;
        }""",
        f"#panel-{tab} .scroll",
    )
    assert not broken_words(page, f"#panel-{tab}")


@pytest.mark.parametrize("width", [390, 1000])
def test_the_table_of_targets_breaks_no_word(opened, width):
    page = opened("models", {"width": width, "height": 900})
    assert page.locator("#targets button").first.inner_text() == "transformer_block.tflite: nnapi on litert-2.3"
    assert not broken_words(page, "#targets")


def broken_words(page, selector):
    """Return the words of an element, and the parts of names between separators, that are broken into lines."""
    return page.evaluate(
        """selector => {
          const broken = [];
          const texts = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) {
            for (const word of texts.currentNode.data.matchAll(/[^\\s_./:;-]+/g)) {
              const range = document.createRange();
              range.setStart(texts.currentNode, word.index);
              range.setEnd(texts.currentNode, word.index + word[0].length);
              if (new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size > 1) broken.push(word[0]);
            }
          }
          return broken;
        }""",
        selector,
    )


def test_causes_that_must_be_fixed_together_are_named_by_their_numbers(opened):
    page = opened("models")
    page.select_option("#shown", "1")
    causes = page.locator(".causes > li > button").count()
    numbers = re.findall(r"(?:does not help: causes?|together with causes?) ([\d, ]*\d)", page.inner_text("#panel-causes"))
    assert numbers
    assert all(1 <= int(number) <= causes for text in numbers for number in text.split(", "))


def test_causes_that_are_left_out_are_named_with_the_limit(opened):
    assert opened("left out").inner_text("#panel-causes").strip() == "Causes not simulated: a limit"


def test_the_keyboard_steps_through_the_plan(opened):
    page = opened("targets")
    page.focus("#drawings canvas")
    page.keyboard.press("Home")
    assert text(page, "#panel-node h3").startswith("Node 0:")
    page.keyboard.press("ArrowRight")
    assert "2 of 63" in text(page, "#panel-node")
    page.keyboard.press("End")
    assert "63 of 63" in text(page, "#panel-node")
    page.focus("#tab-node")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-boundaries", "aria-selected") == "true"
    assert page.locator("#panel-boundaries tbody button").count() == 9


def test_the_keyboard_keeps_its_place_where_a_link_was_followed(opened):
    page = opened("targets")
    page.click("#targets-section summary")
    page.locator("#targets button").nth(1).press("Enter")
    assert page.evaluate("document.activeElement.textContent").startswith("gpu")
    page.select_option("#shown", "0")
    page.click("#tab-boundaries")
    page.locator("#panel-boundaries button").nth(3).press("Enter")
    assert page.evaluate("document.activeElement.id") == "panel-node"


def test_partitions_close_and_open(opened):
    page = opened("targets")
    page.click("#closed")
    assert page.get_attribute("#closed", "aria-pressed") == "true"
    page.focus("#drawings canvas")
    page.keyboard.press("Enter")
    assert page.get_attribute("#closed", "aria-pressed") == "false"


def test_subgraphs_are_chosen(opened):
    page = opened("subgraphs")
    page.select_option("#subgraph", "1")
    page.click("#tab-nodes")
    assert page.locator("#panel-nodes tbody button").count() >= 1


def test_a_hostile_model_does_nothing(opened):
    page = opened("hostile")
    page.click("#tab-nodes")
    for number in range(page.locator("#panel-nodes tbody button").count()):
        page.click("#tab-nodes")
        page.locator("#panel-nodes tbody button").nth(number).click()
    page.fill("#search", "<script>")
    assert re.fullmatch(r"\d+ nodes?", text(page, "#matches"))
    page.click("#tab-boundaries")
    assert page.evaluate("window.hit") is None
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    assert "\u202e" not in page.content()


def test_paper_has_the_causes_and_the_boundaries(opened):
    page = opened("targets")
    page.emulate_media(media="print")
    assert page.is_visible("#panel-causes")
    assert page.is_visible("#panel-boundaries")
    assert not page.is_visible("#search")
    assert len(page.pdf()) > 10_000


@pytest.mark.parametrize(("name", "scheme"), [("targets", LIGHT), ("targets", DARK), ("hostile", LIGHT), ("fails", DARK)])
def test_nothing_keeps_people_out(opened, name, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the package axe-playwright-python is not installed"
    )
    page = opened(name, WIDE, scheme)
    for tab in ("causes", "node", "boundaries", "nodes"):
        if tab == "node":
            page.focus("#drawings canvas")
            page.keyboard.press("Home")
        page.click(f"#tab-{tab}")
        # The policy of the page forbids the checker's own script as it forbids any other; evaluating is not bound by it.
        found = axe.Axe().run(page)
        assert not found.response["violations"], found.generate_report()


def test_measured_times_make_a_strip_and_an_order(opened):
    page = opened("timed")
    widths = page.eval_on_selector_all(".bar", "bars => bars.map((bar) => bar.getBoundingClientRect().width)")
    assert len(widths) == 9
    assert max(widths[0::2]) > 4 * max(widths[1::2])
    page.click(".bar.node >> nth=0")
    page.click("#tab-node")
    assert "measured time" in text(page, "#panel-node")
    assert "0.250 ms" in text(page, "#panel-node")
    page.click("#tab-nodes")
    page.click("#panel-nodes >> text=Sort by time")
    assert text(page, "#panel-nodes tr.first >> nth=0").startswith("10")
    page.click("#tab-boundaries")
    assert "6.500 ms" in text(page, "#panel-boundaries tr.first >> nth=0")


def test_the_arena_is_shown_for_the_chosen_model_on_micro(opened):
    page = opened("micro")
    assert page.is_visible("#arena-picture")
    assert page.locator("#arena-picture rect").count() > 3
    assert "head 2,560" in text(page, "#arena-note")
    page.select_option("#shown", "1")
    assert not page.is_visible("#arena-picture")
    assert "Why nodes stay unsupported" in text(page, "#panel-causes")
    page.click("#tab-boundaries")
    assert "no boundaries" in text(page, "#panel-boundaries")

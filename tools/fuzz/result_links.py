"""Open links to results that anybody could have made, in the system's Chromium.

Each mutant is the content of a link. The viewer must show it, or refuse it in one line, within ``_SECONDS``. A script that runs,
a dialog, a request and an error that nothing catches are findings. ``python -m tools.fuzz.result_links --time 60 --seed 1``
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import random
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from delegate_sim.api.arguments import target_of
from delegate_sim.api.load import load
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.page.content import PageView
from delegate_sim.page.document import page, viewer
from tools.docs.browser import FLAGS, chromium_path
from tools.fuzz.changes import changed_json, changed_text
from tools.fuzz.findings import Finding, Findings

KIND = "result-link"
_MODELS = ("transformer_block", "several_subgraphs")
_TARGETS = ("nnapi", "gpu", "coreml")
_SECONDS = 20
_HIT = "window.hit = 1"
_PIECES = (
    f"<script>{_HIT}</script>", f'<img src=x onerror="{_HIT}">', f'<svg onload="{_HIT}">', f'<a href="javascript:{_HIT}">x</a>',
    '<rect fill="url(https://example.com/x)"/>', '<use href="#card-0-0-0"></use>', '<g id="card-1">', "</g>", "</svg>", "<style>",
    '<use href="https://example.com/#a"/>', "<foreignObject>", "<template>", "<math><mtext>", "<!--", "]]>", "<iframe>",
    '<rect fill="url(#card-left)"/>', '<pattern id="card-a">', '<image href="//example.com/x"/>', ' style="x"', ' id="content"',
)  # fmt: skip
"""Pieces for the cards of a link."""
_PLACES = ("", "&target=gpu", "&target=%3Cscript%3E&node=1e9", "&target=nnapi&node=-1&subgraph=99&view=2&model=x", "&result=AAAA")


class Seed(NamedTuple):
    """The content of a link: JSON, and the HTML of its cards."""

    content: str
    cards: str


def seeds() -> list[Seed]:
    """Return the content of links to results."""
    links = []
    for stem in _MODELS:
        model = load(f"fixtures/models/{stem}.tflite")
        diagnoses = [diagnose(model, target_of(name, {}, None, "benchmark")) for name in _TARGETS]
        text = page([PageView(model, diagnosis.run, diagnosis) for diagnosis in diagnoses])
        content, cards = (
            re.search(r'id="content">(.*?)</script>', text, re.S),
            re.search(r'class="cards"[^>]*>(.*?)</section>', text, re.S),
        )
        assert content is not None
        assert cards is not None
        links.append(Seed(content[1], cards[1]))
    return links


def mutant(own: str, given: Sequence[Seed]) -> bytes:
    """Return the fragment of a mutant, as bytes of a file."""
    generator = random.Random(own)
    content, cards = generator.choice(given)
    choice = generator.randrange(4)
    if choice < 2:
        content = changed_json(generator, content.encode()).decode("utf-8", "replace")
    if choice > 0:
        cards = changed_text(*_PIECES)(generator, cards.encode()).decode("utf-8", "replace")
    fragment = fragment_of(Seed(content, cards))
    if generator.random() < 0.05:
        fragment = fragment[: generator.randrange(len(fragment) + 1)]
    return fragment + generator.choice(_PLACES).encode()


def fragment_of(seed: Seed) -> bytes:
    """Return the fragment of a link, packed as the page packs it."""
    text = f'{{"content":{seed.content},"cards":{json.dumps(seed.cards)}}}'.encode("utf-8", "replace")
    compressor = zlib.compressobj(wbits=-15)
    return b"result=" + base64.urlsafe_b64encode(compressor.compress(text) + compressor.flush()).rstrip(b"=")


class Viewer:
    """The page that shows links, in a browser."""

    def __init__(self, browser: Any, address: str) -> None:
        self._browser = browser
        self._address = address

    def wrong(self, fragment: str) -> tuple[str, str]:
        """Open a link. Return what went wrong, and details; both are empty if nothing did."""
        wrong: list[tuple[str, str]] = []
        context = self._browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(_SECONDS * 1000)
        try:
            shown = context.new_page()
            shown.on("pageerror", lambda error: wrong.append(("error", str(error)[:2000])))
            shown.on("dialog", lambda dialog: self._close(dialog, wrong))
            shown.on("request", lambda request: self._check_request(request.url, wrong))
            shown.goto(f"{self._address}#{fragment}")
            shown.wait_for_selector("body.ready, .problem", state="attached")
            if shown.evaluate("window.hit") is not None:
                wrong.append(("escape", "a script of the link ran"))
        except self._timeout() as error:
            wrong.append(("timeout", str(error)[:2000]))
        finally:
            context.close()
        return wrong[0] if wrong else ("", "")

    @staticmethod
    def _close(dialog: Any, wrong: list[tuple[str, str]]) -> None:
        wrong.append(("escape", "a dialog"))
        dialog.dismiss()

    def _check_request(self, url: str, wrong: list[tuple[str, str]]) -> None:
        if url.partition("#")[0] != self._address and not url.startswith(("data:", "blob:")):
            wrong.append(("escape", f"a request of {url[:200]}"))

    @staticmethod
    def _timeout() -> type[Exception]:
        timeout: type[Exception] = import_module("playwright.sync_api").TimeoutError
        return timeout


@contextmanager
def opened_viewer() -> Iterator[Viewer]:
    """Start the system's Chromium, and yield the page that shows links."""
    with tempfile.TemporaryDirectory() as folder, import_module("playwright.sync_api").sync_playwright() as playwright:
        path = Path(folder, "view.html")
        path.write_text(viewer(), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=[*FLAGS])
        yield Viewer(browser, path.as_uri())
        browser.close()


def main() -> int:
    """Open mutants until the time is over or enough have been opened; return 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--runs", type=int, help="stop after so many mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="where mutants that went wrong are kept")
    arguments = parser.parse_args()
    given, findings = seeds(), Findings(arguments.findings)
    end = time.monotonic() + (math.inf if arguments.runs else arguments.time)
    number = arguments.first
    with opened_viewer() as shown:
        while time.monotonic() < end and number != arguments.first + (arguments.runs or sys.maxsize):
            own = f"{arguments.seed}:{number}"
            content = mutant(own, given)
            what, detail = shown.wrong(content.decode())
            if what:
                findings.add(Finding(own, what, detail, content, KIND, ".txt"), lambda finding: finding.content)
            number += 1
    print(f"seed {arguments.seed}, up to mutant {number - 1:,}: {findings}")
    return 1 if len(findings) else 0


if __name__ == "__main__":
    sys.exit(main())

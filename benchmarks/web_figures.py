"""Time and memory of the browser application in Chromium (``make web-figures``, on Linux)."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.builder import ModelBuilder
from fixtures.image_models import image_model
from tools.docs import web
from tools.docs.browser import ROOT, chromium, distilbert

if TYPE_CHECKING:
    from playwright.sync_api import Page

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_LARGE = 500 * 1024 * 1024


def main() -> int:
    """Print a row for each step."""
    print("| step | seconds | seconds of CPU | memory of Python, MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, web.served(web.DIST) as (address, _), chromium() as browser:
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        _row("first visit: the drop area appears", page, lambda: page.goto(address))
        _row("first visit: Python is ready", page, lambda: page.wait_for_selector("body.ready", timeout=300_000))
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        mobilenet = ROOT / "fixtures" / "models" / "mobilenet_block.tflite"
        _row("later visit: the page shows the first verdict on a mobilenet", page, lambda: _opened(page, address, mobilenet))
        for name, content in (
            ("DistilBERT, 3,224 nodes", distilbert()),
            ("30,003 nodes", image_model(30_000).bytes()),
            ("a file of 500 MB", _with_large_weights()),
        ):
            path = Path(folder) / f"{re.sub('[^a-z]', '', name.lower())}.tflite"
            path.write_bytes(content)
            _row(f"{name}: all targets", page, lambda path=path: _chosen(page, path))  # type: ignore[misc]
            if "DistilBERT" in name:
                _row(f"{name}: report on NNAPI", page, lambda: _report(page))
            page.click(".close")
    return 0


def _row(name: str, page: Page, step: Callable[[], object]) -> None:
    used, started = _cpu(), time.perf_counter()
    step()
    seconds, used = time.perf_counter() - started, _cpu() - used
    memory = ""
    if page.locator("body.ready").count():
        memory = f"{page.workers[0].evaluate('pyodide._module.HEAP8.length') / 1e6:,.0f}"
    print(f"| {name} | {seconds:.1f} | {used:.1f} | {memory} |", flush=True)


def _opened(page: Page, address: str, model: Path) -> None:
    page.goto(address)
    _chosen(page, model)


def _chosen(page: Page, model: Path) -> None:
    page.set_input_files("#files", model)
    page.locator("#model-list .model[aria-pressed=true]", has_text=model.name).wait_for(timeout=300_000)
    _idle(page)


def _report(page: Page) -> None:
    page.click("#tab-report")
    _idle(page)
    page.frame_locator("#panel iframe").locator(".headline").wait_for()


def _idle(page: Page) -> None:
    page.locator("#doing").filter(has_text=re.compile("^Ready$")).wait_for(timeout=300_000)


def _with_large_weights() -> bytes:
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    size = _LARGE // 4 // 1000
    weights = graph.tensor("weights", "FLOAT32", [1000, size], data=bytes(4000 * size))
    given, result = graph.input("x", "FLOAT32", [1, size]), graph.tensor("y", "FLOAT32", [1, 1000])
    graph.node("FULLY_CONNECTED", [given, weights], [result])
    graph.outputs(result)
    return builder.bytes()


def _cpu() -> float:
    """Return the seconds of CPU that the processes below this one have used."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        process = int(folder.name)
        parents[process], used[process] = int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICKS
    below = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(used[process] for process in below - {os.getpid()})


if __name__ == "__main__":
    sys.exit(main())

"""Size of the report page, the time to make it, and frames per second while zooming in Chromium (``make page-figures``)."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fixtures.image_models import image_model
from tools.docs.browser import chromium, distilbert, page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_COLUMNS = (
    "nodes", "partitions", "page, bytes", "seconds", "seconds of CPU", "seconds without causes", "first paint, ms",
    "frames/s, partitions", "frames/s, nodes",
)  # fmt: skip
_NODES = "JSON.parse(document.getElementById('content').textContent).views[0].measures.nodes"
_ZOOM = """() => new Promise((done) => {
  const canvas = document.querySelector("#drawings canvas");
  const times = [];
  let last = performance.now();
  const step = (now) => {
    times.push(now - last);
    last = now;
    const place = canvas.getBoundingClientRect();
    const at = { clientX: place.left + place.width * 0.4, clientY: place.top + place.height / 2 };
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: times.length % 80 < 40 ? -60 : 60, cancelable: true, ...at }));
    if (times.length < 240) requestAnimationFrame(step);
    else done(1000 / (times.slice(1).reduce((sum, each) => sum + each) / (times.length - 1)));
  };
  requestAnimationFrame(step);
})"""


def main() -> int:
    """Print a row for each model."""
    print(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name, content in (
            ("small", image_model(31).bytes()),
            ("distilbert", distilbert()),
            ("large", image_model(30_000).bytes()),
        ):
            path = Path(folder) / f"{name}.tflite"
            path.write_bytes(content)
            print(_row(path, browser), flush=True)
    return 0


def _row(path: Path, browser: Browser) -> str:
    started, used = time.perf_counter(), time.process_time()
    written = page_of(path, "nnapi")
    took, used = time.perf_counter() - started, time.process_time() - used
    started = time.perf_counter()
    page_of(path, "nnapi", with_causes=False)
    alone = time.perf_counter() - started
    page = path.with_suffix(".html")
    page.write_text(written, encoding="utf-8")
    shown = browser.new_page(viewport={"width": 1440, "height": 900})
    shown.goto(page.as_uri())
    shown.wait_for_timeout(1000)
    paint: Any = shown.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    partitions, nodes = (
        shown.inner_text("#facts li b >> nth=0"),
        shown.evaluate(_NODES),
    )
    frames = [_frames(shown, closed) for closed in (True, False)]
    shown.close()
    cells = (
        f"{nodes:,}",
        partitions,
        f"{len(written.encode()):,}",
        f"{took:.2f}",
        f"{used:.2f}",
        f"{alone:.2f}",
        f"{paint:.0f}",
        *frames,
    )
    return f"| {' | '.join(cells)} |"


def _frames(shown: Any, closed: bool) -> str:
    if shown.is_hidden("#closed"):
        return ""
    if (shown.get_attribute("#closed", "aria-pressed") == "true") != closed:
        shown.click("#closed")
    return f"{shown.evaluate(_ZOOM):.0f}"


if __name__ == "__main__":
    sys.exit(main())

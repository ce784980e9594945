"""The system's Chromium, driven by Playwright, and pages to open in it."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from delegate_sim.api.arguments import target_of
from delegate_sim.api.load import load
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.page.content import PageView
from delegate_sim.page.document import page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "keras.zip"
DISTILBERT = "distilbert_batch8.dyn_unfold.tf215.tflite"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def chromium_path() -> str | None:
    """Return where the system's Chromium is, None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium. Raises RuntimeError if there is none."""
    from playwright.sync_api import sync_playwright

    path = chromium_path()
    if path is None:
        raise RuntimeError("there is no Chromium here (apt-get install chromium)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield started
        started.close()


def distilbert() -> bytes:
    """Return a DistilBERT of 3,224 nodes. Raises RuntimeError where the converted models are not."""
    if not CORPUS.exists():
        raise RuntimeError(f"the converted models are not here ({CORPUS})")
    with zipfile.ZipFile(CORPUS) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(DISTILBERT)))


def page_of(path: Path, *delegates: str, with_causes: bool = True) -> str:
    """Return the page of a model on delegates."""
    model = load(path)
    views = []
    for delegate in delegates:
        target = target_of(delegate, {}, None, "benchmark")
        diagnosis = diagnose(model, target) if with_causes else None
        if diagnosis is not None:
            views.append(PageView(model, diagnosis.run, diagnosis))
        else:
            from delegate_sim.results.compare.comparison import simulated_side

            views.append(PageView(model, simulated_side(model, target).run))
    return page(views)

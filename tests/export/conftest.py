"""The system's Chromium, for programs that show exports as a page."""

from __future__ import annotations

import pytest

from benchmarks.browser import chromium, chromium_path


@pytest.fixture(scope="session")
def chromium_page():
    """Return a page in the system's Chromium."""
    pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    if chromium_path() is None:
        pytest.skip("there is no Chromium here (apt-get install chromium)")
    with chromium() as started:
        yield started.new_page(viewport={"width": 1440, "height": 900})

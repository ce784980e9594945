"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code. The examples are others each time.
settings.register_profile("few", deadline=None, max_examples=40)
settings.register_profile("many", deadline=None, max_examples=1000)
settings.load_profile("few")

gc.disable()


def pytest_collection_finish():
    """Collect garbage again, but never look through the thousands of tests, which all stay."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    """Let go of all, so that no library reports what it still has when the process ends."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def system_chromium():
    """Start the system's Chromium, once for all tests, since Playwright can be started only once."""
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    # Here, since it brings much along that most tests do without.
    from tools.docs.browser import FLAGS, chromium_path

    path = chromium_path()
    if path is None:
        pytest.skip("there is no Chromium here (apt-get install chromium)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield started
        started.close()

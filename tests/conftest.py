"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code. The examples are others each time.
settings.register_profile("few", deadline=None, max_examples=40)
settings.register_profile("many", deadline=None, max_examples=1000)
settings.load_profile("few")

gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Import the test files, each process of a run from another one on: what one has compiled, the others find compiled."""
    given = getattr(session.config, "workerinput", None)
    if given is not None:
        modules = _modules(session.config.args)
        first = len(modules) * int(given["workerid"].removeprefix("gw")) // given["workercount"]
        for module in modules[first:] + modules[:first]:
            try:
                importlib.import_module(module)
            except (Exception, pytest.skip.Exception):
                continue  # pytest imports it again, and says what is wrong


def _modules(arguments):
    """Return the names of the test files that a run was given, by itself or in a folder."""
    tests = Path(__file__).resolve().parent
    given = [Path(argument.partition("::")[0]).resolve() for argument in arguments]
    files = {file for path in given for file in (path.rglob("test_*.py") if path.is_dir() else [path])}
    own = [file.relative_to(tests.parent) for file in sorted(files) if file.is_relative_to(tests)]
    return [".".join(file.with_suffix("").parts) for file in own]


def pytest_collection_modifyitems(items):
    """Let the files that need a browser come first: while a process waits for its browser, the others still have work."""
    with_browser = {item.path for item in items if "system_chromium" in item.fixturenames}
    items.sort(key=lambda item: item.path not in with_browser)


def pytest_collection_finish():
    """Collect garbage again, but less often, and never look through the thousands of tests, which all stay."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
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

"""The browser application, built once for all tests, and pages of it."""

from __future__ import annotations

import time

import pytest

from tests.support.visits import Visit
from tools.docs import web


@pytest.fixture(scope="session")
def application(tmp_path_factory):
    """Return the folder of the application. Of several processes of a test run, one builds it and the others wait."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / "browser-application"
    built, failed = shared / "built", shared / "failed"
    try:
        shared.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + 600
        while not built.exists() and not failed.exists():
            assert time.monotonic() < deadline, "the process that builds the application does not end"
            time.sleep(0.2)
    else:
        try:
            web.build(shared / "dist")
        except web.UnavailableError as fault:
            failed.write_text(str(fault), encoding="utf-8")
        except BaseException:
            failed.write_text("its build failed", encoding="utf-8")
            raise
        else:
            built.touch()
    if failed.exists():
        pytest.skip(f"the browser application cannot be built here: {failed.read_text(encoding='utf-8')}")
    return shared / "dist"


@pytest.fixture(scope="session")
def host(application):
    """Return the address of the application, and the requests that its server gets."""
    with web.served(application) as server:
        yield server


@pytest.fixture
def visit(host, system_chromium):
    """Return what makes a visit in a browser without any memory of the application."""
    contexts = []

    def make(**options):
        context = system_chromium.new_context(**options)
        contexts.append(context)
        return Visit(context, host[0])

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def shared_visit(host, system_chromium):
    """Return a page that several tests use in turn: Python is started in it only once."""
    context = system_chromium.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    yield Visit(context, host[0]).start()
    context.close()


@pytest.fixture
def opened(shared_visit):
    """Return the shared page without files; when the test is over, nothing may have gone wrong in it."""
    shared_visit.wrong.clear()
    shared_visit.outside.clear()
    shared_visit.reset()
    yield shared_visit
    assert shared_visit.wrong == []
    assert shared_visit.outside == []

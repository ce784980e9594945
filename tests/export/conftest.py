"""A page in the system's Chromium, for programs that show exports."""

from __future__ import annotations

import pytest


@pytest.fixture
def chromium_page(system_chromium):
    """Return an empty page."""
    page = system_chromium.new_page(viewport={"width": 1440, "height": 900})
    yield page
    page.close()

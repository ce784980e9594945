"""A folder for bundles."""

from __future__ import annotations

import pytest


@pytest.fixture
def saved(tmp_path):
    """Return a function that writes a file and returns its path."""

    def save(name, content):
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return save

"""A folder for bundles."""

from __future__ import annotations

import pytest

from delegate_sim.bundles import members


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    members._opened.cache_clear()

    def save(name, content):
        (tmp_path / name).write_bytes(content)
        return name

    return save

"""Models that are scanned."""

from __future__ import annotations

import pytest

from tests.support.scans import scan_models, write_zoo


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_zoo()


@pytest.fixture
def scanned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return scan_models

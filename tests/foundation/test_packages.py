"""Installed packages."""

from __future__ import annotations

import pytest

from delegate_sim.foundation import packages
from delegate_sim.releases.catalogue import parse_release


@pytest.mark.parametrize(
    ("installed", "release"),
    [
        ({"ai-edge-litert": "2.3.0"}, "litert-2.3.0"),
        ({"ai-edge-litert-nightly": "2.4.0.dev20261026"}, "litert-2.4.0.dev20261026"),
        ({}, ""),
    ],
)
def test_the_installed_release_of_the_runtime(monkeypatch, installed, release):
    monkeypatch.setattr(packages, "package_version", lambda name: installed.get(name, ""))
    assert packages.runtime_release() == release
    assert not release or parse_release(release).order

"""Remedies that vendors publish for nodes that are selected, but not compiled."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.registry import find_delegate


@pytest.mark.parametrize("name", ["npu-google", "npu-samsung"])
def test_each_remedy_names_options_of_the_vendor_and_its_source(name):
    vendor = name.partition("-")[2]
    remedies = find_delegate(name).remedies_if_not_compiled
    assert remedies
    for remedy in remedies:
        assert all(option.startswith(f"{vendor}_") and "=" in option for option in remedy.options.split())
        assert remedy.source.startswith("https://")

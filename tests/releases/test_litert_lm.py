"""The releases of LiteRT in the releases of LiteRT-LM."""

from __future__ import annotations

from delegate_sim.releases.catalogue import parse_release
from delegate_sim.releases.packages import CONTAINED, releases_with


def test_releases_by_what_they_contain():
    assert releases_with("litert-2.1.6") == ("litert-lm-0.14", "litert-lm-0.15", "litert-lm-0.16")
    assert releases_with("litert-1.0.1") == ()


def test_later_releases_contain_the_same_or_later_releases():
    orders = [parse_release(contained.litert).order for contained in CONTAINED.values()]
    assert orders == sorted(orders)

"""Names and order of releases."""

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import KNOWN_RELEASES, NEWEST, parse_release


@pytest.mark.parametrize("release", ["", "2.15", "tf-2.9", "litert-2", "litert-0.9", "litert", "torch-2.1", "tf-2.15.0.0"])
def test_an_unknown_release_names_the_known_ones(release):
    with pytest.raises(OptionError, match=r"the runtimes are tf-2\.10, .*, litert-2\.3"):
        parse_release(release)


def test_known_releases_are_in_order():
    litert = [parse_release(name) for name in KNOWN_RELEASES if name.startswith("litert")]
    assert [release.order for release in litert] == sorted(release.order for release in litert)
    assert litert[-1].order == NEWEST.order


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("tf-2.10", "tf-2.14"),
        ("tf-2.17", "litert-1.0.1"),
        ("litert-1.0", "litert-1.1.0"),
        ("litert-1.4.1", "litert-2.0"),
        ("litert-2.1", "litert-2.1.1"),
        ("litert-2.1.6", "litert-2.2"),
        ("tf-2.20", "tf-2.21"),
    ],
)
def test_the_order(older, newer):
    assert parse_release(newer).is_at_least(parse_release(older))
    assert not parse_release(older).is_at_least(parse_release(newer))

"""Names and order of releases."""

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import KNOWN_RELEASES, NEWEST, newest_of, parse_release, release_note


@pytest.mark.parametrize("release", ["", "2.15", "tf-2.9", "litert-2", "litert-0.9", "litert", "torch-2.1", "tf-2.15.0.0"])
def test_an_unknown_release_names_the_known_ones(release):
    with pytest.raises(OptionError, match=r"the runtimes are tf-2\.10, .*, litert-2\.3"):
        parse_release(release)


def test_known_releases_are_in_order():
    litert = [parse_release(name) for name in KNOWN_RELEASES if name.startswith("litert")]
    assert [release.order for release in litert] == sorted(release.order for release in litert)
    assert litert[-2].order == NEWEST.order
    assert litert[-1] == newest_of("litert")


@pytest.mark.parametrize(
    "name",
    ["nightly", "litert-nightly", "litert-2.4", "litert-2.4.0", "litert-2.4-dev", "litert-2.4.0.dev20261026", "litert-2.4.7"],
)
def test_names_of_the_development_build(name):
    release = parse_release(name)
    assert (str(release), release.order, release.is_after_newest) == ("litert-2.4-dev", (2, 4, 0), False)
    assert "2026-11-28" in str(release_note(release))
    assert parse_release(str(release)) == release


def test_the_precision_of_a_run_is_no_part_of_a_release():
    assert parse_release("litert-2.3.0-fp32") == parse_release("litert-2.3.0")


@pytest.mark.parametrize(
    ("name", "counts_as"), [("litert-2.5", "litert-2.4-dev"), ("litert-3.0", "litert-2.4-dev"), ("tf-2.23", "tf-2.22")]
)
def test_a_newer_release_has_the_rules_of_the_newest_of_its_family(name, counts_as):
    release = parse_release(name)
    assert release.is_after_newest
    assert release.order == parse_release(counts_as).order
    assert counts_as in str(release_note(release))


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

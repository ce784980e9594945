"""Names and order of releases."""

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import (
    ASSUMED,
    CONTAINED,
    EXAMPLES,
    IN_LITERT_JS,
    KNOWN_RELEASES,
    NEWEST,
    contained_release,
    is_release_name,
    newest_of,
    package_lines,
    package_release,
    parse_release,
    release_note,
    releases_with,
)


@pytest.mark.parametrize("release", ["", "2.15", "litert-2", "litert", "torch-2.1", "tf-2.15.0.0"])
def test_an_unknown_release_names_the_known_ones(release):
    with pytest.raises(OptionError, match=r"the runtimes are tf-2\.10 to tf-.*, litert-1\.0 to litert-"):
        parse_release(release)


@pytest.mark.parametrize(("release", "oldest"), [("tf-2.9", "tf-2.10"), ("tf-1.15", "tf-2.10"), ("litert-0.9", "litert-1.0")])
def test_a_release_before_all_known_ones_names_the_oldest(release, oldest):
    with pytest.raises(OptionError, match=f"{release} is older than the oldest known release, {oldest}"):
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


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("litert-lm-0.1.0-alpha", "litert-1.3.0"),
        ("litert-lm-0.11", "litert-2.1.4"),
        ("litert-lm-0.14.0", "litert-2.1.6"),
        ("litert-lm-api-0.18.1", "litert-2.3.0"),
        ("litert-lm-api==0.18.1", "litert-2.3.0"),
        ("litert-lm==0.12.0", "litert-2.1.4"),
        ("litertlm-android-0.14.0", "litert-2.1.6"),
        ("litertlm-jvm:0.17", "litert-2.2.0"),
        ("com.google.ai.edge.litertlm:litertlm-android:0.11.0", "litert-2.1.4"),
        ("com.google.ai.edge.litertlm:litertlm-android:0.9.0-alpha06", "litert-2.1.2"),
        ("@litert-lm/core@0.17.1", "litert-2.2.0"),
        ("com.google.ai.edge.litert:litert:2.1.0", "litert-2.1.0"),
        ("com.google.ai.edge.litert:litert-gpu:1.4.0", "litert-1.4.0"),
        ("org.tensorflow:tensorflow-lite-gpu:2.14.0", "tf-2.14.0"),
        ("ai-edge-litert-2.1.0", "litert-2.1.0"),
        ("ai-edge-litert==2.0.2a1", "litert-2.0.2"),
        ("@litertjs/core@2.5.3", "litert-2.1.6"),
        ("@litertjs/core@2.1.0", "litert-2.1.0"),
        ("ai-edge-litert-nightly==2.4.0.dev20261026", "litert-2.4.0"),
        ("ai-edge-litert-nightly 2.4.0.dev20261026", "litert-2.4.0"),
        ("litert-nightly-2.4.0.dev20261026", "litert-2.4.0"),
        ("ai-edge-litert==2.4.0.dev20261026", "litert-2.4.0"),
        ("litert-lm-api-nightly==0.19.0.dev20261026", "litert-2.4-dev"),
        ("litert-lm-0.19", "litert-2.4-dev"),
        ("@litertjs/core@2.6.0", None),
        ("@litertjs/core@0.0.1", None),
        ("litert-lm-0.99", None),
        ("litert-lm-", None),
        ("litert-2.3", None),
        ("com.google.ai.edge.litert:litert-support:1.4.0", None),
        ("com.google.ai.edge.litert:litert:" + "9" * 5000, None),
    ],
)
def test_names_of_packages(name, release):
    assert package_release(name) == release
    if release:
        assert is_release_name(name)
        assert parse_release(f" {name} ") == parse_release(release)
    else:
        assert contained_release(name) is None


def test_an_example_of_each_kind_is_known():
    assert all(map(package_release, EXAMPLES))


def test_every_contained_release_is_known():
    contained = [*CONTAINED.values(), *IN_LITERT_JS.values()]
    assert {own.litert for own in contained} <= set(KNOWN_RELEASES)
    assert all((own.commit in own.words) if own.commit else ("commit {" not in own.words) for own in contained)


def test_a_release_between_two_known_ones_is_assumed():
    assert contained_release("@litertjs/core@2.1.0").basis == ASSUMED


def test_an_unknown_package_is_refused():
    with pytest.raises(OptionError, match=r"there is no runtime '@litertjs/core@9\.9'"):
        parse_release("@litertjs/core@9.9")


def test_lines_say_how_the_contained_release_was_found():
    lines = package_lines()
    assert len(lines) == len(CONTAINED)
    assert "litert-lm-0.11  litert-2.1.4    by commit 47615eb6e in its build file" in lines


def test_releases_by_what_they_contain():
    assert releases_with("litert-2.1.6") == ("litert-lm-0.14", "litert-lm-0.15", "litert-lm-0.16")
    assert releases_with("litert-1.0.1") == ()


def test_later_releases_contain_the_same_or_later_releases():
    orders = [parse_release(contained.litert).order for contained in CONTAINED.values()]
    assert orders == sorted(orders)

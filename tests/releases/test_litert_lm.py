"""The releases of LiteRT-LM, and the releases of LiteRT in them."""

from __future__ import annotations

import pytest

from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from delegate_sim.releases.litert_lm import CONTAINED, contained_release, litert_lm_lines, releases_with


@pytest.mark.parametrize(
    ("name", "litert"),
    [
        ("litert-lm-0.11", "litert-2.1.4"),
        ("litert-lm-0.14.0", "litert-2.1.6"),
        ("litertlm-android-0.14.0", "litert-2.1.6"),
        ("litertlm-jvm:0.17", "litert-2.2.0"),
        (" litert-lm-0.18.1 ", "litert-2.3.0"),
        ("litert-lm-0.99", None),
        ("litert-lm-", None),
        ("litert-2.3", None),
    ],
)
def test_names_of_releases(name, litert):
    found = contained_release(name)
    assert (None if found is None else found.litert) == litert


def test_the_runtime_of_a_command_may_be_a_release_of_litert_lm():
    assert parse_release("litert-lm-0.14") == parse_release("litert-2.1.6")


def test_every_contained_release_is_known():
    assert {contained.litert for contained in CONTAINED.values()} <= set(KNOWN_RELEASES)


def test_releases_by_what_they_contain():
    assert releases_with("litert-2.1.6") == ("litert-lm-0.14", "litert-lm-0.15", "litert-lm-0.16")
    assert releases_with("litert-1.0.1") == ()


def test_lines_say_how_the_contained_release_was_found():
    lines = litert_lm_lines()
    assert lines[0] == "litert-lm-0.11  litert-2.1.4  (by the commit in its build file)"
    assert len(lines) == len(CONTAINED)

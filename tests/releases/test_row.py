"""Releases in a row, of which what was found of one serves for others."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delegate_sim
from delegate_sim import load
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.options import parse_options
from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from delegate_sim.releases.row import AskedLate, ReleasesInRow, shared
from delegate_sim.results.release_table import release_table

RELEASES = sorted(map(parse_release, KNOWN_RELEASES), key=lambda release: release.order)
MODELS = sorted((Path(delegate_sim.__file__).parents[1] / "fixtures" / "models").glob("*.tflite"))
SINCE, UNTIL = parse_release("tf-2.15"), parse_release("litert-1.2")
THING = object()


def looked_at(make, releases=RELEASES, given=THING):
    """Return what is made of each release in a row, and of how many it was made."""
    made = []

    def noted(release):
        made.append(release)
        return make(release)

    row = ReleasesInRow()
    return [shared("what", given, row.of(release), noted) for release in releases], len(made)


def test_what_asks_nothing_is_made_once():
    assert looked_at(lambda release: "found") == (["found"] * len(RELEASES), 1)


def test_it_is_made_again_where_an_answer_differs():
    found, made = looked_at(lambda release: (release.is_at_least(SINCE), release.is_at_least(UNTIL)))
    assert found == [(release.is_at_least(SINCE), release.is_at_least(UNTIL)) for release in RELEASES]
    assert made == 3


@pytest.mark.parametrize(
    "ask",
    [
        str,
        lambda release: release.family,
        lambda release: release.version,
        lambda release: release.order,
        tuple,
        SINCE.is_at_least,
    ],
)
def test_what_asks_for_the_release_itself_is_made_of_each(ask):
    assert looked_at(ask) == (list(map(ask, RELEASES)), len(RELEASES))


def test_a_release_that_notes_is_no_other():
    found, _ = looked_at(lambda release: (release == RELEASES[0], len({release, RELEASES[0]})), RELEASES[:1])
    assert found == [(False, 2)]


def test_other_things_are_made_anew():
    row = ReleasesInRow()
    release = row.of(SINCE)
    assert [shared("what", thing, release, lambda _, thing=thing: thing) for thing in ("a", "b", "a")] == ["a", "b", "a"]
    assert shared("more", "a", release, lambda _: "more") == "more"


def test_without_a_row_everything_is_made():
    assert shared("what", THING, SINCE, lambda release: release) is SINCE
    in_row = ReleasesInRow().of(SINCE)
    assert (in_row, hash(in_row), str(in_row)) == (SINCE, hash(SINCE), str(SINCE))


def test_nothing_new_may_be_asked_once_others_have_the_answer():
    asked = shared("what", THING, ReleasesInRow().of(SINCE), lambda release: (release.is_at_least(UNTIL), release))[1]
    assert not asked.is_at_least(UNTIL)
    assert not asked.is_at_least(parse_release("litert-2.0"))
    for ask in (
        lambda: asked.is_at_least(parse_release("tf-2.11")),
        lambda: asked.is_at_least(parse_release("tf-2.17")),
        lambda: asked.order,
    ):
        with pytest.raises(AskedLate):
            ask()


@given(st.lists(st.sampled_from(RELEASES)), st.lists(st.sampled_from(RELEASES)))
def test_whatever_is_asked_nothing_else_is_found(thresholds, releases):
    def answers(release):
        return [release.is_at_least(threshold) for threshold in thresholds]

    found, made = looked_at(answers, releases)
    assert found == list(map(answers, releases))
    assert made <= len(releases)


@pytest.mark.parametrize("name", DELEGATE_NAMES)
@pytest.mark.parametrize("path", MODELS[::12], ids=lambda path: path.stem)
def test_tables_of_releases_are_those_of_each_by_itself(monkeypatch, name, path):
    delegate = find_delegate(name)
    options = parse_options(name, delegate.options, {})
    model = load(str(path))
    together = release_table(model, delegate, options, "benchmark")
    monkeypatch.setattr(ReleasesInRow, "of", lambda row, release: release)
    assert release_table(model, delegate, options, "benchmark").rows == together.rows


def test_a_table_is_found_without_sharing_where_something_is_asked_late(monkeypatch):
    delegate = find_delegate("nnapi")
    arguments = load(str(MODELS[0])), delegate, parse_options("nnapi", delegate.options, {}), "api"
    expected = release_table(*arguments)

    def refuse(row, what, given, release, make):
        raise AskedLate

    monkeypatch.setattr(ReleasesInRow, "take", refuse)
    assert release_table(*arguments).rows == expected.rows

"""Releases in a row, of which what was found of one serves for others."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delegate_sim
from delegate_sim import load
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.options import parse_options
from delegate_sim.prepare import preparation
from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from delegate_sim.releases.row import AskedLate, ReleasesInRow, shared
from delegate_sim.results.release_table import release_table
from fixtures.builder import ModelBuilder

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

    with ReleasesInRow():
        return [shared("what", given, release, noted) for release in releases], len(made)


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


@pytest.mark.parametrize("ask", [lambda one: one[1], len, lambda one: one < SINCE, lambda one: (one <= SINCE, one >= SINCE)])
def test_a_release_may_be_asked_as_the_tuple_that_it_is(ask):
    assert looked_at(ask) == (list(map(ask, RELEASES)), len(RELEASES))


def test_a_release_that_notes_is_no_other():
    def compared(release):
        known = RELEASES[0]
        return [release == known, known == release, (1, release) == (1, known), (1, known) == (1, release)]

    assert looked_at(compared, RELEASES[:1]) == ([[False] * 4], 1)
    assert looked_at(lambda release: len({release, RELEASES[0]}), RELEASES[:1]) == ([2], 1)


def test_other_things_are_made_anew():
    with ReleasesInRow():
        assert [shared("what", thing, SINCE, lambda _, thing=thing: thing) for thing in ("a", "b", "a")] == ["a", "b", "a"]
        assert shared("more", "a", SINCE, lambda _: "more") == "more"


def test_without_a_row_everything_is_made():
    with ReleasesInRow():
        pass
    assert shared("what", THING, SINCE, lambda release: release) is SINCE


def test_what_is_made_of_something_shared_rests_on_what_that_was_asked():
    inner = []

    def outer(release):
        return shared("inner", THING, release, lambda each: inner.append(each) or each.is_at_least(UNTIL)), "outer"

    found, made = looked_at(outer)
    assert found == [(release.is_at_least(UNTIL), "outer") for release in RELEASES]
    assert (made, len(inner)) == (2, 2)
    assert looked_at(lambda release: shared("inner", THING, release, str)) == (list(map(str, RELEASES)), len(RELEASES))


def test_what_was_shared_before_is_not_made_again_for_something_else():
    made = []

    def inner(release):
        made.append(release)
        return release.is_at_least(SINCE)

    with ReleasesInRow():
        for release in RELEASES:
            outer = [shared(number, THING, release, lambda each: shared("inner", THING, each, inner)) for number in range(5)]
            assert outer == [release.is_at_least(SINCE)] * 5
    assert len(made) == 2


def test_nothing_new_may_be_asked_once_others_have_the_answer():
    with ReleasesInRow():
        asked = shared("what", THING, SINCE, lambda release: (release.is_at_least(UNTIL), release))[1]
    assert not asked.is_at_least(UNTIL)
    assert not asked.is_at_least(parse_release("litert-2.0"))
    for ask in (
        lambda: asked.is_at_least(parse_release("tf-2.11")),
        lambda: asked.is_at_least(parse_release("tf-2.17")),
        lambda: asked.order,
        lambda: asked[0],
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


def table(model, name, releases=()):
    delegate = find_delegate(name)
    return release_table(model, delegate, parse_options(name, delegate.options, {}), "benchmark", releases)


def each_by_itself(monkeypatch, content, name, releases=()):
    with monkeypatch.context() as patch:
        patch.setattr(ReleasesInRow, "take", lambda row, what, given, release, make: make(release))
        return table(load(content), name, releases).rows


@pytest.mark.parametrize("name", DELEGATE_NAMES)
@pytest.mark.parametrize("path", MODELS[::12], ids=lambda path: path.stem)
def test_tables_of_releases_are_those_of_each_by_itself(monkeypatch, name, path):
    content = path.read_bytes()
    assert table(load(content), name).rows == each_by_itself(monkeypatch, content, name)


def refused_by_the_newest(subgraphs):
    """Return a model of which LiteRT 2.3.0 alone cannot prepare the first subgraph, with others behind it."""
    builder = ModelBuilder()
    first = builder.subgraph()
    source, total = first.input("x", "FLOAT32", (4, 4, 4, 4)), first.tensor("y", "FLOAT32", (4, 4, 4, 4))
    first.node("ADD", [source, source], [total])
    begin, size = (first.tensor(name, "INT32", (4,), data=data) for name, data in (("b", [0, 0, 0, 0]), ("s", [2, 4, 4, 4])))
    part = first.tensor("z", "FLOAT32", (3, 4, 4, 4))
    first.node("SLICE", [total, begin, size], [part])
    first.outputs(part)
    for _ in range(subgraphs - 1):
        other = builder.subgraph()
        source, total = other.input("u", "FLOAT32", (1, 4)), other.tensor("v", "FLOAT32", (1, 4))
        other.node("ADD", [source, source], [total])
        other.outputs(total)
    return builder.bytes()


@pytest.mark.parametrize("subgraphs", [1, 2, 3])
@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_what_other_subgraphs_were_prepared_for_is_not_taken_for_another_release(monkeypatch, name, subgraphs):
    content, releases = refused_by_the_newest(subgraphs), ["litert-2.2.0", "litert-2.3.0"]
    model = load(content)
    for some in (releases[:1], releases, releases[1:] * 2):
        expected = each_by_itself(monkeypatch, content, name, some)
        assert table(model, name, some).rows == expected
        if name in ("vx", "vx-nxp"):
            assert len({str(row.measures) for row in expected}) == len(set(some))


def test_a_model_is_prepared_no_more_often_than_releases_differ(monkeypatch):
    prepared = []
    make = preparation._Interpreter.prepared_graph
    monkeypatch.setattr(preparation._Interpreter, "prepared_graph", lambda *given: prepared.append(given) or make(*given))
    table(load(refused_by_the_newest(40)), "vx")
    assert len(prepared) <= 40 * 4


def test_a_model_is_not_kept_once_its_table_is_made():
    for name in ("gpu", "nnapi", "vx"):
        kept = []
        for path in MODELS[::2]:
            model = load(path.read_bytes())
            table(model, name)
            kept.append(weakref.ref(model))
            del model
        gc.collect()
        assert sum(one() is not None for one in kept) <= 4


def test_a_table_is_found_without_sharing_where_something_is_asked_late(monkeypatch):
    expected = table(load(str(MODELS[0])), "nnapi")

    def refuse(row, what, given, release, make):
        raise AskedLate

    monkeypatch.setattr(ReleasesInRow, "take", refuse)
    assert table(load(str(MODELS[0])), "nnapi").rows == expected.rows

"""Releases of the runtime: their order, the release among options, and the table of all of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim import OptionError, load
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.options import parse_options
from delegate_sim.releases.catalogue import KNOWN_RELEASES, NEWEST, parse_release, release_note
from delegate_sim.results.release_table import release_table
from delegate_sim.results.rule_changes import rule_changes
from delegate_sim.rules.kinds import RANK
from delegate_sim.rules.rule import OpRule
from delegate_sim.rules.vocabulary import check
from fixtures.builder import ModelBuilder
from tests.delegates.tiny.delegate import RULES, TinyDelegate
from tests.models import chain_model


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


@pytest.mark.parametrize(("name", "counts_as"), [("litert-2.1.9", "litert-2.1.6"), ("litert-1.7", "litert-1.4.1")])
def test_a_release_between_known_ones_counts_as_the_one_before(name, counts_as):
    assert release_note(parse_release(name)) == f"{name} is not known: the rules of {counts_as} are used"
    report = delegate_sim.analyze(chain_model(["ADD"]).bytes(), "gpu", runtime=name).to_dict()
    assert any(name in warning for warning in report["runs"][0]["warnings"])


@pytest.mark.parametrize("name", ["tf-2.9", "tf-3.0", "litert-0.9", "litert-2.4", "litert", "2.3"])
def test_an_unknown_release_names_the_known_ones(name):
    with pytest.raises(OptionError, match=r"known are tf-2\.10, .*, litert-2\.3"):
        parse_release(name)


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_the_release_may_stand_among_the_options(delegate):
    model = chain_model(["ADD", "RELU"]).bytes()
    named = delegate_sim.analyze(model, delegate, {"release": "litert-2.1.3"}).to_dict()
    assert named == delegate_sim.analyze(model, delegate, runtime="litert-2.1.3").to_dict()
    assert named["runs"][0]["runtime"] == "litert-2.1.3"
    with pytest.raises(OptionError, match=r"two releases are named: litert-2\.2 and litert-2\.1\.3"):
        delegate_sim.analyze(model, delegate, {"release": "litert-2.1.3"}, runtime="litert-2.2")


def test_the_release_of_nxps_support_package_is_another_matter():
    run = delegate_sim.analyze(chain_model(["ADD"]).bytes(), "vx-nxp", {"release": "lf-5.15.71"}).to_dict()["runs"][0]
    assert (run["options"]["release"], run["runtime"]) == ("lf-5.15.71", "litert-2.3")


def test_what_is_not_known_is_said():
    assert list(find_delegate("gpu").release_notes(parse_release("litert-2.1.3"))) == []
    assert "oldest known" in " ".join(find_delegate("xnnpack").release_notes(parse_release("tf-2.15")))
    assert "litert-1.4.0, of the same time" in " ".join(find_delegate("xnnpack").release_notes(parse_release("tf-2.20")))
    assert list(find_delegate("nnapi").release_notes(parse_release("tf-2.20"))) == []
    assert list(find_delegate("vx").release_notes(parse_release("tf-2.15"))) == []


def rule(*words):
    return OpRule(tuple([check(RANK, word, lambda node: None) for word in words]))


def test_changes_are_read_from_the_rules():
    old, new = check(RANK, "old", lambda node: None), check(RANK, "new", lambda node: None)
    add = OpRule((old.before_release("litert-2.1.0"), new.from_release("litert-2.1.0")))
    book = dataclasses.replace(RULES, families=({"ADD": add, "LOG": rule("log").from_release("litert-2.1.6")},))
    delegate = TinyDelegate()
    delegate.rules = book
    first, second = rule_changes(delegate)
    assert (str(first.release), first.op) == ("litert-2.1.0", "ADD")
    assert ([one.needed for one in first.dropped], [one.needed for one in first.added]) == (["old"], ["new"])
    assert (str(second.release), second.op, second.is_new) == ("litert-2.1.6", "LOG", True)
    assert rule_changes(delegate, parse_release("litert-2.1.0")) == [second]


def table_of(builder, delegate="nnapi"):
    found = find_delegate(delegate)
    return release_table(load(builder.bytes()), found, parse_options(delegate, found.options, {}, "benchmark"), "benchmark")


def test_the_first_release_that_loads_a_model():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    result = graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("SOFTMAX", [source], [result], version=4, options={"beta": 1.0})
    graph.outputs(result)
    first = table_of(builder).first_loading
    assert list(first) == ["tf", "litert"]
    assert first["tf"] is None
    assert str(first["litert"].release) == "litert-2.1.6"
    assert first["litert"].because_of == (("SOFTMAX", 4),)
    assert first["litert"].because_of_types == ()


def test_a_model_that_every_release_takes():
    table = table_of(chain_model(["ADD", "RELU"]))
    assert [str(release) for release in table.full] == [str(row.release) for row in table.rows]
    assert not any(row.moves for row in table.rows)
    assert {family: str(first.release) for family, first in table.first_loading.items()} == {
        "tf": "tf-2.10",
        "litert": "litert-1.0.1",
    }
    assert all(first.because_of == first.because_of_types == () for first in table.first_loading.values())


def test_a_model_that_no_release_takes():
    table = table_of(chain_model(["ADD", "GELU 9"]))
    assert table.full == ()
    assert table.first_loading == {"tf": None, "litert": None}


def test_a_build_that_is_only_known_of_the_newest_release_is_predicted_before():
    model = Path(__file__).resolve().parents[2] / "fixtures" / "models" / "reshaping.tflite"
    newest = delegate_sim.analyze(model, "gpu").to_dict()["runs"][0]
    assert (newest["outcome"], newest["refusal"]["is_predicted"], newest["warnings"]) == ("restored", False, [])
    older = delegate_sim.analyze(model, "gpu", runtime="litert-2.1.3").to_dict()["runs"][0]
    assert (older["outcome"], older["refusal"]["is_predicted"]) == ("restored", True)
    assert older["refusal"] == {**newest["refusal"], "is_predicted": True}
    note = "whether litert-2.1.3 can make the delegate's kernels is predicted as the newest sources make them"
    assert older["warnings"] == [note]

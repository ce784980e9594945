"""Releases of the runtime: the release among options, and the table of all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim import OptionError, load
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.releases.catalogue import parse_release, release_note
from delegate_sim.results.compare.release_table import Unloaded, release_table
from delegate_sim.results.report.rule_set import rule_changes
from delegate_sim.rules.kinds import RANK
from delegate_sim.rules.rule import OpRule
from delegate_sim.rules.vocabulary import check
from delegate_sim.runtime.resolver import Loads
from delegate_sim_cli.text.releases import releases_lines
from fixtures.builder import ModelBuilder
from tests.support.delegates.mldrift_numbers import model_of
from tests.support.delegates.tiny.delegate import RULES, TinyDelegate
from tests.support.diagnoses import target
from tests.support.models import chain_model


@pytest.mark.parametrize(
    ("name", "counts_as"), [("litert-2.1.9", "litert-2.1.6"), ("litert-1.7", "litert-1.4.1"), ("litert-1.0.0", "litert-1.0.1")]
)
def test_an_unknown_release_counts_as_the_one_before_or_as_the_oldest(name, counts_as):
    assert counts_as in str(release_note(parse_release(name)))
    report = delegate_sim.analyze(chain_model(["ADD"]).bytes(), "gpu", runtime=name, defaults="api").to_dict()
    assert any(name in warning for warning in report["runs"][0]["warnings"])


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_the_release_may_stand_among_the_options(delegate):
    model = chain_model(["ADD", "RELU"]).bytes()
    named = delegate_sim.analyze(model, delegate, {"release": "litert-2.1.3"}, defaults="api").to_dict()
    assert named == delegate_sim.analyze(model, delegate, runtime="litert-2.1.3", defaults="api").to_dict()
    assert named["runs"][0]["runtime"] == "litert-2.1.3"
    with pytest.raises(OptionError, match=r"two releases are given: litert-2\.2 and litert-2\.1\.3"):
        delegate_sim.analyze(model, delegate, {"release": "litert-2.1.3"}, runtime="litert-2.2", defaults="api")


def test_the_release_of_nxps_support_package_is_another_matter():
    run = delegate_sim.analyze(chain_model(["ADD"]).bytes(), "vx-nxp", {"release": "lf-5.15.71"}, defaults="api").to_dict()[
        "runs"
    ][0]
    assert (run["options"]["release"], run["runtime"]) == ("lf-5.15.71", "litert-2.3")


def test_what_is_not_known_is_said():
    assert list(find_delegate("gpu").release_notes(parse_release("litert-2.1.3"))) == []
    assert "oldest known" in " ".join(map(str, find_delegate("xnnpack").release_notes(parse_release("tf-2.15"))))
    assert "litert-1.4.0" in " ".join(map(str, find_delegate("xnnpack").release_notes(parse_release("tf-2.20"))))
    assert list(find_delegate("nnapi").release_notes(parse_release("tf-2.20"))) == []
    (note,) = find_delegate("vx").release_notes(parse_release("tf-2.15"))
    assert "litert-1.1.0" in str(note)


def rule(*words):
    return OpRule(tuple([check(RANK, word, lambda node: None) for word in words]))


def test_changes_are_read_from_the_rules():
    old, new = check(RANK, "old", lambda node: None), check(RANK, "new", lambda node: None)
    add = OpRule((old.before_release("litert-2.1.0"), new.from_release("litert-2.1.0")))
    book = replace(RULES, families=({"ADD": add, "LOG": rule("log").from_release("litert-2.1.6")},))
    delegate = TinyDelegate()
    delegate.rules = book
    first, second = rule_changes(delegate)
    assert (str(first.release), first.op) == ("litert-2.1.0", "ADD")
    assert ([one.needed for one in first.dropped], [one.needed for one in first.added]) == (["old"], ["new"])
    assert (str(second.release), second.op, second.is_new) == ("litert-2.1.6", "LOG", True)
    assert rule_changes(delegate, parse_release("litert-2.1.0")) == [second]


def table_of(builder, delegate="nnapi"):
    return release_table(load(builder.bytes()), target(delegate))


def test_the_first_release_that_loads_a_model():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    result = graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("SOFTMAX", [source], [result], version=4, options={"beta": 1.0})
    graph.outputs(result)
    first = table_of(builder).first_loading
    assert str(first["litert"].release) == "litert-2.1.6"
    assert first["litert"].because_of == (Unloaded("SOFTMAX", 4),)
    assert str(first["tf"].release) == "tf-2.22"


@pytest.mark.parametrize(
    ("op", "version", "tensorflow", "litert"),
    [("PADV2", 5, "tf-2.20", "litert-2.0.2"), ("FULLY_CONNECTED", 12, "tf-2.17", "litert-1.0.1")],
)
def test_the_families_do_not_follow_on_each_other(op, version, tensorflow, litert):
    first = table_of(chain_model([f"{op} {version}"])).first_loading
    assert [str(first[family].release) for family in ("tf", "litert")] == [tensorflow, litert]


def test_a_release_that_does_not_load_the_model_says_so_and_moves_nothing():
    table = table_of(chain_model(["RELU", "FULLY_CONNECTED 12"]), "xnnpack")
    rows = {str(row.release): row for row in table.rows}
    refused = rows["tf-2.14"]
    assert (refused.loads, refused.measures.outcome, refused.moves) == (Loads.NO, "refused, not loaded", ())
    assert refused.lines[0].startswith("Didn't find op for builtin opcode 'FULLY_CONNECTED' version '12'.")
    assert (rows["tf-2.17"].loads, rows["tf-2.17"].moves) == (Loads.YES, ())
    assert not {"tf-2.10", "tf-2.14"} & {str(release) for release in table.full}


def test_an_application_with_its_own_resolver_loads_the_model_everywhere():
    model = load(chain_model(["RELU", "FULLY_CONNECTED 12"]).bytes())
    table = release_table(model, target("xnnpack", assume_ops_registered=True))
    assert "refused, not loaded" not in {row.measures.outcome for row in table.rows}
    assert table.rows[0].loads is Loads.NO


def test_a_model_that_every_release_takes():
    table = table_of(chain_model(["ADD", "RELU"]))
    assert [str(release) for release in table.full] == [str(row.release) for row in table.rows]
    assert not any(row.moves for row in table.rows)
    assert {family: (str(first.release), first.because_of) for family, first in table.first_loading.items()} == {
        "tf": ("tf-2.10", ()),
        "litert": ("litert-1.0.1", ()),
    }


def test_a_model_that_no_release_takes():
    table = table_of(chain_model(["ADD", "GELU 9"]))
    assert table.full == ()
    assert table.first_loading == {"tf": None, "litert": None}


def test_a_build_of_an_older_release_is_predicted_and_marked():
    model = Path(__file__).resolve().parents[3] / "fixtures" / "models" / "reshaping.tflite"
    newest = delegate_sim.analyze(model, "gpu", defaults="api").to_dict()["runs"][0]
    assert (newest["outcome"], newest["refusal"]["is_predicted"]) == ("restored", False)
    older = delegate_sim.analyze(model, "gpu", runtime="litert-2.1.3", defaults="api").to_dict()["runs"][0]
    assert (older["outcome"], older["refusal"]["is_predicted"]) == ("delegated", True)
    assert older["refusal"]["code"] == newest["refusal"]["code"]
    table = release_table(load(model), target("gpu"))
    assert {row.is_certain for row in table.rows} == {True, False}
    predicted = {(row.measures.outcome, row.measures.delegated_nodes) for row in table.rows if not row.is_certain}
    assert predicted == {("restored, as predicted", 0)}
    assert all(any("predict" in note.template for note in row.notes) for row in table.rows if not row.is_certain)


def test_a_row_has_the_nodes_that_the_release_computes_wrongly():
    tensors = {"x": (20, 3, 4), "z": (1, 1, 3, 4), "y": (1, 20, 3, 4)}
    model = load(model_of(tensors, [("ADD", "x z", "y", {})]))
    table = release_table(model, delegate_sim.analyze(model, "mldrift", defaults="benchmark").runs[0].target)
    rows = table.to_dict()["releases"]
    wrong = {row["release"]: [risk["node"] for risk in row["number_risks"]] for row in rows if "number_risks" in row}
    assert wrong == {"litert-2.1.3": [0], "litert-2.1.4": [0], "litert-2.1.5": [0]}
    shown = [line.text for line in releases_lines(table, "mldrift", 100, verbose=False)]
    assert any(line.startswith("  litert-2.1.3 to litert-2.1.5: ") and line.endswith(": ADD 0") for line in shown)

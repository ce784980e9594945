"""``delegate-sim releases`` and ``delegate-sim rules --changes``."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.results.report.rule_set import rule_changes
from fixtures.builder import ModelBuilder
from tests.support.cli.own_schemas import validate
from tests.support.models import chain_model


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.tflite"
    chain_model(["ADD", "GELU", "RELU"]).write(path)
    return path


def test_the_table(run, chain):
    result = run("releases", chain, "--delegate", "nnapi")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:5] == [
        "NNAPI on Android 13 runs 66.6 % of nodes; 1 GELU stays on the CPU",
        "",
        "nnapi: 3 nodes by release of the runtime",
        "  releases                   loads   delegated  multiply-adds  partitions  moved",
        "  tf-2.10 to litert-2.4-dev  yes    2 (66.6 %)              -           3      0",
    ]


@pytest.mark.parametrize("name", ["mldrift", "npu-google"])
def test_releases_before_a_delegate_is_known_are_left_out(run, chain, name):
    lines = " ".join(run("releases", chain, "--delegate", name).stdout.split())
    assert "Not shown: releases before litert-2.1.3." in lines
    assert "tf-2" not in lines
    assert "Not shown" not in run("releases", chain, "--delegate", "gpu").stdout


def test_a_model_that_no_release_prepares(run):
    models = Path(__file__).parents[3] / "fixtures" / "models"
    lines = run("releases", models / "cannot_prepare.tflite").stdout.splitlines()
    (row,) = [line.split() for line in lines if line.startswith("  tf-2.10")]
    assert row == ["tf-2.10", "to", "litert-2.4-dev", "yes", "does", "not", "run", "-", "-"]
    assert not any(line.startswith("  13:") for line in lines)


def test_comma_separated_values_have_a_row_for_each_model_and_delegate(run, chain, tmp_path):
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"no model")
    result = run("releases", chain, broken, "--delegate", "nnapi", "--delegate", "gpu", "--format", "csv")
    assert result.exit_code == 2
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["model"], row["delegate"], row["newest_delegated_nodes"]) for row in rows] == [
        (str(chain), "nnapi", "2"),
        (str(chain), "gpu", "3"),
        (str(broken), "", ""),
    ]
    assert (rows[0]["loads_from_tf"], rows[0]["fully_delegated_from"]) == ("tf-2.10", "")
    assert (rows[1]["fully_delegated_to"], rows[1]["newest"]) == ("litert-2.4-dev", "litert-2.3.0")
    assert rows[2]["error"].startswith(str(broken))


def test_what_is_uncertain_of_the_table(run, chain):
    result = run("releases", chain, "--delegate", "xnnpack")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "xnnpack in tf-2.10 to tf-2.17" in result.stdout.partition("\nUncertain\n")[2]


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_json(run_json, chain, delegate):
    validate("releases", run_json("releases", chain, "--delegate", delegate))


def test_several_delegates(run, run_json, chain):
    found = run_json("releases", chain, "--delegate", "gpu", "--delegate", "nnapi")
    validate("releases", found)
    assert [table["delegate"] for table in found] == ["gpu", "nnapi"]
    text = run("releases", chain, "--delegate", "gpu", "--delegate", "nnapi").stdout
    assert "releases  " not in text
    details = run("releases", chain, "--delegate", "gpu", "--delegate", "nnapi", "--verbose").stdout
    assert details.startswith(text.partition("\n\n")[0])
    assert details.count("\n  releases  ") == 2


def test_what_cannot_be_read(run, tmp_path):
    result = run("releases", tmp_path / "none.tflite")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_changes_of_rules(run, run_json, delegate):
    found = rule_changes(find_delegate(delegate))
    text = run("rules", "--delegate", delegate, "--changes").stdout
    assert all(str(change.release) in text and change.op in text for change in found)
    entry = run_json("rules", "--delegate", delegate, "--changes")
    assert [(change["release"], change["op"]) for change in entry["changes"]] == [(str(one.release), one.op) for one in found]
    newest = run_json("rules", "--delegate", delegate, "--changes", "--since", "litert-2.4")
    assert newest["changes"] == []


def test_the_release_among_the_options(run_json, chain):
    for command in (["analyze", chain, "--delegate", "gpu"], ["analyze", chain]):
        runs = run_json(*command, "--option", "release=litert-2.1.3")["runs"]
        assert {one["runtime"] for one in runs} == {"litert-2.1.3"}
    assert run_json("diagnose", chain, "--option", "release=litert-2.1.3")["runtime"] == "litert-2.1.3"


def test_two_releases_are_too_many(run, chain):
    result = run("analyze", chain, "--runtime", "tf-2.15", "--option", "release=litert-2.1.3")
    assert result.exit_code == 2
    assert "tf-2.15 and litert-2.1.3" in result.stderr


def test_releases_of_the_platform_behind_the_delegate(run, run_json, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [1, 1, 1, 2, 2])
    graph.node("RELU", [graph.input("x", "FLOAT32", [1, 1, 1, 2, 2])], [result])
    graph.outputs(result)
    builder.write(tmp_path / "deep.tflite")
    found = run_json("releases", tmp_path / "deep.tflite")
    validate("releases", found)
    assert found["platform"]["name"] == "android"
    assert [row["measures"]["outcome"] for row in found["platform"]["releases"]] == ["delegated", *["restored"] * 3]
    assert "platform" not in run_json("releases", tmp_path / "deep.tflite", "--android=none")
    assert "platform" not in run_json("releases", tmp_path / "deep.tflite", "--delegate", "gpu")


def test_all_delegates_may_be_named_at_once(run_json, chain):
    assert [entry["delegate"] for entry in run_json("releases", chain, "--delegate", "all")] == list(DELEGATE_NAMES)

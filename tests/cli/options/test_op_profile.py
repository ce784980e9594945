"""``--op-profile`` gives the same times in every command that takes it."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.support.cli.own_schemas import validate
from tests.support.models import chain_model
from tests.support.op_profiles import write_model_and_profiles


@pytest.fixture
def files(tmp_path):
    return write_model_and_profiles(tmp_path)


COMMANDS = {
    "analyze": ("report", ["--delegate", "nnapi"], lambda found: found["time"]),
    "diagnose": ("diagnosis", ["--delegate", "nnapi"], lambda found: found["time"]["profiles"]),
    "compare": ("compare", ["--delegate", "nnapi", "--with", "feature_level=27"], lambda found: found["time"]["profiles"]),
    "whatif": ("compare", ["--delegate", "nnapi", "--accept", "ROUND"], lambda found: found["time"]["profiles"]),
    "fix": ("fix", ["--delegate", "nnapi", "--plan"], lambda found: found["time"][0]["profiles"]),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_times_in_every_command(run, files, command):
    model, delegated, _ = files
    schema, options, times = COMMANDS[command]
    arguments = [command, model, *options, "--op-profile", delegated]
    found = json.loads(run(*arguments, "--format", "json").stdout)
    validate(schema, found)
    (timing,) = times(found)
    assert timing["groups"] == [
        {"kind": "kernel", "op": "nnapi", "count": 3, "ms": 6.0},
        {"kind": "node", "op": "ROUND", "count": 1, "ms": 30.0},
        {"kind": "node", "op": "GELU", "count": 1, "ms": 9.0},
    ]
    text = run(*arguments, COLUMNS="200").stdout
    assert "Where the time goes (" in text
    assert "ROUND on the CPU" in text
    assert "6.000 ms" in text


def test_a_fix_for_each_target_follows_the_schema(run, files):
    model, delegated, _ = files
    arguments = ["--delegate", "nnapi", "--delegate", "gpu", "--per-target", "--plan", "--op-profile", delegated]
    found = json.loads(run("fix", model, *arguments, "--format", "json").stdout)
    validate("fix", found)
    assert [len(one["time"]) for one in found["fixes"]] == [1, 1]


def test_csv_has_columns_of_times(run, files):
    model, delegated, cpu = files
    arguments = [model, "--delegate", "nnapi", "--op-profile", cpu, "--op-profile", delegated, "--format", "csv"]
    (row,) = csv.DictReader(io.StringIO(run("analyze", *arguments).stdout))
    assert [row[key] for key in ("measured_ms", "measured_kernel_ms", "measured_cpu_ms")] == ["45.0", "6.0", "39.0"]
    assert row["message"].endswith("(measured: 9.000 ms)")
    (row,) = csv.DictReader(io.StringIO(run("diagnose", *arguments[:3], *arguments[5:]).stdout))
    columns = ("measured_ms", "cause_measured_ms", "saves_at_most_ms", "all_save_at_most_ms")
    assert [row[key] for key in columns] == ["45.0", "30.0", "32.0", "43.0"]
    (row,) = csv.DictReader(io.StringIO(run("diagnose", *arguments[:3], "--format", "csv").stdout))
    assert {row[key] for key in columns} == {""}


def test_markdown_says_where_the_time_goes(run, files):
    model, delegated, _ = files
    text = run("analyze", model, "--delegate", "nnapi", "--op-profile", delegated, "--format", "markdown").stdout
    assert "(measured: 30.000 ms)" in text
    assert "nnapi.txt: 45.0 ms; ROUND on the CPU 30.0 ms (66.7 %), GELU on the CPU 9.000 ms (20.0 %), nnapi kernels" in text


def test_sarif_has_the_time_of_each_result(run, files):
    model, delegated, _ = files
    arguments = ["analyze", model, "--delegate", "nnapi", "--format", "sarif"]
    results = [json.loads(run(*arguments, *more).stdout)["runs"][0]["results"] for more in ([], ["--op-profile", delegated])]
    texts = [[result["message"]["text"].partition("\n")[0] for result in own] for own in results]
    assert [text.partition(" (measured: ")[2] for text in texts[1]] == ["9.000 ms)", "30.000 ms)"]
    assert [text.partition(" (measured: ")[0] for text in texts[1]] == texts[0]
    assert [result["partialFingerprints"] for result in results[0]] == [result["partialFingerprints"] for result in results[1]]
    measured = results[1][0]["properties"]["measured"]
    assert (measured["total_ms"], measured["kernel_ms"], measured["cpu_ms"]) == (45.0, 6.0, 39.0)
    assert "measured" not in results[0][0]["properties"]


def test_the_json_has_the_numbers_of_each_row(run, files):
    model, delegated, _ = files
    found = json.loads(run("analyze", model, "--delegate", "nnapi", "--op-profile", delegated, "--format", "json").stdout)
    part = found["time"][0]["parts"][1]
    assert (part["op"], part["ms"], part["nodes"]) == ("GELU", 9.0, [{"subgraph": 0, "node": 1}])
    assert (part["first_ms"], part["memory_kb"], part["times_called"]) == (9.9, 0.0, 1)


def test_reconcile_uses_the_profile_in_its_log(run, files):
    model, delegated, cpu = files
    found = json.loads(run("reconcile", model, "--log", delegated, "--delegate", "nnapi", "--format", "json").stdout)
    validate("reconcile", found)
    assert [timing["total_ms"] for timing in found["time"]] == [45.0]
    both = run("reconcile", model, "--log", delegated, "--delegate", "nnapi", "--op-profile", cpu, "--format", "json")
    assert [timing["total_ms"] for timing in json.loads(both.stdout)["time"]] == [45.0, 28.0]


def test_causes_are_ranked_by_measured_time(run, files):
    model, delegated, _ = files
    titles = [
        [
            cause["name"]
            for cause in json.loads(run("diagnose", model, "--delegate", "nnapi", *more, "--format", "json").stdout)["causes"]
        ]
        for more in ([], ["--op-profile", delegated])
    ]
    assert sorted(titles[0]) == sorted(titles[1])
    assert titles[1] == ["operator:ROUND", "operator:GELU"]


def test_diagnose_bounds_each_fix(run, files):
    model, delegated, cpu = files
    arguments = ["diagnose", model, "--delegate", "nnapi", "--op-profile", delegated]
    time = json.loads(run(*arguments, "--format", "json").stdout)["time"]
    assert [(cause["cpu_ms"], cause["bounds"]["at_most_ms"]) for cause in time["causes"]] == [(30.0, 32.0), (9.0, 11.0)]
    assert time["all_fixed"]["remaining_ms"] == 2.0
    text = run(*arguments, COLUMNS="300").stdout
    told = ("saves at most 32.0 ms: 30.0 ms of 1 node that leaves the CPU", "saves at least: not known", "needs a second profile")
    assert [words for words in told if words not in text] == []
    assert told[-1] not in run(*arguments, "--op-profile", cpu, COLUMNS="300").stdout


def test_a_bound_above_the_measured_inference_is_clipped_with_its_reason(run, files):
    model, delegated, _ = files
    text = delegated.read_text()
    end = text.index("Inference (avg): ")
    delegated.write_text(f"{text[:end]}Inference (avg): 31000\n")
    shown = run("diagnose", model, "--delegate", "nnapi", "--op-profile", delegated, COLUMNS="300").stdout
    assert "saves at most 31.0 ms, the time of the whole model, because no fix can save more. " in shown


def test_a_profile_of_another_model_stops_with_one_line(run, files, tmp_path):
    _, delegated, _ = files
    other = tmp_path / "other.tflite"
    other.write_bytes(chain_model(["TANH", "ADD"]).bytes())
    result = run("analyze", other, "--delegate", "nnapi", "--op-profile", delegated)
    assert (result.exit_code, result.stdout) == (2, "")
    assert (result.stderr.count("\n"), str(delegated) in result.stderr) == (1, True)


@pytest.mark.parametrize("command", ["analyze", "diagnose", "report"])
def test_a_profile_is_for_one_model(run, files, tmp_path, command):
    model, delegated, _ = files
    other = tmp_path / "other.tflite"
    other.write_bytes(model.read_bytes())
    result = run(command, model, other, "--op-profile", delegated)
    assert result.exit_code == 2
    assert "--op-profile needs a single MODEL" in result.stderr


def test_a_missing_file(run, files, tmp_path):
    result = run("analyze", files[0], "--delegate", "nnapi", "--op-profile", tmp_path / "none.txt")
    assert (result.exit_code, result.stdout, "none.txt: " in result.stderr) == (2, "", True)

"""``delegate-sim micro``, and the option ``--micro`` of other commands."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import delegate_sim
from delegate_sim.errors import OptionError
from fixtures.builder import ModelBuilder
from tests.support.cli.own_schemas import validate
from tests.support.micro_models import chain, hybrid, nested_calls
from tests.support.pages import MODELS


@pytest.fixture
def write(tmp_path):
    def write(builder, name="model.tflite"):
        path = tmp_path / name
        builder.write(path)
        return path

    return write


def test_a_model_that_runs(run, write):
    result = run("micro", write(chain("RELU", "LOGISTIC")))
    assert result.exit_code == 0
    assert "  resolver.AddLogistic();\n" in result.stdout


def test_a_model_that_does_not_run(run, write):
    result = run("micro", write(hybrid()), "--format", "json")
    entry = json.loads(result.stdout)
    assert (result.exit_code, entry["micro"]["outcome"], entry["micro"]["runs"]) == (1, "prepare-failed", False)
    (run_entry,) = entry["runs"]
    assert run_entry["refusal"]["code"] == "micro-not-run"
    nodes = [node for subgraph in run_entry["subgraphs"] for node in subgraph["nodes"]]
    assert [reason["code"] for node in nodes for reason in node["reasons"]] == ["micro-hybrid"]


def test_weights_outside_the_flatbuffer_make_garbage(run):
    result = run("micro", MODELS / "external_buffers.tflite", "--format", "json")
    entry = json.loads(result.stdout)
    assert (result.exit_code, entry["micro"]["computes"], entry["micro"]["external_tensors"] > 0) == (1, False, True)
    assert {risk["code"] for risk in entry["runs"][0]["number_risks"]} == {"micro-external-buffers"}


def test_another_identifier_is_a_warning(run, tmp_path):
    path = tmp_path / "model.tflite"
    content = chain("RELU").bytes()
    path.write_bytes(content[:4] + b"TFL9" + content[8:])
    result = run("micro", path)
    assert result.exit_code == 0
    assert "b'TFL9'" in result.stdout
    assert run("diagnose", path, "--micro").exit_code == 0
    assert run("analyze", path).exit_code == 2


def test_a_resolver_is_held_against_the_model(run, write, tmp_path):
    source = tmp_path / "main.cc"
    source.write_text("tflite::MicroMutableOpResolver<1> r;\nr.AddRelu();\nr.AddTanh();\n", encoding="utf-8")
    result = run("micro", write(chain("RELU", "LOGISTIC")), "--resolver", source)
    assert result.exit_code == 1
    assert "add resolver.AddLogistic()" in result.stdout
    assert "TANH" in result.stdout


@pytest.mark.parametrize("text", [None, "int main() {}"])
def test_a_source_without_a_resolver_is_refused(run, write, tmp_path, text):
    source = tmp_path / "main.cc"
    if text is not None:
        source.write_text(text, encoding="utf-8")
    assert run("micro", write(chain("RELU")), "--resolver", source).exit_code == 2


def test_json_follows_its_schema(run, write, tmp_path):
    source = tmp_path / "main.cc"
    source.write_text("tflite::MicroMutableOpResolver<1> r;\nr.AddRelu();\nr.AddOwn();\n", encoding="utf-8")
    for arguments in (
        [write(hybrid())],
        [MODELS / "external_buffers.tflite"],
        [write(chain("RELU", "TANH")), "--resolver", source],
    ):
        validate("report", json.loads(run("micro", *arguments, "--format", "json").stdout))


def test_json_has_nodes_arena_and_resolver(run, write):
    result = run("micro", write(chain("RELU")), "--format", "json")
    entry = json.loads(result.stdout)
    entry = entry[0] if isinstance(entry, list) else entry
    micro = entry["micro"]
    assert (entry["schema"], entry["runs"][0]["outcome"]) == ("delegate-sim/report/1", "delegated")
    assert (micro["runs"], micro["computes"], micro["arena"]["head"]) == (True, True, 32)
    assert micro["arena"]["basis"]


@pytest.mark.parametrize("form", ["csv", "markdown", "junit", "sarif"])
def test_formats_of_services(run, write, form):
    result = run("micro", write(chain("GELU")), "--format", form)
    assert (result.exit_code, "micro-missing-operator" in result.stdout) == (1, True)


@pytest.mark.parametrize(("model", "code"), [("external", "micro-external-buffers"), ("branch", "micro-tensor-type")])
def test_formats_of_services_fail_if_the_exit_code_does(run, write, model, code):
    path = MODELS / "external_buffers.tflite" if model == "external" else write(nested_calls(1, "INT32"))
    result = run("micro", path, "--format", "junit")
    suites = ElementTree.fromstring(result.stdout)
    assert (result.exit_code, suites.get("failures"), suites.find(".//failure").get("type")) == (1, "1", code)


def test_many_models_are_a_table(run, write, tmp_path):
    paths = [write(chain(op), f"{op}.tflite") for op in ("RELU", "GELU", "TANH", "LOGISTIC")]
    (tmp_path / "NONE.tflite").write_bytes(b"TFL3")
    lines = run("micro", *paths, tmp_path / "NONE.tflite", COLUMNS="120").stdout.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if ".tflite " in line}
    assert next(line.split() for line in lines if "head" in line) == [
        *("model", "accepted", "multiply-adds", "head", "arena"),
        *("main", "blocker"),
    ]
    assert rows["GELU.tflite"] == ["does", "not", "run", "-", "GELU", "1:", "micro-missing-operator"]
    assert [rows["RELU.tflite"][:4], rows["NONE.tflite"][0]] == [["100", "%", "-", "32"], "unreadable"]


def test_several_models_stand_one_after_the_other(run, write):
    result = run("micro", write(chain("RELU"), "a.tflite"), write(hybrid(), "b.tflite"))
    assert result.exit_code == 1
    assert [line.endswith("b.tflite ===") for line in result.stdout.splitlines() if line.startswith("===")] == [False, True]


def test_diagnose(run, write):
    assert run("diagnose", write(chain("GELU")), "--micro").exit_code == 0
    entry = json.loads(run("diagnose", write(chain("GELU")), "--micro", "--format", "json").stdout)
    validate("diagnosis", entry)
    assert (entry["delegate"], entry["causes"][0]["operators"]) == ("micro", {"GELU": 1})
    assert "micro-missing-operator" in run("diagnose", write(chain("GELU")), "--micro", "--format", "csv").stdout


def test_a_file_that_the_runtime_cannot_use_has_one_cause(run_json, write):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.node("RELU", [graph.input("x", "FLOAT32", [1, 4])], [graph.tensor("y", "FLOAT32", [1, 4])])
    graph.tensor("v", "VARIANT", [1])
    entry = run_json("diagnose", write(builder), "--micro")
    assert [cause["codes"] for cause in entry["causes"]] == [["micro-file"]]
    assert entry["without_all"]["outcome"] == "delegated"


def test_the_json_of_several_diagnoses_follows_its_schema(run, write, tmp_path):
    (tmp_path / "c.tflite").write_bytes(b"TFL3")
    write(hybrid(), "b.tflite")
    write(chain("GELU"), "a.tflite")
    entries = json.loads(run("diagnose", tmp_path, "--micro", "--format", "json").stdout)
    validate("diagnosis", entries)
    assert [sorted(entry)[0] for entry in entries] == ["causes", "causes", "error"]
    validate("diagnosis", json.loads(run("diagnose", write(chain("RELU")), "--micro", "--format", "json").stdout))
    for model in ("a.tflite", "b.tflite"):
        validate("fix", json.loads(run("fix", tmp_path / model, "--micro", "--plan", "--format", "json").stdout))


@pytest.mark.slow
def test_the_json_of_a_proved_fix_follows_its_schema(run, write, tmp_path):
    pytest.importorskip("ai_edge_litert", reason="needs the extra 'fix'")
    entry = json.loads(run("fix", write(chain("GELU")), "--micro", "-o", tmp_path / "fixed.tflite", "--format", "json").stdout)
    validate("fix", entry)
    assert entry["difference"]["outputs"]


def test_fix(run, write, tmp_path):
    written = tmp_path / "fixed.tflite"
    result = run("fix", write(chain("GELU")), "--micro", "-o", written, "--no-proof")
    assert result.exit_code == 0, result.stderr
    assert run("micro", written).exit_code == 0
    assert run("fix", write(chain("RELU")), "--micro", "--plan").exit_code == 1
    assert run("fix", write(chain("GELU")), "--micro", "--plan", "--shape", "x=1,4").exit_code == 2
    entry = json.loads(run("fix", write(chain("GELU")), "--micro", "--plan", "--format", "json").stdout)
    validate("fix", entry)
    assert entry["targets"][0]["after"]["outcome"] == "delegated"


@pytest.mark.parametrize("command", [("diagnose",), ("fix", "--plan"), ("report", "-o", "page.html")])
def test_other_commands_take_the_resolver_and_the_kernels_of_the_application(run, write, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "main.cc"
    source.write_text("tflite::MicroMutableOpResolver<1> resolver;\nresolver.AddRelu();\n", encoding="utf-8")
    model = write(chain("RELU", "LOGISTIC"))
    name, *options = command
    lacking = run(name, model, "--micro", "--resolver", source, "--kernels", "cmsis-nn", *options)
    assert "The model does not run" in lacking.stdout
    (tmp_path / "page.html").unlink(missing_ok=True)
    assert run(name, model, "--micro", *options).stdout != lacking.stdout
    (tmp_path / "page.html").unlink(missing_ok=True)
    alone = run(name, model, "--kernels", "cmsis-nn", *options)
    assert (alone.exit_code, "--micro" in alone.stderr) == (2, True)


def test_the_simulated_copy_and_layers_that_older_copies_compute_wrongly_are_named(run, run_json, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "INT8", [1, 4], scale=[0.1], zero_point=[0])
    weights = graph.tensor("w", "INT8", [2, 4], data=[1] * 8, scale=[0.1, 0.2], zero_point=[0, 0])
    result = graph.tensor("y", "INT8", [1, 2], scale=[0.1], zero_point=[0])
    graph.node("FULLY_CONNECTED", [source, weights, -1], [result], 4, {})
    graph.outputs(result)
    path = tmp_path / "m.tflite"
    builder.write(path)
    entry = run_json("micro", path)
    micro = entry["micro"]
    assert (micro["package"], micro["layers_with_channel_scales"]) == ("tflite-micro 0.dev20261023", 1)
    text = " ".join(run("micro", path).stdout.split())
    assert micro["package"] in text
    assert "converter._experimental_disable_per_channel_quantization_for_dense_layers = True" in text


@pytest.mark.parametrize("command", [("micro",), ("diagnose", "--micro"), ("fix", "--micro", "--plan"), ("report", "--micro")])
def test_a_copy_of_the_runtime_that_was_not_compared_is_named(run, write, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    model = write(chain("RELU"))
    unknown = run(*command, model, "--runtime", "2024-05-01")
    assert "tflite-micro 0.dev20240501" in " ".join(unknown.stdout.split())
    (tmp_path / "report.html").unlink(missing_ok=True)
    assert "not checked" not in run(*command, model, "--runtime", "tflite-micro==0.dev20261023182759").stdout
    assert run(*command, model, "--runtime", "tf-2.12").exit_code == 2


def test_json_names_the_copy_of_the_runtime(run_json, write):
    entry = run_json("micro", write(chain("RELU")), "--runtime", "abcdef12")
    assert (entry["micro"]["runtime"], entry["micro"]["is_checked"]) == ("commit abcdef12", False)


def test_the_runtime_is_a_target_beside_delegates(run, run_json, write):
    model = write(chain("GELU"))
    both = ("--micro", "--delegate", "gpu")
    assert [entry["delegate"] for entry in run_json("diagnose", model, *both)] == ["micro", "gpu"]
    assert [entry["delegate"] for entry in run_json("analyze", model, *both)["runs"]] == ["micro", "gpu"]
    assert [run_json("compare", model, *both)[side]["delegate"] for side in "ab"] == ["micro", "gpu"]
    for command in (("fix", "--plan", *both), ("analyze", "--chain", *both), ("analyze", "--format", "card", "--micro")):
        result = run(*command, model)
        assert (result.exit_code, "delegate" in result.stderr) == (2, True)


def test_analyze_and_micro_have_the_same_answer(run, write):
    model = write(chain("GELU"))
    for options in ((), ("--format", "json"), ("--kernels", "cmsis-nn", "--format", "csv")):
        alike, own = run("analyze", model, "--micro", *options), run("micro", model, *options)
        assert (alike.stdout, alike.exit_code) == (own.stdout, own.exit_code)


def test_python_has_the_json_of_the_command(run, write):
    model = write(chain("RELU", "GELU"))
    report = delegate_sim.analyze(model, "micro", {"kernels": "cmsis-nn"})
    command = json.loads(run("micro", model, "--kernels", "cmsis-nn", "--format", "json").stdout)
    assert json.loads(json.dumps(report.to_dict(advice=True), default=str)) == command
    alone = delegate_sim.analyze_micro(model, kernels="cmsis-nn").to_dict()
    assert alone.keys() - {"schema", "tool", "nodes"} == command["micro"].keys()
    with pytest.raises(OptionError, match="op_profile"):
        delegate_sim.analyze(model, "micro", op_profile="profile.txt")


def test_a_setting_of_the_other_side_is_an_option_or_a_copy_of_the_runtime(run_json, write):
    model = write(chain("RELU"))
    sides = run_json("compare", model, "--micro", "--with", "runtime=2024-05-01", "--with", "kernels=cmsis-nn")
    assert [sides[side]["runtime"] for side in "ab"] == ["tflite-micro 0.dev20261023", "tflite-micro 0.dev20240501"]
    assert [sides[side]["options"]["kernels"] for side in "ab"] == ["reference", "cmsis-nn"]


def test_an_exported_graph_has_no_node_on_another_processor(run, write):
    pytest.importorskip("networkx")
    assert '"runs_on": "unsupported"' in run("export", "json", write(chain("GELU")), "--micro").stdout


def test_a_scan_is_made_again_for_another_copy_of_the_runtime(run, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("scan", write(chain("RELU")), "--micro", "--processes", "1", "-o", "scan.csv")
    assert "1 simulated now" in run(*command).stdout
    assert "0 simulated now" in run(*command).stdout
    assert "1 simulated now" in run(*command, "--runtime", "2024-05-01").stdout


def test_a_configuration_names_the_kind_of_the_target(run, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "delegate-sim.toml").write_text('models = ["m.tflite"]\n[targets.a]\ndelegate = "micro"\n', encoding="utf-8")
    result = run("check")
    assert (result.exit_code, 'kind = "micro"' in result.stderr) == (2, True)


def test_a_fix_for_micro_does_not_read_the_configuration(run, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "delegate-sim.toml").write_text("models = 1\n", encoding="utf-8")
    assert run("fix", write(chain("GELU")), "--micro", "--plan").exit_code == 0
    assert run("fix", write(chain("GELU")), "--plan").exit_code == 2


@pytest.mark.parametrize(
    ("runtime", "releases"),
    [
        ("litert-2.1", ["tflite-micro 0.dev20261023", "litert-2.1"]),
        ("2024-05-01", ["tflite-micro 0.dev20240501", "litert-2.3"]),
    ],
)
def test_a_release_of_one_runtime_leaves_the_other_at_its_default(run, runtime, releases):
    model = MODELS / "mobilenet_block.tflite"
    result = run("analyze", model, "--micro", "--delegate", "xnnpack", "--runtime", runtime, "--format", "json")
    assert [entry["runtime"] for entry in json.loads(result.stdout)["runs"]] == releases


def test_a_release_of_no_runtime_is_refused(run):
    result = run("analyze", MODELS / "mobilenet_block.tflite", "--micro", "--delegate", "xnnpack", "--runtime", "none")
    assert result.exit_code == 2
    assert "litert" in result.stderr


@pytest.mark.parametrize("flag", ["--chain", "--default-xnnpack", "--no-default-xnnpack"])
def test_it_alone_leaves_nothing_to_other_delegates(run, flag):
    result = run("analyze", MODELS / "mobilenet_block.tflite", "--micro", flag)
    assert result.exit_code == 2
    assert "micro runs whole models" in result.stderr


@pytest.mark.parametrize("command", ["analyze", "diagnose"])
@pytest.mark.parametrize("option", [("--device", "pixel8"), ("--for", "phones")])
def test_devices_are_not_microcontrollers(run, command, option):
    result = run(command, MODELS / "mobilenet_block.tflite", "--micro", *option)
    assert result.exit_code == 2
    assert "give --micro, or --device and --for" in result.stderr

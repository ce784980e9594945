"""``delegate-sim fix`` and ``delegate-sim diff``."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from delegate_sim import load
from fixtures.builder import ModelBuilder
from tests.support.cli.own_schemas import validate
from tests.support.models import chain_model

try:
    import ai_edge_litert  # noqa: F401
except ImportError:  # pragma: no cover
    HAS_RUNTIME = False
else:
    HAS_RUNTIME = True
needs_runtime = pytest.mark.skipif(not HAS_RUNTIME, reason="needs the runtime: install the extra 'fix'")

OPS = ("ADD", "NEG", "ADD 2", "ADD")
"""NNAPI does not take version 4 of ADD, nor NEG at level 28."""
LEVEL = ("--delegate", "nnapi", "--feature-level", "28")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "model.tflite"
    chain_model(OPS).write(path)
    return path


def test_the_plan_is_shown_and_nothing_written(source, run, tmp_path):
    result = run("fix", source, *LEVEL, "--plan")
    assert result.exit_code == 0, result.stderr
    assert "neg-as-mul" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["model.tflite"]


def test_the_pass_that_a_diagnosis_names_gives_what_it_says(source, run, run_json):
    options = ("--feature-level", "28")
    cause = next(cause for cause in run_json("diagnose", source, *options)["causes"] if "NEG" in cause["operators"])
    assert cause["fix"]["pass"] == "neg-as-mul"
    text = " ".join(run("diagnose", source, *options).stdout.split())
    assert f"delegate-sim fix {source} --delegate nnapi --feature-level=28 --pass neg-as-mul -o fixed.tflite" in text
    plan = run_json("fix", source, *LEVEL, "--pass", "neg-as-mul", "--plan")
    assert [step["name"] for step in plan["passes"]] == ["neg-as-mul"]
    assert plan["targets"][0]["after"].items() <= cause["fix"]["result"].items()
    assert run("fix", source, *LEVEL, "--pass", "square-as-mul", "--plan").exit_code == 1


@pytest.mark.slow
@needs_runtime
def test_a_model_is_written_and_proven(source, run, tmp_path):
    result = run("fix", source, *LEVEL, "-o", tmp_path / "fixed.tflite")
    assert result.exit_code == 0, result.stderr
    assert [node.op for node in load(tmp_path / "fixed.tflite").subgraphs[0].nodes] == ["ADD", "MUL", "ADD", "ADD"]
    again = run("diff", source, tmp_path / "fixed.tflite")
    assert (again.exit_code, again.stderr) == (0, "")


@pytest.mark.slow
@needs_runtime
def test_the_report_as_json(source, run, tmp_path):
    found = json.loads(run("fix", source, *LEVEL, "-o", tmp_path / "fixed.tflite", "--format", "json").stdout)
    validate("fix", found)
    assert found["difference"]["is_same"]
    assert found["targets"][0]["before"]["delegated_nodes"] < found["targets"][0]["after"]["delegated_nodes"]
    assert [step["name"] for step in found["passes"]] == ["neg-as-mul"]


@pytest.mark.slow
@needs_runtime
def test_a_model_in_an_archive(source, run, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(source, "m.tflite")
    result = run("fix", f"{tmp_path / 'a.zip'}!/m.tflite", *LEVEL, "-o", tmp_path / "fixed.tflite")
    assert result.exit_code == 0, result.stderr
    assert run("diff", tmp_path / "a.zip", tmp_path / "fixed.tflite").exit_code == 0


@needs_runtime
def test_trailing_nodes_are_written_beside_it(run, tmp_path):
    chain_model(("ADD", "ADD", "ROUND")).write(tmp_path / "model.tflite")
    result = run("fix", tmp_path / "model.tflite", *LEVEL, "--split-tail", "-o", tmp_path / "fixed.tflite")
    assert result.exit_code == 0, result.stderr
    answer = " ".join(result.stdout.partition("before: ")[0].split())
    assert ("in the first of two models, 100 % of nodes" in answer, "fixed.tail.tflite" in answer) == (True, True)
    assert [node.op for node in load(tmp_path / "fixed.tail.tflite").subgraphs[0].nodes] == ["ROUND"]
    found = json.loads(run("fix", tmp_path / "model.tflite", *LEVEL, "--split-tail", "--plan", "--format", "json").stdout)
    validate("fix", found)
    assert (found["split"]["operators"], found["split"]["written"]) == (["ROUND"], None)
    found = run("fix", tmp_path / "model.tflite", *LEVEL, "--split-tail", "-o", tmp_path / "fixed.tflite")
    assert (found.exit_code, "--force" in found.stderr) == (2, True)


def test_a_model_with_open_sizes_is_told_how_to_fix_them(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("$(x)", "FLOAT32", [1, 4], signature=[-1, 4]), graph.tensor("y", "FLOAT32", [1, 4], signature=[-1, 4])
    graph.node("RELU", [x], [y], 1)
    graph.outputs(y)
    builder.write(tmp_path / "model.tflite")
    result = run("fix", tmp_path / "model.tflite", "--delegate", "gpu", "--plan")
    assert result.exit_code == 1
    assert "--shape" not in result.stdout
    refused = run("fix", tmp_path / "model.tflite", "--delegate", "nnapi", "--driver-rejects", "RELU", "--plan")
    assert "other changes may need --shape '$(x)=1,4', or" in " ".join(refused.stdout.split())


@needs_runtime
def test_inputs_that_are_not_an_archive(source, run, tmp_path):
    (tmp_path / "x.npz").write_text("text")
    result = run("fix", source, *LEVEL, "-o", tmp_path / "fixed.tflite", "--data", tmp_path / "x.npz")
    assert (result.exit_code, "x.npz" in result.stderr) == (2, True)


def test_nothing_is_written_over_an_existing_file(source, run, tmp_path):
    (tmp_path / "fixed.tflite").write_bytes(b"mine")
    result = run("fix", source, *LEVEL, "-o", tmp_path / "fixed.tflite", "--no-proof")
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert (tmp_path / "fixed.tflite").read_bytes() == b"mine"
    assert run("fix", source, *LEVEL, "-o", tmp_path / "fixed.tflite", "--no-proof", "--force").exit_code == 0
    assert (tmp_path / "fixed.tflite").read_bytes() != b"mine"


def test_the_model_itself_is_never_written_over(source, run, tmp_path):
    before = source.read_bytes()
    (tmp_path / "link.tflite").symlink_to(source)
    for path in (source, tmp_path / "link.tflite"):
        result = run("fix", source, *LEVEL, "-o", path, "--force", "--no-proof")
        assert (result.exit_code, "--force" in result.stderr) == (2, False)
    assert source.read_bytes() == before


def test_the_command_without_the_target_that_prevents_a_rewrite(run, tmp_path):
    """Core ML takes the nodes around GELU. Written out for NNAPI, GELU would give it more partitions."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last = graph.input("x", "FLOAT32", [1, 2, 2, 8])
    for op in ("RELU", "RELU", "GELU", "RELU", "RELU"):
        result = graph.tensor("y", "FLOAT32", [1, 2, 2, 8])
        graph.node(op, [last], [result], 1, {"approximate": False} if op == "GELU" else None)
        last = result
    graph.outputs(last)
    builder.write(tmp_path / "model.tflite")
    named = ("--delegate", "nnapi", "--delegate", "coreml", "--delegate", "xnnpack")
    result = run("fix", tmp_path / "model.tflite", *named, "--plan")
    assert f"  delegate-sim fix {tmp_path / 'model.tflite'} --delegate nnapi --delegate xnnpack -o" in result.stdout


def test_a_model_that_no_pass_helps(run, tmp_path):
    chain_model(("ADD", "ROUND")).write(tmp_path / "model.tflite")
    result = run(
        "fix",
        tmp_path / "model.tflite",
        "--delegate",
        "nnapi",
        "--allow",
        "exact",
        "--pass",
        "neg-as-mul",
        "-o",
        tmp_path / "fixed.tflite",
    )
    assert result.exit_code == 1
    assert not (tmp_path / "fixed.tflite").exists()


@needs_runtime
def test_a_model_that_does_not_run_on_the_cpu(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1, 4])
    y, z = graph.tensor("y", "FLOAT32", [1, 4]), graph.tensor("z", "FLOAT32", [1, 4])
    graph.node("NEG", [x], [y], 1)
    graph.node(0, [y], [z], custom="Mine")
    graph.outputs(z)
    builder.write(tmp_path / "model.tflite")
    result = run("fix", tmp_path / "model.tflite", *LEVEL, "--assume-ops-registered", "-o", tmp_path / "fixed.tflite")
    assert result.exit_code == 2
    assert "Mine" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model.tflite"]


@needs_runtime
def test_a_pass_that_breaks_its_promise_writes_nothing(source, run, tmp_path, monkeypatch):
    from delegate_sim.fixing.passes import elementwise

    monkeypatch.setattr(elementwise, "_scalar", lambda work, node, value: work.constant("wrong", "FLOAT32", value * 1.01))
    result = run("fix", source, *LEVEL, "-o", tmp_path / "fixed.tflite")
    assert result.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["model.tflite"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--plan", "-o", "x"), "give --plan or -o, not both"),
        ((), "give -o FILE"),
        (("-o", "x", "--samples", "0"), "the models cannot be compared without inputs"),
        (("--plan", "--shape", "y=1"), "the model has no input 'y'"),
        (("--plan", "--shape", f"x={'1' * 5000}"), "a shape is INPUT=1,224,224,3, not 'x=1"),
    ],
)
def test_arguments_that_do_not_go_together(source, run, arguments, words):
    result = run("fix", source, *LEVEL, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.slow
@needs_runtime
def test_models_that_differ(run, tmp_path):
    chain_model(("ADD",)).write(tmp_path / "a.tflite")
    chain_model(("ADD", "ADD")).write(tmp_path / "b.tflite")
    result = run("diff", tmp_path / "a.tflite", tmp_path / "b.tflite")
    assert result.exit_code == 1
    assert run("diff", tmp_path / "a.tflite", tmp_path / "b.tflite", "--tolerance", "1000").exit_code == 0
    found = json.loads(run("diff", tmp_path / "a.tflite", tmp_path / "b.tflite", "--format", "json").stdout)
    validate("diff", found)
    assert found["outputs"][0]["greatest"] == pytest.approx(4)


def test_names_in_models_are_made_safe(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("\x1b[31mx", "FLOAT32", [1]), graph.tensor("\x1b[2Jy", "FLOAT32", [1])
    graph.node("NEG", [x], [y], 1)
    graph.outputs(y)
    builder.write(tmp_path / "model.tflite")
    for extra in (("--plan",), ("-o", tmp_path / "fixed.tflite")):
        result = run("fix", tmp_path / "model.tflite", *LEVEL, *extra)
        assert "\x1b" not in result.stdout + result.stderr


def test_a_plan_with_better_fixed_sizes_names_the_command(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("$(x)", "FLOAT32", [1, 4, 4, 2], signature=[-1, 4, 4, 2])
    sizes, size = graph.tensor("sizes", "INT32", [4]), graph.tensor("size", "INT32", [])
    packed, result = graph.tensor("packed", "INT32", [2]), graph.tensor("y", "FLOAT32", [1, 32], signature=[-1, 32])
    graph.node("SHAPE", [source], [sizes], 1, {"out_type": 2})
    slices = [graph.tensor(f"k{value}", "INT32", [1], data=[value]) for value in (0, 1, 1)]
    graph.node("STRIDED_SLICE", [sizes, *slices], [size], 1, {"shrink_axis_mask": 1})
    graph.node("PACK", [size, graph.tensor("k", "INT32", [], data=[32])], [packed], 1, {"values_count": 2})
    graph.node("RESHAPE", [source, packed], [result], 1, {})
    graph.outputs(result)
    Path("open.tflite").write_bytes(builder.bytes())
    text = run("fix", "open.tflite", "--delegate", "mldrift", "--plan").stdout
    assert "With fixed sizes (--shape '$(x)=1,4,4,2')" in text
    assert "\n  delegate-sim fix open.tflite --delegate mldrift --shape '$(x)=1,4,4,2' -o fixed.tflite\n" in text


@pytest.mark.slow
def test_a_bound_rests_on_many_inputs_and_names_their_spread(run, tmp_path):
    pytest.importorskip("ai_edge_litert")
    output = tmp_path / "fixed.tflite"
    model = "fixtures/models/mobilenet_block.tflite"
    arguments = ("fix", model, "--delegate", "vx", "--allow", "approximate", "-o", output, "--format", "json")
    difference = json.loads(run(*arguments).stdout)["difference"]
    own = difference["outputs"][0]
    assert difference["samples"] == 32
    assert 0 < own["least"] <= own["median"] <= own["greatest"]
    few = json.loads(run(*arguments, "--samples", "3", "--force").stdout)["difference"]
    assert few["samples"] == 3

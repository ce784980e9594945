"""The parts of nodes that are compared, and those that are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.fixing.fix import corresponding, fix
from delegate_sim.fixing.passes import elementwise
from delegate_sim.fixing.passes.base import Exactness, node_pass
from delegate_sim.fixing.search import search
from fixtures.builder import ModelBuilder

from ..support.fixing.targets import target
from ..support.models import chain_model

NNAPI = target("nnapi", feature_level="28")


def test_what_nothing_reads_is_not_compared():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    read, unread, last = (graph.tensor(name, "FLOAT32", [1, 2]) for name in ("read", "unread", "last"))
    axis = graph.tensor("axis", "INT32", [], data=[1])
    graph.node("SPLIT", [axis, source], [read, unread], 1, {"num_splits": 2})
    graph.node("ABS", [read], [last])
    graph.outputs(last)
    model = load(builder.bytes())
    assert list(corresponding(model, model).values()) == ["read", "last"]


def two_signatures(folder):
    """A model whose second signature has NEG, which NNAPI does not take at level 28, between ADDs."""
    builder = ModelBuilder()
    for name, ops in (("first", ("ADD", "ADD")), ("second", ("ADD", "NEG", "ADD"))):
        graph = builder.subgraph(name)
        source = tensor = graph.input("x", "FLOAT32", [1, 4])
        for number, op in enumerate(ops):
            result = graph.tensor(f"y{number}", "FLOAT32", [1, 4])
            graph.node(op, [tensor, tensor] if op == "ADD" else [tensor], [result], 1, {})
            tensor = result
        graph.outputs(tensor)
        builder.signature(name, graph, {"in": source}, {"out": tensor})
    builder.write(folder / "model.tflite")
    return load(folder / "model.tflite")


def test_every_signature_is_rewritten_and_proven(tmp_path):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    model = two_signatures(tmp_path)
    plan = search(model, [NNAPI])
    assert [step.name for step in plan.steps] == ["neg-as-mul"]
    fixed = fix(plan, str(tmp_path / "fixed.tflite"))
    assert [node.op for node in load(fixed.path).subgraphs[1].nodes] == ["ADD", "MUL", "ADD"]
    assert [output.name for output in fixed.difference.outputs] == ["y1", "second/out"]
    assert fixed.difference.is_same


def _wrong(work, node):
    """Return nodes that are exact for finite values, but called exact for all."""
    return elementwise._neg(work, node)


def test_a_pass_that_is_exact_for_finite_values_alone_must_say_so(tmp_path):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    chain_model(("ADD", "NEG", "ADD")).write(tmp_path / "model.tflite")
    model = load(tmp_path / "model.tflite")
    silent = replace(node_pass("neg-as-mul", "NEG", Exactness.EXACT, _wrong), name="silent")
    plan = search(model, [NNAPI], passes={"silent": silent})
    with pytest.raises(FixError, match=r"the passes are exact, but on extreme values .* elements of .* differ"):
        fix(plan, str(tmp_path / "fixed.tflite"))
    assert not (tmp_path / "fixed.tflite").exists()
    plan = search(model, [NNAPI])
    fixed = fix(plan, str(tmp_path / "fixed.tflite"))
    assert plan.holds_for == ("finite values and results",)
    assert fixed.difference.is_same
    assert not fixed.difference.edges.is_same


ROOT = Path(__file__).resolve().parents[2]


def test_the_result_of_the_python_function_has_the_json_of_the_command():
    jsonschema = pytest.importorskip("jsonschema")
    model = ROOT / "fixtures" / "models" / "transformer_block.tflite"
    fixed = delegate_sim.fix(model, None, "gpu", defaults="benchmark")
    entry = json.loads(json.dumps(fixed.to_dict()))
    schema = json.loads((ROOT / "docs" / "schemas" / "fix.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(entry)
    assert entry["schema"] == "delegate-sim/fix/3"
    assert entry["targets"][0]["after"] == fixed.plan.after[0].to_dict()

"""Forms of nodes, and results that nodes of one form share."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.errors import DelegateSimError
from delegate_sim.graph.forms import Forms, FormTable, node_forms
from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder

ROOT = Path(__file__).resolve().parents[2]
MODELS = sorted((ROOT / "fixtures" / "models").glob("*.tflite"))
CORPORA = ROOT.parent / "shared" / "corpus"
SAMPLED, LARGEST = 4, 300_000
WITH_CAUSES = {"transformer_block", "mobilenet_block", "quantized_block", "float16_weights", "control_flow", "recurrent"}
"""Fixtures whose causes are compared too. Causes of models with many different nodes take long without tables."""


def test_only_names_and_indices_are_no_part_of_a_form():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x = graph.input("x", "FLOAT32", (2, 3))
    axes = [graph.tensor(f"axis{number}", "INT32", (1,), [value]) for number, value in enumerate((0, 0, 1))]
    large = [graph.tensor(f"large{number}", "FLOAT32", (2, 3, 9), [0.0] * 54) for number in range(2)]
    wide = graph.input("wide", "FLOAT32", (2, 9))

    def result(name="y", kind="FLOAT32"):
        return graph.tensor(name, kind, (2, 3))

    nodes = {
        "add": ("ADD", [x, wide], {}),
        "add again": ("ADD", [x, wide], {}),
        "add with itself": ("ADD", [x, x], {}),
        "add with relu": ("ADD", [x, wide], {"fused_activation_function": 1}),
        "add of an omitted input": ("ADD", [x, -1], {}),
        "sum over 0": ("SUM", [x, axes[0]], {}),
        "sum over 0 again": ("SUM", [x, axes[1]], {}),
        "sum over 1": ("SUM", [x, axes[2]], {}),
        "multiply by a large constant": ("MUL", [x, large[0]], {}),
        "multiply by another large constant": ("MUL", [x, large[1]], {}),
    }
    for name, (op, inputs, options) in nodes.items():
        graph.node(op, inputs, [result(name)], 1, options)
    graph.node("ADD", [x, wide], [result("of version 2")], 2, {})
    graph.node("ADD", [x, wide], [result("of another type", "INT32")], 1, {})
    graph.outputs(x)
    forms = node_forms(file_graphs(load(builder.bytes()))[0])
    named = dict(zip([*nodes, "version", "type"], forms, strict=True))
    assert named.pop("add again") == named["add"]
    assert named.pop("sum over 0 again") == named["sum over 0"]
    assert len(set(named.values())) == len(named)


def results(content, has_causes):
    """Return what all delegates do to a model, and the causes of two of them if ``has_causes``."""
    model = load(content)
    found = []
    for name in DELEGATE_NAMES:
        try:
            found.append(delegate_sim.analyze(model, name).to_dict())
            if has_causes and name in ("nnapi", "hexagon"):
                found.append(delegate_sim.diagnose(model, name).to_dict())
        except DelegateSimError as error:
            found.append(str(error))
    return found


def assert_equal_without_tables(content, monkeypatch, has_causes):
    shared = results(content, has_causes)
    with monkeypatch.context() as patch:
        patch.setattr(FormTable, "add", lambda self, key, result: result)
        assert results(content, has_causes) == shared


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_results_of_fixtures_are_the_same_without_shared_results(path, monkeypatch):
    assert_equal_without_tables(path.read_bytes(), monkeypatch, has_causes=path.stem in WITH_CAUSES)


@pytest.mark.parametrize("corpus", ["real", "keras", "torch", "onnx", "fuzz"])
def test_results_of_corpora_are_the_same_without_shared_results(corpus, monkeypatch):
    archive = CORPORA / f"{corpus}.zip"
    if not archive.exists():
        pytest.skip("the corpora are not here")
    with zipfile.ZipFile(archive) as files:
        names = [one.filename for one in files.infolist() if one.filename.endswith(".tflite") and one.file_size <= LARGEST]
        for name in random.Random(corpus).sample(sorted(names), SAMPLED):
            content = files.read(name)
            try:
                load(content)
            except DelegateSimError:
                continue
            assert_equal_without_tables(content, monkeypatch, has_causes=True)


def test_a_full_table_forgets_and_gives_no_wrong_number(monkeypatch):
    monkeypatch.setattr("delegate_sim.graph.forms._LargeTable.most", 3)
    path = ROOT / "fixtures" / "models" / "transformer_block.tflite"
    model = load(path.read_bytes())
    (graph,) = file_graphs(model)
    once = Forms().nodes(model, graph.tensors, graph.nodes)
    monkeypatch.undo()
    always = node_forms(graph)
    same = {(one, other) for one in range(len(once)) for other in range(len(once)) if once[one] == once[other]}
    assert same <= {(one, other) for one in range(len(always)) for other in range(len(always)) if always[one] == always[other]}

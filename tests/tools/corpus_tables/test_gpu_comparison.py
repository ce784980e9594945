"""The script that compares the two GPU delegates."""

from __future__ import annotations

import zipfile

import pytest

import delegate_sim
from fixtures.make import MODELS
from tools.corpus_tables import gpu_comparison


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("arithmetic", "float"),
        ("quantized_block", "8-bit"),
        ("float16_weights", "float, float16 weights"),
    ],
)
def test_types_of_models(name, kind):
    assert gpu_comparison.kind_of(delegate_sim.load(MODELS / f"{name}.tflite")) == kind


def test_nodes_are_counted_once():
    model = delegate_sim.load(MODELS / "slicing.tflite")
    pair = gpu_comparison.compared(model)
    assert len(pair.nodes) == sum(len(subgraph.nodes) for subgraph in model.subgraphs)
    assert {node.op for node in pair.nodes if node.newer and not node.older} <= {node.op for node in pair.nodes}
    assert all(node.reason for node in pair.nodes if node.older != node.newer)


def test_tables():
    pairs = [gpu_comparison.compared(delegate_sim.load(path)) for path in sorted(MODELS.glob("s*.tflite"))]
    text = gpu_comparison.tables(pairs)
    assert f"{len(pairs)} models with" in text
    assert text.count("## By ") == 3


def test_files_that_are_no_models_are_left_out(tmp_path):
    for name in gpu_comparison.ARCHIVES:
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("broken.tflite", b"no model")
            archive.write(MODELS / "pooling.tflite", "pooling.tflite")
    assert [name for name, _ in gpu_comparison.models(tmp_path)] == ["pooling.tflite"] * 4

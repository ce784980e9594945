"""Generated inputs."""

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.inference.inputs import edge_inputs, generated_inputs
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder


def model_of(kind, shape, path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("x", kind, shape))
    builder.write(path)
    return load(path)


@pytest.mark.parametrize("kind", ["FLOAT32", "INT32", "BOOL", "INT8"])
@pytest.mark.parametrize("shape", [[], [0], [3], [2, 3]], ids=str)
def test_inputs_of_every_rank_are_generated(tmp_path, kind, shape):
    model = model_of(kind, shape, tmp_path / "model.tflite")
    generated = generated_inputs(model, model.subgraphs[0], 0, {})
    for arrays in [generated, *edge_inputs(model, model.subgraphs[0], {})]:
        assert [list(array.shape) for array in arrays] == [shape]


@pytest.mark.parametrize(
    ("kind", "shape", "fault"),
    [
        ("RESOURCE", [1], "inputs of type RESOURCE cannot be generated"),
        ("FLOAT32", [1] * 100, "cannot be generated"),
        ("FLOAT32", [2, -3], "cannot be generated"),
        ("FLOAT32", [1 << 30], "more than 33,554,432 elements"),
    ],
)
def test_what_cannot_be_generated_is_refused_with_the_name_of_the_model(tmp_path, kind, shape, fault):
    model = model_of(kind, shape, tmp_path / "model.tflite")
    with pytest.raises(OptionError, match=fault) as caught:
        generated_inputs(model, model.subgraphs[0], 0, {})
    assert str(caught.value).startswith(str(tmp_path / "model.tflite"))

"""Three small models that a gate watches over, and what makes each of them worse."""

from __future__ import annotations

import re

from fixtures.builder import ModelBuilder

RESIZE_OPTIONS = {"align_corners": False, "half_pixel_centers": False}


def classifier(version: int = 1, names: str = "", swapped: bool = False) -> ModelBuilder:
    """Return two FULLY_CONNECTED; NNAPI refuses their version 9.

    ``names`` stands before the names of all tensors. ``swapped`` writes two independent nodes the other way round.
    """
    builder = ModelBuilder("classifier")
    graph = builder.subgraph("main")
    source = graph.input(f"{names}features", "FLOAT32", [1, 8])
    weights = graph.tensor(f"{names}weights", "FLOAT32", [8, 8], data=[0.5] * 64)
    bias = graph.tensor(f"{names}bias", "FLOAT32", [8], data=[0.0] * 8)
    left, right, joined, scores = (
        graph.tensor(f"{names}{name}", "FLOAT32", [1, 8]) for name in ("left", "right", "joined", "scores")
    )
    branches = [
        lambda: graph.node("FULLY_CONNECTED", [source, weights, bias], [left], version=version, options={}),
        lambda: graph.node("LOGISTIC", [source], [right]),
    ]
    for add in reversed(branches) if swapped else branches:
        add()
    graph.node("ADD", [left, right], [joined], options={})
    graph.node("SOFTMAX", [joined], [scores], options={"beta": 1.0})
    graph.outputs(scores)
    return builder


def upsampler() -> ModelBuilder:
    """Return a RESIZE_NEAREST_NEIGHBOR between RELU nodes, which a driver may reject."""
    builder = ModelBuilder("upsampler")
    graph = builder.subgraph("main")
    source = graph.input("image", "FLOAT32", [1, 4, 4, 3])
    size = graph.tensor("size", "INT32", [2], data=[8, 8])
    before = graph.tensor("before", "FLOAT32", [1, 4, 4, 3])
    resized = graph.tensor("resized", "FLOAT32", [1, 8, 8, 3])
    after = graph.tensor("after", "FLOAT32", [1, 8, 8, 3])
    graph.node("RELU", [source], [before])
    graph.node("RESIZE_NEAREST_NEIGHBOR", [before, size], [resized], options=RESIZE_OPTIONS)
    graph.node("RELU", [resized], [after])
    graph.outputs(after)
    return builder


def reshaper(is_dynamic: bool = False) -> ModelBuilder:
    """Return a RESHAPE between two nodes; if dynamic, its shape is an input, and so known only while running."""
    builder = ModelBuilder("reshaper")
    graph = builder.subgraph("main")
    source = graph.input("grid", "FLOAT32", [2, 4])
    shape = graph.input("shape", "INT32", [2]) if is_dynamic else graph.tensor("shape", "INT32", [2], data=[1, 8])
    activated = graph.tensor("activated", "FLOAT32", [2, 4])
    flat = graph.tensor("flat", "FLOAT32", [1, 8])
    result = graph.tensor("result", "FLOAT32", [1, 8])
    graph.node("RELU", [source], [activated])
    graph.node("RESHAPE", [activated, shape], [flat], options={"new_shape": [] if is_dynamic else [1, 8]})
    graph.node("LOGISTIC", [flat], [result])
    graph.outputs(result)
    return builder


def restore(repository):
    """Write three models of a repository."""
    classifier().write(repository / "models" / "classifier.tflite")
    upsampler().write(repository / "models" / "upsampler.tflite")
    reshaper().write(repository / "models" / "reshaper.tflite")


def make_worse(repository):
    """Worsen each model: an operator version, a driver that rejects an operator, a shape that is dynamic."""
    classifier(9, names="v2/", swapped=True).write(repository / "models" / "classifier.tflite")
    reshaper(is_dynamic=True).write(repository / "models" / "reshaper.tflite")
    reject = 'delegate = "nnapi"\noptions = { driver_rejects = ["RESIZE_NEAREST_NEIGHBOR"] }'
    configuration = repository / "delegate-sim.toml"
    configuration.write_text(configuration.read_text(encoding="utf-8").replace('delegate = "nnapi"', reject), encoding="utf-8")


def accept_again(repository):
    """Take back what ``make_worse`` did."""
    restore(repository)
    configuration = repository / "delegate-sim.toml"
    text = re.sub("^options = .*\n", "", configuration.read_text(encoding="utf-8"), flags=re.MULTILINE)
    configuration.write_text(text, encoding="utf-8")

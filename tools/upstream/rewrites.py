"""Convert each layer that a diagnosis suggests to rewrite, as it is and as suggested (``make rewrites``).

Needs TensorFlow. Writes the converted models, which have next to no weights, to ``fixtures/rewrites``; tests hold
against them that the operator is gone, that what came in its place is what the suggestion says, and that both compute the same.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "rewrites"
_GRID = (1, 4, 4, 3)
_ROWS = (2, 8)


class Layer(NamedTuple):
    """A layer as it is usually written, and as it is suggested. Both take tensors of these shapes and types."""

    op: str
    usual: Callable[..., Any]
    suggested: Callable[..., Any]
    inputs: Sequence[tuple[int, ...]] = (_GRID,)
    type: str = "float32"
    unfolds: bool = False
    """Whether the suggestion is ``converter.unfold_batchmatmul``."""


def layers(tf: Any) -> Sequence[Layer]:
    """Return every layer."""
    import math

    import numpy as np

    weights = tf.constant(np.linspace(-1, 1, 48).reshape(1, 4, 4, 3), tf.float32)
    triangle = tf.constant(np.triu(np.ones((8, 8))), tf.float32)
    matrix = tf.constant(np.linspace(-1, 1, 64).reshape(8, 8), tf.float32)
    slope = 0.3
    return (
        Layer("BATCH_MATMUL", tf.matmul, tf.matmul, ((2, 4, 8), (2, 8, 4)), unfolds=True),
        Layer("BROADCAST_TO", lambda x: tf.broadcast_to(x, (4, 8)), lambda x: x * tf.ones((4, 8), tf.int32), ((1, 8),), "int32"),
        Layer("CEIL", tf.math.ceil, lambda x: -tf.floor(-x)),
        Layer("COS", tf.cos, lambda x: tf.sin(x + math.pi / 2)),
        Layer("CUMSUM", lambda x: tf.cumsum(x, axis=1), lambda x: tf.matmul(x, triangle), (_ROWS,)),
        Layer("ELU", tf.nn.elu, lambda x: tf.nn.relu(x) - tf.nn.relu(1.0 - tf.exp(x))),
        Layer("EXPAND_DIMS", lambda x: tf.expand_dims(x, 1), lambda x: tf.reshape(x, (2, 1, 8)), (_ROWS,)),
        Layer("FLOOR_DIV", tf.math.floordiv, lambda a, b: tf.floor(a / b), (_GRID, _GRID)),
        Layer("FLOOR_MOD", tf.math.floormod, lambda a, b: a - tf.floor(a / b) * b, (_GRID, _GRID)),
        Layer(
            "GATHER_ND",
            lambda x: tf.gather_nd(x, [[0, 1], [1, 3]]),
            lambda x: tf.gather(tf.reshape(x, (16,)), [1, 11]),
            (_ROWS,),
        ),
        Layer(
            "GELU",
            lambda x: tf.nn.gelu(x, approximate=True),
            lambda x: 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))),
        ),
        Layer("GELU", lambda x: tf.nn.gelu(x, approximate=True), lambda x: x * tf.sigmoid(1.702 * x)),
        Layer(
            "HARD_SWISH",
            lambda x: x * tf.nn.relu6(x + 3.0) / 6.0,
            lambda x: x * (tf.nn.relu(x + 3.0) - tf.nn.relu(x - 3.0)) / 6.0,
        ),
        Layer(
            "L2_NORMALIZATION",
            lambda x: tf.math.l2_normalize(x, axis=-1, epsilon=1e-6),
            lambda x: x / tf.sqrt(tf.reduce_sum(x * x, axis=-1, keepdims=True) + 1e-6),
        ),
        Layer("LEAKY_RELU", lambda x: tf.nn.leaky_relu(x, slope), lambda x: tf.nn.relu(x) - slope * tf.nn.relu(-x)),
        Layer("LOG_SOFTMAX", tf.nn.log_softmax, lambda x: tf.math.log(tf.nn.softmax(x) + 1e-7), (_ROWS,)),
        Layer(
            "MIRROR_PAD",
            lambda x: tf.pad(x, [[0, 0], [1, 1]], "REFLECT"),
            lambda x: tf.concat([x[:, 1:2], x, x[:, 6:7]], 1),
            (_ROWS,),
        ),
        Layer(
            "MEAN",
            lambda x: tf.reduce_mean(x, (1, 2)),
            lambda x: tf.reshape(tf.nn.avg_pool2d(x, (4, 4), 1, "VALID"), (1, 3)),
        ),
        Layer("NEG", lambda x: -x, lambda x: x * -1.0),
        Layer(
            "ONE_HOT",
            lambda x: tf.one_hot(x, 5),
            lambda x: tf.gather(tf.eye(5), x),
            ((4,),),
            "int32",
        ),
        Layer("PACK", lambda a, b: tf.stack([a, b], 1), lambda a, b: tf.reshape(tf.concat([a, b], 1), (2, 2, 8)), (_ROWS, _ROWS)),
        Layer("RELU_0_TO_1", lambda x: tf.minimum(tf.maximum(x, 0.0), 1.0), lambda x: tf.nn.relu6(x * 6.0) / 6.0),
        Layer("ROUND", tf.round, lambda x: tf.floor(x + 0.5)),
        Layer("RSQRT", tf.math.rsqrt, lambda x: tf.sqrt(1.0 / x)),
        Layer(
            "SELECT_V2",
            lambda a, b: tf.where(a > b, a, weights),
            lambda a, b: weights + tf.cast(a > b, tf.float32) * (a - weights),
            ((1, 4, 4, 1), (1, 4, 4, 1)),
        ),
        Layer("SQUARE", tf.square, lambda x: x * x),
        Layer("SQUARED_DIFFERENCE", tf.math.squared_difference, lambda a, b: (a - b) * (a - b), (_GRID, _GRID)),
        Layer("SQUEEZE", lambda x: tf.squeeze(x, 1), lambda x: tf.reshape(x, (2, 8)), ((2, 1, 8),)),
        Layer("SUM", lambda x: tf.reduce_sum(x, (1, 2)), lambda x: tf.reduce_mean(x, (1, 2)) * 16.0),
        Layer("TILE", lambda x: tf.tile(x, (1, 3)), lambda x: tf.concat([x, x, x], 1), (_ROWS,)),
        Layer(
            "UNPACK",
            lambda x: tf.concat(tf.unstack(x, axis=1)[::-1], 1),
            lambda x: tf.concat([tf.reshape(part, (2, 8)) for part in tf.split(x, 4, axis=1)[::-1]], 1),
            ((2, 4, 8),),
        ),
        Layer(
            "FULLY_CONNECTED",
            lambda x: tf.matmul(x, matrix),
            lambda x: tf.reshape(
                tf.nn.conv2d(tf.reshape(x, (1, 4, 1, 8)), tf.reshape(matrix, (1, 1, 8, 8)), 1, "VALID"), (1, 4, 8)
            ),
            ((1, 4, 8),),
        ),
    )


def convert(tf: Any, function: Callable[..., Any], layer: Layer, *, unfolds: bool = False) -> bytes:
    """Convert one function of a layer, in float."""
    specs = [tf.TensorSpec(shape, layer.type) for shape in layer.inputs]
    concrete = tf.function(function).get_concrete_function(*specs)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    converter.unfold_batchmatmul = unfolds
    model: bytes = converter.convert()
    return model


def operators(model: bytes) -> list[str]:
    """Return the operators of a converted model, in order."""
    from delegate_sim import load

    return [node.op for subgraph in load(model).subgraphs for node in subgraph.nodes]


def greatest_difference(tf: Any, layer: Layer, models: Sequence[bytes]) -> float:
    """Run both models on the same numbers and return how far their results lie apart at most."""
    import numpy as np

    random = np.random.default_rng(0)
    kinds = np.int32 if layer.type == "int32" else np.float32
    values = [
        random.integers(0, 5, shape).astype(kinds) if layer.type == "int32" else (random.random(shape) * 2 + 0.25).astype(kinds)
        for shape in layer.inputs
    ]
    results = []
    for model in models:
        interpreter = tf.lite.Interpreter(model_content=model)
        interpreter.allocate_tensors()
        for place, value in zip(interpreter.get_input_details(), values, strict=True):
            interpreter.set_tensor(place["index"], value)
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return float(np.max(np.abs(results[0] - results[1])))


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert every layer and write the models, and a list of what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=FOLDER)
    output: Path = parser.parse_args(arguments).output
    tf = importlib.import_module("tensorflow")

    output.mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, Any]] = []
    for number, layer in enumerate(layers(tf)):
        name = f"{number:02}-{layer.op.lower()}"
        usual = convert(tf, layer.usual, layer)
        suggested = convert(tf, layer.suggested, layer, unfolds=layer.unfolds)
        (output / f"{name}.usual.tflite").write_bytes(usual)
        (output / f"{name}.suggested.tflite").write_bytes(suggested)
        entry = {
            "operator": layer.op,
            "model": name,
            "usual": operators(usual),
            "suggested": operators(suggested),
            "greatest_difference": round(greatest_difference(tf, layer, [usual, suggested]), 6),
        }
        entries.append(entry)
        print(entry, flush=True)
    record = {"tensorflow": tf.__version__, "layers": entries}
    (output / "converted.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

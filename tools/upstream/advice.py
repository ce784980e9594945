"""Follow the first advice of a diagnosis with TensorFlow's converter, and compare the result with the prediction.

Needs TensorFlow (``make advice``). Each case is a small network in a setting of the converter, and a delegate. It is converted as
given, diagnosed, and converted again with the change that ranks first: inputs of a fixed size, other types, or a layer written as
the suggestion says. The model that came out is analyzed, and its numbers are held against the predicted ones. Writes the table to
``docs/advice.md`` with ``--write``.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "advice.md"

_HEAD = """\
# Advice that was followed

Each row is a network that was converted with TensorFlow {version}, diagnosed, and converted again with the change that the
diagnosis ranks first. "Predicted" is what the diagnosis expects without the cause, "found" what the analysis says of the new
model: nodes on the delegate out of all nodes, delegate kernels, and the share of multiply-adds on the delegate. These must agree,
and so must the outcome, the partitions and the bytes across borders; where a layer is written otherwise and has more nodes, the
nodes left on the CPU are compared instead of those delegated. Made by `make advice`.

| network | setting | delegate | now | change | predicted | found | agree |
|---|---|---|---|---|---|---|---|
"""


class Case(NamedTuple):
    """A network in a setting of the converter, and the delegate, with options, that it is for."""

    network: str
    setting: str
    delegate: str
    batch: int | None = 1
    options: Mapping[str, Any] = {}
    activation: str = "relu"


CASES = (
    Case("classifier", "float", "nnapi", None),
    Case("classifier", "int8", "gpu", None),
    Case("encoder-decoder", "float", "xnnpack", None),
    Case("encoder-decoder", "float16", "nnapi", None),
    Case("transformer", "float", "gpu", None),
    Case("transformer", "dynamic", "nnapi", None),
    Case("squeeze-excite", "dynamic", "vx", None),
    Case("vision-transformer", "float", "nnapi", None),
    Case("vision-transformer", "float16", "vx-nxp", None),
    Case("reshapes", "float", "nnapi", None),
    Case("separable", "float", "hexagon"),
    Case("separable", "float16", "hexagon"),
    Case("wide", "dynamic", "coreml"),
    Case("separable", "int8", "coreml"),
    Case("residual", "float", "hexagon"),
    Case("residual", "int8", "coreml"),
    Case("wide", "dynamic", "nnapi"),
    Case("wide", "dynamic", "vx"),
    Case("separable", "float", "nnapi", activation="gelu"),
    Case("separable", "float", "nnapi", activation="round"),
    Case("separable", "float", "coreml", activation="gelu"),
    Case("transformer", "float", "nnapi", activation="gelu"),
)


def network(keras: Any, tf: Any, case: Case, *, rewritten: bool = False) -> Any:
    """Build a network with weights that follow a fixed random pattern."""
    import numpy as np

    layers = keras.layers
    activation = keras.layers.Activation(_activation(tf, case.activation, rewritten=rewritten))
    inputs, result = _NETWORKS[case.network](layers, tf, activation)
    model = keras.Model(inputs, result)
    random = np.random.default_rng(0)
    model.set_weights([np.abs(random.normal(0, 0.2, weights.shape)) + 0.01 for weights in model.get_weights()])
    return model


def _activation(tf: Any, name: str, *, rewritten: bool) -> Callable[[Any], Any]:
    """Return a layer between others, as it is usually written or as a diagnosis suggests."""
    layers: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "relu": (tf.nn.relu, tf.nn.relu),
        "gelu": (
            lambda x: tf.nn.gelu(x, approximate=True),
            lambda x: 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))),
        ),
        "round": (tf.round, lambda x: tf.floor(x + 0.5)),
    }
    usual, suggested = layers[name]
    return suggested if rewritten else usual


def _classifier(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 3))
    x = layers.MaxPooling2D()(activation(layers.Conv2D(8, 3)(inputs)))
    return inputs, layers.Dense(10, activation="softmax")(layers.Flatten()(x))


def _encoder_decoder(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((64, 64, 3))
    first = activation(layers.Conv2D(8, 3, padding="same")(inputs))
    x = activation(layers.Conv2D(16, 3, 2, padding="same")(first))
    x = layers.Conv2DTranspose(8, 3, 2, padding="same")(x)
    return inputs, layers.Conv2D(1, 1, activation="sigmoid")(layers.Concatenate()([first, x]))


def _attention(layers: Any, tf: Any, activation: Any, x: Any) -> Any:
    attended = layers.MultiHeadAttention(2, 16)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, attended]))
    inner = layers.Dense(32)(activation(layers.Dense(64)(x)))
    return layers.LayerNormalization()(layers.Add()([x, inner]))


def _transformer(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((16, 32))
    x = _attention(layers, tf, activation, inputs)
    return inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(x))


def _vision_transformer(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 3))
    x = layers.Reshape((16, 32))(layers.Conv2D(32, 8, 8)(inputs))
    x = _attention(layers, tf, activation, x)
    return inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(x))


def _squeeze_excite(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 8))
    x = layers.Conv2D(16, 3, padding="same", activation="swish")(inputs)
    scale = layers.Reshape((1, 1, 16))(layers.GlobalAveragePooling2D()(x))
    scale = layers.Conv2D(16, 1, activation="sigmoid")(layers.Conv2D(4, 1, activation="relu")(scale))
    return inputs, layers.Dense(5)(layers.GlobalAveragePooling2D()(layers.Multiply()([x, scale])))


def _recurrent(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((8, 8))
    return inputs, layers.Dense(4)(layers.LSTM(16, unroll=True)(inputs))


def _reshapes(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    class Rows(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            shape = tf.shape(x)
            rows = tf.nn.softmax(tf.reshape(x, [shape[0], shape[1] * shape[2], shape[3]]))
            return tf.reshape(rows, shape)

    inputs = layers.Input((8, 8, 4))
    x = Rows()(layers.Conv2D(4, 3, padding="same")(inputs))
    return inputs, layers.Conv2D(4, 3, padding="same")(x)


def _separable(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 3))
    x = activation(layers.Conv2D(8, 3, 2, padding="same")(inputs))
    x = layers.DepthwiseConv2D(3, padding="same", activation="relu6")(x)
    x = layers.Conv2D(16, 1, activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    return inputs, layers.Conv2D(4, 1)(x)


def _residual(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((16, 16, 8))
    x = activation(layers.Conv2D(8, 3, padding="same")(inputs))
    x = layers.Add()([inputs, layers.Conv2D(8, 3, padding="same")(x)])
    return inputs, layers.AveragePooling2D(2)(layers.ReLU()(x))


def _wide(layers: Any, tf: Any, activation: Any) -> tuple[Any, Any]:
    inputs = layers.Input((64,))
    x = layers.Dense(64, activation="relu")(inputs)
    return inputs, layers.Dense(8, activation="softmax")(layers.Dense(64, activation="tanh")(x))


_NETWORKS: Mapping[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "classifier": _classifier,
    "encoder-decoder": _encoder_decoder,
    "recurrent": _recurrent,
    "reshapes": _reshapes,
    "residual": _residual,
    "separable": _separable,
    "squeeze-excite": _squeeze_excite,
    "transformer": _transformer,
    "vision-transformer": _vision_transformer,
    "wide": _wide,
}


_SETTINGS: Mapping[str, str] = {"dynamic": "dynamic-range"}
"""Settings that the table calls otherwise."""


def convert(tf: Any, model: Any, batch: int | None, setting: str) -> bytes:
    """Convert a network with a batch, None for one of unknown size."""
    import numpy as np

    from delegate_sim.conversion.settings import Settings, tensorflow_lines

    spec = tf.TensorSpec([batch, *model.input_shape[1:]], tf.float32, name="input")
    concrete = tf.function(model.call).get_concrete_function(spec)
    constants = importlib.import_module("tensorflow.python.framework.convert_to_constants")
    frozen = constants.convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
    random = np.random.default_rng(0)
    data = [random.random([batch or 1, *model.input_shape[1:]], np.float32) for _ in range(4)]
    for line in tensorflow_lines(Settings(_SETTINGS.get(setting, setting))):
        exec(line, {"tf": tf, "converter": converter, "samples": lambda: ([sample] for sample in data)})
    converted: bytes = converter.convert()
    return converted


class Row(NamedTuple):
    """One case: the numbers now, the change, and the numbers predicted and found."""

    case: Case
    now: str
    change: str
    predicted: str
    found: str
    full: tuple[Any, Any]
    """Every number that was predicted, and that was found."""

    @property
    def agrees(self) -> bool:
        """Whether all numbers are the same."""
        return bool(self.full[0] == self.full[1])


def follow(tf: Any, keras: Any, case: Case) -> Row:
    """Convert, diagnose, change, convert again and analyze."""
    from delegate_sim import load
    from delegate_sim.delegates.options import parse_options
    from delegate_sim.delegates.registry import find_delegate
    from delegate_sim.diagnosis.diagnose import diagnose
    from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
    from delegate_sim.runtime.target import Target

    delegate = find_delegate(case.delegate)
    options = parse_options(delegate.name, delegate.options, case.options, "benchmark")
    target = Target(delegate, options, parse_release(DEFAULT_RELEASE), "benchmark")
    before = diagnose(load(convert(tf, network(keras, tf, case), case.batch, case.setting)), target)
    if not before.findings:
        raise SystemExit(f"nothing keeps {case.network} ({case.setting}) from {case.delegate}")
    first = before.findings[0]
    assert first.alone is not None
    changed, change = _changed(case, first.cause)
    model = network(keras, tf, case, rewritten=changed is case)
    after = diagnose(load(convert(tf, model, changed.batch, changed.setting)), target)
    is_rewritten = changed is case
    return Row(
        case,
        _told(before.now),
        f"{first.cause.name}: {change}",
        _told(first.alone),
        _told(after.now),
        (_numbers(first.alone, is_rewritten), _numbers(after.now, is_rewritten)),
    )


def _changed(case: Case, cause: Any) -> tuple[Case, str]:
    """Return the case with the change that a cause asks for; the same one stands for a layer that is written otherwise."""
    if cause.remedy.fixed_inputs:
        return case._replace(batch=1), "fixed batch"
    if cause.remedy.conversion:
        return case._replace(setting=cause.remedy.conversion), f"converted to {cause.remedy.conversion}"
    return case, "written otherwise"


def _told(cost: Any) -> str:
    measures = cost.measures
    share = f"{cost.multiply_add_share:.1%}"
    return f"{measures.delegated_nodes}/{measures.nodes}, {measures.delegate_kernels}, {share}"


def _numbers(cost: Any, is_rewritten: bool) -> tuple[Any, ...]:
    """Return what must agree. A layer written otherwise has other nodes, so that those on the CPU count in place of all."""
    measures = cost.measures
    nodes = (measures.fallback_nodes,) if is_rewritten else (measures.delegated_nodes, measures.nodes, cost.multiply_adds)
    return (
        measures.outcome,
        measures.partitions,
        measures.delegate_kernels,
        measures.border_bytes,
        round(cost.multiply_add_share, 4),
        *nodes,
    )


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Return the rows as Markdown."""
    for row in rows:
        case = row.case
        setting = f"{case.setting}{', open batch' if case.batch is None else ''}"
        name = case.network if case.activation == "relu" else f"{case.network} with {case.activation}"
        agree = "yes" if row.agrees else "no"
        yield f"| {name} | {setting} | {case.delegate} | {row.now} | {row.change} | {row.predicted} | {row.found} | {agree} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow the advice in every case; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT.relative_to(ROOT)}")
    is_written = parser.parse_args(arguments).write
    keras, tf = importlib.import_module("keras"), importlib.import_module("tensorflow")

    rows = []
    for case in CASES:
        row = follow(tf, keras, case)
        rows.append(row)
        print("\n".join(table([row])), flush=True)
        if not row.agrees:
            print(f"  predicted {row.full[0]}\n  found     {row.full[1]}", flush=True)
    if is_written:
        DOCUMENT.write_text(_HEAD.format(version=tf.__version__) + "\n".join(table(rows)) + "\n", encoding="utf-8")
    agreed = sum([row.agrees for row in rows])
    print(f"{agreed} of {len(rows)} agree")
    return 0 if agreed == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())

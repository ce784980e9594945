"""Follow the first advice of a diagnosis with TensorFlow's converter, and compare the result with the prediction.

Needs TensorFlow (``make advice``). Each case is a small network in a setting of the converter, and a delegate. It is converted as
given, diagnosed, and converted again with the change that ranks first: inputs of a fixed size, other types, or a layer written as
the suggestion says. The model that came out is analyzed, and its numbers are held against the predicted ones. A first advice
whose result is not simulated does not agree. Writes the table to ``docs/appendix/advice.md`` with ``--write``.
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
DOCUMENT = ROOT / "docs" / "appendix" / "advice.md"

_HEAD = """\
# Following the advice of a diagnosis

This page shows users of `diagnose` whether its predictions come true. TensorFlow {version} converts a network, and `diagnose`
analyzes the model. TensorFlow then converts the network again, with the first change that `diagnose` suggests. `make advice`
makes this page.

The columns "now", "predicted" and "found" have three numbers each: delegated nodes out of all nodes, delegate kernels, and the
share of multiply-adds on the delegate. "Found" has the numbers of the new model.

The last column is "yes" if the prediction and the new model have the same numbers, outcome, partitions and boundary bytes. If the
change replaces a node by several nodes, the number of CPU nodes is compared instead of the number of delegated nodes. If the
change is not simulated, the last column is "no".

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
    Case("branch", "float", "nnapi"),
    Case("branch", "float", "mldrift"),
    Case("positions", "float", "gpu"),
    Case("masked", "int8+dense-per-tensor", "nnapi"),
    Case("embedding", "dynamic", "nnapi"),
    Case("embedding", "dynamic", "coreml"),
    Case("upsampling", "dynamic", "nnapi"),
    Case("upsampling", "int16x8", "nnapi"),
    Case("recurrent", "dynamic", "nnapi"),
    Case("recurrent-loop", "float", "nnapi"),
    Case("recurrent-loop", "float", "gpu"),
    Case("residual", "int16x8", "coreml"),
    Case("squeeze-excite", "int8", "coreml"),
    Case("separable", "int16x8", "nnapi"),
)


def network(keras: Any, tf: Any, case: Case, *, rewritten: bool = False) -> Any:
    """Build a network with weights that follow a fixed random pattern."""
    import numpy as np

    layers = keras.layers
    activation = keras.layers.Activation(_activation(tf, case.activation, rewritten=rewritten))
    inputs, result = _NETWORKS[case.network](layers, tf, activation, rewritten)
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


def _classifier(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 3))
    x = layers.MaxPooling2D()(activation(layers.Conv2D(8, 3)(inputs)))
    return inputs, layers.Dense(10, activation="softmax")(layers.Flatten()(x))


def _encoder_decoder(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
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


def _transformer(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((16, 32))
    x = _attention(layers, tf, activation, inputs)
    return inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(x))


def _vision_transformer(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 3))
    x = layers.Reshape((16, 32))(layers.Conv2D(32, 8, 8)(inputs))
    x = _attention(layers, tf, activation, x)
    return inputs, layers.Dense(4)(layers.GlobalAveragePooling1D()(x))


def _squeeze_excite(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 8))
    x = layers.Conv2D(16, 3, padding="same", activation="swish")(inputs)
    scale = layers.Reshape((1, 1, 16))(layers.GlobalAveragePooling2D()(x))
    scale = layers.Conv2D(16, 1, activation="sigmoid")(layers.Conv2D(4, 1, activation="relu")(scale))
    return inputs, layers.Dense(5)(layers.GlobalAveragePooling2D()(layers.Multiply()([x, scale])))


def _recurrent(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((8, 8))
    return inputs, layers.Dense(4)(layers.LSTM(16, unroll=True)(inputs))


def _reshapes(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    class Rows(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            shape = tf.shape(x)
            rows = tf.nn.softmax(tf.reshape(x, [shape[0], shape[1] * shape[2], shape[3]]))
            return tf.reshape(rows, shape)

    inputs = layers.Input((8, 8, 4))
    x = Rows()(layers.Conv2D(4, 3, padding="same")(inputs))
    return inputs, layers.Conv2D(4, 3, padding="same")(x)


def _separable(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((32, 32, 3))
    x = activation(layers.Conv2D(8, 3, 2, padding="same")(inputs))
    x = layers.DepthwiseConv2D(3, padding="same", activation="relu6")(x)
    x = layers.Conv2D(16, 1, activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    return inputs, layers.Conv2D(4, 1)(x)


def _residual(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((16, 16, 8))
    x = activation(layers.Conv2D(8, 3, padding="same")(inputs))
    x = layers.Add()([inputs, layers.Conv2D(8, 3, padding="same")(x)])
    return inputs, layers.AveragePooling2D(2)(layers.ReLU()(x))


def _wide(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((64,))
    x = layers.Dense(64, activation="relu")(inputs)
    return inputs, layers.Dense(8, activation="softmax")(layers.Dense(64, activation="tanh")(x))


def _branch(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    class Chosen(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            is_large = tf.reduce_mean(x) > 0.0
            if rewritten:
                return tf.where(is_large, tf.tanh(x), tf.sigmoid(x) * 2.0)
            return tf.cond(is_large, lambda: tf.tanh(x), lambda: tf.sigmoid(x) * 2.0)

    inputs = layers.Input((16,))
    return inputs, layers.Dense(4)(Chosen()(layers.Dense(16)(inputs)))


def _positions(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    class Counted(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            count = tf.cast(x * 10.0, tf.int32)
            count = tf.cast(tf.cast(count, tf.float32) + 3.0, tf.int32) if rewritten else count + 3
            return tf.cast(count, tf.float32)

    inputs = layers.Input((16,))
    return inputs, layers.Dense(4)(Counted()(layers.Dense(16)(inputs)))


def _masked(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    lowest = -100.0 if rewritten else -3.4e38

    class Masked(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            scores = tf.matmul(x, x, transpose_b=True) + (1.0 - tf.round(x[:, :, :1])) * lowest
            return tf.matmul(tf.nn.softmax(scores), x)

    inputs = layers.Input((8, 16))
    return inputs, layers.Dense(4)(Masked()(inputs))


def _embedding(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    class Looked(layers.Layer):  # type: ignore[misc]
        def build(self, shape: Any) -> None:
            self.table = self.add_weight(shape=(50, 32), name="table")

        def call(self, x: Any) -> Any:
            return tf.gather(self.table, tf.cast(x * 49.0, tf.int32))

    inputs = layers.Input((12,))
    x = layers.GlobalAveragePooling1D()(Looked()(inputs))
    return inputs, layers.Dense(8)(layers.Dense(64, activation="relu")(x))


def _upsampling(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((8, 8, 16))
    x = layers.Conv2DTranspose(16, 3, 2, padding="same", activation="relu")(inputs)
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    return inputs, layers.Conv2D(3, 3, padding="same")(x)


def _recurrent_loop(layers: Any, tf: Any, activation: Any, rewritten: bool) -> tuple[Any, Any]:
    inputs = layers.Input((8, 8))
    return inputs, layers.Dense(4)(layers.GRU(16)(inputs))


_NETWORKS: Mapping[str, Callable[[Any, Any, Any, bool], tuple[Any, Any]]] = {
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
    "branch": _branch,
    "positions": _positions,
    "masked": _masked,
    "embedding": _embedding,
    "upsampling": _upsampling,
    "recurrent-loop": _recurrent_loop,
}


def _settings(name: str) -> Any:
    """Return the settings of a conversion; ``dynamic`` is short for the quantization ``dynamic-range``."""
    from delegate_sim.conversion.settings import parse_settings

    return parse_settings(name.replace("dynamic", "dynamic-range") if name.partition("+")[0] == "dynamic" else name)


def _converted(setting: str, conversion: str) -> str:
    """Return the setting that a hypothetical conversion stands for."""
    base = setting.partition("+")[0]
    return {
        "per-tensor": f"{base}+per-tensor",
        "dense-per-tensor": f"{base}+dense-per-tensor",
        "int8-per-tensor": "int8+per-tensor",
        "dynamic-range-per-tensor": "dynamic+per-tensor+old-quantizer",
    }.get(conversion, conversion)


def convert(tf: Any, model: Any, batch: int | None, setting: str) -> bytes:
    """Convert a network with a batch, None for one of unknown size."""
    import numpy as np

    from delegate_sim.conversion.settings import tensorflow_lines

    spec = tf.TensorSpec([batch, *model.input_shape[1:]], tf.float32, name="input")
    concrete = tf.function(model.call).get_concrete_function(spec)
    constants = importlib.import_module("tensorflow.python.framework.convert_to_constants")
    frozen = constants.convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
    random = np.random.default_rng(0)
    data = [random.random([batch or 1, *model.input_shape[1:]], np.float32) for _ in range(4)]
    for line in tensorflow_lines(_settings(setting)):
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
    changed, change, is_rewritten = _changed(case, first.cause)
    if changed is None or first.alone is None:
        return Row(case, _told(before.now), f"{first.cause.name}: {change}", "not simulated", "", (None, ""))
    options = parse_options(delegate.name, delegate.options, {**case.options, **first.cause.remedy.options}, "benchmark")
    helping = [alternative for alternative in first.cause.alternatives if alternative.helps]
    predicted = helping[0].cost if helping else first.alone
    model = network(keras, tf, case, rewritten=is_rewritten)
    after = diagnose(
        load(convert(tf, model, changed.batch, changed.setting)), Target(delegate, options, target.release, "benchmark")
    )
    is_longer = is_rewritten and first.cause.remedy.accepts
    return Row(
        case,
        _told(before.now),
        f"{first.cause.name}: {change}",
        _told(predicted),
        _told(after.now),
        (_numbers(predicted, is_longer), _numbers(after.now, is_longer)),
    )


def _changed(case: Case, cause: Any) -> tuple[Case | None, str, bool]:
    """Return the case with the first change that a cause asks for, its description, and whether a layer is written otherwise.

    The case is None if the result of the change is not simulated.
    """
    remedy = cause.remedy
    if remedy.fixed_inputs:
        return case._replace(batch=1), "fixed batch", False
    helping = [alternative for alternative in cause.alternatives if alternative.helps]
    if cause.alternatives and not helping:
        return None, "no change helps", False
    name = helping[0].name if helping else ""
    is_of_code = remedy.float_nodes or remedy.inlined_nodes
    if helping and not is_of_code and helping[0].conversion and not helping[0].conversion.startswith("mask"):
        return case._replace(setting=_converted(case.setting, helping[0].conversion)), f"converted to {name}", False
    if remedy.options:
        return case, " ".join([f"{key}={value}" for key, value in remedy.options.items()]), False
    if helping:
        return case, name, True
    is_known = remedy.accepts and any(op in cause.change for op in ("can be written as",))
    return (case, "written otherwise", True) if is_known else (None, cause.change, False)


def _told(cost: Any) -> str:
    measures = cost.measures
    share = f"{cost.multiply_add_share:.1%}"
    return f"{measures.delegated_nodes}/{measures.nodes}, {measures.delegate_kernels}, {share}"


def _numbers(cost: Any, is_rewritten: bool) -> tuple[Any, ...]:
    """Return what must agree. A layer written otherwise has other nodes, so that those on the CPU count in place of all."""
    from delegate_sim.foundation.columns import values
    from delegate_sim.results.report.measures import measure_columns

    measures = cost.measures
    nodes = (measures.fallback_nodes,) if is_rewritten else (measures.delegated_nodes, measures.nodes, cost.multiply_adds)
    return (
        *values(measure_columns("outcome", "partitions", "delegate_kernels"), measures),
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

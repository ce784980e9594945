"""Writes twelve source models with random weights, for trying conversions: four of Keras, four of PyTorch and four of ONNX.

``PYTHON -m tools.sweep.source_models FOLDER FAMILY ...``, where the Python has TensorFlow for ``keras``, and PyTorch with
onnx for ``torch`` and ``onnx``. The weights follow a seed, so that the same versions write the same models.
Inputs have a batch of unknown size in half of the Keras models and in one of ONNX, as users' models often do.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

_SEED = 0
WORDS = 1000
"""Size of the vocabulary."""


class SourceModel(NamedTuple):
    """A model's file, what it is about, and what it is."""

    file: str
    field: str
    words: str


MODELS: Mapping[str, Sequence[SourceModel]] = {
    "keras": (
        SourceModel("resnet50.keras", "vision", "ResNet-50 for 224 x 224 pixels"),
        SourceModel("unet.keras", "vision", "encoder and decoder with skip connections, open batch"),
        SourceModel("text_encoder.keras", "text", "transformer encoder over 32 tokens, open batch"),
        SourceModel("keywords.keras", "audio", "1-D convolutions and an LSTM over 49 frames"),
    ),
    "torch": (
        SourceModel("mobile.pt2", "vision", "inverted residuals with squeezing and hard swish, as in MobileNet V3"),
        SourceModel("vision_transformer.pt2", "vision", "vision transformer over 49 patches"),
        SourceModel("text_encoder.pt2", "text", "transformer encoder over 32 tokens"),
        SourceModel("speech_features.pt2", "audio", "1-D convolutions over a waveform, with group normalization"),
    ),
    "onnx": (
        SourceModel("detector.onnx", "vision", "one-stage detector with two scales and decoded boxes"),
        SourceModel("squeeze.onnx", "vision", "fire modules, as in SqueezeNet, open batch"),
        SourceModel("text_encoder.onnx", "text", "transformer encoder over 32 tokens"),
        SourceModel("speaker.onnx", "audio", "dilated 1-D convolutions with pooling of mean and deviation"),
    ),
}


def write_keras(folder: Path) -> None:
    """Write the Keras models."""
    keras: Any = importlib.import_module("keras")
    layers, operations = keras.layers, keras.ops
    keras.utils.set_random_seed(_SEED)

    def block(x: Any, filters: int) -> Any:
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        return layers.ReLU()(layers.BatchNormalization()(x))

    keras.applications.ResNet50(weights=None, input_tensor=layers.Input(batch_shape=(1, 224, 224, 3))).save(
        folder / "resnet50.keras"
    )

    inputs = layers.Input((64, 64, 3), name="image")
    first = block(inputs, 16)
    second = block(layers.MaxPooling2D()(first), 32)
    x = block(layers.MaxPooling2D()(second), 64)
    for skip, filters in ((second, 32), (first, 16)):
        x = layers.Conv2DTranspose(filters, 3, 2, padding="same")(x)
        x = block(layers.Concatenate()([skip, x]), filters)
    keras.Model(inputs, layers.Conv2D(4, 1, activation="softmax")(x)).save(folder / "unet.keras")

    inputs = layers.Input((32,), dtype="int32", name="tokens")
    x = layers.Embedding(WORDS, 64)(inputs) + operations.convert_to_tensor(positions(32, 64))
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16)(x, x))
        inner = layers.Dense(64)(layers.Dense(128, activation="gelu")(x))
        x = layers.LayerNormalization()(x + inner)
    keras.Model(inputs, layers.Dense(4, activation="softmax")(layers.GlobalAveragePooling1D()(x))).save(
        folder / "text_encoder.keras"
    )

    inputs = layers.Input(batch_shape=(1, 49, 40), name="frames")
    x = layers.Conv1D(64, 5, padding="same", activation="relu")(inputs)
    x = layers.MaxPooling1D(2)(layers.Conv1D(64, 5, padding="same", activation="relu")(x))
    keras.Model(inputs, layers.Dense(12, activation="softmax")(layers.LSTM(64)(x))).save(folder / "keywords.keras")


def positions(rows: int, columns: int) -> Any:
    import numpy as np

    angles = np.arange(rows)[:, None] / 10000.0 ** (np.arange(columns)[None, :] // 2 * 2 / columns)
    return np.where(np.arange(columns) % 2, np.cos(angles), np.sin(angles)).astype(np.float32)


def write_torch(folder: Path) -> None:
    """Write the programs of ``torch.export``."""
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(_SEED)
    modules: Any = importlib.import_module("tools.sweep.torch_modules")
    made = {
        "mobile.pt2": (modules.mobile(), torch.randn(1, 3, 96, 96)),
        "vision_transformer.pt2": (modules.Patches(), torch.randn(1, 3, 112, 112)),
        "text_encoder.pt2": (modules.Text(), torch.randint(0, WORDS, (1, 32), dtype=torch.int32)),
        "speech_features.pt2": (modules.waveform(), torch.randn(1, 1, 4000)),
    }
    for name, (module, example) in made.items():
        torch.export.save(torch.export.export(module.eval(), (example,)), folder / name)


def write_onnx(folder: Path) -> None:
    """Write the ONNX models."""
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(_SEED)
    modules: Any = importlib.import_module("tools.sweep.torch_modules")
    made = {
        "detector.onnx": (modules.Detector(), torch.randn(1, 3, 128, 128), "image", False),
        "squeeze.onnx": (modules.squeeze(), torch.randn(1, 3, 96, 96), "image", True),
        "text_encoder.onnx": (modules.Text(), torch.randint(0, WORDS, (1, 32)), "tokens", False),
        "speaker.onnx": (modules.Frames(), torch.randn(1, 40, 98), "frames", False),
    }
    for name, (module, example, given, is_open) in made.items():
        torch.onnx.export(
            module.eval(),
            (example,),
            str(folder / name),
            dynamo=False,
            input_names=[given],
            output_names=["result"],
            dynamic_axes={given: {0: "batch"}, "result": {0: "batch"}} if is_open else None,
        )


_WRITERS: Mapping[str, Callable[[Path], None]] = {"keras": write_keras, "torch": write_torch, "onnx": write_onnx}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the models of the families."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("families", nargs="+", choices=list(MODELS))
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    for family in given.families:
        _WRITERS[family](given.folder)
        for model in MODELS[family]:
            print(f"{given.folder / model.file}: {(given.folder / model.file).stat().st_size:,} bytes, {model.words}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Scripts for Keras' own export, which gives the model to litert-torch if Keras runs on PyTorch. TensorFlow is not needed."""

from __future__ import annotations

from .calibration import Calibration
from .settings import Settings
from .sources import SourceKind, SourceModel
from .tensorflow_script import FUNCTION_CALLED

_START = """\
import os
{more}
os.environ["KERAS_BACKEND"] = "torch"
import keras
"""
_LOADED = "model = keras.saving.load_model({path!r}, compile=False{more})\n"
_LISTED = "inputs = [(each.name, list(each.shape), each.dtype) for each in model.inputs]\n"
_FIXED = """\
given = {shapes!r}
signature = [
    keras.InputSpec(shape=given.get(each.name) or [size or 1 for size in each.shape], dtype=each.dtype, name=each.name)
    for each in model.inputs
]
"""
_EXPORTED = """\
model.export({result!r}, format="litert", verbose=False{more})
"""


def keras_inputs_lines(source: SourceModel) -> tuple[list[str], list[str]]:
    """Return the imports and lines of a script that sets ``inputs`` to the name, shape and type of each input."""
    return [], [_loaded(source), _LISTED]


def _loaded(source: SourceModel) -> str:
    if source.kind is SourceKind.FUNCTION:
        called = FUNCTION_CALLED.format(folder=source.folder, module=source.module, function=source.function)
        return f"{_START.format(more='import sys')}\n{called}"
    more = ", safe_mode=False" if source.may_run_code else ""
    return f"{_START.format(more='')}\n{_LOADED.format(path=source.path, more=more)}"


def keras_text(source: SourceModel, settings: Settings, calibration: Calibration, result: str) -> str:
    """Return the script for a Keras file, or for a function that returns a Keras model."""
    lines = [_loaded(source)]
    is_fixed = "fixed" in settings.options
    if is_fixed:
        lines.append(_FIXED.format(shapes={name: list(sizes) for name, sizes in settings.shapes}))
    lines.append(_EXPORTED.format(result=result, more=", input_signature=signature" if is_fixed else ""))
    return "\n".join(lines)

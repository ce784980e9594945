"""Scripts for converters that need no TensorFlow.

Keras' own export gives the model to litert-torch if Keras runs on PyTorch. onnx2tf 2 writes ``.tflite`` files itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from .calibration import Calibration
from .data_scripts import data_part
from .settings import Settings
from .sources import SourceKind, SourceModel
from .tensorflow_script import FUNCTION_CALLED, ONNX_PREPARED, ONNX_READ, ONNX_SHAPES

_START = """\
import os
{more}
os.environ["KERAS_BACKEND"] = "torch"
import keras
"""
_LOADED = "model = keras.saving.load_model({path!r}, compile=False{more})\n"
_LISTED = "inputs = [(each.name, list(each.shape), each.dtype) for each in model.inputs]\n"
_FIXED_BY_KERAS = """\
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
        lines.append(_FIXED_BY_KERAS.format(shapes={name: list(sizes) for name, sizes in settings.shapes}))
    lines.append(_EXPORTED.format(result=result, more=", input_signature=signature" if is_fixed else ""))
    return "\n".join(lines)


_CONVERTED = """\
onnx2tf.convert(
    input_onnx_file_path="source.onnx",
    output_folder_path="converted",{more}
    non_verbose=True,
)
"""
_FIXED_BY_ONNX2TF = """\
for name, sizes in shapes:  # onnx2tf 2 ignores overwrite_input_shape
    [each] = [each for each in model.graph.input if each.name == name]
    for dimension, size in zip(each.type.tensor_type.shape.dim, sizes):
        dimension.dim_value = size
"""
_INPUTS = """\
interpreter = Interpreter("converted/source_float32.tflite")
inputs = [(each["name"], each["shape"].tolist(), each["dtype"]) for each in interpreter.get_input_details()]
"""
_DATA = """\
columns = list(zip(*[[np.asarray(sample[name]) for name, _, _ in inputs] for sample in samples()]))
ranges = []
for (name, _, _), column in zip(inputs, columns):
    np.save(f"{len(ranges)}.npy", np.concatenate(column))
    ranges.append([name, f"{len(ranges)}.npy", 0.0, 1.0])  # no normalization
"""
_NAMED = """\
os.replace("converted/source_{suffix}.tflite", {result!r})
"""
_SUFFIXES: Mapping[str, str] = {
    "float": "float32",
    "float16": "float16",
    "dynamic-range": "dynamic_range_quant",
    "int8": "integer_quant",
    "int16x8": "integer_quant_with_int16_act",
}
_OPTIONS: Mapping[str, str] = {"per-tensor": 'quant_type="per-tensor"', "unrolled": "enable_rnn_unroll=True"}


def direct_onnx_text(source: SourceModel, settings: Settings, calibration: Calibration, result: str) -> str:
    """Return the script for an ONNX file, or for a function that returns an ONNX model."""
    imports = {"import os", "import onnx", "import onnx2tf"}
    if source.kind is SourceKind.FUNCTION:
        imports.add("import sys")
        lines = [FUNCTION_CALLED.format(folder=source.folder, module=source.module, function=source.function)]
    else:
        lines = [ONNX_READ.format(path=source.path)]
    if "fixed" in settings.options:
        lines += [ONNX_SHAPES.format(shapes={name: list(sizes) for name, sizes in settings.shapes}), _FIXED_BY_ONNX2TF]
    lines.append(ONNX_PREPARED)
    arguments = [_OPTIONS[name] for name in settings.options if name in _OPTIONS]
    if settings.calibrates:
        data, more = data_part(calibration, has_tensorflow=False, moves_channels=True)
        imports |= {"import numpy as np", "from ai_edge_litert.interpreter import Interpreter", *more}
        lines += [_converted(arguments), _INPUTS, data, _DATA]
        arguments += ["output_integer_quantized_tflite=True", "custom_input_op_name_np_data_path=ranges"]
    elif settings.quantization == "dynamic-range":
        arguments.append("output_dynamic_range_quantized_tflite=True")
    suffix = _SUFFIXES[settings.quantization]
    lines += [
        _converted(arguments),
        _NAMED.format(suffix=f"full_{suffix}" if "integer-io" in settings.options else suffix, result=result),
    ]
    return "\n".join(["\n".join(sorted(imports, key=lambda line: line.split()[1])) + "\n", *lines])


def _converted(arguments: list[str]) -> str:
    return _CONVERTED.format(more="".join([f"\n    {argument}," for argument in arguments]))

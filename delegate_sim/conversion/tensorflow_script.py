"""Scripts that end with TensorFlow's converter, and scripts for converters that need no TensorFlow.

TensorFlow's converter gets TensorFlow models, and ONNX models that onnx2tf converts. Keras' own export gives the model to
litert-torch if Keras runs on PyTorch. onnx2tf 2 writes ``.tflite`` files itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .calibration import Calibration, data_part
from .settings import Settings, tensorflow_lines
from .sources import SourceKind, SourceModel

_LOADED = "model = tf.keras.models.load_model({path!r}, compile=False)\n"
_LOADED_WITH_CODE = "model = tf.keras.models.load_model({path!r}, compile=False, safe_mode=False)\n"
_CALLED = """\
sys.path.insert(0, {folder!r})
from {module} import {function}

{name} = {function}()
"""
_KERAS_INPUTS = "inputs = [({name}, {shape}, tf.as_dtype(each.dtype).as_numpy_dtype) for each in model.inputs]\n"
_KERAS_UNROLLED = """\
for layer in model._flatten_layers():
    if hasattr(layer, "unroll"):
        layer.unroll = True
"""
_KERAS_OPEN = "converter = tf.lite.TFLiteConverter.from_keras_model(model)\n"
_KERAS_FIXED = """\
fixed = [tf.keras.Input(batch_shape=shape, dtype=dtype, name=name) for name, shape, dtype in inputs]
model = tf.keras.Model(fixed, model(fixed if len(fixed) > 1 else fixed[0]))
converter = tf.lite.TFLiteConverter.from_keras_model(model)
"""

_SIGNATURE = """\
model = tf.saved_model.load({path!r})
signature = model.signatures["serving_default"]
"""
_SIGNATURE_INPUTS = """\
inputs = [
    (name, {shape}, each.dtype.as_numpy_dtype)
    for name, each in signature.structured_input_signature[1].items()
]
"""
_SIGNATURE_OPEN = """\
converter = tf.lite.TFLiteConverter.from_saved_model({path!r}, signature_keys=["serving_default"])
"""
_SIGNATURE_FIXED = """\
function = tf.function(lambda **tensors: signature(**tensors))
concrete = function.get_concrete_function(**{name: tf.TensorSpec(shape, dtype, name) for name, shape, dtype in inputs})
converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], model)
"""

_ONNX_READ = "model = onnx.load({path!r})\n"
_ONNX_PREPARED = """\
onnx.save(model, "source.onnx")  # onnx2tf changes the file that it reads
"""
_ONNX_CALIBRATION = """\
# onnx2tf tries its layers with this file, which it downloads where it is missing.
trial = "calibration_image_sample_data_20x128x128x3_float32.npy"
np.save(trial, np.random.default_rng(0).random((20, 128, 128, 3), np.float32))
"""
_ONNX_SHAPES = """\
given = {shapes!r}
weights = {{each.name for each in model.graph.initializer}}
shapes = [
    (each.name, given.get(each.name) or [size.dim_value or 1 for size in each.type.tensor_type.shape.dim])
    for each in model.graph.input
    if each.name not in weights
]
"""
_ONNX_CONVERTED = """\
model = onnx2tf.convert(
    input_onnx_file_path="source.onnx",
    output_folder_path="saved_model",{more}
    non_verbose=True,
)
"""
_ONNX_FIXED = """
    overwrite_input_shape=[f"{name}:{','.join(map(str, sizes))}" for name, sizes in shapes],"""
_ONNX_CONVERTER = """\
function = tf.function(lambda *tensors: model(tensors))
concrete = function.get_concrete_function(*[tf.TensorSpec(each.shape, each.dtype, each.name) for each in model.inputs])
converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], model)
"""

_WRITTEN = """\
with open({result!r}, "wb") as file:
    file.write(converter.convert())
"""
_FROM_ZERO = "[size or 1 for size in each.shape]"

_KERAS_LISTED = "inputs = [(each.name, list(each.shape), tf.as_dtype(each.dtype).name) for each in model.inputs]\n"
_SIGNATURE_LISTED = """\
inputs = [
    (name, each.shape.as_list(), each.dtype.name)
    for name, each in signature.structured_input_signature[1].items()
]
"""
_ONNX_LISTED = """\
weights = {each.name for each in model.graph.initializer}
inputs = [
    (
        each.name,
        [size.dim_value or None for size in each.type.tensor_type.shape.dim],
        onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type),
    )
    for each in model.graph.input
    if each.name not in weights
]
"""


def source_lines(source: SourceModel, loaded: str, name: str = "model") -> tuple[list[str], list[str]]:
    """Return the imports and lines that set the variable ``name`` to the source model: a call, or ``loaded`` with its path."""
    if source.kind is SourceKind.FUNCTION:
        called = _CALLED.format(folder=source.folder, module=source.module, function=source.function, name=name)
        return ["import sys"], [called]
    return [], [loaded.format(path=source.path)]


def given_shapes(settings: Settings) -> dict[str, list[int]]:
    """Return the given input shapes, as scripts contain them."""
    return {name: list(sizes) for name, sizes in settings.shapes}


def script_text(imports: Iterable[str], lines: Iterable[str]) -> str:
    """Return a script that begins with sorted imports."""
    return "\n".join(["\n".join(sorted(imports, key=lambda line: line.split()[1])) + "\n", *lines])


def tensorflow_inputs_lines(source: SourceModel) -> tuple[list[str], list[str]]:
    """Return the imports and lines of a script that sets ``inputs`` to the name, shape and type of each input."""
    if source.kind is SourceKind.SAVED_MODEL:
        return ["import tensorflow as tf"], [_SIGNATURE.format(path=source.path), _SIGNATURE_LISTED]
    imports, lines = source_lines(source, _loaded(source))
    return ["import tensorflow as tf", *imports], [*lines, _KERAS_LISTED]


def _loaded(source: SourceModel) -> str:
    return _LOADED_WITH_CODE if source.may_run_code else _LOADED


def onnx_inputs_lines(source: SourceModel) -> tuple[list[str], list[str]]:
    """Return the imports and lines of a script that lists the name, shape and type of each input of an ONNX model."""
    imports, lines = source_lines(source, _ONNX_READ)
    return ["import onnx", *imports], [*lines, _ONNX_LISTED]


def tensorflow_text(source: SourceModel, settings: Settings, calibration: Calibration, result: str) -> str:
    """Return the script for a SavedModel, a Keras file or a function that returns a Keras model."""
    is_saved_model = source.kind is SourceKind.SAVED_MODEL
    is_fixed = "fixed" in settings.options
    imports: list[str] = []
    if is_saved_model:
        lines = [_SIGNATURE.format(path=source.path)] if is_fixed or settings.calibrates else []
        inputs = _SIGNATURE_INPUTS.format(shape=_shape(settings, "name"))
        converter = _SIGNATURE_FIXED if is_fixed else _SIGNATURE_OPEN.format(path=source.path)
    else:
        imports, lines = source_lines(source, _loaded(source))
        lines += [_KERAS_UNROLLED] if "unrolled" in settings.options else []
        inputs = _KERAS_INPUTS.format(name="each.name", shape=_shape(settings, "each.name"))
        converter = _KERAS_FIXED if is_fixed else _KERAS_OPEN
    if is_fixed or settings.calibrates:
        lines.append(inputs)
    return _script_text(imports, lines, converter, settings, calibration, result, moves_channels=False)


def onnx_text(source: SourceModel, settings: Settings, calibration: Calibration, result: str) -> str:
    """Return the script for an ONNX file, or for a function that returns an ONNX model."""
    imports, lines = source_lines(source, _ONNX_READ)
    imports += ["import numpy as np", "import onnx", "import onnx2tf"]
    lines.append(_ONNX_PREPARED)
    is_fixed = "fixed" in settings.options
    if is_fixed:
        lines.append(_ONNX_SHAPES.format(shapes=given_shapes(settings)))
    lines += [_ONNX_CALIBRATION, _ONNX_CONVERTED.format(more=_ONNX_FIXED if is_fixed else "")]
    if settings.calibrates:
        lines.append(_KERAS_INPUTS.format(name="each.name", shape=_FROM_ZERO))
    return _script_text(imports, lines, _ONNX_CONVERTER, settings, calibration, result, moves_channels=True)


def _shape(settings: Settings, name: str) -> str:
    return f"{given_shapes(settings)!r}.get({name}) or {_FROM_ZERO}" if settings.shapes else _FROM_ZERO


def _script_text(
    imports: list[str],
    lines: list[str],
    converter: str,
    settings: Settings,
    calibration: Calibration,
    result: str,
    *,
    moves_channels: bool,
) -> str:
    if settings.calibrates:
        data, more = data_part(calibration, has_tensorflow=True, moves_channels=moves_channels)
        imports += ["import numpy as np", *more]
        lines.append(data)
    configured = "".join([f"{line}\n" for line in tensorflow_lines(settings)])
    lines.append(converter + configured + _WRITTEN.format(result=result))
    head = "\n".join(sorted({*imports, "import tensorflow as tf"}))
    return "\n".join([f"{head}\n", *lines])


_START = """\
import os
{more}
os.environ["KERAS_BACKEND"] = "torch"
import keras
"""
_DIRECTLY_LOADED = "model = keras.saving.load_model({path!r}, compile=False{more})\n"
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
    return [], [_loaded_directly(source), _LISTED]


def _loaded_directly(source: SourceModel) -> str:
    more = ", safe_mode=False" if source.may_run_code else ""
    imports, lines = source_lines(source, _DIRECTLY_LOADED.replace("{more}", more))
    return "\n".join([_START.format(more="".join(imports)), *lines])


def keras_text(source: SourceModel, settings: Settings, calibration: Calibration, result: str) -> str:
    """Return the script for a Keras file, or for a function that returns a Keras model."""
    lines = [_loaded_directly(source)]
    is_fixed = "fixed" in settings.options
    lines += [_FIXED_BY_KERAS.format(shapes=given_shapes(settings))] if is_fixed else []
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
    imports, lines = source_lines(source, _ONNX_READ)
    imports += ["import os", "import onnx", "import onnx2tf"]
    if "fixed" in settings.options:
        lines += [_ONNX_SHAPES.format(shapes=given_shapes(settings)), _FIXED_BY_ONNX2TF]
    lines.append(_ONNX_PREPARED)
    arguments = [_OPTIONS[name] for name in settings.options if name in _OPTIONS]
    if settings.calibrates:
        data, more = data_part(calibration, has_tensorflow=False, moves_channels=True)
        imports += ["import numpy as np", "from ai_edge_litert.interpreter import Interpreter", *more]
        lines += [_converted(arguments), _INPUTS, data, _DATA]
        arguments += ["output_integer_quantized_tflite=True", "custom_input_op_name_np_data_path=ranges"]
    elif settings.quantization == "dynamic-range":
        arguments.append("output_dynamic_range_quantized_tflite=True")
    suffix = f"{'full_' if 'integer-io' in settings.options else ''}{_SUFFIXES[settings.quantization]}"
    lines += [_converted(arguments), _NAMED.format(suffix=suffix, result=result)]
    return script_text({*imports}, lines)


def _converted(arguments: list[str]) -> str:
    return _CONVERTED.format(more="".join([f"\n    {argument}," for argument in arguments]))

"""Generate the Python scripts of a conversion. The text that the user sees is exactly the text that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..errors import OptionError
from ..foundation.printable import printable
from .calibration import DRAWN, Calibration, data_part
from .converters import Converter, Route
from .settings import Settings, knows
from .sources import SourceModel
from .tensorflow_script import direct_onnx_text, given_shapes, keras_text, onnx_text, script_text, source_lines, tensorflow_text

_LOADED = "program = torch.export.load({path!r})\n"
_EXAMPLES = "arguments, names = program.example_inputs\n"
_FIXED = """\
given = {shapes!r}
values = [node.meta["val"] for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
sizes = [
    given.get(name) or [size if isinstance(size, int) else 1 for size in value.shape]
    for name, value in zip(program.graph_signature.user_inputs, values)
]
drawn = [torch.zeros(size, dtype=value.dtype) for size, value in zip(sizes, values)]
arguments, names = torch.utils._pytree.tree_unflatten(drawn, program.call_spec.in_spec)
"""
_CONVERTED = """\
module = program.module(){last}
litert_torch.convert(module, tuple(arguments), names).export({result!r})
"""
_LAST = """
images = [place for place, each in enumerate(arguments) if each.dim() == 4]
module = litert_torch.to_channel_last_io(module, args=images)
arguments = [each.movedim(1, -1) if each.dim() == 4 else each for each in arguments]"""

_LISTED = """\
values = [node.meta["val"] for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
inputs = [
    (name, list(value.shape), str(value.dtype).removeprefix("torch."))
    for name, value in zip(program.graph_signature.user_inputs, values)
]
"""


def torch_inputs_lines(source: SourceModel) -> tuple[list[str], list[str]]:
    """Return the imports and lines of a script that sets ``inputs`` to the name, shape and type of each input."""
    imports, lines = source_lines(source, _LOADED, "program")
    return [*imports, "import torch"], [*lines, _LISTED]


def torch_text(source: SourceModel, settings: Settings, calibration: Calibration, result: str) -> str:
    """Return the script for a ``.pt2`` file, or for a function that returns an ``ExportedProgram``."""
    imports, lines = source_lines(source, _LOADED, "program")
    lines.append(_FIXED.format(shapes=given_shapes(settings)) if "fixed" in settings.options else _EXAMPLES)
    lines.append(_CONVERTED.format(last=_LAST if "channels-last" in settings.options else "", result=result))
    return "\n".join(["\n".join([*imports, "import litert_torch", "import torch"]) + "\n", *lines])


_CALLS: Mapping[str, str] = {
    "dynamic-range": 'add_dynamic_config(".*", {op}, num_bits=8{granularity})',
    "dynamic-range-int4": 'add_dynamic_config(".*", {op}, num_bits=4{granularity})',
    "weights-int8": 'add_weight_only_config(".*", {op}, num_bits=8{granularity})',
    "weights-int4": 'add_weight_only_config(".*", {op}, num_bits=4{granularity})',
    "int8": 'add_static_config(".*", {op}, activation_num_bits=8, weight_num_bits=8{granularity})',
    "int16x8": 'add_static_config(".*", {op}, activation_num_bits=16, weight_num_bits=8{granularity})',
}
_FLOAT16 = """\
weights = qtyping.TensorQuantizationConfig(num_bits=16, dtype=qtyping.TensorDataType.FLOAT)
config = qtyping.OpQuantizationConfig(
    weight_tensor_config=weights, compute_precision=qtyping.ComputePrecision.FLOAT, explicit_dequantize=True
)
quantizer.update_quantization_recipe(".*", qtyping.TFLOperationName.ALL_SUPPORTED, config, "float_casting")
"""
_FLOAT_IO = """\
for operation in (qtyping.TFLOperationName.INPUT, qtyping.TFLOperationName.OUTPUT):
    quantizer.update_quantization_recipe(".*", operation, algorithm_key="no_quantize")
"""
_ALL = "qtyping.TFLOperationName.ALL_SUPPORTED"
_DENSE = "qtyping.TFLOperationName.FULLY_CONNECTED"
_INPUTS = """\
interpreter = Interpreter({model!r})
[key] = interpreter.get_signature_list()
details = interpreter.get_signature_runner(key).get_input_details()
inputs = [(name, list(each["shape"]), each["dtype"]) for name, each in details.items()]
"""


def quantizer_text(
    settings: Settings, calibration: Calibration, model: str, result: str, *, moves_channels: bool, package: str
) -> str:
    """Return a script that reads a float model and writes a quantized model with the quantizer of ``package``.

    If ``moves_channels`` is true, channels are the last dimension of the float model, but the second dimension of the user's
    model.
    """
    imports = {f"from {package} import qtyping", f"from {package}.quantizer import Quantizer"}
    lines = []
    if settings.calibrates:
        data, more = data_part(calibration, has_tensorflow=False, moves_channels=moves_channels)
        imports |= {"import numpy as np", "from ai_edge_litert.interpreter import Interpreter", *more}
        lines += [_INPUTS.format(model=model), data]
    recipe = [f"quantizer = Quantizer({model!r})\n", *_recipe(settings)]
    if settings.calibrates:
        recipe.append("ranges = quantizer.calibrate({key: list(samples())})\n")
    argument = "ranges" if settings.calibrates else ""
    recipe.append(f"quantizer.quantize({argument}).export_model({result!r}, overwrite=True)\n")
    return script_text(imports, [*lines, "".join(recipe)])


def _recipe(settings: Settings) -> list[str]:
    if settings.quantization == "float16":
        return [_FLOAT16]
    argument = "weight_granularity" if settings.calibrates else "granularity"
    tensorwise = f", {argument}=qtyping.QuantGranularity.TENSORWISE"
    call = _CALLS[settings.quantization]
    lines = [f"quantizer.{call.format(op=_ALL, granularity=tensorwise if 'per-tensor' in settings.options else '')}\n"]
    if "dense-per-tensor" in settings.options:
        lines.append(f"quantizer.{call.format(op=_DENSE, granularity=tensorwise)}\n")
    if settings.calibrates and "integer-io" not in settings.options:
        lines.append(_FLOAT_IO)
    return lines


RESULT = "model.tflite"
"""The name of the file that the last script writes."""
FLOAT_MODEL = "float.tflite"
"""The name of the file that the quantizer's script reads."""

_TEXTS: Mapping[str, Callable[[SourceModel, Settings, Calibration, str], str]] = {
    "tensorflow": tensorflow_text,
    "keras": keras_text,
    "onnx2tf": onnx_text,
    "onnx2tf-2": direct_onnx_text,
    "litert-torch": torch_text,
}


@dataclass(frozen=True, slots=True)
class Script:
    """One step of a conversion: a script that runs in a converter's interpreter and writes a file into the current folder."""

    converter: Converter
    text: str
    source: SourceModel | None
    """The source model that the script loads, or None if the script loads a model that a converter wrote."""


def scripts(source: SourceModel, route: Route, settings: Settings, calibration: Calibration = DRAWN) -> tuple[Script, ...]:
    """Return the scripts of a conversion. Raise OptionError for settings that the route does not support.

    With a quantizer, the second script reads the file ``float.tflite`` of the first script.
    """
    if not knows(route, settings):
        raise OptionError(f"{route.name} does not support the setting {printable(settings.name)}")
    make = _TEXTS[route.converter.interface]
    if route.quantizer is None:
        return (Script(route.converter, make(source, settings, calibration, RESULT), source),)
    first = make(source, settings.of_float_model, calibration, FLOAT_MODEL)
    moves_channels = route.converter.name == "onnx2tf" or "channels-last" in settings.options
    package = route.quantizer.name.replace("-", "_")
    second = quantizer_text(
        settings.of_quantizer, calibration, FLOAT_MODEL, RESULT, moves_channels=moves_channels, package=package
    )
    return Script(route.converter, first, source), Script(route.quantizer, second, None)


def code(source: SourceModel, route: Route, settings: Settings, calibration: Calibration = DRAWN) -> str:
    """Return the scripts of all steps as one text. A comment before each script names the converter and its version."""
    steps = [
        f"# {step.converter.installed_name} {step.converter.version or '(not installed)'}\n{step.text}"
        for step in scripts(source, route, settings, calibration)
    ]
    return "\n".join(steps)

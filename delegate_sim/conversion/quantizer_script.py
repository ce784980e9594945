"""Scripts for ai-edge-quantizer, which quantizes a converted float model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .calibration import Calibration
from .data_scripts import data_part
from .settings import Settings

_CALLS: Mapping[str, str] = MappingProxyType(
    {
        "dynamic-range": 'add_dynamic_config(".*", {op}, num_bits=8{granularity})',
        "dynamic-range-int4": 'add_dynamic_config(".*", {op}, num_bits=4{granularity})',
        "weights-int8": 'add_weight_only_config(".*", {op}, num_bits=8{granularity})',
        "weights-int4": 'add_weight_only_config(".*", {op}, num_bits=4{granularity})',
        "int8": 'add_static_config(".*", {op}, activation_num_bits=8, weight_num_bits=8{granularity})',
        "int16x8": 'add_static_config(".*", {op}, activation_num_bits=16, weight_num_bits=8{granularity})',
    }
)
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


def quantizer_text(settings: Settings, calibration: Calibration, model: str, result: str, *, moves_channels: bool) -> str:
    """Return a script that reads a float model and writes a quantized model.

    If ``moves_channels`` is true, channels are the last dimension of the float model, but the second dimension of the user's
    model.
    """
    imports = {"from ai_edge_quantizer import qtyping", "from ai_edge_quantizer.quantizer import Quantizer"}
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
    return "\n".join(["\n".join(sorted(imports, key=lambda line: line.split()[1])) + "\n", *lines, "".join(recipe)])


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

"""Operators that quantise, widen and unpack.

Source: ``QuantizeOperationParser``, ``DequantizeOperationParser`` and ``DensifyOperationParser``
(``delegates/gpu/common/model_builder.cc``), and the cases of these operators in ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``).
"""

from __future__ import annotations

from ...finders import found_if
from .checks import QUANTIZATION, allow_quant_ops, check, gpu_rule, inputs_and_outputs, max_version, runtime_operands

_INT16 = check(
    QUANTIZATION,
    "an input of another type than INT16",
    found_if(lambda node: node.input(0).type == "INT16", "an INT16 input"),
    "quantise to 8 bits",
)

RULES = {
    "QUANTIZE": gpu_rule(allow_quant_ops(), max_version(2), runtime_operands(1, 1)),
    "DEQUANTIZE": gpu_rule(allow_quant_ops(), max_version(3), inputs_and_outputs(1, 1), _INT16),
    "DENSIFY": gpu_rule(max_version(1), runtime_operands(0, 1)),
}

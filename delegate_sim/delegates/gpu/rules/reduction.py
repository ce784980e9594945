"""Reductions, sums along an axis and SOFTMAX.

Source: ``ReduceOperationParser``, ``MeanOperationParser``, ``CumsumOperationParser`` and ``SoftmaxOperationParser``
(``delegates/gpu/common/model_builder.cc``), and the cases of these operators in ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from .checks import (
    ATTRIBUTE,
    TENSOR_TYPE,
    check,
    constant_int32_axes,
    gpu_rule,
    gpu_rules,
    inputs_and_outputs,
    max_version,
    operands,
    runtime_operands,
)


def _cumsum_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source in ("FLOAT16", "FLOAT32") and result == source else f"input {source}, output {result}"


def _softmax_beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1 else f"beta {node.options.beta:g}"


RULES = {
    "MEAN": gpu_rule(operands(1, 1, 1), constant_int32_axes()),
    **gpu_rules(
        ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"),
        runtime_operands(1, 1).before_release("litert-2.1.6"),
        operands(1, 1, 1).from_release("litert-2.1.6"),
        constant_int32_axes(),
    ),
    "CUMSUM": gpu_rule(
        max_version(1),
        inputs_and_outputs(2, 1),
        check(TENSOR_TYPE, "input and output of one float type", _cumsum_types),
        constant_int32_axes(),
    ),
    "SOFTMAX": gpu_rule(max_version(2), check(ATTRIBUTE, "beta 1", _softmax_beta, "scale the input instead")),
}

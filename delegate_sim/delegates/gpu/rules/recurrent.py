"""LSTM cells, in the form with one operand for each gate and in the basic form with joint weights.

Source: ``LSTMOperationParser`` (``delegates/gpu/common/model_builder.cc``), and the case of LSTM in
``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ..questions import is_full_lstm
from .checks import (
    OPERAND_COUNT,
    SHAPE,
    activation_in,
    check,
    counted,
    gpu_rule,
    input_count,
    max_version,
    operands,
    option_is_zero,
    shape_of,
    where,
)


def _is_basic(node: NodeView) -> bool:
    return not is_full_lstm(node)


def _output_count(node: NodeView) -> str | None:
    return None if len(node.node.outputs) == 1 else counted(len(node.node.outputs), "output")


def _activation_depth(node: NodeView) -> str | None:
    result = node.output(3)
    return f"output 3 of shape {shape_of(result)}" if result.shape and result.shape[-1] % 4 else None


_FULL = (
    input_count("20 or 24 inputs", lambda count: count in (20, 24)),
    check(OPERAND_COUNT, "1 output", _output_count),
    activation_in("SIGMOID", "TANH"),
)
_BASIC = (
    operands(3, 2, 4),
    check(SHAPE, "a last size of output 3 that 4 divides", _activation_depth).from_release("litert-2.1.6"),
    activation_in("TANH"),
    option_is_zero("cell_clip"),
    option_is_zero("proj_clip"),
)

RULES = {
    "LSTM": gpu_rule(
        max_version(4), *where(is_full_lstm, "in the full form", *_FULL), *where(_is_basic, "in the basic form", *_BASIC)
    )
}

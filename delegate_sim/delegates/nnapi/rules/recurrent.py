"""Recurrent operators and sparse weights (``NNAPIDelegateKernel::Validate``, ``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, OpRule, listed
from ..questions import is_basic_lstm
from ..target import NNAPI_1_1, NNAPI_1_2, NNAPI_1_3, Target
from .checks import (
    FLOAT_QUANT8,
    FLOAT_UINT8,
    INPUT_TYPE,
    OPERAND_RANK,
    OPERATOR_VARIANT,
    constant,
    input_count,
    max_version,
    min_level,
    not_hybrid,
    quantized_as,
    typed,
)

_SPARSE_PROJECTION = 1


def _basic(check: Check) -> Check:
    """Return the check for the basic kernel of LSTM (5 inputs) only."""

    def find(node: NodeView, target: Target) -> str | None:
        return check.finder(node, target) if is_basic_lstm(node) else None

    return replace(check, finder=find, needed=f"{check.needed} (basic kernel)")


def _is_unit_range(tensor: Tensor) -> bool:
    return tensor.scale == 1 / 128 and tensor.zero_point == 128


def _is_state_range(tensor: Tensor) -> bool:
    return tensor.scale == 16 / 32768 or tensor.zero_point == 0


def _unit_range(tensor: Callable[[NodeView], Tensor], name: str) -> Check:
    return _basic(quantized_as(tensor, name, "scale 1/128 and zero point 128", _is_unit_range))


def _full_weights(types: tuple[str, ...]) -> Check:
    def find(node: NodeView, _: Target) -> str | None:
        found = node.input(4).type
        return None if is_basic_lstm(node) or found in types else f"weights are {found}"

    return Check("nnapi-input-type", INPUT_TYPE, f"weights of type {listed(types)} (full kernel)", find)


def _layer_norm(node: NodeView, target: Target) -> str | None:
    return f"24 inputs at feature level {target.level}" if len(node.inputs) == 24 else None


def _is_sparse(node: NodeView) -> bool:
    return bool(node.options.type == _SPARSE_PROJECTION)


def _float_weights_if_any(node: NodeView, _: Target) -> str | None:
    found = node.input(1).type
    return f"weights are {found}" if len(node.inputs) >= 2 and found != "FLOAT32" else None


_FLOAT_WEIGHTS = Check("nnapi-input-type", INPUT_TYPE, "FLOAT32 weights", _float_weights_if_any)

RULES = {
    "LSTM": OpRule(
        (
            max_version(3),
            min_level(NNAPI_1_1),
            not_hybrid().below_level(NNAPI_1_2),
            _basic(typed(2, ("UINT8",), name="weights")),
            _unit_range(lambda node: node.input(0), "input"),
            _unit_range(lambda node: node.output(0), "output"),
            _basic(quantized_as(lambda node: node.output(1), "cell state", "scale 16/32768 or zero point 0", _is_state_range)),
            _basic(constant(2, "weights")),
            _basic(constant(3, "biases")),
            Check(
                "nnapi-feature-level", "kUnsupportedAndroidVersion", "feature level 29 for layer normalisation", _layer_norm
            ).below_level(NNAPI_1_2),
            _full_weights(FLOAT_QUANT8).from_level(NNAPI_1_3),
            _full_weights(FLOAT_UINT8).below_level(NNAPI_1_3),
        )
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": OpRule(
        (max_version(2), min_level(NNAPI_1_2), not_hybrid(), input_count((20, 24), "20 or 24 inputs"))
    ),
    "BIDIRECTIONAL_SEQUENCE_LSTM": OpRule((max_version(1), min_level(NNAPI_1_2), not_hybrid())),
    "UNIDIRECTIONAL_SEQUENCE_RNN": OpRule((max_version(1), min_level(NNAPI_1_2), not_hybrid())),
    "RNN": OpRule((max_version(1), input_count((5,), "5 inputs"), _FLOAT_WEIGHTS)),
    "SVDF": OpRule(
        (
            max_version(1),
            input_count((5,), "5 inputs", OPERAND_RANK),
            _FLOAT_WEIGHTS,
            replace(min_level(NNAPI_1_1), kind=OPERAND_RANK),
            # The delegate tests the weights twice.
            typed(1, ("FLOAT32",), name="weights"),
        )
    ),
    "LSH_PROJECTION": OpRule(
        (
            max_version(1),
            Check(
                "nnapi-operand-value",
                INPUT_TYPE,
                "a dense projection before NNAPI 1.2",
                lambda node, _: "a sparse projection" if _is_sparse(node) else None,
            ).below_level(NNAPI_1_2),
            Check(
                "nnapi-operand-count",
                OPERATOR_VARIANT,
                "2 inputs for a sparse projection",
                lambda node, _: f"{len(node.inputs)} inputs" if _is_sparse(node) and len(node.inputs) != 2 else None,
            ),
        )
    ),
    "DENSIFY": OpRule(
        (
            Check(
                "nnapi-dense-weights",
                "sparse-weights",  # the delegate records no failure here
                "a constant and feature level 30",
                lambda node, target: (
                    None
                    if node.input(0).is_constant and target.level >= NNAPI_1_3
                    else f"{'a constant' if node.input(0).is_constant else 'no constant'} at feature level {target.level}"
                ),
            ),
        )
    ),
}

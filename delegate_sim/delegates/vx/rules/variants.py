"""NXP's variants of the delegate, each as what its ``op_map.cc`` (nxp-imx/tflite-vx-delegate-imx) has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....graph.graph import NodeView
from ....rules.rule import OpRule, RuleSet
from .checks import HYBRID, RANK, TENSOR_TYPE, check, found_if, output_with_dimensions, vx_rule, vx_rules
from .convolution import NO_INT32_OUTPUT, NOT_BOTH_ADJOINT
from .shape import ARGUMENT_WITH_DIMENSIONS


def _changed(rules: RuleSet, changes: Mapping[str, OpRule], without: Iterable[str] = ()) -> RuleSet:
    """Return rules with some of them changed, and without those of some operators."""
    kept = {op: rule for op, rule in rules.items() if op not in frozenset(without)}
    return {**kept, **changes}


def _is_8_bit_vector(node: NodeView) -> bool:
    source = node.input(0)
    return source.rank == 1 and source.type in ("INT8", "UINT8")


_PACK = (
    check(
        TENSOR_TYPE,
        "a first input that is not INT32",
        found_if(lambda node: node.input(0).type == "INT32", "an INT32 input"),
        "cast to float around the operator",
    ),
    check(
        RANK,
        "an 8-bit first input of another rank than 1",
        found_if(_is_8_bit_vector, "an 8-bit input of rank 1"),
        "add a dimension with RESHAPE, and drop it again",
    ),
)


def _is_int8_times_float(node: NodeView) -> bool:
    return node.input(0).type == "INT8" and node.input(1).type == "FLOAT32"


_NO_INT8_TIMES_FLOAT = check(
    HYBRID,
    "other inputs than INT8 with FLOAT32 second",
    found_if(_is_int8_times_float, "INT8 and FLOAT32 inputs"),
    "quantise both, or neither",
)
_NO_INT8 = check(
    TENSOR_TYPE,
    "inputs of other types than INT8",
    found_if(lambda node: "INT8" in (node.input(0).type, node.input(1).type), "an INT8 input"),
    "quantise to UINT8, or keep the product in float",
)


def _finds_int32_in_int8(node: NodeView) -> bool:
    return node.input(0).type == "INT8" and node.output(0).type == "INT32"


_NO_INT32_IN_INT8 = check(
    TENSOR_TYPE,
    "an output that is not INT32, for an INT8 input",
    found_if(_finds_int32_in_int8, "an INT8 input and an INT32 output"),
    "keep the operator in float",
)


def lf_6_6_3(upstream: RuleSet) -> RuleSet:
    """The rules of lf-6.6.3_1.0.0, by those of upstream."""
    changes = {
        "BATCH_MATMUL": vx_rule(NO_INT32_OUTPUT, _NO_INT8_TIMES_FLOAT, NOT_BOTH_ADJOINT),
        "PACK": vx_rule(*_PACK),
    }
    return _changed(upstream, changes)


def lf_5_15_71(newer: RuleSet) -> RuleSet:
    """The rules of lf-5.15.71_2.2.0, by those of lf-6.6.3_1.0.0.

    BROADCAST_TO, which is missing, is also the one operator that may have INT64 operands later on.
    """
    changes = {
        **vx_rules(("ARG_MAX", "ARG_MIN"), _NO_INT32_IN_INT8, ARGUMENT_WITH_DIMENSIONS),
        "BATCH_MATMUL": vx_rule(NO_INT32_OUTPUT, _NO_INT8, NOT_BOTH_ADJOINT),
        "RESHAPE": vx_rule(output_with_dimensions()),
    }
    missing = (
        "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "BROADCAST_TO", "CAST", "EMBEDDING_LOOKUP", "GELU",
        "HASHTABLE_LOOKUP", "MIRROR_PAD", "SCATTER_ND", "SHAPE", "SQUARED_DIFFERENCE", "UNIDIRECTIONAL_SEQUENCE_RNN",
    )  # fmt: skip
    return _changed(newer, changes, missing)

"""Checks of the Neutron delegate that several operators share.

Source: ``IsNodeSupportedByNeutron`` (``neutron_delegate_utils.cc`` of nxp-imx/tflite-neutron-delegate). The delegate applies
every check of an operator, also after a failure.

If the bias is missing, the delegate overwrites earlier failures of the node. The delegate still refuses the node, because the
bias must be a constant. Unlike the delegate, these rules also report the earlier failures.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import OPTIONAL_TENSOR
from ....rules.hints import by_reshape
from ....rules.kinds import CONSTANT, OPTIONAL_OPERAND, RANK
from ....rules.operands import INPUT, OUTPUT, Operand, operand
from ....rules.rule import Check, OpRule
from ....rules.source import Repository, Source
from ....rules.vocabulary import check, constant, typed, where_given
from ..kinds import READS_MISSING_SIZES

NEUTRON_6_6_23 = Repository("nxp-imx/tflite-neutron-delegate", "0b4e06df64d39add24c1f1eef219f3cbc9ac6f2f")
"""NXP's repository at lf-6.6.23_2.0.0."""
NEUTRON_6_6_3 = Repository("nxp-imx/tflite-neutron-delegate", "f6ed0fc8ebea2980b28f54658a9c79e757508a0e")
"""NXP's repository at lf-6.6.3_1.0.0."""
NEUTRON_6_6_36 = Repository("nxp-imx/tflite-neutron-delegate", "068df109e92b0ee665131d8fb249df2994e98176")
"""NXP's repository at lf-6.6.36_2.1.0."""
SOURCE = Source(NEUTRON_6_6_23, "neutron_delegate_utils.cc", "IsNodeSupportedByNeutron")

EIGHT_BITS = ("UINT8", "INT8")
MACS = 16
"""The number of multiply-accumulate units of the i.MX95's NPU."""
BIAS = operand(2, "bias")
INPUT_TYPE = typed(INPUT, EIGHT_BITS)
OUTPUT_TYPE = typed(OUTPUT, EIGHT_BITS)


def neutron_rule(*checks: Check[object]) -> OpRule[object]:
    """Return the rule of an operator."""
    return OpRule(checks)


def _bias(node: NodeView) -> str | None:
    if node.node.input(BIAS.position) == OPTIONAL_TENSOR:
        return "no bias"
    return None if BIAS.tensor(node).is_constant else "bias is not constant"


_CONSTANT_BIAS = check(OPTIONAL_OPERAND, "a constant bias", _bias, "convert with a bias, for example of zeros")


def filtered(weights: Operand) -> tuple[Check[object], ...]:
    """Return the checks of operators with weights and a bias."""
    return (
        INPUT_TYPE,
        typed(weights, EIGHT_BITS),
        *where_given(BIAS, typed(BIAS, ("INT32",))),
        OUTPUT_TYPE,
        constant(weights),
        _CONSTANT_BIAS,
    )


def _other_ranks(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    return None if ranks == (4, 4) else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


FOUR_DIMENSIONS = check(RANK, "input and output of rank 4", _other_ranks, by_reshape("add dimensions with RESHAPE"))


def _scalars(node: NodeView) -> str | None:
    sides = [name for name, tensor in (("input", node.input(0)), ("output", node.output(0))) if not tensor.shape]
    return f"{' and '.join(sides)} without dimensions" if sides else None


WITH_DIMENSIONS = check(READS_MISSING_SIZES, "input and output with dimensions", _scalars, "fix the shapes before converting")
"""Require that input and output have dimensions. The delegate reads the sizes without such a check."""


def not_constant(which: Operand) -> Check[object]:
    """Require that an operand is computed at run time."""

    def find(node: NodeView) -> str | None:
        return f"{which.name} is constant" if which.tensor(node).is_constant else None

    return check(
        CONSTANT, f"{which.name} that is not constant", find, "add the constant to the bias of the preceding node instead"
    )

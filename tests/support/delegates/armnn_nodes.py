"""Nodes for tests of Arm NN's rules, and what the rules say about them."""

from __future__ import annotations

from delegate_sim.delegates.armnn.rules import RULES
from delegate_sim.delegates.armnn.steps import ArmnnTarget
from delegate_sim.model.model import Tensor
from tests.support.graphs import arena, constant, node_view, quantized

REF, ACC, BOTH = ("CpuRef",), ("CpuAcc",), ("CpuAcc", "CpuRef")
IMAGE = arena("FLOAT32", 1, 8, 8, 16)
HALF = arena("FLOAT16", 1, 8, 8, 16)
WEIGHTS = constant([[[[0.0] * 16] * 3] * 3] * 4, "FLOAT32")
BIAS = constant([0.0] * 4, "FLOAT32")
RESULT = arena("FLOAT32", 1, 8, 8, 4)


def int8(*shape: int, scale: float = 0.5) -> Tensor:
    """An INT8 tensor with one scale."""
    return quantized(arena("INT8", *shape), scale)


def codes(op, inputs, outputs, backends=REF, **options):
    """The distinct codes of a node's reasons, in order, without the delegate's name."""
    reasons = RULES.validate(node_view(op, inputs, outputs, options=options), ArmnnTarget(backends)).reasons
    return list(dict.fromkeys(reason.code.removeprefix("armnn-") for reason in reasons))


def lines(op, inputs, outputs, backends=REF, **options):
    """The lines that the visit of a node prints, and the text of an exception."""
    view = node_view(op, inputs, outputs, options=options)
    outcome = RULES.rule_of(op, is_custom=False).visit.outcome(view, ArmnnTarget(backends))
    return [*outcome.lines, *([outcome.thrown] if outcome.thrown else [])]

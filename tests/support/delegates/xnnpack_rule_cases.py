"""Helpers of the tests of the acceptance rules: codes, targets, operands, and the table of cases of some families."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from delegate_sim.delegates.xnnpack.rules import RULES
from delegate_sim.delegates.xnnpack.target import DEFAULT_FLAGS, FLAGS, Visit, XnnpackTarget
from delegate_sim.model.model import Quantization
from delegate_sim.releases.catalogue import NEWEST
from tests.support.delegates.cases import CaseTable
from tests.support.graphs import arena, constant, quantized

OPERATOR = "xnnpack-unsupported-operator"
VERSION = "xnnpack-operator-version"
COUNT = "xnnpack-operand-count"
OPTIONAL = "xnnpack-optional-operand"
CONSTANT = "xnnpack-constant-operand"
TYPE = "xnnpack-tensor-type"
HYBRID = "xnnpack-hybrid"
RANK = "xnnpack-rank"
SHAPE = "xnnpack-shape"
VALUE = "xnnpack-operand-value"
ATTRIBUTE = "xnnpack-attribute-value"
ACTIVATION = "xnnpack-activation"
QUANTIZATION = "xnnpack-quantization"
NEIGHBOR = "xnnpack-neighbouring-node"


def visit_with(flags):
    """A visit with these flags that has not come to any node."""
    return Visit(XnnpackTarget(flags))


DEFAULT = Visit()
NO_8_BITS = visit_with(0)
UNSIGNED_ONLY = visit_with(FLAGS["qu8"])
DYNAMIC_WEIGHTS = visit_with(DEFAULT_FLAGS | FLAGS["dynamic_fully_connected"])
NO_DYNAMIC_QUANTIZATION = visit_with(DEFAULT_FLAGS | FLAGS["disable_dynamically_quantized_ops"])

TANH = 4
SHAPE_4 = (1, 4, 4, 2)
FLOAT = arena("FLOAT32", *SHAPE_4)
FLOAT16 = arena("FLOAT16", *SHAPE_4)
INT8 = quantized(arena("INT8", *SHAPE_4), 0.5)
UINT8 = quantized(arena("UINT8", *SHAPE_4), 0.5, zero_point=128)
INT16 = arena("INT16", *SHAPE_4)
BARE_INT8 = arena("INT8", *SHAPE_4)
PER_CHANNEL = quantized(arena("INT8", *SHAPE_4), 0.5)._replace(
    quantization=Quantization("affine", np.array([0.5, 0.5], np.float32), np.zeros(2, np.int64), 3)
)
RANK_7 = arena("FLOAT32", 1, 1, 1, 1, 1, 1, 2)
EMPTY = arena("FLOAT32", 1, 0, 4, 2)
RANK_3 = arena("FLOAT32", 4, 4, 2)
SCALAR = arena("FLOAT32")


def scaled(scale, kind="INT8"):
    """An activation with another scale than the others."""
    return quantized(arena(kind, *SHAPE_4), scale)


def weights(*shape, kind="FLOAT32", scales=(), zero_point=0, dimension=0):
    """A constant of ones, quantized if there are scales."""
    value = np.ones(shape)
    tensor = arena(kind, *shape)._replace(allocation=constant(value).allocation, value=value)
    return quantized(tensor, *scales, zero_point=zero_point, dimension=dimension) if scales else tensor


class FamilyCases(CaseTable):
    """Cases of the rules of some families, as they count in the newest release."""

    def __init__(self, *families):
        super().__init__(DEFAULT)
        self.families = families

    def assert_complete_except(self, *others):
        """Every operator has cases but those that other tests try, and every check is both met and not met by some."""
        newest = {
            op: replace(rule, checks=tuple(check for check in rule.checks if check.counts_in(NEWEST)))
            for family in self.families
            for op, rule in family.RULES.items()
            if op not in others
        }
        self.assert_complete(replace(RULES, families=(newest,), custom={}))


def add_float_cases(table, op):
    """Add the cases of an operator with one operand that may be a float."""
    table.accepted(op, [FLOAT], [FLOAT])
    table.variant(op, None, inputs=[FLOAT16], outputs=[FLOAT16])
    table.variant(op, COUNT, inputs=[FLOAT, FLOAT])
    table.variant(op, RANK, inputs=[RANK_7])
    table.variant(op, SHAPE, inputs=[EMPTY])
    table.variant(op, TYPE, inputs=[INT16])
    table.variant(op, TYPE, outputs=[INT16])


def assert_verdict(case):
    """A node is refused with the code of its case, or accepted."""
    verdict = RULES.validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)

"""Changes of the rules by releases of the runtime: for each change, nodes whose verdict changes with that release."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.hexagon import RULES
from delegate_sim.graph.graph import NodeView
from delegate_sim.model.model import Quantization
from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from delegate_sim.rules.kinds import MALFORMED_OPERANDS
from tests.support.graphs import arena, constant, node_view, quantized

COUNT = "hexagon-operand-count"
QUANTIZATION = "hexagon-quantization"

INT8 = quantized(arena("INT8", 2, 4), 0.5)
WEIGHTS = arena("INT8", 2, 4)
PER_CHANNEL = quantized(WEIGHTS, 0.5, 0.25)
BLOCKWISE = WEIGHTS._replace(quantization=Quantization("blockwise", np.empty(0, np.float32), np.empty(0, np.int64), 0, 32, 0))


class Change(NamedTuple):
    """A node, and the codes that it is refused with before and from a release (None where it is taken)."""

    op: str
    release: str
    before: str | None
    after: str | None
    node: NodeView


def fully_connected(weights):
    options = {"fused_activation_function": 0, "keep_num_dims": False, "weights_format": 0}
    return node_view("FULLY_CONNECTED", [INT8, weights, constant([0, 0])], [INT8], options=options)


CHANGES = [
    *(
        Change("FULLY_CONNECTED", "litert-2.1.5", None, QUANTIZATION, fully_connected(weights))
        for weights in (PER_CHANNEL, BLOCKWISE)
    ),
    *(Change(op, "litert-2.3.0", MALFORMED_OPERANDS.name, COUNT, node_view(op, [], [INT8])) for op in ("CONCATENATION", "PACK")),
    *(Change(op, "litert-2.3.0", MALFORMED_OPERANDS.name, COUNT, node_view(op, [INT8], [])) for op in ("CONCATENATION", "PACK")),
]

LITERT = [name for name in KNOWN_RELEASES if name.startswith("litert-")]


def code(node, release):
    """The code that a node is refused with in a release, None if it is taken."""
    reasons = RULES.validate(node, ReleaseOnly(parse_release(release))).reasons
    return reasons[0].code if reasons else None


@pytest.mark.parametrize(
    "change", CHANGES, ids=[f"{number}-{change.op}-{change.release}" for number, change in enumerate(CHANGES)]
)
def test_verdict_changes_with_the_release(change):
    before = LITERT[LITERT.index(change.release) - 1]
    assert (code(change.node, before), code(change.node, change.release)) == (change.before, change.after)


def test_one_scale_is_taken_in_every_release():
    node = fully_connected(quantized(WEIGHTS, 0.5))
    assert {code(node, release) for release in KNOWN_RELEASES} == {None}


def test_every_change_of_the_rules_is_tested():
    bounds = {
        (op, str(bound))
        for op, rule in RULES.rules.items()
        for bound in (rule.introduced, *[bound for check in rule.checks for bound in (check.introduced, check.withdrawn)])
        if bound is not None
    }
    assert {(change.op, change.release) for change in CHANGES} == bounds

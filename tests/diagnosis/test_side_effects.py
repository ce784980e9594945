"""The targets for which a change of another target is worse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from delegate_sim.api.arguments import target_of
from delegate_sim.diagnosis.causes.change import Advice, Remedy, conversion_change
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.diagnosis.diagnosis import worsened
from delegate_sim.graph.effort import Effort
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from delegate_sim.model.reader import load
from tests.support.edge_tpu import edge_tpu_model
from tests.support.models import chain_model

QUANTIZED, FLOAT = edge_tpu_model("RELU", "RELU"), chain_model(["ADD", "RELU"]).bytes()


@pytest.mark.parametrize(
    ("content", "change", "names"),
    [
        (QUANTIZED, Remedy(conversion="float"), ["edgetpu", "hexagon"]),
        (QUANTIZED, Remedy(op_versions={"RELU": 4}), ["gpu"]),
        (QUANTIZED, Remedy(accepted_nodes=frozenset({NodeKey(0, 0)}), accepts=True), []),
        (FLOAT, Remedy(conversion="float16"), []),
    ],
)
def test_the_worsened_targets(content, change, names):
    model = load(content)
    effort = Effort(model)
    first, *others = [
        diagnose(model, target_of(name, None, None, "api"), effort) for name in ("xnnpack", "edgetpu", "hexagon", "gpu")
    ]
    assert [other.target.delegate.name for other in worsened(first, change, [first, *others])] == names
    elsewhere = diagnose(load(content), others[0].target, effort)
    assert not worsened(first, change, [first, elsewhere])


def test_the_advised_change_counts_and_not_the_assumption_that_nodes_are_accepted():
    (finding,) = diagnose(load(QUANTIZED), target_of("xnnpack", None, None, "api")).findings
    cause = replace(finding.cause, remedy=Remedy(accepts=True))
    assert replace(cause, advice=Advice("change-type", (conversion_change("float"),))).advised == Remedy(conversion="float")
    assert replace(cause, advice=Advice("change-type", ())).advised == Remedy(accepts=True)

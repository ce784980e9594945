"""The hypothetical changes that a diagnosis reports as left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.api.arguments import target_of
from delegate_sim.diagnosis.causes.change import Advice, Remedy, conversion_change
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.diagnosis.diagnosis import worsened
from delegate_sim.diagnosis.goal_search import search
from delegate_sim.graph.effort import Effort
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from delegate_sim.results.report.measures import FAILS_LATER, TAKEN
from fixtures.builder import ModelBuilder

from ..support.diagnoses import diagnosed, layer_without_kernel, target
from ..support.edge_tpu import edge_tpu_model
from ..support.models import chain_model

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"
SOME = ["ADD", "ROUND", "ADD", "CEIL", "ADD"]


def spent(diagnosis):
    """Return the diagnosis after other work of the same command has spent the limit."""
    diagnosis.effort.spend(1 << 40)
    return diagnosis


def test_work_after_a_finished_diagnosis_leaves_nothing_out_of_it():
    diagnosis = diagnosed(chain_model(SOME))
    diagnosis.to_dict()  # tries the passes of fix
    assert spent(diagnosis).not_simulated == ()


def test_a_diagnosis_that_reaches_the_limit_says_so():
    model = load(chain_model(SOME).bytes())
    effort = Effort(model)
    effort.spend(1 << 40)
    *_, last = diagnose(model, target(), effort).not_simulated
    assert last == f"the effect of some changes: {effort.reason}"


def test_passes_that_are_sought_too_late_are_left_out():
    diagnosis = spent(diagnosed(chain_model(SOME)))
    assert diagnosis.not_simulated == ()
    assert {diagnosis.found_pass(finding) for finding in diagnosis.findings} == {None}
    assert diagnosis.not_simulated == (f"the effect of some changes: {diagnosis.effort.reason}",)


def test_the_first_passes_are_tried_also_at_the_limit():
    diagnosis = spent(diagnosed(chain_model(["ADD", "ROUND", "ADD 4", "ADD"])))
    passes = {finding.cause.name: diagnosis.pass_for(finding) for finding in diagnosis.findings}
    assert passes["operator-version:ADD:4"].name == "own-versions"


@pytest.mark.parametrize(("ops", "is_tail"), [(["ADD", "ADD", "ROUND"], True), (["ADD", "ROUND", "ADD"], False)])
def test_only_nodes_at_the_end_can_be_split_off(ops, is_tail):
    assert diagnosed(chain_model(ops)).ends_with([NodeKey(0, ops.index("ROUND"))]) is is_tail


def test_the_wrong_results_with_all_causes_fixed_are_named():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, constant = graph.input("x", "INT32", (16, 2)), graph.tensor("c", "INT32", (2,), data=[1, 2])
    graph.node("ADD", (x, constant), (result := graph.tensor("y", "INT32", (16, 2)),), 9, {})
    graph.outputs(result)
    diagnosis = diagnosed(builder, "mldrift")
    assert (diagnosis.now.measures.wrong_results, diagnosis.without_all.measures.wrong_results) == (0, 1)
    assert [(risk.node, risk.op, risk.is_certain) for risk in diagnosis.risks_without_all] == [(0, "ADD", True)]


def test_a_search_that_has_no_simulations_left_says_so():
    diagnosis = spent(diagnosed(chain_model(SOME)))
    assert search(diagnosis, 1).not_simulated == (f"most sets of causes: {diagnosis.effort.reason}",)


def test_node_numbers_of_a_converted_model_are_those_of_the_file():
    diagnosis = diagnosed((MODELS / "mobilenet_block.tflite").read_bytes(), "hexagon")
    [grouped] = [finding.cause for finding in diagnosis.findings if finding.cause.name == "operator-version:grouped-convolution"]
    assert "required by 1 node (9)" in grouped.found, "a conversion to INT8 adds a QUANTIZE, so the node is 10 there"


def test_causes_that_appear_after_another_fix_come_last():
    findings = diagnosed((MODELS / "mobilenet_block.tflite").read_bytes(), "hexagon").findings
    assert [finding.appears_later for finding in findings] == [False, False, True]
    assert findings[-1].cause.codes == ("partition-minimum",), "the type refuses these nodes today"


def test_a_model_that_does_not_run_is_not_said_to_run_while_its_failing_node_stays():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    middle = layer_without_kernel(graph)
    shape, result = graph.tensor("shape", "INT32", [2], [2, 8]), graph.tensor("y", "FLOAT32", [2, 8])
    graph.node("BROADCAST_TO", [middle, shape], [result], version=2)
    first, second = diagnosed(builder, "mldrift").findings
    assert (first.cause.codes, first.alone.measures.outcome) == (("mldrift-build-batch",), TAKEN)
    assert (second.cause.name, second.alone.measures.outcome) == ("operator:BROADCAST_TO", FAILS_LATER)
    assert second.needs == (first.cause.identity,)


QUANTIZED, FLOAT = edge_tpu_model("RELU", "RELU"), chain_model(["ADD", "RELU"]).bytes()


@pytest.mark.parametrize(
    ("content", "change", "names"),
    [
        (QUANTIZED, Remedy(conversion="float"), ["edgetpu", "hexagon"]),
        (QUANTIZED, Remedy(op_versions={"RELU": 4}), ["edgetpu", "hexagon", "gpu"]),  # the model is no longer loaded
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
    cause = finding.cause._replace(remedy=Remedy(accepts=True))
    assert cause._replace(advice=Advice("change-type", (conversion_change("float"),))).advised == Remedy(conversion="float")
    assert cause._replace(advice=Advice("change-type", ())).advised == Remedy(accepts=True)

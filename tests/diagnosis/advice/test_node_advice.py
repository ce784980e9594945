"""The hints of an analysis are those of a diagnosis."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.node_advice import advise
from delegate_sim.diagnosis.examiner import Examiner
from delegate_sim.graph.effort import Effort
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from delegate_sim.results.report.placement import on_cpu
from tests.support.diagnoses import diagnosed, target
from tests.support.models import chain_model
from tests.support.type_conversions import convolutions, open_batch


def advice(builder, delegate="nnapi", **options):
    model = load(builder.bytes())
    return advise(Examiner(model, target(delegate, options), Effort(model)))


def test_of_an_open_batch_the_input_is_named():
    found = advice(open_batch())
    ((_, refusal),) = found.by_code.items()
    assert "fixed batch" in refusal.text
    assert refusal.text == diagnosed(open_batch()).findings[0].cause.change


@pytest.mark.parametrize(("builder", "delegate"), [(convolutions(), "hexagon"), (chain_model(["ADD", "ADD 4", "CEIL"]), "nnapi")])
def test_each_refused_node_has_the_change_of_its_cause(builder, delegate):
    found, diagnosis = advice(builder, delegate), diagnosed(builder, delegate)
    changes = {finding.cause.change.partition("; other delegates that take")[0] for finding in diagnosis.findings}
    for subgraph, index, reasons in on_cpu(diagnosis.run):
        key = NodeKey(subgraph.graph.index, index)
        told = {own.text for reason in reasons for own in found.by_reason[key, reason.code]}
        assert told
        assert told <= changes


def test_a_version_that_is_too_low_is_not_advised_to_be_lowered():
    from fixtures.suggestion_cases import EXAMPLES

    example = next(example for example in EXAMPLES if example.code == "raise-version")
    found = advice(example.before(), example.delegate)
    changes = {own.text for suggestions in found.by_reason.values() for own in suggestions}
    assert any("newer operator version" in change for change in changes)
    assert not any("older version" in change for change in changes)


def test_of_a_plugin_that_fails_the_option_is_named_that_it_fails_for():
    found = advice(open_batch(), "npu-google", soc="Tensor_X")
    ((_, refusal),) = found.by_code.items()
    assert refusal.text == (
        "--option soc=Tensor_G5 (4 of 5 nodes in 2 partitions to compile): choose a SoC that the plugin knows"
    )


def test_other_options_stay_as_they_are_where_one_is_tried():
    filters = 'filters { op_name_pattern: "no" }'
    diagnosis = diagnosed(chain_model(["RELU", "ABS"]), "npu-google", soc="Tensor_X", op_filters=filters)
    assert [finding.cause.name for finding in diagnosis.findings] == ["target-level:soc=Tensor_G5"]
    unreadable = diagnosed(chain_model(["RELU", "ABS"]), "npu-google", soc="Tensor_X", op_filters="none")
    [cause] = [finding.cause for finding in unreadable.findings if finding.cause.name == "target-level:npu-filter-file"]
    assert cause.title.startswith("RELU, ABS: ")

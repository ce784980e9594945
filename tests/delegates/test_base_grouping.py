"""Abilities of a delegate beyond choosing nodes: group them itself, inline some, and ask a stage behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.releases.wording import predicted_build
from delegate_sim.results.report.measures import PREDICTED, measure
from delegate_sim.results.report.placement import node_reasons
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import simulate_chain
from delegate_sim.runtime.target import Target
from fixtures.builder import ModelBuilder
from tests.support.delegates.grouping.delegate import GroupingDelegate
from tests.support.delegates.tiny.delegate import TinyDelegate
from tests.support.models import chain_model


def applied(*delegates, defaults="api"):
    return [
        Target(delegate, parse_options(delegate.name, delegate.options, options, "api"), NEWEST, defaults)
        for delegate, options in delegates
    ]


def run(builder, **options):
    model = delegate_sim.load(builder.bytes())
    (found,) = simulate_chain(model, applied((GroupingDelegate(), options), defaults="benchmark"))
    return model, found


def groups_of(found):
    return [(subset.is_delegated, subset.nodes) for subset in found.subgraphs[0].subsets]


def branches():
    """RELU, CEIL and RELU of one input: the runtime would put both RELU into one partition, runs of consecutive nodes do not."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "FLOAT32", (1, 4))
    results = [graph.tensor(f"t{number}", "FLOAT32", (1, 4)) for number in range(4)]
    for op, result in zip(("RELU", "CEIL", "RELU", "RELU"), results, strict=True):
        graph.node(op, (given,), (result,))
    graph.outputs(*results)
    return builder


def test_the_runtime_keeps_the_delegates_own_groups():
    _, found = run(branches())
    assert groups_of(found) == [(True, (0,)), (False, (1,)), (True, (2, 3))]
    assert "yielding 3 partitions" in found.log_lines[0]


def test_the_groups_stay_when_a_node_is_dropped():
    _, found = run(branches(), dropped=3)
    assert groups_of(found) == [(True, (0,)), (False, (1,)), (True, (2,)), (False, (3,))]


def test_a_limit_leaves_the_groups_as_they_are():
    _, found = run(branches(), max_delegated_partitions=1)
    assert groups_of(found) == [(False, (0,)), (False, (1,)), (True, (2, 3))]


def test_groups_of_other_nodes_than_those_to_replace_are_an_error():
    model = delegate_sim.load(branches().bytes())
    (target,) = applied((GroupingDelegate(), {}))
    decision = target.delegate.decide(file_graph(model), target.options)
    with pytest.raises(ValueError, match="must contain exactly the nodes"):
        replace(decision, nodes=(0,)).grouped()


def file_graph(model):
    from delegate_sim.graph.graph import file_graphs

    return file_graphs(model)[0]


def test_an_inlined_node_is_delegated_where_all_its_parts_are():
    model, found = run(chain_model(["RELU", "HARD_SWISH", "CEIL"]))
    assert groups_of(found) == [(True, (0, 1)), (False, (2,))]
    assert found.subgraphs[0].delegated == {0, 1}
    assert found.log_lines[0].startswith("Replacing 3 out of 4 node(s)")
    entry = Report(model, (found,)).to_dict()["runs"][0]["subgraphs"][0]
    assert [(node["supported"], node["delegated"]) for node in entry["nodes"]] == [(True, True), (True, True), (False, False)]
    assert entry["nodes_total"] == 3
    assert measure(found).delegated_nodes == 2


def test_an_inlined_node_of_which_a_part_stays_on_the_cpu_is_not_delegated():
    model, found = run(chain_model(["RELU", "HARD_SWISH", "RELU"]), refused_part=1)
    assert groups_of(found) == [(True, (0, 1)), (False, (1,)), (True, (2,))]
    assert found.subgraphs[0].delegated == {0, 2}
    assert measure(found).delegated_nodes == 2
    Report(model, (found,)).to_dict()


def test_reasons_against_a_part_are_told_of_the_node_that_it_stems_from():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "INT8", (1, 4), scale=0.5)
    result = graph.tensor("out", "INT8", (1, 4), scale=0.5)
    graph.node("HARD_SWISH", (given,), (result,))
    graph.outputs(result)
    _, found = run(builder)
    (reason,) = node_reasons(found.subgraphs[0], 0)
    assert reason.code == "grouping-tensor-type"


def test_a_later_delegate_sees_the_inlined_nodes():
    model = delegate_sim.load(chain_model(["CEIL", "HARD_SWISH", "RELU"]).bytes())
    targets = applied((GroupingDelegate(), {"refused_part": 0}), (find_delegate("nnapi"), {"disallow_nnapi_cpu": False}))
    first, second = simulate_chain(model, targets)
    assert first.subgraphs[0].delegated == {2}
    plan = second.subgraphs[0].graph
    assert [plan.nodes[index].op for index in plan.execution_plan] == ["CEIL", "RELU6", "GroupingDelegate"]
    report = Report(model, (first, second), is_chain=True).to_dict()
    assert [node["runs_on"] for node in report["placement"][0]["nodes"]] == ["cpu", "cpu", "grouping"]


def test_a_node_that_a_later_delegate_takes_in_parts_runs_there():
    model = delegate_sim.load(chain_model(["RELU", "RELU", "RELU", "CEIL", "HARD_SWISH"]).bytes())
    nnapi = (find_delegate("nnapi"), {"feature_level": 31, "disallow_nnapi_cpu": False})
    runs = simulate_chain(model, applied((GroupingDelegate(), {"max_delegated_partitions": 1}), nnapi))
    assert node_reasons(runs[0].subgraphs[0], 4)[0].code == "partition-limit"
    places = Report(model, runs, is_chain=True).to_dict()["placement"][0]["nodes"]
    assert [node["runs_on"] for node in places] == ["grouping", "grouping", "grouping", "cpu", "nnapi"]


def test_the_stage_behind_undoes_the_delegation():
    model, found = run(chain_model(["RELU", "CEIL", "HARD_SWISH"]), kernels=1)
    assert found.outcome == "restored"
    assert found.refusal.node == 2, "the node of the file, not the one that was added"
    assert not found.subgraphs[0].delegated
    assert "Node number 6 (GroupingDelegate) failed to prepare." in found.log_lines, "the kernels follow two parts and 3 nodes"
    Report(model, (found,)).to_dict()


def test_what_the_stage_behind_of_another_build_refuses_is_marked_as_predicted():
    chain = chain_model(["RELU", "CEIL", "HARD_SWISH"])
    _, found = run(chain, kernels=1, knows_build=False)
    assert found.outcome == "delegated"
    assert found.refusal.message.endswith(f"; {predicted_build(NEWEST)}")
    assert found.refusal.is_predicted
    assert any(str(predicted_build(NEWEST)) in warning for warning in found.warnings)
    _, known = run(chain, kernels=1)
    assert known.outcome == "restored"
    assert not known.refusal.is_predicted
    assert not any(str(predicted_build(NEWEST)) in warning for warning in known.warnings)


def test_what_is_predicted_of_a_delegate_stays_when_a_later_delegate_fails():
    model = delegate_sim.load(chain_model(["RELU", "CEIL", "HARD_SWISH"]).bytes())
    predicted, failing = {"kernels": 1, "knows_build": False}, {"kernels": 1}
    first, second = simulate_chain(model, applied((GroupingDelegate(), predicted), (GroupingDelegate(), failing)))
    assert (measure(first).outcome, first.refusal.is_predicted) == (PREDICTED, True)
    assert (second.outcome, second.refusal.is_predicted) == ("restored", False)


@pytest.mark.parametrize(("defaults", "names"), [("api", ["grouping", "xnnpack"]), ("benchmark", ["grouping"])])
def test_benchmark_model_ends_after_a_predicted_failure(defaults, names):
    model = delegate_sim.load(chain_model(["RELU", "CEIL", "HARD_SWISH"]).bytes())
    predicted = GroupingDelegate(), {"kernels": 1, "knows_build": False}
    runs = simulate_chain(model, applied(predicted, defaults=defaults), lambda: applied((find_delegate("xnnpack"), {}))[0])
    assert [run.delegate.name for run in runs] == names


def test_a_delegate_without_a_stage_behind_it_is_never_refused_there():
    model = delegate_sim.load(chain_model(["RELU"]).bytes())
    (target,) = applied((TinyDelegate(), {}))
    decision = target.delegate.decide(file_graph(model), target.options)
    assert target.delegate.behind.refusal(decision, decision.preview, target.options) is None

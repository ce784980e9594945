"""LiteRT around the plugins: what it inlines, how it groups, its limit, its loader, and its lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.delegates.npu.loader import load
from delegate_sim.delegates.npu.loader_facts import file_facts
from delegate_sim.model.model import Sparsity
from delegate_sim.releases.catalogue import NEWEST, parse_release
from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import SHAPE, attributes, chain, run, selected, with_composites


def lines(entry):
    return [line for line in entry["log_lines"] if not line.startswith(("op type", "unsupported"))]


def groups(entry, subgraph=0):
    return [[tuple(place) for place in group] for group in entry["subgraphs"][subgraph]["groups"]]


def test_groups_are_runs_of_consecutive_nodes():
    entry = run(chain(["RELU", "RELU", "SHAPE", "RELU"]), "npu-google")
    assert groups(entry) == [[(0, 0), (0, 1)], [(0, 3)]]
    assert lines(entry) == [
        "Partition strategy: 0",
        "Partitioned subgraph<0>, selected 3 ops, from a total of 4 ops. resulted in 2 partitions.",
    ]


def branches():
    """Two branches of one input, told apart by a node that no plugin but one takes; both end in a sum."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "FLOAT32", SHAPE)
    names = [graph.tensor(f"t{number}", "FLOAT32", SHAPE) for number in range(4)]
    graph.node("RELU", (given,), (names[0],))
    graph.node("SHAPE", (given,), (names[1],))
    graph.node("TANH", (given,), (names[2],))
    graph.node("ADD", (names[0], names[2]), (names[3],))
    graph.outputs(names[1], names[3])
    return builder


def test_what_is_connected_is_grouped_across_other_nodes():
    assert groups(run(branches(), "npu-google")) == [[(0, 0)], [(0, 2), (0, 3)]]
    entry = run(branches(), "npu-google", partition_strategy="weakly_connected")
    assert groups(entry) == [[(0, 0), (0, 2), (0, 3)]]
    assert lines(entry)[0] == "Partition strategy: 1"
    assert run(branches(), "npu-google", partition_strategy=1)["options"]["partition_strategy"] == "weakly_connected"


def test_nodes_that_only_share_an_input_are_not_connected():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "FLOAT32", SHAPE)
    results = [graph.tensor(f"t{number}", "FLOAT32", SHAPE) for number in range(2)]
    for result in results:
        graph.node("RELU", (given,), (result,))
    graph.outputs(*results)
    assert groups(run(builder, "npu-google")) == [[(0, 0), (0, 1)]]
    assert groups(run(builder, "npu-google", partition_strategy="weakly_connected")) == [[(0, 0)], [(0, 1)]]


def test_groups_that_wait_for_each_other():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "FLOAT32", SHAPE)
    first, shape, last = [graph.tensor(f"t{number}", "FLOAT32", SHAPE) for number in range(3)]
    graph.node("RELU", (given,), (first,))
    graph.node("SHAPE", (first,), (shape,))
    graph.node("ADD", (first, shape), (last,))
    graph.outputs(last)
    entry = run(builder, "npu-google", partition_strategy="weakly_connected")
    assert groups(entry) == [[(0, 0), (0, 2)]]
    assert "Failed to topologically sort subgraph after slicing!" in entry["log_lines"]
    assert any("circle" in warning for warning in entry["warnings"])


def test_more_partitions_than_allowed_are_an_error():
    builder = chain(["RELU", "SHAPE", "RELU"])
    entry = run(builder, "npu-google", max_partitions=1)
    assert (entry["outcome"], entry["refusal"]["stage"]) == ("refused", "partition")
    assert lines(entry)[-1] == "Partitioning yielded 2 NPU islands, which exceeds the maximum allowed (1)."
    assert not selected(entry)
    assert run(builder, "npu-google", max_partitions=2)["outcome"] == "delegated"
    assert run(builder, "npu-google", max_partitions=1, release="litert-2.1.5")["outcome"] == "delegated"


def several():
    builder = chain(["RELU", "RELU"])
    for name in ("second", "third"):
        graph = builder.subgraph(name)
        given, result = graph.input("in", "FLOAT32", SHAPE), graph.tensor("out", "FLOAT32", SHAPE)
        graph.node("TANH", (given,), (result,))
        graph.outputs(result)
    return builder


def test_only_chosen_subgraphs_are_asked_about():
    entry = run(several(), "npu-google", subgraphs="2,0")
    assert [selected(entry, index) for index in range(3)] == [[0, 1], [], [0]]
    assert next(line for line in lines(entry) if "subgraph<" in line).startswith("Partitioned subgraph<0>")
    assert lines(run(several(), "npu-google", subgraphs="99")) == []
    assert run(several(), "npu-google", subgraphs=99)["outcome"] == "none"


def test_an_empty_subgraph():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("in", "FLOAT32", SHAPE))
    assert lines(run(builder, "npu-google")) == [
        "Partition strategy: 0",
        "Found empty subgraph, skipping partitioning",
        "Partitioned subgraph<0>, selected 0 ops, from a total of 0 ops. resulted in 0 partitions.",
    ]


# Composites


def test_a_composite_that_is_not_taken_is_inlined_and_its_nodes_are_judged():
    entry = run(with_composites(["RELU", ("other", 1, b""), "RELU"], [["TANH", "SHAPE"]]), "npu-google")
    assert groups(entry) == [[(0, 0), (1, 0)], [(0, 2)]]
    assert lines(entry) == [
        "Inlined 1 composite ops into subgraph<0>",
        "Partition strategy: 0",
        "Partitioned subgraph<0>, selected 3 ops, from a total of 4 ops. resulted in 2 partitions.",
    ]
    assert selected(entry) == [0, 2], "a part of the composite stays on the CPU"
    assert selected(entry, 1) == [0]
    assert entry["subgraphs"][1]["nodes"][1]["reasons"][0]["code"] == "npu-google-unsupported-operator"


def test_only_one_level_is_inlined():
    entry = run(with_composites([("outer", 1, b"")], [["TANH", ("inner", 2)], ["TANH"]]), "npu-google")
    assert groups(entry) == [[(1, 0)]]
    assert selected(entry, 2) == []


def test_a_composite_that_is_taken_keeps_its_body():
    entry = run(with_composites([("odml.rms_norm", 1, b"")], [["SHAPE"]]), "npu-google")
    assert groups(entry) == [[(0, 0)]]
    assert selected(entry, 1) == [0], "its nodes run as part of it"
    assert "groups" not in entry["subgraphs"][1]


def test_a_call_to_the_npu_is_a_partition_of_its_own():
    entry = run(with_composites(["SHAPE", ("odml.npu_call", 1, b"")], [["SHAPE"]]), "npu-google")
    assert groups(entry) == []
    assert selected(entry) == [1]
    assert lines(entry)[-1].endswith("selected 0 ops, from a total of 2 ops. resulted in 0 partitions.")
    assert groups(run(with_composites([("odml.npu_call", 1, b"")], [["RELU"]]), "npu-samsung")) == [[(0, 0)]]


def test_a_call_to_the_cpu_stays_there():
    builder = with_composites(["RELU", ("odml.cpu_call", 1, b""), "RELU"], [["RELU"]])
    for name in ("npu-google", "npu-samsung"):
        entry = run(builder, name)
        assert groups(entry) == [[(0, 0)], [(0, 2)]]
        assert entry["subgraphs"][0]["nodes"][1]["reasons"][0]["code"] == f"{name}-cpu-call"
    assert groups(run(builder, "npu-mediatek", release="litert-2.1.3")) == [[(0, 0), (1, 0), (0, 2)]]


def test_a_composite_with_attributes_that_are_no_map_is_an_ordinary_node():
    builder = with_composites(["RELU", ("other", 1, b"\x01\x02\x03")], [["RELU"]])
    entry = run(builder, "npu-intel")
    assert groups(entry) == [[(0, 0)]]
    assert groups(entry, 1) == [[(1, 0)]], "its body is an ordinary subgraph"
    assert groups(run(builder, "npu-intel", release="litert-2.1.5")) == [[(0, 0), (1, 0)]]
    assert groups(run(with_composites([("other", 1, attributes(a=1))], [["RELU"]]), "npu-intel")) == [[(1, 0)]]


def test_a_body_of_another_type_is_not_inlined():
    entry = run(with_composites([("other", 1, b"")], [["RELU"]], kinds=("FLOAT32", "INT32")), "npu-intel")
    assert groups(entry) == []
    assert lines(entry)[:2] == [
        "Tensors of destination op and source subgraph does not have the same element type.",
        "Inlined 1 composite ops into subgraph<0>",
    ]


# The loader


def refused(builder, **options):
    entry = run(builder, "npu-samsung", **options)
    assert (entry["outcome"], entry["refusal"]["stage"]) == ("refused", "load")
    return entry["refusal"]["code"], entry["log_lines"][-1]


def test_variable_tensors_are_refused():
    assert refused(chain(["RELU"], variable=True)) == ("litert-variable-tensor", "Variable tensors not yet supported.")


@pytest.mark.parametrize(("kind", "number"), [("VARIANT", 14), ("COMPLEX128", 11)])
def test_types_that_no_release_loads(kind, number):
    assert refused(chain(["RELU"], kind)) == ("litert-element-type", f"Element type ({number}) not currently supported")


@pytest.mark.parametrize(("kind", "since"), [("STRING", "litert-2.1.5"), ("RESOURCE", "litert-2.1.5"), ("UINT4", "litert-2.2.0")])
def test_types_that_came_with_a_release(kind, since):
    model = delegate_sim.load(chain(["RELU"], kind).bytes())
    facts = file_facts(model)
    assert load(model, facts, parse_release(since)).failure is None
    assert load(model, facts, parse_release("litert-2.1.3")).failure.code == "litert-element-type"


def test_too_many_dimensions():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1] * 9), graph.tensor("y", "FLOAT32", [1])
    graph.node("ABS", [source], [result])
    graph.outputs(result)
    assert refused(builder) == ("litert-tensor-rank", "Tensor rank (9) exceeds max rank (8)")
    assert run(builder, "npu-samsung", release="litert-2.2.0")["outcome"] == "delegated"


def test_scales_without_as_many_zero_points():
    model = delegate_sim.load(chain(["RELU"]).bytes())
    facts = replace(file_facts(model), invalid_channels=frozenset({(0, 1)}))
    failure = load(model, facts, NEWEST).failure
    assert (failure.code, failure.tensor) == ("litert-channel-quantization", 1)


def test_intermediate_tensors_are_refused():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", SHAPE), graph.tensor("y", "FLOAT32", SHAPE)
    graph.node("RELU", [source], [result], intermediates=[result])
    graph.outputs(result)
    assert refused(builder) == ("litert-intermediate-tensor", "Intermediate tensors not yet supported.")


def test_what_only_the_file_has_is_refused():
    model = delegate_sim.load(chain(["RELU"]).bytes())
    facts = file_facts(model)
    assert not facts.variants
    assert not facts.mutating
    assert load(model, replace(facts, variants=frozenset({(0, 0)})), NEWEST).failure.code == "litert-variant-tensor"
    assert load(model, replace(facts, mutating=frozenset({(0, 0)})), NEWEST).failure.code == "litert-mutating-input"


def test_a_result_that_is_left_out():
    model = delegate_sim.load(chain(["RELU"]).bytes())
    (subgraph,) = model.subgraphs
    broken = replace(subgraph, nodes=(subgraph.nodes[0]._replace(outputs=(-1,)),))
    other = replace(model, subgraphs=(broken,))
    assert load(other, file_facts(model), NEWEST).failure.code == "litert-missing-tensor"


def test_sparse_tensors_are_only_warned_about():
    model = delegate_sim.load(chain(["RELU"]).bytes())
    (subgraph,) = model.subgraphs
    sparse = subgraph.tensors[0]._replace(sparsity=Sparsity((), (), ()))
    other = replace(model, subgraphs=(replace(subgraph, tensors=(sparse, *subgraph.tensors[1:])),))
    assert load(other, file_facts(model), NEWEST).lines == ("Sparsity tensors may not yet be fully supported.",)


# Diagnosis


def test_what_keeps_the_whole_model_off_the_npu_is_one_cause():
    diagnosis = delegate_sim.diagnose(chain(["RELU", "SHAPE"], variable=True).bytes(), "npu-google")
    assert [finding.cause.name for finding in diagnosis.findings] == ["model:litert-variable-tensor", "operator:SHAPE"]
    assert diagnosis.without_all.measures.delegated_nodes == 2


def test_options_that_end_a_refusal_are_tried():
    options = {"soc": "mt1", "max_partitions": 1}
    diagnosis = delegate_sim.diagnose(chain(["RELU", "SHAPE", "RELU"]).bytes(), "npu-mediatek", options)
    names = {finding.cause.name for finding in diagnosis.findings}
    assert names == {"limit:max_partitions=0", "target-level:soc=mt6991", "operator:SHAPE"}
    assert diagnosis.without_all.measures.delegated_nodes == 3


def test_what_if_a_node_were_selected():
    comparison = delegate_sim.whatif(chain(["RELU", "SHAPE", "RELU"]).bytes(), "npu-google", accept=["SHAPE"])
    assert comparison.b.run.subgraphs[0].delegated == {0, 1, 2}


# Crashes of LiteRT


def crash_warned(builder):
    return any("will crash" in warning for warning in run(builder, "npu-mediatek")["warnings"])


def test_two_composites_with_one_body_crash():
    assert crash_warned(with_composites([("odml.rms_norm", 1, b""), ("other", 1, b"")], [["RELU"]]))
    assert not crash_warned(with_composites([("odml.rms_norm", 1, b""), ("other", 2, b"")], [["RELU"], ["RELU"]]))


def test_a_result_of_an_inlined_body_that_nobody_reads_crashes():
    def unread(name):
        builder = with_composites([(name, 1, b"")], [["RELU"]])
        body = builder._subgraphs[1]
        body.node("TANH", (0,), (body.tensor("unread", "FLOAT32", SHAPE),))
        return builder

    assert crash_warned(unread("other"))
    assert not crash_warned(unread("odml.rms_norm"))

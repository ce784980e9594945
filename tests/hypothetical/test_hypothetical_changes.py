from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim import OptionError, load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, changed_model, combined, simulate_if
from delegate_sim.releases.catalogue import NEWEST, parse_release
from delegate_sim.results.report.measures import measure
from delegate_sim.runtime.target import Target
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.gate_models import classifier, reshaper
from tests.support.models import MIXED, chain_model

OPS = ("ADD", "RELU", "GELU", "ROUND", "TANH", "ADD 4")


def run_if(builder, hypothetical, delegate="nnapi", release=NEWEST, **options):
    found = find_delegate(delegate)
    values = parse_options(delegate, found.options, options, "benchmark")
    return simulate_if(load(builder.bytes()), Target(found, values, release, defaults="benchmark"), hypothetical)


def counts(run):
    measures = measure(run)
    return measures.delegated_nodes, measures.partitions


def test_operators_and_nodes_that_are_accepted():
    assert counts(run_if(chain_model(MIXED), HypotheticalChanges())) == (2, 3)
    assert counts(run_if(chain_model(MIXED), HypotheticalChanges(accepted_ops=frozenset({"ROUND"})))) == (3, 3)
    both = HypotheticalChanges(frozenset({"ROUND"}), frozenset({NodeKey(0, 2)}))
    assert counts(run_if(chain_model(MIXED), both)) == (4, 1)


def test_an_accepted_node_hides_no_failure_of_other_nodes_of_its_partition():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    source = layers.input("FLOAT32", 2)
    rounded = layers.node("ROUND", [source])
    layers.node("SELECT_V2", [layers.constant("BOOL", [True, False]), source, rounded], "FLOAT32", (2,))
    layers.finish()
    run = run_if(builder, HypotheticalChanges(accepted_ops=frozenset({"ROUND"})), "gpu")
    assert run.refusal is not None
    assert (run.refusal.code, run.refusal.node) == ("gpu-build-constant-operand", 1)


def test_versions():
    assert counts(run_if(chain_model(MIXED), HypotheticalChanges(op_versions={"ADD": 2}))) == (3, 3)
    assert counts(run_if(chain_model(MIXED), HypotheticalChanges(node_versions={NodeKey(0, 0): 4}))) == (1, 2)
    assert counts(run_if(chain_model(MIXED), HypotheticalChanges(op_versions={"ADD": 4}, node_versions={NodeKey(0, 3): 1}))) == (
        1,
        2,
    )


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
@given(ops=st.lists(st.sampled_from(OPS), min_size=1, max_size=8))
def test_what_accepts_everything_leaves_one_partition(delegate, ops):
    model = chain_model(ops)
    everything = HypotheticalChanges(accepted_nodes=frozenset(NodeKey(0, index) for index in range(len(ops))))
    run = run_if(model, everything, delegate)
    if delegate == "edgetpu":  # it makes one call for each node
        assert counts(run)[0] == len(ops)
        return
    # A limit on the least number of nodes still holds.
    assert counts(run) == (len(ops), 1) or (delegate in ("coreml", "hexagon") and len(ops) < 2)


@given(st.lists(st.sampled_from(OPS), min_size=1, max_size=8), st.sampled_from(DELEGATE_NAMES))
def test_nothing_assumed_changes_nothing(ops, delegate):
    model = load(chain_model(ops).bytes())
    assert changed_model(model, HypotheticalChanges()) is model


def test_the_batch():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])
    result = graph.tensor("y", "FLOAT32", [1, 4], signature=[-1, 4])
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    run = run_if(builder, HypotheticalChanges(batch=8))
    assert run.subgraphs[0].graph.tensors[result].shape == (8, 4)
    # Delegates that see the file as it is see the shapes that a converter would write.
    changed = changed_model(load(builder.bytes()), HypotheticalChanges(batch=8)).subgraphs[0]
    assert [(tensor.shape, tensor.shape_signature) for tensor in changed.tensors] == [((8, 4), None), ((8, 4), None)]
    assert changed.tensors[source].shape == (8, 4)


@pytest.mark.parametrize("op", ["RELU", "SLICE"])
def test_sizes_behind_an_operator_are_known(op):
    """SLICE leaves its result open if the operand's shape in the file is open."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.node("NEG", (layers.input("FLOAT32", 1, 4, signature=(-1, 4)),), signature=(-1, 4))
    begin, size = (layers.constant("INT32", values) for values in ([0, 0], [-1, 4]))
    taken = layers.node(op, (x, begin, size) if op == "SLICE" else (x,), signature=(-1, 4))
    layers.node("SHAPE", (taken,), "INT32", (2,), options={"out_type": 2})
    layers.node("ABS", (taken,), signature=(-1, 4))
    layers.finish()
    changed = changed_model(load(builder.bytes()), HypotheticalChanges(batch=8)).subgraphs[0]
    assert [node.op for node in changed.nodes] == ["NEG", op, "ABS"]
    assert changed.tensors[changed.nodes[-1].outputs[0]].shape == (8, 4)


def test_the_batch_is_that_of_the_first_subgraph():
    builder = ModelBuilder()
    for name in ("main", "other"):
        graph = builder.subgraph(name)
        source = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])
        result = graph.tensor("y", "FLOAT32", [1, 4], signature=[-1, 4])
        graph.node("RELU", [source], [result])
        graph.outputs(result)
    changed = changed_model(load(builder.bytes()), HypotheticalChanges(batch=8))
    assert [subgraph.tensors[0].shape for subgraph in changed.subgraphs] == [(8, 4), (1, 4)]


def test_the_batch_is_that_of_every_input():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.tensor("constant", "FLOAT32", [1], data=[1.0])
    operands = graph.input("open", "FLOAT32", [1, 4], signature=[-1, 4]), graph.input("known", "FLOAT32", [1, 4])
    result = graph.tensor("y", "FLOAT32", [1, 4], signature=[-1, 4])
    graph.node("ADD", operands, [result], options={})
    graph.outputs(result)
    (subgraph,) = changed_model(load(builder.bytes()), HypotheticalChanges(batch=8)).subgraphs
    assert [subgraph.tensors[index].shape for index in (*operands, result)] == [(8, 4)] * 3


def joined(op, options=None):
    """Inputs of equal shape, each behind a node, and a node that reads both."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x, y = (layers.node("RELU", [layers.input("FLOAT32", 1, 2, 2, 3)]) for _ in range(2))
    layers.node(op, [x, y], shape=(1, 2, 2, 6) if op == "CONCATENATION" else None, options=options)
    layers.finish()
    return builder


def flattened(*shape):
    """A RESHAPE to a constant shape."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    source = layers.node("RELU", [layers.input("FLOAT32", 1, 2, 2, 3)])
    layers.node("RESHAPE", [source, layers.constant("INT32", shape)], shape=(1, 12))
    layers.finish()
    return builder


def weighted(op, source, weights, result, **options):
    """An operator with weights behind a node."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    operands = layers.node("RELU", [layers.input("FLOAT32", *source)]), layers.weights("FLOAT32", *weights)
    version = 5 if options.get("keep_num_dims") else 1
    bias = () if op == "BATCH_MATMUL" else (layers.weights("FLOAT32", weights[0]),)
    layers.node(op, [*operands, *bias], shape=result, options=options, version=version)
    layers.finish()
    return builder


def upsampled():
    """An ADD of the input and of a TRANSPOSE_CONV, whose constant size XNNPACK does not read."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    source = layers.input("FLOAT32", 1, 4, 4, 3)
    half = layers.node("MAX_POOL_2D", [source], shape=(1, 2, 2, 3), options={**STRIDES, "filter_width": 2, "filter_height": 2})
    operands = layers.constant("INT32", [1, 4, 4, 3]), layers.weights("FLOAT32", 3, 2, 2, 3), half
    layers.node("ADD", [source, layers.node("TRANSPOSE_CONV", operands, "FLOAT32", (1, 4, 4, 3), options=STRIDES)])
    layers.finish()
    return builder


STRIDES = {"stride_w": 2, "stride_h": 2}
CONVOLVED = weighted("CONV_2D", (1, 4, 4, 4), (4, 1, 1, 4), (1, 4, 4, 4), stride_w=1, stride_h=1)
ROWS = weighted("FULLY_CONNECTED", (1, 8), (4, 8), (1, 4))
KEPT_ROWS = weighted("FULLY_CONNECTED", (1, 2, 8), (4, 8), (1, 2, 4), keep_num_dims=True)
PRODUCT = weighted("BATCH_MATMUL", (1, 4, 8), (1, 8, 3), (1, 4, 3))
LARGER, SHAPES = (1, 4, 4, 3), "xnnpack-kernel-operand-shapes"


@pytest.mark.parametrize(
    ("builder", "size", "release", "code"),
    [
        *((joined(op), LARGER, "litert-1.1.2", SHAPES) for op in ("ADD", "DIV", "MAXIMUM", "SQUARED_DIFFERENCE")),
        (joined("MUL"), (1, 1, 1, 3), "litert-2.3", None),
        (joined("CONCATENATION", {"axis": 3}), LARGER, "litert-2.1.5", None),
        (joined("CONCATENATION", {"axis": 3}), LARGER, "litert-2.1.6", SHAPES),
        (joined("CONCATENATION", {"axis": -1}), (1, 2, 2, 5), "litert-2.3", None),
        (flattened(1, 12), LARGER, "litert-2.3", "xnnpack-kernel-reshape"),
        (flattened(-1, 12), (1, 2, 3, 3), "litert-2.3", "xnnpack-kernel-reshape"),
        (flattened(-1, 12), LARGER, "litert-2.3", None),
        (CONVOLVED, (1, 4, 4, 6), "litert-2.1.6", None),
        (CONVOLVED, (1, 4, 4, 6), "litert-2.2.0", SHAPES),
        (CONVOLVED, (1, 5, 5, 4), "litert-2.2.0", None),
        (ROWS, (1, 12), "litert-1.3.0", None),
        (ROWS, (1, 12), "litert-1.4.0", SHAPES),
        (ROWS, (1, 16), "litert-2.3", None),
        (KEPT_ROWS, (1, 1, 16), "litert-2.1.6", None),
        (KEPT_ROWS, (1, 1, 16), "litert-2.2.0", SHAPES),
        (PRODUCT, (1, 4, 6), "litert-1.1.2", SHAPES),
        (PRODUCT, (2, 4, 8), "litert-2.3", None),
        (upsampled(), (1, 8, 8, 3), "litert-2.3", None),
    ],
)
def test_inputs_that_the_application_resizes(builder, size, release, code):
    """``ai-edge-litert`` of these releases does the same after resize_tensor_input."""
    change = HypotheticalChanges(resized={"float32_input_0": size})
    refusal = run_if(builder, change, "xnnpack", release=parse_release(release)).refusal
    assert (refusal and refusal.code) == code


def test_a_cpu_kernel_refuses_a_resized_input():
    refusal = run_if(flattened(1, 12), HypotheticalChanges(resized={"float32_input_0": LARGER}), "gpu").refusal
    assert (refusal.code, refusal.node) == ("cpu-kernel-not-prepared", 1)


def test_a_resized_input_keeps_the_nodes_that_compute_shapes():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    source = layers.input("FLOAT32", 1, 2, signature=(-1, 2))
    layers.node("SHAPE", [source], "INT32", (2,), options={"out_type": 2})
    layers.finish()
    (subgraph,) = changed_model(load(builder.bytes()), HypotheticalChanges(resized={"float32_input_0": (8, 2)})).subgraphs
    assert [node.op for node in subgraph.nodes] == ["SHAPE"]
    assert (subgraph.tensors[source].shape, subgraph.tensors[source].shape_signature) == ((8, 2), (-1, 2))


def test_fixed_shapes():
    dynamic = reshaper(is_dynamic=True)
    assert run_if(dynamic, HypotheticalChanges()).outcome == "refused"
    assert run_if(dynamic, HypotheticalChanges(fixed_shapes=True)).outcome == "delegated"
    assert counts(run_if(reshaper(), HypotheticalChanges(fixed_shapes=True))) == counts(run_if(reshaper(), HypotheticalChanges()))


def test_an_accepted_node_is_not_asked_of_the_driver():
    rejected = {"driver_rejects": ("FULLY_CONNECTED",)}
    assert counts(run_if(classifier(), HypotheticalChanges(), **rejected)) == (3, 2)
    assert counts(run_if(classifier(), HypotheticalChanges(accepted_ops=frozenset({"FULLY_CONNECTED"})), **rejected)) == (4, 1)


@pytest.mark.parametrize(
    ("hypothetical", "fault"),
    [
        (HypotheticalChanges(accepted_ops=frozenset({"MEAN"})), "the model has no node of MEAN; its operators are ADD, ROUND"),
        (HypotheticalChanges(op_versions={"MEAN": 1}), "the model has no node of MEAN; its operators are ADD, ROUND"),
        (HypotheticalChanges(accepted_nodes=frozenset({NodeKey(0, 4)})), "the model has no node 4 in subgraph 0"),
        (HypotheticalChanges(node_versions={NodeKey(1, 0): 2}), "the model has no node 0 in subgraph 1"),
        (HypotheticalChanges(accepted_nodes=frozenset({NodeKey(0, -1)})), "the model has no node -1 in subgraph 0"),
        (HypotheticalChanges(accepted_nodes=frozenset({NodeKey(-1, 0)})), "the model has no node 0 in subgraph -1"),
        (HypotheticalChanges(batch=0), "the batch must be at least 1, not 0"),
        (HypotheticalChanges(resized={"y": (1,)}), "the model has no input 'y'"),
    ],
)
def test_hypotheticals_about_what_is_not_there(hypothetical, fault):
    with pytest.raises(OptionError, match=fault):
        run_if(chain_model(MIXED), hypothetical)


def test_combined_changes_have_all_nodes_and_options_and_the_first_conversion():
    first, second = NodeKey(0, 0), NodeKey(0, 1)
    one = HypotheticalChanges(accepted_nodes=frozenset({first}), node_versions={first: 1}, options={"a": 1}, conversion="int8")
    other = HypotheticalChanges(
        accepted_nodes=frozenset({second}), node_versions={first: 2, second: 3}, options={"b": 2}, conversion="float", batch=4
    )
    assert combined(one, other) == HypotheticalChanges(
        accepted_nodes=frozenset({first, second}),
        node_versions={first: 2, second: 3},
        options={"a": 1, "b": 2},
        conversion="int8",
        batch=4,
    )
    assert combined(one) == one


def test_options_replace_those_of_the_target():
    assert counts(run_if(classifier(), HypotheticalChanges(options={"driver_rejects": ("FULLY_CONNECTED",)}))) == (3, 2)

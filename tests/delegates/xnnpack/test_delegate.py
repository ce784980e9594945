"""Decisions of the delegate about several nodes together, and its options."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.xnnpack.delegate import OPTIONS, XnnpackDelegate
from delegate_sim.delegates.xnnpack.rules import RULES
from delegate_sim.delegates.xnnpack.target import FLAGS, Visit
from delegate_sim.errors import OptionError
from delegate_sim.graph.graph import file_graph
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import parse_release
from tests.support.delegates.xnnpack_rule_cases import NEIGHBOR, OPERATOR
from tests.support.delegates.xnnpack_sketch import SPARSITY, Sketch, codes, delegated


def fully_connected(weights_type="FLOAT16", bias_type="FLOAT16"):
    """FULLY_CONNECTED with weights and bias behind DEQUANTIZE, or directly if FLOAT32."""
    sketch = Sketch()
    source = sketch.input()
    operands = []
    for type, shape in ((weights_type, (2, 2)), (bias_type, (2,))):
        made = sketch.constant(type, shape)
        operands.append(made if type == "FLOAT32" else sketch.node("DEQUANTIZE", [made], shape=shape))
    result = sketch.node("FULLY_CONNECTED", [source, *operands], options={})
    return sketch, operands, result


# Nodes that make tensors from constants alone


@pytest.mark.parametrize("bias_type", ["FLOAT16", "FLOAT32"])
def test_dequantize_of_float16_weights_goes_with_its_reader(bias_type):
    sketch, _, result = fully_connected(bias_type=bias_type)
    run = sketch.run(result)
    assert set(codes(run)) == {None}
    assert run["warnings"] == []


def test_dequantize_of_float16_bias_of_float32_weights_is_refused_with_its_reader():
    sketch, _, result = fully_connected(weights_type="FLOAT32")
    assert codes(sketch.run(result)) == [NEIGHBOR, "xnnpack-hybrid"]


def test_dequantize_that_another_operator_reads_too_is_not_elided():
    sketch, (weights, _), result = fully_connected(bias_type="FLOAT32")
    doubled = sketch.node("ADD", [weights, weights], options={})
    assert codes(sketch.run(result, doubled)) == [None, None, None]


def test_dequantize_is_left_to_the_cpu_with_a_refused_reader():
    sketch, (weights, _), result = fully_connected(bias_type="FLOAT32")
    power = sketch.node("POW", [weights, weights], options={})
    run = sketch.run(result, power)
    assert codes(run) == [NEIGHBOR, None, OPERATOR]
    assert delegated(run) == [1]
    assert "POW" in run["subgraphs"][0]["nodes"][0]["reasons"][0]["found"]


def test_dequantize_of_constant_int8_needs_no_flag():
    sketch = Sketch()
    made = sketch.node("DEQUANTIZE", [sketch.constant("INT8", scale=0.5)])
    result = sketch.node("ADD", [sketch.input(), made], options={})
    assert codes(sketch.run(result, flags=0)) == [None, None]


def test_densify_and_dequantize_of_sparse_weights():
    sketch = Sketch()
    sparse = sketch.constant("FLOAT16", sparsity=SPARSITY)
    dense = sketch.node("DENSIFY", [sparse], "FLOAT16")
    weights = sketch.node("DEQUANTIZE", [dense])
    result = sketch.node("FULLY_CONNECTED", [sketch.input(), weights], options={})
    assert codes(sketch.run(result)) == [None, None, None]


def test_densify_of_anything_else_is_refused():
    sketch = Sketch()
    result = sketch.node("DENSIFY", [sketch.constant("FLOAT32")])
    assert codes(sketch.run(result)) == ["xnnpack-constant-operand"]


# Variables


def variable(*accesses):
    """A handle and nodes that assign (the type and shape of a value) or read (of a result)."""
    sketch = Sketch()
    handle = sketch.node("VAR_HANDLE", [], "RESOURCE", (), options={"container": "", "shared_name": "state"})
    outputs = []
    for op, type, shape in accesses:
        if op == "ASSIGN_VARIABLE":
            value = sketch.input(type, shape)
            sketch.graph.node(op, [handle, value], [], options={})
        else:
            outputs.append(sketch.node(op, [handle], type, shape, options={}))
    return codes(sketch.run(*outputs))


def test_a_variable_is_taken_with_its_handle():
    assert variable(("READ_VARIABLE", "FLOAT32", (2,)), ("ASSIGN_VARIABLE", "FLOAT32", (2,))) == [None, None, None]


def test_a_handle_without_accepted_nodes_is_refused():
    assert variable(("READ_VARIABLE", "INT32", (2,))) == [NEIGHBOR, "xnnpack-tensor-type"]


@pytest.mark.parametrize(("type", "shape"), [("FLOAT16", (2,)), ("FLOAT32", (1, 2))])
def test_a_variable_has_one_type_and_shape(type, shape):
    assert variable(("READ_VARIABLE", "FLOAT32", (2,)), ("ASSIGN_VARIABLE", type, shape)) == [None, None, NEIGHBOR]


def test_a_read_scalar_is_refused():
    assert variable(("READ_VARIABLE", "FLOAT32", ()), ("ASSIGN_VARIABLE", "FLOAT32", (2,))) == [None, "xnnpack-rank", None]


def test_a_handle_comes_before_its_nodes():
    sketch = Sketch()
    resource = sketch.graph.tensor("resource", "RESOURCE", ())
    result = sketch.node("READ_VARIABLE", [resource], options={})
    sketch.graph.node("VAR_HANDLE", [], [resource], options={"container": "", "shared_name": "state"})
    assert codes(sketch.run(result)) == [NEIGHBOR, NEIGHBOR]


def test_rules_only_read_what_the_visit_found():
    graph = Sketch()
    handle = graph.node("VAR_HANDLE", [], "RESOURCE", (), options={"container": "", "shared_name": "state"})
    graph.node("READ_VARIABLE", [handle], shape=(2,))
    found = file_graph(model := load(graph.builder.bytes()), model.subgraphs[0])
    of_handle, of_read = (found.view(node) for node in found.nodes)
    visit = Visit()
    visit.variables.define(of_handle)
    assert RULES.validate(of_read, visit).is_supported
    assert not RULES.validate(of_handle, visit).is_supported
    visit.variables.bind(of_read)
    assert RULES.validate(of_handle, visit).is_supported


def test_kernels_are_made_with_the_visit_that_decided(monkeypatch):
    sketch, _, result = fully_connected()
    sketch.graph.outputs(result)
    graph = file_graph(model := load(sketch.builder.bytes()), model.subgraphs[0])
    delegate = XnnpackDelegate()
    decision = delegate.decide(graph, effective())
    monkeypatch.setattr(RULES.__class__, "validate", None)
    assert [delegate.kernel_failure(decision, subset, effective()) for subset in decision.candidates] == [None]


# Options


def effective(**given):
    return parse_options("xnnpack", OPTIONS, given)


def int8_node(**options):
    sketch = Sketch()
    result = sketch.node("LOGISTIC", [sketch.input("INT8", scale=0.5, zero_point=0)], "INT8", scale=0.5, zero_point=0)
    return codes(sketch.run(result, **options))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, None),
        ({"flags": 0}, "xnnpack-tensor-type"),
        ({"flags": "0x1"}, None),
        ({"qs8": False}, "xnnpack-tensor-type"),
        ({"flags": 0, "qs8": True}, None),
    ],
)
def test_flags_are_options_and_a_bitmask(options, code):
    assert int8_node(**options) == [code]


@pytest.mark.parametrize("value", [-1, "0xg", "many", 1.5])
def test_flags_that_are_no_bitmask(value):
    with pytest.raises(OptionError, match="option xnnpack_flags of xnnpack: "):
        effective(flags=value)


def test_dynamic_tensors_are_allowed_unless_disabled():
    delegate = XnnpackDelegate()
    assert delegate.allows_dynamic_tensors(effective())
    assert not delegate.allows_dynamic_tensors(effective(flags=FLAGS["disable_subgraph_reshaping"]))
    assert not delegate.allows_dynamic_tensors(effective(disable_subgraph_reshaping=True))


@pytest.mark.parametrize(("release", "allowed"), [("tf-2.16", False), ("tf-2.17", True), ("litert-1.0.1", True)])
def test_dynamic_tensors_are_allowed_since_a_release(release, allowed):
    assert XnnpackDelegate().allows_dynamic_tensors(effective(), parse_release(release)) == allowed


def test_log_line():
    sketch, _, result = fully_connected()
    (line,) = sketch.run(result)["log_lines"]
    assert "(TfLiteXNNPackDelegate)" in line

"""Models that LiteRT does not load for compiler plugins."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.delegates.npu.loader import file_facts, load
from delegate_sim.model.model import Signature, Sparsity
from delegate_sim.releases.catalogue import NEWEST, parse_release
from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import SHAPE, chain, run


def refused(builder, **options):
    entry = run(builder, "npu-samsung", **options)
    assert (entry["outcome"], entry["refusal"]["stage"]) == ("refused", "load")
    return entry["refusal"]["code"], entry["log_lines"][-1]


def test_variable_tensors_are_refused():
    assert refused(chain(["RELU"], variable=True)) == ("litert-variable-tensor", "Variable tensors not yet supported.")


@pytest.mark.parametrize(("kind", "number"), [("VARIANT", 14), ("COMPLEX128", 11)])
def test_types_that_no_release_loaded(kind, number):
    assert refused(chain(["RELU"], kind)) == ("litert-element-type", f"Element type ({number}) not currently supported")


@pytest.mark.parametrize(("kind", "since"), [("STRING", "litert-2.1.5"), ("RESOURCE", "litert-2.1.5"), ("UINT4", "litert-2.2.0")])
def test_types_that_came_with_a_release(kind, since):
    model = delegate_sim.load(chain(["RELU"], kind).bytes())
    facts = file_facts(model)
    assert load(model, facts, parse_release(since)).failure is None
    assert load(model, facts, parse_release("litert-2.1.3")).failure.code == "litert-element-type"


@pytest.mark.parametrize("kind", ["COMPLEX128", "VARIANT"])
def test_types_of_the_development_build(kind):
    assert run(chain(["RELU"], kind), "npu-samsung", release="litert-2.4")["refusal"] is None


def test_operators_with_a_high_code():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", SHAPE), graph.tensor("y", "FLOAT32", SHAPE)
    graph.node("STABLEHLO_CBRT", [source], [result])
    graph.outputs(result)
    assert run(builder, "npu-samsung", release="litert-2.3")["refusal"] is None
    line = "Invalid operator code: builtin_code=208, deprecated_builtin_code=127"
    assert refused(builder, release="litert-2.4") == ("litert-operator-code", line)


@pytest.mark.parametrize(("scales", "zero_points"), [([0.5], [0, 0]), ([0.5, 0.5], [0])])
def test_other_numbers_of_scales_and_zero_points(scales, zero_points):
    builder = chain(["RELU"], "INT8", scale=scales, zero_point=zero_points, axis=0)
    assert refused(builder, release="litert-2.4") == ("litert-channel-quantization", "Invalid quantization parameters")
    assert run(builder, "npu-samsung", release="litert-2.3")["outcome"] != "refused"


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


@pytest.mark.parametrize(
    ("signature", "line"),
    [
        (Signature("s", 0, {"x": 0}, {"y": 1}), None),
        (Signature("s", 0, {}, {"y": 1}), "Signature has incorrect number of input/outputs"),
        (Signature("s", 0, {"x": 0}, {"y": 1, "z": 0}), "Signature has incorrect number of input/outputs"),
        (Signature("s", 1, {"x": 0}, {"y": 1}), "Signature does not refer to a valid subgraph index."),
        (Signature("s", 0, {"x": 7}, {"y": 1}), "Signature input does not refer to a valid tensor index."),
        (Signature("s", 0, {"x": 0}, {"y": 7}), "Signature output does not refer to a valid tensor index."),
    ],
)
def test_signatures_list_what_their_subgraph_has(signature, line):
    model = replace(delegate_sim.load(chain(["RELU"]).bytes()), signatures=(signature,))
    found = load(model, file_facts(model), NEWEST)
    assert (found.lines, found.failure and found.failure.code) == (((line,), "litert-signature") if line else ((), None))
    assert found.failure is None or found.failure.subgraph == 0


def test_sparse_tensors_are_only_warned_about():
    model = delegate_sim.load(chain(["RELU"]).bytes())
    (subgraph,) = model.subgraphs
    sparse = subgraph.tensors[0]._replace(sparsity=Sparsity((), (), ()))
    other = replace(model, subgraphs=(replace(subgraph, tensors=(sparse, *subgraph.tensors[1:])),))
    assert load(other, file_facts(model), NEWEST).lines == ("Sparsity tensors may not yet be fully supported.",)

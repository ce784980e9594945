"""Mesa's delegate on whole models: its options and warnings."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.errors import OptionError
from delegate_sim.refusal import Effect
from delegate_sim.results.report.measures import measure
from delegate_sim.results.report.number_risks import number_risks
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model


def joined(*shape):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    sources = [graph.input(name, "INT8", shape, scale=0.5, zero_point=0) for name in "ab"]
    result = graph.tensor("c", "INT8", (*shape[:-1], 2 * shape[-1]), scale=0.5, zero_point=0)
    graph.node("CONCATENATION", sources, [result], 1, {"axis": -1})
    graph.outputs(result)
    return builder


def run(builder, **options):
    return delegate_sim.analyze(builder.bytes(), "teflon", options, defaults="api").runs[0]


@pytest.mark.parametrize(
    ("builder", "codes"),
    [(chain_model(["RELU", "RELU"]), ["teflon-numbers-float"] * 2), (joined(1, 2, 2, 8), []), (chain_model(["ROUND"]), [])],
)
def test_delegated_float_nodes_are_wrong_results(builder, codes):
    result = run(builder, mesa="main")
    assert [risk.refusal.code for risk in number_risks(result)] == codes
    assert all(risk.is_certain for risk in number_risks(result))
    assert measure(result).wrong_results == len(codes)


@pytest.mark.parametrize(("shape", "warnings"), [((1, 2, 2, 8), 0), ((1, 8), 1)])
def test_sizes_that_the_delegate_reads_behind_the_shape_are_warned_of(shape, warnings):
    result = run(joined(*shape))
    assert (result.outcome, len(result.warnings)) == ("delegated", warnings)


def test_only_later_versions_have_other_drivers():
    with pytest.raises(OptionError, match="option "):
        run(chain_model(["RELU"]), mesa="25.0", driver="rocket")
    assert run(chain_model(["RELU"]), mesa="main", driver="rocket").outcome == "none"


def added(*, is_residual):
    """An ADD of a convolution's result and the model's input, or of the input alone."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, between, total = [
        make(name, "INT8", (1, 4, 4, 8), scale=0.5, zero_point=0)
        for make, name in ((graph.input, "x"), (graph.tensor, "y"), (graph.tensor, "z"))
    ]
    weights = graph.tensor("w", "INT8", (8, 1, 1, 8), data=[[[[1] * 8]]] * 8, scale=0.5, zero_point=0)
    bias = graph.tensor("b", "INT32", (8,), data=[0] * 8, scale=0.25, zero_point=0)
    graph.node("CONV_2D", [source, weights, bias], [between], 1, {"stride_h": 1, "stride_w": 1})
    graph.node("ADD", [between, source] if is_residual else [source, source], [total], 1, {})
    graph.outputs(between, total)
    return builder


@pytest.mark.parametrize(("driver", "is_residual"), [("rocket", True), ("rocket", False), ("etnaviv", False)])
def test_rocket_adds_only_to_a_convolution_of_the_same_kernel(driver, is_residual):
    result = run(added(is_residual=is_residual), mesa="main", driver=driver)
    assert (result.outcome, len(result.subgraphs[0].delegated)) == ("delegated", 2)
    failure = result.refusal
    if driver == "rocket" and not is_residual:
        assert (failure.code, failure.effect, failure.node) == ("teflon-lone-addition", Effect.CRASH, 1)
    else:
        assert failure is None

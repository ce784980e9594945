"""Mesa's delegate on whole models: its options and warnings."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.errors import OptionError
from delegate_sim.results.numbers.risks import number_risks
from delegate_sim.results.report.measures import measure
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

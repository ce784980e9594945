"""The proof of the bounds: what a row of its table says, and that a fix makes XNNPACK take the own models whole."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.api.arguments import target_of
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.search import search
from delegate_sim.runtime.interpreter import simulate
from tools.corpus_tables.fix_times import Measured, computation_on_cpu, network, table
from tools.corpus_tables.time_models import own_models

XNNPACK = target_of("xnnpack", {}, "litert-2.3", "benchmark")


def row(savings, at_most, estimate=None):
    return Measured("a.tflite", 9.0, 5.0, savings, at_most, False, estimate, "")


def test_a_row_considers_the_spread_of_the_runs():
    assert row((3.0, 4.0, 5.0), 3.0).holds
    assert not row((3.1, 4.0, 5.0), 3.0).holds
    assert row((0.1, 4.0), 9.0).is_positive
    assert not row((-0.1, 4.0), 9.0).is_positive
    places = [row((3.0, 5.0), 9.0, estimate).place for estimate in ((4.5, 8.0), (6.0, 8.0), (1.0, 2.0), None)]
    assert places == ["within", "below", "above", ""]


def test_the_sums_below_the_table():
    text = table([row((3.0, 4.0, 5.0), 9.0, (1.0, 3.0)), row((-1.0, -1.0), 2.0), row((3.1, 3.2), 3.0)])
    sums = (
        "- 2 of 3 models save time in every run.",
        "- For 2 of 3 models, the smallest saving is within the bound. For 2, the median saving is too.",
        "The saving is within the estimate for 1 models, above the estimate for 0, and below the estimate for 0.",
        "typically off by 50 % of the saving (median)",
    )
    assert [words for words in sums if words not in text] == []


@pytest.mark.parametrize(("name", "content"), [pytest.param(*one, id=one[0]) for one in own_models()])
def test_a_fix_makes_the_delegate_take_the_other_half_of_an_own_model(name, content):
    model = load(content)
    layers = [node.index for node in model.subgraphs[0].nodes if node.op != "DEQUANTIZE"]
    taken = simulate(model, XNNPACK).subgraphs[0].delegated
    assert len(set(layers) & set(taken)) == len(layers) // 2
    assert computation_on_cpu(model, XNNPACK) > 0
    plan = search(model, (XNNPACK,), Exactness.APPROXIMATE)
    assert computation_on_cpu(plan.rewritten.model, XNNPACK) == 0


def test_variants_of_one_network_have_one_name():
    assert {network(f"keras/unet.{kind}.tflite") for kind in ("f32", "int8.tf221")} == {"unet"}

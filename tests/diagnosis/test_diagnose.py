"""The story of a DistilBERT that a converter's default kept off the accelerator, told whole and held to what is really so."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.api.arguments import target_of
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.diagnosis.diagnose import Choice, find_open_question
from delegate_sim.graph.effort import Effort
from delegate_sim.results.report.measures import measure
from delegate_sim.runtime.interpreter import simulate
from fixtures.builder import ModelBuilder

from ..support.diagnoses import diagnosed, target
from ..support.models import chain_model

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "keras.zip"
DYNAMIC_RANGE = "distilbert_batch8.dyn_unfold.tf215.tflite"
FLOAT = "distilbert_batch8.f32_unfold.tf215.tflite"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.exists(), reason="the converted models in ../shared are not here"),
]


def model(name):
    with zipfile.ZipFile(CORPUS) as archive:
        member = next(member for member in archive.namelist() if member.endswith(name))
        return archive.read(member)


def story(diagnosis):
    """For each cause in its order: its name, how many nodes it keeps, and the partitions alone and together with those before."""
    return [
        (
            finding.cause.name,
            len(finding.cause.nodes),
            finding.alone.measures.partitions,
            finding.together.measures.partitions,
            finding.together.measures.fallback_nodes,
        )
        for finding in diagnosis.findings
    ]


def real(name, **options):
    on = target("nnapi", options)
    measures = measure(simulate(load(model(name)), on))
    return measures.partitions, measures.fallback_nodes


def test_the_setting_of_the_converter_comes_first():
    diagnosis = diagnosed(model(DYNAMIC_RANGE))
    assert (diagnosis.now.measures.delegated_nodes, diagnosis.now.measures.nodes, diagnosis.now.measures.partitions) == (
        2028,
        3224,
        62,
    )
    assert story(diagnosis) == [
        ("operator-version:asymmetric-quantize-inputs", 1190, 13, 13, 6),
        ("operator:GELU", 6, 74, 1, 0),
    ]
    first = diagnosis.findings[0]
    assert first.multiply_adds == diagnosis.total_multiply_adds, "all of the multiply-adds stay on the CPU"
    assert "converter.optimizations" in first.cause.change
    assert first.cause.found.startswith("version 9, required by 7 nodes")
    assert (first.together.measures.partitions, first.together.measures.fallback_nodes) == real(FLOAT)


def test_then_the_driver():
    diagnosis = diagnosed(model(DYNAMIC_RANGE), driver_rejects=("MEAN",))
    assert story(diagnosis) == [
        ("operator-version:asymmetric-quantize-inputs", 1190, 65, 65, 32),
        ("driver:MEAN", 26, 62, 13, 6),
        ("operator:GELU", 6, 126, 1, 0),
    ]
    assert real(FLOAT, driver_rejects=("MEAN",)) == (65, 32)
    assert real(FLOAT) == (13, 6)


def test_the_float_twin():
    assert story(diagnosed(model(FLOAT))) == [("operator:GELU", 6, 1, 1, 0)]
    assert story(diagnosed(model(FLOAT), driver_rejects=("MEAN",))) == [
        ("driver:MEAN", 26, 13, 13, 6),
        ("operator:GELU", 6, 53, 1, 0),
    ]


def targets(*names):
    return [target_of(name, None, None, "benchmark") for name in names or DELEGATE_NAMES]


def question(builder, *names):
    model = load(builder.bytes())
    return find_open_question(model, targets(*names), Effort(model))


def open_batch():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])
    result = graph.tensor("y", "FLOAT32", [1, 4], signature=[-1, 4])
    shape = graph.input("shape", "INT32", [2])
    graph.node("RESHAPE", [source, shape], [result])
    graph.outputs(result)
    return builder


@pytest.mark.parametrize(
    ("ops", "delegate", "choice"),
    [
        (["ADD", "ROUND", "ADD", "ADD"], "vx-nxp", Choice.LARGEST_SHARE),
        (["ADD", "ADD"], "mldrift", Choice.NOTHING_OPEN),
        (["ADD", "CUMSUM", "SIN"], "mldrift", Choice.LARGEST_SHARE),
    ],
)
def test_the_accelerator_that_is_the_closest_to_the_whole_model(ops, delegate, choice):
    found = question(chain_model(ops))
    assert (found.target.delegate.name, found.choice) == (delegate, choice)


def test_inputs_of_unknown_size_come_first():
    found = question(open_batch())
    assert (found.target.delegate.name, found.choice) == ("mldrift", Choice.NOT_STARTED)


def test_the_cpu_plugins_and_deprecated_delegates_are_taken_only_alone():
    ops = ["ADD", "ROUND", "ADD"]
    assert question(chain_model(ops), "nnapi", "xnnpack", "npu-intel", "vx").target.delegate.name == "vx"
    assert question(chain_model(ops), "nnapi").target.delegate.name == "nnapi"


def test_a_target_with_wrong_results_is_not_taken_before_a_right_one():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1, 2, 2, 8])
    a, b, c = [graph.tensor(name, "FLOAT32", [1, 2, 2, 8]) for name in "abc"]
    for op, sources, result in (("ADD", [x, x], a), ("ADD", [a, x], b), ("CUMSUM", [b], c)):
        graph.node(op, sources, [result], 1, {} if op == "ADD" else None)
    graph.outputs(c)
    assert question(builder, "teflon", "coreml").target.delegate.name == "coreml"
    assert question(builder, "teflon").target.delegate.name == "teflon"

"""The story of a DistilBERT that a converter's default kept off the accelerator, told whole and held to what is really so."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.results.report.measures import measure
from delegate_sim.runtime.interpreter import simulate
from tests.support.diagnoses import diagnosed, target

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

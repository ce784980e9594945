"""Every node on the CPU has a cause, or goes with one."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.effort import Effort
from delegate_sim.results.report.placement import on_cpu
from fixtures import networks, runtime_cases
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.diagnoses import diagnosed, target
from tests.support.samples import IS_WHOLE, every

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
FIXTURES = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "models").glob("*.tflite"))
EVERY = every(3)
"""Of the delegates, every third is asked about a model."""


def diagnoses(model, delegates=DELEGATE_NAMES):
    """Yield the diagnosis of each delegate. They share what does not depend on the delegate, but not the effort."""
    cache = AnalysisCache()
    for delegate in delegates:
        effort = Effort(model)
        effort.cache = cache
        yield delegate, diagnose(model, target(delegate), effort)


def without_cause(diagnosis):
    known = {tuple(key) for finding in diagnosis.findings for key in (*finding.cause.nodes, *finding.followers)}
    # Of nodes of a subgraph that validates the model no delegate is asked.
    left = [(subgraph.graph.index, index) for subgraph, index, reasons in on_cpu(diagnosis.run) if reasons]
    return [key for key in left if key not in known]


@pytest.mark.slow
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_in_every_fixture(path):
    if path.stem == "newer_schema":
        pytest.skip("nothing in it is known to the reader")
    model = load(path)
    delegates = DELEGATE_NAMES[FIXTURES.index(path) % EVERY :: EVERY]
    left = {delegate: without_cause(diagnosis) for delegate, diagnosis in diagnoses(model, delegates)}
    assert {delegate: keys for delegate, keys in left.items() if keys} == {}


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["keras", "torch"])
def test_in_converted_models(corpus):
    archive = CORPUS / f"{corpus}.zip"
    if not archive.exists():
        pytest.skip("../shared is not there")
    with zipfile.ZipFile(archive) as files:
        names = [entry for entry in files.infolist() if entry.filename.endswith(".tflite") and entry.file_size < 1_000_000]
        for index, entry in enumerate(names if IS_WHOLE else random.Random(5).sample(names, 3)):
            for delegate, diagnosis in diagnoses(load(files.read(entry)), DELEGATE_NAMES[index % EVERY :: EVERY]):
                assert without_cause(diagnosis) == [], (entry.filename, delegate)


def test_nodes_that_widen_float16_weights_go_with_the_cause_of_the_others():
    builder = networks.float16_weights_partial()
    diagnosis = diagnosed(builder, "nnapi")
    followers = {key.node for finding in diagnosis.findings for key in finding.followers}
    ops = {diagnosis.run.subgraphs[0].graph.nodes[node].op for node in followers}
    assert ops == {"DEQUANTIZE"}


def test_a_partition_below_the_minimum_goes_with_the_cause_that_splits_it():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 4)
    for op in ("TANH", "TANH", "ROUND", "TANH"):
        x = layers.node(op, (x,))
    layers.finish()
    diagnosis = diagnosed(builder, "coreml")
    assert without_cause(diagnosis) == []
    assert diagnosis.run.subgraphs[0].delegated == {0, 1}


def test_loops_and_branches_have_advice_of_their_own():
    diagnosis = diagnosed(runtime_cases.control_flow())
    suggestions = {finding.cause.name: finding.cause.suggestion for finding in diagnosis.findings}
    assert suggestions["operator:control-flow:WHILE"] == "unroll-control-flow"
    assert suggestions["operator:control-flow:IF"] == "unroll-control-flow"

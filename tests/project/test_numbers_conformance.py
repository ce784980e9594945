"""The rules for wrong numbers and for failed builds, on small models, against what LiteRT's GPU accelerator did.

The recorded results lie beside the repository, in ../shared; without them these tests are skipped.
"""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from pathlib import Path

import pytest

import delegate_sim
from tests.support.delegates.mldrift_numbers import risks_of

SHARED = Path(__file__).resolve().parents[3] / "shared"
RECORDS = SHARED / "oracle-numbers"
MODELS = SHARED / "corpus" / "numbers.zip"
SAMPLE = 150
"""The number of models with right numbers, and of models with wrong numbers, for each release."""

pytestmark = pytest.mark.skipif(
    not (RECORDS.exists() and MODELS.exists()), reason="the recorded numbers (../shared) are not here"
)


def records(release):
    with gzip.open(RECORDS / f"litert-{release}.jsonl.gz", "rt") as lines:
        return [record for record in map(json.loads, lines) if record["corpus"] == "numbers"]


def sample(release):
    """Return names of models with right and with wrong numbers that the GPU runs wholly."""
    names = {"right": [], "wrong": []}
    for record in records(release):
        # Where a condition holds, the values can be equal by chance.
        if record["outcome"] == "gpu" and record["verdict"] in names and "right_by_values" not in record:
            names[record["verdict"]].append(record["model"])
    return {verdict: random.Random(7).sample(own, SAMPLE) for verdict, own in names.items()}


@pytest.mark.parametrize("release", ["2.1.6", "2.2.0", "2.3.0"])
def test_a_sample_agrees_with_the_real_numbers(release):
    names = sample(release)
    with zipfile.ZipFile(MODELS) as models:
        found = {name: risks_of(models.read(name), f"litert-{release}") for own in names.values() for name in own}
    assert [name for name in names["wrong"] if not found[name]] == []
    assert [name for name in names["right"] if any(certainty == "wrong" for _, _, certainty in found[name])] == []
    possible = [name for name in names["right"] if found[name]]
    assert len(possible) <= SAMPLE // 50, possible


def fails(model, release):
    """Return whether the GPU's model or one of its kernels is said not to build."""
    options = {"backend": "webgpu", "build_kernels": True}
    report = delegate_sim.analyze(model, "mldrift", options, runtime=f"litert-{release}", defaults="benchmark")
    return report.runs[0].refusal is not None


def has_depthwise_without_bias(model):
    nodes = [node for subgraph in delegate_sim.load(model).subgraphs for node in subgraph.nodes]
    return any(node.op == "DEPTHWISE_CONV_2D" and len(node.inputs) == 2 for node in nodes)


@pytest.mark.parametrize("release", ["2.1.6", "2.2.0", "2.3.0"])
def test_failed_builds_are_predicted(release):
    """In 15 recorded models, the CPU kernel of a depthwise convolution without a bias crashed, and not the GPU (learned.md)."""
    failed = [record["model"] for record in records(release) if record["outcome"] in ("create-failed", "crash")]
    with zipfile.ZipFile(MODELS) as models:
        missed = [name for name in failed if not fails(models.read(name), release)]
        of_cpu = [name for name in failed if has_depthwise_without_bias(models.read(name))]
    assert (missed, len(of_cpu)) == (of_cpu, 15 if release == "2.3.0" else 6)

"""The check of a partition by the forms of its nodes agrees with the model that is built node by node."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from delegate_sim.delegates.nnapi.partitions import Partitions, supported_nodes
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.model.reader import load
from delegate_sim.prepare.preparation import prepare
from delegate_sim.releases.catalogue import NEWEST

ROOT = Path(__file__).resolve().parents[4]
CORPORA = ROOT.parent / "shared" / "corpus"
SAMPLED = 60
LARGEST = 200_000


def built(model):
    """Return the operands, the operations and the boundary of an NNAPI model."""
    return (
        [operand.arguments[:4] + operand.arguments[5:7] for operand in model.operands],
        model.operations,
        model.inputs,
        model.outputs,
    )


def assert_equal_when_built(content, level):
    """Compare each partition with the same partition without anything known about forms. Return the number of partitions."""
    delegate, count = find_delegate("nnapi"), 0
    options = parse_options("nnapi", delegate.options, {"feature_level": level} if level else {})
    for graph in prepare(load(content), cache=AnalysisCache()):
        decision, _ = supported_nodes(graph, options, NEWEST)
        partitions = Partitions(decision.graph, options, NEWEST)
        for subset in [subset for subset in decision.candidates if subset.is_delegated]:
            lowered = partitions.lowered(subset)
            known, partitions._check = partitions._check, None
            alone = partitions.build(subset)
            partitions._check = known
            assert (lowered.failure, lowered.calls, lowered.lines) == (alone.failure, alone.calls, alone.lines)
            assert (lowered.required, dict(lowered.operations)) == (alone.required, dict(alone.operations))
            if alone.model is not None and not alone.calls:
                assert built(lowered.model) == built(alone.model)
                assert lowered.tensors == alone.tensors
            count += known is not None and partitions._checked(subset) is not None
    return count


@pytest.mark.parametrize("level", [None, 29])
def test_fixtures_are_lowered_alike(level):
    paths = sorted((ROOT / "fixtures" / "models").glob("*.tflite"))
    assert sum([assert_equal_when_built(path.read_bytes(), level) for path in paths]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["fuzz", "keras", "onnx", "real", "torch"])
def test_models_of_the_corpora_are_lowered_alike(corpus):
    archive = CORPORA / f"{corpus}.zip"
    if not archive.exists():
        pytest.skip("the corpora are not here")
    count = 0
    with zipfile.ZipFile(archive) as files:
        names = [one.filename for one in files.infolist() if one.filename.endswith(".tflite") and one.file_size <= LARGEST]
        for name in random.Random(corpus).sample(sorted(names), SAMPLED):
            try:
                count += assert_equal_when_built(files.read(name), None)
            except DelegateSimError:
                continue
    assert count > 0

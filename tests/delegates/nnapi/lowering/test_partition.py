"""The NNAPI model of a partition: operands, memory pools, and the check by forms, which agrees with the built model."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from delegate_sim.delegates.nnapi.lowering.partition import checked_partition
from delegate_sim.delegates.nnapi.partitions import Partitions, supported_nodes
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.model.reader import load
from delegate_sim.prepare.preparation import prepare
from delegate_sim.releases.catalogue import NEWEST
from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


def test_nnapi_empty_pool_of_inputs():
    sketch = Sketch()
    found = failure(sketch.map(sketch.node("RELU", [sketch.constant("FLOAT32", (2, 2))])))
    assert (found.code, found.node, found.tensor) == ("nnapi-empty-pool", None, None)
    assert "inputs" in found.message


def test_inputs_that_are_not_mapped_do_not_count():
    sketch = Sketch()
    widened = sketch.node("DEQUANTIZE", [sketch.input(type="FLOAT16")])
    assert failure(sketch.map(sketch.node("RELU", [widened]))).code == "nnapi-empty-pool"


def test_nnapi_empty_pool_of_outputs():
    sketch = Sketch()
    found = failure(sketch.map(sketch.node("RELU", [sketch.input()], (0, 2))))
    assert found.code == "nnapi-empty-pool"
    assert "outputs" in found.message


def test_one_input_with_bytes_is_enough():
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("ADD", [sketch.input((0, 2)), sketch.input((1, 2))]))) == [["ADD"]]


ROOT = Path(__file__).resolve().parents[4]
CORPORA = ROOT.parent / "shared" / "corpus"
SAMPLED = 60
LARGEST = 200_000


def built(model):
    """Return the operands, the operations and the boundary of an NNAPI model."""
    return (
        [
            (operand.type, operand.dimensions, operand.scale, operand.zero_point, operand.lifetime, operand.value)
            for operand in model.operands
        ],
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
            checked = known and checked_partition(known, decision.graph, subset, NEWEST, partitions.build)
            count += checked is not None
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


@pytest.mark.parametrize("type", ["INT64", "INT4", "BFLOAT16", "FLOAT64", "STRING", "UINT32"])
def test_nnapi_tensor_type(type):
    sketch = Sketch()
    source = sketch.input(type=type)
    found = failure(sketch.map(sketch.node("RELU", [source])))
    assert (found.code, found.node, found.tensor) == ("nnapi-tensor-type", 0, source)
    assert type in found.message


@pytest.mark.parametrize("type", ["FLOAT16", "INT32", "BOOL", "INT16"])
def test_other_tensor_types_pass(type):
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("RELU", [sketch.input(type=type)], type=type))) == [["RELU"]]


def test_nnapi_tensor_type_of_a_result():
    sketch = Sketch()
    result = sketch.node("RELU", [sketch.input()], type="INT64")
    assert failure(sketch.map(result)).tensor == result


def test_a_tensor_that_failed_unnoticed_counts_as_mapped():
    sketch = Sketch()
    indices = sketch.input((2,), "INT64")
    gathered = sketch.node("GATHER", [sketch.input(), indices])
    assert operations(sketch.map(sketch.node("RELU", [indices]), gathered)) == [["GATHER"], ["RELU"]]

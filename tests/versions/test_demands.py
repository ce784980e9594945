"""The demands of operators' versions: case by case, and against converted models."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from delegate_sim.graph.graph import file_graphs
from delegate_sim.model import schema
from delegate_sim.model.reader import load
from delegate_sim.versions.demands import (
    DEMANDS,
    LOWEST_VERSIONS,
)
from delegate_sim.versions.explanation import FEATURES, Feature, shared_version, version_cause
from tests.support.graphs import arena, node_view, quantized
from tests.support.tables import for_each
from tests.support.version_cases import CASES, SYMMETRIC_OR_NOT

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "keras.zip"


def _features(node):
    """The features of a node that demand a version, each with the first that it demands, in the rule's order."""
    found = {}
    for demand in DEMANDS.get(node.op, ()):
        if demand.condition(node):
            found.setdefault(demand.code, demand.version)
    return [Feature(code, version) for code, version in found.items()]


@for_each(CASES)
def test_version_and_features(case):
    node = case.node
    expected = [Feature(code, version) for code, (version, _) in case.features.items()]
    assert _features(node) == expected
    lowest = LOWEST_VERSIONS.get(case.op, 1)
    assert shared_version(node) == (expected[0].version if expected else lowest)
    assert {code: shared_version(node, {code}) for code in case.features} == {
        code: version for code, (_, version) in case.features.items()
    }
    assert shared_version(node, case.features) == lowest


@pytest.mark.parametrize(
    ("factor", "features"), [(2.0, ["upward-rescale", "int8-type"]), (1.99, ["int8-type"]), (0.0, ["int8-type"])]
)
def test_product_that_is_scaled_up(factor, features):
    operand = quantized(arena("INT8", 4), factor)
    node = node_view("MUL", [operand, quantized(arena("INT8", 4), 0.5)], [quantized(arena("INT8", 4), 1.0)])
    assert [feature.code for feature in _features(node)] == features
    assert shared_version(node) == (3 if len(features) == 2 else 2)


def test_custom_operator_has_no_features_whatever_its_name():
    node = node_view("ADD", [arena("INT8", 4)], [arena("INT8", 4)], custom=True)
    assert version_cause(node, 0).features == ()
    assert shared_version(node) == 1


def test_malformed_nodes_are_read_as_far_as_they_go():
    for op in DEMANDS:
        node = node_view(op, [], [])
        assert shared_version(node) >= 1
        assert version_cause(node, 15).features == ()


def test_operators_without_demands_have_version_1():
    """Those of the schema that the rule does not name, and all that it names are of the schema."""
    named = set(schema.enum_names("BuiltinOperator").values())
    assert named >= DEMANDS.keys() >= LOWEST_VERSIONS.keys()
    for op in named - DEMANDS.keys() - {"CUSTOM"}:
        assert shared_version(node_view(op, [arena("INT8", 4)] * 3, [arena("INT8", 4)])) == 1


CONVERTER_SETTINGS = {
    "_experimental_disable_per_channel",
    "_experimental_disable_per_channel_quantization_for_dense_layers",
    "_experimental_full_integer_quantization_bias_type",
    "_experimental_low_bit_qat",
    "experimental_new_dynamic_range_quantizer",
    "inference_input_type",
    "optimizations",
    "representative_dataset",
    "target_spec.supported_ops",
    "target_spec.supported_types",
}
"""Attributes of tf.lite.TFLiteConverter (``tflite/python/lite.py``, LiteRT) that the advice may name."""


def test_every_feature_is_explained():
    assert {
        code for demands in DEMANDS.values() for demand in demands for code in (demand.code, *demand.given)
    } == FEATURES.keys()
    for code, explanation in FEATURES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
        assert not explanation.title.endswith(".")
        assert explanation.meaning.endswith(".")
        assert explanation.advice.endswith(".")
        assert len(explanation.advice) > 40
        assert {*re.findall(r"\bconverter\.([\w.]*\w)", explanation.advice)} <= CONVERTER_SETTINGS


def test_every_demand_has_a_case():
    met = {}
    for case in CASES:
        for feature in _features(case.node):
            met.setdefault(DEMANDS[case.op], set()).add((feature.version, feature.code))
    met[DEMANDS["MUL"]].add((3, "upward-rescale"))
    missing = {
        op: left
        for op, demands in DEMANDS.items()
        if (left := {(demand.version, demand.code) for demand in demands} - met.get(demands, set()))
    }
    assert missing == {}


needs_corpus = pytest.mark.skipif(not CORPUS.exists(), reason="the converted models (../shared) are not here")


def _corpus_graphs(archive, name):
    return file_graphs(load(archive.read(name)))


@needs_corpus
def test_agreement_with_converted_models():
    """Models of the quantizers that do not mark versions by the rule stand apart."""
    agreed, differing, by_operator = Counter(), Counter(), Counter()
    with zipfile.ZipFile(CORPUS) as archive:
        for name in archive.namelist():
            by_rule = ".int16x8." not in name and ".int8_oldq." not in name
            for graph in _corpus_graphs(archive, name):
                for node in graph.nodes:
                    if not node.is_custom and shared_version(graph.view(node)) == node.version:
                        agreed[by_rule] += 1
                    elif not node.is_custom:
                        differing[by_rule] += 1
                        by_operator[by_rule, node.op] += 1
    assert differing[True] == 0, by_operator
    assert agreed[True] > 50_000
    assert agreed[False] / (agreed[False] + differing[False]) > 0.1, by_operator


@needs_corpus
def test_asymmetric_inputs_of_distilbert():
    with zipfile.ZipFile(CORPUS) as archive:
        (hybrid,) = _corpus_graphs(archive, "distilbert_batch8.dyn_unfold.tf215.tflite")
        (floating,) = _corpus_graphs(archive, "distilbert_batch8.f32_unfold.tf215.tflite")
    nodes = [hybrid.view(node) for node in hybrid.nodes if node.op == "FULLY_CONNECTED"]
    (twin_version,) = {node.version for node in floating.nodes if node.op == "FULLY_CONNECTED"}
    assert twin_version == 5
    assert {(node.version, shared_version(node), shared_version(node, [SYMMETRIC_OR_NOT])) for node in nodes} == {(9, 9, 5)}
    # With keep_num_dims a node demands version 5 before its inputs are looked at.
    demanding = {node.node.index for node in nodes if _features(node)[:1] == [Feature(SYMMETRIC_OR_NOT, 9)]}
    assert 0 < len(demanding) < len(nodes)
    for node in nodes:
        cause = version_cause(node, 5)
        assert cause.is_explained
        assert cause.features == (Feature(SYMMETRIC_OR_NOT, 9),)
        assert {position.node for position in cause.nodes} == demanding

"""Changes of the rules by releases of the runtime."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.nnapi.rules import RULES
from delegate_sim.delegates.nnapi.target import NnapiTarget
from delegate_sim.releases.catalogue import parse_release
from fixtures.builder import ModelBuilder
from tests.support.graphs import arena, constant, node_view

IMAGE = arena("FLOAT32", 1, 4, 4, 2)
WEIGHTS = constant([[[[0.0] * 2] * 3] * 3] * 2, "FLOAT32")


@pytest.mark.parametrize(
    ("release", "taken"),
    [
        ("tf-2.10", 3),
        ("tf-2.14", 3),
        ("tf-2.15", 4),
        ("litert-1.0.1", 4),
        ("litert-1.1.0", 4),
        ("tf-2.20", 4),
        ("litert-2.3.0", 4),
    ],
)
def test_highest_version_of_transpose_conv(release, taken):
    target = NnapiTarget(29, True, parse_release(release))
    nodes = {
        version: node_view("TRANSPOSE_CONV", [constant([1, 4, 4, 2]), WEIGHTS, IMAGE], [IMAGE], version=version)
        for version in (3, 4, 5)
    }
    assert max(version for version, node in nodes.items() if RULES.validate(node, target).is_supported) == taken


@pytest.mark.parametrize(
    ("release", "is_said"), [("tf-2.14", False), ("tf-2.16", True), ("litert-1.0.1", True), ("litert-1.1.0", False)]
)
@pytest.mark.parametrize("version", [3, 4])
def test_it_is_said_that_the_version_of_a_fused_activation_is_not_checked(release, is_said, version):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    shape, image = graph.tensor("s", "INT32", [4], data=[1, 4, 4, 2]), graph.input("x", "FLOAT32", [1, 4, 4, 2])
    weights, result = graph.tensor("w", "FLOAT32", [2, 3, 3, 2], data=[1.0] * 36), graph.tensor("y", "FLOAT32", [1, 4, 4, 2])
    options = {"padding": 0, "stride_w": 1, "stride_h": 1}
    graph.node("TRANSPOSE_CONV", [shape, weights, image], [result], version=version, options=options)
    graph.outputs(result)
    run = delegate_sim.analyze(builder.bytes(), "nnapi", runtime=release).runs[0]
    assert any("TRANSPOSE_CONV" in warning for warning in run.warnings) == (is_said and version == 4)


@pytest.mark.parametrize(("release", "is_limited"), [("tf-2.10", False), ("tf-2.12", True), ("litert-2.3.0", True)])
@pytest.mark.parametrize("op", ["ADD", "MUL", "DIV", "MEAN"])
def test_the_limit_on_ranks(op, release, is_limited):
    wide = arena("FLOAT32", 1, 1, 2, 2, 2)
    operands = [wide, constant([1], "INT32")] if op == "MEAN" else [wide, wide]
    node = node_view(op, operands, [wide], version=1)
    assert RULES.validate(node, NnapiTarget(31, True, parse_release(release))).is_supported != is_limited


@pytest.mark.parametrize(("release", "is_known"), [("tf-2.10", False), ("tf-2.14", True)])
def test_cos(release, is_known):
    node = node_view("COS", [IMAGE], [IMAGE], version=1)
    assert RULES.validate(node, NnapiTarget(31, True, parse_release(release))).is_supported == is_known


def test_every_change_of_the_rules_is_tested():
    changed = {
        op
        for op, rule in RULES.rules.items()
        for check in rule.checks
        if check.introduced is not None or check.withdrawn is not None
    }
    assert changed == {"ADD", "DIV", "MEAN", "MUL", "TRANSPOSE_CONV"}
    assert {op for op, rule in RULES.rules.items() if rule.introduced is not None} == {"COS"}


@pytest.mark.parametrize(
    ("release", "outcome"), [("tf-2.14", "delegated"), ("litert-1.2.0", "delegated"), ("litert-1.3.0", "restored")]
)
def test_a_pool_of_no_bytes(release, outcome):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.tensor("x", "FLOAT32", [4], data=[1.0] * 4), graph.tensor("y", "FLOAT32", [4])
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    found = delegate_sim.analyze(
        builder.bytes(),
        "nnapi",
        {"feature_level": 31, "nnapi_runtime": "none"},
        runtime=release,
        defaults="api",
    ).to_dict()["runs"][0]
    assert found["outcome"] == outcome


def test_an_unknown_fused_activation_counts_as_none():
    node = node_view("CONCATENATION", [IMAGE, IMAGE], [IMAGE], options={"fused_activation_function": 77, "axis": 3})
    assert RULES.validate(node, NnapiTarget(31, True)).is_supported

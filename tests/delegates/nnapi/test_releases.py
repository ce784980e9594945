"""What releases of the runtime changed in the rules."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.rules import RULES
from delegate_sim.delegates.nnapi.target import NnapiTarget
from delegate_sim.releases.catalogue import parse_release
from tests.graphs import arena, constant, node_view

IMAGE = arena("FLOAT32", 1, 4, 4, 2)
WEIGHTS = constant([[[[0.0] * 2] * 3] * 3] * 2, "FLOAT32")


@pytest.mark.parametrize(
    ("release", "taken"),
    [("tf-2.10", 3), ("tf-2.14", 3), ("litert-1.0.1", 3), ("litert-1.1.0", 4), ("tf-2.20", 4), ("litert-2.3.0", 4)],
)
def test_highest_version_of_transpose_conv(release, taken):
    target = NnapiTarget(29, True, parse_release(release))
    nodes = {
        version: node_view("TRANSPOSE_CONV", [constant([1, 4, 4, 2]), WEIGHTS, IMAGE], [IMAGE], version=version)
        for version in (3, 4, 5)
    }
    assert max(version for version, node in nodes.items() if RULES.validate(node, target).is_supported) == taken


def _of_rank(op, rank):
    image = arena("FLOAT32", *[2] * rank)
    return node_view(op, [image, constant([0]) if op == "MEAN" else image], [image], options={})


@pytest.mark.parametrize("op", ["ADD", "DIV", "MEAN", "MUL"])
@pytest.mark.parametrize(
    ("release", "is_limited"),
    [("tf-2.10", False), ("tf-2.11", False), ("tf-2.12", True), ("litert-1.0.1", True), ("litert-2.3.0", True)],
)
def test_limit_of_the_rank(op, release, is_limited):
    target = NnapiTarget(30, True, parse_release(release))
    assert RULES.validate(_of_rank(op, 4), target).is_supported
    found = RULES.validate(_of_rank(op, 5), target)
    assert found.is_supported is not is_limited
    assert [reason.code for reason in found.reasons] == ["nnapi-rank"] * is_limited


@pytest.mark.parametrize(
    ("release", "is_taken"), [("tf-2.10", False), ("tf-2.11", False), ("tf-2.12", True), ("litert-2.3.0", True)]
)
def test_first_release_that_takes_cos(release, is_taken):
    target = NnapiTarget(30, True, parse_release(release))
    found = RULES.validate(node_view("COS", [IMAGE], [IMAGE]), target)
    assert found.is_supported is is_taken
    assert [reason.code for reason in found.reasons] == ["nnapi-operator"] * (not is_taken)


def test_every_change_of_the_rules_is_tested():
    changed = {
        op
        for op, rule in RULES.rules.items()
        for check in rule.checks
        if check.introduced is not None or check.withdrawn is not None
    }
    assert changed == {"ADD", "DIV", "MEAN", "MUL", "TRANSPOSE_CONV"}
    assert {op for op, rule in RULES.rules.items() if rule.introduced is not None} == {"COS"}

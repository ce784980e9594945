"""Changes of the rules by releases of the runtime: for each change, nodes whose verdict changes with that release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

import delegate_sim
from delegate_sim.delegates.gpu.delegate import RULES
from delegate_sim.delegates.gpu.rules import GpuTarget
from delegate_sim.graph.graph import NodeView
from delegate_sim.model.model import Tensor
from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from fixtures.builder import ModelBuilder
from tests.support.delegates.gpu_sketch import TANH
from tests.support.graphs import arena, constant, node_view

OPERATOR = "gpu-unsupported-operator"
COUNT = "gpu-operand-count"
TYPE = "gpu-tensor-type"
RANK = "gpu-rank"
SHAPE = "gpu-shape"
BROADCAST = "gpu-broadcast"

FLOAT = arena("FLOAT32", 1, 4, 4, 2)
FLOAT_CONSTANT = constant([[[[1.0, 2.0]] * 4] * 4], "FLOAT32")
BOOL = arena("BOOL", 1, 4, 4, 2)
MATRIX = arena("FLOAT32", 4, 2)
MATRIX_CONSTANT = constant([[1.0, 2.0]] * 4, "FLOAT32")
BOOL_MATRIX = arena("BOOL", 4, 2)
GATES = arena("FLOAT32", 1, 6)
SIZE = constant([1, 4, 4, 2])
ON, OFF = constant(1.0, "FLOAT32"), constant(0.0, "FLOAT32")

ONE_STEP = {"stride_h": 1, "stride_w": 1}
UNDILATED = {"dilation_h_factor": 1, "dilation_w_factor": 1}


def weights(*shape: int) -> Tensor:
    return constant([0.0], "FLOAT32")._replace(shape=shape)


class Change(NamedTuple):
    """A node, and the codes that it is refused with before and from a release (None where it is taken)."""

    op: str
    release: str
    before: str | None
    after: str | None
    node: NodeView


CHANGES: list[Change] = []


def change(
    op: str,
    release: str,
    before: str | None,
    after: str | None,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor] = (FLOAT,),
    custom: bool = False,
    **options: Any,
) -> None:
    node = node_view(op, inputs, outputs, options=options or None, custom=custom)
    CHANGES.append(Change(op, release, before, after, node))


change("RELU_0_TO_1", "litert-2.1.0", OPERATOR, None, [FLOAT])
change(
    "DEPTHWISE_CONV_2D",
    "litert-2.1.0",
    SHAPE,
    None,
    [FLOAT, weights(1, 3, 3, 4), weights(4)],
    [arena("FLOAT32", 1, 4, 4, 4)],
    depth_multiplier=2,
    **ONE_STEP,
    **UNDILATED,
)

# All operands constant

change("CONV_2D", "litert-2.1.6", None, COUNT, [FLOAT_CONSTANT, weights(2, 3, 3, 2)], **ONE_STEP, **UNDILATED)
change(
    "DEPTHWISE_CONV_2D",
    "litert-2.1.6",
    None,
    COUNT,
    [FLOAT_CONSTANT, weights(1, 3, 3, 2)],
    depth_multiplier=1,
    **ONE_STEP,
    **UNDILATED,
)
change("TRANSPOSE_CONV", "litert-2.1.6", None, COUNT, [SIZE, weights(2, 3, 3, 2), FLOAT_CONSTANT], **ONE_STEP)

# SELECT

for _op in ("SELECT", "SELECT_V2"):
    change(_op, "litert-1.1.0", TYPE, None, [BOOL, arena("INT8", 1, 4, 4, 2), FLOAT])
    change(_op, "litert-1.1.0", TYPE, None, [BOOL, FLOAT, arena("INT8", 1, 4, 4, 2)])
    change(_op, "litert-1.1.0", None, SHAPE, [BOOL_MATRIX, MATRIX_CONSTANT, MATRIX], [MATRIX])
    change(_op, "litert-2.1.6", SHAPE, None, [BOOL_MATRIX, MATRIX_CONSTANT, MATRIX_CONSTANT], [MATRIX])
    change(_op, "litert-2.1.6", None, SHAPE, [BOOL_MATRIX, MATRIX, OFF], [MATRIX])
    change(_op, "litert-2.1.6", None, SHAPE, [BOOL_MATRIX, ON, MATRIX], [MATRIX])
    change(_op, "litert-2.1.6", None, BROADCAST, [arena("BOOL", 4), FLOAT, FLOAT])
    change(_op, "litert-2.1.6", None, BROADCAST, [BOOL, ON, OFF], [arena("FLOAT32", 4, 4, 2)])

# What else version 2.1.6 looks at

change(
    "LSTM",
    "litert-2.1.6",
    None,
    SHAPE,
    [MATRIX, MATRIX, weights(4, 2), weights(2), MATRIX],
    [MATRIX, MATRIX, MATRIX, GATES],
    fused_activation_function=TANH,
    kernel_type=1,
)
change("Resampler", "litert-2.1.6", None, RANK, [FLOAT, arena("FLOAT32", 4, 4, 2)], custom=True)
change("Resampler", "litert-2.1.6", None, SHAPE, [FLOAT, arena("FLOAT32", 2, 4, 4, 2)], custom=True)
change("Resampler", "litert-2.1.6", None, SHAPE, [FLOAT, arena("FLOAT32", 1, 4, 4, 1)], custom=True)
change("ONE_HOT", "litert-2.1.6", None, COUNT, [arena("INT32", 2, 1, 1, 3), constant(4), ON, OFF, ON], axis=-1)
for _op in ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    change(_op, "litert-2.1.6", None, COUNT, [FLOAT, constant([1]), constant([1])])

# Between TensorFlow 2.14 and LiteRT 1.1

change("ADD", "litert-1.1.0", None, BROADCAST, [FLOAT, MATRIX])
change("MUL", "litert-1.1.0", None, BROADCAST, [FLOAT, MATRIX])
change("MUL", "litert-1.1.0", BROADCAST, None, [arena("FLOAT32", 4, 1), arena("FLOAT32", 1, 2)], [MATRIX])
change("GATHER", "litert-1.1.0", TYPE, None, [arena("INT32", 1, 4, 4, 2), constant([1])])

LITERT = [name for name in KNOWN_RELEASES if name.startswith("litert-")]


def code(node: NodeView, release: str) -> str | None:
    """The code that a node is refused with in a release, None if it is taken."""
    reasons = RULES.validate(node, GpuTarget(True, frozenset(), parse_release(release))).reasons
    return reasons[0].code if reasons else None


@pytest.mark.parametrize(
    "change", CHANGES, ids=[f"{number}-{change.op}-{change.release}" for number, change in enumerate(CHANGES)]
)
def test_verdict_changes_with_the_release(change):
    before = LITERT[LITERT.index(change.release) - 1]
    assert (code(change.node, before), code(change.node, change.release)) == (change.before, change.after)


def test_condition_of_other_rank_and_scalar_condition_stay():
    for condition in (arena("BOOL", 4, 2), arena("BOOL")):
        node = node_view("SELECT_V2", [condition, FLOAT, FLOAT], [FLOAT])
        assert {code(node, release) for release in ("litert-2.1.5", "litert-2.1.6")} == {None}


@pytest.mark.parametrize("release", ["tf-2.10", "tf-2.14", "tf-2.17"])
def test_releases_of_tensorflow_have_the_rules_before_litert(release):
    node = node_view("GATHER", [arena("INT32", 1, 4, 4, 2), constant([1])], [FLOAT])
    assert code(node, release) == TYPE
    assert code(node, "tf-2.20") is None


def test_every_change_of_the_rules_is_tested():
    changed = {(op, release) for op, rule in RULES.rules.items() for release in releases(rule)}
    assert {(change.op, change.release) for change in CHANGES} == changed


def releases(rule):
    """The releases with which a rule changes."""
    found = {rule.introduced, *[bound for check in rule.checks for bound in (check.introduced, check.withdrawn)]}
    return {str(release) for release in found if release is not None}


def test_model_of_a_basic_lstm_may_have_any_depth_before(sketch):
    operands = [
        sketch.input(1, 4),
        sketch.input(1, 4),
        sketch.constant(6, 8),
        sketch.constant(6),
        sketch.input(1, 4),
    ]
    results = sketch.node("LSTM", operands, (1, 4), (1, 4), (1, 8), (1, 6), fused_activation_function=TANH, kernel_type=1)
    failure = sketch.build(*results)
    assert (failure.code, failure.node) == ("gpu-build-shape", 0)
    assert sketch.build(*results, release=parse_release("litert-2.1.5")) is None


def test_release_of_the_options_decides():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("in", "FLOAT32", (1, 4)), graph.tensor("out", "FLOAT32", (1, 4))
    graph.node("RELU_0_TO_1", (source,), (result,))
    graph.outputs(result)
    outcomes = {
        release: delegate_sim.analyze(builder.bytes(), "gpu", {"release": release}, defaults="api").to_dict()["runs"][0][
            "outcome"
        ]
        for release in ("litert-2.0.3", "litert-2.1.0")
    }
    assert outcomes == {"litert-2.0.3": "none", "litert-2.1.0": "delegated"}

"""Networks that Arm NN cannot build from nodes that it takes, against the records of the real delegate."""

from __future__ import annotations

import numpy as np
import pytest

import delegate_sim
from delegate_sim.refusal import Effect
from fixtures.builder import ModelBuilder

THROWN, ENDED = (("armnn-network-not-built", Effect.THROW), ("armnn-assertion", Effect.ABORT))
INT8 = {"scale": 0.5, "zero_point": 0}


def run(builder, backends="CpuRef"):
    return delegate_sim.analyze(builder.bytes(), "armnn", {"backends": backends}, defaults="api").runs[0]


def failure(builder, backends="CpuRef"):
    refusal = run(builder, backends).refusal
    return None if refusal is None else (refusal.code, refusal.effect)


def reduced(kind="FLOAT32", result="FLOAT32", axes=(1, 2)):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", kind, (1, 4, 4, 3))
    output = graph.tensor("y", result, [size for at, size in enumerate((1, 4, 4, 3)) if at not in axes])
    graph.node(
        "SUM",
        [source, graph.tensor("axes", "INT32", (len(axes),), data=np.array(axes, np.int32))],
        [output],
        1,
        {"keep_dims": False},
    )
    graph.outputs(output)
    return builder


def split(used):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", (1, 4, 4, 6))
    results = [graph.tensor(f"y{number}", "FLOAT32", (1, 4, 4, 3)) for number in range(2)]
    graph.node(
        "SPLIT", [graph.tensor("axis", "INT32", (1,), data=np.array([3], np.int32)), source], results, 1, {"num_splits": 2}
    )
    graph.outputs(*results[:used])
    return builder


@pytest.mark.parametrize(
    ("builder", "backends", "expected"),
    [
        (reduced(), "CpuAcc", None),
        (reduced(result="INT32"), "CpuAcc", ENDED),
        (reduced(result="INT32", axes=(3,)), "CpuAcc", None),
        (split(2), "CpuAcc", None),
        (split(1), "CpuAcc", THROWN),
        (split(1), "CpuRef", None),
    ],
)
def test_a_network(builder, backends, expected):
    assert failure(builder, backends) == expected


def test_nothing_is_restored_after_an_exception():
    result = run(split(1), "CpuAcc")
    assert result.outcome == "restored"
    assert result.refusal.node == 0
    created, replaced, exception = result.log_lines
    assert created == "INFO: TfLiteArmnnDelegate: Created TfLite ArmNN delegate."
    assert replaced.startswith("Replacing 1 out of 1 node(s)")
    assert exception.startswith("RuntimeError: TfLiteArmnnDelegate: Exception (")


def test_an_assertion_prints_nothing():
    assert len(run(reduced(result="INT32"), "CpuAcc").log_lines) == 2

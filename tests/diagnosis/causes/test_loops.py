from __future__ import annotations

from delegate_sim.diagnosis.causes.cause import loops_around
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.diagnoses import cause_names, diagnosed


def loop():
    builder = ModelBuilder()
    main, condition, body = (builder.subgraph(name) for name in ("main", "condition", "body"))
    layers = Layers(main)
    x = layers.node("ROUND", (layers.input("FLOAT32", 1, 4),), shape=(1, 4))
    result = layers.tensor("FLOAT32", 1, 4)
    layers.node("WHILE", (x,), outputs=(result,), options={"cond_subgraph_index": 1, "body_subgraph_index": 2})
    layers.finish()
    layers = Layers(condition)
    less = layers.node("LESS", (layers.input("FLOAT32", 1, 4), layers.constant("FLOAT32", 1.0)), "BOOL")
    layers.node("REDUCE_ANY", (less, layers.constant("INT32", (0, 1))), shape=())
    layers.finish()
    layers = Layers(body)
    layers.node("SIGN", (layers.input("FLOAT32", 1, 4),), shape=(1, 4))
    layers.finish()
    return builder


def test_causes_in_the_subgraphs_of_a_loop_come_after_the_loop():
    diagnosis = diagnosed(loop(), "gpu")
    inside = loops_around(diagnosis.model, diagnosis.blockers.causes)
    names = cause_names(diagnosis)
    assert {identity.name for identity in inside} == {"operator:REDUCE_ANY", *(name for name in names if "LESS" in name)}
    assert {loop.name for loop in inside.values()} == {"operator:control-flow:WHILE"}
    for identity in inside:
        assert names.index(identity.name) > names.index("operator:control-flow:WHILE")

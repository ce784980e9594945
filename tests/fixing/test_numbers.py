"""Plans that cure nodes which the GPU computes wrongly."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.fixing.search import search
from tests.support.delegates.mldrift_numbers import Quantized, ints, model_of, one, zeros


def planned(tensors, steps, outputs=""):
    model = delegate_sim.load(model_of(tensors, steps, outputs))
    run = delegate_sim.analyze(model, "mldrift", {"backend": "webgpu"}, defaults="benchmark").runs[0]
    return search(model, [run.target])


CURED = [
    ({"x": (3, 5), "c": zeros(3, 5), "y": (3, 5)}, ("ADD", "x c", "y", {}), "constant-operand-of-image"),
    ({"x": (1, 2, 3, 4), "c": zeros(2, 1, 1, 4), "y": (2, 2, 3, 4)}, ("ADD", "x c", "y", {}), "operand-of-each-batch"),
    ({"x": (2, 3, 4), "p": zeros(3, 2).astype("int32"), "y": (2, 3, 4)}, ("PAD", "x p", "y", {}), "padding-of-image"),
    (
        {"x": (1, 3, 8), "w": Quantized(4, 8), "y": (3, 4)},
        ("FULLY_CONNECTED", "x w", "y", {"keep_num_dims": False}),
        "layer-of-matrix",
    ),
    ({"x": (5,), "y": (5,)}, ("SOFTMAX", "x", "y", {"beta": 1.0}), "softmax-of-row"),
    ({"x": (5, 2), "a": one(0), "y": (5, 2)}, ("CUMSUM", "x a", "y", {"exclusive": False}), "sums-of-image"),
    ({"x": (2, 6), "a": ints(1), "y": (2, 6)}, ("REVERSE_V2", "x a", "y", {}), "reverse-as-gather"),
    ({"x": (2, 4, 4, 4), "y": (2, 2, 2, 16)}, ("SPACE_TO_DEPTH", "x", "y", {"block_size": 2}), "blocks-of-each-batch"),
]


@pytest.mark.parametrize(("tensors", "step", "name"), CURED, ids=[name for _, _, name in CURED])
def test_a_cured_node(tensors, step, name):
    plan = planned(tensors, [step])
    assert [step.name for step in plan.steps] == [name]
    assert plan.before[0].at_risk
    assert plan.after[0].at_risk == ()
    assert not plan.after[0].on_cpu


def test_a_node_that_no_pass_cures_stays():
    plan = planned({"x": (1, 4), "y": (1, 4)}, [("NEG", "x", "y", {})], "x y")
    assert not plan.is_changed
    assert [risk.code for risk in plan.after[0].at_risk] == ["mldrift-numbers-input-is-output"]


def test_wrong_nodes_count_before_work_on_the_cpu():
    plan = planned({"x": (3, 5), "c": zeros(3, 5), "y": (3, 5)}, [("ADD", "x c", "y", {})])
    assert (plan.before[0].score.wrong, plan.after[0].score.wrong) == (1, 0)
    assert plan.after[0].score < plan.before[0].score._replace(work_left=0)

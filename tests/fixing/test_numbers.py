"""Plans that cure nodes which the GPU computes wrongly."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.descent import Descent
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.fixing.score import helps_visibly
from delegate_sim.fixing.search import search
from delegate_sim.graph.effort import Effort
from tests.support.delegates.mldrift_numbers import Quantized, ints, model_of, one, zeros
from tests.support.delegates.xnnpack_number_cases import convolution, square


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


@pytest.mark.parametrize(("slope", "name"), [(0.5, "leaky-relu-as-maximum"), (1.5, "leaky-relu-as-prelu")])
def test_a_slope_in_the_kernel_of_a_prelu_is_cured(slope, name):
    image = (1, 4, 4, 4)
    tensors = {"x": image, "z": image, "s": zeros(1, 1, 4), "a": image, "b": image, "y": image}
    nodes = [("ADD", "x z", "a", {}), ("PRELU", "a s", "b", {}), ("LEAKY_RELU", "b", "y", {"alpha": slope})]
    plan = planned(tensors, nodes)
    assert [step.name for step in plan.steps] == [name]
    assert plan.after[0].at_risk == ()


IMAGE = (1, 4, 4, 8)
SUMS = {"x": IMAGE, "z": IMAGE, "s": IMAGE, "c": ints(1, 2), "y": (1, 1, 1, 8)}
COPIED = [
    (SUMS, [("ADD", "x z", "s", {}), ("SUM", "s c", "y", {"keep_dims": True})], "s y"),
    (
        {"x": IMAGE, "a": IMAGE, "s": IMAGE, "o": ints(0, 0, 0, 0), "c": ints(*IMAGE)},
        [("NEG", "x", "a", {}), ("SLICE", "a o c", "s", {})],
        "a s",
    ),
]


@pytest.mark.parametrize(("tensors", "steps", "outputs"), COPIED)
def test_an_output_that_is_merged_becomes_a_copy(tensors, steps, outputs):
    plan = planned(tensors, steps, outputs)
    assert [step.name for step in plan.steps] == ["output-as-copy"]
    assert (len(plan.before[0].at_risk), plan.after[0].at_risk) == (1, ())


def test_a_node_that_no_pass_cures_stays():
    plan = planned({"x": (1, 4), "y": (1, 4)}, [("NEG", "x", "y", {})], "x y")
    assert not plan.is_changed
    assert [risk.refusal.code for risk in plan.after[0].at_risk] == ["mldrift-numbers-input-is-output"]


def test_wrong_nodes_count_before_work_on_the_cpu():
    plan = planned({"x": (3, 5), "c": zeros(3, 5), "y": (3, 5)}, [("ADD", "x c", "y", {})])
    assert (plan.before[0].score.wrong, plan.after[0].score.wrong) == (1, 0)
    assert plan.after[0].score < plan.before[0].score._replace(work_left=0)


def test_a_cure_of_a_node_with_float16_weights_needs_another_pass():
    tensors = {"x": (1, 4, 4, 4), "h": zeros(4, 3, 3, 2).astype("float16"), "w": (4, 3, 3, 2), "b": zeros(4), "y": (1, 4, 4, 4)}
    options = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
    plan = planned(tensors, [("DEQUANTIZE", "h", "w", {}), ("CONV_2D", "x w b", "y", options)])
    assert [step.name for step in plan.steps] == ["float16-widened", "convolution-of-each-group"]
    assert plan.after[0].at_risk == ()


def test_a_pass_that_the_end_does_not_need_is_left_out():
    tensors = {"x": (1, 4, 4, 4), "h": zeros(4, 3, 3, 4).astype("float16"), "w": (4, 3, 3, 4), "b": zeros(4), "y": (1, 4, 4, 4)}
    tensors |= {"v": (5,), "s": (5,)}
    options = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
    steps = [("DEQUANTIZE", "h", "w", {}), ("CONV_2D", "x w b", "y", options), ("SOFTMAX", "v", "s", {"beta": 1.0})]
    model = delegate_sim.load(model_of(tensors, steps))
    target = delegate_sim.analyze(model, "mldrift", {"backend": "webgpu"}, defaults="benchmark").runs[0].target
    passes = [PASSES[name] for name in ("float16-widened", "softmax-of-row")]
    widened = apply_pass(start(model), passes[0])
    cured = apply_pass(widened, passes[1])
    applied = [(passes[0], widened), (passes[1], cured)]
    descent = Descent(passes, [target], start(model), Effort(model), applied)
    end = descent.standing
    descent.leave_out()
    assert [item.pass_.name for item in descent.applied] == ["softmax-of-row"]
    assert descent.standing[0].score <= end[0].score
    assert descent.standing == descent.standings_of(descent.now.model)


def test_a_cure_is_no_gain_in_the_other_measures():
    plan = planned({"x": (3, 5), "c": zeros(3, 5), "y": (3, 5)}, [("ADD", "x c", "y", {})])
    (step,) = plan.steps
    assert (step.before, step.standings) == (plan.before, plan.after)
    assert not helps_visibly(step.standings[0], step.before[0])


@pytest.mark.parametrize("delegate", ["coreml", "xnnpack"])
def test_cures_are_only_for_nodes_with_wrong_numbers(delegate):
    tensors = {"x": (1, 5, 5, 4), "w": zeros(4, 3, 3, 4), "s": ints(1, 10, 10, 4), "y": (1, 10, 10, 4)}
    model = delegate_sim.load(model_of(tensors, [("TRANSPOSE_CONV", "s w x", "y", {"stride_h": 2, "stride_w": 2})]))
    run = delegate_sim.analyze(model, delegate, defaults="benchmark").runs[0]
    assert not any(step.name == "transposed-convolution-cut" for step in search(model, [run.target]).steps)


def test_a_cure_that_changes_results_on_the_cpu_is_only_offered():
    tensors = {"x": (1, 6, 6, 4), "w": Quantized(8, 1, 1, 4), "b": zeros(8), "y": (1, 3, 3, 8)}
    options = {"stride_h": 2, "stride_w": 2, "dilation_h_factor": 1, "dilation_w_factor": 1}
    plan = planned(tensors, [("CONV_2D", "x w b", "y", options)])
    assert not plan.is_changed
    assert [risk.refusal.code for risk in plan.after[0].at_risk] == ["mldrift-numbers-conv-1x1-int8-stride"]


@pytest.mark.parametrize(
    ("model", "runtime", "name"),
    [
        (convolution(size=(16, 17)), "litert-2.1.6", "padding-as-node"),
        (convolution("DEPTHWISE_CONV_2D", kind="INT8"), "litert-2.1.6", "padding-as-node"),
        (square(), "litert-2.3.0", "operand-as-copy"),
    ],
    ids=["padding", "depthwise", "square"],
)
def test_a_cured_node_of_xnnpack(model, runtime, name):
    read = delegate_sim.load(model)
    plan = search(read, [delegate_sim.analyze(read, "xnnpack", runtime=runtime, defaults="benchmark").runs[0].target])
    assert [step.name for step in plan.steps] == [name]
    assert (len(plan.before[0].at_risk), plan.after[0].at_risk) == (1, ())
    assert not plan.after[0].on_cpu


@pytest.mark.parametrize(("size", "number"), [((16, 16), 1), ((16, 18), 2)])
def test_a_padding_is_added_only_where_windows_reach_beyond_the_operand(size, number):
    changed = apply_pass(start(delegate_sim.load(convolution(size=size))), PASSES["padding-as-node"])
    assert [node.op for node in changed.model.subgraphs[0].nodes] == ["PAD", "CONV_2D"][-number:]

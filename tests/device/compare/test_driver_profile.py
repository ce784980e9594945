"""Driver profiles learned from logs."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.driver import OperationSignature
from delegate_sim.delegates.driver_profile import DriverProfile, Rejection, read_profile
from delegate_sim.device.compare.driver_profile import LearningError, learn, profile_text, rejection_text
from delegate_sim.device.compare.reconcile import reconcile
from delegate_sim.device.parse.log import read_log
from fixtures.builder import ModelBuilder
from fixtures.device_logs import Device, HiddenDriver, HiddenRule, write_log
from tools.driver_profiles import REPRODUCED, outcome, pairs

PAIRS = 25
"""``make driver-profiles`` takes more."""
SEED = 2


@pytest.fixture(scope="module")
def pairs_of_seed():
    return list(pairs(PAIRS, SEED))


@pytest.mark.parametrize("number", range(PAIRS))
def test_a_learned_profile_reproduces_the_device(pairs_of_seed, number):
    pair = pairs_of_seed[number]
    assert (pair.name, outcome(pair)) == (pair.name, REPRODUCED)


def images(*layers):
    """A model of operators with one operand, each on an input of its own: ``RELU 1x4x4x2`` or ``RELU 1x4x4x2 INT8``."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    for number, layer in enumerate(layers):
        op, text, kind = (*layer.split(), "FLOAT32")[:3]
        shape = [int(size) for size in text.split("x")]
        quantization = {"scale": 1.0, "zero_point": 0} if kind == "INT8" else {}
        source = graph.input(f"x{number}", kind, shape, **quantization)
        result = graph.tensor(f"y{number}", kind, shape, **quantization)
        graph.node(op, (source,), (result,), version=2 if kind == "INT8" else 1)
        graph.outputs(result)
    return delegate_sim.load(builder.bytes())


def learned(model, *rules, profile=None, name="device.txt", **form):
    log = read_log(write_log(model, Device(HiddenDriver(*rules)), **form))
    return learn(reconcile(model, log, profile=profile), name, profile)


def rules(learning):
    return [rejection_text(rejection) for rejection in learning.profile.rejections]


def test_the_condition_is_as_wide_as_what_was_accepted_allows():
    layers = ["RELU 1x4x4x2", "TANH 1x4x4x2"]
    assert rules(learned(images(*layers), HiddenRule("RELU"))) == ["RELU of FLOAT32"]
    assert rules(learned(images(*layers, "RELU 1x4"), HiddenRule("RELU", rank=4))) == ["RELU of FLOAT32 with rank 4"]
    assert rules(learned(images(*layers, "RELU 1x8x8x2"), HiddenRule("RELU", largest=4))) == ["RELU(FLOAT32[1,8,8,2])"]


def test_logs_refine_a_profile():
    first = learned(images("RELU 1x4x4x2", "TANH 1x4x4x2"), HiddenRule("RELU", rank=4))
    assert rules(first) == ["RELU of FLOAT32"]
    second = learned(images("RELU 1x4", "TANH 1x4"), HiddenRule("RELU", rank=4), profile=first.profile, name="second.txt")
    assert rules(second) == ["RELU of FLOAT32 with rank 4"]
    assert [source.log for source in second.profile.sources] == ["device.txt", "second.txt"]
    third = learned(images("ABS 1x4", "TANH 1x4"), HiddenRule("ABS"), profile=second.profile, name="third.txt")
    assert rules(third) == ["ABS of FLOAT32", "RELU of FLOAT32 with rank 4"]
    assert [rejection_text(rejection) for rejection in third.added] == ["ABS of FLOAT32"]
    again = learned(images("ABS 1x4", "TANH 1x4"), HiddenRule("ABS"), profile=third.profile, name="third.txt")
    assert (again.profile, again.added) == (third.profile, ())


def test_a_profile_is_read_as_it_was_written(tmp_path):
    learning = learned(
        images("RELU 1x4x4x2", "RELU 1x8x8x2", "TANH 1x4"), HiddenRule("RELU", largest=4), name='dir/a "b"\x1b\u202e\x7f.txt'
    )
    path = tmp_path / "driver.toml"
    path.write_text(profile_text(learning.profile), encoding="utf-8")
    found = read_profile(str(path))
    assert (found.rejections, found.observations) == (learning.profile.rejections, learning.profile.observations)
    assert found.sources == learning.profile.sources
    assert found.sources[0].log == 'a "b"\\x1b\\u202e\\x7f.txt'


def test_contradictions_are_reported():
    model = images("RELU 1x4x4x2", "TANH 1x4")
    first = learned(model, HiddenRule("RELU"), name="first.txt")
    with pytest.raises(LearningError, match=r"TANH\(FLOAT32\[1,4\]\) is accepted and rejected .* log first\.txt"):
        learned(model, HiddenRule("TANH"), profile=first.profile, name="second.txt")
    with pytest.raises(LearningError, match=r"RELU\(FLOAT32\[1,4,4,2\]\) is accepted and rejected .* log first\.txt"):
        learned(model, profile=first.profile, name="second.txt")


def test_rules_written_by_hand_stay_and_are_held_to_the_logs():
    own = DriverProfile((Rejection("SOFTMAX"),))
    assert rules(learned(images("RELU 1x4", "TANH 1x4"), HiddenRule("RELU"), profile=own)) == ["SOFTMAX", "RELU of FLOAT32"]
    with pytest.raises(LearningError, match=r"the profile rejects TANH, but in the log device\.txt the driver accepted it"):
        learned(images("RELU 1x4", "TANH 1x4"), HiddenRule("RELU"), profile=DriverProfile((Rejection("TANH"),)))


def test_a_summary_by_node_type():
    learning = learned(images("RELU 1x4", "RELU 1x4", "TANH 1x4"), HiddenRule("RELU"), has_run_order=False)
    assert rules(learning) == ["RELU of FLOAT32"]


def test_a_summary_that_leaves_a_choice_teaches_nothing_of_it():
    model = images("RELU 1x4", "RELU 1x8", "TANH 1x4")
    learning = learned(model, HiddenRule("RELU", largest=4), has_run_order=False)
    assert rules(learning) == []
    assert "the log" in learning.notes[-1]


def test_one_rejection_takes_all_of_a_model_with_float16_weights():
    model = delegate_sim.load("fixtures/models/float16_weights.tflite")
    learning = learned(model, HiddenRule("CONV_2D"))
    assert rules(learning) == []
    assert "one of" in learning.notes[0]
    assert [sorted({each.operation for each in group}) for group in learning.profile.one_of] == [["CONV_2D", "SOFTMAX"]]


def test_what_a_later_log_shows_accepted_leaves_a_group(tmp_path):
    group = frozenset([OperationSignature(name, ("FLOAT32",), ((1, 4),)) for name in ("RELU", "TANH")])
    path = tmp_path / "driver.toml"
    path.write_text(profile_text(DriverProfile(one_of=(group,))), encoding="utf-8")
    profile = read_profile(str(path))
    assert profile.one_of == (group,)
    learning = learned(images("TANH 1x4", "ABS 1x4"), profile=profile)
    assert rules(learning) == ["RELU of FLOAT32"]
    assert learning.profile.one_of == ()


def test_what_nothing_is_learned_from():
    model = images("RELU 1x4", "TANH 1x4")
    with pytest.raises(LearningError, match="record the log with --enable_op_profiling=true and --use_xnnpack=false"):
        learned(model, HiddenRule("RELU"), has_run_order=False, has_summary=False)
    log = read_log(write_log(model, Device()).replace("Replacing 2", "Replacing 1"))
    with pytest.raises(LearningError, match="unexplained difference"):
        learn(reconcile(model, log), "device.txt")
    log = read_log("INFO: Explicitly applied GPU delegate, and the model graph will be completely executed by the delegate.\n")
    with pytest.raises(LearningError, match="a log of gpu shows nothing about a driver"):
        learn(reconcile(model, log), "device.txt")


def test_the_accelerator_is_noted():
    model = images("RELU 1x4", "TANH 1x4")
    log = read_log(write_log(model, Device(HiddenDriver(HiddenRule("RELU")), {"accelerator_name": "npu"})))
    assert learn(reconcile(model, log), "x").profile.accelerator == "npu"

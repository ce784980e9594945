"""Profiles of devices learned from what the runtime prints with debug.nn.vlog."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delegate_sim
from delegate_sim.delegates.nnapi import driver_interface
from delegate_sim.delegates.nnapi.device_profile import DevicesProfile, read_devices
from delegate_sim.device.compare.device_profile import can_teach_devices, learn_devices
from delegate_sim.device.compare.driver_profile import LearningError
from delegate_sim.device.compare.reconcile import reconcile
from delegate_sim.device.compare.row_matching import split_differences
from delegate_sim.device.parse.compilations import device_steps
from delegate_sim.device.parse.log import read_log
from delegate_sim.nnapi_runtime.types import OperationType
from tests.support.device.phone import NNAPI, PHONE, TAGGED, device, log_of, run_with
from tests.support.models import chain_model

OPS = ("RELU", "ABS", "TANH", "LOGISTIC", "FLOOR", "NEG")


def learned(model, run, tmp_path, android=13):
    from delegate_sim.device.parse.applied_target import setting_of

    log = read_log(log_of(run, android))
    known = {"feature_level": 30, "accelerator_name": run.options["accelerator_name"]}
    known["disallow_nnapi_cpu"] = str(run.options["disallow_nnapi_cpu"]).lower()
    found = reconcile(model, log, setting_of(log, "nnapi", {key: value for key, value in known.items() if value is not None}))
    assert can_teach_devices(found)
    learning = learn_devices(found)
    path = tmp_path / "phone.toml"
    path.write_text(learning.text, encoding="utf-8")
    return log, learning, read_devices(str(path))


def steps(run):
    return [
        [(step.device, step.operations) for step in split.steps]
        for subgraph in run.subgraphs
        for split in NNAPI.behind.split(subgraph.decision, subgraph.subsets, run.options, run.release)
    ]


@pytest.mark.parametrize("android", [10, 11, 12, 13])
def test_a_profile_leads_to_the_split_of_the_log(tmp_path, android):
    model = delegate_sim.load(chain_model(list(OPS)).bytes())
    run = run_with(model, PHONE, disallow_nnapi_cpu=False)
    log, learning, profile = learned(model, run, tmp_path, android)
    assert [each.name for each in profile.devices] == ["dsp", "gpu"]
    assert not learning.notes
    again = run_with(model, profile, disallow_nnapi_cpu=False)
    assert steps(again) == steps(run) != []
    assert list(split_differences(log, again)) == []
    assert [name for name, _ in steps(run)[0]] == [name for name, _ in device_steps(log.runtime.compilations[0])]


def test_what_a_device_refuses_is_in_the_profile(tmp_path):
    model = delegate_sim.load(chain_model(list(OPS)).bytes())
    _, learning, _ = learned(model, run_with(model, PHONE, disallow_nnapi_cpu=False), tmp_path)
    refused = {each.name: {one.operation for one in each.rejects} for each in learning.devices}
    assert refused == {"dsp": {"ABS", "TANH"}, "gpu": {"TANH", "FLOOR"}}


@pytest.mark.slow
@given(
    ops=st.lists(st.sampled_from(OPS), min_size=1, max_size=8),
    rejects=st.tuples(*[st.sets(st.sampled_from(OPS), max_size=3)] * 2),
    costs=st.permutations([0.2, 0.5, 1.5]),
    cpu=st.booleans(),
    android=st.sampled_from([10, 11, 12, 13]),
)
def test_any_split_over_devices_is_reproduced(tmp_path_factory, ops, rejects, costs, cpu, android):
    model = delegate_sim.load(chain_model(ops).bytes())
    phone = DevicesProfile(tuple(device(name, cost, no) for name, cost, no in zip("ab", costs, rejects, strict=False)))
    run = run_with(model, phone, disallow_nnapi_cpu=not cpu)
    if run.outcome != "delegated":
        return
    _, learning, profile = learned(model, run, tmp_path_factory.mktemp("learnt"), android)
    again = run_with(model, profile, disallow_nnapi_cpu=not cpu)
    assert (steps(again), again.log_lines) == (steps(run), run.log_lines), learning.text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"fails_to_compile": True}, "fails_to_compile = true"),
        ({"cannot_compile": frozenset([OperationType.FLOOR.value])}, 'cannot_compile = ["FLOOR"]'),
    ],
)
def test_a_driver_that_fails_to_compile(tmp_path, settings, expected):
    model = delegate_sim.load(chain_model(["RELU", "TANH", "FLOOR", "TANH", "RELU"]).bytes())
    phone = DevicesProfile((device("dsp", 0.2, ["TANH"], **settings),))
    run = run_with(model, phone, disallow_nnapi_cpu=False)
    _, learning, profile = learned(model, run, tmp_path)
    assert expected in learning.text
    assert steps(run_with(model, profile, disallow_nnapi_cpu=False)) == steps(run)


def test_lines_that_a_logger_left_out_as_identical_count():
    line = f"{TAGGED}ExecutionPlan: ModelBuilder::findBestDeviceForEachOperation(STRIDED_SLICE) = 0 (qti-dsp)\n"
    chatty = f"{TAGGED}chatty  : uid=2000(shell) /data/local/tmp/benchmark_model identical 4 lines\n"
    (found,) = read_log(line + chatty + line).runtime.compilations
    assert [each.op for each in found.choices] == ["STRIDED_SLICE"] * 6


def test_a_log_of_another_model_teaches_nothing(tmp_path):
    model = delegate_sim.load(chain_model(["RELU", "ABS"]).bytes())
    log = read_log(log_of(run_with(delegate_sim.load(chain_model(["NEG", "FLOOR"]).bytes()), PHONE, disallow_nnapi_cpu=False)))
    found = reconcile(model, log)
    assert any("0 have the same operations" in note for note in found.notes)
    with pytest.raises(LearningError, match="match no simulated partition"):
        learn_devices(found)


def test_a_profile_is_held_against_the_steps():
    model = delegate_sim.load(chain_model(list(OPS)).bytes())
    log = read_log(log_of(run_with(model, PHONE, disallow_nnapi_cpu=False)))
    other = run_with(model, DevicesProfile((device("dsp", 0.2),)), disallow_nnapi_cpu=False)
    (difference,) = split_differences(log, other)
    assert "steps on the device" in difference


def test_more_devices_than_a_profile_may_have(tmp_path, monkeypatch):
    model = delegate_sim.load(chain_model(list(OPS)).bytes())
    monkeypatch.setattr(driver_interface, "DEVICES_INTERFACE", replace(driver_interface.DEVICES_INTERFACE, most_devices=1))
    with pytest.raises(LearningError, match="the log has 2 devices, but a profile has at most 1; DELEGATE_SIM_LIMITS"):
        learned(model, run_with(model, PHONE, disallow_nnapi_cpu=False), tmp_path)

"""``delegate-sim reconcile`` on the log of Android's runtime, and on logs of several accelerators."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "reconcile.schema.json"
STACK = "INFO: Replacing 3 out of 3 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0 (main).\n"


def test_a_profile_of_devices_is_learned_and_used(run, phone_model, phone_log, tmp_path):
    phone = tmp_path / "phone.toml"
    result = run("reconcile", phone_model, "--log", phone_log, "--learn", phone)
    assert (result.exit_code, result.stderr) == (0, "")
    again = run("reconcile", phone_model, "--log", phone_log, "--devices", phone, "--format", "json")
    assert (again.exit_code, json.loads(again.stdout)["status"]) == (0, "reproduced")


def test_the_devices_as_json(run, phone_model, phone_log, tmp_path):
    result = run("reconcile", phone_model, "--log", phone_log, "--learn", tmp_path / "phone.toml", "--format", "json")
    content = json.loads(result.stdout)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(content)
    assert [each["name"] for each in content["learnt"]["device_traits"]] == ["dsp", "gpu"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--soc", "google:Tensor_G5", "--delegate", "gpu"], "--soc cannot be combined with --delegate"),
        (["--accelerators", "npu"], "the NPU needs a SoC"),
        (["--accelerators", "gpu", "--delegate", "gpu"], "--accelerators cannot be combined with --delegate"),
        (["--accelerators", "tpu"], "there is no accelerator 'tpu'"),
        (["--accelerators", "npu", "--soc", "google:nothing"], "nothing"),
    ],
)
def test_accelerators_that_are_not_understood(run, phone_model, tmp_path, options, message):
    path = tmp_path / "stack.txt"
    path.write_text(STACK, encoding="utf-8")
    result = run("reconcile", phone_model, "--log", path, *options)
    assert message in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_a_log_of_another_delegate_is_not_compared(run, phone_model, tmp_path):
    path = tmp_path / "stack.txt"
    path.write_text(STACK, encoding="utf-8")
    result = run("reconcile", phone_model, "--log", path, "--delegate", "gpu", "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["status"]) == (1, "not-compared")
    assert run("reconcile", phone_model, "--log", path, "--accelerators", "gpu,cpu").exit_code == 0

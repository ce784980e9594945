"""``delegate-sim reconcile`` on the log of Android's runtime, and on logs of several accelerators."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import delegate_sim
from tests.support.device.phone import PHONE, log_of, run_with
from tests.support.models import chain_model

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "reconcile.schema.json"
STACK = "INFO: Replacing 3 out of 3 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0 (main).\n"


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.tflite"
    chain_model(["RELU", "ABS", "TANH"]).write(path)
    return path


@pytest.fixture
def log(chain, tmp_path):
    path = tmp_path / "logcat.txt"
    path.write_text(log_of(run_with(delegate_sim.load(chain), PHONE, disallow_nnapi_cpu=False)), encoding="utf-8")
    return path


def test_a_profile_of_devices_is_learned_and_used(run, chain, log, tmp_path):
    phone = tmp_path / "phone.toml"
    result = run("reconcile", chain, "--log", log, "--learn", phone)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "dsp: does not take ABS, TANH" in result.stdout
    assert "gpu: does not take TANH" in result.stdout
    shown = run("analyze", chain, "--delegate", "nnapi", "--devices", phone, "--option", "disallow_nnapi_cpu=false").stdout
    assert "step 0 on dsp: RELU 1 [0]" in shown
    assert "step 1 on gpu: ABS 1 [1]" in shown
    assert "step 2 on nnapi-reference: TANH 1 [2]" in shown
    again = run("reconcile", chain, "--log", log, "--devices", phone)
    assert again.exit_code == 0
    assert "Reproduced" in again.stdout


def test_the_devices_as_json(run, chain, log, tmp_path):
    result = run("reconcile", chain, "--log", log, "--learn", tmp_path / "phone.toml", "--format", "json")
    content = json.loads(result.stdout)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(content)
    assert [each["name"] for each in content["learnt"]["device_traits"]] == ["dsp", "gpu"]


def test_what_the_runtime_compiled_is_shown_without_the_model(run, log):
    shown = " ".join(run("explain", "--log", log).stdout.split())
    assert "compiled 3 operations; 3 steps: 1 operation on dsp; 1 operation on gpu; 1 operation on nnapi-reference" in shown
    assert "dsp does not accept 1 ABS, 1 TANH" in shown


def test_accelerators(run, chain, tmp_path):
    path = tmp_path / "stack.txt"
    path.write_text(STACK, encoding="utf-8")
    result = run("reconcile", chain, "--log", path, "--accelerators", "gpu,cpu")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "--- gpu (mldrift): as simulated ---" in result.stdout
    asked = run("reconcile", chain, "--log", path, "--soc", "MT6991")
    assert "npu (npu-mediatek): requested, but the log does not show that it was applied" in asked.stdout


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
def test_accelerators_that_are_not_understood(run, chain, tmp_path, options, message):
    path = tmp_path / "stack.txt"
    path.write_text(STACK, encoding="utf-8")
    result = run("reconcile", chain, "--log", path, *options)
    assert message in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_the_right_delegate_is_offered(run, chain, tmp_path):
    path = tmp_path / "stack.txt"
    path.write_text(STACK, encoding="utf-8")
    result = run("reconcile", chain, "--log", path, "--delegate", "gpu")
    assert result.exit_code == 1
    assert "Not compared: the log belongs to another delegate" in result.stdout
    assert "give --delegate mldrift" in " ".join(result.stdout.split())

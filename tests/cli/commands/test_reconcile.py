"""``delegate-sim reconcile``."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import delegate_sim
from fixtures.device_logs import Device, HiddenDriver, HiddenRule, write_log
from tests.support.models import chain_model

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "reconcile.schema.json"
OPS = ("ADD", "RELU", "ADD", "ROUND", "TANH", "ADD")


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.tflite"
    chain_model(OPS).write(path)
    return path


@pytest.fixture
def device_log(chain, tmp_path):
    """Write the log of a device whose driver rejects an operation."""

    def device_log(*rejected, name="device.txt", model=None, options=None, **form):
        device = Device(HiddenDriver(*map(HiddenRule, rejected)), options or {}, "tf-2.15")
        path = tmp_path / name
        path.write_text(write_log(delegate_sim.load(model or chain), device, **form), encoding="utf-8")
        return path

    return device_log


def test_reproduced(run, chain, device_log):
    result = run("reconcile", chain, "--log", device_log())
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Reproduced" in result.stdout
    assert "tf-2.13 to tf-2.18, litert-1.0" in result.stdout
    assert "  ROUND: 1 node [3]\n" in result.stdout


def test_explained(run, chain, device_log):
    result = run("reconcile", chain, "--log", device_log("RELU"))
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Explained\n" in result.stdout
    assert "  RELU: 1 node [1]\n" in result.stdout
    assert "Replacing 4 out of 6 node(s)" in result.stdout
    assert "Replacing 5 out of 6 node(s)" in result.stdout


def test_unexplained(run, chain, device_log):
    path = device_log()
    path.write_text(path.read_text().replace("Replacing 5", "Replacing 4"))
    result = run("reconcile", chain, "--log", path, "--learn", path.with_name("driver.toml"))
    assert (result.exit_code, result.stderr) == (1, "")
    assert "Unexplained" in result.stdout
    assert not path.with_name("driver.toml").exists()


def test_what_is_learned_is_what_analyze_goes_by(run, run_json, chain, device_log, tmp_path):
    profile = tmp_path / "driver.toml"
    result = run("reconcile", chain, "--log", device_log("RELU"), "--learn", profile)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 rule from 1 log, 1 new\n  - rejects RELU of FLOAT32 (new)\n" in result.stdout
    report = run_json(
        "analyze", chain, "--delegate", "nnapi", "--driver", profile, "--runtime", "tf-2.15", "--no-default-xnnpack"
    )
    assert report["runs"][0]["log_lines"][0] in device_log("RELU").read_text()
    assert report["runs"][0]["options"]["driver"] == "driver.toml"
    with_profile = run("reconcile", chain, "--log", device_log("RELU"), "--driver", profile)
    assert "Reproduced" in with_profile.stdout
    refined = run("reconcile", chain, "--log", device_log("RELU", "TANH", name="other.txt"), "--learn", profile)
    assert refined.exit_code == 2
    assert refined.stdout.startswith("Explained\n"), "what could be found out is shown, though nothing is learned"
    assert "TANH(FLOAT32[1,4])" in refined.stderr


def test_several_logs_of_one_run(run, chain, device_log):
    printed = device_log("RELU", name="printed.txt")
    logcat = printed.with_name("logcat.txt")
    lines = printed.read_text().splitlines()
    replacing = next(line for line in lines if "Replacing" in line)
    logcat.write_text(f"11-20 12:00:00.000  1234  1234 I tflite  : {replacing.removeprefix('VERBOSE: ')}\n")
    printed.write_text("\n".join(line for line in lines if line != replacing) + "\n")
    assert "Explained" in run("reconcile", chain, "--log", printed, "--log", logcat).stdout
    other = run("reconcile", chain, "--log", device_log(name="a.txt"), "--log", device_log("RELU", name="b.txt"))
    assert other.exit_code == 2
    assert "b.txt" in other.stderr


def test_the_command_line_overrides_the_log(run, chain, device_log):
    path = device_log(options={"max_number_delegated_partitions": 1})
    assert "Reproduced" in run("reconcile", chain, "--log", path).stdout
    other = run(
        "reconcile", chain, "--log", path, "--max_delegated_partitions=0", "--runtime", "tf-2.12", "--feature-level", "30"
    )
    assert "--max-delegated-partitions=0" in other.stdout
    assert "tf-2.12" in other.stdout
    assert run("reconcile", chain, "--log", path, "--delegate", "gpu").exit_code == 1


def validate(content):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(content)


@pytest.mark.parametrize("rejected", [(), ("RELU",), ("RELU", "ADD")])
@pytest.mark.parametrize("form", [{}, {"has_run_order": False}, {"has_run_order": False, "has_summary": False}])
def test_json(run, chain, device_log, tmp_path, rejected, form):
    log = device_log(*rejected, has_refusals=True, **form)
    found = json.loads(run("reconcile", chain, "--log", log, "--format", "json").stdout)
    validate(found)
    assert found["learnt"] is None
    assert found["delegate"] == "nnapi"
    if form.get("has_summary", True):
        found = json.loads(run("reconcile", chain, "--log", log, "--format", "json", "--learn", tmp_path / "d.toml").stdout)
        validate(found)
        assert {rule["operation"] for rule in found["learnt"]["rejects"]} == set(rejected)


def test_json_of_what_stays_unexplained(run, chain, device_log):
    path = device_log()
    path.write_text(path.read_text().replace("Replacing 5", "Replacing 4"))
    result = run("reconcile", chain, "--log", path, "--format", "json")
    assert result.exit_code == 1
    validate(json.loads(result.stdout))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--log", "missing.txt"], "missing.txt: No such file"),
        ([], "Missing option '--log'"),
        (["--log", "{log}", "--runtime", "tf-1.0"], "tf-1.0 is older than the oldest known release, tf-2.10"),
        (["--log", "{log}", "--driver", "missing.toml"], "option driver of nnapi: missing.toml: No such file"),
        (["--log", "{log}", "--learn", "{other}"], "is not TOML"),
        (["--log", "{log}", "--learn", "{chain}"], "is an input file, which is never overwritten"),
        (["--log", "{log}", "--learn", "{log}"], "is an input file, which is never overwritten"),
        (["--log", "{log}", "--learn", "no/such/folder.toml"], "No such file or directory"),
        (["--log", "{chain}"], "has no lines about a delegate"),
    ],
)
def test_errors_are_one_line(run, chain, device_log, tmp_path, arguments, message):
    log, other = device_log("RELU"), tmp_path / "other"
    other.write_text("no profile")
    result = run("reconcile", chain, *[argument.format(log=log, chain=chain, other=other) for argument in arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_an_error_names_the_file_that_is_at_fault(run, chain, device_log, tmp_path):
    unknown = device_log()
    unknown.write_text(unknown.read_text().replace("TfLiteNnapiDelegate", "Something"))
    result = run("reconcile", chain, "--log", unknown)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {unknown}: ")
    chain_model(["ADD", "RELU", "CEIL"]).write(tmp_path / "other.tflite")
    other = run("reconcile", chain, "--log", device_log(model=tmp_path / "other.tflite"))
    assert other.exit_code == 2
    assert other.stderr.startswith(f"error: {chain}: the log")


def test_hostile_text_from_logs_and_models_is_made_printable(run, chain, device_log):
    path = device_log("RELU")
    text = path.read_text().replace("for the whole graph.", "for subgraph 0 (\u202emain\u2066).")
    text += "ERROR: NN API returned error \u202e[31m at line 1 while completing\n"
    path.write_text(text + "INFO: NNAPI accelerator name: [\u202eevil]\n", encoding="utf-8")
    for form in ("text", "json"):
        result = run("reconcile", chain, "--log", path, "--format", form)
        assert "\u202e" not in result.stdout
        assert "\\u202e" in result.stdout


def test_a_check_goes_by_the_profile(run, chain, device_log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("reconcile", chain, "--log", device_log("RELU"), "--learn", "driver.toml")
    target = '[targets.phone]\ndelegate = "nnapi"\noptions = { driver = "driver.toml" }\n'
    Path("delegate-sim.toml").write_text(f'models = ["*.tflite"]\n{target}', encoding="utf-8")
    assert run("check", "--update").exit_code == 0
    baseline = Path("delegate-sim-baseline.json").read_text(encoding="utf-8")
    assert '"driver": "driver.toml"' in baseline
    assert run("check").exit_code == 0
    Path("driver.toml").write_text('schema = "delegate-sim/driver/1"\nrejects = 1\n', encoding="utf-8")
    broken = run("check")
    assert broken.exit_code == 2
    assert broken.stderr.startswith("error: delegate-sim.toml:4: targets.phone.options.driver: ")
    assert ": driver.toml:2: rejects: " in broken.stderr


def test_an_accelerator_that_could_not_be_applied_is_not_reproduced(run, chain, device_log):
    path = device_log()
    text = "\n".join(line for line in path.read_text().splitlines() if "NNAPI" not in line and "Nnapi" not in line)
    path.write_text(f"{text}\nWARN: NNAPI acceleration is unsupported on this platform.\n")
    result = run("reconcile", chain, "--log", path)
    assert result.exit_code == 1
    assert "Reproduced" not in result.stdout


@pytest.mark.parametrize(
    ("rejected", "changed", "arguments", "sentence"),
    [
        ((), {}, (), "Reproduced: the simulation agrees with the device"),
        ((), {"out of 6 node": "out of 7 node"}, (), "the log counts 7 nodes, but the model has 6; is the log"),
        (("RELU",), {}, (), "Explained the driver rejects nodes that the delegate accepts"),
        (("RELU",), {}, (), "but the line of benchmark_model counts only delegate kernels"),
        ((), {}, ("--delegate", "npu-qualcomm"), "npu-qualcomm cannot be simulated, because closed-source code"),
        ((), {}, ("--runtime", "tf-2.12"), "the lines of tf-2.12 have another wording than this log"),
        ((), {"TfLiteNnapiDelegate": "Something"}, (), "the log is from an unknown delegate"),
    ],
)
def test_sentences(run, chain, device_log, rejected, changed, arguments, sentence):
    path = device_log(*rejected)
    for old, new in changed.items():
        path.write_text(path.read_text().replace(old, new))
    result = run("reconcile", chain, "--log", path, *arguments)
    assert sentence in " ".join((result.stdout + result.stderr).split())


def test_an_unexplained_log_says_what_to_check(run, tmp_path):
    model = tmp_path / "m.tflite"
    chain_model(["ADD", "ADD", "TANH"]).write(model)
    log = tmp_path / "log.txt"
    log.write_text(
        "INFO: Created TensorFlow Lite delegate for GPU.\n"
        "VERBOSE: Replacing 1 out of 3 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 2 partitions for subgraph 0.\n",
        "utf-8",
    )
    result = run("reconcile", model, "--log", log)
    assert result.exit_code == 1
    command = "    benchmark_model --graph=model.tflite --enable_op_profiling=true --use_xnnpack=false --use_gpu=true"
    assert command in result.stdout.splitlines()


def test_a_log_that_is_older_than_all_known_releases(run, chain, tmp_path):
    log = tmp_path / "old.log"
    line = "First 5 operations will run on the GPU, and the remaining 1 on the CPU."
    log.write_text(f"{line}\nReplacing 5 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 2 partitions.\n", "utf-8")
    found = " ".join(run("reconcile", chain, "--log", log).stdout.split())
    assert "releases older than tf-2.10 (not simulated), by the wording or the dates of its lines; compared with tf-2.11" in found


def test_the_command_for_a_log_of_xnnpack_does_not_switch_it_off(run, tmp_path):
    chain, log = tmp_path / "m.tflite", tmp_path / "log.txt"
    chain_model(["ADD", "ADD", "LOG_SOFTMAX"]).write(chain)
    log.write_text(
        "INFO: Graph: [/data/my model.tflite]\nINFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"
        "VERBOSE: Replacing 1 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions.\n",
        "utf-8",
    )
    result = run("reconcile", chain, "--log", log)
    assert result.exit_code == 1
    command = "    benchmark_model --graph='/data/my model.tflite' --enable_op_profiling=true --use_xnnpack=true"
    assert command in result.stdout.splitlines()


def test_nothing_else_is_to_be_checked_in_a_log_of_another_model(run, chain, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(
        "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"
        "VERBOSE: Replacing 90 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions.\n",
        "utf-8",
    )
    assert "benchmark_model --graph" not in run("reconcile", chain, "--log", log).stdout


@pytest.mark.parametrize(
    ("arguments", "variable", "delegate"),
    [
        (["--device", "imx8mp"], None, "vx-nxp"),
        ([], "imx8mp", "vx-nxp"),
        ([], "pixel10", "vx"),
        ([], None, "vx"),
        (["--device", "pixel10"], None, None),
        (["--device", "imx8mp", "--delegate", "vx"], None, None),
    ],
)
def test_the_device_of_the_log(run, chain, tmp_path, monkeypatch, arguments, variable, delegate):
    if variable is not None:
        monkeypatch.setenv("DELEGATE_SIM_DEVICE", variable)
    log = tmp_path / "vx.txt"
    nodes = len(delegate_sim.load(chain).subgraphs[0].nodes)
    line = f"Replacing {nodes} out of {nodes} node(s) with delegate (Vx Delegate) node, yielding 1 partitions for subgraph 0.\n"
    log.write_text(f"EXTERNAL delegate created.\n{line}", "utf-8")
    result = run("reconcile", chain, "--log", log, "--format", "json", *arguments)
    assert (result.exit_code == 2) == (delegate is None)
    assert delegate is None or json.loads(result.stdout)["delegate"] == delegate

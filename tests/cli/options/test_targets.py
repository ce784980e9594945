"""Every command that asks about one target takes an application with operators of its own into account."""

from __future__ import annotations

import pytest

import delegate_sim
from tests.support.models import chain_model

UNKNOWN = ("TANH", "LOGISTIC 9", "TANH")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.tflite"
    chain_model(UNKNOWN).write(path)
    return path


def outcomes(found):
    return [found[side]["measures"]["outcome"] for side in ("a", "b")]


def test_diagnose(run, run_json, model):
    assert run_json("diagnose", model)["now"]["outcome"] == "refused, not loaded"
    assert run_json("diagnose", model)["causes"][0]["name"] == "release:LOGISTIC:9"
    assert run_json("diagnose", model, "--assume-ops-registered")["now"]["outcome"] == "delegated"
    analyzed = run("analyze", model, "--delegate", "nnapi", "--assume-ops-registered").stdout
    (advice,) = [line for line in analyzed.splitlines() if "delegate-sim diagnose" in line]
    assert "--assume-ops-registered" in advice


def test_the_former_name_of_the_option_is_hidden_and_accepted(run, run_json, model):
    assert run_json("diagnose", model, "--own-resolver") == run_json("diagnose", model, "--assume-ops-registered")
    assert "own-resolver" not in run("diagnose", "--help").stdout


def test_compare(run_json, model, tmp_path):
    other = tmp_path / "other.tflite"
    chain_model(["TANH", "LOGISTIC 9"]).write(other)
    arguments = ("compare", model, other)
    assert outcomes(run_json(*arguments)) == ["refused, not loaded", "refused, not loaded"]
    assert outcomes(run_json(*arguments, "--assume-ops-registered")) == ["delegated", "delegated"]


def test_whatif(run_json, model):
    arguments = ("whatif", model, "--accept", "LOGISTIC")
    assert outcomes(run_json(*arguments)) == ["refused, not loaded", "refused, not loaded"]
    assert outcomes(run_json(*arguments, "--assume-ops-registered")) == ["delegated", "delegated"]


def test_the_former_name_of_the_argument_is_accepted_with_a_warning(model):
    with pytest.warns(DeprecationWarning, match="own_resolver is now called assume_ops_registered"):
        assert delegate_sim.diagnose(model, own_resolver=True, defaults="api").now.measures.outcome == "delegated"
    with pytest.raises(delegate_sim.OptionError, match="give only one of them"):
        delegate_sim.diagnose(model, own_resolver=True, assume_ops_registered=True, defaults="api")


def test_python(model):
    assert delegate_sim.diagnose(model, defaults="api").now.measures.outcome == "refused, not loaded"
    assert delegate_sim.diagnose(model, assume_ops_registered=True, defaults="api").now.measures.outcome == "delegated"
    found = delegate_sim.whatif(model, accept="LOGISTIC", assume_ops_registered=True, defaults="api")
    assert {side.run.outcome for side in (found.a, found.b)} == {"delegated"}
    found = delegate_sim.compare(model, changed={"feature_level": 30}, assume_ops_registered=True, defaults="api")
    assert {side.run.outcome for side in (found.a, found.b)} == {"delegated"}


def test_the_release_of_android_on_every_command(run, run_json, model):
    for command in ("analyze", "diagnose", "fix", "releases", "whatif"):
        further = {"fix": ("--delegate", "nnapi", "--plan"), "whatif": ("--accept", "LOGISTIC")}.get(
            command, ("--delegate", "nnapi")
        )
        result = run(command, model, *further, "--android", "9")
        assert "no such option" not in result.stderr.lower(), command
        assert result.exit_code in (0, 1), (command, result.stderr)
    named = run_json("analyze", model, "--delegate", "nnapi", "--nnapi_runtime", "11")
    assert run_json("analyze", model, "--delegate", "nnapi", "--android=11") == named
    assert run_json("compare", model, "--with", "android=11")["b"]["options"]["nnapi_runtime"] == "11"
    help_text = run("analyze", "--help", "--delegate", "nnapi").stdout
    assert "--android" in help_text
    assert "--nnapi-runtime" not in help_text


def test_the_targets_of_the_configuration_are_the_default(run, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    configuration = '[targets.phone]\ndelegate = "nnapi"\nandroid = "9"\n[targets.watch]\ndelegate = "gpu"\n'
    (tmp_path / "delegate-sim.toml").write_text(configuration, "utf-8")
    first = "Targets of delegate-sim.toml: phone (nnapi), watch (gpu)"
    for command in (("diagnose", model), ("fix", model, "--plan"), ("releases", model)):
        assert run(*command).stdout.splitlines()[0] == first
    only = "Target of delegate-sim.toml: phone (nnapi)"
    for command in (("whatif", model, "--accept", "LOGISTIC"), ("compare", model, "--with", "android=11"), ("rules",)):
        assert run(*command).stdout.splitlines()[0] == only
    assert not run("diagnose", model, "--delegate", "gpu").stdout.startswith("Targets")


def test_compare_begins_with_the_first_target_of_the_configuration(run, run_json, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    configuration = '[targets.phone]\ndelegate = "nnapi"\nandroid = "9"\nruntime = "tf-2.15"\noptions = { allow_fp16 = true }\n'
    (tmp_path / "delegate-sim.toml").write_text(configuration, "utf-8")
    compared = run_json("compare", model, "--with", "android=11")
    assert [compared[side]["runtime"] for side in "ab"] == ["tf-2.15"] * 2
    assert [compared[side]["options"]["nnapi_runtime"] for side in "ab"] == ["9", "11"]
    assert [compared[side]["options"]["allow_fp16"] for side in "ab"] == [True, True]
    assert run_json("compare", model, "--with", "delegate=gpu")["b"]["runtime"] == "tf-2.15"
    assert run("compare", model).exit_code == 2
    assert "option 'speed'" in run("compare", model, "--with", "speed=1").stderr


def test_the_default_delegate_is_named_in_the_first_line(run, tmp_path):
    model = tmp_path / "mixed.tflite"
    chain_model(["TANH", "ROUND", "TANH"]).write(model)
    commands = {
        ("fix", model, "--plan"): "NNAPI on Android 13",
        ("rules",): "What the delegate nnapi accepts",
        ("diagnose", model): "Target vx-nxp: of 9 accelerators",
        ("whatif", model, "--accept", "ROUND"): "A: NNAPI on Android 13",
        ("compare", model, "--with", "android=11"): "A: NNAPI on Android 13",
        ("releases", model): "NNAPI on Android 13",
        ("export", "lowered", model): "nnapi on ",
    }
    for command, start in commands.items():
        # A comparison starts with its verdict, in up to three lines.
        assert any(line.startswith(start) for line in run(*command).stdout.splitlines()[:4])


def delegates_in(report):
    return [entry["delegate"] for entry in report["runs"]]


PIXEL = ["mldrift", "npu-google", "xnnpack", "gpu", "nnapi"]


def test_a_device_selects_its_delegates_and_the_defaults_of_the_api(run, run_json, model):
    report = run_json("analyze", model, "--device", "pixel10")
    assert delegates_in(report) == PIXEL
    assert {entry["defaults"] for entry in report["runs"]} == {"api"}
    benchmark = run_json("analyze", model, "--device", "pixel10", "--defaults", "benchmark")
    assert {entry["defaults"] for entry in benchmark["runs"]} == {"benchmark"}
    line = "Pixel 10: mldrift, npu-google, xnnpack, gpu, nnapi (deprecated since Android 15)"
    assert run("analyze", model, "--device", "pixel10").stdout.splitlines()[0] == line
    assert run("analyze", model, "--device", "s25", "--runtime", "x").exit_code == 2


def test_devices_and_kinds_of_devices_are_joined(run_json, model):
    assert delegates_in(run_json("analyze", model, "--device", "imx93", "--for", "iphones")) == [
        *("ethosu-imx93", "xnnpack", "mldrift", "coreml")
    ]


def test_named_delegates_of_a_device_leave_out_the_others(run_json, model):
    named = ("--delegate", "xnnpack", "--delegate", "vx-nxp")
    assert delegates_in(run_json("analyze", model, "--device", "imx8mp", *named)) == ["vx-nxp", "xnnpack"]
    assert delegates_in(run_json("analyze", model, "--device", "imx93", "--delegate", "all")) == ["ethosu-imx93", "xnnpack"]
    report = run_json("analyze", model, "--device", "pixel10", "--delegate", "npu-google")
    assert [(entry["options"]["soc"], entry["defaults"]) for entry in report["runs"]] == [("Tensor_G5", "api")]


def test_an_option_of_the_user_goes_to_the_delegates_of_a_device(run, run_json, model):
    report = run_json("analyze", model, "--device", "pixel10", "--android", "11")
    assert report["runs"][-1]["options"]["nnapi_runtime"] == "11"
    assert "have no flag --android" in run("analyze", model, "--device", "imx93", "--android", "11").stderr


@pytest.mark.parametrize(
    ("command", "names"),
    [(("diagnose",), PIXEL), (("fix", "--plan"), PIXEL), (("releases",), PIXEL), (("whatif", "--accept", "LOGISTIC"), PIXEL[:1])],
)
def test_every_command_takes_a_device(run, model, command, names):
    result = run(command[0], model, *command[1:], "--device", "pixel10")
    assert (result.exit_code in (0, 1), result.stdout.splitlines()[0].startswith(f"Pixel 10: {', '.join(names)}")) == (True, True)


def test_two_devices_are_compared(run, run_json, model):
    found = run_json("compare", model, "--device", "pixel10", "--device", "imx93")
    assert [found[side]["delegate"] for side in "ab"] == ["npu-google", "ethosu-imx93"]
    assert run("compare", model, *["--device", "pixel10", "--device", "imx93", "--device", "imx95"]).exit_code == 2


def test_the_environment_names_the_device_unless_the_command_line_names_a_target(run, run_json, model, monkeypatch):
    monkeypatch.setenv("DELEGATE_SIM_DEVICE", "imx93, imx95")
    assert delegates_in(run_json("analyze", model)) == ["ethosu-imx93", "xnnpack", "neutron-imx95"]
    assert delegates_in(run_json("analyze", model, "--delegate", "gpu", "--no-default-xnnpack")) == ["gpu"]
    assert delegates_in(run_json("analyze", model, "--device", "iphone")) == ["mldrift", "coreml", "xnnpack"]
    assert "npu-google" in run("analyze", model, "--soc", "pixel10").stdout
    monkeypatch.setenv("DELEGATE_SIM_DEVICE", "toaster")
    result = run("analyze", model)
    assert (result.exit_code, "no device 'toaster'" in result.stderr, len(result.stderr.splitlines())) == (2, True, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--device", "pixel10", "--delegate", "coreml"), "the delegate coreml does not exist on the named devices"),
        (("--delegate", "imx8mp"), "--device imx8mp or --delegate vx-nxp"),
        (("--soc", "imx8mp"), "--device imx8mp or --delegate vx-nxp"),
        (("--delegate", "pixel10"), "--device pixel10"),
        (("--for", "gpu"), "give --delegate gpu"),
        (("--for", "microcontrollers"), "delegate-sim micro "),
        (("--delegate", "ethos-u55-128"), ".tflite --delegate ethos-u55-128 --live`"),
        (("--device", "imx8mq"), "did you mean imx8mp"),
    ],
)
def test_wrong_names_of_devices(run, model, arguments, words):
    result = run("analyze", model, *arguments)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert words in result.stderr


def test_a_diagnosis_without_a_delegate_names_its_target_and_why(run, run_json, model):
    assert run("diagnose", model).stdout.startswith("Target mldrift: of 10 accelerators ")
    assert run_json("diagnose", model)["delegate"] == "mldrift"
    assert run_json("diagnose", model, "--runtime", "tf-2.15")["runtime"] == "tf-2.15"


@pytest.mark.parametrize(
    "arguments",
    [("analyze", "--soc", "pixel9"), ("analyze", "--accelerators", "gpu,cpu")],
)
def test_a_device_excludes_other_ways_to_name_targets(run, model, arguments):
    command, *others = arguments
    result = run(command, model, "--device", "pixel10", *others)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"or {others[0]}: " in result.stderr

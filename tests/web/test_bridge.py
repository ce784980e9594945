"""The functions that the page calls in Python."""

from __future__ import annotations

import json
import sys

import pytest

from delegate_sim.delegates.options import DEFAULT_SETS, parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.errors import LimitError
from delegate_sim.foundation.late_numpy import np
from fixtures.bundles import zip_bytes
from tests.support.models import chain_model, convolution_without_bias
from tools.web.equality import of_command_line
from web import bridge
from web.form import form as form_of_page

MODEL = "fixtures/models/mobilenet_block.tflite"


def run(*arguments):
    return json.loads(bridge.run([*map(str, arguments)]))


@pytest.fixture
def _no_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    for name in list(vars(np)):
        monkeypatch.delattr(np, name)


@pytest.fixture(scope="module")
def form():
    return json.loads(form_of_page())


class TestForm:
    def test_every_delegate_is_offered(self, form):
        names = [delegate["name"] for delegate in form["delegates"]]
        assert sorted(names) == sorted(DELEGATE_NAMES)
        assert [name for _, members in form["groups"] for name in members] == names
        assert not find_delegate(form["default_delegate"]).deprecated
        assert all(delegate["title"] or delegate["is_plugin"] for delegate in form["delegates"])

    def test_what_an_option_offers_is_what_the_command_line_takes(self, form):
        for entry in form["delegates"]:
            delegate = find_delegate(entry["name"])
            assert {option["name"] for option in entry["options"]} == {
                option.key for option in delegate.options if option.changes_verdicts
            }
            for option in entry["options"]:
                assert (option["type"] == "choice") == bool(option["choices"])
                for value in ("true", "false") if option["type"] == "boolean" else option["choices"]:
                    parse_options(delegate.name, delegate.options, {option["name"]: value})

    def test_defaults_of_choices_are_choices(self, form):
        for delegate in form["delegates"]:
            for option in delegate["options"]:
                if option["choices"]:
                    assert {*option["defaults"].values()} <= {"", *option["choices"]}
                assert list(option["defaults"]) == list(DEFAULT_SETS)

    def test_a_flag_is_as_typed(self, form):
        nnapi, google = (next(one for one in form["delegates"] if one["name"] == name) for name in ("nnapi", "npu-google"))
        android = next(option for option in nnapi["options"] if option["name"] == "android")
        soc = google["options"][0]
        assert run("analyze", MODEL, "--delegate", "nnapi", f"{android['flag']}=11")["exit"] == 0
        flag, name = soc["flag"].split()
        assert run("analyze", MODEL, "--delegate", "npu-google", flag, f"{name}={soc['choices'][0]}")["exit"] == 0

    def test_each_android_release_has_its_feature_level(self, form):
        levels = {delegate["name"]: delegate["level"] for delegate in form["delegates"] if delegate["level"]}
        assert levels.keys() == {"nnapi"}
        assert (levels["nnapi"]["option"], levels["nnapi"]["release"]) == ("feature_level", "android")
        by_release = levels["nnapi"]["by_release"]
        for release, level in by_release.items():
            answer = run("analyze", MODEL, "--delegate", "nnapi", f"--android={release}", f"--feature-level={level}")
            assert answer["exit"] == 0
        assert (by_release["11"], by_release["13"], by_release["none"]) == (30, 1000008, 1000008)

    def test_releases_and_socs_are_those_of_the_command_line(self, form):
        oldest = form["releases"]["choices"][-1]
        assert run("analyze", MODEL, "--delegate", "gpu", "--runtime", oldest)["exit"] == 0
        assert form["releases"]["default"] in form["releases"]["choices"]
        pixel = next(soc for soc in form["socs"] if "Pixel 10" in soc["also"])
        assert run("analyze", MODEL, "--soc", pixel["name"])["exit"] == 0


class TestRun:
    def test_the_output_is_that_of_the_command_line(self):
        command = ["analyze", MODEL, "--delegate", "gpu", "--format", "json"]
        code, output, error = of_command_line(command)
        assert run(*command) == {"exit": code, "output": output, "error": error, "needs": None}

    def test_text_that_is_not_ascii_stays_as_it_is(self, tmp_path):
        path = tmp_path / "größe.tflite"
        chain_model(["ADD"]).write(path)
        assert str(path) in run("inspect", path)["output"]

    @pytest.mark.parametrize("arguments", [["analyze", "no/such.tflite"], ["analyze", "--no-such-option"], ["no-such-command"]])
    def test_an_error_is_one_line(self, arguments):
        answer = run(*arguments)
        assert answer["exit"] == 2
        assert answer["error"].startswith("error: ")
        assert "\n" not in answer["error"]

    def test_a_command_that_exits_without_a_code_is_done(self):
        assert run("explain", "nnapi-missing-bias")["exit"] == 0

    def test_progress_names_the_targets(self):
        told = []
        bridge.run(["analyze", MODEL, "--delegate", "gpu", "--delegate", "vx"], lambda *arguments: told.append(arguments))
        assert told == [(MODEL, -1.0), (f"{MODEL}: gpu", 0.0), (f"{MODEL}: vx", 0.5)]


@pytest.mark.usefixtures("_no_numpy")
class TestWithoutNumpy:
    def test_a_model_that_needs_no_numpy_is_analyzed(self):
        answer = run("analyze", MODEL, "--format", "json")
        assert (answer["exit"], answer["needs"]) == (0, None)

    def test_a_model_that_needs_numpy_says_so_in_one_line(self):
        path = "fixtures/models/slicing.tflite"
        answer = run("analyze", path)
        assert (answer["exit"], answer["needs"]) == (2, "numpy")
        assert answer["error"].startswith(f"error: {path}: ")

    def test_a_diagnosis_says_that_passes_were_left_out(self, tmp_path):
        path = tmp_path / "no_bias.tflite"
        path.write_bytes(convolution_without_bias())
        answer = run("diagnose", path, "--delegate", "nnapi", "--format", "json")
        assert (answer["exit"], answer["needs"]) == (0, "numpy")
        (reason,) = json.loads(answer["output"])["not_simulated"]
        assert "numpy" in reason

    def test_a_plan_says_that_passes_were_left_out(self, tmp_path):
        path = tmp_path / "no_bias.tflite"
        path.write_bytes(convolution_without_bias())
        answer = run("fix", path, "--delegate", "nnapi", "--plan")
        assert (answer["exit"], answer["needs"]) == (1, "numpy")
        assert "numpy" in answer["output"]


class TestModels:
    def test_a_model_is_itself(self):
        assert json.loads(bridge.models(MODEL)) == {"models": [MODEL], "error": ""}

    def test_the_models_of_a_bundle_are_addresses_that_commands_take(self, tmp_path):
        content = chain_model(["ADD"]).bytes()
        path = tmp_path / "two.task"
        path.write_bytes(zip_bytes({"a.tflite": content, "notes.txt": b"", "b.tflite": content}))
        found = json.loads(bridge.models(str(path)))
        assert found == {"models": [f"{path}!/a.tflite", f"{path}!/b.tflite"], "error": ""}
        assert run("analyze", found["models"][1])["exit"] == 0

    def test_a_damaged_bundle_is_one_line(self, tmp_path):
        path = tmp_path / "damaged.zip"
        path.write_bytes(b"PK\x03\x04 damaged")
        found = json.loads(bridge.models(str(path)))
        assert found["models"] == []
        assert "zip" in found["error"]


@pytest.mark.parametrize("error", [MemoryError(), RecursionError(), LimitError("too much work")])
def test_a_bundle_that_takes_too_much_is_an_error(tmp_path, monkeypatch, error):
    def models_in(path):
        raise error

    (tmp_path / "a.zip").write_bytes(zip_bytes({"m.tflite": b"x"}))
    monkeypatch.setattr(bridge, "models_in", models_in)
    found = json.loads(bridge.models(str(tmp_path / "a.zip")))
    assert found["models"] == []
    assert found["error"]

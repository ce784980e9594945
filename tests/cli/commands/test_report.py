"""``delegate-sim report`` and ``delegate-sim export``."""

from __future__ import annotations

import json

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.results.report.outcome_words import NOT_COMPILED
from tests.support.models import chain_model


class TestReport:
    def test_a_page_is_written_and_its_size_is_said(self, run, model, tmp_path):
        page = tmp_path / "page.html"
        result = run("report", model, "--delegate", "nnapi", "-o", page)
        size = len(page.read_bytes())
        assert result.exit_code == 0
        verdict = "NNAPI on Android 13 runs 50 % of nodes; 1 ROUND and 1 other node stay on the CPU"
        assert result.stdout.splitlines() == [verdict, f"{page}: 1 view, {size:,} bytes"]

    def test_models_and_delegates_are_views(self, run, model, tmp_path):
        chain_model(["ADD"]).write(tmp_path / "other.tflite")
        result = run("report", model, tmp_path / "other.tflite", "--delegate", "nnapi", "--delegate", "gpu", "-o", tmp_path / "p")
        assert "4 views" in result.stdout

    def test_socs_are_targets(self, run, model, tmp_path):
        chosen = ("--soc", "pixel10", "--soc", "exynos2500")
        result = run("report", model, *chosen, "-o", tmp_path / "p")
        assert (result.exit_code, "2 views" in result.stdout) == (0, True)
        assert NOT_COMPILED in " ".join(result.stdout.split())
        assert '"soc":"E9955"' in (tmp_path / "p").read_text(encoding="utf-8")
        assert "3 views" in run("report", model, *chosen, "--delegate", "nnapi", "-o", tmp_path / "q").stdout

    def test_without_causes_none_are_looked_for(self, run, model, tmp_path, monkeypatch):
        monkeypatch.setattr("delegate_sim.diagnosis.diagnose.diagnose", lambda *_: pytest.fail("causes were looked for"))
        without_delegate = run("report", model, "--no-causes", "-o", tmp_path / "p")
        assert (without_delegate.exit_code, f"{len(DELEGATE_NAMES)} views" in without_delegate.stdout) == (0, True)
        assert '"causes":null' in (tmp_path / "p").read_text(encoding="utf-8")

    def test_micro_alone_is_one_view_and_delegates_are_added_by_name(self, run, model, tmp_path):
        alone = run("report", model, "--micro", "-o", tmp_path / "p")
        assert (alone.exit_code, "1 view" in alone.stdout) == (0, True)
        assert alone.stdout.startswith("TensorFlow Lite Micro ")
        assert "2 views" in run("report", model, "--micro", "--delegate", "gpu", "-o", tmp_path / "q").stdout
        assert "2 views" in run("report", model, "--micro", "--soc", "pixel10", "-o", tmp_path / "r").stdout

    def test_an_op_profile_needs_a_delegate(self, run, model, tmp_path):
        result = run("report", model, "--micro", "--op-profile", tmp_path / "profile.txt", "-o", tmp_path / "p")
        assert (result.exit_code, "needs a delegate" in result.stderr) == (2, True)

    def test_an_unreadable_model_does_not_stop_the_others(self, run, model, tmp_path):
        result = run("report", tmp_path / "missing.tflite", model, "-o", tmp_path / "p")
        assert result.exit_code == 2
        assert "missing.tflite" in result.stderr
        assert (tmp_path / "p").exists()

    def test_a_drawing_without_memory_is_a_line_that_names_the_model(self, run, model, tmp_path, monkeypatch):
        def refuse(*_):
            raise MemoryError

        monkeypatch.setattr("delegate_sim.page.graph_tables.draw", refuse)
        result = run("report", model, "--delegate", "nnapi", "-o", tmp_path / "p")
        assert result.exit_code == 2
        assert result.stderr.startswith(f"error: {model}: not simulated: it needs more memory than")
        assert result.stderr.count("\n") == 1

    def test_without_any_model_no_page_is_written(self, run, tmp_path):
        assert run("report", tmp_path / "missing.tflite", "-o", tmp_path / "p").exit_code == 2
        assert not (tmp_path / "p").exists()


def test_node_data_go_to_standard_output(run, model):
    result = run("export", "model-explorer", model)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["main"]["results"]["1"]["value"] == "CPU: nnapi-operator"


def test_several_delegates_have_a_file_each(run, model, tmp_path):
    result = run("export", "model-explorer", model, "--delegate", "nnapi", "--delegate", "gpu", "-o", tmp_path / "overlay.json")
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.glob("overlay*")) == ["overlay.gpu.json", "overlay.nnapi.json"]
    result = run("export", "dot", model, "--delegate", "nnapi", "--delegate", "gpu")
    assert (result.exit_code, "give --output" in result.stderr) == (2, True)

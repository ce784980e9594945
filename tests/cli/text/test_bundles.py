"""Bundles on the command line: ``analyze``, ``inspect``, ``fix`` and ``export``."""

from __future__ import annotations

import json
import re

import pytest

from delegate_sim.live import litert_lm
from delegate_sim.live.litert_lm import LiveBundle
from fixtures.language_models import bundle, decoder, embedder

RANK5 = decoder(operators={"decode": ["RESHAPE5"]})
CONSTRAINED = {"model_type": "tf_lite_embedder", "backend_constraint": "cpu"}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "llm.litertlm"
    path.write_bytes(bundle(RANK5, further=[(3, CONSTRAINED, embedder())]))
    return path


def words(result):
    """Return the output on one line, without the line breaks of paragraphs."""
    return " ".join(result.stdout.split())


def test_the_verdict_names_backends_and_what_stops_the_engine(source, run):
    result = run("analyze", source)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == "LiteRT-LM generates tokens on cpu and npu, not on gpu and gpu_artisan"
    text = words(result)
    assert "in tf_lite_prefill_decode, signature decode, node 1 (RESHAPE) (gpu-takes-all)" in text
    assert "Failed to modify graph with delegate" in text
    assert "Change: change this operator in the export, or try delegate-sim fix" in text


def test_an_engine_that_starts_and_fails_generates_no_tokens(source, run):
    lines = run("analyze", source, "--option", "backend=cpu", "--option", "vision=cpu").stdout.splitlines()
    assert lines[:3] == ["LiteRT-LM generates tokens on no backend", "", "cpu: starts, then fails"]


@pytest.mark.parametrize(
    ("delegates", "beginning"),
    [
        (["mldrift"], "LiteRT-LM on gpu: refused (RESHAPE: Tensor dimensions must be less than 5."),
        (["mldrift", "xnnpack"], "LiteRT-LM on gpu: refused (RESHAPE: Tensor dimensions must be less than 5."),
        (["nnapi"], "What LiteRT-LM's engine does with the bundle: delegate-sim analyze"),
    ],
)
def test_a_delegate_on_each_model_points_to_the_engine(source, run, delegates, beginning):
    result = run("analyze", source, *[f"--delegate={delegate}" for delegate in delegates])
    assert words(result).startswith(beginning)
    command = next(line for line in result.stdout.splitlines() if line.startswith("  delegate-sim analyze"))
    shown = run(*command.split()[1:])
    assert (shown.exit_code, shown.stdout[:29]) == (0, "LiteRT-LM generates tokens on")
    assert ("LiteRT-LM on cpu: generates tokens" in result.stdout) == ("xnnpack" in delegates)


def test_other_formats_of_a_delegates_result_stay_data(source, run_json):
    assert run_json("analyze", source, "--delegate", "mldrift")


def test_the_answers_as_data(source, run_json):
    found = run_json("analyze", source, "--option", "backend=gpu")
    backends = (found[0] if isinstance(found, list) else found)["backends"]
    assert [(one["backend"], one["outcome"], one["stop"]["signature"]) for one in backends] == [("gpu", "refused", "decode")]


def test_many_bundles_are_a_table(source, tmp_path, run):
    others = [tmp_path / f"other{number}.litertlm" for number in range(3)]
    for other in others:
        other.write_bytes(bundle(decoder()))
    assert run("analyze", others[0]).stdout.startswith("LiteRT-LM generates tokens on cpu, gpu and npu, not on gpu_artisan")
    rows = [re.split(r"  +", line.strip()) for line in run("analyze", source, *others).stdout.splitlines() if line.strip()]
    assert [row[1:3] for row in rows if row[0].endswith("llm.litertlm")] == [["runs", "refused"]]
    assert [row[1:3] for row in rows if row[0].endswith("other0.litertlm")] == [["runs", "runs"]]


@pytest.mark.parametrize("form", ["csv", "sarif"])
def test_other_formats_are_refused(source, run, form):
    result = run("analyze", source, "--format", form)
    assert result.exit_code == 2
    assert "for a bundle" in result.stderr


def test_an_unknown_backend(source, run):
    result = run("analyze", source, "--option", "backend=tpu")
    assert result.exit_code == 2
    assert "there is no backend 'tpu'" in result.stderr


def test_the_contents_show_what_the_bundle_demands(source, run):
    lines = run("inspect", source).stdout.splitlines()
    embedding = next(line.split() for line in lines if line.split()[:1] == ["tf_lite_embedder"])
    assert embedding[-1] == "cpu"
    assert any(line.split()[:2] == ["tokens", "at"] for line in lines)


def test_fix_writes_the_bundle_again(source, tmp_path, run):
    written = tmp_path / "fixed.litertlm"
    result = run("fix", source, "--delegate", "mldrift", "-o", written, "--no-proof")
    assert (result.exit_code, result.stderr) == (0, "")
    text = words(result)
    assert "2 of 2 models rewritten; all else keeps its bytes" in text
    assert "LiteRT-LM on gpu: refused (RESHAPE: Tensor dimensions must be less than 5." in text
    assert "rewritten: generates tokens" in text
    assert "tf_lite_prefill_decode" in result.stdout.splitlines()
    assert run("analyze", written, "--option", "backend=gpu").stdout.startswith("LiteRT-LM generates tokens on gpu")
    assert run("fix", source, "--delegate", "mldrift", "-o", written).exit_code == 2


def test_a_plan_writes_nothing(source, tmp_path, run):
    result = run("fix", source, "--delegate", "mldrift", "--plan", "--format", "json")
    found = json.loads(result.stdout)
    assert (found["schema"], found["written"]) == ("delegate-sim/fix-bundle/1", None)
    assert [section["is_changed"] for section in found["sections"]] == [True, True]
    assert [path.name for path in tmp_path.iterdir()] == ["llm.litertlm"]


def test_options_of_models_are_refused_for_bundles(source, run):
    result = run("fix", source, "--delegate", "mldrift", "--plan", "--split-tail")
    assert result.exit_code == 2
    assert "for a bundle, --micro" in result.stderr


def test_a_bundle_is_taken_apart_and_put_together_again(source, tmp_path, run):
    assert run("export", "models", source, "-o", tmp_path / "parts").exit_code == 0
    assert run("export", "bundle", tmp_path / "parts", "-o", tmp_path / "again.litertlm").exit_code == 0
    assert (tmp_path / "again.litertlm").read_bytes() == source.read_bytes()


LIVE = {"backend": "CPU", "software": "litert-lm-api 1.0"}


@pytest.mark.parametrize(
    ("answers", "code", "text"),
    [
        ([LiveBundle(**LIVE, outcome="starts")], 0, "cpu, live (litert-lm-api 1.0): generates tokens, as simulated"),
        (
            [LiveBundle(**LIVE, outcome="crash", differences=("live: crash; simulated: starts",))],
            1,
            "crashes, differs from the simulation - live: crash; simulated: starts",
        ),
        ([LiveBundle(**LIVE, lacks="a driver")], 2, "cpu, live: cannot run here; it needs a driver"),
    ],
)
def test_the_real_engine_beside_the_simulation(source, run, monkeypatch, answers, code, text):
    waiting = list(answers)
    monkeypatch.setattr("delegate_sim_cli.commands.analyze.bundles.lacking", lambda: "", raising=False)
    monkeypatch.setattr("delegate_sim_cli.commands.analyze.bundles.run_bundle", lambda report: waiting.pop(0), raising=False)
    result = run("analyze", source, "--live", "--option", "backend=cpu")
    assert result.exit_code == code, result.stderr
    assert text in words(result)


def test_without_the_engine_there_is_one_clear_line(source, run, monkeypatch):
    monkeypatch.setattr(litert_lm.packages, "package_folder", lambda name: None)
    result = run("analyze", source, "--live")
    assert result.exit_code == 2
    assert "pip install '.[litert-lm]'" in " ".join(result.stderr.split())

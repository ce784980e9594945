"""The JSON that the program writes follows its published schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.live.litert_lm import LiveBundle
from delegate_sim.llm.engine import run_engine
from delegate_sim.llm.report import BundleReplacement, engine_document
from delegate_sim.results.report.outcome_words import NOT_COMPILED
from fixtures.bundles import LIBRARIES, aab, apk, zip_bytes
from fixtures.language_models import bundle, decoder, embedder
from tests.support.cli.own_schemas import SCHEMAS, validate
from tests.support.gate_models import classifier, reshaper, upsampler
from tests.support.models import MIXED, chain_model

LIVE = (
    LiveBundle("CPU", "litert-lm-api 0.18.1", lacks="a package"),
    LiveBundle("CPU", "litert-lm-api 0.18.1", "crash", "engine", differences=("live: crash; simulated: starts",)),
    LiveBundle("CPU", "litert-lm-api 0.18.1", "starts", None, None, (BundleReplacement("", "GPU", 1, 2, 2, 0, "decode"),)),
)
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "models"


@pytest.mark.parametrize("model", sorted(FIXTURES.glob("*.tflite")), ids=lambda path: path.stem)
def test_reports(model, run):
    validate("report", json.loads(run("analyze", model, "--format", "json").stdout))


def test_reports_of_chains_and_of_several_models(run):
    models = [FIXTURES / "mobilenet_block.tflite", FIXTURES / "control_flow.tflite"]
    chain = ["--chain", "--delegate", "gpu", "--delegate", "nnapi"]
    found = json.loads(run("analyze", *models, *chain, "--format", "json").stdout)
    assert all("placement" in report for report in found)
    validate("report", found)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write = {"classifier": classifier(), "reshaper": reshaper(), "upsampler": upsampler(), "mixed": chain_model(MIXED)}
    for name, builder in write.items():
        builder.write(tmp_path / f"{name}.tflite")
    targets = "".join(f'[targets.{name}]\ndelegate = "{name}"\n' for name in DELEGATE_NAMES)
    (tmp_path / "delegate-sim.toml").write_text(f'models = ["*.tflite"]\n{targets}', encoding="utf-8")
    return tmp_path


COMMANDS = {
    "analyze": ("report", []),
    "analyze of a chain": ("report", ["--delegate", "gpu"]),
    "diagnose": ("diagnosis", []),
    "diagnose on several": ("diagnosis", ["--delegate", "gpu", "--delegate", "vx"]),
    "releases": ("releases", []),
    "releases on several": ("releases", ["--delegate", "gpu", "--delegate", "vx"]),
    "compare": ("compare", ["--with", "delegate=gpu"]),
    "whatif": ("compare", ["--fix-shapes"]),
    "whatif --search": ("search", ["--search", "kernels=1"]),
    "inspect": ("inspect", []),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_one_model_and_several_and_those_that_cannot_be_read(scratch, run, what):
    name, options = COMMANDS[what]

    def found(path, code):
        result = run(what.split()[0], path, *options, "--format", "json")
        assert result.exit_code == code
        entries = json.loads(result.stdout)
        validate(name, entries)
        return entries

    one = found("mixed.tflite", 0)
    (scratch / "broken.tflite").write_bytes(b"no model")
    assert found("broken.tflite", 2)["error"].startswith("broken.tflite: ")
    entries = found(".", 2)
    assert len(entries) == 1 + 4 * (len(one) if isinstance(one, list) else 1)
    assert entries[-1] == {"model": {"path": "./broken.tflite"}, "error": entries[-1]["error"]}
    with pytest.raises(jsonschema.ValidationError, match="is not valid under any of the given schemas"):
        validate(name, [{**entries[-1], "more": 1}])
    (scratch / "none").mkdir()
    message = "none: contains no model (no file below it ends in .tflite or .lite)"
    assert found("none", 2) == [{"model": {"path": "none"}, "error": message}]


def test_every_published_schema_is_named_by_its_version():
    for path in SCHEMAS.glob("*.schema.json"):
        text = path.read_text(encoding="utf-8")
        assert f'"const": "delegate-sim/{path.name.partition(".")[0]}/' in text


def test_checks_and_baselines(scratch, run):
    run("check", "--update")
    baseline = scratch / "delegate-sim-baseline.json"
    validate("baseline", json.loads(baseline.read_text(encoding="utf-8")))
    classifier(9).write(scratch / "classifier.tflite")
    reshaper(is_dynamic=True).write(scratch / "reshaper.tflite")
    (scratch / "upsampler.tflite").unlink()
    (scratch / "mixed.tflite").write_bytes(b"")
    checked = json.loads(run("check", "--format", "json").stdout)
    assert {case["status"] for case in checked["cases"]} == {"passed", "failed", "unreadable"}
    validate("check", checked)


def test_schemas_refuse_what_they_do_not_know(scratch, run):
    checked = json.loads(run("check", "--format", "json").stdout)
    checked["cases"][0]["more"] = 1
    with pytest.raises(jsonschema.ValidationError, match="'more' was unexpected"):
        validate("check", checked)


@pytest.fixture
def bundles(tmp_path):
    rank5 = decoder(operators={"decode": ["RESHAPE5"]})
    about = {"model_type": "tf_lite_embedder", "backend_constraint": "cpu", "other": "text"}
    (tmp_path / "llm.litertlm").write_bytes(
        bundle(rank5, further=[(3, about, embedder()), (3, None, b"damaged"), (42, None, b"x")])
    )
    (tmp_path / "other.litertlm").write_bytes(bundle(decoder()))
    (tmp_path / "broken.litertlm").write_bytes(b"no bundle")
    (tmp_path / "llm.task").write_bytes(zip_bytes({"TF_LITE_PREFILL_DECODE": rank5}))
    return tmp_path


@pytest.mark.parametrize(("command", "schema"), [("analyze", "engine"), ("inspect", "bundle")])
def test_bundles(bundles, run, command, schema):
    for names in (["llm"], ["other"], ["llm", "other", "broken"]):
        found = run(command, *[bundles / f"{name}.litertlm" for name in names], "--format", "json")
        validate(schema, json.loads(found.stdout))


def test_applications(tmp_path, run):
    names = ["complete.apk", "damaged.apk", "bundle.aab"]
    for name, content in zip(names, (apk(), apk(elements=[]), aab({"base": LIBRARIES})), strict=True):
        (tmp_path / name).write_bytes(content)
    for given in ([names[0]], names):
        found = json.loads(run("inspect", *[tmp_path / name for name in given], "--format", "json").stdout)
        validate("app", found)


@pytest.mark.parametrize("result", LIVE, ids=lambda result: result.outcome or "not run")
def test_live_answers_of_the_engine(bundles, result):
    report = run_engine(str(bundles / "other.litertlm"), "cpu", {})
    validate("engine", json.loads(json.dumps(engine_document("other.litertlm", [report], [result]))))


@pytest.mark.parametrize("name", ["llm.litertlm", "other.litertlm", "llm.task"])
@pytest.mark.parametrize("is_written", [False, True])
def test_fixes_of_bundles(bundles, run, name, is_written):
    options = ["-o", bundles / "fixed", "--no-proof"] if is_written else ["--plan"]
    found = run("fix", bundles / name, "--delegate", "mldrift", *options, "--format", "json")
    validate("fix-bundle", json.loads(found.stdout))


LOGS = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "logs").glob("*.log"))


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_logs(log, run):
    validate("log", json.loads(run("explain", "--log", log, "--format", "json").stdout))


def test_logs_of_accelerators(run, tmp_path):
    log = tmp_path / "logcat.txt"
    log.write_text(
        "INFO: [npu_registry.cc:40] NPU accelerator could not be loaded and registered: kLiteRtStatusErrorNotFound.\n"
        "ERROR: Following operations are not supported by GPU delegate:\nRELU: no\n"
        "INFO: Replacing 4 out of 4 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0 (main).\n",
        encoding="utf-8",
    )
    chain_model(MIXED).write(tmp_path / "mixed.tflite")
    asked = ["--accelerators", "npu,gpu,cpu", "--soc", "google:Tensor_G5", "--format", "json"]
    validate("reconcile-accelerators", json.loads(run("reconcile", tmp_path / "mixed.tflite", "--log", log, *asked).stdout))


def test_the_outcome_of_a_plugin_is_the_same_word_everywhere(scratch, run):
    on = ["--delegate", "npu-google", "--format", "json"]

    def entry(*arguments):
        return json.loads(run(*arguments, *on).stdout)

    outcomes = [
        entry("analyze", "mixed.tflite")["runs"][0]["outcome"],
        entry("diagnose", "mixed.tflite")["now"]["outcome"],
        entry("compare", "mixed.tflite", "--with", "runtime=litert-2.2.0")["a"]["measures"]["outcome"],
        entry("whatif", "mixed.tflite", "--fix-shapes")["b"]["measures"]["outcome"],
        entry("whatif", "mixed.tflite", "--search", "kernels=1")["without_all"]["outcome"],
        entry("fix", "mixed.tflite", "--plan")["targets"][0]["before"]["outcome"],
        entry("releases", "mixed.tflite")["releases"][0]["measures"]["outcome"],
    ]
    assert set(outcomes) == {"delegated"}


QUALIFIED = {
    "analyze": ("report", ["--no-default-xnnpack"], lambda entry: entry["runs"][0]),
    "diagnose": ("diagnosis", [], lambda entry: entry),
    "compare": ("compare", ["--with", "runtime=litert-2.2.0"], lambda entry: entry["a"]),
    "whatif": ("compare", ["--fix-shapes"], lambda entry: entry["b"]),
    "fix": ("fix", ["--plan"], lambda entry: entry["targets"][0]),
    "releases": ("releases", [], lambda entry: entry),
}


@pytest.mark.parametrize("command", QUALIFIED)
def test_the_result_of_a_plugin_is_qualified_in_the_same_words_everywhere(scratch, run, command):
    schema, options, part = QUALIFIED[command]
    arguments = (command, "mixed.tflite", "--delegate", "npu-samsung", *options)
    entry = json.loads(run(*arguments, "--format", "json").stdout)
    validate(schema, entry)
    assert part(entry)["state"] == "selected"
    (warning,) = part(entry)["warnings"]
    text = " ".join(run(*arguments).stdout.split())
    assert NOT_COMPILED in text
    assert warning in text


def test_a_plugin_is_never_the_best_target_without_a_reservation(scratch, run):
    for command in ("analyze", "diagnose", "releases"):
        text = " ".join(run(command, "mixed.tflite", "--delegate", "npu-mediatek", "--delegate", "npu-samsung").stdout.split())
        verdict, _, _ = text.partition("delegate ")
        assert "2 NPU plugins, without a ranking: they take " in verdict
        assert "this is no promise" in verdict
        assert NOT_COMPILED in text

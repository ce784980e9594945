"""Results of each function for Python callers, beside the output of the command of that name."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import typing
from collections import Counter

import pytest
from click.testing import CliRunner

import delegate_sim
from delegate_sim.device.parse.log import read_runs_file
from delegate_sim.model.model import Model
from delegate_sim_cli.main import program
from fixtures.device_logs import Device, HiddenDriver, HiddenRule, write_log
from tests.support.models import MIXED, chain_model

sim = delegate_sim
FUNCTIONS = ("analyze", "check", "compare", "compiled_model", "diagnose", "load", "reconcile", "simulate", "verify", "whatif")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.tflite"
    chain_model(MIXED).write(path)
    return path


@pytest.fixture
def printed():
    """Return what a command prints as JSON, with the defaults that the Python interface has."""

    def printed(*arguments, defaults=("--defaults", "api")):
        done = CliRunner().invoke(program, [*map(str, arguments), *defaults, "--format", "json"])
        assert done.exit_code in (0, 1), done.output
        return json.loads(done.stdout)

    return printed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_is_public_typed_and_documented(name):
    function = getattr(delegate_sim, name)
    assert name in delegate_sim.__all__
    assert "Raises" in inspect.getdoc(function)
    parameters = inspect.signature(function).parameters.values()
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in parameters)
    assert not any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in parameters)
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize(
    ("call", "former", "name"),
    [
        (lambda m: sim.whatif(m, versions={2: 1}, defaults="api"), "versions", "set_versions"),
        (lambda m: sim.whatif(m, conversion="float", defaults="api"), "conversion", "to"),
        (lambda m: sim.fix(m, None, "nnapi", proves=False, defaults="api"), "proves", "proof"),
        (lambda m: sim.fix(m, None, "nnapi", replace=True, defaults="api"), "replace", "force"),
        (
            lambda m: sim.analyze(m, "nnapi", {"disallow_nnapi_cpu": False}, defaults="api"),
            "disallow_nnapi_cpu",
            "disable_nnapi_cpu",
        ),
        (
            lambda m: sim.compare(m, changed={"max_number_delegated_partitions": 1}, defaults="api"),
            "max_number_delegated_partitions",
            "max_delegated_partitions",
        ),
    ],
)
def test_former_names_are_accepted_with_a_warning(model, call, former, name):
    with pytest.warns(DeprecationWarning, match=f"{former} is now called {name}") as warned:
        call(model)
    assert [warning.filename for warning in warned] == [__file__]


@pytest.mark.filterwarnings("error")
def test_options_have_the_names_of_flags(model):
    options = {"max_delegated_partitions": 1, "feature_level": 30}
    run = sim.analyze(model, "nnapi", options, defaults="benchmark").to_dict()["runs"][0]
    assert run["options"]["max_number_delegated_partitions"] == 1
    changed = sim.compare(model, None, "nnapi", options, changed={"delegate": "gpu"}, defaults="benchmark")
    assert changed.b.run.options["max_delegated_partitions"] == 1


@pytest.mark.parametrize("function", ["analyze", "diagnose"])
def test_the_defaults_are_those_of_the_command_line(model, function):
    result = getattr(delegate_sim, function)(model, "nnapi")
    run = result.runs[0] if function == "analyze" else result.run
    assert run.target.defaults == "benchmark"
    assert run.options["max_number_delegated_partitions"] == 0


def test_the_package_alone_imports_nothing_that_takes_time():
    code = "import delegate_sim, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    loaded = {name for name in modules if name.startswith("delegate_sim")}
    assert {"numpy", "click", "pandas", "html"}.isdisjoint(modules)
    assert loaded == {"delegate_sim", "delegate_sim.errors", "delegate_sim.version"}


def test_diagnose_is_what_the_command_says(model, printed):
    found = delegate_sim.diagnose(model, defaults="api")
    entry = printed("diagnose", model)
    assert {**found.to_dict(), "model": entry["model"]} == entry
    assert [finding.cause.name for finding in found.findings] == [cause["name"] for cause in entry["causes"]]
    assert found.now.measures.partitions == entry["now"]["partitions"] == 3


def test_diagnose_takes_options_and_defaults(model):
    found = delegate_sim.diagnose(model, "nnapi", {"feature_level": 29}, runtime="tf-2.15", defaults="benchmark")
    assert (found.target.options["feature_level"], str(found.target.release), found.target.defaults) == (
        29,
        "tf-2.15",
        "benchmark",
    )


def test_compare_two_models(model, tmp_path, printed):
    other = tmp_path / "other.tflite"
    chain_model(["ADD", "ROUND", "ADD", "ADD"]).write(other)
    found = delegate_sim.compare(model, other, defaults="api")
    assert found.to_dict() == printed("compare", model, other)
    assert [node.op for node in found.to_delegate] == ["ADD"]


@pytest.mark.parametrize(
    "changed", [{"feature_level": 27}, {"delegate": "gpu"}, {"runtime": "tf-2.12"}, {"defaults": "benchmark"}], ids=str
)
def test_compare_two_targets(model, printed, changed):
    found = delegate_sim.compare(model, changed=changed, defaults="api")
    pairs = [f"--with={key}={value}" for key, value in changed.items()]
    assert found.to_dict() == printed("compare", model, *pairs)


def test_options_go_to_the_other_delegate_only_if_it_has_them(model):
    found = delegate_sim.compare(
        model, delegate="nnapi", options={"feature_level": 30}, changed={"delegate": "xnnpack"}, defaults="api"
    )
    assert found.a.run.options["feature_level"] == 30
    assert "feature_level" not in found.b.run.options


def test_whatif_is_what_the_command_says(model, printed):
    found = delegate_sim.whatif(model, accept=["round"], set_versions={2: 1}, defaults="api")
    assert found.to_dict() == printed("whatif", model, "--accept", "ROUND", "--set-version", "node:2=1")
    assert found.b.measures.delegated_nodes == 4


@pytest.mark.parametrize(
    ("assumed", "delegated"),
    [
        ({"accept": "ROUND"}, 3), ({"accept": [1]}, 3), ({"accept": [(0, 1), 2]}, 4), ({"set_versions": {"ADD": 1}}, 3),
        ({"set_versions": {(0, 2): 1}}, 3), ({"batch": 8}, 2), ({"resize": {"x": (4, 4)}}, 2), ({"fix_shapes": True}, 2),
        ({"to": "float"}, 2), ({"changed": {"delegate": "xnnpack"}}, 4),
    ],
)  # fmt: skip
def test_each_thing_that_can_be_assumed(model, assumed, delegated):
    found = delegate_sim.whatif(model, **assumed, defaults="api")
    assert (found.a.measures.delegated_nodes, found.b.measures.delegated_nodes) == (2, delegated)


def test_compiled_model_is_what_the_command_says(model, printed):
    found = delegate_sim.compiled_model(model, soc="google:Tensor_G5")
    arguments = ("--accelerators", "npu,gpu,cpu", "--soc", "google:Tensor_G5")
    assert found.to_dict() == printed("analyze", model, *arguments, defaults=())
    assert found.is_created
    assert sum(found.places().values(), Counter()) == {"npu-google": len(found.report.model.subgraphs[0].nodes)}
    assert found.to_pandas().set_index("op").loc["ADD", "place"] == "npu-google"
    assert "CompiledModel is created" in repr(found)
    again = delegate_sim.compiled_model(model, "cpu, npu", "google:Tensor_G5", {"max_partitions": 4}, runtime="litert-2.2.0")
    assert again.stack.accelerators == ("npu", "cpu")


def test_a_compiled_model_has_the_advice_of_the_command(model):
    found = delegate_sim.compiled_model(model, ["npu"], "mediatek:mt6991")
    assert found.adviser is not None
    own, advised = [found.to_dict(advice=advice)["runs"][0]["subgraphs"][0]["nodes"] for advice in (False, True)]
    hints, rules = [{reason["hint"] for node in nodes for reason in node["reasons"]} for nodes in (advised, own)]
    assert hints != rules


def test_a_compiled_model_that_is_not_created_has_no_places(model):
    found = delegate_sim.compiled_model(model, ["npu"], "mediatek:mt6991")
    assert (found.is_created, found.places(), found.to_dict()["placement"]) == (False, {}, [])
    assert repr(found) == "<StackResult mediatek:mt6991: CompiledModel is not created>"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "needs a SoC"),
        ({"accelerators": "cpu", "soc": "s25"}, "do not know the SoC 's25'"),
        ({"accelerators": "tpu"}, "the accelerators are npu, gpu, cpu"),
        ({"accelerators": "cpu", "soc": 1}, "soc must be a string"),
        ({"accelerators": "cpu", "options": 1}, "options must be a mapping"),
        ({"accelerators": "cpu", "options": {"precision": "fp16"}}, "has an option 'precision'"),
        ({"soc": "qualcomm:SM8750"}, "cannot be simulated"),
    ],
)
def test_what_a_compiled_model_does_not_take(model, arguments, words):
    with pytest.raises(delegate_sim.OptionError, match=words):
        delegate_sim.compiled_model(model, **arguments)


@pytest.fixture
def project(tmp_path, model, monkeypatch):
    text = 'models = ["*.tflite"]\n[targets.phone]\ndelegate = "nnapi"\n[targets.board]\ndelegate = "xnnpack"\n'
    (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_check_is_what_the_command_says(project, printed):
    written = delegate_sim.check(update=True)
    assert (written.update.added, written.results.count("passed")) == (2, 2)
    found = delegate_sim.check(project / "delegate-sim.toml")
    assert found.to_dict() == printed("check", defaults=())
    assert found.to_dict()["passed"]
    chain_model(["ROUND", *MIXED]).write(project / "model.tflite")
    worse = delegate_sim.check(targets="phone")
    assert [case.status for case in worse.results.cases] == ["failed"]


def test_check_of_some_models(project):
    chain_model(["ADD"]).write(project / "other.tflite")
    delegate_sim.check(update=True)
    found = delegate_sim.check(models=["other.tflite"], targets=["phone", "board"])
    assert {case.model for case in found.results.cases} == {"other.tflite"}
    for given in ("other*", [project / "o*.tflite"]):
        assert {case.model for case in delegate_sim.check(models=given).results.cases} == {"other.tflite"}
    assert len(delegate_sim.check(models=project).results.cases) == 4


@pytest.fixture
def log(model, tmp_path):
    path = tmp_path / "device.txt"
    device = Device(HiddenDriver(HiddenRule("ADD")), {}, "tf-2.15")
    path.write_text(write_log(delegate_sim.load(model), device), encoding="utf-8")
    return path


def test_reconcile_is_what_the_command_says(model, log, printed):
    found = delegate_sim.reconcile(model, log)
    entry = printed("reconcile", model, "--log", log, defaults=())
    entry.pop("time")  # the times of the log's op profile, which only the command computes
    assert found.to_dict() == entry
    assert found.status == "explained"
    assert delegate_sim.reconcile(model, [log], "nnapi").to_dict() == found.to_dict()
    assert delegate_sim.reconcile(model, read_runs_file(str(log))[-1]).to_dict() == found.to_dict()


def test_what_is_given_overrides_the_log(model, log):
    found = delegate_sim.reconcile(model, log, options={"feature_level": 29, "release": "tf-2.16"}, defaults="benchmark")
    assert found.setting.options["feature_level"] == 29
    assert {str(release) for release in found.setting.releases} == {"tf-2.16"}


@pytest.mark.parametrize("kind", [str, bytes, Model])
def test_every_function_takes_a_path_bytes_or_a_model(model, kind):
    given = {str: str(model), bytes: model.read_bytes(), Model: delegate_sim.load(model)}[kind]
    assert delegate_sim.analyze(given, defaults="api").runs[0].outcome == "delegated"
    assert delegate_sim.diagnose(given, defaults="api").findings
    assert delegate_sim.whatif(given, accept=["ROUND"], defaults="api").to_delegate
    assert not delegate_sim.compare(given, given, changed={"feature_level": 30}, defaults="api").to_cpu


WRONG = 17.5
"""Of a type that no argument takes."""


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: sim.analyze(WRONG), "ModelError", "a model must be a path, the bytes of a file, or a result of load"),
        (lambda m: sim.load(None), "ModelError", "a model must be a path, .*, not None"),
        (lambda m: sim.diagnose("missing.tflite"), "ModelError", "missing.tflite: No such file"),
        (lambda m: sim.analyze(m, WRONG), "OptionError", "a delegate must be a name, .*; the delegates are nnapi, gpu"),
        (lambda m: sim.diagnose(m, ["nnapi"]), "OptionError", "a delegate must be a name, .* type list; the delegates"),
        (lambda m: sim.diagnose(m, "npu"), "OptionError", "there is no delegate 'npu'; did you mean npu-google, npu-intel"),
        (lambda m: sim.analyze(m, "nnapi", "x=1"), "OptionError", "give options of nnapi as a dictionary .* feature_level"),
        (lambda m: sim.diagnose(m, options={"x": 1}), "OptionError", "nnapi has no option 'x'; its options are"),
        (lambda m: sim.analyze(m, options={1: 1}), "OptionError", "nnapi has no option 1; its options are"),
        (lambda m: sim.analyze(m, runtime=WRONG), "OptionError", "there is no runtime '17.5'; the runtimes are tf-2.10"),
        (lambda m: sim.diagnose(m, runtime="tf-1"), "OptionError", "there is no runtime 'tf-1'; the runtimes are tf-2.10"),
        (lambda m: sim.diagnose(m, defaults=WRONG), "OptionError", "there are no defaults named 17.5; the defaults are api"),
        (lambda m: sim.simulate(m, {"gpu": {}}), "OptionError", "delegates must be a name, or a list of names or pairs"),
        (lambda m: sim.simulate(m, [3]), "OptionError", "a delegate must be a name, or a pair of a name and options"),
        (lambda m: sim.simulate(m, None), "OptionError", "delegates must be a name, or a list of names or pairs"),
        (lambda m: sim.fix(m, None, 3), "OptionError", "delegates must be a name, or a list of names or pairs"),
        (lambda m: sim.simulate(m, []), "OptionError", "no delegate is given"),
        (sim.compare, "OptionError", "A and B are the same: give a second model, or changed="),
        (lambda m: sim.compare(m, changed=WRONG), "OptionError", "give changed as a dictionary .* delegate, runtime"),
        (lambda m: sim.compare(m, changed={"x": 1}), "OptionError", "nnapi has no option 'x'; you can change delegate"),
        (sim.whatif, "OptionError", "nothing to change: give accept, set_versions, batch, resize, fix_shapes, to"),
        (lambda m: sim.whatif(m, accept=WRONG), "OptionError", r"accept takes operators \(by name\) and nodes"),
        (lambda m: sim.whatif(m, accept=[WRONG]), "OptionError", "give an operator by its name, and a node by its index"),
        (lambda m: sim.whatif(m, accept=["MEAN"]), "OptionError", "the model has no node of MEAN; its operators are ADD"),
        (lambda m: sim.whatif(m, accept=[99]), "OptionError", "the model has no node 99 in subgraph 0"),
        (lambda m: sim.whatif(m, set_versions=[1]), "OptionError", "give set_versions as a dictionary keyed by name"),
        (lambda m: sim.whatif(m, set_versions={"ADD": "2"}), "OptionError", "a version must be a whole number of at least 1"),
        (lambda m: sim.whatif(m, batch="two"), "OptionError", "a batch must be a whole number of at least 1, not 'two'"),
        (lambda m: sim.whatif(m, batch=0), "OptionError", "the batch must be at least 1, not 0"),
        (lambda m: sim.whatif(m, resize=[4]), "OptionError", "give resize as a dictionary keyed by name"),
        (lambda m: sim.whatif(m, resize={"x": 0}), "OptionError", "a shape is INPUT=1,224,224,3, not 'x=0'"),
        (lambda m: sim.whatif(m, to="int4"), "OptionError", "a conversion must be one of float, int8, int8-per"),
        (lambda m: sim.whatif(m, fix_shapes="yes"), "OptionError", "fix_shapes must be True or False"),
        (lambda m: sim.analyze(m, assume_ops_registered="yes"), "OptionError", "assume_ops_registered must be True or False"),
        (lambda m: sim.check(update="yes"), "OptionError", "update must be True or False"),
        (lambda m: sim.check("missing.toml"), "ConfigurationError", "missing.toml: No such file"),
        (lambda m: sim.check(WRONG), "OptionError", "config takes a path"),
        (lambda m: sim.check(models=[WRONG]), "OptionError", "models takes a path, or a list of paths"),
        (lambda m: sim.check(targets=[WRONG]), "OptionError", "targets takes a name, or a list of names"),
        (lambda m: sim.reconcile(m, WRONG), "OptionError", "log takes a path, or a list of paths"),
        (lambda m: sim.reconcile(m, []), "OptionError", "no log is given"),
        (lambda m: sim.reconcile(m, "missing.txt"), "LogError", "missing.txt: No such file"),
        (lambda m: sim.analyze(m).to_pandas("node"), "OptionError", "no table 'node'; its tables are nodes, partitions"),
    ],
)  # fmt: skip
def test_wrong_arguments_raise_errors_of_the_package_that_say_what_is_possible(model, call, error, message):
    with pytest.raises(delegate_sim.DelegateSimError, match=message) as caught:
        call(model)
    assert type(caught.value).__name__ == error
    assert str(caught.value).isprintable()


def test_hints_can_be_resolved():
    """Annotations name what there is, also those that are imported for types alone."""
    from delegate_sim.device.compare.reconcile import Reconciliation
    from delegate_sim.device.parse.log_contents import DeviceLog
    from delegate_sim.diagnosis.diagnosis import Diagnosis
    from delegate_sim.gate.check import Checked
    from delegate_sim.inference.difference import Difference
    from delegate_sim.results.compare.comparison import Comparison
    from delegate_sim.results.report.accelerator_stack import StackResult
    from delegate_sim.results.report.report import Report

    types = (DeviceLog, Reconciliation, Diagnosis, Difference, Checked, Comparison, Report, StackResult, Model)
    names = {each.__name__: each for each in types}
    returned = {name: typing.get_type_hints(getattr(delegate_sim, name), None, names)["return"] for name in FUNCTIONS}
    assert returned["diagnose"] is Diagnosis
    assert returned["compare"] is returned["whatif"] is Comparison
    assert (returned["check"], returned["reconcile"], returned["load"]) == (Checked, Reconciliation, Model)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: delegate_sim.analyze(b"", foo=1, defaults="api"),
            "analyze: got an unexpected keyword argument 'foo'; its arguments are model, ",
        ),
        (
            lambda: delegate_sim.analyze(b"", android=11, defaults="api"),
            "analyze: got an unexpected keyword argument 'android'; its arguments are model, delegate, options, runtime, "
            "defaults, assume_ops_registered, op_profile, live, device; "
            "an option of the delegate goes into options: options={'android': ...}",
        ),
        (delegate_sim.diagnose, "diagnose: missing a required argument: 'model'; its arguments are model, delegate"),
        (lambda: delegate_sim.check(foo=1), "check: got an unexpected keyword argument 'foo'; its arguments are config, "),
        (lambda: delegate_sim.load(b"", b""), "load: too many positional arguments; its arguments are source"),
    ],
)
def test_arguments_that_a_function_does_not_have_are_an_error_of_this_package(call, told):
    with pytest.raises(delegate_sim.OptionError, match=f"^{re.escape(told)}"):
        call()


def test_a_model_with_another_identifier_is_only_for_microcontrollers(model):
    content = model.read_bytes()
    loaded = sim.load(content[:4] + b"TFL9" + content[8:])
    assert sim.analyze_micro(loaded).to_dict() == sim.analyze_micro(model).to_dict()
    with pytest.raises(sim.ModelError, match="the given bytes: is not a TFLite model: the identifier at offset 4 is 'TFL9'"):
        sim.analyze(loaded, defaults="api")


def test_a_chain_takes_names_and_pairs(model):
    named = delegate_sim.simulate(model, ["nnapi", ("gpu", {})]).to_dict()
    assert named == delegate_sim.simulate(model, [("nnapi", {}), ("gpu", {})]).to_dict()
    assert [run.delegate.name for run in delegate_sim.simulate(model, "gpu").runs] == ["gpu"]


@pytest.mark.parametrize("name", ["analyze", "simulate", "diagnose", "fix", "compare", "whatif"])
def test_every_function_has_the_same_rules_for_a_runtime_of_whole_models(model, name):
    content = model.read_bytes()
    renamed = content[:4] + b"TFL9" + content[8:]
    calls = {
        "analyze": lambda **named: sim.analyze(renamed, "micro", **named),
        "simulate": lambda **named: sim.simulate(renamed, "micro", **named),
        "diagnose": lambda **named: sim.diagnose(renamed, "micro", **named),
        "fix": lambda **named: sim.fix(renamed, None, "micro", **named),
        "compare": lambda **named: sim.compare(renamed, None, "micro", changed={"kernels": "cmsis-nn"}, **named),
        "whatif": lambda **named: sim.whatif(renamed, "micro", accept=["ROUND"], **named),
    }
    assert calls[name]() is not None
    with pytest.raises(sim.OptionError, match="op_profile has times of LiteRT's interpreter: name a delegate"):
        calls[name](op_profile="missing.csv")


def test_a_device_has_a_run_for_each_of_its_delegates(model):
    runs = delegate_sim.analyze(model, device="i.MX 8M Plus").runs
    assert [(run.delegate.name, run.target.defaults) for run in runs] == [
        (name, "api") for name in ("vx-nxp", "teflon", "xnnpack")
    ]
    runs = delegate_sim.analyze(model, device="imx93", defaults="benchmark", runtime="litert-2.2").runs
    assert {(run.target.defaults, str(run.release)) for run in runs} == {("benchmark", "litert-2.2")}
    assert delegate_sim.diagnose(model, device="imx93").target.delegate.name == "ethosu-imx93"
    assert [run.delegate.name for run in delegate_sim.analyze(model, "teflon", device="imx8mp").runs] == ["teflon"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"delegate": "imx8mp"}, "device='imx8mp'"),
        ({"delegate": "pixel10"}, "device='pixel10'"),
        ({"delegate": "microcontroller"}, "analyze_micro"),
        ({"device": "microcontroller"}, "analyze_micro"),
        ({"device": "galaxys24"}, "exynos2400"),
        ({"device": "imx8mp", "delegate": "vx"}, "does not exist on the named devices"),
        ({"device": "imx8mp", "options": {"device": "1"}}, "its own delegates"),
        ({"device": "imx8mp", "live": True}, "its own delegates"),
        ({"device": 7}, "must be a name"),
    ],
)
def test_wrong_devices(model, arguments, text):
    with pytest.raises(delegate_sim.OptionError, match=f"^(?!.*--).*{re.escape(text)}"):  # no flag of the command line
        delegate_sim.analyze(model, **arguments)

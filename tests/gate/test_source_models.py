"""Source models in a configuration: converted, and then checked as any model."""

from __future__ import annotations

import json
import os

import pytest

from delegate_sim.conversion.convert import Failure, FailureKind
from delegate_sim.conversion.converters import Converter
from delegate_sim.gate import source_models as sources_module
from delegate_sim.gate.check import check_models
from delegate_sim.gate.configuration import ConfigurationError, find_configuration, read_configuration
from tests.support.conversion.fake_converters import make_environment, make_source
from tests.support.conversion.sweep_conversions import Fake
from tests.support.gate_models import upsampler

CONFIGURATION = """
[sources.net]
source = "{source}"
{more}

[targets.phone]
delegate = "nnapi"
options = {{ nnapi_runtime = "13" }}
"""
FIXED = 'settings = "float+fixed"'
TENSORFLOW = Converter("tensorflow", "2.99.0", "/python")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write a configuration for a source that is there; ``project.convert`` says what converting it comes to."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "made"
    made.mkdir()

    class Project:
        fake = None

        def convert(self, *converters, **of_fake):
            self.fake = Fake(made, **of_fake)
            monkeypatch.setattr(sources_module, "convert", self.fake)
            monkeypatch.setattr(sources_module, "find_converters", lambda pythons: converters or (TENSORFLOW,))

        def write(self, more=FIXED, source="net.keras"):
            text = CONFIGURATION.format(source=source, more=more)
            (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
            return read_configuration("delegate-sim.toml")

        def check(self, paths=(), **arguments):
            return check_models(read_configuration("delegate-sim.toml"), paths, **arguments).results.cases

    make_source(tmp_path, "net")
    project = Project()
    project.convert()
    project.write()
    return project


def test_what_comes_of_a_source_is_held_to_the_baseline(project):
    (first,) = project.check(update=True)
    assert (first.model, first.path, first.status) == ("net", "net.keras", "passed")
    (case,) = project.check()
    assert case.status == "passed"
    assert "tensorflow 2.99.0 with float+fixed" in case.notes[0]
    assert case.measures.delegated_share == 1
    assert project.fake.asked == [("tensorflow", "float+fixed")] * 2


def test_settings_that_delegate_less_fail(project):
    project.check(update=True)
    project.write('settings = "int8+fixed"')
    (case,) = project.check()
    assert case.status == "failed"
    assert "worse-outcome" in {finding.code for finding in case.findings}
    assert "8 samples of random numbers" in case.notes[0]


def test_a_source_without_an_entry_fails(project):
    (case,) = project.check()
    assert [finding.code for finding in case.findings] == ["no-baseline-entry"]
    assert case.findings[0].hint.endswith("net.keras")


def test_an_entry_of_a_source_that_is_no_longer_named_is_stale(project, tmp_path):
    project.check(update=True)
    upsampler().write(tmp_path / "other.tflite")
    (tmp_path / "delegate-sim.toml").write_text('models = ["*.tflite"]\n[targets.phone]\ndelegate = "nnapi"\n', encoding="utf-8")
    found = {case.model: [finding.code for finding in case.findings] for case in project.check()}
    assert found["net"] == ["no-model-for-entry"]


def test_the_name_of_a_source_stays_in_the_folder(project, tmp_path):
    project.write("")
    path = tmp_path / "delegate-sim.toml"
    path.write_text(path.read_text("utf-8").replace("sources.net", "sources.'//server/share'"), "utf-8")
    with pytest.raises(ConfigurationError, match=r"sources\.//server/share: takes a path inside the folder of this file"):
        read_configuration(str(path))


@pytest.mark.parametrize("chosen", ["net", "net.keras"])
def test_one_source_is_checked_by_its_name_or_its_path(project, tmp_path, chosen):
    upsampler().write(tmp_path / "other.tflite")
    project.check(update=True)
    assert [case.model for case in project.check([chosen])] == ["net"]


def test_a_model_that_is_asked_for_is_checked_without_the_sources(project, tmp_path):
    upsampler().write(tmp_path / "other.tflite")
    project.check(["other.tflite"], update=True)
    assert [case.model for case in project.check(["other.tflite"])] == ["other.tflite"]


def test_a_conversion_that_fails_is_a_case_of_each_target(project):
    project.convert(failures={"float+fixed": Failure(FailureKind.CRASHED, "ended by signal 11")})
    (case,) = project.check()
    assert case.status == "unreadable"
    (finding,) = case.findings
    assert (finding.code, "signal 11" in finding.message) == ("failed-conversion", True)


def test_a_converter_that_is_missing_says_what_to_install(project):
    project.convert(Converter("tensorflow", install="pip install '.[sweep-tf]'"))
    (case,) = project.check()
    assert "missing: not installed: pip install '.[sweep-tf]'" in case.findings[0].message


def test_an_installed_converter_goes_before_a_missing_one(project):
    project.write(f'{FIXED}\npython = "tools/bin/python"')
    project.convert(Converter("tensorflow", install="pip install x"), TENSORFLOW)
    (case,) = project.check(update=True, run_configured_code=True)
    assert case.status == "passed"


def test_a_source_that_is_gone_is_a_case(project, tmp_path):
    (tmp_path / "net.keras").unlink()
    (case,) = project.check()
    assert case.findings[0].code == "failed-conversion"
    assert "net.keras" in case.findings[0].message


def test_settings_that_no_converter_knows(project):
    project.write('settings = "float+channels-last"')
    (case,) = project.check()
    assert "float+channels-last" in case.findings[0].message
    project.write(f'{FIXED}\nconverter = "onnx2tf"')
    (case,) = project.check()
    assert "onnx2tf" in case.findings[0].message


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('settings = "int9"', 'sources.net.settings: takes settings such as "int8+fixed"'),
        ("settings = 8", "sources.net.settings: takes a string"),
        ("time-limit = 0", "sources.net.time-limit: takes a number above 0"),
        ('memory-limit = "much"', "sources.net.memory-limit: takes a number above 0"),
        ('data = "../inputs.npz"', "sources.net.data: takes a path inside the folder of this file"),
        ("setting = 1", "sources.net: there is no such key; did you mean settings?"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(project, more, words):
    with pytest.raises(ConfigurationError, match=r"delegate-sim\.toml:\d+: ") as raised:
        project.write(more)
    assert words in str(raised.value)


def test_a_table_without_a_source(tmp_path, project):
    (tmp_path / "delegate-sim.toml").write_text('[sources.net]\n[targets.t]\ndelegate = "gpu"\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"sources\.net: has no source"):
        read_configuration("delegate-sim.toml")


@pytest.mark.parametrize(
    ("source", "text", "path"),
    [
        ("models/net.keras", "/root/models/net.keras", "models/net.keras"),
        ("nets.py:make", "/root/nets.py:make", "nets.py"),
        ("package.nets:make", "package.nets:make", ""),
    ],
)
def test_sources_lie_below_the_configuration(source, text, path):
    from delegate_sim.gate.configuration_table import ConfigurationTable

    found = sources_module.read_source("net", ConfigurationTable({"source": source}, ("sources", "net")), "/root")
    assert (found.text, found.path, found.data) == (text, path, None)


@pytest.mark.parametrize(
    ("given", "seconds", "memory"),
    [
        ({}, 900, 12 << 30),
        ({"time-limit": 0.5}, 0.5, 12 << 30),
        ({"time-limit": 1, "memory-limit": 1.5}, 1, 3 << 29),
        ({"memory-limit": 0.25}, 900, 1 << 28),
    ],
)
def test_limits_are_in_seconds_and_gibibytes(given, seconds, memory):
    from delegate_sim.gate.configuration_table import ConfigurationTable

    table = ConfigurationTable({"source": "net.keras", **given}, ("sources", "net"))
    limits = sources_module.read_source("net", table, "/root").limits
    assert (limits.seconds, limits.memory) == (seconds, memory)


@pytest.mark.slow
def test_the_check_of_a_source_follows_the_schema(project, run_check):
    from tests.support.cli.own_schemas import validate

    project.check(update=True)
    result = run_check()
    assert result.exit_code == 0, result.stderr
    validate("check", json.loads(result.stdout))


@pytest.fixture
def run_check():
    from click.testing import CliRunner

    from delegate_sim_cli.commands.check import command

    return lambda: CliRunner().invoke(command, ["--format", "json"], standalone_mode=True)


@pytest.fixture
def fake_python(tmp_path):
    return make_environment(tmp_path / "environment")


PROGRAM = """\
#!/bin/sh
touch "{mark}"
"""
MODULE = "open({mark!r}, 'w').close()\ndef make(): ...\n"


@pytest.mark.parametrize(
    ("source", "more", "key", "what"),
    [
        ("net.keras", 'python = "run.sh"', "python", "program"),
        ("net.keras", 'python = ["none", "run.sh"]', "python", "program"),
        ("nets.py:make", FIXED, "source", "module"),
        ("nets:make", FIXED, "source", "module"),
        ("net.keras", 'settings = "int8"\ndata = "nets.py:make"', "data", "module"),
    ],
)
@pytest.mark.parametrize("folder", [".", "below/it"])
def test_code_that_a_configuration_names_needs_consent(tmp_path, monkeypatch, source, more, key, what, folder):
    mark = tmp_path / "mark"
    make_source(tmp_path, "net")
    (tmp_path / "run.sh").write_text(PROGRAM.format(mark=mark), encoding="utf-8")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "nets.py").write_text(MODULE.format(mark=str(mark)), encoding="utf-8")
    text = CONFIGURATION.format(source=source, more=more)
    (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = os.path.relpath(find_configuration("."))
    (case,) = check_models(read_configuration(path)).results.cases
    assert case.status == "unreadable"
    line = next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith(key))
    assert case.findings[0].message == (
        f"{path}:{line}: sources.net.{key}: names a {what}, which runs only with the option --run-configured-code of check "
        "(or with DELEGATE_SIM_RUN_CONFIGURED_CODE=1); give it if you trust this file and its repository"
    )
    assert not mark.exists()
    check_models(read_configuration(path), run_configured_code=True)
    assert mark.exists() == (more == 'python = "run.sh"')  # no other case has a converter that imports the module


def test_the_other_models_are_checked_without_consent(project, tmp_path):
    upsampler().write(tmp_path / "other.tflite")
    project.write('python = "run.sh"')
    text = (tmp_path / "delegate-sim.toml").read_text("utf-8")
    (tmp_path / "delegate-sim.toml").write_text(f'models = ["*.tflite"]\n{text}', encoding="utf-8")
    assert {case.model: case.status for case in project.check(update=True)} == {"net": "unreadable", "other.tflite": "passed"}


@pytest.mark.parametrize("key", ["source", "data"])
def test_a_link_does_not_lead_out_of_the_folder_of_the_configuration(project, tmp_path, key):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.keras").symlink_to(tmp_path / "net.keras")
    more = "" if key == "source" else 'source = "net.keras"\n'
    text = f'[sources.net]\n{more}{key} = "link.keras"\n[targets.t]\ndelegate = "gpu"\n'
    (inside / "delegate-sim.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=rf"sources.net.{key}: takes a path inside the folder .* a link leads outside"):
        read_configuration(str(inside / "delegate-sim.toml"))


@pytest.mark.parametrize("value", ["inf", "nan", "1e300", "1_000_001"])
@pytest.mark.parametrize("key", ["time-limit", "memory-limit"])
def test_limits_are_numbers_that_a_process_can_have(project, key, value):
    assert sources_module._MOST == 1_000_000
    with pytest.raises(ConfigurationError, match=rf"sources.net.{key}: takes a number above 0 \(at most 1,000,000\)"):
        project.write(f"{key} = {value}")


def test_a_real_process_that_crashes_is_one_finding(tmp_path, monkeypatch, fake_python):
    """With a converter in an environment of its own, which ends with a signal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make_source(tmp_path, "crashing")
    more = f"python = {json.dumps(fake_python)}"
    text = CONFIGURATION.format(source="crashing.keras", more=more)
    (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
    (case,) = check_models(read_configuration("delegate-sim.toml"), run_configured_code=True).results.cases
    assert (case.status, case.findings[0].code) == ("unreadable", "failed-conversion")
    assert case.findings[0].message.startswith("crashing.keras: crashed: ")

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.support.examples import EXAMPLES
from tests.support.models import MIXED, chain_model

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "delegate_sim_cli.pytest_plugin"


@pytest.fixture
def run_tests(pytester):
    """Run the tests in a file and return the result; the plugin is named where it is not installed."""
    is_installed = any(entry_point.value == PLUGIN for entry_point in entry_points(group="pytest11"))
    arguments = [] if is_installed else ["-p", PLUGIN]

    def run_tests(path, text):
        file = pytester.path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return pytester.runpytest_inprocess(*arguments)

    return run_tests


@pytest.fixture
def model(pytester):
    """Four nodes in three partitions, in the root directory."""
    path = pytester.path / "m.tflite"
    chain_model(MIXED).write(path)
    return path


@pytest.mark.usefixtures("model")
def test_what_holds_passes_and_what_does_not_fails_where_it_was_asked(run_tests):
    result = run_tests(
        "test_model.py",
        """
def test_holds(delegate_sim):
    delegate_sim("m.tflite", "nnapi").assert_partitions(max=3).assert_delegate_kernels(max=2).assert_delegated(0.5)

def test_fails(delegate_sim):
    delegate_sim("m.tflite", "nnapi").assert_partitions(max=1)

def test_fails_later(delegate_sim):
    delegate_sim("m.tflite", "nnapi").assert_partitions(max=3).assert_fallback(max=2, forbid=("ROUND",))
""",
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*_ test_fails _*",
            '>       delegate_sim("m.tflite", "nnapi").assert_partitions(max=1)',
            "E       AssertionError: m.tflite on nnapi: 3 partitions, at most 1 allowed",
            "E         log: Replacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions *",
            "E         outcome: delegated, with 2 of 4 nodes in 2 delegate kernels and 3 partitions",
            "E           ROUND: 1 node [[]1]",
            "E             nnapi-operator: ROUND is not mapped",
            "E             hint: ROUND can be written as FLOOR of x + 0.5, which rounds halves up; *3 of 4 nodes in 2 kernels",
            "test_model.py:6: AssertionError",
            "E       AssertionError: m.tflite on nnapi: ROUND on the CPU, which is forbidden",
            "test_model.py:9: AssertionError",
        ]
    )
    result.stdout.no_fnmatch_line("*assertions.py*")


def test_the_example_passes_until_its_model_gets_worse(run_tests, pytester):
    path = pytester.mkdir("models") / "detector.tflite"
    chain_model(["ADD", "ADD", "ADD"]).write(path)
    run_tests("test_models.py", EXAMPLES["test_models.py"]).assert_outcomes(passed=1)
    chain_model(MIXED).write(path)
    result = run_tests("test_models.py", EXAMPLES["test_models.py"])
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*AssertionError: models/detector.tflite on nnapi: 3 partitions, at most 1 allowed"])


CALLS_IN_VAIN = {
    '"m.tflite", "npu"': "OptionError: there is no delegate 'npu'; did you mean npu-google, npu-intel,*",
    '"m.tflite", "nnapi", {"level": 31}': "OptionError: nnapi has no option 'level'; its options are feature_level,*",
    '"m.tflite", level=31': "OptionError: nnapi has no option 'level'; its options are feature_level,*",
    '"m.tflite", feature_level="new"': "OptionError: option feature_level of nnapi: *",
    '"m.tflite", runtime="tf-9"': "OptionError: there is no runtime 'tf-9'; *",
    '"m.tflite", defaults="none"': "OptionError: there are no defaults named 'none'; *",
    '"absent.tflite"': "ModelError: absent.tflite: the file does not exist in *folder or *",
    '"/absent/m.tflite"': "ModelError: /absent/m.tflite: No such file or directory",
    "__file__": "ModelError: *test_errors.py: is not a TFLite model: *",
    '"a" * 300': "ModelError: aaa*: the file does not exist in *",
    r'"a\x1b\0b"': r"ModelError: a\x1b\x00b: the file does not exist in *",
    'b"TFL3"': "ModelError: the given bytes: is 4 bytes long, too short for a TFLite model",
}


@pytest.mark.usefixtures("model")
def test_what_cannot_be_analyzed_is_one_line_where_it_was_asked(run_tests):
    tests = [f"def test_{number}(delegate_sim):\n    delegate_sim({call})\n" for number, call in enumerate(CALLS_IN_VAIN)]
    result = run_tests("folder/test_errors.py", "\n".join(tests))
    result.assert_outcomes(failed=len(tests))
    expected = [
        line
        for call, message in CALLS_IN_VAIN.items()
        for line in (f">*delegate_sim({call})", f"E*delegate_sim.errors.{message}")
    ]
    result.stdout.fnmatch_lines(expected)
    assert len([line for line in result.stdout.lines if line.startswith(("E ", ">"))]) == len(expected)


@pytest.mark.usefixtures("model")
def test_models_come_from_the_folder_of_the_test_or_the_root_or_anywhere(run_tests, pytester):
    folder = pytester.mkdir("folder")
    chain_model(["ADD"]).write(folder / "here.tflite")
    chain_model(MIXED).write(pytester.path / "here.tflite")
    run_tests(
        "folder/test_paths.py",
        """
def test_paths(delegate_sim, pytestconfig):
    delegate_sim("here.tflite").assert_partitions(max=1)
    path = pytestconfig.rootpath / "m.tflite"
    for model in ("m.tflite", path, str(path), path.read_bytes(), delegate_sim(path).report.model):
        assert delegate_sim(model).measures.partitions == 3
""",
    ).assert_outcomes(passed=1)


@pytest.mark.usefixtures("model")
def test_arguments_count_and_what_was_found_can_be_asked(run_tests):
    run_tests(
        "test_model.py",
        """
def test_arguments(delegate_sim):
    options = {"max_number_delegated_partitions": 1, "feature_level": 27}
    analysis = delegate_sim("m.tflite", "nnapi", options, feature_level=31, runtime="tf-2.10", defaults="benchmark")
    assert analysis.run.options["feature_level"] == 31
    assert analysis.measures.delegate_kernels == 1
    assert analysis.log_lines[0].endswith("yielding 2 partitions.")
    assert analysis.log_lines[1].startswith("Explicitly applied NNAPI delegate")
    assert analysis.report.to_dict()["runs"][0]["outcome"] == "delegated"
""",
    ).assert_outcomes(passed=1)


@pytest.mark.usefixtures("model")
def test_a_model_is_read_again_only_once_it_changed(run_tests):
    run_tests(
        "test_model.py",
        """
import shutil

def test_reading(delegate_sim):
    first = delegate_sim("m.tflite").report.model
    assert delegate_sim("m.tflite", "gpu").report.model is first
    shutil.copy("m.tflite", "longer.tflite")
    with open("longer.tflite", "ab") as file:
        file.write(bytes(16))
    shutil.move("longer.tflite", "m.tflite")
    assert delegate_sim("m.tflite").report.model is not first
""",
    ).assert_outcomes(passed=1)


def test_loading_the_plugin_imports_nothing_that_takes_time():
    look = f"import pytest, sys; before = set(sys.modules); import {PLUGIN}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    names = [
        "errors",
        "releases",
        "releases.catalogue",
        "releases.litert_lm",
        "releases.packages",
        "foundation",
        "foundation.printable",
        "foundation.suggestions",
        "version",
    ]
    light = {"delegate_sim", "delegate_sim_cli", *[f"delegate_sim.{name}" for name in names]}
    assert set(done.stdout.split()) <= {PLUGIN, *light}


@pytest.mark.slow
def test_annotations_serve_a_type_checker(tmp_path):
    pytest.importorskip("mypy", reason="the type checker is not installed")
    test = tmp_path / "test_typed.py"
    test.write_text(
        f"""
from {PLUGIN} import DelegateSim

def test_model(delegate_sim: DelegateSim) -> None:
    analysis = delegate_sim("m.tflite", "nnapi", feature_level=31).assert_partitions(max=1)
    reveal_type(analysis)
    reveal_type(analysis.measures.partitions)
    delegate_sim(1)
""",
        encoding="utf-8",
    )
    # A type checker does not follow the hook by which an editable installation finds the package.
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "delegate_sim_cli").symlink_to(ROOT / "cli")
    cache = ROOT / ".mypy_cache"
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={cache}", str(test)]
    environment = {**os.environ, "MYPYPATH": str(tmp_path / "packages")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    revealed = [line.split("note: ")[1] for line in done.stdout.splitlines() if "note: Revealed" in line]
    assert revealed == ['Revealed type is "delegate_sim_cli.assertions.Analysis"', 'Revealed type is "int"'], done.stdout
    assert 'Argument 1 to "__call__" of "DelegateSim" has incompatible type "int"' in done.stdout

"""``scan``: many models on many targets."""

from __future__ import annotations

import sqlite3
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from delegate_sim_cli.commands.scan import command
from fixtures.bundles import LIBRARIES, apk
from tests.support.models import MIXED, chain_model
from tests.support.scans import write_zoo


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_zoo()


def run(*arguments):
    return CliRunner().invoke(command, arguments, standalone_mode=False)


def test_the_command_says_what_was_found(zoo):
    done = run("zoo", "-o", "z.sqlite", "--delegate", "nnapi", "--delegate", "gpu", "--processes", "1")
    assert done.return_value == 2
    assert "3 models: 3 simulated now, 0 unchanged" in done.output
    assert "zoo/c.tflite: is not a TFLite model" in done.output
    assert "6 rows and 3 causes in z.sqlite\n" in done.output
    assert done.output.startswith("nnapi --runtime=litert-2.3 runs 75 % of nodes of 2 models\ngpu ")
    connection = sqlite3.connect("z.sqlite")
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (6,)
    shares = connection.execute("SELECT target, delegated_share, multiply_add_share FROM runs WHERE model = 'zoo/b.tflite'")
    assert dict(row[:2] for row in shares) == {"nnapi --runtime=litert-2.3": 1.0, "gpu --runtime=litert-2.3": 1.0}
    connection.close()


def test_a_named_application_that_lacks_a_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = {"m.tflite": chain_model(MIXED).bytes()}
    libraries = [name for name in LIBRARIES if name != "libLiteRtDispatch_Qualcomm.so"]
    Path("whole.apk").write_bytes(apk(models=model))
    Path("part.apk").write_bytes(apk(libraries, model))
    done = run("whole.apk", "part.apk", "-o", "z.csv", "--delegate", "gpu", "--processes", "1")
    assert done.return_value == 0
    assert "part.apk: npu-qualcomm (arm64-v8a) lacks libLiteRtDispatch_Qualcomm.so\n" in done.output
    assert done.output.endswith("delegate-sim inspect part.apk\n")
    assert "whole.apk" not in done.output


@pytest.mark.parametrize("broken", ["delegate_sim.live.live_runs.simulate", "delegate_sim.scan.job.load"])
def test_an_internal_error_on_one_model_decides_the_exit_code(zoo, monkeypatch, broken):
    module, _, name = broken.rpartition(".")
    working = getattr(import_module(module), name)
    calls = []

    def failing(*arguments, **keywords):
        calls.append(arguments)
        if len(calls) == 1:
            raise ZeroDivisionError("of a rule")
        return working(*arguments, **keywords)

    monkeypatch.setattr(broken, failing)
    done = run("zoo", "-o", "z.csv", "--delegate", "nnapi", "--processes", "1")
    assert (done.return_value, "internal error" in done.output, len(calls) > 1) == (70, True, True)
    assert run("zoo", "-o", "z.csv", "--delegate", "nnapi", "--processes", "1").return_value == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("zoo", "-o", "z.txt"), "the name of the output must end in .parquet, .csv, .jsonl, .sqlite"),
        (("-", "-o", "z.csv"), "a scan takes files, not standard input"),
        (("zoo", "-o", "z.csv", "--processes", "2", "--scheduler", "tcp://x"), "--processes applies only to this machine"),
        (("zoo", "-o", "z.csv", "--option", "nothing=1"), "npu-samsung has an option 'nothing'"),
        (("zoo", "-o", "z.csv", "--runtime", "tf-9"), "tf-9"),
        (("empty", "zoo", "-o", "z.csv"), "empty: contains no model"),
        (("zoo", "-o", "no/z.csv"), "no/z.csv: No such file or directory"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(zoo, arguments, message):
    Path("empty").mkdir()
    done = run(*arguments)
    assert message in str(done.exception)
    assert not list(Path().glob("z.*"))

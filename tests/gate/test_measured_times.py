"""The times beside the baseline, and the price of a regression."""

from __future__ import annotations

import json

import pytest

from delegate_sim.gate import measured_times
from delegate_sim.gate.baseline import EntryKey
from delegate_sim.gate.baseline_content import BaselineError
from delegate_sim.gate.check import check_models
from delegate_sim.gate.configuration import ConfigurationError, read_configuration
from delegate_sim.gate.measured_times import Sum, read_times
from fixtures.op_profiles import ProfiledRow, write_profile
from tests.support.cli.own_schemas import validate
from tests.support.models import chain_model

FILE = "delegate-sim-times.json"
CONFIGURATION = 'models = ["*.tflite"]\n[targets.phone]\ndelegate = "nnapi"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a model, a configuration and a profile of the CPU."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.tflite").write_bytes(chain_model(["ADD", "RELU", "ADD"]).bytes())
    (tmp_path / "delegate-sim.toml").write_text(CONFIGURATION)
    rows = [
        ProfiledRow(op, f"[t{index}]", index, ms) for index, (op, ms) in enumerate([("ADD", 1.0), ("RELU", 4.5), ("ADD", 3.0)])
    ]
    (tmp_path / "cpu.txt").write_text(write_profile(rows))
    return tmp_path


def check(**options):
    return check_models(read_configuration("delegate-sim.toml"), **options)


def test_an_update_keeps_the_sums_of_the_profile(folder):
    check(update=True, op_profiles=["cpu.txt"])
    validate("times", json.loads((folder / FILE).read_text()))
    (key, entry), *others = read_times(FILE).items()
    assert (key, others) == (EntryKey("model.tflite", "phone"), [])
    assert (entry.operators, entry.kernels) == ({"RELU": Sum(1, 4.5), "ADD": Sum(2, 4.0)}, {})


def test_a_regression_shows_what_the_nodes_took(folder):
    check(update=True, op_profiles=["cpu.txt"])
    date = read_times(FILE)[EntryKey("model.tflite", "phone")].date
    (folder / "delegate-sim.toml").write_text(
        f'{CONFIGURATION}options = {{ driver_rejects = "ADD,RELU", accelerator_name = "npu" }}\n'
    )
    (case,) = check().results.cases
    assert case.status == "failed"
    prices = [note for note in case.notes if "in the profile of" in note]
    assert prices == [
        f"1 more RELU on the CPU; RELU took 4.500 ms per node in the profile of {date}",
        f"2 more ADD on the CPU; ADD took 2.000 ms per node in the profile of {date}",
    ]


def test_without_a_regression_there_is_no_price(folder):
    check(update=True, op_profiles=["cpu.txt"])
    (case,) = check().results.cases
    assert (case.status, case.notes) == ("passed", ())


def test_a_profile_is_of_one_model(folder):
    (folder / "second.tflite").write_bytes(chain_model(["ADD"]).bytes())
    with pytest.raises(ConfigurationError, match="one MODEL and one --target"):
        check(update=True, op_profiles=["cpu.txt"])
    assert not (folder / FILE).exists()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": "delegate-sim/times/9", "entries": []}', '{"schema": "delegate-sim/times/1", "entries": [{}]}'],
)
def test_a_broken_file_is_one_line(folder, text):
    (folder / FILE).write_text(text)
    with pytest.raises(BaselineError, match=f"{FILE}: is not a file of measured times") as caught:
        read_times(FILE)
    assert "\n" not in str(caught.value)


def test_entries_of_other_targets_stay(folder):
    check(update=True, op_profiles=["cpu.txt"])
    content = json.loads((folder / FILE).read_text())
    content["entries"][0]["target"] = "tablet"
    (folder / FILE).write_text(json.dumps(content))
    check(update=True, op_profiles=["cpu.txt"])
    assert [key.target for key in read_times(FILE)] == ["phone", "tablet"]


def test_a_large_file_is_not_read(folder, monkeypatch):
    (folder / FILE).write_text("{}" + " " * 100)
    monkeypatch.setattr(measured_times, "_LARGEST_FILE", 50)
    with pytest.raises(BaselineError, match=FILE):
        read_times(FILE)

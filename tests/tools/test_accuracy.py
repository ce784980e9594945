"""The measurement of the agreement with recorded verdicts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools import accuracy
from tools.accuracy import DATA, agreement, measure

ENTRY = {"target": "gpu", "command": "conformance.py --delegate gpu", "measured": None, "sample": None, "agreement": {}}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", {}),
        ("gpu real models 2 runs 4  nodes 99.5000% (1 of 200 differ)  kinds -\n", {"nodes": [199, 200]}),
        (
            "a  nodes 100.0000% (0 of 10 differ)\n    nodes: m.tflite: expected 1 of 3\nb  nodes 50.0000% (5 of 10 differ)\n",
            {"nodes": [15, 20]},
        ),
        (
            "litert-2.3.0\n  family  wrong  found\n  slicing  1  1  1  100.00%  5  0  0\n"
            "  ALL    10   9   8   90.00%   100   2   0  98.00%  8/9  0\n",
            {"wrong outputs": [9, 10], "right outputs": [98, 100]},
        ),
    ],
)
def test_counts_are_added_over_the_lines_of_a_program(output, expected):
    assert agreement(output) == expected


@pytest.mark.parametrize(("sample", "is_given"), [(40, True), (None, False)])
def test_a_measurement_has_a_date_and_the_size_of_the_sample(monkeypatch, sample, is_given):
    commands = []

    def run(command, **named):
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "x  nodes 50.0000% (1 of 2 differ)\n", "")

    monkeypatch.setattr(accuracy.subprocess, "run", run)
    result = measure(ENTRY, sample, 2)
    assert (result["agreement"], result["sample"]) == ({"nodes": [1, 2]}, sample)
    assert result["measured"]
    assert ("--sample" in commands[0]) is is_given


def test_a_program_that_compares_nothing_is_an_error(monkeypatch):
    monkeypatch.setattr(
        accuracy.subprocess, "run", lambda command, **named: subprocess.CompletedProcess(command, 2, "", "no data")
    )
    with pytest.raises(subprocess.CalledProcessError):
        measure(ENTRY, 40, 2)


@pytest.mark.skipif(not accuracy.PROGRAMS.exists(), reason="the recorded verdicts (../shared) are not here")
def test_every_measurement_names_a_program_and_what_is_not_simulated():
    for entry in json.loads(DATA.read_text("utf-8"))["targets"]:
        assert (Path(accuracy.PROGRAMS) / entry["command"].split()[0]).is_file()
        assert entry["not_simulated"]

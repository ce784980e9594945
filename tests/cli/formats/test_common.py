from __future__ import annotations

import pytest

from delegate_sim.results.report.measures import Measures
from delegate_sim_cli.formats.common import numbers, repository_path, target_text, title, verdict
from tests.support.cli.format_cases import ANALYSIS, BEFORE, CHECK, FAILURE, NOTHING, NOW, PASSES, STALE, UNREAD, case


@pytest.mark.parametrize("variable", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_a_path_inside_the_repository_is_relative_to_it(monkeypatch, tmp_path, variable):
    (tmp_path / "work").mkdir()
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.chdir(tmp_path / "work")
    assert repository_path(case(path="../models/a.tflite")) == "models/a.tflite"
    assert repository_path(case(path=str(tmp_path / "a.tflite"))) == "a.tflite"
    assert repository_path(case(path="/elsewhere/a.tflite")) == "/elsewhere/a.tflite"


def test_a_repository_behind_a_symbolic_link(monkeypatch, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "link"))
    assert repository_path(case(path=str(tmp_path / "real" / "a.tflite"))) == "a.tflite"


def test_without_a_repository_a_path_stays_as_it_is():
    assert repository_path(case(path="../a.tflite")) == "../a.tflite"
    assert repository_path(case(path="/models/a\nb.tflite")) == "/models/a\\nb.tflite"


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (CHECK, "failed: 4 cases (2 failed, 1 unreadable)"),
        (PASSES, "passed: 2 cases (1 better than the baseline)"),
        (ANALYSIS, "analyzed: 1 case"),
        (NOTHING, "passed: 0 cases"),
    ],
)
def test_verdict(results, expected):
    assert verdict(results) == expected


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        (FAILURE, ["3 -> 5", "1 -> 2", "2 -> 4", "80 % -> 60 %", "90 % -> 10 %", "1,024 -> 2,048"]),
        (case(measures=NOW), ["5", "2", "4", "60 %", "", "2,048"]),
        (case(measures=BEFORE, baseline=BEFORE), ["3", "1", "2", "80 %", "", "1,024"]),
        (STALE, ["was 3", "was 1", "was 2", "was 80 %", "was 90 %", "was 1,024"]),
        (UNREAD, [""] * 6),
        (case(measures=Measures("none", 0, 0, 0, 0, 0)), ["0", "0", "0", "100 %", "", "0"]),
    ],
)
def test_numbers_stand_beside_those_of_the_baseline(example, expected):
    assert numbers(example) == expected


def test_target():
    assert title(FAILURE) == "models/detector.tflite on phone"
    assert target_text(FAILURE) == "nnapi on litert-2.3: --feature-level=30 --driver-rejects=ADD,MUL"
    assert target_text(case(options={})) == "nnapi on litert-2.3"

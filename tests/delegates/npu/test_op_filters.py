"""Files of op filters, and regular expressions as RE2 reads them."""

from __future__ import annotations

import os

import pytest

from delegate_sim.delegates.npu import op_filters
from delegate_sim.delegates.npu.op_filters import NOT_ON_TPU, ON_TPU, UNPARSABLE, filter_file, parsed
from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget


@pytest.mark.parametrize(
    ("text", "behavior", "patterns"),
    [
        ("", NOT_ON_TPU, ()),
        ("# nothing\n", NOT_ON_TPU, ()),
        ("filter_behavior: MATCHES_RUN_ON_TPU", ON_TPU, ()),
        ("filter_behavior: 1;", ON_TPU, ()),
        ("filters { op_name_pattern: \"a\" } filters: < op_name_pattern: 'b' >", NOT_ON_TPU, ("a", "b")),
        ('filters: [ { op_name_pattern: "a" }, { op_name_pattern: "b" "c" } ]', NOT_ON_TPU, ("a", "bc")),
        ("filters { }", NOT_ON_TPU, ("",)),
        (r'filters { op_name_pattern: "a\\.b\t\x41\101" }', NOT_ON_TPU, ("a\\.b\tAA",)),
    ],
)
def test_messages(text, behavior, patterns):
    found = parsed(text)
    assert (found.fault, found.behavior, found.patterns) == ("", behavior, patterns)


@pytest.mark.parametrize(
    "text",
    [
        "filters { nope: 1 }",
        "filters {",
        'filters { op_name_pattern "a" }',
        'filters { op_name_pattern: "a" op_name_pattern: "b" }',
        "filter_behavior: SOMETHING",
        "filter_behavior: MATCHES_RUN_ON_TPU filter_behavior: MATCHES_RUN_ON_TPU",
        'filters [ { op_name_pattern: "a" } ]',
        'filters { op_name_pattern: "\\q" }',
        "!",
        "filter_behavior 1",
    ],
)
def test_what_is_no_message(text):
    assert parsed(text).fault == UNPARSABLE


def test_empty_patterns_are_skipped_with_a_warning():
    match = parsed('filters { } filters { op_name_pattern: "a" }').match(["a"])
    assert not match.is_kept
    assert match.lines[0] == "Empty op_name_pattern in OpFilter."


def test_the_report_names_the_file_of_filters_alone(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("TOKEN=abc\n", encoding="utf-8")
    file = filter_file(str(path))
    assert (str(file), file.content) == ("secret.txt", "TOKEN=abc\n")
    assert str(filter_file("filters { }")) == "filters { }"


def test_files_of_one_name_are_different_values(tmp_path):
    paths = [tmp_path / name / "filters.txt" for name in "ab"]
    for path in paths:
        path.parent.mkdir()
        path.write_text(f'filters {{ op_name_pattern: "{path.parent.name}" }}', encoding="utf-8")
    assert len({filter_file(str(path)) for path in paths}) == 2


def test_a_large_file_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "filters"
    path.write_bytes(bytes(100))
    assert filter_file(str(path)).content == "\0" * 100
    monkeypatch.setattr(op_filters, "_LARGEST_FILE", 99)
    assert filter_file(str(path)).content is None


@pytest.mark.parametrize("kind", ["folder", "pipe", "missing"])
def test_what_is_no_regular_file_is_not_read(tmp_path, kind):
    path = tmp_path / "filters"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    assert filter_file(str(path)).content is None


def test_patterns_that_take_exponential_time_in_re():
    filters = parsed('filters { op_name_pattern: "((a|a)*)*b" }')
    assert [filters.match([name]).is_kept for name in ("a" * 500, "a" * 500 + "b")] == [True, False]


def test_the_parts_of_a_file_use_up_the_budget(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1000)
    with (
        work_budget.work_budget(),
        pytest.raises(LimitError, match="reading op filters takes more than the limit of 1,000 steps"),
    ):
        parsed("filters { } " * 1000)


def test_files_that_are_read_for_many_targets_use_up_the_budget(tmp_path, monkeypatch):
    path = tmp_path / "filters"
    path.write_bytes(bytes(6400))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1000)
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading op filters"):
        list(map(filter_file, [str(path)] * 11))

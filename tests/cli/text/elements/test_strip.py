"""The execution plan as characters."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.results.report.display import DELEGATED, LEFT, REFUSED, STATES, Span
from delegate_sim.results.report.outcome_words import DELEGATED as DELEGATE_WORDS
from delegate_sim_cli.console.terminal import can_write
from delegate_sim_cli.text.elements.strip import strip_lines, strip_text, strips_lines


def spans(*parts):
    found, start = [], 0
    for state, count in parts:
        found.append(Span(state, tuple(range(start, start + count))))
        start += count
    return found


def test_a_cell_is_a_node_where_there_is_room():
    first, legend = strip_lines(spans((DELEGATED, 3), (REFUSED, 1), (LEFT, 2)), DELEGATE_WORDS, "gpu", 120)
    assert first.text in ("  ███░▒▒", "  ###.oo")
    assert first.parts == ((2, 5, "green"), (5, 6, "red"), (6, 8, "yellow"))
    assert legend.text.endswith("(each cell is a node, in running order)")


def test_a_plan_that_is_not_cut_has_no_strip():
    assert not list(strip_lines(spans((DELEGATED, 30)), DELEGATE_WORDS, "gpu", 80))
    assert not list(strip_lines([], DELEGATE_WORDS, "gpu", 80))


@given(st.lists(st.tuples(st.sampled_from(STATES), st.integers(1, 400)), max_size=40), st.integers(60, 200))
def test_lines_stay_within_the_width(parts, width):
    lines = list(strip_lines(spans(*parts), DELEGATE_WORDS, "gpu", width))
    assert all(len(line.text) <= width for line in lines)
    assert len(lines) <= 8
    assert len(strip_text(tuple(parts), 64)[0]) <= 64


def test_an_output_without_the_characters_has_others(monkeypatch):
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert not can_write("\u2588")
    first, _ = strip_lines(spans((DELEGATED, 2), (REFUSED, 1)), DELEGATE_WORDS, "gpu", 80)
    assert first.text == "  ##."


@pytest.mark.parametrize("command", ["analyze", "check"])
def test_pull_requests_have_a_strip_for_each_plan_that_is_cut(run, model, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "delegate-sim.toml").write_text('models = ["*.tflite"]\n[targets.phone]\ndelegate = "nnapi"\n', encoding="utf-8")
    run("check", "--update")
    given = [model, "--delegate", "nnapi"] if command == "analyze" else []
    result = run(command, *given, "--format", "markdown")
    assert "- `█░░█` " in result.stdout
    assert "Execution plans: `█` the delegate" in result.stdout


ROWS = [("gpu", ((DELEGATED, 30), (REFUSED, 10)), "75 %"), ("nnapi", ((LEFT, 40),), "none")]


def test_strips_of_several_targets_have_a_common_scale_and_fit_the_terminal():
    lines = list(strips_lines(ROWS, 40))
    assert [len(line.text) for line in lines[:2]] == [33, 33]
    assert lines[0].text.split()[1].strip("\u2588") == "\u2591" * 5
    assert lines[0].parts == ((8, 23, "green"), (23, 28, "red"))
    assert "each cell is 2 nodes" in " ".join(" ".join(line.text for line in lines[2:]).split())


def test_a_narrow_terminal_has_no_strips_of_several_targets():
    assert not list(strips_lines(ROWS, 28))

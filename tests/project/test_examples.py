"""The examples of the README and docs are run, and print what the pages show."""

from __future__ import annotations

import pytest

from tools.docs.examples import FILES, ROOT, Example, Outcome, difference, examples, outcomes, pages, with_current_output

for needed in ("ai_edge_litert", "duckdb", "networkx", "pydot"):
    pytest.importorskip(needed)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_examples_print_what_the_page_shows(page):
    problems = [f"{outcome.example.command}: {difference(outcome)}" for outcome in outcomes(page.read_text(encoding="utf-8"))]
    assert [problem for problem in problems if not problem.endswith(": None")] == [], "run `make examples`"


def test_files_of_examples_are_models_of_this_repository():
    assert [name for name in FILES.values() if not (ROOT / "fixtures" / "models" / f"{name}.tflite").is_file()] == []


def test_a_block_has_commands_with_their_output_and_exit_code():
    block = "$ delegate-sim check\nfailed\n$ echo $?\n1\n$ cat log.txt\none\ntwo\n"
    assert list(examples(block)) == [Example("delegate-sim check", ("failed",), 1), Example("cat log.txt", ("one", "two"))]


@pytest.mark.parametrize(
    ("shown", "code", "problem"),
    [
        (("one", "...", "three is..."), 0, None),
        (("one", "three is shown"), 0, "not in the output from line 1 on: ('one', 'three is shown')"),
        (("...", "two", "...", "one"), 0, "not in the output from line 3 on: ('one',)"),
        ((), 1, "exit code 0, not 1"),
    ],
)
def test_lines_are_shown_in_order_and_dots_leave_lines_out(shown, code, problem):
    assert difference(Outcome(Example("", shown, code), 0, ("one", "two", "three is shown"))) == problem


def test_a_page_gets_the_current_output_and_leaves_out_what_it_left_out():
    command = "delegate-sim analyze quantized.tflite --delegate nnapi"
    page = f"```console\n$ {command}\nNNAPI runs all of 7\n...\n  partitions        2\n...\n```\n"
    current = with_current_output(page)
    assert "\nNNAPI on Android 13 runs all nodes (7) in 1 kernel\n...\n  partitions        1\n...\n```\n" in current
    assert with_current_output(current) == current


def test_a_block_that_is_marked_is_not_run():
    assert list(outcomes("<!-- not run: it needs a device -->\n```\n$ delegate-sim no-such-command\n```\n")) == []

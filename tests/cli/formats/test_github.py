from __future__ import annotations

import re

import click
import pytest
from hypothesis import given

from delegate_sim_cli.formats.github import render, write_summary
from delegate_sim_cli.formats.markdown import render as markdown
from tests.support.cli.format_cases import CHECK, EVERYTHING, MANY, NOTHING, any_text, named, nasty_text

COMMAND = re.compile(r"::(error|warning|notice|group|endgroup)(?: (?:(?:file|title)=[^:,\r\n]*,?)+)?::[^\r\n]*")


def test_annotations_then_a_line_for_each_case():
    assert render(CHECK) == (
        "::error file=models/detector.tflite,title=nnapi-missing-bias on phone::CONV_2D (node 3, head/conv) fell back: no bias; "
        "needs a bias%0AWhat to do: add a bias of zeros to the layer\n"
        "::error file=models/detector.tflite,title=more-partitions on phone::partitions 3 -> 5; 3 are allowed\n"
        "::error file=models/broken.tflite,title=unreadable-model on phone::models/broken.tflite: is not a TFLite model\n"
        "::error file=models/gone.tflite,title=no-model-for-entry on phone::the baseline has an entry, but the model is gone\n"
        "::notice file=models/detector.tflite,title=more-border-bytes on phone::boundary bytes 1,024 -> 2,048\n"
        "::group::delegate-sim check: failed: 4 cases (2 failed, 1 unreadable)\n"
        "- models/detector.tflite on tablet: passed; partitions 3, delegate kernels 1, CPU nodes 2, delegated share 80 %, "
        "boundary bytes 1,024\n"
        "- models/detector.tflite on phone: failed; partitions 3 -> 5, delegate kernels 1 -> 2, CPU nodes 2 -> 4, "
        "delegated share 80 % -> 60 %, multiply-adds 90 % -> 10 %, boundary bytes 1,024 -> 2,048\n"
        "- models/broken.tflite on phone: unreadable\n"
        "- models/gone.tflite on phone: failed; partitions was 3, delegate kernels was 1, CPU nodes was 2, "
        "delegated share was 80 %, multiply-adds was 90 %, boundary bytes was 1,024\n"
        "::endgroup::\n"
    )


def test_without_cases():
    assert render(NOTHING) == "::group::delegate-sim check: passed: 0 cases\n::endgroup::\n"


def test_no_more_than_ten_annotations():
    annotations = [line for line in render(MANY).split("\n") if line.startswith("::error")]
    assert len(annotations) == 10
    assert annotations[-1] == "::error title=delegate-sim::991 more findings; see the job summary"


def test_properties_and_data_are_escaped():
    first = render(named("100%, a: b")).split("\n")[0]
    assert first == (
        "::error file=100%25%2C a%3A b,title=nnapi-missing-bias on 100%25%2C a%3A b::100%25, a: b%0AWhat to do: see 100%25, a: b"
    )


@given(any_text | nasty_text)
def test_no_name_is_taken_for_a_command(name):
    check(named(name))


def test_every_example_holds_only_the_commands_that_are_meant():
    for results in EVERYTHING:
        check(results)


def check(results):
    *lines, end, last = render(results).split("\n")
    assert (end, last) == ("::endgroup::", "")
    start = next(position for position, line in enumerate(lines) if line.startswith("::group::"))
    assert all(COMMAND.fullmatch(line) for line in lines[: start + 1])
    assert all(line.startswith("- ") for line in lines[start + 1 :])
    assert len(lines) - start - 1 == len(results.cases)
    assert start <= 10
    assert not any("##[" in line or "\r" in line for line in lines)


def test_the_summary_is_appended(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    write_summary(CHECK, {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text(encoding="utf-8") == f"before\n{markdown(CHECK)}"


@pytest.mark.parametrize("environment", [{}, {"GITHUB_STEP_SUMMARY": ""}])
def test_outside_of_github_there_is_no_summary(environment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_summary(CHECK, environment)
    assert list(tmp_path.iterdir()) == []


def test_a_summary_that_cannot_be_written(tmp_path):
    with pytest.raises(click.ClickException, match=re.escape(f"{tmp_path}: Is a directory")):
        write_summary(CHECK, {"GITHUB_STEP_SUMMARY": str(tmp_path)})

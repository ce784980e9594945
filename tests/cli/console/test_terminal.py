"""Output on a terminal."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delegate_sim_cli.console import terminal
from delegate_sim_cli.console.terminal import Line, neutral
from delegate_sim_cli.formats import FORMATS
from tests.support.cli.runner_commands import commands


def colored_terminal(monkeypatch):
    """Replace standard output by a terminal with colors. A fixture cannot, because pytest sets standard output after it."""

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    stdout = Terminal()
    monkeypatch.setattr("sys.stdout", stdout)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return stdout


def test_parts_of_a_line_are_colored(monkeypatch):
    shown = colored_terminal(monkeypatch)
    terminal.write_lines([Line("  ab", "", ((2, 3, "green"), (3, 4, "red")))])
    assert "\x1b[32ma" in shown.getvalue()
    assert "\x1b[31mb" in shown.getvalue()


@pytest.mark.parametrize("has_color", [True, False])
def test_a_line_is_shown_before_the_next_line_is_computed(monkeypatch, has_color):
    shown = colored_terminal(monkeypatch)
    if not has_color:
        monkeypatch.setenv("NO_COLOR", "1")

    def lines():
        yield Line("first")
        assert shown.getvalue() == "first\n"
        yield Line("second")

    terminal.write_lines(lines())
    assert shown.getvalue() == "first\nsecond\n"


NAMES = (
    "::error::x",
    " \t::stop-commands::t",
    "##[error]x",
    "a ##[add-mask]b",
    "###[x]",
    "::::",
    "##vso[task.x]y",
    "##teamcity[z]",
)
LINES = st.lists(st.sampled_from((*NAMES, "plain", "a: b", "# title", "x::y")), max_size=6).map("\n".join)


@given(LINES)
@example("\n".join(NAMES))
@pytest.mark.parametrize("form", ["text", "csv", "markdown"])
def test_lines(form, text):
    assert commands(neutral(text, form)) == []
    assert neutral(neutral(text, form), form) == neutral(text, form)


def test_what_is_no_command_stays():
    for form in ("text", "json", *FORMATS):
        text = "a: b\n# title\n## part [x]\n  x::y\n"
        assert neutral(text, form) == text


@given(LINES)
@pytest.mark.parametrize("form", ["json", "sarif", "gitlab"])
def test_json_says_the_same(form, text):
    for indent in (None, 2):
        written = json.dumps({text: [text]}, indent=indent)
        assert json.loads(neutral(written, form)) == {text: [text]}
        assert commands(neutral(written, form)) == []


@given(LINES)
def test_xml_says_the_same(text):
    element = xml.etree.ElementTree.Element("a", name="n")
    element.text = text
    written = xml.etree.ElementTree.tostring(element, encoding="unicode")
    assert (xml.etree.ElementTree.fromstring(neutral(written, "junit")).text or "") == text
    assert commands(neutral(written, "junit")) == []


def test_the_commands_of_the_format_itself_stay():
    assert neutral("::error file=a::b\n", "github") == "::error file=a::b\n"

"""Nothing in the output is a command to what runs the program, and JSON and XML still say the same."""

from __future__ import annotations

import json
import xml.etree.ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delegate_sim_cli.console.terminal import neutral
from delegate_sim_cli.formats import FORMATS
from tests.support.cli.runner_commands import commands

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

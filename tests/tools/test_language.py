"""The check of language finds what it is meant to find, and nothing in code."""

from __future__ import annotations

import pytest

from tools.language import problems_of_module, problems_of_page, problems_of_table

BAD_MODULE = '''
"""What this is."""

class Behaviour:
    """A class."""

    found: int
    colour_of: str
    """How it looks."""


def serialise(value):
    """Return the bytes, as far as
    they are quantised."""
    found = [each for each in value]  # the first of which is analysed
    return found
'''


def texts(problems):
    return [f"{problem.line}: {problem.text}" for problem in problems]


def test_problems_of_a_module():
    assert sorted(texts(problems_of_module("x.py", BAD_MODULE)), key=lambda text: int(text.split(":")[0])) == [
        "2: a docstring opens with What: open with a verb or a noun",
        "4: the name 'Behaviour' is British spelling: -or in American",
        "8: the name 'colour' is British spelling: -or in American",
        "9: a docstring opens with How: open with a verb or a noun",
        "12: the name 'serialise' is British spelling: -iz- in American",
        "13: 'as far as': write 'where', 'if' or 'up to'",
        "14: 'quantised' is British spelling: -iz- in American",
        "15: 'analysed' is British spelling: analyz- in American",
        "15: 'of which': write two sentences, or 'whose'",
        "15: the local name found: use a noun that says what it is, such as result",
        "15: the local name each: use a noun, such as node, check or name",
    ]


@pytest.mark.parametrize(
    "module",
    [
        'WORDS = "What is made of quantised colours, of which"',
        'def find():\n    """Return ``quantised``, and `colour`."""\n',
        '"""Whether analyses are quantized; whatever exercises, promises, premises and surprises raise."""',
        "class Row:\n    found: str\n    needed: str\n",
        "def find(found, each):\n    return found or each\n",
        '@click.command("doctor")\ndef command():\n    """Say what licences allow, as far as they do."""\n',
        "centered = precise = advise = exercise = 1",
    ],
)
def test_nothing_to_find_in_a_module(module):
    assert texts(problems_of_module("x.py", module)) == []


def test_problems_of_messages():
    module = '"""A border."""\nCODE, KEY = "more-border-bytes", "neighbour"\nprint(f"{CODE}: the colour at a border")\n'
    assert texts(problems_of_module("delegate_sim/x.py", module)) == [
        "1: 'border': write 'boundary'",
        "3: 'colour' is British spelling: -or in American",
        "3: 'border': write 'boundary'",
    ]
    command = '@click.command("doctor")\ndef command():\n    """Say what licences allow."""\n'
    assert texts(problems_of_module("cli/x.py", command)) == ["3: 'licences' is British spelling: -se in American"]


def test_problems_of_a_page():
    page = "The colour\nof `colour`\n\n```\nquantised\n```\n\nsee [the page](docs/learned.md), normalisation\n"
    assert texts(problems_of_page("x.md", page)) == [
        "1: 'colour' is British spelling: -or in American",
        "8: 'normalisation' is British spelling: -iz- in American",
    ]


def test_problems_of_a_table():
    table = "# the colour of a row\nkind\tpattern\tmeaning\nbehaviour\tbehaviour\tas far as it goes\nkind\tpattern\n"
    assert texts(problems_of_table("x.tsv", table)) == [
        "1: 'colour' is British spelling: -or in American",
        "3: 'as far as': write 'where', 'if' or 'up to'",
    ]

"""What holds for every format."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given

from delegate_sim_cli.formats import FORMATS, render

from .examples import ANALYSIS, EVERYTHING, any_text, named


@pytest.mark.parametrize("form", FORMATS)
def test_every_example_is_printable_lines_of_bounded_length(form):
    for results in EVERYTHING:
        text = render(form, results)
        text.encode("utf-8")
        assert text.endswith("\n")
        assert all(line.isprintable() and len(line) < 20_000 for line in text.split("\n"))


@pytest.mark.parametrize("form", FORMATS)
@given(name=any_text)
def test_any_name_leaves_printable_lines(form, name):
    assert all(line.isprintable() for line in render(form, named(name)).split("\n"))


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_results_give_the_same_text(form):
    assert render(form, ANALYSIS) == render(form, ANALYSIS)


def test_an_unknown_format():
    with pytest.raises(KeyError, match="yaml"):
        render("yaml", ANALYSIS)


def test_only_the_module_that_is_needed_is_imported():
    look = (
        "import sys; from delegate_sim_cli.formats import render; from delegate_sim.gate.results import Results; "
        "render('csv', Results('check', ())); print([name for name in sys.modules if 'cli.formats.' in name])"
    )
    done = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, text=True)
    assert done.stdout == "['delegate_sim_cli.formats.comma_separated']\n"

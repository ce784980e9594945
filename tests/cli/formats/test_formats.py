"""Properties of every format."""

from __future__ import annotations

import html
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given

from delegate_sim.gate.results import FAILED, PASSED, Results
from delegate_sim.results.report.findings import ERROR, Finding, Location
from delegate_sim_cli.formats import FORMATS, render
from tests.support.cli.format_cases import ANALYSIS, EVERYTHING, any_text, case, named


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


CHANNELS = Results(
    "check",
    (
        case(
            FAILED,
            findings=tuple(
                Finding(
                    "nnapi-rank",
                    ERROR,
                    f"has {size} channels",
                    f"use {size - 1}",
                    Location(0, "main", node, "CONV_2D", f"c{node}"),
                    f"CONV_2D (node {node}, c{node})",
                )
                for node, size in ((1, 64), (2, 8), (5, 32))
            ),
        ),
    ),
)


@pytest.mark.parametrize("form", ["github", "gitlab", "junit", "markdown", "sarif", "csv"])
def test_findings_of_several_nodes_are_one_entry_with_a_range(form):
    text = html.unescape(render(form, CHANNELS)).replace("\\", "")
    assert text.count("has 8 to 64 channels") == (2 if form == "junit" else 1)
    assert text.count("nodes: 1-2, 5") == (2 if form == "junit" else 1)
    assert "use 7 to 63" in text
    if form == "sarif":
        (result,) = json.loads(text)["runs"][0]["results"]
        assert result["occurrenceCount"] == len(result["locations"][0]["logicalLocations"]) == 3


@pytest.mark.parametrize("form", ["csv", "github", "gitlab", "sarif"])
@pytest.mark.parametrize(
    ("runtime", "said"),
    [
        ("tf-2.12", "not checked for tf-2.12: the rules of gpu, the CPU kernels"),
        ("litert-2.5", "the rules of litert-2.4-dev are used instead"),
        ("litert-2.3.0", ""),
    ],
)
def test_unchecked_releases(form, runtime, said):
    results = Results("analyze", (replace(case(PASSED), delegate="gpu", runtime=runtime),))
    text = render(form, results)
    assert said in text
    assert said or "not checked" not in text

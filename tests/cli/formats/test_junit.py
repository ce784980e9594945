from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given

from delegate_sim.gate.results import FAILED, UNREADABLE, Results
from delegate_sim_cli.formats.github import junit_report as render
from tests.support.cli.format_cases import CHECK, EVERYTHING, MANY, PASSES, any_text, case, named, nasty_text


def test_the_document():
    assert render(CHECK) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="delegate-sim check" tests="4" failures="2" errors="1">\n'
        '  <testsuite name="models/detector.tflite" tests="2" failures="1" errors="0">\n'
        '    <testcase name="tablet" classname="models/detector.tflite" />\n'
        '    <testcase name="phone" classname="models/detector.tflite">\n'
        '      <failure message="partitions 3 -&gt; 5; 3 are allowed" type="more-partitions">'
        "error more-partitions: partitions 3 -&gt; 5; 3 are allowed\n"
        "error nnapi-missing-bias: CONV_2D (node 3, head/conv) fell back: no bias; needs a bias\n"
        "  What to do: add a bias of zeros to the layer</failure>\n"
        "      <system-out>note: options changed: feature_level 29 -&gt; 30\n"
        "note more-border-bytes: boundary bytes 1,024 -&gt; 2,048\n"
        "Replacing 6 out of 10 node(s) with delegate</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="models/broken.tflite" tests="1" failures="0" errors="1">\n'
        '    <testcase name="phone" classname="models/broken.tflite">\n'
        '      <error message="models/broken.tflite: is not a TFLite model" type="unreadable-model">'
        "error unreadable-model: models/broken.tflite: is not a TFLite model</error>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="models/gone.tflite" tests="1" failures="1" errors="0">\n'
        '    <testcase name="phone" classname="models/gone.tflite">\n'
        '      <failure message="the baseline has an entry, but the model is gone" type="no-model-for-entry">'
        "error no-model-for-entry: the baseline has an entry, but the model is gone</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_all_passed():
    root = parsed(PASSES)
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    assert [list(test) for test in root.iter("testcase")] == [[], []]


def test_a_failure_without_an_error_to_name():
    for status, element in ((FAILED, "failure"), (UNREADABLE, "error")):
        found = parsed(Results("check", (case(status),))).find(f".//{element}")
        assert (found.get("message"), found.get("type")) == (status, status)


def test_log_lines_are_counted_after_some():
    lines = parsed(MANY).find(".//system-out").text.split("\n")
    assert (len(lines), lines[-1]) == (201, "... and 300 more lines")


@pytest.mark.slow
def test_every_example_follows_the_schema(junit_validator):
    for results in EVERYTHING:
        junit_validator.validate(render(results))


@given(any_text | nasty_text)
def test_any_name_gives_a_document(name):
    results = named(name)
    root = parsed(results)
    assert int(root.get("tests")) == len(list(root.iter("testcase"))) == len(results.cases)
    assert all(ord(character) not in (0xFFFE, 0xFFFF) for text in root.itertext() for character in text)


def parsed(results):
    return ElementTree.fromstring(render(results))

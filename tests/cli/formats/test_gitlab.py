from __future__ import annotations

import json

from hypothesis import given

from delegate_sim.gate.results import Results
from delegate_sim_cli.formats.github import gitlab_report as render
from tests.support.cli.format_cases import CHECK, EVERYTHING, FAILURE, NOTHING, any_text, check_entries, named, nasty_text


def test_an_entry_for_each_finding():
    entries = json.loads(render(CHECK))
    assert [(entry["check_name"], entry["severity"]) for entry in entries] == [
        ("more-partitions", "major"),
        ("nnapi-missing-bias", "major"),
        ("more-border-bytes", "info"),
        ("unreadable-model", "major"),
        ("no-model-for-entry", "major"),
    ]
    assert entries[1] == {
        "description": (
            "phone: CONV_2D (node 3, head/conv) fell back: no bias; needs a bias. What to do: add a bias of zeros to the layer"
        ),
        "check_name": "nnapi-missing-bias",
        "fingerprint": entries[1]["fingerprint"],
        "severity": "major",
        "location": {"path": "models/detector.tflite", "lines": {"begin": 1}},
    }


def test_without_findings():
    assert render(NOTHING) == "[]\n"


def test_a_fingerprint_stays_when_other_findings_come_and_go():
    whole = {entry["check_name"]: entry["fingerprint"] for entry in json.loads(render(CHECK))}
    alone = json.loads(render(Results("check", (FAILURE,))))
    assert {entry["check_name"]: entry["fingerprint"] for entry in alone}.items() <= whole.items()


def test_fingerprints_are_unique_even_if_a_model_is_given_twice():
    entries = json.loads(render(Results("check", (FAILURE, FAILURE, FAILURE))))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == 9


@given(any_text | nasty_text)
def test_any_name_gives_a_report(name):
    check(named(name))


def test_every_example_is_a_report():
    for results in EVERYTHING:
        check(results)


def check(results):
    entries = json.loads(render(results))
    assert len(entries) == sum(len(case.findings) for case in results.cases)
    check_entries(entries)

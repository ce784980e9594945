from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given

from delegate_sim.gate.results import FAILED, Results
from delegate_sim.results.report.findings import Finding, Location
from delegate_sim.rules.rule import LITERT, Source
from delegate_sim_cli.formats.common import grouped_findings
from delegate_sim_cli.formats.sarif import render
from tests.support.cli.format_cases import CHECK, EVERYTHING, FAILURE, NOTHING, PASSES, any_text, case, named, nasty_text


def fingerprint_of(found, position):
    finding = found.findings[position]
    return next(group.fingerprint for group in grouped_findings(Results("check", (found,))) if group.first is finding)


def run_of(results):
    document = json.loads(render(results))
    assert document["version"] == "2.1.0"
    [run] = document["runs"]
    return run


@pytest.mark.slow
def test_every_example_follows_the_schema(sarif_validator):
    for results in EVERYTHING:
        sarif_validator.validate(json.loads(render(results)))


def test_a_result():
    assert run_of(CHECK)["results"][1] == {
        "ruleId": "nnapi-missing-bias",
        "ruleIndex": 2,
        "level": "error",
        "message": {
            "text": ("CONV_2D (node 3, head/conv) fell back: no bias; needs a bias\nWhat to do: add a bias of zeros to the layer")
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "models/detector.tflite", "uriBaseId": "SRCROOT"},
                    "region": {"startLine": 1},
                },
                "logicalLocations": [
                    {
                        "name": "CONV_2D#3",
                        "fullyQualifiedName": "main/CONV_2D#3 (head/conv)",
                        "kind": "node",
                        "properties": {"subgraph": 0, "node": 3, "operator": "CONV_2D", "tensor": "head/conv"},
                    }
                ],
            }
        ],
        "occurrenceCount": 1,
        "partialFingerprints": {"delegateSim/v2": fingerprint_of(FAILURE, 1)},
        "properties": {
            "model": "models/detector.tflite",
            "target": "phone",
            "delegate": "nnapi",
            "runtime": "litert-2.3",
            "options": {"feature_level": 30, "disallow_nnapi_cpu": True, "driver_rejects": ["ADD", "MUL"]},
            "measures": {
                "outcome": "delegated",
                "nodes": 10,
                "delegated_nodes": 6,
                "partitions": 5,
                "delegate_kernels": 2,
                "border_bytes": 2048,
                "multiply_adds": 400,
                "delegated_multiply_adds": 40,
            },
            "baseline": {
                "outcome": "delegated",
                "nodes": 10,
                "delegated_nodes": 8,
                "partitions": 3,
                "delegate_kernels": 1,
                "border_bytes": 1024,
                "multiply_adds": 400,
                "delegated_multiply_adds": 360,
            },
        },
    }


def test_rules_are_those_that_occur_and_say_what_explain_says():
    rules = run_of(CHECK)["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({finding.code for case in CHECK.cases for finding in case.findings})
    file, symbol = "tflite/delegates/nnapi/nnapi_delegate.cc", "NNAPIDelegateKernel::Validate"
    first, last = Source(LITERT, file, symbol, branch="CONV_2D").lines
    place = f"{file}#L{first}-L{last}: {symbol} ({LITERT.name}@{LITERT.commit[:9]})"
    assert next(rule for rule in rules if rule["id"] == "nnapi-missing-bias") == {
        "id": "nnapi-missing-bias",
        "shortDescription": {"text": "CONV_2D without bias"},
        "fullDescription": {"text": "The delegate supports CONV_2D only with a bias operand."},
        "help": {
            "text": (
                "The delegate supports CONV_2D only with a bias operand.\n\nWhat to do: Give the node the operand, for "
                f"example a bias of zeros.\n\nSource: {place}"
            ),
            "markdown": (
                "The delegate supports CONV_2D only with a bias operand.\n\n**What to do:** Give the node the operand, for "
                f"example a bias of zeros.\n\n**Source:** `{place}`"
            ),
        },
        "helpUri": f"https://github.com/{LITERT.name}/blob/{LITERT.commit}/{file}#L{first}-L{last}",
        "properties": {
            "sources": [
                {"repository": LITERT.name, "commit": LITERT.commit, "file": file, "symbol": symbol, "lines": [first, last]}
            ],
        },
        "defaultConfiguration": {"level": "error"},
    }


def test_rules_say_where_they_were_read(sarif_validator):
    codes = ("nnapi-operator", "nnapi-feature-level", "gpu-rank", "partition-limit", "unheard-of")
    findings = tuple(Finding(code, "warning", "something") for code in codes)
    results = Results("check", (case(FAILED, findings=findings),))
    sarif_validator.validate(json.loads(render(results)))
    rules = {rule["id"]: rule for rule in run_of(results)["tool"]["driver"]["rules"]}
    for code in ("partition-limit", "unheard-of"):
        assert not {"helpUri", "properties"} & rules[code].keys()
    nnapi = Source(LITERT, "tflite/delegates/nnapi/nnapi_delegate.cc", "NNAPIDelegateKernel::Validate")
    assert rules["nnapi-operator"]["properties"]["sources"] == [json.loads(json.dumps(nnapi.to_dict()))]
    symbols = [source["symbol"] for source in rules["nnapi-feature-level"]["properties"]["sources"]]
    assert "ExpectMinAndroidSdkVersion" in symbols
    assert [source["symbol"] for source in rules["gpu-rank"]["properties"]["sources"]].count("IsAllAllowedTensors") == 1
    for rule in (rules["nnapi-operator"], rules["nnapi-feature-level"], rules["gpu-rank"]):
        first = rule["properties"]["sources"][0]
        location = f"{first['file']}#L{first['lines'][0]}-L{first['lines'][1]}"
        assert rule["helpUri"] == f"https://github.com/{LITERT.name}/blob/{LITERT.commit}/{location}"
        place = f"{location}: {first['symbol']} ({LITERT.name}@{LITERT.commit[:9]})"
        assert rule["help"]["text"].splitlines()[-1].startswith(f"Source: {place}")
        assert rule["help"]["markdown"].splitlines()[-1].startswith(f"**Source:** `{place}`")


def test_a_code_that_nobody_explains(sarif_validator):
    results = Results("check", (case(FAILED, findings=(Finding("unheard-of", "warning", "something"),)),))
    sarif_validator.validate(json.loads(render(results)))
    assert run_of(results)["tool"]["driver"]["rules"] == [
        {"id": "unheard-of", "shortDescription": {"text": "unheard-of"}, "defaultConfiguration": {"level": "warning"}}
    ]


def test_without_findings():
    for results in (PASSES, NOTHING):
        run = run_of(results)
        assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


def test_a_subgraph_as_a_whole():
    finding = Finding("cyclic-graph", "error", "nodes wait for each other", location=Location(2))
    [location] = run_of(Results("check", (case(FAILED, findings=(finding,)),)))["results"][0]["locations"]
    assert location["logicalLocations"] == [
        {"name": "subgraph 2", "fullyQualifiedName": "subgraph 2", "kind": "subgraph", "properties": {"subgraph": 2}}
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("models/a b#1?.tflite", {"uri": "models/a%20b%231%3F.tflite", "uriBaseId": "SRCROOT"}),
        ("c:d/mod\u00e8le.tflite", {"uri": "c%3Ad/mod%C3%A8le.tflite", "uriBaseId": "SRCROOT"}),
        ("/models/a b.tflite", {"uri": "file:///models/a%20b.tflite"}),
    ],
)
def test_paths_become_uris(path, expected):
    [result] = run_of(Results("check", (case(FAILED, path=path, findings=FAILURE.findings[:1]),)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == expected


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["phone", "watch"], "delegate-sim/check/phone+watch/"),
        (["watch", "phone", "phone"], "delegate-sim/check/phone+watch/"),
        (["a/b c"], "delegate-sim/check/a%2Fb%20c/"),
        ([], "delegate-sim/check//"),
    ],
)
def test_uploads_for_other_targets_have_another_category(targets, expected):
    results = Results("check", tuple(case(target=target) for target in targets))
    assert run_of(results)["automationDetails"]["id"] == expected


def test_many_targets_have_a_category_of_bounded_length():
    results = Results("check", tuple(case(target=f"target-{number}") for number in range(100)))
    other = replace(results, cases=results.cases[1:])
    categories = [run_of(each)["automationDetails"]["id"] for each in (results, other)]
    assert len(set(categories)) == 2
    assert max(map(len, categories)) < 100


def test_no_name_is_taken_for_a_link_or_a_placeholder():
    text = run_of(named("[x](javascript:alert(1)) {0}"))["results"][0]["message"]["text"]
    assert text.startswith("[x] (javascript:alert(1)) {{0}}\n")


@given(any_text | nasty_text)
def test_any_name_gives_a_document(name):
    run = run_of(named(name))
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        uri = urlsplit(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        assert (uri.scheme, uri.netloc) in {("", ""), ("file", "")}
        assert not uri.query
        assert not uri.fragment
        assert unquote(uri.path).isprintable()

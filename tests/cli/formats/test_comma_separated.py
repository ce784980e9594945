from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given

from delegate_sim_cli.formats.comma_separated import render
from tests.support.cli.format_cases import ANALYSIS, CHECK, EVERYTHING, FAILURE, PASSES, any_text, named, nasty_text


def table(results):
    return list(csv.DictReader(io.StringIO(render(results), newline=""), strict=True))


def test_a_row_for_each_model_and_target():
    rows = table(CHECK)
    assert [(row["model"], row["target"], row["status"], row["findings"], row["code"]) for row in rows] == [
        ("models/detector.tflite", "tablet", "passed", "0", ""),
        ("models/detector.tflite", "phone", "failed", "3", "more-partitions"),
        ("models/broken.tflite", "phone", "unreadable", "1", "unreadable-model"),
        ("models/gone.tflite", "phone", "failed", "1", "no-model-for-entry"),
    ]
    assert FAILURE.findings[1].message in rows[1]["other_findings"]


def test_the_text():
    lines = render(PASSES).split("\n")
    assert lines == [
        "model,target,delegate,runtime,status,outcome,nodes,delegated_nodes,multiply_adds,delegated_multiply_adds,partitions,"
        "delegate_kernels,fallback_nodes,delegated_share,border_bytes,wrong_results,possibly_wrong_results,baseline_partitions,baseline_delegate_kernels,"
        "baseline_fallback_nodes,baseline_delegated_share,baseline_border_bytes,baseline_wrong_results,baseline_possibly_wrong_results,baseline_multiply_adds,"
        "baseline_delegated_multiply_adds,findings,code,level,subgraph,node,op,tensor,message,hint,other_findings,"
        "measured_ms,measured_kernel_ms,measured_cpu_ms,unchecked",
        "models/detector.tflite,phone,nnapi,litert-2.3,passed,delegated,10,8,,,3,1,2,0.8,1024,,,3,1,2,0.8,1024,,,,,0,,,,,,,,,,,,,",
        "models/detector.tflite,watch,nnapi,litert-2.3,better,delegated,10,8,,,3,1,2,0.8,1024,,,5,2,4,0.6,2048,,,,,0,,,,,,,,,,,,,",
        "",
    ]


def test_the_first_finding():
    row = table(ANALYSIS)[0]
    found = {key: row[key] for key in ("findings", "code", "level", "message", "hint", "other_findings")}
    assert found == {
        "findings": "1",
        "code": "nnapi-missing-bias",
        "level": "warning",
        "message": "CONV_2D (node 3) stays on the CPU: no bias",
        "hint": "add a bias",
        "other_findings": "",
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "\\t=1"),
        (" =1", "' =1"),
        ("\uff1d1", "'\uff1d1"),
        ("a;=1", "a;'=1"),
        ("a=1, b-2", "a=1, b-2"),
        ('"quoted", with a comma', '"quoted", with a comma'),
    ],
)
def test_formulas_become_text(name, expected):
    assert {row["tensor"] for row in table(named(name))} == {expected}


@given(any_text | nasty_text)
def test_no_name_adds_cells_or_formulas(name):
    rows = table(named(name))
    assert len(rows) == 2
    for row in rows:
        assert None not in row
        assert None not in row.values()
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@", "\t")) for cell in row.values())


def test_every_example_reads_back():
    for results in EVERYTHING:
        assert len(table(results)) == len(results.cases)

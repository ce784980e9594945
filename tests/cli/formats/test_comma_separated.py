from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given

from delegate_sim_cli.formats.comma_separated import render

from .examples import CHECK, EVERYTHING, FAILURE, PASSES, any_text, named, nasty_text


def table(results):
    return list(csv.DictReader(io.StringIO(render(results), newline=""), strict=True))


def test_a_row_for_each_finding_and_for_each_case_without_any():
    rows = table(CHECK)
    assert [(row["model"], row["status"], row["code"]) for row in rows] == [
        ("models/detector.tflite", "passed", ""),
        ("models/detector.tflite", "failed", "more-partitions"),
        ("models/detector.tflite", "failed", "nnapi-missing-bias"),
        ("models/detector.tflite", "failed", "more-border-bytes"),
        ("models/broken.tflite", "unreadable", "unreadable-model"),
        ("models/gone.tflite", "failed", "no-model-for-entry"),
    ]


def test_the_text():
    lines = render(PASSES).split("\n")
    assert lines == [
        "model,target,delegate,runtime,status,outcome,partitions,delegate_kernels,fallback_nodes,delegated_share,border_bytes,"
        "baseline_partitions,baseline_delegate_kernels,baseline_fallback_nodes,baseline_delegated_share,baseline_border_bytes,"
        "code,level,subgraph,node,op,tensor,message,hint",
        "models/detector.tflite,phone,nnapi,litert-2.3,passed,delegated,3,1,2,0.8,1024,3,1,2,0.8,1024,,,,,,,,",
        "models/detector.tflite,watch,nnapi,litert-2.3,better,delegated,3,1,2,0.8,1024,5,2,4,0.6,2048,,,,,,,,",
        "",
    ]


def test_a_finding_at_a_node():
    row = table(CHECK)[2]
    found = {key: row[key] for key in ("code", "level", "subgraph", "node", "op", "tensor", "message", "hint")}
    assert found == {
        "code": "nnapi-missing-bias",
        "level": "error",
        "subgraph": "0",
        "node": "3",
        "op": "CONV_2D",
        "tensor": "head/conv",
        "message": FAILURE.findings[1].message,
        "hint": "add a bias of zeros to the layer",
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
    assert len(rows) == 4
    for row in rows:
        assert None not in row
        assert None not in row.values()
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@", "\t")) for cell in row.values())


def test_every_example_reads_back():
    for results in EVERYTHING:
        assert len(table(results)) == sum(max(len(case.findings), 1) for case in results.cases)

"""The Edge TPU compiler's table, joined with the nodes of the model that was compiled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.device.compare.row_matching import join_compiler_table
from delegate_sim.device.parse.applied_target import setting_of
from delegate_sim.device.parse.log import read_log
from delegate_sim.device.parse.log_contents import ReconcileError
from tests.support.edge_tpu import COMPILED, HEAD, SOURCE, TABLE, edge_tpu_model


def joined(table, *ops):
    return join_compiler_table(delegate_sim.load(edge_tpu_model(*ops)), read_log(table).edge_tpu)


def test_rows_have_nodes():
    found = joined(TABLE, *SOURCE)
    assert [(row.row.op, row.nodes, row.is_certain) for row in found.rows] == [
        ("RELU", (0, 1), False),
        ("RELU", (3,), False),
        ("LOGISTIC", (2,), True),
    ]
    assert "8-bit integers" in found.rows[2].row.meaning


def test_custom_operators_by_their_kind():
    found = joined(f"{HEAD}CUSTOM   1   Operation not supported\nRELU   1   Mapped to Edge TPU\n", "RELU", "post-process")
    assert {row.row.op: row.nodes for row in found.rows} == {"RELU": (0,), "CUSTOM": (1,)}


@pytest.mark.parametrize(
    ("ops", "words"),
    [
        (("RELU", "RELU", "RELU"), "lists 1 LOGISTIC, but the model has 0"),
        ((*SOURCE, "TANH"), "lists 0 TANH, but the model has 1"),
        (("RELU", COMPILED), "already compiled for the Edge TPU; give the original model, source.tflite, instead"),
    ],
)
def test_a_table_of_another_model(ops, words):
    with pytest.raises(ReconcileError, match=words):
        joined(TABLE, *ops)


def test_a_log_of_the_compiler_shows_no_run():
    with pytest.raises(ReconcileError, match="shows no run on a device"):
        setting_of(read_log(TABLE))


def test_the_result_follows_its_schema():
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    path = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "reconcile-compiler.schema.json"
    content = json.loads(json.dumps(joined(TABLE, *SOURCE).to_dict()))
    jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8"))).validate(content)

"""The Edge TPU compiler's table, joined with the nodes of the model that was compiled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.delegates.nnapi.device_profile import DevicesProfile
from delegate_sim.device.compare.row_matching import join_compiler_table, matched_partitions, split_differences
from delegate_sim.device.parse.applied_target import setting_of
from delegate_sim.device.parse.compilations import RuntimeChoice, RuntimeCompilation, RuntimeLog, RuntimeStep
from delegate_sim.device.parse.log import read_log
from delegate_sim.device.parse.log_contents import ReconcileError
from tests.support.device.phone import device, log_of, run_with
from tests.support.edge_tpu import COMPILED, HEAD, SOURCE, TABLE, edge_tpu_model
from tests.support.growth import calls_while
from tests.support.models import chain_model


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


DSP = DevicesProfile((device("dsp", 0.2),))


def partitions(count):
    """Return the run of a model with this number of partitions, each with one ADD."""
    return run_with(delegate_sim.load(chain_model(["ADD", "ROUND"] * count).bytes()), DSP, max_delegated_partitions=0)


def compilations(count, *names, number=0):
    choices = tuple([RuntimeChoice(name, place, number, f"d{number}", ()) for place, name in enumerate(names)])
    step = RuntimeStep(number, tuple(range(len(names))))
    return (RuntimeCompilation(choices, (step,), len(names), 2),) * count


def test_each_compilation_matches_one_partition():
    log = RuntimeLog((), (*compilations(1, "TANH"), *compilations(2, "ADD"), *compilations(1, "ADD", "ADD")))
    matched = matched_partitions(log, partitions(3))
    assert [compilation for _, compilation in matched] == [*log.compilations[1:3], None]
    assert [[one.name for one in operations] for operations, _ in matched] == [["ADD"]] * 3


def test_each_compilation_has_the_steps_of_one_partition():
    run = partitions(2)
    log = read_log(log_of(run))
    assert list(split_differences(log, run)) == []
    (difference,) = split_differences(log, partitions(1))
    assert "no partition" in difference


@pytest.mark.parametrize("compare", [matched_partitions, lambda log, run: list(split_differences(Log(log), run))])
def test_the_work_does_not_grow_with_the_product(compare):
    calls = []
    for count in (1, 100, 400):
        log, run = RuntimeLog((), compilations(count, "TANH") + compilations(count, "ADD", number=1)), partitions(count)
        calls.append(calls_while(lambda log=log, run=run: compare(log, run))[0])
    assert calls[2] < 6 * calls[1]


class Log:
    """A log with only the lines of the runtime."""

    def __init__(self, runtime):
        self.runtime = runtime

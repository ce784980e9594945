"""Logs of several of LiteRT 2's accelerators, each matched with its step of the simulation."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.device.compare.accelerator_chain import reconcile_stack
from delegate_sim.device.compare.row_matching import OTHER_MODEL
from delegate_sim.device.parse.log import read_log
from delegate_sim.results.report.accelerator_stack import Stack
from tests.support.delegates.npu_models import chain

MODEL = delegate_sim.load(chain(["RELU", "NEG", "RELU"]).bytes())
MEDIATEK = Stack(("npu", "gpu", "cpu"), "mediatek:mt6991")
PARTITIONED = (
    "INFO: [compiler_plugin.cc:742] Partitioned subgraph<0>, selected 2 ops, from a total of 3 ops. resulted in 2 partitions.\n"
)
DISPATCHED = (
    "INFO: Replacing 2 out of 3 node(s) with delegate (DispatchDelegate) node, yielding 3 partitions for subgraph 0 (main).\n"
)
REFUSED = """\
ERROR: Following operations are not supported by GPU delegate:
DELEGATE DispatchDelegate: Operation is not supported.
1 operations will run on the GPU, and the remaining 2 operations will run on the CPU.
"""
DRIFT = "INFO: Replacing 1 out of 3 node(s) with delegate (LITERT_CL) node, yielding 3 partitions for subgraph 0 (main).\n"
ALL_DRIFT = "INFO: Replacing 3 out of 3 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0 (main).\n"
NOT_COMPILED = "WARNING: [compiled_model.cc:300] Failed to apply compiler plugins\n"
NO_NPU = "WARNING: [npu_registry.cc:40] NPU accelerator could not be loaded and registered: kLiteRtStatusErrorNotFound.\n"


def steps(found):
    return [(step.accelerator, step.status) for step in found.steps]


def test_each_accelerator_is_matched_with_its_step():
    found = reconcile_stack(MODEL, read_log(PARTITIONED + DISPATCHED + REFUSED + DRIFT), MEDIATEK)
    assert found.status == "reproduced"
    assert steps(found) == [("npu", "reproduced"), ("gpu", "reproduced"), ("cpu", "not-compared")]
    npu, gpu, _ = found.steps
    assert (npu.device.delegated, npu.device.partitions, npu.device.kernels) == (2, 2, None)
    assert (gpu.device.delegated, gpu.simulated.delegated) == (1, 1)
    assert [listed.op for listed in gpu.listed_refusals] == ["DispatchDelegate"]
    assert not any(OTHER_MODEL in note for step in found.steps for note in step.notes)


def test_the_step_that_differs_is_named():
    found = reconcile_stack(MODEL, read_log(PARTITIONED.replace("2 ops", "1 ops") + DISPATCHED + DRIFT), MEDIATEK)
    assert found.status == "unexplained"
    assert steps(found) == [("npu", "unexplained"), ("gpu", "reproduced"), ("cpu", "not-compared")]


@pytest.mark.parametrize("text", [NO_NPU + ALL_DRIFT, PARTITIONED + ALL_DRIFT])
def test_an_accelerator_that_was_not_applied_explains_the_rest(text):
    found = reconcile_stack(MODEL, read_log(text), MEDIATEK)
    assert found.status == "explained"
    assert "npu" in found.explanation
    assert dict(steps(found))["gpu"] == "reproduced"


@pytest.mark.parametrize(("selected", "status"), [("2 ops", "explained"), ("1 ops", "unexplained")])
def test_nodes_that_are_selected_but_not_compiled(selected, status):
    text = PARTITIONED.replace("2 ops", selected) + NOT_COMPILED + ALL_DRIFT
    found = reconcile_stack(MODEL, read_log(text), MEDIATEK)
    assert (found.status, bool(found.explanation)) == (status, status == "explained")
    outcome = found.explanation or found.notes[0]
    assert "not compiled" in outcome
    assert "requested" not in outcome
    assert dict(steps(found))["gpu"] == "reproduced"


def test_an_accelerator_of_which_nothing_is_in_the_log():
    found = reconcile_stack(MODEL, read_log(PARTITIONED + DISPATCHED), MEDIATEK)
    assert found.status == "unexplained"
    assert dict(steps(found))["gpu"] == "not-applied"


def test_a_log_of_another_model():
    text = PARTITIONED.replace("total of 3", "total of 30") + DISPATCHED.replace("of 3 node", "of 30 node")
    found = reconcile_stack(MODEL, read_log(text), MEDIATEK)
    assert any(OTHER_MODEL in note for note in found.steps[0].notes)


def test_nothing_to_compare():
    assert reconcile_stack(MODEL, read_log("INFO: STARTING!\n"), MEDIATEK).status == "not-compared"


def test_without_the_npu():
    found = reconcile_stack(MODEL, read_log(ALL_DRIFT), Stack(("gpu", "cpu")))
    assert found.status == "reproduced"
    assert found.to_dict()["soc"] == ""


@pytest.mark.parametrize(
    ("is_variable", "status", "of_npu"), [(True, "reproduced", "reproduced"), (False, "not-compared", "not-applied")]
)
def test_the_loader_refuses_a_model_before_any_accelerator(is_variable, status, of_npu):
    model = delegate_sim.load(chain(["RELU"], variable=is_variable).bytes())
    log = read_log("ERROR: [model_load.cc:316] Variable tensors not yet supported.\nERROR: Failed to load model\n")
    found = reconcile_stack(model, log, MEDIATEK)
    assert (found.status, found.steps[0].status) == (status, of_npu)
    assert all(error.meaning for error in found.errors)

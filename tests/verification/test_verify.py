"""Verifying a model: with executors that compute in numpy, with the kernels of the CPU, and with the real accelerator."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.errors import FixError, LimitError, MissingPackageError, OptionError
from delegate_sim.foundation import packages
from delegate_sim.live import litert_engines
from delegate_sim.verification import execution
from delegate_sim.verification.comparison import ErrorTolerance
from delegate_sim.verification.execution import (
    CPU,
    DEFAULT,
    REFERENCE,
    EntryPoint,
    ExecutionError,
    ProcessExecutor,
    entries,
    entry_inputs,
)
from delegate_sim.verification.verify import Verifier, verify_on
from fixtures.builder import ModelBuilder
from tests.support.accelerator import live
from tests.support.fake_execution import COMPUTED, FakeExecutor

runtime = pytest.mark.skipif(
    packages.package_folder(packages.RUNTIME) is None, reason="needs the runtime: install ai-edge-litert"
)


def chain(ops, shape=(2, 3), signatures=()):
    """Return a model of unary operators, or the same subgraph for each signature."""
    builder = ModelBuilder()
    for key in signatures or ("",):
        graph = builder.subgraph(key or "main")
        source = x = graph.input("x", "FLOAT32", shape)
        for number, op in enumerate(ops):
            result = graph.tensor(f"t{number}", "FLOAT32", shape)
            graph.node(op, [source], [result], 1, {})
            source = result
        graph.outputs(source)
        if key:
            builder.signature(key, graph, {"x": x}, {"y": source})
    return load(builder.bytes())


def fake(wrong=(), failing=()):
    verifier = Verifier(CPU)
    verifier.references, verifier.real = [FakeExecutor()], FakeExecutor(wrong, failing)
    return verifier


LONG = ["ABS"] * 150 + ["NEG"] + ["ABS"] * 149


def test_right_numbers():
    result = verify_on(fake(), chain(LONG))
    assert (result.is_right, result.on, result.samples, result.nodes, result.delegated_nodes) == (True, "cpu", 2, 300, None)
    (entry,) = result.entries
    assert [(output.name, output.elements, output.different) for output in entry.outputs] == [("t299", 12, 0)]


def test_the_first_wrong_node_is_named():
    result = verify_on(fake(wrong=["NEG"]), chain(LONG))
    (entry,) = result.entries
    culprit = entry.culprit
    assert not result.is_right
    assert (culprit.node, culprit.op, culprit.first_node, culprit.is_narrow, culprit.outcome) == (150, "NEG", 150, True, "wrong")
    assert (culprit.difference.name, culprit.difference.greatest) == ("t150", pytest.approx(1))
    assert culprit.runs <= 20


def test_the_first_node_that_does_not_run_is_named():
    (entry,) = verify_on(fake(failing=["NEG"]), chain(LONG)).entries
    assert (entry.failure, entry.is_right, entry.stage, entry.outputs) == ("NEG does not run", False, "load", ())
    assert (entry.culprit.node, entry.culprit.outcome) == (150, "failed")


def test_every_signature_is_run():
    result = verify_on(fake(wrong=["SQUARE"]), chain(["ABS", "SQUARE"], signatures=("one", "two")))
    assert [(entry.key, entry.subgraph, entry.culprit.node) for entry in result.entries] == [("one", 0, 1), ("two", 1, 1)]


@pytest.mark.parametrize(("tolerance", "is_right"), [(0.1, False), (2, True)])
def test_the_tolerance_is_the_users(tolerance, is_right):
    result = verify_on(fake(wrong=["ABS"]), chain(["ABS"]), tolerance=tolerance)
    assert (result.is_right, result.tolerance) == (is_right, ErrorTolerance(tolerance))


@pytest.mark.parametrize(
    ("tolerance", "state", "window"), [(0.25, "differs", (0, 2)), (0.05, "wrong", (0, 0)), (1, "right", None)]
)
def test_small_differences_that_add_up_are_not_wrong_numbers(tmp_path, tolerance, state, window):
    np.savez(tmp_path / "x.npz", x=np.array([[10, 9, 8], [7, 6, 5]], np.float32))
    result = verify_on(fake(wrong=["ABS"]), chain(["ABS"] * 6), [str(tmp_path / "x.npz")], 0, tolerance)
    (entry,) = result.entries
    assert (result.state, entry.state, result.is_right) == (state, state, state == "right")
    assert (None if entry.culprit is None else (entry.culprit.first_node, entry.culprit.node)) == window
    infinite = replace(entry, outputs=tuple([replace(output, problem="not finite") for output in entry.outputs]))
    assert infinite.state == ("right" if state == "right" else "wrong")


@pytest.mark.parametrize(("scale", "steps"), [(0.5, 2), (None, None)])
def test_errors_behind_a_dequantize_are_in_steps(monkeypatch, scale, steps):
    monkeypatch.setitem(COMPUTED, "DEQUANTIZE", lambda values: values)
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "INT8" if scale else "FLOAT16", [2], scale=scale)
    y = graph.tensor("y", "FLOAT32", [2])
    graph.node("DEQUANTIZE", [x], [y], 1, {})
    graph.outputs(y)
    (entry,) = verify_on(fake(wrong=["DEQUANTIZE"]), load(builder.bytes())).entries
    assert entry.errors_in_steps == (None if steps is None else pytest.approx(steps),)


def test_a_reference_that_does_not_run_is_an_error():
    verifier = fake()
    verifier.references = [FakeExecutor(failing=["ABS"]), FakeExecutor(failing=["ABS"])]
    with pytest.raises(FixError, match="ABS does not run"):
        verify_on(verifier, chain(["ABS"]))


def test_the_next_reference_is_used_if_the_first_does_not_run():
    verifier = fake()
    verifier.references = [FakeExecutor(failing=["ABS"]), FakeExecutor()]
    assert verify_on(verifier, chain(["ABS"])).is_right


def test_numbers_of_the_second_reference_are_right_too():
    verifier = fake(wrong=["NEG"])
    verifier.references = [FakeExecutor(), FakeExecutor(wrong=["NEG"])]
    assert verify_on(verifier, chain(["ABS", "NEG"])).is_right


def test_code_that_does_not_start_is_an_error():
    verifier = fake()

    class Absent(FakeExecutor):
        def run(self, *_, **__):
            raise ExecutionError("start", "no device", is_crash=False)

    verifier.real = Absent()
    with pytest.raises(FixError, match="cpu does not start: no device"):
        verify_on(verifier, chain(["ABS"]))


def test_unknown_places_are_refused():
    with pytest.raises(OptionError, match="mldrift, xnnpack, cpu"):
        Verifier("gpu")


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setattr(litert_engines, "driver_environment", lambda: None)
    monkeypatch.setattr("delegate_sim.verification.verify.driver_environment", lambda: None)
    with pytest.raises(MissingPackageError, match="apt install chromium-common"):
        Verifier("mldrift", python="/nowhere/python")


def test_samples(tmp_path):
    model = chain(["ABS"], signatures=("one", "two"))
    np.savez(tmp_path / "x.npz", x=np.full((2, 3), 5, np.float32))
    first, second = entry_inputs(model, entries(model), [str(tmp_path / "x.npz")], 2)
    assert [len(first), len(second)] == [3, 3]
    assert (first[0][0] == 5).all()
    assert (first[1][0] > 0).any()
    assert (first[2][0] <= 0).all()


def test_a_file_that_fits_no_signature_is_refused(tmp_path):
    model = chain(["ABS"])
    np.savez(tmp_path / "z.npz", z=np.zeros(1, np.float32))
    with pytest.raises(OptionError, match=r"z\.npz: has no array 'x'"):
        entry_inputs(model, entries(model), [str(tmp_path / "z.npz")], 0)


@runtime
@pytest.mark.parametrize("kernels", [REFERENCE, CPU, DEFAULT])
@pytest.mark.parametrize("signatures", [(), ("one", "two")])
def test_a_process_runs_each_entry(kernels, signatures):
    model = chain(["NEG", "ABS"], signatures=signatures)
    seen = []
    executor = ProcessExecutor(kernels, on_software=seen.append)
    for entry in entries(model):
        sample = [np.array([[1, -2, 3], [-4, 5, -6]], np.float32)]
        first, second = executor.run(model, entry, [sample, [-sample[0]]], kept=[1] if kernels == REFERENCE else [])
        assert (first.outputs[0] == np.abs(sample[0])).all()
        if kernels == REFERENCE:
            assert ((first.kept[1] == -sample[0]).all(), (second.kept[1] == sample[0]).all()) == (True, True)
    assert set(seen) == {packages.runtime_release()}


@runtime
def test_an_error_of_the_runtime_is_its_words():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [2]), graph.tensor("y", "FLOAT32", [3])
    graph.node("CUSTOM", [x], [y], custom="Unknown")
    graph.outputs(y)
    entry = EntryPoint("", 0, (("x", 0),), (("y", 1),))
    with pytest.raises(ExecutionError, match="Unknown") as caught:
        ProcessExecutor(REFERENCE).run(load(builder.bytes()), entry, [[np.zeros(2, np.float32)]])
    assert not caught.value.is_crash


def test_an_interpreter_that_does_not_start_is_one_line():
    with pytest.raises(ExecutionError) as caught:
        ProcessExecutor(REFERENCE, python="/nowhere/python").run(chain(["ABS"]), EntryPoint("", 0, (), ()), [])
    assert (caught.value.stage, caught.value.is_crash) == ("start", True)
    assert len(str(caught.value).splitlines()) == 1


@runtime
def test_an_interpreter_may_have_a_relative_path():
    executor = ProcessExecutor(REFERENCE, python=os.path.relpath(sys.executable))
    model = chain(["NEG"])
    (result,) = executor.run(model, entries(model)[0], [[np.ones((2, 3), np.float32)]])
    assert (result.outputs[0] == -1).all()


@runtime
@pytest.mark.parametrize("place", [CPU, "xnnpack"])
def test_kernels_of_the_cpu_are_right(place):
    assert verify_on(Verifier(place), chain(["NEG", "ABS", "SQUARE"])).is_right


def padded(rank):
    """Return ABS, PAD and NEG. Of rank 3 with a batch above 1, the accelerator reads the paddings of PAD wrongly."""
    shape = (2, 3, 4, 5)[4 - rank :]
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, size = graph.input("x", "FLOAT32", shape), graph.tensor("size", "FLOAT32", shape)
    wide = (*shape[:-2], shape[-2] + 1, shape[-1])
    pads = np.zeros((rank, 2), np.int32)
    pads[-2, 1] = 1
    amounts = graph.tensor("pads", "INT32", [rank, 2], data=pads)
    result, y = graph.tensor("wide", "FLOAT32", wide), graph.tensor("y", "FLOAT32", wide)
    graph.node("ABS", [x], [size], 1, {})
    graph.node("PAD", [size, amounts], [result], 1, {})
    graph.node("NEG", [result], [y], 1, {})
    graph.outputs(y)
    return load(builder.bytes())


@live
def test_no_device_is_no_result(monkeypatch):
    verifier = Verifier("mldrift")
    verifier.real = replace(verifier.real, environment={**verifier.real.environment, "VK_ICD_FILENAMES": "/nowhere"})
    with pytest.raises(FixError, match="found no device"):
        verify_on(verifier, chain(["NEG", "ABS"]))


@live
@pytest.mark.parametrize("kind", ["INT64", "BOOL", "INT32", "INT8"])
def test_every_type_of_buffer(kind):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", kind, [3], scale=0.5 if kind == "INT8" else None), graph.tensor("y", "BOOL", [3])
    graph.node("NOT_EQUAL", [x, x], [y], 1, {})
    graph.outputs(y, x)
    result = verify_on(Verifier("mldrift"), load(builder.bytes()))
    assert result.entries[0].failure == ""


@live
@pytest.mark.parametrize(("rank", "is_right"), [(3, False), (4, True)])
def test_the_real_accelerator(rank, is_right):
    verifier = Verifier("mldrift")
    result = verify_on(verifier, padded(rank))
    assert (result.is_right, result.delegated_nodes, result.software) == (is_right, 3, packages.runtime_release())
    culprit = result.entries[0].culprit
    if is_right:
        assert culprit is None
    else:
        assert (culprit.node, culprit.first_node, culprit.difference.name) == (1, 1, "wide")
        assert [(own.risk.refusal.code, own.cure) for own in culprit.conditions] == [
            ("mldrift-numbers-pad-rank3", "padding-of-image")
        ]


@live
def test_a_node_that_is_known_to_be_wrong_is_named_if_outputs_are_right_within_the_tolerance():
    (entry,) = verify_on(Verifier("mldrift"), padded(3), tolerance=1e6).entries
    assert (entry.is_right, entry.culprit) == (True, None)
    assert [own.risk.refusal.code for own in entry.conditions] == ["mldrift-numbers-pad-rank3"]


@live
def test_a_predicted_failure_is_the_condition_of_the_node():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    axis = graph.tensor("axis", "INT32", (), [1])
    data = graph.tensor("data", "FLOAT32", (1, 2, 1, 1), [1.0, 2.0])
    x, y = graph.input("x", "FLOAT32", (1, 1, 1, 1)), graph.tensor("y", "FLOAT32", (1, 1, 1, 1))
    halves = [graph.tensor(name, "FLOAT32", (1, 1, 1, 1)) for name in ("first", "second")]
    graph.node("SPLIT", [axis, data], halves, 1, {"num_splits": 2})
    graph.node("ADD", [x, halves[0]], [y], 1, {})
    graph.outputs(y)
    (entry,) = verify_on(Verifier("mldrift"), load(builder.bytes())).entries
    assert entry.failure
    (condition,) = entry.all_conditions
    assert (condition.risk.refusal.code, condition.certainty) == ("mldrift-build-constant", "fails")


def test_all_runs_share_a_time_limit(monkeypatch):
    monkeypatch.setattr(execution, "_MOST_SECONDS", 0)
    with pytest.raises(LimitError, match="takes more than 0 seconds"):
        verify_on(Verifier(CPU), chain(["ABS"]))


def test_samples_of_a_signature_are_made_when_it_is_reached(monkeypatch):
    made = []
    monkeypatch.setattr(execution, "generated_samples", lambda _, graph, count: made.append(graph.index) or [])
    model = chain(["ABS"], signatures=("one", "two"))
    arrays = entry_inputs(model, entries(model), [], 2)
    next(arrays)
    assert made == [0]

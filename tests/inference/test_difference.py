"""Running two models and comparing them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")

from delegate_sim import load
from delegate_sim.errors import FixError, OptionError
from delegate_sim.inference.difference import Latency, SignatureInputs, compare
from delegate_sim.inference.inputs import edge_inputs, from_file, generated_inputs
from delegate_sim.inference.models import compare_models
from fixtures.builder import ModelBuilder


def adder(folder, name, value, *, op="ADD", shape=(1, 4), kind="FLOAT32", outputs=1):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", kind, shape)
    made = [graph.tensor(f"y{number}", kind, shape) for number in range(outputs)]
    for each in made:
        graph.node(op, [x, graph.tensor("w", kind, shape, data=np.full(shape, value))], [each], 1, {})
    graph.outputs(*made)
    path = folder / f"{name}.tflite"
    builder.write(path)
    return load(path)


def test_models_that_compute_the_same(tmp_path):
    found = compare_models(adder(tmp_path, "a", 1.5), adder(tmp_path, "b", 1.5))
    assert found.is_same
    assert (found.samples, found.outputs[0].elements, found.outputs[0].greatest) == (2, 8, 0)
    assert min(found.latency.first + found.latency.second) > 0
    assert len(found.latency.first) == len(found.latency.second) >= 5


@pytest.mark.parametrize(
    ("second", "changed"),
    [((2.0, 2.1, 1.9, 2.0, 2.0), True), ((0.9, 1.1, 1.0, 1.2, 0.95), False), ((1.01, 1.01, 1.01, 1.01, 1.01), False)],
)
def test_a_change_of_latency_must_be_larger_than_the_spread(second, changed):
    assert Latency((1.0,) * 5, second).is_changed is changed


def test_extreme_inputs_have_every_extreme_value():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, ids = graph.input("x", "FLOAT32", [4]), graph.input("ids", "INT64", [2])
    graph.input("flags", "INT32", [2, 3])
    out = graph.tensor("out", "FLOAT32", [2, 2])
    graph.node("GATHER", [graph.tensor("table", "FLOAT32", [7, 2], data=range(14)), ids], [out], 1, {"axis": 0})
    graph.outputs(out, x)
    model = load(builder.bytes())
    samples = edge_inputs(model, model.subgraphs[0], {})
    floats = np.concatenate([sample[0] for sample in samples])
    largest = np.finfo(np.float32).max
    assert {0.0, np.inf, -np.inf, largest, -largest} <= set(floats.tolist())
    assert np.isnan(floats).any()
    assert (np.signbit(floats) & (floats == 0)).any()
    assert {-1, 7, 1 << 32} <= {int(sample[1][0]) for sample in samples}
    assert all(0 <= sample[1][1] < 7 for sample in samples)


@pytest.mark.parametrize("is_second", [False, True], ids=["first subgraph", "second signature"])
def test_an_error_in_one_model_alone_is_told_apart(tmp_path, is_second):
    """An index beyond INT32 is an error for GATHER, but not once a CAST to INT32 has cut it off."""
    models = []
    for name, casts in (("a", False), ("b", True)):
        builder = ModelBuilder()
        if is_second:
            first = builder.subgraph("first")
            x, y = first.input("x", "FLOAT32", [1]), first.tensor("y", "FLOAT32", [1])
            first.node("ABS", [x], [y], 1, {})
            first.outputs(y)
            builder.signature("first", first, {"x": x}, {"y": y})
        graph = builder.subgraph("main")
        ids, out = graph.input("ids", "INT64", [1]), graph.tensor("out", "FLOAT32", [1, 2])
        narrow = graph.tensor("narrow", "INT32", [1])
        if casts:
            graph.node("CAST", [ids], [narrow], 1, {})
        table = graph.tensor("table", "FLOAT32", [7, 2], data=range(14))
        graph.node("GATHER", [table, narrow if casts else ids], [out], 1, {"axis": 0})
        graph.outputs(out)
        builder.signature("gather", graph, {"ids": ids}, {"out": out})
        builder.write(tmp_path / name)
        models.append(load(tmp_path / name))
    edges = [[np.array([value], np.int64)] for value in (3, 7, 1 << 32)]

    def compared(edges):
        if not is_second:
            return compare(*models, edges[:1], {}, is_timed=False, edges=edges)
        ones = [[np.ones(1, np.float32)]]
        signature = SignatureInputs("gather", ("ids",), ("out",), edges[:1], edges)
        return compare(*models, ones, {}, is_timed=False, edges=ones, signatures=[signature])

    difference = compared(edges)
    assert difference.is_same
    assert "(gather index out of bounds" in difference.edges.refused
    assert compared(edges[:2]).edges.is_same


def test_the_error_of_each_output(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.array([[1, 2, 3, 4]], np.float32))
    found = compare_models(adder(tmp_path, "a", 1), adder(tmp_path, "b", 1.5), [str(tmp_path / "x.npz")], 0)
    (output,) = found.outputs
    assert not found.is_same
    assert (output.elements, output.different, output.bits, output.mean, output.greatest, output.range) == (4, 4, 4, 0.5, 0.5, 5)
    assert found.relative == pytest.approx(0.1)


def test_zeros_of_either_sign_differ_in_bits_alone(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.zeros((1, 4), np.float32))
    pair = [adder(tmp_path, name, value, op="MUL") for name, value in (("a", 1), ("b", -1))]
    (output,) = compare_models(*pair, [str(tmp_path / "x.npz")], 0).outputs
    assert (output.different, output.bits, output.greatest) == (0, 4, 0)


@pytest.mark.parametrize(("op", "samples", "shows_nothing"), [("MUL", 2, True), ("MUL", 1, True), ("ADD", 2, False)])
def test_outputs_that_do_not_depend_on_the_inputs_show_nothing(tmp_path, op, samples, shows_nothing):
    found = compare_models(adder(tmp_path, "a", 0, op=op), adder(tmp_path, "b", 0, op=op), (), samples)
    assert found.is_same
    assert (found.shows_nothing, found.outputs[0].is_constant) == (shows_nothing, shows_nothing)


def test_outputs_without_elements_are_the_same(tmp_path):
    pair = [adder(tmp_path, name, 1, shape=(0, 4)) for name in ("a", "b")]
    (output,) = compare_models(*pair).outputs
    assert (output.elements, output.is_same) == (0, True)


def test_values_that_are_not_finite_are_a_problem(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.full((1, 4), -1, np.float32))
    models = []
    for op in ("ABS", "LOG"):
        builder = ModelBuilder()
        graph = builder.subgraph("main")
        x, y = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y0", "FLOAT32", [1, 4])
        graph.node(op, [x], [y])
        graph.outputs(y)
        builder.write(tmp_path / op)
        models.append(load(tmp_path / op))
    found = compare_models(*models, [str(tmp_path / "x.npz")], 0)
    assert found.problem.startswith("y0: ")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"shape": (1, 5)}, r"input 0 has shape \[1, 5\], not \[1, 4\]"),
        ({"kind": "INT32"}, "input 0 is INT32, not FLOAT32"),
        ({"outputs": 2}, "2 outputs, not 1"),
    ],
)
def test_another_interface_is_refused(tmp_path, other, words):
    with pytest.raises(FixError, match=words):
        compare_models(adder(tmp_path, "a", 1), adder(tmp_path, "b", 1, **other))


def test_the_runtimes_message_where_a_model_does_not_run(tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y0", "FLOAT32", [1, 4])
    graph.node(0, [x], [y], custom="Mine")
    graph.outputs(y)
    builder.write(tmp_path / "custom.tflite")
    model = load(tmp_path / "custom.tflite")
    with pytest.raises(FixError, match="the runtime reports: Encountered unresolved custom op: Mine"):
        compare_models(model, adder(tmp_path, "b", 1))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"z": np.zeros((1, 4), np.float32)}, r"^x\.npz: has no array 'x'; it has 1 array, and the inputs are x$"),
        ({"x": np.zeros((1, 4), [("secret", "<f4")])}, "'x' is of type void32, but the model takes FLOAT32"),
        ({"x": np.zeros((1, 4))}, "'x' is of type float64, but the model takes FLOAT32"),
        ({"x": np.zeros((2, 4), np.float32)}, r"'x' has shape \(2, 4\), but the model takes \(1, 4\)"),
    ],
)
def test_inputs_that_do_not_fit(tmp_path, arrays, words):
    model = adder(tmp_path, "a", 1)
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(OptionError, match=words):
        from_file(str(tmp_path / "x.npz"), model, model.subgraphs[0])


def test_a_file_that_is_no_archive(tmp_path):
    model = adder(tmp_path, "a", 1)
    (tmp_path / "x.npz").write_bytes(b"nothing")
    with pytest.raises(OptionError, match=r"cannot be read as a \.npz file"):
        from_file(str(tmp_path / "x.npz"), model, model.subgraphs[0])


def test_indices_stay_within_what_they_point_into():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    ids = graph.input("ids", "INT32", [100])
    wide, out = graph.tensor("wide", "INT64", [100]), graph.tensor("out", "FLOAT32", [100, 2])
    graph.node("CAST", [ids], [wide], 1, {})
    graph.node("GATHER", [graph.tensor("table", "FLOAT32", [7, 2], data=range(14)), wide], [out], 1, {"axis": 0})
    graph.outputs(out)
    model = load(builder.bytes())
    (made,) = generated_inputs(model, model.subgraphs[0], 0, {})
    assert (made.min(), made.max(), made.dtype) == (0, 6, np.int32)


def test_quantized_inputs_have_the_whole_range():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("x", "INT8", [4096], scale=0.5, zero_point=3))
    model = load(builder.bytes())
    (made,) = generated_inputs(model, model.subgraphs[0], 0, {})
    assert (made.min(), made.max(), made.dtype) == (-128, 127, np.int8)


def adding(folder, name, values, *, scale=0.0, zero_point=0, kind="FLOAT32", backwards=False):
    """A signed model that adds a number to each of its inputs, stored as integers if there is a scale."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    stored = {"scale": scale, "zero_point": zero_point} if scale else {}
    inputs, outputs = {}, {}
    for number in range(len(values))[:: -1 if backwards else 1]:
        x, y = graph.input(f"x{number}", kind, [1, 4], **stored), graph.tensor(f"y{number}", kind, [1, 4], **stored)
        data = np.full((1, 4), round(values[number] / scale) + zero_point if scale else values[number])
        graph.node("ADD", [x, graph.tensor(f"w{number}", kind, [1, 4], data=data, **stored)], [y], 1, {})
        inputs[f"x{number}"], outputs[f"y{number}"] = x, y
    graph.outputs(*outputs.values())
    builder.signature("serving_default", graph, inputs, outputs)
    path = folder / f"{name}.tflite"
    builder.write(path)
    return load(path)


@pytest.mark.parametrize(("kind", "zero_point"), [("INT8", -3), ("UINT8", 125), ("INT16", 0)])
def test_integers_with_a_scale_compare_as_the_numbers_that_they_stand_for(tmp_path, kind, zero_point):
    np.savez(tmp_path / "x.npz", x0=np.array([[0, 1, 2, 3]], np.float32))
    models = [adding(tmp_path, "float", [1]), adding(tmp_path, kind, [1], scale=0.25, zero_point=zero_point, kind=kind)]
    (output,) = compare_models(*models, [str(tmp_path / "x.npz")], 0).outputs
    assert (output.problem, output.elements, output.different, output.range) == ("", 4, 0, 4)


def test_the_error_of_integers_is_in_the_unit_of_the_numbers(tmp_path):
    np.savez(tmp_path / "x.npz", x0=np.array([[0, 1, 2, 3]], np.float32))
    models = [adding(tmp_path, "float", [1]), adding(tmp_path, "int8", [1.5], scale=0.25, kind="INT8")]
    (output,) = compare_models(*models, [str(tmp_path / "x.npz")], 0).outputs
    assert (output.mean, output.greatest) == (0.5, 0.5)


def test_what_integers_cannot_hold_is_cut_off(tmp_path):
    np.savez(tmp_path / "x.npz", x0=np.array([[0, 1, 100, -100]], np.float32))
    models = [adding(tmp_path, "float", [0]), adding(tmp_path, "int8", [0], scale=0.5, kind="INT8")]
    (output,) = compare_models(*models, [str(tmp_path / "x.npz")], 0).outputs
    assert (output.different, output.greatest) == (2, 36.5)


def test_ends_in_another_order_are_found_by_the_names_of_their_signature(tmp_path):
    np.savez(tmp_path / "x.npz", x0=np.full((1, 4), 1, np.float32), x1=np.full((1, 4), 2, np.float32))
    models = [adding(tmp_path, "one", [1, 5]), adding(tmp_path, "other", [1, 5], backwards=True)]
    found = compare_models(*models, [str(tmp_path / "x.npz")], 0)
    assert found.is_same
    assert [output.range for output in found.outputs] == [2, 7]


def test_integers_without_a_scale_do_not_stand_for_numbers(tmp_path):
    with pytest.raises(FixError, match="input 0 is INT32, not FLOAT32"):
        compare_models(adding(tmp_path, "a", [1]), adding(tmp_path, "b", [1], kind="INT32"))

"""Tensors that the runtime does not load; what it says of each was seen with ai-edge-litert 2.3.0.

What it says with a line of its source is left out.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import NEWEST, parse_release
from delegate_sim.runtime.unloadable_tensors import invalid_tensors
from fixtures.builder import ModelBuilder

LARGE = 2**31 - 1
INVALID = "Tensor 0 is invalidly specified in schema."
ELEMENTS = "tflite/util.cc BytesRequired number of elements overflowed."
BYTES = "tflite/util.cc BytesRequired number of bytes overflowed."
WITH_BUFFER = "Tensor 0 is a variable tensor with buffer or external buffer. It's not supported now."


def found(*tensor, release=NEWEST, **arguments):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.tensor("odd", *tensor, **arguments)
    graph.tensor("fine", "FLOAT32", [2])
    return invalid_tensors(load(builder.bytes()), release)


@pytest.mark.parametrize(
    ("type", "shape", "size", "words"),
    [
        ("FLOAT32", [4], 15, "it has 15 bytes of data, but its shape and type need 16"),
        ("FLOAT32", None, 2, "it has 2 bytes of data, but its shape and type need 4"),
        ("FLOAT32", [4], 0, "it has 0 bytes of data, but its shape and type need 16"),
        ("INT4", [5], 2, "it has 2 bytes of data, but its shape and type need 3"),
        ("INT2", [5], 1, "it has 1 bytes of data, but its shape and type need 2"),
    ],
)
def test_constants_without_enough_data(type, shape, size, words):
    (wrong,) = found(type, shape, b"\0" * size)
    assert (wrong.subgraph, wrong.tensor, wrong.message, wrong.log_lines) == (0, 0, words, (INVALID,))


@pytest.mark.parametrize(
    ("type", "shape", "size"),
    [("FLOAT32", [4], 16), ("FLOAT32", [4], 32), ("INT4", [5], 3), ("INT2", [5], 2), ("STRING", [5], 4), ("FLOAT32", [0], 0)],
)
def test_constants_with_enough_data(type, shape, size):
    assert not found(type, shape, b"\0" * size)


@pytest.mark.parametrize(
    ("type", "shape", "lines"),
    [
        ("FLOAT32", [-1], (ELEMENTS, INVALID)),
        ("FLOAT32", [0, -1], (ELEMENTS, INVALID)),
        ("FLOAT32", [LARGE, LARGE, 8], (ELEMENTS, INVALID)),
        ("FLOAT32", [LARGE, LARGE, LARGE, 0], (ELEMENTS, INVALID)),
        ("FLOAT32", [LARGE, LARGE, 3], (BYTES, INVALID)),
        ("INT64", [LARGE, LARGE], (BYTES, INVALID)),
        ("FLOAT32", [2**30, 2**30, 4], (BYTES, INVALID)),
        ("INT4", [2**30, 2**30, 8], None),
        ("FLOAT32", [LARGE, LARGE], None),
        ("BOOL", [LARGE, LARGE, 4], None),
        ("FLOAT32", [0, LARGE, LARGE, LARGE], None),
        ("STRING", [-1], None),
    ],
)
def test_sizes_that_the_runtime_cannot_hold(type, shape, lines):
    wrong = found(type, shape)
    assert [one.log_lines for one in wrong] == ([] if lines is None else [lines])
    assert all(str(shape) in one.message for one in wrong)


@pytest.mark.parametrize(
    ("shape", "lines"),
    [([1, 0, -6, 3], None), ([-1, 0], None), ([2, -1, 0], (ELEMENTS, INVALID)), ([-2], (BYTES, INVALID))],
)
def test_negative_sizes_before_every_one_was_refused(shape, lines):
    wrong = found("INT32", shape, release=parse_release("litert-2.1.4"))
    assert [one.log_lines for one in wrong] == ([] if lines is None else [lines])
    assert [one.log_lines for one in found("INT32", shape)] == [(ELEMENTS, INVALID)]


@pytest.mark.parametrize(("axis", "is_refused"), [(-1, True), (0, False), (1, False), (2, True), (3, True)])
def test_the_dimension_that_is_quantized(axis, is_refused):
    wrong = found("INT8", [4, 4], scale=[1.0] * 4, axis=axis)
    line = f"quantized_dimension must be in range [0, 2). Was {axis}."
    assert [one.log_lines[0] for one in wrong] == ([line] if is_refused else [])


def test_negative_sizes_of_constants():
    for data in (b"\0" * 4, b"\0" * 64):
        assert found("INT8", [-1], data)[0].log_lines == (ELEMENTS, INVALID)
    assert not found("STRING", [-1], b"\0" * 8)
    sparse = ([0, 1], [], [(True, 1), (True, 4)])
    assert not found("FLOAT32", [-1, 4], b"\0" * 8, sparsity=sparse)
    assert found("FLOAT32", [-1, 4], sparsity=sparse)[0].log_lines == (ELEMENTS, INVALID), "no data, so not a sparse constant"


def test_variables_with_data():
    (wrong,) = found("FLOAT32", [1], b"\0" * 4, variable=True)
    assert wrong.log_lines == (WITH_BUFFER,)
    (old,) = found("FLOAT32", [1], b"\0" * 4, variable=True, release=parse_release("litert-2.1.1"))
    assert old.log_lines == ("Tensor 0 is a variable tensor with buffer. It's not supported now.",)
    assert not found("FLOAT32", [1], variable=True)


def test_data_in_a_file_of_its_own_and_in_the_model():
    (wrong,) = found("FLOAT32", [4], b"\0" * 4, external_buffer=1)
    assert wrong.log_lines == (WITH_BUFFER,)
    assert not found("FLOAT32", [4], external_buffer=1)
    before = parse_release("litert-2.1.1")
    assert not found("FLOAT32", [1], b"\0" * 4, external_buffer=1, release=before)
    assert found("FLOAT32", [4], b"\0" * 4, external_buffer=1, release=before)[0].log_lines == (INVALID,)


@pytest.mark.parametrize("type", ["STRING", "RESOURCE", "VARIANT"])
def test_variables_without_a_size(type):
    (wrong,) = found(type, [4], variable=True)
    assert type in wrong.message
    assert wrong.log_lines == ("String variable tensor isn't supported.", INVALID)


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ((2, -1, 0, [0]), "scales tensor index must be in range [0, 2). Was 2."),
        ((3, -1, 0, [0]), "scales tensor index must be in range [0, 2). Was 3."),
        ((-1, -1, 0, [0]), "scales tensor index must be in range [0, 2). Was -1."),
        ((0, 2, 0, [0]), "zero_points tensor index must be in range [0, 2), or -1 if optional. Was 2."),
        ((0, 1, -2, [0]), "block_size must be non-negative. Was -2."),
        ((1, -1, 0, [0]), None),
        ((0, 1, 32, [0]), None),
    ],
)
def test_multi_axis_quantization(parameters, line):
    wrong = found("INT8", [4], multi_axis=parameters)
    expected = [] if line is None else [(f"MultiAxisQuantization {line}", "Tensor 0 has invalid quantization parameters.")]
    assert [one.log_lines for one in wrong] == expected
    assert not found("INT8", [4], multi_axis=parameters, release=parse_release("litert-2.1.6"))


def test_blockwise_quantization_is_not_looked_at():
    assert not found("INT8", [4], blockwise=(99, 99, -1))


def test_all_that_is_wrong_with_a_tensor():
    (wrong,) = found("INT8", [4], b"\0", scale=[1.0, 1.0], variable=True)
    assert wrong.message == (
        "it has 2 scales along a dimension of size 4 and it has data and is a variable and it has 1 bytes of data, but its "
        "shape and type need 4"
    )
    assert wrong.log_lines[1:] == ("Tensor 0 has invalid quantization parameters.", WITH_BUFFER, INVALID)


@pytest.mark.parametrize(
    ("sizes", "line"),
    [
        ([1], "must have one entry per dimension. Expected 2 entries, got 1."),
        ([1, 32, 1], "must have one entry per dimension. Expected 2 entries, got 3."),
        ([0, 32], "entries must be positive. Value 0 at index 0 is invalid."),
        ([1, -2], "entries must be positive. Value -2 at index 1 is invalid."),
        ([1, 32], None),
    ],
)
def test_blocks_with_a_size_for_each_dimension(sizes, line):
    wrong = found("INT8", [4, 64], blockwise=(1, -1, 32, sizes), release=parse_release("litert-2.4"))
    expected = [f"BlockwiseQuantization block_shape {line}", "Tensor 0 has invalid quantization parameters."]
    assert [list(one.log_lines) for one in wrong] == ([expected] if line else [])
    assert not found("INT8", [4, 64], blockwise=(1, -1, 32, sizes))


def test_a_sparse_dimension_without_its_segments():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.tensor("sparse", "FLOAT32", (4, 4), b"\0" * 16, sparsity=((0, 1), (), [(True, 4), (False, 0)]))
    model = load(builder.bytes())
    assert not invalid_tensors(model, NEWEST)
    (subgraph,) = model.subgraphs
    broken = subgraph.tensors[0]._replace(sparsity=subgraph.tensors[0].sparsity._replace(incomplete=(1,)))
    model = replace(model, subgraphs=(replace(subgraph, tensors=(broken,)),))
    (wrong,) = invalid_tensors(model, NEWEST)
    assert wrong.log_lines == (
        "The 1th sparse dimension has invalid parameters.",
        "Tensor 0 has invalid sparsity parameters.",
    )

from __future__ import annotations

import array
from pathlib import Path

import numpy as np
import pytest

from delegate_sim.model.model import Allocation, Sparsity, Subgraph
from delegate_sim.model.numbers import as_list
from delegate_sim.model.reader import load
from fixtures.builder import ZEROS, ModelBuilder
from fixtures.sample import one_of_everything
from fixtures.writer import Table, Writer


@pytest.fixture(scope="module")
def model():
    return load(one_of_everything().bytes())


def tensor_of(*arguments, **keywords):
    builder = ModelBuilder()
    builder.subgraph().tensor("t", *arguments, **keywords)
    return load(builder.bytes()).subgraphs[0].tensors[0]


def node_of(builder=None, *arguments, **keywords):
    builder = builder or ModelBuilder()
    builder.subgraph().node(*arguments, **keywords)
    return load(builder.bytes()).subgraphs[0].nodes[0]


def test_the_model(model):
    assert model.path is None
    assert model.size == len(one_of_everything().bytes())
    assert model.version == 3
    assert model.description == "one of everything"
    assert [subgraph.name for subgraph in model.subgraphs] == ["main", "body"]
    assert [subgraph.index for subgraph in model.subgraphs] == [0, 1]


def test_subgraphs(model):
    main, body = model.subgraphs
    assert [tensor.name for tensor in main.tensors[:4]] == ["image", "weights", "bias", "state"]
    assert [tensor.index for tensor in main.tensors] == list(range(11))
    assert (main.inputs, main.outputs) == ((0,), (5, 7))
    assert [tensor.name for tensor in body.tensors] == ["x"]
    assert (body.inputs, body.outputs, body.nodes) == ((0,), (0,), ())


def test_nodes(model):
    convolution, custom, *_ = model.subgraphs[0].nodes
    assert (convolution.index, convolution.op, convolution.builtin_code, convolution.version) == (0, "CONV_2D", 3, 3)
    assert (convolution.inputs, convolution.outputs, convolution.intermediates) == ((0, 1, 2), (4,), ())
    assert convolution.options[0] == "Conv2DOptions"
    assert (convolution.custom_code, convolution.custom_options) == (None, None)
    assert (custom.index, custom.op, custom.custom_code, custom.version, custom.is_custom) == (1, "MyOp", "MyOp", 1, True)
    assert (custom.inputs, custom.outputs, custom.intermediates) == ((4, -1), (5,), (3,))
    assert custom.options is None


def test_allocations(model):
    allocations = [tensor.allocation for tensor in model.subgraphs[0].tensors[:5]]
    assert allocations == [
        Allocation.ARENA,
        Allocation.CONSTANT,
        Allocation.CONSTANT,
        Allocation.VARIABLE,
        Allocation.ARENA,
    ]
    for heap_type in ("STRING", "RESOURCE", "VARIANT"):
        assert tensor_of(heap_type, (1,)).allocation is Allocation.DYNAMIC


def test_signatures(model):
    serve, loop = model.signatures
    assert (serve.key, serve.subgraph, serve.inputs, serve.outputs) == ("serve", 0, {"in": 0}, {"out": 5, "all": 7})
    assert (loop.key, loop.subgraph, loop.inputs, loop.outputs) == ("loop", 1, {"x": 0}, {})


@pytest.mark.parametrize("external_buffers", [False, True])
def test_data_inside_and_behind_the_flatbuffer(external_buffers):
    model = load(one_of_everything(external_buffers).bytes())
    content = bytes(model.content)
    _, weights, bias, *_ = model.subgraphs[0].tensors
    assert model.constant(weights).tolist() == list(range(12))
    assert model.constant(bias).tolist() == [1, 2, 3, 4]
    offset, size = model.metadata["min_runtime_version"]
    assert content[offset : offset + size] == b"2.3.0"
    offset, size = model.subgraphs[0].nodes[1].custom_options
    assert content[offset : offset + size] == b"flexbuffer"


def test_a_sparse_file_with_data_beyond_2_gib(tmp_path):
    builder = ModelBuilder(external_buffers=True)
    graph = builder.subgraph()
    graph.tensor("many", "FLOAT32", (16, 1024, 1024), data=ZEROS)
    graph.tensor("few", "INT32", (3,), data=[1, 2, 3])
    path = tmp_path / "large.tflite"
    builder.write_sparse(path, 3 << 30)
    model = load(path)
    many, few = model.subgraphs[0].tensors
    assert model.size == 3 << 30
    assert many.data[0] > 2 << 30
    assert many.data[1] == many.byte_size
    assert not model.constant(many)[-4:].any()
    assert model.constant(few).tolist() == [1, 2, 3]


def test_sources(tmp_path):
    content = one_of_everything().bytes()
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    expected = load(content)
    assert load(str(path)).path == str(path)
    for source in (str(path), path, Path(str(path)), bytearray(content), memoryview(content), memoryview(bytearray(content))):
        model = load(source)
        assert model.subgraphs[0].nodes == expected.subgraphs[0].nodes
        assert model.size == len(content)
        assert model.content.readonly


def test_a_memoryview_of_other_items_and_one_with_gaps():
    content = one_of_everything().bytes()
    content += bytes(-len(content) % 4)
    assert load(memoryview(array.array("I", content))).description == "one of everything"
    with_gaps = bytearray(2 * len(content))
    with_gaps[::2] = content
    assert load(memoryview(with_gaps)[::2]).description == "one of everything"


@pytest.mark.parametrize("legacy_codes", [False, True])
def test_operator_codes_from_both_fields(legacy_codes):
    node = node_of(ModelBuilder(legacy_codes=legacy_codes), "LOGISTIC", (), (), version=2)
    assert (node.op, node.builtin_code, node.version) == ("LOGISTIC", 14, 2)


def test_operator_codes_over_127():
    node = node_of(None, "STABLEHLO_ADD", (), ())
    assert (node.op, node.builtin_code, node.custom_code) == ("STABLEHLO_ADD", 163, None)


def test_versions_and_custom_names_make_codes_of_their_own():
    builder = ModelBuilder()
    graph = builder.subgraph()
    graph.node("ADD", (), (), version=1)
    graph.node("ADD", (), (), version=2)
    graph.node("CUSTOM", (), (), custom="A")
    graph.node("CUSTOM", (), (), custom="")
    graph.node("ADD", (), (), version=1)
    model = load(builder.bytes())
    assert [(code.op, code.version) for code in model.operator_codes] == [("ADD", 1), ("ADD", 2), ("A", 1), ("", 1)]
    assert [node.op for node in model.subgraphs[0].nodes] == ["ADD", "ADD", "A", "", "ADD"]


def test_a_custom_operator_without_a_name():
    node = node_of(None, 32, (), ())
    assert (node.op, node.custom_code, node.is_custom) == ("CUSTOM", None, True)


def test_what_is_newer_than_the_schema():
    node = node_of(None, 9999, (), ())
    assert (node.op, node.builtin_code) == ("UNKNOWN(9999)", 9999)
    tensor = tensor_of(99, (2,))
    assert (tensor.type, tensor.byte_size, tensor.allocation) == ("UNKNOWN(99)", 0, Allocation.ARENA)


@pytest.mark.parametrize("shape", [(), (0,), (1, 2, 3), (1,) * 20, (-1, 2)])
def test_shapes(shape):
    assert tensor_of("FLOAT32", shape).shape == shape


def test_shapes_signatures_and_ranks_that_are_not_known():
    tensor = tensor_of("FLOAT32", None, has_rank=False)
    assert (tensor.shape, tensor.shape_signature, tensor.has_rank) == ((), None, False)
    tensor = tensor_of("FLOAT32", (1, 4), signature=(-1, 4))
    assert (tensor.shape, tensor.shape_signature, tensor.has_rank) == ((1, 4), (-1, 4), True)
    assert tensor_of("FLOAT32", (), signature=()).shape_signature == ()


def test_quantization_per_tensor():
    tensor = tensor_of("UINT8", (2,), scale=0.5, zero_point=128)
    assert (tensor.scale, tensor.zero_point) == (0.5, 128)
    assert tensor.quantization.kind == "affine"
    assert tensor.quantization.scales.tolist() == [0.5]
    assert tensor.quantization.zero_points.tolist() == [128]


def test_quantization_per_axis():
    tensor = tensor_of("INT8", (2, 3), scale=[1, 2, 3], zero_point=[4, 5, 6], axis=1)
    assert (tensor.scale, tensor.zero_point) == (0.0, 0)
    assert tensor.quantization.scales.tolist() == [1, 2, 3]
    assert tensor.quantization.zero_points.tolist() == [4, 5, 6]
    assert tensor.quantization.dimension == 1


def test_quantization_by_blocks_and_over_several_axes():
    quantization = tensor_of("INT4", (2, 64), blockwise=(7, -1, 32), axis=1).quantization
    assert (quantization.kind, quantization.dimension) == ("blockwise", 1)
    assert (quantization.scales_tensor, quantization.zero_points_tensor, quantization.block_size) == (7, -1, 32)
    assert quantization.block_shape is None
    assert as_list(tensor_of("INT4", (2, 64), blockwise=(7, -1, 0, [1, 32])).quantization.block_shape) == [1, 32]
    assert len(quantization.scales) == len(quantization.zero_points) == 0
    quantization = tensor_of("INT4", (2, 64), multi_axis=(3, 4, 0, [0, 1])).quantization
    assert (quantization.kind, quantization.scales_tensor, quantization.zero_points_tensor) == ("multi-axis", 3, 4)


def test_no_quantization():
    tensor = tensor_of("FLOAT32", (2,))
    assert (tensor.quantization, tensor.scale, tensor.zero_point) == (None, 0.0, 0)
    assert tensor_of("INT8", (2,), scale=[], zero_point=[]).quantization is None


def test_sparsity():
    builder = ModelBuilder()
    graph = builder.subgraph()
    graph.tensor("dense", "FLOAT32", (4, 4), data=ZEROS)
    graph.tensor("sparse", "FLOAT32", (4, 4), data=ZEROS, sparsity=((0, 1), (), [(True, 4), (False, 0)]))
    graph.tensor("blocks", "FLOAT32", (4, 4), data=ZEROS, sparsity=((0, 1, 2), (1,), [(True, 4), (False, 0), (True, 2)]))
    dense, sparse, blocks = load(builder.bytes()).subgraphs[0].tensors
    assert dense.sparsity is None
    assert sparse.sparsity == Sparsity((0, 1), (), ((True, 4), (False, 0)))
    assert blocks.sparsity == Sparsity((0, 1, 2), (1,), ((True, 4), (False, 0), (True, 2)))


def test_buffers_with_and_without_data():
    builder = ModelBuilder()
    graph = builder.subgraph()
    graph.tensor("none", "FLOAT32", (1,), buffer=builder.buffer(None))
    graph.tensor("empty", "FLOAT32", (0,), buffer=builder.buffer(b""))
    shared = builder.buffer(np.float32([1.5]).tobytes())
    graph.tensor("first", "FLOAT32", (1,), buffer=shared)
    graph.tensor("second", "FLOAT32", (1,), buffer=shared, external_buffer=7)
    model = load(builder.bytes())
    none, empty, first, second = model.subgraphs[0].tensors
    assert (none.allocation, none.buffer, none.data) == (Allocation.ARENA, 1, None)
    assert (empty.allocation, model.constant(empty).tolist()) == (Allocation.CONSTANT, [])
    assert first.data == second.data
    assert (first.external_buffer, second.external_buffer) == (0, 7)


def test_names_that_are_not_utf_8():
    builder = ModelBuilder()
    builder.subgraph().tensor("naXXme", "FLOAT32", ())
    content = builder.bytes().replace(b"naXXme", b"na\xff\xfeme")
    assert load(content).subgraphs[0].tensors[0].name == "na\ufffd\ufffdme"


def test_a_model_without_anything_but_a_subgraph():
    builder = ModelBuilder()
    builder.subgraph("")
    model = load(builder.bytes())
    assert (model.operator_codes, model.signatures, model.metadata, model.description) == ((), (), {}, "")
    assert model.subgraphs == (Subgraph(0, "", (), (), (), ()),)


def test_metadata_of_a_buffer_that_is_missing_is_left_out():
    metadata = [Table("Metadata", {"name": "astray", "buffer": 1})]
    content = Writer().file(Table("Model", {"subgraphs": [Table("SubGraph", {})], "metadata": metadata}))
    assert load(content).metadata == {}

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from delegate_sim.errors import LimitError, ModelError
from delegate_sim.foundation.files import LARGEST_IN_MEMORY
from delegate_sim.model.model import CONTROL_DEPENDENCIES, NO_TENSOR, Allocation, Node, control_dependencies
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder


def read_tensor(*arguments, **keywords):
    """A model of one tensor, and the tensor."""
    builder = ModelBuilder()
    builder.subgraph().tensor("t", *arguments, **keywords)
    model = load(builder.bytes())
    return model, model.subgraphs[0].tensors[0]


def read_node(*arguments, **keywords):
    """A model of one node, and the node."""
    builder = ModelBuilder()
    builder.subgraph().node(*arguments, **keywords)
    model = load(builder.bytes())
    return model, model.subgraphs[0].nodes[0]


@pytest.mark.parametrize(
    ("type_name", "elements"),
    [
        ("FLOAT32", [0.5, -1.5]),
        ("FLOAT16", [0.5, -1.5]),
        ("FLOAT64", [0.1, -0.1]),
        ("INT8", [-128, 127]),
        ("UINT8", [0, 255]),
        ("INT16", [-(2**15), 2**15 - 1]),
        ("UINT16", [0, 2**16 - 1]),
        ("INT32", [-(2**31), 2**31 - 1]),
        ("UINT32", [0, 2**32 - 1]),
        ("INT64", [-(2**63), 2**63 - 1]),
        ("UINT64", [0, 2**64 - 1]),
        ("BOOL", [0, 1]),
        ("COMPLEX64", [1 + 2j, -1j]),
    ],
)
def test_constants_read_as_written(type_name, elements):
    model, tensor = read_tensor(type_name, (2,), data=elements)
    assert model.constant(tensor).tolist() == elements
    assert tensor.byte_size == tensor.data[1]


def test_constants_are_flat_and_cannot_be_written_to():
    model, tensor = read_tensor("INT32", (2, 3), data=np.arange(6))
    found = model.constant(tensor)
    assert len(found) == 6
    assert np.asarray(found).shape == (6,)
    assert not np.asarray(found).flags.writeable


def test_constants_of_types_numpy_cannot_read_are_none():
    for type_name in ("STRING", "INT4", "BFLOAT16", 99):
        model, tensor = read_tensor(type_name, (2,), data=b"\x01\x02\x03\x04")
        assert tensor.is_constant
        assert model.constant(tensor) is None


def test_a_tensor_without_data_has_no_value():
    model, tensor = read_tensor("FLOAT32", (2,))
    assert model.constant(tensor) is None
    assert model.constant(NO_TENSOR) is None


def test_a_constant_whose_size_is_no_multiple_of_its_elements_is_cut():
    model, tensor = read_tensor("INT32", (2,), data=b"\x01\x00\x00\x00\x02\x00")
    assert model.constant(tensor).tolist() == [1]


def test_a_value_that_prepare_computed_stands_in_for_data():
    model, tensor = read_tensor("INT32", (2, 2))
    computed = tensor._replace(allocation=Allocation.PERSISTENT, value=np.array([[1, 2], [3, 4]]))
    assert model.constant(computed).tolist() == [1, 2, 3, 4]
    assert not computed.is_constant


@pytest.mark.parametrize(
    ("type_name", "shape", "size"),
    [("FLOAT32", (2, 3), 24), ("INT4", (3,), 2), ("INT2", (5,), 2), ("BOOL", (), 1), ("INT8", (0, 9), 0), ("STRING", (4,), 0)],
)
def test_byte_size(type_name, shape, size):
    _, tensor = read_tensor(type_name, shape)
    assert tensor.byte_size == size


def test_shape_properties():
    _, tensor = read_tensor("FLOAT32", (1, 2, 3), signature=(-1, 2, 3))
    assert (tensor.rank, tensor.element_count, tensor.has_unspecified_dimension) == (3, 6, True)
    _, tensor = read_tensor("FLOAT32", (1, 2, 3), signature=(1, 2, 3))
    assert not tensor.has_unspecified_dimension
    _, tensor = read_tensor("FLOAT32", (1, 2, 3))
    assert not tensor.has_unspecified_dimension


def test_per_channel_quantization():
    _, tensor = read_tensor("INT8", (2, 3), scale=[1.0, 2.0], axis=0)
    assert tensor.is_per_channel
    assert tensor.quantization.is_affine
    _, tensor = read_tensor("INT8", (2, 3), scale=1.0)
    assert not tensor.is_per_channel
    _, tensor = read_tensor("INT8", (2, 3), blockwise=(0, -1, 32))
    assert not tensor.is_per_channel
    assert not tensor.quantization.is_affine


def test_options_that_are_set_and_defaults():
    model, node = read_node("CONV_2D", (), (), options={"stride_w": 2, "padding": 1})
    options = model.options(node)
    assert options.table == "Conv2DOptions"
    assert (options.stride_w, options.stride_h, options.padding) == (2, 0, 1)
    assert (options.dilation_w_factor, options.dilation_h_factor) == (1, 1)
    assert ("stride_w", 2) in list(options)


def test_options_of_vectors_strings_and_the_second_union():
    model, node = read_node("RESHAPE", (), (), options={"new_shape": [2, -1]})
    assert model.options(node).new_shape == (2, -1)
    model, node = read_node("BUCKETIZE", (), (), options={"boundaries": [0.5, 1.5]})
    assert model.options(node).boundaries == (0.5, 1.5)
    model, node = read_node("STABLEHLO_COMPOSITE", (), (), options={"name": "odml.rms", "composite_attributes": b"\x01\xff"})
    assert model.options(node).name == "odml.rms"
    assert model.options(node).composite_attributes == (1, 255)
    model, node = read_node("STABLEHLO_CASE", (), (), options={"branch_subgraph_indices": [1, 2]})
    assert model.options(node).branch_subgraph_indices == (1, 2)


def test_without_options_every_field_is_zero():
    model, node = read_node("CONV_2D", (), ())
    options = model.options(node)
    assert node.options is None
    assert options.table is None
    assert (options.stride_w, options.dilation_w_factor) == (0, 0)
    model, node = read_node("RESHAPE", (), ())
    assert model.options(node).new_shape == ()


def test_options_of_another_operator_count_as_absent():
    model, node = read_node("ADD", (), (), options={"fused_activation_function": 1}, options_table="MulOptions")
    assert node.options[0] == "MulOptions"
    assert model.options(node).table is None
    assert model.options(node).fused_activation_function == 0


def test_a_custom_operator_has_no_builtin_options():
    model, node = read_node("CUSTOM", (), (), custom="ADD", options={"fused_activation_function": 1}, options_table="AddOptions")
    assert node.is_custom
    assert model.options(node).table is None


def test_options_beyond_the_file_read_as_their_defaults():
    model, node = read_node("CONV_2D", (), (), options={"stride_w": 2})
    outside = node._replace(options=("Conv2DOptions", 10**9))
    assert model.options(outside).stride_w == 0
    assert model.options(outside).dilation_w_factor == 1


def test_private_names_are_no_options():
    model, node = read_node("ADD", (), ())
    with pytest.raises(AttributeError, match="_no_such_thing"):
        _ = model.options(node)._no_such_thing


def test_digest_of_a_file_and_of_bytes(tmp_path):
    content = ModelBuilder()
    content.subgraph()
    content.write(tmp_path / "m.tflite")
    expected = hashlib.sha256(content.bytes()).hexdigest()
    assert load(tmp_path / "m.tflite").sha256 == expected
    assert load(content.bytes()).sha256 == expected


def test_a_file_that_is_gone_has_no_digest(tmp_path):
    builder = ModelBuilder(external_buffers=True)
    builder.subgraph()
    builder.write_sparse(tmp_path / "m.tflite", LARGEST_IN_MEMORY + 1)
    model = load(tmp_path / "m.tflite")
    (tmp_path / "m.tflite").unlink()
    with pytest.raises(ModelError, match=r"m\.tflite: No such file"):
        _ = model.sha256


def test_a_node_of_a_builtin_operator_is_not_custom():
    assert not Node(0, "ADD", 0, None, 1, (), (), (), None, None).is_custom


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def model_with_control_dependencies(content):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("x", "FLOAT32", (1,)))
    builder.metadata(CONTROL_DEPENDENCIES, content)
    return load(builder.bytes())


def test_control_dependencies_are_read_from_the_metadata():
    content = varint(1) + varint(1) + varint(2) + varint(0) + varint(2 * 1) + varint(2 * 300) + varint(2 * 2 - 1)
    assert control_dependencies(model_with_control_dependencies(content)) == (((0, 1), (300, -2)),)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        varint(2) + varint(1) + varint(0),
        varint(1) + varint(2) + varint(0) + varint(0),
        varint(1) + varint(1) + varint(1),
        b"\x80",
    ],
    ids=["empty", "other version", "other number of subgraphs", "truncated", "unfinished number"],
)
def test_control_dependencies_that_do_not_fit_are_ignored(content):
    assert control_dependencies(model_with_control_dependencies(content)) is None


def test_too_many_edges(monkeypatch):
    content = varint(1) + varint(1) + varint(2) + bytes(4)
    assert control_dependencies(model_with_control_dependencies(content)) == (((0, 0), (0, 0)),)
    monkeypatch.setattr("delegate_sim.model.model._MOST_EDGES", 1)
    with pytest.raises(LimitError, match="2 control dependencies are too many for 0 nodes"):
        control_dependencies(model_with_control_dependencies(content))
    unfinished = varint(1) + varint(1) + varint(100)
    assert control_dependencies(model_with_control_dependencies(unfinished)) is None

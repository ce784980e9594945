"""Sources that are no model: each must give one line that names the file and the fault, at a cost in line with its size."""

from __future__ import annotations

import os
import struct
import tracemalloc

import pytest
import tflite

from delegate_sim.errors import ModelError
from delegate_sim.model import schema
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder
from fixtures.bundles import zip_bytes
from fixtures.sample import one_of_everything
from fixtures.writer import Table, Writer

MANY = 4_000
RESHAPE = 22
RESHAPE_OPTIONS = 17


def fault(source):
    """The name of the source in the error."""
    with pytest.raises(ModelError) as raised:
        load(source)
    message = str(raised.value)
    assert message.isprintable()
    return message


def replaced(content, position, value):
    """The content with another number of 32 bits at this position."""
    return content[:position] + struct.pack("<I", value) + content[position + 4 :]


def elements_of(table, slot):
    """The position of the elements of a table's vector, as the accessors of the ``tflite`` package find it."""
    return table._tab.Vector(table._tab.Offset(4 + 2 * slot))


OUTSIDE = "lies outside the file"
PAST_END = "runs past the end of the file"

HDF5 = b"\x89HDF\r\n\x1a\n" + bytes(8)


@pytest.fixture(scope="module")
def content():
    return one_of_everything().bytes()


@pytest.fixture(scope="module")
def root(content):
    return tflite.Model.GetRootAs(content)


class TestFiles:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "is empty"),
            (b"not a model at all", "is not a TFLite model: the identifier at offset 4 is not 'TFL3'"),
            (b"TFL3", "is 4 bytes long, too short for a TFLite model"),
            (b"T", "is 1 byte long, too short for a TFLite model"),
        ],
    )
    def test_no_model(self, tmp_path, content, words):
        path = tmp_path / "m.tflite"
        path.write_bytes(content)
        assert fault(path) == f"{path}: {words}"
        assert fault(content) == f"the given bytes: {words}"

    def test_an_identifier_and_nothing_else(self):
        assert "the root" not in fault(bytes(4) + b"TFL3")
        assert OUTSIDE in fault(b"\xff\xff\xff\xffTFL3")

    def test_another_identifier(self, content):
        assert "is 'TFL9', not 'TFL3'" in fault(content[:4] + b"TFL9" + content[8:])
        assert "TOKE" not in fault(content[:4] + b"TOKE" + content[8:])

    @pytest.mark.parametrize("garbage", [b"not a model at all", bytes(64), b"\x08\0\0\0TFL9" + bytes(56)])
    def test_garbage_is_no_model_with_another_identifier(self, garbage):
        with pytest.raises(ModelError, match="is not a TFLite model: the identifier at offset 4 is"):
            load(garbage, any_identifier=True)

    def test_missing(self, tmp_path):
        path = tmp_path / "none.tflite"
        assert fault(path) == f"{path}: No such file or directory"

    def test_a_directory(self, tmp_path):
        assert fault(tmp_path).startswith(f"{tmp_path}: ")

    @pytest.mark.parametrize(
        ("name", "content", "source"),
        [
            ("m.onnx", b"\x08\x08\x12\x07pytorch", "an ONNX model"),
            ("m.H5", HDF5, "a Keras model (HDF5)"),
            ("weights", HDF5, "a Keras model (HDF5)"),
            ("m.keras", zip_bytes({"config.json": b"{}"}), "a Keras model"),
            ("m.pt2", zip_bytes({"archive/archive_format": b"pt2"}), "a PyTorch model (torch.export)"),
            ("saved_model.pb", b"\x08\x01\x12\x00meta graph", "the graph of a SavedModel folder"),
        ],
    )
    def test_a_source_model_is_named(self, tmp_path, name, content, source):
        path = tmp_path / name
        path.write_bytes(content)
        assert f"{path}: is {source}, " in fault(path)
        assert "delegate-sim sweep" in fault(path)

    def test_a_log_is_named(self, tmp_path):
        path = tmp_path / "device.log"
        path.write_bytes(b"INFO: Created TensorFlow Lite delegate for GPU.")
        assert f"{path}: is a log, " in fault(path)
        assert "delegate-sim explain --log" in fault(path)

    def test_a_saved_model_is_named(self, tmp_path):
        (tmp_path / "saved_model.pb").write_bytes(b"graph")
        assert f"{tmp_path}: is a SavedModel, " in fault(tmp_path)

    def test_a_model_may_have_the_suffix_of_a_source_model(self, tmp_path, content):
        path = tmp_path / "m.h5"
        path.write_bytes(content)
        assert load(path).size == len(content)

    def test_what_is_no_regular_file(self, tmp_path):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        assert fault(path).startswith(f"{path}: ")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, tmp_path, content):
        path = tmp_path / "m.tflite"
        path.write_bytes(content)
        path.chmod(0)
        assert fault(path) == f"{path}: Permission denied"

    def test_a_path_with_a_null_byte(self):
        assert fault("a\0b.tflite").startswith(r"a\x00b.tflite: ")

    def test_a_path_that_is_too_long(self):
        assert "File name too long" in fault("x" * 5000)

    def test_a_path_with_controls(self, tmp_path):
        path = tmp_path / "a\n\x1b[31m\u202e.tflite"
        path.write_bytes(b"no model")
        assert fault(path).startswith(f"{tmp_path}/a\\n\\x1b[31m\\u202e.tflite: is not a TFLite model")

    def test_a_path_that_is_not_utf_8(self, tmp_path):
        path = os.fsencode(tmp_path) + b"/\xff.tflite"
        with open(path, "wb") as file:
            file.write(b"no model")
        assert r"\udcff.tflite: is not a TFLite model" in fault(os.fsdecode(path))


class TestStructure:
    def test_truncated(self, content):
        for part in (0.1, 0.3, 0.5, 0.8):
            assert "truncated" in fault(content[: int(len(content) * part)])

    def test_external_data_that_is_cut_off(self):
        content = one_of_everything(external_buffers=True).bytes()
        message = fault(content[:-64])
        assert "truncated" in message
        assert "buffer" in message

    def test_no_subgraph(self):
        assert "no subgraph" in fault(ModelBuilder().bytes())

    @pytest.mark.parametrize("value", [0x7FFFFFF0, 0xFFFFFFF0])
    def test_offsets_past_the_end(self, content, root, value):
        position = elements_of(root, 2)
        assert OUTSIDE in fault(replaced(content, position, value))

    @pytest.mark.parametrize("slot", [1, 2, 4, 6, 7])
    @pytest.mark.parametrize("count", [0x10000, 0x7FFFFFFF, 0xFFFFFFFF])
    def test_vectors_of_tables_with_absurd_counts(self, content, root, slot, count):
        position = elements_of(root, slot) - 4
        assert PAST_END in fault(replaced(content, position, count))

    @pytest.mark.parametrize("count", [0x10000, 0x7FFFFFFF, 0xFFFFFFFF])
    def test_tensors_nodes_and_shapes_with_absurd_counts(self, content, root, count):
        graph = root.Subgraphs(0)
        for table, slot in [(graph, 0), (graph, 1), (graph, 3), (graph, 4), (graph.Tensors(0), 0), (graph.Operators(0), 1)]:
            assert PAST_END in fault(replaced(content, elements_of(table, slot) - 4, count))

    def test_options_with_absurd_counts(self, content, root):
        options = tflite.ReshapeOptions()
        place = root.Subgraphs(0).Operators(2).BuiltinOptions()
        options.Init(place.Bytes, place.Pos)
        assert f"ReshapeOptions tables {PAST_END}" in fault(replaced(content, elements_of(options, 0) - 4, 0x10000))

    def test_a_table_in_a_hole(self, content, root):
        position = elements_of(root.Subgraphs(0), 0)
        hole = len(content)
        assert "vtable" in fault(replaced(content, position, hole - position) + bytes(64))

    def test_a_subgraph_that_contains_itself(self):
        content = Writer().file(Table("Model", {"subgraphs": [Table("SubGraph", {"tensors": [Table("Tensor", {})]})]}))
        graph = tflite.Model.GetRootAs(content).Subgraphs(0)
        position = elements_of(graph, 0)
        cyclic = replaced(content, position, (graph._tab.Pos - position) % 2**32)
        assert OUTSIDE in fault(cyclic)

    def test_tensor_indices_out_of_range(self):
        for inputs, outputs, intermediates in [((9,), (), ()), ((0, -2), (), ()), ((), (0, 7), ()), ((), (), (2,))]:
            builder = ModelBuilder()
            builder.subgraph("first").tensor("t", "FLOAT32", ())
            graph = builder.subgraph("second")
            graph.tensor("t", "FLOAT32", ())
            graph.tensor("u", "FLOAT32", ())
            graph.node("ADD", (0, 1), (1,))
            graph.node("ADD", inputs, outputs, intermediates=intermediates)
            wrong = min((*inputs, *outputs, *intermediates)) if -2 in inputs else max((*inputs, *outputs, *intermediates))
            expected = f"the given bytes: is malformed: node 1 of subgraph 1 refers to tensor {wrong}, but there are 2 tensors"
            assert fault(builder.bytes()) == expected

    def test_inputs_and_outputs_out_of_range(self):
        for field in ("inputs", "outputs"):
            content = Writer().file(Table("Model", {"subgraphs": [Table("SubGraph", {field: [5]})]}))
            assert f"an {field[:-1]} of subgraph 0 refers to tensor 5" in fault(content)

    def test_a_missing_operator_code(self):
        operator = Table("Operator", {"opcode_index": 3})
        content = Writer().file(Table("Model", {"subgraphs": [Table("SubGraph", {"operators": [operator]})]}))
        assert "node 0 of subgraph 0 uses operator code 3, " in fault(content)

    def test_a_missing_buffer(self):
        builder = ModelBuilder()
        graph = builder.subgraph()
        graph.tensor("t", "FLOAT32", ())
        graph.tensor("u", "FLOAT32", (), buffer=4)
        assert "tensor 1 of subgraph 0 uses buffer 4, " in fault(builder.bytes())

    def test_an_absurd_rank(self):
        builder = ModelBuilder()
        builder.subgraph().tensor("t", "FLOAT32", (1,) * 1000)
        assert "tensor 0 of subgraph 0 has 1000 dimensions" in fault(builder.bytes())


def model_of(writer, graph, **fields):
    code = Table("OperatorCode", {"builtin_code": RESHAPE})
    return writer.file(Table("Model", {"subgraphs": [Table("SubGraph", graph)], "operator_codes": [code], **fields}))


def many_tensors(writer, fields):
    """A subgraph with one tensor table many times over."""
    return model_of(writer, {"tensors": [writer.table(Table("Tensor", fields))] * MANY})


def many_nodes(writer, fields):
    """A subgraph with one operator table many times over."""
    return model_of(writer, {"operators": [writer.table(Table("Operator", fields))] * MANY})


def one_subgraph_over_and_over(writer):
    return writer.file(Table("Model", {"subgraphs": [writer.table(Table("SubGraph", {}))] * MANY}))


def two_subgraphs_at_one_place(writer):
    return writer.file(Table("Model", {"subgraphs": [writer.table(Table("SubGraph", {}))] * 2}))


def subgraphs_that_share_their_tensors(writer):
    tensors = writer.reference(None, [writer.table(Table("Tensor", {}))] * 300)
    return writer.file(Table("Model", {"subgraphs": [Table("SubGraph", {"tensors": tensors})] * MANY}))


def tensors_that_share_a_long_shape(writer):
    return many_tensors(writer, {"shape": [1000] * 256})


def tensors_that_share_a_long_name(writer):
    return many_tensors(writer, {"name": "x" * MANY})


def tensors_that_share_many_scales(writer):
    return many_tensors(writer, {"quantization": Table("QuantizationParameters", {"scale": [0.5] * MANY})})


def tensors_that_share_a_long_sparsity(writer):
    return many_tensors(
        writer, {"sparsity": Table("SparsityParameters", {"dim_metadata": [Table("DimensionMetadata", {})] * 99})}
    )


def nodes_that_share_many_inputs(writer):
    return many_nodes(writer, {"inputs": [-1] * MANY})


def nodes_that_share_long_options(writer):
    options = Table("ReshapeOptions", {"new_shape": [1] * MANY})
    return many_nodes(writer, {"builtin_options_type": RESHAPE_OPTIONS, "builtin_options": options})


def signatures_that_share_long_arguments(writer):
    arguments = writer.reference(None, [writer.table(Table("TensorMap", {}))] * 300)
    signatures = [writer.table(Table("SignatureDef", {"inputs": arguments, "outputs": arguments}))] * MANY
    return model_of(writer, {}, signature_defs=signatures)


def traced(content):
    """Peak of memory while content is read, and what the reader says of it."""
    tracemalloc.start()
    try:
        load(content)
        message = ""
    except ModelError as error:
        message = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, message


@pytest.mark.parametrize(
    "write",
    [
        one_subgraph_over_and_over,
        subgraphs_that_share_their_tensors,
        tensors_that_share_a_long_shape,
        tensors_that_share_a_long_name,
        tensors_that_share_many_scales,
        tensors_that_share_a_long_sparsity,
        nodes_that_share_many_inputs,
        nodes_that_share_long_options,
        signatures_that_share_long_arguments,
    ],
)
def test_parts_that_claim_more_than_the_file_holds(write):
    content = write(Writer())
    load(one_of_everything().bytes())
    peak, message = traced(content)
    assert "far more bytes" in message
    assert peak < 80 * len(content)


@pytest.mark.parametrize("padding", [1, 2, 4, 8])
@pytest.mark.parametrize(
    "write",
    [
        lambda writer: many_tensors(writer, {}),
        lambda writer: many_tensors(writer, {"quantization": Table("QuantizationParameters", {"scale": [1], "zero_point": [2]})}),
        lambda writer: many_tensors(writer, {"shape": [1000, 1001], "name": "t"}),
        lambda writer: many_nodes(writer, {"inputs": [-1, -1]}),
        lambda writer: model_of(writer, {}, buffers=[writer.table(Table("Buffer", {"data": b"1234"}))] * MANY),
    ],
)
def test_memory_stays_in_proportion_to_the_file(write, padding):
    content = write(Writer())
    content += bytes((padding - 1) * len(content))
    peak, _ = traced(content)
    assert peak < 80 * len(content)


def test_two_subgraphs_at_one_place():
    assert "at the same place" in fault(two_subgraphs_at_one_place(Writer()))


def test_equal_parts_may_be_written_once():
    writer = Writer()
    fields = {
        "shape": writer.reference("i", [1, 2, 3]),
        "quantization": writer.table(Table("QuantizationParameters", {"scale": [0.5], "zero_point": [3]})),
    }
    tables = [Table("Tensor", {"name": f"tensor {number}", **fields}) for number in range(500)]
    tensors = load(model_of(writer, {"tensors": tables})).subgraphs[0].tensors
    assert {(tensor.shape, tensor.scale) for tensor in tensors} == {((1, 2, 3), 0.5)}


def test_a_sparse_file_costs_little(tmp_path):
    path = tmp_path / "hole.tflite"
    builder = ModelBuilder(external_buffers=True)
    builder.subgraph().tensor("t", "FLOAT32", (1,), data=b"1234")
    builder.write_sparse(path, 3 << 30)
    with open(path, "r+b") as file:
        graph = tflite.Model.GetRootAs(file.read(4096)).Subgraphs(0)
        file.seek(elements_of(graph, 0) - 4)
        file.write(struct.pack("<I", 0x20000000))
    peak, message = traced(path)
    assert message
    assert peak < 64 << 20


def test_the_schema_knows_the_numbers_used_here():
    assert schema.operator_name(RESHAPE) == "RESHAPE"
    assert schema.enum_names("BuiltinOptions")[RESHAPE_OPTIONS] == "ReshapeOptions"

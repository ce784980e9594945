"""A rewritten file keeps what the change does not touch: shown by reading both files with the schema."""

from __future__ import annotations

import io
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.flatbuffer.model_writing import write
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.model.options import FileTable as Table
from fixtures.builder import ModelBuilder
from tests.support.composites import nested_composites


def model_bytes(external=False, metadata=None):
    """A model with a signature, metadata, a variable tensor, a custom operator, and a NEG to be rewritten."""
    builder = ModelBuilder(description="what it is", external_buffers=external)
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [2, 3], signature=[2, 3])
    weights = graph.tensor("w", "FLOAT32", [4, 3], data=np.arange(12))
    quantized = graph.tensor("q", "INT8", [4, 3], data=np.arange(12), scale=[0.5, 0.25, 1, 2], zero_point=[0, 0, 0, 0], axis=0)
    graph.tensor("state", "FLOAT32", [2, 3], variable=True)
    y, z, u = (graph.tensor(name, "FLOAT32", shape) for name, shape in (("y", [2, 3]), ("z", [2, 4]), ("u", [2, 4])))
    graph.node("NEG", [x], [y], 1, {})
    graph.node("FULLY_CONNECTED", [y, weights, -1], [z], 9, {"keep_num_dims": True, "fused_activation_function": 1})
    graph.node(0, [z, quantized], [u], custom="Mine", custom_options=b"\x01\x02\x03 options")
    graph.outputs(u)
    builder.signature("serve", graph, {"in": x}, {"out": u})
    for name, content in {"min_runtime_version": b"1.5.0", **(metadata or {})}.items():
        builder.metadata(name, content)
    return builder.bytes()


def written(model, now):
    """Return the bytes of the file with the rewritten model ``now``."""
    return b"".join([bytes(chunk) for chunk in write(model, now.change, now.weights)])


def rewritten(content, *names):
    model = load(content)
    now = start(model)
    for name in names:
        now = apply_pass(now, PASSES[name])
        assert now is not None
    return written(model, now), now.model


def contents(model):
    """The content of a model, by name, without positions in the file."""
    return {
        tensor.name: (
            tensor.type,
            tensor.shape,
            tensor.shape_signature,
            tensor.is_variable,
            None if tensor.data is None else bytes(model.content[tensor.data[0] : sum(tensor.data)]),
            None
            if tensor.quantization is None
            else [part.tolist() if hasattr(part, "tolist") else part for part in tensor.quantization],
        )
        for tensor in model.subgraphs[0].tensors
    }


def test_unchanged_subgraphs_follow_the_new_list_of_operator_codes():
    found, expected = rewritten(nested_composites(1, 1), "composites-inlined")
    after = load(found)
    assert [[node.op for node in graph.nodes] for graph in after.subgraphs] == [["ATAN2"], ["ATAN2"]]
    assert after.operator_codes == expected.operator_codes


@pytest.mark.parametrize("external", [False, True])
def test_what_is_not_changed_is_as_it_was(external):
    content = model_bytes(external)
    found, _ = rewritten(content, "neg-as-mul", "own-versions")
    before, after = load(content), load(found)
    assert [node.op for node in after.subgraphs[0].nodes] == ["MUL", "FULLY_CONNECTED", "Mine"]
    assert [node.version for node in after.subgraphs[0].nodes] == [1, 5, 1]
    assert after.description == before.description
    assert [(each.key, dict(each.inputs), dict(each.outputs)) for each in after.signatures] == [("serve", {"in": 0}, {"out": 6})]
    assert contents(after).items() >= contents(before).items()
    assert before.offset_buffers <= after.offset_buffers
    assert bool(before.offset_buffers) == external
    for name, (start_, size) in before.metadata.items():
        place, length = after.metadata[name]
        assert found[place : place + length] == content[start_ : start_ + size]
    options = [
        bytes(each.content[slice(span[0], sum(span))])
        for each in (before, after)
        if (span := each.subgraphs[0].nodes[2].custom_options)
    ]
    assert options == [b"\x01\x02\x03 options"] * 2
    assert dict(iter(after.options(after.subgraphs[0].nodes[1]))) == dict(iter(before.options(before.subgraphs[0].nodes[1])))


def test_without_a_change_the_file_is_the_same():
    content = model_bytes()
    model = load(content)
    assert written(model, start(model)) == content


@pytest.mark.parametrize("external", [False, True])
def test_constants_stay_aligned(external):
    found, _ = rewritten(model_bytes(external), "neg-as-mul")
    model = load(found)
    assert {tensor.data[0] % 16 for tensor in model.subgraphs[0].tensors if tensor.data} == {0}


def test_the_runtimes_own_schema_reads_the_file():
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="needs the runtime: install the extra 'fix'")
    content = model_bytes()
    found, _ = rewritten(content, "neg-as-mul", "own-versions")
    before, after = (schema.ModelT.InitFromPackedBuf(each, 0) for each in (content, found))
    assert [vars(each) for each in after.metadata] == [vars(each) for each in before.metadata]
    assert after.signatureDefs[0].signatureKey == before.signatureDefs[0].signatureKey
    for old, new in zip(before.buffers, after.buffers, strict=False):
        assert (old.data is None) == (new.data is None)
        assert old.data is None or old.data.tolist() == new.data.tolist()
    for old, new in zip(before.subgraphs[0].tensors, after.subgraphs[0].tensors, strict=False):
        assert (old.name, old.isVariable, old.buffer) == (new.name, new.isVariable, new.buffer)
    assert after.subgraphs[0].operators[2].customOptions.tolist() == before.subgraphs[0].operators[2].customOptions.tolist()


def test_associated_files_are_found_where_they_are():
    archive = io.BytesIO(model_bytes())
    with zipfile.ZipFile(archive, "a") as writing:
        writing.writestr("labels.txt", "cat\ndog\n")
        writing.writestr("more/vocabulary.txt", "words")
    found, _ = rewritten(archive.getvalue(), "neg-as-mul")
    with zipfile.ZipFile(io.BytesIO(found)) as reading:
        assert reading.testzip() is None
        assert {name: reading.read(name) for name in reading.namelist()} == {
            "labels.txt": b"cat\ndog\n",
            "more/vocabulary.txt": b"words",
        }
        place = reading.getinfo("labels.txt").header_offset
    (stored,) = struct.unpack_from("<I", found, found.rfind(b"PK\x01\x02", 0, found.rfind(b"PK\x01\x02")) + 42)
    assert place == stored
    assert found[place : place + 4] == b"PK\x03\x04"


def with_unknown_field(content, table, slot):
    """Give a table a vtable with one entry more, for a field of four bytes that no schema knows."""
    content = bytearray(content)
    (back,) = struct.unpack_from("<i", content, table)
    vtable = table - back
    size, length = struct.unpack_from("<HH", content, vtable)
    entries = list(struct.unpack_from(f"<{(size - 4) // 2}H", content, vtable + 4))
    entries += [0] * (slot - len(entries)) + [4 if not entries else max(entries)]
    while len(content) % 4:
        content.append(0)
    place = len(content)
    content += struct.pack(f"<HH{len(entries)}H", 4 + 2 * len(entries), length, *entries)
    struct.pack_into("<i", content, table, table - place)
    return bytes(content)


def first_subgraph(content):
    return Table.root(memoryview(content)).children("subgraphs")[0]


def test_fields_that_the_schema_does_not_know_are_kept():
    content = model_bytes()
    changed = with_unknown_field(content, first_subgraph(content).children("tensors")[1].position, 30)
    found, _ = rewritten(changed, "neg-as-mul")
    assert 30 in first_subgraph(found).children("tensors")[1].places()
    assert 30 in first_subgraph(changed).children("tensors")[1].places()


@pytest.mark.parametrize("name", ["Model", "SubGraph", "Operator"])
def test_a_table_that_changes_and_has_such_a_field_is_refused(name):
    content = model_bytes()
    subgraph = first_subgraph(content)
    tables = (Table.root(memoryview(content)), subgraph, subgraph.children("operators")[1])
    (position,) = [table.position for table in tables if table.name == name]
    changed = with_unknown_field(content, position, 30)
    with pytest.raises(FixError, match=rf"field 30 of one of its {name} tables"):
        rewritten(changed, "own-versions")


def test_a_model_with_an_order_of_its_nodes_keeps_them():
    content = model_bytes(metadata={"model_control_dependencies": b"\x01\x01\x00"})
    model = load(content)
    assert apply_pass(start(model), PASSES["neg-as-mul"]) is None
    found, now = rewritten(content, "own-versions")
    assert "model_control_dependencies" in load(found).metadata
    assert "model_control_dependencies" in now.metadata


def test_the_file_is_what_was_simulated():
    found, model = rewritten(model_bytes(), "neg-as-mul", "own-versions")
    again = load(found)
    assert again.operator_codes == model.operator_codes
    assert [node[:8] for node in again.subgraphs[0].nodes] == [node[:8] for node in model.subgraphs[0].nodes]
    for one, other in zip(again.subgraphs[0].tensors, model.subgraphs[0].tensors, strict=True):
        assert (one.name, one.type, one.shape, one.allocation) == (other.name, other.type, other.shape, other.allocation)
        values = [each.constant(tensor) for each, tensor in ((again, one), (model, other))]
        assert (values[0] is None) == (values[1] is None)
        assert values[0] is None or np.array_equal(values[0], values[1])


def test_a_model_that_was_compiled_is_refused():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x, y = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1])
    graph.node(0, [x], [y], custom="DISPATCH_OP", custom_options=b"")
    graph.outputs(y)
    model = load(builder.bytes())
    with pytest.raises(FixError, match="compiled for an NPU"):
        write(model, start(model).change)


def test_a_node_that_writes_what_it_reads_is_refused():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x = graph.input("x", "FLOAT32", [1])
    graph.node("ADD", [x, x], [x], 1, {})
    graph.outputs(x)
    model = load(builder.bytes())
    with pytest.raises(FixError, match="reads its own output"):
        write(model, start(model).change)


def test_new_elements_of_a_type_that_cannot_be_stored():
    model = load(model_bytes())
    change = start(model).change
    (graph,) = change.model.subgraphs
    tensors = (*graph.tensors[:1], graph.tensors[1]._replace(type="VARIANT", data=None, value=np.zeros(1)), *graph.tensors[2:])
    changed = replace(change, model=replace(change.model, subgraphs=(replace(graph, tensors=tensors),)))
    with pytest.raises(FixError, match="elements of type VARIANT cannot be stored"):
        b"".join([bytes(chunk) for chunk in write(model, changed)])


def with_computed_weights(compute, shape):
    """Return a model and its change, in which two tensors get the elements that ``compute`` returns."""
    model = load(model_bytes())
    now = start(model)
    (graph,) = now.change.model.subgraphs
    computed = [
        tensor._replace(type="FLOAT32", shape=shape, data=None, value=None, buffer=number, quantization=None)
        for tensor, number in zip(graph.tensors[1:3], (-1, -2), strict=True)
    ]
    graph = replace(graph, tensors=(*graph.tensors[:1], *computed, *graph.tensors[3:]))
    change = replace(now.change, model=replace(now.change.model, subgraphs=(graph,)))
    return model, change, {-1: compute, -2: compute}


def test_new_elements_are_computed_when_they_are_written():
    calls = []
    chunks = write(*with_computed_weights(lambda: calls.append(1) or np.full(12, 7, "<f4"), (4, 3)))
    assert not calls
    found = load(b"".join([bytes(chunk) for chunk in chunks]))
    assert len(calls) == 2
    assert [found.constant(tensor).tolist() for tensor in found.subgraphs[0].tensors[1:3]] == [[7.0] * 12] * 2


def test_nothing_is_computed_for_a_file_that_would_be_too_large():
    change = with_computed_weights(lambda: pytest.fail("computes"), (1 << 14, 1 << 14))
    with pytest.raises(FixError, match="would exceed 2 GiB"):
        list(write(*change))


def test_another_number_of_new_elements_is_refused():
    chunks = write(*with_computed_weights(lambda: np.zeros(11), (4, 3)))
    with pytest.raises(FixError, match="a new constant needs 12 elements, but has 11"):
        list(chunks)


def test_buffers_behind_two_gibibytes_are_found_where_they_are(tmp_path):
    size = 5 << 29
    builder = ModelBuilder(external_buffers=True)
    graph = builder.subgraph()
    x, y, z = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4]), graph.tensor("z", "FLOAT32", [1, 4])
    weights = graph.tensor("w", "FLOAT32", [1, 4], data=[1, 2, 3, 4])
    graph.node("NEG", [x], [y], 1, {})
    graph.node("ADD", [y, weights], [z], 1, {})
    graph.outputs(z)
    builder.write_sparse(tmp_path / "large.tflite", size)
    model = load(tmp_path / "large.tflite")
    made = apply_pass(start(model), PASSES["neg-as-mul"])
    assert made is not None
    chunks = list(write(model, made.change, made.weights))
    distance = sum(map(len, chunks)) - size
    beginning = b"".join([bytes(chunk[:4096]) for chunk in chunks[:40]])
    buffers = Table.root(memoryview(beginning)).children("buffers")
    (offset,) = [buffer.value("offset") for buffer in buffers if buffer.place("offset")]
    assert offset == model.subgraphs[0].tensors[weights].data[0] + distance
    position = 0
    for chunk in chunks:
        if position <= offset < position + len(chunk):
            assert np.frombuffer(chunk, "<f4", 4, offset - position).tolist() == [1, 2, 3, 4]
        position += len(chunk)


def test_only_subgraphs_that_the_first_or_a_signature_runs_are_rewritten():
    builder = ModelBuilder()
    first, body, other, unused = (builder.subgraph(name) for name in ("main", "body", "other", "unused"))
    for graph in (body, other, unused):
        x, y = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1])
        graph.node("NEG", [x], [y], 1, {})
        graph.outputs(y)
    condition, x, y = first.input("c", "BOOL", [1]), first.input("x", "FLOAT32", [1]), first.tensor("y", "FLOAT32", [1])
    first.node("IF", [condition, x], [y], 1, {"then_subgraph_index": 1, "else_subgraph_index": 1})
    first.outputs(y)
    builder.signature("more", other, {"x": 0}, {"y": 1})
    _, model = rewritten(builder.bytes(), "neg-as-mul")
    assert [[node.op for node in graph.nodes] for graph in model.subgraphs] == [["IF"], ["MUL"], ["MUL"], ["NEG"]]

"""Any model reads back as it was written; any damaged one loads or gives one line."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delegate_sim.errors import ModelError
from delegate_sim.model import schema
from delegate_sim.model.model import Allocation, Sparsity
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder
from fixtures.sample import one_of_everything

INT32 = st.integers(-(2**31), 2**31 - 1)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ROWS = st.lists(INT32, max_size=5)
TENSOR_TYPES = schema.enum_values("TensorType")
SCALES = st.floats(width=32, allow_nan=False)
SCALARS = {
    "?": st.booleans(),
    "b": st.integers(-(2**7), 2**7 - 1),
    "B": st.integers(0, 2**8 - 1),
    "h": st.integers(-(2**15), 2**15 - 1),
    "H": st.integers(0, 2**16 - 1),
    "i": INT32,
    "I": st.integers(0, 2**32 - 1),
    "q": st.integers(-(2**63), 2**63 - 1),
    "Q": st.integers(0, 2**64 - 1),
    "f": SCALES,
}


@st.composite
def quantizations(draw):
    """Arguments of a tensor that quantize it, or none."""
    kind = draw(st.sampled_from(["none", "affine", "blockwise", "multi-axis"]))
    axis = draw(st.integers(0, 4))
    if kind == "affine":
        scales = draw(st.lists(SCALES, min_size=1, max_size=3))
        zero_points = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=len(scales), max_size=len(scales)))
        return {"scale": scales, "zero_point": zero_points, "axis": axis}
    if kind == "none":
        return {}
    parameters = (draw(INT32), draw(INT32), draw(INT32))
    if kind == "blockwise":
        return {"blockwise": parameters, "axis": axis}
    return {"multi_axis": (*parameters, draw(ROWS)), "axis": axis}


tensors = st.builds(
    lambda required, quantization: {**required, **quantization},
    st.fixed_dictionaries(
        {
            "name": NAMES,
            "type": st.sampled_from(sorted(TENSOR_TYPES)) | st.integers(-128, 127),
            "shape": st.none() | ROWS,
            "data": st.none() | st.binary(max_size=40),
            "signature": st.none() | ROWS,
            "variable": st.booleans(),
            "has_rank": st.booleans(),
            "sparsity": st.none() | st.tuples(ROWS, ROWS, st.lists(st.tuples(st.booleans(), INT32), max_size=4)),
            "external_buffer": st.integers(0, 2**32 - 1),
        }
    ),
    quantizations(),
)


@st.composite
def nodes(draw, tensor_count):
    """Arguments of a node."""
    indices = st.lists(st.integers(-1, tensor_count - 1), max_size=4).map(tuple)
    arguments = {
        "op": draw(st.sampled_from(sorted(schema.enum_names("BuiltinOperator").values())) | st.integers(0, 10**6)),
        "inputs": draw(indices),
        "outputs": draw(indices),
        "intermediates": draw(indices),
        "version": draw(INT32),
        "custom": draw(st.none() | NAMES),
        "custom_options": draw(st.none() | st.binary(max_size=20)),
    }
    fields = schema.table_fields(schema.options_table(arguments["op"])).values() if isinstance(arguments["op"], str) else ()
    if fields and arguments["custom"] is None and draw(st.booleans()):
        arguments["options"] = {field.name: draw(option_values(field)) for field in fields if draw(st.booleans())}
    return arguments


def option_values(field):
    """Values for a field of an options table."""
    if field.format is not None:
        return SCALARS[field.format[1]]
    return st.lists(SCALARS[field.element], max_size=4).map(tuple) if field.element else NAMES


@st.composite
def subgraphs(draw):
    """Name, tensors, nodes, inputs and outputs of a subgraph."""
    arguments = draw(st.lists(tensors, min_size=1, max_size=4))
    indices = st.lists(st.integers(-1, len(arguments) - 1), max_size=3).map(tuple)
    return draw(NAMES), arguments, draw(st.lists(nodes(len(arguments)), max_size=3)), draw(indices), draw(indices)


def build(graphs, description, signatures, metadata, external_buffers):
    builder = ModelBuilder(description, external_buffers=external_buffers)
    for name, tensor_arguments, node_arguments, inputs, outputs in graphs:
        graph = builder.subgraph(name)
        for arguments in tensor_arguments:
            graph.tensor(**arguments)
        for arguments in node_arguments:
            graph.node(**arguments)
        graph.inputs(*inputs)
        graph.outputs(*outputs)
    for key, (subgraph, inputs, outputs) in signatures.items():
        builder.signature(key, subgraph, inputs, outputs)
    for name, content in metadata.items():
        builder.metadata(name, content)
    return builder.bytes()


ARGUMENTS = st.dictionaries(NAMES, st.integers(0, 2**32 - 1), max_size=3)


@settings(deadline=None, max_examples=60)
@given(
    graphs=st.lists(subgraphs(), min_size=1, max_size=3),
    description=NAMES,
    signatures=st.dictionaries(NAMES, st.tuples(st.integers(0, 2**32 - 1), ARGUMENTS, ARGUMENTS), max_size=2),
    metadata=st.dictionaries(NAMES, st.binary(max_size=20), max_size=2),
    external_buffers=st.booleans(),
)
def test_a_model_reads_back_as_it_was_written(graphs, description, signatures, metadata, external_buffers):
    content = build(graphs, description, signatures, metadata, external_buffers)
    model = load(content)
    assert model.description == description
    assert {key: content[start : start + size] for key, (start, size) in model.metadata.items()} == metadata
    assert {found.key: (found.subgraph, found.inputs, found.outputs) for found in model.signatures} == signatures
    assert len(model.subgraphs) == len(graphs)
    for index, (subgraph, (name, tensor_arguments, node_arguments, inputs, outputs)) in enumerate(
        zip(model.subgraphs, graphs, strict=True)
    ):
        assert (subgraph.index, subgraph.name, subgraph.inputs, subgraph.outputs) == (index, name, inputs, outputs)
        for place, (tensor, arguments) in enumerate(zip(subgraph.tensors, tensor_arguments, strict=True)):
            assert tensor.index == place
            check_tensor(content, tensor, arguments)
        for place, (node, arguments) in enumerate(zip(subgraph.nodes, node_arguments, strict=True)):
            assert node.index == place
            check_node(content, model, node, arguments)


def check_tensor(content, tensor, arguments):
    assert tensor.name == arguments["name"]
    assert tensor.type in {arguments["type"], schema.tensor_type_name(arguments["type"])}
    assert tensor.shape == tuple(arguments["shape"] or ())
    assert tensor.shape_signature == (None if arguments["signature"] is None else tuple(arguments["signature"]))
    assert (tensor.is_variable, tensor.has_rank) == (arguments["variable"], arguments["has_rank"])
    assert tensor.external_buffer == arguments["external_buffer"]
    if arguments["data"] is None:
        assert tensor.data is None
        assert tensor.allocation is not Allocation.CONSTANT
    else:
        start, size = tensor.data
        assert content[start : start + size] == arguments["data"]
        assert tensor.allocation is Allocation.CONSTANT
    if arguments["sparsity"] is None:
        assert tensor.sparsity is None
    else:
        order, block_map, dimensions = arguments["sparsity"]
        assert tensor.sparsity == Sparsity(tuple(order), tuple(block_map), tuple(dimensions))
    check_quantization(tensor, arguments)


def check_quantization(tensor, arguments):
    found = tensor.quantization
    if "scale" in arguments:
        assert (found.kind, found.dimension) == ("affine", arguments["axis"])
        assert found.scales.tolist() == arguments["scale"]
        assert found.zero_points.tolist() == arguments["zero_point"]
        single = len(arguments["scale"]) == 1
        assert tensor.scale == (arguments["scale"][0] if single else 0)
        assert tensor.zero_point == (arguments["zero_point"][0] if single else 0)
    elif "blockwise" in arguments or "multi_axis" in arguments:
        kind = "blockwise" if "blockwise" in arguments else "multi-axis"
        expected = arguments.get("blockwise") or arguments["multi_axis"][:3]
        assert (found.kind, found.dimension) == (kind, arguments["axis"])
        assert (found.scales_tensor, found.zero_points_tensor, found.block_size) == expected
    else:
        assert found is None


def check_node(content, model, node, arguments):
    assert (node.inputs, node.outputs, node.intermediates) == tuple(
        arguments[key] for key in ("inputs", "outputs", "intermediates")
    )
    assert node.version == arguments["version"]
    assert node.custom_code == arguments["custom"]
    if arguments["custom"] is None:
        assert node.op in {arguments["op"], schema.operator_name(arguments["op"])}
    else:
        assert node.op == arguments["custom"]
    if arguments["custom_options"] is None:
        assert node.custom_options is None
    else:
        start, size = node.custom_options
        assert content[start : start + size] == arguments["custom_options"]
    options = model.options(node)
    assert (options.table is not None) == ("options" in arguments)
    for name, value in arguments.get("options", {}).items():
        assert getattr(options, name) == value


SAMPLE = one_of_everything().bytes()
EXTERNAL_SAMPLE = one_of_everything(external_buffers=True).bytes()
ADVERSARIAL = [0, 1, 4, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC, len(SAMPLE), len(SAMPLE) - 4]


def read_all(content):
    """Load and read everything that is read later; a model that cannot be read must give one line."""
    message = ""
    try:
        model = load(content)
    except ModelError as error:
        message = str(error)
    if message:
        assert message.isprintable()
        return
    for subgraph in model.subgraphs:
        for node in subgraph.nodes:
            assert len(dict(iter(model.options(node)))) < 100
        for tensor in subgraph.tensors:
            constant = model.constant(tensor)
            assert constant is None or constant.nbytes <= len(content)
            assert isinstance(tensor.byte_size, int)
            assert isinstance(tensor.scale, float)


POSITIONS = st.integers(0, len(SAMPLE))
WORDS = st.tuples(POSITIONS.map(lambda position: position // 4 * 4), st.sampled_from(ADVERSARIAL).map(struct.Struct("<I").pack))
PIECES = st.tuples(POSITIONS, st.binary(min_size=1, max_size=8))


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([SAMPLE, EXTERNAL_SAMPLE]), st.lists(WORDS | PIECES, min_size=1, max_size=6))
@example(SAMPLE, [(4, b"TFL9")])
def test_a_model_with_overwritten_bytes_loads_or_gives_one_line(content, changes):
    damaged = bytearray(content)
    for position, piece in changes:
        damaged[position : position + len(piece)] = piece
    read_all(bytes(damaged[: len(content)]))


@settings(deadline=None, max_examples=100)
@given(st.randoms(use_true_random=False))
def test_a_model_with_flipped_bits_loads_or_gives_one_line(random):
    damaged = np.frombuffer(SAMPLE, np.uint8).copy()
    for _ in range(random.randint(1, 12)):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    read_all(damaged.tobytes())


@pytest.mark.parametrize("value", [0x10, 0xFFFFFFFF])
def test_every_word_overwritten(value):
    for position in range(0, len(SAMPLE) - 4, 4):
        read_all(SAMPLE[:position] + struct.pack("<I", value) + SAMPLE[position + 4 :])


def test_every_truncation():
    for length in range(len(SAMPLE)):
        read_all(SAMPLE[:length])


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=300))
def test_bytes_behind_the_identifier_load_or_give_one_line(content):
    read_all(content[:4].ljust(4, b"\0") + b"TFL3" + content[4:])

"""Parse a flatbuffer into a ``Model``."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ..foundation.limits import has_too_many_dimensions, how_to_raise, raised
from . import schema
from .flatbuffer import Flatbuffer, Malformed, Tables, split
from .model import Allocation, Model, Node, OperatorCode, Quantization, Signature, Sparsity, Subgraph, Tensor
from .numbers import StoredNumbers

_MOST_SAID = 1 << 22
"""Limit on the total length of the operator and operand names of all nodes, for a small file."""
_MOST_SAID_FOR_A_BYTE = 4
"""Limit on the total length of names for each byte of a large file. Converters write about 1 character for each byte."""
_MOST_CUSTOM_NAMES = 1 << 16
"""Limit on the total length of the names of custom operators, which each refusal of a node repeats."""


def refuse_repetition(subgraphs: Sequence[Subgraph], size: int) -> None:
    """Raise Malformed if the nodes of a file repeat names too often. ``size`` is the file size in bytes."""
    most = max(raised(_MOST_SAID), raised(_MOST_SAID_FOR_A_BYTE) * size)
    said = sum(map(_said, subgraphs))
    if said > most:
        raise Malformed(f"has nodes that repeat names too often ({said:,} characters in total){how_to_raise()}")


def _said(subgraph: Subgraph) -> int:
    lengths = [len(tensor.name) for tensor in subgraph.tensors]
    lengths.append(0)  # for an omitted tensor, whose index is -1
    operands = [tensor for node in subgraph.nodes for tensor in (*node.inputs, *node.outputs)]
    return sum([len(node.op) for node in subgraph.nodes]) + sum(map(lengths.__getitem__, operands))


_CUSTOM_OPTIONS = ("custom_options", "large_custom_options_offset", "large_custom_options_size")
_SIZE = 4
"""Size in bytes of one dimension in a shape."""


def read_model(buffer: Flatbuffer, path: str | None, digest: str) -> Model:
    """Read the model in a flatbuffer. Raise Malformed if the flatbuffer is not valid."""
    root = buffer.root("Model")
    operator_codes = _read_operator_codes(root.child_vectors("operator_codes")[0])
    buffers, offset_buffers = _read_buffers(root.child_vectors("buffers")[0])
    subgraphs = _read_subgraphs(root.child_vectors("subgraphs")[0], operator_codes, buffers)
    refuse_repetition(subgraphs, buffer.size)
    return Model(
        path=path,
        size=buffer.size,
        version=root.numbers("version")[0],
        description=root.strings("description")[0],
        subgraphs=subgraphs,
        operator_codes=operator_codes,
        signatures=_read_signatures(root.child_vectors("signature_defs")[0]),
        metadata=_read_metadata(root.child_vectors("metadata")[0], buffers),
        content=buffer.content,
        identifier=bytes(buffer.content[4:8]),
        parts_digest=digest,
        offset_buffers=offset_buffers,
    )


def _read_buffers(tables: Tables) -> tuple[list[tuple[int, int] | None], frozenset[int]]:
    """Return the places of all buffers, and the indices of buffers that are stored after the flatbuffer.

    A place is a pair (offset, size), or None for an empty buffer.
    """
    what = "the data of a buffer"
    spans = tables.spans("data", "offset", "size", what)
    parts = zip(tables.targets("data", what), tables.numbers("offset"), strict=True)
    return spans, frozenset([number for number, (inside, offset) in enumerate(parts) if not inside and offset > 1])


def _read_operator_codes(tables: Tables) -> tuple[OperatorCode, ...]:
    """Read the operator codes.

    Old files store a code in a byte field, and new files in an int field. The larger of the two numbers is the code
    (``schema_utils.cc``).
    """
    codes = []
    for old, new, custom_code, has_custom_code, version in zip(
        tables.numbers("deprecated_builtin_code"),
        tables.numbers("builtin_code"),
        tables.strings("custom_code"),
        map(bool, tables.at("custom_code")),
        tables.numbers("version"),
        strict=True,
    ):
        code = max(old, new)
        if code == schema.CUSTOM and has_custom_code:
            codes.append(OperatorCode(custom_code, code, custom_code, version))
        else:
            codes.append(OperatorCode(schema.operator_name(code), code, None, version))
    length = sum([len(code.op) for code in codes if code.custom_code is not None])
    if length > raised(_MOST_CUSTOM_NAMES):
        raise Malformed(f"has custom operators with too long names ({length:,} characters in total){how_to_raise()}")
    return tuple(codes)


def _read_metadata(tables: Tables, buffers: Sequence[tuple[int, int] | None]) -> Mapping[str, tuple[int, int]]:
    metadata = {}
    for name, number in zip(tables.strings("name"), tables.numbers("buffer"), strict=True):
        span = buffers[number] if number < len(buffers) else None
        if span is not None:
            metadata[name] = span
    return MappingProxyType(metadata)


def _read_subgraphs(
    tables: Tables, operator_codes: Sequence[OperatorCode], buffers: Sequence[tuple[int, int] | None]
) -> tuple[Subgraph, ...]:
    if not len(tables):
        raise Malformed("holds no subgraph")
    if len(set(tables.positions)) != len(tables):
        raise Malformed("is malformed: two of its subgraphs lie at the same place")
    tensor_blocks, tensor_counts = tables.child_blocks("tensors")
    node_blocks, node_counts = tables.child_blocks("operators")
    tensors = _read_tensors(tensor_blocks, tensor_counts, buffers)
    nodes = _read_nodes(node_blocks, node_counts, operator_codes, _repeated(tensor_counts, node_counts))
    return tuple(
        map(
            Subgraph,
            range(len(tables)),
            tables.strings("name"),
            split(tensors, tensor_counts),
            split(nodes, node_counts),
            tables.tensor_rows("inputs", tensor_counts, "an input of subgraph {}".format),
            tables.tensor_rows("outputs", tensor_counts, "an output of subgraph {}".format),
        )
    )


def _read_nodes(
    blocks: Iterable[Tables], counts: Sequence[int], operator_codes: Sequence[OperatorCode], tensor_limits: Sequence[int]
) -> list[Node]:
    numbers, nodes = _numbered(counts), list[Node]()
    for tables in blocks:
        block = slice(len(nodes), len(nodes) + len(tables))
        name = _namer("node", counts, block.start)
        nodes += _read_block_of_nodes(tables, numbers[block], operator_codes, tensor_limits[block], name, block.start)
    return nodes


def _read_block_of_nodes(
    tables: Tables,
    numbers: Sequence[int],
    operator_codes: Sequence[OperatorCode],
    tensor_limits: Sequence[int],
    name: Callable[[int], str],
    start: int,
) -> list[Node]:
    codes = tables.numbers("opcode_index")
    if max(codes, default=-1) >= len(operator_codes):
        index = next(index for index, code in enumerate(codes) if code >= len(operator_codes))
        raise Malformed(
            f"is malformed: {name(index)} uses operator code {codes[index]}, but there are {len(operator_codes)} operator codes"
        )
    tables.lengths("mutating_variable_inputs", "mutating variable inputs")  # checked, but only a delegate uses them
    options, further_options = _read_options(tables, ""), _read_options(tables, "2")
    if any(further_options):
        options = [first or second for first, second in zip(options, further_options, strict=True)]
    rows = zip(
        numbers,
        map([code.op for code in operator_codes].__getitem__, codes),
        map([code.builtin_code for code in operator_codes].__getitem__, codes),
        map([code.custom_code for code in operator_codes].__getitem__, codes),
        map([code.version for code in operator_codes].__getitem__, codes),
        tables.tensor_rows("inputs", tensor_limits, name),
        tables.tensor_rows("outputs", tensor_limits, name),
        tables.tensor_rows("intermediates", tensor_limits, name),
        options,
        tables.spans(*_CUSTOM_OPTIONS, "the options of a custom operator", start),
        strict=True,
    )
    return list(map(Node._make, rows))


def _numbered(counts: Sequence[int]) -> list[int]:
    return list(itertools.chain.from_iterable(map(range, counts)))  # bounded: the reader has counted these tables


def _repeated(items: Sequence[int], counts: Sequence[int]) -> list[int]:
    # bounded: the reader has counted these tables
    return list(itertools.chain.from_iterable(map(itertools.repeat, items, counts)))


def _read_options(tables: Tables, union: str) -> list[tuple[str, int] | None]:
    """Return the name and the position of each node's options table, or None for a node without a table.

    ``union`` is "" for ``BuiltinOptions`` or "2" for ``BuiltinOptions2``.
    """
    names = schema.enum_names(f"BuiltinOptions{union}")
    kinds = tables.numbers(f"builtin_options{union}_type")
    places = tables.targets(f"builtin_options{union}", "builtin options")
    tables_of_kind = {kind: names.get(kind, f"UNKNOWN({kind})") for kind in dict.fromkeys(kinds)}
    for kind, name in tables_of_kind.items():
        references = [field for field in schema.table_fields(name).values() if field.format is None]
        if kind and references:
            positions = [position for own, position in zip(kinds, places, strict=True) if own == kind]
            options = Tables(tables.buffer, name, positions)
            for field in references:
                counts = options.lengths(field.name, f"a vector of {options.what}")
                options.buffer.spend(sum(counts) * field.element_size, f"a vector of {options.what}")
    if not any(places):
        return [None] * len(places)
    return [(tables_of_kind[kind], position) if kind and position else None for kind, position in zip(kinds, places, strict=True)]


def _read_tensors(blocks: Iterable[Tables], counts: Sequence[int], buffers: Sequence[tuple[int, int] | None]) -> list[Tensor]:
    numbers, tensors = _numbered(counts), list[Tensor]()
    shapes = _Shapes()
    # Buffer 0 means that a tensor has no data.
    data_of = [None, *buffers[1:]]
    for tables in blocks:
        block = slice(len(tensors), len(tensors) + len(tables))
        name = _namer("tensor", counts, block.start)
        tensors += _read_block_of_tensors(tables, numbers[block], data_of, name, len(buffers), shapes)
    return tensors


class _Shapes(dict[bytes, tuple[int, ...]]):
    """A cache of shapes, keyed by their bytes in the file. Tensors of the same shape share one tuple."""

    def __missing__(self, sizes: bytes) -> tuple[int, ...]:
        shape = self[sizes] = struct.unpack(f"<{len(sizes) // _SIZE}i", sizes)
        return shape

    def read(self, tables: Tables, places: Sequence[int], ranks: Sequence[int]) -> list[tuple[int, ...]]:
        rows = tables.buffer.byte_rows(places, [rank * _SIZE for rank in ranks], f"a vector of {tables.what}")
        return list(map(self.__getitem__, rows))

    def read_signatures(self, tables: Tables) -> list[tuple[int, ...] | None]:
        what = f"a vector of {tables.what}"
        places = tables.targets("shape_signature", what)
        if not any(places):
            return [None] * len(places)
        shapes = self.read(tables, places, tables.buffer.lengths(places, _SIZE, what))
        return [shape if place else None for shape, place in zip(shapes, places, strict=True)]


def _read_block_of_tensors(
    tables: Tables,
    numbers: Sequence[int],
    buffers: Sequence[tuple[int, int] | None],
    name: Callable[[int], str],
    buffer_count: int,
    shapes: _Shapes,
) -> list[Tensor]:
    buffer_numbers = tables.numbers("buffer")
    if max(buffer_numbers, default=0) >= len(buffers):
        index = next(index for index, number in enumerate(buffer_numbers) if number >= len(buffers))
        raise Malformed(f"is malformed: {name(index)} uses buffer {buffer_numbers[index]}, but there are {buffer_count} buffers")
    data = list(map(buffers.__getitem__, buffer_numbers))
    kinds = tables.numbers("type")
    type_names = {kind: schema.tensor_type_name(kind) for kind in set(kinds)}
    types = list(map(type_names.__getitem__, kinds))
    is_variable = tables.flags("is_variable")
    quantizations = _read_quantizations(tables.children("quantization"))
    tables.lengths("variant_tensors", "variant tensors")  # checked, but only a delegate uses them
    shape_places = tables.targets("shape", "a shape")
    ranks = tables.buffer.lengths(shape_places, _SIZE, "a shape")
    if has_too_many_dimensions(max(ranks, default=0)):
        raise Malformed(f"is malformed: {name(ranks.index(max(ranks)))} has {max(ranks)} dimensions{how_to_raise()}")
    rows = zip(
        numbers,
        tables.strings("name"),
        types,
        shapes.read(tables, shape_places, ranks),
        shapes.read_signatures(tables),
        tables.flags("has_rank"),
        is_variable,
        _allocations(data, types, is_variable),
        buffer_numbers,
        tables.numbers("external_buffer"),
        data,
        *quantizations,
        _read_sparsities(tables.children("sparsity")),
        itertools.repeat(None),
    )
    return list(map(Tensor._make, rows))


_BLOCKWISE = 2
_DETAILED_QUANTIZATIONS: Mapping[int, str] = {_BLOCKWISE: "blockwise", 3: "multi-axis"}
_NO_SCALES, _NO_ZERO_POINTS = StoredNumbers("<f4"), StoredNumbers("<i8")


def _read_quantizations(tables: Tables) -> tuple[list[Quantization | None], list[float], list[int]]:
    """Return the parameters, the scale and the zero point of each tensor.

    Affine quantization without scales is ignored. The table ``details`` has blockwise and multi-axis quantization
    (``ParseQuantization``).
    """
    buffer = tables.buffer
    scale_starts, scale_counts = tables.vectors("scale", "scales")
    zero_starts, zero_counts = tables.vectors("zero_point", "zero points")
    buffer.spend(sum(scale_counts) * 4 + sum(zero_counts) * 8, "its scales and zero points")
    kinds = tables.numbers("details_type")
    places = tables.targets("details", "quantization details")
    positions = [place if kind in _DETAILED_QUANTIZATIONS else 0 for place, kind in zip(places, kinds, strict=True)]
    blocks = [place if kind == _BLOCKWISE else 0 for place, kind in zip(positions, kinds, strict=True)]
    details, blockwise = (Tables(buffer, "BlockwiseQuantization", of, "QuantizationDetails") for of in (positions, blocks))
    shape_starts, shape_counts = blockwise.vectors("block_shape", "block sizes")
    buffer.spend(sum(shape_counts) * 4, "its block sizes")
    if not any(scale_counts) and not any(positions):
        return [None] * len(tables), [0.0] * len(tables), [0] * len(tables)
    parameters: list[Quantization | None] = [None] * len(tables)
    dimensions = tables.numbers("quantized_dimension")
    for index, (start, count) in enumerate(zip(scale_starts, scale_counts, strict=True)):
        if count and not positions[index]:
            scales = StoredNumbers("<f4", buffer.content, start, count)
            zero_points = _NO_ZERO_POINTS
            if zero_counts[index]:
                zero_points = StoredNumbers("<i8", buffer.content, zero_starts[index], zero_counts[index])
            parameters[index] = Quantization("affine", scales, zero_points, dimensions[index])
    if any(positions):
        rows = zip(details.numbers("block_size"), details.numbers("scales"), details.numbers("zero_points"), strict=True)
        for index, row in enumerate(rows):
            if positions[index]:
                start, count = shape_starts[index], shape_counts[index]
                block_shape = StoredNumbers("<i4", buffer.content, start, count) if start else None
                kind = _DETAILED_QUANTIZATIONS[kinds[index]]
                parameters[index] = Quantization(kind, _NO_SCALES, _NO_ZERO_POINTS, dimensions[index], *row, block_shape)
    # GetLegacyQuantization (core/subgraph.cc)
    has_one = [count == 1 and not position for count, position in zip(scale_counts, positions, strict=True)]
    scale_places = [start if one else 0 for start, one in zip(scale_starts, has_one, strict=True)]
    zero_places = [start if one and count else 0 for start, count, one in zip(zero_starts, zero_counts, has_one, strict=True)]
    scales_of_one = buffer.numbers("<f", scale_places, "scales", 0.0)
    return parameters, scales_of_one, buffer.numbers("<q", zero_places, "zero points")


def _allocations(data: Iterable[tuple[int, int] | None], types: Iterable[str], is_variable: Iterable[bool]) -> list[Allocation]:
    """Return the allocation of each tensor.

    Source: ``SetTensorParametersReadOnly`` and ``SetTensorParametersReadWrite`` (``core/subgraph.cc``).
    """
    constant, dynamic, variable, arena = Allocation.CONSTANT, Allocation.DYNAMIC, Allocation.VARIABLE, Allocation.ARENA
    return [
        constant if span is not None else dynamic if type_name in schema.TYPES_WITHOUT_SIZE else variable if varies else arena
        for span, type_name, varies in zip(data, types, is_variable, strict=True)
    ]


_INDEX_VECTORS = (1, 2, 3)
"""The types of vectors with the segments and indices of a sparse dimension, in the union ``SparseIndexVector``."""


def _read_sparsities(tables: Tables) -> list[Sparsity | None]:
    if not any(tables.positions):
        return [None] * len(tables)
    dimension_tables, counts = tables.child_vectors("dim_metadata")
    formats, sizes = dimension_tables.numbers("format"), dimension_tables.numbers("dense_size")
    dimensions = split([(form == 0, size) for form, size in zip(formats, sizes, strict=True)], counts)
    lists = [dimension_tables.numbers(field) for field in ("array_segments_type", "array_indices_type")]
    are_stored = split([all(kind in _INDEX_VECTORS for kind in kinds) for kinds in zip(*lists, strict=True)], counts)
    incomplete = [
        tuple([place for place, ((is_dense, _), stored) in enumerate(zip(*rows, strict=True)) if not (is_dense or stored)])
        for rows in zip(dimensions, are_stored, strict=True)
    ]
    sparsities = map(Sparsity, tables.rows("traversal_order"), tables.rows("block_map"), dimensions, incomplete)
    return [sparsity if present else None for sparsity, present in zip(sparsities, tables.positions, strict=True)]


def _read_signatures(tables: Tables) -> tuple[Signature, ...]:
    return tuple(
        map(
            Signature,
            tables.strings("signature_key"),
            tables.numbers("subgraph_index"),
            _read_arguments(*tables.child_vectors("inputs")),
            _read_arguments(*tables.child_vectors("outputs")),
        )
    )


def _read_arguments(tables: Tables, counts: Sequence[int]) -> list[Mapping[str, int]]:
    arguments = zip(tables.strings("name"), tables.numbers("tensor_index"), strict=True)
    return [MappingProxyType(dict(row)) for row in split(arguments, counts)]


def _namer(what: str, counts: Sequence[int], start: int) -> Callable[[int], str]:
    """Return a function that names an item, such as a tensor, by its subgraph and its index.

    ``counts`` has the number of items in each subgraph. The function's argument is the item's position among the items of all
    subgraphs, minus ``start``.
    """

    def name(position: int) -> str:
        position += start
        for subgraph, count in enumerate(counts):
            if position < count:
                return f"{what} {position} of subgraph {subgraph}"
            position -= count
        raise IndexError(position)

    return name

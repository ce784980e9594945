"""A TFLite model as plain, frozen data: the contents of the model file."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

from ..bundles.address import split_address
from ..bundles.ranged import Content, part_of, pieces
from ..errors import LimitError, ModelError
from ..foundation.columns import INTEGER, Column, Declared, attributes
from ..foundation.files import naming_file, open_input
from ..foundation.limits import element_count, how_to_raise, raised
from ..foundation.printable import counted, printable
from . import schema
from .numbers import FlatNumbers, StoredNumbers, flat, varints, width_of
from .options import Options, OptionsReader, absent_options

IDENTIFIER = b"TFL3"
"""The identifier of TFLite models, at offset 4 of the file."""
OPTIONAL_TENSOR = -1
"""The tensor index of an omitted optional operand."""
_BLOCK = 1 << 20
"""Number of bytes that are read and hashed at once."""
_SMALL_CONSTANT = 1 << 10
"""Largest size in bytes of a constant whose elements are looked at again for each tensor."""


class Allocation(Enum):
    """The way a tensor's data is stored (``TfLiteAllocationType``)."""

    CONSTANT = "constant"
    """In the model file (kTfLiteMmapRo)."""
    PERSISTENT = "persistent"
    """Computed once while the graph is prepared (kTfLitePersistentRo)."""
    ARENA = "arena"
    """In the arena (kTfLiteArenaRw)."""
    VARIABLE = "variable"
    """Kept between invocations (kTfLiteArenaRwPersistent)."""
    DYNAMIC = "dynamic"
    """On the heap, because its size is known only at run time (kTfLiteDynamic)."""
    CUSTOM = "custom"
    """Provided by the calling subgraph (kTfLiteCustom)."""

    __hash__ = object.__hash__  # faster than Enum's hash, which runs in Python; allocations are looked up often


class Quantization(NamedTuple):
    """Quantization parameters of a tensor. ``kind`` is ``affine``, ``blockwise`` or ``multi-axis``.

    In affine quantization, ``scales`` and ``zero_points`` have one element for the whole tensor, or one element for each slice
    along ``dimension``. In blockwise and multi-axis quantization, ``scales_tensor`` and ``zero_points_tensor`` are the indices
    of the tensors that contain the scales and zero points.
    """

    kind: str
    scales: FlatNumbers
    zero_points: FlatNumbers
    dimension: int
    block_size: int = 0
    scales_tensor: int = OPTIONAL_TENSOR
    zero_points_tensor: int = OPTIONAL_TENSOR
    block_shape: FlatNumbers | None = None
    """In blockwise quantization, the size of a block along each dimension, or None if the file has only ``block_size``."""

    @property
    def is_affine(self) -> bool:
        """True if the quantization is affine."""
        return self.kind == "affine"

    @property
    def scale(self) -> float:
        """The first scale, or 0 if there are no scales."""
        return float(self.scales[0]) if len(self.scales) else 0.0

    @property
    def zero_point(self) -> int:
        """The first zero point, or 0 if there are no zero points."""
        return int(self.zero_points[0]) if len(self.zero_points) else 0

    @property
    def is_per_channel(self) -> bool:
        """True if there is more than one scale."""
        return len(self.scales) > 1


class Sparsity(NamedTuple):
    """The storage format of a sparse constant.

    ``traversal_order`` is the order of the stored dimensions. ``block_map`` lists the dimensions that are divided into blocks.
    For each stored dimension, ``dimensions`` has a pair: whether the dimension is dense, and its size if it is dense.
    ``incomplete`` has the positions of the sparse dimensions without segments or indices.
    """

    traversal_order: tuple[int, ...]
    block_map: tuple[int, ...]
    dimensions: tuple[tuple[bool, int], ...]
    incomplete: tuple[int, ...] = ()


class Tensor(NamedTuple):
    """One tensor of a subgraph.

    ``shape_signature`` has -1 for each unknown size. If the file has no signature, ``shape_signature`` is None. If the tensor
    has exactly one scale, ``scale`` and ``zero_point`` have its parameters; otherwise, they are 0 (``GetLegacyQuantization``
    in ``core/subgraph.cc``). ``data`` is the place of a constant's data in the file, as (offset, size) in bytes.
    """

    index: int  # type: ignore[assignment]  # replaces tuple.index
    name: str
    type: str
    shape: tuple[int, ...]
    shape_signature: tuple[int, ...] | None
    has_rank: bool
    is_variable: bool
    allocation: Allocation
    buffer: int
    external_buffer: int
    data: tuple[int, int] | None
    quantization: Quantization | None
    scale: float
    zero_point: int
    sparsity: Sparsity | None
    value: FlatNumbers | None = None
    """The value that Prepare computed for a persistent tensor."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_constant(self) -> bool:
        """True if the data is in the model file. False if Prepare computes the value."""
        return self.allocation is Allocation.CONSTANT

    @property
    def is_affine(self) -> bool:
        """True if the tensor has affine quantization."""
        return self.quantization is not None and self.quantization.is_affine

    @property
    def is_per_channel(self) -> bool:
        """True if the tensor has affine quantization with more than one scale."""
        return self.quantization is not None and self.quantization.is_affine and self.quantization.is_per_channel

    def size(self, axis: int) -> int:
        """Return the size of a dimension, or 0 if the tensor has no such dimension. A negative axis counts from the last one."""
        return self.shape[axis] if -len(self.shape) <= axis < len(self.shape) else 0

    @property
    def element_count(self) -> int:
        """The number of elements."""
        return element_count(self.shape)

    @property
    def byte_size(self) -> int:
        """The size of the data in bytes, or 0 for types without a fixed size."""
        return (self.element_count * schema.BITS_PER_ELEMENT.get(self.type, 0) + 7) // 8

    @property
    def has_unspecified_dimension(self) -> bool:
        """True if the shape signature has an unknown size (``HasUnspecifiedDimension`` in ``kernels/kernel_util.cc``)."""
        return self.shape_signature is not None and -1 in self.shape_signature


_NO_DATA = (0, 0, None, None, 0.0, 0, None)
NO_TENSOR = Tensor(OPTIONAL_TENSOR, "", "NO_TYPE", (), None, False, False, Allocation.ARENA, *_NO_DATA)
"""The tensor that rules get in place of an omitted or missing operand."""


class Node(NamedTuple):
    """One operator of a subgraph.

    ``options`` has the name and the position of the options table, or is None if the node has no table.
    """

    index: int  # type: ignore[assignment]  # replaces tuple.index
    op: str
    builtin_code: int
    custom_code: str | None
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    intermediates: tuple[int, ...]
    options: tuple[str, int] | None
    custom_options: tuple[int, int] | None

    @property
    def is_custom(self) -> bool:
        """True if this is a custom operator."""
        return self.builtin_code == schema.CUSTOM

    def input(self, position: int) -> int:
        """Return the tensor index of an operand, or -1 if the operand is omitted or missing."""
        return self.inputs[position] if 0 <= position < len(self.inputs) else OPTIONAL_TENSOR

    def output(self, position: int) -> int:
        """Return the tensor index of a result, or -1 if the result is missing."""
        return self.outputs[position] if 0 <= position < len(self.outputs) else OPTIONAL_TENSOR


class OperatorCode(NamedTuple):
    """One entry of the model's list of operator codes."""

    op: str
    builtin_code: int
    custom_code: str | None
    version: int


@dataclass(frozen=True, slots=True)
class Subgraph:
    """One subgraph: its tensors and nodes in file order, and the indices of its input and output tensors."""

    index: int
    name: str
    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Signature(NamedTuple):
    """One signature: its key, its subgraph, and its input and output tensors by argument name."""

    key: str
    subgraph: int
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Model(Declared):
    """A model: its subgraphs and tables, and the bytes of its file. A large file is mapped into memory."""

    columns = (
        *(*attributes("path", "sha256"), Column("bytes", INTEGER, source="size")),
        *(Column("schema_version", INTEGER, source="version"), Column("description")),
        Column("subgraphs", INTEGER, source=lambda model: len(model.subgraphs)),
    )

    path: str | None
    """The path of the file, or None for a model given as bytes."""
    size: int
    """The size of the file in bytes."""
    version: int
    """The version of the schema."""
    description: str
    subgraphs: tuple[Subgraph, ...]
    operator_codes: tuple[OperatorCode, ...]
    signatures: tuple[Signature, ...]
    metadata: Mapping[str, tuple[int, int]]
    """The place of each metadata entry in the file, keyed by the entry's name. A place is (offset, size) in bytes."""
    content: Content
    identifier: bytes = IDENTIFIER
    """The identifier of the file. If it differs from TFLite's identifier, only TensorFlow Lite Micro runs the model."""
    parts_digest: str = ""
    """A digest of the parts that were read, if the model is in a remote store. Empty for a local model."""
    offset_buffers: frozenset[int] = frozenset()
    """Indices of buffers whose bytes are after the flatbuffer (``Buffer.offset``)."""
    changed_options: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """The options that hypothetical changes set, keyed by negative numbers.

    If a node was changed, ``Node.options`` has a key of this mapping in place of a position in the file.
    """

    def __repr__(self) -> str:
        nodes = sum([len(subgraph.nodes) for subgraph in self.subgraphs])
        name = "given as bytes" if self.path is None else printable(self.path)
        return f"<Model {name}: {self.size:,} bytes, {len(self.subgraphs):,} subgraphs, {nodes:,} nodes>"

    @functools.cached_property
    def sha256(self) -> str:
        """Digest of all bytes of the model, or of the bytes that were read from a remote store.

        Raise ModelError if the model file can no longer be read.
        """
        import hashlib  # imported here because it loads OpenSSL, which only JSON reports need

        if self.parts_digest:
            return self.parts_digest
        is_whole = isinstance(self.content, memoryview) and isinstance(self.content.obj, bytes)
        digest = hashlib.sha256()
        if self.path is None or is_whole or len(split_address(self.path)) > 1:
            for piece in pieces(self.content):
                digest.update(piece)
            return digest.hexdigest()
        with naming_file(self.path, ModelError), open_input(self.path) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
        return digest.hexdigest()

    def options(self, node: Node) -> Options:
        """Return the builtin options of a node. An options table of another operator is ignored."""
        own_table = "" if node.is_custom else schema.options_table(node.op)
        if node.options is None or node.options[0] != own_table:
            return absent_options(own_table)
        position = node.options[1]
        if position < 0:
            return Options(own_table, self.changed_options[position])
        return self._options.read(node.options)

    @functools.cached_property
    def _options(self) -> OptionsReader:
        return OptionsReader(self.content)

    @property
    def same_bytes(self) -> OptionsReader:
        """An object that all copies of the model with the same bytes share."""
        return self._options

    def with_same_bytes(self, **changes: Any) -> Model:
        """Return a copy of the model with the same bytes and with some changed fields.

        All copies share the options that were already read, and what was found in constants. Therefore, a key of
        ``changed_options`` must have the same options in every copy.
        """
        made = replace(self, **changes)
        vars(made)["_options"] = self._options
        vars(made)["_large_constants"] = self._large_constants
        return made

    def has_option(self, node: Node, name: str) -> bool:
        """Return whether the options table of a node stores a field. A field that is not stored has its default value."""
        if node.options is None or node.options[1] < 0:
            return node.options is not None
        return self._options.has(*node.options, name)

    def constant(self, tensor: Tensor) -> FlatNumbers | None:
        """Return the elements of a constant or persistent tensor as a flat sequence.

        Return None if the elements are unknown, or if numpy lacks the type.
        """
        if tensor.value is not None:
            return flat(tensor.value)
        kind = schema.NUMPY_TYPES.get(tensor.type)
        if tensor.data is None or kind is None:
            return None
        offset, size = tensor.data
        if size <= _SMALL_CONSTANT:
            return StoredNumbers(kind, self.content, offset, size // width_of(kind))
        place = kind, offset, size
        if place not in self._large_constants:
            self._large_constants[place] = StoredNumbers(kind, self.content, offset, size // width_of(kind))
        return self._large_constants[place]

    @functools.cached_property
    def _large_constants(self) -> dict[tuple[str, int, int], StoredNumbers]:
        return {}


CONTROL_DEPENDENCIES = "model_control_dependencies"
"""The name of the metadata with control dependencies."""
_CONTROL_VERSION = 1
_MOST_EDGES = 50
"""Limit for the control edges of a subgraph, for each node."""

ControlEdges = Sequence[tuple[int, int]]
"""Pairs of positions in the execution plan. The first node of a pair must run before the second node."""


@functools.lru_cache(maxsize=1)
def control_dependencies(model: Model) -> tuple[ControlEdges, ...] | None:
    """Return the control edges of each subgraph. The edges of the last model are cached.

    Return None if the metadata has no control edges, is malformed, or does not fit the model. Raise LimitError if there are too
    many edges for the number of nodes. Nodes with side effects that have no control edges run in the order of the execution
    plan. Source: ``Interpreter::SetMetadata`` (``core/interpreter.cc``) and ``ParseModelControlDependencies``
    (``remat/metadata_util.cc``).
    """
    if CONTROL_DEPENDENCIES not in model.metadata:
        return None
    offset, size = model.metadata[CONTROL_DEPENDENCIES]
    numbers = varints(part_of(model.content, offset, offset + size))
    subgraphs: list[ControlEdges] = []
    try:
        if next(numbers) != _CONTROL_VERSION or next(numbers) != len(model.subgraphs):
            return None
        for subgraph in model.subgraphs:
            count, nodes = next(numbers), len(subgraph.nodes)
            if 2 * count > size:
                return None
            if count > raised(_MOST_EDGES) * (nodes + 1):
                words = f"{count:,} control dependencies are too many for {counted(nodes, 'node')}{how_to_raise()}"
                raise LimitError(words, model.path or "the model")
            codes = [next(numbers) for _ in range(2 * count)]  # bounded: ends with the bytes of the metadata
            pairs = [-(code // 2) - 1 if code % 2 else code // 2 for code in codes]
            subgraphs.append(tuple(zip(pairs[::2], pairs[1::2], strict=True)))
    except StopIteration:
        return None
    return tuple(subgraphs) if next(numbers, None) is None else None

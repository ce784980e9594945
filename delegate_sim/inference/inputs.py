"""Inputs for a run. They are generated for each input's type, range and quantization, or read from the user's file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import OptionError
from ..foundation.late_numpy import MOST_ARRAY_DIMENSIONS, np
from ..foundation.limits import element_count, how_to_raise, raised
from ..foundation.parsing.array_files import array_kinds, read_arrays
from ..foundation.printable import counted, printable, shortened
from ..graph.graph import Graph, file_graph
from ..model import schema
from ..model.model import Model, Subgraph, Tensor

if TYPE_CHECKING:
    import numpy.typing as npt

InputArray: TypeAlias = "npt.NDArray[Any]"

_INDEX_POSITIONS: Mapping[str, tuple[int, int]] = {"EMBEDDING_LOOKUP": (0, 1), "GATHER": (1, 0), "GATHER_ND": (1, 0)}
"""The positions of the index operand and of the indexed operand, keyed by operator."""
_PASSING_ON = frozenset(
    {"CAST", "CONCATENATION", "EXPAND_DIMS", "PACK", "RESHAPE", "SLICE", "SQUEEZE", "STRIDED_SLICE", "TRANSPOSE"}
)
_MOST_ELEMENTS = 1 << 25
"""Largest total number of elements of all inputs. A 4K image has fewer elements than this number."""
_PIECE = 1 << 20
"""Number of elements to generate in one step, to save memory."""
_MOST_NAMES = 5
"""Number of names of inputs in a message."""
_FLAGS = 2
"""Exclusive upper bound for integers that are not indices. Such integers are 0 or 1, as in masks."""


def generated_inputs(model: Model, subgraph: Subgraph, seed: int, shapes: Mapping[int, Sequence[int]]) -> list[InputArray]:
    """Return generated arrays for the inputs of a subgraph, in order. Equal seeds give equal arrays.

    A shape in ``shapes`` replaces the shape in the model file. Raise OptionError if the type or shape of an input cannot be
    generated.
    """
    generator = np.random.default_rng(seed)
    graph = file_graph(model, subgraph)
    sizes = [(subgraph.tensors[index], tuple(shapes.get(index, subgraph.tensors[index].shape))) for index in subgraph.inputs]
    for tensor, shape in sizes:
        if min(shape, default=0) < 0 or len(shape) > MOST_ARRAY_DIMENSIONS:
            raise _refusal(
                model, f"{tensor.name!r}, an input of shape {list(shape)}, cannot be generated; give it in a .npz file"
            )
        if tensor.type not in schema.NUMPY_TYPES:
            raise _refusal(model, f"inputs of type {tensor.type} cannot be generated: give them in a .npz file")
    most = raised(_MOST_ELEMENTS)
    # NumPy refuses sizes above its limit even if another size is 0.
    if sum([element_count([max(size, 1) for size in shape]) for _, shape in sizes]) > most:
        raise _refusal(
            model, f"inputs with more than {most:,} elements are not generated; give them in a .npz file{how_to_raise()}"
        )
    return [_array(graph, tensor, shape, generator) for tensor, shape in sizes]


def generated_samples(model: Model, subgraph: Subgraph, count: int) -> list[list[InputArray]]:
    """Return several samples of generated arrays for the inputs of a subgraph. Errors are as for ``generated_inputs``."""
    return [generated_inputs(model, subgraph, seed, {}) for seed in range(count)]  # bounded: the user sets the number


def _refusal(model: Model, reason: str) -> OptionError:
    return OptionError(printable(f"{model.path or 'the model'}: {reason}"))


def edge_inputs(model: Model, subgraph: Subgraph, shapes: Mapping[int, Sequence[int]]) -> list[list[InputArray]]:
    """Return samples with many extreme values. Each sample has extreme values of one kind.

    There are four kinds: zeros of both signs and denormal numbers; the largest finite numbers; infinities and NaN; indices out
    of range. All other values come from ``generated_inputs``. Quantized integers get their smallest and largest values.
    Integers that are not indices stay 0 or 1, because they may be sizes or loop counts.
    """
    graph = file_graph(model, subgraph)
    samples = []
    for seed, kind in enumerate(_EDGES):
        tensors = [graph.tensors[index] for index in subgraph.inputs]
        arrays = generated_inputs(model, subgraph, seed, shapes)
        edges = [kind(graph, tensor, array.reshape(-1)) for tensor, array in zip(tensors, arrays, strict=True)]
        counts = [
            len(values) if kind is _index_edges else -(-len(values) // max(array.size, 1))
            for array, values in zip(arrays, edges, strict=True)
        ]
        for number in range(min(max(counts, default=0), _MOST_EDGE_SAMPLES)):
            arrays = generated_inputs(model, subgraph, seed, shapes)
            for place, (array, values) in enumerate(zip(arrays, edges, strict=True)):
                flat = array.reshape(-1)
                if kind is _index_edges:  # one bad index per sample, because the first error ends the run
                    flat[: len(values[number : number + 1])] = values[number : number + 1]
                else:
                    _set_edges(flat, values, number, place)
            samples.append(arrays)
    return samples


_MOST_EDGE_SAMPLES = 6


def _set_edges(flat: InputArray, values: InputArray, number: int, shift: int) -> None:
    """Set every second element of an input to the next extreme value. In a small input, set all elements.

    ``number`` is the number of the sample. In small inputs, the extreme values differ from sample to sample. Each input of a
    model has its own ``shift``. Two inputs therefore have unequal extreme values at the same position.
    """
    if len(values):
        places = flat[::2] if flat.size >= 2 * len(values) else flat
        places[:] = values[(np.arange(places.size) + number * places.size + shift) % len(values)]  # bounded: the input's size


def _none_for(array: InputArray) -> InputArray:
    return array.reshape(-1)[:0]


def _small_edges(_graph: Graph, tensor: Tensor, array: InputArray) -> InputArray:
    if array.dtype.kind == "f":
        limits = np.finfo(array.dtype)
        denormal, normal = limits.smallest_subnormal, limits.tiny
        return np.array([0, -0.0, denormal, -denormal, 3 * denormal, normal, -normal, 1, -1, limits.eps], array.dtype)
    if array.dtype.kind in "iu" and tensor.scale > 0:
        limits_of_integers = np.iinfo(array.dtype)
        edges = (limits_of_integers.min, limits_of_integers.max, tensor.zero_point)
        return np.array([edge for edge in edges if limits_of_integers.min <= edge <= limits_of_integers.max], array.dtype)
    return _none_for(array)


def _large_edges(_graph: Graph, _tensor: Tensor, array: InputArray) -> InputArray:
    if array.dtype.kind != "f":
        return _none_for(array)
    largest = np.finfo(array.dtype).max
    root = np.sqrt(largest)
    return np.array([largest, -largest, largest / 2, -largest / 2, root, -root, 2 * root], array.dtype)


def _infinite_edges(_graph: Graph, _tensor: Tensor, array: InputArray) -> InputArray:
    return np.array([np.inf, -np.inf, np.nan], array.dtype) if array.dtype.kind == "f" else _none_for(array)


def _index_edges(graph: Graph, tensor: Tensor, array: InputArray) -> InputArray:
    limit = _index_limit(graph, tensor.index) if array.dtype.kind == "i" and not tensor.scale else None
    if limit is None:
        return _none_for(array)
    limits = np.iinfo(array.dtype)
    edges = [limit, 1 << 32, -1, limits.max, limits.min, -(1 << 32)]
    return np.array([edge for edge in edges if limits.min <= edge <= limits.max], array.dtype)


_EDGES: tuple[Callable[[Graph, Tensor, InputArray], InputArray], ...] = (
    _small_edges,
    _large_edges,
    _infinite_edges,
    _index_edges,
)
"""Functions that each return the extreme values of one kind for an input.

The result is empty if the kind does not fit the input.
"""


def _array(graph: Graph, tensor: Tensor, shape: tuple[int, ...], generator: np.random.Generator) -> InputArray:
    kind = schema.NUMPY_TYPES[tensor.type]
    array = np.empty(shape, np.bool_ if tensor.type == "BOOL" else np.dtype(kind))  # bounded: all inputs are counted before
    limit = _index_limit(graph, tensor.index) or _FLAGS
    flat = array.reshape(-1)
    for start in range(0, len(flat), _PIECE):
        piece = flat[start : start + _PIECE]
        piece[:] = _values(tensor, array.dtype, piece.size, limit, generator)
    return array


def _values(tensor: Tensor, kind: np.dtype[Any], count: int, limit: int, generator: np.random.Generator) -> InputArray:
    if kind.kind == "b":
        return generator.integers(0, 2, count)
    if kind.kind in "iu":
        if tensor.scale > 0:
            limits = np.iinfo(kind)
            return generator.integers(limits.min, limits.max, count, kind.newbyteorder("="), endpoint=True)
        return generator.integers(0, limit, count)
    values = generator.standard_normal(count)
    return values + 1j * generator.standard_normal(count) if kind.kind == "c" else values


def _index_limit(graph: Graph, index: int) -> int | None:
    """Return the exclusive upper bound for an input of indices. Return None for all other inputs. The bound is at least 1."""
    limits: Mapping[int, int] = graph.results.get("index limits", (), lambda: _index_limits(graph))
    return max(limits[index], 1) if index in limits else None


def _index_limits(graph: Graph) -> Mapping[int, int]:
    """Return the smallest size that the elements of a tensor select from, for each tensor of indices.

    All tensors are looked at in one pass from the last node to the first one.
    """
    limits: dict[int, int] = {}
    for node in reversed(graph.nodes):
        passed = [limits[output] for output in node.outputs if output in limits] if node.op in _PASSING_ON else []
        position, table = _INDEX_POSITIONS.get(node.op, (-1, -1))
        own: list[int] = []
        if position >= 0 and node.input(table) >= 0:
            shape = graph.tensors[node.input(table)].shape
            axis = graph.model.options(node).axis if node.op == "GATHER" else 0
            own = [shape[axis]] if node.op != "GATHER_ND" and -len(shape) <= axis < len(shape) else list(shape)
        for tensor in set(node.inputs) if passed or own else ():
            sizes = [*passed, *(own if tensor == node.input(position) else []), *([limits[tensor]] if tensor in limits else [])]
            if sizes:
                limits[tensor] = min(sizes)
    return limits


def from_file(path: str, model: Model, subgraph: Subgraph) -> list[InputArray]:
    """Read the inputs of a subgraph from a .npz file. Raise OptionError as ``named_inputs`` does."""
    wanted = named_inputs(path, model, subgraph)
    arrays = read_arrays(path, wanted)
    return [arrays[name] for name in wanted]


def named_inputs(path: str, model: Model, subgraph: Subgraph) -> list[str]:
    """Return the name of the array in a .npz file for each input of a subgraph.

    The arrays have the names of the input tensors, or the names of the signature's inputs. Raise OptionError if an array is
    missing or does not fit its input.
    """
    stored = array_kinds(path)
    names = {
        index: name
        for signature in model.signatures
        if signature.subgraph == subgraph.index
        for name, index in signature.inputs.items()
    }
    wanted = []
    for index in subgraph.inputs:
        tensor = subgraph.tensors[index]
        name = next((name for name in (tensor.name, names.get(index, "")) if name in stored), None)
        if name is None:
            inputs = [shortened(subgraph.tensors[index].name) for index in subgraph.inputs]
            more = ", ..." if len(inputs) > _MOST_NAMES else ""
            raise OptionError(
                printable(
                    f"{os.path.basename(path)}: has no array {shortened(tensor.name)!r}; it has {counted(len(stored), 'array')}, "
                    f"and the inputs are {', '.join(inputs[:_MOST_NAMES])}{more}"
                )
            )
        kind = schema.NUMPY_TYPES.get(tensor.type)
        array, shown = stored[name], shortened(name)
        type_name = array.dtype.name if array.dtype.kind == "V" else array.dtype  # a record has names of its own
        if kind is not None and array.dtype != np.dtype(kind) and not (tensor.type == "BOOL" and array.dtype == np.bool_):
            raise OptionError(
                printable(f"{os.path.basename(path)}: {shown!r} is of type {type_name}, but the model takes {tensor.type}")
            )
        sizes = tensor.shape_signature or tensor.shape
        if len(array.shape) != len(sizes) or any(size not in (-1, own) for size, own in zip(sizes, array.shape, strict=True)):
            raise OptionError(
                printable(f"{os.path.basename(path)}: {shown!r} has shape {array.shape}, but the model takes {tuple(sizes)}")
            )
        wanted.append(name)
    return wanted

"""Prepare functions of the StableHLO operators that the runtime implements, and of DILATE and REDUCE_WINDOW."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...foundation.printable import counted
from ...model import schema
from ..kernel import KernelNode, kernel
from ..operands import INT32_MAX
from ..tensors import KernelSubgraph, KernelTensor, as_int32
from .control_flow import called_tensor, ensure_callable, hand_over_inputs, pass_operands, return_results, shapes_of_outputs

_INDEX_TYPES = ("INT32", "INT64")

_MOST_DIMENSIONS = 8
"""Largest rank for padding and for windows.

Upstream: ``TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT`` and the similar constant for windows in
``core/c/builtin_op_data.h``.
"""

_MOST_WINDOW_DIMENSIONS = 6
_DILATE_FORMER_MAX_RANK = 6


@kernel("STABLEHLO_ADD", "STABLEHLO_AND", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM", "STABLEHLO_MULTIPLY")
def prepare_elementwise(node: KernelNode) -> None:
    """``kernels/stablehlo_elementwise.cc: ElementwisePrepare``."""
    node.ensure_counts(2, 1)
    first, second = node.input(0), node.input(1)
    node.ensure(first.type == second.type, "the operands have different types")
    node.ensure(first.shape == second.shape, "the operands have different shapes")
    node.resize(node.output(), first.shape)


@kernel("STABLEHLO_SHIFT_LEFT")
def prepare_shift_left(node: KernelNode) -> None:
    """``kernels/stablehlo_shift_left.cc: Prepare``."""
    first, second, result = node.operands(2)
    node.ensure(first.type == second.type, "the operands have different types")
    node.make_like(result, first)


@kernel("STABLEHLO_GATHER", changed_in=("litert-2.1.6",))
def prepare_gather(node: KernelNode) -> None:
    """``kernels/stablehlo_gather.cc: Prepare``. The result keeps its rank from the model file."""
    operand, start_indices, result = node.operands(2)
    node.ensure_type(start_indices, _INDEX_TYPES)
    options = node.options
    if node.since("litert-2.1.6"):
        sizes = options.slice_sizes
        node.ensure(len(sizes) == operand.rank, "the number of slice sizes differs from the number of dimensions")
        node.ensure(len(options.collapsed_slice_dims) <= len(sizes), "there are more collapsed dimensions than input dimensions")
        node.ensure(len(options.offset_dims) <= result.rank, "there are more offset dimensions than output dimensions")
        node.ensure(options.index_vector_dim <= start_indices.rank, "the dimension of the index vectors is out of range")
    node.resize(result, _gathered_shape(node, start_indices.shape, result.rank))


def _gathered_shape(node: KernelNode, indices_shape: Sequence[int], rank: int) -> list[int]:
    """Return the shape of the result (``GetResultShape``).

    Each offset dimension has the size of a slice. All other dimensions are the dimensions of the indices, except the dimension
    of the index vectors.
    """
    options = node.options
    offset_axes = [axis for axis in range(rank) if axis in options.offset_dims]
    slice_sizes = [size for axis, size in enumerate(options.slice_sizes) if axis not in options.collapsed_slice_dims]
    batch_sizes = [size for axis, size in enumerate(indices_shape) if axis != options.index_vector_dim]
    fits = len(offset_axes) <= len(slice_sizes) and rank - len(offset_axes) <= len(batch_sizes)
    node.ensure(fits, "the result has more dimensions than the slices and the indices together")
    offsets, batches = iter(slice_sizes), iter(batch_sizes)
    return [next(offsets if axis in offset_axes else batches) for axis in range(rank)]


@kernel("STABLEHLO_SCATTER", changed_in=("litert-2.1.6",))
def prepare_scatter(node: KernelNode) -> None:
    """``kernels/stablehlo_scatter.cc: Prepare``."""
    node.ensure_counts(3, 1)
    checks_operands = node.since("litert-2.1.6")
    source, result = node.input(0), node.output()
    if checks_operands:
        node.ensure_type(node.input(1), _INDEX_TYPES)
    node.resize(result, source.shape)
    if checks_operands:
        _check_scattered_dimensions(node)
    computation = node.interpreter.subgraph(node.options.update_computation_subgraph_index)
    node.ensure(len(computation.nodes) <= 1, "the computation has more than one node")
    for step in computation.nodes:
        node.ensure(step.op in _SCATTER_COMPUTATIONS and not step.is_custom, f"the computation {step.op} is not supported")


def _check_scattered_dimensions(node: KernelNode) -> None:
    source, indices, updates, options = node.input(0), node.input(1), node.input(2), node.options
    node.ensure(
        len(options.update_window_dims) <= updates.rank, "there are more window dimensions than dimensions of the updates"
    )
    node.ensure(len(options.inserted_window_dims) <= source.rank, "there are more inserted dimensions than output dimensions")
    node.ensure(
        len(options.scatter_dims_to_operand_dims) <= source.rank, "there are more scattered dimensions than input dimensions"
    )
    node.ensure(options.index_vector_dim <= indices.rank, "the dimension of the index vectors is out of range")


_SCATTER_COMPUTATIONS = ("STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM")


@kernel("STABLEHLO_PAD", changed_in=("litert-2.2.0",))
def prepare_pad(node: KernelNode) -> None:
    """``kernels/stablehlo_pad.cc: Prepare``."""
    source, padding_value = node.input(0), node.input(1)
    node.ensure(source.type == padding_value.type, "input and padding value have different types")
    if node.since("litert-2.2.0"):
        node.ensure(padding_value.element_count == 1, "the padding value is not a single value")
    node.ensure(source.type in schema.BITS_PER_ELEMENT, f"elements of {source.type} have no size")
    shape = _padded_shape(node, source)
    result = node.output()
    node.ensure(source.type == result.type, "input and output have different types")
    node.resize(result, shape)


def _padded_shape(node: KernelNode, source: KernelTensor) -> list[int]:
    """Return the shape after padding (``PadData::Setup``).

    If negative padding removes all elements of a dimension, all sizes are 0. Releases before LiteRT 2.2 subtract the interior
    padding once from a dimension of size 0.
    """
    options = node.options
    vectors = (options.edge_padding_low, options.edge_padding_high, options.interior_padding)
    node.ensure(options.table is not None and len({len(vector) for vector in vectors}) == 1, "the paddings are incomplete")
    node.ensure(0 < source.rank <= _MOST_DIMENSIONS, f"the input has {source.rank} dimensions, not 1 to {_MOST_DIMENSIONS}")
    low, high, interior = (_extended(vector, source.rank) for vector in vectors)
    checks_more = node.since("litert-2.2.0")
    node.ensure(min(interior) >= 0 or not checks_more, "the interior padding is negative")
    least_gaps = 0 if checks_more else -1
    shape = [
        size + max(size - 1, least_gaps) * between + before + after
        for size, between, before, after in zip(source.shape, interior, low, high, strict=True)
    ]
    node.ensure(max(shape) <= INT32_MAX, "the result is too large")
    return shape if min(shape) > 0 else [0] * source.rank


def _extended(vector: Sequence[int], size: int) -> list[int]:
    return [*vector[:size], *[0] * (size - len(vector))]  # bounded: dimensions of a tensor


@kernel("DILATE", changed_in=("litert-2.1.6",))
def prepare_dilate(node: KernelNode) -> None:
    """``kernels/dilate.cc: Prepare``."""
    source, dilations, padding_value, result = node.operands(3)
    node.ensure(source.rank > 0, "the input is a scalar")
    if not node.since("litert-2.1.6"):
        node.ensure(source.rank <= _DILATE_FORMER_MAX_RANK, "the input has more than 6 dimensions")
    node.ensure(source.type == result.type, "input and output have different types")
    node.ensure(source.type == padding_value.type, "input and padding value have different types")
    if not dilations.is_constant:
        node.set_dynamic(result, dilations)
        return
    node.resize(result, _dilated(source.shape, as_int32(dilations)[: source.rank]))


def _dilated(sizes: Iterable[int], dilations: Iterable[int]) -> list[int]:
    return [(size - 1) * dilation + 1 for size, dilation in zip(sizes, dilations, strict=True)]


@kernel("REDUCE_WINDOW")
def prepare_reduce_window(node: KernelNode) -> None:
    """``kernels/stablehlo_reduce_window.cc: Prepare`` with ``TFLiteData``."""
    node.ensure_counts(5, 1)
    windows = [node.input(position) for position in (2, 3, 4)]
    node.ensure(all(window.is_constant for window in windows), "size, strides and dilations of the windows are not constant")
    source = _windowed_input(node)
    for window in windows:
        node.ensure_type(window, "INT64")
    size, strides, dilations = (window.integers()[: source.rank] for window in windows)
    node.resize(node.output(), _windowed(source.shape, size, strides, dilations))


@kernel("STABLEHLO_REDUCE_WINDOW")
def prepare_stablehlo_reduce_window(node: KernelNode) -> None:
    """``kernels/stablehlo_reduce_window.cc: Prepare`` with ``StablehloData``."""
    node.ensure_counts(2, 1)
    source = _windowed_input(node)
    options = node.options
    node.ensure(0 < len(options.window_dimensions) <= _MOST_DIMENSIONS, "the windows have no dimensions or too many dimensions")
    size = _window_option(node, options.window_dimensions)
    strides = _window_option(node, options.window_strides)
    base_dilations = _window_option(node, options.base_dilations)
    dilations = _window_option(node, options.window_dilations)
    paddings = _window_option(node, options.padding, values_per_dimension=2, default=0)
    node.ensure(min(*size, *strides, *base_dilations, *dilations) > 0, "sizes, strides or dilations are not positive")
    dilated = _dilated(source.shape, base_dilations)
    padded = [extent + low + high for extent, low, high in zip(dilated, paddings[::2], paddings[1::2], strict=True)]
    node.ensure(min(*dilated, *padded) >= 0, "dilation and cropping result in a negative size")
    node.resize(node.output(), _windowed(padded, size, strides, dilations))


def _windowed_input(node: KernelNode) -> KernelTensor:
    source, initial_value, result = node.input(0), node.input(1), node.output()
    node.ensure(source.type == result.type, "input and output have different types")
    node.ensure(source.type == initial_value.type, "input and initial value have different types")
    is_supported = 0 < source.rank <= _MOST_WINDOW_DIMENSIONS
    node.ensure(is_supported, f"the input has {source.rank} dimensions, not 1 to {_MOST_WINDOW_DIMENSIONS}")
    return source


def _window_option(node: KernelNode, vector: Sequence[int], values_per_dimension: int = 1, default: int = 1) -> list[int]:
    count = values_per_dimension * node.input(0).rank
    if not vector:
        return [default] * count  # bounded: two numbers for each of 6 dimensions
    expected = values_per_dimension * len(node.options.window_dimensions)
    node.ensure(len(vector) == expected, f"an option has {counted(len(vector), 'number')}, not {expected}")
    return _extended(vector, count)


def _windowed(sizes: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> list[int]:
    return [
        int((size - window) / stride) + 1 if size >= window else 0
        for size, window, stride in zip(sizes, _dilated(windows, dilations), strides, strict=True)
    ]


@kernel("STABLEHLO_COMPOSITE")
def prepare_composite(node: KernelNode) -> None:
    """``kernels/stablehlo_composite.cc: Prepare``."""
    node.ensure(node.input_count > 0, "has no inputs")
    decomposition = node.interpreter.subgraph(node.options.decomposition_subgraph_index)
    ensure_callable(node, node.node.inputs, decomposition)
    decomposition.remove_unused_inputs()
    pass_operands(node, node.node.inputs, decomposition)
    hand_over_inputs(decomposition)
    node.interpreter.allocate_tensors(decomposition)
    return_results(node, decomposition, decomposition.dynamic is not None)


@kernel("STABLEHLO_CASE")
def prepare_case(node: KernelNode) -> None:
    """``kernels/stablehlo_case.cc: Prepare``. All subgraphs after the first subgraph count as branches, even unused subgraphs."""
    interpreter, branch_indices = node.interpreter, node.options.branch_subgraph_indices
    node.ensure(len(branch_indices) > 0, "has no branches")
    index = node.input(0)
    node.ensure_type(index, "INT32")
    node.ensure(index.element_count == 1, "the index is not a single value")
    operands = node.node.inputs[1:]
    # bounded: the subgraphs of the model
    subgraphs = [interpreter.subgraph(position) for position in range(interpreter.subgraph_count())]
    branches = subgraphs[1:]
    for branch in branches:
        ensure_callable(node, operands, branch)
    for subgraph in subgraphs:
        subgraph.remove_unused_inputs()
    types = {called_tensor(branch, output).type for branch in branches for output in branch.outputs}
    node.ensure(len(types) <= 1, "the outputs of the branches have different types")
    for branch in branches:
        pass_operands(node, operands, branch)
    is_dynamic = False
    for branch in branches:
        hand_over_inputs(branch)
        _share_types_and_scales(node, branch)
        interpreter.allocate_tensors(branch)
        is_dynamic |= branch.dynamic is not None
    compared = [subgraphs[branch_indices[position]] for position in (0, *range(1, len(branches)))]
    if not is_dynamic:
        is_dynamic = any(shapes_of_outputs(branch) != shapes_of_outputs(compared[0]) for branch in compared)
    return_results(node, compared[0], is_dynamic)


def _share_types_and_scales(node: KernelNode, branch: KernelSubgraph) -> None:
    for position, called in enumerate(branch.inputs):
        if called >= 0:
            _share_scale(branch.tensors[called], node.input(position + 1))
    for position, called in enumerate(branch.outputs):
        result = node.output(position)
        _share_scale(branch.tensors[called], result)
        branch.tensors[called].type = result.type


def _share_scale(tensor: KernelTensor, other: KernelTensor) -> None:
    tensor.source = tensor.source._replace(scale=other.scale, zero_point=other.zero_point)


@kernel("STABLEHLO_RNG_BIT_GENERATOR")
def prepare_rng_bit_generator(node: KernelNode) -> None:
    """``kernels/rng_bit_generator.cc: Prepare``. The random numbers keep their shape from the model file."""
    state, next_state, numbers = node.operands(1, 2)
    node.ensure_type(state, "UINT64")
    node.ensure(state.rank == 1, "the state is not a vector")
    node.ensure_type(next_state, "UINT64")
    node.ensure(next_state.shape == state.shape, "state and next state have different shapes")
    node.resize(next_state, next_state.shape)
    node.ensure_type(numbers, ("INT32", "INT64", "UINT32", "UINT64"))
    node.resize(numbers, numbers.shape)

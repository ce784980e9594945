"""Prepare functions of operators that join or split tensors: PACK, UNPACK, CONCATENATION, SPLIT, SPLIT_V."""

from __future__ import annotations

from collections.abc import Sequence

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model.numbers import StoredNumbers, kind_of
from ..kernel import KernelNode, kernel
from ..operands import HALF_TYPES_LATER, INT32_MAX
from ..tensors import KernelTensor, as_int32, first_unknown, known_elements, wrapped

_PACK_TYPES = frozenset({"INT32", "FLOAT32", "UINT8", "UINT32", "INT8", "INT16", "INT64"})
_UNPACK_TYPES = frozenset({"INT32", "FLOAT32", "UINT8", "INT8", "INT16", "BOOL"})
_CONCATENATION_TYPES = frozenset({"FLOAT32", "UINT8", "INT8", "INT16", "INT32", "INT64", "BOOL", "UINT32"})
_LATER_CONCATENATION_TYPES = {**HALF_TYPES_LATER, "litert-2.1.2": ("INT4",)}
_SPLIT_TYPES = frozenset({"FLOAT32", "UINT8", "INT8", "INT16", "INT32", "INT64"})
_FUSED_ACTIVATIONS = range(1, 6)
"""Values of ``ActivationFunctionType`` that name an activation. The runtime treats unknown values as no activation."""


@kernel("PACK")
def prepare_pack(node: KernelNode) -> None:
    """``kernels/pack.cc: Prepare``."""
    count = node.options.values_count
    node.ensure(node.input_count == count, "the number of inputs in the options is wrong")
    node.ensure(node.output_count == 1, "does not have exactly one output")
    first = node.input(0)
    axis = wrapped(node.options.axis, first.rank + 1)
    node.ensure(0 <= axis <= first.rank, "the axis is out of range")
    node.ensure_type(first, _PACK_TYPES)
    sources = [node.input(position) for position, _ in enumerate(node.node.inputs)]
    for source in sources:
        node.ensure(source.shape == first.shape, "the inputs have different shapes")
        node.ensure(source.type == first.type, "the inputs have different types")
    result = node.output()
    node.ensure(result.type == first.type, "input and output have different types")
    for source in sources:
        _ensure_same_quantization(node, source, result)
    node.resize(result, (*first.shape[:axis], count, *first.shape[axis:]))


@kernel("UNPACK", changed_in=("litert-2.1.3",))
def prepare_unpack(node: KernelNode) -> None:
    """``kernels/unpack.cc: Prepare``."""
    count = node.options.num
    node.ensure_counts(1, count)
    source = node.input(0)
    node.ensure(source.element_count > 0, "the input is empty")
    axis = wrapped(node.options.axis, source.rank)
    node.ensure(0 <= axis < source.rank, "the axis is out of range")
    node.ensure_type(source, _UNPACK_TYPES, {"litert-2.1.3": ("FLOAT16", "BFLOAT16")})
    node.ensure(count == source.shape[axis], "the number of outputs differs from the size of the dimension")
    shape = (*source.shape[:axis], *source.shape[axis + 1 :])
    for position, _ in enumerate(node.node.outputs):
        result = node.output(position)
        node.ensure(result.type == source.type, "input and output have different types")
        _ensure_same_quantization(node, source, result)
        node.resize(result, shape)


def _ensure_same_quantization(node: KernelNode, source: KernelTensor, result: KernelTensor) -> None:
    node.ensure(source.zero_point == result.zero_point, "input and output have different zero points")
    node.ensure(source.scale == result.scale, "input and output have different scales")


@kernel("CONCATENATION", changed_in=(*_LATER_CONCATENATION_TYPES, "litert-2.1.6"))
def prepare_concatenation(node: KernelNode) -> None:
    """``kernels/concatenation.cc: Prepare``."""
    first = node.input(0)
    axis = wrapped(node.options.axis, first.rank)
    node.ensure(0 <= axis < max(first.rank, 1), "the axis is out of range")
    node.ensure(node.options.fused_activation_function not in _FUSED_ACTIVATIONS, "a fused activation is not supported")
    node.ensure_type(first, _CONCATENATION_TYPES, _LATER_CONCATENATION_TYPES)
    sources = [node.input(position) for position in range(node.input_count)]
    is_known = first_unknown(*sources) is None
    if is_known and first.rank == 0 and first.type != "INT4":
        node.ensure(all(source.rank == 0 for source in sources), "the inputs have different ranks")
        node.set_persistent(node.output(), (len(sources),), _joined(sources, 1))
        return
    shape = _concatenated_shape(node, sources, axis)
    result = node.output()
    node.ensure(result.type == first.type, "input and output have different types")
    # The kernel rescales only UINT8 inputs.
    if result.type == "INT8":
        for source in sources:
            _ensure_same_quantization(node, source, result)
    elif result.type == "INT16":
        node.ensure(all(tensor.zero_point == 0 for tensor in (*sources, result)), "a zero point of INT16 is not 0")
    if is_known:
        node.set_persistent(result, shape, _concatenated(node, sources, result, shape, axis))
    else:
        node.resize(result, shape)


def _concatenated_shape(node: KernelNode, sources: Sequence[KernelTensor], axis: int) -> tuple[int, ...]:
    first = sources[0]
    if first.rank == 0 and not node.since("litert-2.1.6"):
        node.ensure(
            all(source.rank == 0 and source.type == first.type for source in sources), "the inputs have different ranks or types"
        )
        return ()
    node.ensure(first.rank > 0, "scalars that are not constant cannot be concatenated")
    before, after = first.shape[:axis], first.shape[axis + 1 :]
    for source in sources:
        node.ensure(source.rank == first.rank, "the inputs have different ranks")
        node.ensure(source.type == first.type, "the inputs have different types")
        node.ensure(source.shape[:axis] == before and source.shape[axis + 1 :] == after, "the inputs have different shapes")
    size = sum(source.shape[axis] for source in sources)
    node.ensure(size <= INT32_MAX, "the size of the result overflows")
    return (*before, size, *after)


def _concatenated(
    node: KernelNode, sources: Sequence[KernelTensor], result: KernelTensor, shape: Sequence[int], axis: int
) -> StoredNumbers | None:
    is_rescaled = result.type == "UINT8" and any(
        (source.scale, source.zero_point) != (result.scale, result.zero_point) for source in sources
    )
    if is_rescaled or not shape or not node.elements.take(element_count(shape)):
        return None
    return _joined(sources, element_count(shape[:axis]))


def _joined(sources: Sequence[KernelTensor], outer: int) -> StoredNumbers | None:
    known = [elements for elements in map(known_elements, sources) if elements is not None]
    if len(known) < len(sources):
        return None
    kind = np.result_type(*map(kind_of, known)).str if len(set(map(kind_of, known))) > 1 else kind_of(known[0])
    parts = [
        elements.tobytes() if kind_of(elements) == kind else np.asarray(elements).astype(kind).tobytes() for elements in known
    ]
    if not any(parts):
        return StoredNumbers(kind)
    sizes = [len(part) // outer for part in parts]
    # bounded: the elements of the result are counted above
    rows = [part[size * place : size * (place + 1)] for place in range(outer) for part, size in zip(parts, sizes, strict=True)]
    return StoredNumbers.read(kind, b"".join(rows))


@kernel("SPLIT")
def prepare_split(node: KernelNode) -> None:
    """``kernels/split.cc: Prepare``."""
    count = node.options.num_splits
    node.ensure_counts(2, count)
    axis, source = node.input(0), node.input(1)
    node.ensure_type(source, _SPLIT_TYPES)
    results = [node.output(position) for position, _ in enumerate(node.node.outputs)]
    for result in results:
        result.type = source.type
    if not axis.is_constant_or_persistent:
        _set_all_dynamic(node, results, axis)
        return
    position = wrapped(as_int32(axis)[0], source.rank)
    node.ensure(0 <= position < source.rank, "the axis is out of range")
    node.ensure(count != 0, "there are no outputs")
    node.ensure(source.shape[position] % count == 0, "the input cannot be split evenly")
    size = source.shape[position] // count
    for result in results:
        node.resize(result, (*source.shape[:position], size, *source.shape[position + 1 :]))


@kernel("SPLIT_V")
def prepare_split_v(node: KernelNode) -> None:
    """``kernels/split_v.cc: Prepare``."""
    count = node.options.num_splits
    node.ensure_counts(3, count)
    source, sizes, axis = node.input(0), node.input(1), node.input(2)
    node.ensure_type(source, _SPLIT_TYPES)
    results = [node.output(position) for position, _ in enumerate(node.node.outputs)]
    for result in results:
        result.type = source.type
    node.ensure(sizes.shape == (count,), "the sizes do not have one element for each output")
    unknown = first_unknown(sizes, axis)
    if unknown is not None:
        _set_all_dynamic(node, results, unknown)
        return
    position = wrapped(as_int32(axis)[0], source.rank)
    node.ensure_type(sizes, ("INT32", "INT64"))
    node.ensure(0 <= position < source.rank, "the axis is out of range")
    parts = _resolved_sizes(node, sizes.integers()[:count], source.shape[position])
    for result, size in zip(results, parts, strict=True):
        node.resize(result, (*source.shape[:position], size, *source.shape[position + 1 :]))


def _resolved_sizes(node: KernelNode, sizes: list[int], total: int) -> list[int]:
    node.ensure(sizes.count(-1) <= 1, "more than one size is -1")
    known = sum(size for size in sizes if size != -1)
    if -1 in sizes:
        node.ensure(known <= total, "the sum of the sizes is larger than the dimension")
    else:
        node.ensure(known == total, "the sizes do not add up to the dimension")
    return [total - known if size == -1 else size for size in sizes]


def _set_all_dynamic(node: KernelNode, results: Sequence[KernelTensor], cause: KernelTensor) -> None:
    for result in results:
        node.set_dynamic(result, cause)

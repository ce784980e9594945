"""Functions of Compute Library that copy, join, split and reduce tensors."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.kinds import ATTRIBUTE, OPERAND_VALUE, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE
from ..demands import INPUT, OUTPUT, SECOND
from ..inference import strided_shape
from ..steps import Need, Needs, Query
from ..tensors import PER_CHANNEL, Info, Thrown
from .checks import (
    BOOL,
    FLOATS_AND_EIGHT_BITS,
    INT8,
    INT16,
    INT32,
    MOST_DIMENSIONS,
    UINT8,
    CodeLine,
    known,
    no_half,
    of_types,
    rank_at_most,
    refused,
    same_space,
    same_type,
    shaped,
)

_RESHAPE, _PERMUTE = "cpu/kernels/CpuReshapeKernel.cpp", "cpu/kernels/CpuPermuteKernel.cpp"
_SLICE, _GATHER = "core/NEON/kernels/NEStridedSliceKernel.cpp", "core/NEON/kernels/NEGatherKernel.cpp"
_STACK, _TILE = "core/NEON/kernels/NEStackLayerKernel.cpp", "core/NEON/kernels/NETileKernel.cpp"
_MEAN, _REDUCE = "runtime/NEON/functions/NEReduceMean.cpp", "core/NEON/kernels/NEReductionOperationKernel.cpp"
_REDUCTION, _PAD = "runtime/NEON/functions/NEReductionOperation.cpp", "core/NEON/kernels/NEPadLayerKernel.cpp"
_JOIN = "cpu/kernels/CpuConcatenateDepthKernel.cpp"


def _permutation(call: Query) -> str | None:
    order, swapped = [*call.values["permutation"]], _swapped(call)
    is_known = len(order) <= MOST_DIMENSIONS or order == sorted(order) or swapped
    return None if is_known else f"permutation {order}"


def _swapped(call: Query) -> bool:
    """Return whether only the last two dimensions are exchanged, for which there is a kernel of its own."""
    order = [*call.values["permutation"]]
    last = len(order) - 1
    return order[-2:] == [last, last - 1] and all(number == at for at, number in enumerate(order[:-2]))


def _wide_elements(call: Query) -> str | None:
    return f"{call.input.type} input" if call.input.type == "INT64" and _swapped(call) else None


def _empty_range(call: Query) -> str | None:
    shape, shrunk = strided_shape(call), call.values["shrink_axis_mask"]
    if all(shrunk >> at & 1 for at in range(call.input.rank)):
        return f"one element of an input of shape {list(call.input.known_shape)}"
    return f"output of shape {list(shape)}" if 0 in shape else None


def _slice_shape(call: Query) -> tuple[int, ...]:
    sizes = call.values["size"]
    whole = zip(sizes, call.values["begin"], call.input.known_shape, strict=False)
    return tuple([size if size >= 0 else total - begin for size, begin, total in whole])


def _sliced(shape: Need[Query], *more: Need[Query]) -> Needs:
    limit = rank_at_most(INPUT, MOST_DIMENSIONS, CodeLine(_SLICE, 54), "input->tensor_shape().num_dimensions() > 4")
    return known(limit, *more, shape, same_type(INPUT, OUTPUT, CodeLine(_SLICE, 71)))


def _gathered_count(call: Query) -> str | None:
    source, indices = call.inputs
    axis = call.values["axis"] % source.rank
    count = source.element_count // source.size(axis) * indices.element_count
    return None if count == call.output.element_count else f"output of {call.output.element_count} elements, not {count}"


def _stack_ranks(call: Query) -> str | None:
    ranks = {info.rank for info in call.inputs}
    return f"inputs of rank {', '.join(map(str, sorted(ranks)))}" if len(ranks) > 1 else None


def _stacked(call: Query) -> tuple[int, ...]:
    shape, axis = call.input.known_shape, call.values["axis"]
    return (*shape[:axis], len(call.inputs), *shape[axis:])


def _zero_multiples(call: Query) -> str | None:
    return f"multiples {call.values['multiples']}" if 0 in call.values["multiples"] else None


def _many_multiples(call: Query) -> str | None:
    count = len(call.values["multiples"])
    return None if count <= MOST_DIMENSIONS else f"{count} multiples"


def _tiled(call: Query) -> tuple[int, ...]:
    return tuple([size * times for size, times in zip(call.input.known_shape, call.values["multiples"], strict=False)])


def _many_pads(call: Query) -> str | None:
    count = len(call.values["pads"])
    return None if count <= MOST_DIMENSIONS or call.values["mode"] != "CONSTANT" else f"padding of {count} dimensions"


def _padded(call: Query) -> tuple[int, ...]:
    return tuple([size + sum(pair) for size, pair in zip(call.input.known_shape, call.values["pads"], strict=False)])


_PADDED_TYPES = (*FLOATS_AND_EIGHT_BITS, INT16, INT32, PER_CHANNEL)


def _unpadded_type(call: Query) -> str | None:
    """Find an input of a type without padding values (``GetPixelValue``). Raises Thrown."""
    if call.input.type not in _PADDED_TYPES:
        number = {BOOL: 1, "INT64": 14}.get(call.input.type, 0)
        raise Thrown(f"Unsupported DataType: [{number}]", f"input is {call.input.type}")
    return None


def _outer_axis(call: Query) -> str | None:
    axes = call.values["axes"] or range(call.input.rank)
    outer = [axis for axis in axes if axis < call.input.rank - MOST_DIMENSIONS]
    return f"axis {outer[0]} of rank {call.input.rank}" if outer else None


def _arg_outer_axis(call: Query) -> str | None:
    axis = call.values["axis"] % call.input.rank
    return None if axis >= call.input.rank - MOST_DIMENSIONS else f"axis {axis} of rank {call.input.rank}"


def _other_space(call: Query) -> str | None:
    """Find results of another quantization, which matter only if one axis is removed."""
    if len(call.values["axes"]) > 1 or call.values["keep_dims"] or not call.input.is_quantized:
        return None
    one, two = ((info.scale, info.zero_point) for info in (call.input, call.output))
    return None if one == two else f"scale {one[0]:g} with zero point {one[1]} and scale {two[0]:g} with zero point {two[1]}"


def _unknown_sizes(call: Query) -> None:
    """Read all sizes. Raises Thrown if one is not known. The result of several axes is not read."""
    for info in (call.input, *(call.outputs if len(call.values["axes"]) < 2 else ())):
        _sizes_of(info)


_AXIS = "an axis among the last 4 dimensions"


def _inner_axis(call: Query) -> int:
    return len(call.input.known_shape) - int(call.values["axis"]) - 1


def _joined_type(call: Query) -> str | None:
    if _inner_axis(call) > 2:
        return None
    other = next((info for info in call.inputs if info.type != call.output.type), None)
    if other is not None:
        return f"{other.type} input and {call.output.type} output"
    return None


def _joined_depth(call: Query) -> str | None:
    is_known = _inner_axis(call) != 2 or call.input.type in FLOATS_AND_EIGHT_BITS
    return None if is_known else f"{call.input.type} inputs"


def _joined_space(call: Query) -> str | None:
    is_right = _inner_axis(call) != 3 or all(call.output.has_space_of(info) for info in call.inputs)
    return None if is_right else "inputs of another type or quantization than the output"


def _joined_axis(call: Query) -> str | None:
    return None if _inner_axis(call) <= 3 else f"axis {call.values['axis']} of rank {len(call.input.known_shape)}"


def _joined_line(call: Query) -> str:
    name = {"INT16": "QSYMM16", "INT32": "S32", "INT64": "S64", "BOOL": "U8"}.get(call.input.type, "")
    return CodeLine(_JOIN, 148).says(f"ITensor data type {name} not supported by this kernel")


def _is_last_split(call: Query) -> bool:
    """Return whether only the last of at least 3 dimensions is split (``ComputeSplitAxis``)."""
    shape, sizes = call.input.known_shape, {info.shape for info in call.outputs}
    axis = call.values["axis"]
    is_split = len(call.outputs) > 1 or sizes != {shape}
    return len(shape) > 2 and axis == len(shape) - 1 and is_split


def _split_space(call: Query) -> str | None:
    if _is_last_split(call):
        for info in (call.input, *call.outputs):
            _sizes_of(info)
        return None
    is_right = all(call.input.has_space_of(info) for info in call.outputs)
    return None if is_right else "outputs of another type or quantization than the input"


def _split_rank(call: Query) -> str | None:
    is_right = not _is_last_split(call) or call.input.rank <= MOST_DIMENSIONS
    return None if is_right else f"input of rank {call.input.rank}"


def _split_type(call: Query) -> str | None:
    other = next((info for info in call.outputs if info.type != call.input.type), None)
    return f"{call.input.type} input and {other.type} output" if other is not None and _is_last_split(call) else None


def _sizes_of(info: Info) -> None:
    for at in range(info.rank):
        info.size(at)


def _gather_nd(call: Query) -> str | None:
    source, indices = call.inputs
    if indices.type != INT32:
        return f"indices of type {indices.type}"
    if source.type != call.output.type:
        return f"{source.type} input and {call.output.type} output"
    is_same = not source.is_quantized or (source.scale, source.zero_point) == (call.output.scale, call.output.zero_point)
    return None if is_same else "input and output of another quantization"


def _blocked(name: str, *demands: Need[Query]) -> Needs:
    return known(same_type(INPUT, OUTPUT, CodeLine(f"core/NEON/kernels/{name}.cpp", 66)), *demands)


def _block_below(least: int) -> Need[Query]:
    def find(call: Query) -> str | None:
        return None if call.values["block"] >= least else f"block size {call.values['block']}"

    place = CodeLine("core/NEON/kernels/NEDepthToSpaceLayerKernel.cpp", 48)
    return refused(ATTRIBUTE, f"a block size of at least {least}", find, place.says(f"block_shape < {least}"))


def _unlisted_constant(call: Query) -> str | None:
    return f"a constant of type {call.output.type}" if call.output.type in (BOOL, "INT64") else None


_MISMATCH = "Neon {}: Types and quantization parameters must match."

LAYERS: Mapping[str, Needs] = {
    "constant": (
        refused(TENSOR_TYPE, "a constant of another type than BOOL and INT64", _unlisted_constant, "Unsupported DataType"),
    ),
    "fill": (),
    "shape": (
        refused(
            TENSOR_TYPE,
            "the backend CpuRef",
            lambda _: "no such layer",
            "IsShapeSupported is not implemented [./src/backends/backendsCommon/LayerSupportBase.cpp:135]",
            "add CpuRef to the backends, or fix the shapes before converting",
        ),
    ),
    "reshape": known(same_type(INPUT, OUTPUT, CodeLine(_RESHAPE, 56)), same_space(INPUT, OUTPUT, CodeLine(_RESHAPE, 57))),
    "transpose": known(
        refused(
            RANK,
            "a permutation of at most 4 dimensions, or one that exchanges only the last two",
            _permutation,
            CodeLine(_PERMUTE, 82).says("PermutationVector not supported."),
            "merge dimensions that stay together before the TRANSPOSE",
        ),
        refused(
            TENSOR_TYPE,
            "elements of at most 4 bytes to exchange the last two dimensions",
            _wide_elements,
            CodeLine("cpu/kernels/CpuTransposeKernel.cpp", 771, "validate").says("Element size not supported"),
            "cast to INT32 before the TRANSPOSE",
        ),
        same_space(INPUT, OUTPUT, CodeLine(_PERMUTE, 90)),
        same_type(INPUT, OUTPUT, CodeLine(_PERMUTE, 91)),
    ),
    "slice": _sliced(shaped(_slice_shape, CodeLine(_SLICE, 70))),
    "strided_slice": _sliced(
        shaped(strided_shape, CodeLine(_SLICE, 70)),
        refused(
            SHAPE,
            "a range that is neither empty nor one element",
            _empty_range,
            CodeLine(_SLICE, 64).says("exp_output_shape.total_size() == 0"),
        ),
    ),
    "gather": known(
        rank_at_most(INPUT, MOST_DIMENSIONS, CodeLine(_GATHER, 44), "input->num_dimensions() > 4"),
        same_type(INPUT, OUTPUT, CodeLine(_GATHER, 58)),
        same_space(INPUT, OUTPUT, CodeLine(_GATHER, 59)),
        refused(
            SHAPE,
            "an output with an element for each index and each other element",
            _gathered_count,
            CodeLine(_GATHER, 62).says("output_shape.total_size() != output->tensor_shape().total_size()"),
        ),
        of_types(SECOND, (INT32,), CodeLine(_GATHER, 65)),
    ),
    "gather_nd": known(
        refused(
            TENSOR_TYPE,
            "INT32 indices, and an output of the input's type and quantization",
            _gather_nd,
            "GatherND layer validate status failed.",
            "convert with INT32 indices",
        )
    ),
    "stack": known(
        rank_at_most(INPUT, MOST_DIMENSIONS, CodeLine(_STACK, 57), "input->num_dimensions() > 4"),
        refused(RANK, "inputs of equal rank", _stack_ranks, CodeLine(_STACK, 58).says("input->num_dimensions() != rank")),
        shaped(_stacked, CodeLine(_STACK, 62), "Objects have different dimensions"),
        same_type(INPUT, OUTPUT, CodeLine(_STACK, 64)),
        same_space(INPUT, OUTPUT, CodeLine(_STACK, 65)),
    ),
    "tile": known(
        refused(RANK, "at most 4 multiples", _many_multiples, CodeLine(_TILE, 45).says("multiples.size() > 4")),
        refused(
            OPERAND_VALUE,
            "multiples above 0",
            _zero_multiples,
            CodeLine(_TILE, 47).says("std::any_of(multiples.begin(), multiples.end(), [](uint32_t e) { return e == 0; })"),
        ),
        shaped(_tiled, CodeLine(_TILE, 52), "Objects have different dimensions"),
        same_type(INPUT, OUTPUT, CodeLine(_TILE, 54)),
    ),
    "pad": known(
        refused(TENSOR_TYPE, "an input of a type with padding values", _unpadded_type, "", "convert with other types"),
        shaped(_padded, CodeLine("runtime/NEON/functions/NEPadLayer.cpp", 243, "validate"), "Objects have different dimensions"),
        same_type(INPUT, OUTPUT, CodeLine("runtime/NEON/functions/NEPadLayer.cpp", 244, "validate")),
        refused(
            RANK, "padding of at most 4 dimensions", _many_pads, CodeLine(_PAD, 50).says("Padding list bigger than 4 dimensions")
        ),
    ),
    "mean": known(
        no_half(CodeLine(_MEAN, 43, "validate_config")),
        of_types(INPUT, (INT8, UINT8, *FLOATS_AND_EIGHT_BITS[2:]), CodeLine(_MEAN, 44, "validate_config")),
        refused(ATTRIBUTE, _AXIS, _outer_axis, CodeLine(_MEAN, 76, "validate_config").says("axis_local[i] > 3")),
        same_type(INPUT, OUTPUT, CodeLine(_MEAN, 95, "validate_config")),
    ),
    "reduce": (
        refused(SHAPE, "known sizes of all dimensions", _unknown_sizes, "", "fix the shapes before converting"),
        refused(ATTRIBUTE, _AXIS, _outer_axis, CodeLine(_REDUCTION, 78, "validate").says("Unsupported reduction axis")),
        no_half(CodeLine(_REDUCE, 257)),
        of_types(INPUT, (INT8, UINT8, INT32, *FLOATS_AND_EIGHT_BITS[2:]), CodeLine(_REDUCE, 261)),
        refused(
            QUANTIZATION,
            "the same scale and zero point in input and output, if one axis is removed",
            _other_space,
            CodeLine(_RESHAPE, 57).says("Tensors have different quantization information"),
            "keep the reduced dimension (keep_dims), and remove it with RESHAPE",
        ),
    ),
    "arg_min_max": known(
        refused(ATTRIBUTE, _AXIS, _arg_outer_axis, CodeLine(_REDUCTION, 78, "validate").says("Unsupported reduction axis")),
        no_half(CodeLine(_REDUCE, 257)),
        of_types(INPUT, (INT8, UINT8, INT32, *FLOATS_AND_EIGHT_BITS[2:]), CodeLine(_REDUCE, 261)),
        refused(
            TENSOR_TYPE,
            "output of type INT32",
            lambda call: None if call.output.type == INT32 else f"output is {call.output.type}",
            CodeLine(_RESHAPE, 56).says("Tensors have different data types"),
            "convert with output_type int32",
        ),
    ),
    "concat": known(
        refused(RANK, "an axis among the last 4 dimensions", _joined_axis, "Neon Concat: Maximum of 4 dimensions supported."),
        Need(
            TENSOR_TYPE,
            "UINT8, INT8, FLOAT16 or FLOAT32 to join along the third dimension from the end",
            _joined_depth,
            _joined_line,
            "add CpuRef to the backends, or join along another axis",
        ),
        refused(
            TENSOR_TYPE,
            "inputs of the output's type",
            _joined_type,
            CodeLine(_JOIN, 150).says("Tensors have different data types"),
        ),
        refused(
            QUANTIZATION,
            "equal types and quantization along the fourth dimension from the end",
            _joined_space,
            _MISMATCH.format("Concat"),
        ),
    ),
    "split": (
        refused(
            QUANTIZATION,
            "outputs of the input's type and quantization, unless the last of 3 or more dimensions is split",
            _split_space,
            _MISMATCH.format("Splitter"),
        ),
        refused(
            RANK,
            "input of rank at most 4, if the last dimension is split",
            _split_rank,
            CodeLine(_SLICE, 54).says("input->tensor_shape().num_dimensions() > 4"),
        ),
        refused(
            TENSOR_TYPE,
            "outputs of the input's type",
            _split_type,
            CodeLine(_SLICE, 71).says("Tensors have different data types"),
        ),
    ),
    "batch_to_space": _blocked("NEBatchToSpaceLayerKernel"),
    "space_to_batch": _blocked(
        "NESpaceToBatchLayerKernel", same_space(INPUT, OUTPUT, CodeLine("core/NEON/kernels/NESpaceToBatchLayerKernel.cpp", 90))
    ),
    "space_to_depth": _blocked("NESpaceToDepthLayerKernel"),
    "depth_to_space": _blocked("NEDepthToSpaceLayerKernel", _block_below(2)),
}
"""The demands of CpuAcc for each layer."""

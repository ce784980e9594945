"""The backend CpuAcc: Compute Library on Arm processors with Neon.

Source: ``NeonLayerSupport.cpp`` and ``workloads`` (``src/backends/neon`` of ARM-software/armnn), which ask the functions of
ARM-software/ComputeLibrary. ``compute_library.json`` has the checks of the functions' ``validate``, with files and lines of
release 24.11. Only checks that a prepared node may fail are listed. A function stops at the first check that fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .demands import Backend, read_layers, unknown_sizes
from .tensors import PER_CHANNEL, Info, Query, Thrown, padded_shape, strided_shape, transposed_convolution_shape

_EIGHT_BITS = ("UINT8", "INT8")
_FLOATS_AND_EIGHT_BITS = (*_EIGHT_BITS, "FLOAT16", "FLOAT32")
_MOST_DIMENSIONS = 4

_ACTIVATIONS = {
    **dict.fromkeys(_EIGHT_BITS, ("relu", "bounded_relu", "sigmoid", "tanh", "hard_swish", "leaky_relu")),
    "INT16": ("sigmoid", "tanh", "hard_swish", "bounded_relu"),
}
"""The activation functions for types that have only some of them."""
_FIXED = {
    ("UINT8", "tanh"): (128, 128, 97),
    ("UINT8", "sigmoid"): (256, 0, 100),
    ("INT8", "tanh"): (128, 0, 104),
    ("INT8", "sigmoid"): (256, -128, 107),
    ("INT16", "tanh"): (32768, 0, 111),
    ("INT16", "sigmoid"): (32768, 0, 114),
}
"""The reciprocal of the scale, the zero point, and the line of the check, of the result of an activation."""
_CONDITIONS = {
    "UINT8": "(data_type == DataType::QASYMM8 || data_type == DataType::QASYMM16)",
    "INT8": "data_type == DataType::QASYMM8_SIGNED",
    "INT16": "is_data_type_quantized_symmetric(data_type)",
}
_CASTS = {
    "INT8": (("INT32", "FLOAT32"), 101, "QASYMM8 -> [out] U16, S16, S32, F16, F32"),
    "UINT8": (("INT32", "FLOAT32"), 106, "QASYMM8 -> [out] U16, S16, S32, F16, F32"),
    "BOOL": (("INT32", "FLOAT32"), 112, "U8 -> [out] U16, S16, S32, F16, F32"),
    "FLOAT32": (("INT8", "UINT8", "INT32", "BOOL"), 133, "F32 -> [out] QASYMM8, F16, S32, U8"),
    "INT32": (("INT8", "UINT8", "FLOAT32", "BOOL", "INT64"), 139, "S32 -> [out] QASYMM8, F16, F32, U8, S64"),
    "INT64": (("FLOAT32",), 146, "S64 ->  [out] F32"),
}
"""The types to which each type can be cast, the line of the check, and the end of its message."""
_FLOORS = {"FLOAT16": "float16", "UINT8": "8-bit", "BOOL": "8-bit", "INT32": "int32"}
_SOFTMAX = {"UINT8": (1 / 256, 0), "INT8": (1 / 256, -128)}
_LOG_SOFTMAX = {"UINT8": (16 / 256, 255), "INT8": (16 / 256, 127)}
_WINOGRAD = frozenset({(3, 3), (5, 5), (1, 3), (3, 1), (1, 5), (5, 1), (1, 7), (7, 1)})
"""The windows (height and width) of Winograd's function, which does not compare the channels."""


def _other_function(types: Sequence[str], call: Query) -> bool:
    return call.input.type in types and call.values["function"] not in _ACTIVATIONS[call.input.type]


def _other_fixed_space(call: Query) -> dict[str, Any] | None:
    kind, function = call.input.type, call.values["function"]
    if (kind, function) not in _FIXED:
        return None
    parts, zero_point, line = _FIXED[kind, function]
    name = {"tanh": "TANH", "sigmoid": "LOGISTIC"}[function]
    values = {"line": line, "condition": _CONDITIONS[kind], "name": name, "parts": parts, "zero_point": zero_point}
    return None if (call.output.scale, call.output.zero_point) == (1 / parts, zero_point) else values


def _mixed_types(call: Query) -> str | None:
    types = [info.type for info in (*call.inputs, call.output)]
    return None if len(set(types)) == 1 or types == ["INT16", "INT16", "INT32"] else ", ".join(types)


def _repeated_column(call: Query) -> bool:
    one, two = call.inputs
    return one.type in ("INT16", "BOOL") and one.size(one.rank - 1) != two.size(two.rank - 1)


def _no_cast(call: Query) -> tuple[int, str] | None:
    allowed, line, text = _CASTS.get(call.input.type, ((), 83, ""))
    return None if call.output.type in allowed else (line, text)


def _floor(call: Query) -> str | None:
    name = _FLOORS.get(call.input.type)
    text = f"Layer is not supported with {name} data type" if name else ""
    return None if call.input.type == "FLOAT32" else text


def _other_space(spaces: dict[str, tuple[float, int]], call: Query) -> bool:
    return spaces.get(call.input.type) not in (None, (call.output.scale, call.output.zero_point))


def _channels(call: Query) -> tuple[int, int]:
    return call.input.known_shape[-1], call.part("weights").known_shape[-1]


def _groups(call: Query) -> tuple[int, int] | None:
    channels, filters = _channels(call)
    return None if channels == filters or _is_winograd(call) else (channels, filters)


def _is_winograd(call: Query) -> bool:
    """Return whether Winograd's function is chosen (``CpuConv2d::get_convolution_method``)."""
    weights: Info = call.part("weights")
    steps = {call.values[f"{name}_{side}"] for name in ("stride", "dilation") for side in ("h", "w")}
    is_float = {info.type for info in (call.input, weights, call.bias) if info is not None} == {"FLOAT32"}
    return is_float and steps == {1} and call.input.size(3) >= 16 and weights.known_shape[1:3] in _WINOGRAD


def _uneven_filters(call: Query) -> tuple[int, int] | None:
    channels, filters = _channels(call)
    return None if filters >= channels and filters % channels == 0 else (channels, filters)


def _scales_of_channels(call: Query) -> int | None:
    weights: Info = call.part("weights")
    return None if weights.type != PER_CHANNEL or weights.scales == weights.known_shape[-1] else weights.known_shape[-1]


def _mixed_weights(types: Sequence[str], call: Query) -> bool:
    """Return whether weights have another type than the input. 8-bit inputs may have weights of ``types`` too."""
    kind = call.part("weights").type
    return kind != call.input.type and not (call.input.type in _EIGHT_BITS and kind in types)


def _other_columns(call: Query) -> tuple[int, int] | None:
    columns, rows = call.input.known_shape[-1], call.part("weights").size(1)
    return None if columns == rows else (columns, rows)


def _other_rows(call: Query) -> list[int] | None:
    rows = [info.size(0) if info.rank > 1 else 1 for info in (call.input, call.output)]
    return None if rows[0] == rows[1] else rows


def _no_product(call: Query) -> tuple[int, int] | None:
    first, second = call.inputs
    columns = first.size(first.rank - 2 if call.values["transpose_x"] else first.rank - 1)
    rows = second.size(second.rank - 1 if call.values["transpose_y"] else second.rank - 2)
    return None if columns == rows else (columns, rows)


def _other_batches(call: Query) -> list[list[int]] | None:
    shapes = [list(info.known_shape[:-2]) for info in call.inputs]
    rank = max(map(len, shapes))
    one, two = ([1] * (rank - len(shape)) + shape for shape in shapes)
    return None if one == two else shapes


def _lstm_types(call: Query) -> str | None:
    if call.input.type != "FLOAT32":
        return f"input is {call.input.type}"
    infos = {name: info for name, info in call.values.items() if isinstance(info, Info)}
    return next((f"{name} is {info.type}" for name, info in infos.items() if info.type != "FLOAT32"), None)


def _sequence_types(call: Query) -> str | None:
    """Find types that neither the float function nor the quantized function knows (INT8, with an INT16 cell state)."""
    states = {name: call.part(name).type for name in ("outputStateIn", "outputStateOut", "cellStateIn", "cellStateOut")}
    eight = {call.input.type, states["outputStateIn"], states["outputStateOut"], call.output.type}
    if eight != {"INT8"} or {states["cellStateIn"], states["cellStateOut"]} != {"INT16"}:
        return _lstm_types(call)
    batch, time, _ = call.input.known_shape
    return None if call.values["time_major"] or batch == time else f"quantized input of {batch} batches and {time} steps"


def _swaps_last(call: Query) -> bool:
    """Return whether only the last two dimensions are exchanged, for which there is a kernel of its own."""
    order = [*call.values["permutation"]]
    last = len(order) - 1
    return order[-2:] == [last, last - 1] and all(number == at for at, number in enumerate(order[:-2]))


def _wide_permutation(call: Query) -> bool:
    order = [*call.values["permutation"]]
    return len(order) > _MOST_DIMENSIONS and order != sorted(order) and not _swaps_last(call)


def _empty_range(call: Query) -> str | None:
    shape, shrunk = strided_shape(call), call.values["shrink_axis_mask"]
    if all(shrunk >> at & 1 for at in range(call.input.rank)):
        return f"one element of an input of shape {list(call.input.known_shape)}"
    return f"output of shape {list(shape)}" if 0 in shape else None


def _sliced(call: Query) -> list[int]:
    whole = zip(call.values["size"], call.values["begin"], call.input.known_shape, strict=False)
    return [size if size >= 0 else total - begin for size, begin, total in whole]


def _gathered_count(call: Query) -> int | None:
    source, indices = call.inputs
    axis = call.values["axis"] % source.rank
    count = source.element_count // source.size(axis) * indices.element_count
    return None if count == call.output.element_count else count


def _gathered_types(call: Query) -> str | None:
    source, indices = call.inputs
    if indices.type != "INT32":
        return f"indices of type {indices.type}"
    if source.type != call.output.type:
        return f"{source.type} input and {call.output.type} output"
    is_same = not source.is_quantized or source.space == call.output.space
    return None if is_same else "input and output of another quantization"


def _other_ranks(call: Query) -> str | None:
    ranks = sorted({info.rank for info in call.inputs})
    return ", ".join(map(str, ranks)) if len(ranks) > 1 else None


def _stacked(call: Query) -> list[int]:
    shape, axis = call.input.known_shape, call.values["axis"]
    return [*shape[:axis], len(call.inputs), *shape[axis:]]


def _many(values: Sequence[object]) -> int | None:
    return len(values) if len(values) > _MOST_DIMENSIONS else None


def _unpadded_type(call: Query) -> None:
    """Raise Thrown for a type without padding values (``GetPixelValue``)."""
    if call.input.type not in (*_FLOATS_AND_EIGHT_BITS, "INT16", "INT32", PER_CHANNEL):
        number = {"BOOL": 1, "INT64": 14}.get(call.input.type, 0)
        raise Thrown(f"Unsupported DataType: [{number}]", f"input is {call.input.type}")


def _outer_axis(axes: Sequence[int], call: Query) -> int | None:
    return next((axis for axis in axes if axis < call.input.rank - _MOST_DIMENSIONS), None)


def _unknown_reduced_sizes(call: Query) -> None:
    unknown_sizes(call if len(call.values["axes"]) < 2 else call._replace(outputs=()))


def _other_reduced_space(call: Query) -> bool:
    """Return whether the result has another quantization, which matters only if one axis is removed."""
    is_read = len(call.values["axes"]) < 2 and not call.values["keep_dims"] and call.input.is_quantized
    return is_read and call.input.space != call.output.space


def _inner_axis(call: Query) -> int:
    return len(call.input.known_shape) - int(call.values["axis"]) - 1


def _joined_types(call: Query) -> str | None:
    other = next((info.type for info in call.inputs if info.type != call.output.type), None)
    return other if _inner_axis(call) <= 2 else None


def _is_last_split(call: Query) -> bool:
    shape, sizes = call.input.known_shape, {info.shape for info in call.outputs}
    is_split = len(call.outputs) > 1 or sizes != {shape}
    return len(shape) > 2 and call.values["axis"] == len(shape) - 1 and is_split


def _split_spaces(call: Query) -> bool:
    if _is_last_split(call):
        unknown_sizes(call)
        return False
    return not all(call.input.has_space_of(info) for info in call.outputs)


def _split_types(call: Query) -> str | None:
    other = next((info.type for info in call.outputs if info.type != call.input.type), None)
    return other if _is_last_split(call) else None


FUNCTIONS = {
    "other 8-bit function": partial(_other_function, _EIGHT_BITS),
    "other INT16 function": partial(_other_function, ("INT16",)),
    "other fixed space": _other_fixed_space,
    "mixed types": _mixed_types,
    "repeated last size": _repeated_column,
    "no cast": _no_cast,
    "no floor": _floor,
    "softmax space": partial(_other_space, _SOFTMAX),
    "log softmax space": partial(_other_space, _LOG_SOFTMAX),
    "computed bias": lambda call: call.bias is not None and not call.bias.is_constant,
    "computed weights": lambda call: not call.weights.is_constant,
    "groups": _groups,
    "quantized bias": lambda call: call.bias is not None and call.input.type in _EIGHT_BITS and call.bias.type != "INT32",
    "float bias": lambda call: call.bias is not None and call.input.type not in (*_EIGHT_BITS, call.bias.type),
    "mixed weights": partial(_mixed_weights, (*_EIGHT_BITS, PER_CHANNEL)),
    "uneven filters": _uneven_filters,
    "scales of channels": _scales_of_channels,
    "per-channel weights of floats": lambda call: call.weights.type == PER_CHANNEL and call.input.type not in _EIGHT_BITS,
    "mixed channel weights": partial(_mixed_weights, (PER_CHANNEL,)),
    "deconvolved": transposed_convolution_shape,
    "dilation": lambda call: any(call.values[f"dilation_{side}"] != 1 for side in ("d", "h", "w")),
    "other columns": _other_columns,
    "other rows": _other_rows,
    "no product": _no_product,
    "other batches": _other_batches,
    "empty window": lambda call: min(call.values["window_h"], call.values["window_w"]) <= 0,
    "quantized L2_POOL_2D": lambda call: call.values["is_l2"] and call.input.is_quantized,
    "aligned centers": lambda call: bool(call.values["align_corners"] and call.values["half_pixel_centers"]),
    "LSTM types": _lstm_types,
    "other rank than 3": lambda call: call.input.rank != 3,
    "sequence LSTM types": _sequence_types,
    "constant without numbers": lambda call: call.output.type in ("BOOL", "INT64"),
    "always": lambda _: True,
    "wide permutation": _wide_permutation,
    "wide elements": lambda call: call.input.type == "INT64" and _swaps_last(call),
    "empty range": _empty_range,
    "sliced": _sliced,
    "strided": strided_shape,
    "gathered count": _gathered_count,
    "gathered types": _gathered_types,
    "other ranks": _other_ranks,
    "stacked": _stacked,
    "many multiples": lambda call: _many(call.values["multiples"]),
    "zero multiples": lambda call: 0 in call.values["multiples"],
    "tiled": lambda call: [size * times for size, times in zip(call.input.known_shape, call.values["multiples"], strict=False)],
    "type without padding": _unpadded_type,
    "padded": padded_shape,
    "many pads": lambda call: None if call.values["is_mirrored"] else _many(call.values["pads"]),
    "outer axes": lambda call: _outer_axis(call.values["axes"] or range(call.input.rank), call),
    "outer axis": lambda call: _outer_axis((call.values["axis"] % call.input.rank,), call),
    "unknown reduced sizes": _unknown_reduced_sizes,
    "other reduced space": _other_reduced_space,
    "outermost join": lambda call: _inner_axis(call) > 3,
    "deep join": lambda call: _inner_axis(call) == 2 and call.input.type not in _FLOATS_AND_EIGHT_BITS,
    "joined types": _joined_types,
    "joined spaces": lambda call: _inner_axis(call) == 3 and not all(call.output.has_space_of(info) for info in call.inputs),
    "split spaces": _split_spaces,
    "split rank": lambda call: _is_last_split(call) and call.input.rank > _MOST_DIMENSIONS,
    "split types": _split_types,
    "small block": lambda call: call.values["block"] < 2,
}
"""The functions that the table names: they find problems, and infer shapes."""
CPU_ACC = Backend("CpuAcc", read_layers("compute_library.json", FUNCTIONS))
"""The backend CpuAcc."""

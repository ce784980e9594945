"""The questions about layers that the delegate asks the backends: which tensors and values of a node it gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....foundation.limits import element_count
from ....graph.graph import NodeView, fused_activation
from ....rules.operands import int32_halves, operand, stored_integers
from ..tensors import Info, Query, Thrown, checked, info_of, input_info, input_infos, output_info

LayerQuestion = Callable[[NodeView], Query | None]

FUSED = {"NONE": "", "RELU": "relu", "RELU_N1_TO_1": "bounded_relu", "RELU6": "bounded_relu", "TANH": "tanh"}
"""The functions of fused activations."""
_FUNCTIONS = {"RELU6": "bounded_relu", "LOGISTIC": "sigmoid"}
"""The functions of operators that have another name."""
_BIAS = operand(2, "bias")
_SAME = 0
_MOST_DIMENSIONS = 8


def ask(*positions: int, **values: Callable[[NodeView], Any] | str) -> Callable[[NodeView], Query]:
    """Return a question: with operands at these positions, the result, and values. A text is the name of an option."""

    def question(node: NodeView) -> Query:
        inputs, outputs = tuple([input_info(node, position) for position in positions]), (output_info(node),)
        given = {name: getattr(node.options, value) if isinstance(value, str) else value(node) for name, value in values.items()}
        return Query(inputs, outputs, values=given)

    return question


def values_of(node: NodeView, position: int) -> list[int]:
    """Return the elements of a constant or persistent operand, or no elements if they are not known.

    The delegate reads the elements as INT32. It then reads the halves of the first elements of an INT64 operand.
    """
    tensor = node.input(position)
    numbers = stored_integers(node, tensor)
    return int32_halves(numbers)[: len(numbers)] if tensor.type == "INT64" else numbers


def fused(node: NodeView) -> Query | None:
    """Return the question about the fused activation, or None if there is none."""
    function = FUSED[fused_activation(node)]
    if not function:
        return None
    output = output_info(node)
    return Query((output,), (output,), values={"function": function})


def _pair(node: NodeView) -> tuple[Info, Info]:
    """Return two operands with the rank of the larger one (``ExpandTensorRankToEqual``)."""
    first, second = input_info(node, 0), input_info(node, 1)
    rank = max(first.rank, second.rank)
    one, two = ((1,) * (rank - info.rank) + info.known_shape for info in (first, second))
    return first.with_shape(one), second.with_shape(two)


def _floor(node: NodeView) -> Query | None:
    first, second = _pair(node)
    output = output_info(node)
    # INT32 operands are divided without the layer FLOOR.
    return None if {first.type, second.type, output.type} == {"INT32"} else Query((first,), (output,))


def _dequantize(node: NodeView) -> Query:
    call = ask(0)(node)
    # A constant scalar gives its shape to the result.
    is_known = call.output.shape is not None or not call.input.is_constant
    return call if is_known else call._replace(outputs=(call.output._replace(shape=call.input.shape),))


def _window(node: NodeView, source: Info, **sides: tuple[int, int]) -> dict[str, Any]:
    """Return strides, dilations and windows. ``sides`` has the dimension of the input and the window of each side."""
    values: dict[str, Any] = {}
    for side, (dimension, window) in sides.items():
        stride, dilation = getattr(node.options, f"stride_{side}"), getattr(node.options, f"dilation_{side}_factor")
        # The delegate reads the size to compute the padding.
        source.size(dimension)
        values |= {f"stride_{side}": stride, f"dilation_{side}": dilation or 1, f"window_{side}": window}
    return values


def _bias_of(node: NodeView) -> Info | None:
    return info_of(node.input(2)) if _BIAS.is_given(node) else None


def _convolution(node: NodeView) -> Query:
    source, weights = input_info(node, 0), input_info(node, 1)
    values = _window(node, source, h=(1, weights.size(1)), w=(2, weights.size(2)))
    return Query((source,), (output_info(node),), weights, _bias_of(node), values)


def _convolution_3d(node: NodeView) -> Query:
    source, weights = input_info(node, 0), input_info(node, 1)
    values = _window(node, source, d=(1, weights.size(0)), h=(2, weights.size(1)), w=(3, weights.size(2)))
    return Query((source,), (output_info(node),), weights, _bias_of(node), values)


def _transpose_convolution(node: NodeView) -> Query:
    source, weights, output = input_info(node, 2), input_info(node, 1), output_info(node)
    shape, is_same = values_of(node, 0), node.options.padding == _SAME
    values: dict[str, int] = {}
    for side, dimension in (("h", 1), ("w", 2)):
        stride, window, size = getattr(node.options, f"stride_{side}"), weights.size(dimension), source.size(dimension)
        if len(shape) > dimension and node.input(0).is_constant:
            total = (size - 1) * stride + window - shape[dimension]
        else:
            total = max(((size + stride - 1) // stride - 1) * stride + window - size, 0) if stride else 0
        values |= {f"stride_{side}": stride, f"padding_{side}": total if is_same else 0}
    return Query((source,), (output,), weights, None, values)


def _pooling(node: NodeView) -> Query:
    call = ask(0)(node)
    values = _window(node, call.input, h=(1, node.options.filter_height), w=(2, node.options.filter_width))
    return call._replace(values={**values, "is_l2": node.op == "L2_POOL_2D"})


def _rows(info: Info, columns: int) -> Info:
    return info.with_shape((info.element_count // columns, columns)) if info.rank > 2 else info


def _fully_connected(node: NodeView) -> Query:
    weights = input_info(node, 1)
    source = _rows(input_info(node, 0), weights.size(1))
    # The description of the result as an operand gives a scalar one dimension.
    output = _rows(info_of(node.output(0)), weights.size(0))
    return Query((source,), (output,), weights, _bias_of(node))


_OPERANDS = """
    InputToInputWeights InputToForgetWeights InputToCellWeights InputToOutputWeights
    RecurrentToInputWeights RecurrentToForgetWeights RecurrentToCellWeights RecurrentToOutputWeights
    CellToInputWeights CellToForgetWeights CellToOutputWeights
    InputGateBias ForgetGateBias CellBias OutputGateBias ProjectionWeights ProjectionBias
    InputLayerNormWeights ForgetLayerNormWeights CellLayerNormWeights OutputLayerNormWeights
"""
LSTM_WEIGHTS = dict(zip((*range(1, 18), *range(20, 24)), _OPERANDS.split(), strict=True))
"""The names of the weights of an LSTM by position of the operand. Operands 18 and 19 are the states."""
LSTM_STATES = (operand(18, "output state"), operand(19, "cell state"))


def _lstm_parts(node: NodeView) -> dict[str, Info]:
    parts = {name: input_info(node, position) for position, name in LSTM_WEIGHTS.items() if operand(position).is_given(node)}
    if not {"InputToInputWeights", "RecurrentToInputWeights", "InputGateBias"} <= parts.keys():
        for name in ("InputToInputWeights", "RecurrentToInputWeights", "CellToInputWeights", "InputGateBias"):
            parts.pop(name, None)
        parts.pop("InputLayerNormWeights", None)
    return parts


def _lstm(node: NodeView) -> Query:
    is_sequence = node.op != "LSTM"
    source, output = input_info(node, 0), output_info(node)
    output_state, cell_state = (input_info(node, state.position) for state in LSTM_STATES)
    batch, size, units = source.size(0), output.size(2 if is_sequence else 1), cell_state.size(1)
    parts = _lstm_parts(node)
    gates = 4 if "InputToInputWeights" in parts else 3
    values = {
        **parts,
        "outputStateIn": output_state,
        "cellStateIn": cell_state,
        "scratchBuffer": source.with_shape((batch, units * gates)),
        "outputStateOut": source.with_shape((batch, size)),
        "cellStateOut": (cell_state if is_sequence else source).with_shape((batch, units)),
        "output": output,
        "time_major": is_sequence and bool(node.options.time_major),
    }
    return Query((source,), (output,), values=values)


def target_shape(node: NodeView) -> list[int] | None:
    """Return the new shape of RESHAPE, or None if the node has none."""
    stored = [int(size) for size in node.options.new_shape or ()]
    if 0 < len(stored) <= _MOST_DIMENSIONS:
        return stored
    if len(node.node.inputs) != 2:
        return None
    return values_of(node, 1) if node.input(1).rank == 1 else []


def full_shape(node: NodeView) -> list[int]:
    """Return the new shape of RESHAPE with a size instead of -1."""
    shape = target_shape(node) or []
    if -1 in shape:
        known = -element_count(shape)
        shape[shape.index(-1)] = input_info(node, 0).element_count // known if known else 0
    return shape


def _squeeze(node: NodeView) -> Query:
    source = input_info(node, 0)
    shape = source.known_shape
    if len(shape) > 4:
        text = f"Input tensor has unexpected number of dimensions:{len(shape)} shape:[{','.join(map(str, shape))}] "
        where = " at function OutputShapeOfSqueeze [delegate/common/src/DelegateUtils.hpp:210]"
        raise Thrown(text + where, f"input of rank {len(shape)}")
    given = [int(axis) for axis in node.options.squeeze_dims or ()]
    if len(given) == 1 and given[0] < 0:
        given = [given[0] + len(shape)]
    axes = given or range(len(shape))
    return Query((source,), (source.with_shape(tuple([size for at, size in enumerate(shape) if at not in axes or size != 1])),))


def _expand_dims(node: NodeView) -> Query:
    source = input_info(node, 0)
    # The delegate copies each size.
    checked((*source.sizes, 1))
    return Query((source,), (info_of(node.output(0)),))


def _permutation(node: NodeView) -> list[int]:
    permutation = values_of(node, 1)
    if len(set(permutation)) != len(permutation):
        text = "Invalid dimension mappings: Two or more source dimensions are mapped to the same output dimension"
        raise Thrown(text, f"permutation {permutation}")
    return permutation


def _wrapped(axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis


def _axes(node: NodeView) -> list[int]:
    rank = input_info(node, 0).rank
    return sorted({_wrapped(axis, rank) for axis in values_of(node, 1)}) if rank else []


def pads(node: NodeView) -> list[tuple[int, int]]:
    """Return the padding before and after each dimension."""
    values = values_of(node, 1)
    return [*zip(values[::2], values[1::2], strict=False)]


def is_reflected(node: NodeView) -> bool:
    """Return whether padding repeats the input without its edge."""
    return node.op == "MIRROR_PAD" and node.options.mode == 0


def _strided_slice(node: NodeView) -> Query:
    masks = {name: getattr(node.options, name) for name in ("begin_mask", "end_mask", "shrink_axis_mask")}
    values = {"begin": values_of(node, 1), "end": values_of(node, 2), "stride": values_of(node, 3), **masks}
    return Query((input_info(node, 0),), (info_of(node.output(0)),), values=values)


def _concat(node: NodeView) -> Query:
    rank = max(node.input(0).rank, 1)
    return Query((*input_infos(node),), (output_info(node),), values={"axis": (rank + int(node.options.axis)) % rank})


def _stack(node: NodeView) -> Query:
    # The CPU kernel's Prepare has counted the axis from the front.
    axis = _wrapped(node.options.axis, node.input(0).rank + 1)
    return Query((*input_infos(node),), (output_info(node),), values={"axis": axis})


def _results(node: NodeView) -> tuple[Info, ...]:
    return tuple([output_info(node, position) for position in range(len(node.node.outputs))])


def split_axis(node: NodeView, source: int, axis: int) -> int:
    """Return the axis of a split of an operand, which another operand names. Raises Thrown if it is not within the rank."""
    rank = input_info(node, source).rank
    value = _wrapped(next(iter(values_of(node, axis)), 0), rank)
    if not 0 <= value < rank:
        raise Thrown("Unable to compute wrapped index", f"axis {value} for rank {rank}")
    return value


def _split(source: int, axis: int) -> LayerQuestion:
    return lambda node: Query((input_info(node, source),), _results(node), values={"axis": split_axis(node, source, axis)})


def slices(node: NodeView) -> int:
    """Return the number of results of UNPACK."""
    return int(node.options.num) or input_info(node, 0).size(node.options.axis)


def _unpack(node: NodeView) -> Query:
    source, axis = input_info(node, 0), node.options.axis
    shape = tuple([1 if at == axis else source.size(at) for at in range(source.rank)])
    return Query((source,), tuple([info.with_shape(shape) for info in _results(node)]), values={"axis": axis})


COUNTS: Mapping[str, Callable[[NodeView], int]] = {"num_splits": lambda node: int(node.options.num_splits), "slices": slices}
"""The numbers of results that depend on the node."""
QUESTIONS: Mapping[str, LayerQuestion] = {
    "function": ask(0, function=lambda node: _FUNCTIONS.get(node.op, node.op.lower())),
    "binary": lambda node: Query(_pair(node), (output_info(node),)),
    "floor": _floor,
    "dequantize": _dequantize,
    "convolution": _convolution,
    "convolution_3d": _convolution_3d,
    "transpose_convolution": _transpose_convolution,
    "pooling": _pooling,
    "resize": ask(0, align_corners="align_corners", half_pixel_centers="half_pixel_centers"),
    "fully_connected": _fully_connected,
    "batch_mat_mul": ask(0, 1, transpose_x="adj_x", transpose_y="adj_y"),
    "lstm": _lstm,
    "reshape": ask(0, shape=full_shape),
    "squeeze": _squeeze,
    "expand_dims": _expand_dims,
    "transpose": ask(0, permutation=_permutation),
    "block": ask(0, block="block_size"),
    "mean": ask(0, axes=_axes, keep_dims=lambda node: input_info(node, 0).rank == output_info(node).rank),
    "reduce": ask(0, axes=_axes, keep_dims="keep_dims"),
    "arg_min_max": ask(0, axis=lambda node: next(iter(values_of(node, 1)), 0)),
    "gather": ask(0, 1, axis="axis"),
    "tile": lambda node: Query((input_info(node, 0),), (info_of(node.output(0)),), values={"multiples": values_of(node, 1)}),
    "pad": ask(0, pads=pads, is_mirrored=lambda node: node.op == "MIRROR_PAD"),
    "slice": ask(0, begin=lambda node: values_of(node, 1), size=lambda node: values_of(node, 2)),
    "strided_slice": _strided_slice,
    "concat": _concat,
    "stack": _stack,
    "split": _split(1, 0),
    "split_v": _split(0, 2),
    "unpack": _unpack,
}
"""The questions by the names in ``operators.json``."""

"""Compute the result of an operator with constant operands (constant folding, as in converters).

This module supports the operators that models use to compute shapes, axes and masks. Operands may be integers, booleans or
floats. Quantized constants are not folded, as in a converter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..foundation.late_numpy import np
from ..foundation.limits import element_count
from ..model import schema
from ..model.options import Options

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
_Evaluator: TypeAlias = Callable[[Options, Sequence[Array]], Any]

_LARGEST_RESULT = 1 << 20
"""Largest number of elements of a folded result. A converter does not fold larger results."""


def evaluate(op: str, options: Options, operands: Sequence[Array], types: Sequence[str]) -> list[Array] | None:
    """Return the results of a node, computed from its operands. ``types`` has the types of the results.

    Return None if the operator is not supported, if a result is too large, or if the operands do not fit the operator.
    """
    evaluator = _EVALUATORS.get(op)
    kinds = [schema.NUMPY_TYPES.get(name) for name in types]
    if evaluator is None or None in kinds or (op == "UNPACK" and options.num != len(types)):
        return None
    try:
        with np.errstate(all="ignore"):
            values = evaluator(options, operands)
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None
    results = values if isinstance(values, list) else [values]
    if len(results) != len(kinds) or any(np.size(result) > _LARGEST_RESULT for result in results):
        return None
    return [np.asarray(result).astype(np.dtype(kind)) for result, kind in zip(results, kinds, strict=True)]


def _ints(array: Array) -> list[int]:
    return [int(element) for element in np.atleast_1d(array).reshape(-1)]


def _axes(array: Array) -> tuple[int, ...]:
    return tuple(_ints(array))


def _reduced(name: str) -> _Evaluator:
    """Return an evaluator that applies the numpy function with this name along axes.

    The function is looked up late, because building the table of evaluators must not import numpy.
    """

    def reduce(options: Options, operands: Sequence[Array]) -> Any:
        source, axes = operands[0], _axes(operands[1])
        joined = {axis % source.ndim for axis in axes}
        _small([size for axis, size in enumerate(source.shape) if axis not in joined])
        return getattr(np, name)(source, axis=axes, keepdims=bool(options.keep_dims))

    return reduce


def _of_two(function: Callable[[Any, Any], Any]) -> _Evaluator:
    return lambda _, operands: function(operands[0], operands[1])


def _elementwise(function: str | Callable[..., Any], count: int = 2) -> _Evaluator:
    def apply(_: Options, operands: Sequence[Array]) -> Any:
        taken = operands[:count]
        _small(np.broadcast_shapes(*[operand.shape for operand in taken]))
        return (getattr(np, function) if isinstance(function, str) else function)(*taken)

    return apply


def _joined(function: str) -> _Evaluator:
    def join(options: Options, operands: Sequence[Array]) -> Any:
        _small([sum([operand.size for operand in operands])])
        return getattr(np, function)(list(operands), options.axis)

    return join


def _divided(left: Array, right: Array) -> Array:
    if left.dtype.kind == "f":
        return np.asarray(left / right)
    if not np.all(right):
        raise ZeroDivisionError
    return np.asarray(np.sign(left) * np.sign(right) * (np.abs(left) // np.abs(right)))


def _floored(function: str) -> Callable[[Array, Array], Array]:
    def divide(left: Array, right: Array) -> Array:
        if left.dtype.kind != "f" and not np.all(right):
            raise ZeroDivisionError
        return np.asarray(getattr(np, function)(left, right))

    return divide


def _selected(condition: Array, left: Array, right: Array) -> Array:
    """Return the selection of SELECT, whose condition may also select rows, or everything."""
    return np.where(condition.reshape(*condition.shape, *[1] * (left.ndim - condition.ndim)), left, right)


def _strided_slice(options: Options, operands: Sequence[Array]) -> Array:
    source, begin, end, strides = operands[0], *[_ints(operand) for operand in operands[1:4]]
    index: list[Any] = []
    for position in range(len(begin)):
        bit = 1 << position
        if options.ellipsis_mask & bit:
            index.append(Ellipsis)
        elif options.new_axis_mask & bit:
            index.append(np.newaxis)
        elif options.shrink_axis_mask & bit:
            index.append(begin[position])
        else:
            first = None if options.begin_mask & bit else begin[position]
            last = None if options.end_mask & bit else end[position]
            if options.offset and first is not None and last is not None:
                last = first + last
            index.append(slice(first, last, strides[position]))
    result: Array = source[tuple(index)]
    return result


def _slice(_: Options, operands: Sequence[Array]) -> Array:
    pairs = zip(_ints(operands[1]), _ints(operands[2]), strict=True)
    return operands[0][tuple([slice(begin, None if size < 0 else begin + size) for begin, size in pairs])]


def _gather(options: Options, operands: Sequence[Array]) -> Array:
    if options.batch_dims:
        raise ValueError("several batches")
    source, positions, axis = operands[0], operands[1], options.axis % operands[0].ndim
    _small((*source.shape[:axis], *positions.shape, *source.shape[axis + 1 :]))
    return np.take(source, positions.astype(np.int64), axis=options.axis)


def _range(_: Options, operands: Sequence[Array]) -> Array:
    start, limit, delta = [operand.reshape(-1)[0] for operand in operands]
    # Python's integers do not overflow.
    if delta == 0 or not abs((limit.item() - start.item()) / delta.item()) <= _LARGEST_RESULT:
        raise ValueError("too long")
    return np.arange(start, limit, delta)  # bounded: checked above


def _fill(_: Options, operands: Sequence[Array]) -> Array:
    shape = _ints(operands[0]) if operands[0].size else []
    return np.full(_small(shape), operands[1].reshape(-1)[0])


def _small(shape: Sequence[int]) -> tuple[int, ...]:
    if element_count(shape) > _LARGEST_RESULT:
        raise ValueError("too large")
    return tuple(shape)


def _tiled(_: Options, operands: Sequence[Array]) -> Array:
    times = _ints(operands[1])
    _small([max(size, 1) for size in (*operands[0].shape, *times)])  # numpy repeats one dimension after another
    return np.tile(operands[0], times)  # bounded: checked above


def _unpacked(options: Options, operands: Sequence[Array]) -> list[Array]:
    return [np.squeeze(part, options.axis) for part in np.split(operands[0], options.num, options.axis)]


_EVALUATORS: Mapping[str, _Evaluator] = {
    "ABS": _elementwise("abs", 1),
    "ADD": _elementwise("add"),
    "BROADCAST_ARGS": _of_two(lambda left, right: np.array(np.broadcast_shapes(_axes(left), _axes(right)))),
    "BROADCAST_TO": _of_two(lambda source, shape: np.broadcast_to(source, _small(_ints(shape)))),
    "CAST": _elementwise("asarray", 1),
    "CONCATENATION": _joined("concatenate"),
    "DIV": _elementwise(_divided),
    "EQUAL": _elementwise("equal"),
    "EXPAND_DIMS": _of_two(lambda source, axis: np.expand_dims(source, _ints(axis)[0])),
    "FILL": _fill,
    "FLOOR_DIV": _elementwise(_floored("floor_divide")),
    "FLOOR_MOD": _elementwise(_floored("mod")),
    "GATHER": _gather,
    "GREATER": _elementwise("greater"),
    "GREATER_EQUAL": _elementwise("greater_equal"),
    "LESS": _elementwise("less"),
    "LESS_EQUAL": _elementwise("less_equal"),
    "LOGICAL_AND": _elementwise("logical_and"),
    "LOGICAL_NOT": _elementwise("logical_not", 1),
    "LOGICAL_OR": _elementwise("logical_or"),
    "MAXIMUM": _elementwise("maximum"),
    "MINIMUM": _elementwise("minimum"),
    "MUL": _elementwise("multiply"),
    "NEG": _elementwise("negative", 1),
    "NOT_EQUAL": _elementwise("not_equal"),
    "PACK": _joined("stack"),
    "RANGE": _range,
    "REDUCE_MAX": _reduced("max"),
    "REDUCE_MIN": _reduced("min"),
    "REDUCE_PROD": _reduced("prod"),
    "RESHAPE": lambda options, operands: operands[0].reshape(_ints(operands[1]) if len(operands) > 1 else options.new_shape),
    "RSQRT": _elementwise(lambda source: 1 / np.sqrt(source), 1),
    "SELECT": _elementwise(_selected, 3),
    "SELECT_V2": _elementwise("where", 3),
    "SLICE": _slice,
    "SQRT": _elementwise("sqrt", 1),
    "SQUEEZE": lambda options, operands: np.squeeze(operands[0], tuple(options.squeeze_dims) or None),
    "STRIDED_SLICE": _strided_slice,
    "SUB": _elementwise("subtract"),
    "SUM": _reduced("sum"),
    "TILE": _tiled,
    "TRANSPOSE": _of_two(lambda source, order: np.transpose(source, _ints(order))),
    "UNPACK": _unpacked,
}

"""Nodes with options that the runtime fails to load.

Source: ``InterpreterBuilder::ParseNodes`` (``core/interpreter_builder.cc``), and the parse functions for single operators
(``core/api/flatbuffer_conversions.cc``). The runtime stops at the first node that it fails to load. The log lines were observed
in runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from ..graph.graph import file_graphs
from ..model import schema
from ..model.model import Model, Node
from ..model.options import Options
from ..refusal import Refusal
from ..rules.kinds import NODE_NOT_LOADED


class _Given(NamedTuple):
    options: Options
    has: Callable[[str], bool]


_WrongOptions: TypeAlias = tuple[str, tuple[str, ...]]
"""A problem with a node's options: a description, and the lines that the runtime logs."""

_Check = Callable[[_Given], Iterator[_WrongOptions]]


def invalid_node(model: Model, loaded: set[Hashable] | None = None) -> Refusal | None:
    """Return the first node that is not loaded, or None if all nodes are loaded.

    ``loaded`` has the operators and options of nodes in models with the same bytes that are loaded. More are added.
    """
    loaded = set() if loaded is None else loaded
    checked = {code.op for code in model.operator_codes} & (_NEEDED.keys() | _CHECKS.keys())
    if not checked:
        return None
    for graph in file_graphs(model):
        for node in graph.nodes:
            own = node.op, node.options
            if node.op not in checked or own in loaded or node.is_custom:
                continue
            fault = next(_wrong(model, node, model.options(node)), None)
            if fault is None:
                loaded.add(own)
            else:
                return NODE_NOT_LOADED.refusal(
                    "{problem}",
                    subgraph=graph.index,
                    node=node.index,
                    values={"problem": fault[0], "op": node.op},
                    log_lines=fault[1],
                )
    return None


def _wrong(model: Model, node: Node, options: Options) -> Iterator[_WrongOptions]:
    if options.table is not None:
        given = _Given(options, functools.partial(model.has_option, node))
        for check in _CHECKS.get(node.op, ()):
            yield from check(given)
    elif node.op in _NEEDED:
        yield "it has no options", (_NEEDED[node.op],)


def _has(field: str, line: str) -> _Check:
    """Return a check for a missing option. ``line`` is the runtime's log line about the missing option."""

    def check(given: _Given) -> Iterator[_WrongOptions]:
        if not given.has(field):
            yield f"it has no {field}", (line,)

    return check


def _one_of(field: str, known: frozenset[int], line: str = "") -> _Check:
    """Return a check for an unknown value of a numeric option.

    ``line`` is the runtime's log line with ``{}`` in place of the value, or "" if the runtime logs no line.
    """

    def check(given: _Given) -> Iterator[_WrongOptions]:
        value = getattr(given.options, field)
        if value not in known:
            yield f"its {field} is {value}", (line.format(value),) if line else ()

    return check


def _types(*fields: str) -> tuple[_Check, ...]:
    known = frozenset(schema.enum_names("TensorType"))
    return tuple([_one_of(field, known, "Unsupported data type {} in tensor") for field in fields])


def _vector(name: str, field: str, most: int, *, is_needed: bool = False, attribute: str = "") -> _Check:
    """Return a check for a vector with more than ``most`` elements.

    If ``is_needed`` is True, the vector must also be present. ``attribute`` is the runtime's name for the vector, or "" if the
    runtime does not name the vector.
    """
    which = (f"Check the '{attribute}' attribute.",) if attribute else ()

    def check(given: _Given) -> Iterator[_WrongOptions]:
        if is_needed and not given.has(field):
            yield f"it has no {field}", (f"Input array not provided for operation '{name}'.", *which)
        if (length := len(getattr(given.options, field))) > most:
            line = f"Found too many dimensions in the input array of operation '{name}'."
            yield f"its {field} has {length} elements, more than {most}", (line, *which)

    return check


_PAD = "stablehlo.pad"
_PADDINGS = ("edge_padding_low", "edge_padding_high", "interior_padding")


def _paddings_agree(given: _Given) -> Iterator[_WrongOptions]:
    if len({len(getattr(given.options, field)) for field in _PADDINGS}) > 1:
        line = f"'{_PAD}' operation parameter array sizes are not consistent."
        yield f"{', '.join(_PADDINGS)} have different lengths", (line,)


_WINDOW = "stablehlo.reduce_window"
_WINDOW_DIMENSIONS = "window_dimensions"
_WINDOW_VECTORS = (_WINDOW_DIMENSIONS, "window_strides", "base_dilations", "window_dilations", "padding")


def _windows_agree(given: _Given) -> Iterator[_WrongOptions]:
    """Check that the window has dimensions, and that all given vectors have the right length for the window.

    The paddings need two elements for each dimension of the window. All other vectors need one element for each dimension.
    """
    rank = len(given.options.window_dimensions)
    if not rank:
        line = f"'{_WINDOW_DIMENSIONS}' attribute is not optional for '{_WINDOW}' and cannot be empty."
        yield f"it has no {_WINDOW_DIMENSIONS}", (line,)
    for field in _WINDOW_VECTORS:
        factor = 2 if field == "padding" else 1
        length = len(getattr(given.options, field))
        if length not in (0, factor * rank):
            line = f"'{field}' attribute of '{_WINDOW}' does not have the expected size ({length} != {factor * rank})."
            yield f"its {field} has {length} elements, not {factor * rank}", (line,)
        yield from _vector(_WINDOW, field, factor * _MOST_DIMENSIONS, attribute=field)(given)


_MOST_DIMENSIONS = 8
"""Largest number of dimensions in the parameters of RESHAPE, SQUEEZE, STABLEHLO_PAD and STABLEHLO_REDUCE_WINDOW."""
_MOST_BRANCHES = 20

_NEEDED: Mapping[str, str] = {
    "LSTM": "No valid LSTM builtin options exist",
    "STABLEHLO_CASE": "Could not get 'stablehlo.case' operation parameters.",
    "STABLEHLO_COMPOSITE": "Could not get 'stablehlo.composite' operation parameters.",
    "STABLEHLO_PAD": f"Could not get '{_PAD}' operation parameters.",
    "STABLEHLO_REDUCE_WINDOW": f"Could not get '{_WINDOW}' operation parameters.",
}
"""The operators that must have options, and the line that the runtime logs if a node has none."""

_CHECKS: Mapping[str, tuple[_Check, ...]] = {
    "ARG_MAX": _types("output_type"),
    "ARG_MIN": _types("output_type"),
    "BUCKETIZE": (_has("boundaries", "boundaries array not provided for operation 'bucketize'."),),
    "CAST": _types("in_data_type", "out_data_type"),
    "CONV_2D": _types("quantized_bias_type"),
    "FULLY_CONNECTED": (
        *_types("quantized_bias_type"),
        _one_of("weights_format", frozenset({0, 1}), "Unhandled fully-connected weights format."),
    ),
    "HASHTABLE": _types("key_dtype", "value_dtype"),
    "LSTM": (_one_of("kernel_type", frozenset({0, 1}), "Unhandled LSTM kernel type: {}"),),
    "REDUCE_WINDOW": (_one_of("reduce_function", frozenset(range(1, 7))),),
    "RESHAPE": (_vector("reshape", "new_shape", _MOST_DIMENSIONS),),
    "SHAPE": _types("out_type"),
    "SQUEEZE": (_vector("squeeze", "squeeze_dims", _MOST_DIMENSIONS),),
    "STABLEHLO_CASE": (
        _vector("stablehlo.case", "branch_subgraph_indices", _MOST_BRANCHES, is_needed=True, attribute="branch subgraph indices"),
    ),
    "STABLEHLO_COMPOSITE": tuple(
        [_has(field, f"'stablehlo.composite' missing required option '{field}'.") for field in ("name", "composite_attributes")]
    ),
    "STABLEHLO_PAD": (
        *[_vector(_PAD, field, _MOST_DIMENSIONS, is_needed=True, attribute=field) for field in _PADDINGS],
        _paddings_agree,
    ),
    "STABLEHLO_REDUCE_WINDOW": (_windows_agree,),
    "TRANSPOSE_CONV": _types("quantized_bias_type"),
}
"""The checks of each operator's options, for nodes that have options."""

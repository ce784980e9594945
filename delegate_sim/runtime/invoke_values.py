"""The constants that CPU kernels refuse when they run, such as an index behind the last row.

Measured with tflite-runtime 2.14 and ``ai-edge-litert`` 1.0.1 to 2.3.0 and a nightly of 2.4.0. Upstream: the functions ``Eval``
in ``cumsum.cc``, ``div.cc``, ``embedding_lookup.cc``, ``floor_div.cc``, ``floor_mod.cc``, ``gather.cc``, ``gather_nd.cc``,
``pow.cc``, ``reverse.cc``, ``reverse_sequence.cc`` and ``scatter_nd.cc`` of ``kernels``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.graph import NodeView
from ..model.model import Tensor
from ..model.numbers import FlatNumbers, as_list, bounds, fact_of, fulfill
from ..refusal import Refusal, node_place
from ..releases.catalogue import Release, parse_release
from ..rules.kinds import CPU_KERNEL_VALUE

_INTEGERS = frozenset({"INT8", "INT16", "INT32", "INT64"})
_DIVISORS = {"DIV": frozenset({"INT32"}), "FLOOR_DIV": _INTEGERS | {"FLOAT32"}, "FLOOR_MOD": _INTEGERS}
"""The types of divisors that must not be 0. Before litert-1.4.0, an integer DIV by 0 ends the process."""
VALUES_CHECKED = frozenset(_DIVISORS).union(
    ["GATHER", "GATHER_ND", "SCATTER_ND", "EMBEDDING_LOOKUP", "CUMSUM", "REVERSE_V2", "REVERSE_SEQUENCE", "POW"]
)
"""The operators whose constants are checked."""
_MOST_SIZES = 8
"""More sizes of a result are not read."""
_EACH_NUMBER_IS_CHECKED = parse_release("litert-2.1.6")
"""From this release on, GATHER_ND and SCATTER_ND check each number of an index. Older releases check the place in memory."""


def refused_value(node: NodeView, release: Release) -> Refusal | None:
    """Return the refusal of a node by its CPU kernel because of the value of a constant, or None."""
    if node.op in _DIVISORS:
        divisor = node.input(1)
        values = node.value(divisor) if divisor.type in _DIVISORS[node.op] else None
        is_refused = values is not None and not fact_of(values, _has_no_zero)
        return _refusal(node, 1, 0, "other than 0") if is_refused else None
    position, least, most = _limits(node, release)
    values = None if least is most is None else node.value(node.input(position))
    if values is None or not len(values):
        return None
    lowest, highest = bounds(values)
    if least is not None and lowest < least:
        return _refusal(node, position, lowest, f"at least {least}")
    if most is not None and highest > most:
        return _refusal(node, position, highest, f"at most {most}")
    return None


def _refusal(node: NodeView, position: int, found: int, needed: str) -> Refusal:
    place = node_place(node.node.index, node.op)
    values = {"place": place, "operand": f"input {position}", "found": found, "needed": needed}
    return CPU_KERNEL_VALUE.refusal(CPU_KERNEL_VALUE.template, node=node.node.index, values=values)


def _has_no_zero(values: FlatNumbers) -> bool:
    return fulfill(values, lambda value: value != 0)


def _limits(node: NodeView, release: Release) -> tuple[int, int | None, int | None]:
    """Return the position of an operand, and the smallest and largest number that it may have. None is no limit."""
    match node.op:
        case "GATHER":
            return 1, 0, _last(_along(node.input(0), node.options.axis))
        case "GATHER_ND":
            return 1, 0, _last(_indexed(node.input(0).shape, node.input(1), release))
        case "SCATTER_ND":
            sizes = node.value(node.input(2))
            last = None if sizes is None else _last(_indexed(as_list(sizes[:_MOST_SIZES]), node.input(0), release))
            return 0, None if last is None else 0, last
        case "EMBEDDING_LOOKUP":
            return 0, 0, _last(node.input(1).shape[:1])
        case "CUMSUM" | "REVERSE_V2":
            rank = node.input(0).rank
            return 1, -rank, rank - 1
        case "REVERSE_SEQUENCE":
            return 1, None, max(_along(node.input(0), node.options.seq_dim), default=None)
        case "POW" if node.input(1).type == "INT32":
            return 1, 0, None
    return 0, None, None


def _along(tensor: Tensor, axis: int) -> Sequence[int]:
    return [tensor.shape[axis]] if -tensor.rank <= axis < tensor.rank and 0 not in tensor.shape else []


def _indexed(shape: Sequence[int], indices: Tensor, release: Release) -> Sequence[int]:
    """Return the sizes of the dimensions that an index counts along. Return none if numbers are not checked one by one."""
    depth = indices.shape[-1] if indices.shape else 0
    if depth > len(shape):
        return ()
    return shape[:depth] if depth == 1 or release.is_at_least(_EACH_NUMBER_IS_CHECKED) else ()


def _last(sizes: Sequence[int]) -> int | None:
    """Return the last index along the longest dimension. Return None for dimensions without elements."""
    return max(sizes) - 1 if sizes and min(sizes) > 0 else None

"""The operands that a check reads, sets of numbers that a check allows, and nodes that lack operands or results.

Most delegates do not check whether operands are missing. If an operand is missing, such a delegate reads past the end of the
node's operand array, and its behavior cannot be predicted. Nodes with missing operands are therefore refused for every delegate,
after the delegate's own checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..graph.graph import NodeView
from ..model.model import OPTIONAL_TENSOR, Node, Tensor
from ..model.numbers import as_list, read_as
from .kinds import MALFORMED_OPERANDS
from .rule import ACCEPTED, Reason, Verdict


class Operand(NamedTuple):
    """An operand or a result of a node, with its name in messages."""

    position: int
    name: str
    is_result: bool = False

    @property
    def data(self) -> tuple[str, int]:
        """The side (``input`` or ``output``) and the position, as plain data."""
        return ("output" if self.is_result else "input", self.position)

    def tensor(self, node: NodeView) -> Tensor:
        """Return the tensor, or ``NO_TENSOR`` if the operand is omitted or missing."""
        indices = node.node.outputs if self.is_result else node.node.inputs
        index = indices[self.position] if self.position < len(indices) else OPTIONAL_TENSOR
        return node.tensor(index)

    def is_given(self, node: NodeView) -> bool:
        """Return whether the node has this operand. False if the operand is omitted."""
        indices = node.node.outputs if self.is_result else node.node.inputs
        return self.position < len(indices) and indices[self.position] >= 0


def operand(position: int, name: str = "") -> Operand:
    """Return the operand at a position."""
    return Operand(position, name or f"input {position}")


def result(position: int = 0, name: str = "") -> Operand:
    """Return the result at a position."""
    return Operand(position, name or (f"output {position}" if position else "output"), is_result=True)


INPUT = operand(0)
OUTPUT = result()


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A set of allowed numbers. ``words`` describes the set, as in "at most 4". ``data`` has the limits as plain data."""

    words: str
    holds: Callable[[int], bool]
    data: tuple[str | int, ...]

    def __contains__(self, number: int) -> bool:
        return self.holds(number)


def exactly(*allowed: int) -> Numbers:
    """Allow only these numbers."""
    return Numbers(listed(map(str, allowed)), frozenset(allowed).__contains__, ("exactly", *sorted(set(allowed))))


def at_most(limit: int) -> Numbers:
    """Allow numbers of ``limit`` or less."""
    return Numbers(f"at most {limit}", lambda number: number <= limit, ("at most", limit))


def at_least(least: int) -> Numbers:
    """Allow numbers of ``least`` or more."""
    return Numbers(f"at least {least}", lambda number: number >= least, ("at least", least))


def between(least: int, most: int) -> Numbers:
    """Allow numbers in a range, both ends included."""
    return Numbers(f"{least} to {most}", lambda number: least <= number <= most, ("between", least, most))


def up_to_one() -> Numbers:
    """Allow 1 or less, because a file may store operator version 1 as 0. The description is only "1"."""
    return replace(at_most(1), words="1")


def allowed_numbers(numbers: int | Numbers) -> Numbers:
    """Return ``numbers`` as a set. A single number becomes a set of one number."""
    return exactly(numbers) if isinstance(numbers, int) else numbers


def listed(names: Iterable[str]) -> str:
    """Join names for a sentence: "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def counted(number: int, name: str) -> str:
    """Return a number with its noun: "no inputs", "1 input", "2 inputs"."""
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"


_WORD = 4
"""The size of an INT32 in bytes."""


def stored_integers(node: NodeView, tensor: Tensor) -> list[int]:
    """Return the elements of a constant or persistent tensor, or no elements if they are not known.

    The bytes of other types than integers are read as INT32, as by delegates that do not look at the type. Raises LimitError if
    there are too many elements.
    """
    values = node.value(tensor)
    if values is None:
        return []
    if "INT" in tensor.type:
        return as_list(values)
    return as_list(read_as(values, "<i4")) if values.nbytes % _WORD == 0 else []


def int32_halves(numbers: Sequence[int]) -> list[int]:
    """Return both halves of each INT64 number, lower half first, as a delegate reads them that takes them for INT32 numbers."""
    return [half for number in numbers for half in ((number & 0xFFFFFFFF ^ 0x80000000) - 0x80000000, number >> 32)]


NEEDED = "the operands and results that the operator requires"

_FEWEST: Mapping[tuple[int, int], str] = {
    (0, 1): "HASHTABLE VAR_HANDLE",
    (
        1,
        1,
    ): "ABS ADD_N AVERAGE_POOL_2D BITCAST BUCKETIZE CAST CEIL COMPLEX_ABS CONCATENATION COS DENSIFY DEPTH_TO_SPACE DEQUANTIZE "
    "ELU EXP FAKE_QUANT FLOOR GELU HARD_SWISH HASHTABLE_SIZE IMAG L2_NORMALIZATION L2_POOL_2D LEAKY_RELU "
    "LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_NOT LOGISTIC LOG_SOFTMAX MATRIX_DIAG MAX_POOL_2D NEG PACK QUANTIZE "
    "RANDOM_STANDARD_NORMAL RANDOM_UNIFORM RANK READ_VARIABLE REAL RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 RESHAPE ROUND RSQRT SHAPE "
    "SIGN SIN SKIP_GRAM SOFTMAX SPACE_TO_DEPTH SQRT SQUARE SQUEEZE TANH UNPACK WHERE "
    "ZEROS_LIKE",
    (1, 2): "UNIQUE",
    (2, 0): "ASSIGN_VARIABLE",
    (2, 1): "ADD ARG_MAX ARG_MIN ATAN2 BATCH_MATMUL BITWISE_XOR BROADCAST_ARGS BROADCAST_TO CONV_2D CONV_3D CUMSUM "
    "DEPTHWISE_CONV_2D DIV EMBEDDING_LOOKUP EQUAL EXPAND_DIMS FILL FLOOR_DIV FLOOR_MOD FULLY_CONNECTED GATHER GATHER_ND GREATER "
    "GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_OR LSH_PROJECTION MATRIX_SET_DIAG MAXIMUM MEAN MINIMUM MIRROR_PAD MUL "
    "MULTINOMIAL NOT_EQUAL PAD PADV2 POW PRELU REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD RESIZE_BILINEAR "
    "RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 RFFT2D RIGHT_SHIFT SEGMENT_SUM SPLIT SQUARED_DIFFERENCE SUB SUM TILE "
    "TRANSPOSE",
    (2, 2): "TOPK_V2",
    (3, 0): "HASHTABLE_IMPORT",
    (3, 1): "BATCH_TO_SPACE_ND CONV_3D_TRANSPOSE DILATE DYNAMIC_UPDATE_SLICE HASHTABLE_FIND RANGE SCATTER_ND SELECT SELECT_V2 "
    "SLICE SPACE_TO_BATCH_ND SPLIT_V TRANSPOSE_CONV UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN UNSORTED_SEGMENT_PROD "
    "UNSORTED_SEGMENT_SUM",
    (3, 2): "HASHTABLE_LOOKUP",
    (4, 1): "ONE_HOT RNN SPARSE_TO_DENSE STRIDED_SLICE UNIDIRECTIONAL_SEQUENCE_RNN",
    (5, 1): "EMBEDDING_LOOKUP_SPARSE LSTM NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 REDUCE_WINDOW SVDF",
    (12, 1): "BIDIRECTIONAL_SEQUENCE_RNN",
    (20, 1): "UNIDIRECTIONAL_SEQUENCE_LSTM",
    (48, 1): "BIDIRECTIONAL_SEQUENCE_LSTM",
}
"""Operators, grouped by the minimum numbers of operands and of results.

The CPU kernels require these numbers (``kernels/*.cc: Prepare``). The numbers were verified for each operator with
ai-edge-litert 2.3.0. PAD and PADV2 share one kernel, which takes two or three operands.

For ADD_N and UNIDIRECTIONAL_SEQUENCE_RNN, the kernels require more operands than this table. The delegate VX takes nodes
before Prepare, and it takes ADD_N with 1 operand and UNIDIRECTIONAL_SEQUENCE_RNN with 4 operands. For SPLIT, SPLIT_V and
UNPACK, the kernels also accept 0 results if the options say 0. This table requires one result, because a node without results
does nothing.
"""

_MOST_GIVEN = 3
"""If an operator requires more operands than this number, all its operands except the first may be omitted (-1)."""

FEWEST: Mapping[str, tuple[int, int]] = {
    operator: counts for counts, operators in _FEWEST.items() for operator in operators.split()
}


def malformed_verdict(node: NodeView, *, is_counted: bool = False) -> Verdict:
    """Return the verdict on a node that a delegate's rules accept.

    ``is_counted`` means that these rules check the number of operands.
    """
    missing = _lacking(node.node, is_counted=is_counted)
    if missing is None:
        return ACCEPTED
    kind = MALFORMED_OPERANDS
    return Verdict(False, (Reason(kind.name, kind.name, f"{missing}; needs {NEEDED}", missing, NEEDED, kind.hint),))


def is_whole(node: Node) -> bool:
    """Return whether a node has at least one input and one output, and lacks no operand or result."""
    return bool(node.inputs) and bool(node.outputs) and min(node.outputs) >= 0 and _lacking(node, is_counted=False) is None


def _lacking(node: Node, *, is_counted: bool) -> str | None:
    inputs, outputs = (0, 0) if node.is_custom else FEWEST.get(node.op, (0, 0))
    if len(node.inputs) < (min(inputs, 1) if is_counted else inputs) or len(node.outputs) < outputs:
        return f"has {counted(len(node.inputs), 'input')} and {counted(len(node.outputs), 'output')}"
    given = node.inputs[:inputs] if inputs <= _MOST_GIVEN else node.inputs[:1]
    if OPTIONAL_TENSOR in given:
        return f"input {given.index(OPTIONAL_TENSOR)} is left out"
    if OPTIONAL_TENSOR in node.outputs[:outputs]:
        return f"output {node.outputs.index(OPTIONAL_TENSOR)} is left out"
    return None

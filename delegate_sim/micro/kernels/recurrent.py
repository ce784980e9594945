"""Layers with a state, calls of other subgraphs, and variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, QUANTIZATION, SHAPE
from ...rules.operands import INPUT, OUTPUT, at_least, operand
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, rank, typed, where
from ..checks import FLOAT32, FLOAT32_INT8, INT8, INT8_INT16, INT32, one_element, scale, where_typed, with_cmsis_nn
from ..target import HYBRID, TENSOR_TYPE, MicroKernel, in_source

_HANDLE, _CONDITION = operand(0, "handle"), operand(0, "condition")


def _missing_subgraph(*fields: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        count = len(node.graph.model.subgraphs)
        for field in fields:
            index = getattr(node.options, field)
            if not 0 <= index < count:
                return f"{field} {index} of {count}"
        return None

    return check(ATTRIBUTE, "indices of existing subgraphs", find)


def _arguments(field: str, first: int, *, results: bool) -> Check[object]:
    def find(node: NodeView) -> str | None:
        subgraphs, index = node.graph.model.subgraphs, getattr(node.options, field)
        if not 0 <= index < len(subgraphs):
            return None
        given = len(node.node.inputs) - first, len(node.node.outputs)
        wanted = len(subgraphs[index].inputs), len(subgraphs[index].outputs)
        if given == wanted or (not results and given[0] == wanted[0]):
            return None
        return f"{given[0]} inputs and {given[1]} outputs, but {wanted[0]} and {wanted[1]} in subgraph {index}"

    return check(OPERAND_COUNT, f"as many operands as the subgraph in {field}", find)


def _loop_results(node: NodeView) -> str | None:
    counts = len(node.node.inputs), len(node.node.outputs)
    return None if counts[0] == counts[1] else f"{counts[0]} inputs and {counts[1]} outputs"


_CONTROL_FLOW = {
    "ASSIGN_VARIABLE": MicroKernel(
        in_source(
            "assign_variable.cc: Prepare", operand_count(2, 0), typed(_HANDLE, ("RESOURCE", "INT32")), one_element(_HANDLE)
        ),
        in_source("assign_variable.cc: Eval"),
    ),
    "CALL_ONCE": MicroKernel(
        in_source("call_once.cc: CallOncePrepare", operand_count(0, 0), _missing_subgraph("init_subgraph_index")),
        in_source("call_once.cc: CallOnceEval"),
    ),
    "IF": MicroKernel(
        in_source(
            "if.cc: IfPrepare",
            operand_count(at_least(1)),
            typed(_CONDITION, ("BOOL",)),
            one_element(_CONDITION),
            _missing_subgraph("then_subgraph_index", "else_subgraph_index"),
            _arguments("then_subgraph_index", 1, results=True),
        ),
        in_source("if.cc: IfEval"),
    ),
    "READ_VARIABLE": MicroKernel(in_source("read_variable.cc: Prepare"), in_source("read_variable.cc: Eval")),
    "VAR_HANDLE": MicroKernel(in_source("var_handle.cc: VarHandlePrepare"), in_source("var_handle.cc: VarHandleEval")),
    "WHILE": MicroKernel(
        in_source(
            "while.cc: WhilePrepare",
            _missing_subgraph("cond_subgraph_index", "body_subgraph_index"),
            _arguments("cond_subgraph_index", 0, results=False),
            _arguments("body_subgraph_index", 0, results=True),
            check(OPERAND_COUNT, "as many outputs as inputs", _loop_results),
        ),
        in_source("while.cc: WhileEval"),
    ),
}


_FEATURES, _TIME, _BIAS, _STATE = (
    operand(1, "weights_feature"),
    operand(2, "weights_time"),
    operand(3, "bias"),
    operand(4, "state"),
)
_BIAS_TOLERANCE = 1e-5
_Pair: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""A shape, and the expected shape."""


def _svdf_units(node: NodeView) -> int:
    return node.input(1).size(0) // (node.options.rank or 1)


def _svdf_rank(node: NodeView) -> str | None:
    filters, count = node.input(1).size(0), node.options.rank
    return None if count and filters % count == 0 else f"{filters} filters with rank {count}"


def _svdf_shapes(node: NodeView) -> str | None:
    batch, size = node.input(0).size(0), node.input(0).size(1)
    filters, memory = node.input(1).size(0), node.input(2).size(1)
    wanted: dict[str, _Pair] = {
        "output": (node.output(0).shape, (batch, _svdf_units(node))),
        "weights_feature": (node.input(1).shape, (filters, size)),
        "weights_time": (node.input(2).shape, (filters, memory)),
    }
    if node.input(3).index >= 0:
        wanted["bias"] = (node.input(3).shape[:1], (_svdf_units(node),))
    wanted["state"] = (node.input(4).shape, (batch, memory * filters))
    return _first_difference(wanted.items())


def _first_difference(rows: Iterable[tuple[str, _Pair]]) -> str | None:
    for name, (shape, expected) in rows:
        if shape != expected:
            return f"{name} of shape {list(shape)} instead of {list(expected)}"
    return None


def _svdf_bias_scale(node: NodeView) -> str | None:
    product, bias = scale(node.input(4)) * scale(node.input(2)), scale(node.input(3))
    return (
        None
        if abs(bias - product) < _BIAS_TOLERANCE
        else f"bias scale {bias:g}, but state scale times the scale of weights_time is {product:g}"
    )


def _svdf_scratch(node: NodeView) -> tuple[int, ...]:
    batch, filters = node.input(0).size(0), node.input(1).size(0)
    products = 4 * batch * filters
    return (products, 4 * batch * _svdf_units(node)) if node.input(0).type == "INT8" else (products,)


_SVDF = MicroKernel(
    in_source(
        "svdf_common.cc: PrepareSvdf",
        check(OPERAND_COUNT, "state", lambda node: None if node.input(4).index >= 0 else "no state"),
        check(SHAPE, "a number of filters that is a multiple of rank", _svdf_rank),
        typed(INPUT, FLOAT32_INT8),
        rank(INPUT, 2),
        check(
            SHAPE, "operands and output with the shapes that the numbers of filters, memory steps and units require", _svdf_shapes
        ),
        check(
            OPERAND_COUNT,
            "a variable tensor as state",
            lambda node: None if node.input(4).is_variable else "state is not a variable tensor",
        ),
        operand_count(5, 1),
        *where_typed(
            INPUT,
            INT8,
            typed(_FEATURES, INT8),
            typed(_TIME, INT8_INT16),
            typed(_STATE, INT8_INT16),
            *where(_BIAS.is_given, "if a bias is given", typed(_BIAS, INT32)),
            typed(OUTPUT, INT8),
            check(QUANTIZATION, "a bias scale equal to the state scale times the scale of weights_time", _svdf_bias_scale),
        ),
        *where_typed(
            INPUT,
            FLOAT32,
            typed(_FEATURES, FLOAT32).of_kind(HYBRID),
            typed(_TIME, FLOAT32).of_kind(HYBRID),
            typed(_STATE, FLOAT32).of_kind(HYBRID),
            *where(_BIAS.is_given, "if a bias is given", typed(_BIAS, FLOAT32)),
            typed(OUTPUT, FLOAT32),
        ),
    ),
    in_source("svdf.cc: EvalSvdf"),
    scratch=_svdf_scratch,
)

_WEIGHTS, _BIASES = range(1, 9), range(12, 16)
_LEFT_OUT = (*range(9, 12), 16, 17, *range(20, 24))


def _lstm_states(node: NodeView) -> str | None:
    for position, name in ((18, "output state"), (19, "cell state")):
        if not node.input(position).is_variable:
            return f"{name} is not a variable tensor"
    return None


def _lstm_type(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        kinds = node.input(0).type, (node.output(0) if position < 0 else node.input(position)).type
        return None if kinds[0] == kinds[1] else f"{kinds[0]} input and {kinds[1]} {name}"

    return check(TENSOR_TYPE, f"input and {name} of the same type", find)


def _given_of_one_type(positions: Sequence[int], compared: int) -> Callable[[NodeView], str | None]:
    def find(node: NodeView) -> str | None:
        kind = node.input(compared).type
        for position in positions:
            if node.input(position).index < 0:
                return f"no input {position}"
            if node.input(position).type != kind:
                return f"input {compared} is {kind} and input {position} is {node.input(position).type}"
        return None

    return find


def _lstm_constants(node: NodeView) -> str | None:
    for position in (*_WEIGHTS, *_BIASES):
        if not node.input(position).is_constant:
            return f"input {position} is not constant"
    return None


def _lstm_extras(node: NodeView) -> str | None:
    given = [position for position in _LEFT_OUT if node.input(position).index >= 0]
    return f"input {given[0]} is given" if given else None


def _lstm_sizes(node: NodeView) -> tuple[int, int]:
    return node.input(0).size(1 if node.options.time_major else 0), node.input(18).size(1)


def _lstm_shapes(node: NodeView) -> str | None:
    source = node.input(0)
    batch, state = _lstm_sizes(node)
    size = source.size(2)
    rows: list[tuple[str, _Pair]] = [
        (f"input {position}", (node.input(position).shape, (state, size if position < 5 else state))) for position in _WEIGHTS
    ]
    rows += [(f"input {position}", (node.input(position).shape, (state,))) for position in _BIASES]
    difference = _first_difference(rows)
    if difference is not None:
        return difference
    for tensor, name in ((node.input(18), "output state"), (node.input(19), "cell state")):
        if tensor.element_count != batch * state:
            return f"{name} with {tensor.element_count} elements instead of {batch * state}"
    return _first_difference([("output", (node.output(0).shape, (*source.shape[:2], state)))])


def _lstm_cell_type(node: NodeView) -> str | None:
    return None if node.input(19).type in ("FLOAT32", "INT16") else f"cell state is {node.input(19).type}"


def _lstm_weight_type(node: NodeView) -> str | None:
    pair = node.input(0).type, node.input(1).type
    return None if pair[0] == "FLOAT32" or pair[1] == "INT8" else f"{pair[0]} input and {pair[1]} weights"


def _lstm_scratch(node: NodeView) -> tuple[int, ...]:
    batch, state = _lstm_sizes(node)
    return (batch * state * (4 if node.input(19).type == "FLOAT32" else 2),) * 4


_LSTM = MicroKernel(
    in_source(
        "unidirectional_sequence_lstm.cc: UnidirectionalSequenceLstmPrepare",
        operand_count(24, 1),
        check(OPERAND_COUNT, "variable tensors as states", _lstm_states),
        _lstm_type(18, "output state"),
        _lstm_type(-1, "output"),
        check(OPERAND_COUNT, "all weights, of the same type", _given_of_one_type(_WEIGHTS, 2)),
        check(OPERAND_COUNT, "all biases, of the same type", _given_of_one_type(_BIASES, 13)),
        check(
            OPERAND_COUNT,
            "no peephole weights, projection or layer normalization",
            _lstm_extras,
            "convert the layer without peephole weights, projection and layer normalization",
        ),
        *with_cmsis_nn(
            "unidirectional_sequence_lstm.cc",
            check(CONSTANT, "constant weights and biases", _lstm_constants),
            symbol="UnidirectionalSequenceLstmPrepare",
        ),
        check(
            SHAPE, "weights, biases, states and output with the shapes that the sizes of input and state require", _lstm_shapes
        ),
        check(TENSOR_TYPE, "cell state of type FLOAT32 or INT16", _lstm_cell_type),
    ),
    in_source(
        "unidirectional_sequence_lstm.cc: UnidirectionalSequenceLstmEval",
        typed(INPUT, ("FLOAT32", "INT8", "INT16")),
        check(HYBRID, "INT8 weights with INT8 or INT16 input", _lstm_weight_type),
    ),
    scratch=_lstm_scratch,
)

KERNELS = {**_CONTROL_FLOW, "SVDF": _SVDF, "UNIDIRECTIONAL_SEQUENCE_LSTM": _LSTM}

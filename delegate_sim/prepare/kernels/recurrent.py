"""Prepare functions of recurrent layers: SVDF, RNN and LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...model import schema
from ...model.model import Allocation
from ..kernel import KernelNode, kernel
from ..tensors import KernelTensor, affine_quantization

_INPUT_TO_INPUT, _INPUT_TO_FORGET, _INPUT_TO_CELL, _INPUT_TO_OUTPUT = range(1, 5)
_RECURRENT_TO_INPUT, _RECURRENT_TO_FORGET, _RECURRENT_TO_CELL, _RECURRENT_TO_OUTPUT = range(5, 9)
_CELL_TO_INPUT, _CELL_TO_FORGET, _CELL_TO_OUTPUT = range(9, 12)
_INPUT_BIAS, _FORGET_BIAS, _CELL_BIAS, _OUTPUT_BIAS = range(12, 16)
_PROJECTION_WEIGHTS, _PROJECTION_BIAS = range(16, 18)
_OUTPUT_STATE, _CELL_STATE = range(18, 20)
_INPUT_NORM, _FORGET_NORM, _CELL_NORM, _OUTPUT_NORM = range(20, 24)

_BACKWARD = 17
"""Distance between the same operand (from the weights to the projection) of the forward and the backward cell, in positions."""
_FORWARD_OUTPUT_STATE, _FORWARD_CELL_STATE, _BACKWARD_OUTPUT_STATE, _BACKWARD_CELL_STATE = range(35, 39)
_AUXILIARY_INPUT = 39
_FORWARD_AUXILIARY_WEIGHTS, _BACKWARD_AUXILIARY_WEIGHTS = 40, 44
"""The position of each cell's first auxiliary weights. Their order is the order of the cell's input weights."""

_WEIGHT_TYPES = ("FLOAT32", "UINT8", "INT8")
_HIDDEN_INTERMEDIATE = 4
"""Position of the intermediate tensor with the quantization of the projection's input, in an integer LSTM."""


def _ensure_affine(node: KernelNode, tensor: KernelTensor) -> None:
    node.ensure(affine_quantization(tensor) is not None, "a tensor of the integer kernel has no affine quantization")


def _ensure_state(node: KernelNode, position: int, element_count: int) -> None:
    state = node.input(position)
    node.ensure(state.is_variable, "a state is not variable")
    node.ensure(state.element_count == element_count, "a state has a wrong number of elements")


@kernel("SVDF")
def prepare_svdf(node: KernelNode) -> None:
    """``kernels/svdf.cc: Prepare``."""
    node.ensure_counts(5, 1)
    source, feature_weights, time_weights = node.input(0), node.input(1), node.input(2)
    bias, state, result = node.optional_input(3), node.input(4), node.output()
    node.ensure_type(source, ("FLOAT32", "INT8"))
    rank = node.options.rank
    batches, input_size = source.shape[:2]
    filters, feature_size = feature_weights.shape[:2]
    node.ensure(rank != 0 and filters % rank == 0, "the number of filters is not a multiple of the rank")
    units = filters // rank
    node.ensure(input_size == feature_size, "input and feature weights have different sizes")
    node.ensure(time_weights.shape[0] == filters, "time weights and feature weights have different numbers of filters")
    if bias is not None:
        node.ensure(bias.shape[0] == units, "the bias does not have one element for each unit")
    node.ensure_shape(state, (batches, time_weights.shape[1] * filters))
    node.resize(node.output(), (batches, units))
    if source.type == "INT8":
        for tensor in (source, feature_weights, state, time_weights, result):
            _ensure_affine(node, tensor)


@kernel("RNN")
def prepare_rnn(node: KernelNode) -> None:
    """``kernels/basic_rnn.cc: Prepare``."""
    node.ensure_counts(5, 1)
    source, weights, recurrent_weights, bias, state = map(node.input, range(5))
    batches, input_size = source.shape[:2]
    _check_rnn_cell(node, source, input_size, (weights, recurrent_weights, bias))
    units = weights.shape[0]
    node.ensure_shape(state, (batches, units))
    node.resize(node.output(), (batches, units))


@kernel("UNIDIRECTIONAL_SEQUENCE_RNN", changed_in=("litert-2.1.6",))
def prepare_unidirectional_sequence_rnn(node: KernelNode) -> None:
    """``kernels/unidirectional_sequence_rnn.cc: Prepare``."""
    node.ensure_counts(5, 1)
    source, weights, recurrent_weights, bias, state = map(node.input, range(5))
    if node.since("litert-2.1.6"):
        for tensor, rank in ((source, 3), (weights, 2), (recurrent_weights, 2), (bias, 1)):
            node.ensure_rank(tensor, rank)
    _check_rnn_cell(node, source, source.shape[2], (weights, recurrent_weights, bias))
    units = weights.shape[0]
    node.ensure_shape(state, (_batches(node, source), units))
    node.resize(node.output(), (*source.shape[:2], units))


def _check_rnn_cell(node: KernelNode, source: KernelTensor, input_size: int, cell: Sequence[KernelTensor]) -> None:
    weights, recurrent_weights, bias = cell
    units = bias.shape[0]
    node.ensure(weights.shape[:2] == (units, input_size), "the shape of the weights does not match the input and the bias")
    node.ensure(recurrent_weights.shape[:2] == (units, units), "the recurrent weights do not have one row for each unit")
    node.ensure_type(source, "FLOAT32")
    node.ensure(weights.type == recurrent_weights.type, "weights and recurrent weights have different types")


def _batches(node: KernelNode, source: KernelTensor) -> int:
    return source.shape[1] if node.options.time_major else source.shape[0]


@kernel("BIDIRECTIONAL_SEQUENCE_RNN")
def prepare_bidirectional_sequence_rnn(node: KernelNode) -> None:
    """``kernels/bidirectional_sequence_rnn.cc: Prepare``."""
    node.ensure_counts(12, 1 if node.options.merge_outputs else 2)
    source = node.input(0)
    node.ensure_type(source, "FLOAT32")
    node.ensure_rank(source, 3)
    forward_units = _check_directed_rnn_cell(node, source, 1)
    backward_units = _check_directed_rnn_cell(node, source, 5)
    for position, dimension, units in ((2, 0, forward_units), (6, 1, backward_units)):
        size = node.input(position).shape[dimension]
        node.ensure(size == units, "recurrent weights and bias have different sizes")
    _check_rnn_auxiliary_input(node, source, forward_units, backward_units)
    _resize_both_directions(node, source, forward_units, backward_units)


def _resize_both_directions(node: KernelNode, source: KernelTensor, forward: int, backward: int) -> None:
    sizes = (forward + backward,) if node.options.merge_outputs else (forward, backward)
    for position, size in enumerate(sizes):
        node.resize(node.output(position), (*source.shape[:2], size))


def _check_directed_rnn_cell(node: KernelNode, source: KernelTensor, first: int) -> int:
    weights, bias, state = node.input(first), node.input(first + 2), node.input(first + 3)
    units = weights.shape[0]
    node.ensure(weights.shape[1] == source.shape[2], "input and weights have different sizes")
    node.ensure(bias.shape[0] == units, "the bias does not have one element for each unit")
    node.ensure_shape(state, (_batches(node, source), units))
    return units


def _check_rnn_auxiliary_input(node: KernelNode, source: KernelTensor, forward_units: int, backward_units: int) -> None:
    forward_weights, backward_weights = node.optional_input(10), node.optional_input(11)
    if forward_weights is None and backward_weights is None:
        return
    if forward_weights is None or backward_weights is None:
        node.fail("only one of the cells has weights for the auxiliary input")
    auxiliary = node.input(9)
    node.ensure(auxiliary.shape[:2] == source.shape[:2], "the leading dimensions of input and auxiliary input differ")
    size = auxiliary.shape[2]
    for weights, units in ((forward_weights, forward_units), (backward_weights, backward_units)):
        node.ensure(weights.shape[:2] == (units, size), "the shape of the auxiliary weights does not match the auxiliary input")


class _Cell(NamedTuple):
    inputs: int
    outputs: int
    cells: int
    allows_diagonal_weights: bool = False
    compares_weight_types: bool = True
    is_integer: bool = False


@kernel("LSTM")
def prepare_lstm(node: KernelNode) -> None:
    """``kernels/lstm.cc: Prepare``."""
    is_basic = schema.enum_names("LSTMKernelType").get(node.options.kernel_type) == "BASIC"
    (_prepare_basic_lstm if is_basic else _prepare_full_lstm)(node)


def _prepare_basic_lstm(node: KernelNode) -> None:
    """``kernels/lstm.cc: basic::Prepare``."""
    node.ensure_counts(5, 4)
    source, previous_activation, weights, bias, previous_state = map(node.input, range(5))
    node.ensure_rank(source, 2)
    node.ensure_rank(previous_activation, 2)
    batches, input_depth = source.shape
    activation_depth = previous_activation.shape[1]
    total_depth = input_depth + activation_depth
    node.ensure_shape(previous_activation, (batches, activation_depth))
    node.ensure_shape(weights, (4 * activation_depth, total_depth))
    node.ensure_shape(bias, (4 * activation_depth,))
    node.ensure_shape(previous_state, (batches, activation_depth))
    activation, state, concatenated, gates = map(node.output, range(4))
    node.resize(activation, previous_activation.shape)
    node.resize(state, previous_state.shape)
    node.resize(concatenated, (batches, total_depth))
    node.resize(gates, (batches, 4 * activation_depth))
    previous_activation.allocation = previous_state.allocation = Allocation.VARIABLE


def _prepare_full_lstm(node: KernelNode) -> None:
    """``kernels/lstm.cc: full::Prepare``."""
    node.ensure_counts((20, 24), 1)
    source = node.input(0)
    is_integer = source.type == "INT8"
    node.ensure(source.rank > 1, "the input has fewer than 2 dimensions")
    batches, inputs = source.shape[:2]
    output_weights, recurrent_weights = node.input(_INPUT_TO_OUTPUT), node.input(_RECURRENT_TO_OUTPUT)
    cells = output_weights.shape[0]
    node.ensure_shape(output_weights, (cells, inputs))
    node.ensure_rank(recurrent_weights, 2)
    node.ensure(recurrent_weights.shape[0] == cells, "the recurrent weights do not have one row for each cell")
    cell = _Cell(inputs, recurrent_weights.shape[1], cells, is_integer=is_integer)
    _check_lstm_cell(node, 0, cell)
    _check_layer_norm(node, cells, is_integer)
    _ensure_state(node, _OUTPUT_STATE, batches * cell.outputs)
    _ensure_state(node, _CELL_STATE, batches * cell.cells)
    node.resize(node.output(), (batches, cell.outputs))
    if is_integer:
        _check_integer_lstm(node, (5, 12))


@kernel("UNIDIRECTIONAL_SEQUENCE_LSTM")
def prepare_unidirectional_sequence_lstm(node: KernelNode) -> None:
    """``kernels/unidirectional_sequence_lstm.cc: Prepare``."""
    node.ensure_counts((20, 24), 1)
    source = node.input(0)
    is_integer = source.type == "INT8"
    inputs = source.shape[2]
    output_weights, recurrent_weights = node.input(_INPUT_TO_OUTPUT), node.input(_RECURRENT_TO_OUTPUT)
    cells = output_weights.shape[0]
    node.ensure_shape(output_weights, (cells, inputs))
    node.ensure(recurrent_weights.shape[0] == cells, "the recurrent weights do not have one row for each cell")
    if recurrent_weights.rank != 1:
        node.ensure_rank(recurrent_weights, 2)
        node.ensure(recurrent_weights.type == output_weights.type, "weights and recurrent weights have different types")
    cell = _Cell(inputs, recurrent_weights.shape[-1], cells, True, False, is_integer)
    _check_lstm_cell(node, 0, cell)
    _check_layer_norm(node, cells, is_integer)
    _ensure_state(node, _OUTPUT_STATE, _batches(node, source) * cell.outputs)
    _ensure_state(node, _CELL_STATE, _batches(node, source) * cell.cells)
    node.resize(node.output(), (*source.shape[:-1], cell.outputs))
    if is_integer:
        _check_integer_lstm(node, (5,))


@kernel("BIDIRECTIONAL_SEQUENCE_LSTM", changed_in=("litert-2.3.0",))
def prepare_bidirectional_sequence_lstm(node: KernelNode) -> None:
    """``kernels/bidirectional_sequence_lstm.cc: Prepare``."""
    node.ensure_counts(48, 1 if node.options.merge_outputs else 2)
    source = node.input(0)
    node.ensure_type(source, "FLOAT32")
    node.ensure_rank(source, 3)
    forward = _directed_cell_sizes(node, source, 0)
    backward = _directed_cell_sizes(node, source, _BACKWARD)
    for cell in (forward, backward):
        # The kernel checks both cells twice: with the sizes of the forward cell, and then with the sizes of the backward cell.
        _check_lstm_cell(node, 0, cell)
        _check_lstm_cell(node, _BACKWARD, cell)
    _check_lstm_auxiliary_input(node, source, forward.cells, backward.cells)
    batches = _batches(node, source)
    _ensure_state(node, _FORWARD_OUTPUT_STATE, batches * forward.outputs)
    _ensure_state(node, _FORWARD_CELL_STATE, batches * forward.cells)
    _ensure_state(node, _BACKWARD_OUTPUT_STATE, batches * backward.outputs)
    _ensure_state(node, _BACKWARD_CELL_STATE, batches * backward.cells)
    _resize_both_directions(node, source, forward.outputs, backward.outputs)


def _directed_cell_sizes(node: KernelNode, source: KernelTensor, first: int) -> _Cell:
    output_weights = node.input(first + _INPUT_TO_OUTPUT)
    recurrent_weights = node.input(first + _RECURRENT_TO_OUTPUT)
    cells = output_weights.shape[0]
    node.ensure_shape(output_weights, (cells, source.shape[2]))
    node.ensure_rank(recurrent_weights, 2)
    node.ensure(recurrent_weights.shape[0] == cells, "the recurrent weights do not have one row for each cell")
    kind = node.input(_INPUT_TO_OUTPUT).type
    node.ensure(output_weights.type == recurrent_weights.type == kind, "the weights have different types")
    node.ensure(node.input(first + _INPUT_TO_FORGET).type == kind, "the weights have different types")
    return _Cell(source.shape[2], recurrent_weights.shape[1], cells)


def _check_lstm_cell(node: KernelNode, first: int, cell: _Cell) -> None:
    """Check an LSTM cell with operands that begin at position ``first`` (``CheckInputTensorDimensions``)."""
    node.ensure(node.options.cell_clip >= 0 and node.options.proj_clip >= 0, "a clip is negative")
    has_input_gate = _check_lstm_weights(node, first, cell)
    _check_peephole_weights(node, first, cell, has_input_gate)
    _check_lstm_biases(node, first, cell, has_input_gate)
    _check_projection(node, first, cell)


def _check_lstm_weights(node: KernelNode, first: int, cell: _Cell) -> bool:
    forget_weights = node.input(first + _INPUT_TO_FORGET)
    if cell.compares_weight_types:
        node.ensure_type(forget_weights, _WEIGHT_TYPES)
    gate_weights = node.optional_input(first + _INPUT_TO_INPUT)
    recurrent_gate_weights = node.optional_input(first + _RECURRENT_TO_INPUT)
    for weights in (forget_weights, gate_weights, node.input(first + _INPUT_TO_CELL)):
        if weights is not None:
            node.ensure_shape(weights, (cell.cells, cell.inputs))
            same_type = not cell.compares_weight_types or weights.type == forget_weights.type
            node.ensure(same_type, "the weights have different types")
    for position in (_RECURRENT_TO_FORGET, _RECURRENT_TO_CELL):
        _check_recurrent_weights(node, node.input(first + position), forget_weights, cell)
    if recurrent_gate_weights is not None:
        _check_recurrent_weights(node, recurrent_gate_weights, forget_weights, cell)
        node.ensure(recurrent_gate_weights.shape[0] == cell.cells, "the recurrent weights do not have one row for each cell")
    has_input_gate = gate_weights is not None
    node.ensure(has_input_gate == (recurrent_gate_weights is not None), "the input gate lacks some of its weights")
    return has_input_gate


def _check_recurrent_weights(node: KernelNode, weights: KernelTensor, forget_weights: KernelTensor, cell: _Cell) -> None:
    """Check recurrent weights. A kernel that allows diagonal weights does not check the number of rows."""
    if cell.allows_diagonal_weights and weights.rank == 1:
        return
    rows = weights.shape[0] if cell.allows_diagonal_weights else cell.cells
    node.ensure_shape(weights, (rows, cell.outputs))
    node.ensure(weights.type == forget_weights.type, "the weights have different types")


def _check_peephole_weights(node: KernelNode, first: int, cell: _Cell, has_input_gate: bool) -> None:
    kind = "INT16" if cell.is_integer else node.input(first + _INPUT_TO_FORGET).type
    weights = [node.optional_input(first + position) for position in (_CELL_TO_INPUT, _CELL_TO_FORGET, _CELL_TO_OUTPUT)]
    for tensor in weights:
        if tensor is not None:
            node.ensure_shape(tensor, (cell.cells,))
            node.ensure_type(tensor, kind)
    to_input, to_forget, to_output = (tensor is not None for tensor in weights)
    is_complete = (to_input or not has_input_gate) and to_forget and to_output
    node.ensure(is_complete or not (to_input or to_forget or to_output), "some of the peephole weights are missing")


def _check_lstm_biases(node: KernelNode, first: int, cell: _Cell, has_input_gate: bool) -> None:
    positions = [_FORGET_BIAS, _CELL_BIAS, _OUTPUT_BIAS]
    if has_input_gate:
        positions.append(_INPUT_BIAS)
    else:
        node.ensure(node.optional_input(first + _INPUT_BIAS) is None, "there is a bias but no weights for the input gate")
    for position in positions:
        _check_vector(node, first + position, cell.cells, "INT32" if cell.is_integer else "FLOAT32")


def _check_vector(node: KernelNode, position: int, size: int, kind: str) -> None:
    node.ensure_shape(node.input(position), (size,))
    node.ensure_type(node.input(position), kind)


def _check_projection(node: KernelNode, first: int, cell: _Cell) -> None:
    weights = node.optional_input(first + _PROJECTION_WEIGHTS)
    bias = node.optional_input(first + _PROJECTION_BIAS)
    if weights is not None:
        node.ensure_shape(weights, (cell.outputs, cell.cells))
        if cell.compares_weight_types:
            node.ensure_type(weights, node.input(first + _INPUT_TO_FORGET).type)
    if bias is not None:
        node.ensure(weights is not None, "there is a bias but no weights for the projection")
        _check_vector(node, first + _PROJECTION_BIAS, cell.outputs, "INT32" if cell.is_integer else "FLOAT32")


def _check_layer_norm(node: KernelNode, cells: int, is_integer: bool) -> None:
    if node.optional_input(_FORGET_NORM) is None:
        return
    positions = [_FORGET_NORM, _CELL_NORM, _OUTPUT_NORM]
    if node.optional_input(_INPUT_TO_INPUT) is not None:
        positions.append(_INPUT_NORM)
    else:
        node.ensure(node.optional_input(_INPUT_NORM) is None, "there are coefficients but no weights for the input gate")
    for position in positions:
        _check_vector(node, position, cells, "INT16" if is_integer else "FLOAT32")


def _check_integer_lstm(node: KernelNode, intermediate_counts: tuple[int, ...]) -> None:
    count = len(node.node.intermediates)
    node.ensure(count in intermediate_counts, "the number of intermediate tensors does not match the integer kernel")
    if count == 12:
        for position, _ in enumerate(node.node.intermediates):
            _ensure_affine(node, node.intermediate(position))
        return
    _ensure_affine(node, node.intermediate(_HIDDEN_INTERMEDIATE))
    for position in range(_INPUT_TO_INPUT, _RECURRENT_TO_OUTPUT + 1):
        weights = node.optional_input(position)
        node.ensure(weights is None or weights.rank == 2, "the integer kernel does not support diagonal weights")


def _check_lstm_auxiliary_input(node: KernelNode, source: KernelTensor, forward_cells: int, backward_cells: int) -> None:
    """Check the auxiliary input and its weights (``CheckAuxInputTensorDimensions``).

    Either both cells or none have auxiliary weights. Releases before LiteRT 2.3 compare only the leading dimensions of input and
    auxiliary input, and abort if these dimensions differ.
    """
    auxiliary = node.optional_input(_AUXILIARY_INPUT)
    cells = ((_FORWARD_AUXILIARY_WEIGHTS, forward_cells), (_BACKWARD_AUXILIARY_WEIGHTS, backward_cells))
    present = [node.optional_input(first + gate) is not None for first, _ in cells for gate in (1, 2, 3)]
    node.ensure(all(present) or not any(present), "some of the auxiliary weights are missing")
    if any(present) and auxiliary is None:
        node.fail("there are weights for an auxiliary input, but no auxiliary input")
    if not node.since("litert-2.3.0"):
        is_alike = auxiliary is None or not any(present) or auxiliary.shape[:2] == source.shape[:2]
        node.ensure(is_alike, "the runtime aborts, because the leading dimensions of input and auxiliary input differ")
        return
    if any(present) and auxiliary is not None:
        node.ensure_shape(auxiliary, (*source.shape[:2], auxiliary.shape[-1]))
        _check_auxiliary_weights(node, cells, auxiliary.shape[-1])
    elif auxiliary is not None:
        node.ensure_shape(auxiliary, source.shape)


def _check_auxiliary_weights(node: KernelNode, cells: Sequence[tuple[int, int]], size: int) -> None:
    for index, (first, cell_count) in enumerate(cells):
        for gate in range(4):
            weights = node.optional_input(first + gate)
            if weights is not None:
                node.ensure_shape(weights, (cell_count, size))
        has_input_gate = node.optional_input(index * _BACKWARD + _INPUT_TO_INPUT) is not None
        node.ensure(not has_input_gate or node.optional_input(first) is not None, "the input gate lacks auxiliary weights")

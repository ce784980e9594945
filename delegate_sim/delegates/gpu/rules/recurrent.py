"""LSTM cells. The full form has weights for each gate. The basic form has one weights tensor for all gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....releases.catalogue import parse_release
from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import CELL_STATE, OUTPUT_STATE, is_full_lstm
from ..build.model import GATE_SUM, Value, consume
from ..build.reader import HW, LINEAR, NodeReader, Parser
from ..failures import build_error
from .checks import gpu_rule

RULES = {"LSTM": gpu_rule("LSTMOperationParser", *layers.LSTM, version_up_to=4)}


# Building the model

_INPUT_TO_INPUT_WEIGHTS = 1
_CELL_TO_FORGET_WEIGHTS = 10
_PROJECTION_WEIGHTS = 16
_PROJECTION_BIAS = 17
_FORGET_NORMALIZATION = 21
_NO_PEEPHOLE = -1

_BASIC_DEPTH_IS_CHECKED = parse_release("litert-2.1.6")
"""From this release on, the last dimension of a basic LSTM's fourth result must be a multiple of 4."""


@dataclass(frozen=True, slots=True)
class _Gate:
    input_weights: int
    recurrent_weights: int
    peephole: int
    bias: int
    normalization: int


_INPUT_GATE = _Gate(_INPUT_TO_INPUT_WEIGHTS, 5, 9, 12, 20)
_FORGET_GATE = _Gate(2, 6, _CELL_TO_FORGET_WEIGHTS, 13, _FORGET_NORMALIZATION)
_CELL_GATE = _Gate(3, 7, _NO_PEEPHOLE, 14, 22)
_OUTPUT_GATE = _Gate(4, 8, 11, 15, 23)


def parse_lstm(reader: NodeReader) -> None:
    """Parse an LSTM of either form, full or basic."""
    if is_full_lstm(reader.view):
        _parse_full(reader)
    else:
        _parse_basic(reader)


def _parse_basic(reader: NodeReader) -> None:
    reader.read(2, HW)
    reader.read_bias(3)
    node = reader.view.node
    concat, joint, cell = reader.add("CONCAT", 3), reader.add("FULLY_CONNECTED"), reader.add("LSTM")
    reader.values.of(node.output(2))
    depth = reader.values.of(node.output(3)).shape[3]
    if depth % 4 and reader.values.release.is_at_least(_BASIC_DEPTH_IS_CHECKED):
        raise build_error("gpu-build-shape", reader.view.output(3), needed="a last dimension that is a multiple of 4")
    reader.add_input(concat, 0)
    reader.add_input(concat, 1)
    consume(joint, reader.add_output(concat, 2))
    consume(cell, reader.add_output(joint, 3))
    reader.add_input(cell, 4)
    reader.add_output(cell, 1)
    reader.add_output(cell, 0)


def _parse_full(reader: NodeReader) -> None:
    cell_state = reader.value(CELL_STATE)
    if cell_state.shape[0] != 1:
        raise build_error("gpu-build-shape", reader.view.input(CELL_STATE), needed="a batch of 1")
    output_state = reader.value(OUTPUT_STATE)
    gates = [_FORGET_GATE, _CELL_GATE, _OUTPUT_GATE]
    if _has(reader, _INPUT_TO_INPUT_WEIGHTS):
        gates.insert(1, _INPUT_GATE)
    for gate in gates:
        _build_gate(reader, gate, output_state, cell_state)
    update = reader.add("MUL")
    consume(update, cell_state)
    if _has(reader, _PROJECTION_WEIGHTS):
        _read_weights(reader, _PROJECTION_WEIGHTS, bias=_PROJECTION_BIAS)
    reader.add_output(reader.add("COPY"), 0)


def _has(reader: NodeReader, position: int) -> bool:
    return reader.view.input(position).index >= 0


def _build_gate(reader: NodeReader, gate: _Gate, output_state: Value, cell_state: Value) -> None:
    is_normalized = _has(reader, _FORGET_NORMALIZATION)
    _read_weights(reader, gate.input_weights, bias=None if is_normalized else gate.bias)
    reader.add_input(reader.add("FULLY_CONNECTED"), 0)
    _read_weights(reader, gate.recurrent_weights)
    consume(reader.add("FULLY_CONNECTED"), output_state)
    if _has(reader, _CELL_TO_FORGET_WEIGHTS) and gate.peephole != _NO_PEEPHOLE:
        reader.read(gate.peephole, LINEAR)
        if gate is not _OUTPUT_GATE:
            # The output gate reads the new state, and the new state is not a tensor of the graph.
            consume(reader.add("MUL"), cell_state)
    reader.add(GATE_SUM)
    if is_normalized:
        reader.read(gate.normalization, LINEAR)
        reader.read(gate.bias, LINEAR)


def _read_weights(reader: NodeReader, position: int, bias: int | None = None) -> None:
    """Read weights and a bias (``GetFullyConnectedNode``).

    Upstream copies INT8 weights with a single scale, without converting them to float.
    """
    weights = reader.view.input(position)
    if weights.type == "INT8" and weights.quantization is None:
        raise build_error("gpu-build-unscaled-constant", weights)
    if weights.type == "INT8" and not weights.is_per_channel:
        if not weights.is_constant and weights.element_count:
            raise build_error("gpu-build-runtime-operand", weights)
    else:
        reader.read(position, HW)
    if bias is not None:
        reader.read_bias(bias)


PARSERS: Mapping[str, Parser] = {"LSTM": parse_lstm}

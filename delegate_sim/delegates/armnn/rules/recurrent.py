"""Layers with a state."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.operands import INPUT, OUTPUT, operand
from ..steps import Layer, Query
from ..tensors import Info, input_info, output_info
from .checks import VisitStep, constant_weights, inputs_at_least, readable, visited

_OPERANDS = {
    1: "InputToInputWeights",
    2: "InputToForgetWeights",
    3: "InputToCellWeights",
    4: "InputToOutputWeights",
    5: "RecurrentToInputWeights",
    6: "RecurrentToForgetWeights",
    7: "RecurrentToCellWeights",
    8: "RecurrentToOutputWeights",
    9: "CellToInputWeights",
    10: "CellToForgetWeights",
    11: "CellToOutputWeights",
    12: "InputGateBias",
    13: "ForgetGateBias",
    14: "CellBias",
    15: "OutputGateBias",
    16: "ProjectionWeights",
    17: "ProjectionBias",
    20: "InputLayerNormWeights",
    21: "ForgetLayerNormWeights",
    22: "CellLayerNormWeights",
    23: "OutputLayerNormWeights",
}
"""The weights by position of the operand. Operands 18 and 19 are the states."""
_STATES = (operand(18, "output state"), operand(19, "cell state"))
_NOT_CONSTANT = "Invalid attempt to construct ConstTensor from non-constant TensorInfo."


def _weights() -> tuple[VisitStep, ...]:
    steps: list[VisitStep] = []
    for position, name in _OPERANDS.items():
        which = operand(position, name)
        if position == 20:
            steps.append(readable(*_STATES))
        steps += [readable(which), constant_weights(which, _NOT_CONSTANT)]
    return tuple(steps)


def _parts(node: NodeView) -> dict[str, Info]:
    """Return the weights that the backends are asked about, by name."""
    parts = {name: input_info(node, position) for position, name in _OPERANDS.items() if operand(position).is_given(node)}
    if not {"InputToInputWeights", "RecurrentToInputWeights", "InputGateBias"} <= parts.keys():
        for name in ("InputToInputWeights", "RecurrentToInputWeights", "CellToInputWeights", "InputGateBias"):
            parts.pop(name, None)
        parts.pop("InputLayerNormWeights", None)
    return parts


def _lstm(node: NodeView, dimension: int) -> Query:
    source, output = input_info(node, 0), output_info(node)
    output_state, cell_state = (input_info(node, state.position) for state in _STATES)
    batch, size, units = source.size(0), output.size(dimension), cell_state.size(1)
    parts = _parts(node)
    gates = 4 if "InputToInputWeights" in parts else 3
    values = {
        **parts,
        "outputStateIn": output_state,
        "cellStateIn": cell_state,
        "scratchBuffer": source.with_shape((batch, units * gates)),
        "outputStateOut": source.with_shape((batch, size)),
        "cellStateOut": (cell_state if dimension == 2 else source).with_shape((batch, units)),
        "output": output,
        "time_major": bool(node.options.time_major) if dimension == 2 else False,
    }
    return Query((source,), (output,), values=values)


RULES = {
    "LSTM": visited(
        "Lstm.hpp",
        inputs_at_least(2),
        *_weights(),
        readable(INPUT, OUTPUT),
        Layer("LSTM", "lstm", lambda node: _lstm(node, 1), "Lstm.hpp:222"),
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": visited(
        "UnidirectionalSequenceLstm.hpp",
        inputs_at_least(2),
        *_weights(),
        readable(INPUT, OUTPUT),
        Layer("UNIDIRECTIONAL_SEQUENCE_LSTM", "sequence_lstm", lambda node: _lstm(node, 2), "UnidirectionalSequenceLstm.hpp:259"),
    ),
}
"""The rules by operator."""

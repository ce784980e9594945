"""Advice on calls that the runtime rejected. For some calls, the advice is more specific than the advice for the broken rule."""

from __future__ import annotations

import re

from ....foundation.converter_attributes import DENSE_PER_TENSOR
from ....graph.graph import Graph
from ....model.model import Tensor
from ....nnapi_runtime.types import OperandType, OperationType
from ..kinds import PREFIX
from ..lowering.call_sites import RefusedCall
from ..lowering.partition import LoweredPartition
from .refusal_kinds import KINDS

_CHANNELS = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL.name
_OPERAND = re.compile(r"\b(input|output) (\d+)")


def change_for(call: RefusedCall) -> str:
    """Return advice on how to change the model or the options so that the call is not rejected."""
    value, operation = call.refusal.violation.found, call.operation
    if _CHANNELS in value:
        return _change_of_channels(operation)
    if call.refusal.code == "operand-zero-point" and "QUANT8_SYMM" in call.refusal.violation.needed:
        return "use feature level 30 (Android 11) or newer; from this level on, INT8 tensors may have a zero point"
    if operation in ("TRANSPOSE", "SQUEEZE", "RESHAPE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND") and "type" in call.refusal.code:
        return (
            f"insert a CAST before and after the node so that {operation} gets float or 8-bit tensors, or leave the node to the "
            "CPU"
        )
    if operation == "TRANSPOSE_CONV" and value == OperandType.TENSOR_FLOAT16.name:
        return "convert with float32 weights, because NNAPI has no TRANSPOSE_CONV with float16 weights"
    return KINDS[PREFIX + call.refusal.code].hint


def _change_of_channels(operation: str) -> str:
    if operation == "FULLY_CONNECTED":
        return f"quantize dense layers per tensor: {DENSE_PER_TENSOR}"
    return (
        f"quantize fully to int8 with a representative data set, or keep the weights of {operation or 'the node'} in float; "
        "NNAPI accepts per-channel weights only with 8-bit activations"
    )


def refused_operand(call: RefusedCall, graph: Graph, lowered: LoweredPartition) -> tuple[str, Tensor | None]:
    """Return a description of the rejected operand, and the operand's tensor in the graph. The tensor may be None."""
    if call.tensor is not None:
        return _named(call.tensor), call.tensor
    subject = call.refusal.violation.subject
    place = _OPERAND.search(subject)
    model = lowered.model
    if place is None or model is None or not call.operation:
        return subject, None
    operations = [
        operation
        for operation in model.operations
        if operation.tag == call.node and OperationType(operation.type).name.startswith(call.operation)
    ]
    if not operations:
        return subject, None
    operands = operations[-1].inputs if place[1] == "input" else operations[-1].outputs
    position = int(place[2])
    index = operands[position] if position < len(operands) else -1
    tensor = next((graph.tensors[key] for key, operand in lowered.tensors.items() if operand == index), None)
    return (subject, None) if tensor is None else (f"{subject}, {_named(tensor)}", tensor)


def _named(tensor: Tensor) -> str:
    return f"tensor {tensor.index} ({tensor.name})" if tensor.name else f"tensor {tensor.index}"

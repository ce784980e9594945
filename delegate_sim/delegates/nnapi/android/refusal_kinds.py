"""Kinds of problem for the rules of Android's NNAPI runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ....foundation.converter_attributes import DENSE_PER_TENSOR
from ....graph.graph import Graph
from ....nnapi_runtime.operands import OPERAND_ZERO_POINT
from ....nnapi_runtime.refusal import Concern, OperandPart, Rule
from ....nnapi_runtime.rules import RULES
from ....nnapi_runtime.types import OperandType, OperationType
from ....refusal import Refusal
from ....rules.kinds import Kind, Problem
from ..kinds import PREFIX
from ..lowering.partition import LoweredPartition


@dataclass(frozen=True, slots=True)
class Words:
    """The texts for a rule of the runtime: the kind of problem, the advice, and a short hint."""

    problem: Problem
    advice: str
    hint: str


_TYPES = Words(
    Problem.TYPE,
    "Convert the model so that the operand has a type that the operation accepts, or insert a CAST before the node.",
    "convert so that the operand has a type that NNAPI accepts, or insert a CAST",
)
_OPERANDS = Words(
    Problem.OPERANDS,
    "Give the node a combination of operands that NNAPI supports, or replace the operator.",
    "give the node a combination of operands that NNAPI supports",
)
_RANK = Words(
    Problem.RANK,
    "Reshape to at most four dimensions before the node, and restore the dimensions after the node.",
    "reshape to at most 4 dimensions before the node",
)
_SHAPE = Words(Problem.SHAPE, "Change the shapes of the node's operands.", "change the shapes of the node's operands")
_SCALE = Words(
    Problem.QUANTIZATION,
    "Quantize again with data that gives every tensor more than one value, or widen the range of the output.",
    "quantize again with other ranges",
)
_CHANNELS = Words(
    Problem.QUANTIZATION,
    "Quantize the weights per tensor, or along the dimension that the operation requires.",
    "quantize the weights per tensor",
)
_CONSTANT = Words(
    Problem.CONSTANT,
    "Give the constant at least one dimension and one element, for example the shape [1], or fold the node into a constant.",
    "give the constant at least one dimension and one element",
)
_WRITTEN = Words(
    Problem.CONSTANT,
    "Convert the model without float16 or sparse weights, because the delegate does not unpack the weights of this operator.",
    "convert without float16 or sparse weights",
)
_MODEL = Words(Problem.MODEL, "Remove nodes with unused results.", "remove nodes with unused results")
_BOUNDARY = Words(
    Problem.CONSTANT,
    "Before or while you convert the model, fold nodes that read only constants.",
    "fold nodes that read only constants",
)
_LEVEL = Words(
    Problem.TARGET_LEVEL,
    "Use a newer Android release, or use older NNAPI operations for the same computation.",
    "use a newer feature level",
)
_DEVICE = Words(
    Problem.DRIVER,
    "Choose another accelerator, or allow NNAPI's own CPU implementation.",
    "choose another accelerator, or allow NNAPI's own CPU",
)

_WORDS_OF_CONCERNS: Mapping[Concern, Words] = {
    Concern.TYPES: _TYPES,
    Concern.RANK: _RANK,
    Concern.SHAPE: _SHAPE,
    Concern.SCALES: _SCALE,
    Concern.CHANNELS: _CHANNELS,
}
"""The texts for each concern of rules on operations. If ``_WORDS`` has an entry for a rule, this entry is used instead."""

_WORDS: Mapping[str, Words] = {
    "operand-type": _TYPES,
    "operand-scalar-dimensions": _SHAPE,
    "operand-dimensions-pointer": Words(
        Problem.RANK, "Give the tensor at least one dimension, for example the shape [1].", "give the tensor the shape [1]"
    ),
    "operand-bytes": _SHAPE,
    "operand-scale": _SCALE,
    "operand-zero-point": _SCALE,
    "channel-type": _CHANNELS,
    "channel-dimension": _CHANNELS,
    "channel-count": _CHANNELS,
    "channel-scale": _CHANNELS,
    "channel-missing": _CHANNELS,
    "value-pointer": _CONSTANT,
    "value-shape": _CONSTANT,
    "value-length": _CONSTANT,
    "operation-input-count": _OPERANDS,
    "operation-output-count": _OPERANDS,
    "operation-type": _TYPES,
    "operation-input-type": _TYPES,
    "operation-output-type": _TYPES,
    "operation-fully-connected-shape": Words(
        Problem.SHAPE,
        "Reshape the input to two dimensions before the node. The weights must have two dimensions, and the bias one dimension.",
        "reshape the input to 2 dimensions before the node",
    ),
    "operation-quantization-equal": Words(
        Problem.QUANTIZATION,
        "Quantize so that the result has the scale and zero point of the operand.",
        "quantize so that operand and result have the same scale and zero point",
    ),
    "operation-mul-output-scale": Words(
        Problem.QUANTIZATION,
        "Quantize again so that the range of the product is wider, or leave this node in float.",
        "widen the output's range when quantizing, or leave the node in float",
    ),
    "operation-mul-output-scale-signed": Words(
        Problem.QUANTIZATION,
        "Quantize again so that the range of the product is wider, or leave this node in float. NNAPI runtimes before "
        "Android 13 do not check this range.",
        "widen the output's range when quantizing, or leave the node in float",
    ),
    "operation-code": _OPERANDS,
    "operation-pointers": _OPERANDS,
    "model-run-order": _WRITTEN,
    "model-empty": _MODEL,
    "model-boundary": _BOUNDARY,
    "model-written-twice": _MODEL,
    "model-never-written": _WRITTEN,
    "model-feature-level": _LEVEL,
    "operand-index": _OPERANDS,
    "model-boundary-pointers": _BOUNDARY,
    "model-boundary-operand": _BOUNDARY,
    "compilation-no-device": _DEVICE,
    "compilation-step-boundary": _MODEL,
    "compilation-driver": _DEVICE,
    "compilation-step-sizes": _DEVICE,
}


def _kind(rule: Rule, words: Words) -> Kind:
    summary = rule.summary.rstrip(".")
    return Kind(
        PREFIX + rule.code,
        words.problem,
        f"rejected by Android's NNAPI runtime: {rule.code.replace('-', ' ')}",
        f"The NNAPI runtime behind the delegate has this rule: {summary[0].lower()}{summary[1:]}. If the runtime rejects a "
        "call, the delegate fails in every subgraph, and the CPU runs the whole model.",
        words.advice,
        words.hint,
        is_shared=True,
    )


def _words() -> Iterator[tuple[Rule, Words]]:
    for code, words in _WORDS.items():
        yield RULES[code], words
    for rule in RULES.values():
        if rule.concern is not None and rule.code not in _WORDS:
            yield rule, _WORDS_OF_CONCERNS[rule.concern]


KINDS: Mapping[str, Kind] = MappingProxyType({PREFIX + rule.code: _kind(rule, words) for rule, words in _words()})
"""The kind of each rejection by the runtime, keyed by code.

Rules on control flow and on simulated failures are omitted, because the delegate's models cannot break these rules.
"""

_REFUSAL_ADVICE_CHANNELS = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
_SYMMETRIC = frozenset({OperandType.TENSOR_QUANT8_SYMM, _REFUSAL_ADVICE_CHANNELS})
_MOVES = frozenset({"TRANSPOSE", "SQUEEZE", "RESHAPE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"})


def change_for(call: Refusal) -> str:
    """Return advice on how to change the model or the options so that the call is not rejected."""
    kind, operation = KINDS[PREFIX + call.code], call.operation
    if call.found is _REFUSAL_ADVICE_CHANNELS:
        return _change_of_channels(operation)
    if call.code == OPERAND_ZERO_POINT.code and call.needed.type in _SYMMETRIC:
        return "use feature level 30 (Android 11) or newer; from this level on, INT8 tensors may have a zero point"
    if operation in _MOVES and kind.problem is Problem.TYPE:
        return (
            f"insert a CAST before and after the node so that {operation} gets float or 8-bit tensors, or leave the node to the "
            "CPU"
        )
    if operation == "TRANSPOSE_CONV" and call.found is OperandType.TENSOR_FLOAT16:
        return "convert with float32 weights, because NNAPI has no TRANSPOSE_CONV with float16 weights"
    return kind.hint


def _change_of_channels(operation: str) -> str:
    if operation == "FULLY_CONNECTED":
        return f"quantize dense layers per tensor: {DENSE_PER_TENSOR}"
    return (
        f"quantize fully to int8 with a representative data set, or keep the weights of {operation or 'the node'} in float; "
        "NNAPI accepts per-channel weights only with 8-bit activations"
    )


def refused_operand(call: Refusal, graph: Graph, lowered: LoweredPartition) -> tuple[str, int | None]:
    """Return a description of the rejected operand, and the index of the operand's tensor or None."""
    if call.tensor is not None:
        return _named(graph, call.tensor), call.tensor
    part, model = call.operand, lowered.model
    if not isinstance(part, OperandPart) or model is None:
        return str(part), None
    operations = [
        operation
        for operation in model.operations
        if operation.tag == call.node and OperationType(operation.type).name.startswith(call.operation)
    ]
    if not operations:
        return str(part), None
    operands = operations[-1].inputs if part.side == "input" else operations[-1].outputs
    index = operands[part.position] if part.position < len(operands) else -1
    tensor = next((key for key, operand in lowered.tensors.items() if operand == index), None)
    return (str(part), None) if tensor is None else (f"{part}, {_named(graph, tensor)}", tensor)


def _named(graph: Graph, index: int) -> str:
    name = graph.tensor(index).name
    return f"tensor {index} ({name})" if name else f"tensor {index}"

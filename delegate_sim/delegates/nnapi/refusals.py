"""Calls that the NNAPI runtime rejects, turned into kernel failures, with the kinds of problem for its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...foundation.converter_attributes import DENSE_PER_TENSOR
from ...graph.graph import Graph
from ...nnapi_runtime.refusal import RULES, OperandPart, Rule
from ...nnapi_runtime.types import OperandType, OperationType
from ...refusal import Refusal, Stage
from ...rules.kinds import Kind, Problem, kinds_data
from ..options import OptionValues
from .lowering.partition import LoweredPartition
from .target import PREFIX


def _kind(rule: Rule, words: Mapping[str, str]) -> Kind:
    summary = rule.summary.rstrip(".")
    return Kind(
        PREFIX + rule.code,
        Problem(words["problem"]),
        f"rejected by Android's NNAPI runtime: {rule.code.replace('-', ' ')}",
        f"The NNAPI runtime behind the delegate has this rule: {summary[0].lower()}{summary[1:]}. If the runtime rejects a "
        "call, the delegate fails in every subgraph, and the CPU runs the whole model.",
        words["advice"],
        words["hint"],
        is_shared=True,
    )


def _words() -> Iterator[tuple[Rule, Mapping[str, str]]]:
    data = kinds_data("delegates/nnapi")
    by_concern, by_rule = data["runtime-advice"], data["runtime-rules"]
    for code, words in by_rule.items():
        yield RULES[code], by_concern[words] if isinstance(words, str) else words
    for rule in RULES.values():
        if rule.concern and rule.code not in by_rule:
            yield rule, by_concern[rule.concern]


KINDS: Mapping[str, Kind] = {PREFIX + rule.code: _kind(rule, words) for rule, words in _words()}
"""The kind of each rejection by the runtime, keyed by code.

Rules on control flow and on simulated failures are omitted, because the delegate's models cannot break these rules.
"""

_CHANNELS = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
_SYMMETRIC = frozenset({OperandType.TENSOR_QUANT8_SYMM, _CHANNELS})
_MOVES = frozenset({"TRANSPOSE", "SQUEEZE", "RESHAPE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"})


def change_for(call: Refusal) -> str:
    """Return advice on how to change the model or the options so that the call is not rejected."""
    kind, operation = KINDS[PREFIX + call.code], call.operation
    if call.found is _CHANNELS and operation == "FULLY_CONNECTED":
        return f"quantize dense layers per tensor: {DENSE_PER_TENSOR}"
    if call.found is _CHANNELS:
        return (
            f"quantize fully to int8 with a representative data set, or keep the weights of {operation or 'the node'} in float; "
            "NNAPI accepts per-channel weights only with 8-bit activations"
        )
    if call.code == "operand-zero-point" and call.needed.type in _SYMMETRIC:
        return "use feature level 30 (Android 11) or newer; from this level on, INT8 tensors may have a zero point"
    if operation in _MOVES and kind.problem is Problem.TYPE:
        return (
            f"insert a CAST before and after the node so that {operation} gets float or 8-bit tensors, or leave the node to the "
            "CPU"
        )
    if operation == "TRANSPOSE_CONV" and call.found is OperandType.TENSOR_FLOAT16:
        return "convert with float32 weights, because NNAPI has no TRANSPOSE_CONV with float16 weights"
    return kind.hint


def _refused_operand(call: Refusal, node: int, graph: Graph, lowered: LoweredPartition) -> tuple[str, int | None]:
    """Return a description of the rejected operand, and the index of the operand's tensor or None."""
    if call.tensor is not None:
        return _named(graph, call.tensor), call.tensor
    part, model = call.operand, lowered.model
    if not isinstance(part, OperandPart) or model is None:
        return str(part), None
    operations = [
        operation
        for operation in model.operations
        if operation.tag == node and OperationType(operation.type).name.startswith(call.operation)
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


_FURTHER_SHOWN = 10


def runtime_failure(
    graph: Graph,
    lowered: LoweredPartition,
    later: Sequence[LoweredPartition],
    options: OptionValues,
    further: Sequence[str],
    log_lines: Sequence[str],
) -> Refusal:
    """Return the kernel failure for the first rejected call of a partition.

    The failure also has lines about later rejections in this partition and in the partitions ``later``, after ``further``.
    """
    (node, call), *others = [item for partition in (lowered, *later) for item in _first_of_each_node(partition)]
    return refused_call_failure(graph, call, node, lowered, options, (*further, *_further(others)), log_lines)


def refused_call_failure(
    graph: Graph,
    call: Refusal,
    node: int,
    lowered: LoweredPartition,
    options: OptionValues,
    further: Sequence[str] = (),
    log_lines: Sequence[str] = (),
) -> Refusal:
    """Return the kernel failure that a rejected call causes at a node. ``further`` contains lines about later rejections."""
    operand, tensor = _refused_operand(call, node, graph, lowered)
    values = {
        **call.values,
        "android": options["nnapi_runtime"],
        "does": "cannot compile the partition" if call.stage is Stage.COMPILING else f"rejects {call.call}",
        "operation": f"{call.operation}: " if call.operation else "",
        "operand": operand,
    }
    return Refusal(
        PREFIX + call.code,
        "the NNAPI runtime of Android {android} {does}: {operation}{operand}: found {found}, needed {needed}",
        change_for(call),
        node=node,
        tensor=tensor,
        values=values,
        further=tuple(further),
        log_lines=tuple(log_lines),
        below=call,
    )


def _first_of_each_node(lowered: LoweredPartition) -> Iterator[tuple[int, Refusal]]:
    """Yield each node with its first rejected call, because later rejections may be consequences of the first.

    A rejected call that is about the whole model counts for the last node.
    """
    first: dict[int, Refusal] = {}
    for call in lowered.calls:
        first.setdefault([*lowered.operations][-1] if call.node is None else call.node, call)
    yield from first.items()


def _further(calls: Sequence[tuple[int, Refusal]]) -> tuple[str, ...]:
    groups: dict[tuple[str, str], list[int]] = {}
    for node, call in calls:
        groups.setdefault((call.operation or call.call, call.message), []).append(node)
    lines = [
        f"after this call is fixed, the NNAPI runtime would still reject {operation} at {_nodes(nodes)}: {message}"
        for (operation, message), nodes in groups.items()
    ]
    hidden = len(lines) - _FURTHER_SHOWN
    more = f"after this call is fixed, the NNAPI runtime would still reject {hidden} further kinds of calls"
    return (*lines[:_FURTHER_SHOWN], *([more] if hidden > 0 else []))


def _nodes(indices: Sequence[int]) -> str:
    shown = ", ".join(map(str, indices[:_FURTHER_SHOWN]))
    more = f" and {len(indices) - _FURTHER_SHOWN:,} more" if len(indices) > _FURTHER_SHOWN else ""
    return f"node {shown}" if len(indices) == 1 else f"{len(indices):,} nodes ({shown}{more})"

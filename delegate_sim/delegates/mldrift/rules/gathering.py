"""Gathering, scattering, lookups and searches."""

from __future__ import annotations

from collections.abc import Iterator

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.kinds import CONSTANT, SHAPE, TENSOR_TYPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant, operand_count, typed, where
from ...gpu_compatibility import copying
from ...gpu_compatibility.checks import COMPATIBILITY, Found, asked, case, runtime_operands
from ..build_problems import BuildProblems, blockwise_weights, constants_read, unread_constants
from ..failures import CHANNELS, WEIGHTS
from .checks import (
    ANY_NUMBERS,
    BFLOAT16,
    INT32,
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    SINCE_2_2,
    available,
    parsed_by,
    quantized_weights,
    readable,
    saying_by_release,
    tensors,
    version_up_to,
)


def _more_than_one(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return None if count == 1 else f"k of {count} elements"


# Lookups


def _other_type(node: NodeView) -> Found | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source == result else Found(f"{source} input and {result} output", "Input / output dtype mismatch.")


_COUNT, _ONE_DIMENSION, _INT32_INDICES = copying.GATHER
_RANK_SAYS, _TYPE_SAYS = "Only support 1D indices", "Only accept INT32 indices"
_GATHER = parsed_by(
    "GatherOperationParser",
    _COUNT,
    saying_by_release(SINCE_2_2, f"{_RANK_SAYS}\n", _RANK_SAYS, _ONE_DIMENSION),
    saying_by_release(SINCE_2_2, f"{_TYPE_SAYS}\n", _TYPE_SAYS, _INT32_INDICES),
    *readable(0),
    *readable(1),
    *RESULTS_FROM_2_1_5,
    asked(TENSOR_TYPE, "the same type in input and output", _other_type),
    *RESULTS_BEFORE_2_1_5,
    all_tensors=tensors(*BFLOAT16, *ANY_NUMBERS),
)


def _unquantized_table(node: NodeView) -> str | None:
    table = node.input(1)
    return None if table.quantization is not None or table.type == "FLOAT32" else f"a {table.type} table without scales"


def _has_integer_table(node: NodeView) -> bool:
    return node.input(1).type in ("INT8", "INT4", "INT2")


def _looked_up(node: NodeView) -> Found | None:
    ids, table, result = node.input(0), node.input(1), node.output(0)
    if ids.rank != 1:
        return Found(f"ids of rank {ids.rank}", f"Expected 1D, but got {ids.rank}D input #0.")
    if table.rank < 2:
        return Found(f"table of rank {table.rank}", f"Expected > 1D, but got {table.rank}D input #1.")
    if table.rank != result.rank:
        description = f"table of rank {table.rank} and output of rank {result.rank}"
        return Found(description, f"Expected {table.rank}, but got {result.rank} for output.")
    for axis in range(1, result.rank):
        if table.shape[axis] != result.shape[axis]:
            message = f"Expected {table.shape[axis]}, but got {result.shape[axis]} for output.dim[{axis}]."
            return Found(f"table {list(table.shape)} and output {list(result.shape)}", message)
    return None


_EMBEDDING_LOOKUP = parsed_by(
    "EmbeddingLookupOperationParser",
    available(1),
    check(TENSOR_TYPE, "a table that is FLOAT32 or quantized", _unquantized_table).saying(
        "EMBEDDING_LOOKUP: Empty quantization params."
    ),
    *where(_has_integer_table, "with an integer table", quantized_weights(1)),
    typed(operand(1, "table"), ("INT8", "INT4", "INT2", "FLOAT32")).saying("EMBEDDING_LOOKUP: Unsupported weights type."),
    *readable(0),
    *case(
        operand_count(2).saying(lambda node: f"Expected 2, but got {len(node.node.inputs)} inputs."),
        operand_count(outputs=1).saying(lambda node: f"Expected 1, but got {len(node.node.outputs)} outputs."),
        asked(SHAPE, "ids of rank 1, and an output with the table's shape except for the first dimension", _looked_up),
    ),
    *RESULTS,
    all_tensors=tensors(inputs=INT32),
)

RULES = {
    "TOPK_V2": parsed_by(
        "TopKOperationParser",
        *version_up_to(1),
        runtime_operands(1, 2).from_source(COMPATIBILITY),
        *readable(0),
        available(1),
        constant(operand(1, "k")).saying("TopK k must be constant tensor."),
        check(CONSTANT, "k of one element", _more_than_one).saying("TopK k must be scalar."),
        operand_count(outputs=2).saying("TopK requires 2 output tensors"),
        *RESULTS,
        all_tensors=tensors(outputs=INT32),
    ),
    "EMBEDDING_LOOKUP": _EMBEDDING_LOOKUP,
    "GATHER": _GATHER,
}


# Building the model


def _unread_data(node: NodeView) -> Iterator[Refusal]:
    return unread_constants(node, (0, 1))


def _unusable_table(node: NodeView) -> Iterator[Refusal]:
    yield from constants_read(node, 0)
    table = node.input(1)
    if not table.is_constant or table.rank == 4:
        yield WEIGHTS.failure(table)


_VECTOR = 4


def _few_channels(node: NodeView) -> Iterator[Refusal]:
    if element_count(node.input(0).shape[-1:]) < _VECTOR:
        yield CHANNELS.failure(node.input(0))


BUILD_PROBLEMS: BuildProblems = {"EMBEDDING_LOOKUP": _unusable_table, "GATHER": _unread_data}
UNSHARED_PROBLEMS: BuildProblems = {"EMBEDDING_LOOKUP": blockwise_weights}
WEBGPU_PROBLEMS: BuildProblems = {"TOPK_V2": _few_channels}

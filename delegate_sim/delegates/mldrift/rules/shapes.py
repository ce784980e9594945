"""Reductions, reshaping, padding, gathering and filling."""

from __future__ import annotations

from collections.abc import Iterator

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....refusal import Refusal
from ....releases.catalogue import parse_release
from ....rules.kinds import CONSTANT, SHAPE, TENSOR_TYPE
from ....rules.operands import counted, operand
from ....rules.vocabulary import check, constant, operand_count, typed, where
from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import COMPATIBILITY, Found, asked, case, runtime_operands, saying_by_release
from .. import target
from . import ANY_NUMBERS, SIGNED, USUAL_INPUTS, only_tensors, parsed_by, quantized_weights, tensors
from .checks import (
    INPUT_AXES,
    RANKED_RESULT,
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    Checks,
    available,
    axes,
    before,
    float_constant,
    input_count,
    integer_constant,
    integers,
    other_inputs,
    readable,
    results,
    runtime_inputs,
    since,
    version_up_to,
    with_results,
)

_AFTER_AXES = (
    *readable(0),
    INPUT_AXES,
    *where(lambda node: not node.options.keep_dims, "without keep_dims", *RANKED_RESULT),
    *RESULTS,
)
_LOGICAL = parsed_by("ReduceOperationParser", *arithmetic.REDUCTION, *_AFTER_AXES, all_tensors=only_tensors(("BOOL",), ("BOOL",)))
_REDUCTION = parsed_by("ReduceOperationParser", *arithmetic.REDUCTION, *_AFTER_AXES, all_tensors=tensors(*SIGNED))


def _permutation(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return None if 2 <= count <= 4 else f"a permutation of {counted(count, 'dimension')}"


_ANY = tensors(*ANY_NUMBERS)
_PADDINGS: Checks = (*readable(0), *integer_constant(1, "matrix"))
_PAD = parsed_by("PadOperationParser", *version_up_to(5), *arithmetic.PAD, *with_results(*_PADDINGS), all_tensors=_ANY)


def _has_unread_value(node: NodeView) -> bool:
    value = node.input(2)
    return value.is_constant and (value.type == "INT32" or (value.type == "INT8" and value.quantization is None))


def _more_than_one(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return None if count == 1 else f"k of {count} elements"


def _other_type(node: NodeView) -> Found | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source == result else (f"{source} input and {result} output", "Input / output dtype mismatch.")


_COUNT, _ONE_DIMENSION, _INT32_INDICES = arithmetic.GATHER
_RANK_SAYS, _TYPE_SAYS = "Only support 1D indices", "Only accept INT32 indices"
_GATHER = parsed_by(
    "GatherOperationParser",
    _COUNT,
    saying_by_release(_ONE_DIMENSION, f"{_RANK_SAYS}\n", {"litert-2.2.0": _RANK_SAYS}),
    saying_by_release(_INT32_INDICES, f"{_TYPE_SAYS}\n", {"litert-2.2.0": _TYPE_SAYS}),
    *readable(0),
    *readable(1),
    *with_results(asked(TENSOR_TYPE, "the same type in input and output", _other_type)),
    all_tensors=tensors("BFLOAT16", *ANY_NUMBERS),
)


def _unquantized_table(node: NodeView) -> str | None:
    table = node.input(1)
    return None if table.quantization is not None or table.type == "FLOAT32" else f"a {table.type} table without scales"


def _looked_up(node: NodeView) -> Found | None:
    ids, table, result = node.input(0), node.input(1), node.output(0)
    if ids.rank != 1:
        return f"ids of rank {ids.rank}", f"Expected 1D, but got {ids.rank}D input #0."
    if table.rank < 2:
        return f"table of rank {table.rank}", f"Expected > 1D, but got {table.rank}D input #1."
    if table.rank != result.rank:
        description = f"table of rank {table.rank} and output of rank {result.rank}"
        return description, f"Expected {table.rank}, but got {result.rank} for output."
    for axis in range(1, result.rank):
        if table.shape[axis] != result.shape[axis]:
            message = f"Expected {table.shape[axis]}, but got {result.shape[axis]} for output.dim[{axis}]."
            return f"table {list(table.shape)} and output {list(result.shape)}", message
    return None


_EMBEDDING_LOOKUP = parsed_by(
    "EmbeddingLookupOperationParser",
    available(1),
    check(TENSOR_TYPE, "a table that is FLOAT32 or quantized", _unquantized_table).saying(
        "EMBEDDING_LOOKUP: Empty quantization params."
    ),
    *where(lambda node: node.input(1).type in ("INT8", "INT4", "INT2"), "with an integer table", quantized_weights(1)),
    typed(operand(1, "table"), ("INT8", "INT4", "INT2", "FLOAT32")).saying("EMBEDDING_LOOKUP: Unsupported weights type."),
    *readable(0),
    *case(
        operand_count(2).saying(lambda node: f"Expected 2, but got {len(node.node.inputs)} inputs."),
        operand_count(outputs=1).saying(lambda node: f"Expected 1, but got {len(node.node.outputs)} outputs."),
        asked(SHAPE, "ids of rank 1, and an output with the table's shape except for the first dimension", _looked_up),
    ),
    *RESULTS,
    all_tensors=tensors(inputs=("INT32",)),
)


def _unusable_table(node: NodeView) -> Iterator[Refusal]:
    yield from target.constants_read(node, 0)
    table = node.input(1)
    if not table.is_constant or table.rank == 4:
        yield target.WEIGHTS.failure(table)


def _deep_indices(node: NodeView) -> str | None:
    shape = node.input(0).shape
    return f"indices of shape {list(shape)}" if len(shape) >= 4 and shape[3] != 1 else None


_VECTOR = 4
_ONE_HOT = parsed_by(
    "OneHotOperationParser",
    *version_up_to(1),
    *before("litert-2.2.0", *arithmetic.ONE_HOT, *RESULTS_FROM_2_1_5),
    *since(
        "litert-2.2.0",
        input_count(4),
        results(1),
        *RESULTS,
        available(0),
        arithmetic.ONE_HOT_AXIS.saying("OneHot axis must be -1 or the last dimension."),
        check(SHAPE, "indices of one channel", _deep_indices).saying("OneHot indices channel dimension must be 1."),
    ),
    *readable(0),
    *RESULTS_BEFORE_2_1_5,
    all_tensors=tensors(inputs=("INT32",)),
)


def _unusable_values(node: NodeView) -> Iterator[Refusal]:
    yield from target.constants_read(node, 0)
    for position in (2, 3):
        if not node.input(position).is_constant:
            yield target.WEIGHTS.failure(node.input(position))


RULES = {
    "ARG_MAX": parsed_by(
        "ArgMaxOperationParser",
        results(1),
        *before("litert-2.2.0", other_inputs(1)),
        *since("litert-2.2.0", runtime_inputs(1), other_inputs(1)),
        *with_results(
            *integer_constant(1, "scalar"),
            available(0),
            axes("the input", lambda node: node.input(0), lambda node: integers(node, 1)[:1]),
            *readable(0),
        ),
        all_tensors=only_tensors(USUAL_INPUTS, ("INT32",), ("litert-2.3.0", (*USUAL_INPUTS, "INT32"))),
    ),
    "CUMSUM": parsed_by("CumsumOperationParser", *version_up_to(1), *arithmetic.CUMSUM, *with_results(*readable(0))),
    "MEAN": parsed_by("ReduceOperationParser", *arithmetic.MEAN, *_AFTER_AXES),
    **dict.fromkeys(("REDUCE_ALL", "REDUCE_ANY"), _LOGICAL),
    **dict.fromkeys(("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"), _REDUCTION),
    "DEPTH_TO_SPACE": parsed_by("DepthToSpaceOperationParser", *arithmetic.BLOCKS, *with_results(*readable(0))),
    "RESHAPE": parsed_by(
        "ReshapeOperationParser", *version_up_to(1), runtime_operands(1, 1), *readable(0), *RESULTS, all_tensors=_ANY
    ),
    "SPACE_TO_DEPTH": parsed_by(
        "SpaceToDepthOperationParser",
        *version_up_to(2),
        *arithmetic.BLOCKS,
        results(1),
        runtime_inputs(1),
        other_inputs(0),
        *with_results(*readable(0)),
    ),
    "TRANSPOSE": parsed_by(
        "TransposeOperationParser",
        *version_up_to(9, older=5),
        runtime_operands(1, 1),
        *readable(0),
        *with_results(
            *integer_constant(1, "linear"),
            check(SHAPE, "a permutation of 2 to 4 dimensions", _permutation).saying("Permutation for transpose is invalid."),
        ),
        all_tensors=_ANY,
    ),
    "MIRROR_PAD": parsed_by("PadOperationParser", *version_up_to(5), *arithmetic.MIRROR_PAD, *with_results(*_PADDINGS)),
    "PAD": _PAD,
    "PADV2": parsed_by(
        "PadOperationParser",
        *version_up_to(5),
        *arithmetic.PAD,
        *with_results(*_PADDINGS, *where(lambda node: len(node.node.inputs) == 3, "with a value", *float_constant(2, "scalar"))),
        all_tensors=_ANY,
    ),
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
        all_tensors=tensors(outputs=("INT32",)),
    ),
    "EMBEDDING_LOOKUP": _EMBEDDING_LOOKUP,
    "GATHER": _GATHER,
    "ONE_HOT": _ONE_HOT,
    "TILE": parsed_by("TileOperationParser", runtime_operands(1, 1), *readable(0), *RESULTS, all_tensors=tensors(*SIGNED)),
}

BUILD_PROBLEMS: target.BuildProblems = {
    "CUMSUM": target.problem_if(
        target.AXES, 1, lambda node: any(not 0 <= axis + 4 - node.input(0).rank < 4 for axis in integers(node, 1)[:1])
    ),
    "TRANSPOSE": target.problem_if(target.AXES, 1, lambda node: any(axis < 0 for axis in integers(node, 1))),
    "PADV2": target.problem_if(target.CONSTANT_TYPE, 2, _has_unread_value),
    "EMBEDDING_LOOKUP": _unusable_table,
    "GATHER": lambda node: target.unread_constants(node, (0, 1)),
    "ONE_HOT": _unusable_values,
}
_SEVERAL_INDICES = target.problem_if(
    target.INDICES, 1, lambda node: node.input(1).is_constant and node.input(1).element_count > 1
)
FORMER_PROBLEMS: target.FormerProblems = {"GATHER": (parse_release("litert-2.3.0"), _SEVERAL_INDICES)}
UNSHARED_PROBLEMS: target.BuildProblems = {"EMBEDDING_LOOKUP": target.blockwise_weights}
WEBGPU_PROBLEMS: target.BuildProblems = {
    "TOPK_V2": target.problem_if(target.CHANNELS, 0, lambda node: element_count(node.input(0).shape[-1:]) < _VECTOR)
}

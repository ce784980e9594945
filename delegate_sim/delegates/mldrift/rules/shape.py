"""Operators that move elements: shapes, padding, gathering, joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_COUNT, RANK, SHAPE, TENSOR_TYPE
from ....rules.numbers import counted
from ....rules.operands import operand
from ....rules.rule import Check
from ....rules.vocabulary import check, operand_count, rank, typed, where
from ...gpu_compatibility import reduction, shape
from ...gpu_compatibility.checks import Found, asked, case, operands, runtime_operands
from ..demands.checks import (
    FUSED,
    SINCE_2_2,
    Checks,
    before,
    inputs_at_least,
    other_inputs,
    results,
    runtime_inputs,
    since,
    version_up_to,
)
from ..demands.parsing import SEEN_FIRST, parsed_by
from ..demands.reading import (
    ALL_RUNTIME_OR_CONSTANT,
    INPUT_AXES,
    RANKED_RESULT,
    RESULTS,
    available,
    axes,
    float_constant,
    integer_constant,
    integers,
    quantized_weights,
    ranked,
    readable,
    readable_tensor,
)
from ..demands.slicing import DYNAMIC_UPDATE_SLICE, SLICE, STRIDED_SLICE
from ..demands.tensors import with_tensors
from ..shapes import Bhwc, bhwc

# Joining


def _axis_is_hidden(first: Bhwc, other: Bhwc, axis: int) -> bool:
    return all(first[each] != other[each] for each in range(4) if each != axis)


def _no_axis(node: NodeView) -> str | None:
    """``GetAxis``: inputs that differ from the first in three axes rule an axis out, and all four have to be."""
    if not node.node.inputs:
        return None
    first, *others = [bhwc(tensor.shape) for tensor in node.inputs]
    if all(any(_axis_is_hidden(first, other, axis) for other in others) for axis in (0, 1, 2, 3)):
        return f"shapes {', '.join(str(list(tensor.shape)) for tensor in node.inputs)}"
    return None


def _all_given(node: NodeView) -> Found | None:
    for position, index in enumerate(node.node.inputs):
        if index < 0:
            return Found(f"no input {position}", f"input #{position} tensor is not available")
    return None


_CONCATENATION = parsed_by(
    "ConcatenationOperationParser",
    *version_up_to(6, older=2),
    *RESULTS,
    asked(OPERAND_COUNT, "all inputs", _all_given),
    *readable_tensor("an input", lambda node: node.inputs),
    check(SHAPE, "inputs that differ from the first in one dimension only", _no_axis).saying(
        "Couldn't find an axis to concatenate by."
    ),
    *FUSED,
)


def _has_one_input(node: NodeView) -> bool:
    return len(node.node.inputs) == 1


def _has_other_inputs(node: NodeView) -> bool:
    return len(node.node.inputs) != 1


# Splitting


def _is_split(node: NodeView) -> bool:
    return int(node.options.num_splits) != 1


def _is_not_split(node: NodeView) -> bool:
    return int(node.options.num_splits) == 1


_SPLIT = parsed_by(
    "SplitOperationParser",
    *where(_is_not_split, "into one part", *RESULTS, *readable(0)),
    *where(
        _is_split,
        "into several parts",
        available(1),
        available(0),
        axes("the input", lambda node: node.input(1), lambda node: integers(node, 0)[:1]),
        *readable(1),
        *RESULTS,
    ),
)
_SPLIT_V = parsed_by(
    "SplitVOperationParser",
    runtime_inputs(1),
    other_inputs(2),
    *RESULTS,
    *readable(0),
    *where(
        _is_split,
        "into several parts",
        available(0),
        available(2),
        axes("the input", lambda node: node.input(0), lambda node: integers(node, 2)[:1]),
    ),
)


def _is_one_part(node: NodeView) -> bool:
    return int(node.options.num) == 1


def _has_several_parts(node: NodeView) -> bool:
    return int(node.options.num) != 1


_UNPACK = parsed_by(
    "UnpackOperationParser",
    *where(_is_one_part, "into one part", *readable(0), *RESULTS),
    *where(
        _has_several_parts,
        "into several parts",
        available(0),
        *ranked(0),
        axes("the input", lambda node: node.input(0), lambda node: (node.options.axis,)),
        *readable(0),
        *RANKED_RESULT,
        *RESULTS,
    ),
)

# Padding

_PADDINGS: Checks = (*RESULTS, *readable(0), *integer_constant(1, "matrix"))


def _has_value(node: NodeView) -> bool:
    return len(node.node.inputs) == 3


_PAD = parsed_by("PadOperationParser", *version_up_to(5), *shape.PAD, *_PADDINGS)

# Lookups


def _other_type(node: NodeView) -> Found | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source == result else Found(f"{source} input and {result} output", "Input / output dtype mismatch.")


_ONE_DIMENSION, _INT32_INDICES = shape.GATHER[1:]
_GATHER = parsed_by(
    "GatherOperationParser",
    shape.GATHER[0],
    *before(SINCE_2_2, _ONE_DIMENSION.saying("Only support 1D indices\n"), _INT32_INDICES.saying("Only accept INT32 indices\n")),
    *since(SINCE_2_2, _ONE_DIMENSION, _INT32_INDICES),
    *readable(0),
    *readable(1),
    *RESULTS,
    asked(TENSOR_TYPE, "input and output of one type", _other_type),
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
        found = f"table of rank {table.rank} and output of rank {result.rank}"
        return Found(found, f"Expected {table.rank}, but got {result.rank} for output.")
    for axis in range(1, result.rank):
        if table.shape[axis] != result.shape[axis]:
            said = f"Expected {table.shape[axis]}, but got {result.shape[axis]} for output.dim[{axis}]."
            return Found(f"table {list(table.shape)} and output {list(result.shape)}", said)
    return None


_EMBEDDING_LOOKUP = parsed_by(
    "EmbeddingLookupOperationParser",
    available(1),
    check(TENSOR_TYPE, "a FLOAT32 or a quantised table", _unquantized_table).saying(
        "EMBEDDING_LOOKUP: Empty quantization params."
    ),
    *where(_has_integer_table, "with a table of integers", quantized_weights(1)),
    typed(operand(1, "table"), ("INT8", "INT4", "INT2", "FLOAT32")).saying("EMBEDDING_LOOKUP: Unsupported weights type."),
    *readable(0),
    *case(
        operand_count(2).saying(lambda node: f"Expected 2, but got {len(node.node.inputs)} inputs."),
        operand_count(outputs=1).saying(lambda node: f"Expected 1, but got {len(node.node.outputs)} outputs."),
        asked(SHAPE, "ids of rank 1, and a table and an output that differ in the first dimension only", _looked_up),
    ),
    *RESULTS,
)


def _deep_indices(node: NodeView) -> str | None:
    found = node.input(0).shape
    return f"indices of shape {list(found)}" if len(found) >= 4 and found[3] != 1 else None


def _misspelt(check: Check[object]) -> Check[object]:
    """Before LiteRT 2.2 a message had a slip of the pen."""
    say = check.said
    assert say is not None
    return check.saying(lambda node: say(node, None).replace("Unsupported", "Unspported"))


_OLD_ONE_HOT = tuple([_misspelt(each) if each.kind is SHAPE else each for each in shape.ONE_HOT])
_ONE_HOT = parsed_by(
    "OneHotOperationParser",
    *version_up_to(1),
    *before(SINCE_2_2, *_OLD_ONE_HOT),
    *since(
        SINCE_2_2,
        inputs_at_least(4),
        results(1),
        *RESULTS,
        available(0),
        shape.ONE_HOT_AXIS.saying("OneHot axis must be -1 or the last dimension."),
        check(SHAPE, "indices of one channel", _deep_indices).saying("OneHot indices channel dimension must be 1."),
    ),
    *before(SINCE_2_2, *RESULTS),
    *readable(0),
)

# Broadcasts


def _mapping_size(node: NodeView) -> str | None:
    source, dimensions = node.input(0).rank, node.input(1).shape
    return None if source == dimensions[0] else f"{dimensions[0]} dimensions for an input of rank {source}"


def _mapping(node: NodeView) -> Found | None:
    source, result, dimensions = node.input(0).shape, node.output(0).shape, integers(node, 1)
    found = f"dimensions {dimensions} from {list(source)} to {list(result)}"
    for size, dimension in zip(source, dimensions, strict=False):
        if not 0 <= dimension < len(result):
            return Found(found, "Require 0 <= index val < rank(result)")
        if size not in (1, result[dimension]):
            return Found(found, "Requires dim(input, d) = 1 || dim(input, d) = dim(output, index[d])")
    return None if len(set(dimensions)) == len(dimensions) else Found(found, "Index values must be unique")


def _one_to_four(is_result: bool) -> Check[object]:
    side = "output" if is_result else "input"

    def find(node: NodeView) -> str | None:
        found = (node.output(0) if is_result else node.input(0)).rank
        return None if 1 <= found <= 4 else f"{side} of rank {found}"

    return check(RANK, f"{side} of rank 1 to 4", find).saying(f"Only supports 1D-4D {side} tensor.")


_DIMENSIONS = operand(1, "dimensions")
_BROADCAST_IN_DIM = parsed_by(
    "BroadcastInDimOperationParser",
    *case(
        operands(1, 1, 1).saying("requires one runtime input, one const input, and one output"),
        rank(_DIMENSIONS, 1).saying("Only support 1D indices"),
        typed(_DIMENSIONS, shape.INT32).saying("Only support int32 indices"),
        check(SHAPE, "a dimension for each of the input", _mapping_size).saying("Require size(indices) = rank(operand)"),
    ),
    *RESULTS,
    available(0),
    _one_to_four(is_result=False),
    _one_to_four(is_result=True),
    *integer_constant(1, "linear"),
    asked(SHAPE, "different dimensions of the output, as large as those of the input unless these are 1", _mapping),
    *readable(0),
    *RANKED_RESULT,
)


def _permutation(node: NodeView) -> str | None:
    found = node.input(1).element_count
    return None if 2 <= found <= 4 else f"a permutation of {counted(found, 'dimension')}"


RULES = with_tensors(
    {
        "CONCATENATION": _CONCATENATION,
        "DEPTH_TO_SPACE": parsed_by("DepthToSpaceOperationParser", *shape.BLOCKS, *RESULTS, *readable(0)),
        "DYNAMIC_UPDATE_SLICE": DYNAMIC_UPDATE_SLICE,
        "EMBEDDING_LOOKUP": _EMBEDDING_LOOKUP,
        "GATHER": _GATHER,
        "MIRROR_PAD": parsed_by("PadOperationParser", *version_up_to(5), *shape.MIRROR_PAD, *_PADDINGS),
        "ONE_HOT": _ONE_HOT,
        "PACK": parsed_by(
            "PackOperationParser",
            *where(_has_one_input, "of one input", *readable(0), *RESULTS),
            *where(_has_other_inputs, "of several inputs", *SEEN_FIRST),
            *where(_has_other_inputs, "of several inputs", *ALL_RUNTIME_OR_CONSTANT),
            *where(
                _has_other_inputs,
                "of several inputs",
                axes("the output", lambda node: node.output(0), lambda node: (node.options.axis,)),
                *RANKED_RESULT,
            ),
        ),
        "PAD": _PAD,
        "PADV2": parsed_by(
            "PadOperationParser",
            *version_up_to(5),
            *shape.PAD,
            *_PADDINGS,
            *where(_has_value, "with a value", *float_constant(2, "scalar")),
        ),
        "RESHAPE": parsed_by("ReshapeOperationParser", *version_up_to(1), runtime_operands(1, 1), *readable(0), *RESULTS),
        "REVERSE_V2": parsed_by("ReverseOperationParser", *reduction.MEAN, *readable(0), *RESULTS, INPUT_AXES),
        "SLICE": SLICE,
        "SPACE_TO_DEPTH": parsed_by(
            "SpaceToDepthOperationParser",
            *version_up_to(2),
            *shape.BLOCKS,
            results(1),
            runtime_inputs(1),
            other_inputs(0),
            *RESULTS,
            *readable(0),
        ),
        "SPLIT": _SPLIT,
        "SPLIT_V": _SPLIT_V,
        "STABLEHLO_BROADCAST_IN_DIM": _BROADCAST_IN_DIM,
        "STRIDED_SLICE": STRIDED_SLICE,
        "TILE": parsed_by("TileOperationParser", runtime_operands(1, 1), *readable(0), *RESULTS),
        "TRANSPOSE": parsed_by(
            "TransposeOperationParser",
            *version_up_to(9, older=5),
            runtime_operands(1, 1),
            *readable(0),
            *RESULTS,
            *integer_constant(1, "linear"),
            check(SHAPE, "a permutation of 2 to 4 dimensions", _permutation).saying("Permutation for transpose is invalid."),
        ),
        "UNPACK": _UNPACK,
    }
)

"""Operators that move elements: shapes, padding, gathering, joining and splitting."""

from __future__ import annotations

from collections.abc import Callable

from ....graph.graph import NodeView
from ....rules.kinds import CONSTANT, OPERAND_VALUE, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE
from ....rules.numbers import at_most, between, counted
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check, where
from ...gpu_compatibility import shape
from ...gpu_compatibility.checks import Found, asked
from ..demands.checks import Checks
from ..demands.reading import integers
from ..naming import type_number
from .checks import (
    FEW,
    FIRST,
    HALF,
    INT32,
    MOVED,
    RESULT,
    SECOND,
    THIRD,
    all_given,
    computed,
    constant_operands,
    counts,
    entry,
    inputs,
    not_all_constant,
    one_element,
    optional_entry,
    outcome,
    ranked_parts,
    resolved,
    rule,
    shaped,
    stored,
    support,
    typed_parts,
    versions,
    versions_between,
)
from .joining import CONCATENATION, PACK, SPLIT, SPLIT_V, UNPACK
from .slicing import DYNAMIC_UPDATE_SLICE, SLICE, STRIDED_SLICE

_INPUT, _OUTPUT = entry(0, "input"), outcome(0, "output")

# Padding


def _paddings(node: NodeView) -> Found | None:
    found, rank = node.input(1).shape, node.input(0).rank
    words = f"paddings {list(found)} for an input of rank {rank}"
    if found[1] != 2:
        return Found(words, "Paddings tensor second dimension must be 2")
    return None if found[0] == rank else Found(words, "Paddings tensor first dimension must be equal to input rank.")


def _other_value(node: NodeView) -> Found | None:
    source, value = node.input(0).type, node.input(2).type
    said = f"Unsupported dtype for inputs[2]: {type_number(value)}"
    return None if source == value else Found(f"{source} input and {value} value", said)


def _pad(*first: Check[object], with_value: bool = False) -> OpRule[object]:
    value: Checks = (
        asked(TENSOR_TYPE, "a value of the input's type", _other_value),
        one_element(THIRD, "constant_values tensor must be scalar."),
    )
    return rule(
        "pad",
        "IsPadSupported",
        versions(at_most(5)),
        inputs(between(2, 3), "Invalid number of inputs: {}, should be 2 or 3"),
        *(() if with_value else (inputs(2, "Invalid number of inputs: {}, should be 2"),)),
        *counts(None),
        *first,
        *all_given(),
        *typed_parts(MOVED, FIRST),
        *typed_parts(INT32, SECOND),
        shaped(SECOND, "matrix"),
        *(optional_entry(THIRD, *value) if with_value else ()),
        *typed_parts(MOVED, RESULT),
        *computed(FIRST),
        *stored(SECOND),
        *(optional_entry(THIRD, *stored(THIRD)) if with_value else ()),
        *ranked_parts(2, 2, SECOND),
        asked(SHAPE, "a pair of paddings for each dimension of the input", _paddings),
        *ranked_parts(1, 4, FIRST),
    )


_MIRROR = (
    shape.MIRROR_PAD[0]
    .saying("Only Reflective padding is supported for Mirror Pad operation.")
    .from_source(support("pad", "IsPadSupported"))
)

# Blocks


def _blocks(file: str, symbol: str) -> OpRule[object]:
    return rule(
        file,
        symbol,
        *counts(1),
        *all_given(),
        *typed_parts(MOVED, FIRST, RESULT),
        *computed(FIRST),
        shape.BLOCKS[1].from_source(support(file, symbol)),
    )


# Lookups


def _has_integers(node: NodeView) -> bool:
    return node.input(1).type in ("INT2", "INT4", "INT8")


def _has_floats(node: NodeView) -> bool:
    return not _has_integers(node)


def _unusable_table(node: NodeView) -> Found | None:
    table = node.input(1)
    if table.quantization is None:
        return Found("a table without scales", "Quantization params are null for weights")
    if table.rank == 4 and table.shape[1:3] != (1, 1):
        height, width = table.shape[1:3]
        start = "Unsupported HW weight dimensions for quantized embedding lookup: "
        return Found(f"table {list(table.shape)}", f"{start}{height} , {width}")
    if table.rank in (2, 4):
        return None
    return Found(f"table of rank {table.rank}", f"Unsupported {table.rank}D weights for quantized embedding lookup")


_EMBEDDING_LOOKUP = rule(
    "embedding_lookup",
    "IsEmbeddingLookupSupported",
    versions_between(5),
    *counts(2),
    *all_given(),
    *typed_parts((*HALF, "INT32"), FIRST),
    *typed_parts(("FLOAT32", "INT2", "INT4", "INT8"), SECOND),
    *typed_parts(HALF, RESULT),
    *ranked_parts(1, 4, FIRST),
    *where(
        _has_integers,
        "with a table of integers",
        asked(QUANTIZATION, "a table with scales, of shape [o, i] or [o, 1, 1, i]", _unusable_table),
    ),
    *where(_has_floats, "with a table of floats", *ranked_parts(1, 4, SECOND)),
    *ranked_parts(1, 4, RESULT),
    not_all_constant(constant_operands),
)

_ON, _OFF = entry(2, "on"), entry(3, "off")


def _constant_indices(node: NodeView) -> str | None:
    return "constant indices" if node.input(0).is_constant else None


_ONE_HOT = rule(
    "one_hot",
    "IsOneHotSupported",
    versions_between(1, "Unsupported version."),
    *counts(4),
    *all_given(),
    *typed_parts(INT32, _INPUT),
    *typed_parts(("FLOAT32",), _ON, _OFF),
    *typed_parts(("INT32", "FLOAT32"), _OUTPUT),
    check(CONSTANT, "indices that are computed at run time", _constant_indices).saying(""),
    *ranked_parts(1, 4, _INPUT),
    *ranked_parts(0, 1, _ON, _OFF),
    *ranked_parts(1, 4, _OUTPUT),
    one_element(_ON, "On tensor must have a single value"),
    one_element(_OFF, "Off tensor must have a single value"),
)

# Broadcasts and others


def _mapping(node: NodeView) -> Found | None:
    source, result, axes = node.input(0).shape, node.output(0).shape, integers(node, 1)
    found = f"axes {axes} from {list(source)} to {list(result)}"
    if node.input(1).shape[0] != len(source):
        said = f"Axis dims size {node.input(1).shape[0]} does not match input dims size {len(source)}"
        return Found(found, said)
    for size, axis in zip(source, axes, strict=False):
        if not 0 <= axis < len(result):
            return Found(found, f"Invalid axis value: {axis}, should be in [0, {len(result)})")
        if size not in (1, result[axis]):
            start = f"Input dims must be 1 at axis {axis} or equal to output dims: "
            return Found(found, f"{start}{size} != {result[axis]}")
    for axis, size in enumerate(result):
        if axis not in axes and size != 1:
            return Found(found, f"Output dims must be 1 at index {axis} or equal to output dims: {size} != 1")
    return None


def _reversed_axes(node: NodeView) -> Found | None:
    source, result = node.input(0).shape, node.output(0).shape
    for given in integers(node, 1):
        axis = resolved(given, len(source))
        if not 0 <= axis < len(source):
            said = f"Invalid axis value: {axis}, should be in [0, {len(source)})"
            return Found(f"axis {given} of {counted(len(source), 'dimension')}", said)
    if source == result:
        return None
    said = f"Input and output dimensions must match: {len(source)} != {len(result)}"
    return Found(f"shapes {list(source)} and {list(result)}", said)


_MULTIPLES = entry(1, "multiples")


def _unlike_tiles(node: NodeView) -> Found | None:
    source, multiples, result = node.input(0).shape, node.input(1), node.output(0).shape
    if multiples.shape[0] != len(source):
        found = f"{multiples.shape[0]} multiples for an input of rank {len(source)}"
        return Found(found, "multiples length must match input rank.")
    value = node.value(multiples)
    expected = tuple(int(size * many) for size, many in zip(source, [] if value is None else value.tolist(), strict=False))
    if value is None or expected == result[: len(source)]:
        return None
    said = "output shape does not match (input_shape * multiples)."
    return Found(f"output {list(result)} in place of {list(expected)}", said)


def _permutation(condition: Callable[[NodeView], bool], needed: str, said: str) -> Check[object]:
    return check(OPERAND_VALUE, needed, lambda node: None if condition(node) else f"no {needed}").saying(said)


def _permuted(node: NodeView) -> Found | None:
    found = node.input(1).element_count
    said = f"Permutation for transpose is invalid. Size: {found}"
    return None if 2 <= found <= 5 else Found(f"a permutation of {counted(found, 'dimension')}", said)


_TRANSPOSED = (*HALF, "INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32", "BOOL")

RULES = {
    "CONCATENATION": CONCATENATION,
    "DEPTH_TO_SPACE": _blocks("depth_to_space", "IsDepthToSpaceSupported"),
    "DYNAMIC_UPDATE_SLICE": DYNAMIC_UPDATE_SLICE,
    "EMBEDDING_LOOKUP": _EMBEDDING_LOOKUP,
    "GATHER": rule(
        "gather",
        "IsGatherSupported",
        *counts(2),
        *all_given(),
        *typed_parts(MOVED, FIRST),
        *typed_parts(INT32, SECOND),
        *typed_parts(MOVED, RESULT),
        *ranked_parts(1, 4, FIRST),
        *ranked_parts(1, 1, SECOND),
        *ranked_parts(1, 4, RESULT),
    ),
    "MIRROR_PAD": _pad(_MIRROR),
    "ONE_HOT": _ONE_HOT,
    "PACK": PACK,
    "PAD": _pad(),
    "PADV2": _pad(with_value=True),
    "RESHAPE": rule(
        "reshape",
        "IsReshapeSupported",
        versions_between(1),
        inputs(between(1, 2)),
        *counts(None),
        *all_given(),
        *typed_parts(MOVED, FIRST, RESULT),
        *computed(FIRST),
        *ranked_parts(0, 5, FIRST, RESULT),
    ),
    "REVERSE_V2": rule(
        "reverse",
        "IsReverseSupported",
        versions_between(1),
        *counts(2),
        *all_given(),
        *typed_parts(MOVED, FIRST),
        *typed_parts(INT32, SECOND),
        *typed_parts(MOVED, RESULT),
        *computed(FIRST),
        *stored(SECOND),
        *ranked_parts(0, 4, FIRST),
        *ranked_parts(1, 1, SECOND),
        *ranked_parts(0, 4, RESULT),
        asked(SHAPE, "axes inside the input, and an output of its shape", _reversed_axes),
    ),
    "SLICE": SLICE,
    "SPACE_TO_DEPTH": _blocks("space_to_depth", "IsSpaceToDepthSupported"),
    "SPLIT": SPLIT,
    "SPLIT_V": SPLIT_V,
    "STABLEHLO_BROADCAST_IN_DIM": rule(
        "broadcast_in_dim",
        "IsBroadcastInDimSupported",
        versions_between(1),
        *counts(2),
        *all_given(),
        *typed_parts(MOVED, FIRST),
        *typed_parts(INT32, SECOND),
        *typed_parts(MOVED, RESULT),
        *computed(FIRST),
        *stored(SECOND),
        shaped(SECOND, "linear"),
        *ranked_parts(1, 5, FIRST),
        *ranked_parts(1, 1, SECOND),
        *ranked_parts(1, 5, RESULT),
        asked(SHAPE, "an axis of the output for each dimension, as large unless it is 1, and others of size 1", _mapping),
    ),
    "STRIDED_SLICE": STRIDED_SLICE,
    "TILE": rule(
        "tile",
        "IsTileSupported",
        versions_between(2, "Unsupported version."),
        *counts(2),
        *all_given(),
        *computed(_INPUT),
        *stored(_MULTIPLES),
        *typed_parts(FEW, _INPUT, _OUTPUT),
        check(
            TENSOR_TYPE,
            "multiples of type INT32 or INT64",
            lambda node: None if node.input(1).type in ("INT32", "INT64") else f"{node.input(1).type} multiples",
        ).saying("multiples must be Int32 or Int64."),
        *ranked_parts(1, 5, _INPUT, _OUTPUT),
        *ranked_parts(1, 1, _MULTIPLES),
        asked(SHAPE, "a multiple for each dimension, and an output of the size that they make", _unlike_tiles),
    ),
    "TRANSPOSE": rule(
        "transpose",
        "IsTransposeSupported",
        versions(at_most(9), "Unsupported version: {}, max supported version is 9"),
        *counts(2),
        *all_given(),
        *typed_parts(_TRANSPOSED, FIRST),
        _permutation(lambda node: node.input(1).is_constant, "constant permutation", "Permutation tensor must be constant"),
        _permutation(lambda node: node.input(1).type == "INT32", "INT32 permutation", "Permutation tensor must be INT32"),
        asked(RANK, "a permutation of 2 to 5 dimensions", _permuted),
    ),
    "UNPACK": UNPACK,
}

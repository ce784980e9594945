"""Operators that join tensors, and those that split one."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....named_tuples import NamedTuple
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.numbers import at_least, counted
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import where
from ...gpu_compatibility.checks import Found, asked
from ..demands.reading import integers
from ..naming import type_number
from .checks import (
    FEW,
    FIRST,
    FLOATS,
    INT32,
    MOVED,
    RESULT,
    SECOND,
    THIRD,
    all_given,
    computed,
    counts,
    entry,
    inputs,
    not_all_constant,
    outcome,
    ranked_inputs,
    ranked_outputs,
    ranked_parts,
    resolved,
    rule,
    stored,
    typed_inputs,
    typed_outputs,
    typed_parts,
    versions_between,
)

_INPUT, _OUTPUT = entry(0, "input"), outcome(0, "output")


def _first_and_last(node: NodeView) -> str:
    indices = node.node.inputs
    return f"Invalid all constant inputs: [{indices[0]}, {indices[-1]}]"


_SOME_COMPUTED = not_all_constant(_first_and_last)

# Joining


class _SizesByAxis(NamedTuple):
    """Sizes by axis (``BHWDC``), in the order in which they are compared."""

    batch: int
    height: int
    width: int
    depth: int
    channels: int


_AXES_BY_RANK = {0: "", 1: "batch", 2: "batch channels", 3: "batch width channels", 4: "batch height width channels"}
_SEARCHED = ("height", "width", "depth", "channels")


def _sizes(found: tuple[int, ...]) -> _SizesByAxis:
    """``ExtractTensorShape``: axes that a tensor does not have are 1."""
    names = _AXES_BY_RANK.get(len(found), "batch height width depth channels").split()
    return _SizesByAxis(1, 1, 1, 1, 1)._replace(**dict(zip(names, found, strict=False)))


def _unjoined(node: NodeView) -> Found | None:
    """The axis is the first along which the first input and the output differ, or that of batches; options do not count."""
    parts, result = [_sizes(tensor.shape) for tensor in node.inputs], _sizes(node.output(0).shape)
    axis = next((name for name in _SEARCHED if getattr(parts[0], name) != getattr(result, name)), "batch")
    found = f"inputs {', '.join(str(list(tensor.shape)) for tensor in node.inputs)}, output {list(node.output(0).shape)}"
    for name in _SizesByAxis._fields:
        if name == axis:
            continue
        wanted = getattr(parts[0], name)
        for position, part in enumerate(parts):
            if getattr(part, name) != wanted:
                return Found(found, f"Input[{position}] dim {name} is: {getattr(part, name)}, should be: {wanted}")
        if getattr(result, name) != wanted:
            return Found(found, f"Output dim {name} is: {getattr(result, name)}, should be: {wanted}")
    size, total = getattr(result, axis), sum(getattr(part, axis) for part in parts)
    return None if size == total else Found(found, f"Output concat dim is: {size}, should be: {total}")


CONCATENATION = rule(
    "concat",
    "IsConcatSupported",
    versions_between(6),
    inputs(at_least(2), "Invalid number of inputs: {}, should be at least 2"),
    *counts(None),
    *all_given(),
    typed_inputs(MOVED),
    *typed_parts(MOVED, RESULT),
    _SOME_COMPUTED,
    ranked_inputs(1, 5),
    asked(SHAPE, "inputs and an output that differ along one axis, where the sizes add up", _unjoined),
)


def _pack_axis(node: NodeView) -> Found | None:
    rank = node.output(0).rank
    axis = resolved(node.options.axis, rank)
    said = f"Invalid axis value: {axis}, should be in [0, {rank})"
    return None if 0 <= axis < rank else Found(f"axis {axis} of {counted(rank, 'dimension')}", said)


PACK = rule(
    "pack",
    "IsPackSupported",
    versions_between(1, "Unsupported version. Should be 1, is instead: {}"),
    inputs(at_least(1), "Invalid number of inputs: {}, should be at least 1"),
    *counts(None),
    *all_given(),
    typed_inputs(MOVED),
    *typed_parts(MOVED, RESULT),
    _SOME_COMPUTED,
    ranked_inputs(1, 4),
    *ranked_parts(1, 4, RESULT),
    *where(
        lambda node: len(node.node.inputs) != 1, "of several inputs", asked(ATTRIBUTE, "an axis inside the output", _pack_axis)
    ),
)

# Splitting


def _no_parts(node: NodeView) -> Found | None:
    found = int(node.options.num_splits)
    return None if found > 0 else Found(f"num_splits {found}", f"Invalid num_splits: {found}, should be > 0")


def _other_parts(node: NodeView) -> Found | None:
    found, wanted = len(node.node.outputs), int(node.options.num_splits)
    said = f"Invalid number of outputs: {found}, which should be: {wanted}"
    return None if found == wanted else Found(f"{counted(found, 'output')} for {wanted} splits", said)


def _unequal_parts(node: NodeView, source: int, axis: int) -> Found | None:
    whole, parts = node.input(source).shape, [tensor.shape for tensor in node.outputs]
    found = f"input {list(whole)}, outputs {', '.join(str(list(part)) for part in parts)}, along {axis}"
    for dimension, size in enumerate(whole):
        for position, part in enumerate(parts):
            if dimension != axis and part[dimension : dimension + 1] != (size,):
                return Found(found, f"Input and output tensor[{position}] dims do not agree on dim {dimension}")
    first = parts[0][axis]
    for position, part in enumerate(parts):
        if part[axis] != first:
            return Found(found, f"Output tensor[{position}] split dim is: {part[axis]}, should be: {first}")
    if first * len(parts) == whole[axis]:
        return None
    said = f"Output tensors do not cover the input tensor. {first} * {len(parts)} != {whole[axis]}"
    return Found(found, said)


def _split_evenly(node: NodeView) -> Found | None:
    axis, rank = (integers(node, 0) or [0])[0], node.input(1).rank
    if not 0 <= axis < rank:
        return Found(f"axis {axis} of {counted(rank, 'dimension')}", f"Axis should be in [0, {rank}), is {axis}")
    return _unequal_parts(node, 1, axis)


def _split_by_sizes(node: NodeView) -> Found | None:
    rank = node.input(0).rank
    axis = resolved((integers(node, 2) or [0])[0], rank)
    if not 0 <= axis < rank:
        return Found(f"axis {axis} of {counted(rank, 'dimension')}", f"Invalid axis: {axis}")
    return _unequal_parts(node, 0, axis)


def _split(file: str, symbol: str, count: int, *checks: Check[object]) -> OpRule[object]:
    return rule(
        file,
        symbol,
        versions_between(1),
        inputs(count, f"Invalid number of inputs: {{}}, should be {count}"),
        asked(ATTRIBUTE, "at least 1 split", _no_parts),
        asked(ATTRIBUTE, "as many outputs as splits", _other_parts),
        *all_given(),
        *checks,
    )


SPLIT = _split(
    "split",
    "IsSplitSupported",
    2,
    *typed_parts(INT32, FIRST),
    *typed_parts(FLOATS, SECOND),
    typed_outputs(FLOATS),
    *stored(FIRST),
    *computed(SECOND),
    *ranked_parts(1, 1, FIRST),
    *ranked_parts(1, 4, SECOND),
    ranked_outputs(1, 4),
    asked(SHAPE, "a positive axis inside the input, along which the outputs are equal parts of it", _split_evenly),
)
SPLIT_V = _split(
    "splitv",
    "IsSplitVSupported",
    3,
    *typed_parts(FLOATS, FIRST),
    *typed_parts(INT32, THIRD),
    typed_outputs(FLOATS),
    *computed(FIRST),
    *stored(SECOND, THIRD),
    *ranked_parts(1, 4, FIRST),
    *ranked_parts(0, 1, THIRD),
    ranked_outputs(1, 4),
    asked(SHAPE, "an axis inside the input, along which the outputs are equal parts of it", _split_by_sizes),
)


def _other_count(node: NodeView) -> Found | None:
    found, wanted = len(node.node.outputs), int(node.options.num)
    said = f"Invalid number of outputs: {found}, while expected {wanted}."
    return None if found == wanted else Found(f"{counted(found, 'output')} for {wanted}", said)


def _unlike_slices(node: NodeView) -> Found | None:
    source, count = node.input(0).shape, int(node.options.num)
    axis = resolved(node.options.axis, len(source))
    if not 0 <= axis < len(source):
        return Found(f"axis {axis} of {counted(len(source), 'dimension')}", "Invalid axis.")
    if source[axis] != count:
        return Found(f"{count} outputs along a size of {source[axis]}", "input.dims[axis] must match params->num.")
    rest = source[:axis] + source[axis + 1 :]
    for position, tensor in enumerate(node.outputs):
        found = f"input {list(source)}, output {list(tensor.shape)}"
        if tensor.type not in FEW:
            said = f"Unsupported dtype for output[{position}]: {type_number(tensor.type)}"
            return Found(f"output {position} of type {tensor.type}", said)
        if len(tensor.shape) != len(rest):
            return Found(found, f"output[{position}] rank mismatch.")
        if tensor.shape != rest:
            return Found(found, f"output[{position}] shape mismatch.")
    return None


UNPACK = rule(
    "unpack",
    "IsUnpackSupported",
    versions_between(2, "Unsupported version."),
    *counts(1, None),
    asked(ATTRIBUTE, "as many outputs as the options say", _other_count),
    *all_given(),
    *computed(_INPUT),
    *typed_parts(FEW, _INPUT),
    *ranked_parts(1, 5, _INPUT),
    asked(SHAPE, "outputs of the usual types that are the slices of the input along the axis", _unlike_slices),
)

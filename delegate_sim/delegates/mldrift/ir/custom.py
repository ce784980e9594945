"""Composites and custom operators."""

from __future__ import annotations

from collections.abc import Callable

from ....graph.graph import NodeView
from ....model.flexbuffer import custom_options
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, SHAPE
from ....rules.numbers import counted
from ....rules.rule import Check, OpRule
from ....rules.source import LITERT, Source
from ....rules.vocabulary import check
from ...gpu_compatibility.checks import Found, asked
from ...gpu_compatibility.questions import PoolParameters, custom_pool_parameters
from .checks import (
    FIRST,
    FLOATS,
    HALF,
    INTEGERS,
    RESULT,
    SECOND,
    all_given,
    computed,
    counts,
    entry,
    outcome,
    outputs,
    ranked_inputs,
    ranked_parts,
    rule,
    typed_inputs,
    typed_outputs,
    typed_parts,
    versions_between,
)
from .composites import BOTH, COMPOSITES, FOLDER, composite_checks, dimensions, last_size, parsed
from .convolution import pooled, transposed

_INPUT, _OUTPUT = entry(0, "input"), outcome(0, "output")

RULES = {"STABLEHLO_COMPOSITE": OpRule(composite_checks(), source=(COMPOSITES,))}

# Positions

_POSITIONED = (*HALF, *INTEGERS)


def _width(shape: tuple[int, ...]) -> int:
    return shape[-2] if len(shape) in (3, 4) else 1


def _one_width(said: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        source, positions = _width(node.input(0).shape), _width(node.inputs[-1].shape)
        return None if source == positions else f"input of width {source} and positions of width {positions}"

    return check(SHAPE, "positions as wide as the input", find).saying(f"src and pos must have the same width for {said}.")


def _two_or_three(node: NodeView) -> Found | None:
    found, results = len(node.node.inputs), len(node.node.outputs)
    if found not in (2, 3):
        return Found(counted(found, "input"), f"Invalid number of inputs: {found}, while expected 2 or 3.")
    said = f"Invalid number of outputs: {results}, while expected {found - 1}."
    return None if results == found - 1 else Found(counted(results, "output"), said)


def _positions(file: str, symbol: str, said: str, *counted_by: Check[object]) -> OpRule[object]:
    types = (typed_inputs(_POSITIONED), typed_outputs(_POSITIONED), ranked_inputs(0, 4))
    return rule(file, symbol, *counted_by, *all_given(), *types, _one_width(said))


# MediaPipe's

_NO_OPTIONS = check(
    ATTRIBUTE, "custom options", lambda node: None if node.node.custom_options is not None else "no custom options"
)


def _pool(node: NodeView) -> PoolParameters:
    parameters = custom_pool_parameters(node)
    assert parameters is not None  # the check before makes sure that there are options
    return parameters


def _pool_sizes(words: str, of: Callable[[PoolParameters], tuple[int, int]]) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        height, width = of(_pool(node))
        said = f"Unsupported {words} size: {height}x{width}"
        return None if height > 0 and width > 0 else Found(f"{words} {height}x{width}", said)

    return asked(ATTRIBUTE, f"{words} of at least 1x1", find)


def _unlike_warp(node: NodeView) -> Found | None:
    source, warp, result = node.input(0).shape, node.input(1).shape, node.output(0).shape
    found = f"input {list(source)}, warp {list(warp)} and output {list(result)}"
    for name, other in (("input 1", warp), ("output", result)):
        if len(source) != len(other):
            return Found(found, f"Input 0 and {name} dimensions must match: {len(source)} != {len(other)}")
    for one, other_size in zip(warp[:-1], result, strict=False):
        if one != other_size:
            return Found(found, f"Input 1 and output dimensions must match: {one} != {other_size}")
    return None if warp[-1:] == (2,) else Found(found, f"Input 1 channel dimension must be 2: {last_size(warp)} != 2")


def _unlike_indices(node: NodeView) -> Found | None:
    source, indices, result = node.input(0).shape, node.input(1).shape, node.output(0).shape
    found = f"input {list(source)}, indices {list(indices)} and output {list(result)}"
    if source != indices:
        return Found(found, "Input and indices dimensions must match.")
    said = f"Output and input dimensions must match: {len(result)} != {len(source)}"
    return None if len(source) == len(result) else Found(found, said)


def _unshuffled(node: NodeView) -> Found | None:
    """``num_groups`` is by how much height and width grow."""
    if node.node.custom_options is None:
        return Found("no custom options", "PixelShuffle is missing params.")
    found = custom_options(node.graph.model, node.node)
    if not found.has("num_groups"):
        return Found("no num_groups", "PixelShuffle is missing num_groups.")
    groups = found.integer("num_groups") or 0
    if groups <= 0:
        return Found(f"num_groups {groups}", f"Invalid number of groups: {groups}, should be greater than 0")
    source, result = node.input(0).shape, node.output(0).shape
    words = f"input {list(source)}, output {list(result)}, num_groups {groups}"
    if source[-3] != result[-3] * groups * groups:
        start = "Invalid shape of 3rd to last dim. Should be in[-3] = out[-3] * num_groups^2. Got in[-3]: "
        return Found(words, f"{start}{source[-3]} num_groups: {groups} and out[-3]: {result[-3]}")
    for position, name in ((-2, "2nd to last"), (-1, "last")):
        if source[position] * groups != result[position]:
            start = f"Invalid shape of {name} dim. Should be in[{position}] * num_groups = out[{position}]. Got in[{position}]: "
            return Found(words, f"{start}{source[position]} num_groups: {groups} and out[{position}]: {result[position]}")
    return None


def _one_rank(node: NodeView) -> Found | None:
    one, other = node.output(0).rank, node.input(0).rank
    said = f"Output and input dimensions must match: {one} != {other}"
    return None if one == other else Found(f"input of rank {other} and output of rank {one}", said)


_INDICES = entry(1, "indices")

CUSTOM_RULES: dict[str, OpRule[object]] = {
    "Convolution2DTransposeBias": transposed(0),
    "MaxPoolingWithArgmax2D": rule(
        "pooling2d",
        "IsPooling2dSupported",
        versions_between(2),
        outputs(2, "Custom pooling op must have 2 outputs."),
        _NO_OPTIONS.saying("Custom pooling op must have custom initial data."),
        *pooled(
            _pool_sizes("filter", lambda found: (found.filter_height, found.filter_width)),
            _pool_sizes("stride", lambda found: (found.stride_height, found.stride_width)),
            results=(*typed_parts(FLOATS, outcome(1)), *ranked_parts(3, 4, outcome(1))),
        ),
    ),
    "Resampler": rule(
        "resampler",
        "IsResamplerSupported",
        *counts(2),
        *all_given(),
        *typed_parts(HALF, FIRST, SECOND, RESULT),
        *computed(FIRST, SECOND),
        asked(SHAPE, "a warp of two channels and otherwise of the output's size", _unlike_warp),
    ),
    "custom_call.MaxUnpooling2D": rule(
        "unpooling2d",
        "IsUnpooling2dSupported",
        *counts(2),
        *all_given(),
        *typed_parts(FLOATS, _INPUT),
        *typed_parts(("INT32",), _INDICES),
        *typed_parts(FLOATS, _OUTPUT),
        *computed(_INPUT),
        dimensions(0, "input", 3, 5),
        asked(SHAPE, "indices of the input's shape, and an output of its rank", _unlike_indices),
        _NO_OPTIONS.saying("Unpooling2d is missing params."),
    ),
    "custom_call.absolute_positional_embedding": _positions(
        "absolute_positional_embedding", "IsAbsolutePositionalEmbeddingSupported", "PositionalEmbedding", *counts(2)
    ),
    "custom_call.pixel_shuffle": rule(
        "pixel_shuffle",
        "IsPixelShuffleSupported",
        versions_between(1),
        *counts(1),
        *all_given(),
        *typed_parts(FLOATS, _INPUT, _OUTPUT),
        *computed(FIRST),
        dimensions(0, "input", 3, 5),
        asked(SHAPE, "an output of the input's rank", _one_rank),
        asked(SHAPE, "num_groups by which height and width grow", _unshuffled),
    ),
    "custom_call.rotary_positional_embedding": _positions(
        "rotary_positional_embedding",
        "IsRotaryPositionalEmbeddingSupported",
        "RoPE",
        asked(OPERAND_COUNT, "2 inputs and 1 output, or 3 inputs and 2 outputs", _two_or_three),
    ),
    **{
        name: OpRule(parsed(name), source=(Source(LITERT, f"{FOLDER}/{file}", symbol),))
        for name, (file, symbol, _) in BOTH.items()
    },
}
"""Custom operators, by name."""

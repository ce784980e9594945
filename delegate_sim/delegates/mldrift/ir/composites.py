"""Composites, of which four names are known as custom operators too."""

from __future__ import annotations

from collections.abc import Callable

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, OPERATOR, SHAPE
from ....rules.numbers import between, exactly
from ....rules.rule import Check, OpRule
from ....rules.source import LITERT, Source
from ....rules.vocabulary import check, where
from ...gpu_compatibility.checks import Found, asked
from ..demands.attention import runtime_numbers, unlike_channels, unlike_parameters
from ..demands.checks import Checks
from ..demands.composites import composite_name
from ..demands.experts import UNREAD_EXPERTS
from ..demands.normalization import attributes
from .checks import (
    FIRST,
    FLOATS,
    RESULT,
    SECOND,
    SOURCE,
    all_given,
    computed,
    counts,
    entry,
    given,
    inputs,
    optional_entry,
    outcome,
    outputs,
    ranked_parts,
    rule,
    stored,
    typed_parts,
    versions_between,
)

COMPOSITES = SOURCE.with_symbol("IsCompositeNodeSupported")


def _has(key: str, said: str) -> Check[object]:
    return check(ATTRIBUTE, key, lambda node: None if attributes(node).has(key) else f"no {key}").saying(said)


def _unlike_channels(position: int, said: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        channels, found = node.input(0).shape[-1], node.input(position).shape[0]
        return None if channels == found else f"{found} elements for {channels} channels"

    return check(SHAPE, f"input {position} as long as the last dimension of the input", find).saying(said)


# Normalisations


def _group_axes(node: NodeView) -> str | None:
    found = attributes(node).part("_TENSOR_V1_reduction_axes").integers("TENSOR_DATA")
    return None if found == [node.input(0).rank - 1] else f"reduction over axes {found}"


def _group_channels(node: NodeView) -> str | None:
    found = attributes(node)
    axis = found.integer("channel_axis") or 0
    return f"channel_axis {axis}" if found.has("channel_axis") and axis != node.input(0).rank - 1 else None


def _factor(position: int, said: str) -> Checks:
    part = entry(position)
    own = (*ranked_parts(1, 1, part), _unlike_channels(position, said))
    return optional_entry(part, *own)


_GROUP_NORM = rule(
    "group_norm",
    "IsGroupNormSupported",
    versions_between(1),
    inputs(between(1, 3), "Invalid number of inputs: {}, should be between 1 and 3"),
    *counts(None),
    *all_given(),
    *typed_parts(FLOATS, FIRST),
    *optional_entry(SECOND, *typed_parts(FLOATS, SECOND)),
    *optional_entry(entry(2), *typed_parts(FLOATS, entry(2))),
    *typed_parts(FLOATS, RESULT),
    *computed(FIRST),
    *ranked_parts(4, 4, FIRST),
    *_factor(1, "Gamma tensor length doesn't match input tensor channels."),
    *_factor(2, "beta tensor length doesn't match input tensor channels."),
    check(ATTRIBUTE, "the reduction over the last axis", _group_axes).saying(
        "Only reduction on the last axis is supported for GroupNorm."
    ),
    check(ATTRIBUTE, "channels in the last dimension", _group_channels).saying(
        "Only channel-last tensor is supported for GroupNorm."
    ),
    _has("num_groups", "GroupNorm is missing num_groups."),
    _has("epsilon", "GroupNorm is missing epsilon."),
)

_INPUT, _OUTPUT = entry(0, "input"), outcome(0, "output")
_SCALE, _BIAS = entry(1, "scale"), entry(2, "bias")


def dimensions(position: int, name: str, least: int, most: int) -> Check[object]:
    """Demand a rank, in words that some functions have of their own."""

    def find(node: NodeView) -> Found | None:
        found = node.input(position).rank
        expected = f"{least}" if least == most else f"between {least} and {most}"
        said = f"Invalid number of {name} dims: {found}, should be {expected}"
        return None if least <= found <= most else Found(f"{name} of rank {found}", said)

    return asked(SHAPE, f"{name} of rank {least if least == most else f'{least} to {most}'}", find)


def _channel_norm(file: str, symbol: str, name: str, most: int) -> OpRule[object]:
    """Return the rule of a normalisation over channels, with a scale and, if it has three inputs, a bias."""
    factors = (_SCALE, _BIAS)[: most - 1]
    many = "should be 1 or 2" if most == 2 else f"should be between 1 and {most}"
    sizes = [
        each
        for part in factors
        for each in optional_entry(
            part,
            dimensions(part.position, part.said, 1, 1),
            _unlike_channels(part.position, f"{part.said} tensor length doesn't match input tensor channels."),
        )
    ]
    constants = [each for part in factors for each in optional_entry(part, *stored(part))] if most == 2 else []
    return rule(
        file,
        symbol,
        versions_between(1),
        inputs(between(1, most), f"Invalid number of inputs: {{}}, {many}"),
        outputs(1, "Invalid number of outputs: {}, which should be 1"),
        *given(entry(0, "inputs")),
        *[each for part in factors for each in optional_entry(part, *given(part))],
        *given(_OUTPUT),
        *typed_parts(FLOATS, _INPUT),
        *[each for part in factors for each in optional_entry(part, *typed_parts(FLOATS, part))],
        *typed_parts(FLOATS, _OUTPUT),
        *computed(_INPUT),
        *constants,
        dimensions(0, "input", 2, 4),
        *sizes,
        _has("epsilon", f"{name} is missing epsilon."),
    )


_LAYER_NORM = _channel_norm("layer_norm", "IsLayerNormSupported", "LayerNorm", 3)
_RMS_NORM = _channel_norm("rms_norm", "IsRmsNormSupported", "RmsNorm", 2)

# Attention

_QUERY, _KEY, _VALUE, _MASK = entry(0, "q"), entry(1, "k"), entry(2, "v"), entry(3, "mask")


def _all_constant(node: NodeView) -> str | None:
    return "constant inputs only" if all(node.input(position).is_constant for position in range(3)) else None


def last_size(shape: tuple[int, ...], from_end: int = 1) -> int:
    """Return a size counted from the end, 1 where there is none."""
    return shape[-from_end] if len(shape) >= from_end else 1


def _unlike_operands(node: NodeView) -> Found | None:
    query, key, value = (node.input(position).shape for position in range(3))
    found = f"query {list(query)}, key {list(key)} and value {list(value)}"
    if not last_size(query) == last_size(key) == last_size(value):
        return Found(found, "Input channels mismatch.")
    return None if key == value else Found(found, "K and V must have the same shape.")


def _unlike_mask(node: NodeView) -> Found | None:
    height, channels = last_size(node.input(1).shape, 3), last_size(node.input(3).shape)
    said = f"Mask channels must match K tensor's height, instead got {channels} != {height}"
    return None if height == channels else Found(f"mask of {channels} channels for a key of height {height}", said)


_ATTENTION = rule(
    "sdpa",
    "IsSdpaSupported",
    versions_between(1),
    inputs(exactly(3, 4), "Invalid number of inputs: {}, should be either 3 or 4"),
    *counts(None),
    *all_given(),
    *typed_parts(FLOATS, _QUERY, _KEY, _VALUE),
    *optional_entry(_MASK, *typed_parts(FLOATS, _MASK)),
    *typed_parts(FLOATS, _OUTPUT),
    check(OPERAND_COUNT, "a query, key or value that is computed at run time", _all_constant).saying("All inputs are constant."),
    *ranked_parts(1, 4, _QUERY, _KEY, _VALUE),
    *optional_entry(_MASK, *ranked_parts(1, 4, _MASK)),
    *ranked_parts(1, 4, _OUTPUT),
    asked(SHAPE, "query, key and value of as many channels, key and value of one shape", _unlike_operands),
    *optional_entry(_MASK, asked(SHAPE, "a mask with as many channels as the key is high", _unlike_mask)),
)

# Names that are known as composites and as custom operators

FOLDER = "ml_drift_delegate/delegate/composite/ir"


def _is_composite(node: NodeView) -> bool:
    return not node.node.is_custom


def _keys(*keys: str) -> Checks:
    return where(_is_composite, "as a composite", *[_has(key, "") for key in keys])


def _no_attributes(node: NodeView) -> str | None:
    return "no attributes" if node.node.is_custom else None


BOTH: dict[str, tuple[str, str, Checks]] = {
    "moe": ("moe_experts_parser.cc", "MoeExpertsIsSupported", UNREAD_EXPERTS),
    "odml.cache_update": (
        "add_values_to_cache_parser.cc",
        "AddValuesToCacheIsSupported",
        (runtime_numbers((3, 7), ""), outputs(2), *_keys("kv_cache_batch_size", "cache_size", "head_size")),
    ),
    "odml.runtime_bmm": (
        "runtime_batched_matmul_parser.cc",
        "RuntimeBatchedMatMulIsSupported",
        (
            runtime_numbers((3,), ""),
            outputs(1),
            asked(SHAPE, "operands of as many channels", unlike_channels),
            asked(SHAPE, "parameters of shape [1, 1, 1, 7]", unlike_parameters),
            check(ATTRIBUTE, "attributes", _no_attributes),
            *_keys("is_global", "is_src"),
        ),
    ),
    "odml.sdpa_transposed": (
        "sdpa_transposed_parser.cc",
        "SdpaTransposedIsSupported",
        (runtime_numbers((3, 4, 5), ""), outputs(1)),
    ),
}


def parsed(name: str) -> Checks:
    """Return what a parser of its own demands; whatever it is, the same is said of all."""
    file, symbol, checks = BOTH[name]
    place = Source(LITERT, f"{FOLDER}/{file}", symbol)
    return tuple([each.from_source(place).saying(f"Custom parser {name} rejected node.") for each in checks])


def _is_named(name: str, *, with_axes: bool | None = None) -> Callable[[NodeView], bool]:
    def holds(node: NodeView) -> bool:
        return composite_name(node) == name and with_axes in (None, attributes(node).has("_TENSOR_V1_reduction_axes"))

    return holds


def composite_checks() -> Checks:
    """Return what is demanded of composites, by name."""
    known: list[tuple[str, str, bool | None, OpRule[object]]] = [
        ("odml.group_norm", "odml.group_norm without axes", False, _LAYER_NORM),
        ("odml.group_norm", "odml.group_norm with axes", True, _GROUP_NORM),
        ("odml.rms_norm", "odml.rms_norm", None, _RMS_NORM),
        ("odml.scaled_dot_product_attention", "odml.scaled_dot_product_attention", None, _ATTENTION),
    ]
    found: list[Check[object]] = []
    for name, words, with_axes, own in known:
        found += where(_is_named(name, with_axes=with_axes), words, *own.checks)
    for name in BOTH:
        found += where(_is_named(name), name, *parsed(name))
    names = {name for name, *_ in known} | BOTH.keys()
    unknown = check(
        OPERATOR,
        "a composite that ML Drift lowers",
        lambda node: None if composite_name(node) in names else f"composite {composite_name(node)!r}",
        "leave other composites to their decomposition, which the GPU may take by itself",
    )
    said = unknown.saying(lambda node: f"Unknown StableHLO composite params: {composite_name(node)}")
    return (said, *found)

"""Group normalization, layer normalization and RMS normalization."""

from __future__ import annotations

from collections.abc import Callable

from .....graph.graph import NodeView
from .....model.flexbuffer import FlexbufferMap
from .....rules.kinds import ATTRIBUTE, RANK, SHAPE
from .....rules.rule import Check
from .....rules.vocabulary import check, where
from ....gpu_compatibility.checks import Found, asked
from ...shapes import bhwc
from ..checks import RESULTS, SINCE_2_1_5, SOURCE, Checks, available, before, float_constant, readable, since

# With constants


def _has_entry(position: int) -> Callable[[NodeView], bool]:
    return lambda node: position < len(node.node.inputs)


def _unlike_channels(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        count, channels = node.input(position).element_count, bhwc(node.input(0).shape).c
        message = f"{name} tensor channels don't match input tensor channels."
        return None if count == channels else Found(f"{count} elements for {channels} channels", message)

    return asked(SHAPE, f"a {name.lower()} with one element for each input channel", find)


def _factor(position: int, name: str) -> Checks:
    own = (*float_constant(position, "linear"), _unlike_channels(position, name))
    return where(_has_entry(position), "if given", *own)


def normalization(all_results: Checks = RESULTS, *, with_bias: bool) -> Checks:
    """Return the checks of a custom normalization operator.

    Scale and bias must be constant. The operator has a bias only if ``with_bias`` is True. ``all_results`` are the checks of the
    operator's results.
    """
    bias = _factor(2, "Bias") if with_bias else ()
    return (*readable(0), *all_results, available(0), *_factor(1, "Scale"), *bias)


RMS_NORM: Checks = tuple(
    [
        check.from_source(check.source or SOURCE.with_symbol("CompositeRmsNormParser::IsSupported"))
        for check in normalization(with_bias=False)
    ]
)

# odml.group_norm normalizes over groups or over all channels.


def attributes(node: NodeView) -> FlexbufferMap:
    """Return the attributes of a composite. They are read once, however many checks ask for them."""
    of_nodes: dict[int, FlexbufferMap] = node.graph.results.get("composite attributes", (), dict)
    if node.node.index not in of_nodes:
        of_nodes[node.node.index] = FlexbufferMap(bytes(node.options.composite_attributes or ()))
    return of_nodes[node.node.index]


_AXES = "_TENSOR_V1_reduction_axes"


def is_group_norm(node: NodeView) -> bool:
    """Return whether ``odml.group_norm`` normalizes over groups.

    Without a ``sub_type``, the composite normalizes over groups only if it has the attribute with the axes.
    """
    values = attributes(node)
    return not values.integer("sub_type") if values.has("sub_type") else values.has(_AXES)


def is_layer_norm(node: NodeView) -> bool:
    """Return whether ``odml.group_norm`` normalizes over all channels."""
    return not is_group_norm(node)


def says_no_axes(node: NodeView) -> bool:
    """Return whether ``odml.group_norm`` lacks the attribute with the axes.

    Before LiteRT 2.1.5, a composite without this attribute normalizes over all channels.
    """
    return not says_axes(node)


def _too_deep(name: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        shape = node.input(0).shape
        message = f"{name} has bad input tensor dims. Expected at most 4D input, got {', '.join(map(str, shape))}"
        return None if len(shape) <= 4 else Found(f"input of rank {len(shape)}", message)

    return asked(RANK, "an input of rank at most 4", find)


def _unlike_last(position: int, bad_rank: str, unlike: str) -> Checks:
    def rank(node: NodeView) -> Found | None:
        rank = node.input(position).rank
        return None if rank == 1 else Found(f"input {position} of rank {rank}", bad_rank)

    def size(node: NodeView) -> Found | None:
        shape, other = node.input(0).shape, node.input(position).shape
        return (
            None
            if shape[-1:] == other
            else Found(f"shape {list(shape)} of input 0 and {list(other)} of input {position}", unlike)
        )

    checks = (
        asked(RANK, f"input {position} of rank 1", rank),
        asked(SHAPE, f"an input {position} with the size of input 0's last dimension", size),
    )
    return where(_has_entry(position), "if given", *checks)


def _reduced(node: NodeView) -> list[int]:
    return attributes(node).part(_AXES).integers("TENSOR_DATA")


def says_axes(node: NodeView) -> bool:
    """Return whether a composite has the attribute with the axes to reduce."""
    return attributes(node).has(_AXES)


def _expected_axes(name: str, expected_of: Callable[[NodeView], list[int]]) -> Checks:
    def find(node: NodeView) -> Found | None:
        axes, expected = _reduced(node), expected_of(node)
        if axes == expected:
            return None
        one, other = (", ".join(map(str, side)) for side in (expected, axes))
        message = f"{name} has unexpected reduction axes. Expected axes [{one}] but got [{other}]"
        return Found(f"reduction over axes {axes}", message)

    return where(says_axes, "if given", asked(ATTRIBUTE, "a reduction over the expected axes", find))


def _axes_of_groups(node: NodeView) -> list[int]:
    """Return the axes that a normalization over groups must reduce.

    If the composite has a ``sub_type``, all axes except the batch are reduced. Otherwise (in old files), only the last axis is
    reduced.
    """
    rank = node.input(0).rank
    return list(range(1, rank)) if attributes(node).has("sub_type") else [rank - 1]


def has_attribute(name: str, key: str) -> Check[object]:
    """Require an attribute of a composite. ``name`` is ML Drift's name of the composite."""
    demand = check(ATTRIBUTE, key, lambda node: None if attributes(node).has(key) else f"no {key}")
    return demand.saying(f"{name} is missing {key}.")


def _other_channel_axis(node: NodeView) -> Found | None:
    values, last = attributes(node), node.input(0).rank - 1
    axis = values.integer("channel_axis") or 0
    if not values.has("channel_axis") or axis == last:
        return None
    message = f"Only channel-last tensor is supported for GroupNorm. Expected axis {last} but got {axis}"
    return Found(f"channel_axis {axis}", message)


def _old_axes(node: NodeView) -> Found | None:
    axes, last = _reduced(node), node.input(0).rank - 1
    message = f"Only reduction on the last axis is supported for GroupNorm. Expected axis {last} but got "
    return None if axes == [last] else Found(f"reduction over axes {axes}", f"{message}{axes[0] if axes else 0}")


_SCALE = "Scale tensor channels don't match input tensor channels."
_SIZES_OF_GROUPS: Checks = (
    _too_deep("GroupNorm"),
    *_unlike_last(1, "GroupNorm has bad gamma tensor dims.", _SCALE),
    *_unlike_last(2, "GroupNorm has bad beta tensor dims.", "Beta tensor channels don't match input tensor channels."),
)
_ATTRIBUTES_OF_GROUPS: Checks = (
    asked(ATTRIBUTE, "channels in the last dimension", _other_channel_axis),
    has_attribute("GroupNorm", "num_groups"),
    has_attribute("GroupNorm", "epsilon"),
)
_OLD_AXES = asked(ATTRIBUTE, "a reduction over the last axis", _old_axes)
_OLD_GROUPS: Checks = (*_SIZES_OF_GROUPS, _OLD_AXES, *_ATTRIBUTES_OF_GROUPS)
_GROUPS: Checks = (*_SIZES_OF_GROUPS, *_expected_axes("GroupNorm", _axes_of_groups), *_ATTRIBUTES_OF_GROUPS)
_CHANNELS: Checks = (
    _too_deep("LayerNorm"),
    *_unlike_last(1, "LayerNorm has bad scale tensor dims.", _SCALE),
    *_unlike_last(2, "LayerNorm has bad beta tensor dims.", "Bias tensor channels don't match input tensor channels."),
    has_attribute("LayerNorm", "epsilon"),
    *_expected_axes("LayerNorm", lambda node: [node.input(0).rank - 1]),
)
_PLACES = tuple(SOURCE.with_symbol(f"Composite{name}NormParser::IsSupported") for name in ("Group", "Layer"))


def _two_norms(over_groups: Checks, over_channels: Checks) -> Checks:
    groups, channels = _PLACES
    return (*[check.from_source(groups) for check in over_groups], *[check.from_source(channels) for check in over_channels])


GROUP_NORM: Checks = (
    *before(
        SINCE_2_1_5, *_two_norms(where(says_axes, "with axes", *_OLD_GROUPS), where(says_no_axes, "without axes", *_CHANNELS))
    ),
    *since(
        SINCE_2_1_5, *_two_norms(where(is_group_norm, "over groups", *_GROUPS), where(is_layer_norm, "over channels", *_CHANNELS))
    ),
)

"""Group, layer and RMS normalization, and mixtures of experts: the custom operator ``moe``.

Source: the parsers in ``ml_drift_delegate/delegate/composite``, such as ``MoeExpertsOperationParser``
(``moe_experts_parser.cc``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....model.precompiled import FlexbufferMap, custom_options
from ....rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, RANK, SHAPE, TENSOR_TYPE
from ....rules.operands import counted
from ....rules.rule import LITERT, Check, Source
from ....rules.vocabulary import check, operand_count, where
from ...gpu_compatibility import Bhwc, bhwc
from ...gpu_compatibility.checks import FLOAT, Found, asked, case
from . import SOURCE
from .checks import RESULTS, Checks, available, before, float_constant, readable, since

COMPOSITE = Source(LITERT, "ml_drift_delegate/delegate/composite/custom_parsers.cc", "CustomOperationParserFactory::Create")

COMPOSITE = Source(LITERT, "ml_drift_delegate/delegate/composite/custom_parsers.cc", "CustomOperationParserFactory::Create")


def _has_entry(position: int) -> Callable[[NodeView], bool]:
    return lambda node: position < len(node.node.inputs)


def _unlike_channels(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        count, channels = node.input(position).element_count, bhwc(node.input(0).shape).c
        message = f"{name} tensor channels don't match input tensor channels."
        return None if count == channels else (f"{count} elements for {channels} channels", message)

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


RMS_NORM: Checks = case(*normalization(with_bias=False), source=SOURCE.with_symbol("CompositeRmsNormParser::IsSupported"))


def attributes(node: NodeView) -> FlexbufferMap:
    """Return the attributes of a composite. They are read once, however many checks ask for them."""
    of_nodes: dict[int, FlexbufferMap] = node.graph.results.get("composite attributes", (), dict)
    if node.node.index not in of_nodes:
        of_nodes[node.node.index] = FlexbufferMap(bytes(node.options.composite_attributes or ()))
    return of_nodes[node.node.index]


_AXES = "_TENSOR_V1_reduction_axes"


def _says_axes(node: NodeView) -> bool:
    return attributes(node).has(_AXES)


def _is_group_norm(node: NodeView) -> bool:
    values = attributes(node)
    return not values.integer("sub_type") if values.has("sub_type") else values.has(_AXES)


def _too_deep(name: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        shape = node.input(0).shape
        message = f"{name} has bad input tensor dims. Expected at most 4D input, got {', '.join(map(str, shape))}"
        return None if len(shape) <= 4 else (f"input of rank {len(shape)}", message)

    return asked(RANK, "an input of rank at most 4", find)


def _unlike_last(position: int, bad_rank: str, unlike: str) -> Checks:
    def rank(node: NodeView) -> Found | None:
        rank = node.input(position).rank
        return None if rank == 1 else (f"input {position} of rank {rank}", bad_rank)

    def size(node: NodeView) -> Found | None:
        shape, other = node.input(0).shape, node.input(position).shape
        description = f"shape {list(shape)} of input 0 and {list(other)} of input {position}"
        return None if shape[-1:] == other else (description, unlike)

    checks = (
        asked(RANK, f"input {position} of rank 1", rank),
        asked(SHAPE, f"an input {position} with the size of input 0's last dimension", size),
    )
    return where(_has_entry(position), "if given", *checks)


def _reduced(node: NodeView) -> list[int]:
    return attributes(node).part(_AXES).integers("TENSOR_DATA")


def _expected_axes(name: str, expected_of: Callable[[NodeView], list[int]]) -> Checks:
    def find(node: NodeView) -> Found | None:
        axes, expected = _reduced(node), expected_of(node)
        if axes == expected:
            return None
        one, other = (", ".join(map(str, side)) for side in (expected, axes))
        message = f"{name} has unexpected reduction axes. Expected axes [{one}] but got [{other}]"
        return f"reduction over axes {axes}", message

    return where(_says_axes, "if given", asked(ATTRIBUTE, "a reduction over the expected axes", find))


def _axes_of_groups(node: NodeView) -> list[int]:
    # Old files have no ``sub_type``, and reduce only the last axis. Others reduce all axes except the batch.
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
    return f"channel_axis {axis}", message


def _old_axes(node: NodeView) -> Found | None:
    axes, last = _reduced(node), node.input(0).rank - 1
    message = f"Only reduction on the last axis is supported for GroupNorm. Expected axis {last} but got "
    return None if axes == [last] else (f"reduction over axes {axes}", f"{message}{axes[0] if axes else 0}")


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
_OLD_GROUPS: Checks = (*_SIZES_OF_GROUPS, asked(ATTRIBUTE, "a reduction over the last axis", _old_axes), *_ATTRIBUTES_OF_GROUPS)
_GROUPS: Checks = (*_SIZES_OF_GROUPS, *_expected_axes("GroupNorm", _axes_of_groups), *_ATTRIBUTES_OF_GROUPS)
_CHANNELS: Checks = (
    _too_deep("LayerNorm"),
    *_unlike_last(1, "LayerNorm has bad scale tensor dims.", _SCALE),
    *_unlike_last(2, "LayerNorm has bad beta tensor dims.", "Bias tensor channels don't match input tensor channels."),
    has_attribute("LayerNorm", "epsilon"),
    *_expected_axes("LayerNorm", lambda node: [node.input(0).rank - 1]),
)


def _two_norms(groups: Checks, channels: Checks) -> Checks:
    places = [SOURCE.with_symbol(f"Composite{name}NormParser::IsSupported") for name in ("Group", "Layer")]
    return tuple([check.from_source(place) for place, checks in zip(places, (groups, channels), strict=True) for check in checks])


# ``odml.group_norm`` normalizes over groups or over all channels. Before LiteRT 2.1.5, the attribute with the axes decides. Later
# releases look at ``sub_type`` first.
GROUP_NORM: Checks = (
    *before(
        "litert-2.1.5",
        *_two_norms(
            where(_says_axes, "with axes", *_OLD_GROUPS), where(lambda node: not _says_axes(node), "without axes", *_CHANNELS)
        ),
    ),
    *since(
        "litert-2.1.5",
        *_two_norms(
            where(_is_group_norm, "over groups", *_GROUPS),
            where(lambda node: not _is_group_norm(node), "over channels", *_CHANNELS),
        ),
    ),
)

_PLACE = Source(LITERT, "ml_drift_delegate/delegate/composite/moe_experts_parser.cc", "MoeExpertsOperationParser::IsSupported")
_FLOAT_INPUTS, _QUANTIZED_INPUTS = 7, 10
_REQUIRED = ("num_experts", "num_active_experts", "model_dim", "hidden_dim", "weight_type")
_TYPES = {"fp32": "", "int8": "INT8", "int4": "INT4"}


class _Sizes(NamedTuple):
    experts: int
    active: int
    model: int
    hidden: int
    weights: str
    """The type of the weights, or an empty string if the weights are floats."""


def _read(node: NodeView) -> _Sizes | Found:
    if not node.node.is_custom:
        return "a composite", "moe has unsupported op carrier."
    if node.node.custom_options is None or node.node.custom_options[1] == 0:
        if len(node.node.inputs) in (_FLOAT_INPUTS, _QUANTIZED_INPUTS):
            return _inferred(node)
        return "no custom options", "moe is missing custom options."
    options = custom_options(node.graph.model, node.node)
    missing = next((key for key in _REQUIRED if not options.has(key)), None)
    if missing is not None:
        return f"no {missing}", f"moe is missing {missing}."
    if options.has("activation") and options.text("activation") != "gelu":
        return "another activation", "moe only supports activation='gelu'."
    if options.has("renormalized_top_weights") and not options.integer("renormalized_top_weights"):
        return "weights that are not renormalized", "moe expects renormalized_top_weights=true."
    weights = options.text("weight_type") or ""
    if weights not in _TYPES:
        return f"weight_type {weights}", f"moe unsupported weight_type: {weights}"
    experts, active, model, hidden = (options.integer(key) or 0 for key in _REQUIRED[:4])
    return _plausible(_Sizes(experts, active, model, hidden, _TYPES[weights]), "")


def _plausible(sizes: _Sizes, how: str) -> _Sizes | Found:
    if min(sizes[:4]) <= 0:
        return "sizes of 0", f"moe {how}dimensions must be positive."
    if sizes.active > sizes.experts:
        return "more active experts than experts", f"moe {how}num_active_experts must be <= num_experts."
    return sizes


def _inferred(node: NodeView) -> _Sizes | Found:
    source, chosen, gate = (bhwc(node.input(position).shape) for position in (0, 2, 3))
    is_float = len(node.node.inputs) == _FLOAT_INPUTS
    last = bhwc(node.input(5 if is_float else 7).shape)
    weights = "" if is_float else "INT4" if node.input(3).type == "INT4" else "INT8"
    sizes = _plausible(_Sizes(gate.h, chosen.c, source.c, gate.b, weights), "inferred ")
    if not isinstance(sizes, _Sizes):
        return sizes
    fits = (
        (source.b, source.h, chosen.b, chosen.h, gate.w, last.w) == (1, 1, 1, 1, 1, 1)
        and chosen.w == source.w
        and gate.c == sizes.model
        and (last.b, last.h, last.c) == (sizes.model, sizes.experts, sizes.hidden)
    )
    return sizes if fits else ("shapes that do not match", "moe cannot infer consistent attributes from shapes.")


def _sizes(node: NodeView) -> _Sizes:
    sizes = _read(node)
    assert isinstance(sizes, _Sizes)  # ensured by the first check
    return sizes


def _unreadable(node: NodeView) -> Found | None:
    sizes = _read(node)
    return None if isinstance(sizes, _Sizes) else sizes


def _other_count(node: NodeView) -> Found | None:
    expected = _QUANTIZED_INPUTS if _sizes(node).weights else _FLOAT_INPUTS
    count = len(node.node.inputs)
    return None if count == expected else (counted(count, "input"), f"moe expects {expected} inputs.")


def _source_shape(node: NodeView) -> Found | None:
    shape = bhwc(node.input(0).shape)
    message = "moe expects src shape [1, seq, model_dim] or [1, 1, seq, model_dim]."
    return None if (shape.b, shape.h, shape.c) == (1, 1, _sizes(node).model) else (f"input {list(shape)}", message)


def _unlike(tensor: Tensor, expected: Bhwc, name: str) -> Found | None:
    shape = bhwc(tensor.shape)
    message = f"moe expected {name} shape {list(expected)}, got {list(shape)}."
    return None if shape == expected else (f"{name} of shape {list(shape)}", message)


def _chosen_shape(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        expected = Bhwc(1, 1, bhwc(node.input(0).shape).w, _sizes(node).active)
        return _unlike(node.input(position), expected, name)

    return asked(SHAPE, f"{name} of shape [1, 1, sequence, num_active_experts]", find)


def _index_type(node: NodeView) -> Found | None:
    type_name = node.input(2).type
    return None if type_name == "INT32" else (f"{type_name} indices", "moe expects int32 top_indices.")


def _not_constant(positions: tuple[int, ...], message: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        at = next((position for position in positions if not node.input(position).is_constant), None)
        return None if at is None else (f"input {at} not constant", message)

    return asked(CONSTANT, f"constants as inputs {', '.join(map(str, positions))}", find)


_NAMES = ("ff_gate_weight", "ff1_weight", "linear_weight")


def _weight_shapes(*positions: int) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        sizes = _sizes(node)
        for position, name in zip(positions, _NAMES, strict=True):
            out, into = (sizes.model, sizes.hidden) if name == _NAMES[2] else (sizes.hidden, sizes.model)
            refusal = _unlike(node.input(position), Bhwc(out, sizes.experts, 1, into), name)
            if refusal is not None:
                return refusal
        return None

    return asked(SHAPE, "weights of shape [outputs, num_experts, 1, inputs]", find)


def _weight_types(node: NodeView) -> Found | None:
    expected = _sizes(node).weights
    for position, name in zip((3, 5, 7), _NAMES, strict=True):
        weights = node.input(position)
        if not weights.is_constant:
            return f"{name} not constant", "moe v1 expects constant quantized weights."
        if weights.type != expected:
            return f"{name} of type {weights.type}", f"moe expects {expected.lower()} {name}."
        if weights.quantization is None or not weights.is_affine:
            return f"{name} without scales", f"moe expects affine quantization for {name}."
        if weights.quantization.zero_points.any():
            message = f"moe only supports symmetric int8 weights; non-zero zero point in {name}."
            return f"{name} with a zero point", message
    return None


def _scale(position: int, name: str, *, is_each: bool) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        tensor, sizes = node.input(position), _sizes(node)
        if tensor.type not in FLOAT:
            return f"{name} of type {tensor.type}", f"moe expects {name} to be float32 or float16."
        outputs = sizes.model if name.startswith("linear") else sizes.hidden
        expected = Bhwc(outputs, sizes.experts, 1, 1) if is_each else Bhwc(1, 1, 1, sizes.experts)
        return _unlike(tensor, expected, name)

    return asked(SHAPE, f"a float {name} with the shape that the experts require", find)


_FLOATS: Checks = (
    _not_constant((3, 4, 5, 6), "moe v1 expects constant weights and scales."),
    _weight_shapes(3, 4, 5),
    _scale(6, "per_expert_scale", is_each=False),
)
_QUANTIZED: Checks = (
    asked(TENSOR_TYPE, "constant, symmetrically quantized weights of the type in weight_type", _weight_types),
    _weight_shapes(3, 5, 7),
    _not_constant((4, 6, 8, 9), "moe v1 expects constant int8 scales."),
    _scale(4, "ff_gate_scale", is_each=True),
    _scale(6, "ff1_scale", is_each=True),
    _scale(8, "linear_scale", is_each=True),
    _scale(9, "per_expert_scale", is_each=False),
)
EXPERTS: Checks = case(
    asked(ATTRIBUTE, "the attributes of the experts, or shapes from which they can be inferred", _unreadable).from_source(
        _PLACE.with_symbol("ReadAttributesOrInfer", "TfLiteContext")
    ),
    asked(OPERAND_COUNT, "7 inputs with float weights, or 10 inputs with quantized weights", _other_count),
    operand_count(outputs=1).saying("moe expects 1 output."),
    *readable(0),
    *readable(1),
    *readable(2),
    *RESULTS,
    asked(SHAPE, "an input of shape [1, 1, sequence, model_dim]", _source_shape),
    _chosen_shape(1, "top_weights"),
    asked(TENSOR_TYPE, "INT32 indices", _index_type),
    _chosen_shape(2, "top_indices"),
    *where(lambda node: not _sizes(node).weights, "with float weights", *_FLOATS),
    *where(lambda node: bool(_sizes(node).weights), "with quantized weights", *_QUANTIZED),
    source=_PLACE,
)

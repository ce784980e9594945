"""Mixtures of experts: the custom operator ``moe``.

Source: ``MoeExpertsOperationParser`` (``ml_drift_delegate/delegate/composite/moe_experts_parser.cc``).
"""

from __future__ import annotations

from dataclasses import dataclass

from .....graph.graph import NodeView
from .....model.flexbuffer import custom_options
from .....model.model import Tensor
from .....rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, SHAPE, TENSOR_TYPE
from .....rules.operands import counted
from .....rules.rule import Check
from .....rules.source import Source
from .....rules.vocabulary import operand_count, where
from ....gpu_compatibility.checks import FLOAT, Found, asked
from ...shapes import Bhwc, bhwc
from ..checks import COMPOSITE, RESULTS, Checks, readable

_PLACE = Source(
    COMPOSITE.repository, "ml_drift_delegate/delegate/composite/moe_experts_parser.cc", "MoeExpertsOperationParser::IsSupported"
)
_FLOAT_INPUTS, _QUANTIZED_INPUTS = 7, 10
_REQUIRED = ("num_experts", "num_active_experts", "model_dim", "hidden_dim", "weight_type")
_TYPES = {"fp32": "", "int8": "INT8", "int4": "INT4"}


@dataclass(frozen=True, slots=True)
class _Sizes:
    experts: int
    active: int
    model: int
    hidden: int
    weights: str
    """The type of the weights, or an empty string if the weights are floats."""


def _read(node: NodeView) -> _Sizes | Found:
    if not node.node.is_custom:
        return Found("a composite", "moe has unsupported op carrier.")
    if node.node.custom_options is None or node.node.custom_options[1] == 0:
        if len(node.node.inputs) in (_FLOAT_INPUTS, _QUANTIZED_INPUTS):
            return _inferred(node)
        return Found("no custom options", "moe is missing custom options.")
    options = custom_options(node.graph.model, node.node)
    missing = next((key for key in _REQUIRED if not options.has(key)), None)
    if missing is not None:
        return Found(f"no {missing}", f"moe is missing {missing}.")
    if options.has("activation") and options.text("activation") != "gelu":
        return Found("another activation", "moe only supports activation='gelu'.")
    if options.has("renormalized_top_weights") and not options.integer("renormalized_top_weights"):
        return Found("weights that are not renormalized", "moe expects renormalized_top_weights=true.")
    weights = options.text("weight_type") or ""
    if weights not in _TYPES:
        return Found(f"weight_type {weights}", f"moe unsupported weight_type: {weights}")
    numbers = [options.integer(key) or 0 for key in _REQUIRED[:4]]
    return _plausible(_Sizes(numbers[0], numbers[1], numbers[2], numbers[3], _TYPES[weights]), "")


def _plausible(sizes: _Sizes, how: str) -> _Sizes | Found:
    if min(sizes.experts, sizes.active, sizes.model, sizes.hidden) <= 0:
        return Found("sizes of 0", f"moe {how or ''}dimensions must be positive.")
    if sizes.active > sizes.experts:
        return Found("more active experts than experts", f"moe {how}num_active_experts must be <= num_experts.")
    return sizes


def _inferred(node: NodeView) -> _Sizes | Found:
    source, chosen, gate = (bhwc(node.input(position).shape) for position in (0, 2, 3))
    is_float = len(node.node.inputs) == _FLOAT_INPUTS
    last = bhwc(node.input(5 if is_float else 7).shape)
    weights = "" if is_float else "INT4" if node.input(3).type == "INT4" else "INT8"
    sizes = _plausible(_Sizes(gate.h, chosen.c, source.c, gate.b, weights), "inferred ")
    if isinstance(sizes, Found):
        return sizes
    fits = (
        (source.b, source.h, chosen.b, chosen.h, gate.w, last.w) == (1, 1, 1, 1, 1, 1)
        and chosen.w == source.w
        and gate.c == sizes.model
        and (last.b, last.h, last.c) == (sizes.model, sizes.experts, sizes.hidden)
    )
    return sizes if fits else Found("shapes that do not match", "moe cannot infer consistent attributes from shapes.")


def _sizes(node: NodeView) -> _Sizes:
    sizes = _read(node)
    assert isinstance(sizes, _Sizes)  # ensured by the first check
    return sizes


def _unreadable(node: NodeView) -> Found | None:
    sizes = _read(node)
    return sizes if isinstance(sizes, Found) else None


def _other_count(node: NodeView) -> Found | None:
    expected = _QUANTIZED_INPUTS if _sizes(node).weights else _FLOAT_INPUTS
    count = len(node.node.inputs)
    return None if count == expected else Found(counted(count, "input"), f"moe expects {expected} inputs.")


def _source_shape(node: NodeView) -> Found | None:
    shape = bhwc(node.input(0).shape)
    message = "moe expects src shape [1, seq, model_dim] or [1, 1, seq, model_dim]."
    return None if (shape.b, shape.h, shape.c) == (1, 1, _sizes(node).model) else Found(f"input {list(shape)}", message)


def _unlike(tensor: Tensor, expected: Bhwc, name: str) -> Found | None:
    shape = bhwc(tensor.shape)
    message = f"moe expected {name} shape {list(expected)}, got {list(shape)}."
    return None if shape == expected else Found(f"{name} of shape {list(shape)}", message)


def _chosen_shape(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        expected = Bhwc(1, 1, bhwc(node.input(0).shape).w, _sizes(node).active)
        return _unlike(node.input(position), expected, name)

    return asked(SHAPE, f"{name} of shape [1, 1, sequence, num_active_experts]", find)


def _index_type(node: NodeView) -> Found | None:
    type_name = node.input(2).type
    return None if type_name == "INT32" else Found(f"{type_name} indices", "moe expects int32 top_indices.")


def _not_constant(positions: tuple[int, ...], message: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        at = next((position for position in positions if not node.input(position).is_constant), None)
        return None if at is None else Found(f"input {at} not constant", message)

    return asked(CONSTANT, f"constants as inputs {', '.join(map(str, positions))}", find)


_NAMES = ("ff_gate_weight", "ff1_weight", "linear_weight")


def _weight_shape(node: NodeView, position: int, name: str) -> Found | None:
    sizes = _sizes(node)
    out, into = (sizes.model, sizes.hidden) if name == _NAMES[2] else (sizes.hidden, sizes.model)
    return _unlike(node.input(position), Bhwc(out, sizes.experts, 1, into), name)


def _weight_shapes(positions: tuple[int, int, int]) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        refusals = (_weight_shape(node, position, name) for position, name in zip(positions, _NAMES, strict=True))
        return next((refusal for refusal in refusals if refusal is not None), None)

    return asked(SHAPE, "weights of shape [outputs, num_experts, 1, inputs]", find)


def _weight_types(node: NodeView) -> Found | None:
    expected = _sizes(node).weights
    for position, name in zip((3, 5, 7), _NAMES, strict=True):
        weights = node.input(position)
        if not weights.is_constant:
            return Found(f"{name} not constant", "moe v1 expects constant quantized weights.")
        if weights.type != expected:
            return Found(f"{name} of type {weights.type}", f"moe expects {expected.lower()} {name}.")
        if weights.quantization is None or not weights.quantization.is_affine:
            return Found(f"{name} without scales", f"moe expects affine quantization for {name}.")
        if weights.quantization.zero_points.any():
            message = f"moe only supports symmetric int8 weights; non-zero zero point in {name}."
            return Found(f"{name} with a zero point", message)
    return None


def _scale(position: int, name: str, *, is_each: bool) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        tensor, sizes = node.input(position), _sizes(node)
        if tensor.type not in FLOAT:
            return Found(f"{name} of type {tensor.type}", f"moe expects {name} to be float32 or float16.")
        outputs = sizes.model if name.startswith("linear") else sizes.hidden
        expected = Bhwc(outputs, sizes.experts, 1, 1) if is_each else Bhwc(1, 1, 1, sizes.experts)
        return _unlike(tensor, expected, name)

    return asked(SHAPE, f"a float {name} with the shape that the experts require", find)


_FLOATS: Checks = (
    _not_constant((3, 4, 5, 6), "moe v1 expects constant weights and scales."),
    _weight_shapes((3, 4, 5)),
    _scale(6, "per_expert_scale", is_each=False),
)
_QUANTIZED: Checks = (
    asked(TENSOR_TYPE, "constant, symmetrically quantized weights of the type in weight_type", _weight_types),
    _weight_shapes((3, 5, 7)),
    _not_constant((4, 6, 8, 9), "moe v1 expects constant int8 scales."),
    _scale(4, "ff_gate_scale", is_each=True),
    _scale(6, "ff1_scale", is_each=True),
    _scale(8, "linear_scale", is_each=True),
    _scale(9, "per_expert_scale", is_each=False),
)
_COUNTED: Checks = (
    asked(ATTRIBUTE, "the attributes of the experts, or shapes from which they can be inferred", _unreadable).from_source(
        _PLACE.with_symbol("ReadAttributesOrInfer", "TfLiteContext")
    ),
    asked(OPERAND_COUNT, "7 inputs with float weights, or 10 inputs with quantized weights", _other_count),
    operand_count(outputs=1).saying("moe expects 1 output."),
)
_SHAPED: Checks = (
    asked(SHAPE, "an input of shape [1, 1, sequence, model_dim]", _source_shape),
    _chosen_shape(1, "top_weights"),
    asked(TENSOR_TYPE, "INT32 indices", _index_type),
    _chosen_shape(2, "top_indices"),
    *where(lambda node: not _sizes(node).weights, "with float weights", *_FLOATS),
    *where(lambda node: bool(_sizes(node).weights), "with quantized weights", *_QUANTIZED),
)
EXPERTS: Checks = tuple(
    [
        check if check.source else check.from_source(_PLACE)
        for check in (*_COUNTED, *readable(0), *readable(1), *readable(2), *RESULTS, *_SHAPED)
    ]
)

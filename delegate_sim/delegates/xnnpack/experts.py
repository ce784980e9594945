"""Mixtures of experts: the custom operator ``moe``. Each ``moe`` node has its own delegate kernel.

Source: ``MoeExpertsDelegateKernel::Impl::IsSupported`` and ``ReadAttributes`` (``delegates/xnnpack/moe_delegate_kernel.cc``).
Every build of the delegate prints the reasons for refused ``moe`` nodes. Only builds with logging print the reasons for all other
operators.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from ...graph.graph import NodeView
from ...model.model import Node, Tensor
from ...model.precompiled import FlexbufferMap, custom_options
from ...releases.catalogue import Release, parse_release
from ...rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, SHAPE, TENSOR_TYPE, Kind
from ...rules.rule import LITERT, Check, OpRule, Source, Verdict, op_rule
from ...rules.vocabulary import check
from .target import Visit

EXPERTS = "moe"

_KNOWN_FROM = parse_release("litert-2.2.0")
_QUANTIZED_FROM = "litert-2.3"
"""The first release that accepts integer weights and checks the sizes of weights and scales."""
_GROUPED_FROM = "litert-2.4"
"""The first release in which a row of INT8 weights may have several scales."""
_SIZES = ("num_experts", "num_active_experts", "model_dim", "hidden_dim")
_REQUIRED = (*_SIZES, "weight_type")
_WEIGHT_TYPES = ("fp32", "int8", "int4")
_ACTIVATIONS = ("gelu", "gelu_tanh")
_LARGEST = 2**31 - 1
_STORED = {"fp32": ("FLOAT32",), "int8": ("INT8",), "int4": ("INT4", "INT8")}

_Problem: TypeAlias = tuple[str, str]
"""A problem of a node: a description, and the delegate's message after the prefix ``moe node #...``."""

Finder = Callable[[NodeView], _Problem | None]


@functools.lru_cache(maxsize=1)
def _attributes(node: NodeView) -> FlexbufferMap:
    return custom_options(node.graph.model, node.node)


def _text(node: NodeView, key: str) -> str:
    return _attributes(node).text(key) or ""


def _size(node: NodeView, key: str) -> int:
    size = _attributes(node).integer(key) or 0
    return (size + 2**31) % 2**32 - 2**31


def _no_options(node: NodeView) -> _Problem | None:
    _, size = node.node.custom_options or (0, 0)
    return None if size else ("no custom options", "is missing custom options")


def _missing(node: NodeView) -> _Problem | None:
    missing = next((key for key in _REQUIRED if not _attributes(node).has(key)), None)
    return None if missing is None else (f"no {missing}", f"is missing attribute {missing}")


def _other_weights(*known: str, path: str = "") -> Finder:
    def find(node: NodeView) -> _Problem | None:
        weight_type = _text(node, "weight_type")
        message = f"has unsupported weight_type '{weight_type}'{path}"
        return None if weight_type in known else (f"weight_type {weight_type!r}", message)

    return find


def _other_activation(known: tuple[str, ...], message: str) -> Finder:
    def find(node: NodeView) -> _Problem | None:
        name = _text(node, "activation")
        if name in known or not _attributes(node).has("activation"):
            return None
        return f"activation {name!r}", message.format(name)

    return find


def _unusable_sizes(node: NodeView) -> _Problem | None:
    sizes = {key: _size(node, key) for key in _SIZES}
    if min(sizes.values()) > 0 and sizes["num_active_experts"] <= sizes["num_experts"]:
        return None
    return ", ".join(f"{key} {size}" for key, size in sizes.items()), "has invalid dimensions"


def _too_large(node: NodeView) -> _Problem | None:
    size = _size(node, "num_experts") * _size(node, "hidden_dim") * _size(node, "model_dim")
    return None if size <= _LARGEST else (f"{size} weights", "dimensions exceed maximum bounds")


def _is_quantized(node: NodeView) -> bool:
    return _text(node, "weight_type") != "fp32"


def _other_counts(node: NodeView) -> _Problem | None:
    expected = 10 if _is_quantized(node) else 7
    if (len(node.node.inputs), len(node.node.outputs)) == (expected, 1):
        return None
    description = f"{len(node.node.inputs)} operands and {len(node.node.outputs)} results"
    return description, f"expects {expected} inputs and 1 output"


def _other_counts_before(node: NodeView) -> _Problem | None:
    if (len(node.node.inputs), len(node.node.outputs)) == (7, 1):
        return None
    description = f"{len(node.node.inputs)} operands and {len(node.node.outputs)} results"
    return description, "expects 7 fp32 inputs and 1 output in the XNNPACK prototype path"


def _types(node: NodeView, count: int) -> list[str]:
    return [node.input(position).type for position in range(count)] + [node.output(0).type]  # bounded: callers pass constants


def _other_types(node: NodeView) -> _Problem | None:
    types = _types(node, 3)
    message = "requires fp32 activations and int32 top_indices"
    return None if types == ["FLOAT32", "FLOAT32", "INT32", "FLOAT32"] else (", ".join(types), message)


def _other_types_before(node: NodeView) -> _Problem | None:
    types = _types(node, 7)
    message = "currently supports fp32 weights, fp32 activations, and int32 top_indices only"
    return None if types == ["FLOAT32", "FLOAT32", "INT32", *["FLOAT32"] * 5] else (", ".join(types), message)


def _computed_before(node: NodeView) -> _Problem | None:
    computed = [position for position in range(3, 7) if not node.input(position).is_constant]
    if not computed:
        return None
    description = f"operand {computed[0]} is computed at run time"
    return description, "expects constant expert weights and per_expert_scale"


def _unusable_operand(*grouped: str) -> Finder:
    return lambda node: next(_operand_problems(node, grouped), None)


def _operand_problems(node: NodeView, grouped: Collection[str]) -> Iterator[_Problem]:
    experts, hidden, model = _size(node, "num_experts"), _size(node, "hidden_dim"), _size(node, "model_dim")
    rows = {"gate": hidden * experts, "ff1": hidden * experts, "linear": model * experts}
    position = 3
    for name, count in rows.items():
        yield from _weight_problems(node, position, f"{name}_weight", hidden * experts * model)
        position += 1
        if _is_quantized(node):
            yield from _scale_problems(node, position, f"{name}_scale", count, grouped)
            position += 1
    scales = node.input(position)
    if not _is_constant_float(scales) or scales.element_count != experts:
        description = f"per_expert_scale is {scales.type} of shape {list(scales.shape)} for {experts} experts"
        yield description, "per_expert_scale invalid per_expert_scale tensor"


def _weight_problems(node: NodeView, position: int, name: str, elements: int) -> Iterator[_Problem]:
    tensor, weight_type = node.input(position), _text(node, "weight_type")
    if tensor.type not in _STORED[weight_type]:
        named = {"fp32": "fp32", "int8": "int8", "int4": "int4 or int8"}[weight_type]
        yield f"{name} is {tensor.type}", f"{name} requires {named} type"
    if not tensor.is_constant:
        yield f"{name} is computed at run time", f"{name} (input #{position}) must be a constant tensor"
    expected = (elements + 1) // 2 if (tensor.type, weight_type) == ("INT8", "int4") else elements
    if tensor.element_count != expected:
        message = f"{name} element count {tensor.element_count} does not match expected {expected}"
        yield f"{name} with {tensor.element_count} elements instead of {expected}", message


def _scale_problems(node: NodeView, position: int, name: str, rows: int, grouped: Collection[str]) -> Iterator[_Problem]:
    tensor = node.input(position)
    if not _is_constant_float(tensor):
        yield f"{name} is {tensor.type}", f"{name} must be a constant fp32 tensor"
    count, is_grouped = tensor.element_count, _text(node, "weight_type") in grouped
    if not is_grouped and count != rows:
        yield f"{name} of {count} elements for {rows} rows", f"{name} element count {count} does not match rows {rows}"
    if is_grouped and (count <= 0 or count % rows):
        message = f"{name} element count {count} is not a multiple of rows {rows}"
        yield f"{name} of {count} elements for {rows} rows", message


def _is_constant_float(tensor: Tensor) -> bool:
    return tensor.type == "FLOAT32" and tensor.is_constant


_SOURCE = Source(LITERT, "tflite/delegates/xnnpack/moe_delegate_kernel.cc", "MoeExpertsDelegateKernel::Impl::IsSupported")
_ATTRIBUTES = _SOURCE.with_symbol("MoeExpertsDelegateKernel::Impl::ReadAttributes")


def _demand(kind: Kind, needed: str, finder: Finder, since: str = "", until: str = "") -> Check[object]:
    def problem(node: NodeView) -> str | None:
        refusal = finder(node)
        return None if refusal is None else refusal[0]

    def said(node: NodeView) -> str:
        refusal = finder(node)
        return "" if refusal is None else f"{EXPERTS} node #{node.node.index} {refusal[1]}"

    demand = check(kind, needed, problem).saying(said).from_source(_ATTRIBUTES if kind is ATTRIBUTE else _SOURCE)
    demand = demand.from_release(since) if since else demand
    return demand.before_release(until) if until else demand


def is_mixture(node: Node, release: Release) -> bool:
    """Return whether a node is a mixture of experts, which has its own kernel."""
    return node.op == EXPERTS and node.is_custom and release.is_at_least(_KNOWN_FROM)


def printed_lines(verdict: Verdict) -> tuple[str, ...]:
    """Return the lines that the delegate prints about a refused mixture of experts."""
    return tuple([reason.kind for reason in verdict.reasons])


_USABLE_OPERANDS = "constant weights and scales with the types and sizes in the attributes"
_PATH = " for the XNNPACK prototype path"
_ONLY_GELU = _other_activation(("gelu",), "only supports activation='gelu'")
_GELU_OR_TANH = _other_activation(_ACTIVATIONS, "unsupported activation='{}'")

MIXTURE: OpRule[Visit] = (
    op_rule(
        _demand(ATTRIBUTE, "custom options", _no_options).from_source(
            _SOURCE.with_symbol("MoeExpertsDelegateKernel::Impl::ReadAttributeMap")
        ),
        _demand(ATTRIBUTE, f"the attributes {', '.join(_REQUIRED)}", _missing),
        _demand(ATTRIBUTE, "weight_type fp32", _other_weights("fp32", path=_PATH), until=_QUANTIZED_FROM),
        _demand(ATTRIBUTE, f"weight_type {', '.join(_WEIGHT_TYPES)}", _other_weights(*_WEIGHT_TYPES), since=_QUANTIZED_FROM),
        _demand(ATTRIBUTE, "activation gelu, or none", _ONLY_GELU, until=_QUANTIZED_FROM),
        _demand(ATTRIBUTE, f"activation {' or '.join(_ACTIVATIONS)}, or none", _GELU_OR_TANH, since=_QUANTIZED_FROM),
        _demand(ATTRIBUTE, "sizes above 0, and at most as many active experts as experts", _unusable_sizes),
        _demand(ATTRIBUTE, f"at most {_LARGEST} weights in a layer", _too_large, since=_QUANTIZED_FROM),
        _demand(OPERAND_COUNT, "7 operands and 1 result", _other_counts_before, until=_QUANTIZED_FROM),
        _demand(OPERAND_COUNT, "7 operands (10 if the weights are integers) and 1 result", _other_counts, since=_QUANTIZED_FROM),
        _demand(TENSOR_TYPE, "FLOAT32 tensors, and INT32 for the indices", _other_types_before, until=_QUANTIZED_FROM),
        _demand(CONSTANT, "weights and scales that are constants", _computed_before, until=_QUANTIZED_FROM),
        _demand(TENSOR_TYPE, "FLOAT32 activations and INT32 indices", _other_types, since=_QUANTIZED_FROM),
        _demand(SHAPE, _USABLE_OPERANDS, _unusable_operand("int4"), since=_QUANTIZED_FROM, until=_GROUPED_FROM),
        _demand(SHAPE, _USABLE_OPERANDS, _unusable_operand("int8", "int4"), since=_GROUPED_FROM),
    )
    .from_source(_SOURCE)
    .from_release(str(_KNOWN_FROM))
)

"""Rules of the compiler plugins: the checks of every operator, in the plugin's order.

``operators.json`` has the operators that Google's plugin refuses, and the operators that the plugins of Intel and MediaTek take.
Google's plugin accepts every other operator. Samsung's plugin accepts every node.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from ...graph.graph import NodeView
from ...model.model import Tensor
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release, parse_release
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import Kind
from ...rules.rule import LITERT, Check, OpRule, Rules, Source, op_rule
from ...rules.vocabulary import check
from .composites import as_integer, attributes, composite_name, present
from .loader import (
    ATTRIBUTE,
    BLOCKWISE,
    COMPOSITE,
    CONSTANT,
    KINDS,
    NONE,
    OP_FILTER,
    OPERATOR,
    PER_CHANNEL,
    PER_TENSOR,
    QUANTIZATION,
    TENSOR_TYPE,
    FileFacts,
    has_weights,
    quantization_kind,
)
from .op_filters import OpFilters


class NpuTarget(NamedTuple):
    """The release of the runtime, the properties of the model file, the op filters, and the places of inlined tensors."""

    release: Release = NEWEST
    facts: FileFacts | None = None
    filters: OpFilters | None = None
    tensors: Mapping[int, tuple[int, int]] | None = None
    """The place in the model file, as (subgraph, index), of each tensor that inlining added. The key is the tensor's index."""


NpuRule: TypeAlias = OpRule[NpuTarget]

GOOGLE = Source(LITERT, "litert/vendors/google_tensor/compiler/compiler_plugin.cc", "IsOpSupported")
INTEL = Source(LITERT, "litert/vendors/intel_openvino/compiler/openvino_compiler_plugin.cc", "IsOpSupported")
MEDIATEK = Source(LITERT, "litert/vendors/mediatek/compiler/compiler_plugin.cc", "IsOpSupported")
SAMSUNG = Source(LITERT, "litert/vendors/samsung/compiler/compiler_plugin.cc", "LiteRtCompilerPluginPartition")
_MEDIATEK_TYPES = Source(LITERT, "litert/vendors/mediatek/compiler/legalizations/neuron_utils.cc", "GetNeuronTensorType")
_MEDIATEK_COMMON = Source(LITERT, "litert/vendors/mediatek/compiler/legalizations/common_op_legalization.cc", "VerifyCommonOp")


def refused(message: str = "an operator that the plugin selects") -> Check[object]:
    """Return a check that refuses every node of an operator."""
    return check(OPERATOR, message, lambda node: node.op)


_NOTHING: tuple[Check[NpuTarget], ...] = ()

ANY: NpuRule = OpRule(_NOTHING).from_source(INTEL)
"""Intel's plugin accepts the operator with any types and attributes."""

REFUSED: NpuRule = op_rule(refused()).from_source(GOOGLE.with_symbol("kUnSupportedOps"))
"""Google's plugin never accepts the operator, in any release."""


def _filtered(node: NodeView, target: NpuTarget) -> str | None:
    if target.filters is None or target.filters.keeps_all:
        return None
    match = target.filters.match([node.graph.tensors[index].name for index in present(node.node.outputs)])
    if match.is_kept:
        return None
    return f"a result that matches {match.pattern!r}" if match.pattern is not None else "no result that matches a filter"


FILTERED: Check[NpuTarget] = (
    Check(OP_FILTER, "result names that the op filters allow on the NPU", _filtered)
    .from_source(GOOGLE.with_symbol("GetFilterOutcome"))
    .from_release("litert-2.1.5")
)

REFUSED_BEFORE_2_3: NpuRule = op_rule(refused().before_release("litert-2.3.0"), FILTERED).from_source(
    GOOGLE.with_symbol("kUnSupportedOps")
)

# Types that MediaTek's plugin maps

_WHATEVER = frozenset({"FLOAT32", "FLOAT16", "BOOL", "UINT8"})
"""Types that MediaTek's plugin maps with any quantization."""
_QUANTIZED = {
    "INT8": ((PER_TENSOR, PER_CHANNEL), "Int8 is not supported."),
    "INT4": ((PER_TENSOR, PER_CHANNEL), "Int4 is not supported."),
    "INT2": ((PER_TENSOR, PER_CHANNEL), "Int2 is not supported."),
    "INT16": ((PER_TENSOR,), "Int16 is not supported."),
    "UINT16": ((PER_TENSOR,), "UInt16 is not supported."),
}
_NUMBERS = {
    "INT64": 4,
    "STRING": 5,
    "COMPLEX64": 8,
    "FLOAT64": 11,
    "UINT64": 13,
    "RESOURCE": 14,
    "UINT32": 16,
    "UINT16": 17,
    "BFLOAT16": 19,
    "INT2": 20,
    "UINT4": 21,
    "FLOAT8_E4M3FN": 22,
    "FLOAT8_E5M2": 23,
}
"""LiteRT's numbers for types. Log lines about unsupported types contain these numbers."""
_CAST_LINE = "Currently force casting int64 to int32 on constant."
_INT2_SINCE = parse_release("litert-2.3.0")
_UINT16_SINCE = parse_release("litert-2.2.0")
_ASYMMETRIC_REFUSED = (parse_release("litert-2.2.0"), parse_release("litert-2.3.0"))
"""From the first of these releases on, INT32 tensors quantized per channel must have zero points of 0.

The second of these releases lifts this restriction.
"""
_BLOCKWISE_REFUSED = parse_release("litert-2.2.0")


def kind_of(node: NodeView, index: int, target: NpuTarget) -> str:
    """Return the kind of quantization of the tensor ``index``. ``node`` is any node of the tensor's graph."""
    tensor = node.tensor(index)
    others = {} if target.facts is None else target.facts.kinds
    if tensor.quantization is not None or not others:
        return quantization_kind(tensor)
    place = (node.graph.index, index)
    if target.tensors is not None:
        place = target.tensors.get(index, place)
    return others.get(place) or quantization_kind(tensor)


def mapped_types(node: NodeView, target: NpuTarget) -> Iterator[Refusal | str]:
    """Check the types of a node's operands and results. Yield warning lines, then the first unsupported type, if any."""
    inputs, outputs = present(node.node.inputs), present(node.node.outputs)
    for names, indices in (("input", inputs), ("output", outputs)):
        for position, index in enumerate(indices):
            tensor = node.tensor(index)
            if tensor.type in _WHATEVER:
                continue
            fault = _fault(tensor, kind_of(node, index, target), target, f"{names} {position}")
            if fault is not None:
                yield fault
                return
            if tensor.type == "INT64":
                yield _CAST_LINE


def _fault(tensor: Tensor, kind: str, target: NpuTarget, name: str) -> Refusal | None:
    if tensor.type == "INT32":
        return _channels_fault(tensor, kind, target, name)
    if tensor.type in _QUANTIZED and _is_known(tensor.type, target):
        allowed, line = _QUANTIZED[tensor.type]
        if kind in allowed:
            return None
        return _refusal(QUANTIZATION, f"{name} is {tensor.type} {_words(kind)}", line)
    if tensor.type == "INT64" and has_weights(tensor):
        if kind != BLOCKWISE or not target.release.is_at_least(_BLOCKWISE_REFUSED):
            return None
        return _refusal(QUANTIZATION, f"{name} is INT64 {_words(kind)}", "Int64 is not supported.")
    number = _NUMBERS.get(tensor.type, 0)
    description = f"{name} is {'a computed ' if tensor.type == 'INT64' else ''}{tensor.type}"
    return _refusal(TENSOR_TYPE, description, f"Unsupported element type: {number}")


def _refusal(kind: Kind, found: str, line: str) -> Refusal:
    return kind.refusal(found, log_lines=(line,))


def _is_known(name: str, target: NpuTarget) -> bool:
    since = {"INT2": _INT2_SINCE, "UINT16": _UINT16_SINCE}.get(name)
    return since is None or target.release.is_at_least(since)


def _channels_fault(tensor: Tensor, kind: str, target: NpuTarget, name: str) -> Refusal | None:
    since, until = _ASYMMETRIC_REFUSED
    if kind != PER_CHANNEL or not target.release.is_at_least(since) or target.release.is_at_least(until):
        return None
    quantization = tensor.quantization
    if quantization is None or not quantization.zero_points.any():
        return None
    line = "Int32 per-channel quantization only supports symmetric zero points."
    return _refusal(QUANTIZATION, f"{name} is INT32 quantized per channel with zero points other than 0", line)


def _words(kind: str) -> str:
    return "without quantization" if kind == NONE else f"quantized {kind}"


def _find_of(kind: Kind) -> Any:
    def find(node: NodeView, target: NpuTarget) -> str | None:
        fault = next((fault for fault in mapped_types(node, target) if isinstance(fault, Refusal)), None)
        return fault.message if fault is not None and fault.code == kind.name else None

    return find


_TYPES: tuple[Check[NpuTarget], ...] = (
    Check(
        TENSOR_TYPE,
        "operands and results of type FLOAT32, FLOAT16, BOOL, INT2 to INT32, UINT8 or UINT16, or INT64 constants",
        _find_of(TENSOR_TYPE),
    ).from_source(_MEDIATEK_TYPES),
    Check(
        QUANTIZATION,
        "INT8, INT4 and INT2 quantized per tensor or per channel, INT16 and UINT16 quantized per tensor, and INT64 not "
        "quantized blockwise",
        _find_of(QUANTIZATION),
    ).from_source(_MEDIATEK_TYPES),
)
TYPED: NpuRule = OpRule(_TYPES).from_source(MEDIATEK)
"""MediaTek's plugin accepts the operator if it maps the types of all operands and results."""

# Checks of composites and of single operators


def composite_named(names: Iterable[str]) -> Check[object]:
    """Require that a composite has one of these names."""
    allowed = tuple(names)

    def find(node: NodeView) -> str | None:
        name = composite_name(node.graph.model, node.node)
        return None if name in allowed else f"composite {name!r}"

    return check(COMPOSITE, f"composite {' or '.join(allowed)}", find, data=("composite", *sorted(allowed)))


def _several_groups(node: NodeView) -> str | None:
    if composite_name(node.graph.model, node.node) != "odml.group_norm":
        return None
    values = attributes(node.graph.model, node.node)
    try:
        groups = 0 if values is None else as_integer(values["num_groups"])
    except KeyError:
        groups = 0
    return None if groups == 1 else f"num_groups {groups}"


_RMS, _L2, _GROUP, _ATTENTION = "odml.rms_norm", "odml.l2_norm", "odml.group_norm", "odml.scaled_dot_product_attention"
_NAMES_BEFORE_2_3 = composite_named((_RMS, _L2)).before_release("litert-2.3.0").from_source(_MEDIATEK_COMMON)
_NAMES_FROM_2_3 = composite_named((_RMS, _L2, _GROUP)).from_release("litert-2.3.0").from_source(_MEDIATEK_COMMON)
_ONE_GROUP = (
    check(ATTRIBUTE, "odml.group_norm with num_groups 1", _several_groups, "normalize in one group")
    .from_release("litert-2.3.0")
    .from_source(_MEDIATEK_COMMON)
)


def _computed_count(node: NodeView) -> str | None:
    inputs = present(node.node.inputs)
    return None if len(inputs) > 1 and has_weights(node.graph.tensor(inputs[1])) else "a number of elements that is not constant"


CONSTANT_COUNT: NpuRule = (
    op_rule(check(CONSTANT, "a constant number of elements", _computed_count)).from_source(INTEL).from_release("litert-2.2.0")
)
"""Intel's plugin accepts TOPK_V2 if k is constant."""

_OPERATORS: Mapping[str, Mapping[str, Any]] = json.loads(pkgutil.get_data(__package__, "operators.json") or b"")


def _taken_by(plugin: str, rule: NpuRule) -> dict[str, NpuRule]:
    since = _OPERATORS[plugin]["since"]
    return {op: rule.from_release(since[op]) if op in since else rule for op in _OPERATORS[plugin]["takes"]}


_GOOGLE_RULES: Rules[NpuTarget] = {
    **dict.fromkeys(_OPERATORS["google"]["refuses"], REFUSED),
    **dict.fromkeys(_OPERATORS["google"]["refuses before 2.3"], REFUSED_BEFORE_2_3),
    "STABLEHLO_COMPOSITE": op_rule(composite_named((_RMS, _GROUP, _ATTENTION)).from_release("litert-2.1.5")).from_source(
        GOOGLE.with_symbol("IsShloCompositeOpSupported")
    ),
}
_INTEL_RULES: Rules[NpuTarget] = {
    **_taken_by("intel", ANY),
    "TOPK_V2": CONSTANT_COUNT,
    "STABLEHLO_COMPOSITE": op_rule(
        composite_named((_RMS,)).from_release("litert-2.2.0"), refused().before_release("litert-2.2.0")
    ).from_source(INTEL.with_symbol("IsCompositeOpSupported")),
}
_MEDIATEK_RULES: Rules[NpuTarget] = {
    **_taken_by("mediatek", TYPED),
    "STABLEHLO_COMPOSITE": op_rule(*_TYPES, _NAMES_BEFORE_2_3, _NAMES_FROM_2_3, _ONE_GROUP).from_source(MEDIATEK),
}

_UNKNOWN = Unknown("an operator that the plugin selects", problem="is not selected")


def _release(target: NpuTarget) -> Any:
    return target.release


def _book(
    plugin: str, source: Source, *families: Rules[NpuTarget], others: NpuRule | None = None, refuses_custom: bool = False
) -> RuleBook[NpuTarget]:
    return RuleBook(
        f"npu-{plugin}",
        families=families,
        kinds=KINDS,
        source=source,
        unknown=_UNKNOWN,
        unknown_custom=_UNKNOWN if refuses_custom else None,
        others=others,
        key=_release,
        reads_operands=False,
    )


BOOKS = {
    "google": _book("google", GOOGLE, _GOOGLE_RULES, others=op_rule(FILTERED).from_source(GOOGLE), refuses_custom=True),
    "intel": _book("intel", INTEL, _INTEL_RULES),
    "mediatek": _book("mediatek", MEDIATEK, _MEDIATEK_RULES),
    "samsung": _book("samsung", SAMSUNG, others=ANY.from_source(SAMSUNG)),
}
"""The rules of each plugin, by the name of the vendor."""

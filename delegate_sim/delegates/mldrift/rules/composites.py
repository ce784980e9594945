"""Rules of composites, and of custom operators with the same names. Rules of attention operators are here as well.

Source: ``CustomOperationParserFactory::Create`` (``ml_drift_delegate/delegate/composite/custom_parsers.cc``), the parser classes
that ``Create`` instantiates, and ``CompositeSdpaParser`` (``ml_drift_delegate/tflite/model_builder.cc``). The additions of
LiteRT 2.3 were measured with its binary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....graph.graph import NodeView
from ....releases.catalogue import parse_release
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, OPERATOR, SHAPE
from ....rules.operands import counted, exactly, listed
from ....rules.rule import Check, OpRule, Source
from ....rules.vocabulary import check, check_for_target, operand_count, where
from ...decision import ReleaseOnly
from ...gpu_compatibility.checks import Found, asked, runtime_input_count, saying_by_release
from ..target import Bhwc, as_measured, bhwc
from .checks import RESULTS, Checks, available, readable, readable_tensor, runtime_or_constant, since
from .composite_layers import COMPOSITE, EXPERTS, GROUP_NORM, RMS_NORM, has_attribute
from .tensors import SOURCE, carrier_tensors

_FOLDER = "ml_drift_delegate/delegate/composite"


def _placed(file: str, parser: str, *checks: Check[object]) -> Checks:
    place = Source(COMPOSITE.repository, f"{_FOLDER}/{file}", f"{parser}::IsSupported")
    return tuple([check if check.source else check.from_source(place) for check in checks])


# Scaled dot-product attention


def _sizes(node: NodeView, position: int) -> Bhwc:
    return bhwc(node.input(position).shape)


def _unlike_operands(node: NodeView) -> Found | None:
    query, key, value = (_sizes(node, position) for position in range(3))
    if not query.c == key.c == value.c:
        message = "Q, K and V tensors' channels must match, but they are: "
        description = f"{query.c}, {key.c} and {value.c} channels"
        return Found(description, f"{message}Q.c = {query.c}, K.c = {key.c}, and V.c = {value.c}.")
    if key != value:
        message = f"K and V tensors' shapes must identical, but they are: K = {key}, V = {value}."
        return Found(f"key {list(key)} and value {list(value)}", message)
    return None


def _unlike_mask(node: NodeView) -> Found | None:
    key, mask = _sizes(node, 1), _sizes(node, 3)
    message = f"K tensor's height must match Mask tensor's channels, but they are: K = {key}, Mask = {mask}."
    return None if key.h == mask.c else Found(f"key {list(key)} and mask {list(mask)}", message)


ATTENTION: Checks = tuple(
    check.from_source(SOURCE.with_symbol("CompositeSdpaParser::IsSupported"))
    for check in (
        operand_count(exactly(3, 4)).saying(
            lambda node: f"Invalid number of inputs: {len(node.node.inputs)}, while expected 3 or 4."
        ),
        asked(
            SHAPE, "the same number of channels in query, key and value, and the same shape for key and value", _unlike_operands
        ),
        *where(
            lambda node: len(node.node.inputs) == 4,
            "with a mask",
            asked(SHAPE, "a mask with as many channels as the key's height", _unlike_mask),
        ),
    )
)


def runtime_numbers(numbers: tuple[int, ...], message: str) -> Check[object]:
    """Require that the number of runtime operands is one of these numbers."""

    def find(node: NodeView) -> str | None:
        count = runtime_input_count(node)
        return None if count in numbers else counted(count, "runtime input")

    return check(OPERAND_COUNT, f"{listed(map(str, numbers))} runtime inputs", find).saying(message)


TRANSPOSED_ATTENTION: Checks = _placed(
    "sdpa_transposed_parser.cc",
    "SdpaTransposedOperationParser",
    runtime_numbers((3, 4, 5), "SDPA transposed expects between 3 and 5 inputs."),
    *readable_tensor("an input", lambda node: node.inputs[: runtime_input_count(node)]),
    *RESULTS,
)

# The cache of keys and values


def _of_cache(one: Check[object], message: str) -> Check[object]:
    """Return a check of ``odml.cache_update``. Messages before LiteRT 2.1.5 call this operator AddValuesToCache."""
    return saying_by_release(one, f"AddValuesToCache {message}", {"litert-2.1.5": f"odml.cache_update {message}"})


CACHE_UPDATE: Checks = _placed(
    "add_values_to_cache_parser.cc",
    "AddValuesToCacheOperationParser",
    _of_cache(runtime_numbers((3, 7), ""), "expects 3 or 7 inputs."),
    *readable(0),
    *readable(1),
    *readable(2),
    *RESULTS,
    *since("litert-2.1.5", _of_cache(operand_count(outputs=2), "expects 2 outputs.")),
    *where(
        lambda node: not node.node.is_custom,
        "as a composite",
        *[_of_cache(has_attribute("", key), f"is missing {key}.") for key in ("kv_cache_batch_size", "cache_size", "head_size")],
    ),
)

_MATMUL = "Runtime BatchedMatMul"
_PARAMETERS = Bhwc(1, 1, 1, 7)


def unlike_channels(node: NodeView) -> Found | None:
    """Return a refusal if the first two operands have different numbers of channels."""
    first, second = _sizes(node, 0).c, _sizes(node, 1).c
    message = "Input tensors' channels must match."
    return None if first == second else Found(f"{first} and {second} channels", message)


def unlike_parameters(node: NodeView) -> Found | None:
    """Return a refusal if the third operand does not have the shape [1, 1, 1, 7]."""
    parameters = _sizes(node, 2)
    message = "Param tensor shape expected to be [1, 1, 1, 7]."
    return None if parameters == _PARAMETERS else Found(f"parameters of shape {list(parameters)}", message)


BATCH_MATMUL: Checks = _placed(
    "runtime_batched_matmul_parser.cc",
    "RuntimeBatchedMatMulOperationParser",
    runtime_numbers((3,), f"{_MATMUL} expects 3 inputs."),
    *readable(0),
    *readable(1),
    *readable(2),
    *RESULTS,
    available(0),
    available(1),
    asked(SHAPE, "the same number of channels in all operands", unlike_channels),
    available(2),
    asked(SHAPE, "parameters of shape [1, 1, 1, 7]", unlike_parameters),
    check(ATTRIBUTE, "attributes", lambda node: "no attributes" if node.node.is_custom else None).saying(
        f"{_MATMUL} is missing params."
    ),
    has_attribute(_MATMUL, "is_global"),
    has_attribute(_MATMUL, "is_src"),
)


# Positions


def _counts(node: NodeView) -> Found | None:
    inputs, outputs = len(node.node.inputs), len(node.node.outputs)
    if inputs not in (2, 3):
        return Found(counted(inputs, "input"), f"Invalid number of inputs: {inputs}, while expected 2 or 3.")
    if outputs != inputs - 1:
        return Found(counted(outputs, "output"), f"Invalid number of outputs: {outputs}, while expected {inputs - 1}.")
    return None


_TWO_OR_THREE = asked(OPERAND_COUNT, "2 inputs and 1 output, or 3 inputs and 2 outputs", _counts)


def _has_three(node: NodeView) -> bool:
    return len(node.node.inputs) == 3


_ANY_OPERANDS: Checks = (
    *runtime_or_constant(0),
    *runtime_or_constant(1),
    *where(_has_three, "of 3 inputs", *runtime_or_constant(2)),
    *RESULTS,
)


def _other_width(node: NodeView) -> Found | None:
    source, positions = bhwc(node.input(0).shape).w, bhwc(node.input(len(node.node.inputs) - 1).shape).w
    message = "src and pos must have the same width for PositionalEmbedding."
    return None if source == positions else Found(f"input of width {source} and positions of width {positions}", message)


_ROTARY_PARSER = SOURCE.with_symbol("RoPEParser::IsSupported")
_ROPE_PARSER = Source(
    COMPOSITE.repository, "ml_drift_delegate/delegate/composite/rope_parser.cc", "RopeOperationParser::IsSupported"
)
_ONE_WIDTH = asked(SHAPE, "positions with the same width as the input", _other_width)
ROTARY: Checks = (
    _TWO_OR_THREE.from_source(_ROTARY_PARSER),
    available(0),
    *where(_has_three, "of 3 inputs", available(2)),
    *where(lambda node: not _has_three(node), "of 2 inputs", available(1)),
    _ONE_WIDTH.from_source(_ROTARY_PARSER),
    *_ANY_OPERANDS,
)
_ROPE: Checks = (_TWO_OR_THREE.from_source(_ROPE_PARSER), *_ANY_OPERANDS)


def _two_and_one(node: NodeView) -> Found | None:
    inputs, outputs = len(node.node.inputs), len(node.node.outputs)
    if inputs != 2:
        return Found(counted(inputs, "input"), f"Invalid number of inputs: {inputs}, while expected 2.")
    if outputs != 1:
        return Found(counted(outputs, "output"), f"Invalid number of outputs: {outputs}, while expected 1.")
    return None


ABSOLUTE: Checks = (
    asked(OPERAND_COUNT, "2 inputs and 1 output", _two_and_one),
    available(0),
    available(1),
    _ONE_WIDTH,
    *readable(0),
    *readable(1),
    *RESULTS,
)

# Parts of language models, added in LiteRT 2.3 and measured with its binary


def _numbers(
    inputs: tuple[int, ...], outputs: int, of_inputs: Callable[[int], str], of_outputs: Callable[[int], str]
) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        counts = len(node.node.inputs), len(node.node.outputs)
        if counts[0] not in inputs:
            return Found(counted(counts[0], "input"), of_inputs(counts[0]))
        return None if counts[1] == outputs else Found(counted(counts[1], "output"), of_outputs(counts[1]))

    needed = f"{' or '.join(map(str, inputs))} inputs and {counted(outputs, 'output')}"
    return asked(OPERAND_COUNT, needed, find)


_SWIGLU = _numbers(
    (1, 2),
    1,
    lambda count: f"SwiGLU expects 1 or 2 inputs, but got {count}",
    lambda count: f"SwiGLU expects 1 output, but got {count}",
)
_SHORT_CONVOLUTION = _numbers(
    (3, 4),
    2,
    lambda count: f"ShortConvStep expects 3 or 4 inputs, but got {count}",
    lambda count: f"ShortConvStep expects 2 outputs, but got {count}",
)
_NORM_AND_ROPE = _numbers(
    (4,),
    3,
    lambda count: f"Invalid number of inputs: {count}, while expected 4 (qkv, position, q_weight, k_weight).",
    lambda count: f"Invalid number of outputs: {count}, while expected 3 (query_states, key_states, value_states).",
)


def _sizes_of_heads(node: NodeView) -> Found | None:
    sizes = bhwc(node.input(0).shape).c, bhwc(node.input(2).shape).c
    if all(size >= _SMALLEST_HEAD and size & (size - 1) == 0 for size in sizes):
        return None
    message = "gated_delta_update requires D_k and D_v to be powers of 2 (at least 16) and multiples of 4."
    return Found(f"heads of size {sizes[0]} and {sizes[1]}", message)


_SMALLEST_HEAD = 16
_GATED_DELTA = _numbers(
    (6,), 2, lambda _: "gated_delta_update expects 6 inputs.", lambda _: "gated_delta_update expects 2 outputs."
)

# Composites by name

ALWAYS: dict[str, Checks] = {
    "odml.group_norm": GROUP_NORM,
    "odml.rms_norm": RMS_NORM,
    "odml.scaled_dot_product_attention": ATTENTION,
    "odml.cache_update": CACHE_UPDATE,
    "odml.runtime_bmm": BATCH_MATMUL,
}
ADDED_IN_2_2: dict[str, Checks] = {
    "custom_call.rotary_positional_embedding": ROTARY,
    "odml.rope": _ROPE,
    "odml.sdpa_transposed": TRANSPOSED_ATTENTION,
    "moe": EXPERTS,
}
ADDED_IN_2_3: dict[str, Checks] = {
    "odml.swiglu": (_SWIGLU,),
    "odml.short_conv_step": (_SHORT_CONVOLUTION,),
    "odml.qkv_norm_rope": (_NORM_AND_ROPE,),
    "gated_delta_update": (
        _GATED_DELTA,
        asked(SHAPE, "keys and values with a last dimension that is a power of 2 and at least 16", _sizes_of_heads),
    ),
}
_ADDED = {"litert-2.2.0": ADDED_IN_2_2, "litert-2.3.0": ADDED_IN_2_3}
INT32_INPUTS = (
    "odml.cache_update",
    "odml.runtime_bmm",
    "odml.rope",
    "odml.sdpa_transposed",
    "odml.swiglu",
    "odml.qkv_norm_rope",
    "moe",
)
WITH_BOOL = "odml.sdpa_transposed"


def composite_name(node: NodeView) -> str:
    """Return the name of a composite or of a custom operator, as stored in the model file."""
    return node.op if node.node.is_custom else str(node.options.name or "")


def _is_named(*names: str) -> Callable[[NodeView], bool]:
    return lambda node: composite_name(node) in names


def _unknown(node: NodeView, target: ReleaseOnly) -> str | None:
    name = composite_name(node)
    added = next((release for release, names in _ADDED.items() if name in names), None)
    is_known = name in ALWAYS or (added is not None and target.release.is_at_least(parse_release(added)))
    return None if is_known else f"composite {name!r}"


_KNOWN = (
    check_for_target(
        OPERATOR,
        "a composite that ML Drift supports",
        _unknown,
        "leave the composite unchanged; the GPU may still take the nodes of its body",
    )
    .saying(composite_name)
    .from_source(COMPOSITE)
)


def _of_every_composite(known: dict[str, Checks]) -> Checks:
    return tuple(check for name, checks in known.items() for check in where(_is_named(name), name, *checks))


TENSORS: Checks = (
    *where(_is_named(WITH_BOOL), WITH_BOOL, *carrier_tensors(("BOOL", "INT32"), ("BOOL",))),
    *where(
        lambda node: composite_name(node) in INT32_INPUTS and composite_name(node) != WITH_BOOL,
        ", ".join(name for name in INT32_INPUTS if name != WITH_BOOL),
        *carrier_tensors(("INT32",)),
    ),
    *where(lambda node: composite_name(node) not in INT32_INPUTS, "other composites", *carrier_tensors()),
)


def composite() -> OpRule[Any]:
    """Return the rule for composites of any name."""
    checks = (_KNOWN, *_of_every_composite(ALWAYS), *_of_every_composite(ADDED_IN_2_2), *_of_every_composite(ADDED_IN_2_3))
    return OpRule((*as_measured(*checks), *TENSORS), source=(COMPOSITE,))


def carried(name: str, release: str | None = None) -> OpRule[Any]:
    """Return the rule of a custom operator with a composite's name. ``release`` is the first release with the operator."""
    checks = {**ALWAYS, **ADDED_IN_2_2, **ADDED_IN_2_3}[name]
    types = carrier_tensors(("INT32",)) if name in INT32_INPUTS else carrier_tensors()
    if name == WITH_BOOL:
        types = carrier_tensors(("BOOL", "INT32"))
    rule = OpRule((*as_measured(*checks), *types), source=(COMPOSITE,))
    return rule if release is None else rule.from_release(release)

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
from ....rules.rule import LITERT, Check, OpRule, Source
from ....rules.vocabulary import check, check_for_target, operand_count, where
from ...decision import ReleaseOnly
from ...gpu_compatibility import Bhwc, bhwc
from ...gpu_compatibility.checks import Found, asked, case, runtime_input_count, saying_by_release
from ..target import as_measured
from . import SOURCE, carrier_tensors
from .checks import RESULTS, Checks, available, readable, readable_tensor, runtime_or_constant, since
from .composite_layers import COMPOSITE, EXPERTS, GROUP_NORM, RMS_NORM, has_attribute


def _parser(file: str, parser: str) -> Source:
    return Source(LITERT, f"ml_drift_delegate/delegate/composite/{file}", f"{parser}::IsSupported")


def _sizes(node: NodeView, position: int) -> Bhwc:
    return bhwc(node.input(position).shape)


def _unlike_operands(node: NodeView) -> Found | None:
    query, key, value = (_sizes(node, position) for position in range(3))
    if not query.c == key.c == value.c:
        message = "Q, K and V tensors' channels must match, but they are: "
        description = f"{query.c}, {key.c} and {value.c} channels"
        return description, f"{message}Q.c = {query.c}, K.c = {key.c}, and V.c = {value.c}."
    if key != value:
        message = f"K and V tensors' shapes must identical, but they are: K = {key}, V = {value}."
        return f"key {list(key)} and value {list(value)}", message
    return None


def _unlike_mask(node: NodeView) -> Found | None:
    key, mask = _sizes(node, 1), _sizes(node, 3)
    message = f"K tensor's height must match Mask tensor's channels, but they are: K = {key}, Mask = {mask}."
    return None if key.h == mask.c else (f"key {list(key)} and mask {list(mask)}", message)


ATTENTION: Checks = case(
    operand_count(exactly(3, 4)).saying(
        lambda node: f"Invalid number of inputs: {len(node.node.inputs)}, while expected 3 or 4."
    ),
    asked(SHAPE, "the same number of channels in query, key and value, and the same shape for key and value", _unlike_operands),
    *where(
        lambda node: len(node.node.inputs) == 4,
        "with a mask",
        asked(SHAPE, "a mask with as many channels as the key's height", _unlike_mask),
    ),
    source=SOURCE.with_symbol("CompositeSdpaParser::IsSupported"),
)


def runtime_numbers(numbers: tuple[int, ...], message: str) -> Check[object]:
    """Require that the number of runtime operands is one of these numbers."""

    def find(node: NodeView) -> str | None:
        count = runtime_input_count(node)
        return None if count in numbers else counted(count, "runtime input")

    return check(OPERAND_COUNT, f"{listed(map(str, numbers))} runtime inputs", find).saying(message)


TRANSPOSED_ATTENTION: Checks = case(
    runtime_numbers((3, 4, 5), "SDPA transposed expects between 3 and 5 inputs."),
    *readable_tensor("an input", lambda node: node.inputs[: runtime_input_count(node)]),
    *RESULTS,
    source=_parser("sdpa_transposed_parser.cc", "SdpaTransposedOperationParser"),
)


def _of_cache(one: Check[object], message: str) -> Check[object]:
    """Return a check of ``odml.cache_update``. Messages before LiteRT 2.1.5 call this operator AddValuesToCache."""
    return saying_by_release(one, f"AddValuesToCache {message}", {"litert-2.1.5": f"odml.cache_update {message}"})


CACHE_UPDATE: Checks = case(
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
    source=_parser("add_values_to_cache_parser.cc", "AddValuesToCacheOperationParser"),
)

_MATMUL = "Runtime BatchedMatMul"
_PARAMETERS = Bhwc(1, 1, 1, 7)


def _unlike_channels(node: NodeView) -> Found | None:
    first, second = _sizes(node, 0).c, _sizes(node, 1).c
    message = "Input tensors' channels must match."
    return None if first == second else (f"{first} and {second} channels", message)


def _unlike_parameters(node: NodeView) -> Found | None:
    parameters = _sizes(node, 2)
    message = "Param tensor shape expected to be [1, 1, 1, 7]."
    return None if parameters == _PARAMETERS else (f"parameters of shape {list(parameters)}", message)


BATCH_MATMUL: Checks = case(
    runtime_numbers((3,), f"{_MATMUL} expects 3 inputs."),
    *readable(0),
    *readable(1),
    *readable(2),
    *RESULTS,
    available(0),
    available(1),
    asked(SHAPE, "the same number of channels in all operands", _unlike_channels),
    available(2),
    asked(SHAPE, "parameters of shape [1, 1, 1, 7]", _unlike_parameters),
    check(ATTRIBUTE, "attributes", lambda node: "no attributes" if node.node.is_custom else None).saying(
        f"{_MATMUL} is missing params."
    ),
    has_attribute(_MATMUL, "is_global"),
    has_attribute(_MATMUL, "is_src"),
    source=_parser("runtime_batched_matmul_parser.cc", "RuntimeBatchedMatMulOperationParser"),
)


def _numbers(inputs: tuple[int, ...], outputs: int | None, of_inputs: str, of_outputs: str) -> Check[object]:
    """Require numbers of inputs and outputs. If ``outputs`` is None, require one output less than inputs."""

    def find(node: NodeView) -> Found | None:
        count, results = len(node.node.inputs), len(node.node.outputs)
        expected = count - 1 if outputs is None else outputs
        if count not in inputs:
            return counted(count, "input"), of_inputs.format(count)
        return None if results == expected else (counted(results, "output"), of_outputs.format(results, expected))

    needed = "2 inputs and 1 output, or 3 inputs and 2 outputs"
    if outputs is not None:
        needed = f"{' or '.join(map(str, inputs))} inputs and {counted(outputs, 'output')}"
    return asked(OPERAND_COUNT, needed, find)


_TWO_OR_THREE = _numbers(
    (2, 3), None, "Invalid number of inputs: {}, while expected 2 or 3.", "Invalid number of outputs: {}, while expected {}."
)


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
    return None if source == positions else (f"input of width {source} and positions of width {positions}", message)


_ROTARY_PARSER = SOURCE.with_symbol("RoPEParser::IsSupported")
_ROPE_PARSER = _parser("rope_parser.cc", "RopeOperationParser")
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


ABSOLUTE: Checks = (
    _numbers((2,), 1, "Invalid number of inputs: {}, while expected 2.", "Invalid number of outputs: {}, while expected 1."),
    available(0),
    available(1),
    _ONE_WIDTH,
    *readable(0),
    *readable(1),
    *RESULTS,
)

# Parts of language models, added in LiteRT 2.3 and measured with its binary


_SWIGLU = _numbers((1, 2), 1, "SwiGLU expects 1 or 2 inputs, but got {}", "SwiGLU expects 1 output, but got {}")
_SHORT_CONVOLUTION = _numbers(
    (3, 4), 2, "ShortConvStep expects 3 or 4 inputs, but got {}", "ShortConvStep expects 2 outputs, but got {}"
)
_NORM_AND_ROPE = _numbers(
    (4,),
    3,
    "Invalid number of inputs: {}, while expected 4 (qkv, position, q_weight, k_weight).",
    "Invalid number of outputs: {}, while expected 3 (query_states, key_states, value_states).",
)


def _sizes_of_heads(node: NodeView) -> Found | None:
    sizes = bhwc(node.input(0).shape).c, bhwc(node.input(2).shape).c
    if all(size >= _SMALLEST_HEAD and size & (size - 1) == 0 for size in sizes):
        return None
    message = "gated_delta_update requires D_k and D_v to be powers of 2 (at least 16) and multiples of 4."
    return f"heads of size {sizes[0]} and {sizes[1]}", message


_SMALLEST_HEAD = 16
_GATED_DELTA = _numbers((6,), 2, "gated_delta_update expects 6 inputs.", "gated_delta_update expects 2 outputs.")

COMPOSITES: dict[str, tuple[Checks, str | None]] = {
    "odml.group_norm": (GROUP_NORM, None),
    "odml.rms_norm": (RMS_NORM, None),
    "odml.scaled_dot_product_attention": (ATTENTION, None),
    "odml.cache_update": (CACHE_UPDATE, None),
    "odml.runtime_bmm": (BATCH_MATMUL, None),
    "custom_call.rotary_positional_embedding": (ROTARY, "litert-2.2.0"),
    "odml.rope": (_ROPE, "litert-2.2.0"),
    "odml.sdpa_transposed": (TRANSPOSED_ATTENTION, "litert-2.2.0"),
    "moe": (EXPERTS, "litert-2.2.0"),
    "odml.swiglu": ((_SWIGLU,), "litert-2.3.0"),
    "odml.short_conv_step": ((_SHORT_CONVOLUTION,), "litert-2.3.0"),
    "odml.qkv_norm_rope": ((_NORM_AND_ROPE,), "litert-2.3.0"),
    "gated_delta_update": (
        (
            _GATED_DELTA,
            asked(SHAPE, "keys and values with a last dimension that is a power of 2 and at least 16", _sizes_of_heads),
        ),
        "litert-2.3.0",
    ),
}
"""The checks of each composite, and the first release with the composite; None for the oldest known release."""
_INT32_INPUTS = ("odml.cache_update", "odml.runtime_bmm", "odml.rope", "odml.swiglu", "odml.qkv_norm_rope", "moe")
_WITH_BOOL = "odml.sdpa_transposed"


def composite_name(node: NodeView) -> str:
    """Return the name of a composite or of a custom operator, as stored in the model file."""
    return node.op if node.node.is_custom else str(node.options.name or "")


def _is_named(*names: str) -> Callable[[NodeView], bool]:
    return lambda node: composite_name(node) in names


def _unknown(node: NodeView, target: ReleaseOnly) -> str | None:
    name = composite_name(node)
    introduced = COMPOSITES[name][1] if name in COMPOSITES else None
    is_known = name in COMPOSITES and (introduced is None or target.release.is_at_least(parse_release(introduced)))
    return None if is_known else f"composite {name!r}"


_KNOWN: Check[Any] = (
    check_for_target(
        OPERATOR,
        "a composite that ML Drift supports",
        _unknown,
        "leave the composite unchanged; the GPU may still take the nodes of its body",
    )
    .saying(composite_name)
    .from_source(COMPOSITE)
)


def composite() -> OpRule[Any]:
    """Return the rule for composites of any name."""
    own = [check for name, (checks, _) in COMPOSITES.items() for check in where(_is_named(name), name, *checks)]
    tensors = (
        *where(_is_named(_WITH_BOOL), _WITH_BOOL, *carrier_tensors(("BOOL", "INT32"), ("BOOL",))),
        *where(_is_named(*_INT32_INPUTS), ", ".join(_INT32_INPUTS), *carrier_tensors(("INT32",))),
        *where(lambda node: composite_name(node) not in (*_INT32_INPUTS, _WITH_BOOL), "other composites", *carrier_tensors()),
    )
    return OpRule((*as_measured(_KNOWN, *own), *tensors), source=(COMPOSITE,))


def carried(name: str) -> OpRule[Any]:
    """Return the rule of a custom operator with a composite's name."""
    checks, introduced = COMPOSITES[name]
    types = carrier_tensors(("INT32",)) if name in _INT32_INPUTS else carrier_tensors()
    if name == _WITH_BOOL:
        types = carrier_tensors(("BOOL", "INT32"))
    rule = OpRule((*as_measured(*checks), *types), source=(COMPOSITE,))
    return rule if introduced is None else rule.from_release(introduced)

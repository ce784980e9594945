"""Attention operators: scaled dot-product attention, its transposed form, and operators for key-value caches.

Source: ``CompositeSdpaParser`` (``ml_drift_delegate/tflite/model_builder.cc``), and the parsers in
``ml_drift_delegate/delegate/composite/``.
"""

from __future__ import annotations

from .....graph.graph import NodeView
from .....rules.kinds import ATTRIBUTE, OPERAND_COUNT, SHAPE
from .....rules.operands import counted, exactly, listed
from .....rules.rule import Check
from .....rules.source import Source
from .....rules.vocabulary import check, operand_count, where
from ....gpu_compatibility.checks import Found, asked, runtime_input_count, saying_by_release
from ...shapes import Bhwc, bhwc
from ..checks import COMPOSITE, RESULTS, SINCE_2_1_5, SOURCE, Checks, available, readable, readable_tensor, since
from .normalization import has_attribute

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
    return saying_by_release(one, f"AddValuesToCache {message}", {SINCE_2_1_5: f"odml.cache_update {message}"})


CACHE_UPDATE: Checks = _placed(
    "add_values_to_cache_parser.cc",
    "AddValuesToCacheOperationParser",
    _of_cache(runtime_numbers((3, 7), ""), "expects 3 or 7 inputs."),
    *readable(0),
    *readable(1),
    *readable(2),
    *RESULTS,
    *since(SINCE_2_1_5, _of_cache(operand_count(outputs=2), "expects 2 outputs.")),
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

"""MediaPipe's custom operators."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import ACTIVATION, ATTRIBUTE, RANK, SHAPE
from ...rules.number_sets import at_least
from ...rules.vocabulary import check, operand_count
from .checks import COMPATIBILITY, KNOWN_ACTIVATION, case, operands_available, runtime_operands, strides, window
from .questions import ACTIVATIONS, PoolParameters, custom_pool_parameters, custom_strides

_FUNCTION = COMPATIBILITY.with_symbol("CheckCustomOpsGpuDelegateCompatibility")
_POOL_FUNCTION = COMPATIBILITY.with_symbol("CheckPooling2DGpuDelegateCompatibility")

_OPTIONS = (
    check(
        ATTRIBUTE,
        "custom options",
        lambda node: None if node.node.custom_options is not None else "no custom options",
        "give the operator its parameters as custom options",
    )
    .from_source(COMPATIBILITY.with_symbol("RetrieveCustomInitialData"))
    .saying("Unable to retrieve custom_initial_data.")
)


def _pool(node: NodeView) -> PoolParameters:
    parameters = custom_pool_parameters(node)
    assert parameters is not None  # ensured by the check before
    return parameters


def _transposed_strides(node: NodeView) -> tuple[int, int]:
    strides = custom_strides(node)
    assert strides is not None  # ensured by the check before
    return strides


def _pool_activation(node: NodeView) -> str | None:
    activation = _pool(node).activation
    return None if activation in ACTIVATIONS else f"fused {activation}"


_WINDOW = window(lambda node: (_pool(node).filter_height, _pool(node).filter_width))
_STRIDES = strides(lambda node: (_pool(node).stride_height, _pool(node).stride_width))
_ACTIVATION = (
    check(ACTIVATION, KNOWN_ACTIVATION.needed, _pool_activation)
    .from_source(COMPATIBILITY.with_symbol("IsActivationSupported"))
    .saying("TfLiteFusedActivation.kTfLiteActSignBit")
)


def _resampler_ranks(node: NodeView) -> str | None:
    source, warp = node.input(0).rank, node.input(1).rank
    return None if source == warp == 4 else f"source of rank {source} and warp of rank {warp}"


def _resampler_batches(node: NodeView) -> str | None:
    source, warp = node.input(0).shape[0], node.input(1).shape[0]
    return None if source == warp else f"source batch {source}, warp batch {warp}"


def _warp_depth(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape[3] >= 2 else f"warp of shape {list(shape)}"


TRANSPOSE_CONV = case(operands_available(operand_count(at_least(2)), 1), _OPTIONS, strides(_transposed_strides), source=_FUNCTION)
"""Checks of Convolution2DTransposeBias."""
MAX_POOLING_WITH_ARGMAX = case(
    _OPTIONS.saying("Unable to retrieve builtin_data."),
    runtime_operands(1, 2),
    _WINDOW,
    _STRIDES,
    _ACTIVATION,
    source=_POOL_FUNCTION,
)
MAX_UNPOOLING = case(runtime_operands(2, 1), _OPTIONS, _WINDOW, _STRIDES, source=_FUNCTION)
RESAMPLER = case(
    runtime_operands(2, 1),
    check(RANK, "source and warp of rank 4", _resampler_ranks).from_release("litert-2.1.6").saying("src or warp dims size != 4"),
    check(SHAPE, "the same batch size in source and warp", _resampler_batches)
    .from_release("litert-2.1.6")
    .saying("src.b != warp.b"),
    check(SHAPE, "a warp of depth 2 or more", _warp_depth).from_release("litert-2.1.6").saying("warp.c < 2"),
    source=_FUNCTION,
)

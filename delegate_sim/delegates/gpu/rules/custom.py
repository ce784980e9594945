"""MediaPipe's custom operators, which have parsers of their own.

Source: ``CheckCustomOpsGpuDelegateCompatibility`` and ``CheckPooling2DGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``), and the parsers that ``NewOperationParser`` makes for custom operators
(``delegates/gpu/common/model_builder.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ..questions import ACTIVATIONS, PoolParameters, custom_pool_parameters, custom_strides
from .checks import (
    ATTRIBUTE,
    RANK,
    SHAPE,
    activation,
    check,
    gpu_rule,
    input_count,
    max_version,
    positive,
    runtime_operands,
    shape_of,
)

_OPTIONS = check(
    ATTRIBUTE,
    "custom options",
    lambda node: None if node.node.custom_options is not None else "no custom options",
    "give the operator its parameters as custom options",
)


def _pool(node: NodeView) -> PoolParameters:
    parameters = custom_pool_parameters(node)
    assert parameters is not None  # what comes before looks for the options
    return parameters


def _transposed_strides(node: NodeView) -> tuple[int, int]:
    found = custom_strides(node)
    assert found is not None  # as above
    return found


_FILTER = positive("filter", lambda node: (_pool(node).filter_height, _pool(node).filter_width))
_STRIDES = positive("strides", lambda node: (_pool(node).stride_height, _pool(node).stride_width))


def _pool_activation(node: NodeView) -> str | None:
    found = _pool(node).activation
    return None if found in ACTIVATIONS else f"fused {found}"


def _resampler_ranks(node: NodeView) -> str | None:
    source, warp = node.input(0).rank, node.input(1).rank
    return None if source == warp == 4 else f"source of rank {source}, warp of rank {warp}"


def _resampler_batches(node: NodeView) -> str | None:
    source, warp = node.input(0).shape[0], node.input(1).shape[0]
    return None if source == warp else f"source batch {source}, warp batch {warp}"


def _warp_depth(node: NodeView) -> str | None:
    return None if node.input(1).shape[3] >= 2 else f"warp of shape {shape_of(node.input(1))}"


RULES = {
    "Convolution2DTransposeBias": gpu_rule(
        input_count("weights", lambda count: count > 1), _OPTIONS, positive("strides", _transposed_strides)
    ),
    "MaxPoolingWithArgmax2D": gpu_rule(
        max_version(2),
        _OPTIONS,
        runtime_operands(1, 2),
        _FILTER,
        _STRIDES,
        activation(_pool_activation),
    ),
    "MaxUnpooling2D": gpu_rule(runtime_operands(2, 1), _OPTIONS, _FILTER, _STRIDES),
    "Resampler": gpu_rule(
        runtime_operands(2, 1),
        check(RANK, "source and warp of rank 4", _resampler_ranks).from_release("litert-2.1.6"),
        check(SHAPE, "source and warp of one batch size", _resampler_batches).from_release("litert-2.1.6"),
        check(SHAPE, "a warp of depth 2 or more", _warp_depth).from_release("litert-2.1.6"),
    ),
}

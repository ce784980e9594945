"""Failures of supported nodes while ML Drift builds its own model of a partition.

Each rules module may define ``BUILD_PROBLEMS`` for every backend, ``UNSHARED_PROBLEMS`` for runs without
``constant_tensor_sharing``, ``WEBGPU_PROBLEMS`` for WebGPU, and ``FORMER_PROBLEMS`` for older releases. The problems with WebGPU
were found with the binary of LiteRT 2.3, and the problems of older releases with their wheels.

Source: each parser's ``Parse`` (``ml_drift_delegate/tflite/model_builder.cc``) and ``ObjectReader``
(``ml_drift_delegate/tflite/object_reader.cc``). A failed check in these functions ends the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ...graph.graph import NodeView
from ...refusal import Refusal
from ...releases.catalogue import Release
from .failures import CONSTANT_READ, CONSTANT_TYPE, WEIGHTS

BuildProblems = Mapping[str, Callable[[NodeView], Iterator[Refusal]]]
"""Functions that find build problems, by operator."""

FormerProblems = Mapping[str, tuple[Release, Callable[[NodeView], Iterator[Refusal]]]]
"""Functions that find build problems of older releases, by operator, with the first release without the problem."""

_ADDED_TYPES = ("FLOAT32", "FLOAT16", "INT8", "UINT8", "INT4", "INT2", "BOOL", "INT32")
"""The types of constants that can become nodes of ML Drift's model (``ObjectReader::AddConstInput``)."""


def constants_read(node: NodeView, *positions: int) -> Iterator[Refusal]:
    """Yield a problem for each constant input at ``positions``. The parser reads these inputs as runtime values."""
    for position in positions:
        if node.input(position).is_constant:
            yield CONSTANT_READ.failure(node.input(position))


def unread_constants(node: NodeView, positions: Iterable[int]) -> Iterator[Refusal]:
    """Yield a problem for each constant input with a type that ML Drift's model does not support."""
    for position in positions:
        if node.input(position).is_constant and node.input(position).type not in _ADDED_TYPES:
            yield CONSTANT_TYPE.failure(node.input(position))


def blockwise_weights(node: NodeView) -> Iterator[Refusal]:
    """Yield a problem if the second input has one scale for each block of elements."""
    weights = node.input(1)
    if weights.quantization is not None and weights.quantization.kind == "blockwise":
        yield WEIGHTS.failure(weights)

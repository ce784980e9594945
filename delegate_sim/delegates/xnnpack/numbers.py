"""Nodes for which XNNPACK computes other numbers than the CPU kernels.

Source: ``create_prelu_operator`` (``src/subgraph/prelu.c`` of google/XNNPACK), before and after commit 1005cb0406 of 2024-04-19.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...graph.graph import Graph
from ...graph.partition import Subset
from ...refusal import Effect, Refusal, Stage
from ...releases.catalogue import Release, parse_release
from ...rules.kinds import Problem, shared_kind

_ONE_SLOPE = shared_kind(
    "xnnpack-numbers-prelu-slope",
    Problem.SHAPE,
    "PRELU with one slope for all channels",
    "Before XNNPACK's commit of 2024-04-19, XNNPACK reads a slope for each channel of the input, although the file has only one "
    "slope. Usually all channels except the first get the slope 0.",
    "Give the slope one value for each channel, or use LEAKY_RELU. LiteRT computes right numbers.",
    "give PRELU a slope for each channel, or use LEAKY_RELU",
    template="the slope has 1 element, but XNNPACK reads {needed}, one for each channel",
    stage=Stage.COMPUTING,
    effect=Effect.WRONG_NUMBERS,
)
NUMBER_KINDS = {_ONE_SLOPE.name: _ONE_SLOPE}
"""The kind of each node with other numbers, by its code."""

_MAY_BE_RIGHT_FROM, _RIGHT_FROM = parse_release("tf-2.17"), parse_release("litert-1.0.1")
"""The first release after XNNPACK's change, and the first that is known to have it.

Measured with ``tflite-runtime`` 2.14.0 (wrong) and ``ai-edge-litert`` 1.0.1 (right).
"""


def number_risks(graph: Graph, subset: Subset, release: Release) -> Iterator[Refusal]:
    """Yield each PRELU of a partition that has one slope and several channels."""
    if release.is_at_least(_RIGHT_FROM):
        return
    for index in subset.nodes:
        node = graph.view(graph.nodes[index])
        if node.op == "PRELU" and not node.node.is_custom:
            source, slope = node.input(0), node.input(1)
            channels = source.shape[-1] if source.shape else 1
            if slope.element_count == 1 and channels > 1:
                risk = _ONE_SLOPE.failure(slope, index, needed=channels)
                yield replace(risk, effect=Effect.PERHAPS_WRONG_NUMBERS) if release.is_at_least(_MAY_BE_RIGHT_FROM) else risk

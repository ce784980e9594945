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
from ...rules.kinds import kinds_in

NUMBER_KINDS = kinds_in("delegates/xnnpack", "numbers", is_shared=True, stage=Stage.COMPUTING, effect=Effect.WRONG_NUMBERS)
"""The kinds of nodes with other numbers, by code."""

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
                risk = NUMBER_KINDS["xnnpack-numbers-prelu-slope"].failure(slope, index, needed=channels)
                yield replace(risk, effect=Effect.PERHAPS_WRONG_NUMBERS) if release.is_at_least(_MAY_BE_RIGHT_FROM) else risk

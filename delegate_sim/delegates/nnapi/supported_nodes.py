"""The supported nodes. Nodes with float16 weights are changed to read these weights directly (``DoPrepare``)."""

from __future__ import annotations

from ...graph.graph import Graph
from ...graph.partition import partition
from ...releases.catalogue import NEWEST, Release
from ...rules.rule import Verdict
from ..decision import Decision, take_supported
from ..float16_weights import Float16Remapping
from ..options import OptionValues
from .options import is_accelerator_specified, validation_level
from .rules import RULES
from .rules.checks import accepts_at_level
from .target import NnapiTarget


def supported_nodes(graph: Graph, options: OptionValues, release: Release) -> tuple[Decision, bool]:
    """Return the decision about the nodes, and whether nodes read float16 weights without a DEQUANTIZE."""
    target = _target(options, release)
    remapping = Float16Remapping()
    widened = [node for node in map(graph.nodes.__getitem__, graph.execution_plan) if node.op == "DEQUANTIZE"]
    if not any(graph.view(node).is_constant_float16_dequantize for node in widened):
        return take_supported(graph, RULES, target), False
    supported, verdicts = _supported_with_float16(graph, target, remapping)
    graph = remapping.apply(graph, supported)
    return Decision(graph, verdicts, supported, partition(graph, supported) if supported else ()), bool(
        supported and remapping.nodes
    )


def supports_operator(op: str, options: OptionValues) -> bool:
    """Return whether the delegate takes some nodes of an operator at the feature level in the options."""
    rule = RULES.rule_of(op)
    return rule is not None and accepts_at_level(rule, _target(options, NEWEST))


def _target(options: OptionValues, release: Release) -> NnapiTarget:
    return NnapiTarget(validation_level(options), is_accelerator_specified(options), release)


def _supported_with_float16(
    graph: Graph, target: NnapiTarget, remapping: Float16Remapping
) -> tuple[tuple[int, ...], dict[int, Verdict]]:
    """Return the supported nodes and the verdicts on all nodes (``GetSupportedOpsWithFp16WeightRemapping``).

    If every unsupported node is a DEQUANTIZE of float16 weights, all nodes are treated as supported.
    """
    verdicts = remapping.verdicts(graph, RULES, target)
    supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
    if len(supported) + len(remapping.nodes) == len(graph.execution_plan):
        return graph.execution_plan, verdicts
    return supported, verdicts

"""Accepted nodes that compute other numbers on the GPU than on the CPU.

The rules state conditions that follow from the model file alone. They were found with LiteRT's GPU accelerator: small models of
all operators, and public models, were computed on the GPU and on the CPU, and compared. A software device was used (WebGPU on
SwiftShader), which computes in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....graph.graph import Graph
from ....graph.partition import Subset
from ....refusal import Refusal
from ....releases.catalogue import Release
from ...options import OptionValues
from . import axes, chains, elementwise, merging, padding, products
from .rule import BACKEND, CHECKED, Affected, GraphPart, NumberRule

RULES: tuple[NumberRule, ...] = (
    *elementwise.RULES,
    *padding.RULES,
    *products.RULES,
    *axes.RULES,
    *merging.RULES,
    *chains.RULES,
    merging.INPUT_IS_OUTPUT,
    merging.OUTPUT_TWICE,
)
"""All conditions under which numbers are wrong."""


def _by_operator() -> Mapping[str, Sequence[NumberRule]]:
    rules: dict[str, list[NumberRule]] = {}
    for rule in RULES:
        for op in rule.operators:
            rules.setdefault(op, []).append(rule)
    return rules


_RULES_OF = _by_operator()


def is_checked(release: Release) -> bool:
    """Return whether the numbers of a release were measured."""
    return not release.is_after_newest and release.order in {checked.order for checked in CHECKED}


def number_risks(graph: Graph, subset: Subset, options: OptionValues, release: Release) -> Iterator[Refusal]:
    """Yield what one partition computes wrongly, in the order of its nodes, and then the outputs that are never written.

    If the release was not measured, a risk is only possible. A risk is also only possible on other backends than the measured
    backend, unless its cause precedes the kernels.
    """
    part = GraphPart(graph, subset)
    doubt = "" if is_checked(release) else "not measured in this release"
    elsewhere = "" if options["backend"] == BACKEND else "seen only on WebGPU"
    for index in subset.nodes:
        node = graph.nodes[index]
        rules = [] if node.is_custom else _RULES_OF.get(node.op, [])
        view = graph.view(node)
        for rule in rules:
            affected = rule.find(view, part) if rule.find is not None and rule.counts_in(release) else None
            if affected is not None:
                doubts = [doubt, "" if rule.is_before_backend else elsewhere]
                yield rule.risk(affected, index, "; ".join(filter(None, doubts)))
    for rule, tensor in merging.unwritten_outputs(part):
        yield rule.risk(Affected(tensor), None, doubt)

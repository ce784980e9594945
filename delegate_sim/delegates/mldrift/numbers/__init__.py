"""Accepted nodes that compute other numbers on the GPU than on the CPU.

The rules state conditions that follow from the model file alone. They were found with LiteRT's GPU accelerator: small models of
all operators, and public models, were computed on the GPU and on the CPU, and compared. A software device was used (WebGPU on
SwiftShader), which computes in float32.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....graph.graph import Graph
from ....graph.partition import Subset
from ....refusal import Refusal
from ....releases.catalogue import Release
from ...options import OptionValues
from . import elementwise, lanes, merging, padding
from .rule import BACKEND, CHECKED, Affected, GraphPart, NumberRule, affected_nodes, by_operator

RULES: tuple[NumberRule, ...] = (
    *elementwise.RULES,
    *padding.RULES,
    *elementwise.PRODUCTS,
    *lanes.RULES,
    *padding.AXES,
    *merging.RULES,
    *merging.CHAINS,
    merging.INPUT_IS_OUTPUT,
    merging.OUTPUT_TWICE,
)
"""All conditions under which numbers are wrong."""


_RULES_OF = by_operator(RULES)


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
    for rule, affected, node in affected_nodes(part, subset.nodes, _RULES_OF, release):
        doubts = [doubt, "" if rule.is_before_backend or rule.only_on else elsewhere]
        if rule.only_on in ("", options["backend"]):
            yield rule.risk(affected, node, "; ".join(filter(None, doubts)))
    for rule, tensor in merging.unwritten_outputs(part):
        yield rule.risk(Affected(tensor), None, doubt)

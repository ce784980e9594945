"""Nodes whose parameters the runtime does not load.

Source: ``InterpreterBuilder::ParseNodes`` (``core/interpreter_builder.cc``), which ends at the first, and the functions for each
operator that it calls (``core/api/flatbuffer_conversions.cc``); what they say was observed.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from ..graph.graph import file_graph
from ..model.model import Model, Node


class InvalidNode(NamedTuple):
    """A node that is not loaded, by its index in the graph, and what the runtime prints of it."""

    subgraph: int
    node: int
    op: str
    message: str
    lines: tuple[str, ...]


_NAMES = {
    "STABLEHLO_CASE": "stablehlo.case",
    "STABLEHLO_COMPOSITE": "stablehlo.composite",
    "STABLEHLO_PAD": "stablehlo.pad",
    "STABLEHLO_REDUCE_WINDOW": "stablehlo.reduce_window",
}
"""The operators that cannot do without their options, as the runtime names them."""
_PADDINGS = ("edge_padding_low", "edge_padding_high", "interior_padding")


@functools.lru_cache(maxsize=2)
def invalid_node(model: Model) -> InvalidNode | None:
    """Return the first node that is not loaded, None if all are."""
    if not any(code.op in _NAMES for code in model.operator_codes):
        return None
    for subgraph in model.subgraphs:
        for node in file_graph(model, subgraph).nodes:
            found = _wrong(model, node) if node.op in _NAMES and not node.is_custom else None
            if found is not None:
                return InvalidNode(subgraph.index, node.index, node.op, *found)
    return None


def _wrong(model: Model, node: Node) -> tuple[str, tuple[str, ...]] | None:
    """Return what is wrong with a node's options, in words and as the runtime says it."""
    name = _NAMES[node.op]
    if model.options(node).table is None:
        return "it has no options", (f"Could not get '{name}' operation parameters.",)
    if node.op == "STABLEHLO_COMPOSITE":
        for field in ("name", "composite_attributes"):
            if not model.has_option(node, field):
                return f"it has no {field}", (f"'{name}' missing required option '{field}'.",)
    if node.op == "STABLEHLO_PAD":
        for field in _PADDINGS:
            if not model.has_option(node, field):
                line = f"Input array not provided for operation '{name}'."
                return f"it has no {field}", (line, f"Check the '{field}' attribute.")
    if node.op == "STABLEHLO_REDUCE_WINDOW" and not model.options(node).window_dimensions:
        said = f"'window_dimensions' attribute is not optional for '{name}' and cannot be empty."
        return "it has no window_dimensions", (said,)
    return None

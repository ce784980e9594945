"""Give node outputs unique names, so that nodes can be identified after a tool has rewritten the model file.

The new names are appended to the bytes of the model file. The new names change verdicts only if options select nodes by name.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Mapping

from ..bundles.ranged import pieces
from ..delegates.decision import FileNode
from ..model.model import Model
from ..model.options import FileTable

_ALIGNMENT = 4
NUMBERED_NAME = re.compile(r"@(\d{1,9}):(\d{1,9})@")


def result_names(model: Model) -> Mapping[str, FileNode]:
    """Return the nodes, keyed by the name of their first output.

    A node is omitted if the name is empty, or if another tensor has the name.
    """
    counts = Counter([tensor.name for graph in model.subgraphs for tensor in graph.tensors])
    nodes = {
        graph.tensors[node.outputs[0]].name: (graph.index, node.index)
        for graph in model.subgraphs
        for node in graph.nodes
        if node.outputs and node.outputs[0] >= 0
    }
    return {name: place for name, place in nodes.items() if name and counts[name] == 1}


def with_distinct_names(model: Model) -> bytes:
    """Return the bytes of the model file with a unique name for the first output of every node.

    Outputs without a name field do not change.
    """
    places = _places_without_name(model)
    used_names = {tensor.name for graph in model.subgraphs for tensor in graph.tensors}
    names = {}
    for subgraph, tensor in places:
        name = f"{model.subgraphs[subgraph].tensors[tensor].name}/{subgraph}:{tensor}"
        while name in used_names:
            name += "'"
        used_names.add(name)
        names[subgraph, tensor] = name
    return _renamed(model, names)


def with_numbered_names(model: Model) -> bytes:
    """Return the bytes of the model file, with the name from ``numbered_name`` for every tensor.

    Tensors without a name field do not change.
    """
    places = [(graph.index, tensor) for graph in model.subgraphs for tensor in range(len(graph.tensors))]
    return _renamed(model, {place: numbered_name(*place) for place in places})


def numbered_name(subgraph: int, tensor: int) -> str:
    """Return the name that ``with_numbered_names`` gives to a tensor. ``NUMBERED_NAME`` is the pattern of these names."""
    return f"@{subgraph}:{tensor}@"


def _renamed(model: Model, names: Mapping[tuple[int, int], str]) -> bytes:
    content = bytearray()
    for piece in pieces(model.content):
        content += piece
    if not names:
        return bytes(content)
    tables = [subgraph.children("tensors") for subgraph in FileTable.root(model.content).children("subgraphs")]
    for (subgraph, tensor), name in names.items():
        where = tables[subgraph][tensor].place("name")
        if not where:
            continue
        content += bytes(-len(content) % _ALIGNMENT)
        struct.pack_into("<I", content, where, len(content) - where)
        text = name.encode("utf-8", "replace")
        content += struct.pack("<I", len(text)) + text + b"\0"
    return bytes(content)


def _places_without_name(model: Model) -> list[tuple[int, int]]:
    """Return the first output, as (subgraph, tensor), of each node that ``result_names`` omits."""
    known = set(result_names(model).values())
    return [
        (graph.index, node.outputs[0])
        for graph in model.subgraphs
        for node in graph.nodes
        if node.outputs and node.outputs[0] >= 0 and (graph.index, node.index) not in known
    ]

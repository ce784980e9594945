"""What changed in a model since its baseline was written, node by node."""

from __future__ import annotations

from typing import NamedTuple


class NodeChange(NamedTuple):
    """A node that was added, removed, or changed in one respect.

    ``what`` is ``added``, ``removed``, ``operator``, ``version``, ``input``, ``output`` or ``operands``; ``old`` and ``new`` are
    what stood and stands there, empty where there is nothing. ``node`` is the index in the model as it is now, None for a node that is
    gone; ``old_node`` that in the baseline, None for an added one. ``name`` is that of the node's first output tensor.
    """

    subgraph: int
    node: int | None
    old_node: int | None
    op: str
    name: str
    what: str
    old: str = ""
    new: str = ""

"""The interface of a pass."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from ...foundation.columns import Column
from ...model.model import Node
from ..pass_workspace import Work


class Exactness(IntEnum):
    """The accuracy of a rewritten model's results, compared with the original model's results."""

    EXACT = 0
    """The results are equal to the original results, bit for bit."""
    ROUNDING = 1
    """The results differ from the original results only by rounding. Other operations compute the same function."""
    APPROXIMATE = 2
    """The results approximate the original results. Approximate passes are applied only on request."""

    @property
    def key(self) -> str:
        """The exactness in JSON and on the command line."""
        return self.name.lower()

    @property
    def words(self) -> str:
        """The exactness as a phrase."""
        return ("exact", "exact up to rounding", "approximate")[self]


EXACTNESS = Column("exactness", source="exactness.key")


@dataclass(frozen=True, slots=True)
class Pass:
    """A rewrite of nodes, with its effect and its exactness."""

    name: str
    does: str
    """The effect of the pass on the graph."""
    needs: str
    """The precondition of the pass. Nodes that do not meet it stay unchanged."""
    exactness: Exactness
    apply: Callable[[Work], None]
    ops: frozenset[str] = frozenset()
    """The operators that the pass rewrites. Empty if the pass looks at all operators."""
    is_for_all: bool = False
    """True if the pass rewrites delegated nodes as well as CPU nodes."""
    holds_for: str = ""
    """The values for which an exact pass is exact, such as ``finite values``. Empty if the pass is exact for all values."""
    is_for_wrong: bool = False
    """True if the pass rewrites only nodes that the delegate computes differently from the CPU."""

    @property
    def promise(self) -> str:
        """The exactness as a phrase. If the pass is exact only for some values, the phrase names these values."""
        return promise(self.exactness, self.holds_for)


def promise(exactness: Exactness, holds_for: str) -> str:
    """Return an exactness as a phrase. If the exactness holds only for some values, the phrase names these values."""
    return f"{exactness.words} for {holds_for}" if holds_for else exactness.words


Precondition = Callable[[Work, Node], bool]
"""A precondition of a pass on a node."""

NodeRewrite = Callable[[Work, Node], "Sequence[Node] | None"]
"""A function that returns the new nodes for a node. It returns None if the node stays unchanged."""


_TEXTS: Mapping[str, Mapping[str, str]] = json.loads(pkgutil.get_data(__package__, "texts.json") or b"")
"""The effect and the precondition of each pass, by name."""


def graph_pass(name: str, exactness: Exactness, apply: Callable[[Work], None], ops: Iterable[str] = (), **facts: Any) -> Pass:
    """Return a pass over a whole graph. ``ops`` are the operators that it rewrites. ``facts`` are further fields of the pass."""
    texts = _TEXTS[name]
    return Pass(name, texts["does"], texts["needs"], exactness, apply, frozenset(ops), **facts)


def node_pass(
    name: str,
    ops: str,
    exactness: Exactness,
    rewrite: NodeRewrite,
    holds_for: str = "",
    requires: Precondition = lambda _, __: True,
) -> Pass:
    """Return a pass that rewrites each node by itself, if the node meets ``requires``.

    ``ops`` are the operators, separated by spaces.
    """
    chosen = frozenset(ops.split())

    def apply(work: Work) -> None:
        work.rewrite_each(chosen, lambda work, node: rewrite(work, node) if requires(work, node) else None)

    return graph_pass(name, exactness, apply, chosen, holds_for=holds_for)


def cure(name: str, ops: str, exactness: Exactness, rewrite: NodeRewrite) -> Pass:
    """Return a pass that rewrites each node that the delegate computes differently from the CPU. ``ops`` are the operators."""
    known = node_pass(name, ops, exactness, rewrite)
    return replace(known, needs=f"wrong numbers on the delegate; {known.needs}", is_for_wrong=True)


FINITE = "finite values and results"
"""The values for which some passes are exact.

The new nodes of these passes limit results to finite numbers, as ADD and MUL do on the CPU.
"""
IN_INT32 = "values and results that fit into INT32"
IN_RANGE = "indices in range"
INDICES_IN_INT32 = "indices that fit into INT32"

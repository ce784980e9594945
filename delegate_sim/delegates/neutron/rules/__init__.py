"""Rules of the Neutron delegate by release of NXP's board support package.

- lf-6.6.3 takes only compiled networks.
- lf-6.6.23 checks builtin operators if a graph has no compiled network. Otherwise, it takes only compiled networks.
- From lf-6.6.36 on, NXP's converter decides about graphs without a compiled network.

No check looks at an operator's version.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ....graph.graph import Graph, NodeView
from ....model.model import Node
from ....rules.book import Policy, RuleBook, Unknown
from ....rules.families import family_rules
from ....rules.kinds import Kind
from ....rules.rule import Reason
from ....rules.source import Source
from ...decision import ReleaseOnly
from ...simple_delegate import READS_BEYOND_OPERANDS
from ..kinds import COMPILED_ELSEWHERE, KINDS
from . import custom
from .checks import NEUTRON_6_6_3, NEUTRON_6_6_36, SOURCE

NAME = "neutron-imx95"
WITH_RULES = "lf-6.6.23"
_NETWORK = f"the custom operator {custom.COMPILED_NETWORK}"


def is_compiled(node: Node) -> bool:
    """Return whether a node is a network that NXP's converter compiled beforehand."""
    return node.is_custom and node.custom_code == custom.COMPILED_NETWORK


def has_compiled(graph: Graph) -> bool:
    """Return whether a node of the plan is a compiled network (``NeutronDelegate::Initialize``)."""
    return graph.results.get("compiled networks", (), lambda: any(is_compiled(graph.nodes[at]) for at in graph.execution_plan))


def _refusal(kind: Kind, found: str, needed: str) -> Reason:
    return Reason(kind.code(NAME), kind.name, f"{found}; needs {needed}", found, needed, kind.hint)


def _beside_compiled(node: NodeView) -> Reason | None:
    if is_compiled(node.node) or not has_compiled(node.graph):
        return None
    return _refusal(COMPILED_ELSEWHERE, f"{node.op} in a graph with a compiled network", _NETWORK)


def _not_checked(node: NodeView, _: ReleaseOnly) -> Reason | None:
    """Return the reason why a node is refused regardless of its operator, or None.

    In a graph with a compiled network, the delegate refuses all nodes that are not compiled networks. If a graph has no compiled
    network, the delegate reads the shapes of every node's first operand and first result. Therefore, a node without operands or
    results is refused.
    """
    refused = _beside_compiled(node)
    if refused is not None or is_compiled(node.node) or (node.node.inputs and node.node.outputs):
        return refused
    missing = "inputs" if not node.node.inputs else "outputs"
    return _refusal(READS_BEYOND_OPERANDS, f"{node.op} without {missing}", "an input and an output")


def _book(source: Source, **parts: Any) -> RuleBook[ReleaseOnly]:
    unknown = Unknown("an operator that the delegate knows")
    return RuleBook(NAME, custom=custom.RULES, kinds=KINDS, source=source, policy=Policy.ALL_FAILURES, unknown=unknown, **parts)


_DELEGATE_6_6_36 = Source(NEUTRON_6_6_36, "neutron_delegate.cc", "NeutronDelegate::IsNodeSupportedByDelegate")
_CLOSED = _book(_DELEGATE_6_6_36, families=(), unknown_custom=Unknown(_NETWORK), excluded=lambda node, _: _beside_compiled(node))
RULES: Mapping[str, RuleBook[ReleaseOnly]] = MappingProxyType(
    {
        WITH_RULES: _book(
            SOURCE,
            families=family_rules(__name__),
            unknown_custom=Unknown(f"{_NETWORK}, or an operator that the delegate knows"),
            excluded=_not_checked,
        ),
        "lf-6.6.3": _book(
            Source(NEUTRON_6_6_3, "neutron_delegate.cc", "NeutronDelegate::IsNodeSupportedByDelegate"),
            families=(),
            unknown_custom=Unknown(_NETWORK),
        ),
        "lf-6.6.36": _CLOSED,
        "lf-6.6.52": _CLOSED,
    }
)
"""The rules by release. The first release is the default."""
CLOSED_RELEASES = tuple(release for release, book in RULES.items() if book is _CLOSED)
"""The releases in which NXP's converter decides about nodes."""

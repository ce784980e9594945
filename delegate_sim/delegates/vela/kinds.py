"""Reports on nodes that Arm's compiler Vela leaves to the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...rules.kinds import Explanation, Problem, shared_kind

CONSTRAINT = shared_kind(
    "vela-constraint",
    Problem.OPERATOR,
    "node that fails a check of Vela",
    "Vela printed the first check that the node failed, and the report quotes this check. Other versions of Vela have other "
    "checks.",
    "Change the node so that it passes the check. 'vela --supported-ops-report' lists the checks of the installed version.",
    "change the node so that it passes the check that Vela names",
)
UNEXPLAINED = shared_kind(
    "vela-unexplained",
    Problem.OPERATOR,
    "node that Vela leaves to the CPU without a message",
    "Vela left the node to the CPU, but printed no check that belongs to the node.",
    "Look at the nodes around this node, and at the messages that Vela prints about the model file.",
    "look at the nodes around this node",
)
NOT_COMPILED = shared_kind(
    "vela-not-compiled",
    Problem.MODEL,
    "model file that Vela does not compile",
    "Vela refused the model file, crashed, or reached the time limit. Nothing is compiled for the NPU.",
    "Change the part of the model that Vela's message names, or use another version of Vela.",
    "change the part of the model that Vela's message names, or use another version of Vela",
)
KINDS = (CONSTRAINT, UNEXPLAINED, NOT_COMPILED)
EXPLAINED: Mapping[str, Explanation] = MappingProxyType({kind.name: kind.explanation for kind in KINDS})
"""The explanations of all codes."""

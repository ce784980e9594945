"""Kinds of problem of Arm NN's delegate, and the upstream sources that rules name."""

from __future__ import annotations

from ...rules.kinds import kinds_in
from ...rules.source import Repository, Source

ARMNN = Repository("ARM-software/armnn", "ef0f3e7ac2d49d5eb36adb45c12b3b64fb8dd46f")
CLASSIC = Source(ARMNN, "delegate/classic/src/armnn_delegate.cpp", "ArmnnSubgraph::VisitNode")
RELEASE = "23.08"
"""The release of Arm NN that is simulated, with Compute Library 24.11 as in Debian 13."""

_RULES, _FAILURES = (kinds_in("delegates/armnn", section) for section in ("rules", "failures"))
READS_COMPUTED = _RULES["reads-computed-value"]
NOT_BUILT = _FAILURES["armnn-network-not-built"]
ASSERTION = _FAILURES["armnn-assertion"]
FALLBACK_DISABLED = _FAILURES["armnn-fallback-disabled"]
KINDS = tuple(_RULES.values())
"""Every kind of problem in the rules, with the delegate's wording."""

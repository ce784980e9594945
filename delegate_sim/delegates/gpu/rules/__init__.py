"""Rules of the GPU delegate: the checks of each operator, in the delegate's order.

Source: ``NewOperationParser``, each parser's ``IsSupported`` and their caller ``GetOpsToReplace``
(``delegates/gpu/common/model_builder.cc``), and ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``).

``CheckGpuDelegateCompatibility`` also covers operators without a parser; the delegate never accepts these operators.
``CheckGpuDelegateCompatibility`` also checks that a node has builtin options. This check always passes, because the runtime
allocates these options.
"""

from __future__ import annotations

import operator

from ....graph.graph import NodeView
from ....rules.book import RuleBook, Unknown
from ....rules.families import family_rules
from ....rules.rule import Reason
from ..kinds import KINDS
from ..target import GpuTarget
from . import custom
from .checks import SOURCE

_LEFT_OUT = Unknown(
    "an operator that is not excluded",
    "use OpenCL for SPLIT and SPLIT_V, and do not name the operator in excluded_ops",
    "is excluded: excluded_ops names it, or the delegate uses OpenGL, which does not run it",
)


def _left_out(node: NodeView, target: GpuTarget) -> Reason | None:
    """Return the reason to refuse an operator if the options exclude this operator (``NewOperationParser``).

    If the options name CUSTOM, all custom operators are excluded.
    """
    name = "CUSTOM" if node.node.is_custom else node.op
    return RULES.unsupported(node, _LEFT_OUT) if name in target.excluded_ops else None


RULES: RuleBook[GpuTarget] = RuleBook(
    "gpu",
    families=family_rules(__name__),
    custom=custom.RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that the GPU delegate has"),
    excluded=_left_out,
    key=operator.attrgetter("release"),
)

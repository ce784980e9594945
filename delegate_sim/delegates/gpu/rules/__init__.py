"""Rules of the GPU delegate: the checks of each operator, in the delegate's order.

Source: ``NewOperationParser``, each parser's ``IsSupported`` and their caller ``GetOpsToReplace``
(``delegates/gpu/common/model_builder.cc``), and ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``).

The rules omit two parts of ``CheckGpuDelegateCompatibility``. The first part is the checks of operators without a parser,
because the delegate never accepts these operators. The second part is the check that a node has builtin options. This check
always passes, because the runtime allocates the options.
"""

from __future__ import annotations

import operator

from ....graph.graph import NodeView
from ....rules.book import RuleBook, Unknown
from ....rules.rule import Reason, family_rules, modules_of_families
from . import layers
from .checks import KINDS, NOT_SUPPORTED, SOURCE, GpuTarget

_NEEDED = "an operator that the GPU delegate has"
_LEFT_OUT = Unknown(
    "an operator that is not excluded",
    "make OpenCL available for SPLIT and SPLIT_V, and leave the operator out of excluded_ops",
    "is excluded, because it is in excluded_ops, or OpenCL cannot be loaded and OpenGL does not run it",
    said=NOT_SUPPORTED,
)


def _left_out(node: NodeView, target: GpuTarget) -> Reason | None:
    """Return the refusal of an operator that the options exclude, or None (``NewOperationParser``).

    The name CUSTOM in the options excludes all custom operators.
    """
    name = "CUSTOM" if node.node.is_custom else node.op
    return RULES.unsupported(node, _LEFT_OUT) if name in target.excluded_ops else None


MODULES = modules_of_families(
    activation="activation conversion",
    arithmetic="arithmetic reduction",
    layers="convolution pooling resizing matrix recurrent",
    shapes="reshaping slicing joining padding gathering filling",
)
"""The module of each family of operators, with its rules and parsers."""
RULES: RuleBook[GpuTarget] = RuleBook(
    "gpu",
    families=family_rules(__name__, MODULES),
    custom=layers.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown(_NEEDED, said=NOT_SUPPORTED),
    unknown_custom=Unknown(_NEEDED, said="{op}"),
    excluded=_left_out,
    key=operator.attrgetter("release"),
    has_native_messages=True,
)

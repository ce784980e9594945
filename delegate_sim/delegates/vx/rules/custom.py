"""The delegate's own custom operators."""

from __future__ import annotations

from ....rules.vocabulary import refused_if
from ..kinds import CUSTOM_OPERATOR
from .checks import vx_rule

COMPILED_NETWORK = "vsi-npu"
"""The custom operator of networks that were compiled for the NPU beforehand (network binary graphs)."""

RULES = {
    "WRNN_BIDI_SEQGRU": vx_rule(
        "CustomOpMap::IsOpSupported",
        refused_if(
            CUSTOM_OPERATOR,
            "another operator, because the mapper of this operator refuses every node",
            lambda node: True,
            "custom operator WRNN_BIDI_SEQGRU",
            "build the layer from builtin operators",
        ),
    ),
    "vsi-npu": vx_rule("NBGOpMap"),
}

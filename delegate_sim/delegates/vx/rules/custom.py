"""The delegate's own custom operators (``NBGOpMap`` and ``CustomOpMap`` in ``op_map.cc``)."""

from __future__ import annotations

from .checks import CUSTOM_OPERATOR, check, found_if, vx_rule

COMPILED_NETWORK = "vsi-npu"
"""A network that was compiled for the NPU beforehand (a network binary graph)."""

RULES = {
    COMPILED_NETWORK: vx_rule(),
    "WRNN_BIDI_SEQGRU": vx_rule(
        check(
            CUSTOM_OPERATOR,
            "another operator: the mapper of this one refuses every node",
            found_if(lambda _: True, "custom operator WRNN_BIDI_SEQGRU"),
            "build the layer from builtin operators",
        )
    ),
}

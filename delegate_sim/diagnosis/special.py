"""Nodes that no delegate takes for what they are, whatever code it refuses them with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..graph.graph import NodeView

COMPILED: Mapping[str, str] = MappingProxyType(
    {
        "DISPATCH_OP": "LiteRT's compiler for an NPU",
        "edgetpu-custom-op": "the compiler of the Edge TPU",
        "ethos-u": "Vela, for Arm Ethos-U",
        "NeutronGraph": "the converter of NXP's Neutron NPU",
        "vsi-npu": "VeriSilicon's compiler",
    }
)
"""Custom operators that hold a program for another accelerator, and what makes them."""

FLEX = "Flex"
"""What the names of TensorFlow's own operators begin with."""

LISTS = "FlexTensorList"
"""What those begin with that keep the state of a loop in a list; with inputs of known sizes the converter needs no list."""

_TABLES = frozenset({"HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"})
"""Operators of tables that look up text: the runtime has tables from text to numbers and back, and no others."""

CONTROL_FLOW: Mapping[str, str] = MappingProxyType(
    {"CALL": "a call", "IF": "a branch", "STABLEHLO_WHILE": "a loop", "WHILE": "a loop"}
)
"""Operators that run subgraphs, and what they are."""

IN_APPLICATION: Mapping[str, str] = MappingProxyType(
    {
        "NON_MAX_SUPPRESSION_V4": "export the detector without non-maximum suppression and do that in the application",
        "NON_MAX_SUPPRESSION_V5": "export the detector without non-maximum suppression and do that in the application",
        "TFLite_Detection_PostProcess": "export the detector without it (with boxes and scores as outputs); decode and select "
        "boxes in the application",
    }
)
"""Work at the end of a model that an application does as well, and how the model is exported without it."""


def special_subject(node: NodeView) -> tuple[str, ...] | None:
    """Return what a cause of this node is about, None if the code of the refusal says it."""
    if node.node.is_custom:
        if node.op in COMPILED:
            return ("compiled", node.op)
        if node.op.startswith(FLEX):
            return ("flex", node.op)
    elif node.op in _TABLES or any(tensor.type == "STRING" for tensor in (*node.inputs, *node.outputs)):
        return ("text",)
    if node.op in CONTROL_FLOW:
        return ("control-flow", node.op)
    return ("application", node.op) if node.op in IN_APPLICATION else None

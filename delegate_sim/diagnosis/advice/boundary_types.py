"""Converter settings that make QUANTIZE and DEQUANTIZE at the inputs and outputs of a model unnecessary."""

from __future__ import annotations

from collections.abc import Sequence

from ...graph.graph import NodeView

_SETTINGS = {"QUANTIZE": "inference_input_type", "DEQUANTIZE": "inference_output_type"}
"""The attribute of ``tf.lite.TFLiteConverter`` for the nodes at each end of the model."""
_TYPES = {"INT8": "tf.int8", "UINT8": "tf.uint8", "INT16": "tf.int16"}


def boundary_setting(views: Sequence[NodeView]) -> str:
    """Return the setting with which the converter does not write the nodes, such as ``inference_input_type = tf.int8``.

    Return "" unless all nodes quantize inputs of the model, or all nodes dequantize to outputs of the model.
    """
    settings = {_setting(view) for view in views}
    return settings.pop() if len(settings) == 1 else ""


def _setting(view: NodeView) -> str:
    if view.op not in _SETTINGS or view.node.is_custom or view.graph.index:
        return ""
    is_input = view.op == "QUANTIZE"
    outside, inside = (view.input(0), view.output(0)) if is_input else (view.output(0), view.input(0))
    ends = view.graph.inputs if is_input else view.graph.outputs
    if outside.type != "FLOAT32" or outside.index not in ends or inside.type not in _TYPES:
        return ""
    return f"converter.{_SETTINGS[view.op]} = {_TYPES[inside.type]}"

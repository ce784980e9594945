"""Converter settings that fix a cause, with machine-readable names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from ...graph.graph import NodeView
from ...hypothetical.fixed_inputs import open_inputs
from ...model.model import Model
from ...rules.kinds import Problem
from ...runtime.target import Target
from ..causes.cause import LOOPS, Cause, views_of
from ..causes.conversion_causes import form
from .layer_rewrites import may_help, rewriting


class ConverterSetting(Enum):
    """A setting of a converter. The same names are used for all converters."""

    FLOAT = "float"
    """No quantization."""
    FLOAT16 = "float16"
    """Weights in FLOAT16."""
    INT8 = "int8"
    """Weights and activations in 8 bits."""
    PER_TENSOR = "per-tensor"
    """The same scale for all channels of a weight tensor."""
    DENSE_PER_TENSOR = "dense-per-tensor"
    """The same scale for all channels of a weight tensor, but only in dense layers."""
    OLD_QUANTIZER = "old-quantizer"
    """TensorFlow's older quantizer, which runs after the conversion."""
    FIXED_SHAPES = "fixed-shapes"
    """Fixed sizes of inputs."""
    UNFOLD_BATCH_MATMUL = "unfold-batch-matmul"
    """One FULLY_CONNECTED for each matrix of a BATCH_MATMUL."""
    UNROLL = "unroll"
    """The nodes of all steps of a recurrent layer, instead of a loop."""


SettingsTogether = frozenset[ConverterSetting]
"""Settings that must be used together."""


_FLOAT = frozenset({ConverterSetting.FLOAT})
_FLOAT16 = frozenset({ConverterSetting.FLOAT16})
_INT8 = frozenset({ConverterSetting.INT8})
_PER_TENSOR = frozenset({ConverterSetting.PER_TENSOR})
_DENSE_PER_TENSOR = frozenset({ConverterSetting.DENSE_PER_TENSOR})
_OLD_QUANTIZER = frozenset({ConverterSetting.OLD_QUANTIZER, ConverterSetting.PER_TENSOR})

OF_CONVERSIONS: Mapping[str, SettingsTogether] = {
    "float": _FLOAT,
    "int8": _INT8,
    "int8-per-tensor": frozenset({ConverterSetting.INT8, ConverterSetting.PER_TENSOR}),
    "float16": _FLOAT16,
    "per-tensor": _PER_TENSOR,
    "dense-per-tensor": _DENSE_PER_TENSOR,
    "dynamic-range-per-tensor": _OLD_QUANTIZER,
}
"""Converter settings for the hypothetical conversions that a diagnosis simulates."""

OF_FEATURES: Mapping[str, tuple[SettingsTogether, ...]] = {
    "hybrid-weights": (_FLOAT, _INT8, _FLOAT16),
    "asymmetric-quantize-inputs": (_FLOAT, _INT8, _OLD_QUANTIZER),
    "per-channel": (_DENSE_PER_TENSOR, _PER_TENSOR),
    "int8-type": (_FLOAT,),
    "int16-type": (_INT8, _FLOAT),
    "quantized-bias-type": (_INT8,),
}
"""Alternative sets of settings for each feature in ``versions.features`` that raises an operator version."""

OF_FORMS: Mapping[str, tuple[SettingsTogether, ...]] = {
    "float": (_INT8,),
    "float16": (_FLOAT, _INT8),
    "dynamic-range": (_FLOAT, _INT8),
    "int16": (_INT8, _FLOAT),
    "integer": (_FLOAT,),
}
"""Alternative sets of settings that avoid refused tensor types, keyed by the result of ``conversion_causes.form``."""

_OF_CHANNELS = frozenset({Problem.TYPE, Problem.QUANTIZATION})
"""Kinds of problem that may disappear if each weight tensor has a single scale."""


def settings_for(model: Model, target: Target, cause: Cause) -> tuple[SettingsTogether, ...]:
    """Return alternative sets of settings that may fix a cause. The result is empty if the source model must change."""
    return tuple(dict.fromkeys(_settings(model, target, cause)))


def _settings(model: Model, target: Target, cause: Cause) -> Iterator[SettingsTogether]:
    if cause.remedy.fixed_inputs:
        yield frozenset({ConverterSetting.FIXED_SHAPES})
    if cause.remedy.conversion in OF_CONVERSIONS:
        yield OF_CONVERSIONS[cause.remedy.conversion]
    if cause.identity.problem is Problem.OPERATOR_VERSION:
        for code in cause.identity.subject:
            yield from OF_FEATURES.get(code, ())
    if cause.identity.subject in LOOPS:
        yield frozenset({ConverterSetting.UNROLL, *([ConverterSetting.FIXED_SHAPES] if open_inputs(model) else [])})
        return  # the nodes of the cause include nodes that only read the results of the loop
    problem = cause.identity.problem
    views = views_of(model, cause.nodes)
    by_channel = [view for view in views if any(tensor.is_constant and tensor.is_per_channel for tensor in view.inputs)]
    if problem in _OF_CHANNELS and by_channel:
        # A setting for dense layers only does not reduce the accuracy of other layers.
        is_dense = all(view.op == "FULLY_CONNECTED" for view in by_channel)
        yield _DENSE_PER_TENSOR if is_dense else _PER_TENSOR
    elif problem is Problem.TYPE and any(_has_numbers(view) for view in views):
        yield from OF_FORMS[form(model)]
    for view in {view.op: view for view in reversed(views)}.values() if may_help(problem, target) else ():
        way = rewriting(view, target)
        if way is not None and way.setting:
            yield frozenset({ConverterSetting(way.setting)})


def _has_numbers(view: NodeView) -> bool:
    tensors = [tensor for tensor in (*view.inputs, *view.outputs) if not tensor.is_constant]
    return any(tensor.type in ("FLOAT32", "FLOAT16") or tensor.scale > 0 for tensor in tensors)


_BOUNDARY_SETTINGS = {"QUANTIZE": "inference_input_type", "DEQUANTIZE": "inference_output_type"}
"""The attribute of ``tf.lite.TFLiteConverter`` for the nodes at each end of the model."""
_BOUNDARY_TYPES = {"INT8": "tf.int8", "UINT8": "tf.uint8", "INT16": "tf.int16"}


def boundary_setting(views: Sequence[NodeView]) -> str:
    """Return the setting with which the converter does not write the nodes, such as ``inference_input_type = tf.int8``.

    Return "" unless all nodes quantize inputs of the model, or all nodes dequantize to outputs of the model.
    """
    settings = {_boundary_setting(view) for view in views}
    return settings.pop() if len(settings) == 1 else ""


def _boundary_setting(view: NodeView) -> str:
    if view.op not in _BOUNDARY_SETTINGS or view.node.is_custom or view.graph.index:
        return ""
    is_input = view.op == "QUANTIZE"
    outside, inside = (view.input(0), view.output(0)) if is_input else (view.output(0), view.input(0))
    ends = view.graph.inputs if is_input else view.graph.outputs
    if outside.type != "FLOAT32" or outside.index not in ends or inside.type not in _BOUNDARY_TYPES:
        return ""
    return f"converter.{_BOUNDARY_SETTINGS[view.op]} = {_BOUNDARY_TYPES[inside.type]}"

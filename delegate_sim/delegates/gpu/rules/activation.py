"""Activation functions and conversions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....graph.graph import NodeView
from ....rules.kinds import NEIGHBOR, TENSOR_TYPE
from ....rules.operands import counted, operand
from ....rules.rule import OpRule
from ....rules.vocabulary import check, where
from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import FLOAT, runtime_input_count, runtime_operands
from ..model import BHWC, HWC, LINEAR, QUANTIZE_AND_DEQUANTIZE, NodeReader, Parser, build_error, parse_one_to_one
from . import ALLOW_QUANT_OPS, SOURCE, GpuTarget, gpu_rule, single_reader
from .arithmetic import parse_one_operand

_UNARY = ("ELU", "GELU", "LOGISTIC", "TANH")
_RELUS = ("LEAKY_RELU", "RELU", "RELU6", "RELU_N1_TO_1")
_RELU = gpu_rule("ReLUOperationParser", version_up_to=2, cases=())


def _parse_prelu(reader: NodeReader) -> None:
    operation = reader.add("PRELU")
    _, *sizes = reader.add_input(operation, 0).shape
    slopes = reader.view.input(1)
    layout = LINEAR if LINEAR.sizes(slopes.shape) is not None else HWC
    actual = reader.read(1, layout)
    expected = tuple(sizes[-1:] if layout is LINEAR else sizes)
    if actual != expected:
        raise build_error("gpu-build-shape", slopes, needed=f"shape {list(expected)}")
    reader.add_outputs(operation)


_CAST_PARSER = "CastOperationParser"
_IN_CAST_PARSER = SOURCE.with_symbol(f"{_CAST_PARSER}::IsSupported")
_COMPARISONS = frozenset({"EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"})
"""The operators that upstream treats as comparisons (``IsLogicalCode``, ``model_builder.cc``)."""


def _is_bool_to_float(node: NodeView) -> bool:
    return node.input(0).type == "BOOL" and node.output(0).type in FLOAT


def _float_consumers(node: NodeView) -> str | None:
    consumers = len(node.graph.readers.get(node.node.output(0), ()))
    return None if consumers == 1 else counted(consumers, "consumer")


def _is_not_of_comparison(node: NodeView) -> bool:
    if not _is_bool_to_float(node):
        return True
    producers = node.graph.writers.get(node.node.input(0))
    if not producers:
        return True
    producer = producers[0]
    return producer.is_custom or producer.op not in _COMPARISONS


def _cast_types(node: NodeView) -> str | None:
    source, target_type = node.input(0).type, node.output(0).type
    if _is_bool_to_float(node) or (source in FLOAT and target_type == "BOOL"):
        return None
    if source in ("FLOAT32", "INT32") and target_type in ("FLOAT32", "INT32"):
        return None
    return f"{source} to {target_type}"


def _quantized(rule: OpRule[GpuTarget]) -> OpRule[GpuTarget]:
    return replace(rule, checks=(ALLOW_QUANT_OPS, *rule.checks))


def _parse_quantize(reader: NodeReader) -> None:
    operation = reader.add_complete(QUANTIZE_AND_DEQUANTIZE)
    if not operation.output(0).is_quantized:
        raise build_error("gpu-build-quantization", reader.view.output(0), found="without scale and zero point")


def _parse_dequantize(reader: NodeReader) -> None:
    if runtime_input_count(reader.view):
        reader.add_complete(QUANTIZE_AND_DEQUANTIZE)
        return
    reader.read(0, BHWC)
    reader.add_outputs(reader.add("CONSTANT", reader.view.input(0)))


def _parse_densify(reader: NodeReader) -> None:
    source = reader.view.input(0)
    if source.sparsity is None:
        raise build_error("gpu-build-sparsity", source)
    reader.read(0, BHWC)
    reader.add_outputs(reader.add("DENSIFY"))


RULES = {
    **dict.fromkeys(_UNARY, gpu_rule("ElementwiseOperationParser", *arithmetic.UNARY, version_up_to=2)),
    **dict.fromkeys(_RELUS, _RELU),
    "HARD_SWISH": gpu_rule("HardSwishOperationParser", runtime_operands(1, 1)),
    "PRELU": gpu_rule("PReLUOperationParser", version_up_to=1, cases=()),
    "RELU_0_TO_1": _RELU.from_release("litert-2.1.0"),
    "SOFTMAX": gpu_rule("SoftmaxOperationParser", *arithmetic.SOFTMAX, version_up_to=2),
    "CAST": gpu_rule(
        _CAST_PARSER,
        *where(
            _is_bool_to_float,
            "from BOOL to float",
            single_reader(operand(0, "input")).from_source(_IN_CAST_PARSER).saying("Not supported cast case"),
            check(NEIGHBOR, "1 consumer of the output", _float_consumers)
            .from_source(_IN_CAST_PARSER)
            .saying("Cast from bool not supported for outputs"),
        ),
        *where(
            _is_not_of_comparison,
            "unless the node casts the result of a comparison to float",
            runtime_operands(1, 1),
            check(TENSOR_TYPE, "a cast between BOOL and float, or between FLOAT32 and INT32", _cast_types).saying(
                lambda node: f"Not supported Cast case. Input type: {node.input(0).type} and output type: {node.output(0).type}"
            ),
        ),
        inputs=("BOOL", "INT32"),
        outputs=("INT32", "BOOL"),
    ),
    "DENSIFY": gpu_rule("DensifyOperationParser", runtime_operands(0, 1), version_up_to=1),
    "DEQUANTIZE": _quantized(gpu_rule("DequantizeOperationParser", *arithmetic.DEQUANTIZE, version_up_to=3)),
    "QUANTIZE": _quantized(gpu_rule("QuantizeOperationParser", *arithmetic.QUANTIZE, version_up_to=2)),
}

PARSERS: Mapping[str, Parser] = {
    **dict.fromkeys(_UNARY, parse_one_operand),
    **dict.fromkeys((*_RELUS, "RELU_0_TO_1", "CAST", "HARD_SWISH", "SOFTMAX"), parse_one_to_one),
    "PRELU": _parse_prelu,
    "DENSIFY": _parse_densify,
    "DEQUANTIZE": _parse_dequantize,
    "QUANTIZE": _parse_quantize,
}

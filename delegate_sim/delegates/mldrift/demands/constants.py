"""Constant operands of elementwise operators.

Source: ``CanParseInputsWithConstTensor`` (``ml_drift_delegate/tflite/model_builder.cc``). That two constants are taken, and what
is demanded of them, was found in the binary of LiteRT 2.3, whose source is not public.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import CONSTANT, RANK, TENSOR_TYPE
from ....rules.rule import Check
from ....rules.vocabulary import check
from ...gpu_compatibility.checks import Found, asked, joined
from ..shapes import is_linear
from .checks import SOURCE, Checks

_IN_FUNCTION = SOURCE.with_symbol("CanParseInputsWithConstTensor")
_QUANTIZED = ("INT8", "UINT8", "INT4")
_FLOAT = ("FLOAT32", "FLOAT16")
_MAX_RANK = 4


def _is_quantized(tensor: Tensor) -> bool:
    return tensor.type in _QUANTIZED and tensor.quantization is not None and tensor.quantization.is_affine


def _reads_as_float(tensor: Tensor) -> bool:
    return tensor.type in _FLOAT or _is_quantized(tensor)


def _unusable(node: NodeView) -> str | None:
    constant = next((tensor for tensor in node.inputs[:2] if tensor.is_constant), None)
    if constant is None:
        return None
    if constant.sparsity is not None:
        return "a sparse constant"
    if constant.element_count == 1:
        fits = _reads_as_float(constant) or constant.type == "INT32"
        return None if fits else f"a constant of one element and type {constant.type}"
    if not _reads_as_float(constant) or is_linear(constant.shape) or constant.rank <= _MAX_RANK:
        return None
    return f"a constant of rank {constant.rank}"


def one_constant() -> Check[object]:
    """Demand a constant that can be read as float or, with one element, as INT32."""
    needed = "a constant not sparse and, with one element, of float, INT32 or quantised type, else of rank at most 4"
    return check(CONSTANT, needed, _unusable).saying("Can't parse inputs with const tensors.").from_source(_IN_FUNCTION)


def _dump(tensor: Tensor) -> str:
    return f"{{\n  type: {tensor.type}\n  data: {{...}}\n  dims: {joined(tensor.shape)}\n}}"


def _problem_of(name: str, tensor: Tensor) -> Found | None:
    if tensor.sparsity is not None:
        return Found("a sparse constant", f"{name}: sparse constant tensor {_dump(tensor)}")
    if tensor.rank > _MAX_RANK:
        return Found(f"a constant of rank {tensor.rank}", f"{name}: constant tensor with rank > 4: {_dump(tensor)}")
    if tensor.type in (*_FLOAT, "INT32", "BOOL") or _is_quantized(tensor):
        return None
    said = f"{name}: unsupported constant tensor type: {tensor.type} {_dump(tensor)}"
    return Found(f"a constant of type {tensor.type}", said)


def two_constants(name: str) -> Checks:
    """Demand two constants of one type and of the output's rank; ``name`` is what ML Drift calls the operator."""

    def each(node: NodeView) -> Found | None:
        return _problem_of(name, node.input(0)) or _problem_of(name, node.input(1))

    def types(node: NodeView) -> Found | None:
        one, other = node.input(0).type, node.input(1).type
        said = f"{name}: constant inputs have different types: {one} vs {other}"
        return None if one == other else Found(f"{one} and {other} constants", said)

    def ranks(node: NodeView) -> Found | None:
        first, second, result = node.input(0).rank, node.input(1).rank, node.output(0).rank
        if first == second == result:
            return None
        said = f"{name}: constant inputs and output must have the same rank, but got {first}, {second} and {result}"
        return Found(f"constants of rank {first} and {second}, output of rank {result}", said)

    needed = "constants of type FLOAT32, FLOAT16, INT32 or BOOL, or quantised, and of rank at most 4"
    return (
        asked(CONSTANT, needed, each).from_source(_IN_FUNCTION),
        asked(TENSOR_TYPE, "constants of one type", types).from_source(_IN_FUNCTION),
        asked(RANK, "constants of the output's rank", ranks).from_source(_IN_FUNCTION),
    )

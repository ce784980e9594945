"""Checks of the Ethos-U delegate that several operators share.

Source: the ``Constraint`` functions in ``ethosu_supported_ops.cc`` of nxp-imx/tflite-ethosu-delegate-imx, NXP's version of the
constraints of Vela 3.10. ``ConstraintTensorPre``, ``ConstraintTensorPost`` and ``ConstraintBatchSize`` apply to every operator.

For an omitted operand, upstream reads memory before the array of tensors. Here, an omitted operand passes all checks that apply
to every operand. For a missing dimension, upstream reads memory with unknown contents; here, its size is 0 (``Tensor.size``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from ...foundation.limits import element_count
from ...graph.graph import NodeView, fused_activation
from ...model.model import Tensor
from ...model.numbers import FlatNumbers, as_list, bounds
from ...rules import kinds
from ...rules.kinds import ACTIVATION, OPERAND_VALUE, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE, Kind, by_reshape
from ...rules.operands import INPUT, Operand, at_least, int32_halves, listed, operand
from ...rules.rule import Check, NodeFinder, OpRule, Repository, Source, op_rule
from ...rules.vocabulary import (
    TensorDemand,
    check,
    constant_words,
    inputs,
    of_tensors,
    operand_count,
    outputs,
    rank,
    typed,
    where,
    where_given,
)

_KINDS = kinds.kinds_in("delegates/ethosu", "rules")
READS_COMPUTED_VALUE = _KINDS["reads-computed-value"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the delegate's wording."""

ETHOSU_DELEGATE = Repository("nxp-imx/tflite-ethosu-delegate-imx", "6fb32a1a5cc2015503bfcc25917fbe5f3ec88b48")
"""NXP's repository at lf-6.6.3_1.0.0."""
SOURCE = Source(ETHOSU_DELEGATE, "ethosu_supported_ops.cc", "ConstraintTensorPre")

LARGEST_SIZE = 65535
_TYPES = ("UINT8", "INT8", "INT16")
_ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH")
_QUANTIZE_FULLY = "quantize the model fully to INT8"


def _if(condition: bool, text: str) -> str | None:
    return text if condition else None


def _before(side: str, *, strings: bool, scalars: bool) -> tuple[TensorDemand, ...]:
    static = TensorDemand(
        TENSOR_TYPE,
        f"{side} without STRING elements",
        lambda tensor: _if(tensor.type == "STRING", "is STRING"),
        "convert to INT8",
    )
    no_scalar = TensorDemand(
        RANK,
        f"{side} with at least one dimension",
        lambda tensor: _if(not tensor.shape, "has no dimensions"),
        "keep a dimension of 1",
    )
    rank = TensorDemand(
        RANK,
        f"{side} of rank at most 4",
        lambda tensor: _if(len(tensor.shape) > 4, f"has rank {len(tensor.shape)}"),
        by_reshape("fold dimensions with RESHAPE"),
    )
    return (*(() if strings else (static,)), *(() if scalars else (no_scalar,)), rank)


_TYPE = TensorDemand(
    TENSOR_TYPE,
    f"tensors of type {listed((*_TYPES, 'INT32'))}",
    lambda tensor: _if(tensor.type not in (*_TYPES, "INT32"), f"is {tensor.type}"),
    _QUANTIZE_FULLY,
)
_NO_INT32 = TensorDemand(
    TENSOR_TYPE, "tensors that are not INT32", lambda tensor: _if(tensor.type == "INT32", "is INT32"), _QUANTIZE_FULLY
)
_SIZES = TensorDemand(
    SHAPE,
    f"dimensions of 1 to {LARGEST_SIZE}",
    lambda tensor: _if(not all(1 <= size <= LARGEST_SIZE for size in tensor.shape), f"has shape {list(tensor.shape)}"),
)
_QUANTIZED = TensorDemand(
    QUANTIZATION,
    "tensors with a scale and a zero point",
    lambda tensor: _if(not tensor.is_affine, "has no scale"),
    _QUANTIZE_FULLY,
)
_PER_TENSOR = TensorDemand(
    QUANTIZATION,
    "tensors with one scale",
    lambda tensor: _if(len(scales(tensor)) > 1, f"has {len(scales(tensor))} scales"),
    "quantize per tensor",
)
_FINITE = TensorDemand(
    QUANTIZATION, "finite scales", lambda tensor: _if(any(map(math.isinf, scales(tensor))), "has an infinite scale")
)


def scales(tensor: Tensor) -> FlatNumbers | tuple[()]:
    """Return the scales of a tensor, or an empty tuple if the tensor is not quantized."""
    return tensor.quantization.scales if tensor.quantization is not None else ()


def _listed(node: NodeView, positions: Sequence[int]) -> Iterator[tuple[str, Tensor]]:
    return chain.from_iterable(inputs(node, slice(position, position + 1)) for position in positions)


def ethosu_rule(
    *checks: Check[object],
    operands: tuple[int, ...] = (0,),
    weights: tuple[int, ...] = (),
    scalar_inputs: bool = False,
    scalar_outputs: bool = False,
    strings: bool = False,
    int32: bool = False,
    all_types: bool = False,
    unquantized: bool = False,
    per_channel: bool = False,
    batches: bool = False,
) -> OpRule[object]:
    """Return the rule of an operator: the checks of every operator, then the operator's own ``checks``.

    ``operands`` and ``weights`` are the positions of the operands that the delegate calls IFM and weights. Each Boolean argument
    that is True omits some of the checks of every operator.
    """
    before = (
        *of_tensors(inputs, *_before("inputs", strings=strings, scalars=scalar_inputs)),
        *of_tensors(outputs, *_before("outputs", strings=strings, scalars=scalar_outputs)),
    )
    positions = (*operands, *weights)
    demands = [
        *(() if all_types else (_TYPE,)),
        *(() if int32 else (_NO_INT32,)),
        _SIZES,
        *(() if unquantized else (_QUANTIZED, *(() if per_channel else (_PER_TENSOR,)), _FINITE)),
    ]

    def checked(node: NodeView) -> Iterator[tuple[str, Tensor]]:
        return chain(_listed(node, positions), outputs(node))

    after = (operand_count(inputs=at_least(max(positions) + 1)), *of_tensors(checked, *demands))
    batch = () if batches else (_batch(operands).from_source(SOURCE.with_symbol("ConstraintBatchSize")),)
    return op_rule(
        *(one.from_source(SOURCE) for one in before),
        *(one.from_source(SOURCE.with_symbol("ConstraintTensorPost")) for one in after),
        *batch,
        *checks,
    )


def _batch(operands: tuple[int, ...]) -> Check[object]:
    def find(node: NodeView) -> str | None:
        return next(
            (
                f"{name} of shape {list(tensor.shape)}"
                for name, tensor in _listed(node, operands)
                if len(tensor.shape) == 4 and tensor.shape[0] != 1
            ),
            None,
        )

    hint = "run with a batch of 1; if the first dimension is no batch, merge it into the next one with RESHAPE"
    return check(SHAPE, "a batch of 1 in operands of rank 4", find, hint)


def upstream(symbol: str, *checks: Check[object]) -> tuple[Check[object], ...]:
    """Return these checks with a ``Constraint`` function as their source."""
    return tuple(one.from_source(SOURCE.with_symbol(symbol)) for one in checks)


def constraint(symbol: str, kind: Kind, needed: str, hint: str = "") -> Callable[[NodeFinder], Check[object]]:
    """Return a decorator that makes the check of a ``Constraint`` function from a function that describes the actual value."""
    return lambda find: check(kind, needed, find, hint).from_source(SOURCE.with_symbol(symbol))


def reads(which: Operand) -> Check[object]:
    """Require that the model file contains the value of an operand. Without this value, the delegate crashes."""

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        return None if tensor.is_constant or 0 in tensor.shape else f"{which.name} is not constant"

    return check(READS_COMPUTED_VALUE, f"{constant_words(which.name)}, because the delegate reads its value", find)


def values_of(node: NodeView, tensor: Tensor) -> list[int]:
    """Return the elements of a constant, or an empty list if the tensor is not constant."""
    values = node.value(tensor)
    return [] if values is None else list(map(int, as_list(values)))


def int32_values(node: NodeView, which: Operand) -> list[int]:
    """Return the value of a constant, read as INT32 numbers even if the constant has another type.

    The delegate reads one INT32 number for each element of the tensor. It reads INT64 numbers in halves, lower half first.
    """
    tensor = which.tensor(node)
    values = values_of(node, tensor)
    return int32_halves(values)[: len(values)] if tensor.type == "INT64" else values


def _other_activation(node: NodeView) -> str | None:
    name = fused_activation(node)
    return None if name in _ACTIVATIONS else f"fused {name}"


def _activation_type(node: NodeView) -> str | None:
    if fused_activation(node) == "NONE":
        return None
    return next((f"{name} is {tensor.type}" for name, tensor in outputs(node) if tensor.type not in _TYPES), None)


FUSED = upstream(
    "ConstraintFaf",
    check(ACTIVATION, f"no fused activation, or {listed(_ACTIVATIONS[1:])}", _other_activation),
    check(TENSOR_TYPE, f"outputs of type {listed(_TYPES)} if the node has a fused activation", _activation_type, _QUANTIZE_FULLY),
)


@constraint("ConstraintMatchingInOutTypes", TENSOR_TYPE, "input and output of the same type", _QUANTIZE_FULLY)
def same_type(node: NodeView) -> str | None:
    """Describe input and output of different types."""
    source, result = node.input(0).type, node.output(0).type
    return None if source == result else f"{source} input and {result} output"


def _other_quantization(node: NodeView, *tensors: Tensor) -> str | None:
    result = node.output(0)
    for tensor in tensors:
        if not (tensor.is_affine and result.is_affine):
            return "tensors without scales"
        assert tensor.quantization is not None
        assert result.quantization is not None
        same = tensor.quantization.scale == result.quantization.scale
        if not same or tensor.quantization.zero_point != result.quantization.zero_point:
            return f"{parameters(tensor)} and output {parameters(result)}"
    return None


def parameters(tensor: Tensor) -> str:
    """Describe a tensor's first scale and first zero point."""
    assert tensor.quantization is not None
    return f"scale {tensor.quantization.scale:.6g}, zero point {tensor.quantization.zero_point}"


SAME_QUANTIZATION = upstream(
    "ConstraintMatchingInOutQuant",
    check(
        QUANTIZATION,
        "the same scale and zero point on input and output",
        lambda node: _other_quantization(node, node.input(0)),
        "quantize so that input and output have the same parameters",
    ),
)
SAME_QUANTIZATIONS = upstream(
    "ConstraintMatchingQuantizationParams",
    check(
        QUANTIZATION,
        "the same scale and zero point on all inputs and the output",
        lambda node: _other_quantization(node, *node.inputs[:2]),
        "quantize so that inputs and output have the same parameters",
    ),
)


@constraint(
    "ConstraintMatchingInOutElements", SHAPE, "as many elements in the output as in the input", "fix the shapes before converting"
)
def same_element_count(node: NodeView) -> str | None:
    """Describe input and output with different numbers of elements."""
    source, result = node.input(0), node.output(0)
    same = element_count(source.shape) == element_count(result.shape)
    return None if same else f"input of shape {list(source.shape)} and output of shape {list(result.shape)}"


@constraint("ConstraintMatchingEitherShapes", SHAPE, "an input of the output's shape", "broadcast only one of the operands")
def either_shape(node: NodeView) -> str | None:
    """Describe inputs that do not have the shape of the output."""
    result = node.output(0).shape
    sources = [tensor.shape for tensor in node.inputs[:2]]
    return None if result in sources else f"inputs of shapes {listed(map(str, map(list, sources)))}, output {list(result)}"


def input_types(symbol: str, which: Operand, *types: str) -> tuple[Check[object], ...]:
    """Require that an operand has one of these types."""
    return upstream(symbol, typed(which, types, hint=_QUANTIZE_FULLY))


EIGHT_BITS = input_types("ConstraintInput8bit", INPUT, "INT8", "UINT8")
SIGNED = input_types("ConstraintInputSigned", INPUT, "INT8", "INT16")

_LARGEST, _SMALLEST = 0xFFFFFFFFFF, -0x7FFFFFFFFF


def bias(position: int) -> tuple[Check[object], ...]:
    """Require that a bias is a vector of INT32 numbers, or of INT64 numbers that fit into 40 bits."""
    which = operand(position, "bias")

    def is_int64(node: NodeView) -> bool:
        return which.tensor(node).type == "INT64"

    def large(node: NodeView) -> str | None:
        values = node.value(which.tensor(node))
        if values is None or not len(values):
            return None
        least, greatest = bounds(values)
        if least >= _SMALLEST and greatest <= _LARGEST:
            return None
        return next(f"bias {value}" for value in values if not _SMALLEST <= value <= _LARGEST)

    return upstream(
        "ConstraintBias",
        *where_given(
            which,
            rank(which, 1),
            typed(which, ("INT32", "INT64"), hint="quantize the bias to INT32"),
            *where(
                is_int64,
                "if INT64",
                reads(which),
                check(OPERAND_VALUE, "a bias within 40 bits", large, "use a bias within 40 bits"),
            ),
        ),
    )

"""The target, the kinds of problem, and the checks that only the VX rules use.

Source: ``op_map.cc`` of VeriSilicon/tflite-vx-delegate. ``OpMapperBase::IsSupported`` checks every operator, and each mapper's
``IsOpSupported`` checks one operator. The delegate stops at the first failed check.

For an omitted operand, upstream reads memory before the array of tensors. Here, an omitted operand passes all checks that apply
to every operand.
"""

from __future__ import annotations

from typing import NamedTuple

from ...model.model import Tensor
from ...releases.catalogue import NEWEST, Release
from ...rules import kinds, vocabulary
from ...rules.kinds import by_reshape
from ...rules.operands import listed, operand
from ...rules.rule import Check, OpRule, Repository, Source
from ...rules.vocabulary import TensorDemand, constant, refused_if, same_type

VX_DELEGATE = Repository("VeriSilicon/tflite-vx-delegate", "3f4759e07221e6b90bd82989b65febdaaf9ec0ea")
NXP_VX_6_6_3 = Repository("nxp-imx/tflite-vx-delegate-imx", "44aab8a50b37d55399771a2cad3fe017d3b5cdd3")
"""NXP's repository at lf-6.6.3_1.0.0."""
NXP_VX_5_15_71 = Repository("nxp-imx/tflite-vx-delegate-imx", "84edae24c7e921f7e322bd796b9fd3c064b10522")
"""NXP's repository at lf-5.15.71_2.2.0."""

_KINDS = kinds.kinds_in("delegates/vx", "rules")
CUSTOM_OPERATOR = _KINDS["custom-operator"]
DYNAMIC_SHAPE = _KINDS["dynamic-shape"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the delegate's wording."""


class VxTarget(NamedTuple):
    """The release of the runtime. No rule depends on this release, because the delegate is not part of the runtime."""

    release: Release = NEWEST


SOURCE = Source(VX_DELEGATE, "op_map.cc", "OpMapperBase::IsSupported")

EIGHT_BITS = ("INT8", "UINT8")
MAX_RANK = 6
MAX_SIZE = 65535
AXIS = constant(operand(1, "axis"))


def of_inputs(*demands: TensorDemand, positions: slice = slice(None)) -> tuple[Check[object], ...]:
    """Return checks of the operands in ``positions``.

    All checks are applied to one operand before the next operand is checked.
    """
    return vocabulary.of_tensors(lambda node: vocabulary.inputs(node, positions), *demands)


def of_outputs(*demands: TensorDemand) -> tuple[Check[object], ...]:
    """Return checks of all results.

    All checks are applied to one result before the next result is checked.
    """
    return vocabulary.of_tensors(vocabulary.outputs, *demands)


def not_of_type(*types: str, side: str = "inputs", hint: str = "") -> TensorDemand:
    """Return a check that refuses tensors of these types."""
    refused = frozenset(types)
    return TensorDemand(
        kinds.TENSOR_TYPE,
        f"{side} of any type except {listed(types)}",
        lambda tensor: f"is {tensor.type}" if tensor.type in refused else None,
        hint,
    )


def _too_many_dimensions(tensor: Tensor) -> str | None:
    return f"has rank {tensor.rank}" if len(tensor.shape) > MAX_RANK else None


def _empty_or_too_large(tensor: Tensor) -> str | None:
    shape = tensor.shape
    return f"has shape {list(shape)}" if 0 in shape or max(shape[1:], default=0) > MAX_SIZE else None


_INPUT_SIZES = (
    TensorDemand(
        kinds.RANK, f"inputs of rank at most {MAX_RANK}", _too_many_dimensions, by_reshape("fold dimensions with RESHAPE")
    ),
    TensorDemand(
        kinds.SHAPE,
        f"inputs with sizes of at least 1; after the first dimension, sizes of at most {MAX_SIZE}",
        _empty_or_too_large,
        "remove empty tensors from the model, and fold or split large dimensions",
    ),
)
_OUTPUTS = of_outputs(
    not_of_type("INT16", "INT64", side="outputs", hint="convert with INT32 for indices, and quantize activations to 8 bits"),
    TensorDemand(
        kinds.SHAPE,
        "outputs without a dimension of size 0",
        lambda tensor: f"has shape {list(tensor.shape)}" if 0 in tensor.shape else None,
        "remove empty tensors from the model",
    ),
)
_NO_INT64_OR_STRING = not_of_type(
    "INT64", "STRING", hint="convert with INT32 for axes, shapes and indices, and with 8-bit or float activations"
)
_COMMON = tuple(one.from_source(SOURCE) for one in (*of_inputs(_NO_INT64_OR_STRING, *_INPUT_SIZES), *_OUTPUTS))
_COMMON_BUT_INT64 = tuple(one.from_source(SOURCE) for one in (*of_inputs(not_of_type("STRING"), *_INPUT_SIZES), *_OUTPUTS))


def vx_rule(mapper: str, *checks: Check[VxTarget], int64_inputs: bool = False) -> OpRule[VxTarget]:
    """Return the rule of an operator: the checks of every operator, then the checks of the operator's mapper.

    ``mapper`` is upstream's symbol: the mapper's ``IsOpSupported``, or the mapper's class if the class has no checks.
    """
    source = (SOURCE.with_symbol(mapper), SOURCE)
    return OpRule((*(_COMMON_BUT_INT64 if int64_inputs else _COMMON), *checks), source=source)


# The delegate treats a shape of rank 0 as unknown.
OUTPUT_WITH_DIMENSIONS = refused_if(
    DYNAMIC_SHAPE, "an output with at least one dimension", lambda node: not node.output(0).rank, "an output without dimensions"
)
SAME_TYPES = same_type(
    operand(0, "input"), operand(1, "weights"), hint="quantize fully, or keep weights and activations in float"
)


def _unscaled(tensor: Tensor) -> str | None:
    unscaled = tensor.quantization is None and tensor.type in EIGHT_BITS
    return f"is {tensor.type} without quantization parameters" if unscaled else None


QUANTIZED_8_BITS = TensorDemand(
    kinds.QUANTIZATION, "quantization parameters for 8-bit inputs", _unscaled, "quantize the model, or use float"
)
"""The demand that 8-bit operands have quantization parameters (any type except ``kTfLiteNoQuantization``)."""

"""Checks that only the XNNPACK rules use (``delegates/xnnpack/xnnpack_delegate.cc``).

The delegate stops at the first failed check. Only builds with XNNPACK_DELEGATE_ENABLE_LOGGING print the reason.

Source: ``CheckTensorFloatType``, ``CheckTensorFloatOrQUInt8Type`` and similar methods
(``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....model.numbers import as_list
from ....rules import kinds
from ....rules.kinds import HYBRID, QUANTIZATION, TENSOR_TYPE
from ....rules.operands import OUTPUT, Numbers, Operand, at_most, exactly, listed, operand
from ....rules.rule import LITERT, Check, OpRule, Source
from ....rules.vocabulary import activation, check, check_for_target, constant, has_elements, operand_count, rank, typed
from ..target import (
    EIGHT_BIT_TYPES,
    QS8,
    QU8,
    Visit,
    XnnpackTarget,
    are_usable_scales,
    has_one_scale,
    is_usable_zero_point,
    scales_of,
)

T = TypeVar("T")

SOURCE = Source(LITERT, "tflite/delegates/xnnpack/xnnpack_delegate.cc", "Subgraph::VisitNode")
"""The upstream function that calls the visit method of each operator."""
PREPARATION = SOURCE.with_symbol("Delegate::PrepareOpsToDelegate")


def method(name: str, overload: str = "") -> Source:
    """Return a method of ``Subgraph`` as a source."""
    return SOURCE.with_symbol(f"Subgraph::{name}", overload)


def in_method(name: str, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Return the checks with a method of ``Subgraph`` as their source."""
    return tuple(check.from_source(method(name)) for check in checks)


FLOAT16_ACTIVATIONS = "litert-1.3.0"
"""The first release in which unary float operators accept FLOAT16."""
FLOAT16_ARITHMETIC = "litert-2.1.3"
"""The first release in which all arithmetic operators, and operators that only move values, accept FLOAT16."""
FLOAT16_LAYERS = "litert-2.2.0"
"""The first release with FLOAT16 in convolutions, matrix products, pooling, reductions, SOFTMAX, padding and resizing."""


class Types(NamedTuple):
    """The types that a check accepts for a tensor.

    The types in ``always`` are accepted with any flags. If ``signed``, INT8 is accepted with the flag qs8. If ``unsigned``, UINT8
    is accepted with the flag qu8. Before the release ``float16_from``, FLOAT16 is refused. ``function`` is the method of
    ``Subgraph`` that checks the types. ``scales_function`` is the method that checks the scales; empty if ``function`` also
    checks the scales.
    """

    function: str
    always: tuple[str, ...]
    signed: bool = False
    unsigned: bool = False
    float16_from: str = ""
    scales_function: str = ""

    def with_float16_from(self, release: str) -> Types:
        """Return a copy that accepts FLOAT16 only in ``release`` and later releases of the runtime."""
        return self._replace(float16_from=release)

    def checks(self, make: Callable[[Types], Check[Visit]]) -> tuple[Check[Visit], ...]:
        """Return the checks that ``make`` creates for these types.

        If ``float16_from`` is set, there is one check for earlier releases, and one check for this release and later releases.
        """
        if not self.float16_from:
            return in_method(self.function, make(self))
        before = self._replace(always=tuple([name for name in self.always if name != "FLOAT16"]))
        return in_method(
            self.function, make(before).before_release(self.float16_from), make(self).from_release(self.float16_from)
        )

    @property
    def words(self) -> str:
        """The types and their flags as text."""
        eight_bits = [name for name, is_accepted in (("INT8 (qs8)", self.signed), ("UINT8 (qu8)", self.unsigned)) if is_accepted]
        return listed((*self.always, *eight_bits))

    def accepts(self, name: str, target: XnnpackTarget) -> bool:
        """Return whether a type is accepted with the target's flags."""
        return (
            name in self.always
            or (self.signed and name == "INT8" and target.flags & QS8 != 0)
            or (self.unsigned and name == "UINT8" and target.flags & QU8 != 0)
        )


FLOAT32 = Types("CheckTensorFloat32Type", ("FLOAT32",))
FLOAT32_OR_8_BITS = Types("CheckTensorFloat32OrQUInt8Type", ("FLOAT32",), signed=True, unsigned=True)
EIGHT_BITS = Types("CheckTensorQInt8OrQUInt8Type", (), signed=True, unsigned=True)

FLOAT = Types("CheckTensorFloatType", ("FLOAT32", "FLOAT16"))
FLOAT_OR_INT8 = Types("CheckTensorFloatOrQInt8Type", ("FLOAT32", "FLOAT16"), signed=True)
FLOAT_OR_8_BITS = Types(
    "CheckTensorFloatOrQUInt8Type", ("FLOAT32", "FLOAT16"), signed=True, unsigned=True, scales_function=FLOAT32_OR_8_BITS.function
)
FLOAT_ACTIVATIONS = FLOAT.with_float16_from(FLOAT16_ACTIVATIONS)
FLOAT_ARITHMETIC = FLOAT.with_float16_from(FLOAT16_ARITHMETIC)
FLOAT_LAYERS = FLOAT.with_float16_from(FLOAT16_LAYERS)
FLOAT_OR_8_BITS_ARITHMETIC = FLOAT_OR_8_BITS.with_float16_from(FLOAT16_ARITHMETIC)
FLOAT_OR_8_BITS_LAYERS = FLOAT_OR_8_BITS.with_float16_from(FLOAT16_LAYERS)


def of_type(which: Operand, types: Types) -> tuple[Check[Visit], ...]:
    """Require that a tensor has one of these types."""
    tensor_of = which.tensor

    def of_these(accepted: Types) -> Check[Visit]:
        always, accepts = frozenset(accepted.always), accepted.accepts

        def find(node: NodeView, visit: Visit) -> str | None:
            name = tensor_of(node).type
            return None if name in always or accepts(name, visit.target) else f"{which.name} of type {name}"

        return check_for_target(TENSOR_TYPE, f"{which.name} of type {accepted.words}", find)

    return types.checks(of_these)


def of_types(which: Operand, types: Types) -> tuple[Check[Visit], ...]:
    """Require that a tensor has one of these types. An 8-bit tensor must also have a single scale, along dimension 0."""
    tensor_of = which.tensor

    def find(node: NodeView) -> str | None:
        tensor = tensor_of(node)
        return f"{which.name} with {scales_of(tensor)}" if tensor.type in EIGHT_BIT_TYPES and not has_one_scale(tensor) else None

    checks = of_type(which, types)
    if not (types.signed or types.unsigned):
        return checks
    one_scale = check(QUANTIZATION, f"a single scale for the 8-bit {which.name}", find)
    return (*checks, *in_method(types.scales_function or types.function, one_scale))


MAX_RANK = 6
"""Highest supported rank (``XNN_MAX_TENSOR_DIMS``)."""
ANY_RANK = at_most(MAX_RANK)

INPUT = operand(0, "input")
FIRST, SECOND = operand(0, "first input"), operand(1, "second input")
WEIGHTS, BIAS = operand(1, "weights"), operand(2, "bias")


def xnnpack_rule(function: str, *checks: Check[Visit]) -> OpRule[Visit]:
    """Return the rule of an operator. ``function`` is the method of ``Subgraph`` that visits the operator."""
    return OpRule(checks).from_source(method(function))


def unary(types: Types, *checks: Check[Visit], outputs: Types | None = None, shapes_from: str = "") -> OpRule[Visit]:
    """Return the rule of a unary operator. ``types`` are the types of input and output, if ``outputs`` does not differ.

    If ``shapes_from`` is empty, shapes are checked in all releases, and otherwise from this release on.
    """
    return xnnpack_rule(
        "VisitUnaryNode",
        operands(1),
        *counting_from(shapes_from, *shaped(INPUT, ANY_RANK)),
        *of_types(INPUT, types),
        *of_types(OUTPUT, outputs or types),
        *checks,
    )


def binary(types: Types, *checks: Check[Visit], shapes_from: str = "") -> OpRule[Visit]:
    """Return the rule of a binary operator. ``shapes_from`` has the same meaning as in ``unary``."""
    return xnnpack_rule(
        "VisitBinaryNode",
        operands(2),
        *counting_from(shapes_from, *shaped(FIRST, ANY_RANK), *shaped(SECOND, ANY_RANK)),
        *of_types(FIRST, types),
        *of_types(SECOND, types),
        *of_types(OUTPUT, types),
        *checks,
    )


SHAPES_FROM = "litert-1.3.0"
"""The first release that checks the shapes of all operators. Earlier releases check the shapes of some operators (measured)."""


def counting_from(release: str, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Limit checks to ``release`` and later releases. If ``release`` is empty, return the checks unchanged."""
    return tuple(check.from_release(release) if release else check for check in checks)


def counting_before(release: str, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Limit checks to releases of the runtime before ``release``."""
    return tuple(check.before_release(release) for check in checks)


def operands(inputs: int | Numbers, outputs: int | Numbers = 1) -> Check[object]:
    """Require these numbers of inputs and outputs (``CheckNumInputsAndOutputs``)."""
    overload = "expected_num_inputs" if isinstance(inputs, int) else "min_num_inputs"
    return operand_count(inputs, outputs).from_source(method("CheckNumInputsAndOutputs", overload))


def shaped(which: Operand, ranks: int | Numbers) -> tuple[Check[object], ...]:
    """Require that a tensor has one of these ranks, and no dimension of size 0 (``CheckTensorShape``)."""
    place = method("CheckTensorShape", "min_num_dims")
    return rank(which, ranks).from_source(place), has_elements(which, allows_negative=False).from_source(place)


def vector(which: Operand) -> Check[object]:
    """Require that an operand is a vector (``CheckShapeTensorShape`` without squeezing)."""
    return rank(which, exactly(1)).from_source(method("CheckShapeTensorShape"))


def has_type(which: Operand, *types: str, function: str = "CheckTensorType") -> Check[object]:
    """Require that an operand has one of these types (``CheckTensorType`` and similar methods)."""
    return typed(which, types, hint=f"convert with {listed(types)} for this operand").from_source(method(function))


def stored(which: Operand) -> Check[object]:
    """Require that an operand is a constant in the model file (``CheckTensorStaticAllocation``)."""
    return constant(which).from_source(method("CheckTensorStaticAllocation"))


def stored_or_unpacked(which: Operand) -> Check[Visit]:
    """Require a constant, or the result of an earlier node that unpacks a constant (``CheckTensorStaticAllocation``)."""

    def find(node: NodeView, visit: Visit) -> str | None:
        tensor = which.tensor(node)
        return None if tensor.is_constant or visit.unpacking.makes(tensor) else f"{which.name} is not constant"

    needed = f"a constant {which.name}, or the result of a DEQUANTIZE or DENSIFY of a constant"
    return check_for_target(kinds.CONSTANT, needed, find).from_source(method("CheckTensorStaticAllocation"))


RELU_TO_RELU6 = (0, 1, 2, 3)
"""Supported fused activations (``TfLiteFusedActivation``): none, RELU, RELU_N1_TO_1 and RELU6."""
BOUNDING_ACTIVATION = activation(("NONE", "RELU", "RELU6", "RELU_N1_TO_1")).from_source(method("ConvertActivationToOutputRange"))


def padding_mode(node: NodeView) -> str | None:
    """Return the padding mode of a builtin operator, SAME or VALID, or None if the node has no options."""
    return None if node.options.table is None else schema.enum_names("Padding").get(node.options.padding)


PADDING = check(
    kinds.ATTRIBUTE, "padding SAME or VALID", lambda node: None if padding_mode(node) else "no padding mode"
).from_source(method("CalculatePadding"))


def positive(function: str, *names: str) -> Check[object]:
    """Require that the named options are at least 1."""

    def find(node: NodeView) -> str | None:
        return next((f"{name} {values}" for name in names if (values := getattr(node.options, name)) <= 0), None)

    return check(kinds.ATTRIBUTE, f"{' and '.join(names)} of at least 1", find).from_source(method(function))


SMALLEST_CONVERSION, LARGEST_CONVERSION = 1.0 / 256.0, 128.0
"""The smallest and the largest supported ratio of input scale to output scale in a conversion."""


def elements_of(node: NodeView, position: int) -> Sequence[int]:
    """Return the elements of an operand, or an empty sequence if the operand is not constant."""
    value = node.value(node.input(position))
    return () if value is None else as_list(value)


_TYPES = FLOAT_OR_8_BITS._replace(function="CheckTensorFloat32OrQCInt8Type").with_float16_from(FLOAT16_LAYERS)


def quantized_weights(dimension: Callable[[NodeView], int], words: str) -> tuple[Check[Visit], ...]:
    """Require supported types and scales of the weights (``CheckTensorFloat32OrQCInt8Type``).

    8-bit weights may have a single scale. INT8 weights may also have one scale for each channel along ``dimension``.
    """

    def find(node: NodeView) -> str | None:
        tensor = node.input(1)
        if tensor.type == "INT8":
            return _unusable_weights(tensor, dimension(node))
        if tensor.type != "UINT8" or (has_one_scale(tensor) and _has_valid_parameters(tensor)):
            return None
        return f"weights with {scales_of(tensor)}"

    needed = f"valid scales and zero points for 8-bit weights: one per tensor or, for INT8, one per index along {words}"
    of_scales = check(QUANTIZATION, needed, find, "quantize weights per tensor or per output channel")
    return (*of_type(WEIGHTS, _TYPES), *in_method(_TYPES.function, of_scales))


def _unusable_weights(tensor: Tensor, dimension: int) -> str | None:
    quantization = tensor.quantization
    if quantization is None or not quantization.is_affine:
        return f"weights with {scales_of(tensor)}"
    if quantization.is_per_channel:
        if quantization.dimension != dimension:
            return f"weights with {scales_of(tensor)}"
        is_valid = quantization.zero_point == 0 and _has_valid_channels(tensor)
        return None if is_valid else "weights with invalid scales, or with zero points other than 0"
    return None if _has_valid_parameters(tensor) else "weights with an invalid scale or zero point"


def _has_valid_parameters(tensor: Tensor) -> bool:
    quantization = tensor.quantization
    return (
        quantization is not None
        and are_usable_scales(quantization.scales)
        and is_usable_zero_point(tensor.type, quantization)
        and tensor.rank <= MAX_RANK
    )


def _has_valid_channels(tensor: Tensor) -> bool:
    quantization = tensor.quantization
    return (
        quantization is not None and quantization.dimension < tensor.rank <= MAX_RANK and are_usable_scales(quantization.scales)
    )


def quantized_bias(which: Operand) -> tuple[Check[Visit], ...]:
    """Require a supported type and supported scales of a bias (``CheckTensorFloat32OrFloat16OrQCInt32Type``)."""

    def find_type(node: NodeView, visit: Visit) -> str | None:
        name = which.tensor(node).type
        return (
            None if name in ("FLOAT32", "FLOAT16") or (name == "INT32" and visit.target.flags & QS8) else f"bias of type {name}"
        )

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        quantization = tensor.quantization
        if tensor.type != "INT32":
            return None
        if quantization is None or not quantization.is_affine or quantization.dimension != 0:
            return f"bias with {scales_of(tensor)}"
        is_valid = _has_valid_channels(tensor) if quantization.is_per_channel else _has_valid_parameters(tensor)
        return None if is_valid else "bias with an invalid scale or zero point"

    return in_method(
        "CheckTensorFloat32OrFloat16OrQCInt32Type",
        check_for_target(TENSOR_TYPE, "a bias of type FLOAT32 or FLOAT16, or of type INT32 if the flag qs8 is set", find_type),
        check(QUANTIZATION, "valid scales for an INT32 bias, along dimension 0", find),
    )


def _float_types(node: NodeView, visit: Visit) -> tuple[str, str] | None:
    """Return the types of float weights and of their bias (``GetTensorType``), or None if the weights are not float.

    If a float16 constant replaces a tensor, the tensor's type is FLOAT16.
    """
    is_elided = visit.unpacking.is_elided
    of_weights, of_bias = ("FLOAT16" if is_elided(tensor) else tensor.type for tensor in (node.input(1), node.input(2)))
    return (of_weights, of_bias) if of_weights in ("FLOAT16", "FLOAT32") else None


def _other_bias(*accepted: str) -> Callable[[NodeView, Visit], str | None]:
    def find(node: NodeView, visit: Visit) -> str | None:
        types = _float_types(node, visit)
        return f"{types[0]} weights and {types[1]} bias" if types and types[1] not in (types[0], *accepted) else None

    return find


FLOAT_BIAS_LIKE_WEIGHTS = in_method(
    "CheckFilterAndBiasTypes",
    check_for_target(HYBRID, "a bias of the same type as the float weights", _other_bias())
    .from_release("litert-1.4.0")
    .before_release("litert-2.2.0"),
    check_for_target(
        HYBRID, "a bias of the same type as the float weights, or FLOAT16 weights with a FLOAT32 bias", _other_bias("FLOAT32")
    ).from_release("litert-2.2.0"),
)
"""Require that float weights and their bias have the same type (``CheckFilterAndBiasTypes``).

From litert-2.2.0 on, FLOAT16 weights may also have a FLOAT32 bias.
"""

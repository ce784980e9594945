"""Rules of Mesa's delegate Teflon, by version of Mesa and by driver.

In Mesa 25.0, the delegate alone decides (``PrepareDelegate``). In later Mesa, a node must be translated (``fill_operation``), and
then the driver decides (``ml_operation_supported``). The delegate gives no reasons. It ignores the types of most tensors, so it
also takes float nodes.

Source: ``tfl_device.c`` (``src/gallium/frontends/teflon``), and ``etnaviv_ml.c``, ``rkt_ml.c`` and ``ethosu_ml.c``
(``src/gallium/drivers``) of Mesa.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...foundation.float32 import float32
from ...graph.graph import NodeView, fused_activation
from ...model.model import Allocation, Tensor
from ...model.numbers import distinct
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import ACTIVATION, ATTRIBUTE, CONSTANT, OPERAND_VALUE, QUANTIZATION, SHAPE, kinds_in
from ...rules.operands import INPUT, OUTPUT, Operand, exactly, operand, stored_integers
from ...rules.rule import Check, OpRule, op_rule
from ...rules.source import Repository, Source
from ...rules.vocabulary import activation, check, operand_count, option, refused_if, typed
from ..decision import READS_BEYOND_OPERANDS, ReleaseOnly

NAME = "teflon"
MESA_25_0, LATER = "25.0", "main"
ETNAVIV, ROCKET, ETHOSU = "etnaviv", "rocket", "ethosu"

_KINDS = kinds_in("delegates/teflon", "rules", [READS_BEYOND_OPERANDS])
READS_COMPUTED = _KINDS["reads-computed-value"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the delegate's wording."""

_OLD = Repository("bminor/mesa-mesa", "c600abcfc0c14adeff7888a2d39b6c086ff0026a")
_NEW = Repository("bminor/mesa-mesa", "0001dab219cadbda45ce773e63fa4c45d477aa7e")
_FRONTEND = "src/gallium/frontends/teflon/tfl_device.c"

_WEIGHTS, _BIAS, _SECOND = operand(1, "weights"), operand(2, "bias"), operand(1)
_EIGHT_BITS: Mapping[str, int] = {"INT8": 127, "UINT8": 255}
_LARGEST_RELU6 = 6.0
_CHANNELS = 3


def _scales(which: Operand) -> Check[object]:
    """Demand exactly one scale and one zero point (``tensor_quantization_supported``)."""

    def find(node: NodeView) -> str | None:
        given = which.tensor(node).quantization
        if given is None or not given.is_affine:
            return f"{which.name} without affine quantization"
        counts = len(given.scales), len(given.zero_points)
        return None if counts == (1, 1) else f"{which.name} with {counts[0]} scales and {counts[1]} zero points"

    return check(QUANTIZATION, f"one scale and one zero point of {which.name}", find)


def _different(tensor: Tensor) -> tuple[int, int]:
    """Return the numbers of different scales and zero points."""
    given = tensor.quantization
    if given is None or not given.is_affine:
        return 0, 0
    return len(set(distinct(given.scales))), len(set(distinct(given.zero_points)))


def _one_scale(which: Operand) -> Check[object]:
    """Demand that all scales and all zero points are equal. A tensor without scales passes."""

    def find(node: NodeView) -> str | None:
        counts = node.graph.of_tensor("different scales", which.tensor(node), _different)
        return None if max(counts) <= 1 else f"{which.name} with {counts[0]} scales and {counts[1]} zero points"

    return check(QUANTIZATION, f"equal scales and zero points of {which.name}", find)


def _largest(tensor: Tensor) -> float | None:
    """Return the largest real value of a quantized tensor, or None for other types."""
    given = tensor.quantization
    if tensor.type not in _EIGHT_BITS or given is None or not given.is_affine:
        return None
    top = _EIGHT_BITS[tensor.type]
    zeros = [int(zero) for zero in given.zero_points] or [0]
    return max(
        [float32((top - zeros[min(at, len(zeros) - 1)]) * float(scale)) for at, scale in enumerate(given.scales)], default=0.0
    )


def _relu6(node: NodeView) -> str | None:
    if fused_activation(node) != "RELU6":
        return None
    largest = node.graph.of_tensor("largest value", node.output(0), _largest)
    if largest is None:
        return f"fused RELU6 on an output of type {node.output(0).type}"
    return None if largest <= _LARGEST_RELU6 else f"fused RELU6 with values up to {largest:g}"


def _dilation(node: NodeView) -> str | None:
    sizes = node.options.dilation_h_factor, node.options.dilation_w_factor
    return None if node.version < 2 or sizes == (1, 1) else f"dilation {sizes[0]} x {sizes[1]}"


_RELU6 = check(
    ACTIVATION,
    "a fused RELU6 only on an 8-bit output without values over 6",
    _relu6,
    "calibrate so that the output ends at 6, or fuse RELU instead",
)
_UNDILATED = check(ATTRIBUTE, "no dilation", _dilation, "use a larger filter instead of dilation")
_WITH_BIAS = refused_if(
    READS_BEYOND_OPERANDS, "a bias", lambda node: not _BIAS.is_given(node), "no bias", "convert with a bias, for example of zeros"
)
_QUANTIZED = (INPUT, _WEIGHTS, _BIAS, OUTPUT)

_CONVOLUTION_25_0: OpRule[object] = op_rule(
    _WITH_BIAS, *map(_scales, _QUANTIZED), activation(("NONE", "RELU", "RELU6")), _RELU6, _UNDILATED
)
_CONVOLUTION: OpRule[object] = op_rule(_WITH_BIAS, _RELU6, *map(_one_scale, _QUANTIZED), _UNDILATED)


def _computed(which: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        return f"{which.name} is constant" if which.tensor(node).is_constant else None

    return check(CONSTANT, f"{which.name} that is not constant", find)


def _readable(which: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        has_data = which.tensor(node).allocation in (Allocation.CONSTANT, Allocation.PERSISTENT)
        return None if has_data else f"{which.name} is computed at run time"

    return check(READS_COMPUTED, f"a constant {which.name}", find)


_ADDITION: OpRule[object] = op_rule(_computed(INPUT), _computed(_SECOND))


def _values(node: NodeView, position: int) -> list[int]:
    """Return the first elements of an operand, read as INT32 whatever the type is."""
    tensor = node.input(position)
    numbers = stored_integers(node, tensor)
    return [half for number in numbers for half in (number, 0)] if tensor.type == "INT64" else numbers


def _split_axis(node: NodeView) -> str | None:
    axis = next(iter(_values(node, 0)), 0)
    return None if axis in (_CHANNELS, -1) else f"axis {axis}"


def _channels(tensors: tuple[Tensor, ...], what: str) -> str | None:
    """Find tensors with different sizes of dimension 3. The delegate reads dimension 3 even if the rank is lower."""
    sizes = [tensor.shape[_CHANNELS] if tensor.rank > _CHANNELS else 0 for tensor in tensors]
    return f"{what} with {', '.join(map(str, dict.fromkeys(sizes)))} channels" if len(set(sizes)) > 1 else None


def reads_stale_sizes(node: NodeView) -> bool:
    """Return whether the verdict on a node of Mesa 25.0 depends on memory behind the shapes of its tensors."""
    tensors = {"CONCATENATION": node.inputs, "SPLIT": node.outputs}.get(node.op, ())
    return len(tensors) > 1 and any(tensor.rank <= _CHANNELS for tensor in tensors)


_JOINED = option("axis", exactly(_CHANNELS, -1), hint="concatenate along the channels")
_EQUAL_JOINED = check(SHAPE, "inputs of equal channels", lambda node: _channels(node.inputs, "inputs"))
_SPLIT: OpRule[object] = op_rule(
    _readable(INPUT),
    check(OPERAND_VALUE, "axis 3 or -1", _split_axis, "split along the channels"),
    check(SHAPE, "outputs of equal channels", lambda node: _channels(node.outputs, "outputs")),
)
_AROUND = [0, 0, 1, 1, 1, 1, 0, 0]


def _padding(node: NodeView) -> str | None:
    values = _values(node, 1)[:8]
    return None if values == _AROUND else f"padding {values}"


def _batch_padding(node: NodeView) -> str | None:
    values = _values(node, 1)[:2]
    return None if values == [0, 0] else f"padding {values} of the batch"


def _wide_padding(node: NodeView) -> str | None:
    values = _values(node, 1)[2:8]
    return f"padding {values}" if max(values, default=0) > 2 else None


_PAD: tuple[Check[object], ...] = (
    operand_count(2),
    _readable(_SECOND),
    typed(_SECOND, ("INT32",)),
    check(OPERAND_VALUE, "no padding of the batch", _batch_padding),
)


def _large_input(node: NodeView) -> str | None:
    count = node.input(0).element_count
    return None if count < _MOST_INPUTS else f"input of {count} elements"


_MOST_INPUTS = 1280
_PERMUTATIONS = ([0, 3, 1, 2], [0, 2, 3, 1])


def _permutation(node: NodeView) -> str | None:
    values = _values(node, 1)[:4]
    return None if values in _PERMUTATIONS else f"permutation {values}"


_ALWAYS: OpRule[object] = op_rule()
_CONVOLUTIONS = {"CONV_2D": _CONVOLUTION, "DEPTHWISE_CONV_2D": _CONVOLUTION}
_OPERATORS_25_0 = {
    "CONV_2D": _CONVOLUTION_25_0,
    "DEPTHWISE_CONV_2D": _CONVOLUTION_25_0,
    "ADD": _ADDITION,
    "CONCATENATION": op_rule(_JOINED, _EQUAL_JOINED),
    "SPLIT": _SPLIT,
    "PAD": op_rule(
        _readable(_SECOND), check(OPERAND_VALUE, "padding of 1 on each side of height and width", _padding, "pad each side by 1")
    ),
    "FULLY_CONNECTED": _ALWAYS,
}
_OPERATORS: Mapping[str, Mapping[str, OpRule[object]]] = {
    ETNAVIV: {
        **_CONVOLUTIONS,
        **dict.fromkeys(("ADD", "SUB"), _ADDITION),
        "CONCATENATION": op_rule(_JOINED),
        "SPLIT": _SPLIT,
        "PAD": op_rule(*_PAD, check(OPERAND_VALUE, "padding of at most 2 on each side", _wide_padding, "pad by at most 2")),
        "FULLY_CONNECTED": op_rule(
            typed(INPUT, tuple(_EIGHT_BITS), hint="quantize the model fully to INT8"),
            check(SHAPE, f"fewer than {_MOST_INPUTS} inputs", _large_input),
        ),
        "TRANSPOSE": op_rule(_readable(_SECOND), check(OPERAND_VALUE, "the permutation 0, 3, 1, 2 or 0, 2, 3, 1", _permutation)),
        **dict.fromkeys(("RESHAPE", "RELU", "ABS", "LOGISTIC"), _ALWAYS),
    },
    ROCKET: {**_CONVOLUTIONS, "ADD": _ADDITION},
    ETHOSU: {
        **_CONVOLUTIONS,
        "ADD": _ADDITION,
        **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "STRIDED_SLICE"), _ALWAYS),
        "CONCATENATION": op_rule(_JOINED),
        "PAD": OpRule(_PAD),
    },
}
_UNKNOWN = Unknown("an operator that the delegate and the driver know")


def _book(operators: Mapping[str, OpRule[object]], source: Source) -> RuleBook[ReleaseOnly]:
    return RuleBook(NAME, families=(operators,), kinds=KINDS, source=source, unknown=_UNKNOWN)


RULES: Mapping[tuple[str, str], RuleBook[ReleaseOnly]] = {
    (MESA_25_0, ETNAVIV): _book(_OPERATORS_25_0, Source(_OLD, _FRONTEND, "PrepareDelegate")),
    **{(LATER, driver): _book(rules, Source(_NEW, _FRONTEND, "fill_operation")) for driver, rules in _OPERATORS.items()},
}
"""The rules by version of Mesa and by driver. The first entry is the default."""

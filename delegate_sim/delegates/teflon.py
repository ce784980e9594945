"""Mesa's delegate Teflon for NPUs with drivers in the mainline kernel: its rules by version of Mesa and by driver.

In Mesa 25.0, the delegate alone decides (``PrepareDelegate``). In later Mesa, a node must be translated (``fill_operation``), and
then the driver decides (``ml_operation_supported``). The delegate gives no reasons. It ignores the types of most tensors, so it
also takes float nodes. An 8-bit NPU cannot compute these nodes, so they count as wrong results. Of the compilation by the
drivers, only rocket's additions are simulated.

Source: ``tfl_device.c`` (``src/gallium/frontends/teflon``), and ``etnaviv_ml.c``, ``rkt_ml.c`` and ``ethosu_ml.c``
(``src/gallium/drivers``) of Mesa.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..foundation.float32 import float32
from ..foundation.parsing.invalid_value import InvalidValueError
from ..graph.graph import Graph, NodeView, fused_activation
from ..graph.partition import Subset
from ..model.model import Allocation, Tensor
from ..model.numbers import distinct
from ..refusal import Refusal
from ..releases.catalogue import NEWEST, Release
from ..rules.book import RuleBook, Unknown
from ..rules.kinds import ACTIVATION, ATTRIBUTE, CONSTANT, OPERAND_VALUE, QUANTIZATION, SHAPE, kinds_in
from ..rules.operands import INPUT, OUTPUT, Operand, exactly, operand, stored_integers
from ..rules.rule import Check, OpRule, Repository, Source, op_rule
from ..rules.vocabulary import activation, check, constant_words, operand_count, option, refused_if, typed
from .base import Delegate
from .decision import (
    READS_BEYOND_OPERANDS,
    Decision,
    ReleaseOnly,
    chance_warnings,
    crash_while_checking,
    kinds_by_code,
    take_supported,
)
from .options import Option, OptionValues
from .traits import LogTraits

NAME = "teflon"
MESA_25_0, LATER = "25.0", "main"
ETNAVIV, ROCKET, ETHOSU = "etnaviv", "rocket", "ethosu"

_KINDS = kinds_in("delegates", "teflon", [READS_BEYOND_OPERANDS])
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
    # Source: ``tensor_quantization_supported``.

    def find(node: NodeView) -> str | None:
        given = which.tensor(node).quantization
        if given is None or not given.is_affine:
            return f"{which.name} without affine quantization"
        counts = len(given.scales), len(given.zero_points)
        return None if counts == (1, 1) else f"{which.name} with {counts[0]} scales and {counts[1]} zero points"

    return check(QUANTIZATION, f"one scale and one zero point of {which.name}", find)


def _different(tensor: Tensor) -> tuple[int, int]:
    given = tensor.quantization
    if given is None or not given.is_affine:
        return 0, 0
    return len(set(distinct(given.scales))), len(set(distinct(given.zero_points)))


def _one_scale(which: Operand) -> Check[object]:
    # A tensor without scales passes.

    def find(node: NodeView) -> str | None:
        counts = node.graph.of_tensor("different scales", which.tensor(node), _different)
        return None if max(counts) <= 1 else f"{which.name} with {counts[0]} scales and {counts[1]} zero points"

    return check(QUANTIZATION, f"equal scales and zero points of {which.name}", find)


def _largest(tensor: Tensor) -> float | None:
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

    return check(READS_COMPUTED, constant_words(which.name), find)


_ADDITION: OpRule[object] = op_rule(_computed(INPUT), _computed(_SECOND))


def _values(node: NodeView, position: int) -> list[int]:
    # The delegate reads INT32, whatever the type is.
    tensor = node.input(position)
    numbers = stored_integers(node, tensor)
    return [half for number in numbers for half in (number, 0)] if tensor.type == "INT64" else numbers


def _split_axis(node: NodeView) -> str | None:
    axis = next(iter(_values(node, 0)), 0)
    return None if axis in (_CHANNELS, -1) else f"axis {axis}"


def _channels(tensors: tuple[Tensor, ...], what: str) -> str | None:
    # The delegate reads dimension 3 even if the rank is lower.
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


def _book(operators: Mapping[str, OpRule[object]], source: Source) -> RuleBook[ReleaseOnly]:
    unknown = Unknown("an operator that the delegate and the driver know")
    return RuleBook(NAME, families=(operators,), kinds=KINDS, source=source, unknown=unknown)


RULES: Mapping[tuple[str, str], RuleBook[ReleaseOnly]] = {
    (MESA_25_0, ETNAVIV): _book(_OPERATORS_25_0, Source(_OLD, _FRONTEND, "PrepareDelegate")),
    **{(LATER, driver): _book(rules, Source(_NEW, _FRONTEND, "fill_operation")) for driver, rules in _OPERATORS.items()},
}
"""The rules by version of Mesa and by driver. The first entry is the default."""
VERSIONS = tuple(dict.fromkeys(version for version, _ in RULES))
DRIVERS = tuple(dict.fromkeys(driver for _, driver in RULES))


def _choice(choices: tuple[str, ...], value: Any) -> str:
    if value not in choices:
        raise InvalidValueError(f"takes {', '.join(choices)}", value)
    return str(value)


def _no_rules(values: Mapping[str, Any]) -> str:
    if (values["mesa"], values["driver"]) in RULES:
        return ""
    drivers = [driver for version, driver in RULES if version == values["mesa"]]
    cures = [f"choose mesa={version}" for version, driver in RULES if driver == values["driver"]]
    return f"Mesa {values['mesa']} opens only {', '.join(drivers)} (Couldn't open kernel device); {' or '.join(cures)}"


OPTIONS = (
    Option(
        "driver",
        partial(_choice, DRIVERS),
        DRIVERS[0],
        "the NPU's driver: etnaviv (i.MX 8M Plus, A311D), rocket (RK3588) or ethosu (i.MX 93); the computer decides, so the "
        "delegate itself has no such option",
        conflict=_no_rules,
    ),
    Option(
        "mesa",
        partial(_choice, VERSIONS),
        VERSIONS[0],
        f"version of Mesa: {VERSIONS[0]} (Debian 13), or {VERSIONS[1]} for later versions, whose rules were read but not run",
        choices=VERSIONS,
    ),
)


_FAILURES = kinds_in("delegates", "teflon-failures", is_shared=True)
FLOAT_NODE = _FAILURES["teflon-numbers-float"]
"""The kind of a node that the NPU computes wrongly."""
LONE_ADDITION = _FAILURES["teflon-lone-addition"]


class TeflonDelegate(Delegate):
    """The ``teflon`` delegate (see ``delegates.base.Delegate``)."""

    name = NAME
    kernel_name = "Teflon Delegate"
    provider_name = "EXTERNAL"
    title = "Teflon"
    summary = "Mesa's external delegate for NPUs with drivers in the mainline kernel: i.MX 8M Plus, A311D, RK3588 and i.MX 93."
    options = OPTIONS
    rules = next(iter(RULES.values()))
    rule_options = ("mesa", "driver")
    semantics = 2
    has_number_rules = True
    further_kinds = kinds_by_code(FLOAT_NODE, LONE_ADDITION)
    log = LogTraits(
        switch="external delegate path",
        libraries=("teflon",),
        options_by_interface={driver: {"driver": driver, "mesa": version} for version, driver in reversed(tuple(RULES))},
    )

    @property
    def rule_books(self) -> tuple[RuleBook[ReleaseOnly], ...]:
        """The rules of every version and driver."""
        return tuple(RULES.values())

    def rules_for(self, options: OptionValues) -> RuleBook[ReleaseOnly]:
        """Return the rules of the version and the driver that the options name."""
        return RULES[options["mesa"], options["driver"]]

    def own_release(self, options: OptionValues) -> str:
        """Return the version of Mesa."""
        return f"Mesa {options['mesa']}"

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes."""
        rules = self.rules_for(options)
        decision = take_supported(graph, rules, ReleaseOnly(release))
        failure = crash_while_checking(decision, rules, READS_COMPUTED)
        if failure is not None:
            return replace(decision, nodes=(), preview=(), failure=failure)
        return replace(decision, warnings=(*chance_warnings(decision, rules), *_stale_warnings(decision)))

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the crash of the driver rocket at an ADD (``rkt_ml_subgraph_create``, ``rkt_ml.c``), or None."""
        graph, results = decision.graph, set[int]()
        for node in [graph.view(graph.nodes[index]) for index in subset.nodes] if options["driver"] == ROCKET else ():
            if node.op == "ADD":
                if node.input(0).index not in results:
                    return LONE_ADDITION.failure(node.input(0), node.node.index)
                results.remove(node.input(0).index)  # The convolution then writes the result of the ADD.
            results.add(node.output(0).index)
        return None

    def number_risks(self, graph: Graph, subset: Subset, options: OptionValues, release: Release = NEWEST) -> Iterator[Refusal]:
        """Yield the float nodes of a partition. The delegate does not look at the type, but the NPU computes with 8 bits."""
        for index in subset.nodes:
            source = graph.view(graph.nodes[index]).input(0)
            if source.type in ("FLOAT32", "FLOAT16"):
                yield FLOAT_NODE.failure(source, index)


def _stale_warnings(decision: Decision) -> Iterator[str]:
    graph = decision.graph
    nodes = [index for index in decision.nodes if reads_stale_sizes(graph.view(graph.nodes[index]))]
    if nodes:
        count = "1 node joins or splits" if len(nodes) == 1 else f"{len(nodes)} nodes join or split"
        yield (
            f"subgraph {graph.index}: {count} tensors with fewer than 4 dimensions (first: node {nodes[0]}). The delegate "
            "compares dimension 3 anyway, and reads memory behind the shapes, so it may refuse such a node"
        )


DELEGATE = TeflonDelegate()

"""The Hexagon delegate, which runs quantized nodes on Qualcomm's DSP.

Source: ``IsNodeSupportedByHexagon`` and ``CheckOpVersion`` (``delegates/hexagon/utils.cc``), ``HexagonDelegate``
(``delegates/hexagon/hexagon_delegate.cc``), and TFLite's simple delegate, on which it is based (``DelegatePrepare``,
``delegates/utils/simple_delegate.cc``). The delegate gives no reasons, and stops at the first failed check.

The experimental option for dynamic batch sizes is not simulated. The graphs that the kernels build for the DSP are not simulated
either.
"""

from __future__ import annotations

from dataclasses import replace

from ..graph.graph import Graph, NodeView
from ..releases.catalogue import NEWEST, Release
from ..rules import kinds
from ..rules.book import RuleBook, Unknown
from ..rules.kinds import ATTRIBUTE, CONSTANT, PARTITION_LIMIT, PARTITION_MINIMUM, QUANTIZATION, SHAPE, by_reshape
from ..rules.operands import INPUT, Numbers, at_most, exactly, operand, up_to_one
from ..rules.rule import LITERT, Check, OpRule, Source, op_rule
from ..rules.vocabulary import activation, check, constant, operand_count, option, ranks_at_most, typed, version, where_given
from .base import Delegate, keep_largest, minimum_of_nodes
from .decision import Decision, ReleaseOnly, kinds_by_code, take_supported
from .options import OptionValues, maximum_option, minimum_option, option_as_typed
from .traits import LogTraits, PartitionLimits, ReleaseHistory

_KINDS = kinds.kinds_in("delegates", "hexagon")
OPERATOR = _KINDS["unsupported-operator"]
VERSION = _KINDS["operator-version"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the delegate's wording."""


SOURCE = Source(LITERT, "tflite/delegates/hexagon/utils.cc", "IsNodeSupportedByHexagon")
_VERSIONS = SOURCE.with_symbol("CheckOpVersion")
_TYPES = SOURCE.with_symbol("InputsWithCorrectTypes")

QUANT8 = ("UINT8", "INT8")
INT32 = ("INT32",)
MAX_RANK = 4

_RANKS = (
    ranks_at_most(MAX_RANK).from_source(SOURCE.with_branch("i < node->inputs->size")),
    ranks_at_most(MAX_RANK, results=True).from_source(SOURCE.with_branch("i < node->outputs->size")),
)

NO_ACTIVATION = activation(("NONE",))
RELU_ACTIVATION = activation(("NONE", "RELU", "RELU6", "RELU_N1_TO_1"))
"""Require RELU, RELU6, RELU_N1_TO_1 or no fused activation (``IsActivationReluOrNone``)."""

UP_TO_1, UP_TO_2, UP_TO_3, UP_TO_4 = up_to_one(), at_most(2), at_most(3), at_most(4)


def hexagon_rule(*checks: Check[ReleaseOnly], version_in: Numbers = UP_TO_1) -> OpRule[ReleaseOnly]:
    """Return the rule of an operator: the checks of all tensors' ranks, the check of the version, then ``checks``."""
    return op_rule(*_RANKS, version(version_in).from_source(_VERSIONS), *checks)


def inputs(*types: tuple[str, ...], optional: int = 0) -> tuple[Check[object], ...]:
    """Require that each operand has one of the types in its tuple, or the index -1 (``InputsWithCorrectTypes``).

    The last ``optional`` operands may also be absent.
    """
    counts = exactly(*range(len(types) - optional, len(types) + 1))
    operand_checks = [where_given(operand(position), typed(operand(position), allowed)) for position, allowed in enumerate(types)]
    return tuple(demand.from_source(_TYPES) for demand in (operand_count(counts), *[demand for (demand,) in operand_checks]))


def all_inputs_quant8() -> tuple[Check[object], Check[object]]:
    """Require that a node has operands and results, and that every operand has an 8-bit type."""

    def find_count(node: NodeView) -> str | None:
        counts = len(node.node.inputs), len(node.node.outputs)
        return None if min(counts) > 0 else f"{counts[0]} inputs and {counts[1]} outputs"

    def find_type(node: NodeView) -> str | None:
        for position, tensor in enumerate(node.inputs):
            if tensor.type not in QUANT8:
                return f"input {position} is {tensor.type}"
        return None

    return (
        check(kinds.OPERAND_COUNT, "at least 1 input and 1 output", find_count).from_release("litert-2.3.0"),
        check(kinds.TENSOR_TYPE, "inputs of type UINT8 or INT8", find_type),
    )


_INT8 = ("INT8",)
_ONE, _TWO, _WITH_AXES = inputs(QUANT8), inputs(QUANT8, QUANT8), inputs(QUANT8, INT32)
_MAX_STRIDE, _MAX_WINDOW = 3, 12
_SAME, _VALID = 0, 1


def _large_stride(node: NodeView) -> str | None:
    height, width = node.options.stride_h, node.options.stride_w
    return None if max(height, width) <= _MAX_STRIDE else f"strides {height} x {width}"


def _is_dilated(node: NodeView) -> bool:
    return (node.options.dilation_h_factor, node.options.dilation_w_factor) != (1, 1)


def _dilation(node: NodeView) -> str | None:
    return f"dilation {node.options.dilation_h_factor} x {node.options.dilation_w_factor}" if _is_dilated(node) else None


def _dilation_with_strides(node: NodeView) -> str | None:
    height, width = node.options.stride_h, node.options.stride_w
    return f"{_dilation(node)} with strides {height} x {width}" if _is_dilated(node) and (height, width) != (1, 1) else None


def _depth_multiplier(node: NodeView) -> str | None:
    multiplier, source = node.options.depth_multiplier, node.input(0).shape
    if multiplier == 1 or (not _is_dilated(node) and len(source) == 4 and source[3] == 1):
        return None
    return f"depth multiplier {multiplier} with {_dilation(node) or f'an input of shape {list(source)}'}"


def _flat_filter(node: NodeView) -> str | None:
    weights = node.input(1).shape
    return f"a filter of shape {list(weights)}" if len(weights) >= 2 and weights[1] < 2 else None


def _unknown_padding(node: NodeView) -> str | None:
    return None if node.options.table is not None and node.options.padding in (_SAME, _VALID) else "unknown padding"


_CONVOLVED = inputs(QUANT8, QUANT8, INT32)
_SMALL_STRIDES = check(ATTRIBUTE, f"strides at most {_MAX_STRIDE}", _large_stride, "use smaller strides")


def _large_padded_window(node: NodeView) -> str | None:
    options = node.options
    is_large = max(options.filter_height, options.filter_width) > _MAX_WINDOW
    if not is_large or options.table is None or options.padding != _SAME:
        return None
    return f"a window of {options.filter_height} x {options.filter_width} with padding _SAME"


def _size_count(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return None if count == 2 else f"a size of {count} elements"


_SIZED = (*inputs(QUANT8, INT32), constant(operand(1, "size")))


def _weights_with_many_scales(node: NodeView) -> str | None:
    weights = node.input(1)
    if weights.quantization is not None and weights.quantization.kind == "blockwise":
        return "weights quantized in blocks"
    return "weights with one scale per channel" if weights.is_per_channel else None


def _variable_bias(node: NodeView) -> str | None:
    is_variable = node.node.input(2) >= 0 and not node.input(2).is_constant
    return "bias is not constant" if is_variable else None


_INDICES = ("INT32", "INT64")
_REFLECT, _SYMMETRIC = 0, 1


def _unknown_mode(node: NodeView) -> str | None:
    is_known = node.options.table is not None and node.options.mode in (_REFLECT, _SYMMETRIC)
    return None if is_known else "an unknown mode"


_PADDED = (*inputs(QUANT8, INT32), constant(operand(1, "padding")))

_OPERATORS = {
    "HARD_SWISH": hexagon_rule(*_ONE),
    **dict.fromkeys(("LOGISTIC", "RELU6", "SOFTMAX", "TANH", "QUANTIZE"), hexagon_rule(*_ONE, version_in=UP_TO_2)),
    **dict.fromkeys(("ADD", "MUL", "SUB"), hexagon_rule(*_TWO, RELU_ACTIVATION, version_in=UP_TO_2)),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), hexagon_rule(*_TWO, version_in=UP_TO_2)),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), hexagon_rule(*_WITH_AXES, version_in=UP_TO_2)),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), hexagon_rule(*_ONE, version_in=UP_TO_2)),
    **dict.fromkeys(("CONCATENATION", "PACK"), hexagon_rule(*all_inputs_quant8(), version_in=UP_TO_2)),
    "L2_NORMALIZATION": hexagon_rule(*_ONE, NO_ACTIVATION, version_in=UP_TO_2),
    "RELU": hexagon_rule(*_ONE, version_in=exactly(2)),
    "NEG": hexagon_rule(*inputs(QUANT8)),
    "RSQRT": hexagon_rule(*inputs(_INT8), version_in=exactly(2)),
    "SQUARED_DIFFERENCE": hexagon_rule(*inputs(_INT8, _INT8), version_in=exactly(2)),
    "CONV_2D": hexagon_rule(
        *_CONVOLVED,
        RELU_ACTIVATION,
        _SMALL_STRIDES,
        check(ATTRIBUTE, "no dilation", _dilation, "use a larger filter instead of dilation"),
        version_in=UP_TO_3,
    ),
    "DEPTHWISE_CONV_2D": hexagon_rule(
        *_CONVOLVED,
        check(ATTRIBUTE, "strides of 1 with dilation", _dilation_with_strides, "use strides or dilation, not both"),
        RELU_ACTIVATION,
        _SMALL_STRIDES,
        check(
            SHAPE,
            "a depth multiplier of 1, or a single input channel and no dilation",
            _depth_multiplier,
            "use CONV_2D instead of a depth multiplier",
        ),
        check(SHAPE, "a filter height of at least 2", _flat_filter, "pad the filter with zeros, or use CONV_2D"),
        version_in=UP_TO_3,
    ),
    "TRANSPOSE_CONV": hexagon_rule(
        *inputs(INT32, QUANT8, QUANT8, INT32, optional=1),
        _SMALL_STRIDES,
        check(ATTRIBUTE, "padding SAME or VALID", _unknown_padding),
        version_in=UP_TO_3,
    ),
    "MAX_POOL_2D": hexagon_rule(
        *inputs(QUANT8),
        check(
            ATTRIBUTE,
            f"a window of at most {_MAX_WINDOW} x {_MAX_WINDOW}, or padding VALID",
            _large_padded_window,
            "at stride 1, use several smaller poolings in a row: three of 5 x 5 in place of one of 13 x 13",
        ),
        NO_ACTIVATION,
        version_in=UP_TO_2,
    ),
    "AVERAGE_POOL_2D": hexagon_rule(*inputs(QUANT8), NO_ACTIVATION, version_in=UP_TO_2),
    "RESIZE_NEAREST_NEIGHBOR": hexagon_rule(*_SIZED, version_in=UP_TO_3),
    "RESIZE_BILINEAR": hexagon_rule(*_SIZED, check(SHAPE, "a size of 2 elements", _size_count), version_in=UP_TO_3),
    "FULLY_CONNECTED": hexagon_rule(
        *inputs(QUANT8, QUANT8, ("INT32", "NO_TYPE")),
        check(QUANTIZATION, "weights with one scale", _weights_with_many_scales).from_release("litert-2.1.5"),
        check(CONSTANT, "a constant bias, or none", _variable_bias),
        RELU_ACTIVATION,
        option("keep_num_dims", 0, hint=by_reshape("flatten the input with RESHAPE")),
        option("weights_format", 0),
        version_in=UP_TO_4,
    ),
    "MEAN": hexagon_rule(*_WITH_AXES, constant(operand(1, "axis")), version_in=UP_TO_2),
    "RESHAPE": hexagon_rule(operand_count(at_most(2)), typed(INPUT, QUANT8)),
    "TRANSPOSE": hexagon_rule(*inputs(QUANT8, INT32), version_in=UP_TO_2),
    "SLICE": hexagon_rule(
        constant(operand(1, "begin")), constant(operand(2, "size")), *inputs(QUANT8, _INDICES, _INDICES), version_in=UP_TO_2
    ),
    "STRIDED_SLICE": hexagon_rule(
        *inputs(QUANT8, INT32, INT32, INT32),
        constant(operand(1, "begin")),
        constant(operand(2, "end")),
        constant(operand(3, "strides")),
        option("ellipsis_mask", 0, hint="slice without an ellipsis"),
        option("new_axis_mask", 0, hint=by_reshape("add the dimension with RESHAPE")),
        version_in=UP_TO_2,
    ),
    "SPLIT": hexagon_rule(*inputs(INT32, QUANT8), constant(operand(0, "axis")), version_in=UP_TO_2),
    "MIRROR_PAD": hexagon_rule(*_PADDED, check(ATTRIBUTE, "mode REFLECT or SYMMETRIC", _unknown_mode), version_in=UP_TO_2),
    "PAD": hexagon_rule(*_PADDED, version_in=UP_TO_2),
}

RULES: RuleBook[ReleaseOnly] = RuleBook(
    "hexagon", families=(_OPERATORS,), kinds=KINDS, source=SOURCE, unknown=Unknown("an operator that the Hexagon delegate has")
)

DEFAULT_PARTITIONS = 4
"""The default limit on the number of partitions (``kMaxHexagonGraphs``)."""
MOST_PARTITIONS = 16
"""The largest number of partitions that the option can allow (``kMaxMaxHexagonGraphs``)."""
DEFAULT_MINIMUM = 2
"""The default minimum number of nodes in a partition (``kMinNodesPerHexagonGraph``)."""

OPTIONS = (
    maximum_option(
        f"the maximum number of partitions, largest first; 0 or less means {DEFAULT_PARTITIONS}, and more than "
        f"{MOST_PARTITIONS} means {MOST_PARTITIONS}"
    ),
    minimum_option(DEFAULT_MINIMUM),
)


class HexagonDelegate(Delegate):
    """The ``hexagon`` delegate (see ``delegates.base.Delegate``)."""

    name = "hexagon"
    kernel_name = "TfLiteHexagonDelegate"
    provider_name = "Hexagon"
    options = OPTIONS
    rules = RULES
    computes_integers = True
    compiled_on_device = "when the delegate is applied"  # hexagon_nn_prepare (hexagon_delegate_kernel.cc)
    further_kinds = kinds_by_code(PARTITION_LIMIT, PARTITION_MINIMUM)
    limits = PartitionLimits("max_delegated_partitions", MOST_PARTITIONS, "min_nodes_per_partition", DEFAULT_PARTITIONS)
    log = LogTraits(switch="use hexagon")
    history = ReleaseHistory("tf-2.14")

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node. Delegate the largest partitions of supported nodes."""
        given = options[self.limits.option]
        limit = min(given, MOST_PARTITIONS) if given > 0 else DEFAULT_PARTITIONS
        complete = take_supported(graph, RULES, ReleaseOnly(release))
        decision = keep_largest(self, complete, limit, minimum_of_nodes(self, options))
        if graph.index > 0:
            return decision
        # The delegate prints this line once per process, for the first subgraph.
        line = (
            f"{self.kernel_name} delegate: {len(decision.nodes)} nodes delegated out of "
            f"{len(graph.execution_plan)} nodes with {len(decision.candidates)} partitions."
        )
        warnings = decision.warnings
        if given > MOST_PARTITIONS:
            option = option_as_typed(OPTIONS, self.limits.option)
            warnings = (f"{option} is {given}, but the delegate takes at most {MOST_PARTITIONS} partitions", *warnings)
        return replace(decision, warnings=warnings, log_lines=(line,))


DELEGATE = HexagonDelegate()

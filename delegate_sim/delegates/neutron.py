"""NXP's delegate for the Neutron NPU of the i.MX95, with its rules by release of NXP's board support package.

- lf-6.6.3 takes only compiled networks.
- lf-6.6.23 checks builtin operators if a graph has no compiled network. Otherwise, it takes only compiled networks.
- From lf-6.6.36 on, NXP's converter decides about graphs without a compiled network.

No check looks at an operator's version. The delegate takes every supported node, also accepts graphs with dynamic tensors, and
does not limit partitions.

Source: ``IsNodeSupportedByNeutron`` (``neutron_delegate_utils.cc`` of nxp-imx/tflite-neutron-delegate). The delegate applies
every check of an operator, also after a failure.

If the bias is missing, the delegate overwrites earlier failures of the node. The delegate still refuses the node, because the
bias must be a constant. Unlike the delegate, these rules also report the earlier failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..errors import NotSimulatedError
from ..foundation.parsing.invalid_value import InvalidValueError
from ..graph.graph import Graph, NodeView
from ..model.model import OPTIONAL_TENSOR, Node
from ..releases.catalogue import NEWEST, Release
from ..rules import kinds
from ..rules.book import Policy, RuleBook, Unknown
from ..rules.kinds import ATTRIBUTE, CONSTANT, OPTIONAL_OPERAND, RANK, READS_BEYOND_OPERANDS, SHAPE, Kind, by_reshape
from ..rules.operands import INPUT, OUTPUT, Operand, exactly, operand
from ..rules.rule import Check, OpRule, Reason, Repository, Source, op_rule
from ..rules.vocabulary import check, constant, option, typed, where_given
from .base import Delegate
from .decision import Decision, chance_warnings, crash_while_checking, summary_line, take_supported
from .options import Option, OptionValues
from .traits import LogTraits

_KINDS = kinds.kinds_in("delegates", "neutron")
READS_MISSING_SIZES = _KINDS["reads-missing-sizes"]
COMPILED_ELSEWHERE = _KINDS["beside-compiled-network"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the delegate's wording."""

NEUTRON_6_6_23 = Repository("nxp-imx/tflite-neutron-delegate", "0b4e06df64d39add24c1f1eef219f3cbc9ac6f2f")
"""NXP's repository at lf-6.6.23_2.0.0."""
NEUTRON_6_6_3 = Repository("nxp-imx/tflite-neutron-delegate", "f6ed0fc8ebea2980b28f54658a9c79e757508a0e")
"""NXP's repository at lf-6.6.3_1.0.0."""
NEUTRON_6_6_36 = Repository("nxp-imx/tflite-neutron-delegate", "068df109e92b0ee665131d8fb249df2994e98176")
"""NXP's repository at lf-6.6.36_2.1.0."""
SOURCE = Source(NEUTRON_6_6_23, "neutron_delegate_utils.cc", "IsNodeSupportedByNeutron")

EIGHT_BITS = ("UINT8", "INT8")
MACS = 16
"""The number of multiply-accumulate units of the i.MX95's NPU."""
BIAS = operand(2, "bias")
INPUT_TYPE = typed(INPUT, EIGHT_BITS)
OUTPUT_TYPE = typed(OUTPUT, EIGHT_BITS)


def _bias(node: NodeView) -> str | None:
    if node.node.input(BIAS.position) == OPTIONAL_TENSOR:
        return "no bias"
    return None if BIAS.tensor(node).is_constant else "bias is not constant"


_CONSTANT_BIAS = check(OPTIONAL_OPERAND, "a constant bias", _bias, "convert with a bias, for example of zeros")


def filtered(weights: Operand) -> tuple[Check[object], ...]:
    """Return the checks of operators with weights and a bias."""
    return (
        INPUT_TYPE,
        typed(weights, EIGHT_BITS),
        *where_given(BIAS, typed(BIAS, ("INT32",))),
        OUTPUT_TYPE,
        constant(weights),
        _CONSTANT_BIAS,
    )


def _other_ranks(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    return None if ranks == (4, 4) else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


FOUR_DIMENSIONS = check(RANK, "input and output of rank 4", _other_ranks, by_reshape("add dimensions with RESHAPE"))


def _scalars(node: NodeView) -> str | None:
    sides = [name for name, tensor in (("input", node.input(0)), ("output", node.output(0))) if not tensor.shape]
    return f"{' and '.join(sides)} without dimensions" if sides else None


WITH_DIMENSIONS = check(READS_MISSING_SIZES, "input and output with dimensions", _scalars, "fix the shapes before converting")
"""Require that input and output have dimensions. The delegate reads the sizes without such a check."""


def not_constant(which: Operand) -> Check[object]:
    """Require that an operand is computed at run time."""

    def find(node: NodeView) -> str | None:
        return f"{which.name} is constant" if which.tensor(node).is_constant else None

    return check(
        CONSTANT, f"{which.name} that is not constant", find, "add the constant to the bias of the preceding node instead"
    )


COMPILED_NETWORK = "NeutronGraph"
"""The custom operator of networks that NXP's converter compiled beforehand."""

_DECIDES = [
    Source(repository, "neutron_delegate.cc", "NeutronDelegate::IsNodeSupportedByDelegate")
    for repository in (NEUTRON_6_6_23, NEUTRON_6_6_3, NEUTRON_6_6_36)
]
_CUSTOM_OPERATORS: dict[str, OpRule[object]] = {COMPILED_NETWORK: OpRule((), source=tuple(_DECIDES[:2]))}

_SECOND, _FILTER, _SHAPE = operand(1), operand(1, "filter"), operand(1, "shape")
_UNDILATED = tuple(option(f"dilation_{side}_factor", 1, hint="use a larger filter instead of dilation") for side in ("w", "h"))
_STRIDES = tuple(option(f"stride_{side}", exactly(1, 2), hint="use strides of 1 or 2") for side in ("w", "h"))


def _batch(node: NodeView) -> str | None:
    batches = node.input(0).shape[:1], node.output(0).shape[:1]
    return None if batches == ((1,), (1,)) else f"input {list(node.input(0).shape)} and output {list(node.output(0).shape)}"


def _empty_window(node: NodeView) -> str | None:
    # Upstream intends to compare the window with the padding. By mistake, it reads the padding while the padding is still 0.
    height, width = node.options.filter_height, node.options.filter_width
    return None if min(height, width) > 0 else f"window of {height} * {width}"


def _channels(node: NodeView) -> tuple[int, int] | None:
    source, result = node.input(0).shape, node.output(0).shape
    return (source[3], result[3]) if len(source) == len(result) == 4 else None


def _uneven(node: NodeView) -> str | None:
    channels = _channels(node)
    return f"{channels[1]} output channels" if channels and channels[1] % MACS else None


def _fewer(node: NodeView) -> str | None:
    channels = _channels(node)
    return f"{channels[1]} channels from {channels[0]}" if channels and channels[0] > channels[1] else None


def _many(node: NodeView) -> str | None:
    channels = _channels(node)
    added = channels[1] - channels[0] if channels else 0
    return f"{added} more output channels than input channels" if added > MACS + 1 else None


_OPERATORS = {
    "ADD": op_rule(INPUT_TYPE, typed(_SECOND, EIGHT_BITS), OUTPUT_TYPE, not_constant(INPUT), not_constant(_SECOND)),
    "CONV_2D": op_rule(*filtered(_FILTER), FOUR_DIMENSIONS, *_UNDILATED),
    "DEPTHWISE_CONV_2D": op_rule(
        *filtered(_FILTER),
        option("depth_multiplier", 1, hint="use a depth multiplier of 1"),
        FOUR_DIMENSIONS,
        *_UNDILATED,
        *_STRIDES,
    ),
    "AVERAGE_POOL_2D": op_rule(INPUT_TYPE, OUTPUT_TYPE),
    "MAX_POOL_2D": op_rule(
        INPUT_TYPE,
        OUTPUT_TYPE,
        WITH_DIMENSIONS,
        FOUR_DIMENSIONS,
        option("stride_h", exactly(1, 2), hint="use a vertical stride of 1 or 2"),
        check(SHAPE, "a batch of 1", _batch, "run with a batch of 1"),
        check(ATTRIBUTE, "a window larger than 0", _empty_window),
    ),
    "FULLY_CONNECTED": op_rule(*filtered(operand(1, "weights"))),
    "RESHAPE": op_rule(INPUT_TYPE, typed(_SHAPE, ("INT32",)), constant(_SHAPE)),
    "PAD": op_rule(
        INPUT_TYPE,
        OUTPUT_TYPE,
        WITH_DIMENSIONS,
        FOUR_DIMENSIONS,
        check(
            SHAPE, f"a number of output channels that is a multiple of {MACS}", _uneven, f"pad channels to a multiple of {MACS}"
        ),
        check(SHAPE, "at least as many output channels as input channels", _fewer),
        check(
            SHAPE,
            f"at most {MACS + 1} more output channels than input channels",
            _many,
            f"pad channels to the next multiple of {MACS}",
        ),
    ),
}

NAME = "neutron-imx95"
WITH_RULES = "lf-6.6.23"
_NETWORK = f"the custom operator {COMPILED_NETWORK}"


def is_compiled(node: Node) -> bool:
    """Return whether a node is a network that NXP's converter compiled beforehand."""
    return node.is_custom and node.custom_code == COMPILED_NETWORK


def has_compiled(graph: Graph) -> bool:
    """Return whether a node of the plan is a compiled network (``NeutronDelegate::Initialize``)."""
    return graph.results.get("compiled networks", (), lambda: any(is_compiled(graph.nodes[at]) for at in graph.execution_plan))


def _refusal(kind: Kind, found: str, needed: str) -> Reason:
    return Reason(kind.code(NAME), kind.name, f"{found}; needs {needed}", found, needed, kind.hint)


class NeutronTarget(NamedTuple):
    """The target of the rules. ``has_compiled`` is true if a node of the graph is a compiled network."""

    release: Release = NEWEST
    has_compiled: bool = False


def _beside_compiled(node: NodeView, target: NeutronTarget) -> Reason | None:
    if is_compiled(node.node) or not target.has_compiled:
        return None
    return _refusal(COMPILED_ELSEWHERE, f"{node.op} in a graph with a compiled network", _NETWORK)


def _not_checked(node: NodeView, target: NeutronTarget) -> Reason | None:
    # Without a compiled network, the delegate reads the shapes of every node's first operand and first result, whatever the
    # operator.
    refused = _beside_compiled(node, target)
    if refused is not None or is_compiled(node.node) or (node.node.inputs and node.node.outputs):
        return refused
    missing = "inputs" if not node.node.inputs else "outputs"
    return _refusal(READS_BEYOND_OPERANDS, f"{node.op} without {missing}", "an input and an output")


def _book(source: Source, **parts: Any) -> RuleBook[NeutronTarget]:
    unknown = Unknown("an operator that the delegate knows")
    return RuleBook(
        NAME, custom=_CUSTOM_OPERATORS, kinds=KINDS, source=source, policy=Policy.ALL_FAILURES, unknown=unknown, **parts
    )


_CLOSED = _book(_DECIDES[2], families=(), unknown_custom=Unknown(_NETWORK), excluded=_beside_compiled)
RULES: Mapping[str, RuleBook[NeutronTarget]] = {
    WITH_RULES: _book(
        SOURCE,
        families=(_OPERATORS,),
        unknown_custom=Unknown(f"{_NETWORK}, or an operator that the delegate knows"),
        excluded=_not_checked,
    ),
    "lf-6.6.3": _book(_DECIDES[1], families=(), unknown_custom=Unknown(_NETWORK)),
    "lf-6.6.36": _CLOSED,
    "lf-6.6.52": _CLOSED,
}
"""The rules by release. The first release is the default."""
CLOSED_RELEASES = tuple(release for release, book in RULES.items() if book is _CLOSED)
"""The releases in which NXP's converter decides about nodes."""


_KERNEL = "NeutronDelegate"
_CONVERTER = (
    f"from {CLOSED_RELEASES[0]} on, NXP's closed-source converter decides which nodes the Neutron NPU takes; "
    f"for the rules of an older release, use --option release={WITH_RULES}"
)


def release(value: Any) -> str:
    """Parse a release of NXP's board support package, such as lf-6.6.23 or lf-6.6.23_2.0.0."""
    name = str(value).strip().partition("_")[0]
    if name not in RULES:
        raise InvalidValueError(f"takes {', '.join(RULES)}", value)
    return name


class NeutronDelegate(Delegate):
    """NXP's delegate for the i.MX95 (see ``delegates.base.Delegate``)."""

    name = NAME
    kernel_name = _KERNEL
    provider_name = "EXTERNAL"
    title = "Neutron delegate"
    has_article = True
    summary = "NXP's external delegate for the Neutron NPU of the i.MX95."
    options = (
        Option(
            "release",
            release,
            WITH_RULES,
            f"release of NXP's board support package: {', '.join(RULES)}; from {CLOSED_RELEASES[0]} on, NXP's converter selects "
            "nodes, and this selection is not simulated",
            choices=tuple(RULES),
        ),
    )
    rules = RULES[WITH_RULES]
    computes_integers = True
    compiled_on_device = "when the delegate is applied"  # InitInlineCompiledModel (neutron_delegate.cc of lf-6.6.23)
    rule_options = ("release",)
    counts_cpu_partitions = False
    log = LogTraits(switch="external delegate path", libraries=("neutron_delegate",), chip="i.MX 95")

    def own_release(self, options: OptionValues) -> str:
        """Return the release of NXP's board support package."""
        return str(options["release"])

    @property
    def rule_books(self) -> tuple[RuleBook[NeutronTarget], ...]:
        """The rules of every release."""
        return tuple(dict.fromkeys(RULES.values()))

    def rules_for(self, options: OptionValues) -> RuleBook[NeutronTarget]:
        """Return the rules of the release that the options name."""
        return RULES[options["release"]]

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes.

        Raises NotSimulatedError if NXP's converter decides about the graph.
        """
        if options["release"] in CLOSED_RELEASES and not has_compiled(graph):
            raise NotSimulatedError(_CONVERTER, graph.model.path or "the model")
        rules = self.rules_for(options)
        decision = take_supported(graph, rules, NeutronTarget(release, has_compiled(graph)))
        failure = crash_while_checking(decision, rules, READS_MISSING_SIZES)
        if failure is not None:
            return replace(decision, nodes=(), preview=(), failure=failure)
        warnings = tuple(chance_warnings(decision, rules))
        return replace(decision, log_lines=(summary_line(_KERNEL, decision),), warnings=warnings)


DELEGATE = NeutronDelegate()

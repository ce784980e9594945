"""Accepted nodes that compute other numbers on the GPU delegate than on the CPU, as read in its source.

The delegate was not run. Many conditions are conditions of ML Drift, which descends from this delegate: the readers of the model
map shapes to the GPU's axes in the same way, and change the graph in the same way.

Source: ``common/model_builder.cc``, ``common/transformations``, ``common/selectors/operation_selector.cc``, ``common/tasks`` and
``gl/kernels`` (in ``delegates/gpu``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ...graph.graph import Graph, NodeView, fused_activation
from ...graph.partition import Subset
from ...refusal import Refusal
from ...releases.catalogue import Release, parse_release
from ...rules.kinds import kinds_data
from ..gpu_compatibility import Bhwc, axes_of, bhwc, filled
from ..mldrift.numbers import RULES as SHARED
from ..mldrift.numbers import elementwise, merging, padding
from ..mldrift.numbers.rule import (
    Affected,
    GraphPart,
    NumberRule,
    RiskFinder,
    affected_nodes,
    by_operator,
    is_never_negative,
    number_rule,
    pad_value,
)
from ..mldrift.rules.checks import integers
from ..options import OptionValues

OLDEST_READ = parse_release("litert-1.2.0")
"""The oldest release whose source was read. The newest one is the newest release that is simulated."""

_DOUBT = "read in the source, not run"
_OTHER_RELEASE = "read in the source of other releases, not run"
_TEXTS = kinds_data("delegates/gpu")["numbers"]
_READ: Mapping[str, Any] = {
    "delegate": "gpu",
    "depends_on_values": True,
    "is_before_backend": True,
    "read_in": f"Read in the source from {OLDEST_READ} on, not run.",
}
_SELECTIONS = ("SELECT", "SELECT_V2")
_WITH_CONSTANT = ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD")
_LANES = 4


def _moved_operand(node: NodeView, part: GraphPart) -> Affected | None:
    operands = [elementwise.moved(tensor, node.output(0)) for tensor in elementwise.runtime_operands(node) or ()]
    return next(filter(None, operands), None)


def _unrepeated(node: NodeView, part: GraphPart) -> Affected | None:
    result, runtime = node.output(0), [tensor for tensor in node.inputs if not tensor.is_constant]
    if not runtime or len(node.inputs) != 2 or result.rank > len(Bhwc._fields):
        return None
    first, second = runtime[0], runtime[-1]
    if elementwise.takes_place_of(bhwc(second.shape), bhwc(first.shape)):
        first = second
    is_smaller = first.rank == result.rank and bhwc(first.shape)[1:] != bhwc(result.shape)[1:]
    return Affected(first, {"other": list(result.shape)}) if is_smaller else None


def _unrepeated_by_opengl(node: NodeView, part: GraphPart) -> Affected | None:
    return _unrepeated(node, part) if any(tensor.is_constant for tensor in node.inputs) else None


def _unrepeated_factor(node: NodeView, part: GraphPart) -> Affected | None:
    result = node.output(0)
    for constant in node.inputs:
        sizes = elementwise.aligned(constant.shape)
        is_plain = sizes[:3] == (1, 1, 1)
        if constant.is_constant and not is_plain and result.rank == len(sizes) and sizes[1:3] != result.shape[1:3]:
            return Affected(constant, {"other": list(result.shape)})
    return None


def _negative_base(node: NodeView, part: GraphPart) -> Affected | None:
    return None if is_never_negative(part, node.input(0)) else Affected(node.input(0))


def _lost_value(node: NodeView, part: GraphPart) -> Affected | None:
    value = pad_value(node)
    return Affected(node.output(0), {"value": value}) if value else None


def _transposed(node: NodeView, part: GraphPart) -> Affected | None:
    options = node.options
    return Affected(node.input(0 if options.adj_x else 1)) if options.adj_x or options.adj_y else None


def _first_index(node: NodeView, part: GraphPart) -> Affected | None:
    indices = node.input(0)
    return Affected(indices) if indices.rank in (2, 3) and indices.shape[-1] > 1 else None


def _channel(node: NodeView, part: GraphPart) -> Affected | None:
    condition, result = node.input(0), node.output(0)
    is_single = condition.element_count > 1 and bhwc(condition.shape).c == 1
    if not is_single or not 1 < bhwc(result.shape).c <= _LANES:
        return None
    return Affected(condition, {"other": list(result.shape)})


def _place(node: NodeView, part: GraphPart) -> Affected | None:
    condition, sizes, result = node.input(0), bhwc(node.input(0).shape), bhwc(node.output(0).shape)
    if condition.element_count <= 1:
        return None
    has_single_branches = all(node.input(position).element_count == 1 for position in (1, 2))
    has_fewer_slices = (sizes.c - 1) // _LANES != (result.c - 1) // _LANES
    is_cut = sizes.h > 1 or sizes.c > 1 if has_single_branches or has_fewer_slices else sizes.w > 1
    return Affected(condition) if is_cut else None


def _else_rows(node: NodeView, part: GraphPart) -> Affected | None:
    branch = node.input(2)
    return Affected(branch) if branch.is_constant and branch.rank == 3 and branch.shape[0] > 1 else None


def _mean_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    source, result, axes = node.input(0), node.output(0), integers(node, 1)
    if not axes or not 0 < source.rank <= len(Bhwc._fields):
        return None
    reduced = tuple(axes_of(source.rank)[axis % source.rank] for axis in axes)
    written = filled(bhwc(source.shape), reduced, (1,) * len(reduced))
    return Affected(result, {"other": list(source.shape)}) if written != bhwc(result.shape) else None


def _joined_output(node: NodeView, part: GraphPart) -> Affected | None:
    is_merged = len(node.node.inputs) == 1 and part.writer_of_read_output(node.input(0)) is not None
    return Affected(node.input(0)) if is_merged else None


def _merged_output(node: NodeView, part: GraphPart) -> Affected | None:
    source = merging.runtime_operand(node)
    writer = part.writer_of_read_output(source)
    if source is None or writer is None:
        return None
    is_elementwise = merging.runtime_operand(writer) is not None or fused_activation(writer) != "NONE"
    return Affected(source) if is_elementwise and source.shape == node.output(0).shape else None


def _own(name: str, operators: tuple[str, ...], find: RiskFinder | None, **facts: Any) -> NumberRule:
    return number_rule(name, operators, find, _TEXTS, **{**_READ, **facts})


READ_OUTPUT = _own(
    "output-read", (), None, fixed_in=parse_release("tf-2.13"), read_in="Read in the source of tf-2.10 to tf-2.12, not run."
)
"""The condition on the outputs of a partition, which are checked after its nodes. All releases with the problem were read."""
_BY_NAME = {rule.name: rule for rule in SHARED}


def _shared(name: str, **changes: Any) -> NumberRule:
    return replace(_BY_NAME[name], **{**_READ, "fixed_in": None, **changes})


_BOTH = (
    *[
        _shared(name)
        for name in (
            *("elementwise-const-layout", "elementwise-runtime-layout", "fused-tanh", "leaky-relu-alpha", "pad-then-pool"),
            *("pad-value-then-conv", "tconv-same-padding", "softmax-rank1", "fused-output", "noop-output", "noop-split"),
        )
    ],
    _shared("pad-output", operators=("AVERAGE_POOL_2D", "MAX_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D")),
    _own("pad-channel-tail", ("PADV2",), lambda node, part: padding.appended_channels(node, part) if pad_value(node) else None),
    _shared("concat-of-one", find=_joined_output),
    _own("elementwise-mixed-ranks", _BY_NAME["elementwise-const-layout"].operators, _moved_operand),
    _own("dwconv-multiplier", ("DEPTHWISE_CONV_2D",), elementwise.multiplied),
    _own("elementwise-output", merging.ELEMENTWISE, _merged_output),
    _own("fc-rows", ("FULLY_CONNECTED",), elementwise.several_rows),
    READ_OUTPUT,
)
_OPENCL = (
    *[_shared(name) for name in ("pad-rank3", "bmm-broadcast", "cumsum-exclusive-reverse", "cumsum-axis", "select-cond-layout")],
    _own("elementwise-operand-size", ("ADD",), _unrepeated),
    _own("bmm-adj", ("BATCH_MATMUL",), _transposed),
    _own("mean-place", ("MEAN",), _mean_elsewhere),
    _own("one-hot-index", ("ONE_HOT",), _first_index),
    _own("select-cond-channel", _SELECTIONS, _channel),
    _own("select-cond-place", _SELECTIONS, _place, fixed_in=parse_release("litert-2.1.6")),
    _own("select-else-rows", _SELECTIONS, _else_rows),
)
_OPENGL = (
    _own("elementwise-operand-size", _WITH_CONSTANT, _unrepeated_by_opengl),
    _own("mul-constant-size", ("MUL",), _unrepeated_factor),
    _own("pow-negative", ("POW",), _negative_base),
    _own("pad-value", ("PADV2",), _lost_value),
)
RULES = MappingProxyType({"opencl": (*_BOTH, *_OPENCL), "opengl": (*_BOTH, *_OPENGL)})
"""The conditions of each backend."""
_RULES_OF = {backend: by_operator(rules) for backend, rules in RULES.items()}


def is_read(release: Release) -> bool:
    """Return whether the source of a release was read."""
    return release.is_at_least(OLDEST_READ) and not release.is_after_newest


def number_risks(graph: Graph, subset: Subset, options: OptionValues, release: Release) -> Iterator[Refusal]:
    """Yield what one partition may compute wrongly, in the order of its nodes, and then the outputs that nodes read."""
    doubt = _DOUBT if is_read(release) else _OTHER_RELEASE
    part = GraphPart(graph, subset)
    named = set()
    for rule, affected, node in affected_nodes(part, subset.nodes, _RULES_OF[options["backend"].removesuffix("-only")], release):
        named.add(affected.tensor.index)
        yield rule.risk(affected, node, doubt)
    for index in sorted(part.outputs - named) if READ_OUTPUT.counts_in(release) else ():
        for reader in part.readers(graph.tensor(index))[:1]:
            yield READ_OUTPUT.risk(Affected(graph.tensor(index)), reader.index, _DOUBT)

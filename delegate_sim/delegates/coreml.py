"""The Core ML delegate, which runs float nodes on Apple's devices, and failures to initialize the kernel of a partition.

Source: ``CoreMlDelegate`` and ``DelegatePrepare`` (``delegates/coreml/coreml_delegate.mm``),
``CoreMlDelegateKernel::BuildModel`` (``delegates/coreml/coreml_delegate_kernel.mm``), and the checks in ``RegisterInputs`` and
``RegisterOutputs`` of the layers (``delegates/coreml/builders``). Core ML is assumed to compile the model, except for layers
that its validator refuses (``NeuralNetworkSpecValidator`` of apple/coremltools).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..foundation.parsing.invalid_value import InvalidValueError
from ..graph.graph import Graph, NodeView
from ..graph.partition import Subset
from ..refusal import Effect, Refusal
from ..releases.catalogue import NEWEST, Release, parse_release
from ..rules.kinds import FLOAT16_DEQUANTIZE, PARTITION_LIMIT, PARTITION_MINIMUM, kinds_in
from ..rules.operands import listed
from . import decision
from .base import Delegate, minimum_of_nodes, take_largest
from .coreml_rules import COREML_2, COREML_3, COREML_VERSION, MAX_RANK, RULES, CoreMlTarget, has_missing_bias, is_constant_number
from .decision import Decision, Float16Remapping, kinds_by_code, take_accepted
from .options import Option, OptionValues, integer, maximum_option, minimum_option
from .traits import LogTraits, PartitionLimits, ReleaseHistory

KINDS = kinds_in("delegates", "coreml-failures", is_shared=True)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, KINDS)

_BOUNDARY_RANK_IS_CHECKED = parse_release("litert-2.2.0")
"""The first release that limits boundary tensors to ``MAX_RANK`` dimensions."""

_ONE, _TWO, _TWO_OR_THREE = (1,), (2,), (2, 3)
_PADDING = ("PAD", "PADV2", "MIRROR_PAD")
_INPUT_COUNTS = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "HARD_SWISH", "LOGISTIC", "SOFTMAX", "TANH"), _ONE),
    **dict.fromkeys(("RELU", "RELU_N1_TO_1", "RELU6"), _ONE),
    **dict.fromkeys(("ADD", "MUL", "MEAN", "RESIZE_BILINEAR"), _TWO),
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", *_PADDING), _TWO_OR_THREE),
    "TRANSPOSE_CONV": (3,),
}
_ANY_OUTPUT_COUNT = ("RESHAPE", "DEQUANTIZE")
_FIRST_OPERAND_ONLY = frozenset(_INPUT_COUNTS).union(("RESHAPE", "FULLY_CONNECTED")) - {"ADD", "MUL", "TRANSPOSE_CONV"}
"""Operators that become a layer with a single input, the first operand. All other operands become part of the layer."""


def build_partition(graph: Graph, subset: Subset, release: Release = NEWEST) -> Refusal | None:
    """Return the reason why the kernel of a partition cannot be initialized, or None if the kernel is initialized."""
    used: set[int] = set()
    predicted = None
    for index in subset.nodes:
        node = graph.view(graph.nodes[index])
        failure = _miscounted(node)
        if failure is not None:
            return failure
        if _reads_value(node) and node.node.input(2) < 0:
            return kernel_failure("coreml-kernel-value", index, op=node.op)
        code = _refused_by_core_ml(node)
        if predicted is None and code is not None:
            predicted = replace(kernel_failure(code, index), is_predicted=True)
        used.update(layer_inputs(node), node.node.outputs)
    for index in [own for own in (*subset.outputs, *subset.inputs) if own in used]:
        tensor = graph.tensors[index]
        if tensor.rank > MAX_RANK:
            failure = kernel_failure("coreml-kernel-rank", None, tensor, found=tensor.rank)
            is_checked = release.is_at_least(_BOUNDARY_RANK_IS_CHECKED)
            # Older releases describe the tensor to Core ML with sizes that were never set.
            return failure if is_checked else predicted or replace(failure, effect=Effect.FAIL_AT_INVOKE)
    return predicted


def _refused_by_core_ml(node: NodeView) -> str | None:
    """Return the code of a layer that Core ML does not compile, if this is known without Core ML.

    The delegate sets no padding of the pooling layer for MEAN, and ``validatePoolingLayer`` refuses such a layer. What a kernel
    reads in place of an omitted bias is not known.
    """
    if node.op == "MEAN":
        return "coreml-kernel-pooling"
    return "coreml-kernel-bias" if has_missing_bias(node) else None


def _miscounted(node: NodeView) -> Refusal | None:
    inputs, outputs = len(node.node.inputs), len(node.node.outputs)
    allowed = _INPUT_COUNTS.get(node.op)
    if allowed is not None and inputs not in allowed:
        return _count_failure(node, "inputs", inputs, allowed)
    if outputs != 1 and node.op not in _ANY_OUTPUT_COUNT:
        return _count_failure(node, "outputs", outputs, _ONE)
    return None


def _count_failure(node: NodeView, side: str, count: int, allowed: Iterable[int]) -> Refusal:
    needed = listed(map(str, allowed))
    return kernel_failure("coreml-kernel-operands", node.node.index, op=node.op, found=f"{count} {side}", needed=needed)


def layer_inputs(node: NodeView) -> Iterator[int]:
    """Yield the tensors that the Core ML layer of a node reads at run time."""
    inputs = node.node.inputs
    if node.op in _FIRST_OPERAND_ONLY:
        yield node.node.input(0)
    elif node.op == "TRANSPOSE_CONV":
        yield node.node.input(2)
    elif node.op == "CONCATENATION":
        yield from inputs
    elif node.op in ("ADD", "MUL"):
        scalar = next((position for position in (0, 1) if is_constant_number(node, position)), None)
        yield from inputs if scalar is None else (inputs[1 - scalar],)


def has_computed_value(node: NodeView) -> bool:
    """Return whether a node pads with a value that is computed at run time. The kernel reads the value before it is computed."""
    return _reads_value(node) and node.node.input(2) >= 0 and not node.input(2).is_constant


def _reads_value(node: NodeView) -> bool:
    return node.op in _PADDING and len(node.node.inputs) > 2


DEFAULT_MINIMUM = 2
"""The default minimum number of nodes in a partition (``kMinNodesPerCoreMlDelegate``)."""
NO_LIMIT = (1 << 31) - 1

DEVICES_WITH_NEURAL_ENGINE = "devices_with_neural_engine"
ALL_DEVICES = "all_devices"
_DEVICES = {
    "0": DEVICES_WITH_NEURAL_ENGINE,
    DEVICES_WITH_NEURAL_ENGINE: DEVICES_WITH_NEURAL_ENGINE,
    "tflitecoremldelegatedeviceswithneuralengine": DEVICES_WITH_NEURAL_ENGINE,
    "1": ALL_DEVICES,
    ALL_DEVICES: ALL_DEVICES,
    "tflitecoremldelegatealldevices": ALL_DEVICES,
}


def devices(value: Any) -> str:
    """Parse the option that selects devices. Valid values are delegate-sim's own names, and upstream's names and numbers."""
    name = str(value).strip().lower()
    if isinstance(value, bool) or name not in _DEVICES:
        raise InvalidValueError(f"takes {DEVICES_WITH_NEURAL_ENGINE} (0) or {ALL_DEVICES} (1)", value)
    return _DEVICES[name]


OPTIONS = (
    Option(
        "coreml_version",
        integer,
        0,
        "the version of Core ML for which models are built, 2 or 3; any other number means 3",
        flag="coreml_version",
        printed=("coreml version",),
    ),
    Option(
        "enabled_devices",
        devices,
        DEVICES_WITH_NEURAL_ENGINE,
        f"{DEVICES_WITH_NEURAL_ENGINE} or {ALL_DEVICES}: the devices on which the delegate can be created",
        changes_verdicts=False,
        benchmark_default=ALL_DEVICES,
        has_benchmark_default=True,
        choices=tuple(dict.fromkeys(_DEVICES.values())),
    ),
    maximum_option("the maximum number of partitions to delegate, largest first; 0 or less means no limit"),
    minimum_option(DEFAULT_MINIMUM),
)


class CoreMlDelegate(Delegate):
    """The ``coreml`` delegate (see ``delegates.base.Delegate``)."""

    name = "coreml"
    kernel_name = "TfLiteCoreMlDelegate"
    provider_name = "COREML"
    title = "Core ML"
    builds_by_node = True
    options = OPTIONS
    rules = RULES
    further_kinds = MappingProxyType({**KINDS, **kinds_by_code(PARTITION_LIMIT, PARTITION_MINIMUM, FLOAT16_DEQUANTIZE)})
    limits = PartitionLimits("max_delegated_partitions", 0, "min_nodes_per_partition")
    log = LogTraits(switch="use coreml", tried_options=MappingProxyType({"coreml_version": COREML_2}))
    history = ReleaseHistory("litert-1.1.0")

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Delegate all nodes if every node is supported, or else the largest partitions."""
        remapping = Float16Remapping()
        decision = take_accepted(graph, remapping.verdicts(graph, RULES, CoreMlTarget(_version(options), release)))
        limit = options["max_delegated_partitions"]
        decision = take_largest(self, decision, remapping, limit if limit > 0 else NO_LIMIT, minimum_of_nodes(self, options))
        line = (
            f"CoreML delegate: {len(decision.nodes)} nodes delegated out of {len(graph.execution_plan)} nodes, with "
            f"{len(decision.candidates)} partitions."
        )
        warnings = (*decision.warnings, *_computed_value_warning(decision))
        return remapping.applied(replace(decision, warnings=warnings, log_lines=(line,)))

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the reason why the Core ML model of a partition cannot be built, or None if the build succeeds."""
        return build_partition(decision.graph, subset, release)

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Yield options that avoid refusals with this code. For example, Core ML 2 avoids refusals of RESHAPE."""
        if code == RULES.code_of(COREML_VERSION) and _version(options) != COREML_2:
            yield {"coreml_version": COREML_2}
        yield from super().remedies(code, options)


def _version(options: OptionValues) -> int:
    return COREML_2 if options["coreml_version"] == COREML_2 else COREML_3


def _computed_value_warning(decision: Decision) -> tuple[str, ...]:
    graph = decision.graph
    indices = [index for index in decision.nodes if has_computed_value(graph.view(graph.nodes[index]))]
    if not indices:
        return ()
    nodes = "1 delegated node pads" if len(indices) == 1 else f"{len(indices)} delegated nodes pad"
    return (
        f"subgraph {graph.index}: {nodes} (first: node {indices[0]}) with a padding value that is computed at run time. The "
        "delegate's kernel reads the value before it is computed, and pads with undefined numbers",
    )


DELEGATE = CoreMlDelegate()

"""The target of the rules, the kinds of problem that they report, and the delegate's state while it visits nodes in order.

XNNPACK stores tensors in its own datatypes.

Source: ``Delegate`` and its flags, ``GetXNNPackDatatype``, the code for quasi-static tensors in
``Delegate::PrepareOpsToDelegate``, ``ResourceInfo``, and the visits to VAR_HANDLE, ASSIGN_VARIABLE and READ_VARIABLE
(``delegates/xnnpack/xnnpack_delegate.cc`` and ``.h``).
"""

from __future__ import annotations

import functools
import itertools
import math
from types import MappingProxyType
from typing import NamedTuple

from ...foundation.float32 import SMALLEST_NORMAL
from ...foundation.late_numpy import np
from ...graph.graph import Graph, NodeView
from ...model.model import Node, Quantization, Tensor
from ...model.numbers import FlatNumbers, distinct, fact_of
from ...releases.catalogue import NEWEST, Release, parse_release
from ...rules.kinds import kinds_in
from ...rules.operands import OUTPUT, Operand, operand
from .. import decision

FLAGS = MappingProxyType(
    {
        "qs8": 0x1,
        "qu8": 0x2,
        "force_fp16": 0x4,
        "dynamic_fully_connected": 0x8,
        "variable_operators": 0x10,
        "transient_indirection_buffer": 0x20,
        "enable_latest_operators": 0x40,
        "enable_subgraph_reshaping": 0x80,
        "slow_consistent_arithmetic": 0x200,
        "disable_subgraph_reshaping": 0x400,
        "disable_dynamically_quantized_ops": 0x800,
    }
)
"""The bits of ``TfLiteXNNPackDelegateOptions::flags``, by name without the prefix ``TFLITE_XNNPACK_DELEGATE_FLAG_``."""

QS8, QU8 = FLAGS["qs8"], FLAGS["qu8"]
DEFAULT_FLAGS = QS8 | QU8
"""The flags that the runtime sets by default."""

DYNAMIC_TENSORS_FROM = parse_release("tf-2.17")
"""The first release that accepts dynamic tensors by default: measured in the wheels of tf-2.12 to tf-2.18."""
DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM = parse_release("litert-2.0.2")
"""The first release that accepts float CONV_2D and FULLY_CONNECTED with integer weights by default.

The flag disable_dynamically_quantized_ops makes the delegate refuse these nodes. In earlier releases, these nodes need the flag
enable_latest_operators, which the runtime sets.
"""


class XnnpackTarget(NamedTuple):
    """The delegate's flags, and the release of the runtime."""

    flags: int = DEFAULT_FLAGS
    release: Release = NEWEST

    def has(self, flag: str) -> bool:
        """Return whether a flag is set."""
        return bool(self.flags & FLAGS[flag])

    @property
    def dynamic_quantization(self) -> bool:
        """Whether float activations are quantized at run time if the weights are integers."""
        if self.release.is_at_least(DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM):
            return not self.has("disable_dynamically_quantized_ops")
        return self.has("enable_latest_operators")


KINDS = tuple(kinds_in("delegates/xnnpack", "rules").values())
"""Every kind of problem in the rules, with the delegate's wording."""
FAILURES = kinds_in("delegates/xnnpack", "failures", is_shared=True)
"""The kinds of failures to create the kernel of a partition, by code."""

kernel_failure = functools.partial(decision.kernel_failure, FAILURES)


_FLOATS = {"FLOAT32": "fp32", "FLOAT16": "fp16"}
_PER_TENSOR = {"UINT8": "quint8", "INT8": "qint8", "INT4": "qint4", "INT2": "qint2", "INT32": "qint32"}
_PER_CHANNEL = {"INT8": "qcint8", "INT4": "qcint4", "INT2": "qcint2", "INT32": "qcint32"}
_ZERO_POINTS = {"UINT8": (0, 255), "INT8": (-128, 127), "INT4": (-8, 7), "INT2": (-2, 1), "INT32": (0, 0)}
_INT4_MIDDLE = 8

_ONE_ZERO_POINT_FROM = parse_release("litert-1.4.0")
"""The first release that accepts one zero point for several scales.

Earlier releases need one zero point for each scale, or no zero points.
"""
_INT2_FROM = parse_release("litert-2.1.2")
_CHANNELS_AT_MIDDLE_FROM = parse_release("litert-2.1.2")
"""The first release that requires a zero point of 0 for each channel. INT4 channels may also have a zero point of 8.

In earlier releases, INT4 channels may have any zero point. Channels of all other types may have 0 or 8.
"""
_INT4_AND_INT2_PER_TENSOR_FROM = parse_release("litert-2.1.5")


def datatype(graph: Graph, tensor: Tensor, release: Release = NEWEST) -> str | None:
    """Return the name of the datatype in which XNNPACK stores a tensor, or None if this release cannot store the tensor."""
    if tensor.type in _FLOATS:
        return _FLOATS[tensor.type]
    quantization = tensor.quantization
    if quantization is None or tensor.type not in _PER_TENSOR:
        return None
    if quantization.kind == "blockwise":
        return "qbint4" if tensor.type == "INT4" and _has_usable_blocks(graph, tensor, quantization) else None
    if not quantization.is_affine or not are_usable_scales(quantization.scales):
        return None
    if tensor.type == "INT32" and quantization.dimension != 0:
        return None
    if not _is_known_in(release, tensor, quantization):
        return None
    counts_as_channel = tensor.type in ("INT4", "INT2") and not release.is_at_least(_INT4_AND_INT2_PER_TENSOR_FROM)
    if not quantization.is_per_channel and not counts_as_channel:
        return _PER_TENSOR[tensor.type] if is_usable_zero_point(tensor.type, quantization) else None
    is_usable = tensor.type in _PER_CHANNEL and _has_usable_channels(tensor, quantization, release)
    return _PER_CHANNEL[tensor.type] if is_usable else None


def _is_known_in(release: Release, tensor: Tensor, quantization: Quantization) -> bool:
    if tensor.type == "INT2" and not release.is_at_least(_INT2_FROM):
        return False
    return len(quantization.zero_points) in (0, len(quantization.scales)) or release.is_at_least(_ONE_ZERO_POINT_FROM)


def is_normal(value: float) -> bool:
    """Return whether a float32 value is normal (``std::isnormal``)."""
    return math.isfinite(value) and abs(value) >= SMALLEST_NORMAL


def are_usable_scales(scales: FlatNumbers) -> bool:
    """Return whether all scales are positive normal numbers."""
    return fact_of(scales, _are_usable)


def _are_usable(scales: FlatNumbers) -> bool:
    numbers = distinct(scales)
    return math.isfinite(sum(numbers)) and min(numbers, default=SMALLEST_NORMAL) >= SMALLEST_NORMAL


def is_usable_zero_point(kind: str, quantization: Quantization) -> bool:
    """Return whether the first zero point is in the range that XNNPACK allows for the tensor type."""
    lowest, highest = _ZERO_POINTS[kind]
    return lowest <= quantization.zero_point <= highest


def _has_usable_channels(tensor: Tensor, quantization: Quantization, release: Release) -> bool:
    if not 0 <= quantization.dimension < tensor.rank or len(quantization.scales) != tensor.shape[quantization.dimension]:
        return False
    is_int4, is_new = tensor.type == "INT4", release.is_at_least(_CHANNELS_AT_MIDDLE_FROM)
    if is_int4 and not is_new:
        return True
    return {0, _INT4_MIDDLE if is_int4 or not is_new else 0}.issuperset(fact_of(quantization.zero_points, _different))


def _different(numbers: FlatNumbers) -> frozenset[int]:
    return frozenset(itertools.islice(dict.fromkeys(distinct(numbers)), 3))


def _has_usable_blocks(graph: Graph, tensor: Tensor, quantization: Quantization) -> bool:
    if not 0 <= quantization.scales_tensor < len(graph.tensors):
        return False
    scales = graph.model.constant(graph.tensors[quantization.scales_tensor])
    if scales is None or not len(scales) or not are_usable_scales(np.asarray(scales).astype(np.float32)):
        return False
    return tensor.element_count // len(scales) == quantization.block_size


EIGHT_BIT_TYPES = ("INT8", "UINT8")


def has_one_scale(tensor: Tensor) -> bool:
    """Return whether a tensor is affinely quantized with a single scale, along dimension 0."""
    quantization = tensor.quantization
    return quantization is not None and quantization.is_affine and quantization.dimension == 0 and len(quantization.scales) == 1


def scales_of(tensor: Tensor) -> str:
    """Describe a tensor's quantization: the number and dimension of the scales or, without scales, the kind of quantization."""
    quantization = tensor.quantization
    if quantization is None:
        return "no quantization parameters"
    if not quantization.is_affine:
        return f"{quantization.kind} quantization"
    count = len(quantization.scales)
    return f"{count} scale{'' if count == 1 else 's'} along dimension {quantization.dimension}"


def only_scale(tensor: Tensor) -> float | None:
    """Return the scale of an 8-bit tensor with one scale, or None for all other tensors (``GetTensorScaleOrDefault``)."""
    return tensor.scale if tensor.type in EIGHT_BIT_TYPES and has_one_scale(tensor) else None


def other_parameters(tensor: Tensor, output: Tensor) -> str | None:
    """Describe the scales and zero points of a tensor and an output. If scales and zero points are equal, return None."""
    if (tensor.zero_point, tensor.scale) == (output.zero_point, output.scale):
        return None
    return (
        f"scale {tensor.scale:g} and zero point {tensor.zero_point}, but output scale {output.scale:g} and zero point "
        f"{output.zero_point}"
    )


_INT8_IS_QUANTIZED_FROM = parse_release("litert-1.2.0")
"""From this release on, a DEQUANTIZE of INT8 values unpacks a constant only if the values have quantization parameters.

The source code does not show this release, so the release was measured.
"""

UNPACKING = ("DEQUANTIZE", "DENSIFY")
"""Operators that may unpack a constant."""
_READ_FLOAT16_WEIGHTS = ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D")


class Unpacking:
    """The DEQUANTIZE and DENSIFY nodes that unpack constants, collected while the nodes are visited in order."""

    def __init__(self, release: Release = NEWEST) -> None:
        self._takes_bare_int8 = not release.is_at_least(_INT8_IS_QUANTIZED_FROM)
        self.producers: dict[int, int] = {}
        """The index of the node that unpacks each tensor, by the index of the tensor."""
        self.elided_float16: dict[int, int] = {}
        """The FLOAT16 constant that replaces the result of a DEQUANTIZE in all readers, by the index of the result."""
        self.refused_readers: dict[int, Node] = {}
        """The first refused reader of each unpacking node's result, by the index of the unpacking node."""

    def notice(self, node: NodeView) -> bool:
        """Record a node if it unpacks a constant. Return whether the node was recorded."""
        if node.op == "DEQUANTIZE":
            if not self.widens_constant(node):
                return False
            if node.input(0).type == "FLOAT16" and _is_read_as_weights_only(node):
                self.elided_float16[node.output(0).index] = node.input(0).index
        elif node.op != "DENSIFY" or not densifies_constant(node):
            return False
        self.producers[node.output(0).index] = node.node.index
        return True

    def makes(self, tensor: Tensor) -> bool:
        """Return whether a recorded node unpacks this tensor."""
        return bool(self.producers) and tensor.index in self.producers

    def is_elided(self, tensor: Tensor) -> bool:
        """Return whether a float16 constant replaces a tensor in all readers."""
        return bool(self.elided_float16) and tensor.index in self.elided_float16

    def drop_producers_of(self, node: Node) -> None:
        """Record a refused node. As a result, the nodes that unpack the operands of this node stay on the CPU."""
        for tensor in node.inputs if self.producers else ():
            if tensor in self.producers:
                self.refused_readers.setdefault(self.producers[tensor], node)

    def widens_constant(self, node: NodeView) -> bool:
        """Return whether a DEQUANTIZE node converts a constant or an unpacked tensor to FLOAT32.

        The tensor must be FLOAT16 or quantized INT8, and must not be sparse.
        """
        source = node.input(0)
        return (
            _has_one_operand_and_result(node)
            and (
                source.type == "FLOAT16" or (source.type == "INT8" and (source.quantization is not None or self._takes_bare_int8))
            )
            and (source.is_constant or self.makes(source))
            and source.sparsity is None
            and node.output(0).type == "FLOAT32"
        )


def densifies_constant(node: NodeView) -> bool:
    """Return whether a DENSIFY node unpacks a sparse constant of a supported type."""
    source = node.input(0)
    return (
        _has_one_operand_and_result(node)
        and source.is_constant
        and source.sparsity is not None
        and source.type in ("FLOAT16", "INT8", "FLOAT32")
        and node.output(0).type == source.type
    )


def _has_one_operand_and_result(node: NodeView) -> bool:
    return not node.node.is_custom and len(node.node.inputs) == len(node.node.outputs) == 1


def _is_read_as_weights_only(node: NodeView) -> bool:
    """Return whether every reader accepts the node's result as float16 weights, and no reader has the result as first operand."""
    result = node.output(0).index
    return all(
        not reader.is_custom and reader.op in _READ_FLOAT16_WEIGHTS and reader.input(0) != result
        for reader in node.graph.readers.get(result, ())
    )


VALUES: dict[str, Operand] = {"ASSIGN_VARIABLE": operand(1, "value"), "READ_VARIABLE": OUTPUT}
"""The operand or result that has the type and shape of the variable, by operator."""


class _Resource:
    __slots__ = ("handle", "value", "variable")

    def __init__(self, variable: tuple[str, str], handle: int) -> None:
        self.variable = variable
        self.handle = handle
        self.value: Tensor | None = None


class Variables:
    """The resource tensors of a subgraph, collected while the nodes are visited in order."""

    def __init__(self) -> None:
        self._resources: dict[int, _Resource] = {}

    @property
    def are_absent(self) -> bool:
        """True if no VAR_HANDLE was visited."""
        return not self._resources

    def define(self, node: NodeView) -> None:
        """Record a VAR_HANDLE, unless its resource tensor already refers to another variable (``SetVarHandle``)."""
        resource, variable = node.output(0).index, (node.options.container or "", node.options.shared_name or "")
        known = self._resources.setdefault(resource, _Resource(variable, node.node.index))
        if known.variable == variable:
            known.handle = node.node.index

    def bind(self, node: NodeView) -> None:
        """Record a supported node that reads or assigns a variable. The first node sets the variable's type and shape."""
        known = self._resources.get(node.input(0).index)
        if known is not None and known.value is None:
            known.value = VALUES[node.op].tensor(node)

    def conflict(self, resource: Tensor, value: Tensor) -> str | None:
        """Return the reason why a variable cannot hold a value, or None if there is no reason (``AddProxyValue``)."""
        known = self._resources.get(resource.index)
        if known is None:
            return "no VAR_HANDLE before this node"
        if known.value is not None and (known.value.type, known.value.shape) != (value.type, value.shape):
            return f"{value.type} {list(value.shape)}, but an earlier node has {known.value.type} {list(known.value.shape)}"
        return None

    def has_value(self, handle: NodeView) -> bool:
        """Return whether a VAR_HANDLE is recorded, and a supported node uses the variable."""
        known = self._resources.get(handle.output(0).index)
        return known is not None and known.value is not None and known.handle == handle.node.index

    def value_of(self, resource: int) -> Tensor | None:
        """Return a tensor with the variable's type and shape, or None if no supported node uses the variable."""
        known = self._resources.get(resource)
        return None if known is None else known.value


class Visit:
    """The target, and the state that the visited nodes have set. Rules only read this state."""

    __slots__ = ("target", "unpacking", "variables")

    def __init__(self, target: XnnpackTarget | None = None) -> None:
        self.target = target or XnnpackTarget()
        self.unpacking = Unpacking(self.release)
        self.variables = Variables()

    def reads_only(self, node: Node) -> bool:
        """Return whether rules read only the target for a node, because visited nodes set no state for its operands."""
        made = self.unpacking.producers.keys()
        is_apart = node.op not in UNPACKING and made.isdisjoint(node.inputs) and made.isdisjoint(node.outputs)
        return is_apart and self.variables.are_absent

    @property
    def release(self) -> Release:
        """The release of the runtime."""
        return self.target.release

"""Rules of ML Drift: the checks of each operator, in ML Drift's order. They end with checks of all tensors of a node.

Source: ``NewOperationParser``, each parser's ``IsSupported``, ``GetOpsToReplaceWithOptions`` and ``IsAllAllowedTensors``
(``ml_drift_delegate/tflite/model_builder.cc``), and ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``). New rules of LiteRT 2.3 and rules before LiteRT 2.2 have no public source. They
were measured with the binaries.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ....graph.graph import Graph, NodeView
from ....model.model import Allocation, Tensor
from ....releases.catalogue import Release, parse_release
from ....rules import kinds
from ....rules.kinds import Kind
from ....rules.operands import listed
from ....rules.rule import LITERT, Check, OpRule, Source, modules_of_families
from ....rules.vocabulary import check_for_target
from ...decision import ReleaseOnly
from ...gpu_compatibility.checks import Found, asked
from ..target import as_measured, name_of
from .checks import PARSER, Checks

MODULES = modules_of_families(
    activation="activation conversion",
    slicing="slicing joining",
    layers="convolution pooling resizing matrix recurrent",
    shapes="reduction reshaping padding gathering filling",
)
"""The module of each family of operators, with its rules and problems."""
SOURCE = Source(LITERT, "ml_drift_delegate/tflite/model_builder.cc", "NewOperationParser", "ModelBuilderOptions")
_ALL_TENSORS = SOURCE.with_symbol("IsAllAllowedTensors")
_MAX_RANK = 4

SIGNED = ("INT8", "INT16", "INT32")
UNSIGNED = ("UINT8", "UINT16", "UINT32")
ANY_NUMBERS = (*SIGNED, *UNSIGNED, "BOOL", "BFLOAT16")
USUAL_INPUTS = ("FLOAT32", "FLOAT16", "BOOL", "INT2", "INT4", "INT8", "UINT8")
_USUAL_OUTPUTS = ("FLOAT32", "FLOAT16", "INT8", "UINT8")
_PACKED = ("INT2", "INT4")
"""Types of inputs that are supported from LiteRT 2.2 on."""

_WEIGHTS = "PreCheckReadQuantizedValueByTensorIdx"


def quantized_weights(position: int) -> Check[object]:
    """Require weights of 8, 4 or 2 bits and of shape [o, i] or [o, 1, 1, i] (``PreCheckReadQuantizedValueByTensorIdx``)."""

    def find(node: NodeView) -> Found | None:
        weights = node.input(position)
        at = weights.index
        if weights.quantization is None:
            return "weights without scales", f"{_WEIGHTS}: Empty quantization params: {at}"
        if weights.quantization.kind not in ("affine", "blockwise"):
            return f"{weights.quantization.kind} weights", f"{_WEIGHTS}: Tensor is not quantized: {at}"
        if weights.type not in ("INT8", "INT4", "INT2"):
            return f"{weights.type} weights", f"Expected Int8, Int4, or Int2 quantized tensor: {at}"
        if weights.rank not in (2, 4):
            return f"weights of rank {weights.rank}", f"{_WEIGHTS}: Expected 2D or 4D quantized tensor: {at}"
        if weights.rank == 4 and weights.shape[1:3] != (1, 1):
            message = f"{_WEIGHTS}: Expected 4D quantized tensor with height of 1 and width of 1: {at}"
            return f"weights of shape {list(weights.shape)}", message
        return None

    needed = "quantized weights of type INT8, INT4 or INT2 and shape [o, i] or [o, 1, 1, i]"
    return asked(kinds.QUANTIZATION, needed, find).from_source(PARSER.with_symbol(_WEIGHTS))


BOUND_BUFFERS = parse_release("litert-2.4")
"""The first release in which CompiledModel gives inputs and outputs of the model their own memory before it applies ML Drift."""


def is_bound(graph: Graph, tensor: Tensor) -> bool:
    """Return whether a tensor is an input or an output of the model that has its own memory since ``BOUND_BUFFERS``."""
    is_outer = tensor.index in graph.input_indices or tensor.index in graph.output_indices
    return not graph.index and is_outer and tensor.allocation is Allocation.ARENA


def _unique(types: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(types))


_Since = tuple[str | None, tuple[str, ...]]
"""A release, and all types that are allowed from this release on. None stands for the oldest known release."""


@functools.cache
def _side(*allowed: _Since, is_output: bool) -> Checks:
    """Return checks of all inputs, or of all outputs if ``is_output``: their ranks, and the types of tensors in the arena.

    ML Drift checks one tensor after another.
    """
    side = "output" if is_output else "input"
    starts = [(None if release is None else parse_release(release), types) for release, types in reversed(allowed)]

    def problems(node: NodeView, release: Release) -> Iterator[tuple[Kind, Found]]:
        types = next(types for start, types in starts if start is None or release.is_at_least(start))
        for position, index in enumerate(node.node.outputs if is_output else node.node.inputs):
            tensor = node.tensor(index)
            if index < 0:
                continue
            if tensor.rank > _MAX_RANK:
                message = f"Tensor dimensions must be less than 5. {name_of(node.graph, tensor)}"
                yield kinds.RANK, (f"{side} {position} of rank {tensor.rank}", message)
            if tensor.allocation is not Allocation.ARENA or tensor.type in types:
                continue
            if not (release.is_at_least(BOUND_BUFFERS) and is_bound(node.graph, tensor)):
                message = f"Tensor type({tensor.type}) is not supported. {name_of(node.graph, tensor)}"
                yield kinds.TENSOR_TYPE, (f"{side} {position} of type {tensor.type}", message)

    def demand(kind: Kind, needed: str) -> Check[Any]:
        def problem(node: NodeView, target: ReleaseOnly) -> Found | None:
            first = next(problems(node, target.release), None)
            return first[1] if first is not None and first[0] is kind else None

        def find(node: NodeView, target: ReleaseOnly) -> str | None:
            refusal = problem(node, target)
            return None if refusal is None else refusal[0]

        def say(node: NodeView, target: ReleaseOnly) -> str:
            refusal = problem(node, target)
            return "" if refusal is None else refusal[1]

        return replace(check_for_target(kind, needed, find), said=say, source=_ALL_TENSORS)

    def typed(position: int) -> Check[Any]:
        release, types = allowed[position]
        check = demand(kinds.TENSOR_TYPE, f"{side}s of type {listed(types)}")
        check = check if release is None else check.from_release(release)
        return check if position + 1 == len(allowed) else check.before_release(str(allowed[position + 1][0]))

    return (demand(kinds.RANK, f"{side}s of rank at most {_MAX_RANK}"), *map(typed, range(len(allowed))))


def carrier_tensors(inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Checks:
    """Return checks of every tensor of a composite or custom operator. ``inputs`` and ``outputs`` are additional types."""
    return (
        *_side((None, _unique(USUAL_INPUTS + inputs)), is_output=False),
        *_side((None, _unique(_USUAL_OUTPUTS + outputs)), is_output=True),
    )


def tensors(*also: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Checks:
    """Return checks of every tensor of a builtin operator.

    ``inputs`` and ``outputs`` have additional types of inputs and of outputs. ``also`` has additional types of all tensors.
    """
    return only_tensors(USUAL_INPUTS + inputs + also, _USUAL_OUTPUTS + outputs + also)


def only_tensors(inputs: tuple[str, ...], outputs: tuple[str, ...], *newer: _Since) -> Checks:
    """Return checks that every tensor of a builtin operator has one of these types.

    Each item of ``newer`` is a release and all input types that are allowed from this release on.
    """
    inputs = _unique(inputs)
    older = tuple([name for name in inputs if name not in _PACKED])
    dated: tuple[_Since, ...] = ((None, inputs),) if older == inputs else ((None, older), ("litert-2.2.0", inputs))
    return (*_side(*dated, *newer, is_output=False), *_side((None, _unique(outputs)), is_output=True))


USUAL_TENSORS: Checks = tensors()


def parsed_by(parser: str, *checks: Check[Any], all_tensors: Checks = USUAL_TENSORS) -> OpRule[Any]:
    """Return the rule of an operator. Checks without a source come from the ``IsSupported`` function of ``parser``.

    The checks in ``all_tensors`` come last, because ``GetOpsToReplaceWithOptions`` calls the parser first.
    """
    place = SOURCE.with_symbol(f"{parser}::IsSupported")
    own = [check if check.source else check.from_source(place) for check in as_measured(*checks)]
    return OpRule((*own, *all_tensors), source=(place,))

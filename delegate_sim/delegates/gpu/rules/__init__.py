"""Rules of the GPU delegate: the checks of each operator, in the delegate's order. It stops at the first failed check.

Source: ``NewOperationParser``, each parser's ``IsSupported``, ``IsAllAllowedTensors`` and their caller ``GetOpsToReplace``
(``delegates/gpu/common/model_builder.cc``), and ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``).

The rules omit two parts of ``CheckGpuDelegateCompatibility``. The first part is the checks of operators without a parser,
because the delegate never accepts these operators. The second part is the check that a node has builtin options. This check
always passes, because the runtime allocates the options.
"""

from __future__ import annotations

from typing import NamedTuple

from ....graph.graph import NodeView
from ....model.model import Allocation
from ....releases.catalogue import NEWEST, Release
from ....rules import kinds
from ....rules.operands import Operand, counted, listed
from ....rules.rule import LITERT, Check, OpRule, Source, modules_of_families
from ....rules.vocabulary import check, check_for_target, ranks_at_most
from ...gpu_compatibility.checks import COMPATIBILITY, FLOAT, newest_version

MODULES = modules_of_families(
    activation="activation conversion",
    arithmetic="arithmetic reduction",
    layers="convolution pooling resizing matrix recurrent",
    shapes="reshaping slicing joining padding gathering filling",
)
"""The module of each family of operators, with its rules and parsers."""


class GpuTarget(NamedTuple):
    """A target: whether 8-bit nodes are supported, the operators to leave to the CPU, and the runtime's release."""

    allow_quant_ops: bool
    excluded_ops: frozenset[str]
    release: Release = NEWEST


SOURCE = Source(LITERT, "tflite/delegates/gpu/common/model_builder.cc", "GetOpsToReplace")
_ALL_TENSORS = SOURCE.with_symbol("IsAllAllowedTensors")
_NEW_PARSER = SOURCE.with_symbol("NewOperationParser")

QUANT8 = ("INT8", "UINT8")
INT32 = ("INT32",)
BOOL = ("BOOL",)
MAX_RANK = 4
SINCE_1_1, SINCE_2_1_6 = "litert-1.1.0", "litert-2.1.6"
NOT_SUPPORTED = "Operation is not supported."
"""The message of ``UnsupportedOperationParser``."""


def gpu_rule(
    parser: str,
    *checks: Check[GpuTarget],
    version_up_to: int | None = None,
    cases: tuple[Source, ...] = (COMPATIBILITY,),
    inputs: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
) -> OpRule[GpuTarget]:
    """Return the rule of an operator: the check of the version, the operator's own checks, and the checks of all tensors.

    The delegate first calls the class ``parser``, then the functions ``cases`` of ``gpu_compatibility.cc``; the last one is the
    source of checks without a source. ``inputs`` and ``outputs`` are additional types.
    """
    parser_source = SOURCE.with_symbol(f"{parser}::IsSupported")
    sources = (parser_source, *cases)
    versions = () if version_up_to is None else (newest_version(version_up_to).from_source(parser_source),)
    own = [check if check.source else check.from_source(sources[-1]) for check in checks]
    everywhere = (*_tensor_checks("input", inputs), *_tensor_checks("output", outputs))
    return OpRule((*versions, *own, *everywhere), source=sources)


_TENSORS_SAY = "OP is supported, but tensor type/shape isn't compatible."


def _tensor_checks(side: str, further_types: tuple[str, ...]) -> tuple[Check[object], Check[GpuTarget]]:
    """Return the checks of all inputs or outputs (``IsAllAllowedTensors``): ranks, and types of tensors in the arena."""
    is_output = side == "output"
    float_types = frozenset((*FLOAT, *further_types))
    all_types = float_types.union(QUANT8)

    def find(node: NodeView, target: GpuTarget) -> str | None:
        allowed = all_types if target.allow_quant_ops else float_types
        for position, index in enumerate(node.node.outputs if is_output else node.node.inputs):
            tensor = node.tensor(index)
            if index >= 0 and tensor.type not in allowed and tensor.allocation is Allocation.ARENA:
                return f"{side} {position} of type {tensor.type}"
        return None

    needed = f"{side}s of type {listed((*FLOAT, *further_types))}, or, with allow_quant_ops, {listed(QUANT8)}"
    return (
        ranks_at_most(MAX_RANK, results=is_output).from_source(_ALL_TENSORS).saying(_TENSORS_SAY),
        check_for_target(kinds.TENSOR_TYPE, needed, find)
        .from_source(SOURCE.with_branch("IsAllAllowedTensors"))
        .saying(_TENSORS_SAY),
    )


def _quant_ops_are_off(_: NodeView, target: GpuTarget) -> str | None:
    return None if target.allow_quant_ops else "allow_quant_ops is off"


ALLOW_QUANT_OPS = (
    check_for_target(kinds.QUANTIZATION, "allow_quant_ops", _quant_ops_are_off, "set allow_quant_ops, or convert a float model")
    .from_source(_NEW_PARSER)
    .saying(NOT_SUPPORTED)
)
"""Require the option ``allow_quant_ops``. If the option is off, some operators have no parser."""


def single_reader(which: Operand) -> Check[object]:
    """Require that exactly one node writes a tensor and exactly one node reads it (``GetTensorInfo``)."""

    def find(node: NodeView) -> str | None:
        index = which.tensor(node).index
        producers, consumers = len(node.graph.writers.get(index, ())), len(node.graph.readers.get(index, ()))
        return None if producers == consumers == 1 else f"{counted(producers, 'producer')} and {counted(consumers, 'consumer')}"

    return check(kinds.NEIGHBOR, f"1 producer and 1 consumer of the {which.name}", find)

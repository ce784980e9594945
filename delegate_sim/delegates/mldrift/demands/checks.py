"""What the rules of ML Drift have of their own: versions, and numbers of operands.

Source: ``TFLiteOperationParser::ValidateSupport`` (``ml_drift_delegate/tflite/operation_parser.cc``). ML Drift stops at the first
condition that a node does not meet, so the order of a rule's checks decides which reason is given. Every check also knows what ML
Drift says of it, which the lines in its log are made of.
"""

from __future__ import annotations

import functools

from ....graph.graph import NodeView
from ....releases.catalogue import Release, parse_release
from ....rules import kinds
from ....rules.numbers import at_most, counted
from ....rules.rule import Check
from ....rules.source import LITERT, Source
from ....rules.vocabulary import activation, check, operand_count, version
from ...gpu_compatibility.checks import (
    Found,
    asked,
    expected_constant_inputs,
    expected_outputs,
    expected_runtime_inputs,
)
from ...gpu_compatibility.questions import ACTIVATIONS, runtime_input_count

SOURCE = Source(LITERT, "ml_drift_delegate/tflite/model_builder.cc", "NewOperationParser")
PARSER = Source(LITERT, "ml_drift_delegate/tflite/operation_parser.cc", "TFLiteOperationParser::ValidateSupport")
READER = Source(LITERT, "ml_drift_delegate/tflite/operation_parser.h", "PreCheckTensorToTensor")
COUNTS = Source(LITERT, "ml_drift_delegate/tflite/model_builder_helper.cc", "CheckInputsConstsOutputs")
COMPOSITE = Source(LITERT, "ml_drift_delegate/delegate/composite/custom_parsers.cc", "CustomOperationParserFactory::Create")

Checks = tuple[Check[object], ...]

SINCE_2_1_5, SINCE_2_2, SINCE_2_3 = "litert-2.1.5", "litert-2.2.0", "litert-2.3.0"


@functools.cache
def before(release: str, *checks: Check[object]) -> Checks:
    """Return those of the checks that count before a release, for releases before it."""
    until = parse_release(release)
    counting = [each for each in checks if each.introduced is None or not each.introduced.is_at_least(until)]
    return tuple([each if _ends_by(each, until) else each.before_release(release) for each in counting])


@functools.cache
def since(release: str, *checks: Check[object]) -> Checks:
    """Return those of the checks that count in a release or later, for releases from it on."""
    start = parse_release(release)
    counting = [each for each in checks if not _ends_by(each, start)]
    return tuple([each if _starts_at(each, start) else each.from_release(release) for each in counting])


def _ends_by(check: Check[object], release: Release) -> bool:
    return check.withdrawn is not None and release.is_at_least(check.withdrawn)


def _starts_at(check: Check[object], release: Release) -> bool:
    return check.introduced is not None and check.introduced.is_at_least(release)


@functools.cache
def version_up_to(limit: int, *, older: int | None = None) -> Checks:
    """``CheckMaxSupportedOpVersion``; ``older`` is the limit before LiteRT 2.2."""
    if older is not None:
        return (*before(SINCE_2_2, *version_up_to(older)), *since(SINCE_2_2, *version_up_to(limit)))

    def say(node: NodeView) -> str:
        return f"Max version supported: {limit}. Requested version {node.version}."

    return (version(at_most(limit)).saying(say).from_source(PARSER.with_symbol("CheckMaxSupportedOpVersion")),)


def inputs_at_least(fewest: int) -> Check[object]:
    """Demand a number of entries for operands."""

    def find(node: NodeView) -> Found | None:
        found = len(node.node.inputs)
        said = f"Invalid number of inputs: {found}, while expected at least {fewest}."
        return None if found >= fewest else Found(counted(found, "input"), said)

    return asked(kinds.OPERAND_COUNT, f"at least {counted(fewest, 'input')}", find).from_source(PARSER)


def inputs_at_most(most: int) -> Check[object]:
    """Demand a number of entries for operands."""

    def find(node: NodeView) -> Found | None:
        found = len(node.node.inputs)
        said = f"Invalid number of inputs: {found}, while expected at most {most}."
        return None if found <= most else Found(counted(found, "input"), said)

    return asked(kinds.OPERAND_COUNT, f"at most {counted(most, 'input')}", find).from_source(PARSER)


@functools.cache
def results(expected: int) -> Check[object]:
    """Demand a number of results."""
    found = operand_count(outputs=expected).saying(lambda node: expected_outputs(expected, len(node.node.outputs)))
    return found.from_source(PARSER)


@functools.cache
def runtime_inputs(expected: int) -> Check[object]:
    """Demand a number of operands that are computed at run time."""

    def find(node: NodeView) -> Found | None:
        found = runtime_input_count(node)
        return None if found == expected else Found(counted(found, "runtime input"), expected_runtime_inputs(expected, found))

    return asked(kinds.OPERAND_COUNT, counted(expected, "runtime input"), find).from_source(PARSER)


def other_input_count(node: NodeView) -> int:
    """``GetNumberOfConstInputsForNode``: how many entries are no runtime operand; those left out count as constant."""
    return len(node.node.inputs) - runtime_input_count(node)


@functools.cache
def other_inputs(expected: int) -> Check[object]:
    """Demand a number of operands that are not computed at run time; one left out counts."""

    def find(node: NodeView) -> Found | None:
        found = other_input_count(node)
        return None if found == expected else Found(counted(found, "constant input"), expected_constant_inputs(expected, found))

    return asked(kinds.OPERAND_COUNT, f"{counted(expected, 'constant input')}, left out ones included", find).from_source(PARSER)


def _neither_one_nor_two(node: NodeView) -> str | None:
    found = runtime_input_count(node)
    return None if found in (1, 2) else counted(found, "runtime input")


ONE_OR_TWO_RUNTIME_INPUTS = check(kinds.OPERAND_COUNT, "1 or 2 runtime inputs", _neither_one_nor_two)


@functools.cache
def exact_inputs(runtime: int, others: int, outputs: int) -> Checks:
    """``CheckInputsConstsOutputs`` of ML Drift's own."""
    return tuple([each.from_source(COUNTS) for each in (other_inputs(others), runtime_inputs(runtime), results(outputs))])


def _unfused(node: NodeView) -> str:
    return f"Unsupported fused activation: {node.options.fused_activation_function}"


FUSABLE = activation(ACTIVATIONS).saying(_unfused).from_source(PARSER.with_symbol("PreCheckMaybeFuseActivationSkipSize"))
ONE_RESULT = (
    operand_count(outputs=1).saying("Number of outputs != 1").from_source(PARSER.with_symbol("PreCheckMaybeFuseActivation"))
)
FUSED: Checks = (ONE_RESULT, FUSABLE)
"""``PreCheckMaybeFuseActivation``."""

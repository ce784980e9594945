"""The verdict on a model and TensorFlow Lite Micro, as a sentence."""

from __future__ import annotations

from ..foundation.printable import counted, item_list, printable, share, shortened
from .preparation import Status
from .report import MicroReport, Outcome
from .target import RUNTIME_TITLE

_LONGEST_NAME = 60
_OPERATORS_WIDTH = 60
_REFUSED = (
    (Status.PREPARE, "cannot be prepared"),
    (Status.INVOKE, "cannot be invoked"),
    (Status.INVOKE_IF_CALLED, "in a branch or loop cannot be invoked"),
)


def micro_verdict(report: MicroReport) -> str:
    """Return the verdict in one sentence, which says if the copy of the runtime is not known."""
    runtime = report.target.runtime
    return f"{RUNTIME_TITLE} {micro_outcome(report)}{'' if runtime.is_checked else f' (not checked for {_name(runtime.name)})'}"


def micro_outcome(report: MicroReport) -> str:
    """Return what TensorFlow Lite Micro does with the model, as the end of a sentence."""
    if report.runs and not report.computes:
        weights = report.external_tensors + report.unassigned_variables
        return f"runs the model without {counted(weights, 'weight')}, so the results are wrong"
    if report.runs:
        operators = counted(len(report.operators), "operator")
        needs = f"; the interpreter needs MicroResourceVariables for {counted(report.variables, 'variable')}"
        return f"runs the model: {counted(len(report.nodes), 'node')}, {operators}{needs if report.variables else ''}"
    if report.outcome is Outcome.FILE:
        return f"cannot use the model file: {shortened(printable(report.problem))}"
    counts = []
    if report.missing_operators:
        missing = [_name(operator.removeprefix("CUSTOM:")) for operator in report.missing_operators]
        lacks = "it has no kernel for" if report.target.registered is None else "the resolver lacks"
        counts.append(f"{lacks} {item_list(missing, _OPERATORS_WIDTH)}")
    for status, words in _REFUSED:
        nodes = sum([node.status is status for node in report.nodes])
        if nodes:
            counts.append(f"{counted(nodes, 'node')} {words}")
    refused = sum([node.multiply_adds for node in report.refused])
    work = f"; {share(refused, report.multiply_adds)} of multiply-adds are in these nodes" if report.multiply_adds else ""
    start = {Outcome.ALLOCATED: "allocates tensors but cannot run the model"}.get(report.outcome, "cannot run the model")
    if report.outcome is Outcome.ALLOCATED and not any(node.status is Status.INVOKE for node in report.nodes):
        start = "may fail while it runs the model"
    return f"{start}: {', '.join(counts)}{work}"


def _name(text: str) -> str:
    return shortened(printable(text[: _LONGEST_NAME + 1]), _LONGEST_NAME)

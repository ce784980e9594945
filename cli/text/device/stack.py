"""A comparison of several accelerators with a device log as text."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.device.compare.accelerator_chain import NOT_APPLIED, StackReconciliation, StepReconciliation
from delegate_sim.device.compare.reconcile import EXPLAINED, NOT_COMPARED, REPRODUCED, UNEXPLAINED

from ...console.layout import message
from ...console.terminal import Line
from ..elements.paragraphs import BAD, GOOD, HEADING, item_lines, paragraph
from .log import unused_lines
from .reconcile import error_lines, listed_lines, other_model_lines, tally_lines

_RESULTS = {
    REPRODUCED: ("Reproduced: each accelerator agrees with the simulation", GOOD),
    EXPLAINED: ("Explained", GOOD),
    NOT_COMPARED: ("Not compared: the log does not show what any accelerator did", BAD),
    UNEXPLAINED: ("Unexplained: the device differs from the simulation", BAD),
}
_STEPS = {
    REPRODUCED: "as simulated",
    UNEXPLAINED: "differs",
    NOT_COMPARED: "nothing to compare",
    NOT_APPLIED: "requested, but the log does not show that it was applied",
}


def stack_reconciliation_lines(reconciliation: StackReconciliation, width: int, verbose: bool) -> Iterator[Line]:
    """Return the text of a reconciliation of several accelerators."""
    yield from other_model_lines([note for step in reconciliation.steps for note in step.doubts], width)
    text, style = _RESULTS[reconciliation.status]
    yield Line(text, style)
    if reconciliation.explanation:
        yield from paragraph(reconciliation.explanation, width, "  ", "  ")
    for step in reconciliation.steps:
        yield Line("")
        yield from _step(step, width)
    yield from error_lines(reconciliation.errors, width)
    yield from item_lines(reconciliation.notes, width, "Notes")
    if reconciliation.log.unused_count:
        yield Line("")
        yield from unused_lines(reconciliation.log, width, verbose)


def _step(step: StepReconciliation, width: int) -> Iterator[Line]:
    style = BAD if step.status in (UNEXPLAINED, NOT_APPLIED) else HEADING
    yield Line(f"--- {step.accelerator} ({step.delegate}): {_STEPS[step.status]} ---", style)
    if step.device == step.simulated:
        yield Line("  the simulation leaves no node for this accelerator, and the log does not mention it")
        return
    yield from tally_lines(step.device, step.simulated, width, find_delegate(step.delegate))
    for difference in step.differences:
        yield from paragraph(message(f"differs: {difference}"), width, "  ", "    ")
    for listed in step.listed_refusals:
        yield from listed_lines(listed, width)
    yield from item_lines([note for note in step.notes if note not in step.doubts], width)

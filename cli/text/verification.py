"""A comparison of a model on a delegate's real code with the reference kernels, as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from delegate_sim.inference.difference import TensorDifference
from delegate_sim.verification.verify import Culprit, KnownCondition, Verification, VerifiedEntry

from ..console.layout import counted, message, name
from ..console.terminal import Line
from .elements.paragraphs import BAD, CODE, GOOD, HINT, heading_lines, more_lines, paragraph, table
from .inference import constant_lines, share_text

_SHOWN = 8
_STEPS = {"start": "before it loaded the model", "load": "when it loaded the model", "run": "when it ran the model"}


def verification_lines(result: Verification, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a verification: a verdict, the outputs and the node at fault of each signature."""
    where = f"{result.on} ({name(result.software)})" if result.software else result.on
    inputs = f"{counted(result.samples, 'set')} of input values"
    if result.is_right and result.delegated_nodes == 0:
        yield from paragraph(f"{where} runs no node, so only the CPU was compared with itself, for {inputs}", width)
    elif result.is_right:
        yield from paragraph(f"{where} computes the right numbers, for {inputs}", width, style=GOOD)
    elif any(entry.failure for entry in result.entries):
        yield from paragraph(f"{where} does not run the model", width, style=BAD)
    else:
        yield from paragraph(f"{where} computes wrong numbers, for {inputs}", width, style=BAD)
    if result.delegated_nodes is not None and result.delegated_nodes < result.nodes:
        text = f"{result.delegated_nodes:,} of {counted(result.nodes, 'node')} run on the delegate, and the others on the CPU"
        yield from paragraph(text, width)
    for entry in result.entries:
        if len(result.entries) > 1:
            yield from heading_lines(f"Signature {name(entry.key)}")
        yield from _entry_lines(result, entry, width, verbose)
    limit = f"{share_text(result.tolerance.share)} of the output's largest value"
    yield from paragraph(f"Right means: at most {limit}, or one step of a quantized output, from the reference kernels", width)


def _entry_lines(result: Verification, entry: VerifiedEntry, width: int, verbose: bool) -> Iterator[Line]:
    if entry.failure:
        verb = "stopped" if entry.is_crash else "reported an error"
        yield from paragraph(message(f"The runtime {verb} {_STEPS[entry.stage]}: {entry.failure}"), width)
    if entry.is_right:
        yield from constant_lines(entry.outputs, all(output.is_constant for output in entry.outputs), width)
    shown = entry.outputs if verbose else entry.outputs[:_SHOWN]
    if shown:
        yield from table([("output", "elements", "differ", "largest error", "of range"), *map(_row, shown)], range(1, 5), width)
        yield from more_lines(len(entry.outputs) - len(shown), "output")
    if entry.culprit is not None:
        yield from _culprit_lines(result, entry.culprit, width)
    elif not entry.is_right:
        yield from paragraph("No node is at fault: each part of the model gives right numbers, or parts do not run", width)
        yield from _condition_lines(result, entry.conditions, width)


def _row(difference: TensorDifference) -> tuple[str, ...]:
    if difference.problem:
        return name(difference.name), f"{difference.elements:,}", f"{difference.different:,}", "", message(difference.problem)
    return (
        name(difference.name),
        f"{difference.elements:,}",
        f"{difference.different:,}",
        f"{difference.greatest:.3g}",
        _share(difference.relative),
    )


def _share(value: float) -> str:
    return f"{100 * value:,.0f} %" if 1 <= value < math.inf else share_text(value)


def _culprit_lines(result: Verification, culprit: Culprit, width: int) -> Iterator[Line]:
    subgraph = f" of subgraph {culprit.subgraph}" if culprit.subgraph else ""
    yield from heading_lines(f"First node at fault: {name(culprit.op)} {culprit.node}{subgraph}", BAD)
    difference = culprit.difference
    if difference is not None:
        size = difference.problem or f"differs by {_share(difference.relative)} of its range"
        text = f"All nodes before it give right numbers. With it, {name(difference.name)} {size}"
    else:
        text = f"All nodes before it run. With it, the runtime reports: {culprit.words}"
    yield from paragraph(message(text), width, "  ")
    if not culprit.is_narrow:
        text = f"Smaller parts did not run, so the fault may be at any node from {culprit.first_node} to {culprit.node}"
        yield from paragraph(text, width, "  ")
    elif culprit.first_node != culprit.node:
        text = f"Alone, the node is right. The nodes from {culprit.first_node} to {culprit.node} are at fault together: the "
        text += "delegate merges nodes, or small differences add up"
        yield from paragraph(text, width, "  ")
    yield from paragraph(f"Found with {counted(culprit.runs, 'run')} of parts of the model", width, "  ")
    yield from _condition_lines(result, culprit.conditions, width)


def _condition_lines(result: Verification, conditions: Sequence[KnownCondition], width: int) -> Iterator[Line]:
    if not conditions and result.delegated_nodes is not None:
        yield from paragraph("No known condition explains it", width, "  ")
    for condition in conditions:
        risk = condition.risk
        where = "" if risk.node is None else f": {name(risk.op)} {risk.node}"
        yield from paragraph(f"{risk.refusal.code}{where}", width, "  ", "    ", style=CODE)
        yield from paragraph(message(risk.refusal.message), width, "    ", "      ")
        yield from paragraph(message(f"hint: {risk.refusal.hint}"), width, "    ", "          ", style=HINT)
        cure = f"delegate-sim fix {result.model} --delegate {result.on} --pass {condition.cure} --output fixed.tflite"
        text = f"cure: {cure}" if condition.cure else "cure: fix has no pass for this node"
        yield from paragraph(message(text), width, "    ", "          ", style=HINT)

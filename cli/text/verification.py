"""A comparison of a model on a delegate's real code with the reference kernels, as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from delegate_sim.diagnosis.advice.commands import output_name, target_arguments
from delegate_sim.foundation.printable import command_line, printable, typed_path
from delegate_sim.inference.difference import TensorDifference
from delegate_sim.verification.conditions import KnownCondition
from delegate_sim.verification.cuts import FAILED
from delegate_sim.verification.half_precision import (
    CONSTANT_INFINITE,
    CONSTANT_ZERO,
    LARGEST,
    RESULT,
    TOTAL,
    ZERO_DIVISOR,
    NodeRange,
    PrecisionProblem,
    PrecisionReport,
)
from delegate_sim.verification.verification import DIFFERENT, Culprit, Verification, VerifiedEntry

from ..console.layout import counted, message, name
from ..console.terminal import Line
from .elements.paragraphs import BAD, CODE, GOOD, HEADING, HINT, heading_lines, more_lines, paragraph, table
from .inference import SHOWS_NOTHING, constant_lines, share_text

_SHOWN = 8
_STEPS = {"start": "before it loaded the model", "load": "when it loaded the model", "run": "when it ran the model"}


def verification_lines(result: Verification, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a verification: a verdict, the outputs and the node at fault of each signature."""
    where = f"{result.on} ({name(result.software)})" if result.software else result.on
    inputs = f"{counted(result.samples, 'set')} of input values"
    if result.is_right and result.delegated_nodes == 0:
        yield from paragraph(f"{where} runs no node, so only the CPU was compared with itself, for {inputs}", width)
    elif result.is_right and result.shows_nothing:
        text = f"This {SHOWS_NOTHING}. {where} and the CPU agree, for {inputs}"
        yield from paragraph(text, width, style=BAD)
    elif result.is_right:
        hidden = {condition.risk.node for entry in result.entries for condition in entry.conditions}
        but = f", but it is known to compute {counted(len(hidden), 'node')} wrongly" if hidden else ""
        text = f"{where} computes the right numbers{' within the tolerance' if hidden else ''}, for {inputs}{but}"
        yield from paragraph(text, width, style=BAD if hidden else GOOD)
    elif result.state == FAILED:
        yield from paragraph(f"{where} does not run the model", width, style=BAD)
    elif result.state == DIFFERENT:
        yield from paragraph(f"{where} differs from the CPU{_largest(result)}, but no single node is wrong, for {inputs}", width)
    else:
        yield from paragraph(f"{where} computes wrong numbers, for {inputs}", width, style=BAD)
    if result.delegated_nodes is not None and result.delegated_nodes < result.nodes and result.state != FAILED:
        text = f"{result.delegated_nodes:,} of {counted(result.nodes, 'node')} run on the delegate, and the others on the CPU"
        yield from paragraph(text, width)
    for entry in result.entries:
        if len(result.entries) > 1:
            yield from heading_lines(f"Signature {name(entry.key)}")
        yield from _entry_lines(result, entry, width, verbose)
    yield from _command_lines(result, width)
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
        has_steps = any(step is not None for step in entry.errors_in_steps)
        head = ("output", "elements", "differ", "largest error", "of range", *(["steps"] if has_steps else []))
        rows = [
            (*_row(output), *([""] if step is None else [f"{step:,.3g}"]))[: len(head)]
            for output, step in zip(shown, entry.errors_in_steps or [None] * len(shown), strict=False)
        ]
        yield from table([head, *rows], range(1, len(head)), width)
        yield from more_lines(len(entry.outputs) - len(shown), "output")
    if entry.is_right and entry.conditions:
        yield from heading_lines("Known to be wrong, for other inputs or weights", BAD)
        yield from _condition_lines(result, entry.conditions, width)
    elif entry.culprit is not None:
        yield from _culprit_lines(result, entry.culprit, width)
    elif entry.failure:
        yield from _condition_lines(result, entry.conditions, width)
    elif not entry.is_right:
        yield from paragraph("No node is at fault: each part of the model gives right numbers, or parts do not run", width)
        yield from _condition_lines(result, entry.conditions, width)


def _largest(result: Verification) -> str:
    outputs = [
        (output, step) for entry in result.entries for output, step in zip(entry.outputs, entry.errors_in_steps, strict=True)
    ]
    output, step = max(outputs, key=lambda pair: pair[0].relative)
    steps = "" if step is None else f" ({step:,.2g} steps of the quantization)"
    return f" by up to {_share(output.relative)} of an output's range{steps}"


def _row(difference: TensorDifference) -> tuple[str, ...]:
    cells = name(difference.name), f"{difference.elements:,}", f"{difference.different:,}"
    if difference.problem:
        return *cells, "", message(difference.problem)
    return *cells, f"{difference.greatest:.3g}", _share(difference.relative)


def _share(value: float) -> str:
    return f"{100 * value:,.0f} %" if 1 <= value < math.inf else share_text(value)


def _culprit_lines(result: Verification, culprit: Culprit, width: int) -> Iterator[Line]:
    subgraph = f" of subgraph {culprit.subgraph}" if culprit.subgraph else ""
    node = f"{name(culprit.op)} {culprit.node}"
    if culprit.is_joint:
        text = f"Different only together: the nodes {culprit.first_node} to {culprit.node}{subgraph}"
        yield from heading_lines(text, BAD if culprit.conditions else HEADING)
        before, with_node = f"All nodes before {node}", "With it"
    elif culprit.is_narrow:
        yield from heading_lines(f"First node at fault: {node}{subgraph}", BAD)
        before, with_node = "All nodes before it", "With it"
    else:
        yield from heading_lines(f"At fault: one of the nodes {culprit.first_node} to {culprit.node}{subgraph}", BAD)
        before, with_node = f"All nodes before node {culprit.first_node}", f"With all nodes up to {node}"
    difference = culprit.difference
    if difference is not None:
        size = difference.problem or f"differs by {_share(difference.relative)} of its range"
        right, then = "give right numbers", f"{name(difference.name)} {size}"
    else:
        right, then = "run", f"the runtime reports: {culprit.words}"
    has_nodes_before = culprit.is_narrow or culprit.first_node > 0
    text = f"{before} {right}. {with_node}, {then}" if has_nodes_before else f"{with_node}, {then}"
    yield from paragraph(message(text), width, "  ")
    if not culprit.is_narrow:
        yield from paragraph("Smaller parts of the model do not run, so the search cannot name one node", width, "  ")
    elif culprit.is_joint:
        adds_up = difference is not None and not difference.problem
        text = f"Alone, this node is right. The delegate merges nodes{', or small differences add up' if adds_up else ''}"
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
        if risk.refusal.hint:
            yield from paragraph(message(f"hint: {risk.refusal.hint}"), width, "    ", "          ", style=HINT)
        if risk.node is not None:
            text = f"the pass {condition.cure} of fix" if condition.cure else "no pass of fix cures this node"
            yield from paragraph(f"cure: {text}", width, "    ", "          ", style=HINT)


def _command_lines(result: Verification, width: int) -> Iterator[Line]:
    """Yield the command that applies all passes that cure known conditions. The command is not wrapped, so it can be copied."""
    conditions = [condition for entry in result.entries for condition in entry.all_conditions]
    target = result.target
    if target is None or not conditions:
        return
    cures = {condition.cure for condition in conditions if condition.cure}
    if cures:
        yield from paragraph("To apply this pass:" if len(cures) == 1 else "To apply all these passes:", width)
        words = ["fix", typed_path(result.model), *target_arguments(target), "-o", output_name(result.model)]
    else:
        yield from paragraph("Other changes of the model that may help:", width)
        words = ["diagnose", typed_path(result.model), *target_arguments(target)]
    yield Line(f"  {printable(command_line(words))}", HINT)


_SIMULATED = "each result of the CPU is rounded to float16 by itself"
_NOT_SIMULATED = "errors that spread from node to node, and sums inside convolutions and matrix products"
_PROBLEM_TEXTS = {
    RESULT: "{tensor} has {elements} that float16 cannot hold, up to {value:.3g}",
    TOTAL: "{tensor} has {elements} with a total that float16 cannot hold, up to {value:.3g}",
    ZERO_DIVISOR: "{tensor} has {elements} that float16 rounds to 0, such as {value:.3g}, so a later node divides by 0",
    CONSTANT_ZERO: "float16 rounds the constant {tensor} ({value:.3g}) to 0",
    CONSTANT_INFINITE: "the constant {tensor} has {elements} that float16 cannot hold, such as {value:.3g}",
}
_ADVICE = {
    RESULT: "Divide the values before this node by a constant, and multiply later. Or compute in float32 (precision=fp32).",
    TOTAL: "Multiply by 1/n before the sum, as an average pool does. Or compute in float32 (precision=fp32).",
    ZERO_DIVISOR: "Add an epsilon of 1e-4 or more. Or compute in float32 (precision=fp32).",
    CONSTANT_ZERO: "Use a constant of 1e-7 or more.",
    CONSTANT_INFINITE: f"Use a constant of at most {LARGEST:,.0f}, such as -60,000 for a mask.",
}


def precision_lines(report: PrecisionReport, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a report: a verdict, the problems with advice, and the results that float16 rounds most."""
    inputs = f"{counted(report.samples, 'set')} of input values"
    first = report.first
    if first is None:
        yield from paragraph(f"All results of the CPU fit into float16, for {inputs}", width, style=GOOD)
    else:
        text = f"Float16 cannot hold the numbers of the model, first at {name(first.op)} {first.node}, for {inputs}"
        yield from paragraph(text, width, style=BAD)
    for is_certain, title in ((True, "Wrong in float16"), (False, "May be wrong in float16")):
        problems = [problem for problem in report.problems if problem.is_certain is is_certain]
        yield from heading_lines(title, BAD) if problems else []
        shown = problems if verbose else problems[:_SHOWN]
        for problem in shown:
            yield from paragraph(_text(problem), width, "  ", "    ")
        yield from more_lines(len(problems) - len(shown), "problem")
        for kind in dict.fromkeys([problem.kind for problem in problems]):
            yield from paragraph(f"hint: {_ADVICE[kind]}", width, "    ", "          ", style=HINT)
    yield from _ranges(report, width, verbose)
    yield from paragraph(f"Simulated: {_SIMULATED}. Not simulated: {_NOT_SIMULATED}", width)


def _text(problem: PrecisionProblem) -> str:
    where = f"{problem.subgraph}:{problem.node}" if problem.subgraph else f"{problem.node}"
    elements = counted(problem.elements, "element")
    text = _PROBLEM_TEXTS[problem.kind].format(elements=elements, tensor=name(problem.tensor), value=problem.value)
    return f"{name(problem.op)} {where}: {text}"


def _ranges(report: PrecisionReport, width: int, verbose: bool) -> Iterator[Line]:
    ranges = report.ranges if verbose else sorted(report.ranges, key=lambda own: -own.rounding)[:_SHOWN]
    if ranges:
        yield from heading_lines("Ranges" if verbose else "Largest errors of rounding")
        yield from table([("node", "result", "least", "greatest", "rounding"), *map(_range_row, ranges)], range(2, 5), width, 2)
        yield from more_lines(len(report.ranges) - len(ranges), "result")


def _range_row(own: NodeRange) -> tuple[str, ...]:
    where = f"{own.subgraph}:{own.node}" if own.subgraph else f"{own.node}"
    return f"{name(own.op)} {where}", name(own.tensor), f"{own.least:.3g}", f"{own.greatest:.3g}", share_text(own.rounding)

"""The values of a model that float16 cannot hold, as text."""

from __future__ import annotations

from collections.abc import Iterator

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

from ..console.layout import counted, name
from ..console.terminal import Line
from .elements.paragraphs import BAD, GOOD, HINT, heading_lines, more_lines, paragraph, table
from .inference import share_text

_SHOWN = 8
_SIMULATED = "each result of the CPU is rounded to float16 by itself"
_NOT_SIMULATED = "errors that spread from node to node, and sums inside convolutions and matrix products"
_TEXTS = {
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
    text = _TEXTS[problem.kind].format(elements=elements, tensor=name(problem.tensor), value=problem.value)
    return f"{name(problem.op)} {where}: {text}"


def _ranges(report: PrecisionReport, width: int, verbose: bool) -> Iterator[Line]:
    ranges = report.ranges if verbose else sorted(report.ranges, key=lambda own: -own.rounding)[:_SHOWN]
    if ranges:
        yield from heading_lines("Ranges" if verbose else "Largest errors of rounding")
        yield from table([("node", "result", "least", "greatest", "rounding"), *map(_row, ranges)], range(2, 5), width, 2)
        yield from more_lines(len(report.ranges) - len(ranges), "result")


def _row(own: NodeRange) -> tuple[str, ...]:
    where = f"{own.subgraph}:{own.node}" if own.subgraph else f"{own.node}"
    return f"{name(own.op)} {where}", name(own.tensor), f"{own.least:.3g}", f"{own.greatest:.3g}", share_text(own.rounding)

"""A comparison of two models on this CPU, in the style of the runtime's Inference Diff tool."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from delegate_sim.inference.difference import Difference, TensorDifference

from ..console.layout import counted, name, wrapped
from ..console.terminal import Line
from .elements.paragraphs import paragraph
from .elements.tables import table

_HEADING = "bold"
_BAD = "bold red"
_SHOWN = 8


def difference_lines(found: Difference, width: int, verbose: bool) -> Iterator[Line]:
    """Return the text: whether they compute the same, the error of each output, and latency."""
    inputs = counted(found.samples, "input")
    if found.is_same:
        yield Line(f"Every bit is the same: {counted(len(found.outputs), 'output')}, on {inputs}", _HEADING)
    elif found.problem:
        yield from paragraph(f"Outputs cannot be compared: {name(found.problem)}", width, style=_BAD)
    else:
        yield Line(f"Outputs differ by at most {_share(found.relative)} of their range, on {inputs}", _HEADING)
    shown = found.outputs if verbose else found.outputs[:_SHOWN]
    rows = [("output", "elements", "differ", "mean error", "greatest", "of range"), *map(_row, shown)]
    yield from (Line(line) for line in table(rows, (1, 2, 3, 4, 5), width, 3))
    if len(shown) < len(found.outputs):
        yield Line(f"  ... and {counted(len(found.outputs) - len(shown), 'more output')} (--verbose lists all)")
    if found.tensors:
        yield from (Line(line, style) for line, style in _between(found.tensors, width, verbose))
    first, second = (1000 * seconds for seconds in found.seconds)
    text = f"Latency on this CPU, one thread, without a delegate: {first:.3g} ms before, {second:.3g} ms after"
    yield from paragraph(text, width)


def _between(tensors: Sequence[TensorDifference], width: int, verbose: bool) -> Iterator[tuple[str, str]]:
    differing = [each for each in tensors if not each.is_same]
    text = f"Between nodes: {counted(len(tensors), 'tensor')} compared, "
    text += f"{len(differing):,} differ" if differing else "every bit the same"
    yield from ((line, "") for line in wrapped(text, width))
    if differing and verbose:
        rows = [("tensor", "elements", "differ", "mean error", "greatest", "of range"), *map(_row, differing)]
        yield from ((line, "") for line in table(rows, (1, 2, 3, 4, 5), width, 3))


def _row(each: TensorDifference) -> tuple[str, ...]:
    if each.problem:
        return name(each.name), "", "", "", "", each.problem
    return (
        name(each.name),
        f"{each.elements:,}",
        f"{each.bits:,}",
        f"{each.mean:.3g}",
        f"{each.greatest:.3g}",
        _share(each.relative),
    )


def _share(value: float) -> str:
    return "all" if math.isinf(value) else f"{100 * value:.2g} %"

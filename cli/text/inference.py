"""A comparison of two models on this CPU, in the style of the runtime's Inference Diff tool."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from delegate_sim.inference.difference import Difference, TensorDifference

from ..console.layout import counted, name
from ..console.terminal import Line
from .elements.paragraphs import paragraph
from .elements.tables import table

_HEADING = "bold"
_BAD = "bold red"
_SHOWN = 8


def difference_lines(difference: Difference, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a comparison: whether the outputs are equal, the error of each output, and the latency of both models."""
    inputs = counted(difference.samples, "input")
    if difference.is_same:
        yield Line(f"Outputs are the same, bit for bit: {counted(len(difference.outputs), 'output')}, on {inputs}", _HEADING)
    elif difference.problem:
        yield from paragraph(f"Outputs cannot be compared: {name(difference.problem)}", width, style=_BAD)
    else:
        yield Line(f"Outputs differ by at most {_share(difference.relative)} of their range, on {inputs}", _HEADING)
    shown = difference.outputs if verbose else difference.outputs[:_SHOWN]
    rows = [("output", "elements", "differ", "mean error", "greatest", "of range"), *map(_row, shown)]
    yield from table(rows, range(1, 6), width)
    if len(shown) < len(difference.outputs):
        yield Line(f"  ... and {counted(len(difference.outputs) - len(shown), 'more output')} (--verbose lists all)")
    if difference.tensors:
        yield from _between(difference.tensors, width, verbose)
    first, second = (1000 * seconds for seconds in difference.seconds)
    text = f"Latency on this CPU, one thread, without a delegate: {first:.3g} ms before, {second:.3g} ms after"
    yield from paragraph(text, width)


def _between(tensors: Sequence[TensorDifference], width: int, verbose: bool) -> Iterator[Line]:
    differing = [tensor for tensor in tensors if not tensor.is_same]
    text = f"Between nodes: {counted(len(tensors), 'tensor')} compared, "
    text += f"{len(differing):,} differ" if differing else "all the same, bit for bit"
    yield from paragraph(text, width)
    if differing and verbose:
        rows = [("tensor", "elements", "differ", "mean error", "greatest", "of range"), *map(_row, differing)]
        yield from table(rows, range(1, 6), width)


def _row(tensor: TensorDifference) -> tuple[str, ...]:
    if tensor.problem:
        return name(tensor.name), "", "", "", "", tensor.problem
    return (
        name(tensor.name),
        f"{tensor.elements:,}",
        f"{tensor.bits:,}",
        f"{tensor.mean:.3g}",
        f"{tensor.greatest:.3g}",
        _share(tensor.relative),
    )


def _share(value: float) -> str:
    return "all" if math.isinf(value) else f"{100 * value:.2g} %"

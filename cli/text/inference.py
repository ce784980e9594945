"""A comparison of two models on this CPU as text, similar to the runtime's Inference Diff tool."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from delegate_sim.inference.difference import Difference, EdgeDifference, Latency, TensorDifference

from ..console.layout import counted, item_list, message, name
from ..console.terminal import Line
from .elements.paragraphs import BAD, HEADING, more_lines, paragraph, table

_SHOWN = 8
NO_OUTPUT_DEPENDS = "no output depends on the tried inputs"
SHOWS_NOTHING = f"shows nothing: {NO_OUTPUT_DEPENDS}"


def difference_lines(difference: Difference, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a comparison: a verdict, the error of each output, and the latency of both models."""
    inputs = f"{counted(difference.samples, 'set')} of input values"
    if difference.is_same:
        outputs = f"{counted(len(difference.outputs), 'output')}, for {inputs}"
        is_constant = all(output.is_constant for output in difference.outputs)
        but = f", but {NO_OUTPUT_DEPENDS}" if is_constant else ""
        same = f"Outputs are the same, bit for bit{but}: {outputs}"
        nothing = f"This {SHOWS_NOTHING}. Outputs are equal: {outputs}"
        yield from paragraph(nothing if difference.shows_nothing else same, width, "", "  ", style=HEADING)
    elif difference.problem:
        yield from paragraph(f"Outputs cannot be compared: {name(difference.problem)}", width, style=BAD)
    else:
        yield from paragraph(
            f"{_difference_text(difference)}, for {inputs}{_spread_text(difference)}", width, "", "  ", style=HEADING
        )
    yield from constant_lines(difference.outputs, difference.shows_nothing, width)
    shown = difference.outputs if verbose else difference.outputs[:_SHOWN]
    rows = [("output", "elements", "differ", "mean error", "largest error", "of range"), *map(_row, shown)]
    yield from table(rows, range(1, 6), width)
    yield from more_lines(len(difference.outputs) - len(shown), "output")
    if difference.tensors:
        yield from _between(difference.tensors, width, verbose)
    if difference.edges is not None:
        yield from paragraph(_edges_text(difference.edges), width)
    if difference.latency is not None and (verbose or difference.latency.is_changed):
        yield from paragraph(latency_text(difference.latency), width)


def constant_lines(outputs: Sequence[TensorDifference], shows_nothing: bool, width: int) -> Iterator[Line]:
    """Yield a warning about outputs that have the same value for all inputs, if there are any."""
    constant = item_list([name(output.name) for output in outputs if output.is_constant], 80)
    if outputs and shows_nothing:
        text = (
            "The outputs have the same values for all these inputs. Give other inputs (--data FILE.npz). If these are inputs of "
            "the application, the model may have no trained weights"
        )
        yield from paragraph(text, width, "", "  ", style=BAD)
    elif constant:
        yield from paragraph(f"The same value for all these inputs, so their comparison says little: {constant}", width, "", "  ")


def _difference_text(difference: Difference) -> str:
    if any(output.different for output in difference.outputs):
        return f"Outputs differ by up to {share_text(difference.relative)} of their range"
    if any(output.bits for output in difference.outputs):
        return "Outputs are equal; only the signs of zeros or the bits of NaN differ"
    return "Outputs are identical"


def _spread_text(difference: Difference) -> str:
    output = max(difference.outputs, key=lambda output: output.relative)
    if output.least == output.greatest or not output.range:
        return ""
    least, median = (share_text(value / output.range) for value in (output.least, output.median))
    return f"; single sets by {least} to {share_text(output.relative)}, half of them by up to {median}"


EXTREME = "extreme values (zeros of either sign, denormals, the largest numbers, infinities, NaN, indices out of range)"


def _edges_text(edges: EdgeDifference) -> str:
    if edges.problem:
        return f"Not compared on {EXTREME}: {name(edges.problem)}"
    if edges.is_same:
        return f"On {EXTREME}: the same, bit for bit"
    if edges.refused:
        return f"On {EXTREME}: {message(edges.refused)}"
    differing = [tensor for tensor in (*edges.outputs, *edges.tensors) if not tensor.is_same][:_SHOWN]
    parts = dict.fromkeys([f"{tensor.bits:,} of {tensor.elements:,} elements of {name(tensor.name)}" for tensor in differing])
    return f"On {EXTREME}, these differ: {', '.join(parts)}"


def latency_text(latency: Latency) -> str:
    """Return a sentence about the latency of both models.

    Only ratios of alternating runs compare the models. The medians of all runs may differ in the other direction, if the CPU
    became slower or faster during the runs.
    """
    before = f"before ({1000 * latency.medians[0]:.3g} ms)"
    low, middle, high = latency.ratios
    where = f"on this CPU with the runtime's defaults, one thread, {len(latency.first):,} alternating runs of each model"
    if not latency.is_changed:
        return f"As fast as {before}, {low:.2f} to {high:.2f} times the latency, {where}"
    what = "slower" if middle > 1 else "faster"
    factor = middle if middle > 1 else 1 / middle
    spread = sorted((low, high) if middle > 1 else (1 / high, 1 / low))
    return f"{factor:.2f} times {what} than {before}, {spread[0]:.2f} to {spread[1]:.2f} times, {where}"


def _between(tensors: Sequence[TensorDifference], width: int, verbose: bool) -> Iterator[Line]:
    differing = [tensor for tensor in tensors if not tensor.is_same]
    text = f"Between nodes: {counted(len(tensors), 'tensor')} compared, "
    text += f"{len(differing):,} differ" if differing else "all the same, bit for bit"
    yield from paragraph(text, width)
    if differing and verbose:
        rows = [("tensor", "elements", "differ", "mean error", "largest error", "of range"), *map(_row, differing)]
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
        share_text(tensor.relative),
    )


def share_text(value: float) -> str:
    """Return an error as a percentage of a range."""
    return "all" if math.isinf(value) else f"{100 * value:.2g} %"

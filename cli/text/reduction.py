"""A reduced model as text, and as a report to paste."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator

from delegate_sim.foundation.printable import printable, shortened
from delegate_sim.reduction.reduce import Reduction
from delegate_sim.version import __version__

from ..console.layout import counted, item_list, message, name
from ..console.terminal import Line
from .elements.paragraphs import GOOD, HINT, fact, heading_lines, item_lines, paragraph, table

_STEPS = {
    "original": "original model",
    "nodes": "nodes removed",
    "shapes": "sizes of inputs reduced",
    "content": "names and metadata replaced",
    "weights": "weights replaced",
}
_KEPT = {
    "metadata": "the description and the metadata",
    "attributes": "the options of custom operators and composites",
    "names": "the names of tensors, subgraphs and signatures",
}
_CONSTANTS = 8


def reduction_lines(result: Reduction, command: Callable[[str], str], written: str, width: int) -> Iterator[Line]:
    """Yield the text of a reduction. ``command`` returns the command line for a path, and ``written`` is the path of the file."""
    size = f"{result.nodes:,} of {counted(result.original_nodes, 'node')}, {result.bytes:,} of {result.original_bytes:,} bytes"
    yield from paragraph(message(f"{written} fails with the same message: {size}"), width, style=GOOD)
    yield from fact("message", _failure(result), width)
    if result.message != result.original_message:
        yield from fact("original", message(result.original_message), width)
    yield from fact("operators", item_list(map(name, result.operators), width), width)
    rows = [(_STEPS[step.step], f"{step.nodes:,}", f"{step.bytes:,}", f"{step.runs:,}") for step in result.steps]
    yield Line("")
    yield from table([("step", "nodes", "bytes", "runs"), *rows], range(1, 4), width)
    if not result.is_complete:
        yield from paragraph("The search reached its time limit, so the model may not be the smallest", width, style=HINT)
    if result.empty_model_fails:
        text = "A model without nodes fails in the same way, so the failure may not depend on the model: check the command"
        yield from paragraph(text, width, style=HINT)
    kept = [*_kept_texts(result)]
    yield from item_lines(kept, width, "Kept from the original model, because the failure depends on it")
    if not kept:
        yield from paragraph("The file has none of the original's weights and names", width)
    yield from heading_lines("Report")
    yield from [Line(line) for line in report_text(result, command, written).splitlines()]


def report_text(result: Reduction, command: Callable[[str], str], written: str) -> str:
    """Return a report in Markdown for the attached file: versions, command and message."""
    file = os.path.basename(written)
    operators = ", ".join(dict.fromkeys(result.operators))
    kept = [*_kept_texts(result)]
    origin = f"parts of the original model ({'; '.join(kept)})" if kept else "generated weights and neutral names"
    size = f"{counted(result.nodes, 'node')} ({shortened(operators)}), {result.bytes:,} bytes"
    software = f"{result.software}, " if result.software else ""
    lines = [
        f"Model: {file} (attached), {size}, with {origin}",
        f"Versions: {software}{platform.platform()}; reduced by delegate-sim {__version__}",
        f"Command: {command(file)}",
        f"Result: {_failure(result)}",
    ]
    return "".join([f"    {printable(line)}\n" for line in lines])


def _failure(result: Reduction) -> str:
    return message(": ".join(filter(None, (result.status, result.message))) or "no message")


def _kept_texts(result: Reduction) -> Iterator[str]:
    constants = [entry for entry in result.kept if entry.content not in _KEPT]
    yield from [_KEPT[entry.content] for entry in result.kept if entry.content in _KEPT]
    for entry in constants[:_CONSTANTS]:
        reader = f", read by {entry.op}" if entry.op else ""
        yield f"constant {entry.tensor} ({entry.type} {list(entry.shape)}{reader})"
    if len(constants) > _CONSTANTS:
        yield f"{counted(len(constants) - _CONSTANTS, 'more constant')}"

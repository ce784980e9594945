"""The arena and the resolver that an application must provide for TensorFlow Lite Micro, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from delegate_sim.micro.resolver import resolver_lines
from delegate_sim.micro.target import PACKAGE

from ..console.layout import item_list, name
from ..console.terminal import Line
from .elements.paragraphs import HEADING, heading_lines, paragraph, table

if TYPE_CHECKING:
    from delegate_sim.micro.arena import Arena
    from delegate_sim.micro.report import MicroReport

_BUFFERS_SHOWN = 5


def application_lines(report: MicroReport, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the operators that need not be registered, the arena, and the resolver to paste."""
    if report.unused:
        text = f"Registered but not needed by this model: {item_list(list(map(name, report.unused)), 80)}"
        yield from paragraph(text, width, "", "  ")
    if report.arena is not None:
        yield Line("")
        yield from _arena_lines(report.arena, width, verbose)
    if report.operators:
        yield from heading_lines("Resolver to paste")
        for line in resolver_lines(report.operators, report.variables):
            yield Line(f"  {line}")
    yield Line("")
    yield from paragraph(f"Simulated: {PACKAGE}; older copies may lack kernels or compute other numbers", width, "", "  ")
    yield from paragraph("Not simulated: optimized kernels of other vendors, such as those for Xtensa", width, "", "  ")


def _arena_lines(arena: Arena, width: int, verbose: bool) -> Iterator[Line]:
    yield Line("Arena", HEADING)
    rows = [
        ("about", f"{arena.total:,}", "bytes for a 32-bit build, before a margin"),
        ("head", f"{arena.head:,}", "activations and scratch buffers, as the greedy planner places them"),
        ("tail", f"{arena.tail:,}", "an estimate for structures, data of reference kernels, and variables"),
    ]
    if arena.planning > arena.head:
        rows.append(("planning", f"{arena.planning:,}", "memory that only planning needs; the head later uses the same memory"))
    yield from table(rows, (1,), width)
    yield from paragraph(
        "The device may need more: measure arena_used_bytes() on the device and leave a margin. CMSIS-NN's scratch buffers, "
        "for example, have other sizes.",
        width,
        "  ",
        "  ",
        style="dim",
    )
    largest = sorted(arena.buffers, key=lambda placed: -placed.buffer.requirement.size)
    shown = largest if verbose else largest[:_BUFFERS_SHOWN]
    if shown:
        yield from paragraph("Largest buffers" if not verbose else "Buffers", width, "  ")
        cells = [("buffer", "bytes", "offset", "steps")]
        for placed in shown:
            wanted = placed.buffer.requirement
            cells.append((name(placed.buffer.name), f"{wanted.size:,}", f"{placed.offset:,}", f"{wanted.first}-{wanted.last}"))
        yield from table(cells, (1, 2), width, indent=4)

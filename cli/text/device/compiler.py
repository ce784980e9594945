"""The output of the Edge TPU compiler as text, alone and joined with the model's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.device.compare.row_matching import CompilerJoin, JoinedRow
from delegate_sim.device.parse.compilations import NOT_COMPILED, EdgeTpuCompilation

from ...console.layout import counted, message, name, node_list, share
from ...console.terminal import Line
from ..elements.paragraphs import BAD, HEADING, fact, paragraph


def compiler_lines(compilation: EdgeTpuCompilation, columns: int) -> Iterator[Line]:
    """Yield the output of the Edge TPU compiler with explanations. Yield nothing for other logs."""
    if compilation == NOT_COMPILED:
        return
    yield Line("  Edge TPU compiler", HEADING)
    for title, text in (("version", compilation.version), ("model", compilation.source), ("compiled", compilation.result)):
        if text:
            yield from paragraph(f"{title}: {message(text)}", columns, "    ", "      ")
    if compilation.failure:
        yield from paragraph(message(compilation.failure), columns, "    ", "      ", style=BAD)
        if compilation.failure_meaning:
            yield from paragraph(compilation.failure_meaning, columns, "      ", "      ")
    for status in dict.fromkeys(row.status for row in compilation.rows):
        rows = [row for row in compilation.rows if row.status == status]
        text = ", ".join(f"{name(row.op)} {row.count:,}" for row in rows)
        yield from paragraph(f"{message(status)}: {text}", columns, "    ", "      ")
        if rows[0].meaning and not rows[0].is_mapped:
            yield from paragraph(rows[0].meaning, columns, "      ", "      ")


_ROOM = 60
"""The number of characters for the nodes of a row."""


def compiler_join_lines(join: CompilerJoin, width: int, verbose: bool) -> Iterator[Line]:
    """Return the text of a joined table. Without ``verbose``, long lists of nodes are shortened."""
    yield from _verdict(join, width)
    for status in dict.fromkeys(joined.row.status for joined in join.rows):
        rows = [joined for joined in join.rows if joined.row.status == status]
        yield Line("")
        count = sum([len(joined.nodes) for joined in rows])
        yield from paragraph(f"{message(status)}: {counted(count, 'node')}", width, "", "  ", style=HEADING)
        if rows[0].row.meaning and not rows[0].row.is_mapped:
            yield from paragraph(rows[0].row.meaning, width, "  ", "  ")
        for joined in rows:
            yield from paragraph(_row(joined, verbose), width, "  ", "    ")
    yield Line("")
    yield from fact("compiler", message(f"Edge TPU Compiler {join.compilation.version}".strip()), width)
    yield from fact("model", message(join.model.path or "given as bytes"), width)
    for note in join.notes:
        yield from fact("note", message(note), width)
    if not all(joined.is_certain for joined in join.rows):
        yield from paragraph(
            "if an operator has several rows, the table does not name the nodes of each row. Nodes marked 'likely' are "
            "assigned to rows in execution order, because the compiler maps nodes from the inputs onward",
            width,
        )


def _verdict(join: CompilerJoin, width: int) -> Iterator[Line]:
    if not join.is_joined:
        text = "Not compiled: the Edge TPU compiler did not compile the model"
        if join.compilation.is_done:
            text = "Not compared: the model was compiled, but the log has no table of operators"
        yield from paragraph(text, width, "", "  ", style=BAD)
        if join.compilation.failure:
            yield from paragraph(message(join.compilation.failure), width, "  ", "  ")
            if join.compilation.failure_meaning:
                yield from paragraph(join.compilation.failure_meaning, width, "  ", "  ")
        return
    mapped = sum([len(joined.nodes) for joined in join.rows if joined.row.is_mapped])
    text = f"The Edge TPU runs {mapped:,} of {counted(join.node_count, 'node')} ({share(mapped, join.node_count)})"
    yield from paragraph(text, width, "", "  ", style=HEADING)


def _row(joined: JoinedRow, verbose: bool) -> str:
    likely = "" if joined.is_certain else " likely"
    nodes = node_list(joined.nodes, None if verbose else _ROOM)
    return f"{name(joined.row.op)}: {counted(len(joined.nodes), 'node')}{likely} [{nodes}]"

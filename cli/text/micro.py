"""The results of ``micro``, ``fix --micro`` and ``diagnose --micro``, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from delegate_sim.foundation.converter_attributes import DENSE_PER_TENSOR
from delegate_sim.graph.reachability import no_weights_text
from delegate_sim.micro.preparation import MicroNode, Status
from delegate_sim.micro.report import MicroAnswer, MicroReport, Outcome
from delegate_sim.micro.resolver import resolver_lines
from delegate_sim.micro.target import PACKAGE
from delegate_sim.micro.verdict import micro_verdict
from delegate_sim.model.model import IDENTIFIER

from ..console.layout import counted, item_list, message, name, node_list, share
from ..console.terminal import Line
from .elements.paragraphs import HEADING, heading_lines, indented, paragraph, table, with_ranges, without_numbers
from .many import Columns

if TYPE_CHECKING:
    from delegate_sim.diagnosis.micro import MicroCause, MicroDiagnosis
    from delegate_sim.micro.arena import Arena

_NODES_WIDTH = 40
_BUFFERS_SHOWN = 5
_STAGES = {
    Status.MISSING: "Operators that the resolver lacks",
    Status.PREPARE: "Refused while tensors are allocated (Prepare)",
    Status.INVOKE: "Refused when the model is invoked (Invoke)",
    Status.INVOKE_IF_CALLED: "Refused when a branch or loop runs them (Invoke)",
}


def micro_columns() -> Columns:
    """Return the columns for many models."""
    return Columns(("verdict", "missing", "refused", "head", "arena"), (1, 2, 3, 4))


def micro_row(answer: MicroAnswer) -> Sequence[str]:
    """Return the cells of a model in the table of many models."""
    report = answer.report
    missing = len(report.missing_operators)
    refused = sum([node.status is not Status.MISSING for node in report.refused])
    sizes = ("", "") if report.arena is None else (f"{report.arena.head:,}", f"{report.arena.total:,}")
    return (_verdict_cell(report), f"{missing:,}", f"{refused:,}", *sizes)


def _verdict_cell(report: MicroReport) -> str:
    if not report.runs:
        return _OUTCOMES[report.outcome]
    return "runs" if report.computes else "wrong results"


_OUTCOMES = {
    Outcome.ALLOCATED: "fails at Invoke",
    Outcome.MISSING_OPERATOR: "lacks operators",
    Outcome.PREPARE_FAILED: "fails in Prepare",
    Outcome.FILE: "cannot be used",
}


def micro_lines(answer: MicroAnswer, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the verdict, the refused nodes with reasons, warnings, the arena, and the resolver to paste."""
    report = answer.report
    yield from paragraph(micro_verdict(report), width, style="green" if report.computes else "red")
    yield from _warnings(answer, width)
    for status, title in _STAGES.items():
        groups = _groups([node for node in report.nodes if node.status is status])
        if groups:
            is_without_kernel = status is Status.MISSING and report.target.registered is None
            yield from heading_lines("Operators without a kernel" if is_without_kernel else title)
            for nodes in groups:
                yield from _group_lines(nodes, width)
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


def _warnings(answer: MicroAnswer, width: int) -> Iterator[Line]:
    report, source = answer.report, answer.report.target.source
    texts = []
    if answer.model.identifier != IDENTIFIER:
        texts.append(
            f"the identifier of the file is {answer.model.identifier!r}, not {IDENTIFIER!r}. TensorFlow Lite Micro does not "
            "check the identifier, but other runtimes refuse the file"
        )
    if report.external_tensors:
        texts.append(
            f"the data of {counted(report.external_tensors, 'tensor')} is after the flatbuffer (Buffer.offset). The runtime does "
            "not read this data, and computes wrong results without a message. Convert the model again, with buffers inside the "
            "flatbuffer"
        )
    if report.unassigned_variables:
        texts.append(no_weights_text(report.unassigned_variables))
    if layers := answer.layers_with_channel_scales:
        texts.append(
            f"{layers:,} FULLY_CONNECTED with a scale for each channel: copies of TensorFlow Lite Micro from before 2024-06, "
            f"such as many in packages of boards, compute wrong numbers or fail. For such a copy, convert with {DENSE_PER_TENSOR}"
        )
    if source is not None and source.without_room:
        count = report.target.attempted
        texts.append(
            f"the source registers {counted(count, 'operator')}, but the resolver has room for {source.size:,}, so the last "
            f"calls fail. Write MicroMutableOpResolver<{count}>"
        )
    if source is not None and source.unknown:
        texts.append(f"calls of functions that the runtime does not have: {item_list(list(map(name, source.unknown)), 60)}")
    for text in texts:
        yield from paragraph(f"Warning: {text}", width, "", "  ", style="yellow")
    if answer.unused:
        text = f"Registered but not needed by this model: {item_list(list(map(name, answer.unused)), 80)}"
        yield from paragraph(text, width, "", "  ")


def _groups(nodes: Sequence[MicroNode]) -> list[list[MicroNode]]:
    groups: dict[tuple[object, ...], list[MicroNode]] = {}
    for node in nodes:
        reasons = tuple((reason.code, without_numbers(reason.message)) for reason in node.reasons)
        groups.setdefault((node.operator, node.subgraph, reasons), []).append(node)
    return sorted(groups.values(), key=len, reverse=True)


def _group_lines(nodes: Sequence[MicroNode], width: int) -> Iterator[Line]:
    first = nodes[0]
    indices = node_list([node.index for node in nodes], _NODES_WIDTH)
    subgraph = f" of subgraph {first.subgraph}" if first.subgraph else ""
    operator = name(first.operator.removeprefix("CUSTOM:"))
    count = f"{len(nodes):,} nodes{subgraph}: {indices}" if len(nodes) > 1 else f"node {first.index}{subgraph}"
    for position, reason in enumerate(first.reasons):
        value = with_ranges([node.reasons[position].found for node in nodes])
        text = f"{operator} ({count}): {message(value)}; needs {message(reason.needed)}"
        yield from paragraph(text, width, "  ", "    ")
        yield from paragraph(f"{message(reason.hint)} ({reason.code})", width, "    ", "    ", style="dim")


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


_DIAGNOSIS_NODES_WIDTH = 60


def micro_diagnosis_lines(diagnoses: Sequence[MicroDiagnosis], width: int, verbose: bool) -> Iterator[Line]:
    """Yield the verdict on each model, and each cause with the cost and the fix."""
    for number, diagnosis in enumerate(diagnoses):
        if number:
            yield Line("")
        if len(diagnoses) > 1:
            yield Line(message(diagnosis.model.path or "-"), HEADING)
        yield from paragraph(micro_verdict(diagnosis.report), width, "", "  ", style=HEADING)
        for position, cause in enumerate(diagnosis.causes or (), 1):
            yield Line("")
            yield from _cause_lines(position, cause, diagnosis, width, verbose)


def _cause_lines(number: int, cause: MicroCause, diagnosis: MicroDiagnosis, width: int, verbose: bool) -> Iterator[Line]:
    yield from paragraph(f"{number}. {cause.title} ({cause.code})", width, "", "   ", style=HEADING)
    operators = item_list(
        [f"{name(op.removeprefix('CUSTOM:'))} {count:,}" for op, count in cause.operators], _DIAGNOSIS_NODES_WIDTH
    )
    total = diagnosis.report.multiply_adds
    work = f"; {share(cause.multiply_adds, total)} of multiply-adds" if total else ""
    yield from indented(f"refuses {counted(len(cause.nodes), 'node')}: {operators}{work}", width, "   ")
    nodes = node_list(
        sorted([node.index for node in cause.nodes if node.subgraph == 0]), None if verbose else _DIAGNOSIS_NODES_WIDTH
    )
    if all(node.subgraph == 0 for node in cause.nodes):
        yield from indented(f"nodes {nodes}", width, "   ")
    yield from indented(f"needed: {message(cause.needed)}", width, "   ")
    yield from indented(f"change: {message(cause.advice)}", width, "   ", "green")
    for pass_ in cause.passes:
        yield from indented(
            f"delegate-sim fix --micro can fix this: {pass_.name} ({pass_.exactness.words})", width, "   ", "green"
        )

"""The result of ``diagnose --micro`` as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.diagnosis.micro import MicroCause, MicroDiagnosis

from ...console.layout import counted, item_list, message, name, node_list, share
from ...console.terminal import Line
from ..elements.paragraphs import HEADING, indented, paragraph
from .report import micro_verdict

_NODES_WIDTH = 60


def micro_diagnosis_lines(diagnoses: Sequence[MicroDiagnosis], width: int, verbose: bool) -> Iterator[Line]:
    """Yield the verdict on each model, and each cause with the cost and the fix."""
    for number, diagnosis in enumerate(diagnoses):
        if number:
            yield Line("")
        if len(diagnoses) > 1:
            yield Line(message(diagnosis.model.path or "-"), HEADING)
        yield from paragraph(micro_verdict(diagnosis.report), width, "", "  ", style=HEADING)
        for position, cause in enumerate(diagnosis.causes, 1):
            yield Line("")
            yield from _cause_lines(position, cause, diagnosis, width, verbose)


def _cause_lines(number: int, cause: MicroCause, diagnosis: MicroDiagnosis, width: int, verbose: bool) -> Iterator[Line]:
    yield from paragraph(f"{number}. {cause.title} ({cause.code})", width, "", "   ", style=HEADING)
    operators = item_list([f"{name(op.removeprefix('CUSTOM:'))} {count:,}" for op, count in cause.operators], _NODES_WIDTH)
    total = diagnosis.report.multiply_adds
    work = f"; {share(cause.multiply_adds, total)} of multiply-adds" if total else ""
    yield from indented(f"refuses {counted(len(cause.nodes), 'node')}: {operators}{work}", width, "   ")
    nodes = node_list(sorted([node.index for node in cause.nodes if node.subgraph == 0]), None if verbose else _NODES_WIDTH)
    if all(node.subgraph == 0 for node in cause.nodes):
        yield from indented(f"nodes {nodes}", width, "   ")
    yield from indented(f"needed: {message(cause.needed)}", width, "   ")
    yield from indented(f"change: {message(cause.advice)}", width, "   ", "green")
    for pass_ in cause.passes:
        yield from indented(
            f"delegate-sim fix --micro can fix this: {pass_.name} ({pass_.exactness.words})", width, "   ", "green"
        )

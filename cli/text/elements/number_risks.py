"""The nodes that compute other numbers than the CPU, as text."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.results.numbers.risks import NumberRisk, number_risks
from delegate_sim.runtime.interpreter import Run

from ...console.layout import message, name, node_list
from ...console.terminal import Line
from .paragraphs import BAD, CODE, HINT, heading_lines, more_lines, paragraph

_MESSAGES_SHOWN = 8


def number_risk_lines(run: Run, width: int, verbose: bool) -> Iterator[Line]:
    """Yield a section about nodes that compute other numbers than the CPU, by condition. Empty if there are none."""
    risks = number_risks(run)
    for is_certain, title in ((True, "Wrong numbers"), (False, "Numbers that may be wrong")):
        groups: dict[str, list[NumberRisk]] = {}
        for risk in risks:
            if risk.is_certain == is_certain:
                groups.setdefault(risk.refusal.code, []).append(risk)
        if groups:
            yield from heading_lines(title, BAD)
        for code, members in groups.items():
            nodes = sorted({member.node for member in members if member.node is not None})
            operators = ", ".join(dict.fromkeys([name(member.op) for member in members if member.op]))
            where = f": {operators} [{node_list(nodes, width)}]" if nodes else ""
            yield from paragraph(f"{code}{where}", width, "  ", "    ", style=CODE)
            messages = list(dict.fromkeys([member.refusal.message for member in members]))
            shown = messages if verbose else messages[:_MESSAGES_SHOWN]
            for text in shown:
                yield from paragraph(message(text), width, "    ", "      ")
            yield from more_lines(len(messages) - len(shown), "message", "    ")
            for hint in dict.fromkeys([member.refusal.hint for member in members]):
                yield from paragraph(message(f"hint: {hint}"), width, "    ", "          ", style=HINT)

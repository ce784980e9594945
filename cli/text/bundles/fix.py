"""The result of ``fix`` on a LiteRT-LM bundle, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.fixing.bundle_fix import BundlePlan, FixedBundle, SectionPlan

from ...console.layout import counted, message, name
from ...console.terminal import Line
from ..elements.paragraphs import HEADING, indented, paragraph
from ..fix import fix_lines
from .engine import outcome_text


def bundle_fix_lines(plan: BundlePlan, fixed: FixedBundle | None, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the changes of the bundle, the engine's result before and after the changes, and the fix of each section."""
    changed = [section for section in plan.sections if section.is_changed]
    yield from paragraph(_answer(plan, fixed, len(changed)), width, style=HEADING)
    if fixed is not None:
        for change in fixed.engine:
            text = f"LiteRT-LM on {change.backend}: {outcome_text(change.before)}; rewritten: {outcome_text(change.after)}"
            yield from paragraph(text, width, "", "  ", style=HEADING)
    for section in plan.sections:
        yield Line("")
        yield from _section_lines(section, fixed, width, verbose)


def _answer(plan: BundlePlan, fixed: FixedBundle | None, count: int) -> str:
    sections = f"{count} of {counted(len(plan.sections), 'model')}"
    if fixed is not None:
        return f"Wrote {message(fixed.path)} ({fixed.size:,} bytes): {sections} rewritten; all else keeps its bytes"
    if count:
        return f"Passes would improve {sections}; nothing is written"
    return f"No pass improves a model of the bundle ({counted(len(plan.sections), 'model')})"


def _section_lines(section: SectionPlan, fixed: FixedBundle | None, width: int, verbose: bool) -> Iterator[Line]:
    yield Line(name(section.name), HEADING)
    if section.plan is None:
        yield from indented(f"stays as it is: {message(section.problem)}", width, "  ", "red")
        return
    if not section.is_changed and not verbose:
        yield from indented("stays as it is: no pass improves it", width, "  ")
        return
    model = None if fixed is None else fixed.models.get(section.number)
    yield from fix_lines(section.plan, model, width, verbose)

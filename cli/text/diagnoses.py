"""Several diagnoses as a table, and the instructions for a change."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from delegate_sim.diagnosis.advice.commands import fix_command
from delegate_sim.diagnosis.advice.fix_passes import FoundPass, cost_of
from delegate_sim.diagnosis.advice.plain_fix import JointFix, PlainFix
from delegate_sim.diagnosis.causes.change import Advice, Assumed, ChangeKind, result_words
from delegate_sim.diagnosis.causes.conversion_causes import OF_TYPES
from delegate_sim.diagnosis.causes.whole_graph_causes import SPLIT_TAIL
from delegate_sim.diagnosis.goal_search import MULTIPLY_ADDS, PARTITIONS, Goal, Search, Way
from delegate_sim.diagnosis.ranking import RankedCause
from delegate_sim.foundation.printable import printable
from delegate_sim.results.report.coverage import coverage_verdict
from delegate_sim.results.report.measures import TAKEN, outcome_text
from delegate_sim.results.report.outcome_words import OutcomeWords, kernels_title, words_of
from delegate_sim.runtime.target import Target, target_names
from delegate_sim.scan.totals import TargetTotals

from ..console.layout import counted, message, name
from ..console.terminal import Line
from .elements.measures import FURTHER_TITLES, further_cells, kernels_text, loop_lines, measures_text, nodes_text, work_cell
from .elements.paragraphs import HEADING, HINT, indented, more_lines, paragraph, table
from .elements.verdict import plugin_lines, verdict_lines
from .many import model_names

if TYPE_CHECKING:
    from delegate_sim.diagnosis.diagnosis import Diagnosis
    from delegate_sim.diagnosis.examiner import Cost
    from delegate_sim.runtime.interpreter import Run

_LATER = ("if fixed", "first cause")
_NARROWEST_MODEL = 24


def overview_lines(diagnoses: Sequence[Diagnosis], unreadable: Sequence[str], width: int) -> Iterator[Line]:
    """Return a verdict, and a table with a row for each model and target.

    The verdict is on the best target, or on all models. A row has the delegated nodes, the first cause, and the result of fixing
    this cause. The row of a model that cannot be read says "unreadable".
    """
    labels = diagnosis_labels(diagnoses)
    rows = [(own.model.path or "(bytes)", label, _cells(own)) for label, own in zip(labels, diagnoses, strict=True)]
    titles = ("nodes", "multiply-adds", kernels_title([own.target.delegate.name for own in diagnoses]), *FURTHER_TITLES, *_LATER)
    rows += [(path, "", ("unreadable", *[""] * (len(titles) - 1))) for path in unreadable]
    is_of_one_model = len({path for path, _, _ in rows}) == 1
    costs = [(label, own.now) for label, own in zip(labels, diagnoses, strict=True)]
    totals = TargetTotals.by_target([(label, now.measures, now.total_multiply_adds, now.multiply_adds) for label, now in costs])
    for verdict in [coverage_verdict([own.run for own in diagnoses])] if is_of_one_model else TargetTotals.verdicts(totals):
        yield from paragraph(verdict, width, "", "  ", style=HEADING)
    has_targets = len(set(labels)) > 1  # otherwise the verdict names the target
    columns = (*([] if is_of_one_model else ["model"]), *(["delegate"] if has_targets else []))
    names = model_names([path for path, _, _ in rows], max(_NARROWEST_MODEL, width // (len(columns) + 1)))
    what = model_name(diagnoses[0]) if is_of_one_model else counted(len(set(names)), "model")
    yield from paragraph(f"{what}, now and with the first cause fixed", width)
    cells: list[tuple[str, ...]] = [(*columns, *titles)]
    for text, (_, target, numbers) in zip(names, rows, strict=True):
        cells.append((*([] if is_of_one_model else [text]), *([target] if has_targets else []), *numbers))
    numbers_at = range(len(columns), len(columns) + len(titles) - len(_LATER))
    further = range(len(columns) + 3, len(columns) + 3 + len(FURTHER_TITLES))
    yield from table(cells, numbers_at, width, keys=len(columns), optional=(*further, len(columns) + 2))
    yield from loop_lines([own.run for own in diagnoses], width)
    yield from plugin_lines([own.run for own in diagnoses], width)


def diagnosis_labels(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return the name of each diagnosis's target. Diagnoses of several models share targets."""
    targets: list[Target] = []
    for diagnosis in diagnoses:
        if diagnosis.target not in targets:
            targets.append(diagnosis.target)
    names = target_names(targets)
    return [names[targets.index(own.target)] for own in diagnoses]


def leading_pass(diagnosis: Diagnosis, finding: RankedCause) -> FoundPass | None:
    """Return the pass of ``fix`` that is named before the other changes of a cause, or None.

    Changes that help without further changes come before a pass. An accelerator for integers needs another conversion first,
    because a pass can only make the nodes float.
    """
    cause = finding.cause
    is_simulated = any(change.helps and change.assumed is not Assumed.OTHERS for change in cause.alternatives)
    needs_integers = diagnosis.target.delegate.computes_integers and cause.identity.problem in OF_TYPES
    return None if is_simulated or needs_integers or not cause.remedy.accepts else diagnosis.found_pass(finding)


def joint_fix_lines(fix: JointFix, width: int) -> Iterator[Line]:
    """Yield the result of ``fix`` for several targets, and the targets for which a separate file has a better result."""
    plan = fix.plan
    yield Line("With fix, which rewrites the file for all targets without a new conversion", HEADING)
    if plan is None:
        yield from indented(f"not simulated: {fix.unknown}", width, "  ")
        yield Line(f"  {printable(fix.command)}", HINT)
        return
    if plan.is_changed:
        for target_name, after in zip(target_names(plan.targets), plan.after, strict=True):
            yield from indented(f"{target_name}: {result_words(cost_of(after))}", width, "  ")
        passes = f"; passes: {', '.join([step.name for step in plan.steps])}" if plan.steps else ""
        yield from indented(f"{plan.exactness.words}{passes}", width, "  ")
        yield Line(f"  {printable(fix.command)}", HINT)
    if plan.conflicts:
        from .fix import conflict_text

        for conflict in plan.conflicts:
            yield from indented(conflict_text(plan, conflict), width, "  ")
        yield Line(f"  {printable(fix.per_target_command)}", HINT)


def advice_lines(diagnosis: Diagnosis, finding: RankedCause | None, width: int, plain: PlainFix | None = None) -> Iterator[Line]:
    """Yield the changes that fix a cause: by instructions, and by a pass of ``fix`` if there is one.

    Changes with a simulated result come before instructions with an unknown result. Commands are not wrapped, so that they can
    be copied. If ``plain`` is given, the result of ``fix`` follows, with fixed sizes of inputs or with the usual passes.
    """
    command = functools.partial(fix_command, diagnosis.model, diagnosis.target)
    changes: list[tuple[str, Sequence[str], str]] = []
    if finding is not None:
        cause, fix = finding.cause, diagnosis.found_pass(finding)
        is_of_application = any(change.kind is ChangeKind.APPLICATION for change in cause.advice.changes)
        is_split = is_of_application and diagnosis.ends_with(cause.nodes)
        listed = _alternatives(cause.advice)
        own = f"{cause.suggestion}: one of these changes:" if listed else f"{cause.suggestion}: {cause.change}"
        changes = [(own, listed, command(SPLIT_TAIL) if is_split else "")]
        if fix is not None:
            place = len(changes) if leading_pass(diagnosis, finding) is None else 0
            changes.insert(place, (f"{fix.text}:", (), command("--pass", fix.pass_.name)))
    if plain is not None:
        how = "fix with fixed sizes" if plain.arguments else "fix"
        changes.append((f"{how} rewrites the file ({plain.result}):", (), command(*plain.arguments)))
    for number, (text, listed, line) in enumerate(changes):
        yield from indented(message(f"or {text}" if number else text), width, "   ", HINT)
        for item in listed:
            yield from paragraph(message(item), width, "     - ", "       ", style=HINT)
        if line:
            yield Line(f"     {printable(line)}", HINT)


def _alternatives(advice: Advice) -> Sequence[str]:
    """Return the changes for a list, if each of several changes is enough. The last item has the notes on all changes."""
    if not advice.are_alternatives or len(advice.changes) < 2:
        return ()
    return (*advice.choices, "; ".join(advice.notes)) if advice.notes else advice.choices


def model_name(diagnosis: Diagnosis) -> str:
    """Return the file name of the model, safe to print."""
    path = diagnosis.model.path
    return "(bytes)" if path is None else name(PurePath(path).name)


def _cells(diagnosis: Diagnosis) -> tuple[str, ...]:
    measures = diagnosis.now.measures
    fails = measures.outcome not in (TAKEN, "none")
    first = diagnosis.findings[0] if diagnosis.findings else None
    return (
        outcome_text(measures.outcome) if fails else f"{measures.delegated_nodes:,} of {measures.nodes:,}",
        "-" if fails else multiply_adds_share(diagnosis.now),
        f"{measures.delegate_kernels:,}",
        *further_cells(measures),
        "" if first is None else _if_fixed(diagnosis, first),
        "" if first is None else message(first.cause.title),
    )


def _if_fixed(diagnosis: Diagnosis, finding: RankedCause) -> str:
    if not finding.cause.is_simulated:
        return "not simulated"
    if finding.alone is None:
        return ""
    cost, measures = finding.alone, finding.alone.measures
    if measures.outcome not in (TAKEN, "none"):
        return outcome_text(measures.outcome)
    before, after = multiply_adds_share(diagnosis.now), multiply_adds_share(cost)
    parts = [
        f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')}",
        *([f"{after} of multiply-adds"] if after != before else []),
        words_of(cost.delegate).short_kernels(measures.delegate_kernels),
    ]
    return ", ".join(parts)


def multiply_adds_share(cost: Cost) -> str:
    """Return the delegated share of multiply-adds, or ``-`` if there are no multiply-adds."""
    return work_cell(cost.multiply_adds, cost.total_multiply_adds)


_WAYS_SHOWN = 5


def search_lines(search: Search, run: Run, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a search: the verdict, and each set of causes with the result."""
    words = words_of(run.delegate.name)
    yield from verdict_lines(run, width)
    yield from paragraph(_heading(search, words), width, style=HEADING)
    shown = search.ways if verbose else search.ways[:_WAYS_SHOWN]
    for way in shown:
        yield Line("")
        yield from _way_lines(way, words, width)
    if len(shown) < len(search.ways):
        yield Line("")
        yield from more_lines(len(search.ways) - len(shown), "set", "", after=" of the same size")
    for reason in search.not_simulated:
        yield Line("")
        yield from paragraph(message(f"Not simulated: {reason}"), width)


def _heading(search: Search, words: OutcomeWords) -> str:
    aim = _aim(search.goal, words)
    tried = f"{counted(search.simulations, 'simulation')}"
    if not search.ways:
        return f"No set of causes reaches {aim} ({tried}); with all causes fixed: {_cost_text(search.without_all, words)}"
    number = len(search.ways[0].causes)
    if not number:
        return f"Already reached: {aim}"
    if search.is_exact:
        return f"To reach {aim}, {counted(number, 'cause')} must be fixed; fewer causes are not enough ({tried})"
    return (
        f"With {counted(number, 'cause')} fixed, the model reaches {aim}. The causes were found one by one, so a smaller set may "
        f"exist, with at least {counted(search.at_least, 'cause')} ({tried})"
    )


def _aim(goal: Goal, words: OutcomeWords) -> str:
    if goal.measure == MULTIPLY_ADDS:
        return f"at least {goal.value:g} % of multiply-adds delegated"
    number = int(goal.value)
    return f"at most {counted(number, 'partition') if goal.measure == PARTITIONS else kernels_text(number, words)}"


def _cost_text(cost: Cost, words: OutcomeWords) -> str:
    if cost.measures.outcome != TAKEN:
        return measures_text(cost.measures, words)
    text = nodes_text(cost.measures, words)
    return text + (f", {multiply_adds_share(cost)} of multiply-adds" if cost.total_multiply_adds else "")


def _way_lines(way: Way, words: OutcomeWords, width: int) -> Iterator[Line]:
    text = _cost_text(way.cost, words) + (", with these causes fixed:" if way.causes else "")
    yield from paragraph(text, width)
    for cause in way.causes:
        yield from paragraph(f"- {message(cause.title)} ({message(cause.label)})", width, "  ", "    ")
        text = f"{cause.suggestion}: {message(cause.change)}"
        yield from paragraph(text, width, "    ", "      ", style=HINT)

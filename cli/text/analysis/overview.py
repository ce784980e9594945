"""Tables with a row for each run: outcome, delegated share, and main blocker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from delegate_sim.delegates.devices import group_of, in_groups
from delegate_sim.delegates.registry import CLOSED_PLUGIN_NAMES
from delegate_sim.diagnosis.advice.plain_fix import shared_refusals, sizes_fix
from delegate_sim.errors import LimitError
from delegate_sim.foundation.printable import and_list, printable
from delegate_sim.model.model import Model
from delegate_sim.model.precompiled import compiled_for
from delegate_sim.releases.catalogue import Release, release_note
from delegate_sim.results.compare.comparison_verdict import Disagreement, disagreements, operator_rows
from delegate_sim.results.report.blockers import Blocker, BlockerSummary, summary_of
from delegate_sim.results.report.coverage import best_runs, coverage_verdict
from delegate_sim.results.report.display import file_lengths
from delegate_sim.results.report.measures import NOT_RUNNING, TAKEN, outcome_text
from delegate_sim.results.report.outcome_words import kernels_title, words_of
from delegate_sim.results.report.report import Report
from delegate_sim.results.report.verdict import subject, verdict
from delegate_sim.rules.kinds import OPERATOR_NOT_REGISTERED
from delegate_sim.rules.rule import Reason
from delegate_sim.runtime.interpreter import Run, simulate
from delegate_sim.runtime.model_loading import custom_operators
from delegate_sim.runtime.target import target_names
from delegate_sim.scan.totals import MOST_IN_WORDS, TargetTotals

from ...console.layout import counted, cut, item_list, message, name, node_list, operator_list, share
from ...console.terminal import Line, columns, has_colors
from ..elements.measures import FURTHER_TITLES, further_cells, loop_lines, nodes_cell, work_cell, wrong_text
from ..elements.paragraphs import HEADING, HINT, heading_lines, more_lines, paragraph, table
from ..elements.strip import strips_lines
from ..elements.verdict import defaults_text, plugin_lines
from ..many import many_hint, model_names, unanswered_lines
from .run_details import api_lines
from .view import View

_NARROWEST_MODEL = 24


def overview_lines(report: Report, view: View) -> Iterator[Line]:
    """Return a table with a row for each run of one model. ``footer_lines`` follow after the last model."""
    yield from _runs_table(report, view)
    if _has_several_kinds(report, view):
        yield from _micro_lines(report.model, view.width)


def footer_lines(report: Report, view: View) -> Iterator[Line]:
    """Return the notes on the delegates of an overview, and hints about devices and details."""
    yield from _notes(report, view)
    if _has_several_kinds(report, view):
        yield Line("")
        yield from paragraph(_DEVICES_TEXT, view.width)
    yield from heading_lines("For details: --delegate NAME, or --delegate all", HINT)


def _has_several_kinds(report: Report, view: View) -> bool:
    return not view.names_devices and len({group_of(run.delegate.name) for run in report.runs} - {""}) > 1


_DEVICES_TEXT = (
    f"Not simulated: {and_list(CLOSED_PLUGIN_NAMES)}, which only --live runs. For one device: --device NAME, such as pixel10 or "
    "imx8mp. For one kind of devices: --for phones, boards or computers; for microcontrollers: delegate-sim micro."
)


def _micro_lines(model: Model, width: int) -> Iterator[Line]:
    from delegate_sim.micro.delegate import micro_target

    try:
        run = simulate(model, micro_target())
        arena = run.application.arena
    except LimitError:
        return
    size = "" if arena is None else f"; arena {arena.total:,} bytes"
    text = f"Microcontrollers (delegate-sim micro): {verdict(run)}{size}"
    yield from paragraph(text, width, "", "  ")


def runs_table(report: Report, view: View) -> Iterator[Line]:
    """Return a table with a row for each run of one model, and notes on the delegates."""
    yield from _runs_table(report, view)
    yield from _notes(report, view)


def _runs_table(report: Report, view: View) -> Iterator[Line]:
    runs, width = report.runs, view.width
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in runs[0].subgraphs])
    defaults = next((f", {text}" for run in runs if (text := defaults_text(run.target))), "")
    releases = ", ".join(dict.fromkeys([str(run.release) for run in runs]))
    title = f"{counted(nodes, 'node')}, each delegate on its own, on {releases}{defaults}"
    yield from paragraph(coverage_verdict(runs), width, "", "  ", style=HEADING)
    runnable = {op for run in runs for op in run.delegate.rules.custom}
    for sentence in compiled_for(report.model, runnable):
        yield from paragraph(f"Warning: {sentence}", width, "", "  ")
    yield from shared_refusal_lines(report.model, runs, width)
    yield from _unregistered_lines(report.model, runs, width)
    yield from paragraph(title, width, "", "")
    yield from _release_lines(runs[0].release, width)
    kernels = kernels_title([run.delegate.name for run in runs])
    titles = ("delegate", "delegated", "multiply-adds", "partitions", kernels, *FURTHER_TITLES, "main blocker")
    names = target_names([run.target for run in runs])
    rows, summaries = [titles], [summary_of(report.model, run) for run in runs]
    for group, positions in in_groups([run.delegate.name for run in runs]):
        rows += [(group, *[""] * (len(titles) - 1))] if group else []
        before = "  " if group else ""
        rows += [_cells(f"{before}{names[place]}", summaries[place]) for place in positions]
    further = range(5, 5 + len(FURTHER_TITLES))
    yield from table(rows, range(1, len(titles) - 1), width, optional=(*further, 3, 4))
    if has_colors() and len(runs) > 1:
        yield Line("")
        groups = in_groups([run.delegate.name for run in runs])
        places = [place for _, positions in groups for place in positions]
        strips = [(names[place], file_lengths(runs[place]), _share_text(summaries[place])) for place in places]
        yield from strips_lines(strips, columns())
    yield from loop_lines(runs[:1], width)
    for label, run in zip(names, runs, strict=True):
        yield from api_lines(report, run, view, label=label)


def _notes(report: Report, view: View) -> Iterator[Line]:
    runs, width = report.runs, view.width
    legends = dict.fromkeys([f"{run.delegate.name} is {run.delegate.legend}" for run in runs if run.delegate.legend])
    about = [*(legends if len(legends) > 1 else ())]
    about += dict.fromkeys(
        [f"{run.delegate.name} is deprecated {run.delegate.deprecated}" for run in runs if run.delegate.deprecated]
    )
    if about:
        yield Line("")
        yield from paragraph(f"{'; '.join(about)}.", width, "", "")
    yield from plugin_lines(runs, width)


def _release_lines(release: Release, width: int) -> Iterator[Line]:
    note = release_note(release)
    if note is not None:
        yield from paragraph(f"Warning: {note}", width, "", "  ")


@dataclass(frozen=True, slots=True)
class ModelRow:
    """The row of one model and one target in the table of many models."""

    path: str
    target: str = ""
    summary: BlockerSummary | None = None
    message: str = ""
    arena: tuple[str, str] | None = None
    """The head and the total of the arena in bytes, empty without a plan. None for delegates, which have no arena."""
    equals: int = 0
    """The number of targets with the largest share of the model, for the first of these targets; 0 for the others."""


def model_rows(report: Report) -> list[ModelRow]:
    """Return a row for each requested target."""
    runs = [run for run in report.runs if not run.by_default]
    names = target_names([run.target for run in runs])
    path = report.model.path or "-"
    arena = _arena_cells(report) if len(runs) == 1 else None
    best = best_runs(runs) if runs else ()
    equals = [len(best) if run is best[0] else 0 for run in runs]
    summaries = [summary_of(report.model, run) for run in runs]
    return [
        ModelRow(path, name, summary, arena=arena, equals=number)
        for name, summary, number in zip(names, summaries, equals, strict=True)
    ]


def _arena_cells(report: Report) -> tuple[str, str] | None:
    if report.application is None:
        return None
    arena = report.application.arena
    return ("", "") if arena is None else (f"{arena.head:,}", f"{arena.total:,}")


def models_lines(rows: Sequence[ModelRow], release: Release, width: int) -> Iterator[Line]:
    """Return a table with a row for each model and target, and the errors of models that cannot be read.

    For many targets, each model has one row: the first of the targets with the largest share of the model.
    """
    models = len({row.path for row in rows})
    answered = [(row.target, row.summary) for row in rows if row.summary is not None]
    results = [(target, own.measures, own.multiply_adds, own.delegated_multiply_adds) for target, own in answered]
    for sentence in TargetTotals.verdicts(TargetTotals.by_target(results)):
        yield from paragraph(sentence, width, "", "  ", style=HEADING)
    targets = {row.target for row in rows if row.summary is not None}
    has_best_only = len(targets) > MOST_IN_WORDS
    yield Line(f"{counted(models, 'model')}, on {release}{' (+N: N more targets with this share)' if has_best_only else ''}")
    yield from _release_lines(release, width)
    keys = 1 if len(targets) < 2 else 2  # the verdict names a single target
    if has_best_only:
        rows = [row for row in rows if row.equals or row.summary is None]
    names = model_names([row.path for row in rows], max(_NARROWEST_MODEL, width // (keys + 1)))
    kernels = kernels_title([target.partition(" ")[0] for target in targets])
    has_arena = any(row.arena is not None for row in rows)
    further = ("head", "arena") if has_arena else (kernels, *FURTHER_TITLES)
    titles = ("accepted" if has_arena else "delegated", "multiply-adds", *further, "main blocker")
    lines = [(*("model", "largest share" if has_best_only else "delegate")[:keys], *titles)]
    lines += [(*(name, _target_cell(row))[:keys], *_model_cells(row)) for name, row in zip(names, rows, strict=True)]
    left_out = (*FURTHER_TITLES, kernels, *(["main blocker"] if has_best_only else []))
    optional = [place for place, title in enumerate(titles, keys) if title in left_out]
    numbers = range(keys, keys + len(titles) - 1)  # bounded: the columns of a table
    yield from table(lines, numbers, width, keys=keys, optional=optional[::-1])
    yield from unanswered_lines([row.message for row in rows if row.summary is None], width)
    yield from many_hint()
    if has_best_only:
        yield Line("For all targets: --format csv, or --delegate NAME", HINT)


def _target_cell(row: ModelRow) -> str:
    return f"{row.target} +{row.equals - 1}" if row.equals > 1 else row.target


def blocker_text(blocker: Blocker | None) -> str:
    """Return the code of the main blocker, after the operator and the number of nodes, or after another description."""
    if blocker is None:
        return ""
    if blocker.compiler:
        return f"not compiled yet: {blocker.code}"
    if blocker.is_input:
        return f"input of unknown size: {blocker.code}"
    return f"{name(blocker.op)} {blocker.nodes:,}: {blocker.code}" if blocker.op else blocker.code


def _share_text(summary: BlockerSummary) -> str:
    measures = summary.measures
    if measures.outcome != TAKEN:
        return outcome_text(measures.outcome)
    if not summary.multiply_adds:
        return share(measures.delegated_nodes, measures.nodes)
    return share(summary.delegated_multiply_adds, summary.multiply_adds)


def _cells(delegate: str, summary: BlockerSummary) -> tuple[str, ...]:
    measures = summary.measures
    fails = measures.outcome in NOT_RUNNING
    delegated = f"{measures.delegated_nodes:,} ({share(measures.delegated_nodes, measures.nodes)}{wrong_text(measures)})"
    return (
        delegate,
        delegated if measures.outcome == TAKEN else outcome_text(measures.outcome),
        "-" if fails else work_cell(summary.delegated_multiply_adds, summary.multiply_adds),
        f"{measures.partitions:,}",
        f"{measures.delegate_kernels:,}",
        *further_cells(measures),
        blocker_text(summary.blocker),
    )


def _model_cells(row: ModelRow) -> tuple[str, ...]:
    """Return the cells of a model. If the run fails or delegates no node, the outcome replaces the share of nodes."""
    if row.summary is None:
        return "unreadable", *[""] * (3 + len(FURTHER_TITLES))
    _, _, multiply_adds, _, *kernels, blocker = _cells("", row.summary)
    return nodes_cell(row.summary.measures), multiply_adds, *(row.arena or kernels), blocker


def shared_refusal_lines(model: Model, runs: Sequence[Run], width: int) -> Iterator[Line]:
    """Yield a paragraph for each refusal of the whole graph that several delegates share."""
    for refusal, stopped in shared_refusals(runs):
        names = and_list([run.delegate.name for run in stopped])
        title = stopped[0].delegate.kinds[refusal.code].title
        yield from paragraph(f"{counted(len(stopped), 'target')} do not start: {title} ({names})", width, "", "  ")
        fix = sizes_fix(model, stopped[0])
        if fix is not None:
            yield from paragraph(f"  with fixed sizes, {subject(fix.run.target)}: {fix.fix.result}", width, "", "    ")
            yield Line(f"    {printable(fix.command)}")


def _unregistered_lines(model: Model, runs: Sequence[Run], width: int) -> Iterator[Line]:
    stopped = [run for run in runs if run.refusal is not None and run.refusal.code == OPERATOR_NOT_REGISTERED.name]
    if stopped:
        ops = item_list(sorted(map(name, custom_operators(model, stopped[0].target).unregistered)), _OPERATORS_WIDTH)
        text = f"{counted(len(stopped), 'target')} cannot run the model unless the application registers {ops}. If it does: "
        yield from paragraph(f"{text}--assume-ops-registered", width, "", "  ")


_OPERATORS_SHOWN = 30
_GROUPS_SHOWN = 20
_WIDEST_OPERATOR = 32
_OPERATORS_WIDTH = 40


def comparison_lines(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    """Return the table of operators and the nodes that only some delegates take."""
    yield Line("Side by side: nodes delegated", HEADING)
    yield from _table(runs, width, verbose)
    yield Line("")
    yield from _disagreements(runs, width, verbose)


def _table(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    rows = operator_rows(runs)
    totals = [sum(row.nodes for row in rows), *[sum(row.delegated[column] for row in rows) for column in range(len(runs))]]
    shown = rows if verbose else rows[:_OPERATORS_SHOWN]
    cells = [("operator", "nodes", *target_names([run.target for run in runs]))]
    cells += [
        (cut(name(row.op), _WIDEST_OPERATOR), f"{row.nodes:,}", *(f"{count:,}" for count in row.delegated)) for row in shown
    ]
    cells.append(("all", *(f"{count:,}" for count in totals)))
    yield from table(cells, range(1, len(runs) + 2), width)
    yield from more_lines(len(rows) - len(shown), "operator")


def _disagreements(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    results = disagreements(runs)
    if not results:
        yield Line("The delegates agree on every node.")
        return
    yield Line(f"The delegates disagree on {counted(len(results), 'node')}", HEADING)
    groups: dict[tuple[int, tuple[str, ...]], list[Disagreement]] = {}
    for result in results:
        words = tuple([_state(reasons, run) for reasons, run in zip(result.reasons, runs, strict=True)])
        groups.setdefault((result.subgraph, words), []).append(result)
    several = len(runs[0].subgraphs) > 1
    labels = target_names([run.target for run in runs])
    shown = list(groups.items()) if verbose else list(groups.items())[:_GROUPS_SHOWN]
    for (subgraph, words), members in shown:
        where = f"subgraph {subgraph}, " if several else ""
        nodes = node_list([member.node.index for member in members], None if verbose else width // 2)
        yield Line(f"  {where}{_operators(members, verbose)}: {counted(len(members), 'node')} [{nodes}]")
        states = [(label, message(state)) for label, state in zip(labels, words, strict=True)]
        yield from table(states, (), width, indent=4)
    yield from more_lines(len(groups) - len(shown), "group", after=" of nodes")


def _operators(members: Sequence[Disagreement], verbose: bool) -> str:
    operators = [member.node.op for member in members]
    return name(operators[0]) if len({*operators}) == 1 else operator_list(operators, None if verbose else _OPERATORS_WIDTH)


def _state(reasons: tuple[Reason, ...] | None, run: Run) -> str:
    if reasons is None:
        return "delegated"
    return "; ".join(f"{reason.code}: {reason.message}" for reason in reasons) or words_of(run.delegate.name).left

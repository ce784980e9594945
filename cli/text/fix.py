"""The result of ``fix`` as text and as plain data: the passes, and the comparison of both models."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from delegate_sim.diagnosis.advice.commands import diagnose_command, fix_command, joint_fix_command, shapes_as_typed
from delegate_sim.diagnosis.advice.plain_fix import shape_arguments
from delegate_sim.fixing.descent import FixStep
from delegate_sim.fixing.fix import Fixed
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.score import Standing, helps_visibly
from delegate_sim.fixing.search import Conflict, FixPlan
from delegate_sim.foundation.printable import printable
from delegate_sim.hypothetical.fixed_inputs import open_inputs
from delegate_sim.results.report.findings import risks_text
from delegate_sim.results.report.measures import NOT_RUNNING, TAKEN
from delegate_sim.results.report.outcome_words import words_of
from delegate_sim.results.report.verdict import share_text, short_verdict
from delegate_sim.runtime.target import target_names

from ..console.layout import counted, message, share
from ..console.terminal import Line
from .elements.measures import further_text, growth_lines, measures_text
from .elements.paragraphs import BAD, HEADING, HINT, heading_lines, indented, paragraph
from .elements.verdict import plugin_lines
from .inference import NO_OUTPUT_DEPENDS, SHOWS_NOTHING, difference_lines

if TYPE_CHECKING:
    from delegate_sim.timing.fixes import PlanTimes
    from delegate_sim.timing.measured import Timing

TargetTimings: TypeAlias = "Mapping[str, Sequence[Timing]]"
"""The measured times of the unchanged model, by delegate."""
NO_TIMINGS: TargetTimings = MappingProxyType({})
_OPS = 8


def fixes_lines(
    results: Sequence[tuple[FixPlan, Fixed | None]],
    width: int,
    verbose: bool,
    splits: bool = False,
    timings: TargetTimings = NO_TIMINGS,
) -> Iterator[Line]:
    """Yield the texts of several fixes. ``timings`` has the measured times by delegate."""
    for number, (plan, fixed) in enumerate(results):
        if number:
            yield Line("")
        yield from fix_lines(plan, fixed, width, verbose, splits)
        for times in times_of(plan, timings):
            from .compare import change_lines

            yield from change_lines(times, verbose)


def times_of(plan: FixPlan, timings: TargetTimings) -> Sequence[PlanTimes]:
    """Return the times of a fix for each target. Without timings, the result is empty."""
    if not timings:
        return ()
    from delegate_sim.timing.fixes import plan_times

    return plan_times(plan, timings)


def fix_lines(plan: FixPlan, fixed: Fixed | None, width: int, verbose: bool, splits: bool = False) -> Iterator[Line]:
    """Yield the text of a fix: the result, the passes, and the differences between the outputs of both models."""
    for before, after in zip(plan.before, plan.after, strict=True):
        yield from paragraph(_verdict(plan, before, after), width, "", "  ", style=HEADING)
    is_first = not plan.is_changed  # the shapes are then the best answer
    if is_first:
        yield from _shape_lines(plan, width, HEADING)
    yield from paragraph(answer_text(plan, fixed, _hint(plan)), width, style=HEADING)
    yield from _command_lines(plan, fixed, width)
    yield Line("")
    names = _names(plan)
    for target_name, before, after in zip(names, plan.before, plan.after, strict=True):
        yield from indented(f"{target_name} on {before.target.release}", width, "  ", HEADING)
        yield from indented(f"before: {_numbers(before)}", width, "    ")
        if plan.is_changed:
            what = "after:  " if plan.split is None else "first model, after: "
            yield from indented(f"{what}{_numbers(after)}", width, "    ")
    if plan.is_changed and plan.split is None:
        numbers = plan.before[0].measures.nodes, plan.after[0].measures.nodes
        if plan.shapes and any(
            before.total_multiply_adds < after.total_multiply_adds for before, after in zip(plan.before, plan.after, strict=True)
        ):
            yield from paragraph("Before, multiply-adds of unknown sizes were not counted.", width, "  ")
        yield from growth_lines(*numbers, "The rewritten model has {times} the nodes of the original model", width)
    if not is_first and plan.with_shapes is not None:
        yield Line("")
        yield from _shape_lines(plan, width)
    for text in [conflict_text(plan, conflict) for conflict in plan.conflicts]:
        yield Line("")
        yield from paragraph(text, width)
    if plan.steps or plan.shapes:
        yield from heading_lines("Passes")
        graph = plan.model.subgraphs[0]
        for index, shape in plan.shapes.items():
            yield from indented(f"shape of {message(graph.tensors[index].name)}: {list(shape)} (as requested)", width, "  ")
        for number, step in enumerate(plan.steps, 1):
            yield from step_lines(number, step, width, names)
    yield from _more_nodes_lines(plan, names, width)
    if splits:
        yield Line("")
        yield from _split_lines(plan, fixed, width)
    if verbose and plan.rejected:
        yield from heading_lines("Tried and not kept")
        for trial in plan.rejected:
            verdict = "makes a target worse" if trial.is_worse else "improves no target"
            yield from indented(f"{trial.name} ({trial.exactness.words}): {verdict}", width, "  ")
    yield from plugin_lines(plan.after, width)
    yield from proof_lines(plan, fixed, width, verbose)


def _command_without(plan: FixPlan, conflict: Conflict) -> str:
    """Return the command without the targets that a change makes worse."""
    losing = [standing.target for standing in conflict.losing]
    left = [target for target in plan.targets if target not in losing]
    joint = joint_fix_command(plan.model, left) if len(left) > 1 else ""
    return joint or fix_command(plan.model, conflict.alone.target)


def _command_lines(plan: FixPlan, fixed: Fixed | None, width: int) -> Iterator[Line]:
    """Yield the command without worse targets, the result with approximate passes, and the command for the written file."""
    if not plan.is_changed and plan.conflicts:
        yield Line(f"  {printable(_command_without(plan, plan.conflicts[0]))}", HINT)
    if plan.approximate is not None:
        better = _better_results(plan, plan.approximate)
        yield from paragraph(f"With --allow approximate: {better}", width, style=HEADING)
    if fixed is None or fixed.path is None:
        return
    said = ""
    for after in plan.after:
        if after.on_cpu:
            text = f"What keeps nodes of the written file {words_of(after.delegate.name).left}:"
            yield from paragraph(text, width) if text != said else ()
            said = text
            # The command is not wrapped, so that it can be copied.
            command = diagnose_command(replace(plan.rewritten.model, path=fixed.path), after.target)
            yield Line(f"  {printable(command)}", HINT)


def _better_results(plan: FixPlan, other: FixPlan) -> str:
    pairs = zip(other.after, plan.after, strict=True)
    better = [(now, after) for after, now in pairs if after.score < now.score]
    return "; ".join([f"{_name_of(plan, after)} {_numbers(after)}{_risks_left(now, after)}" for now, after in better])


def _risks_left(before: Standing, after: Standing) -> str:
    is_cured = before.at_risk and not after.at_risk
    return " without known wrong numbers" if is_cured else risks_text(after.at_risk, ", but ")


def _names(plan: FixPlan) -> list[str]:
    return target_names([standing.target for standing in plan.before])


def _name_of(plan: FixPlan, standing: Standing) -> str:
    return _names(plan)[[before.target for before in plan.before].index(standing.target)]


def proof_lines(plan: FixPlan, fixed: Fixed | None, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the changes that were not simulated, and the differences between the outputs of both models."""
    for reason in plan.not_simulated:
        yield Line("")
        yield from paragraph(f"Not simulated: {reason}", width)
    if fixed is not None:
        yield Line("")
        if fixed.difference is None:
            yield Line("Not proven, because the models were not run (--no-proof)", BAD)
        else:
            yield from difference_lines(fixed.difference, width, verbose)


def _split_lines(plan: FixPlan, fixed: Fixed | None, width: int) -> Iterator[Line]:
    split = plan.split
    if split is None:
        yield from paragraph("Not split: the model does not end with nodes that stay on the CPU", width, style=HEADING)
        return
    counts = Counter([node.custom_code or node.op for node in split.nodes]).most_common(_OPS)
    ops = ", ".join([f"{message(op)} ({count:,})" for op, count in counts])
    where = "a second model" if fixed is None or fixed.second_path is None else message(fixed.second_path)
    size = "" if fixed is None or fixed.second_path is None else f" ({fixed.second_size:,} bytes)"
    yield from paragraph(f"{counted(len(split.nodes), 'trailing node')} in {where}{size}: {ops}", width, style=HEADING)
    yield from indented(
        "the second model may read inputs of the original model, and these outputs of the first model:", width, "  "
    )
    for tensor in split.between:
        yield from indented(f"{message(tensor.name)}: {tensor.type} {list(tensor.shape)}", width, "    ")


def answer_text(plan: FixPlan, fixed: Fixed | None, hint: str) -> str:
    """Return a sentence about the written file. ``hint`` is advice for a model that no pass improves."""
    tried = f"{counted(plan.simulations, 'simulation')}"
    if not plan.is_changed and not plan.is_needed:
        return f"Nothing to fix: all nodes are {words_of(plan.before[0].delegate.name).accepted}"
    if not plan.is_changed and plan.conflicts:
        alone, losing = plan.conflicts[0].alone, plan.conflicts[0].losing
        worse = " and ".join([_name_of(plan, standing) for standing in losing])
        without = f"A rewrite for {_name_of(plan, alone)} is worse on {worse}; without {worse}"
        return f"No pass improves one target without making another target worse ({tried}). {without}:"
    if not plan.is_changed:
        no_pass = "No tried pass" if plan.not_simulated else "No pass"
        if plan.with_shapes is not None:
            no_pass = f"Without fixed sizes, {no_pass.lower()}"
        return f"{no_pass} improves the model ({tried}); {hint}"
    if fixed is None or fixed.path is None:
        if not plan.steps:
            return f"No pass would improve the model ({tried}), but the requested changes would be made; nothing is written"
        passes = "1 pass" if len(plan.steps) == 1 else f"{len(plan.steps)} passes"
        at_least = "At least " if plan.not_simulated else ""
        return f"{at_least}{passes} would improve the model ({tried}); nothing is written"
    proof = "not proven"
    if fixed.difference is not None:
        bits = "same outputs, bit for bit"
        if plan.holds_for:
            bits += f" (exact for {' and '.join(plan.holds_for)})"
        if plan.exactness is Exactness.APPROXIMATE:
            bits = f"{plan.exactness.words}, but the outputs are the same for the tried inputs"
        if fixed.difference.shows_nothing:
            bits = f"{plan.exactness.words}, but this {SHOWS_NOTHING}"
        elif all(output.is_constant for output in fixed.difference.outputs):
            varying = sum([not tensor.is_constant for tensor in fixed.difference.tensors])
            do = "does, and is" if varying == 1 else "do, and are"
            bits = f"{plan.exactness.words}, but {NO_OUTPUT_DEPENDS}; {counted(varying, 'tensor')} between nodes {do} the same"
        proof = bits if fixed.difference.is_same else f"{plan.exactness.words}: see below"
    unread = f", including {fixed.unread_bytes:,} in unused constants" if fixed.unread_bytes else ""
    second = "" if fixed.second_path is None else f" and {message(fixed.second_path)}"
    return f"Wrote {message(fixed.path)} ({fixed.size:,} bytes{unread}, before {plan.model.size:,}){second}: {proof}"


def _shape_lines(plan: FixPlan, width: int, style: str = "") -> Iterator[Line]:
    other = plan.with_shapes
    if other is None:
        return
    arguments = shape_arguments(other)
    options = message(shlex.join(arguments))
    yield from paragraph(f"With fixed sizes ({options}): {_better_results(plan, other)}", width, style=style)
    alone = fix_command(plan.model, plan.targets[0], *arguments)
    command = alone if len(plan.targets) == 1 else joint_fix_command(plan.model, plan.targets, *arguments)
    if command:
        yield Line(f"  {printable(command)}", HINT)


def conflict_text(plan: FixPlan, conflict: Conflict) -> str:
    """Return a sentence about a target that would have a better result alone, and about the targets that would then get worse."""
    alone = conflict.alone
    losing = "; ".join([f"{_name_of(plan, standing)}: {_with_risks(standing)}" for standing in conflict.losing])
    text = f"A model only for {_name_of(plan, alone)} is better there: {_with_risks(alone)}"
    left_out = "--per-target writes a file for each target; --delegate names the targets to keep"
    return f"{text}. It is worse on other targets: {losing}. {left_out}"


def _verdict(plan: FixPlan, before: Standing, after: Standing) -> str:
    now, then = (
        short_verdict(
            standing.target,
            replace(standing.measures, wrong_results=None, possibly_wrong_results=None),  # the text names the nodes
            standing.multiply_adds,
            standing.total_multiply_adds,
            standing.refusal,
        )
        + risks_text(standing.at_risk, ", but ")
        for standing in (before, after)
    )
    if not plan.is_changed or now == then:
        return now
    if after.measures.outcome != TAKEN:
        return f"{now}. Rewritten: {then}{after.refusal_text and f', because {after.refusal_text}'}"
    shares = share_text(after.measures.delegated_nodes, after.measures.nodes, after.multiply_adds, after.total_multiply_adds)
    what = "rewritten" if plan.split is None else "in the first of two models"
    return f"{now}; {what}, {shares}{_risks_left(before, after)}"


def _hint(plan: FixPlan) -> str:
    left = dict.fromkeys([words_of(standing.delegate.name).left for standing in plan.before])
    has_failed = any(standing.measures.outcome in NOT_RUNNING for standing in plan.before)
    what = "why the model does not run" if has_failed else f"what keeps nodes {' or '.join(left)}"
    hints = [f"delegate-sim diagnose shows {what}"]
    inputs = [] if plan.shapes or plan.with_shapes is not None else open_inputs(plan.model)
    if inputs:
        options = message(shlex.join(shapes_as_typed([(tensor.name, tensor.shape) for tensor in inputs])))
        hints.insert(0, f"other changes may need {options}, or other fixed sizes")
    return "; ".join(hints)


def _numbers(standing: Standing) -> str:
    measures = standing.measures
    words = words_of(standing.target.delegate.name)
    text = measures_text(measures, words) + further_text(measures, words)
    if standing.total_multiply_adds:
        text += f", {share(standing.multiply_adds, standing.total_multiply_adds)} of {standing.total_multiply_adds:,} "
        text += f"multiply-adds {words.accepted}"
    return text


def step_lines(number: int, step: FixStep, width: int, names: Sequence[str] = ()) -> Iterator[Line]:
    """Yield the name of a pass, the effect, and the result on each target. ``names`` has the names of the step's targets."""
    yield from indented(f"{number}. {step.name} ({step.promise}), {counted(step.nodes, 'node')}", width, "  ")
    yield from indented(step.does, width, "     ")
    for target_name, standing in zip(names, step.standings, strict=True):
        yield from indented(f"{target_name}: {_with_risks(standing)}", width, "     ")
    reason = _reason(step, names)
    if reason:
        yield from indented(reason, width, "     ")


def _with_risks(standing: Standing) -> str:
    return _numbers(standing) + risks_text(standing.at_risk, ", but ")


def _reason(step: FixStep, names: Sequence[str]) -> str:
    results = list(zip(names, step.standings, step.before, strict=True))
    if not results or any(helps_visibly(now, before) for _, now, before in results):
        return ""
    cured = [name for name, now, before in results if now.score < before.score]
    if cured:
        return f"reason: without this pass, {' and '.join(cured)} may compute wrong numbers"
    return "reason: this pass helps only together with the other passes"


def _more_nodes_lines(plan: FixPlan, names: Sequence[str], width: int) -> Iterator[Line]:
    results = zip(names, plan.before, plan.after, strict=True)
    numbers = [
        (name, before.measures.fallback_nodes, after.measures.fallback_nodes)
        for name, before, after in results
        if before.measures.is_delegated
    ]
    more = [f"{name}: {before:,} -> {after:,}" for name, before, after in numbers if after > before]
    if more and plan.is_changed and plan.split is None:
        yield Line("")
        text = f"More nodes are not delegated ({'; '.join(more)}), because other measures count more."
        yield from paragraph(f"{text} check fails on the new model until you accept it with check --update.", width)

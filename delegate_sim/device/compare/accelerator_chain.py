"""Compare a log of LiteRT 2's ``CompiledModel`` with the simulation of several accelerators, one step for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...delegates.base import Delegate
from ...delegates.registry import ACCELERATORS, APPLIED_AHEAD, DISPATCH_KERNEL
from ...foundation.columns import LIST, OBJECT, Column, Declared, attributes
from ...model.model import Model
from ...releases.catalogue import Release
from ...results.report.accelerator_stack import Stack, StackResult, delegates_of, simulate_stack
from ...results.report.tables import MODEL
from ...runtime.interpreter import Run
from ..parse.applied_target import releases_of
from ..parse.error_meanings import ExplainedError, explained_errors
from ..parse.log import read_lines
from ..parse.log_contents import DeviceLog, Replacement, long_lines_note
from ..parse.log_runs import NO, npu_stages, run_note, separate_runs
from ..parse.tables import Event
from .differences import ListedRefusal, differences, listed_refusals, plugin_notes
from .observed_delegation import Tally, device_tally, facts_of, graph_sizes, shows_refusal, simulated_tally
from .reconcile import EXPLAINED, LINES, NOT_COMPARED, REPRODUCED, UNEXPLAINED
from .row_matching import OTHER_MODEL

NOT_APPLIED = "not-applied"
"""Status of a step if the log does not show that this accelerator was applied."""
_NOTHING = Tally((), None, None, None, None)


@dataclass(frozen=True, slots=True)
class StepReconciliation(Declared):
    """Comparison of an accelerator's log lines with the simulation of this accelerator."""

    columns = (
        *(*attributes("accelerator", "delegate", "status"), *attributes("device", "simulated", type=OBJECT)),
        *(Column("differences", LIST), Column("listed_refusals", LIST, parts=ListedRefusal.columns), Column("notes", LIST)),
    )

    accelerator: str
    delegate: str
    status: str
    """``reproduced``, ``unexplained``, ``not-compared`` or ``not-applied``."""
    device: Tally
    simulated: Tally
    differences: tuple[str, ...]
    listed_refusals: tuple[ListedRefusal, ...]
    notes: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    """The notes that say why the log may not be from this model."""
    has_other_selection: bool = False
    """Whether the plugin on the device selected other nodes than in the simulation."""


@dataclass(frozen=True, slots=True)
class StackReconciliation(Declared):
    """The result of ``reconcile_stack``. ``to_dict`` returns the result as plain data with a stable schema."""

    document = "reconcile-accelerators"
    columns = (
        *(MODEL, Column("status"), Column("accelerators", LIST, source=lambda own: [step.accelerator for step in own.steps])),
        *(Column("soc"), Column("runtimes", LIST, source=lambda own: [release.name for release in own.releases])),
        Column("explanation", source=lambda own: own.explanation or None),
        *(Column("steps", LIST, parts=StepReconciliation.columns), Column("errors", LIST), LINES, Column("notes", LIST)),
    )

    model: Model
    log: DeviceLog
    result: StackResult
    soc: str
    releases: tuple[Release, ...]
    status: str
    explanation: str
    steps: tuple[StepReconciliation, ...]
    errors: tuple[ExplainedError, ...]
    notes: tuple[str, ...]


def reconcile_stack(
    model: Model, log: DeviceLog, stack: Stack, runtime: str | None = None, options: Mapping[str, Any] | None = None
) -> StackReconciliation:
    """Compare each accelerator's log lines with its simulation. Raises OptionError for an unknown SoC or option.

    If they differ, accelerators without delegated nodes in the log are left out. If that fits, the device did not apply them.
    """
    runs = separate_runs([log], sum([bool(subgraph.nodes) for subgraph in model.subgraphs]))
    log, notes = runs[-1], [*filter(None, [run_note(len(runs), None), long_lines_note(log)])]
    releases = releases_of(log, runtime, notes)
    trial = _Trial(model, log, stack, releases[-1], options or {})
    steps, outcome, is_explained = trial.steps(stack), "", False
    is_same = not any(step.status in (UNEXPLAINED, NOT_APPLIED) for step in steps)
    for fewer, missing in () if is_same else _fewer(stack, steps):
        other = trial.steps(fewer)
        if _status(other) == REPRODUCED:
            unused = [step for step in steps if step.accelerator in missing]
            outcome, is_explained = _without(log, missing), not any(step.has_other_selection for step in unused)
            steps = unused + other
            trial.result = trial.simulated(fewer)
            break
    steps.sort(key=lambda step: [*ACCELERATORS].index(step.accelerator))
    status, explanation = (EXPLAINED, outcome) if is_explained else (_status(steps), "")
    notes += [outcome] if outcome and not is_explained else []
    errors = explained_errors(log)
    return StackReconciliation(
        model, log, trial.result, stack.soc, releases, status, explanation, tuple(steps), errors, tuple(notes)
    )


def _without(log: DeviceLog, missing: Sequence[str]) -> str:

    stages = npu_stages(log) if log.plugins and APPLIED_AHEAD in missing else None
    unrequested = [name for name in missing if stages is None or name != APPLIED_AHEAD]
    parts = [f"the device behaves as if {' and '.join(unrequested)} had not been requested"] if unrequested else []
    if stages is not None:
        was = "were not compiled" if stages.compiled == NO else "were not run"
        why = f" ({stages.stop})" if stages.stop else ""
        parts.append(f"the nodes that the plugin selected {was}{why}, and the device ran the model without {APPLIED_AHEAD}")
    return "; ".join(parts)


class _Trial:
    def __init__(self, model: Model, log: DeviceLog, stack: Stack, release: Release, options: Mapping[str, Any]) -> None:
        self.model = model
        # The operator tables list the nodes that are left after all steps, so one step cannot be compared with the tables.
        self.log = replace(log, run_orders={}, summaries={})
        self.release = release
        self.options = options
        self.result = self.simulated(stack)

    def simulated(self, stack: Stack) -> StackResult:
        known = {option.name for delegate in delegates_of(stack) for option in delegate.options}
        options = {key: value for key, value in self.options.items() if key in known}
        # The device loaded the model, so its resolver had all operators.
        return simulate_stack(self.model, replace(stack, options=options, release=self.release, assume_ops_registered=True))

    def steps(self, stack: Stack) -> list[StepReconciliation]:
        runs = {run.delegate.name: run for run in self.simulated(stack).runs}
        steps: list[StepReconciliation] = []
        for accelerator, delegate in zip(stack.accelerators, delegates_of(stack), strict=True):
            is_alike = all(step.status in (REPRODUCED, NOT_COMPARED) for step in steps)
            steps.append(self._step(accelerator, delegate, runs.get(delegate.name), is_alike))
        return steps

    def _step(self, accelerator: str, delegate: Delegate, run: Run | None, is_alike: bool) -> StepReconciliation:
        missing = self.log.statements_of(Event.NOT_REGISTERED)
        notes = tuple([statement.line for statement in missing if statement.values["name"].lower() == accelerator])
        made = partial(StepReconciliation, accelerator, delegate.name)
        if accelerator == APPLIED_AHEAD:
            return self._ahead(made, delegate, run, notes)
        facts = facts_of(self.log, delegate, [] if run is None else [subgraph.graph for subgraph in run.subgraphs])
        is_shown = facts.replacements is not None and bool(facts.lines)
        if run is None:  # earlier accelerators took all nodes
            status = UNEXPLAINED if is_shown else NOT_COMPARED
            more = ("only the device applies this accelerator; in the simulation, no nodes are left for it",) if is_shown else ()
            return made(status, _NOTHING, _NOTHING, more, (), notes)
        if not (is_shown or facts.splits or facts.listed_refusals):
            takes = any(subgraph.delegated for subgraph in run.subgraphs)
            status = NOT_APPLIED if takes else NOT_COMPARED
            return made(status, _NOTHING, simulated_tally(run), (), (), notes)
        differing = tuple(differences(facts, run))
        sizes = graph_sizes(run)
        have = (
            f"after the earlier accelerators the model's subgraphs have {', '.join(map(str, sorted(sizes)))} nodes; {OTHER_MODEL}"
        )
        totals = [total for total in facts.line_totals if is_alike and total not in sizes]
        doubts = tuple([f"a log line counts {total} nodes, but {have}" for total in totals])
        refusals, notes = listed_refusals(facts, run), (*notes, *doubts)
        status = UNEXPLAINED if differing else REPRODUCED
        return made(status, device_tally(facts, run), simulated_tally(run), differing, refusals, notes, doubts)

    def _ahead(
        self, made: Callable[..., StepReconciliation], delegate: Delegate, run: Run | None, notes: tuple[str, ...]
    ) -> StepReconciliation:
        """Compare the step of a compiler plugin: the selected nodes, and the kernels that run the compiled partitions."""
        theirs = [replacement for replacement in self.log.replacements if replacement.kernel == DISPATCH_KERNEL]
        ours = Tally((), 0, 0, None, None) if run is None else simulated_tally(run)
        if not self.log.plugins and not theirs:
            is_refused = run is not None and shows_refusal(self.log, run)
            return made(REPRODUCED if is_refused else NOT_APPLIED, _NOTHING, ours, (), (), notes)
        if run is None:
            return made(NOT_COMPARED, _NOTHING, ours, (), (), notes)
        differing: list[str] = []
        device, doubts = _NOTHING, tuple[str, ...]()
        if self.log.plugins:
            facts = facts_of(self.log, delegate, [subgraph.graph for subgraph in run.subgraphs])
            differing += differences(facts, run)
            device, doubts = device_tally(facts, run), tuple(plugin_notes(self.log, run))
        notes, is_other = (*notes, *doubts), bool(differing)
        if theirs or not self.log.plugins or run.outcome == "delegated":
            differing += _dispatched(theirs, run)
        if self.log.plugins and not theirs and run.outcome == "delegated":
            notes = (*notes, "the log does not show that selected nodes were compiled and run")
        device = replace(device, lines=(*device.lines, *[line.line for line in theirs]))
        status = UNEXPLAINED if differing else REPRODUCED
        return made(status, device, ours, tuple(differing), (), notes, doubts, is_other)


def _dispatched(theirs: Sequence[Replacement], run: Run) -> Iterator[str]:
    ours = [replacement for replacement in read_lines(run.log_lines).replacements if replacement.kernel == DISPATCH_KERNEL]
    if [replace(line, line="", name=None) for line in theirs] != [replace(line, line="", name=None) for line in ours]:
        on_device, simulated = (" ".join([replacement.line for replacement in lines]) or "no line" for lines in (theirs, ours))
        yield f"the lines about {DISPATCH_KERNEL} differ; device: {on_device} / simulation: {simulated}"


def _fewer(stack: Stack, steps: Sequence[StepReconciliation]) -> Iterator[tuple[Stack, tuple[str, ...]]]:
    """Yield smaller stacks without accelerators that took nothing in the log: each removed alone, then all together."""
    silent = []
    for step in steps:
        is_unused = step.accelerator == APPLIED_AHEAD and not any(DISPATCH_KERNEL in line for line in step.device.lines)
        silent += [step.accelerator] if is_unused or step.status in (NOT_APPLIED, NOT_COMPARED) else []
    for missing in [(name,) for name in silent] + ([tuple(silent)] if len(silent) > 1 else []):
        left = tuple([name for name in stack.accelerators if name not in missing])
        if left:
            yield Stack(left, stack.soc if APPLIED_AHEAD in left else ""), missing


def _status(steps: Sequence[StepReconciliation]) -> str:
    statuses = {step.status for step in steps}
    if UNEXPLAINED in statuses or {REPRODUCED, NOT_APPLIED} <= statuses:
        return UNEXPLAINED
    return REPRODUCED if REPRODUCED in statuses else NOT_COMPARED

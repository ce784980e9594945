"""Compare the delegation that a device log shows with the simulation, and explain the differences.

>>> from delegate_sim.device.parse.log import read_runs_file
>>> from delegate_sim.device.compare.reconcile import reconcile
>>> reconcile(delegate_sim.load("model.tflite"), read_runs_file("device.txt")[-1]).status  # doctest: +SKIP
'explained'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...delegates.base import Delegate
from ...delegates.driver import Driver
from ...delegates.registry import ACCELERATORS, APPLIED_AHEAD, DISPATCH_KERNEL, PLUGIN_NAMES
from ...foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Table, attributes, within
from ...graph.effort import Effort
from ...model.model import Model
from ...releases.catalogue import Release
from ...results.report.display import Shown, Times
from ...results.report.rule_set import rule_set_version
from ...results.report.tables import MODEL, TIMES, model_name
from ...runtime.interpreter import Run, option_values
from ..parse.applied_target import DeviceSetting, setting_of
from ..parse.delegate_identity import accelerators_in
from ..parse.error_meanings import ExplainedError, cause_of, explained_errors
from ..parse.log_contents import DeviceLog, long_lines_note
from ..parse.log_runs import run_note, separate_runs
from ..parse.tables import Event
from .assumption_search import disproved_limit, explanations, fitting_levels, options_as_typed
from .differences import (
    ListedRefusal,
    RefusalDifference,
    counts_agree,
    differences,
    is_disproved,
    listed_refusals,
    other_model_note,
    refusal_differences,
)
from .observed_delegation import Facts, Tally, device_tally, facts_of, shows_refusal, simulated_tally
from .row_matching import other_operations, split_differences, stage_notes
from .trial_simulations import Account, AssumptionTrial, CpuNode, Trials, as_observed, cpu_nodes, simulate_setting

REPRODUCED, EXPLAINED, UNEXPLAINED, NOT_COMPARED = "reproduced", "explained", "unexplained", "not-compared"
"""Statuses of a comparison. ``NOT_COMPARED`` means that the log does not show the delegation."""
NOT_CREATED = "not-created"
"""The kind of account of a log that shows why the device could not create the delegate."""

_COUNTS = (Column("count", INTEGER, source="line_count"), Column("unused", INTEGER, source="unused_count"))
LINES = Column("lines", OBJECT, source="log", parts=_COUNTS)
_SETTING = (
    *(Column("delegate", source="delegate.name"), Column("rule_set", source=lambda own: rule_set_version(own.delegate))),
    Column("runtimes", LIST, source=lambda own: [release.name for release in own.releases]),
    Column("may_be_older", YES_OR_NO),
    Column("options", OBJECT, source=lambda own: option_values(own.options)),
    *(Column("options_known", LIST, source=lambda own: sorted(own.known)), Column("defaults")),
)


@dataclass(frozen=True, repr=False)
class Reconciliation(Shown):
    """The result of ``reconcile``. ``to_dict`` returns the result as plain data with a stable schema."""

    document = "reconcile"
    columns = (
        *(MODEL, Column("status"), *within("setting", _SETTING), *attributes("device", "simulated", type=OBJECT)),
        *(Column("differences", LIST), Column("failure", source=lambda own: own.failure or None), Column("evidence")),
        Column("explanation", OBJECT, source="account", parts=Account.columns),
        *(Column("closest", OBJECT, parts=AssumptionTrial.columns), Column("nodes", LIST)),
        *(Column("operators", LIST, source="refusals"), Column("listed_refusals", LIST, parts=ListedRefusal.columns)),
        *(Column("errors", LIST), LINES, *attributes("feature_levels", "notes", type=LIST)),
        *(Column("learnt", OBJECT, source="learned"), TIMES),
    )

    model: Model
    log: DeviceLog
    setting: DeviceSetting
    status: str
    device: Tally
    simulated: Tally
    differences: tuple[str, ...]
    """The differences between the log and the first simulation, which has no assumptions."""
    account: Account | None
    """The assumptions that explain the differences."""
    nodes: tuple[CpuNode, ...]
    refusals: tuple[RefusalDifference, ...]
    listed_refusals: tuple[ListedRefusal, ...]
    """The operators that the device or the simulation refuses. Empty if the log has no list of refused operators."""
    errors: tuple[ExplainedError, ...]
    """The errors in the log, with their meanings."""
    feature_levels: tuple[int, ...]
    """Feature levels at which a simulation without rejections by the driver reproduces the log."""
    evidence: str
    """The kind of log lines that show the CPU nodes: ``run-order``, ``node-types``, ``partial`` or ``lines``."""
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    """The notes that say why the log may not be from this model."""
    run: Run
    """The simulation that matches the log best."""
    is_foreign: bool = False
    """True if every line about replaced nodes belongs to another delegate."""
    learned: Mapping[str, Any] | None = None
    """The profile that was learned from the log and written, as plain data. None if no profile was written."""
    times: tuple[Times, ...] = ()
    """The measured times in the log and in op profiles."""
    failure: str = ""
    """The line that says why the model did not run on the device, or why the delegate was not applied, or ""."""
    closest: AssumptionTrial | None = None
    """The assumptions that leave the fewest differences, if no assumptions explain the log. None if no assumption helps."""
    counts_agree: bool | None = None
    """Whether the log counts as many nodes as the model has. None if the log has no count of all nodes."""

    def _line(self) -> str:
        why = self.account.text if self.account is not None else "; ".join(self.differences)
        target = f"{self.setting.delegate.name} on {self.run.release}"
        return f"{model_name(self.model)}, {target}: {self.status}{f', {why}' if why else ''}"

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        counts = ("delegated", "partitions", "kernels", "on_cpu")
        sides = {"device": self.device, "simulated": self.simulated}
        tally = [(side, *[getattr(own, name) for name in counts]) for side, own in sides.items()]
        return {
            "nodes": lambda: Table(CpuNode._fields, [tuple(node) for node in self.nodes]),
            "tally": lambda: Table(("side", *counts), tally),
        }

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {"tally": ("side", "delegated", "partitions", "kernels", "on_cpu"), "nodes": CpuNode._fields}


_AFTER_PLUGIN = (
    "on the device, a compiler plugin had already taken nodes, but the simulation gave the delegate the whole model; give "
    f"--accelerators {','.join(ACCELERATORS)} --soc VENDOR:SOC to compare each accelerator with the nodes that it got"
)
_BEYOND_PLUGIN = (
    "a compiler plugin selected nodes, but the delegate got all nodes of the model, so nothing ran on the NPU; the plugin's "
    f"selection was not compared: give --delegate with the name of the plugin ({', '.join(PLUGIN_NAMES)}) to compare it"
)


def reconcile(
    model: Model,
    log: DeviceLog,
    setting: DeviceSetting | None = None,
    profile: Driver | None = None,
    effort: Effort | None = None,
) -> Reconciliation:
    """Simulate a model with the setting that a log shows, and explain how the simulation differs from the log.

    If this fails, another delegate that prints the same lines is simulated. ``profile`` is the driver profile that was learned
    from earlier logs, and ``effort`` is shared with other logs. Raises ReconcileError if the log does not fit.
    """
    runs = separate_runs([log], sum([bool(subgraph.nodes) for subgraph in model.subgraphs]))
    log, note = runs[-1], run_note(len(runs), None)
    setting = setting_of(log) if setting is None else setting
    setting = replace(setting, notes=(*filter(None, [note]), *setting.notes))
    result = _reconcile(model, log, setting, profile, effort)
    for other in setting.others if result.status == UNEXPLAINED else ():
        names = other.delegate.name, setting.delegate.name
        about = (
            f"{names[0]} prints the same lines as {names[1]}, whose simulation does not fit the log: give --delegate {names[0]}"
        )
        instead = _reconcile(model, log, replace(other, notes=(*setting.notes, about)), profile, effort)
        if instead.status in (REPRODUCED, EXPLAINED):
            return instead
    return result


def _reconcile(
    model: Model, log: DeviceLog, setting: DeviceSetting, profile: Driver | None, effort: Effort | None
) -> Reconciliation:
    run = simulate_setting(model, setting, setting.release)
    facts = facts_of(log, setting.delegate, [subgraph.graph for subgraph in run.subgraphs])
    setting, run = _fitting_platform(model, setting, facts, as_observed(run, facts))
    trials, first = _fitting_release(Trials(model, setting, setting.release, facts, effort or Effort(model)), run)
    unavailable = _unavailable(log, facts, first)
    texts = [*unavailable, *differences(facts, first), *split_differences(log, first)]
    levels = fitting_levels(trials) if texts and not unavailable else ()
    match = None
    if texts and not unavailable:
        match = next(filter(None, explanations(trials, first, levels, profile)), None)
    lifted = disproved_limit(facts, first) if match is None else {}
    best = match.run if match is not None else trials.simulate(lifted) if lifted else first
    account = _not_created(log, first) if match is None else match.account
    left_out = trials.effort.is_over and bool(texts)
    has_plugin = APPLIED_AHEAD in accelerators_in(log) and not setting.delegate.log.prints_selection
    agree = counts_agree(trials.facts, first)
    is_after_plugin = has_plugin and (DISPATCH_KERNEL in {line.kernel for line in log.replacements} or not agree)
    sign = "" if is_after_plugin else other_model_note(log, trials.facts, first)
    if left_out and account is not None:
        account = replace(account, is_certain=False)
    of_plugin = (_AFTER_PLUGIN if is_after_plugin else _BEYOND_PLUGIN) if has_plugin else ""
    over = f"further assumptions are not simulated: {trials.effort.reason}" if left_out else ""
    notes = (of_plugin, sign, long_lines_note(log), *setting.notes, *facts.notes)
    before = {name: setting.options[name] for name in lifted}
    limit = (
        f"the log has more delegate kernels than {options_as_typed(setting, before)} allows; the nodes on the CPU are shown for "
    )
    limit = f"{limit}{options_as_typed(setting, lifted)}" if lifted else ""
    notes = (*notes, *_notes(trials, best), limit, over, *stage_notes(log, best))
    return Reconciliation(
        model=model,
        log=log,
        setting=setting,
        status=_status(texts, account, is_shown=facts.can_be_compared or shows_refusal(log, first)),
        device=device_tally(facts, first),
        simulated=simulated_tally(first),
        differences=tuple(texts),
        account=account,
        nodes=cpu_nodes(facts, best, account),
        refusals=refusal_differences(facts, first),
        listed_refusals=listed_refusals(facts, first),
        errors=explained_errors(log),
        feature_levels=levels,
        evidence=facts.evidence,
        notes=tuple(dict.fromkeys(filter(None, notes))),
        doubts=(*filter(None, [sign]), *other_operations(log.runtime, best)),
        run=best,
        is_foreign=facts.is_foreign,
        failure=facts.failure,
        closest=trials.closest(len(texts)) if texts and account is None else None,
        counts_agree=agree,
    )


def _status(texts: Sequence[str], account: Account | None, *, is_shown: bool) -> str:
    if account is not None and account.kind == NOT_CREATED:
        return NOT_COMPARED
    if texts:
        return UNEXPLAINED if account is None else EXPLAINED
    return REPRODUCED if is_shown else NOT_COMPARED


def _fitting_platform(model: Model, setting: DeviceSetting, facts: Facts, run: Run) -> tuple[DeviceSetting, Run]:
    """If the platform release refuses a model that the device accepted, return the newest platform that accepts it."""
    platform = setting.delegate.behind.platform
    is_refused = run.refusal is not None and run.refusal.below is not None
    if platform is None or not is_refused or facts.is_restored or platform.option in setting.known:
        return setting, run
    refused = setting.options[platform.option]
    for name in (*reversed(platform.releases), platform.alone):
        note = (
            f"{platform.key} {refused} would refuse this model, but the device accepted it, so {platform.option}={name} is "
            "simulated instead"
        )
        other = replace(setting, options={**setting.options, platform.option: name}, notes=(*setting.notes, note))
        then = simulate_setting(model, other, other.release)
        if then.refusal is None or then.refusal.below is None:
            return other, then
    return setting, run


def _fitting_release(trials: Trials, run: Run) -> tuple[Trials, Run]:
    """Return the trials and the simulation of the first release that reproduces the log, or else those that are given."""
    if not differences(trials.facts, run):
        return trials, run
    for release in trials.setting.releases:
        other = Trials(trials.model, trials.setting, release, trials.facts, trials.effort)
        if (fitting := other.fitting({})) is not None:
            return other, fitting
    return trials, run


def _unavailable(log: DeviceLog, facts: Facts, run: Run) -> list[str]:
    """Describe failures to create or apply the delegate, unless the simulation or a driver error accounts for them."""
    own = _lines_of_creation(log, run)
    if facts.was_not_applied and run.outcome not in ("refused", "restored") and not facts.driver_errors:
        own = own or [*[error.line for error in log.errors if error.kind != Event.BENCHMARK_FAILED][:1], *facts.lines[-1:]][:1]
    return [f"the delegate could not be applied on the device: {line}" for line in own]


def _lines_of_creation(log: DeviceLog, run: Run) -> list[str]:
    return [line for line in log.not_created if run.delegate.provider_name.casefold() in line.casefold().split()]


def _not_created(log: DeviceLog, run: Run) -> Account | None:
    if not (lines := _lines_of_creation(log, run)):
        return None
    cause = cause_of(explained_errors(log))
    why = lines[0] if cause is None else f"{cause.line}{f' ({cause.meaning})' if cause.meaning else ''}"
    return Account(NOT_CREATED, f"the device could not create the delegate, so it did not see the model: {why}")


def unchecked_note(delegate: Delegate, release: Release) -> str:
    """Return a note about the parts of a delegate that are not known for a release, or ""."""
    parts = ", ".join(delegate.unchecked_parts(release))
    return f"not checked for {release}: {parts}" if parts else ""


def _notes(trials: Trials, run: Run) -> Iterator[str]:
    replacements = trials.facts.replacements or ()
    partitions = replacements[0].partitions if len(replacements) == 1 else None
    kernels = trials.facts.application[1] if trials.facts.application is not None else None
    if kernels is not None and partitions is not None and kernels != partitions:
        yield (
            f"the runtime's line counts all partitions ({partitions}), but the line of benchmark_model counts only delegate "
            f"kernels ({kernels})"
        )
    if note := unchecked_note(trials.setting.delegate, trials.release):
        yield note
    if trials.release != trials.setting.release:
        yield f"the simulation reproduces the device with {trials.release}, but not with {trials.setting.release}"
    refusal = run.refusal
    if refusal is not None and refusal.is_predicted and not trials.facts.has_failed:
        who = "that did not happen" if is_disproved(trials.facts, run) else "that the log does not show"
        yield f"the simulation predicts a failure {who}: {refusal.message}"

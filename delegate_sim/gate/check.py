"""Compare the result of each configured model on each target with the baseline, or update the baseline."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..conversion.convert import Conversion
from ..diagnosis.advice.commands import fix_plan_command
from ..errors import fault_text
from ..foundation.columns import Table, within
from ..foundation.limits import problem_text, raised
from ..foundation.outputs import OutputFile, declare_outputs
from ..foundation.parsing.invalid_value import InvalidValueError
from ..foundation.printable import command_line, typed_path
from ..graph.analysis_cache import AnalysisCache
from ..graph.effort import Effort
from ..live.live_runs import require_engines, run_target
from ..model.model import Model
from ..model.reader import load, require_identifier
from ..results.report.display import Shown
from ..results.report.findings import ERROR, Finding
from .baseline import Baseline, Entry, EntryKey, read_baseline, update_baseline
from .budgets import Budgets
from .configuration import Configuration, ConfigurationError, ConfiguredTarget, find_configuration, matches, naming_configuration
from .configuration_table import path_below, without_ignored
from .judgment import judge, take_entry, update_notes
from .results import (
    FAILED,
    FAILED_CONVERSION,
    INTERNAL_ERROR,
    MISSING_ENTRY,
    STALE_ENTRY,
    UNREADABLE_MODEL,
    Case,
    Results,
    unreadable_case,
)
from .source_models import ConfiguredSource, converted
from .targets import can_run, check_live, micro_case

_MOST_FINDINGS = 20_000
"""The largest number of findings that a check lists, apart from the first of each code, model and target."""


@dataclass(frozen=True, slots=True)
class Update:
    """The changes of the baseline: the numbers of added, changed and removed entries, and whether the file was written."""

    added: int
    changed: int
    dropped: int
    is_written: bool


@dataclass(frozen=True, repr=False)
class Checked(Shown):
    """The result of a check, and the changes of the baseline if an update was requested."""

    results: Results
    update: Update | None
    live_reports: tuple[Mapping[str, Any], ...] = ()
    """Bug reports about differences between the simulation and real delegates (schema ``delegate-sim/live-difference/1``)."""

    document = "check"
    columns = within("results", Results.columns)

    def _line(self) -> str:
        return self.results._line()

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return self.results._tables()

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return self.results._shown()


@dataclass(frozen=True, slots=True)
class _Job:
    model: str
    path: str
    targets: tuple[ConfiguredTarget, ...]
    source: ConfiguredSource | None = None

    @property
    def compared(self) -> list[ConfiguredTarget]:
        return [target for target in self.targets if target.is_compared]


def check_models(
    configuration: Configuration,
    paths: Sequence[str] = (),
    target_names: Sequence[str] = (),
    *,
    update: bool = False,
    prune: bool = False,
    live: bool = False,
    op_profiles: Sequence[str] = (),
    run_configured_code: bool = False,
    begins: Callable[[int, int, str], None] = lambda number, total, model: None,
    fault: Callable[[Exception], str] = fault_text,
) -> Checked:
    """Check the models of the configuration, or the models at ``paths``, on the configuration's targets.

    ``paths`` are relative to the working directory. ``target_names`` selects targets. ``update`` writes an entry for every run,
    and then checks only the budgets. ``prune`` removes stale entries: entries without a model or target. Without ``prune``, stale
    entries are findings, but only if no paths are given. ``live`` also runs the real delegates that exist for this host. A real
    delegate gets a finding if it contradicts the prediction or cannot be run. A model that cannot be read is also a finding. An
    internal error is a finding with the text that ``fault`` returns.

    ``op_profiles`` are profiles of the only model and target. Their summary is written beside the baseline, so that later checks
    show the measured time of nodes that fall back. ``begins`` is called for each model with the model's number, the number of
    models, and the model's name. ``run_configured_code`` allows programs and modules that the configuration names to run.
    Otherwise, a source model that needs them has a finding.

    Raises ConfigurationError if there is nothing to check, BaselineError if the baseline cannot be read or written, and
    OptionError if a target can neither be simulated nor run on this host.
    """
    targets = _chosen(configuration, target_names)
    compared = [target for target in targets if target.is_compared]
    jobs = list(_jobs(configuration, paths, targets))
    _declare_files(configuration, updates_baseline=update or prune, updates_times=bool(op_profiles))
    baseline = Baseline() if configuration.baseline is None else read_baseline(configuration.baseline)
    stale = [] if paths else _stale(baseline, jobs, [target.name for target in compared] if target_names else [])
    if not jobs and not stale:
        problem = "names no model" if not configuration.models else f"no file matches {', '.join(configuration.models)}"
        raise ConfigurationError(f"{configuration.path}: {problem}, so there is nothing to check")
    if (update or prune) and configuration.baseline is None:
        raise ConfigurationError(f"{configuration.path}: baseline = false, so there is no baseline to write")
    require_engines([target.target.delegate for target in compared])
    if live and not any(can_run(target.target) for target in compared):
        raise ConfigurationError(f"{configuration.path}: none of the targets can run live (see delegate-sim doctor)")
    if op_profiles:
        _keep_times(configuration, jobs, op_profiles)
    new_entries: dict[EntryKey, Entry] = {}
    cases: list[Case] = []
    reports: list[Mapping[str, Any]] = []
    check = _ModelCheck(
        configuration,
        baseline,
        new_entries if update else None,
        reports if live else None,
        fault,
        run_configured_code,
        _command_words(configuration, "--update"),
        {key.model for key in baseline.entries},
        raised(_MOST_FINDINGS),
    )
    for number, job in enumerate(jobs, 1):
        begins(number, len(jobs), job.model)
        cases += check.cases(job)
    written = None
    if update or prune:
        written = _write(configuration.baseline or "", baseline, new_entries, stale if prune else ())
    cases = list(_priced(configuration, cases))
    if not prune:
        cases += _stale_cases(configuration, {key: baseline.entries[key] for key in stale})
    with naming_configuration(configuration.path):
        cases = without_ignored(cases, configuration.ignored, configuration.groups, matches)
    return Checked(Results("check", tuple(sorted(cases, key=lambda case: (case.model, case.target)))), written, tuple(reports))


def _chosen(configuration: Configuration, names: Sequence[str]) -> list[ConfiguredTarget]:
    every = configuration.targets
    known = list(dict.fromkeys([name for target in every for name in (target.group, target.name)]))
    for name in names:
        if name not in known:
            raise ConfigurationError(f"{configuration.path}: there is no target {name!r}; the targets are {', '.join(known)}")
    return [target for target in every if not names or not {target.name, target.group}.isdisjoint(names)]


def _jobs(configuration: Configuration, paths: Sequence[str], targets: Sequence[ConfiguredTarget]) -> Iterator[_Job]:
    if paths:
        models = [os.path.relpath(os.path.abspath(path), configuration.root).replace(os.sep, "/") for path in paths]
    else:
        models = configuration.find_models()
    own = set(models)
    for source in configuration.sources:
        concerned = tuple(target for target in targets if configuration.concerns(target, source.name))
        if concerned and (not paths or not own.isdisjoint({source.name, source.path})):
            yield _Job(source.name, _from_here(configuration, source.path or source.name), concerned, source)
    known = {text for source in configuration.sources for text in (source.name, source.path)}
    for model in dict.fromkeys([model for model in models if model not in known]):
        concerned = tuple(target for target in targets if configuration.concerns(target, model))
        if concerned:
            yield _Job(model, _from_here(configuration, model), concerned)
        elif paths:
            raise ConfigurationError(f"{configuration.path}: no selected target applies to {model}")


def _times_path(baseline: str) -> str:
    return os.path.join(os.path.dirname(baseline), "delegate-sim-times.json")


def _declare_files(configuration: Configuration, *, updates_baseline: bool, updates_times: bool) -> None:
    """Declare the baseline and the measured times. Raises OutputError if one of them must not be written.

    The configuration may come from a stranger, so it names no file outside its folder to write to.
    """
    outputs, inputs = [], [configuration.path]
    if configuration.baseline is not None:
        for path, is_updated in (
            (configuration.baseline, updates_baseline),
            (_times_path(configuration.baseline), updates_times),
        ):
            if is_updated:
                outputs.append(OutputFile(path, is_forced=None, is_updated=True, within=configuration.root or os.curdir))
            else:
                inputs.append(path)
    declare_outputs(outputs, inputs)


def _keep_times(configuration: Configuration, jobs: Sequence[_Job], paths: Sequence[str]) -> None:
    pairs = [(job, target) for job in jobs for target in job.compared]
    if len(pairs) != 1 or configuration.baseline is None or pairs[0][0].source is not None:
        raise ConfigurationError(
            f"{configuration.path}: an op profile belongs to one model on one target: give one MODEL and one --target. "
            "A baseline is also required"
        )
    from .measured_times import summarized, write_times

    ((job, target),) = pairs
    entry = summarized(paths, load(job.path), target.target)
    write_times(_times_path(configuration.baseline), EntryKey(job.model, target.name), entry)


def _priced(configuration: Configuration, cases: Sequence[Case]) -> Iterator[Case]:
    if configuration.baseline is None or not os.path.exists(path := _times_path(configuration.baseline)):
        yield from cases
        return
    from .measured_times import prices, read_times

    entries = read_times(path)
    for case in cases:
        entry = entries.get(EntryKey(case.model, case.target))
        notes = () if entry is None or case.baseline is None else tuple(prices(case.findings, entry))
        yield replace(case, notes=(*case.notes, *notes)) if notes else case


class _ModelCheck:
    """The settings of a check, and its results so far: new entries of the baseline, and bug reports of live runs.

    ``new_entries`` is None if the baseline is not updated, and ``reports`` is None without live runs. ``accept`` has the words
    of the command that updates the baseline, without target and model. ``known`` has the models with entries in the baseline.
    ``left`` is the number of findings that may still be listed. When it is used up, a case lists one finding for each code.
    """

    def __init__(
        self,
        configuration: Configuration,
        baseline: Baseline,
        new_entries: dict[EntryKey, Entry] | None,
        reports: list[Mapping[str, Any]] | None,
        fault: Callable[[Exception], str],
        run_configured_code: bool,
        accept: Sequence[str],
        known: Collection[str],
        left: int,
    ) -> None:
        self.configuration, self.baseline, self.new_entries, self.reports = configuration, baseline, new_entries, reports
        self.fault, self.run_configured_code, self.accept, self.known, self.left = fault, run_configured_code, accept, known, left

    def cases(self, job: _Job) -> Iterator[Case]:
        try:
            conversion = None if job.source is None else converted(job.source, run_configured_code=self.run_configured_code)
            model = load(job.path if conversion is None else conversion.path, any_identifier=True)
            model.sha256  # noqa: B018  # reads the file, which may fail too
        except Exception as error:  # report the error and go on with the other models
            code = UNREADABLE_MODEL if job.source is None else FAILED_CONVERSION
            yield from [self._unanswered(job, target, error, code) for target in job.targets]
            return
        effort, micro_effort, cache = Effort(model), Effort(model), AnalysisCache()
        compared = job.compared
        budgets = dict(zip([target.name for target in compared], self.configuration.budgets_of(compared, job.model), strict=True))
        for number, target in enumerate(job.targets):
            try:
                if not target.is_compared:
                    micro_effort.begin_target(simulations=target.target.effort)
                    case = micro_case(job.model, job.path, model, target.target, target.identity, target.max_arena, cache)
                else:
                    require_identifier(model)
                    effort.begin_target(len(compared) - number - 1, target.target.effort)
                    case = self._case(job, model, target, budgets[target.name], effort, cache)
                    if conversion is not None:
                        case = replace(case, notes=(_conversion_note(conversion), *case.notes))
                    case = case if self.reports is None else _run_live(case, model, target, self.reports)
            except Exception as error:  # report the error and go on with the other models
                case = self._unanswered(job, target, error, UNREADABLE_MODEL)
            self.left -= len(case.findings)
            yield case

    def _unanswered(self, job: _Job, target: ConfiguredTarget, error: Exception, code: str) -> Case:
        message, is_fault = problem_text(error, job.path, self.fault)
        return unreadable_case(job.model, job.path, *target.identity, message, INTERNAL_ERROR if is_fault else code)

    def _case(
        self, job: _Job, model: Model, target: ConfiguredTarget, budgets: Budgets, effort: Effort, cache: AnalysisCache
    ) -> Case:
        key = EntryKey(job.model, target.name)
        of_target = ["--target", target.name] if job.model in self.known else []
        accept = command_line([*self.accept, *of_target, typed_path(job.path)])
        run = run_target(model, target.target, cache)
        before = self.baseline.entries.get(key)
        entry = before if self.new_entries is None else take_entry(run, model)
        case = judge(key, job.path, run, model, entry, budgets, accept, self.left)
        # Advice takes several simulations, so it is computed only for findings with hints.
        if self.left > 0 and any(finding.hint or finding.node_name for finding in case.findings):
            from ..diagnosis.advice.node_advice import advised

            run = advised(model, run, effort=effort, cache=cache)
            case = judge(key, job.path, run, model, entry, budgets, accept, self.left)
        if self.new_entries is not None and entry is not None:
            self.new_entries[key] = entry
            return replace(case, notes=(*case.notes, *update_notes(before, entry)))
        if entry is None and self.configuration.baseline is not None:
            missing = Finding(MISSING_ENTRY, ERROR, "the baseline has no entry for this model on this target", accept)
            return replace(case, status=FAILED, findings=(missing, *case.findings))
        is_rewritable = job.source is None and run.is_repeatable
        if is_rewritable and any(finding.level == ERROR and (finding.node_name or finding.hint) for finding in case.findings):
            note = f"to see whether a rewrite of the file helps: {fix_plan_command(model, run.target)}"
            return replace(case, notes=(*case.notes, note))
        return case


def _conversion_note(conversion: Conversion) -> str:
    data = f", calibrated with {conversion.calibration.words}" if conversion.settings.calibrates else ""
    return f"converted by {conversion.route.name} {conversion.route.version} with {conversion.settings.name}{data}"


def _run_live(case: Case, model: Model, target: ConfiguredTarget, reports: list[Mapping[str, Any]]) -> Case:
    live_check = check_live(model, target.target)
    if live_check.report is not None:
        reports.append(live_check.report)
    status = FAILED if live_check.findings else case.status
    return replace(case, status=status, findings=(*case.findings, *live_check.findings), notes=(*case.notes, *live_check.notes))


def _command_words(configuration: Configuration, option: str) -> Sequence[str]:
    """Return the words of a command that changes the baseline. They name the configuration unless it is the nearest one."""
    with suppress(ConfigurationError):
        if find_configuration(os.getcwd()) == os.path.abspath(configuration.path):
            return ("check", option)
    return ("check", option, "--config", typed_path(configuration.path))


def _stale(baseline: Baseline, jobs: Sequence[_Job], target_names: Sequence[str]) -> list[EntryKey]:
    checked = {EntryKey(job.model, target.name) for job in jobs for target in job.compared}
    return [key for key in baseline.entries if key not in checked and (not target_names or key.target in target_names)]


def _stale_cases(configuration: Configuration, entries: Mapping[EntryKey, Entry]) -> Iterator[Case]:
    """Yield a failed case for each stale entry. No file outside the configuration's folder is looked up."""
    sources = {source.name for source in configuration.sources}
    prune = command_line(_command_words(configuration, "--prune"))
    for key, entry in entries.items():
        known = "apply this target to the model" if key.target in configuration.groups else "name this target"
        why, path = f"the configuration does not {known}", key.model
        if key.model not in sources:
            try:
                if not os.path.isfile(path_below(configuration.root, key.model)):
                    why = "the model does not exist"
            except InvalidValueError:
                why, path = "the model is outside the folder of the configuration", configuration.baseline or ""
        finding = Finding(STALE_ENTRY, ERROR, f"the baseline has an entry, but {why}", prune)
        yield Case(
            key.model,
            _from_here(configuration, path),
            key.target,
            entry.delegate,
            entry.runtime,
            entry.options,
            FAILED,
            (finding,),
            baseline=entry.measures,
            baseline_compute=entry.compute,
            sha256=entry.sha256,
            rule_set=entry.rule_set,
        )


def _write(path: str, baseline: Baseline, new_entries: Mapping[EntryKey, Entry], stale: Sequence[EntryKey]) -> Update:
    is_written = update_baseline(path, new_entries, stale)
    added = sum(key not in baseline.entries for key in new_entries)
    changed = sum(key in baseline.entries and baseline.entries[key] != entry for key, entry in new_entries.items())
    return Update(added, changed, len(stale), is_written)


def _from_here(configuration: Configuration, model: str) -> str:
    return os.path.relpath(os.path.join(configuration.root, model))

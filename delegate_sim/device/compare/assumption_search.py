"""Search for assumptions that explain the differences between a log and a simulation, those with fewer assumptions first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...delegates.driver import Driver
from ...delegates.options import DEFAULT_SETS, as_typed, option_value
from ...delegates.registry import FALLBACK_OPTION
from ...graph.graph import NodeView
from ...rules.kinds import NOT_ACCELERATED, PARTITION_LIMIT
from ...runtime.interpreter import Run
from ..parse.applied_target import DeviceSetting
from ..parse.log import read_lines
from ..parse.log_contents import Replacement
from .differences import differences, failed_kernels, kernel_count
from .driver_rejections import driver_match
from .observed_delegation import Facts
from .row_matching import matched_partitions, stage_operations
from .trial_simulations import Account, AssumptionTrial, Match, Trials, nodes_set_aside

_MOST_LIMITS = 16
_REPRODUCES = "the simulation reproduces the log"


def fitting_levels(trials: Trials) -> tuple[int, ...]:
    """Return the other feature levels at which a simulation without rejections by the driver reproduces the log."""
    levels = trials.setting.delegate.levels
    if levels is None:
        return ()
    return tuple(sorted(level for level in trials.setting.other_levels if trials.fitting({levels.option: level})))


def explanations(trials: Trials, first: Run, levels: Sequence[int], profile: Driver | None) -> Iterator[Match | None]:
    """Yield possible explanations of the differences between the first simulation and the device, likeliest first.

    None stands for an explanation that does not fit. ``levels`` is the result of ``fitting_levels``, and ``profile`` the driver
    profile that was learned from earlier logs.
    """
    interface, other_levels = trials.setting.delegate.behind.driver, trials.setting.other_levels
    yield _without_cpu(trials)
    if first.outcome != "restored":
        yield _compilation(trials, first)
    if profile is not None and interface is not None:
        yield trials.match({interface.option: profile}, "the driver rejects the operations in its profile", "driver-profile")
    yield _missing_operations(trials, first)
    has_table = trials.facts.evidence != "lines"
    if has_table or levels:
        # Without a table, a driver is as likely as another feature level; the first line then says that both fit.
        yield driver_match(trials)
    if levels:
        yield _level(trials, levels)
    yield _limit(trials)
    for changes, who, at_levels in _unknown_options(trials):
        yield _at_any_level(trials, changes, who) if at_levels else trials.match(changes, f"with {who}, {_REPRODUCES}")
    for level in other_levels if has_table else (None,):
        yield driver_match(trials, level)
    if lifted := disproved_limit(trials.facts, first):
        yield from _driver_without_limit(trials, lifted, (None, *other_levels) if has_table else (None,))


def disproved_limit(facts: Facts, run: Run) -> Mapping[str, Any]:
    """Return the option and value that lift the limit on partitions, or an empty mapping.

    A log disproves a limit that dropped nodes in the simulation if it has more kernels than the simulation.
    """
    limits = run.delegate.limits
    simulated = read_lines(run.log_lines).replacements

    on_lines, on_simulated = _least_kernels(facts.replacements or ()), _least_kernels(simulated)
    unnamed = None if len(run.subgraphs) == 1 else -1
    for subgraph in run.subgraphs if limits.option else ():
        index = subgraph.graph.index
        on_device = max(facts.kernels.get(index, 0), on_lines.get(index, 0), on_lines.get(unnamed, 0))
        # If the simulation undoes the delegation, only its lines show the kernels.
        kernels = max(kernel_count(subgraph), on_simulated.get(index, 0), on_simulated.get(unnamed, 0))
        dropped = None if subgraph.decision is None else nodes_set_aside(subgraph.decision, PARTITION_LIMIT.name)
        if dropped and on_device > kernels:
            return {limits.option: limits.unlimited}
    return {}


def _least_kernels(lines: Iterable[Replacement]) -> Mapping[int | None, int]:
    """Return the smallest number of delegate kernels that lines show, by the subgraph that they name."""
    kernels: dict[int | None, int] = {}
    for line in lines:
        # Delegated and other partitions alternate, so at least half of the partitions, rounded down, are delegate kernels.
        kernels[line.subgraph] = max(kernels.get(line.subgraph, 0), (line.partitions or 0) // 2)
    return kernels


def _without_cpu(trials: Trials) -> Match | None:
    setting, changes = trials.setting, {FALLBACK_OPTION: False}
    if not trials.facts.failure or FALLBACK_OPTION not in setting.options or FALLBACK_OPTION in setting.known:
        return None
    run = trials.fitting(changes)
    if run is None or run.refusal is None or run.refusal.code != NOT_ACCELERATED.name:
        return None
    text = (
        f"with {options_as_typed(setting, changes)}, {_REPRODUCES}: CompiledModel is not created, because {run.refusal.message}"
    )
    return Match(run, Account("options", text, changes, is_certain=False))


def _compilation(trials: Trials, first: Run) -> Match | None:
    """Return the first simulation if it only lacks the failure to compile or prepare a kernel."""
    facts = trials.facts
    has_failed = facts.is_restored or facts.was_not_applied
    if not has_failed or not facts.driver_errors or facts.dynamic is not None:
        return None
    rest = replace(facts, is_restored=False, application=None, failure="", kernels_made=None)
    rest.on_cpu, rest.counts, rest.kernels, rest.listed = {}, {}, {}, {}
    changes: dict[str, Any] = {}
    minimum = trials.setting.delegate.limits.minimum_option
    if not kernel_count(first.subgraphs[0]) and minimum and minimum not in trials.setting.known:
        # The device made a kernel, so its minimum is lower than the assumed one.
        changes = {minimum: 1}
        first = trials.simulate(changes)
    failed = failed_kernels(first, facts.failed_nodes)
    count, is_same = kernel_count(first.subgraphs[0]), facts.replacements is not None
    if not count or (not is_same and None in failed) or differences(rest, first):
        return None
    text = f"with {options_as_typed(trials.setting, changes)}, " if changes else ""
    text += "the nodes were replaced as simulated, but then" if is_same else "after the nodes were replaced,"
    text += " the delegate could not compile or prepare a kernel"
    text += "" if not failed or None in failed else f" (kernel {failed[0]} of {count})"
    return Match(first, Account("compilation", text + (f": {facts.failure}" if facts.failure else ""), changes))


class _Without(Driver):
    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def __str__(self) -> str:
        return ", ".join(sorted(self.names))

    def rejects(self, operation: str, view: NodeView) -> bool:
        return operation in self.names


def _missing_operations(trials: Trials, first: Run) -> Match | None:
    interface, runtime = trials.setting.delegate.behind.driver, trials.facts.log.runtime
    compilations = [compilation for compilation in runtime.compilations if compilation.choices]
    if interface is None or not compilations or not all(compilation.is_complete for compilation in compilations):
        return None
    on_device = {choice.op for compilation in compilations for choice in compilation.choices}
    offered = {operation.name for _, operations in stage_operations(first) for operation in operations}
    missing = frozenset(offered - on_device)
    if not missing or not on_device <= offered:
        return None
    text = f"the driver rejects {', '.join(sorted(missing))}, which the runtime did not compile"
    match = trials.match({interface.option: _Without(missing)}, text, "driver")
    is_same = match is not None and all(compilation for _, compilation in matched_partitions(runtime, match.run))
    return match if is_same else None


def _level(trials: Trials, levels: Sequence[int]) -> Match:
    declared = trials.setting.delegate.levels
    assert declared is not None
    level, in_words = max(levels), declared.in_words
    others = f" (also with {', '.join(map(in_words, levels[:-1]))})" if len(levels) > 1 else ""
    assumed = in_words(trials.setting.options[declared.option])
    text = f"with feature level {in_words(level)} instead of {assumed}, {_REPRODUCES}{others}"
    changes = {declared.option: level}
    return Match(trials.simulate(changes), Account("options", text, changes, is_certain=len(levels) == 1))


def _limit(trials: Trials) -> Match | None:
    """Try limits on partitions. The smallest that fits counts. If the limit is known, this is no explanation but only a trial."""
    setting = trials.setting
    option = setting.delegate.limits.option
    if not option:
        return None
    own, unlimited = setting.options[option], setting.delegate.limits.unlimited
    is_whole = own != unlimited and trials.fitting({option: unlimited}) is not None
    fitting = (limit for limit in range(1, _MOST_LIMITS + 1) if limit != own and trials.fitting({option: limit}))
    limit = next(fitting, unlimited if is_whole else None)
    if limit is None:
        return None
    if option in setting.known:
        trials.tried.append(AssumptionTrial({option: limit}, ()))
        return None
    more = " or more" if is_whole and limit != unlimited else ""
    in_words = as_typed(setting.delegate.options, option, f"{limit}{more}")
    text = f"with {in_words} instead of {own}, {_REPRODUCES}"
    return Match(trials.simulate({option: limit}), Account("options", text, {option: limit}))


def _unknown_options(trials: Trials) -> Iterator[tuple[Mapping[str, Any], str, bool]]:
    """Yield changes of options that the log does not show, in words too, and whether to try them at several feature levels."""
    setting, limit = trials.setting, trials.setting.delegate.limits.option
    unknown = {name: value for name, value in setting.options.items() if name not in setting.known}
    for name, value in setting.delegate.log.tried_options.items():
        if name in unknown and unknown[name] != value:
            yield {name: value}, options_as_typed(setting, {name: value}), False
    (other,) = set(DEFAULT_SETS) - {setting.defaults}
    defaults = {option.name: option.default_in(other) for option in setting.delegate.options if option.name in unknown}
    if changes := {name: value for name, value in defaults.items() if value != unknown[name]}:
        who = f"the defaults of {'benchmark_model' if other == 'benchmark' else 'the API'}"
        yield changes, f"{who} ({options_as_typed(setting, changes)})", True
    counts = set(trials.facts.kernels.values())
    for partitions in [line.partitions for line in trials.facts.replacements or () if line.partitions is not None]:
        # Delegated and other partitions alternate.
        counts |= {partitions // 2, partitions - partitions // 2}
    for number in sorted(counts - {0})[:_MOST_LIMITS] if limit in unknown else ():
        yield {limit: number}, f"a limit on partitions ({options_as_typed(setting, {limit: number})})", True


def _at_any_level(trials: Trials, changes: Mapping[str, Any], who: str) -> Match | None:
    setting, levels = trials.setting, trials.setting.delegate.levels
    text = f"with {who}"
    match = trials.match(changes, f"{text}, {_REPRODUCES}")
    if match is not None or levels is None:
        return match
    fits = {level: run for level in setting.other_levels if (run := trials.fitting({**changes, levels.option: level}))}
    if not fits:
        return None
    level, *rest = fits
    assumed = levels.in_words(setting.options[levels.option])
    text += f" at feature level {levels.in_words(level)} instead of {assumed}, {_REPRODUCES}"
    text += f" (also at {', '.join(map(levels.in_words, sorted(rest)))})" if rest else ""
    return Match(fits[level], Account("options", text, {**changes, levels.option: level}, is_certain=not rest))


def options_as_typed(setting: DeviceSetting, changes: Mapping[str, Any]) -> str:
    """Return changed options as they are typed."""
    return ", ".join([as_typed(setting.delegate.options, name, option_value(value)) for name, value in changes.items()])


def _driver_without_limit(trials: Trials, changes: Mapping[str, Any], levels: Sequence[int | None]) -> Iterator[Match]:
    unlimited = replace(trials, setting=replace(trials.setting, options={**trials.setting.options, **changes}))
    for level in levels:
        if (match := driver_match(unlimited, level)) is not None:
            account, text = match.account, f"{match.account.text}, with {options_as_typed(trials.setting, changes)}"
            yield Match(match.run, replace(account, text=text, options={**changes, **account.options}))

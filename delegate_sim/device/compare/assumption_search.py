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
from .driver_rejections import driver_matches
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


def matches(trials: Trials, first: Run, levels: Sequence[int], profile: Driver | None) -> Iterator[Match]:
    """Yield possible explanations of the differences between the first simulation and the device, likeliest first.

    ``levels`` is the result of ``fitting_levels``, and ``profile`` the driver profile that was learned from earlier logs.
    """
    yield from _without_cpu(trials)
    if first.outcome != "restored":
        yield from _compilation(trials, first)
    if profile is not None:
        yield from _profile(trials, profile)
    yield from _missing_operations(trials, first)
    has_table = trials.facts.evidence != "lines"
    if has_table or levels:
        # Without a table, a driver is as likely as another feature level; the first line then says that both fit.
        yield from driver_matches(trials)
    if levels:
        yield _level(trials, levels)
    yield from _limits(trials)
    yield from _hidden_options(trials)
    yield from _other_defaults(trials)
    yield from _limits_at_levels(trials)
    if not has_table:
        yield from driver_matches(trials)
    else:
        for level in trials.setting.other_levels:
            yield from driver_matches(trials, level)
    changes = disproved_limit(trials.facts, first)
    if changes:
        yield from _driver_without_limit(trials, changes, (None, *trials.setting.other_levels) if has_table else (None,))


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


def _without_cpu(trials: Trials) -> Iterator[Match]:
    setting = trials.setting
    if not trials.facts.failure or FALLBACK_OPTION not in setting.options or FALLBACK_OPTION in setting.known:
        return
    changes = {FALLBACK_OPTION: False}
    run = trials.fitting(changes)
    if run is not None and run.refusal is not None and run.refusal.code == NOT_ACCELERATED.name:
        why = f"{_REPRODUCES}: CompiledModel is not created, because {run.refusal.message}"
        yield _with_options(trials, run, changes, why, is_certain=False)


def _compilation(trials: Trials, first: Run) -> Iterator[Match]:
    """Yield the first simulation if it only lacks the failure to compile or prepare a kernel."""
    facts = trials.facts
    has_failed = facts.is_restored or facts.was_not_applied
    if not has_failed or not facts.driver_errors or facts.dynamic is not None:
        return
    rest = replace(facts, is_restored=False, application=None, failure="", kernels_made=None)
    rest.on_cpu, rest.counts, rest.kernels, rest.listed = {}, {}, {}, {}
    changes: dict[str, Any] = {}
    minimum = trials.setting.delegate.limits.minimum_option
    if not kernel_count(first.subgraphs[0]) and minimum and minimum not in trials.setting.known:
        # The device made a kernel, so its minimum is lower than the assumed one.
        changes = {minimum: 1}
        first = trials.simulate(changes)
    failed = failed_kernels(first, facts.failed_nodes)
    count = kernel_count(first.subgraphs[0])
    if not count or (facts.replacements is None and None in failed) or differences(rest, first):
        return
    text = "".join([f"with {typed}, " for typed in _typed(trials.setting, changes)])
    is_same = facts.replacements is not None
    text += "the nodes were replaced as simulated, but then" if is_same else "after the nodes were replaced,"
    text += " the delegate could not compile or prepare a kernel"
    text += "" if not failed or None in failed else f" (kernel {failed[0]} of {count})"
    yield Match(first, Account("compilation", text + (f": {facts.failure}" if facts.failure else ""), changes))


class _Without(Driver):
    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def __str__(self) -> str:
        return ", ".join(sorted(self.names))

    def rejects(self, operation: str, view: NodeView) -> bool:
        return operation in self.names


def _missing_operations(trials: Trials, first: Run) -> Iterator[Match]:
    interface = trials.setting.delegate.behind.driver
    compilations = [compilation for compilation in trials.facts.log.runtime.compilations if compilation.choices]
    if interface is None or not compilations or not all(compilation.is_complete for compilation in compilations):
        return
    on_device = {choice.op for compilation in compilations for choice in compilation.choices}
    offered = {operation.name for _, operations in stage_operations(first) for operation in operations}
    missing = frozenset(offered - on_device)
    if not missing or not on_device <= offered:
        return
    changes = {interface.option: _Without(missing)}
    run = trials.fitting(changes)
    if run is not None and all(compilation for _, compilation in matched_partitions(trials.facts.log.runtime, run)):
        text = f"the driver rejects {', '.join(sorted(missing))}, which the runtime did not compile"
        yield Match(run, Account("driver", text, changes, _rejected_nodes(run, interface.code)))


def _rejected_nodes(run: Run, code: str) -> dict[int, frozenset[int]]:
    return {
        subgraph.graph.index: nodes
        for subgraph in run.subgraphs
        if subgraph.decision is not None and (nodes := nodes_set_aside(subgraph.decision, code))
    }


def _profile(trials: Trials, profile: Driver) -> Iterator[Match]:
    interface, text = trials.setting.delegate.behind.driver, "the driver rejects the operations in its profile"
    if interface is not None and (run := trials.fitting(changes := {interface.option: profile})) is not None:
        yield Match(run, Account("driver-profile", text, changes, _rejected_nodes(run, interface.code)))


def _level(trials: Trials, levels: Sequence[int]) -> Match:
    declared = trials.setting.delegate.levels
    assert declared is not None
    level, in_words = max(levels), declared.in_words
    others = f" (also with {', '.join(map(in_words, levels[:-1]))})" if len(levels) > 1 else ""
    assumed = in_words(trials.setting.options[declared.option])
    text = f"with feature level {in_words(level)} instead of {assumed}, {_REPRODUCES}{others}"
    changes = {declared.option: level}
    return Match(trials.simulate(changes), Account("options", text, changes, is_certain=len(levels) == 1))


def _limits(trials: Trials) -> Iterator[Match]:
    """Try limits on partitions. The smallest that fits counts. If the limit is known, this is no explanation but only a trial."""
    setting = trials.setting
    option = setting.delegate.limits.option
    if not option:
        return
    own, unlimited = setting.options[option], setting.delegate.limits.unlimited
    is_whole = own != unlimited and trials.fitting({option: unlimited}) is not None
    fitting = (limit for limit in range(1, _MOST_LIMITS + 1) if limit != own and trials.fitting({option: limit}))
    limit = next(fitting, unlimited if is_whole else None)
    if limit is None:
        return
    if option in setting.known:
        trials.tried.append(AssumptionTrial({option: limit}, ()))
        return
    more = " or more" if is_whole and limit != unlimited else ""
    typed = as_typed(setting.delegate.options, option, f"{limit}{more}")
    text = f"with {typed} instead of {own}, {_REPRODUCES}"
    yield Match(trials.simulate({option: limit}), Account("options", text, {option: limit}))


def _hidden_options(trials: Trials) -> Iterator[Match]:
    setting = trials.setting
    for option, value in setting.delegate.log.tried_options.items():
        changes = {option: value}
        if option not in setting.known and setting.options[option] != value and (run := trials.fitting(changes)):
            yield _with_options(trials, run, changes)


def _other_defaults(trials: Trials) -> Iterator[Match]:
    """Simulate with the other set of defaults, if necessary at several feature levels. Yield the first that fits the log."""
    setting = trials.setting
    (other,) = set(DEFAULT_SETS) - {setting.defaults}
    defaults = {option.name: option.default_in(other) for option in setting.delegate.options if option.name not in setting.known}
    changes = {name: value for name, value in defaults.items() if value != setting.options[name]}
    if changes:
        yield from _at_any_level(trials, changes, f"the defaults of {'benchmark_model' if other == 'benchmark' else 'the API'}")


def _limits_at_levels(trials: Trials) -> Iterator[Match]:
    option = trials.setting.delegate.limits.option
    if not option or option in trials.setting.known:
        return
    counts = set(trials.facts.kernels.values())
    for partitions in [line.partitions for line in trials.facts.replacements or () if line.partitions is not None]:
        # Delegated and other partitions alternate.
        counts |= {partitions // 2, partitions - partitions // 2}
    for limit in sorted(counts - {0})[:_MOST_LIMITS]:
        yield from _at_any_level(trials, {option: limit}, "a limit on partitions")


def _at_any_level(trials: Trials, changes: Mapping[str, Any], who: str) -> Iterator[Match]:
    setting = trials.setting
    text = f"with {who} ({', '.join(_typed(setting, changes))})"
    if (run := trials.fitting(changes)) is not None:
        yield Match(run, Account("options", f"{text}, {_REPRODUCES}", changes))
        return
    levels = setting.delegate.levels
    if levels is None:
        return
    fits = {level: run for level in setting.other_levels if (run := trials.fitting({**changes, levels.option: level}))}
    if fits:
        level, *rest = fits
        assumed = levels.in_words(setting.options[levels.option])
        text += f" at feature level {levels.in_words(level)} instead of {assumed}, {_REPRODUCES}"
        text += f" (also at {', '.join(map(levels.in_words, sorted(rest)))})" if rest else ""
        yield Match(fits[level], Account("options", text, {**changes, levels.option: level}, is_certain=not rest))


def _with_options(trials: Trials, run: Run, changes: Mapping[str, Any], why: str = _REPRODUCES, is_certain: bool = True) -> Match:
    text = f"with {', '.join(_typed(trials.setting, changes))}, {why}"
    return Match(run, Account("options", text, changes, is_certain=is_certain))


def _typed(setting: DeviceSetting, changes: Mapping[str, Any]) -> list[str]:
    return [as_typed(setting.delegate.options, name, option_value(value)) for name, value in changes.items()]


def _driver_without_limit(trials: Trials, changes: Mapping[str, Any], levels: Sequence[int | None]) -> Iterator[Match]:
    setting = replace(trials.setting, options={**trials.setting.options, **changes})
    unlimited = replace(trials, setting=setting)
    text = ", ".join([f"with {typed}" for typed in _typed(setting, changes)])
    for level in levels:
        for match in driver_matches(unlimited, level):
            account = match.account
            yield Match(match.run, replace(account, text=f"{account.text}, {text}", options={**changes, **account.options}))

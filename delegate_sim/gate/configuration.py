"""The configuration of a check: ``delegate-sim.toml``, or ``[tool.delegate-sim]`` in ``pyproject.toml``."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ..bundles.model_files import FilePattern, matching_files, models_below
from ..bundles.stores import is_pattern
from ..delegates.base import Delegate
from ..delegates.options import RELEASE, boolean, option_names, parse_options, with_path, without_release
from ..delegates.registry import DELEGATE_NAMES
from ..errors import DelegateSimError, LimitError, OptionError
from ..foundation.files import read_whole
from ..foundation.limits import how_to_raise, raised
from ..foundation.parsing import toml
from ..foundation.parsing.invalid_value import expected_of
from ..foundation.parsing.toml import TomlLines, line_of
from ..foundation.printable import printable
from ..foundation.work_budget import spend_steps, work_budget
from ..releases.catalogue import DEFAULT_RELEASE, Release, parse_release
from ..runtime.device_targets import only_delegates, targets_on
from ..runtime.target import Target, with_labels
from .budgets import Budgets
from .configuration_table import (
    ConfigurationProblem,
    ConfigurationTable,
    Ignored,
    check_version,
    codes_of,
    parse_baseline,
    parse_defaults,
    parse_delegate,
    parse_devices,
    parse_groups,
    parse_model_patterns,
    parse_patterns,
    parse_releases,
    parse_targets,
    path_below,
    read_budgets,
    read_ignored,
    take_budgets,
)
from .results import TargetIdentity, identity_of
from .source_models import ConfiguredSource, read_source
from .targets import KIND as MICRO
from .targets import parse_kind, platform_options, read_micro_target

OWN_FILE = "delegate-sim.toml"
PROJECT_FILE = "pyproject.toml"
DEFAULT_BASELINE = "delegate-sim-baseline.json"
_LARGEST_FILE = 1 << 20
_MOST_TARGETS = 2_000
"""Largest number of targets, after releases of the runtime and of platforms are expanded."""
_STEPS_FOR_A_PATTERN, _STEPS_FOR_AN_OVERRIDE = 100, 5
_FINDING, _MATCHING = "finding the models of the configuration", "matching models with the patterns of the configuration"
_OVERRIDING = "applying the overrides of the configuration"
_ASSUMES_KEY, _FORMER_KEY = "assume-ops-registered", "own-resolver"


class ConfigurationError(DelegateSimError):
    """Raised if there is no configuration, or if the configuration is invalid."""


class NoConfigurationError(ConfigurationError):
    """Raised if a folder and its parent folders have no configuration."""


@dataclass(frozen=True, slots=True)
class ConfiguredTarget:
    """A named target, the models to check on it, and their budgets.

    If a target in the configuration file lists several releases, there is one target per release, named ``NAME@RELEASE``. The
    releases may be releases of the runtime or of the delegate's platform. ``group`` is the target's name in the configuration
    file.
    """

    name: str
    group: str
    target: Target
    models: tuple[FilePattern, ...] | None
    """Patterns of the models to check on the target, or None for all models."""
    budgets: Budgets
    max_arena: int | None = None
    """The limit on the arena of TensorFlow Lite Micro in bytes."""

    @property
    def identity(self) -> TargetIdentity:
        """The target as a case names it."""
        return identity_of(self.name, self.target)

    @property
    def is_compared(self) -> bool:
        """Whether the baseline has entries for the target. A runtime that runs a model or not needs none."""
        return not self.target.delegate.runs_whole_models


@dataclass(frozen=True, slots=True)
class Override:
    """Budgets that override the general budgets for some models and targets.

    ``models`` is None for all models, and ``targets`` is None for all targets.
    """

    models: tuple[FilePattern, ...] | None
    targets: frozenset[str] | None
    budgets: Budgets


@dataclass(frozen=True)
class Configuration:
    """The content of a configuration. All patterns are relative to the folder ``root`` and use slashes."""

    path: str
    root: str
    models: tuple[str, ...]
    exclude: tuple[str, ...]
    baseline: str | None
    """Path of the baseline, or None if only budgets are checked."""
    targets: tuple[ConfiguredTarget, ...]
    budgets: Budgets
    overrides: tuple[Override, ...]
    sources: tuple[ConfiguredSource, ...] = ()
    """Source models to convert and check."""
    ignored: tuple[Ignored, ...] = ()
    """Findings that do not fail a check."""

    def find_models(self) -> list[str]:
        """Return the models that match the patterns, sorted."""
        with naming_configuration(self.path):
            paths = _matched(self.root, self.models) - _matched(self.root, self.exclude)
        return sorted(path for path in paths if os.path.isfile(os.path.join(self.root, path)))

    def concerns(self, target: ConfiguredTarget, model: str) -> bool:
        """Return whether a model is checked on a target."""
        with naming_configuration(self.path):
            return target.models is None or matches(model, target.models)

    @functools.cached_property
    def groups(self) -> Mapping[str, str]:
        """The names of targets in the configuration file, by the names of targets with a release."""
        return {own.name: own.group for own in self.targets}

    def budgets_of(self, targets: Sequence[ConfiguredTarget], model: str) -> list[Budgets]:
        """Return the budgets of a model on each target.

        The target's budgets override the general budgets, and the configuration's overrides are applied last.
        """
        with naming_configuration(self.path):
            overrides = [override for override in self.overrides if override.models is None or matches(model, override.models)]
            joined = [
                (names, functools.reduce(Budgets.overridden_by, [override.budgets for override in group]))
                for names, group in groupby(overrides, key=lambda override: override.targets)
            ]
            spend_steps(_STEPS_FOR_AN_OVERRIDE * len(overrides), _OVERRIDING)
            results = []
            for target in targets:
                own = [budgets for names, budgets in joined if names is None or not names.isdisjoint((target.name, target.group))]
                spend_steps(len(joined) + _STEPS_FOR_AN_OVERRIDE * len(own), _OVERRIDING)
                results.append(functools.reduce(Budgets.overridden_by, own, self.budgets.overridden_by(target.budgets)))
        return results


@contextmanager
def naming_configuration(path: str) -> Iterator[None]:
    """Put the path of the configuration at the start of the message of each LimitError that is raised in this context."""
    try:
        yield
    except LimitError as error:
        raise ConfigurationError(printable(f"{path}: {error}")) from error


def matches(path: str, patterns: Sequence[FilePattern]) -> bool:
    """Return whether a path with slashes matches a pattern."""
    return any(pattern.matches(path, _MATCHING) for pattern in patterns)


@work_budget()
def find_configuration(folder: str) -> str:
    """Return the path of the nearest configuration in a folder or its parents. Raises NoConfigurationError."""
    start = folder = os.path.abspath(folder)
    while True:
        own, project = os.path.join(folder, OWN_FILE), os.path.join(folder, PROJECT_FILE)
        if os.path.isfile(own):
            return own
        if os.path.isfile(project) and _project_table(_parsed(project)[1]) is not None:
            return project
        parent = os.path.dirname(folder)
        if parent == folder:
            raise NoConfigurationError(
                printable(
                    f"{start}: found neither {OWN_FILE} nor {PROJECT_FILE} with [tool.delegate-sim] in this folder or "
                    "its parent folders; write a configuration with 'delegate-sim init'"
                )
            )
        folder = parent


@work_budget()
def read_configuration(path: str) -> Configuration:
    """Read a configuration. Raises ConfigurationError if the configuration is invalid."""
    text, content = _parsed(path)
    prefix: tuple[str, ...] = ()
    table: Any = content
    if os.path.basename(path) == PROJECT_FILE:
        prefix = ("tool", "delegate-sim")
        table = _project_table(content)
        if table is None:
            raise ConfigurationError(printable(f"{path}: has no table [tool.delegate-sim]"))
    try:
        with naming_configuration(path):
            configuration = _configuration(path, ConfigurationTable(table, prefix))
            return replace(configuration, sources=_with_places(configuration, text))
    except ConfigurationProblem as problem:
        key = ".".join(map(str, problem.key[len(prefix) : len(problem.key) - problem.is_unknown]))
        line = line_of(text, problem.key)
        raise ConfigurationError(printable(f"{path}:{line}: {f'{key}: ' if key else ''}{problem}")) from problem


def _with_places(configuration: Configuration, text: str) -> tuple[ConfiguredSource, ...]:
    """Return the sources. Sources that name code get the place of the key that names the code."""
    lines = TomlLines(text) if any(source.code_key for source in configuration.sources) else None
    return tuple(
        [
            replace(source, code_place=f"{configuration.path}:{lines.line(source.code_key)}")
            if lines is not None and source.code_key
            else source
            for source in configuration.sources
        ]
    )


def _configuration(path: str, table: ConfigurationTable) -> Configuration:
    table.take("required-version", check_version)
    root = os.path.dirname(os.path.abspath(path))
    models = table.take("models", parse_patterns, ())
    exclude = table.take("exclude", parse_patterns, ())
    baseline = table.take("baseline", lambda value: parse_baseline(root, value), os.path.join(root, DEFAULT_BASELINE))
    runtime = table.take("runtime", parse_releases, (parse_release(DEFAULT_RELEASE),))
    defaults = table.take("defaults", parse_defaults, "benchmark")
    budgets = read_budgets(table.table("budgets"))
    targets = table.table("targets")
    if targets is None or not targets.content:
        raise ConfigurationProblem(table.key, "has no target; write one as [targets.NAME] with a delegate")
    configured: list[ConfiguredTarget] = []
    for name, content in targets.each():
        _limit_targets(targets.key, len(configured) + 1)
        if content.take("kind", parse_kind, "delegate") == MICRO:
            target, max_arena = read_micro_target(content, root)
            patterns = content.take("models", parse_model_patterns)
            configured.append(ConfiguredTarget(name, name, target, patterns, Budgets(), max_arena))
            content.finish()
        else:
            configured += _targets(name, content, runtime, defaults, root, len(configured))
    names = dict.fromkeys([name for target in configured if target.is_compared for name in (target.group, target.name)])
    overrides = tuple(_override(override, names) for override in table.tables("overrides"))
    all_names = [name for target in configured for name in (target.group, target.name)]
    ignoring = table.tables("ignore")
    codes = codes_of({target.target.delegate.name: target.target.delegate for target in configured}.values()) if ignoring else ()
    ignored = tuple([read_ignored(ignore, all_names, codes) for ignore in ignoring])
    sources = table.table("sources")
    configured_sources = tuple([read_source(name, source, root) for name, source in sources.each()]) if sources else ()
    table.finish()
    return Configuration(
        path, root, models, exclude, baseline, tuple(configured), budgets, overrides, configured_sources, ignored
    )


def _limit_targets(key: tuple[str | int, ...], count: int) -> None:
    most = raised(_MOST_TARGETS)
    if count > most:
        raise ConfigurationProblem(key, f"has {count:,} or more targets, but the limit is {most:,}{how_to_raise()}")


def _targets(
    name: str, table: ConfigurationTable, runtime: tuple[Release, ...], defaults: str, root: str, before: int
) -> list[ConfiguredTarget]:
    delegate = table.take("delegate", parse_delegate)
    on_devices = table.take("device", parse_devices, ()) + table.take("for", parse_groups, ())
    releases = table.take("runtime", parse_releases, runtime)
    platforms: list[tuple[tuple[str, ...], dict[str, str]]] = [((), {})]
    if on_devices:
        try:
            on_devices = [*only_delegates(dict.fromkeys(on_devices), () if delegate is None else (delegate.name,))]
        except OptionError as error:
            raise ConfigurationProblem((*table.key, "delegate"), expected_of(error)) from error
        defaults = table.take("defaults", parse_defaults, "api")
    elif delegate is None:
        table.take("defaults", parse_defaults)
        table.finish(only_similar=True)
        raise ConfigurationProblem(table.key, f"has no delegate; the delegates are {', '.join(DELEGATE_NAMES)}; or name a device")
    else:
        defaults = table.take("defaults", parse_defaults, defaults)
        option_table = table.table("options")
        if option_table is not None and without_release(option_table.content)[1] is not None:
            releases = option_table.take(RELEASE, parse_releases)
            del option_table.content[RELEASE]
        options = _options(delegate, option_table, defaults, root)
        if (platform := delegate.behind.platform) is not None:
            platforms = table.take(platform.key, functools.partial(platform_options, delegate), platforms)
    _limit_targets(table.key[:-1], before + len(releases) * len(on_devices or platforms))
    assume_ops_registered = _assume_ops_registered(table)
    models = table.take("models", parse_model_patterns)
    budgets = read_budgets(table.table("budgets"))
    table.finish()
    named: list[tuple[Sequence[str], Target]] = []
    for release in releases:
        version = [str(release)] if len(releases) > 1 else []
        if on_devices:
            labeled = with_labels(targets_on(on_devices, release, defaults, assume_ops_registered))
            named += [((label, *version), target) for label, target in labeled]
        elif delegate is not None:
            for parts, changes in platforms:
                target = Target(delegate, {**options, **changes}, release, defaults, assume_ops_registered)
                named.append(((*version, *parts), target))
    return [ConfiguredTarget("@".join([name, *parts]), name, target, models, budgets) for parts, target in named]


def _assume_ops_registered(table: ConfigurationTable) -> bool:
    """Return whether to assume that the application registers missing operators. The key's former name is also read."""
    former = _FORMER_KEY in table.content
    if former and _ASSUMES_KEY in table.content:
        raise ConfigurationProblem((*table.key, _FORMER_KEY), f"is the former name of {_ASSUMES_KEY}: give only one of them")
    assumed: bool = table.take(_FORMER_KEY if former else _ASSUMES_KEY, boolean, False)
    return assumed


def _options(delegate: Delegate, option_table: ConfigurationTable | None, defaults: str, root: str) -> Mapping[str, Any]:
    values: dict[str, Any] = {}
    for key, value in ({} if option_table is None else option_table.content).items():
        name = key.replace("-", "_")
        try:
            values[name] = with_path(delegate.options, name, value, lambda path: os.path.relpath(path_below(root, path)))
            parse_options(delegate.name, delegate.options, {name: values[name]}, defaults)
        except (OptionError, ValueError) as error:
            assert option_table is not None
            is_unknown = name not in option_names(delegate.options)
            raise ConfigurationProblem((*option_table.key, key), expected_of(error), is_unknown=is_unknown) from error
    return parse_options(delegate.name, delegate.options, values, defaults)


def _override(table: ConfigurationTable, names: Collection[str]) -> Override:
    models = table.take("models", parse_model_patterns)
    chosen = table.take("targets", lambda value: parse_targets(value, names))
    if models is None and chosen is None:
        raise ConfigurationProblem(
            table.key, "names neither models nor targets; put budgets for all models and targets in [budgets]"
        )
    budgets = take_budgets(table)
    table.finish()
    return Override(models, None if chosen is None else frozenset(chosen), budgets)


def _parsed(path: str) -> tuple[str, dict[str, Any]]:
    try:
        text = read_whole(path, _LARGEST_FILE).decode("utf-8")
        return text, toml.loads(text)
    except OSError as error:
        raise ConfigurationError(printable(f"{path}: {error.strerror or error}")) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(printable(f"{path}: is not UTF-8 text")) from error
    except LimitError as error:
        raise ConfigurationError(printable(f"{path}: {error}")) from error
    except (toml.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at line (\d{1,9}), column \d+\)", str(error))
        message = re.sub(r" \(at [^()]*\)$", "", str(error))
        line = place[1] if place else len(text.splitlines())
        raise ConfigurationError(printable(f"{path}:{line}: is not TOML: {message}")) from error


def _project_table(content: Mapping[str, Any]) -> Any:
    tool = content.get("tool")
    return tool.get("delegate-sim") if isinstance(tool, dict) else None


def _matched(root: str, patterns: Sequence[str]) -> set[str]:
    distinct = dict.fromkeys(patterns)
    return {os.path.normpath(path).replace(os.sep, "/") for pattern in distinct for path in _files_of(pattern, root)}


def _files_of(pattern: str, root: str) -> Sequence[str]:
    spend_steps(_STEPS_FOR_A_PATTERN, _FINDING)
    if is_pattern(pattern):
        return matching_files(pattern, root, _FINDING)
    below = os.path.join(root, pattern)
    return [os.path.relpath(path, root) for path in models_below(below, _FINDING)] if os.path.isdir(below) else [pattern]

"""The configuration of a check: ``delegate-sim.toml``, or ``[tool.delegate-sim]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from .. import toml
from ..delegates.base import Delegate
from ..delegates.registry import DELEGATE_NAMES, find_delegate
from ..errors import DelegateSimError, OptionError
from ..files import read_whole
from ..model.schema import enum_names, is_operator
from ..model_files import is_pattern, matches_parts, matching_files, models_below
from ..options import DEFAULT_SETS, RELEASE, boolean, parse_options, without_release
from ..releases.catalogue import DEFAULT_RELEASE, Release, parse_release
from ..text import printable
from ..toml_lines import line_of
from ..version import __version__
from .budgets import Allowance, Budgets, Tolerance
from .platforms import platform_options

OWN_FILE = "delegate-sim.toml"
PROJECT_FILE = "pyproject.toml"
DEFAULT_BASELINE = "delegate-sim-baseline.json"
_LARGEST_FILE = 1 << 20


class ConfigurationError(DelegateSimError):
    """There is no configuration, or it contains an error; the message names file, line and key."""


@dataclass(frozen=True)
class ConfiguredTarget:
    """What models are checked on: a delegate with its options, on a release of the runtime.

    A target with several releases becomes one for each, named ``NAME@RELEASE``, and so does one with several releases of the
    platform behind the delegate; ``group`` is the name in the configuration.
    """

    name: str
    group: str
    delegate: Delegate
    options: Mapping[str, Any]
    release: Release
    defaults: str
    models: tuple[str, ...] | None
    """Patterns of the models it applies to; None for all."""
    budgets: Budgets
    has_own_resolver: bool = False
    """Whether the application registers operators that the runtime's own resolver does not have."""


@dataclass(frozen=True)
class Override:
    """Budgets for some models, some targets, or both."""

    models: tuple[str, ...] | None
    targets: tuple[str, ...] | None
    budgets: Budgets


@dataclass(frozen=True)
class Configuration:
    """What to check. All patterns and paths in it are relative to ``root``, with slashes."""

    path: str
    root: str
    models: tuple[str, ...]
    exclude: tuple[str, ...]
    baseline: str | None
    """Path of the baseline; None to check budgets only."""
    targets: tuple[ConfiguredTarget, ...]
    budgets: Budgets
    overrides: tuple[Override, ...]

    def find_models(self) -> list[str]:
        """Return the models that the patterns match, sorted."""
        found = _matched(self.root, self.models) - _matched(self.root, self.exclude)
        return sorted(path for path in found if os.path.isfile(os.path.join(self.root, path)))

    def concerns(self, target: ConfiguredTarget, model: str) -> bool:
        """Whether a target applies to a model."""
        return target.models is None or matches(model, target.models)

    def budgets_of(self, target: ConfiguredTarget, model: str) -> Budgets:
        """Return the budgets of a model on a target: the general ones, the target's, then each override in order."""
        budgets = self.budgets.overridden_by(target.budgets)
        for override in self.overrides:
            for_model = override.models is None or matches(model, override.models)
            if for_model and (override.targets is None or not {target.name, target.group}.isdisjoint(override.targets)):
                budgets = budgets.overridden_by(override.budgets)
        return budgets


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path with slashes matches one of the patterns; ``**`` matches any number of folders, including none."""
    return any(matches_parts(path.split("/"), pattern.split("/")) for pattern in patterns)


def find_configuration(folder: str) -> str:
    """Return the path of the nearest configuration in a folder or above; raises ConfigurationError if there is none."""
    start = folder = os.path.abspath(folder)
    while True:
        own, project = os.path.join(folder, OWN_FILE), os.path.join(folder, PROJECT_FILE)
        if os.path.isfile(own):
            return own
        if os.path.isfile(project) and _project_table(_parsed(project)[1]) is not None:
            return project
        parent = os.path.dirname(folder)
        if parent == folder:
            raise ConfigurationError(
                printable(
                    f"{start}: there is no {OWN_FILE} and no {PROJECT_FILE} with [tool.delegate-sim] here or above; "
                    "'delegate-sim init' writes one"
                )
            )
        folder = parent


def read_configuration(path: str) -> Configuration:
    """Read a configuration; raises ConfigurationError naming the file, the line, the key and what is wrong."""
    text, content = _parsed(path)
    prefix: tuple[str, ...] = ()
    table: Any = content
    if os.path.basename(path) == PROJECT_FILE:
        prefix = ("tool", "delegate-sim")
        table = _project_table(content)
        if table is None:
            raise ConfigurationError(printable(f"{path}: has no table [tool.delegate-sim]"))
    try:
        return _configuration(path, _Table(table, prefix))
    except _ConfigurationProblem as problem:
        key = ".".join(str(part) for part in problem.key[len(prefix) :])
        line = line_of(text, problem.key)
        raise ConfigurationError(printable(f"{path}:{line}: {f'{key}: ' if key else ''}{problem}")) from problem


class _ConfigurationProblem(Exception):
    """The value of a key is wrong."""

    def __init__(self, key: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.key = key


Parse = Callable[[Any], Any]


class _Table:
    """A table of the file, whose keys are read one by one; those left over are unknown."""

    def __init__(self, content: Any, key: tuple[str | int, ...]) -> None:
        if not isinstance(content, dict):
            raise _ConfigurationProblem(key, f"takes a table, not {content!r}")
        self.content = content
        self.key = key
        self._known: list[str] = []

    def take(self, name: str, parse: Parse, default: Any = None) -> Any:
        """Return the parsed value of a key, or the default if it is not there."""
        self._known.append(name)
        if name not in self.content:
            return default
        try:
            return parse(self.content[name])
        except (ValueError, OptionError) as error:
            raise _ConfigurationProblem((*self.key, name), str(error)) from error

    def table(self, name: str) -> _Table | None:
        """Return the table of a key, or None."""
        self._known.append(name)
        return _Table(self.content[name], (*self.key, name)) if name in self.content else None

    def tables(self, name: str) -> list[_Table]:
        """Return the tables of a key that may be given several times."""
        self._known.append(name)
        found = self.content.get(name, [])
        if not isinstance(found, list):
            raise _ConfigurationProblem((*self.key, name), f"must be written as [[{name}]]")
        return [_Table(content, (*self.key, name, number)) for number, content in enumerate(found)]

    def finish(self) -> None:
        """Refuse keys that are not known."""
        for name in self.content:
            if name not in self._known:
                near = get_close_matches(name, self._known, n=1)
                known = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(self._known))}"
                raise _ConfigurationProblem((*self.key, name), f"there is no such key; {known}")


def _configuration(path: str, table: _Table) -> Configuration:
    table.take("required-version", _check_version)
    root = os.path.dirname(os.path.abspath(path))
    models = table.take("models", _patterns, ())
    exclude = table.take("exclude", _patterns, ())
    baseline = table.take("baseline", _baseline, DEFAULT_BASELINE)
    runtime = table.take("runtime", _releases, (parse_release(DEFAULT_RELEASE),))
    defaults = table.take("defaults", _defaults, "benchmark")
    budgets = _budgets_in(table.table("budgets"))
    targets = table.table("targets")
    if targets is None or not targets.content:
        raise _ConfigurationProblem(table.key, "there is no target; write one as [targets.NAME] with a delegate")
    found = tuple(
        target
        for name, content in targets.content.items()
        for target in _targets(name, _Table(content, (*targets.key, name)), runtime, defaults, root)
    )
    overrides = tuple(_override(override, found) for override in table.tables("overrides"))
    table.finish()
    baseline_path = None if baseline is None else os.path.join(root, baseline)
    return Configuration(path, root, models, exclude, baseline_path, found, budgets, overrides)


def _targets(name: str, table: _Table, runtime: tuple[Release, ...], defaults: str, root: str) -> list[ConfiguredTarget]:
    delegate = table.take("delegate", _delegate)
    if delegate is None:
        raise _ConfigurationProblem(table.key, f"has no delegate; known are {', '.join(DELEGATE_NAMES)}")
    defaults = table.take("defaults", _defaults, defaults)
    releases = table.take("runtime", _releases, runtime)
    given = table.table("options")
    if given is not None and without_release(given.content)[1] is not None:
        releases = given.take(RELEASE, _releases)
        del given.content[RELEASE]
    options = _options(delegate, given, defaults, root)
    platforms = table.take(delegate.platform.key, lambda value: platform_options(delegate, value)) if delegate.platform else None
    resolver = table.take("own-resolver", boolean, False)
    models = table.take("models", _patterns)
    budgets = _budgets_in(table.table("budgets"))
    table.finish()
    return [
        ConfiguredTarget(
            "@".join([name, *([str(release)] if len(releases) > 1 else []), *label]),
            *(name, delegate, {**options, **changes}, release, defaults, models, budgets, resolver),
        )
        for release in releases
        for label, changes in platforms or [((), {})]
    ]


def _options(delegate: Delegate, given: _Table | None, defaults: str, root: str) -> Mapping[str, Any]:
    paths = {option.name for option in delegate.options if option.is_path}
    values: dict[str, Any] = {}
    for key, value in ({} if given is None else given.content).items():
        name = key.replace("-", "_")
        values[name] = os.path.relpath(os.path.join(root, value)) if name in paths and isinstance(value, str) else value
        try:
            parse_options(delegate.name, delegate.options, {name: values[name]}, defaults)
        except OptionError as error:
            assert given is not None
            raise _ConfigurationProblem((*given.key, key), str(error)) from error
    return parse_options(delegate.name, delegate.options, values, defaults)


def _override(table: _Table, targets: Sequence[ConfiguredTarget]) -> Override:
    names = list(dict.fromkeys([name for target in targets for name in (target.group, target.name)]))
    models = table.take("models", _patterns)
    chosen = table.take("targets", lambda value: _known_targets(value, names))
    if models is None and chosen is None:
        raise _ConfigurationProblem(table.key, "names neither models nor targets; what applies to all belongs in [budgets]")
    budgets = _budgets(table)
    table.finish()
    return Override(models, chosen, budgets)


def _budgets_in(table: _Table | None) -> Budgets:
    if table is None:
        return Budgets()
    budgets = _budgets(table)
    table.finish()
    return budgets


def _budgets(table: _Table) -> Budgets:
    tolerance = table.table("tolerance")
    return Budgets(
        table.take("max-partitions", _count),
        table.take("min-delegated-share", _share),
        table.take("max-fallback", _count),
        table.take("forbid-fallback-ops", _operators),
        Tolerance() if tolerance is None else _tolerance(tolerance),
    )


def _tolerance(table: _Table) -> Tolerance:
    tolerance = Tolerance(
        table.take("partitions", _allowance),
        table.take("delegate-kernels", _allowance),
        table.take("fallback-nodes", _allowance),
        table.take("delegated-share", _share),
        table.take("border-bytes", _allowance),
    )
    table.finish()
    return tolerance


def _releases(value: Any) -> tuple[Release, ...]:
    """Parse one release of the runtime, or a list of several."""
    if not isinstance(value, list):
        return (parse_release(value),)
    if not value:
        raise ValueError("takes a release or a non-empty list of releases")
    return tuple(dict.fromkeys(map(parse_release, value)))


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"takes a whole number of at least 0, not {value!r}")
    return value


_PER_CENT = re.compile(r"(\d+(?:\.\d+)?) ?%")


def _share(value: Any) -> float:
    per_cent = _PER_CENT.fullmatch(value) if isinstance(value, str) else None
    share = float(per_cent[1]) / 100 if per_cent else value
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise ValueError(f'takes a share from 0 to 1, or a string such as "90 %", not {value!r}')
    return float(share)


def _allowance(value: Any) -> Allowance:
    if isinstance(value, str):
        per_cent = _PER_CENT.fullmatch(value)
        if per_cent:
            return Allowance(share=float(per_cent[1]) / 100)
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Allowance(number=value)
    raise ValueError(f'takes a whole number of at least 0, or a string such as "10 %", not {value!r}')


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"takes a string, not {value!r}")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise ValueError(f"takes a list of strings, not {value!r}")
    return tuple(map(_text, value))


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = tuple(pattern.removeprefix("./") for pattern in _texts(value))
    for pattern in patterns:
        _inside(pattern)
    return patterns


def _operators(value: Any) -> tuple[str, ...]:
    names = _texts(value)
    for name in names:
        if name.isupper() and not is_operator(name):
            near = get_close_matches(name, enum_names("BuiltinOperator").values(), n=1)
            raise ValueError(f"there is no operator {name}{f'; did you mean {near[0]}?' if near else ''}")
    return names


def _inside(path: str) -> str:
    """Return a path that does not lead out of the configuration's folder: who checks a repository writes nowhere else."""
    if os.path.isabs(path) or ".." in re.split(r"[/\\\\]", path):
        raise ValueError(f"takes what is in the folder of this file or below, not {path!r}")
    return path


def _baseline(value: Any) -> str | None:
    return None if value is False else _inside(_text(value))


def _defaults(value: Any) -> str:
    if value not in DEFAULT_SETS:
        raise ValueError(f"takes {' or '.join(DEFAULT_SETS)}, not {value!r}")
    return str(value)


def _delegate(value: Any) -> Delegate:
    return find_delegate(_text(value))


def _known_targets(value: Any, known: Sequence[str]) -> tuple[str, ...]:
    names = _texts(value)
    for name in names:
        if name not in known:
            raise ValueError(f"there is no target {name!r}; known are {', '.join(known)}")
    return names


_CLAUSE = re.compile(r"\s*(==|!=|<=|>=|<|>)?\s*(\d+(?:\.\d+)*)\s*")


def _check_version(value: Any) -> None:
    """Raise ValueError if this version does not satisfy the requirement."""
    own = _release_numbers(__version__)
    for clause in _text(value).split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise ValueError(f'takes a version such as ">=1.2,<2", not {value!r}')
        asked = _release_numbers(match[2])
        fits = {
            "==": own == asked, "!=": own != asked, "<=": own <= asked, ">=": own >= asked, "<": own < asked, ">": own > asked,
        }[match[1] or "=="]  # fmt: skip
        if not fits:
            raise ValueError(f"{value} is required, but this is delegate-sim {__version__}")


def _release_numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _parsed(path: str) -> tuple[str, dict[str, Any]]:
    try:
        text = read_whole(path, _LARGEST_FILE).decode("utf-8")
        return text, toml.loads(text)
    except OSError as error:
        raise ConfigurationError(printable(f"{path}: {error.strerror or error}")) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(printable(f"{path}: is not UTF-8 text")) from error
    except (toml.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at line (\d+), column \d+\)", str(error))
        message = re.sub(r" \(at .*\)$", "", str(error))
        line = place[1] if place else len(text.splitlines())
        raise ConfigurationError(printable(f"{path}:{line}: is not TOML: {message}")) from error


def _project_table(content: Mapping[str, Any]) -> Any:
    tool = content.get("tool")
    return tool.get("delegate-sim") if isinstance(tool, dict) else None


def _matched(root: str, patterns: Sequence[str]) -> set[str]:
    return {os.path.normpath(path).replace(os.sep, "/") for pattern in patterns for path in _files_of(pattern, root)}


def _files_of(pattern: str, root: str) -> Sequence[str]:
    """Return what a pattern matches; a folder stands for the models below it."""
    if is_pattern(pattern):
        return matching_files(pattern, root)
    below = os.path.join(root, pattern)
    return [os.path.relpath(path, root) for path in models_below(below)] if os.path.isdir(below) else [pattern]

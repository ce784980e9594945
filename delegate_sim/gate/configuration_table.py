"""Read the tables of a configuration key by key, parse their values, and ignore the findings of ``[[ignore]]``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from ..bundles.model_files import FilePattern
from ..delegates.ahead_of_time import EXPLAINED as VELA
from ..delegates.base import Delegate
from ..delegates.options import DEFAULT_SETS
from ..delegates.registry import GROUP_NAMES, MICRO_NAME, DelegateOnDevice, find_live
from ..errors import OptionError
from ..foundation.limits import how_to_raise, raised
from ..foundation.outputs import is_within
from ..foundation.parsing.invalid_value import InvalidValueError, expected_of
from ..foundation.printable import suggestion
from ..foundation.work_budget import spend_steps
from ..micro.target import EXPLAINED as MICRO
from ..model.schema import enum_names, is_operator
from ..releases.catalogue import Release, parse_release
from ..results.report.findings import ERROR, NOTE
from ..runtime.device_targets import delegates_of_devices
from ..version import __version__
from . import GATE
from .budgets import Allowance, Budgets, Tolerance
from .results import FAILED, PASSED, Case

_LONGEST_PATTERN = 4096


class ConfigurationProblem(Exception):
    """Raised if the value of a key is invalid. ``key`` is the key, or a key that is unknown.

    The message quotes neither values nor an unknown key, because the file may be another file than the user believes.
    """

    def __init__(self, key: tuple[str | int, ...], message: str, *, is_unknown: bool = False) -> None:
        super().__init__(message)
        self.key = key
        self.is_unknown = is_unknown


Parse = Callable[[Any], Any]


class ConfigurationTable:
    """A table of the configuration file. A key that was not read is unknown, and ``finish`` reports it."""

    def __init__(self, content: Any, key: tuple[str | int, ...]) -> None:
        if not isinstance(content, dict):
            raise ConfigurationProblem(key, "takes a table")
        self.content = content
        self.key = key
        self._known: list[str] = []

    def take(self, name: str, parse: Parse, default: Any = None) -> Any:
        """Return the parsed value of a key, or the default if the key is missing."""
        self._known.append(name)
        if name not in self.content:
            return default
        try:
            return parse(self.content[name])
        except (ValueError, OptionError) as error:
            raise ConfigurationProblem((*self.key, name), expected_of(error)) from error

    def table(self, name: str) -> ConfigurationTable | None:
        """Return the table under a key, or None if the key is missing."""
        self._known.append(name)
        return ConfigurationTable(self.content[name], (*self.key, name)) if name in self.content else None

    def each(self) -> Iterator[tuple[str, ConfigurationTable]]:
        """Yield the tables in this table, with their names."""
        for name, content in self.content.items():
            yield name, ConfigurationTable(content, (*self.key, name))

    def tables(self, name: str) -> list[ConfigurationTable]:
        """Return all tables with this key, written as ``[[key]]``."""
        self._known.append(name)
        value = self.content.get(name, [])
        if not isinstance(value, list):
            raise ConfigurationProblem((*self.key, name), f"must be written as [[{name}]]")
        return [ConfigurationTable(content, (*self.key, name, number)) for number, content in enumerate(value)]

    def finish(self, *, only_similar: bool = False) -> None:
        """Raise ConfigurationProblem for the first key that was not read, or that is also similar to a key that was read."""
        for name in self.content:
            if name in self._known:
                continue
            near = get_close_matches(name, self._known, n=1)
            if near or not only_similar:
                known = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(sorted(self._known))}"
                raise ConfigurationProblem((*self.key, name), f"there is no such key; {known}", is_unknown=True)


def parse_releases(value: Any) -> tuple[Release, ...]:
    """Parse one release of the runtime, or a list of releases."""
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str | int | float) for name in names):
        raise InvalidValueError("takes a release or a non-empty list of releases")
    return tuple(dict.fromkeys(map(parse_release, names)))


def parse_count(value: Any) -> int:
    """Return an integer of at least 0. Raises ValueError for other values."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValueError("takes a whole number of at least 0")
    return value


_PER_CENT = re.compile(r"(\d{1,9}(?:\.\d{1,30})?) ?%")


def parse_share(value: Any) -> float:
    """Parse a share from 0 to 1, given as a number or in percent. Raises ValueError for other values."""
    per_cent = _PER_CENT.fullmatch(value) if isinstance(value, str) else None
    share = float(per_cent[1]) / 100 if per_cent else value
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InvalidValueError('takes a share from 0 to 1, or a string such as "90 %"')
    return float(share)


def parse_allowance(value: Any) -> Allowance:
    """Parse an allowance, given as a number or in percent. Raises ValueError for other values."""
    if isinstance(value, str):
        per_cent = _PER_CENT.fullmatch(value)
        if per_cent:
            return Allowance(share=float(per_cent[1]) / 100)
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Allowance(number=value)
    raise InvalidValueError('takes a whole number of at least 0, or a string such as "10 %"')


def parse_text(value: Any) -> str:
    """Return a non-empty string. Raises ValueError for other values."""
    if not isinstance(value, str) or not value:
        raise InvalidValueError("takes a string")
    return value


def parse_texts(value: Any) -> tuple[str, ...]:
    """Return a list of strings as a tuple. A single string is a list of one string. Raises ValueError for other values."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise InvalidValueError("takes a list of strings")
    return tuple(map(parse_text, value))


def parse_patterns(value: Any) -> tuple[str, ...]:
    """Return patterns of files inside the configuration's folder. Raises ValueError for other values."""
    patterns = tuple(pattern.removeprefix("./") for pattern in parse_texts(value))
    most = raised(_LONGEST_PATTERN)
    for pattern in patterns:
        parse_inside(pattern)
        if len(pattern) > most:
            raise InvalidValueError(f"takes patterns of at most {most:,} characters{how_to_raise()}")
    return patterns


def parse_model_patterns(value: Any) -> tuple[FilePattern, ...]:
    """Return patterns to compare with many models. Raises ValueError as ``parse_patterns`` does."""
    return tuple(map(FilePattern, parse_patterns(value)))


def parse_operators(value: Any) -> tuple[str, ...]:
    """Return names of operators. Raises ValueError for an unknown name in capitals."""
    names = parse_texts(value)
    for name in names:
        if name.isupper() and not is_operator(name):
            near = get_close_matches(name, enum_names("BuiltinOperator").values(), n=1)
            raise InvalidValueError(f"there is no such operator{f'; did you mean {near[0]}?' if near else ''}")
    return names


def parse_inside(path: str) -> str:
    """Return a path inside the configuration's folder. Raises ValueError for other paths."""
    is_absolute = os.path.isabs(path) or path.startswith(("/", "\\"))  # on Windows, such a path is on the current drive
    if is_absolute or os.path.splitdrive(path)[0] or ".." in re.split(r"[/\\\\]", path):
        raise InvalidValueError("takes a path inside the folder of this file")
    return path


def path_below(root: str, path: str) -> str:
    """Return the path of a file or folder inside the configuration's folder ``root``, joined with ``root``.

    Raises InvalidValueError if the path, or the place to which links lead, is outside.
    """
    joined = os.path.join(root, parse_inside(path))
    if not is_within(joined, root):
        raise InvalidValueError("takes a path inside the folder of this file, but a link leads outside")
    return joined


def parse_baseline(root: str, value: Any) -> str | None:
    """Return the path of the baseline, joined with the folder ``root``, or None for false. Raises ValueError for other values."""
    return None if value is False else path_below(root, parse_text(value))


def parse_defaults(value: Any) -> str:
    """Return the name of a set of defaults. Raises ValueError for unknown names."""
    if value not in DEFAULT_SETS:
        raise InvalidValueError(f"takes {' or '.join(DEFAULT_SETS)}")
    return str(value)


def parse_delegate(value: Any) -> Delegate:
    """Return the delegate with this name. Raises OptionError for unknown names."""
    if value == MICRO_NAME:
        raise InvalidValueError(f'{MICRO_NAME} is a kind of target: write kind = "{MICRO_NAME}"')
    return find_live(parse_text(value))


def parse_devices(value: Any) -> tuple[DelegateOnDevice, ...]:
    """Return the delegates of one device, or of a list of devices. Raises OptionError for unknown names."""
    return delegates_of_devices(parse_texts(value))


def parse_groups(value: Any) -> tuple[DelegateOnDevice, ...]:
    """Return the delegates of one kind of devices, or of a list. Raises InvalidValueError or OptionError for other values."""
    names = parse_texts(value)
    if not set(names) <= set(GROUP_NAMES):
        raise InvalidValueError(f"takes {', '.join(GROUP_NAMES)}, or a list of them")
    return delegates_of_devices((), names)


def parse_targets(value: Any, known: Collection[str]) -> tuple[str, ...]:
    """Return names of known targets. Raises ValueError for unknown names."""
    names = parse_texts(value)
    for name in names:
        if name not in known:
            raise InvalidValueError(f"there is no such target; the targets are {', '.join(known)}")
    return names


def read_budgets(table: ConfigurationTable | None) -> Budgets:
    """Read a table of budgets."""
    if table is None:
        return Budgets()
    budgets = take_budgets(table)
    table.finish()
    return budgets


def take_budgets(table: ConfigurationTable) -> Budgets:
    """Return the budgets of a table, which may have other keys."""
    tolerance, limits = table.table("tolerance"), Tolerance()
    if tolerance is not None:
        parsers = {"delegated_share": parse_share, "multiply_add_share": parse_share}
        names = [field.name for field in fields(Tolerance)]
        limits = Tolerance(*[tolerance.take(name.replace("_", "-"), parsers.get(name, parse_allowance)) for name in names])
        tolerance.finish()
    return Budgets(
        table.take("max-partitions", parse_count),
        table.take("min-delegated-share", parse_share),
        table.take("max-fallback", parse_count),
        table.take("forbid-fallback-ops", parse_operators),
        limits,
        table.take("min-multiply-add-share", parse_share),
    )


_CLAUSE = re.compile(r"\s*(?:(==|!=|<=|>=|<|>)\s*)?(\d{1,9}(?:\.\d{1,9})*)\s*")


def check_version(value: Any) -> None:
    """Raise ValueError if this version of delegate-sim does not satisfy the requirement ``value``."""
    own = _release_numbers(__version__)
    for clause in parse_text(value).split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise InvalidValueError('takes a version such as ">=1.2,<2"')
        limit = _release_numbers(match[2])
        fits = {
            "==": own == limit, "!=": own != limit, "<=": own <= limit, ">=": own >= limit, "<": own < limit, ">": own > limit,
        }[match[1] or "=="]  # fmt: skip
        if not fits:
            raise InvalidValueError(f"{clause.strip()} is required, but this is delegate-sim {__version__}")


def _release_numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


_Matches = Callable[[str, Sequence[FilePattern]], bool]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A code whose findings do not fail a check, and the reason.

    ``models`` has patterns of models, or is None for all models. ``targets`` has names of targets, or is None for all targets.
    """

    code: str
    reason: str
    models: tuple[FilePattern, ...] | None = None
    targets: frozenset[str] | None = None


def codes_of(delegates: Iterable[Delegate]) -> frozenset[str]:
    """Return the codes that findings about these delegates, and about microcontrollers, may have."""
    return frozenset([*GATE, *MICRO, *VELA, *[code for delegate in delegates for code in delegate.kinds]])


def read_ignored(table: ConfigurationTable, targets: Collection[str], codes: Collection[str]) -> Ignored:
    """Read a table ``[[ignore]]``. ``codes`` are all codes of the targets. Raises ConfigurationProblem."""
    code, reason = table.take("code", parse_text), table.take("reason", parse_text)
    for key, value in (("code", code), ("reason", reason)):
        if value is None:
            raise ConfigurationProblem(table.key, f"has no {key}; give the code of the findings, and the reason to ignore them")
    models = table.take("models", parse_model_patterns)
    chosen = table.take("targets", lambda value: parse_targets(value, targets))
    table.finish()
    if code not in codes:
        near = suggestion(code, codes) or "; delegate-sim explain lists all codes"
        raise ConfigurationProblem((*table.key, "code"), f"the targets have no such code{near}")
    return Ignored(code, reason, models, None if chosen is None else frozenset(chosen))


def without_ignored(
    cases: Iterable[Case],
    rows: Sequence[Ignored],
    groups: Mapping[str, str],
    matches: Callable[[str, Sequence[FilePattern]], bool],
) -> list[Case]:
    """Return the cases with ignored findings as notes. A case passes if no other finding is an error.

    ``groups`` has the names that the configuration gives to targets. ``matches`` tells whether a model has a pattern.
    """
    return [_without(case, [row for row in rows if _concerns(row, case, groups, matches)]) for case in cases]


def _concerns(row: Ignored, case: Case, groups: Mapping[str, str], matches: _Matches) -> bool:
    spend_steps(1, "applying [[ignore]] of the configuration")
    is_target = row.targets is None or not row.targets.isdisjoint((case.target, groups.get(case.target, case.target)))
    return is_target and (row.models is None or matches(case.model, row.models))


def _without(case: Case, rows: Sequence[Ignored]) -> Case:
    reasons = {row.code: row.reason for row in rows}
    if reasons.keys().isdisjoint(finding.code for finding in case.findings):
        return case
    findings = tuple(
        [
            replace(finding, level=NOTE, ignored=reasons[finding.code]) if finding.code in reasons else finding
            for finding in case.findings
        ]
    )
    left = list(dict.fromkeys([finding.code for finding in findings if finding.level == ERROR]))
    if left:
        more = f"not ignored: {', '.join(left)}; to accept these findings too, add an [[ignore]] table for each code"
        return replace(case, findings=findings, notes=(*case.notes, more))
    return replace(case, findings=findings, status=case.status if case.status != FAILED else PASSED)

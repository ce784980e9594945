"""Options of delegates, declared once for Python, the command line and the documentation.

Options parse their own values, because click's types would work only on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from ..errors import OptionError
from ..foundation.parsing.invalid_value import InvalidValueError, expected_of
from ..releases.catalogue import is_release_name

OptionValues: TypeAlias = Mapping[str, Any]
"""The values of a delegate's options, keyed by name."""

DEFAULT_SETS = ("api", "benchmark")
"""The two sets of defaults: ``api`` has the delegate's own defaults, ``benchmark`` has the values that benchmark_model passes."""


class Option(NamedTuple):
    """One option of a delegate. ``name`` is the delegate's own name of the option.

    ``parse`` converts a value from Python, or a string from the command line. If the value is invalid, ``parse`` raises
    ValueError with the valid values. ``flag`` is the name of benchmark_model's flag without dashes.
    """

    name: str
    parse: Callable[[Any], Any]
    default: Any
    help: str
    benchmark_default: Any = None
    has_benchmark_default: bool = False
    flag: str | None = None
    is_path: bool = False
    """Whether a string value is a file path (see ``path_in``). In a configuration file, the path is relative to its folder."""
    is_content: Callable[[str], bool] | None = None
    """For an option with a path: a function that returns whether a string is the content of the file, and not its path."""
    conflict: Callable[[Mapping[str, Any]], str] | None = None
    """A function that describes a conflict with the values of other options, or returns "" if there is no conflict."""
    other_flags: tuple[str, ...] = ()
    """Further flags that the help does not show."""
    printed: tuple[str, ...] = ()
    """benchmark_model's descriptions of the flag in all releases, in lower case."""
    choices: tuple[str, ...] = ()
    """The values to offer for selection. ``parse`` may accept other spellings. Empty if the values cannot be listed."""
    changes_verdicts: bool = True

    @property
    def described(self) -> str:
        """The help, with a note if the option changes no verdict."""
        return self.help if self.changes_verdicts else f"{self.help}; changes no verdict"

    @property
    def key(self) -> str:
        """The option's name for users: its flag with underscores, or ``name`` if there is no flag."""
        return self.flag.replace("-", "_") if self.flag else self.name

    def path_in(self, value: Any) -> str | None:
        """Return the path of the file that the option opens for a value, or None if it opens no file."""
        if not self.is_path or not isinstance(value, str) or not value:
            return None
        return None if self.is_content is not None and self.is_content(value) else value

    def default_in(self, defaults: str) -> Any:
        """Return the option's default in one of ``DEFAULT_SETS``."""
        return self.benchmark_default if defaults == "benchmark" and self.has_benchmark_default else self.default


def parse_options(
    delegate: str, declared: Sequence[Option], given: Mapping[str, Any], defaults: str = "api"
) -> Mapping[str, Any]:
    """Return the value of every declared option. Raises OptionError for unknown options, and invalid or conflicting values."""
    if defaults not in DEFAULT_SETS:
        raise OptionError(f"there are no defaults named {defaults!r}; the defaults are {', '.join(DEFAULT_SETS)}")
    given = canonical_names(delegate, declared, given)
    by_name = {option.name: option for option in declared}
    for name in given:
        if name not in by_name:
            known = f"its options are {', '.join([option.key for option in declared])}"
            raise OptionError(f"{delegate} has no option {name!r}; {known}", f"{delegate} has no such option; {known}")
    values = {}
    for name, option in by_name.items():
        if name not in given:
            values[name] = option.default_in(defaults)
            continue
        try:
            values[name] = option.parse(given[name])
        except (ValueError, TypeError) as error:
            where = f"option {option.key} of {delegate}"
            raise OptionError(f"{where}: {error}", f"{where}: {expected_of(error)}") from error
    for option in declared:
        conflict = option.conflict(values) if option.conflict is not None else ""
        if conflict:
            message = f"option {option.key} of {delegate}: {conflict}"
            raise OptionError(message, message)
    return MappingProxyType(values)


def option_names(declared: Sequence[Option]) -> list[str]:
    """Return all names of options: the names for users, and the delegate's own names."""
    return [name for option in declared for name in dict.fromkeys((option.key, option.name))]


def canonical_names(delegate: str, declared: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values by the delegate's own names of the options. Raises OptionError for an option given twice."""
    own_names = {option.key: option.name for option in declared}
    values: dict[str, Any] = {}
    for name, value in given.items():
        own = own_names.get(name, name)
        if own in values:
            message = f"option {own} of {delegate} is given twice, because {name} is the same option; give it once"
            raise OptionError(message, message)
        values[own] = value
    return values


def with_path(declared: Sequence[Option], name: str, value: Any, change: Callable[[str], str]) -> Any:
    """Return the value with which an option opens the file ``change(path)``, or any other value unchanged.

    ``change`` may raise an error for a path that is not allowed.
    """
    for option in declared:
        path = option.path_in(value) if name in (option.name, option.key) else None
        if path is not None:
            return change(path)
    return value


def with_paths(declared: Sequence[Option], pairs: Sequence[str], change: Callable[[str], str]) -> list[str]:
    """Return options as NAME=VALUE with changed paths (see ``with_path``). Texts of another form are returned unchanged."""
    split = [pair.partition("=") for pair in pairs]
    return [f"{name}{equals}{with_path(declared, name, value, change)}" for name, equals, value in split]


def as_typed(declared: Sequence[Option], name: str, value: str) -> str:
    """Return an option and its value as typed on the command line, such as ``--flag=value`` or ``--option name=value``."""
    return f"{option_as_typed(declared, name)}={value}"


def option_value(value: object) -> str:
    """Return the value of an option in command-line form."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def option_as_typed(declared: Sequence[Option], name: str) -> str:
    """Return an option as typed on the command line, without a value; the name of an undeclared option unchanged."""
    option = next((option for option in declared if option.name == name), None)
    if option is None:
        return name
    return f"--{option.flag.replace('_', '-')}" if option.flag else f"--option {name}"


RELEASE = "release"
"""The key for the runtime's release in a dictionary of options. A delegate may have an option of the same name."""


def without_release(given: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the options without the runtime's release, and the release: one name, a list of names, or None.

    A value that is not a release of the runtime belongs to the delegate's own option, and stays in the options.
    """
    options = dict(given)
    names = options.get(RELEASE, ())
    is_runtime = all(map(is_release_name, map(str, names if isinstance(names, list) else [names])))
    return (options, options.pop(RELEASE)) if RELEASE in options and is_runtime else (options, None)


def integer(value: Any, bits: int = 32) -> int:
    """Parse an integer, by default of 32 bits."""
    if isinstance(value, str):
        try:
            value = int(value.strip())
        except ValueError:
            raise InvalidValueError("takes a whole number", value) from None
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidValueError("takes a whole number", value)
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise InvalidValueError(f"takes a {bits}-bit number", value)
    return value


def wide_integer(value: Any) -> int:
    """Parse a 64-bit integer."""
    return integer(value, 64)


def boolean(value: Any) -> bool:
    """Parse true or false."""
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    if isinstance(value, bool):
        return value
    raise InvalidValueError("takes true or false", value)


def text(value: Any) -> str | None:
    """Parse a string. None and the empty string mean that the option is not set."""
    if value is None or isinstance(value, str):
        return value or None
    raise InvalidValueError("takes a string", value)


def names(value: Any) -> tuple[str, ...]:
    """Parse a list of names, given as a sequence or as a comma-separated string."""
    if isinstance(value, str):
        value = [name.strip() for name in value.split(",") if name.strip()]
    if isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise InvalidValueError("takes a list of names", value)


def choice(*choices: str, needed: str, spellings: Mapping[str, str] = MappingProxyType({})) -> Callable[[Any], str]:
    """Return a parser of names in any case. An empty value means the first choice. ``spellings`` are further names of choices."""

    def parse(value: Any) -> str:
        name = (text(value) or choices[0]).lower()
        if name not in choices and name not in spellings:
            raise InvalidValueError(f"takes {needed}", value)
        return spellings.get(name, name)

    return parse


def maximum_option(meaning: str) -> Option:
    """Return the option for the maximum number of partitions. ``meaning`` is what a number does."""
    name = "max_delegated_partitions"
    return Option(name, integer, 0, meaning, flag=name, printed=("max number of delegated partitions",))


def minimum_option(default: int) -> Option:
    """Return the option for the minimum number of nodes in a partition."""
    return Option(
        "min_nodes_per_partition",
        integer,
        default,
        f"the minimum number of nodes in a partition; 0 or less means {default}",
        flag="min_nodes_per_partition",
        printed=("min nodes per partition",),
    )

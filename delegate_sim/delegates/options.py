"""Options of delegates, declared once for Python, the command line and the documentation.

Values are parsed here and not by click, whose types serve the command line alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from ..errors import OptionError
from ..releases.catalogue import is_release_name

OptionValues: TypeAlias = Mapping[str, Any]
"""The value of each option of a delegate, by name."""

DEFAULT_SETS = ("api", "benchmark")
"""``api``: what the delegate's own options default to. ``benchmark``: what benchmark_model passes."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a delegate, under the delegate's own name.

    ``parse`` turns a value (from Python, or text from the command line) into the option's, and raises ValueError saying
    what it takes. ``flag`` is the name of benchmark_model's flag for it, without dashes.
    """

    name: str
    parse: Callable[[Any], Any]
    default: Any
    help: str
    benchmark_default: Any = None
    has_benchmark_default: bool = False
    flag: str | None = None
    is_path: bool = False
    """Whether a text is the path of a file, which in a configuration is relative to the configuration's folder."""
    conflict: Callable[[Mapping[str, Any]], str] | None = None
    """Says why the option's value does not go with those of the other options; nothing if it does."""
    printed: tuple[str, ...] = ()
    """The flag's descriptions in benchmark_model's list of parameters, in lower case; releases differ."""

    def default_in(self, defaults: str) -> Any:
        """Return the default in one of the two sets."""
        return self.benchmark_default if defaults == "benchmark" and self.has_benchmark_default else self.default


def parse_options(
    delegate: str, declared: Sequence[Option], given: Mapping[str, Any], defaults: str = "api"
) -> Mapping[str, Any]:
    """Return every option's value.

    Raises OptionError for an unknown name, a value that the option does not take, and values that do not go together.
    """
    if defaults not in DEFAULT_SETS:
        raise OptionError(f"there are no defaults named {defaults!r}; known are {', '.join(DEFAULT_SETS)}")
    by_name = {option.name: option for option in declared}
    for name in given:
        if name not in by_name:
            raise OptionError(f"{delegate} has no option {name!r}; its options are {', '.join(by_name)}")
    values = {}
    for name, option in by_name.items():
        if name not in given:
            values[name] = option.default_in(defaults)
            continue
        try:
            values[name] = option.parse(given[name])
        except (ValueError, TypeError) as error:
            raise OptionError(f"option {name} of {delegate}: {error}") from error
    for name, option in by_name.items():
        conflict = option.conflict(values) if option.conflict is not None else ""
        if conflict:
            raise OptionError(f"option {name} of {delegate}: {conflict}")
    return MappingProxyType(values)


def as_typed(declared: Sequence[Option], name: str, value: str) -> str:
    """Return an option and its value as the command line takes them: with its flag or, if it has none, its name."""
    return f"{option_as_typed(declared, name)}={value}"


def option_as_typed(declared: Sequence[Option], name: str) -> str:
    """Return an option as the command line takes it, without a value; a name that is not declared stays as it is."""
    option = next((option for option in declared if option.name == name), None)
    if option is None:
        return name
    return f"--{option.flag}" if option.flag else f"--option {name}"


RELEASE = "release"
"""The release of the runtime, which may be given among a delegate's options; a delegate may have its own option of this name."""


def without_release(given: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return options without the release of the runtime, and that release or list of releases; None if none is given."""
    own = dict(given)
    names = own.get(RELEASE, ())
    is_runtime = all(map(is_release_name, map(str, names if isinstance(names, list) else [names])))
    return (own, own.pop(RELEASE)) if RELEASE in own and is_runtime else (own, None)


def integer(value: Any) -> int:
    """Parse a 32-bit whole number."""
    if isinstance(value, str):
        try:
            value = int(value.strip())
        except ValueError:
            raise ValueError(f"takes a whole number, not {value!r}") from None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"takes a whole number, not {value!r}")
    if not -(1 << 31) <= value < 1 << 31:
        raise ValueError(f"takes a 32-bit number, not {value}")
    return value


def boolean(value: Any) -> bool:
    """Parse true or false."""
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    if isinstance(value, bool):
        return value
    raise ValueError(f"takes true or false, not {value!r}")


def text(value: Any) -> str | None:
    """Parse a text; None and the empty text both mean not set."""
    if value is None or isinstance(value, str):
        return value or None
    raise ValueError(f"takes a text, not {value!r}")


def names(value: Any) -> tuple[str, ...]:
    """Parse names: a sequence of them, or one text with commas between them."""
    if isinstance(value, str):
        value = [name.strip() for name in value.split(",") if name.strip()]
    if isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError(f"takes a list of names, not {value!r}")

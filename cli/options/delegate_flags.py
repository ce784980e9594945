"""Command-line flags for the options that delegates declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import RELEASE, Option, boolean, canonical_names, option_as_typed, option_names, with_paths
from delegate_sim.delegates.registry import (
    DEFAULT_DELEGATE,
    DELEGATE_NAMES,
    LIVE_ONLY_NAMES,
    MICRO_NAME,
    TARGET_NAMES,
    find_delegate,
    find_live,
)
from delegate_sim.foundation.printable import command_line, suggestion
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, is_release_name

from ..console.layout import default_text
from ..console.output_file import FileCommand

ALL_DELEGATES = "all"
MICRO_FLAG = f"--{MICRO_NAME}"
"""The short form of ``--delegate micro``."""

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # takes no type in brackets before release 8.2

_BOOLEAN_WORDS = ("true", "false", "1", "0", "yes", "no", "on", "off")
_CHOSEN = "delegate_sim.delegates"
_NAMED = "delegate_sim.names_delegates"
_SEVERAL = "delegate_sim.several_values"


class DelegateCommand(FileCommand):
    """A command that accepts the flags of the delegates that the arguments name. The help also shows these flags.

    ``--some-flag`` and ``--some_flag`` are equivalent. A boolean flag may have a value, such as ``--flag=true``.
    """

    @property
    def takes_several_values(self) -> bool:
        """Whether a flag of a delegate may have several values, such as ``--android 11 --android 13``.

        This holds for each command that takes several delegates. The command then has a target for each value.
        """
        return any(option.name == "delegates" for option in self.params if isinstance(option, click.Option) and option.multiple)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the delegates in the arguments, and parse the arguments with the flags of these delegates."""
        declared = [name for parameter in super().get_params(ctx) for name in (*parameter.opts, *parameter.secondary_opts)]
        if MICRO_FLAG in declared:
            args = [f"--delegate={MICRO_NAME}" if argument == MICRO_FLAG else argument for argument in args]
        args = _as_declared(args, declared)
        ctx.meta[_CHOSEN] = chosen_delegates(named := _names_in(args))
        ctx.meta[_NAMED] = bool(named)
        flags = _flags(ctx.meta[_CHOSEN])
        args = _as_declared(args, [spelling for option in flags.values() for spelling in _spellings(option)])
        try:
            return super().parse_args(ctx, list(_add_values(args, flags)))
        except click.NoSuchOption as error:
            owners = _owners(error.option_name.removeprefix("--"), ctx.meta[_CHOSEN])
            if not owners:
                raise
            raise click.UsageError(f"no option {error.option_name} here; {owners}", ctx) from error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command and the flags of the delegates."""
        chosen: Sequence[Delegate] = ctx.meta.get(_CHOSEN, ())
        flags = [
            click.Option(_spellings(option), help=_help(option), multiple=True, callback=_one_value)
            for option in _flags(chosen).values()
        ]
        return [*super().get_params(ctx), *flags]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the command, and then the options of the delegates that the arguments name."""
        chosen = ctx.meta.pop(_CHOSEN, ()) if ctx.meta.get(_NAMED) else ()
        ctx.meta[_CHOSEN] = ()
        super().format_options(ctx, formatter)
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        if not chosen and any(option.opts[0] == "--delegate" and not option.hidden for option in options):
            formatter.write_paragraph()
            delegate = find_delegate(DEFAULT_DELEGATE)
            platform = delegate.behind.platform
            such = "" if platform is None else f", such as {option_as_typed(delegate.options, platform.option)}"
            formatter.write_text(f"Delegates: {', '.join(DELEGATE_NAMES)}. Their options{such}: --help --delegate NAME")
        for delegate in chosen:
            if delegate.options:
                with formatter.section(f"Options of {delegate.name}"):
                    if delegate.summary:
                        formatter.write_text(delegate.summary)
                        formatter.write_paragraph()
                    formatter.write_dl([(_spelling(option), _help(option)) for option in delegate.options])


class DelegateName(_Choice):
    """The name of a delegate, in upper or lower case. The delegate may be one that can be run but not simulated."""

    name = "delegate"

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices, case_sensitive=False)

    def get_metavar(self, *_: Any, **__: Any) -> str:
        """Return the placeholder for the name in the help. The help lists the names only once."""
        return "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of a known delegate. Fail for other names, with similar names if there are any."""
        name = value.lower()
        if name not in (*LIVE_ONLY_NAMES, *self.choices) and (near := _near(name, [*map(str, self.choices)])):
            self.fail(f"there is no delegate {value!r}{near}", param, ctx)
        return name if name in LIVE_ONLY_NAMES else super().convert(value, param, ctx)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return a one-line message that lists the possible names."""
        return f"Choose from: {', '.join(map(str, self.choices))}"


class GroupName(_Choice):
    """The name of a kind of devices."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of a kind of devices. Fail for other names, with the right option for delegates and devices."""
        if value.lower() in (*DELEGATE_NAMES, ALL_DELEGATES):
            self.fail(f"{value!r} is a delegate, not a kind of devices; give --delegate {value}", param, ctx)
        return super().convert(value.lower(), param, ctx)


def _near(name: str, choices: Sequence[str]) -> str:
    """Return the end of a message about an unknown delegate: the device that it names, or similar names."""
    from delegate_sim.delegates.devices import device_hint  # only an error needs the table of devices

    return device_hint(name) or suggestion(name, choices)


def chosen_delegates(names: Sequence[str], *, is_live: bool = False) -> tuple[Delegate, ...]:
    """Return the delegates with these names, without duplicates. Without names, return all delegates. Raises OptionError.

    Delegates that cannot be simulated are allowed only with ``is_live``.
    """
    every = not names or ALL_DELEGATES in names
    find = find_live if is_live else find_delegate
    wanted = dict.fromkeys([*(DELEGATE_NAMES if every else ()), *names])
    return tuple(find(name) for name in wanted if name != ALL_DELEGATES)


def given_options(delegates: Sequence[Delegate], pairs: Sequence[str], flags: Mapping[str, str | None]) -> list[dict[str, str]]:
    """Return the options given to each delegate, by option name.

    ``pairs`` are texts of the form KEY=VALUE. An option applies to every delegate that has the option. Raises ClickException for
    an option that no delegate has.
    """
    by_key = own_options(pairs)
    known = {name for delegate in delegates for name in option_names(delegate.options)}
    for key in by_key:
        if key not in known:
            raise click.ClickException(_unknown(key, delegates))
    return [_given_to(delegate, by_key, flags) for delegate in delegates]


def with_checked_paths(delegate: str, pairs: Sequence[str], check: Callable[[str], str]) -> list[str]:
    """Return options of the form KEY=VALUE in which ``check`` has replaced the path of every file that an option opens.

    ``delegate`` is the name of a delegate, or ``all``. ``check`` returns the path to open, or raises an error for a path that is
    not allowed. Raises OptionError for an unknown delegate.
    """
    declared = [option for one in chosen_delegates([delegate.lower()], is_live=True) for option in one.options]
    return with_paths(declared, pairs, check)


def own_options(pairs: Sequence[str]) -> dict[str, str]:
    """Parse texts of the form KEY=VALUE into a dictionary. Raises BadParameter for other texts."""
    by_key: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"takes KEY=VALUE, not {pair!r}", param_hint="'--option'")
        by_key[key] = value
    return by_key


def release_in(pairs: Sequence[str], release: str) -> tuple[list[str], str]:
    """Return two values: the KEY=VALUE options without the option for the runtime release, and the release."""
    named = [pair for pair in pairs if pair.startswith(f"{RELEASE}=") and is_release_name(pair.partition("=")[2])]
    for pair in named:
        other = pair.partition("=")[2]
        if release not in (DEFAULT_RELEASE, other):
            raise click.UsageError(f"two releases are given: {release} and {other}; give only one")
        release = other
    return [pair for pair in pairs if pair not in named], release


def _unknown(key: str, delegates: Sequence[Delegate]) -> str:
    owners = _owners(key, delegates)
    if len(delegates) == 1:
        own = ", ".join(option.key for option in delegates[0].options)
        return f"{delegates[0].name} has no option {key!r}; {owners or f'its options are {own}'}"
    return f"none of {', '.join(delegate.name for delegate in delegates)} has an option {key!r}{owners and f'; {owners}'}"


def _owners(key: str, delegates: Sequence[Delegate]) -> str:
    """Return a clause that names the delegates with an option, or an empty string if there are none.

    If one of ``delegates`` has the option, the example in the clause is for this delegate.
    """
    name = _with_underscores(key)
    owners = {
        delegate.name: option
        for delegate in dict.fromkeys([*delegates, *map(find_delegate, TARGET_NAMES)])
        for option in delegate.options
        if name == option.name or name in [_with_underscores(flag) for flag in (option.flag, *option.other_flags) if flag]
    }
    for first, option in owners.items():
        return f"it is an option of {', '.join(owners)}: give {' '.join(find_delegate(first).arguments)} {_spelling(option)}"
    return ""


def _given_to(delegate: Delegate, by_key: Mapping[str, str], flags: Mapping[str, str | None]) -> dict[str, str]:
    own = option_names(delegate.options)
    given = canonical_names(delegate.name, delegate.options, {key: value for key, value in by_key.items() if key in own})
    for option in delegate.options:
        value = flags.get(_with_underscores(option.flag)) if option.flag else None
        if value is None:
            continue
        if option.name in given:
            typed = option_as_typed([option], option.name)
            raise click.UsageError(f"{typed} and --option {option.name}=... set the same option: give only one of them")
        given[option.name] = value
    return given


def _names_in(args: Sequence[str]) -> list[str]:
    """Return the names of known delegates in the arguments. The command reports unknown names later."""
    names = [
        following if argument == "--delegate" else argument.removeprefix("--delegate=")
        for argument, following in pairwise([*args, ""])
        if argument == "--delegate" or argument.startswith("--delegate=")
    ]
    return [name.lower() for name in names if name.lower() in (*TARGET_NAMES, ALL_DELEGATES)]


def _flags(delegates: Iterable[Delegate]) -> dict[str, Option]:
    """Return the options with a flag, keyed by flag (with underscores). Several delegates may share a flag."""
    flags: dict[str, Option] = {}
    for delegate in delegates:
        for option in delegate.options:
            if option.flag:
                flags.setdefault(f"--{_with_underscores(option.flag)}", option)
    return flags


def several_values(ctx: click.Context) -> dict[str, tuple[str, ...]]:
    """Return the values of the flag that is given several times, keyed by the flag's name; empty if there is no such flag."""
    return dict(ctx.meta.get(_SEVERAL, {}))


def flag_names(ctx: click.Context) -> list[str]:
    """Return the names of the parameters that are flags of delegates."""
    return [flag.removeprefix("--") for flag in _flags(ctx.meta.get(_CHOSEN, ()))]


def _one_value(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> str | None:
    """Return the first value of a flag, or None if it is not given.

    Raises UsageError for two different values, unless the command takes several values of a flag.
    """
    given = list(dict.fromkeys(values))
    if len(given) > 1 and getattr(ctx.command, "takes_several_values", False):
        several = ctx.meta.setdefault(_SEVERAL, {})
        several[parameter.name] = tuple(given)
        if len(several) > 1:
            flags = " and ".join(sorted(f"--{name.replace('_', '-')}" for name in several))
            raise click.UsageError(f"only one option may have several values, not {flags}")
    elif len(given) > 1:
        flag = parameter.opts[0]
        command = command_line(["compare", "MODEL", flag, given[0], flag, given[1]])
        raise click.UsageError(f"{flag} has two values, {given[0]} and {given[1]}; {command} compares them")
    return given[0] if given else None


def _spellings(option: Option) -> list[str]:
    return [f"--{flag.replace('_', '-')}" for flag in (option.flag, *option.other_flags) if flag]


def _spelling(option: Option) -> str:
    value = "BOOL" if option.parse is boolean else "VALUE"
    spelling = option_as_typed([option], option.name)
    return f"{spelling} {value}" if option.flag else f"{spelling}={value}"


def _help(option: Option) -> str:
    benchmark, api = default_text(option.default_in("benchmark")), default_text(option.default)
    if benchmark == api:
        return f"{option.described}{f'  [default: {api}]' if api else ''}"
    return f"{option.described}  [default: {benchmark}; with --defaults api: {api}]"


def _with_underscores(flag: str) -> str:
    return flag.replace("-", "_")


def _as_declared(args: Sequence[str], declared: Iterable[str]) -> list[str]:
    """Return the arguments, with each option name spelled as in its declaration."""
    spellings = {_with_underscores(name[2:]): name for name in declared if name.startswith("--")}
    end = args.index("--") if "--" in args else len(args)
    return [_respelt(argument, spellings) for argument in args[:end]] + list(args[end:])


def _respelt(argument: str, spellings: Mapping[str, str]) -> str:
    name, equals, value = argument.partition("=")
    spelling = spellings.get(_with_underscores(name[2:])) if name.startswith("--") else None
    return argument if spelling is None else f"{spelling}{equals}{value}"


def _add_values(args: Sequence[str], flags: Mapping[str, Option]) -> Iterator[str]:
    for argument, following in pairwise([*args, ""]):
        option = flags.get(f"--{_with_underscores(argument[2:])}") if argument.startswith("--") else None
        if option is not None and option.parse is boolean and following.lower() not in _BOOLEAN_WORDS:
            yield f"{argument}=true"
        else:
            yield argument

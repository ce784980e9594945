"""Detect the delegate, options and runtime release that a log was made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...delegates.base import Delegate, OptionValues
from ...delegates.options import Option, boolean, parse_options
from ...delegates.registry import ACCELERATORS, APPLIED_AHEAD, APPLIED_BY_DEFAULT, DELEGATE_NAMES, PLUGIN_NAMES, find_delegate
from ...releases.catalogue import DEFAULT_RELEASE, RELEASES, Release, parse_release
from ...releases.wording import replacing_line
from .delegate_identity import (
    DISPATCH,
    accelerators_in,
    delegate_named,
    delegate_of_library,
    is_of,
    library_of,
    names_in,
    other_name,
    others_in,
    plain_name,
    plugin_in,
    speaker,
)
from .known_lines import CHOICE, DRIVER_REFUSAL, FINISHED, INTERFACE, INTERFACE_USED, RUNTIME, RUNTIME_ERROR
from .log_contents import DeviceLog, Replacement, UnknownDelegateError

_OF_RUNTIME = (CHOICE, FINISHED, INTERFACE, RUNTIME, RUNTIME_ERROR, DRIVER_REFUSAL)
"""Lines of the runtime behind a delegate and of its drivers."""
_ALL_ACCELERATORS = f"--accelerators {','.join(ACCELERATORS)} --soc VENDOR:SOC"


@dataclass(frozen=True, slots=True)
class DeviceSetting:
    """What a log shows was applied, or what it was overridden with."""

    delegate: Delegate
    options: OptionValues
    known: frozenset[str]
    """Options that the log or the caller gives; the others have the values of ``defaults``."""
    releases: tuple[Release, ...]
    """The releases that word their lines as the log does."""
    defaults: str
    lowest_level: int
    """The lowest feature level that the log leaves possible; 0 if the delegate has no levels."""
    notes: tuple[str, ...] = ()
    may_be_older: bool = False
    """True if a release older than any that is known may have printed the log."""

    @property
    def release(self) -> Release:
        """The release that is simulated."""
        default = parse_release(DEFAULT_RELEASE)
        return default if default in self.releases else self.releases[-1]

    @property
    def other_levels(self) -> tuple[int, ...]:
        """Feature levels other than the one set that the log leaves possible, highest first."""
        levels = self.delegate.levels
        if levels is None or levels.option in self.known:
            return ()
        own = self.options[levels.option]
        return tuple(level for level in reversed(levels.known) if level != own and level >= self.lowest_level)

    @property
    def has_partition_limit(self) -> bool:
        """True if an option limits how many partitions are delegated."""
        limit: int = self.options.get(self.delegate.limit_option, 0)
        return limit > 0 and limit != self.delegate.unlimited


def setting_of(
    log: DeviceLog,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str | None = None,
) -> DeviceSetting:
    """Return what a log shows was applied; the other arguments override it.

    Raises ReconcileError if the log does not show a delegate, OptionError for an unknown delegate, option, value or release.
    """
    chosen = find_delegate(delegate) if delegate is not None else _delegate_in(log)
    given = dict(options or {})
    notes: list[str] = []
    for description, value in log.parameters.items():
        for option in chosen.options:
            if description.strip() in option.printed and option.name not in given:
                parsed = _printed_value(option, value, notes)
                if parsed is not None:
                    given[option.name] = parsed
    for name, value in _shown_options(log, chosen).items():
        given.setdefault(name, value)
    defaults = defaults or ("benchmark" if log.is_benchmark else "api")
    values = parse_options(chosen.name, chosen.options, given, defaults)
    known = frozenset(given)
    if log.is_benchmark and log.parameters and chosen.limit_option:  # benchmark_model prints the limit if it is set
        known |= {chosen.limit_option}
    return DeviceSetting(
        chosen,
        values,
        known,
        _releases_with(chosen, releases_of(log, runtime, notes)),
        defaults,
        _lowest_level(log, chosen),
        tuple(notes),
        runtime is None and not chosen.starts_at_known and may_be_older(log),
    )


def flags_without_others(delegate: Delegate) -> str:
    """Return benchmark_model's flags that keep the runtime from applying delegates by default to what this one leaves."""
    others = [find_delegate(name) for name in DELEGATE_NAMES if name != delegate.name]
    return " and ".join(other.log.off_flag for other in others if other.is_applied_by_default)


def delegate_in(log: DeviceLog) -> Delegate | None:
    """Return the delegate that the application applied; None if the log does not show it, or if it is not simulated.

    One that the runtime applies by default counts only if there is no other.
    """
    library = library_of(log)
    if library:
        # Every delegate in a library is called the same by benchmark_model; whose it is tells the file, or its own lines.
        return delegate_of_library(library) or _telling(_named(log))
    kernels = [(each.kernel, delegate_named(each.kernel)) for each in log.replacements]
    applied = [each for _, each in kernels if each is None or not each.is_applied_by_default]
    if applied:
        return applied[0]
    found = _named(log)
    if all(each.is_applied_by_default for each in found):
        # What was asked for but could not be applied leaves no line of its own.
        asked = [each for each in _delegates() if _was_not_created(each, log) or is_switched_on(each, log)]
        asked = [each for each in asked if not each.is_applied_by_default]
        if not asked and others_in(log):
            return None
        found = asked or found
    if not found:
        created = [speaker(log, name) for name in log.created]
        found = [each for each in _delegates() if each in created or is_switched_on(each, log)]
    if not found and log.refusals:
        found = [each for each in _delegates() if each.log.prints_refusals]
    if not found and log.of(*_OF_RUNTIME):
        found = [each for each in _delegates() if each.log.has_runtime_behind]
    return _telling(found)


def _delegate_in(log: DeviceLog) -> Delegate:
    found = delegate_in(log)
    if found is not None:
        return found
    others = others_in(log)
    kernels = [each.kernel for each in log.replacements if delegate_named(each.kernel) is None]
    if kernels and not other_name(kernels[0]):
        raise UnknownDelegateError(f"the log is of a delegate that is not known, whose kernel is {kernels[0]}; give --delegate")
    applied = accelerators_in(log)
    if len(applied) > 1 and APPLIED_AHEAD in applied:
        raise UnknownDelegateError(
            f"the log is of several accelerators of LiteRT 2, {' and '.join(applied)}; give {_ALL_ACCELERATORS} to compare each, "
            "or --delegate to compare one"
        )
    if log.plugins:
        plugin = plugin_in(log)
        if plugin is not None:
            return plugin
        raise UnknownDelegateError(
            "the log is of a compiler plugin of LiteRT 2, and does not show whose; give --delegate, one of "
            + ", ".join(PLUGIN_NAMES)
        )
    if others:
        known = other_name(others[0])
        who = f"{known} ({others[0]})" if known else others[0]
        if DISPATCH in plain_name(others[0]):
            raise UnknownDelegateError(f"the log is of {who}; give {_ALL_ACCELERATORS} to compare each accelerator")
        raise UnknownDelegateError(
            f"the log is of {who}, which is not simulated; give --delegate to compare it with another delegate"
        )
    if library := library_of(log):
        raise UnknownDelegateError(f"the log does not show what the delegate in {library} is; give --delegate")
    likely = ""
    if log.dynamic_tensor is not None and not log.is_failed:
        likely = f", likely {APPLIED_BY_DEFAULT}, which the runtime applies by itself"
    raise UnknownDelegateError(f"the log does not show which delegate was applied{likely}; give --delegate")


def _delegates() -> list[Delegate]:
    return [find_delegate(name) for name in DELEGATE_NAMES]


def _named(log: DeviceLog) -> list[Delegate]:
    """Return the delegates that the lines name."""
    found = [speaker(log, name) for name in dict.fromkeys(names_in(log))]
    return [each for each in found if each is not None]


def _telling(found: list[Delegate]) -> Delegate | None:
    return next((each for each in found if not each.is_applied_by_default), found[0] if found else None)


def _was_not_created(delegate: Delegate, log: DeviceLog) -> bool:
    """Return whether a line says that the delegate could not be created."""
    return not delegate.is_applied_by_default and any(
        delegate.provider_name.casefold() in line.casefold().split() for line in log.not_created
    )


def is_switched_on(delegate: Delegate, log: DeviceLog) -> bool:
    """Return whether benchmark_model was told to apply the delegate; a library's path does not say which it is."""
    switch = delegate.log.switch
    if delegate.levels is not None and any(log.parameters.get(each) for each in delegate.levels.lowest_by_parameter):
        return True
    if not switch or delegate.log.libraries:
        return False
    value = log.parameters.get(switch, log.flags.get(switch, "0"))
    return value.strip() not in ("", "0", "false")


def _shown_options(log: DeviceLog, delegate: Delegate) -> dict[str, str]:
    """Return the options that follow from the names of kernels, or from the graphics interface that was initialised."""
    shown: dict[str, str] = {}
    for line in log.replacements:
        if is_of(delegate, line.kernel):
            shown |= delegate.log.options_by_kernel.get(line.kernel, {})
    if delegate.devices is not None:
        chosen = {each.device for compilation in log.runtime.compilations for each in compilation.choices}
        shown |= delegate.devices.reference_options if delegate.devices.reference in chosen else {}
    for each in log.of(INTERFACE_USED) if not shown else ():
        shown |= delegate.log.options_by_interface.get(each.values["interface"].lower(), {})
    return shown


def _printed_value(option: Option, text: str, notes: list[str]) -> str | None:
    """Return the value of an option as benchmark_model printed it; None if it is not set, or not one that the option takes."""
    if not text.strip():
        return None
    try:
        if option.parse is boolean:
            return str(boolean(text)).lower()
        option.parse(text)
    except (ValueError, TypeError) as error:
        notes.append(f"the log's value of {option.name} is ignored: the option {error}")
        return None
    return text


def _lowest_level(log: DeviceLog, delegate: Delegate) -> int:
    if delegate.levels is None:
        return 0
    lowest = delegate.levels.lowest_by_parameter
    return max([delegate.levels.known[0], *[level for parameter, level in lowest.items() if parameter in log.parameters]])


def releases_of(log: DeviceLog, runtime: str | None, notes: list[str]) -> tuple[Release, ...]:
    """Return the releases that would word the log's lines as they are, or the one that was asked for."""
    known = [parse_release(name) for name in RELEASES]
    fitting = [release for release in known if all(_has_wording(release, each) for each in log.replacements)]
    if runtime is not None:
        release = parse_release(runtime)
        if not all(_has_wording(release, each) for each in log.replacements):
            notes.append(f"{release} would word the log's lines differently")
        return (release,)
    if not fitting:
        notes.append("no known release words its lines as the log does")
        fitting = known
    if log.tensorflow_version is not None:
        minor = tuple(int(part) for part in log.tensorflow_version.split(".")[:2])
        exact = [release for release in fitting if release.family == "tf" and release.version[:2] == minor]
        if exact:
            return tuple(exact)
        notes.append(
            f"the log names TensorFlow {log.tensorflow_version}, which is not a known release or words its lines differently"
        )
    return tuple(fitting)


def _releases_with(delegate: Delegate, releases: tuple[Release, ...]) -> tuple[Release, ...]:
    """Leave out the releases that do not have a delegate, unless none is left."""
    if not delegate.starts_at_known:
        return releases
    since = parse_release(delegate.known_since)
    # Wording is known of minor releases, each of which stands for its patch releases too.
    found = [each for each in releases if each.family == since.family and each.version[:2] >= since.version[:2]]
    return tuple(found) or releases


def may_be_older(log: DeviceLog) -> bool:
    """Return whether releases before those that are known print the same, as far as the log shows."""
    if log.tensorflow_version is not None:
        oldest = parse_release(RELEASES[0]).version
        return tuple(int(part) for part in log.tensorflow_version.split(".")[:2]) < oldest
    if log.is_of_compiled_model:
        return False
    return log.is_old or all(_has_wording(parse_release(RELEASES[0]), each) for each in log.replacements)


def _has_wording(release: Release, replacement: Replacement) -> bool:
    """Return whether a release words the line of a replacement as the log does."""
    line = replacing_line(
        release,
        replaced=replacement.replaced,
        total=replacement.total if replacement.total is not None else -1,
        kernel=replacement.kernel,
        partitions=replacement.partitions,
        subgraph=replacement.subgraph if replacement.subgraph is not None else -1,
        name=replacement.name if replacement.name is not None else "\0",
    )
    if not replacement.line.endswith("."):  # it was cut short
        return line.startswith(replacement.line)
    return line == replacement.line

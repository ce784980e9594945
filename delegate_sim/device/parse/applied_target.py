"""Detect the delegate, options and runtime release with which a log was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...delegates.base import Delegate
from ...delegates.options import Option, OptionValues, boolean, canonical_names, parse_options
from ...delegates.registry import (
    ACCELERATORS,
    APPLIED_AHEAD,
    APPLIED_BY_DEFAULT,
    DELEGATE_NAMES,
    DISPATCH_KERNEL,
    PLUGIN_NAMES,
    DelegateOnDevice,
    find_delegate,
)
from ...errors import OptionError
from ...releases.catalogue import DEFAULT_RELEASE, RELEASES, Release, parse_release
from ...releases.wording import replacing_line
from .compilations import NOT_COMPILED
from .delegate_identity import (
    ACCELERATOR_KERNELS,
    DISPATCH,
    accelerators_in,
    delegate_named,
    delegate_of_library,
    library_of,
    names_in,
    other_name,
    others_in,
    plain_name,
    plugin_in,
    speaker,
    was_undone,
)
from .log_contents import DeviceLog, Replacement, UnknownDelegateError
from .tables import FORMS, Event, kinds_with

_SINCE_REASONS = "litert-2.1.5"
"""The first release in which the graphics accelerator gives its own reasons for refused operators."""
_ALL_ACCELERATORS = f"--accelerators {','.join(ACCELERATORS)} --soc VENDOR:SOC"


@dataclass(frozen=True, slots=True)
class DeviceSetting:
    """The delegate, options and releases to simulate, from the log or from the caller."""

    delegate: Delegate
    options: OptionValues
    known: frozenset[str]
    """Options that the log or the caller sets. All other options have the values of ``defaults``."""
    releases: tuple[Release, ...]
    """The releases whose lines are worded like the log's."""
    defaults: str
    lowest_level: int
    """The lowest feature level that agrees with the log, or 0 if the delegate has no levels."""
    notes: tuple[str, ...] = ()
    may_be_older: bool = False
    """True if a release older than all known releases may have printed the log."""
    is_older: bool = False
    """True if the wording or the dates of the log show such an older release. Then ``releases`` only have similar lines."""
    others: tuple[DeviceSetting, ...] = ()
    """The settings of further delegates that print the same lines. Empty if the caller names the delegate or its options."""

    @property
    def release(self) -> Release:
        """The release to simulate."""
        default = parse_release(DEFAULT_RELEASE)
        return default if default in self.releases else self.releases[-1]

    @property
    def other_levels(self) -> tuple[int, ...]:
        """Other feature levels that the log allows, highest first. Empty if the level or the platform's release is given."""
        levels, platform = self.delegate.levels, self.delegate.behind.platform
        if levels is None or levels.option in self.known:
            return ()
        if platform is not None and platform.option in self.known and self.options[platform.option] != platform.alone:
            return ()
        own = self.options[levels.option]
        return tuple(level for level in reversed(levels.known) if level != own and level >= self.lowest_level)

    @property
    def has_partition_limit(self) -> bool:
        """True if an option limits how many partitions are delegated."""
        limit: int = self.options.get(self.delegate.limits.option, 0)
        return limit > 0 and limit != self.delegate.limits.unlimited


def setting_of(
    log: DeviceLog,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str | None = None,
) -> DeviceSetting:
    """Return the delegate, options and releases that a log shows. Given arguments override the log.

    Raises ReconcileError if no delegate is shown, and OptionError for an unknown delegate, option, value or release.
    """
    chosen = find_delegate(delegate) if delegate is not None else _require_delegate(log)
    option_values = canonical_names(chosen.name, chosen.options, options or {})
    notes: list[str] = []
    for description, value in log.parameters.items():
        for option in chosen.options:
            if description.strip() in option.printed and option.name not in option_values:
                parsed = _printed_value(option, value, notes)
                option_values |= {} if parsed is None else {option.name: parsed}
    given = {name: value for name, value in _given_options(log, chosen, notes) if name not in option_values}
    option_values = {**_shown_options(log, chosen), **option_values, **given}
    defaults = defaults or ("benchmark" if log.is_benchmark else "api")
    values = parse_options(chosen.name, chosen.options, option_values, defaults)
    known = frozenset(option_values)
    levels = chosen.levels
    shown_levels = [] if levels is None else [levels.known[0], *map(levels.lowest_by_parameter.get, log.parameters)]
    lowest = max([level for level in shown_levels if level is not None], default=0)
    if log.is_benchmark and log.parameters and chosen.limits.option:  # benchmark_model prints the limit only if it is set
        known |= {chosen.limits.option}
    others = [own for own in map(find_delegate, DELEGATE_NAMES) if own.name != chosen.name]
    alike = [own.name for own in others if own.kernel_names == chosen.kernel_names]
    if delegate is not None or options or chosen.log.prints_selection:
        alike = []
    is_open = runtime is None and not chosen.history.starts_at_known
    return DeviceSetting(
        chosen,
        values,
        known,
        _releases_with(chosen, releases_of(log, runtime, notes)),
        defaults,
        lowest,
        tuple(notes),
        is_open and may_be_older(log),
        is_open and log.is_old,
        tuple([setting_of(log, name, None, runtime, defaults) for name in alike]),
    )


def on_device(log: DeviceLog, name: str) -> DelegateOnDevice:
    """Return the delegate of a log with its options on a device, or the device's first delegate if the log shows none.

    Of delegates that print the same lines, the device has one. Raises OptionError if it does not have the log's delegate.
    """
    from ...delegates.devices import find_device  # few logs come with the name of a device

    device, shown = find_device(name), delegate_in(log) or plugin_in(log)
    if shown is None:
        return device.delegates[0]
    same = [own for own in device.delegates if own.delegate == shown.name]
    same += [own for own in device.delegates if shown.kernel_name in find_delegate(own.delegate).kernel_names]
    if same:
        return same[0]
    names = ", ".join([own.delegate for own in device.delegates])
    raise OptionError(f"the log is from {shown.name}, but the delegates of {device.title} are {names}", "no such delegate")


def flags_without_others(delegate: Delegate) -> str:
    """Return the benchmark_model flags that turn off all delegates applied by default, except the given delegate."""
    others = [find_delegate(name) for name in DELEGATE_NAMES if name != delegate.name]
    return " and ".join(other.log.off_flag for other in others if other.is_applied_by_default)


def delegate_in(log: DeviceLog) -> Delegate | None:
    """Return the applied delegate, or None. A delegate that is applied by default counts only if the log shows no other."""
    if library := library_of(log):
        # benchmark_model uses one name for all delegates from libraries; the file name or the log lines tell them apart.
        return delegate_of_library(library) or _most_telling(_named_delegates(log))
    for replacement in log.replacements:
        if (kernel := delegate_named(replacement.kernel)) is None or not kernel.is_applied_by_default:
            return kernel
    paths = [statement.values["path"] for statement in log.statements_of(Event.LIBRARY_ERROR) if "path" in statement.values]
    missing = [own for path in paths if (own := delegate_of_library(path)) is not None and not own.log.prints_selection]
    delegates = [*_named_delegates(log), *missing]
    known = [find_delegate(name) for name in DELEGATE_NAMES]
    if all(delegate.is_applied_by_default for delegate in delegates):
        # A delegate prints no line if it was requested but could not be applied.
        words = {word for line in log.not_created for word in line.casefold().split()}
        named = [own for own in known if own.provider_name.casefold() in words or is_switched_on(own, log)]
        # The default delegate's lines may follow the failure of another delegate.
        named += [own for own in _created(log) if was_undone(log, own)] if delegates else []
        named = [delegate for delegate in named if not delegate.is_applied_by_default]
        if not named and others_in(log):
            return None
        delegates = named or delegates
    if not delegates:
        created = _created(log)
        delegates = [delegate for delegate in known if delegate in created or is_switched_on(delegate, log)]
    if not delegates and log.refusals:
        delegates = [delegate for delegate in known if delegate.log.prints_refusals]
    if not delegates and log.has(*kinds_with("is_behind")):
        delegates = [delegate for delegate in known if delegate.log.has_runtime_behind]
    return _most_telling(delegates)


def _require_delegate(log: DeviceLog) -> Delegate:
    delegate = delegate_in(log)
    if delegate is not None:
        return delegate
    if log.edge_tpu != NOT_COMPILED and not log.replacements:
        raise UnknownDelegateError(
            "the log is from the Edge TPU compiler, so it shows no run on a device; use delegate-sim reconcile MODEL --log FILE "
            "to match the compiler's table with the nodes of the model"
        )
    others = others_in(log)
    kernels = [replacement.kernel for replacement in log.replacements if delegate_named(replacement.kernel) is None]
    if kernels and not other_name(kernels[0]):
        raise UnknownDelegateError(f"the log is from an unknown delegate with the kernel {kernels[0]}; give --delegate")
    applied = accelerators_in(log)
    if len(applied) > 1 and APPLIED_AHEAD in applied:
        raise UnknownDelegateError(
            f"the log shows several accelerators of LiteRT 2, {' and '.join(applied)}; give {_ALL_ACCELERATORS} to compare "
            "all of them, or --delegate to compare one"
        )
    if log.plugins and (plugin := plugin_in(log)) is not None:
        return plugin
    likely = ""
    if log.plugins:
        why = "the log is from a compiler plugin of LiteRT 2, but does not show the vendor"
        likely = f" with one of {', '.join(PLUGIN_NAMES)}"
    elif others:
        known = other_name(others[0])
        why = f"the log is from {f'{known} ({others[0]})' if known else others[0]}"
        if DISPATCH in plain_name(others[0]):
            raise UnknownDelegateError(f"{why}; give {_ALL_ACCELERATORS} to compare each accelerator")
        why += ", which is not simulated"
        likely = " to compare the log with another delegate"
    elif library := library_of(log):
        why = f"the log does not show which delegate {library} contains"
    elif log.is_of_micro:
        raise UnknownDelegateError(
            "the log is from TensorFlow Lite Micro, which has no delegates; use delegate-sim micro MODEL --resolver FILE"
        )
    else:
        is_default = log.dynamic_tensor is not None and not log.has(Event.NOT_APPLIED)
        default = f", likely {APPLIED_BY_DEFAULT}, which the runtime applies by default" if is_default else ""
        why = f"the log does not show which delegate was applied{default}"
    raise UnknownDelegateError(f"{why}; give --delegate{likely}")


def _named_delegates(log: DeviceLog) -> list[Delegate]:
    delegates = [speaker(log, name) for name in dict.fromkeys(names_in(log))]
    return [delegate for delegate in delegates if delegate is not None]


def _created(log: DeviceLog) -> list[Delegate]:
    return [*filter(None, [speaker(log, name) for name in log.created])]


def _most_telling(delegates: list[Delegate]) -> Delegate | None:
    return next((delegate for delegate in delegates if not delegate.is_applied_by_default), delegates[0] if delegates else None)


def is_switched_on(delegate: Delegate, log: DeviceLog) -> bool:
    """Return whether benchmark_model's flags turn on the delegate. A flag with the path of a library is ignored."""
    switch = delegate.log.switch
    if delegate.name == ACCELERATORS.get(log.flags.get("backend", "")):  # of a command of LiteRT-LM
        return True
    if delegate.levels is not None and any(log.parameters.get(parameter) for parameter in delegate.levels.lowest_by_parameter):
        return True
    if not switch or delegate.log.libraries:
        return False
    value = log.parameters.get(switch, log.flags.get(switch, "0"))
    return value.strip() not in ("", "0", "false")


def _shown_options(log: DeviceLog, delegate: Delegate) -> dict[str, str]:
    options: dict[str, str] = {}
    for line in log.replacements:
        if line.kernel in delegate.kernel_names:
            options |= delegate.log.options_by_kernel.get(line.kernel, {})
    if delegate.behind.devices is not None:
        chosen = {choice.device for compilation in log.runtime.compilations for choice in compilation.choices}
        options |= delegate.behind.devices.reference_options if delegate.behind.devices.reference in chosen else {}
    options |= delegate.log.hinted_options if log.statements_of(Event.HINT_ERROR) else {}
    reasons = [statement.values.get("why", "") for statement in log.statements_of(Event.OPERATOR_REFUSED, Event.PROGRESS)]
    by_words = delegate.log.options_by_words
    for name, value in dict.fromkeys([named for why in reasons for words, named in by_words.items() if words in why]):
        options[name] = f"{options[name]},{value}" if name in options else value
    for statement in log.statements_of(Event.OTHER_ERROR, Event.INTERFACE_USED, Event.VERSION_SAID) if not options else ():
        options |= delegate.log.options_by_interface.get(statement.values.get("interface", "").lower(), {})
    return options


def _given_options(log: DeviceLog, delegate: Delegate, notes: list[str]) -> Iterator[tuple[str, str]]:
    if not delegate.log.libraries:
        return
    name, options = "external delegate options", {option.name: option for option in delegate.options}
    given = [*FORMS["options-of-benchmark"].finditer(log.parameters.get(name, log.flags.get(name, "")))]
    for statement in log.statements_of(Event.PROGRESS):
        given += FORMS["options-of-python"].finditer(statement.values.get("options", ""))
    for match in given:
        option = options.get(match["name"].strip())
        value = None if option is None else _printed_value(option, match["value"], notes)
        if option is not None and value is not None:
            yield option.name, value


def _printed_value(option: Option, text: str, notes: list[str]) -> str | None:
    """Return a printed value, or None if it is unset, invalid, or names a file, because a log may come from a stranger."""
    if not text.strip():
        return None
    if option.path_in(text) is not None:
        notes.append(f"the log's value of {option.name} is ignored, because it names a file; give the option yourself")
        return None
    try:
        if option.parse is boolean:
            return str(boolean(text)).lower()
        option.parse(text)
    except (ValueError, TypeError) as error:
        notes.append(f"the log's value of {option.name} is ignored: the option {error}")
        return None
    return text


def releases_of(log: DeviceLog, runtime: str | None, notes: list[str]) -> tuple[Release, ...]:
    """Return ``runtime``, or the releases that may have printed the log, by its wording and its TensorFlow version.

    If no release fits, return all releases with the features that the log shows.
    """
    known = list(_possible_releases(log))
    fitting = [release for release in known if all(_has_wording(release, replacement) for replacement in log.replacements)]
    if runtime is not None:
        release = parse_release(runtime)
        if not all(_has_wording(release, replacement) for replacement in log.replacements):
            notes.append(f"the lines of {release} have another wording than this log")
        return (release,)
    if not fitting:
        notes.append("no known release has log lines with the wording of this log")
        fitting = known
    if log.tensorflow_version is not None:
        minor = tuple(int(part) for part in log.tensorflow_version.split(".")[:2])
        exact = [release for release in fitting if release.family == "tf" and release.version[:2] == minor]
        if exact:
            return tuple(exact)
        notes.append(
            f"the log names TensorFlow {log.tensorflow_version}; this release is not known, or its log lines have another wording"
        )
    return tuple(fitting)


def _possible_releases(log: DeviceLog) -> Iterator[Release]:
    """Yield the releases with all features that the log shows, whatever their wording. Devices run no development builds."""
    releases = [release for release in map(parse_release, RELEASES) if not release.is_development_build]
    if log.has_reasons_of_compiled_model:
        since = parse_release(_SINCE_REASONS)
        yield since
        yield from [release for release in releases if release.family == since.family and release.order > since.order]
    elif is_of_second_litert(log):
        yield from [release for release in releases if release.family == "litert" and release.version[0] >= 2]
    else:
        yield from releases


def is_of_second_litert(log: DeviceLog) -> bool:
    """Return whether the log must come from LiteRT 2."""
    return (
        log.is_of_compiled_model
        or any(FORMS["second-litert"].search(statement.line) for statement in log.statements)
        or any(
            replacement.kernel == DISPATCH_KERNEL or replacement.kernel.startswith(ACCELERATOR_KERNELS)
            for replacement in log.replacements
        )
    )


def _releases_with(delegate: Delegate, releases: tuple[Release, ...]) -> tuple[Release, ...]:
    if not delegate.history.starts_at_known:
        return releases
    since = parse_release(delegate.history.known_since)
    # Only minor releases have recorded wordings, because patch releases print the same lines.
    known = [release for release in releases if release.family == since.family and release.version[:2] >= since.version[:2]]
    return tuple(known) or releases


def may_be_older(log: DeviceLog) -> bool:
    """Return whether a release older than all known releases may have printed the log."""
    if log.tensorflow_version is not None:
        oldest = parse_release(RELEASES[0]).version
        return tuple(int(part) for part in log.tensorflow_version.split(".")[:2]) < oldest
    if is_of_second_litert(log):
        return False
    return log.is_old or all(_has_wording(parse_release(RELEASES[0]), replacement) for replacement in log.replacements)


def _has_wording(release: Release, replacement: Replacement) -> bool:
    line = replacing_line(
        release,
        replaced=replacement.replaced,
        total=replacement.total if replacement.total is not None else -1,
        kernel=replacement.kernel,
        partitions=replacement.partitions if replacement.partitions is not None else 1,
        subgraph=replacement.subgraph if replacement.subgraph is not None else -1,
        name=replacement.name if replacement.name is not None else "\0",
    )
    if replacement.partitions is None or not replacement.line.endswith("."):  # the log is cut off here
        return line.startswith(replacement.line)
    return line == replacement.line

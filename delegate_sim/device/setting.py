"""What a log shows was applied to a model: the delegate, its options, and the release of the runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..delegates.base import Delegate, OptionValues
from ..delegates.registry import DELEGATE_NAMES, find_delegate
from ..options import Option, boolean, parse_options
from ..releases.catalogue import DEFAULT_RELEASE, RELEASES, Release, parse_release
from ..releases.wording import replacing_line
from .log import DeviceLog, ReconcileError, Replacement


@dataclass(frozen=True)
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
        """Whether an option limits how many partitions are delegated."""
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
    defaults = defaults or ("benchmark" if log.is_benchmark else "api")
    values = parse_options(chosen.name, chosen.options, given, defaults)
    known = frozenset(given)
    if log.is_benchmark and log.parameters and chosen.limit_option:  # benchmark_model prints the limit if it is set
        known |= {chosen.limit_option}
    return DeviceSetting(
        chosen, values, known, _releases(log, runtime, notes), defaults, _lowest_level(log, chosen), tuple(notes)
    )


def flags_without_others(delegate: Delegate) -> str:
    """Return benchmark_model's flags that keep the runtime from applying delegates by default to what this one leaves."""
    others = [find_delegate(name) for name in DELEGATE_NAMES if name != delegate.name]
    return " and ".join(other.log.off_flag for other in others if other.is_applied_by_default)


def _delegate_in(log: DeviceLog) -> Delegate:
    """Return the delegate that the application applied; one that the runtime applies by default only if there is no other."""
    delegates = [find_delegate(name) for name in DELEGATE_NAMES]
    names = [replacement.kernel for replacement in log.replacements]
    names += [application.provider for application in log.applications]
    names += [row.op for table in log.run_orders.values() for row in table.rows]
    names += [op for summary in log.summaries.values() for op in summary.counts]
    mentioned = set(names)
    found = [each for each in delegates if not {*each.kernel_names, each.provider_name}.isdisjoint(mentioned)]
    if all(each.is_applied_by_default for each in found):
        # What was asked for but could not be applied leaves no line of its own.
        found = [each for each in delegates if _was_not_created(each, log)] or found
    if not found:
        found = [each for each in delegates if _is_switched_on(each, log) or each.provider_name in log.created]
    if not found and log.refusals:
        found = [each for each in delegates if each.log.prints_refusals]
    if not found:
        raise ReconcileError("the log does not show which delegate was applied; give --delegate")
    return next((each for each in found if not each.is_applied_by_default), found[0])


def _was_not_created(delegate: Delegate, log: DeviceLog) -> bool:
    """Whether a line says that the delegate could not be created."""
    return not delegate.is_applied_by_default and any(
        delegate.provider_name.casefold() in line.casefold().split() for line in log.not_created
    )


def _is_switched_on(delegate: Delegate, log: DeviceLog) -> bool:
    """Whether benchmark_model was told to apply the delegate."""
    return bool(delegate.log.switch) and log.parameters.get(delegate.log.switch, "0") not in ("", "0", "false")


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


def _releases(log: DeviceLog, runtime: str | None, notes: list[str]) -> tuple[Release, ...]:
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


def _has_wording(release: Release, replacement: Replacement) -> bool:
    """Whether a release words the line of a replacement as the log does."""
    line = replacing_line(
        release,
        replaced=replacement.replaced,
        total=replacement.total if replacement.total is not None else -1,
        kernel=replacement.kernel,
        partitions=replacement.partitions,
        subgraph=replacement.subgraph if replacement.subgraph is not None else -1,
        name=replacement.name if replacement.name is not None else "\0",
    )
    return line.rstrip(".") == replacement.line.rstrip(".")

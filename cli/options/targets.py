"""Command-line options that describe targets. Commands receive the targets as ``Target`` objects."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import DEFAULT_SETS, parse_options
from delegate_sim.delegates.registry import (
    DEFAULT_DELEGATE,
    DEVICE_VARIABLE,
    GROUP_NAMES,
    MICRO_NAME,
    TARGET_NAMES,
    VELA_NAMES,
    DelegateOnDevice,
    find_delegate,
    plugin_of,
)
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
from delegate_sim.runtime.target import Target, releases_of, target_names

from ..console.output_file import Command
from ..console.terminal import add_first_line
from .delegate_flags import (
    ALL_DELEGATES,
    MICRO_FLAG,
    DelegateName,
    GroupName,
    chosen_delegates,
    flag_names,
    given_options,
    release_in,
    several_values,
)
from .shared import complete_devices, complete_releases

Decorator = Callable[[Command], Command]


@dataclass(frozen=True, slots=True)
class TargetArguments:
    """The command-line options that describe targets, as given by the user."""

    delegates: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    """Options of delegates as KEY=VALUE."""
    release: str | None = None
    """The value of ``--runtime``, or None if the command has no option for a single release."""
    defaults: str = "benchmark"
    assume_ops_registered: bool = False
    flags: Mapping[str, str | None] = field(default_factory=dict)
    """The flags of delegates, by name."""
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values of the only flag that may have several values, by name."""
    devices: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Kinds of devices."""

    def chosen(self, unnamed: Sequence[str] = (DEFAULT_DELEGATE,), *, is_live: bool = False) -> tuple[Delegate, ...]:
        """Return the delegates that the user named, or the delegates in ``unnamed`` if the user named no delegate.

        Raises OptionError.
        """
        return chosen_delegates(self.delegates or unnamed, is_live=is_live)

    def given(self, delegates: Sequence[Delegate]) -> list[dict[str, str]]:
        """Return the options given to each delegate. Raises ClickException for an option that no delegate has."""
        refuse_foreign_flags(delegates, self.flags)
        pairs = self.pairs if self.release is None else release_in(self.pairs, self.release)[0]
        return given_options(delegates, pairs, self.flags)

    def targets(self, unnamed: Sequence[str] = (DEFAULT_DELEGATE,), *, is_live: bool = False) -> list[Target]:
        """Return the targets. If the user describes no target and there is a configuration, return its targets.

        Raises OptionError, ConfigurationError or ClickException.
        """
        if self.several:
            targets = [target for own in self.each_value() for target in own.targets(unnamed, is_live=is_live)]
            return [target for place, target in enumerate(targets) if target not in targets[:place]]
        if not self.names_devices and unnamed and (configured := self.configured(is_live=is_live)):
            return configured
        return self._made(self.applications(unnamed, is_live=is_live))

    def _made(self, applications: Sequence[tuple[Delegate, Mapping[str, str]]]) -> list[Target]:
        releases = releases_of([delegate for delegate, _ in applications], self.runtime)
        targets = []
        for (delegate, given), release in zip(applications, releases, strict=True):
            options = parse_options(delegate.name, delegate.options, given, self.defaults)
            targets.append(Target(delegate, options, release, self.defaults, self.assume_ops_registered))
        if self.names_devices:
            self._name_targets(targets)
        return targets

    def applications(
        self, unnamed: Sequence[str], *, is_live: bool = False, only_first: bool = False
    ) -> list[tuple[Delegate, dict[str, str]]]:
        """Return the delegates of the devices, or else the chosen delegates (see ``chosen``), each with its options.

        Raises OptionError or ClickException.
        """
        if not self.names_devices:
            chosen = self.chosen(unnamed, is_live=is_live)
            return [*zip(chosen, self.given(chosen), strict=True)]
        on_devices = self._on_devices()[: 1 if only_first else None]
        delegates = {own.delegate: find_delegate(own.delegate) for own in on_devices}
        given = dict(zip(delegates, self.given([*delegates.values()]), strict=True))
        return [(delegates[name], {**dict(options), **given[name]}) for name, options in on_devices]

    def _on_devices(self) -> Sequence[DelegateOnDevice]:
        from delegate_sim.runtime.device_targets import delegates_of_devices

        only = () if ALL_DELEGATES in self.delegates else self.delegates
        return delegates_of_devices(self.devices, self.groups, only)

    def of_each_device(self) -> list[list[Target]]:
        """Return the targets of each device and of each kind of devices. Raises OptionError or ClickException."""
        singles = [replace(self, devices=(name,), groups=()) for name in self.devices]
        singles += [replace(self, devices=(), groups=(name,)) for name in self.groups]
        return [own.targets() for own in singles]

    def _name_targets(self, targets: Sequence[Target]) -> None:
        from delegate_sim.delegates.devices import find_device

        devices = [find_device(name) for name in self.devices]
        names = dict(zip(target_names(targets), [target.delegate.deprecated for target in targets], strict=True))
        listed = [f"{name} (deprecated {since})" if since else name for name, since in names.items()]
        text = f"{', '.join([*[device.title for device in devices], *self.groups])}: {', '.join(listed)}"
        if len(targets) < (number := len(self._on_devices())):
            text += f", the first of {number:,} targets (analyze shows all)"
        closed = dict.fromkeys([device.not_simulated for device in devices if device.not_simulated])
        if closed:
            vela = "{0} (Arm's compiler Vela; --delegate {0} --live runs it)"
            with_vela = [vela.format(name) if name in VELA_NAMES else name for name in closed]
            text += f"; not simulated: {', '.join(with_vela)}"
        add_first_line(text)

    @property
    def names_devices(self) -> bool:
        """Whether the user named a device, or a kind of devices."""
        return bool(self.devices or self.groups)

    def each_value(self) -> list[TargetArguments]:
        """Return arguments with a single value of each flag, one for each value of the flag that has several values."""
        return [
            replace(self, flags={**self.flags, name: value}, several={})
            for name, values in self.several.items()
            for value in values
        ] or [self]

    def target(self) -> Target:
        """Return the only target, or the first one of the device or of the configuration. Raises the errors of ``targets``."""
        if self.names_devices:
            return self._made(self.applications((), only_first=True))[0]
        return (self.configured(only_first=True) or self.targets())[0]

    def configured(self, *, only_first: bool = False, is_live: bool = False) -> list[Target]:
        """Return the targets of the configuration, or only the first target. If the user describes a target, return no target.

        Targets that cannot be simulated are included only if ``is_live`` is true. Raises ConfigurationError and OptionError.
        """
        return [] if self.describes_target else configured_targets(only_first=only_first, is_live=is_live)

    @property
    def names_delegate(self) -> bool:
        """Whether the user named a delegate, a device, or an option of a delegate."""
        flags = [value for value in self.flags.values() if value is not None]
        return bool(self.delegates or self.names_devices or self.pairs or flags)

    @property
    def describes_target(self) -> bool:
        """Whether the user gave an option that describes targets."""
        is_default = self.release in (None, DEFAULT_RELEASE) and self.defaults == "benchmark" and not self.assume_ops_registered
        return self.names_delegate or not is_default

    @property
    def runtime(self) -> str:
        """The name of the runtime release, from ``--runtime`` or from the delegate option ``release``."""
        return DEFAULT_RELEASE if self.release is None else release_in(self.pairs, self.release)[1]


def configured_targets(*, only_first: bool = False, is_live: bool = False) -> list[Target]:
    """Return the targets of the nearest configuration, or only the first target.

    The list is empty if there is no configuration. Targets that cannot be simulated are included only if ``is_live`` is true.
    The first line of the text output names the targets. Raises ConfigurationError if the configuration is invalid, and
    OptionError if no target is left.
    """
    from delegate_sim.gate.configuration import NoConfigurationError, find_configuration, read_configuration

    try:
        path = os.path.relpath(find_configuration(os.getcwd()))
    except NoConfigurationError:
        return []
    every = [target for target in read_configuration(path).targets if target.is_compared]
    targets = [target for target in every if is_live or not target.target.delegate.is_live_only][: 1 if only_first else None]
    if every and not targets:
        find_delegate(every[0].target.delegate.name)
    if targets and click.get_current_context(silent=True) is not None:
        names = ", ".join([f"{target.name} ({target.target.delegate.name})" for target in targets])
        add_first_line(f"{'Targets' if len(targets) > 1 else 'Target'} of {path}: {names}")
    return [target.target for target in targets]


def soc_targets(socs: Sequence[str], arguments: TargetArguments) -> list[Target]:
    """Return a target for the NPU of each SoC, with the release of ``arguments``. Raises OptionError."""
    from delegate_sim.delegates.devices import each_vendor, full_soc_name  # few commands need plugins

    targets = []
    for soc in dict.fromkeys(map(full_soc_name, each_vendor(socs))):
        vendor, _, model = soc.partition(":")
        delegate = find_delegate(plugin_of(vendor))
        given = {} if arguments.delegates else arguments.given([delegate])[0]
        options = parse_options(delegate.name, delegate.options, {**given, "soc": model}, arguments.defaults)
        targets.append(Target(delegate, options, parse_release(arguments.runtime), arguments.defaults))
    return targets


def refuse_foreign_flags(delegates: Sequence[Delegate], flags: Mapping[str, str | None]) -> None:
    """Raise UsageError for a flag that none of the delegates has."""
    own = {option.flag.replace("-", "_") for delegate in delegates for option in delegate.options if option.flag}
    for flag, value in flags.items():
        if value is not None and flag not in own:
            names = " and ".join([delegate.name for delegate in delegates])
            raise click.UsageError(f"{names} {'has' if len(delegates) == 1 else 'have'} no flag --{flag}")


CONFIGURED = f"the configuration's targets, else {DEFAULT_DELEGATE}"


def delegates_option(
    shown_default: str = CONFIGURED, description: str = "A delegate to apply; may be given several times."
) -> Decorator:
    """Return ``--delegate`` for several delegates. The help shows ``shown_default`` as the default."""
    names = DelegateName((*TARGET_NAMES, ALL_DELEGATES))
    return click.option("--delegate", "delegates", multiple=True, show_default=shown_default, type=names, help=description)


def runtime_option(description: str = "The runtime release.", shown_default: str = "", name: str = "release") -> Decorator:
    """Return ``--runtime`` for one release, or for several releases (``releases``).

    With ``shown_default``, the default is None, and the help shows this text.
    """
    is_multiple = name == "releases"
    default = None if shown_default else (DEFAULT_RELEASE,) if is_multiple else DEFAULT_RELEASE
    return click.option(
        *("--runtime", name),
        metavar="RELEASE",
        multiple=is_multiple,
        default=default,
        show_default=shown_default or True,
        shell_complete=complete_releases,
        help=description,
    )


def pairs_option(description: str) -> Decorator:
    """Return ``--option`` for options of a delegate as KEY=VALUE."""
    return click.option("--option", "pairs", metavar="KEY=VALUE", multiple=True, help=description)


def target_arguments(*delegate_options: Decorator, runtime: Sequence[Decorator] = (runtime_option(),)) -> Decorator:
    """Return a decorator that adds the options of targets to a command, and passes ``TargetArguments`` as ``arguments``."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(**given: Any) -> Any:
            return command(arguments=_taken(given), **given)

        decorated: Command = call
        further: list[Decorator] = [_MICRO, _DEVICE, _FOR, _PAIRS, *runtime, _DEFAULTS, _ASSUME_OPS_REGISTERED, _OWN_RESOLVER]
        for option in reversed([*delegate_options, *further]):
            decorated = option(decorated)
        return decorated

    return decorate


def _taken(given: dict[str, Any]) -> TargetArguments:
    flags = {name: given.pop(name) for name in flag_names(click.get_current_context())}
    delegates = tuple(filter(None, [given.pop("delegate")])) if "delegate" in given else given.pop("delegates")
    is_assumed = [given.pop("assume_ops_registered"), given.pop("own_resolver")]
    several = several_values(click.get_current_context())
    pairs, release, defaults = tuple(given.pop("pairs")), given.pop("release", None), given.pop("defaults")
    devices, groups = tuple(given.pop("named_devices")), tuple(given.pop("device_groups"))
    if devices or groups:
        _refuse_other_targets(delegates)
    if not delegates and not groups:
        devices = devices or devices_of_environment()
    if (devices or groups) and not is_given("defaults"):
        defaults = "api"
    return TargetArguments(tuple(delegates), pairs, release, defaults, any(is_assumed), flags, several, devices, groups)


def _refuse_other_targets(delegates: Sequence[str]) -> None:
    if MICRO_NAME in delegates:
        raise click.UsageError(f"give {MICRO_FLAG}, or --device and --for: TensorFlow Lite Micro is for microcontrollers")
    parameters = click.get_current_context().params
    for name, flag in (("socs", "--soc"), ("accelerators", "--accelerators")):
        if parameters.get(name):
            raise click.UsageError(f"give --device and --for, or {flag}: a device has its own targets")


def devices_of_environment() -> tuple[str, ...]:
    """Return the devices in the environment variable, unless an option of the command line names a SoC or accelerators."""
    parameters = click.get_current_context().params
    if parameters.get("socs") or parameters.get("accelerators"):
        return ()
    return tuple([name.strip() for name in os.environ.get(DEVICE_VARIABLE, "").split(",") if name.strip()])


def is_given(parameter: str) -> bool:
    """Return whether the command line has a value for a parameter of the current command."""
    return click.get_current_context().get_parameter_source(parameter) is not click.core.ParameterSource.DEFAULT


_FIRST_CONFIGURED = f"the configuration's first target, else {DEFAULT_DELEGATE}"
ONE_DELEGATE_OPTION = click.option(
    "--delegate", "delegate", show_default=_FIRST_CONFIGURED, type=DelegateName(TARGET_NAMES), help="The delegate to apply."
)
TWO_DELEGATES_OPTION = click.option(
    "--delegate",
    "delegates",
    multiple=True,
    show_default=_FIRST_CONFIGURED,
    type=DelegateName(TARGET_NAMES),
    help="The delegate to apply; a second delegate applies to B.",
)


def devices_option(description: str) -> Decorator:
    """Return ``--device`` for several devices."""
    return click.option(
        "--device", "named_devices", metavar="NAME", multiple=True, shell_complete=complete_devices, help=description
    )


def groups_option(description: str) -> Decorator:
    """Return ``--for`` for several kinds of devices."""
    return click.option("--for", "device_groups", metavar="KIND", multiple=True, type=GroupName(GROUP_NAMES), help=description)


_MICRO_HELP = f"TensorFlow Lite Micro, as --delegate {MICRO_NAME}."
_MICRO = click.option(MICRO_FLAG, is_flag=True, expose_value=False, help=_MICRO_HELP)
_DEVICE = devices_option("A phone, SoC or board, such as pixel10.")
_FOR = groups_option("A kind of devices, such as phones.")
_PAIRS = pairs_option("An option of the delegate, by name.")
_DEFAULTS = click.option(
    "--defaults",
    type=click.Choice(DEFAULT_SETS),
    default="benchmark",
    show_default=True,
    help="Take default options from benchmark_model or the API.",
)
_ASSUME_OPS_REGISTERED = click.option(
    "--assume-ops-registered", is_flag=True, help="Assume that the app registers all operators."
)
_OWN_RESOLVER = click.option("--own-resolver", is_flag=True, hidden=True)
"""The former name of ``--assume-ops-registered``."""

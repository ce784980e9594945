"""The targets of a device, or of a kind of devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..delegates.devices import delegates_of_group, find_device
from ..delegates.options import parse_options
from ..delegates.registry import WITHOUT_DELEGATE, DelegateOnDevice, find_delegate
from ..errors import OptionError
from ..foundation.printable import and_list
from ..releases.catalogue import Release
from .target import Target


def delegates_of_devices(
    devices: Iterable[str], groups: Iterable[str] = (), only: Iterable[str] = ()
) -> tuple[DelegateOnDevice, ...]:
    """Return the delegates that exist on the named devices and kinds of devices, without duplicates.

    If ``only`` names delegates, return only these delegates. Raises OptionError for an unknown device, if one of them has no
    delegate, and if a delegate in ``only`` does not exist there.
    """
    named = [*[find_device(name).delegates for name in devices], *map(delegates_of_group, groups)]
    if not all(named):
        raise OptionError(WITHOUT_DELEGATE, 'microcontrollers have no delegate: use kind = "micro"')
    return only_delegates(dict.fromkeys([own for delegates in named for own in delegates]), only)


def only_delegates(on_devices: Iterable[DelegateOnDevice], only: Iterable[str]) -> tuple[DelegateOnDevice, ...]:
    """Return the delegates of devices that ``only`` names, or all of them if ``only`` is empty. Raises OptionError."""
    on_devices, named = tuple(on_devices), tuple(only)
    existing = dict.fromkeys([own.delegate for own in on_devices])
    for name in named:
        if name not in existing:
            text = f"does not exist on the named devices; their delegates are {and_list([*existing])}"
            raise OptionError(f"the delegate {name} {text}", text)
    return tuple([own for own in on_devices if not named or own.delegate in named])


def targets_on(
    delegates: Sequence[DelegateOnDevice], release: Release, defaults: str, assume_ops_registered: bool = False
) -> list[Target]:
    """Return a target for each delegate. Raises OptionError."""
    targets = []
    for name, own in delegates:
        delegate = find_delegate(name)
        options = parse_options(name, delegate.options, dict(own), defaults)
        targets.append(Target(delegate, options, release, defaults, assume_ops_registered))
    return targets

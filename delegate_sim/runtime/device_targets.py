"""The targets of a device, or of a kind of devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..delegates.boards import DelegateOnDevice
from ..delegates.devices import delegates_of_group, find_device
from ..delegates.options import parse_options
from ..delegates.registry import find_delegate
from ..errors import OptionError
from ..releases.catalogue import Release
from .target import Target


def delegates_of_devices(devices: Iterable[str], groups: Iterable[str] = ()) -> tuple[DelegateOnDevice, ...]:
    """Return the delegates that exist on the named devices and kinds of devices, without duplicates.

    Raises OptionError for an unknown device, and if no delegate exists there.
    """
    delegates = [own for name in devices for own in find_device(name).delegates]
    delegates += [own for name in groups for own in delegates_of_group(name)]
    if not delegates:
        text = "microcontrollers have no delegate: use"
        raise OptionError(f"{text} `delegate-sim micro MODEL` (in Python: analyze_micro)", f'{text} kind = "micro"')
    return tuple(dict.fromkeys(delegates))


def targets_on(
    delegates: Sequence[DelegateOnDevice],
    release: Release,
    defaults: str,
    assume_ops_registered: bool = False,
) -> list[Target]:
    """Return a target for each delegate. Raises OptionError."""
    targets = []
    for name, own in delegates:
        delegate = find_delegate(name)
        options = parse_options(name, delegate.options, dict(own), defaults)
        targets.append(Target(delegate, options, release, defaults, assume_ops_registered))
    return targets

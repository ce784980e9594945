"""Devices that users can name: the phones of ``npu/soc_names.py``, and the boards of ``boards.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import OptionError
from ..foundation.printable import suggestion
from .boards import (
    ANDROID,
    BOARD,
    BOARDS,
    COMPUTERS,
    CORE_ML,
    CPU,
    GPU,
    IPHONES,
    METAL,
    MICROCONTROLLERS,
    NNAPI,
    OLDER_GPU,
    PHONES,
    SEVERAL_SOCS,
    WEBGPU,
    DelegateOnDevice,
    board_hint,
    find_board,
    folded,
)
from .npu.soc_names import NAMES, known_names, recognized_soc_name
from .registry import CLOSED_PLUGIN_NAMES, PLUGIN_NAMES, plugin_of


class KnownDevice(NamedTuple):
    """A device, and its delegates in the order in which an application should try them. Deprecated delegates come last.

    ``not_simulated`` is a compiler plugin or compiler for the device that cannot be simulated, or "".
    """

    title: str
    delegates: tuple[DelegateOnDevice, ...]
    not_simulated: str = ""


class DeviceGroup(NamedTuple):
    """A kind of devices: its title, and the delegates that exist on these devices."""

    title: str
    delegates: tuple[DelegateOnDevice, ...]


if TYPE_CHECKING:
    from ..runtime.target import Target

_PLACES = {
    "xnnpack": "the CPU of every device",
    "mldrift": "Android, iPhone, computers, browsers",
    "gpu": "Android, TFLite Interpreter",
    "coreml": "iPhone, iPad",
    "nnapi": "Android",
    "hexagon": "Snapdragon 845 and 855",
}
"""The devices of delegates that are on whole kinds of devices, in a few words."""
_SEVERAL_KINDS = "Most devices"
PHONES_TITLE = "Phones"
_NPUS_TITLE = "NPUs of phones and computers: selected by the plugin, not compiled"
_BOARDS_TITLE = "Boards"
MICROCONTROLLERS_TITLE = "Microcontrollers"
CARD_GROUPS = (PHONES_TITLE, _NPUS_TITLE, _BOARDS_TITLE, MICROCONTROLLERS_TITLE)
"""The kinds of devices on a card, in order."""
_HEXAGON = DelegateOnDevice("hexagon")
_NPUS = tuple(map(DelegateOnDevice, ("npu-google", "npu-mediatek", "npu-samsung")))
_OF_BOARDS = [own for board in BOARDS if board.group == BOARD for own in board.delegates if own != CPU]
GROUPS: Mapping[str, DeviceGroup] = {
    ANDROID: DeviceGroup("Android phones", (GPU, *_NPUS, CPU, OLDER_GPU, _HEXAGON, NNAPI)),
    IPHONES: DeviceGroup("iPhones", (METAL, CORE_ML, CPU)),
    BOARD: DeviceGroup(_BOARDS_TITLE, (*dict.fromkeys(_OF_BOARDS), CPU)),
    COMPUTERS: DeviceGroup("Computers", (WEBGPU, DelegateOnDevice("npu-intel"), CPU)),
    MICROCONTROLLERS: DeviceGroup(MICROCONTROLLERS_TITLE, ()),
}
"""The kinds of devices, by the name that users type."""
ORDER = tuple(dict.fromkeys([own.delegate for group in GROUPS.values() for own in group.delegates]))
"""The delegates in the order in which applications should try them."""

_HEXAGON_SOCS = ("SDM845", "SM8150")
"""SoCs that TensorFlow's page names as examples for the Hexagon delegate (``lite/g3doc/android/delegates/hexagon.md``)."""
_ANDROID_SOCS = ("SM", "SDM", "SW", "SXR")
"""The beginnings of the names of Qualcomm's SoCs for phones, watches and headsets with Android."""


def find_device(name: str) -> KnownDevice:
    """Return the device with this name. Case, spaces and punctuation do not matter.

    Raises OptionError for unknown names.
    """
    board = find_board(name)
    if board is not None:
        return KnownDevice(board.names[0], board.delegates, board.not_simulated)
    if ":" in name or folded(name) in known_names():
        return _device_of_soc(recognized_soc_name(name))
    galaxy = f"galaxy{folded(name).removeprefix('samsung')}"
    if galaxy in known_names():
        return _device_of_soc(recognized_soc_name(galaxy))
    socs = next((socs for phone, socs in SEVERAL_SOCS.items() if folded(phone) in (folded(name), galaxy)), None)
    if socs is not None:
        text = f"has one of two SoCs, depending on the region: name {' or '.join(map(folded, socs))} instead"
        raise OptionError(f"the phone {name!r} {text}", f"this phone {text}")
    near = suggestion(folded(name), device_names()) or "; name a phone, a SoC or a board, such as pixel10, mt6991 or imx8mp"
    near += "; android is any Android phone"
    raise OptionError(f"there is no device {name!r}{near}", f"there is no such device{near}")


def _device_of_soc(soc: str) -> KnownDevice:
    vendor, _, model = soc.partition(":")
    plugin = plugin_of(vendor)
    title = NAMES.get(soc, (model,))[0]
    if plugin not in CLOSED_PLUGIN_NAMES:
        npu = DelegateOnDevice(plugin, (("soc", model),))
        is_computer = vendor == "intel"
        return KnownDevice(title, (WEBGPU, npu, CPU) if is_computer else (GPU, npu, CPU, OLDER_GPU, NNAPI))
    older = (OLDER_GPU, *([_HEXAGON] if model in _HEXAGON_SOCS else []), NNAPI)
    return KnownDevice(title, (GPU, CPU, *(older if model.startswith(_ANDROID_SOCS) else ())), plugin)


def delegates_of_group(name: str) -> tuple[DelegateOnDevice, ...]:
    """Return the delegates that exist on a kind of devices. ``name`` is one of ``GROUP_NAMES``."""
    groups = (ANDROID, IPHONES) if name == PHONES else (name,)
    return tuple(dict.fromkeys([own for group in groups for own in GROUPS[group].delegates]))


def group_of(delegate: str) -> str:
    """Return the only kind of devices on which a delegate exists, or "" if it exists on several kinds or on none."""
    groups = [name for name, group in GROUPS.items() if any(own.delegate == delegate for own in group.delegates)]
    return groups[0] if len(groups) == 1 else ""


def device_hint(name: str) -> str:
    """Return the end of a message about an unknown delegate that is the name of a device, or ""."""
    if folded(name) in known_names():
        return f"; {folded(name)} is a device: give --device {folded(name)}"
    return board_hint(name)


def device_names() -> list[str]:
    """Return the names of all devices as users type them: boards first, then phones and SoCs."""
    return [*dict.fromkeys([*[folded(name) for board in BOARDS if board.delegates for name in board.names], *known_names()])]


def in_groups(delegates: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Group delegates by the kinds of devices on which they exist: titles, each with the positions of its delegates.

    Delegates of one kind of devices have no title.
    """
    groups = {name: group_of(name) for name in delegates}
    if len(set(groups.values()) - {""}) < 2:
        return [("", [*range(len(delegates))])]
    sections = []
    order = {name: place for place, name in enumerate(ORDER)}
    for key, title in (("", _SEVERAL_KINDS), *[(key, group.title) for key, group in GROUPS.items()]):
        own = [position for position, name in enumerate(delegates) if groups[name] == key]
        own.sort(key=lambda position: order.get(delegates[position], len(order)))
        sections += [(title, own)] if own else []
    return sections


def card_group(delegate: str, others: Sequence[str]) -> str:
    """Return the kind of devices for a delegate on a card: one of ``CARD_GROUPS``.

    A delegate of several kinds is shown with the phones, unless all other delegates of the card are for boards only.
    """
    if delegate in PLUGIN_NAMES:
        return _NPUS_TITLE
    kinds = {group_of(other) for other in others} - {""}
    return _BOARDS_TITLE if (group_of(delegate) or (BOARD if kinds == {BOARD} else "")) == BOARD else PHONES_TITLE


def places_of(target: Target) -> str:
    """Return the devices that have the delegate of a target, in a few words."""
    delegate, options = target.delegate, target.options
    if delegate.is_plugin:
        soc = f"{delegate.name.partition('-')[2]}:{options.get('soc')}"
        return f"such as {NAMES.get(soc, (str(options.get('soc')),))[0]}"
    boards = [board.names[0] for board in BOARDS if any(own.delegate == delegate.name for own in board.delegates)]
    return _PLACES.get(delegate.name) or ", ".join(boards)


def is_second_choice(delegate: str) -> bool:
    """Return whether applications should try the CPU before a delegate, on all devices that have the delegate."""
    orders = [[own.delegate for own in group.delegates] for group in GROUPS.values()]
    orders = [order for order in orders if delegate in order and CPU.delegate in order]
    return bool(orders) and all(order.index(delegate) > order.index(CPU.delegate) for order in orders)

"""Devices that users can name: SoCs with their phones, and the boards of ``registry.py``.

The name of a SoC may omit the vendor, ignore case, or be the name of a phone. The SoCs are in ``socs.json``.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ..errors import OptionError
from ..foundation.printable import suggestion
from .options import parse_options
from .registry import (
    ANDROID,
    BOARD,
    BOARDS,
    CLOSED_PLUGIN_NAMES,
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
    PLUGIN_NAMES,
    SEVERAL_SOCS,
    WEBGPU,
    DelegateOnDevice,
    board_hint,
    find_board,
    find_delegate,
    folded,
    plugin_of,
)

ALL = "all"
"""The name that chooses one SoC of each vendor."""
_SOC = "soc"
_MOST_SIMILAR = 5
_VENDORS = tuple([name.partition("-")[2] for name in (*PLUGIN_NAMES, *CLOSED_PLUGIN_NAMES)])

SOCS: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(pkgutil.get_data(__package__, "socs.json") or b"")
"""The SoCs that each vendor's plugin knows, by vendor, with their phones, trade names and variants.

Qualcomm's SoCs are those that LiteRT lists (``litert/vendors/qualcomm/supported_soc.csv``).
"""
NAMES = {f"{vendor}:{soc}": tuple(names) for vendor, socs in SOCS.items() for soc, names in socs.items() if names}
"""The phones, trade names and variants of each SoC. For example, MT8792 is the variant of MT6897 for tablets."""


def full_soc_name(text: str) -> str:
    """Return the full name of a SoC whose plugin can be simulated. Raises OptionError for all other SoCs."""
    full = recognized_soc_name(text)
    plugin = plugin_of(full.partition(":")[0])
    if plugin in CLOSED_PLUGIN_NAMES:
        raise OptionError(_not_simulated(text, full, plugin))
    return full


def recognized_soc_name(text: str) -> str:
    """Return the full name of a SoC, such as ``google:Tensor_G5``, whether or not its plugin can be simulated.

    A plugin need not know a SoC that is named with its vendor. Raises OptionError for other unknown names and unknown vendors.
    """
    vendor, colon, model = (part.strip() for part in text.partition(":"))
    vendor = vendor.lower()
    if colon or vendor in _VENDORS:
        plugin_of(vendor)
        return known_names([vendor]).get(folded(model), f"{vendor}:{model}")
    known = known_names()
    if folded(text) not in known:
        raise OptionError(_unknown(text, known))
    return known[folded(text)]


def each_vendor(socs: Iterable[str]) -> Iterator[str]:
    """Yield the given names, with one SoC of each simulated vendor instead of ``all``. A vendor's SoCs have the same result."""
    for soc in socs:
        if folded(soc) != ALL:
            yield soc
            continue
        for name in PLUGIN_NAMES:
            plugin = find_delegate(name)
            yield f"{name.partition('-')[2]}:{parse_options(name, plugin.options, {})[_SOC]}"


def simulated_socs() -> dict[str, str]:
    """Map names of simulated SoCs, without the vendor, and folded names in ``NAMES`` to full names: ``google:Tensor_G5``."""
    socs: dict[str, str] = {}
    for vendor, models in [(vendor, SOCS[vendor]) for vendor in _VENDORS if plugin_of(vendor) in PLUGIN_NAMES]:
        for model in models:
            full = f"{vendor}:{model}"
            socs |= dict.fromkeys([model, *map(folded, NAMES.get(full, ()))], full)
    return socs


def known_names(vendors: Iterable[str] = _VENDORS) -> dict[str, str]:
    """Map names of the vendors' SoCs to full names. The keys were folded with ``folded``."""
    names: dict[str, str] = {}
    for vendor in vendors:
        for model in SOCS[vendor]:
            full = f"{vendor}:{model}"
            names |= {folded(name): full for name in (model, *NAMES.get(full, ()))}
    return names


def _unknown(text: str, known: dict[str, str]) -> str:
    typed = folded(text)
    if typed == ALL:
        return "name one SoC, such as pixel10 or mt6991"
    socs = next((socs for phone, socs in SEVERAL_SOCS.items() if folded(phone) == typed), ())
    if socs:
        return f"the phone {text!r} has one of two SoCs, depending on the region: {' or '.join(socs)}"
    if hint := board_hint(text):
        return f"LiteRT's compiler plugins do not know the SoC {text!r}{hint}"
    near = [name for name, full in known.items() if typed and _has_word(name, full, typed)]
    near += get_close_matches(typed, known, n=8)
    titles = [_title(name, known[name]) for name in dict.fromkeys(near)][:_MOST_SIMILAR]
    others = f"similar names are {', '.join(titles)}" if titles else "give the SoC as VENDOR:SOC, such as google:Tensor_G5"
    return f"LiteRT's compiler plugins do not know the SoC {text!r}; {others}"


def _has_word(name: str, full: str, beginning: str) -> bool:
    words = next((trade_name.split() for trade_name in NAMES.get(full, ()) if folded(trade_name) == name), [])
    return any(folded("".join(words[start:])).startswith(beginning) for start in range(len(words)))


def _title(typed: str, full: str) -> str:
    trade_name = next((name for name in NAMES.get(full, ()) if folded(name) == typed), "")
    return f"{trade_name} ({full})" if trade_name else full


def _not_simulated(text: str, full: str, plugin: str) -> str:
    vendor, _, model = full.partition(":")
    return (
        f"the NPU of {text} ({full}) cannot be simulated, because a closed-source library of {vendor.capitalize()} decides "
        f"about every node. Run the real plugin with `delegate-sim analyze MODEL --delegate {plugin} "
        f"--option soc={model or 'SOC'} --live` (see delegate-sim doctor), or add --accelerators gpu,cpu to simulate only the "
        "GPU and the CPU"
    )


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
_OF_BOARDS = [known for board in BOARDS if board.group == BOARD for known in board.delegates if known != CPU]
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
    """Return the device with this name, whatever its case, spaces and punctuation. Raises OptionError for unknown names."""
    board = find_board(name)
    if board is not None:
        return KnownDevice(board.names[0], board.delegates, board.not_simulated)
    if ":" in name or folded(name) in known_names():
        return _device_of_soc(recognized_soc_name(name), folded(name))
    galaxy = f"galaxy{folded(name).removeprefix('samsung')}"
    if galaxy in known_names():
        return _device_of_soc(recognized_soc_name(galaxy), galaxy)
    socs = next((socs for phone, socs in SEVERAL_SOCS.items() if folded(phone) in (folded(name), galaxy)), None)
    if socs is not None:
        text = f"has one of two SoCs, depending on the region: name {' or '.join(map(folded, socs))} instead"
        raise OptionError(f"the phone {name!r} {text}", f"this phone {text}")
    near = suggestion(folded(name), device_names()) or "; name a phone, a SoC or a board, such as pixel10, mt6991 or imx8mp"
    near += "; android is any Android phone"
    raise OptionError(f"there is no device {name!r}{near}", f"there is no such device{near}")


def _device_of_soc(soc: str, typed: str) -> KnownDevice:
    vendor, _, model = soc.partition(":")
    plugin = plugin_of(vendor)
    names = NAMES.get(soc, (model,))
    title = next((name for name in names if folded(name) == typed), names[0])
    if plugin not in CLOSED_PLUGIN_NAMES:
        npu = DelegateOnDevice(plugin, (("soc", model),))
        is_computer = vendor == "intel"
        return KnownDevice(title, (WEBGPU, npu, CPU) if is_computer else (GPU, npu, CPU, OLDER_GPU, NNAPI))
    older = (OLDER_GPU, *([_HEXAGON] if model in _HEXAGON_SOCS else []), NNAPI)
    return KnownDevice(title, (GPU, CPU, *(older if model.startswith(_ANDROID_SOCS) else ())), plugin)


def delegates_of_group(name: str) -> tuple[DelegateOnDevice, ...]:
    """Return the delegates that exist on a kind of devices. ``name`` is one of ``GROUP_NAMES``."""
    groups = (ANDROID, IPHONES) if name == PHONES else (name,)
    return tuple(dict.fromkeys([known for group in groups for known in GROUPS[group].delegates]))


def group_of(delegate: str) -> str:
    """Return the only kind of devices on which a delegate exists, or "" if it exists on several kinds or on none."""
    groups = [name for name, group in GROUPS.items() if any(known.delegate == delegate for known in group.delegates)]
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
    """Group positions of delegates under titles of the kinds of devices on which they exist; no title if there is one kind."""
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
    """Return the kind of devices, one of ``CARD_GROUPS``, for a delegate on a card with ``others``.

    A delegate of several kinds is shown with the phones, unless boards have it and all other delegates are for boards only.
    """
    if delegate in PLUGIN_NAMES:
        return _NPUS_TITLE
    kinds = {group_of(name) for name in (delegate, *others)} - {""}
    is_on_boards = any(known.delegate == delegate for known in GROUPS[BOARD].delegates)
    return _BOARDS_TITLE if group_of(delegate) == BOARD or (is_on_boards and kinds == {BOARD}) else PHONES_TITLE


def places_of(target: Target) -> str:
    """Return the devices that have the delegate of a target, in a few words."""
    delegate, options = target.delegate, target.options
    if delegate.is_plugin:
        soc = f"{delegate.name.partition('-')[2]}:{options.get('soc')}"
        return f"such as {NAMES.get(soc, (str(options.get('soc')),))[0]}"
    boards = [board.names[0] for board in BOARDS if any(known.delegate == delegate.name for known in board.delegates)]
    return _PLACES.get(delegate.name) or ", ".join(boards)


def is_second_choice(delegate: str) -> bool:
    """Return whether applications should try the CPU before a delegate, on all devices that have the delegate."""
    orders = [[known.delegate for known in group.delegates] for group in GROUPS.values()]
    orders = [order for order in orders if delegate in order and CPU.delegate in order]
    return bool(orders) and all(order.index(delegate) > order.index(CPU.delegate) for order in orders)

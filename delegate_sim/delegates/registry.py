"""The delegates by name, and the delegates on boards, computers and kinds of phones.

A delegate's module is imported only when the delegate is requested. To add a board, add a row to ``BOARDS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

from ..errors import OptionError
from ..foundation.printable import and_list, suggestion
from .base import Delegate


class DelegateOnDevice(NamedTuple):
    """A delegate that exists on a device, and the values of its options there, by name."""

    delegate: str
    options: tuple[tuple[str, str], ...] = ()


class Board(NamedTuple):
    """Boards, computers or phones that run the same delegates.

    ``names`` are the names that users may type; the first one is the title. ``group`` is a key of ``devices.GROUPS``. The
    delegates are in the order in which an application should try them. ``not_simulated`` is a delegate of the board that only
    ``--live`` can run, or "".
    """

    names: tuple[str, ...]
    group: str
    delegates: tuple[DelegateOnDevice, ...]
    not_simulated: str = ""


CPU = DelegateOnDevice("xnnpack")
GPU = DelegateOnDevice("mldrift")
METAL = DelegateOnDevice("mldrift", (("backend", "metal"),))
WEBGPU = DelegateOnDevice("mldrift", (("backend", "webgpu"),))
_ARM_CPU = DelegateOnDevice("armnn", (("backends", "CpuAcc,CpuRef"),))
_TEFLON = DelegateOnDevice("teflon")
_ROCKET = DelegateOnDevice("teflon", (("driver", "rocket"), ("mesa", "main")))
OLDER_GPU, NNAPI, CORE_ML = DelegateOnDevice("gpu"), DelegateOnDevice("nnapi"), DelegateOnDevice("coreml")
ANDROID, IPHONES, BOARD, COMPUTERS, MICROCONTROLLERS = "android-phones", "iphones", "boards", "computers", "microcontrollers"
PHONES = "phones"
"""Both kinds of phones."""
GROUP_NAMES = (PHONES, ANDROID, IPHONES, BOARD, COMPUTERS, MICROCONTROLLERS)
"""The kinds of devices that users may name."""
DEVICE_VARIABLE = "DELEGATE_SIM_DEVICE"
"""The environment variable that names the device if the user names no target."""

_EXYNOS = ("Exynos 2400", "Exynos 2200", "Exynos 2100", "Exynos 990")
"""Samsung's SoCs that LiteRT's compiler plugin does not know."""
SEVERAL_SOCS: Mapping[str, tuple[str, str]] = {
    "Galaxy S24": ("Exynos 2400", "Snapdragon 8 Gen 3"),
    "Galaxy S24+": ("Exynos 2400", "Snapdragon 8 Gen 3"),
    "Galaxy S22": ("Exynos 2200", "Snapdragon 8 Gen 1"),
    "Galaxy S22 Ultra": ("Exynos 2200", "Snapdragon 8 Gen 1"),
    "Galaxy S21": ("Exynos 2100", "Snapdragon 888"),
    "Galaxy S21 Ultra": ("Exynos 2100", "Snapdragon 888"),
    "Galaxy S20": ("Exynos 990", "Snapdragon 865"),
    "Galaxy S20 Ultra": ("Exynos 990", "Snapdragon 865"),
}
"""Phones whose SoC depends on the region, each with its SoCs."""

BOARDS = (
    Board(("Android",), ANDROID, (GPU, CPU, OLDER_GPU, NNAPI)),
    *[Board((name,), ANDROID, (GPU, CPU, OLDER_GPU, NNAPI)) for name in _EXYNOS],
    Board(("iPhone", "iPad"), IPHONES, (METAL, CORE_ML, CPU)),
    Board(("i.MX 8M Plus", "i.MX8MP", "i.MX 8"), BOARD, (DelegateOnDevice("vx-nxp"), _TEFLON, CPU)),
    Board(("i.MX 93",), BOARD, (DelegateOnDevice("ethosu-imx93"), CPU), "ethos-u65-256"),
    Board(("i.MX 95",), BOARD, (DelegateOnDevice("neutron-imx95"), CPU)),
    Board(("Amlogic A311D", "A311D", "Khadas VIM3", "VIM3"), BOARD, (DelegateOnDevice("vx"), _TEFLON, CPU)),
    Board(("Coral", "Coral Dev Board", "Edge TPU"), BOARD, (DelegateOnDevice("edgetpu"), CPU)),
    Board(("RK3588", "RK3588S", "Rock 5B", "Orange Pi 5"), BOARD, (_ROCKET, CPU, _ARM_CPU)),
    Board(("Raspberry Pi", "Raspberry Pi 4", "Raspberry Pi 5", "RPi 4", "RPi 5"), BOARD, (CPU, _ARM_CPU)),
    Board(("browser", "LiteRT.js"), COMPUTERS, (WEBGPU, CPU)),
    Board(("microcontroller",), MICROCONTROLLERS, ()),
)
_STM32 = [f"stm32{letter}" for letter in "cfghlnuw"]
_MICROCONTROLLERS = (*_STM32, "esp32", "rp2040", "rp2350", "nrf5", "imxrt", "arduinonano", "raspberrypipico", "microcontroller")
"""The beginnings of the names of microcontrollers and of their boards, folded. STM32MP has an MPU with Linux."""

WITHOUT_DELEGATE = (
    "microcontrollers have no delegate: use `delegate-sim micro MODEL`, which simulates TensorFlow Lite Micro (in Python: "
    'analyze_micro; in the configuration of check: a target with kind = "micro"); other runtimes, such as '
    "X-CUBE-AI and ESP-DL, are not simulated"
)


def folded(name: str) -> str:
    """Return a name in lower case, without spaces and punctuation. A plus sign is part of a name."""
    return "".join([letter for letter in name.lower() if letter.isalnum() or letter == "+"])


def find_board(name: str) -> Board | None:
    """Return the row of a board. Case, spaces and punctuation do not matter."""
    typed = folded(name)
    if typed == "stm32" or typed.startswith(_MICROCONTROLLERS):
        typed = "microcontroller"
    return next((board for board in BOARDS if typed in map(folded, board.names)), None)


def board_hint(name: str) -> str:
    """Return the end of a message about an unknown delegate or SoC that is the name of a board, or ""."""
    board = find_board(name)
    if board is None:
        return ""
    typed = folded(name)
    delegates = [known.delegate for known in board.delegates if known != CPU]
    if not delegates:
        return f"; {WITHOUT_DELEGATE}"
    return f"; {board.names[0]} has the delegate {and_list(delegates)}: give --device {typed} or --delegate {delegates[0]}"


_MODULES = {
    "nnapi": ".nnapi.delegate",
    "gpu": ".gpu.delegate",
    "mldrift": ".mldrift.delegate",
    "vx": ".vx.delegate",
    "vx-nxp": ".vx.delegate",
    "ethosu-imx93": ".ethosu.delegate",
    "neutron-imx95": ".neutron",
    "coreml": ".coreml",
    "hexagon": ".hexagon",
    "edgetpu": ".ahead_of_time",
    "armnn": ".armnn.delegate",
    "teflon": ".teflon",
    "xnnpack": ".xnnpack.delegate",
}
_VENDORS = ".npu.vendors"

PLUGIN_NAMES = ("npu-google", "npu-intel", "npu-mediatek", "npu-samsung")
"""Compiler plugins. They change the model before the runtime loads the model (``Delegate.is_plugin``)."""
_MODULES |= dict.fromkeys(PLUGIN_NAMES, _VENDORS)

DELEGATE_NAMES = tuple(_MODULES)

CLOSED_PLUGIN_NAMES = ("npu-qualcomm",)
"""Compiler plugins that cannot be simulated, because closed-source code decides about nodes."""
VELA_NAMES = (
    *[f"ethos-u55-{macs}" for macs in (32, 64, 128, 256)],
    *[f"ethos-u65-{macs}" for macs in (256, 512)],
    *[f"ethos-u85-{macs}" for macs in (128, 256, 512, 1024, 2048)],
)
"""Configurations of Arm's Ethos-U NPUs, as Arm's compiler Vela names them. Vela decides about nodes."""
LIVE_ONLY_NAMES = (*CLOSED_PLUGIN_NAMES, *VELA_NAMES)
"""Delegates that can only be run (``Delegate.is_live_only``)."""
LIVE_NAMES = (*PLUGIN_NAMES, *LIVE_ONLY_NAMES, "mldrift", "xnnpack")
"""Delegates that can be run on a host (``Delegate.live``)."""

COMPILING_NAMES = ("vx", "vx-nxp", "ethosu-imx93", "neutron-imx95", "hexagon")
"""Delegates that compile nodes on the device (``Delegate.compiled_on_device``)."""

MICRO_NAME = "micro"
"""The name of TensorFlow Lite Micro, a runtime that is a target of its own."""
_RUNTIMES = {MICRO_NAME: "..micro.delegate"}
TARGET_NAMES = (*DELEGATE_NAMES, *_RUNTIMES)
"""Delegates and runtimes that can be simulated."""

ACCELERATORS = {"npu": "", "gpu": "mldrift", "cpu": "xnnpack"}
"""LiteRT 2's accelerators, each with its delegate, in the order of application. The NPU's delegate depends on the vendor."""

COMPUTE_UNITS = {"GPU": "gpu"}
"""The delegates that take operators of a compute unit in a profile of Qualcomm AI Hub. Other units are not simulated."""

GRAPHICS_ACCELERATOR = ACCELERATORS["gpu"]
"""The delegate of LiteRT 2's accelerator for graphics processors."""

GRAPHICS_SPEAKER = "GPU"
"""The name that delegates for graphics processors use in their own log lines."""
CPU_LIBRARY_SPEAKER, ARM_NN_TITLE = "XNNPACK", "ArmNN"
"""The names of delegates that print log lines without their names."""
EDGE_TPU = "edgetpu"
"""The name of the Edge TPU's delegate. The names of its tools and operators start with this name."""

APPLIED_AHEAD = "npu"
"""The accelerator of compiler plugins. ``DISPATCH_KERNEL`` runs the compiled parts."""

DISPATCH_KERNEL = "DispatchDelegate"
"""The kernel that runs the compiled parts (``litert/runtime/dispatch/dispatch_delegate.cc``)."""

FALLBACK_OPTION = "cpu_fallback"
"""The option that lets the CPU run the other nodes of a single delegate. A list of accelerators must contain the CPU instead."""

DEFAULT_DELEGATE = "nnapi"
"""The delegate that is used if the user names no delegate."""
APPLIED_BY_DEFAULT = "xnnpack"
"""The delegate that the runtime applies by default (``Delegate.is_applied_by_default``)."""


def plugin_of(vendor: str) -> str:
    """Return the name of a vendor's compiler plugin. Raises OptionError for an unknown vendor."""
    vendors = {name.partition("-")[2]: name for name in (*PLUGIN_NAMES, *CLOSED_PLUGIN_NAMES)}
    if vendor not in vendors:
        raise OptionError(f"there is no vendor {vendor!r} with an NPU; known vendors are {', '.join(vendors)}")
    return vendors[vendor]


def find_delegate(name: str) -> Delegate:
    """Return the delegate of this name. Raises OptionError if there is none, or if the delegate can only be run live."""
    if name in LIVE_ONLY_NAMES:
        who = "Arm's compiler Vela" if name in VELA_NAMES else "closed-source code of its vendor"
        others = "; the commands report, compare, scan and check can also run it" if name in VELA_NAMES else ""
        raise OptionError(
            f"{name} cannot be simulated, because {who} decides about every node. Run the real delegate with "
            f"`delegate-sim analyze MODEL --delegate {name} --live` (in Python: live=True){others}. `delegate-sim doctor` shows "
            "whether this host can run it"
        )
    if name in _RUNTIMES:
        return _delegate_in(_RUNTIMES[name], name)
    if name not in _MODULES:
        others = (
            board_hint(str(name)) or suggestion(str(name), DELEGATE_NAMES) or f"; the delegates are {', '.join(DELEGATE_NAMES)}"
        )
        raise OptionError(f"there is no delegate {name!r}{others}", f"there is no such delegate{others}")
    return _delegate_in(_MODULES[name], name)


def find_live(name: str) -> Delegate:
    """Return the delegate of this name, even if it can only be run live. Raises OptionError if there is none."""
    if name not in LIVE_ONLY_NAMES:
        return find_delegate(name)
    return _delegate_in(".ahead_of_time" if name in VELA_NAMES else _VENDORS, name)


def _delegate_in(module: str, name: str) -> Delegate:
    # A module has one ``DELEGATE``, or several ``DELEGATES`` by name.
    loaded = import_module(module, __package__)
    delegate: Delegate = loaded.DELEGATES[name] if hasattr(loaded, "DELEGATES") else loaded.DELEGATE
    return delegate

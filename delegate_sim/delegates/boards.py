"""Boards, computers and kinds of phones, with the delegates that exist on each. To add a board, add a row to ``BOARDS``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..foundation.printable import and_list


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
    "analyze_micro); other runtimes, such as X-CUBE-AI and ESP-DL, are not simulated"
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
    delegates = [own.delegate for own in board.delegates if own != CPU]
    if not delegates:
        return f"; {WITHOUT_DELEGATE}"
    return f"; {board.names[0]} has the delegate {and_list(delegates)}: give --device {typed} or --delegate {delegates[0]}"

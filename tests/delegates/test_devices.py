from __future__ import annotations

import pytest

from delegate_sim.delegates import devices
from delegate_sim.delegates.devices import (
    GROUPS,
    NAMES,
    ORDER,
    delegates_of_group,
    device_hint,
    device_names,
    find_device,
    group_of,
    known_names,
    recognized_soc_name,
)
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import BOARDS, DELEGATE_NAMES, GROUP_NAMES, SEVERAL_SOCS, board_hint, find_delegate
from delegate_sim.errors import OptionError

DEVICES = [
    ("pixel10", "Pixel 10", ["mldrift", "npu-google", "xnnpack", "gpu", "nnapi"], ""),
    ("Pixel 8 Pro", "Pixel 8 Pro", ["mldrift", "npu-google", "xnnpack", "gpu", "nnapi"], ""),
    ("dimensity9400", "Dimensity 9400", ["mldrift", "npu-mediatek", "xnnpack", "gpu", "nnapi"], ""),
    ("mt8171", "mt8171", ["mldrift", "npu-mediatek", "xnnpack", "gpu", "nnapi"], ""),
    ("qualcomm:SM8650", "Snapdragon 8 Gen 3", ["mldrift", "xnnpack", "gpu", "nnapi"], "npu-qualcomm"),
    ("snapdragon8+gen1", "Snapdragon 8+ Gen 1", ["mldrift", "xnnpack", "gpu", "nnapi"], "npu-qualcomm"),
    ("sdm845", "Snapdragon 845", ["mldrift", "xnnpack", "gpu", "hexagon", "nnapi"], "npu-qualcomm"),
    ("snapdragon730", "Snapdragon 730", ["mldrift", "xnnpack", "gpu", "nnapi"], "npu-qualcomm"),
    ("qcs9075", "QCS9075", ["mldrift", "xnnpack"], "npu-qualcomm"),
    ("s25", "Galaxy S25", ["mldrift", "xnnpack", "gpu", "nnapi"], "npu-qualcomm"),
    ("Samsung S25 Ultra", "Galaxy S25 Ultra", ["mldrift", "xnnpack", "gpu", "nnapi"], "npu-qualcomm"),
    ("exynos2400", "Exynos 2400", ["mldrift", "xnnpack", "gpu", "nnapi"], ""),
    ("lunar lake", "Lunar Lake", ["mldrift", "npu-intel", "xnnpack"], ""),
    ("iphone", "iPhone", ["mldrift", "coreml", "xnnpack"], ""),
    ("i.MX 8M Plus", "i.MX 8M Plus", ["vx-nxp", "teflon", "xnnpack"], ""),
    ("imx8mp", "i.MX 8M Plus", ["vx-nxp", "teflon", "xnnpack"], ""),
    ("imx93", "i.MX 93", ["ethosu-imx93", "xnnpack"], "ethos-u65-256"),
    ("imx95", "i.MX 95", ["neutron-imx95", "xnnpack"], ""),
    ("vim3", "Amlogic A311D", ["vx", "teflon", "xnnpack"], ""),
]


@pytest.mark.parametrize(("name", "title", "delegates", "not_simulated"), DEVICES)
def test_a_device_has_delegates_in_the_order_in_which_to_try_them(name, title, delegates, not_simulated):
    device = find_device(name)
    assert (device.title, [own.delegate for own in device.delegates], device.not_simulated) == (title, delegates, not_simulated)


def test_deprecated_delegates_are_last():
    for name in device_names():
        deprecated = [bool(find_delegate(own.delegate).deprecated) for own in find_device(name).delegates]
        assert deprecated == sorted(deprecated), name


def test_the_options_of_every_device_are_valid():
    rows = [own for name in device_names() for own in find_device(name).delegates]
    rows += [own for group in GROUPS.values() for own in group.delegates]
    for name, options in dict.fromkeys(rows):
        parse_options(name, find_delegate(name).options, dict(options))


def test_the_npu_of_a_phone_gets_its_soc():
    assert dict(find_device("pixel9").delegates[1].options) == {"soc": "Tensor_G4"}
    assert dict(find_device("iphone").delegates[0].options) == {"backend": "metal"}


def test_every_delegate_is_on_a_device():
    assert set(ORDER) == set(DELEGATE_NAMES)


def test_names_are_unique():
    names = device_names()
    assert len(names) == len(set(names))
    assert set(NAMES) <= set(known_names().values())


@pytest.mark.parametrize("name", ["", "pixel11", "imx8xx", "toaster", "stm32mp257"])
def test_unknown_devices(name):
    with pytest.raises(OptionError, match="there is no device"):
        find_device(name)


def test_a_galaxy_phone_is_known_by_its_short_name():
    with pytest.raises(OptionError, match="name exynos2400 or snapdragon8gen3"):
        find_device("s24")


@pytest.mark.parametrize("name", SEVERAL_SOCS)
def test_a_phone_with_several_socs_names_known_devices(name):
    assert all(find_device(soc).delegates for soc in SEVERAL_SOCS[name])
    for find in (find_device, recognized_soc_name):
        with pytest.raises(OptionError, match="one of two SoCs"):
            find(name)


@pytest.mark.parametrize("name", ["microcontroller", "stm32", "STM32H747I-DISCO", "stm32n6", "ESP32-S3", "rp2040", "i.MX RT1170"])
def test_microcontrollers_are_no_device_with_delegates(name):
    assert find_device(name).delegates == ()
    assert "microcontroller" not in device_names()
    assert "delegate-sim micro" in board_hint(name)


def test_kinds_of_devices():
    assert set(GROUP_NAMES) == {"phones", *GROUPS}
    phones = [own.delegate for own in delegates_of_group("phones")]
    assert (phones[0], phones.count("mldrift"), "coreml" in phones, "vx" in phones) == ("mldrift", 2, True, False)
    assert [own.delegate for own in delegates_of_group("boards")][-1] == "xnnpack"
    assert delegates_of_group("microcontrollers") == ()
    assert {board.group for board in BOARDS} <= set(GROUPS)


@pytest.mark.parametrize(
    ("delegate", "group"),
    [("nnapi", "android-phones"), ("coreml", "iphones"), ("vx-nxp", "boards"), ("mldrift", ""), ("xnnpack", ""), ("x", "")],
)
def test_the_kind_of_devices_of_a_delegate(delegate, group):
    assert group_of(delegate) == group


def test_a_device_in_place_of_a_delegate_names_the_delegate():
    assert "--device imx8mp or --delegate vx-nxp" in board_hint("imx8mp") == device_hint("imx8mp")
    assert "--device pixel10" in device_hint("pixel10")
    assert (board_hint("pixel10"), device_hint("nnapi")) == ("", "")
    with pytest.raises(OptionError, match="--delegate vx-nxp"):
        find_delegate("imx8mp")


def test_only_delegates_of_boards_stand_below_boards_on_a_card() -> None:
    others = ["vx-nxp", "ethosu-imx93"]
    assert devices.card_group("mldrift", [*others, "mldrift"]) == "Phones"
    assert devices.card_group("xnnpack", [*others, "xnnpack"]) == "Boards"

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.runtime.device_targets import delegates_of_devices, targets_on


def test_devices_and_kinds_of_devices_are_joined_without_duplicates():
    found = delegates_of_devices(("imx93", "imx95"), ("iphones",))
    assert [own.delegate for own in found] == ["ethosu-imx93", "xnnpack", "neutron-imx95", "mldrift", "coreml"]


@pytest.mark.parametrize(
    ("devices", "groups"), [((), ("microcontrollers",)), (("stm32", "imx93"), ()), (("rp2040",), ("boards",))]
)
def test_microcontrollers_have_no_delegate(devices, groups):
    with pytest.raises(OptionError, match="delegate-sim micro"):
        delegates_of_devices(devices, groups)


def test_targets_have_the_options_of_the_device():
    release = parse_release("litert-2.2")
    npu = targets_on(delegates_of_devices(("pixel10",)), release, "api")[1]
    assert (npu.delegate.name, npu.options["soc"], npu.release, npu.defaults) == ("npu-google", "Tensor_G5", release, "api")

"""Options of the NNAPI delegate, and the resulting feature levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...nnapi_runtime.types import API_LEVELS
from ..options import Option, OptionValues, boolean, integer, names, text
from .android.runtime import NEWEST_RUNTIME, RUNTIMES, android_of, highest_level_of, runtime_level, runtime_name
from .target import FEATURE_LEVEL_5, FEATURE_LEVEL_8, FEATURE_LEVELS, LEVELS_BY_NAME, NNAPI_1_2, REFERENCE_DEVICE

if TYPE_CHECKING:
    from ..driver import Driver
    from .android.device_profile import DevicesProfile, ProfiledDevice


def feature_level(value: Any) -> int:
    """Parse a feature level, given as NNAPI's number or as a name.

    NNAPI's numbers up to 31 are Android's API levels. Higher API levels are an error, because NNAPI has its own numbers for later
    feature levels.
    """
    level = LEVELS_BY_NAME.get(str(value).strip())
    if level is None:
        try:
            level = integer(value)
        except ValueError:
            level = 0
        if level in _LATER_API_LEVELS:
            android = _LATER_API_LEVELS[level]
            raise InvalidValueError(
                f"{level} is the API level of Android {android}, not a feature level; use --android {android} instead"
            )
    if isinstance(value, bool) or level not in FEATURE_LEVELS:
        known = ", ".join(map(str, FEATURE_LEVELS))
        raise InvalidValueError(f"takes one of {known}, or {', '.join(LEVELS_BY_NAME)}", value)
    return level


def _preference(value: Any) -> str | None:
    name = text(value)
    if name in (None, "undefined"):
        return None
    if name not in PREFERENCES:
        raise InvalidValueError(f"takes one of {', '.join(PREFERENCES)} or undefined", value)
    return name


def _devices(value: Any) -> DevicesProfile | None:
    if value is None or value == "":
        return None
    from .android.device_profile import devices_profile  # most runs name no profile

    return devices_profile(value)


def _driver(value: Any) -> Driver | None:
    if value is None or value == "":
        return None
    from ..driver_profile import driver  # most runs name no profile

    return driver(value)


def _above_runtime(values: OptionValues) -> str:
    """Return an error message if the simulated Android release lacks the feature level; otherwise "".

    The newest feature level is the default and is always accepted.
    """
    name, level = values["nnapi_runtime"], values["feature_level"]
    highest = highest_level_of(name)
    if highest is None or level <= highest or level == FEATURE_LEVEL_8:
        return ""
    return f"Android {name} has at most feature level {highest}, not {level}; give only --android or only --feature-level"


def _without_runtime(values: OptionValues) -> str:
    if values["devices"] is None or android_of(values) is not None:
        return ""
    return "a profile of devices needs a simulated NNAPI runtime; set --android to 10 or later"


_LATER_API_LEVELS = {32: "12", 33: "13", 34: "14", 35: "15", 36: "16"}
"""The Android release of each API level that is not a feature level of NNAPI."""

PREFERENCES = ("low_power", "fast_single_answer", "sustained_speed")
_LEVELS = tuple(map(str, FEATURE_LEVELS))

OPTIONS = (
    Option(
        "feature_level",
        feature_level,
        FEATURE_LEVEL_8,
        "feature level of the NNAPI runtime (27 to 31, 1000006 to 1000008), or the version of NNAPI (1.0 to 1.3, 5 to 8); not "
        "above the highest level of the Android release",
        flag="feature-level",
        choices=_LEVELS,
        conflict=_above_runtime,
    ),
    Option(
        "nnapi_runtime",
        runtime_name,
        NEWEST_RUNTIME,
        "the Android release (8.1 to 16), or none; sets NNAPI's feature level and the simulated NNAPI runtime. For releases "
        "before Android 10, and for none, only the delegate is simulated. The runtimes of Android 14 to 16 are assumed to "
        "equal the runtime of Android 13",
        flag="android",
        other_flags=("nnapi-runtime",),
        choices=RUNTIMES,
    ),
    Option(
        "device_feature_level",
        lambda value: None if value is None else feature_level(value),
        None,
        "feature level of the accelerator, if it is lower than the feature level of the NNAPI runtime",
        flag="device-feature-level",
        choices=_LEVELS,
    ),
    Option(
        "accelerator_name",
        text,
        None,
        "name of the accelerator to use; nnapi-reference is NNAPI's own CPU",
        flag="nnapi_accelerator_name",
        printed=("nnapi accelerator name",),
    ),
    Option(
        "disallow_nnapi_cpu",
        boolean,
        True,
        "do not use NNAPI's own CPU implementation",
        flag="disable_nnapi_cpu",
        printed=("disable nnapi cpu", "disallow nnapi cpu"),
    ),
    Option(
        "max_number_delegated_partitions",
        integer,
        3,
        "the maximum number of partitions to delegate, largest first; 0 or less means no limit",
        benchmark_default=0,
        has_benchmark_default=True,
        flag="max_delegated_partitions",
        printed=("max number of delegated partitions",),
    ),
    Option(
        "allow_dynamic_dimensions",
        boolean,
        False,
        "accept graphs with dynamic dimensions, and use the shapes in the file",
        flag="nnapi_allow_dynamic_dimensions",
        printed=("allow dynamic dimensions in nnapi",),
    ),
    Option(
        "allow_fp16",
        boolean,
        False,
        "compute float32 in float16",
        changes_verdicts=False,
        flag="nnapi_allow_fp16",
        printed=("allow fp16 in nnapi",),
    ),
    Option(
        "execution_preference",
        _preference,
        None,
        "NNAPI's preference when it chooses devices: low_power, fast_single_answer or sustained_speed",
        flag="nnapi_execution_preference",
        choices=PREFERENCES,
        printed=("nnapi execution preference",),
    ),
    Option(
        "devices",
        _devices,
        None,
        "a file with a profile of the phone's NNAPI devices: the supported operations of each device, their costs, and the "
        "operations that the device cannot compile",
        flag="devices",
        is_path=True,
        conflict=_without_runtime,
    ),
    Option("driver_rejects", names, (), "NNAPI operations that the accelerator's driver rejects", flag="driver-rejects"),
    Option(
        "driver",
        _driver,
        None,
        "a file with a profile of the accelerator's driver; 'delegate-sim reconcile --learn' writes such a file",
        flag="driver",
        is_path=True,
    ),
)


def uses_target_devices(options: OptionValues) -> bool:
    """Return whether the options limit NNAPI to target devices (``ShouldUseTargetDevices``).

    The options limit NNAPI if they name an accelerator or, from NNAPI 1.2 on, if they turn off NNAPI's CPU.
    """
    return options["accelerator_name"] is not None or (options["disallow_nnapi_cpu"] and runtime_level(options) >= NNAPI_1_2)


def is_accelerator_specified(options: OptionValues) -> bool:
    """Return whether the options limit NNAPI to target devices that are not NNAPI's own CPU."""
    return options["accelerator_name"] != REFERENCE_DEVICE and uses_target_devices(options)


def device_level(options: OptionValues) -> int:
    """Return the runtime's feature level or the target devices' feature level, whichever is lower (``GetTargetFeatureLevel``)."""
    level = runtime_level(options)
    if options["accelerator_name"] == REFERENCE_DEVICE:
        return level
    device: int | None = options["device_feature_level"]
    described = chosen_devices(options)
    if described:
        device = max([API_LEVELS[profile.feature_level] for profile in described])
    return level if device is None else min(level, device)


def chosen_devices(options: OptionValues) -> tuple[ProfiledDevice, ...] | None:
    """Return the target devices in the profile, or None if there is no profile.

    If the options name an accelerator, only this device is a target device. Otherwise, all devices are target devices.
    """
    profile: DevicesProfile | None = options["devices"]
    if profile is None:
        return None
    name = options["accelerator_name"]
    return tuple([device for device in profile.devices if name in (None, device.name)])


def validation_level(options: OptionValues) -> int:
    """Return the feature level that the rules use to validate nodes.

    Without target devices, the delegate uses the runtime's level, but at most NNAPI feature level 5.
    """
    if runtime_level(options) >= NNAPI_1_2 and uses_target_devices(options):
        return device_level(options)
    return min(runtime_level(options), FEATURE_LEVEL_5)


def mapping_level(options: OptionValues) -> int:
    """Return the feature level for which nodes are lowered."""
    if runtime_level(options) >= NNAPI_1_2 and uses_target_devices(options):
        return device_level(options)
    return runtime_level(options)


def asks_driver(options: OptionValues) -> bool:
    """Return whether the delegate asks the driver about operations.

    The delegate asks the driver if an accelerator is specified and NNAPI is 1.2 or newer.
    """
    return is_accelerator_specified(options) and runtime_level(options) >= NNAPI_1_2

"""Options of the NNAPI delegate, the simulated NNAPI runtime, and the resulting feature levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...nnapi_runtime.types import API_LEVELS, MAX_FEATURE_LEVEL, AndroidRelease
from ..options import Option, OptionValues, boolean, integer, names, text
from .target import FEATURE_LEVEL_5, FEATURE_LEVEL_8, FEATURE_LEVELS, LEVELS_BY_NAME, NNAPI_1_2, REFERENCE_DEVICE

if TYPE_CHECKING:
    from ..driver import Driver
    from .device_profile import DevicesProfile, ProfiledDevice


NO_RUNTIME = "none"
"""The value of the option ``nnapi_runtime`` that turns off the runtime. With this value, every call to NNAPI succeeds."""
SIMULATED_RUNTIMES = tuple([str(int(release)) for release in AndroidRelease])
NEWEST_RUNTIME = SIMULATED_RUNTIMES[-1]
_DELEGATE_ALONE = {"8.1": 1, "9": 2}
"""The feature level of each Android release that has no simulated runtime."""
_ASSUMED = ("14", "15", "16")
"""Later Android releases. Their runtimes are assumed to have the rules of ``NEWEST_RUNTIME``."""
OTHER_RUNTIMES = (*_DELEGATE_ALONE, *_ASSUMED)
ANDROID_RELEASES = (*_DELEGATE_ALONE, *SIMULATED_RUNTIMES, *_ASSUMED)
"""All Android releases that the options accept, oldest first."""
RUNTIMES = (NO_RUNTIME, *ANDROID_RELEASES)


def runtime_name(value: Any) -> str:
    """Parse the name of a runtime: an Android release, or "none"."""
    name = NO_RUNTIME if value is None else str(value).strip().lower()
    if isinstance(value, bool) or name not in RUNTIMES:
        raise InvalidValueError(f"takes one of {', '.join(RUNTIMES)}", value)
    return name


def android_of(options: OptionValues) -> AndroidRelease | None:
    """Return the Android release of the simulated runtime, or None if no runtime is simulated."""
    name = options["nnapi_runtime"]
    if name == NO_RUNTIME or name in _DELEGATE_ALONE:
        return None
    return AndroidRelease(int(NEWEST_RUNTIME if name in _ASSUMED else name))


def runtime_level(options: OptionValues) -> int:
    """Return the runtime's feature level: the lower of the level in the options and the Android release's highest level."""
    level: int = options["feature_level"]
    highest = highest_level_of(options["nnapi_runtime"])
    return level if highest is None else min(level, highest)


def highest_level_of(name: str) -> int | None:
    """Return NNAPI's number for the highest feature level of a named runtime, or None for ``NO_RUNTIME``."""
    if name in _DELEGATE_ALONE:
        return API_LEVELS[_DELEGATE_ALONE[name]]
    android = android_of({"nnapi_runtime": name})
    return None if android is None else highest_level(android)


def highest_level(android: AndroidRelease) -> int:
    """Return NNAPI's number for the feature level of the runtime that shipped with an Android release."""
    return API_LEVELS[MAX_FEATURE_LEVEL[android]]


def notes(options: OptionValues) -> Iterator[str]:
    """Yield notes about parts of Android's runtime that are not simulated or not verified."""
    name = options["nnapi_runtime"]
    if name in _DELEGATE_ALONE:
        yield f"Android {name}'s NNAPI runtime is not simulated; only the delegate is simulated"
    elif name in _ASSUMED:
        yield f"Android {name}'s NNAPI runtime is assumed to have the rules of Android {NEWEST_RUNTIME}'s NNAPI runtime"
    match android_of(options):
        case AndroidRelease.ANDROID_10 | AndroidRelease.ANDROID_11 as android:
            known = f"for Android {int(android)}'s NNAPI runtime, only the validation of operations was verified in real runs"
            yield f"{known}; the rules for whole models and for their division among devices come from the source code"
        case AndroidRelease.ANDROID_12:
            yield "the rules of Android 12's NNAPI runtime come from its source code and were not verified in real runs"


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
    from .device_profile import devices_profile  # most runs name no profile

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
    has_devices = runtime_level(options) >= NNAPI_1_2 and uses_target_devices(options)
    return device_level(options) if has_devices else min(runtime_level(options), FEATURE_LEVEL_5)


def mapping_level(options: OptionValues) -> int:
    """Return the feature level for which nodes are lowered."""
    has_devices = runtime_level(options) >= NNAPI_1_2 and uses_target_devices(options)
    return device_level(options) if has_devices else runtime_level(options)


def asks_driver(options: OptionValues) -> bool:
    """Return whether the delegate asks the driver about operations.

    The delegate asks the driver if an accelerator is specified and NNAPI is 1.2 or newer.
    """
    return is_accelerator_specified(options) and runtime_level(options) >= NNAPI_1_2

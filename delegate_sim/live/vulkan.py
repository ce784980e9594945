"""Find the Vulkan driver for a process. A software renderer is enough.

The Vulkan loader searches for drivers in system folders. If the system lacks a loader or a driver, use the loader and the
SwiftShader driver of an installed Chromium.
"""

from __future__ import annotations

import ctypes.util
import os
from collections.abc import Mapping
from pathlib import Path

INSTALL = "a Vulkan driver: apt install chromium-common, which includes SwiftShader"
_NAMED_BY = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
_DRIVER_FOLDERS = ("/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d")
_BROWSER_FOLDERS = (
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
    "/usr/lib64/chromium-browser",
    "/opt/google/chrome",
    "/opt/chromium.org/chromium",
)
_LOADER, _SWIFTSHADER = "libvulkan.so.1", "vk_swiftshader_icd.json"


def driver_environment() -> Mapping[str, str] | None:
    """Return the environment variables that a process needs to find a Vulkan driver, or None if there is no driver."""
    has_loader = ctypes.util.find_library("vulkan") is not None
    if has_loader and (
        any(os.environ.get(name) for name in _NAMED_BY) or any(_has_drivers(folder) for folder in _DRIVER_FOLDERS)
    ):
        return {}
    for folder in map(Path, _BROWSER_FOLDERS):
        if (folder / _LOADER).is_file() and (folder / _SWIFTSHADER).is_file():
            return {"LD_LIBRARY_PATH": str(folder), "VK_ICD_FILENAMES": str(folder / _SWIFTSHADER)}
    return None


def with_driver(driver: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of this process with the variables of a driver. The driver's library folders come first."""
    further = dict(driver or {})
    library_path = os.environ.get("LD_LIBRARY_PATH")
    if library_path and "LD_LIBRARY_PATH" in further:
        further["LD_LIBRARY_PATH"] += os.pathsep + library_path
    return {**os.environ, **further}


def _has_drivers(folder: str) -> bool:
    """Return whether a folder has description files of drivers."""
    return any(Path(folder).glob("*.json"))

"""The delegates by name. A delegate's package is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from ..errors import OptionError
from .base import Delegate

_PACKAGES = {
    "nnapi": ".nnapi.delegate",
    "gpu": ".gpu.delegate",
    "mldrift": ".mldrift.delegate",
    "vx": ".vx.delegate",
    "vx-nxp": ".vx.nxp",
    "coreml": ".coreml.delegate",
    "hexagon": ".hexagon.delegate",
    "xnnpack": ".xnnpack.delegate",
}

DELEGATE_NAMES = tuple(_PACKAGES)

DEFAULT_DELEGATE = "nnapi"
"""The delegate that is meant where none is named."""

APPLIED_BY_DEFAULT = "xnnpack"
"""The delegate that the runtime applies by itself (``Delegate.is_applied_by_default``), known without importing any."""


def find_delegate(name: str) -> Delegate:
    """Return the delegate of this name; raises OptionError naming the known ones."""
    if name not in _PACKAGES:
        raise OptionError(f"there is no delegate {name!r}; known are {', '.join(DELEGATE_NAMES)}")
    delegate: Delegate = import_module(_PACKAGES[name], __package__).DELEGATE
    return delegate

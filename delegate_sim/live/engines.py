"""Engines for the delegates with real code that can run on this host.

LiteRT's wheel contains most of this code. Some delegates need a library from the vendor. delegate-sim neither includes nor
downloads the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..delegates.base import Delegate
from ..delegates.registry import LIVE_NAMES, find_live
from ..delegates.traits import AcceleratorTraits, PluginTraits, VelaTraits
from ..foundation.packages import Runtime
from .accelerator_engine import AcceleratorEngine
from .engine import Engine, NoEngine
from .plugin_engine import PluginEngine
from .runtime_engine import RuntimeEngine
from .vela.engine import VelaEngine


def find_engine(delegate: Delegate, runtime: Runtime | None = None, sdks: Sequence[str] = ()) -> Engine:
    """Return a delegate's engine. The engine's ``lacks`` names the requirements that are missing on this host.

    ``runtime`` is LiteRT as another Python has it, for engines of plugins and accelerators. ``sdks`` are the folders of vendors'
    SDKs. A vendor's missing library is detected only when the engine runs.
    """
    traits = delegate.live
    if traits is None:
        return NoEngine(delegate, "an engine for this platform")
    if isinstance(traits, AcceleratorTraits):
        return AcceleratorEngine(delegate, traits, runtime)
    if isinstance(traits, VelaTraits):
        return VelaEngine(delegate, traits)
    return PluginEngine(delegate, traits, runtime, sdks) if isinstance(traits, PluginTraits) else RuntimeEngine(delegate)


def engines(sdks: Sequence[str] = ()) -> Iterator[Engine]:
    """Yield all engines. ``sdks`` are the folders of vendors' SDKs."""
    for name in LIVE_NAMES:
        yield find_engine(find_live(name), sdks=sdks)

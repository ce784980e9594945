"""Samsung's compiler plugin (``litert/vendors/samsung``), which selects every node and compiles all of them or fails."""

from __future__ import annotations

from collections.abc import Iterator

from ...releases.catalogue import Release
from ..base import OptionValues
from ..live_traits import PluginTraits
from .plugin import COMMON_OPTIONS, NpuPlugin, soc_option
from .rules import BOOKS

SOCS = ("E9965", "E9955")


class SamsungPlugin(NpuPlugin):
    """The plugin as LiteRT meets it."""

    name = "npu-samsung"
    vendor = "samsung"
    rules = BOOKS["samsung"]
    live = PluginTraits(
        "Samsung",
        "samsung",
        needs="a build of the plugin that loads: that of ai-edge-litert 2.3.0 lacks a symbol, which Samsung's SDK may have",
    )
    socs = SOCS
    options = (soc_option("E9965", SOCS, "not looked at before the compiler is run"), *COMMON_OPTIONS)
    known_since = "litert-2.1.5"

    def warnings(self, options: OptionValues, release: Release) -> Iterator[str]:
        """Say what selecting everything means."""
        yield (
            "the plugin selects every node: whether the compiler takes them shows only when it is run, and one that it does not "
            "take fails the whole model"
        )


DELEGATE = SamsungPlugin()

"""Samsung's compiler plugin (``litert/vendors/samsung``), which selects every node, and fails if it cannot compile all nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ....releases.catalogue import Release
from ...live_traits import PluginTraits
from ...options import OptionValues
from ...traits import ReleaseHistory
from ..plugin import COMMON_OPTIONS, NpuPlugin, log_traits, soc_option
from ..rules import BOOKS

SOCS = ("E9965", "E9955")


class SamsungPlugin(NpuPlugin):
    """Samsung's plugin (see ``NpuPlugin``)."""

    name = "npu-samsung"
    vendor = "samsung"
    log = log_traits("samsung")
    rules = BOOKS["samsung"]
    live = PluginTraits(
        "Samsung",
        "samsung",
        (("ai_edge_litert_sdk_samsung", "data/lib/x86_64-linux"),),
        "a build of the plugin that can be loaded (the one in ai-edge-litert 2.3.0 lacks a symbol of flatbuffers), and "
        "libgraph_wrapper.so of Samsung's Exynos AI LiteCore: pip install ai-edge-litert-sdk-samsung, or LD_LIBRARY_PATH",
    )
    socs = SOCS
    options = (soc_option("E9965", SOCS, "has no effect before the compiler runs"), *COMMON_OPTIONS)
    history = ReleaseHistory("litert-2.1.5", starts_at_known=True)

    def warnings(self, options: OptionValues, release: Release) -> Iterator[str]:
        """Yield a warning that selecting every node can fail the whole model."""
        yield (
            "the plugin selects every node, but only a run of the compiler shows whether it compiles them all; a node that "
            "it does not compile makes the whole model fail"
        )


DELEGATE = SamsungPlugin()

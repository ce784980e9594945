"""Samsung's compiler plugin (``litert/vendors/samsung``). It selects every node, even one that its compiler cannot compile."""

from __future__ import annotations

from collections.abc import Iterator

from ....releases.catalogue import Release
from ...options import OptionValues
from ...traits import PluginTraits, ReleaseHistory
from ..kinds import SAMSUNG_REMEDIES
from ..plugin import COMMON_OPTIONS, NpuPlugin, log_traits, soc_option
from ..rules import BOOKS
from ..soc_names import SOCS

_SOCS = tuple(SOCS["samsung"])


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
        "libgraph_wrapper.so of Samsung's Exynos AI LiteCore (pip install ai-edge-litert-sdk-samsung, or LD_LIBRARY_PATH), and a "
        "working build of the plugin, because the plugin in ai-edge-litert 2.3.0 cannot be loaded",
        opened=("libgraph_wrapper.so", "libgraphgen_api.so"),
        variable=("EXYNOS_AI_LITECORE_ROOT", "lib/x86_64-linux"),
        compiled_line="Compile output: ",
    )
    remedies_if_not_compiled = SAMSUNG_REMEDIES
    socs = _SOCS
    options = (soc_option("E9965", _SOCS, "has no effect before the compiler runs"), *COMMON_OPTIONS)
    history = ReleaseHistory("litert-2.1.5", starts_at_known=True)

    def warnings(self, options: OptionValues, release: Release) -> Iterator[str]:
        """Yield a warning that nothing runs on the NPU if one node cannot be compiled."""
        yield (
            "the plugin selects every node, but nothing runs on the NPU if the compiler cannot compile one of the nodes. Only "
            "a run of the compiler shows which nodes it can compile"
        )


DELEGATE = SamsungPlugin()

"""The TIM-VX delegate's handling of a subgraph (``PrepareDelegate``, ``delegate_main.cc`` of VeriSilicon/tflite-vx-delegate).

The delegate takes every supported node, also accepts graphs with dynamic tensors, and does not limit partitions. The delegate's
kernels never fail to initialize or prepare, because they build their network only when they are first invoked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...graph.graph import Graph
from ...releases.catalogue import NEWEST, Release
from ..base import Delegate
from ..decision import Decision, take_supported
from ..options import Option, OptionValues, boolean, integer, text
from ..traits import LogTraits
from .rules import RULES
from .run_warnings import cache_warnings, dynamic_warning, option_warnings
from .target import VxTarget

OPTIONS = (
    Option("allowed_builtin_code", integer, 0, "meant for the builtin code of the operators to delegate; has no effect"),
    Option("allowed_cache_mode", boolean, False, "keep the compiled network in a file; changes no verdict"),
    Option("cache_file_path", text, None, "the file for allowed_cache_mode; changes no verdict"),
    Option("device_id", integer, 0, "the NPU to use, in builds for several devices; changes no verdict"),
    Option("error_during_init", boolean, False, "meant to let the initialization of kernels fail; has no effect"),
    Option("error_during_prepare", boolean, False, "meant to let the preparation of kernels fail; has no effect"),
    Option("error_during_invoke", boolean, False, "meant to let the invocation of kernels fail; has no effect"),
)
"""The options that ``CreateVxDelegateFromOptions`` parses (``vx_delegate_adaptor.cc``)."""


class VxDelegate(Delegate):
    """VeriSilicon's delegate (see ``delegates.base.Delegate``)."""

    name = "vx"
    kernel_name = "Vx Delegate"
    provider_name = "EXTERNAL"
    title = "The VX delegate"
    options: tuple[Option, ...] = OPTIONS
    rules = RULES
    log = LogTraits(switch="external delegate path", libraries=("vx_delegate", "vx-delegate", "vxdelegate"))

    def allows_dynamic_tensors(self, options: OptionValues) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes."""
        decision = take_supported(graph, self.rules_for(options), VxTarget(release))
        warnings = tuple(cache_warnings(decision, options))
        if graph.index == 0:
            warnings = (*option_warnings(self.options, options), *warnings)
        return replace(decision, warnings=warnings)

    def run_warnings(self, decision: Decision, prepared: Callable[[], Graph]) -> Sequence[str]:
        """Return a warning about a tensor with a size that is known only at run time."""
        dynamic = prepared().dynamic if decision.nodes else None
        return () if dynamic is None else (dynamic_warning(decision.graph, dynamic, decision.nodes),)


DELEGATE = VxDelegate()

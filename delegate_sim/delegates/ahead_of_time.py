"""Delegates whose nodes a compiler makes ahead of time: libedgetpu's for the Edge TPU, and Arm's compiler Vela for Ethos-U NPUs.

The Edge TPU's delegate replaces its nodes one by one, so the runtime prints one line for each node. When a kernel is prepared,
libedgetpu checks the runtime's version, and the types and sizes in the compiled program. These checks are not simulated, because
the format of compiled programs is not public. Source: ``PrepareImpl`` (``tflite/edgetpu_delegate_for_custom_op.cc``) of
google-coral/libedgetpu.

Vela has one delegate for each configuration of an NPU (``vela --accelerator-config``). Vela's checks depend on its scheduler and
version. Therefore, Vela is not simulated but run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..foundation.parsing.invalid_value import InvalidValueError
from ..graph.calls import partition_in_calls
from ..graph.graph import Graph
from ..model.precompiled import EDGE_TPU
from ..releases.catalogue import NEWEST, Release
from ..rules.book import RuleBook, Unknown
from ..rules.kinds import Explanation, kinds_in
from ..rules.rule import OpRule, Repository, Source
from .base import Delegate
from .decision import Decision, ReleaseOnly, take_supported
from .options import Option, OptionValues, integer, text
from .registry import VELA_NAMES
from .traits import LogTraits, VelaTraits

_LIBEDGETPU = Repository("google-coral/libedgetpu", "e35aed18fea2e2d25d98352e5a5bd357c170bd4d")
_SOURCE = Source(_LIBEDGETPU, "tflite/edgetpu_delegate_for_custom_op.cc", "PrepareImpl")

_COMPILER = "edgetpu_compiler"

_UNCOMPILED = kinds_in("delegates", "edgetpu")["unsupported-operator"]
_UNKNOWN = Unknown(f"{EDGE_TPU}, which {_COMPILER} makes", _UNCOMPILED.hint, kind=_UNCOMPILED)

_RULES: RuleBook[ReleaseOnly] = RuleBook(
    "edgetpu",
    families=(),
    kinds=(_UNCOMPILED,),
    source=_SOURCE,
    unknown=_UNKNOWN,
    custom={EDGE_TPU: OpRule((), source=(_SOURCE,))},
    reads_operands=False,
)

_OPTIONS = (
    Option("device", text, None, "the device: usb or pci, optionally with a number, as in usb:0", changes_verdicts=False),
)
"""The option that ``tflite_plugin_create_delegate`` reads (``tflite/edgetpu_delegate_for_custom_op_tflite_plugin.cc``)."""


class EdgeTpuDelegate(Delegate):
    """The ``edgetpu`` delegate (see ``delegates.base.Delegate``)."""

    name = "edgetpu"
    kernel_name = "EdgeTpuDelegateForCustomOp"
    provider_name = "EXTERNAL"
    title = "Edge TPU's delegate"
    has_article = True
    summary = (
        "The external delegate of libedgetpu, for Coral's Edge TPU. The delegate takes only programs that edgetpu_compiler "
        "made. The compiler is not simulated, but delegate-sim reconcile --log reads the compiler's table of operators."
    )
    options = _OPTIONS
    rules = _RULES
    computes_integers = True
    compiler = _COMPILER
    log = LogTraits(switch="external delegate path", libraries=("edgetpu",))

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Replace the custom nodes of the Edge TPU's compiler, one after another."""
        target = ReleaseOnly(release)
        decision = take_supported(graph, _RULES, target)
        if not decision.nodes:
            return decision
        calls = partition_in_calls(graph, [[index] for index in decision.nodes], self.kernel_name)
        return replace(decision, preview=calls.subsets, subsets=calls.subsets, calls=calls.calls)


_KINDS = kinds_in("delegates", "vela", is_shared=True)
CONSTRAINT = _KINDS["vela-constraint"]
UNEXPLAINED = _KINDS["vela-unexplained"]
NOT_COMPILED = _KINDS["vela-not-compiled"]
KINDS = tuple(_KINDS.values())
EXPLAINED: Mapping[str, Explanation] = {kind.name: kind.explanation for kind in KINDS}
"""The explanations of all codes."""


_STRATEGIES = ("Performance", "Size")


def _strategy(value: Any) -> str:
    if value not in _STRATEGIES:
        raise InvalidValueError(f"takes {' or '.join(_STRATEGIES)}", value)
    return str(value)


def _size(value: Any) -> int:
    number = integer(value)
    if number < 0:
        raise InvalidValueError("takes a number of bytes", value)
    return number


OPTIONS = (
    Option("system_config", text, None, "a system configuration in vela.ini; by default, Vela's choice for the NPU"),
    Option("memory_mode", text, None, "a memory mode in vela.ini; by default, Vela's choice for the NPU"),
    Option(
        "optimise",
        _strategy,
        _STRATEGIES[0],
        "what Vela optimizes for: Performance, or Size for less memory",
        choices=_STRATEGIES,
    ),
    Option("arena_cache_size", _size, 0, "the memory in bytes that Vela may use for the arena cache; 0 is Vela's default"),
)
"""Vela's options that change the result. The names of the options are Vela's names."""


class VelaCompiler(Delegate):
    """Vela for one configuration of an Ethos-U NPU."""

    live: VelaTraits
    kernel_name = "ethos-u"
    provider_name = "NPU"
    is_live_only = True
    summary = "Arm's Ethos-U NPUs. Arm's compiler Vela compiles the model ahead of time. Vela can only be run (--live)."
    options = OPTIONS
    counts_cpu_partitions = False
    rules: RuleBook[Any] = RuleBook("vela", (), KINDS, Source(Repository("Arm/ethos-u-vela", ""), "", ""), Unknown(""))
    computes_integers = True
    has_default_sets = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.title = f"Vela for {name}"
        self.live = VelaTraits(name)

    @property
    def software(self) -> str:
        """The name and the installed version of Vela."""
        return self.live.software


DELEGATES: Mapping[str, Delegate] = {"edgetpu": EdgeTpuDelegate(), **{name: VelaCompiler(name) for name in VELA_NAMES}}

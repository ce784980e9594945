"""The Edge TPU delegate: its one rule, and its handling of a subgraph.

The delegate replaces its nodes one by one, so the runtime prints one line for each node. When a kernel is prepared, libedgetpu
checks the runtime's version, and the types and sizes in the compiled program. These checks are not simulated, because the
format of compiled programs is not public.

Source: ``PrepareImpl`` (``tflite/edgetpu_delegate_for_custom_op.cc``) of google-coral/libedgetpu.
"""

from __future__ import annotations

from dataclasses import replace

from ..graph.calls import partition_in_calls
from ..graph.graph import Graph
from ..model.precompiled import EDGE_TPU
from ..releases.catalogue import NEWEST, Release
from ..rules.book import RuleBook, Unknown
from ..rules.kinds import kinds_in
from ..rules.rule import OpRule, Repository, Source
from .base import Delegate
from .decision import Decision, ReleaseOnly, take_supported
from .options import Option, OptionValues, text
from .traits import LogTraits

_LIBEDGETPU = Repository("google-coral/libedgetpu", "e35aed18fea2e2d25d98352e5a5bd357c170bd4d")
SOURCE = Source(_LIBEDGETPU, "tflite/edgetpu_delegate_for_custom_op.cc", "PrepareImpl")

COMPILER = "edgetpu_compiler"

NOT_COMPILED = kinds_in("delegates", "edgetpu")["unsupported-operator"]
_UNKNOWN = Unknown(f"{EDGE_TPU}, which {COMPILER} makes", NOT_COMPILED.hint, kind=NOT_COMPILED)

RULES: RuleBook[ReleaseOnly] = RuleBook(
    "edgetpu",
    families=(),
    kinds=(NOT_COMPILED,),
    source=SOURCE,
    unknown=_UNKNOWN,
    custom={EDGE_TPU: OpRule((), source=(SOURCE,))},
    reads_operands=False,
)

OPTIONS = (Option("device", text, None, "the device: usb or pci, optionally with a number, as in usb:0", changes_verdicts=False),)
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
    options = OPTIONS
    rules = RULES
    computes_integers = True
    compiler = COMPILER
    log = LogTraits(switch="external delegate path", libraries=("edgetpu",))

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Replace the custom nodes of the Edge TPU's compiler, one after another."""
        target = ReleaseOnly(release)
        decision = take_supported(graph, RULES, target)
        if not decision.nodes:
            return decision
        calls = partition_in_calls(graph, [[index] for index in decision.nodes], self.kernel_name)
        return replace(decision, preview=calls.subsets, subsets=calls.subsets, calls=calls.calls)


DELEGATE = EdgeTpuDelegate()

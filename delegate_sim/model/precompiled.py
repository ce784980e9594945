"""Models that were compiled ahead of time.

A compiler replaces nodes with a custom operator that contains a program for an accelerator. Each accelerator has its own
operator.

Source: ``litert/core/build_stamp.h`` and ``litert/core/dispatch_op_schema.h`` of LiteRT; ``kCustomOp``
(``tflite/public/edgetpu.h``) of google-coral/libedgetpu; ``NBGOpMap`` of VeriSilicon/tflite-vx-delegate;
``IsNodeSupportedByDelegate`` of nxp-imx/tflite-ethosu-delegate-imx and nxp-imx/tflite-neutron-delegate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ..foundation.printable import printable
from .flexbuffer import custom_options
from .model import Model, Node

DISPATCH = "DISPATCH_OP"
"""The custom operator that runs a program from a compiler plugin of LiteRT."""
EDGE_TPU = "edgetpu-custom-op"


@dataclass(frozen=True, slots=True)
class CompiledOperator:
    """A custom operator that contains a program for one accelerator."""

    accelerator: str
    compiler: str
    """The name of the tool that makes the programs, for use in a sentence."""
    runner: str
    """The name of the delegate that runs the programs, for use in a sentence."""


COMPILED_OPERATORS: Mapping[str, CompiledOperator] = {
    DISPATCH: CompiledOperator("an NPU", "LiteRT's compiler for an NPU", "LiteRT's dispatch delegate"),
    EDGE_TPU: CompiledOperator("the Edge TPU", "the compiler of the Edge TPU", "the Edge TPU's delegate (libedgetpu)"),
    "ethos-u": CompiledOperator("Arm's Ethos-U", "Vela, for Arm Ethos-U", "the Ethos-U delegate"),
    "NeutronGraph": CompiledOperator("NXP's Neutron", "the converter of NXP's Neutron NPU", "the Neutron delegate"),
    "vsi-npu": CompiledOperator("VeriSilicon's NPU", "VeriSilicon's compiler", "VeriSilicon's delegate"),
}
"""The custom operators of all known compilers, by name."""
_STAMP = "LiteRtStamp"
_STAMP_FIELD = 125
"""Size in bytes of each string in the build stamp."""


@dataclass(frozen=True, slots=True)
class Precompiled:
    """A model file's data about its compilation. All fields are empty if the model was not compiled."""

    manufacturer: str = ""
    soc: str = ""
    is_stamped: bool = False
    code_sizes: tuple[int, ...] = ()
    """The size in bytes of each compiled node's code."""
    other_nodes: int = 0

    @property
    def is_compiled(self) -> bool:
        """True if the file has compiled code or a build stamp."""
        return self.is_stamped or bool(self.code_sizes)

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences for reports about a compiled file."""
        if not self.is_compiled:
            return ()
        target = (
            f"{printable(self.manufacturer)} {printable(self.soc)}".strip()
            if self.is_stamped
            else "a SoC that the file does not name"
        )
        total = len(self.code_sizes) + self.other_nodes
        size = max(self.code_sizes, default=0)
        return (
            f"the model is already compiled for {target}: {len(self.code_sizes):,} of its {total:,} nodes run compiled code "
            f"(DISPATCH_OP, up to {size:,} bytes each), so CompiledModel does not pass the model to a compiler plugin again",
            "the file does not show which nodes of the source model were compiled, or which version of the plugin compiled "
            f"them{': it names only the SoC' if self.is_stamped else ''}. Other targets need the source model",
        )


def compiled_for(model: Model, runnable: Collection[str] = ()) -> Iterator[str]:
    """Yield sentences about the compiled programs in a model, except programs from LiteRT's plugins (see ``precompiled``).

    ``runnable`` has the custom operators that the simulated delegates run.
    """
    codes = [code.custom_code for code in model.operator_codes if code.custom_code in COMPILED_OPERATORS]
    if all(code == DISPATCH for code in codes):
        return
    nodes = [node for subgraph in model.subgraphs for node in subgraph.nodes]
    counts = Counter(node.custom_code for node in nodes if is_program(node))
    for code, count in counts.items():
        operator = COMPILED_OPERATORS[str(code)]
        if code != DISPATCH:
            yield (
                f"this model was compiled for {operator.accelerator}: {count:,} of its {len(nodes):,} nodes "
                f"{'is' if count == 1 else 'are'} {code}, which {operator.compiler} made. "
                f"{_consequence(operator, is_runnable=code in runnable)}"
            )


def compiled_elsewhere(model: Model, runnable: Collection[str] = ()) -> str:
    """Return the accelerator for which a model was compiled, as a name for use in a sentence.

    Return "" if there is no such accelerator. Programs in custom operators that the simulated delegate runs (``runnable``) are
    ignored.
    """
    codes = [str(code.custom_code) for code in model.operator_codes if code.custom_code in COMPILED_OPERATORS]
    code = next((code for code in codes if code not in runnable), "")
    if not code:
        return ""
    stamp = _stamp(model) if code == DISPATCH else None
    return COMPILED_OPERATORS[code].accelerator if stamp is None else printable(" ".join(stamp)).strip()


def _consequence(operator: CompiledOperator, *, is_runnable: bool) -> str:
    if is_runnable:
        return (
            f"Without {operator.runner}, the model does not run, not even on the CPU. The file does not show which nodes were "
            "compiled"
        )
    return f"The model runs only with {operator.runner}: other targets need the source model"


def is_program(node: Node) -> bool:
    """Return whether a node contains a program that a known compiler made."""
    return node.is_custom and node.custom_code in COMPILED_OPERATORS


def is_dispatch(node: Node) -> bool:
    """Return whether a node runs code that was compiled ahead of time."""
    return node.is_custom and node.custom_code == DISPATCH


def has_dispatches(model: Model) -> bool:
    """Return whether the model lists the operator that runs compiled code."""
    return any(code.custom_code == DISPATCH for code in model.operator_codes)


def precompiled(model: Model) -> Precompiled:
    """Return a model file's data about its compilation: the build stamp and the sizes of compiled nodes."""
    stamp = _stamp(model)
    if stamp is None and not has_dispatches(model):
        return Precompiled()
    code_sizes: list[int] = []
    others = 0
    for subgraph in model.subgraphs:
        for node in subgraph.nodes:
            if is_dispatch(node):
                code_sizes.append(custom_options(model, node).integer("bytecode_size") or 0)
            else:
                others += 1
    if stamp is None and not code_sizes:
        return Precompiled()
    return Precompiled(*(stamp or ("", "")), stamp is not None, tuple(code_sizes), others)


def _stamp(model: Model) -> tuple[str, str] | None:
    span = model.metadata.get(_STAMP)
    if span is None or span[1] != 2 * _STAMP_FIELD:
        return None
    content = bytes(model.content[span[0] : span[0] + span[1]])
    parts = (content[:_STAMP_FIELD], content[_STAMP_FIELD:])
    manufacturer, soc = [part.split(b"\0", 1)[0].decode("utf-8", "replace") for part in parts]
    return manufacturer, soc

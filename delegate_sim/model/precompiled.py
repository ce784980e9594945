"""Models that a compiler plugin has compiled ahead of time: the SoC, and the nodes that were not compiled.

Source: ``litert/core/build_stamp.h``, ``litert/core/dispatch_op_schema.h``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..foundation.printable import printable
from .flexbuffer import custom_options
from .model import Model, Node

DISPATCH = "DISPATCH_OP"
"""The custom operator that runs compiled code."""
_STAMP = "LiteRtStamp"
_STAMP_FIELD = 125
"""The size in bytes of each of the two strings in the build stamp."""


@dataclass(frozen=True, slots=True)
class Precompiled:
    """Details of how a file was compiled, as recorded in the file; all fields are empty if the file was not compiled."""

    manufacturer: str = ""
    soc: str = ""
    is_stamped: bool = False
    code_sizes: tuple[int, ...] = ()
    """The sizes in bytes of the compiled nodes' code, one for each node."""
    other_nodes: int = 0

    @property
    def is_compiled(self) -> bool:
        """True if the file has compiled code or a build stamp."""
        return self.is_stamped or bool(self.code_sizes)

    @property
    def words(self) -> tuple[str, ...]:
        """The sentences to print about a compiled file."""
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
            f"(DISPATCH_OP, up to {size:,} bytes each), so CompiledModel does not pass it to a compiler plugin again",
            "the file does not show which nodes of the source model were compiled, or which version of the plugin compiled "
            f"them{': it names only the SoC' if self.is_stamped else ''}. Other targets need the source model",
        )


def is_dispatch(node: Node) -> bool:
    """Return whether a node runs code that was compiled ahead of time."""
    return node.is_custom and node.custom_code == DISPATCH


def has_dispatches(model: Model) -> bool:
    """Return whether the operator that runs compiled code is among the operators that the file declares."""
    return any(code.custom_code == DISPATCH for code in model.operator_codes)


def precompiled(model: Model) -> Precompiled:
    """Return the details of a file's compilation, read from its build stamp and from the nodes that run compiled code."""
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
    """Return the manufacturer and the SoC in the build stamp, or None if there is no stamp of the right size."""
    span = model.metadata.get(_STAMP)
    if span is None or span[1] != 2 * _STAMP_FIELD:
        return None
    content = bytes(model.content[span[0] : span[0] + span[1]])
    parts = (content[:_STAMP_FIELD], content[_STAMP_FIELD:])
    manufacturer, soc = [part.split(b"\0", 1)[0].decode("utf-8", "replace") for part in parts]
    return manufacturer, soc

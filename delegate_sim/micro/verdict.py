"""The refused nodes of a model, and warnings about it, as text."""

from __future__ import annotations

from collections.abc import Iterator

from ..foundation.converter_attributes import DENSE_PER_TENSOR
from ..foundation.printable import counted, item_list, printable, shortened
from ..graph.reachability import no_weights
from ..model.model import IDENTIFIER, Model
from .preparation import Status
from .report import MicroReport

_LONGEST_NAME = 60
_OPERATORS_WIDTH = 60
_REFUSED = (
    (Status.PREPARE, "cannot be prepared"),
    (Status.INVOKE, "cannot be invoked"),
    (Status.INVOKE_IF_CALLED, "in a branch or loop cannot be invoked"),
)


def refused_text(report: MicroReport) -> str:
    """Return the operators without a kernel, and the numbers of refused nodes."""
    parts = []
    if report.missing_operators:
        missing = [_name(operator.removeprefix("CUSTOM:")) for operator in report.missing_operators]
        lacks = "the runtime has no kernel for" if report.target.registered is None else "the resolver lacks"
        parts.append(f"{lacks} {item_list(missing, _OPERATORS_WIDTH)}")
    for status, words in _REFUSED:
        nodes = sum([node.status is status for node in report.nodes])
        if nodes:
            parts.append(f"{counted(nodes, 'node')} {words}")
    return ", ".join(parts)


def micro_warnings(model: Model, report: MicroReport) -> Iterator[str]:
    """Yield warnings about the file, about older copies of the runtime and about the resolver."""
    source = report.target.source
    if model.identifier != IDENTIFIER:
        yield (
            f"the identifier of the file is {model.identifier!r}, not {IDENTIFIER!r}. TensorFlow Lite Micro does not check the "
            "identifier, but other runtimes refuse the file"
        )
    if warning := no_weights(model):
        yield warning
    if report.runs and report.variables:
        yield f"the interpreter needs MicroResourceVariables for {counted(report.variables, 'variable')}"
    if any(node.status is Status.INVOKE_IF_CALLED for node in report.nodes):
        yield f"the runtime may fail while it runs the model: {refused_text(report)}"
    if layers := report.layers_with_channel_scales:
        yield (
            f"{layers:,} FULLY_CONNECTED with a scale for each channel: copies of TensorFlow Lite Micro from before 2024-06, "
            f"such as many in packages of boards, compute wrong numbers or fail. For such a copy, convert with {DENSE_PER_TENSOR}"
        )
    if source is not None and source.without_room:
        count = report.target.attempted
        yield (
            f"the source registers {counted(count, 'operator')}, but the resolver has room for {source.size:,}, so the last "
            f"calls fail. Write MicroMutableOpResolver<{count}>"
        )
    if source is not None and source.unknown:
        yield f"calls of functions that the runtime does not have: {item_list(list(map(_name, source.unknown)), 60)}"


def _name(text: str) -> str:
    return shortened(printable(text[: _LONGEST_NAME + 1]), _LONGEST_NAME)

"""The stages of a model on its way to an NPU of LiteRT 2: selected, compiled, loaded, used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...foundation.columns import Declared
from ..parse.delegate_identity import DISPATCH, plain_name
from ..parse.known_lines import Statement
from ..parse.log_contents import DeviceLog
from ..parse.tables import Event

YES, NO, NOT_SHOWN = "yes", "no", "not-shown"
_NPU = "NPU"
_ERRORS = (Event.FAILURE, Event.OTHER_ERROR, Event.PLAIN_ERROR, Event.WARNED, Event.VENDOR_ERROR)
_LOADING = (*_ERRORS, Event.CUSTOM_ERROR, Event.NODE_ERROR)
_COMPILER_FILE = re.compile(r"compil|adapter_aot|compose_graph|graph_mapper|create_model|operand_map|legaliz", re.IGNORECASE)
"""Matches the source files that print errors of a vendor's compiler (``litert/compiler`` and ``litert/vendors``)."""
_PLUGIN_FILE = re.compile(r"(?:qnn|openvino)_compiler_plugin")
"""Matches the source files of plugins that print errors before nodes are selected."""
_COMPILER_WORDS = re.compile(
    r"apply compiler plugins(?!: Compiler plugin is not configured)|failed compilation|failed to apply plugin|NPU islands"
)
_LOADER_WORDS = re.compile(
    r"[Dd]ispatch (?:library|runtime|delegate|API)|QNN context|context binary|restore model from compiled|"
    r"bytecode compiled with|DISPATCH_OP"
)
"""Matches errors of the code that loads compiled parts (``litert/runtime/dispatch`` and ``litert/vendors``)."""


@dataclass(frozen=True, slots=True)
class NpuStages(Declared):
    """The stages that a model passed, as a log shows them. Each stage is ``yes``, ``no`` or ``not-shown``.

    ``selected`` and ``nodes`` count the nodes that the compiler plugins selected, and all nodes, over all subgraphs; None if the
    log has no line of a plugin. ``stop`` is the line of the first stage that failed, or "".
    """

    selected: int | None
    nodes: int | None
    compiled: str
    loaded: str
    used: str
    stop: str


def npu_stages(log: DeviceLog) -> NpuStages | None:
    """Return the stages that a log shows, or None if the log has nothing about compiled parts of a model."""
    lines = log.statements_of(Event.COMPILED)
    kernels = [replacement for replacement in log.replacements if DISPATCH in plain_name(replacement.kernel)]
    reports = log.statements_of(Event.COMPILED_PART, Event.PLUGINS_APPLIED)
    failures = list(_compiler_errors(log, lines))
    sources = [(error, error.values.get("source", "")) for error in log.statements_of(*_LOADING)]
    loading = [(error, source) for error, source in sources if not _COMPILER_FILE.search(source)]
    refusals = [error for error, source in loading if DISPATCH in plain_name(source) or _LOADER_WORDS.search(error.line)]
    if not (lines or kernels or refusals or reports or failures):
        return None
    if not kernels:
        # Without an attempt to use the NPU, a missing NPU accelerator says nothing.
        refusals += [error for error in log.statements_of(Event.NOT_REGISTERED) if error.values.get("name") == _NPU]
    selected = sum([line.numbers("taken")[0] for line in lines]) if lines else None
    nodes = sum([line.numbers("total")[0] for line in lines]) if lines else None
    has_parts = any(report.kind == Event.COMPILED_PART or report.values["number"] != "0" for report in reports)
    compiled = NO if failures or reports or selected == 0 else NOT_SHOWN
    compiled = YES if kernels or has_parts else compiled
    loaded = NO if refusals or compiled == NO else YES if any(kernel.replaced for kernel in kernels) else NOT_SHOWN
    has_run = not log.times.is_empty or bool(log.statements_of(Event.MEASURED))
    used = NO if loaded == NO else YES if loaded == YES and has_run else NOT_SHOWN
    stops = failures if compiled == NO else refusals if loaded == NO else []
    return NpuStages(selected, nodes, compiled, loaded, used, stops[0].line if stops else "")


def _compiler_errors(log: DeviceLog, lines: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield the errors of a vendor's compiler: those that name it, and those of its files after nodes were selected."""
    first = min([place for line in lines for place in line.places], default=None)
    for statement in log.statements_of(*_ERRORS):
        is_later = first is not None and max(statement.places, default=0) > first
        source = statement.values.get("source", "")
        if _COMPILER_WORDS.search(statement.line) or (_COMPILER_FILE if is_later else _PLUGIN_FILE).search(source):
            yield statement

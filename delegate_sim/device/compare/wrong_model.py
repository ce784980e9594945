"""Detect a log that does not belong to the simulated model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ...graph.graph import NodeView
from ...model.schema import is_operator
from ...runtime.interpreter import Run
from ..parse.delegate_identity import delegate_named, other_name
from ..parse.log import read_lines
from ..parse.log_contents import DeviceLog
from ..parse.tables import Event
from .assumption_search import failed_kernels
from .observed_delegation import OTHER_KERNEL, Facts
from .row_matching import OTHER_MODEL


def other_model_note(log: DeviceLog, facts: Facts, run: Run) -> str:
    """Return the first sign that the log belongs to another model, or "" if there is no sign."""
    if run.delegate.log.prints_selection:
        return next(plugin_notes(log, run), "")
    signs = (
        *(_totals(facts, run), _operators(facts, run), _forms(facts, run)),
        *(_failed_nodes(log, run), _failed_kernels(facts, run), _tensors(facts, run)),
    )
    return next((f"{sign}; {OTHER_MODEL}" for notes in signs for sign in notes), "")


def plugin_notes(log: DeviceLog, run: Run) -> Iterator[str]:
    """Yield a note for each subgraph for which a plugin's line and the model have different numbers of nodes."""
    ours = {plugin.subgraph: plugin.total for plugin in read_lines(run.log_lines).plugins}
    for plugin in log.plugins:
        total = ours.get(plugin.subgraph, plugin.total)
        if plugin.total != total:
            place = f"of subgraph {plugin.subgraph} " if plugin.subgraph else ""
            difference = f"{plugin.total} nodes {place}before compilation, but the model has {total}"
            yield f"the log counts {difference}; {OTHER_MODEL}"


def _totals(facts: Facts, run: Run) -> Iterator[str]:
    sizes = {len(subgraph.graph.execution_plan) for subgraph in run.subgraphs}
    has = f"the model has {', '.join(map(str, sorted(sizes)))}"
    own = [total for _, total, _ in facts.own_counts] + [delegated + rest for delegated, rest in facts.splits if rest is not None]
    lines = [replacement.total for replacement in facts.replacements or () if replacement.total is not None]
    for total, owner in [(total, "the log") for total in lines] + [(total, "the delegate") for total in own]:
        if total not in sizes:
            yield f"{owner} counts {total} nodes, but {has}"
    for replacement in facts.replacements or ():
        if replacement.total is None and replacement.replaced > max(sizes, default=0):
            yield f"the log counts {replacement.replaced} replaced nodes, but {has}"


def _operators(facts: Facts, run: Run) -> Iterator[str]:
    known = {node.op for subgraph in run.subgraphs for node in subgraph.graph.nodes}
    known |= {"CUSTOM"} if any(node.is_custom for subgraph in run.subgraphs for node in subgraph.graph.nodes) else set()
    listed = {op for op, reason in facts.listed_refusals if reason and not op.startswith(OTHER_KERNEL)}
    printed = ({op for op, _ in facts.refusals} | set(facts.refused_operators)) - {"DELEGATE"}
    missing = sorted((listed | {op for op in printed if is_operator(op)}) - known)
    if missing:
        yield f"the log lists {', '.join(missing)} as refused, but the model has no such operator"


_STATED: Sequence[tuple[re.Pattern[str], str, Callable[[NodeView], int]]] = (
    (
        re.compile(r"node has (\d{1,9}) runtime input"),
        "number of runtime inputs,",
        lambda view: sum([tensor.index >= 0 and not tensor.is_constant for tensor in view.inputs]),
    ),
    (re.compile(r"Requested version (\d{1,9})"), "version", lambda view: view.version),
)
"""Numbers of a node that a delegate prints when it refuses the node, with the function that returns the number of a node."""


def _forms(facts: Facts, run: Run) -> Iterator[str]:
    views = [subgraph.graph.view(node) for subgraph in run.subgraphs for node in subgraph.graph.nodes]
    for op, reason in facts.listed_refusals:
        own = [view for view in views if view.op == op]
        for pattern, what, number_of in _STATED:
            match = pattern.search(reason)
            known = {number_of(view) for view in own}
            if match is not None and own and int(match[1]) not in known:
                has = " or ".join(map(str, sorted(known)))
                yield f"the log refuses {op} because of its {what} {match[1]}, but in the model this is {has}: another conversion"


def counts_agree(facts: Facts, run: Run) -> bool | None:
    """Return whether the log counts as many nodes as a subgraph has, or None if the log has no count of all nodes."""
    sizes = {len(subgraph.graph.execution_plan) for subgraph in run.subgraphs}
    totals = [line.total for line in facts.replacements or () if line.total is not None]
    return all(total in sizes for total in totals) if totals else None


def _failed_nodes(log: DeviceLog, run: Run) -> Iterator[str]:
    for statement in log.statements_of(Event.NODE_ERROR):
        op, node = statement.values["op"], int(statement.values["node"])
        if delegate_named(op) is not None or other_name(op):
            continue
        ours = [graph.nodes[node].op for graph in (subgraph.graph for subgraph in run.subgraphs) if node < len(graph.nodes)]
        if op not in ours:
            has = f"is {' or '.join(dict.fromkeys(ours))}" if ours else "does not exist"
            yield f"node {node}, which failed to {statement.values['stage']}, is {op} in the log, but in the model it {has}"


def _failed_kernels(facts: Facts, run: Run) -> Iterator[str]:
    count = len(run.subgraphs[0].graph.nodes)
    for node, kernel in zip(facts.failed_nodes, failed_kernels(run, facts.failed_nodes), strict=True):
        if (kernel is None and facts.replacements is None) or node < count:
            yield f"in the log, node {node} is a delegate kernel that failed, but the model itself has {count} nodes"


def _tensors(facts: Facts, run: Run) -> Iterator[str]:
    count = max([len(subgraph.graph.tensors) for subgraph in run.subgraphs])
    if facts.dynamic is not None and facts.dynamic >= count:
        yield f"the log names tensor {facts.dynamic} as dynamic, but the model has {count} tensors"

"""Detect that a log belongs to a different model than the one simulated."""

from __future__ import annotations

from collections.abc import Iterator

from ...runtime.interpreter import Run
from ..parse.delegate_identity import delegate_named, other_name
from ..parse.known_lines import NODE_ERROR
from ..parse.log import read_lines
from ..parse.log_contents import DeviceLog
from .assumption_search import failed_kernels
from .observed_delegation import OTHER_KERNEL, Facts
from .row_matching import OTHER_MODEL


def other_model_note(log: DeviceLog, facts: Facts, run: Run) -> str:
    """Say in one line what shows it first; empty if nothing does."""
    if run.delegate.is_plugin:
        return next(plugin_notes(log, run), "")
    signs = (
        _totals(facts, run),
        _operators(facts, run),
        _failed_nodes(log, run),
        _failed_kernels(facts, run),
        _tensors(facts, run),
    )
    return next((f"{sign}; {OTHER_MODEL}" for found in signs for sign in found), "")


def plugin_notes(log: DeviceLog, run: Run) -> Iterator[str]:
    """Return where a plugin counts other nodes than the file has; it prints no line for a subgraph that it selects nothing of."""
    ours = {each.subgraph: each.total for each in read_lines(f"{line}\n" for line in run.log_lines).plugins}
    for each in log.plugins:
        total = ours.get(each.subgraph, each.total)
        if each.total != total:
            place = f"of subgraph {each.subgraph} " if each.subgraph else ""
            what = f"{each.total} nodes {place}before anything is compiled, and the model {total}"
            yield f"the log's line counts {what}; {OTHER_MODEL}"


def _totals(facts: Facts, run: Run) -> Iterator[str]:
    sizes = {len(subgraph.graph.execution_plan) for subgraph in run.subgraphs}
    has = f"the model has {', '.join(map(str, sorted(sizes)))}"
    own = [total for _, total, _ in facts.own_counts] + [sum(each) for each in facts.splits]
    lines = [each.total for each in facts.replacements or () if each.total is not None]
    for total, what in [(total, "line") for total in lines] + [(total, "delegate") for total in own]:
        if total not in sizes:
            yield f"the log's {what} counts {total} nodes, and {has}"
    for each in facts.replacements or ():
        if each.total is None and each.replaced > max(sizes, default=0):
            yield f"the log's line counts {each.replaced} nodes as replaced, and {has}"


def _operators(facts: Facts, run: Run) -> Iterator[str]:
    known = {node.op for subgraph in run.subgraphs for node in subgraph.graph.nodes}
    listed = {op for op, reason in facts.listed_refusals if reason and not op.startswith(OTHER_KERNEL)}
    missing = sorted(listed - known)
    if missing:
        yield f"the log lists {', '.join(missing)} as refused, which the model does not have"


def _failed_nodes(log: DeviceLog, run: Run) -> Iterator[str]:
    """Nodes of the model keep their numbers, so that an error names one that the model has."""
    for each in log.of(NODE_ERROR):
        op, node = each.values["op"], int(each.values["node"])
        if delegate_named(op) is not None or other_name(op):
            continue
        ours = [graph.nodes[node].op for graph in (each.graph for each in run.subgraphs) if node < len(graph.nodes)]
        if op not in ours:
            has = f"is {' or '.join(dict.fromkeys(ours))}" if ours else "is not there"
            yield f"node {node}, which could not {each.values['stage']}, is {op} in the log, and in the model it {has}"


def _failed_kernels(facts: Facts, run: Run) -> Iterator[str]:
    count = len(run.subgraphs[0].graph.nodes)
    for node, kernel in zip(facts.failed_nodes, failed_kernels(run, facts.failed_nodes), strict=True):
        if (kernel is None and facts.replacements is None) or node < count:
            yield f"the kernel that failed is node {node}, behind those of the model, and the model has {count}"


def _tensors(facts: Facts, run: Run) -> Iterator[str]:
    count = max([len(subgraph.graph.tensors) for subgraph in run.subgraphs])
    if facts.dynamic is not None and facts.dynamic >= count:
        yield f"the log names tensor {facts.dynamic} as dynamic, and the model has {count}"

"""Differences between a simulation and a device log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...foundation.columns import INTEGER, LIST, YES_OR_NO, Column, Declared, attributes
from ...foundation.printable import counted, shortened
from ...graph.analysis_cache import AnalysisCache
from ...graph.graph import NodeView
from ...model.model import Node
from ...model.schema import is_operator
from ...refusal import Effect
from ...rules.kinds import FLOAT16_DEQUANTIZE
from ...rules.rule import Reason
from ...runtime.interpreter import Run, SubgraphRun
from ..parse.delegate_identity import delegate_named, other_name
from ..parse.log import read_lines
from ..parse.log_contents import DeviceLog, Replacement
from ..parse.tables import Event
from .observed_delegation import OTHER_KERNEL, Facts, graph_sizes, refused_operators
from .row_matching import OTHER_MODEL


@dataclass(frozen=True, slots=True)
class RefusalDifference(Declared):
    """An operator with different numbers of refusals in the log and in the simulation."""

    op: str
    version: int
    on_device: int
    simulated: int


@dataclass(frozen=True, slots=True)
class ListedRefusal(Declared):
    """An operator that the delegate on the device lists as refused, or that the simulated delegate refuses."""

    columns = (
        *(Column("op"), *attributes("on_device", "simulated", type=LIST)),
        *(*attributes("nodes", "in_model", type=INTEGER), Column("is_same", YES_OR_NO)),
    )

    op: str
    on_device: tuple[str, ...]
    """The reasons that the device printed. A reason may be ""."""
    simulated: tuple[str, ...]
    """Requirements that the operator's nodes fail in the simulation. Empty if the simulation refuses none of the nodes."""
    nodes: int
    """Number of nodes of this operator that the simulation refuses. Float16 DEQUANTIZE nodes count if the device lists them."""
    in_model: int
    """Number of nodes of this operator in the model."""
    has_same_reasons: bool = True
    """Whether the device printed the same reasons as the simulated delegate. True if either printed none."""

    @property
    def is_same(self) -> bool:
        """True if both agree, or if the device gives no reason: then the delegate's rules did not check the node."""
        return bool(self.on_device) == bool(self.nodes) or (bool(self.on_device) and not any(self.on_device))


def differences(facts: Facts, run: Run, cache: AnalysisCache | None = None) -> list[str]:
    """Return a description of each difference between a simulation and the log. The trials of a log share a cache."""
    simulated = (cache or AnalysisCache()).get("lines", (run.log_lines,), lambda: read_lines(run.log_lines))
    texts = [*_line_differences(facts, run, simulated), *_count_lines(facts, run, simulated), *_node_differences(facts, run)]
    if operators := [difference.op for difference in refusal_differences(facts, run)]:
        texts.append(f"the device and the simulation have different refusals for {', '.join(dict.fromkeys(operators))}")
    texts += _refused_operators(facts, run, simulated)
    listed = [refusal for refusal in listed_refusals(facts, run) if not refusal.is_same]
    by_side = [[refusal.op for refusal in listed if bool(refusal.on_device) == is_of_device] for is_of_device in (True, False)]
    return [*texts, *_refused_on_one_side(*by_side)]


def _refused_on_one_side(device: Sequence[str], simulation: Sequence[str]) -> Iterator[str]:
    for who, operators in (("device", device), ("simulation", simulation)):
        if operators:
            yield f"only the {who} refuses {', '.join(operators)}"


def _refused_operators(facts: Facts, run: Run, simulated: DeviceLog) -> Iterator[str]:
    decisions = [subgraph.decision for subgraph in run.subgraphs if subgraph.decision is not None]
    if facts.unvisited and all(verdict.is_supported for decision in decisions for verdict in decision.verdicts.values()):
        yield f"the device refuses a node, but the simulation takes all nodes: {facts.unvisited[0]}"
    if theirs := facts.refused_operators:
        ours = refused_operators(simulated, run.delegate)
        # The lines with codes are the last ones, so a log that has them names all refused operators.
        only_ours = sorted(op for op in ours.keys() - theirs if ours[op] and any(theirs.values()))
        yield from _refused_on_one_side(sorted(theirs.keys() - ours), only_ours)


def listed_refusals(facts: Facts, run: Run) -> tuple[ListedRefusal, ...]:
    """Return the operators that the device or the simulation refuses. Empty if the log has no list of refused operators."""
    if not facts.listed_refusals:
        return ()
    on_device, printed = map(_by_operator, (facts.listed_refusals, read_lines(run.log_lines).listed_refusals))
    needed: dict[str, dict[str, None]] = {}
    nodes: Counter[str] = Counter()
    in_model = Counter([node.op for subgraph in run.subgraphs for node in subgraph.graph.nodes])
    for node, reasons, is_unjudged in _refused_nodes(run):
        # A delegate lists a node that never reached its rules without a reason.
        nodes[node.op] += bool(reasons) or (is_unjudged and not any(on_device.get(node.op, ("not listed",))))
        if reasons:
            needed.setdefault(node.op, {}).update(dict.fromkeys([reason.needed for reason in reasons]))
    return tuple(
        ListedRefusal(
            op,
            tuple(on_device.get(op, ())),
            tuple(needed.get(op, ())),
            nodes[op],
            in_model[op],
            not any(on_device.get(op, ())) or not any(printed.get(op, ())) or {*on_device[op]} == {*printed[op]},
        )
        for op in sorted({*on_device, *needed})
    )


def _refused_nodes(run: Run) -> Iterator[tuple[Node, list[Reason], bool]]:
    """Yield the nodes with their reasons, and whether a node is a float16 DEQUANTIZE that is not taken."""
    for subgraph in run.subgraphs:
        if subgraph.decision is None:
            continue
        for index, verdict in subgraph.decision.verdicts.items():
            reasons = [reason for reason in verdict.reasons if reason.code != FLOAT16_DEQUANTIZE.name]
            is_unjudged = len(reasons) < len(verdict.reasons) and index not in subgraph.decision.nodes
            yield subgraph.graph.nodes[index], reasons, is_unjudged


def _by_operator(listed: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for op, reason in listed:
        reasons.setdefault(op.removeprefix(OTHER_KERNEL), []).append(reason)
    return reasons


def refusal_differences(facts: Facts, run: Run) -> tuple[RefusalDifference, ...]:
    """Return the operators with other numbers of refusals than the log. Empty if the log has no numbers of refusals."""
    if not facts.refusals:
        return ()
    simulated: Counter[tuple[str, int]] = Counter()
    for node, reasons, _ in _refused_nodes(run):
        simulated["CUSTOM" if node.is_custom else node.op, node.version] += len(reasons)
    return tuple(
        RefusalDifference(op, version, facts.refusals.get((op, version), 0), simulated[op, version])
        for op, version in sorted({*facts.refusals, *simulated})
        if facts.refusals.get((op, version), 0) != simulated[op, version]
    )


def _line_differences(facts: Facts, run: Run, simulated: DeviceLog) -> Iterator[str]:
    if run.delegate.log.prints_selection:
        on_device, in_simulation = ({own.subgraph or 0: own.line for own in log.plugins} for log in (facts, simulated))
        for index in sorted({*on_device, *in_simulation}):
            if (one := on_device.get(index, "no line")) != (other := in_simulation.get(index, "no line")):
                yield f"the plugin's lines for subgraph {index} differ; device: {one} / simulation: {other}"
        return
    if facts.replacements is not None:
        ours = [_numbers(replacement) for replacement in simulated.replacements]
        theirs = [_numbers(replacement) for replacement in facts.replacements]
        pairs = [(a, b) for one, other in zip(theirs, ours, strict=False) for a, b in zip(one, other, strict=True)]
        if len(theirs) != len(ours) or any(None not in (a, b) and a != b for a, b in pairs):
            yield f"the lines about replaced nodes differ; device: {_replaced_text(theirs)} / simulation: {_replaced_text(ours)}"
    if (facts.dynamic is None) != (simulated.dynamic_tensor is None):
        who = "the simulation" if facts.dynamic is None else "the device"
        yield f"only {who} refuses the graph because of a dynamic-sized tensor"
    if facts.dynamic is not None and simulated.dynamic_tensor is not None:
        # Several releases print -1 for any tensor.
        printed, tensor = facts.dynamic, -1 if run.refusal is None or run.refusal.tensor is None else run.refusal.tensor
        if min(printed, tensor) >= 0 and printed != tensor:
            yield f"the first dynamic-sized tensor is tensor {printed} on the device, but tensor {tensor} in the simulation"
    fails_on_both = facts.is_restored and run.refusal is not None and run.refusal.effect is Effect.FAIL_LATER
    has_left = run.refusal is not None and run.refusal.effect.leaves_delegate
    if facts.is_restored != (run.outcome == "restored" and not has_left) and not fails_on_both:
        yield f"the delegate rejects the model only {'on the device' if facts.is_restored else 'in the simulation'}"
    is_told = facts.is_restored or facts.dynamic is not None or facts.was_not_applied
    if facts.failure and facts.can_be_compared and run.refusal is None and not is_told:
        yield f"the model runs in the simulation, but fails on the device: {facts.failure}"
    if is_disproved(facts, run):
        yield "the simulation predicts that the delegate cannot be applied, but on the device it was applied"
    if facts.application is not None and facts.application != (application := _application(run)):
        theirs_text, ours_text = _applied_text(*facts.application), _applied_text(*application)
        yield f"on the device, the delegate {theirs_text}, but in the simulation it {ours_text}"


def is_disproved(facts: Facts, run: Run) -> bool:
    """Return whether the log shows that a predicted failure of the delegate did not happen."""
    return run.is_rejected and facts.application is not None and not facts.has_failed


def _count_lines(facts: Facts, run: Run, simulated: DeviceLog) -> Iterator[str]:
    decided = [(subgraph.decision, subgraph.graph) for subgraph in run.subgraphs if subgraph.decision is not None]
    sizes = [(len(decision.nodes), len(graph.execution_plan)) for decision, graph in decided]
    known_sizes = set(sizes)
    sizes_text = shortened(" and ".join([f"{delegated} of {total}" for delegated, total in sizes])) or "none"
    printed = dict.fromkeys(
        [line.numbers("delegated", "total", "partitions") for line in simulated.statements_of(Event.OWN_COUNT)]
    )
    for delegated, total, partitions in facts.own_counts:
        theirs = f"the delegate's line counts {delegated} of {total} nodes"
        if printed and (delegated, total, partitions) not in printed:
            ours_delegated, ours_total, ours_partitions = next(iter(printed))
            yield (
                f"{theirs} in {counted(partitions, 'partition')}, but the simulated line counts {ours_delegated} of {ours_total} "
                f"nodes in {counted(ours_partitions, 'partition')}"
            )
        elif not printed and (delegated, total) not in known_sizes:
            yield f"{theirs}, but in the simulation there are {sizes_text}"
    kernels = sum(map(kernel_count, run.subgraphs))
    if facts.kernels_made is not None and facts.application is None and not facts.is_restored and facts.kernels_made != kernels:
        yield f"the delegate reports {counted(facts.kernels_made, 'kernel')}, but the simulation has {kernels}"
    ours = sum([taken for taken, _ in sizes])
    for delegated, rest in facts.splits:
        if rest is None and delegated != ours:
            yield f"the delegate reports that it runs {counted(delegated, 'node')}, but in the simulation it runs {ours}"
        elif rest is not None and (delegated, delegated + rest) not in known_sizes:
            theirs = f"the delegate reports that it runs {delegated} of {delegated + rest} nodes"
            yield f"{theirs}, but in the simulation it runs {sizes_text}"


def _node_differences(facts: Facts, run: Run) -> Iterator[str]:
    for subgraph in run.subgraphs:
        index = subgraph.graph.index
        ours = frozenset(subgraph.graph.execution_plan) - subgraph.delegated
        place = f" of subgraph {index}" if len(run.subgraphs) > 1 else ""
        if index in facts.on_cpu and facts.on_cpu[index] != ours:
            more, fewer = len(facts.on_cpu[index] - ours), len(ours - facts.on_cpu[index])
            yield f"nodes{place} on the CPU: {more} only on the device, {fewer} only in the simulation"
        if index in facts.listed and not facts.listed[index] <= ours:
            more = len(facts.listed[index] - ours)
            yield f"nodes{place} on the CPU: {more} of the nodes that the log lists are delegated in the simulation"
        if index in facts.counts:
            theirs, counts = facts.counts[index], Counter(subgraph.graph.nodes[node].op for node in ours)
            other = sorted(op for op in {*theirs, *counts} if theirs.get(op, 0) != counts[op])
            if other:
                text = ", ".join(f"{op} {theirs.get(op, 0)} and {counts[op]}" for op in other)
                yield f"the counts of nodes{place} on the CPU differ (device and simulation): {text}"
        if index in facts.kernels and not facts.is_restored:
            kernels = kernel_count(subgraph)
            if kernels != facts.kernels[index]:
                yield f"delegate kernels{place}: {facts.kernels[index]} on the device, {kernels} in the simulation"


_Numbers = tuple[int, int | None, int | None, int | None]


def _numbers(replacement: Replacement) -> _Numbers:
    return replacement.replaced, replacement.total, replacement.partitions, replacement.subgraph


def _replaced_text(numbers: Sequence[_Numbers]) -> str:
    parts = []
    for replaced, total, partitions, _ in numbers:
        nodes = f"{replaced} nodes" if total is None else f"{replaced} of {total} nodes"
        parts.append(nodes if partitions is None else f"{nodes} in {counted(partitions, 'partition')}")
    return "; ".join(parts) or "no replacement"


def _application(run: Run) -> tuple[str, int | None]:
    if run.outcome in ("refused", "restored"):
        return "failed", None
    first = run.subgraphs[0]
    kernels = kernel_count(first)
    if not kernels:
        return "not", 0
    return ("completely" if kernels == len(first.subsets) == 1 else "partially"), kernels


def _applied_text(outcome: str, kernels: int | None) -> str:
    texts = {"failed": "could not be applied", "not": "was applied to no node", "completely": "was applied to the whole graph"}
    with_kernels = "" if kernels is None else f", with {counted(kernels, 'kernel')}"
    return texts.get(outcome, f"was applied to part of the graph{with_kernels}")


def failed_kernels(run: Run, nodes: Sequence[int]) -> list[int | None]:
    """Return the number of each node as a kernel, counted from 1, or None. Kernels follow the graph's nodes."""
    first = run.subgraphs[0]
    count, kernels = len(first.graph.nodes), kernel_count(first)
    return [node - count + 1 if count <= node < count + max(kernels, 1) else None for node in nodes]


def kernel_count(subgraph: SubgraphRun) -> int:
    """Return the number of delegate kernels in a subgraph."""
    return sum([subset.is_delegated for subset in subgraph.subsets])


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
    sizes = graph_sizes(run)
    has = f"the model has {', '.join(map(str, sorted(sizes)))}"
    for owner, totals in (("the log", facts.line_totals), ("the delegate", facts.own_totals)):
        yield from [f"{owner} counts {total} nodes, but {has}" for total in totals if total not in sizes]
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
        for pattern, what, number_of in _STATED:
            match = pattern.search(reason)
            known = {number_of(view) for view in views if view.op == op} if match is not None else None
            if match is not None and known and int(match[1]) not in known:
                has = " or ".join(map(str, sorted(known)))
                yield f"the log refuses {op} because of its {what} {match[1]}, but in the model this is {has}: another conversion"


def counts_agree(facts: Facts, run: Run) -> bool | None:
    """Return whether the log counts as many nodes as a subgraph has, or None if the log has no count of all nodes."""
    sizes = graph_sizes(run)
    if facts.line_totals:
        return sizes.issuperset(facts.line_totals)
    return True if facts.own_totals and sizes.issuperset(facts.own_totals) else None


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

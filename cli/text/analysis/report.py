"""A report as text: the verdict, log lines, delegated nodes, reasons for nodes on the CPU, and partitions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from delegate_sim.delegates.traits import Ranking
from delegate_sim.foundation.printable import shortened
from delegate_sim.refusal import Refusal
from delegate_sim.results.report.blockers import Ranks
from delegate_sim.results.report.display import strip
from delegate_sim.results.report.measures import counted_partitions
from delegate_sim.results.report.multiply_adds import Compute, compute_of
from delegate_sim.results.report.number_risks import number_risks
from delegate_sim.results.report.outcome_words import OutcomeWords, not_built, words_of
from delegate_sim.results.report.placement import bare_reasons, bytes_across, dropped_partitions, left_nodes, on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.rules.kinds import FLOAT16_DEQUANTIZE
from delegate_sim.rules.rule import Reason
from delegate_sim.runtime.interpreter import Run, SubgraphRun
from delegate_sim.runtime.run import AdviceText
from delegate_sim.runtime.target import target_names

from ...console.layout import counted, cut, item_list, message, name, node_list, share, wrapped
from ...console.terminal import Line, columns
from ..elements.measures import kernels_text, loop_lines
from ..elements.paragraphs import (
    BAD,
    CODE,
    HEADING,
    HINT,
    heading_lines,
    item_lines,
    log_lines,
    more_lines,
    paragraph,
    with_ranges,
    without_numbers,
)
from ..elements.strip import strip_lines
from ..elements.verdict import chain_verdict_lines, number_risk_lines, target_lines, verdict_lines
from .run_details import api_lines, command_lines, fallback_lines, placement_lines, split_lines
from .view import View

_PARTITIONS_SHOWN = 10
_NARROWEST_STRIP = 24
_GAINS_SHOWN = 5
_VARIANTS_SHOWN = 8
_HINTS_SHOWN = 3
_PARTITION_COLUMNS = ("id", "on", "nodes", "bytes in", "bytes out")
_PADDING = (str.rjust, str.ljust, str.rjust, str.rjust, str.rjust)


def report_lines(report: Report, view: View, *, failure: str = "") -> Iterator[Line]:
    """Yield the text of a report.

    A single run is shown in detail. Several independent runs are compared in tables. If the view is verbose, the details of each
    run follow the tables. A chain is shown with the details of each requested delegate, and with the place of each node.
    ``failure`` is the verdict on a chain that does not run. It replaces the verdicts on the runs and the places of nodes. Last
    comes what the application must provide for a runtime of whole models.
    """
    if report.is_chain:
        explicit = [run for run in report.runs if not run.by_default]
        yield from _chain_lines(report, view, failure)
        if len(explicit) == 1:
            yield from _commands(report, explicit[0], view)
        for run in explicit:
            yield from _target(run, view)
        return
    is_single = len(report.runs) == 1
    provided = _application_lines(report, view) if is_single else ()
    if not is_single:
        from ..many import details_hint
        from .overview import comparison_lines, runs_table

        yield from runs_table(report, view)
        yield Line("")
        yield from comparison_lines(report.runs, view.width, view.verbose)
        if not view.verbose:
            yield from details_hint()
            return
    labels = target_names([run.target for run in report.runs])
    for label, run, advised in zip(labels, report.runs, report.advised_runs, strict=True):
        if not is_single:
            yield from heading_lines(f"--- {label} ---")
        yield from verdict_lines(run, view.width)
        if is_single:
            yield from api_lines(report, run, view)
            yield from fallback_lines(run, view)
        yield Line("")
        yield from _log_lines([run])
        yield from _details(advised, view)
        yield from _commands(report, run, view)
        yield from _target(run, view)
    yield from provided


def _application_lines(report: Report, view: View) -> Sequence[Line]:
    if report.application is None:
        return ()
    from ..micro import application_lines

    return list(application_lines(report.application, view.width, view.verbose))


def _commands(report: Report, run: Run, view: View) -> Iterator[Line]:
    if view.names_commands and (number_risks(run) or any(True for _ in on_cpu(run))):
        yield from command_lines(report, run)


def _chain_lines(report: Report, view: View, failure: str) -> Iterator[Line]:
    runs = report.runs
    explicit = [run for run in runs if not run.by_default]
    yield from _paragraph(failure, view, "", "  ", BAD) if failure else chain_verdict_lines(runs, view.width)
    if len(explicit) == 1:  # otherwise the result depends on the earlier delegates
        yield from api_lines(report, explicit[0], view)
        yield from fallback_lines(explicit[0], view)
    yield Line("")
    yield from _log_lines(runs)
    advised = [run for run in report.advised_runs if not run.by_default]
    for number, run in enumerate(advised):
        if number:
            yield Line("")
        if len(advised) > 1:
            yield Line(f"--- {run.delegate.name} ---", HEADING)
        yield from _details(run, view)
    for run in runs:
        if run.by_default:
            yield from number_risk_lines(run, view.width, view.verbose)
    if not (failure or any(run.fails_with_model or run.is_rejected or not (run.is_loaded and run.is_prepared) for run in runs)):
        yield Line("")
        yield from placement_lines(runs, view.width, view.verbose)


def _log_lines(runs: Sequence[Run]) -> Iterator[Line]:
    """Return log lines exactly as the runtime prints the lines, without wrapping and styles."""
    lines = [line for run in runs for line in log_lines(run.log_lines)]
    yield from lines
    if lines:
        yield Line("")


def _details(run: Run, view: View) -> Iterator[Line]:
    compute = compute_of(run)
    if run.refusal is not None:
        yield from _refusal(run.refusal, view)
    else:
        yield from _not_compiled(run, view)
    if len(run.subgraphs) > 1:
        yield from _total(run, compute, view)
    ranks = Ranks(run, compute)
    numbers = re.compile(r"\b\d+ partitions")
    counts_own = any(" partitions" in line and "yielding" not in line and numbers.search(line) for line in run.log_lines)
    for number, subgraph in enumerate(run.subgraphs):
        if number:
            yield Line("")
        if len(run.subgraphs) > 1:
            yield Line(f"Subgraph {subgraph.graph.index} ({name(subgraph.graph.name)})", HEADING)
        yield from _subgraph(run, subgraph, compute, ranks, view, counts_own)
        yield from split_lines(run, subgraph, view.width, view.verbose)
    yield from number_risk_lines(run, view.width, view.verbose)
    yield from item_lines(run.warnings, view.width, "Warnings")


def _paragraph(text: str, view: View, indent: str, hanging: str, style: str = "") -> list[Line]:
    return paragraph(text, view.width, indent, hanging, style=style)


def _target(run: Run, view: View) -> Iterator[Line]:
    yield Line("")
    yield from target_lines(run.target, view.width, view.verbose)


def _not_compiled(run: Run, view: View) -> Iterator[Line]:
    note = words_of(run.delegate.name).note or (not_built(run.delegate) if run.awaits_board else "")
    if note:
        yield from _paragraph(note, view, "", "")
        yield Line("")
    remedies = run.delegate.remedies_if_not_compiled
    if remedies and any(subgraph.delegated for subgraph in run.subgraphs):
        yield Line("If the compiler fails, the vendor suggests these options (not tested by delegate-sim)", HEADING)
        for remedy in remedies:
            yield from _paragraph(f"{remedy.options}: if {remedy.when} ({remedy.source})", view, "  ", "    ")
        yield Line("")


def _refusal(refusal: Refusal, view: View) -> Iterator[Line]:
    yield Line("Why", HEADING)
    yield from _paragraph(message(f"{refusal.code}: {refusal.text}"), view, "  ", "    ", CODE)
    if refusal.hint:
        yield from _hint([refusal.hint], view.width, "    ")
    yield Line("")


def _hint(changes: Sequence[str], width: int, indent: str) -> Iterator[Line]:
    if len(changes) == 1:
        yield from paragraph(message(f"hint: {changes[0]}"), width, indent, f"{indent}      ", style=HINT)
        return
    yield Line(f"{indent}hint: one of these changes:", HINT)
    for change in changes:
        yield from paragraph(message(change), width, f"{indent}  - ", f"{indent}    ", style=HINT)


def _total(run: Run, compute: Compute, view: View) -> Iterator[Line]:
    kernels = sum([_kernels(subgraph) for subgraph in run.subgraphs])
    total = sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs])
    delegated = sum([len(subgraph.delegated) for subgraph in run.subgraphs])
    yield Line(f"All {counted(len(run.subgraphs), 'subgraph')}", HEADING)
    words = words_of(run.delegate.name)
    made = f", {kernels_text(kernels, words)}" if words.has_parts else ""
    text = f"{total:,} total, {delegated:,} {words.accepted} ({share(delegated, total)}){made}"
    yield from _fact("nodes", text, view)
    yield from _multiply_adds(words, compute, compute.multiply_adds, compute.delegated_multiply_adds, view)
    yield from loop_lines([run], view.width)
    yield Line("")


def _subgraph(whole: Run, run: SubgraphRun, compute: Compute, ranks: Ranks, view: View, counts_own: bool) -> Iterator[Line]:
    yield Line("Coverage", HEADING)
    total, delegated, words = len(run.graph.execution_plan), len(run.delegated), words_of(whole.delegate.name)
    if run.decision is None:
        taken, offered = f"{delegated:,} {words.accepted} as part of composites", f"not offered to the {words.actor}"
        what = taken if delegated else f"0 delegated: {offered}"
        yield from _fact("nodes", f"{total:,} total, {what}", view)
        return
    supported = sum([verdict.is_supported for verdict in run.decision.verdicts.values()])
    verdicts = [run.decision.verdicts[node] for node in run.delegated if node in run.decision.verdicts]
    unpacking = sum([reason.code == FLOAT16_DEQUANTIZE.name for verdict in verdicts for reason in verdict.reasons])
    also = f"; with all other nodes, also {counted(unpacking, 'DEQUANTIZE node')} of float16 weights" if unpacking else ""
    earlier = total - delegated - len(left_nodes(run))
    kernels = f" ({counted(earlier, 'kernel')} of earlier delegates)" if earlier else ""
    counts = f"{total:,} total{kernels}, {supported:,} supported, {delegated:,} {words.accepted} ({share(delegated, total)})"
    if delegated and whole.is_rejected:
        counts += " until the model is rejected"
    yield from _fact("nodes", f"{counts}{also}", view)
    if whole.delegate.ranking is Ranking.PLUGINS:
        what = counted(_kernels(run), "partition") if run.subsets or not run.delegated else "as part of composites"
        yield from _fact("to compile", what, view)
    elif words.has_parts:
        partitions = counted_partitions(whole.delegate, run.subsets)
        yield from _fact("partitions", f"{partitions:,}{_counted_differently(run, whole, counts_own)}", view)
        yield from _fact("delegate kernels", f"{_kernels(run):,}", view)
    subgraph = run.graph.index
    yield from _multiply_adds(words, compute, sum(compute.by_node[subgraph].values()), compute.of(subgraph, run.delegated), view)
    dropped = dropped_partitions(run)
    # Unlike text, a strip must not be wider than the terminal, because a wrapped strip is unreadable.
    yield from strip_lines(strip(run), words, whole.delegate.name, min(view.width, max(columns(), _NARROWEST_STRIP)))
    if dropped and run.subsets:
        sizes = [counted(len(subset.nodes), "node") for subset in dropped]
        more = f" and {len(sizes) - _GAINS_SHOWN:,} more" if len(sizes) > _GAINS_SHOWN else ""
        text = f"{_kernels(run):,} of {_kernels(run) + len(dropped):,} candidate partitions delegated; dropped: "
        yield from _paragraph(f"{text}{', '.join(sizes[:_GAINS_SHOWN])}{more}", view, "  ", "    ")
    yield from _fallback(run, whole, ranks, view)
    if words.has_parts:
        yield from _partitions(run, view, words.place)


def _counted_differently(run: SubgraphRun, whole: Run, counts_own: bool) -> str:
    """Explain why the delegate's log line counts fewer partitions than the runtime, if the delegate logs partitions."""
    if run.subsets and not whole.delegate.counts_cpu_partitions:
        cpu = f"The runtime's line counts {len(run.subsets):,}, because partitions on the CPU are included"
        return f"; the delegate counts only its own partitions. {cpu}"
    if not run.subsets or not counts_own:
        return ""
    return " (the runtime also counts partitions on the CPU; the delegate's own line does not count them)"


def _multiply_adds(words: OutcomeWords, compute: Compute, total: int, delegated: int, view: View) -> Iterator[Line]:
    if compute.has_programs:
        yield from _fact("multiply-adds", "not known, because the file does not have those of compiled programs", view)
    elif total:
        yield from _fact("multiply-adds", f"{total:,} counted, {delegated:,} {words.accepted} ({share(delegated, total)})", view)


def _fact(title: str, text: str, view: View) -> list[Line]:
    return _paragraph(text, view, f"  {title:17} ", " " * 20)


def _kernels(run: SubgraphRun) -> int:
    return sum([subset.is_delegated for subset in run.subsets])


class _Group(NamedTuple):
    """Nodes of one operator with reasons that differ only in numbers.

    ``found`` has the values in the model. ``demands`` has the reasons without values of the model, which many nodes can have in
    common. Both have one entry for each distinct set of reasons.
    """

    op: str
    found: list[str]
    demands: list[tuple[Reason, ...]]
    nodes: list[int]


def _fallback(run: SubgraphRun, whole: Run, ranks: Ranks, view: View) -> Iterator[Line]:
    groups = _grouped(run, whole.refusal)
    if not groups:
        return
    total = sum([_size(variants) for variants in groups])
    yield Line("")
    where = words_of(whole.delegate.name).left
    yield Line(f"{where[0].upper()}{where[1:]}: {counted(total, 'node')}, by reason", HEADING)

    def order(variant: _Group) -> tuple[int, int]:
        return ranks.of(variant.op, [demand.code for demand in variant.demands[0]]), -len(variant.nodes)

    for variants in groups:
        variants.sort(key=order)
    for variants in sorted(groups, key=lambda variants: (order(variants[0])[0], -_size(variants))):
        demands = list(dict.fromkeys([demands for variant in variants for demands in variant.demands]))
        joined = [_joined([alternative[position] for alternative in demands]) for position in range(len(demands[0]))]
        for demand in joined:
            yield from _paragraph(message(f"{demand.code}: needs {demand.needed}"), view, "  ", "    ", CODE)
        hints = _hints(run, variants, joined, view.verbose)
        told = hints if view.verbose else hints[:_HINTS_SHOWN]
        for hint in told:
            yield from _hint(hint, view.width, "    ")
        yield from more_lines(len(hints) - len(told), "hint", "    ", style=HINT)
        shown = variants if view.verbose else variants[:_VARIANTS_SHOWN]
        for variant in shown:
            yield from _variant(variant, len(demands) > 1, view)
        yield from more_lines(_size(variants[len(shown) :]), "node", "    ")


def _hints(run: SubgraphRun, variants: Sequence[_Group], demands: Sequence[Reason], verbose: bool) -> list[Sequence[str]]:
    """Return the advice of the run for these demands, or the hints of the demands if there is no advice.

    Each item is a list of changes that are each enough.

    The advice that helps the most nodes comes first. If only some operators need a change, the text lists these operators.
    """
    nodes: dict[str, tuple[AdviceText, dict[str, set[int]]]] = {}
    for demand in demands:
        for variant in variants:
            for node in variant.nodes:
                for advice in run.advice.get((node, demand.code), ()):
                    nodes.setdefault(advice.text, (advice, {}))[1].setdefault(variant.op, set()).add(node)
    if not nodes:
        return [[hint] for hint in dict.fromkeys([demand.hint for demand in demands if demand.hint])]
    operators = {variant.op for variant in variants}
    ordered = sorted(nodes.values(), key=lambda item: -len(set().union(*item[1].values())))
    return [
        [
            change if by_op.keys() == operators else f"{', '.join(by_op)}: {change}"
            for change in ([advice.text] if verbose else advice.choices)
        ]
        for advice, by_op in ordered
    ]


def _joined(demands: Sequence[Reason]) -> Reason:
    """Merge demands that differ only in numbers into one demand with ranges."""
    return demands[0]._replace(
        needed=with_ranges([demand.needed for demand in demands]), hint=with_ranges([demand.hint for demand in demands])
    )


def _grouped(run: SubgraphRun, refusal: Refusal | None) -> list[list[_Group]]:
    nodes: dict[tuple[str, tuple[Reason, ...]], list[int]] = {}
    for index in left_nodes(run):
        reasons = bare_reasons(run, index, refusal)
        if reasons:
            nodes.setdefault((run.graph.nodes[index].op, reasons), []).append(index)
    groups: dict[tuple[tuple[str, ...], ...], dict[tuple[str, str], _Group]] = {}
    for (op, reasons), indices in nodes.items():
        demands = tuple([Reason(reason.code, "", "", "", reason.needed, reason.hint) for reason in reasons])
        key = tuple((demand.code, without_numbers(demand.needed), without_numbers(demand.hint)) for demand in demands)
        detail = _found(op, reasons, refusal)
        variant = groups.setdefault(key, {}).setdefault((op, without_numbers(detail)), _Group(op, [], [], []))
        variant.found.append(detail)
        variant.demands.append(demands)
        variant.nodes.extend(indices)
    return [list(variants.values()) for variants in groups.values()]


def _found(op: str, reasons: tuple[Reason, ...], refusal: Refusal | None) -> str:
    """Join the ``found`` texts of reasons. Omit texts that repeat the operator's name or the refusal of the whole run."""
    known = {op, shortened(refusal.message) if refusal else ""}
    return "; ".join([text for text in dict.fromkeys([reason.found for reason in reasons]) if text not in known])


def _size(variants: Iterable[_Group]) -> int:
    return sum([len(variant.nodes) for variant in variants])


def _variant(variant: _Group, demands_differ: bool, view: View) -> Iterator[Line]:
    words = [with_ranges(variant.found)] if variant.found[0] else []
    if demands_differ:
        own = list(dict.fromkeys(variant.demands))
        needed = [_joined([alternative[position] for alternative in own]).needed for position in range(len(own[0]))]
        words.append(f"needs {'; '.join(dict.fromkeys(needed))}")
    details = "".join([f", {message(text)}" for text in words])
    text = f"{name(variant.op)}: {counted(len(variant.nodes), 'node')}{details}"
    lines = wrapped(text, view.width, "    ", "      ")
    nodes = node_list(sorted(variant.nodes))
    if len(lines[-1]) + len(nodes) + 3 <= view.width:
        lines[-1] += f" [{nodes}]"
    elif view.verbose:
        lines += wrapped(f"[{nodes}]", view.width, "      ", "       ")
    else:
        lines.append(f"      [{node_list(sorted(variant.nodes), view.width - 8)}]")
    return map(Line, lines)


def _partitions(run: SubgraphRun, view: View, place: str) -> Iterator[Line]:
    if not run.subsets:
        return
    numbered = list(enumerate(run.subsets))
    shown = numbered
    if not view.verbose and len(numbered) > _PARTITIONS_SHOWN:
        shown = sorted(sorted(numbered, key=lambda entry: -len(entry[1].nodes))[:_PARTITIONS_SHOWN])
    yield from heading_lines("Partitions")
    rows: list[tuple[str, ...]] = [_PARTITION_COLUMNS]
    operators = [["operators"]]
    for number, subset in shown:
        sizes = [f"{size:,}" for size in (len(subset.nodes), *bytes_across(run.graph, subset))]
        rows.append((str(number), place if subset.is_delegated else "cpu", *sizes))
        counts = Counter([run.graph.nodes[index].op for index in subset.nodes]).most_common()
        operators.append([f"{name(op)} {count:,}" for op, count in counts])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, names in zip(rows, operators, strict=True):
        start = "  ".join(["", *[pad(cell, width) for pad, cell, width in zip(_PADDING, row, widths, strict=True)], ""])
        room = view.width - len(start)
        if view.verbose:
            yield from _paragraph(item_list(names), view, start, " " * len(start))
        else:
            yield Line(start + cut(item_list(names, room), room))
    if len(shown) < len(numbered):
        hidden = len(numbered) - len(shown)
        text = f"... and {counted(hidden, 'more partition')}, none of them larger (--verbose lists all)"
        yield from _paragraph(text, view, "  ", "  ")

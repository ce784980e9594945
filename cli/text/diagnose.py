"""A diagnosis as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from delegate_sim.diagnosis.advice.commands import fix_command
from delegate_sim.diagnosis.causes.cause import UNROLL, Cause
from delegate_sim.diagnosis.diagnosis import Diagnosis
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.diagnosis.ranking import RankedCause, adds_nodes
from delegate_sim.foundation.printable import and_list, printable
from delegate_sim.results.compare.comparison_verdict import api_defaults_text
from delegate_sim.results.report.findings import risks_text
from delegate_sim.results.report.measures import FAILS_LATER, FURTHER, NUMBERS, PREDICTED, outcome_text
from delegate_sim.results.report.outcome_words import OutcomeWords, words_of

from ..console.layout import counted, item_list, message, name, node_list, operator_list, share
from ..console.terminal import Line
from .diagnoses import advice_lines, model_name, multiply_adds_share
from .elements.measures import further_text, loop_lines, measures_text, number_text
from .elements.paragraphs import CODE, HEADING, HINT, heading_lines, indented, log_lines, more_lines, paragraph
from .elements.verdict import number_risk_lines, plugin_lines, target_lines, verdict_lines

if TYPE_CHECKING:
    from delegate_sim.timing.fixes import FixTimes

_CAUSES_SHOWN = 10
_NODES_WIDTH = 60
_SUBGRAPHS_SHOWN = 3
_ADDS_NODES = "fixing only this cause adds nodes, but does not help further"


def diagnosis_lines(
    diagnosis: Diagnosis, width: int, verbose: bool, *, label: str = "", times: FixTimes | None = None
) -> Iterator[Line]:
    """Return the verdict, the log lines, the causes (biggest gain first), and the result of fixing all causes.

    With ``label``, the name of the target, the text starts with the names of the model and the target. ``times`` has the measured
    times, which are shown with each cause.
    """
    if label:
        yield Line(f"{model_name(diagnosis)} on {label}", HEADING)
    yield from verdict_lines(diagnosis.run, width)
    if api_text := api_defaults_text(diagnosis.model, diagnosis.run, diagnosis.effort.cache):
        yield from paragraph(api_text, width, "", "  ")
    if diagnosis.registered_verdict:
        yield from paragraph(f"With registered operators: {diagnosis.registered_verdict}", width, "", "  ")
    yield Line("")
    yield from log_lines(diagnosis.run.log_lines)
    if diagnosis.run.log_lines:
        yield Line("")
    yield Line("Now", HEADING)
    target = diagnosis.target
    words = words_of(target.delegate.name)
    yield from indented(_cost_text(diagnosis.now, words), width, "  ")
    if diagnosis.limited:
        text = f"{words.left} only because of the delegate's limit on partitions: {counted(diagnosis.limited, 'node')}"
        yield from indented(text, width, "  ")
    if times is not None:
        from .timing import timing_lines

        yield from timing_lines(times.timings, [diagnosis.run], width, verbose)
    shown = diagnosis.findings if verbose else diagnosis.findings[:_CAUSES_SHOWN]
    for number, finding in enumerate(shown, 1):
        yield Line("")
        yield from _finding_lines(number, finding, diagnosis, width, verbose)
        yield from _time_lines(finding, times, width)
    if len(shown) < len(diagnosis.findings):
        yield Line("")
        yield from more_lines(len(diagnosis.findings) - len(shown), "cause", "")
    yield from number_risk_lines(diagnosis.run, width, verbose)
    yield from _without_all_lines(diagnosis, words, width, times)
    yield from _plain_fix_lines(diagnosis, words, width)
    yield from plugin_lines([diagnosis.run], width)
    yield Line("")
    for reason in diagnosis.not_simulated:
        yield from indented(message(f"Not simulated: {reason}"), width, "")
    if times is not None:
        ranked = "Causes are ranked by the measured time of their nodes; causes without a time by their multiply-adds."
        yield from indented(ranked, width, "")
    yield from indented("Multiply-adds and bytes are counts, not an estimate of latency.", width, "")
    yield from loop_lines([diagnosis.run], width)
    yield Line("")
    yield from target_lines(target, width, verbose)


def _without_all_lines(diagnosis: Diagnosis, words: OutcomeWords, width: int, times: FixTimes | None) -> Iterator[Line]:
    simulated = [finding for finding in diagnosis.findings if finding.cause.is_simulated]
    if not diagnosis.findings:
        yield from heading_lines(f"Nothing in the model keeps nodes {words.left}.")
    elif simulated:
        rest = "" if len(simulated) == len(diagnosis.findings) else " whose result can be simulated"
        yield from heading_lines(f"With all causes fixed{rest}")
        yield from indented(_cost_text(diagnosis.without_all, words), width, "  ")
        if any(column.of(diagnosis.without_all.measures) for column in NUMBERS):
            risks = diagnosis.risks_without_all
            codes = and_list(list(dict.fromkeys([risk.refusal.code for risk in risks])))
            text = risks_text(risks, f"then {diagnosis.target.delegate.display_name} ")
            yield from indented(message(f"{text} ({codes})"), width, "  ")
        if times is not None:
            from .timing import bounds_lines

            yield from bounds_lines(times.of_all(), diagnosis.target.delegate.name, width, "  ")


def _plain_fix_lines(diagnosis: Diagnosis, words: OutcomeWords, width: int) -> Iterator[Line]:
    plain = diagnosis.plain_fix
    if plain is None:
        return
    yield from heading_lines("With fix, which rewrites the file without a new conversion")
    if plain.plan is None or plain.cost is None:
        yield from indented(plain.result, width, "  ")
    else:
        yield from indented(_cost_text(plain.cost, words), width, "  ")
        names = ", ".join([step.name for step in plain.plan.steps])
        yield from indented(f"{plain.plan.exactness.words}{names and f'; passes: {names}'}", width, "  ")
    # The command is not wrapped, so that it can be copied.
    yield Line(f"  {printable(fix_command(diagnosis.model, diagnosis.target, *plain.arguments))}", HINT)
    if plain.cost is None or plain.cost.measures.fallback_nodes:
        yield from indented("--allow approximate also tries passes that change outputs, and may bring more", width, "  ")


def _finding_lines(number: int, finding: RankedCause, diagnosis: Diagnosis, width: int, verbose: bool) -> Iterator[Line]:
    cause = finding.cause
    words = words_of(diagnosis.target.delegate.name)
    total = diagnosis.total_multiply_adds
    yield from indented(f"{number}. {message(cause.title)}", width, "", HEADING)
    yield from indented(message(f"{cause.label} ({', '.join(cause.codes)})"), width, "   ", CODE)
    operators = item_list([f"{name(op)} {count:,}" for op, count in cause.operators], None if verbose else _NODES_WIDTH)
    count = counted(len(cause.nodes), "node")
    keeps = "after another cause is fixed, keeps" if finding.appears_later else "keeps"
    if _fails_at(cause, diagnosis):
        text = f"the delegate fails at {count}: {operators}"
    elif _fails_next(cause, diagnosis):
        text = f"after another cause is fixed, the delegate fails at {count}: {operators}"
    else:
        text = f"{keeps} {count} {words.left}: {operators}"
    if total:
        text += f"; {share(finding.multiply_adds, total)} of multiply-adds"
    yield from indented(text, width, "   ")
    yield from indented(_places_text(cause, len(diagnosis.run.subgraphs) > 1, verbose), width, "   ")
    if finding.followers:
        yield from indented(_followers_text(finding, diagnosis), width, "   ")
    if cause.found and cause.found != cause.title:
        yield from indented(message(f"found: {cause.found}; needed: {cause.needed}"), width, "   ")
    if cause.node_versions:
        versions = sorted(set(cause.node_versions.values()))
        yield from indented(f"version after the fix: {item_list(map(str, versions))}", width, "   ")
    if finding.alone is not None and finding.alone != diagnosis.now and (not finding.needs or _adds_nodes(finding, diagnosis)):
        # Without a simulated change, the simulation assumes that the delegate takes the unchanged nodes.
        condition = f"if the {words.actor} accepted these nodes" if cause.remedy.accepts else "if it is fixed"
        yield from indented(f"{condition}: {_change_text(diagnosis.now, finding.alone)}", width, "   ")
        node_count = finding.alone.measures.nodes
        if cause.remedy.conversion and node_count != diagnosis.now.measures.nodes:
            yield from indented(f"converted in this way, the model has {counted(node_count, 'node')}", width, "   ")
    if not cause.is_simulated:
        yield from indented("the result of this change cannot be simulated", width, "   ")
    elif cause.suggestion != UNROLL and (finding.needs != () or finding.alone == diagnosis.now):
        yield from indented(_needs_text(finding, diagnosis), width, "   ")
    if finding.together is not None and number > 1 and finding.together != diagnosis.now:
        yield from indented(f"with this and earlier causes fixed: {_change_text(diagnosis.now, finding.together)}", width, "   ")
    yield from advice_lines(diagnosis, finding, width)


def _fails_at(cause: Cause, diagnosis: Diagnosis) -> bool:
    refusal, outcome = diagnosis.run.refusal, diagnosis.now.measures.outcome
    if refusal is None or refusal.node is None or refusal.code not in cause.codes:
        return False
    return outcome in ("restored", PREDICTED, FAILS_LATER) and (refusal.subgraph, refusal.node) in cause.nodes


def _fails_next(cause: Cause, diagnosis: Diagnosis) -> bool:
    """Return whether the delegate takes all nodes of the cause, but would fail at them if it did not fail earlier."""
    if diagnosis.now.measures.outcome != FAILS_LATER:
        return False
    taken = diagnosis.taken
    return all(key in taken for key in cause.nodes)


def _places_text(cause: Cause, has_subgraphs: bool, verbose: bool) -> str:
    places: dict[int, list[int]] = {}
    for key in sorted(cause.nodes):
        places.setdefault(key.subgraph, []).append(key.node)
    room = None if verbose else _NODES_WIDTH
    texts = [(f" of subgraph {index}: " if has_subgraphs else " ") + node_list(own, room) for index, own in places.items()]
    shown = texts if verbose else texts[:_SUBGRAPHS_SHOWN]
    more = f"; and of {len(texts) - len(shown):,} more subgraphs" if len(shown) < len(texts) else ""
    return f"nodes{';'.join(shown)}{more}"


def _time_lines(finding: RankedCause, times: FixTimes | None, width: int) -> Iterator[Line]:
    if times is None:
        return
    from .timing import bounds_lines, cpu_time_text

    total = max([timing.total_ms for timing in times.timings[:1]], default=0.0)
    yield from indented(f"time: {cpu_time_text(times.of_cause(finding), total)}", width, "   ")
    if (own := times.of(finding)) is not None:
        yield from bounds_lines(own, times.diagnosis.target.delegate.name, width, "   ")


def _followers_text(finding: RankedCause, diagnosis: Diagnosis) -> str:
    graphs = {subgraph.graph.index: subgraph.graph for subgraph in diagnosis.run.subgraphs}
    told = operator_list([graphs[key.subgraph].nodes[key.node].op for key in finding.followers], _NODES_WIDTH)
    left = words_of(diagnosis.target.delegate.name).left
    keep = "stays" if len(finding.followers) == 1 else "stay"
    return (
        f"fixing this cause also frees {counted(len(finding.followers), 'node')} that {keep} {left} only because of the "
        f"nodes of this cause: {told}"
    )


def _needs_text(finding: RankedCause, diagnosis: Diagnosis) -> str:
    adds = _adds_nodes(finding, diagnosis)
    if finding.needs is None:
        text = f"{_ADDS_NODES if adds else 'fixing this cause does not help'}: multiply-adds, kernels and bytes do not improve"
        return f"{text}, even if the other causes are fixed" if len(diagnosis.findings) > 1 else text
    needed, instead = (
        [number for number, other in enumerate(diagnosis.findings, 1) if other.cause.identity in identities]
        for identities in (finding.needs, finding.needs_instead)
    )
    then, now = finding.alone, diagnosis.now
    is_same = then is None or outcome_text(then.measures.outcome) == outcome_text(now.measures.outcome)
    worse = "" if then is None or is_same else f" ({_outcomes(now, then)})"
    no_help = f"{_ADDS_NODES if adds else 'fixing only this cause does not help'}{worse}"
    if not needed:
        return f"{no_help}: other causes must be fixed too"
    if not adds and all(finding.cause.identity in (diagnosis.findings[number - 1].needs or ()) for number in needed):
        return f"helps only together with {'cause' if len(needed) == 1 else 'causes'} {node_list(needed)}{worse}"
    if len(needed) > 1:
        return f"{no_help}: causes {node_list(needed)} must be fixed too; not simulated: other sets of several causes"
    if instead:
        return f"{no_help}: one of the causes {node_list(sorted([*needed, *instead]))} must be fixed too"
    return f"{no_help}: cause {needed[0]} must be fixed too"


def _adds_nodes(finding: RankedCause, diagnosis: Diagnosis) -> bool:
    return finding.alone is not None and adds_nodes(diagnosis.now, finding.alone)


def _cost_text(cost: Cost, words: OutcomeWords) -> str:
    text = measures_text(cost.measures, words, has_share=True) + further_text(cost.measures, words)
    return text + (f", {multiply_adds_share(cost)} of multiply-adds {words.accepted}" if cost.total_multiply_adds else "")


def _outcomes(now: Cost, then: Cost) -> str:
    return " -> ".join([outcome_text(cost.measures.outcome, words_of(cost.delegate).outcome) for cost in (now, then)])


def _change_text(now: Cost, then: Cost) -> str:
    old, new = now.measures, then.measures
    words = [] if outcome_text(old.outcome) == outcome_text(new.outcome) else [_outcomes(now, then)]
    of_target = words_of(then.delegate)
    before = f" of {old.nodes:,}" if old.nodes != new.nodes else ""
    words.append(f"{of_target.accepted} {old.delegated_nodes:,}{before} -> {new.delegated_nodes:,} of {new.nodes:,}")
    if of_target.has_parts:
        words.append(f"partitions {old.partitions:,} -> {new.partitions:,}")
        words += [f"{column.title} {number_text(column.of(old))} -> {number_text(column.of(new))}" for column in FURTHER]
    numbers = [(column.title, column.of(old), column.of(new)) for column in NUMBERS]
    words += [f"{title} {number_text(before)} -> {number_text(after)}" for title, before, after in numbers if before or after]
    if now.total_multiply_adds or then.total_multiply_adds:
        words.append(f"multiply-adds {of_target.accepted} {multiply_adds_share(now)} -> {multiply_adds_share(then)}")
    return ", ".join(words)

"""The verdict on a run in one sentence. It has the delegated shares of nodes and of multiply-adds, or the failure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ...delegates.base import Delegate
from ...delegates.traits import Ranking
from ...foundation.printable import and_list, counted, printable, share, shortened
from ...graph.reachability import no_weights
from ...model.precompiled import COMPILED_OPERATORS, DISPATCH, compiled_elsewhere
from ...refusal import Refusal
from ...releases.catalogue import Release, release_note
from ...rules.kinds import OPERATOR_NOT_REGISTERED
from ...runtime.interpreter import REFUSED, Run
from ...runtime.target import Target, target_details
from .blockers import Blocker, main_blocker
from .findings import counts_text, risks_text, unchecked_numbers
from .measures import FAILS_LATER, NONE_FAILS, NOT_RUNNING, PREDICTED, TAKEN, Measures, awaits_compiler, measure
from .multiply_adds import Compute, compute_of
from .number_risks import number_risks
from .outcome_words import OutcomeWords, if_not_applied, words_of
from .placement import dropped_partitions

_Item = TypeVar("_Item")

_NO_PROMISE = "this is no promise, because selected nodes are not yet compiled"
_BUT = ", but "
_LONGEST_REASON = 240
_LONGEST_OPERATOR = 60
_LONGEST_NAME = 30


def verdict(run: Run, measures: Measures | None = None) -> str:
    """Return the verdict on a run as a sentence without a period."""
    measures = measure(run) if measures is None else measures
    return about_file(run, measures) + _verdict(run, measures) + _unchecked(run.target, measures, unchecked_numbers(run))


def _unchecked(target: Target, measures: Measures, further: Sequence[str] = ()) -> str:
    """Return what ``unchecked_text`` says about the target, unless the model is known not to run on a known release."""
    said = (
        ""
        if target.release.is_known and measures.outcome in NOT_RUNNING
        else unchecked_text(target.delegate, target.release, further)
    )
    return f" ({said})" if said else ""


def unchecked_text(delegate: Delegate, release: Release, further: Sequence[str] = ()) -> str:
    """Return the parts of a release that were not checked, or "" if all parts were checked.

    If the release is newer than all known releases, return the release whose rules are used. ``further`` has more parts.
    """
    if release.is_after_newest:
        return str(release_note(release))
    history = delegate.history
    if release.family == "tf" and history.starts_at_known:
        name = delegate.short_name
        return f"{release} is a release of TensorFlow, which has no {name}; the rules of {history.known_since} are used"
    parts = [*delegate.unchecked_parts(release), *further]
    return f"not checked for {release}: {', '.join(parts)}" if parts else ""


def about_file(run: Run, measures: Measures) -> str:
    """Return sentences about a file that was converted without its weights, or was compiled for another accelerator.

    The text is empty for all other files.
    """
    if not run.subgraphs:
        return ""
    if warning := no_weights(run.subgraphs[0].graph.model):
        return f"{warning}. "
    does_run = (DISPATCH,) if measures.outcome not in NOT_RUNNING else ()
    accelerator = compiled_elsewhere(run.subgraphs[0].graph.model, (*run.delegate.rules.custom, *does_run))
    return f"This model was compiled for {accelerator}. " if accelerator else ""


def _verdict(run: Run, measures: Measures) -> str:
    actor, outcome = subject(run.target), measures.outcome
    reason, words = refusal_text(run), words_of(run.delegate.name)
    if outcome in NOT_RUNNING:
        return f"The model does not run{_before_failure(actor, measures)}: {reason}{if_registered(run)}"
    if outcome == PREDICTED:
        return f"{actor} is predicted to reject the model; {words.if_not_applied}, because {reason}"
    if reason:
        return f"{actor} {_rejection(run, outcome)}; {if_not_applied(run.delegate.name, run.refusal)}, because {reason}"
    if awaits_compiler(run.delegate, measures):
        return not_compiled_text(run.delegate)
    return _shares(run, actor, measures, compute_of(run), words)


def not_compiled_text(delegate: Delegate) -> str:
    """Return a sentence about a model that the compiler of the delegate has not compiled yet (see ``awaits_compiler``)."""
    accelerator = next(own.accelerator for op, own in COMPILED_OPERATORS.items() if op in delegate.rules.custom)
    condition = ", which compiles only integer nodes" if delegate.computes_integers else ""
    return (
        f"The model is not compiled for {accelerator} yet: compile it with {delegate.compiler}{condition}. Which nodes the "
        "compiler takes is not simulated"
    )


def if_registered(run: Run) -> str:
    """Return the option that shows the result if custom operators are not registered."""
    if run.refusal is None or run.refusal.code != OPERATOR_NOT_REGISTERED.name:
        return ""
    return "; --assume-ops-registered shows the result for an application that registers its operators"


def verdict_summary(run: Run, measures: Measures | None = None) -> str:
    """Return the verdict without target and shares, for a table with columns for target and shares."""
    measures = measure(run) if measures is None else measures
    reason, compute = refusal_text(run), compute_of(run)
    if measures.outcome in NOT_RUNNING:
        return f"The model does not run: {reason}"
    if measures.outcome == PREDICTED:
        return f"is predicted to reject the model: {reason}"
    if reason:
        return f"{_rejection(run, measures.outcome)}: {reason}"
    if not measures.nodes:
        return "the model has no nodes"
    compiled = "; compiled only on the device" if run.awaits_board else ""
    if measures.delegated_nodes == measures.nodes:
        return f"all nodes in {_kernels(run, measures)}{compiled}{risks_text(number_risks(run), _BUT)}"
    if awaits_compiler(run.delegate, measures):
        return f"not compiled with {run.delegate.compiler} yet, and the compiler is not simulated"
    blocker = _main_blocker(run, compute)
    kind = _kind_text(run, blocker)
    if not measures.is_delegated:
        return f"no node{_because_of(blocker)}{kind}"
    staying = _staying(run, blocker, words_of(run.delegate.name), kind)
    return staying + compiled + risks_text(number_risks(run), "; the delegate ", "its nodes")


class Coverage(NamedTuple):
    """The verdict on several targets, and the end of the sentence, which says what the comparison leaves out."""

    verdict: str
    aside: str = ""


def coverage_verdict(runs: Sequence[Run]) -> str:
    """Return ``coverage`` as one text."""
    return "".join(coverage(runs))


def coverage(runs: Sequence[Run]) -> Coverage:
    """Return a sentence about the targets that run the largest share of the model: multiply-adds first, then nodes.

    All targets with the same share are named. XNNPACK is the CPU, and compiler plugins only select nodes, so both are ranked
    only if no other target is given. Targets with wrong results are ranked only if no other accelerator runs a node. A target
    whose compiler must run first is never ranked. If no ranked target runs a node, the sentence is about XNNPACK or the plugins.
    """
    waiting = [run for run in runs if awaits_compiler(run.delegate, measure(run))]
    if waiting and len(waiting) == len(runs):
        return Coverage(verdict(waiting[0]))
    groups = ranked_groups([run for run in runs if run not in waiting], lambda run: run.delegate)
    place = next((place for place, group in enumerate(groups) if _leaders(group)), None)
    has_accelerator = bool(groups[0]) and groups[0][0].delegate.ranking is Ranking.ACCELERATORS
    before = "" if has_accelerator else "".join([f"{not_compiled_text(run.delegate)}. " for run in waiting])
    if place is None:
        others = [run for run in runs if run not in waiting]
        none = f"None of {len(others):,} targets runs a node. " if len(others) > 1 else ""
        return Coverage(f"{before}{none}{verdict(others[0])}")
    ranked = groups[place]
    if ranked[0].delegate.ranking is Ranking.PLUGINS:
        running = [run for run in ranked if measure(run).outcome == TAKEN]
        return Coverage(before + _plugins_verdict(running, are_all=len(running) == len(runs)))
    leaders, wrong, ahead = _standing(ranked)
    first, measures = leaders[0], measure(leaders[0])
    if place:
        several = len(groups[0]) > 1
        ranking = (
            f"None of {len(groups[0]):,} accelerators runs a node. "
            if several
            else f"{subject(groups[0][0].target)} runs no node. "
        )
    else:
        is_only = sum(measure(run).outcome == TAKEN for run in ranked) == 1
        whole = f"all nodes ({measures.nodes:,})" if measures.delegated_nodes == measures.nodes else "nodes" if is_only else ""
        ranking = ranking_text(len(ranked) - len(wrong) - len(ahead), len(leaders), whole)
    runs_all = not place and bool(ranking) and measures.delegated_nodes == measures.nodes
    text = _shared_verdict(leaders, measures) if runs_all or len(leaders) > 1 else _verdict(first, measures)
    if ranking and len(leaders) == 1 and text.startswith(name := subject(first.target)):
        text = _name_in_list(first.target) + text.removeprefix(name)
    text = text.replace("The ", "the ", 1) if ranking and text.startswith("The ") else text
    unchecked = "".join(dict.fromkeys([_unchecked(run.target, measures, unchecked_numbers(run)) for run in leaders]))
    left_out = [f"{subject(run.target)} (computes nodes wrongly)" for run in wrong]
    left_out += [f"{subject(run.target)} (deprecated {run.delegate.deprecated}, takes more)" for run in ahead]
    left_out += [] if before else [f"{subject(run.target)} (not compiled yet)" for run in waiting]
    unranked = [run.delegate for group in groups[place + 1 :] for run in group]
    aside = aside_text(unranked, left_out) if len(runs) > 1 else ""
    return Coverage(f"{about_file(first, measures)}{before}{ranking}{text}{unchecked}", aside)


def best_run(runs: Sequence[Run]) -> Run:
    """Return the run that ``coverage`` names first. If no target runs a node, return the first run."""
    return best_runs(runs)[0]


def best_runs(runs: Sequence[Run]) -> Sequence[Run]:
    """Return the runs that ``coverage`` names. If no target runs a node, return the first run."""
    groups = ranked_groups(runs, lambda run: run.delegate)
    return next((_standing(group)[0] for group in groups if _leaders(group)), runs[:1])


def _standing(runs: Sequence[Run]) -> tuple[list[Run], list[Run], list[Run]]:
    """Return the leaders of a group, the runs that do not lead because of wrong results, and because they are deprecated."""
    right = [run for run in runs if not has_wrong_results(run)]
    wrong = [run for run in runs if run not in right] if _leaders(right) else []
    ranked = [run for run in runs if run not in wrong]
    ahead = _deprecated_ahead(ranked)
    return _leaders([run for run in ranked if run not in ahead]), wrong, ahead


def has_wrong_results(run: Run) -> bool:
    """Return whether the delegate computes a node wrongly for ordinary inputs."""
    return any(risk.is_certain for risk in number_risks(run))


def _leaders(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with the largest shares, or [] if no run delegates a node.

    Runs with wrong numbers and deprecated delegates come last.
    """
    shares = [(run, _share(run)) for run in runs if measure(run).outcome == TAKEN]
    most = max([share for _, share in shares], default=(0, 0))
    leaders = [run for run, share in shares if share == most]
    return sorted(leaders, key=lambda run: (bool(number_risks(run)), bool(run.delegate.deprecated)))


def _share(run: Run) -> tuple[int, int]:
    return compute_of(run).delegated_multiply_adds, measure(run).delegated_nodes


def _deprecated_ahead(runs: Sequence[Run]) -> list[Run]:
    """Return the deprecated runs with larger shares than those of all other delegates that take nodes. They do not lead."""
    current = _leaders([run for run in runs if not run.delegate.deprecated])
    return [run for run in runs if run.delegate.deprecated and current and _share(run) > _share(current[0])]


def _shared_verdict(runs: Sequence[Run], measures: Measures) -> str:
    """Return the verdict on several runs with the same shares. Nodes that stay are named if they are the same ones."""
    told_apart = _names_in_list([run.target for run in runs])
    first, *others = dict.fromkeys(told_apart)
    names = and_list([first, *[name.replace("The ", "the ", 1) for name in others]])
    wrong = "".join([risks_text(number_risks(run), f"; {subject(run.target)} ", "its nodes") for run in runs])
    if measures.delegated_nodes == measures.nodes:
        return names + wrong
    compute = compute_of(runs[0])
    shares = share_text(measures.delegated_nodes, measures.nodes, compute.delegated_multiply_adds, compute.multiply_adds)
    staying = {_staying(run, _main_blocker(run, compute_of(run)), words_of(run.delegate.name)) for run in runs}
    verb = "run" if others else "runs"
    return f"{names} {verb} {shares}{f'; {staying.pop()}' if len(staying) == 1 else ''}{wrong}"


def _names_in_list(targets: Sequence[Target]) -> list[str]:
    """Return the names of targets. If several targets share a name, the options and releases that differ follow it."""
    names = [_name_in_list(target) for target in targets]
    counts = Counter(names)
    details = target_details(targets)
    return [f"{name} ({detail})" if counts[name] > 1 and detail else name for name, detail in zip(names, details, strict=True)]


def _name_in_list(target: Target) -> str:
    deprecated = target.delegate.deprecated
    return f"{subject(target)} (deprecated {deprecated})" if deprecated else subject(target)


def ranked_groups(items: Sequence[_Item], delegate_of: Callable[[_Item], Delegate]) -> list[list[_Item]]:
    """Return the items in groups: accelerators, then CPU libraries, then compiler plugins. Empty groups are left out."""
    groups: list[list[_Item]] = [[] for _ in Ranking]
    for item in items:
        groups[delegate_of(item).ranking].append(item)
    return [group for group in groups if group]


def ranking_text(targets: int, leaders: int, whole: str = "") -> str:
    """Return the beginning of a sentence about the targets with the largest share, or "" if there is nothing to compare.

    ``whole`` names what these targets run if they run everything, such as "all nodes (7)".
    """
    if targets == 1:
        return ""
    if whole:
        return f"{leaders:,} of {counted(targets, 'target')} {'runs' if leaders == 1 else 'run'} {whole}: "
    return f"Largest share of {counted(targets, 'target')}: "


def aside_text(unranked: Sequence[Delegate], further: Sequence[str] = ()) -> str:
    """Return a sentence about the comparison. ``unranked`` has the delegates that are not ranked.

    ``further`` names further targets that are not ranked, each with the reason.
    """
    plugins = "NPU plugins (they only select nodes)"
    named = [plugins if own.ranking is Ranking.PLUGINS else f"{own.display_name} (the CPU)" for own in unranked]
    reasons = dict.fromkeys(named)
    reasons |= dict.fromkeys([text.replace("The ", "the ", 1) for text in further])
    return f". A share is not speed{f'; not ranked: {and_list([*reasons])}' if reasons else ''}"


def _plugins_verdict(runs: Sequence[Run], *, are_all: bool) -> str:
    measures = [measure(run) for run in runs]
    about = about_file(runs[0], measures[0])
    alone = _verdict(runs[0], measures[0]).replace("The ", "the ", 1) if len(runs) == 1 else ""
    return about + unranked_text([(own.delegated_nodes, own.nodes) for own in measures], alone, are_all=are_all)


def unranked_text(selected: Sequence[tuple[int, int]], alone: str = "", *, are_all: bool, what: str = "") -> str:
    """Return a verdict on compiler plugins, without a ranking.

    ``selected`` has the number of selected nodes and of all nodes for each plugin. ``alone`` is the verdict on a single plugin.
    ``are_all`` is false if there are other targets, which run no node. ``what`` names the models.
    """
    number = counted(len(selected), "NPU plugin") + ("" if are_all else " (no other target runs a node)")
    if alone:
        return f"{number}: {alone}; {_NO_PROMISE}"
    ranked = sorted(selected, key=lambda pair: pair[0] / (pair[1] or 1))
    shares = dict.fromkeys([share(*pair) for pair in (ranked[0], ranked[-1])])
    return f"{number}, without a ranking: they take {' to '.join(shares)} of nodes{what}; {_NO_PROMISE}"


def share_text(delegated_nodes: int, nodes: int, multiply_adds: int, total_multiply_adds: int) -> str:
    """Return the shares of nodes and of multiply-adds, such as ``63 % of nodes but 0 % of multiply-adds``."""
    of_nodes = f"{share(delegated_nodes, nodes)} of nodes"
    if not total_multiply_adds:
        return of_nodes
    # "but" shows that the delegated nodes do only a small part of the work.
    is_less = 2 * multiply_adds * nodes < delegated_nodes * total_multiply_adds
    return f"{of_nodes} {'but' if is_less else 'and'} {share(multiply_adds, total_multiply_adds)} of multiply-adds"


def short_verdict(
    target: Target, measures: Measures, multiply_adds: int, total_multiply_adds: int, refusal: Refusal | None = None
) -> str:
    """Return the verdict without reasons.

    ``multiply_adds`` is the number of delegated multiply-adds. ``refusal`` is that of the whole graph, if it is known.
    """
    return _short_verdict(target, measures, multiply_adds, total_multiply_adds, refusal) + _unchecked(target, measures)


def _short_verdict(
    target: Target, measures: Measures, multiply_adds: int, total_multiply_adds: int, refusal: Refusal | None
) -> str:
    actor, outcome = subject(target), measures.outcome
    if outcome in NOT_RUNNING:
        return f"The model does not run{_before_failure(actor, measures)}"
    if not measures.nodes:
        return "The model has no nodes"
    verb = words_of(target.delegate.name).verb
    if outcome == TAKEN:
        is_whole = measures.delegated_nodes == measures.nodes
        shares = share_text(measures.delegated_nodes, measures.nodes, multiply_adds, total_multiply_adds)
        share_of = f"all nodes ({measures.nodes:,})" if is_whole else shares
        verb = verb if is_whole else words_of(target.delegate.name).part_verb or verb
        return f"{actor} {verb} {share_of}{counts_text(measures, ', with ')}"
    if awaits_compiler(target.delegate, measures):
        return not_compiled_text(target.delegate)
    what_follows = if_not_applied(target.delegate.name, refusal)
    if outcome == REFUSED:
        return f"{actor} is not applied; {what_follows}"
    failure = {"restored": "rejects the model", PREDICTED: "is predicted to reject the model"}
    if outcome in failure:
        return f"{actor} {failure[outcome]}; {what_follows}"
    return f"{actor} {verb} no node; everything runs on the CPU"


def subject(target: Target, *, with_own_release: bool = True) -> str:
    """Return the subject of a sentence: the delegate's name, with the release of its own software and of its platform."""
    delegate = target.delegate
    software = delegate.own_release(target.options) if with_own_release else ""
    title = f"{delegate.display_name}{f' ({software})' if software else ''}"
    platform = delegate.behind.platform
    release = None if platform is None else target.options.get(platform.option)
    if platform is None or release in (None, platform.alone):
        return title
    level = delegate.behind.lower_level(target.options)
    at_level = "" if level is None else f" at feature level {level}"
    return f"{title}{at_level} on {platform.key.capitalize()} {release}"


def refusal_text(run: Run) -> str:
    """Return the refusal of the whole graph as text. Long names of tensors are shortened, and long explanations are removed."""
    if run.refusal is None:
        return ""
    text = re.sub(r"\S{43,}", lambda word: _with_short_name(word[0]), printable(run.refusal.text).rstrip("."))
    if len(text) > _LONGEST_REASON:
        text = re.sub(r" \([^()]*\)$", "", text)
    return shortened(text, _LONGEST_REASON)


def _with_short_name(word: str) -> str:
    """Return a word without the beginning of the long name that it has in parentheses, if any."""
    first, last = word.find("("), word.rfind(")")
    return f"{word[: first + 1]}...{word[last - _LONGEST_NAME :]}" if first >= 0 and last - first > 41 else word


def _rejection(run: Run, outcome: str) -> str:
    words = words_of(run.delegate.name)
    return words.refuses if outcome == REFUSED else words.rejects


def _kernels(run: Run, measures: Measures) -> str:
    return counted(measures.delegate_kernels, words_of(run.delegate.name).noun)


def _main_blocker(run: Run, compute: Compute) -> Blocker | None:
    return main_blocker(run.subgraphs[0].graph.model, run, compute)


def _because_of(blocker: Blocker | None) -> str:
    return "" if blocker is None or not blocker.op else f", mainly because of {blocker.nodes:,} {_operator(blocker.op)}"


def _kind_text(run: Run, blocker: Blocker | None) -> str:
    kind = None if blocker is None else run.delegate.kinds.get(blocker.code)
    return "" if kind is None else f" ({kind.title})"


def _before_failure(actor: str, measures: Measures) -> str:
    actor = actor.replace("The ", "the ", 1)
    if measures.outcome == FAILS_LATER:
        return f", although {actor} takes {measures.delegated_nodes:,} of {counted(measures.nodes, 'node')}"
    return f", and {actor} takes no node" if measures.outcome == NONE_FAILS else ""


def _shares(run: Run, actor: str, measures: Measures, compute: Compute, words: OutcomeWords) -> str:
    verb = words.verb
    nodes, delegated = measures.nodes, measures.delegated_nodes
    if not nodes:
        return "The model has no nodes"
    if delegated == nodes:
        return f"{actor} {verb} all nodes ({nodes:,}) in {_kernels(run, measures)}{risks_text(number_risks(run), _BUT)}"
    blocker = _main_blocker(run, compute)
    if not delegated:
        none = "no node" if nodes == 1 else f"none of {nodes:,} nodes"
        return f"{actor} {verb} {none}; everything runs on the CPU{_because_of(blocker)}"
    shares = share_text(delegated, nodes, compute.delegated_multiply_adds, compute.multiply_adds)
    shares += " (a compiled program counts as one node)" if compute.has_programs else ""
    verb = words.part_verb or verb
    return f"{actor} {verb} {shares}{risks_text(number_risks(run), _BUT)}; {_staying(run, blocker, words)}"


def _staying(run: Run, blocker: Blocker | None, words: OutcomeWords, kind: str = "") -> str:
    """Return how many nodes stay on the CPU: those of the main blocker's operator, with ``kind``, and all others."""
    nodes = Counter(
        subgraph.graph.nodes[index].op
        for subgraph in run.subgraphs
        for index in subgraph.graph.execution_plan
        if index not in subgraph.delegated
    )
    op = blocker.op if blocker is not None and blocker.op in nodes else max(nodes, key=nodes.__getitem__)
    others = nodes.total() - nodes[op]
    more = f" and {counted(others, 'other node')}" if others else ""
    limited = sum([len(subset.nodes) for subgraph in run.subgraphs for subset in dropped_partitions(subgraph)])
    why = f", {limited:,} of them because of the limit on partitions" if limited else ""
    verb = "stays" if nodes.total() == 1 else "stay"
    left = "with TFLite's own kernels" if run.delegate.is_applied_by_default else words.left
    return f"{nodes[op]:,} {_operator(op)}{kind}{more} {verb} {left}{why}"


def _operator(op: str) -> str:
    return shortened(printable(op), _LONGEST_OPERATOR)

"""The verdict on several targets: which of them is best, and what the comparison leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ...delegates.base import Delegate
from ...delegates.traits import Ranking
from ...foundation.printable import and_list, counted, share
from ...runtime.interpreter import Run
from ...runtime.target import Target, target_details
from .blockers import main_blocker
from .findings import risks_text, unchecked_numbers
from .measures import TAKEN, Measures, awaits_compiler, measure
from .multiply_adds import compute_of
from .number_risks import number_risks
from .outcome_words import words_of
from .verdict import about_file, not_compiled_text, share_text, staying_text, subject, unchecked_aside, verdict, verdict_alone

_Item = TypeVar("_Item")
_NO_PROMISE = "this is no promise, because selected nodes are not yet compiled"


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
    text = _shared_verdict(leaders, measures) if runs_all or len(leaders) > 1 else verdict_alone(first, measures)
    if ranking and len(leaders) == 1 and text.startswith(name := subject(first.target)):
        text = _name_in_list(first.target) + text.removeprefix(name)
    text = text.replace("The ", "the ", 1) if ranking and text.startswith("The ") else text
    unchecked = "".join(dict.fromkeys([unchecked_aside(run.target, measures, unchecked_numbers(run)) for run in leaders]))
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
    blockers = [main_blocker(run.subgraphs[0].graph.model, run, compute_of(run)) for run in runs]
    staying = {staying_text(run, blocker, words_of(run.delegate.name)) for run, blocker in zip(runs, blockers, strict=True)}
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
    alone = verdict_alone(runs[0], measures[0]).replace("The ", "the ", 1) if len(runs) == 1 else ""
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

"""The verdict on a run in one sentence. It has the delegated shares of nodes and of multiply-adds, or the failure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ...delegates.base import Delegate
from ...foundation.printable import counted, printable, share, shortened
from ...graph.reachability import no_weights
from ...model.precompiled import COMPILED_OPERATORS, DISPATCH, compiled_elsewhere
from ...refusal import Refusal
from ...releases.catalogue import Release, release_note
from ...rules.kinds import OPERATOR_NOT_REGISTERED
from ...runtime.interpreter import REFUSED, Run
from ...runtime.target import Target
from .blockers import Blocker, main_blocker
from .findings import counts_text, risks_text, unchecked_numbers
from .measures import FAILS_LATER, NONE_FAILS, NOT_RUNNING, PREDICTED, TAKEN, Measures, awaits_compiler, measure
from .multiply_adds import Compute, compute_of
from .number_risks import number_risks
from .outcome_words import OutcomeWords, if_not_applied, words_of
from .placement import dropped_partitions

_BUT = ", but "
_LONGEST_REASON = 240
_LONGEST_OPERATOR = 60
_LONGEST_NAME = 30


def verdict(run: Run, measures: Measures | None = None) -> str:
    """Return the verdict on a run as a sentence without a period."""
    measures = measure(run) if measures is None else measures
    return (
        about_file(run, measures) + verdict_alone(run, measures) + unchecked_aside(run.target, measures, unchecked_numbers(run))
    )


def unchecked_aside(target: Target, measures: Measures, further: Sequence[str] = ()) -> str:
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


def verdict_alone(run: Run, measures: Measures) -> str:
    """Return the verdict without the notes about the file and about what was not checked."""
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
    staying = staying_text(run, blocker, words_of(run.delegate.name), kind)
    return staying + compiled + risks_text(number_risks(run), "; the delegate ", "its nodes")


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
    return _short_verdict(target, measures, multiply_adds, total_multiply_adds, refusal) + unchecked_aside(target, measures)


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
    return f"{actor} {verb} {shares}{risks_text(number_risks(run), _BUT)}; {staying_text(run, blocker, words)}"


def staying_text(run: Run, blocker: Blocker | None, words: OutcomeWords, kind: str = "") -> str:
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

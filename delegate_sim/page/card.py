"""The card of a model: one sentence, one command, and a row for each target with a strip of the execution plan."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from ..bundles.address import SEPARATOR, split_address
from ..delegates.devices import CARD_GROUPS, MICROCONTROLLERS_TITLE, ORDER, PHONES_TITLE, card_group, is_second_choice, places_of
from ..delegates.registry import CLOSED_PLUGIN_NAMES, DELEGATE_NAMES
from ..delegates.traits import Ranking
from ..diagnosis.advice.commands import diagnose_command, fix_command
from ..diagnosis.advice.plain_fix import PlainFix, SizesFix, search_fix, shared_refusals, sizes_fix
from ..diagnosis.causes.change import result_words
from ..errors import LimitError, MissingPackageError
from ..foundation.printable import and_list, share
from ..graph.effort import Effort
from ..micro.delegate import micro_target
from ..model.model import Model
from ..refusal import Refusal
from ..results.report.blockers import has_open_input
from ..results.report.coverage import coverage, has_wrong_results
from ..results.report.display import Lengths, file_lengths
from ..results.report.measures import TAKEN, Measures, awaits_compiler, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.verdict import about_file, refusal_text, subject, unchecked_text, verdict_summary
from ..rules.kinds import DYNAMIC_TENSORS
from ..runtime.interpreter import REFUSED, Run, simulate
from ..runtime.target import Target
from ..version import __version__

_PLACES = {name: place for place, name in enumerate(ORDER)}
_NEARLY_ALL, _MOST = 0.99, 0.5
_FEWEST_SIMULATIONS = 100
"""A rewrite is searched only if the model is so small that this number of simulations is affordable."""
_PARTS = 16
_VENDORS = {"google": "Google Tensor", "intel": "Intel NPU", "mediatek": "MediaTek NPU", "samsung": "Samsung NPU"}


class CardRow(NamedTuple):
    """The result of one target."""

    delegate: str
    """The name of the delegate, as users type it."""
    label: str
    subject: str
    """The label as the subject of a sentence."""
    devices: str
    """The devices with this delegate, in a few words, and since when the delegate is deprecated."""
    group: str
    is_ranked: bool = False
    """Whether the target is an accelerator whose result is simulated: not a CPU library, and not only selected."""
    part: int = 0
    """The delegated multiply-adds. For a model without multiply-adds, and if ``counts_nodes``: the delegated nodes."""
    whole: int = 0
    """0 if it is not known how much the target runs."""
    counts_nodes: bool = False
    kernels: int = 0
    is_applied: bool = False
    """Whether nodes run on the delegate in the end."""
    is_whole: bool = False
    """Whether all nodes run on the delegate."""
    is_wrong: bool = False
    """Whether the delegate computes a node wrongly for ordinary inputs."""
    summary: str = ""
    """The main reason why nodes stay on the CPU."""
    lengths: Lengths = ()
    """Groups of consecutive nodes in the same state, in the order of the file. Empty if it is not known."""


class CardGroup(NamedTuple):
    """The targets of one kind of devices. The largest share comes first. Targets with wrong results come after right ones."""

    title: str
    rows: tuple[CardRow, ...]


class CardAdvice(NamedTuple):
    """The next command for the model, and what it brings."""

    delegate: str
    text: str
    command: str


class Card(NamedTuple):
    """The results of several targets for one model."""

    model: str
    """The name of the model file."""
    nodes: int
    headline: str
    advice: CardAdvice | None
    groups: tuple[CardGroup, ...]
    aside: str
    """The parts that the comparison leaves out."""
    runtime: str
    version: str


class _TargetResult(NamedTuple):
    run: Run
    row: CardRow


class _Stop(NamedTuple):
    runs: Sequence[Run]
    fix: SizesFix | None
    reason: str


def card_of(model: Model, runs: Sequence[Run], without_answer: Sequence[Target] = (), reason: str = "") -> Card:
    """Return the card of a model, which has TensorFlow Lite Micro if it has all delegates. ``runs`` must not be empty.

    ``reason`` says why the targets in ``without_answer`` have no answer.
    """
    model = without_folder(model)
    wholes = [run for run in runs if run.delegate.runs_whole_models]
    runs = [run for run in runs if not run.delegate.runs_whole_models]
    stops = [_stop(model, refusal, stopped) for refusal, stopped in shared_refusals(runs)]
    reasons = {id(run): stop.reason for stop in stops for run in stop.runs}
    names = [run.delegate.name for run in runs] + [target.delegate.name for target in without_answer]
    results = [_TargetResult(run, _row(run, reasons.get(id(run), ""), names)) for run in runs]
    unanswered = [_named(target, names)._replace(summary=f"not simulated: {reason}") for target in without_answer]
    rows = [*[result.row for result in results], *unanswered]
    if not wholes and {*DELEGATE_NAMES} <= {*names}:
        with suppress(LimitError):
            wholes = [simulate(model, micro_target())]
    rows += [_whole_row(run) for run in wholes]
    covered = coverage(runs)
    headline = about_file(runs[0], measure(runs[0])) + (_sentence(results, stops) or covered.verdict)
    unchecked = dict.fromkeys([unchecked_text(run.delegate, run.release) for run in runs])
    aside = covered.aside + "".join([f". {text[0].upper()}{text[1:]}" for text in unchecked if text])
    if {*DELEGATE_NAMES} <= {*names}:
        aside += f". Not simulated: {and_list(CLOSED_PLUGIN_NAMES)}"
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in runs[0].subgraphs])
    name = "a model given as bytes" if model.path is None else os.path.basename(model.path)
    return Card(name, nodes, headline, _advice(model, results, stops), _groups(rows), aside, str(runs[0].release), __version__)


def without_folder(model: Model) -> Model:
    """Return the model with the name of its file as its path, because cards and pages are sent to others."""
    if model.path is None:
        return model
    file, *members = split_address(model.path)
    return replace(model, path=SEPARATOR.join([os.path.basename(file), *members]))


def _groups(rows: Sequence[CardRow]) -> tuple[CardGroup, ...]:
    ranked = sorted(rows, key=_rank)
    titles = [title for title in CARD_GROUPS if any(row.group == title for row in rows)]
    return tuple([CardGroup(title, tuple([row for row in ranked if row.group == title])) for title in titles])


def _rank(row: CardRow) -> tuple[bool, bool, bool, float, bool, int]:
    place = _PLACES.get(row.delegate, len(_PLACES))
    return not row.lengths, not row.is_applied, row.is_wrong, -_fraction(row), not row.is_whole, place


def _fraction(row: CardRow) -> float:
    return row.part / max(row.whole, 1)


def _row(run: Run, reason: str, names: Sequence[str]) -> CardRow:
    measures, compute, delegate = measure(run), compute_of(run), run.delegate
    counts_nodes = not compute.multiply_adds
    part = measures.delegated_nodes if counts_nodes else compute.delegated_multiply_adds
    whole = measures.nodes if counts_nodes else compute.multiply_adds
    is_applied, waits = measures.outcome == TAKEN, awaits_compiler(delegate, measures)
    return _named(run.target, names)._replace(
        is_ranked=delegate.ranking is Ranking.ACCELERATORS and not waits,
        part=part if is_applied else 0,
        whole=0 if waits else whole,
        counts_nodes=counts_nodes,
        kernels=measures.delegate_kernels if is_applied else 0,
        is_applied=is_applied,
        is_whole=is_applied and measures.delegated_nodes == measures.nodes,
        is_wrong=has_wrong_results(run),
        summary=f"does not start: {reason}" if reason else _summary(run, measures),
        lengths=() if waits else file_lengths(run),
    )


def _whole_row(run: Run) -> CardRow:
    title = run.delegate.display_name
    return _row(run, "", ())._replace(
        label=title,
        subject=title,
        devices="the CPU of microcontrollers",
        group=MICROCONTROLLERS_TITLE,
        is_ranked=False,
        summary=f"cannot run the model: {refusal_text(run)}" if run.refusal else "runs the model",
    )


def _named(target: Target, names: Sequence[str]) -> CardRow:
    delegate = target.delegate
    deprecated = f", deprecated {delegate.deprecated}" if delegate.deprecated else ""
    own = _VENDORS.get(delegate.name.partition("-")[2]) or subject(target, with_own_release=False)
    group = card_group(delegate.name, names)
    return CardRow(delegate.name, own.removeprefix("The "), own, places_of(target) + deprecated, group)


def _stop(model: Model, refusal: Refusal, runs: Sequence[Run]) -> _Stop:
    fix = sizes_fix(model, runs[0])
    if fix is not None:
        return _Stop(runs, fix, _open_size(model))
    if refusal.code == DYNAMIC_TENSORS.name:
        return _Stop(runs, None, "the size of a tensor is known only at run time")
    return _Stop(runs, None, runs[0].delegate.kinds[refusal.code].title)


def _open_size(model: Model) -> str:
    main = model.subgraphs[0]
    signatures = [main.tensors[index].shape_signature or () for index in main.inputs if 0 <= index < len(main.tensors)]
    is_batch = has_open_input(model) and not any(size < 0 for signature in signatures for size in signature[1:])
    return "the batch size is not fixed" if is_batch else "the size of an input is not fixed"


def _summary(run: Run, measures: Measures) -> str:
    refusal = run.refusal
    if run.outcome == REFUSED and run.is_prepared and refusal is not None and refusal.code in run.delegate.kinds:
        return f"does not start: {run.delegate.kinds[refusal.code].title}"
    return verdict_summary(run, measures)


def share_of(row: CardRow) -> str:
    """Return the delegated share of the multiply-adds, or of the nodes of a model without multiply-adds."""
    return f"{share(row.part, row.whole)} of the {'nodes' if row.counts_nodes else 'multiply-adds'}"


def _sentence(results: Sequence[_TargetResult], stops: Sequence[_Stop]) -> str:
    ranked = [result.row for result in results if result.row.is_ranked]
    if len(ranked) < 2 or not any(run.is_prepared for run, _ in results):
        return ""
    working = sorted([row for row in ranked if row.is_applied and row.part], key=_rank)
    right = [result.row for result in _leading(results)]
    whole = [row for row in right if row.is_whole]
    phones = [result for result in results if result.row.is_ranked and result.row.group == PHONES_TITLE]
    stop = next((stop for stop in stops if phones and {id(run) for run, _ in phones} <= set(map(id, stop.runs))), None)
    if len(whole) == len(ranked):
        return f"All {len(ranked):,} accelerators run all of it"
    if stop is not None:
        is_one = len(phones) == 1
        begin = f"{phones[0].row.subject} does not start" if is_one else "No phone accelerator starts"
        others = "" if not right else f". {right[0].subject} runs {'all of it' if right[0].is_whole else share_of(right[0])}"
        return f"{begin}: {stop.reason}{others}"
    nearly = None
    if len(whole) == 1:
        nearly = next((row for row in right if not row.is_whole and _fraction(row) >= _NEARLY_ALL), None)
        others = "" if nearly is None else f"; {nearly.subject} runs {share_of(nearly)}"
        begin = f"{whole[0].subject} alone runs all of it{others}"
    elif whole:
        compared = [row for row in ranked if not row.is_wrong]
        begin = f"{len(whole):,} of {len(compared):,} accelerators run all of it"
    elif right:
        first, *equal = [row.subject for row in right if share_of(row) == share_of(right[0])]
        leaders = and_list([first, *[name.replace("The ", "the ", 1) for name in equal]])
        begin = f"{leaders} {'run' if equal else 'runs'} {share_of(right[0])}"
    elif working:
        return f"{working[0].subject} runs {share_of(working[0])}, but computes nodes wrongly"
    else:
        what = "the multiply-adds" if any(row.kernels for row in ranked) else "it"
        if len(ranked) == 1:
            return f"{ranked[0].subject} runs none of {what}"
        return f"None of {len(ranked):,} accelerators runs any of {what}"
    last = _worst(results)
    return begin if last is None or last.row in (right[0], nearly) else f"{begin}. {_weakness(last.row)}"


def _weakness(row: CardRow) -> str:
    if row.is_wrong:
        return f"{row.subject} computes nodes wrongly"
    if row.kernels > 1 and _fraction(row) >= _MOST:
        return f"{row.subject} breaks it into {row.kernels:,} pieces"
    return f"{row.subject} runs {share_of(row) if row.is_applied else 'none of it'}"


def _leading(results: Sequence[_TargetResult]) -> Sequence[_TargetResult]:
    """Return the accelerators with right results in the order of their ranks.

    A deprecated delegate leads only if there is no other.
    """
    working = [result for result in results if result.row.is_ranked and result.row.is_applied and result.row.part]
    right = sorted([result for result in working if not result.row.is_wrong], key=lambda result: _rank(result.row))
    return [*itertools.dropwhile(lambda result: bool(result.run.delegate.deprecated), right)] or right


def _advised(results: Sequence[_TargetResult]) -> _TargetResult | None:
    """Return the accelerator to advise about: the leading one, unless it runs everything or another one computes wrongly."""
    worst, first = _worst(results), next(iter(_leading(results)), None)
    return worst if worst is None or worst.row.is_wrong or first is None or first.row.is_whole else first


def _worst(results: Sequence[_TargetResult]) -> _TargetResult | None:
    """Return the accelerator that needs advice most: of phones, if one of them does not run everything right.

    Deprecated delegates are left out if there are others.
    """
    weak = [result for result in results if result.row.is_ranked and (result.row.is_wrong or not result.row.is_whole)]
    weak = [result for result in weak if not result.run.delegate.deprecated] or weak
    phones = [result for result in weak if result.row.group == PHONES_TITLE]
    return min(phones or weak, key=_need, default=None)


def _need(result: _TargetResult) -> tuple[bool, bool, bool, float]:
    """Return a key that is smaller for greater need: wrong numbers first, nearly everything and second choices last."""
    row, fraction = result.row, _fraction(result.row)
    return fraction >= _NEARLY_ALL and not row.is_wrong, is_second_choice(row.delegate), not row.is_wrong, fraction


def _advice(model: Model, results: Sequence[_TargetResult], stops: Sequence[_Stop]) -> CardAdvice | None:
    for stop in stops:
        if stop.fix is not None:
            run, fix, command = stop.fix
            return CardAdvice(run.delegate.name, f"With fixed sizes of its inputs, {_after(subject(run.target), fix)}:", command)
    advised = _advised(results)
    if advised is None:
        return None
    run, row = advised
    searched = _searched(model, run.target)
    cost = None if searched is None else searched.cost
    is_cured = cost is not None and row.is_wrong and not cost.measures.wrong_results
    fraction = 0.0 if cost is None else cost.measures.delegated_share if row.counts_nodes else cost.multiply_add_share
    is_more = cost is not None and fraction > _fraction(row)
    if searched and cost and (is_cured or is_more or cost.measures.delegate_kernels < row.kernels):
        text = f"After this rewrite of the file, {_after(row.label, searched)}:"
        return CardAdvice(row.delegate, text, fix_command(model, run.target, *searched.arguments))
    question = f"Why {row.label} computes nodes wrongly" if row.is_wrong else f"Why nodes stay on the CPU with {row.label}"
    text = f"{question}, and what to change:"
    return CardAdvice(row.delegate, text, diagnose_command(model, run.target))


def _searched(model: Model, target: Target) -> PlainFix | None:
    if Effort(model, _PARTS).left < _FEWEST_SIMULATIONS:
        return None
    try:
        return search_fix(model, [target], Effort(model))
    except MissingPackageError:
        return None  # some passes need numpy


def _after(label: str, fix: PlainFix) -> str:
    assert fix.plan is not None
    assert fix.cost is not None
    return f"{label} runs {result_words(fix.cost)} ({fix.plan.exactness.words})"

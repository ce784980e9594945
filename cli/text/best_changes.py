"""The changes with the largest gain over several diagnoses, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from delegate_sim.delegates.traits import Ranking
from delegate_sim.diagnosis.advice.fix_passes import FoundPass
from delegate_sim.diagnosis.advice.plain_fix import PlainFix, joint_fix
from delegate_sim.diagnosis.causes.change import Remedy
from delegate_sim.diagnosis.diagnosis import worsened
from delegate_sim.diagnosis.ranking import NO_GAIN, RankedCause, adds_nodes, gain
from delegate_sim.foundation.printable import and_list
from delegate_sim.hypothetical.hypothetical_changes import combined
from delegate_sim.results.report.measures import FURTHER, TAKEN, awaits_compiler
from delegate_sim.results.report.outcome_words import kernels_title, words_of

from ..console.layout import message
from ..console.terminal import Line
from .diagnoses import advice_lines, diagnosis_labels, joint_fix_lines, leading_pass, model_name
from .elements.paragraphs import HEADING, indented, paragraph

if TYPE_CHECKING:
    from delegate_sim.diagnosis.diagnosis import Diagnosis
    from delegate_sim.diagnosis.examiner import Cost

_BEST = 3
_ORDER = (Ranking.ACCELERATORS, Ranking.PLUGINS, Ranking.CPU_LIBRARIES)
_NOTHING_LEFT = "Nothing in the models keeps nodes on the CPU."


@dataclass(frozen=True, slots=True)
class _Change:
    """A change for one target, and its result: fixed causes, fixed sizes of inputs, or the usual passes of ``fix``.

    ``partners`` are causes without which fixing ``finding`` does not help, and which are fixed too. ``finding`` is None if no
    cause says that the sizes matter, and for the usual passes. ``fix`` is the result of ``fix``: with fixed sizes of inputs if
    these are a part of the change, or else with its usual passes. ``leading`` is the pass that is named before the other
    changes, and ``then`` is then its result. ``then`` is None if the result cannot be simulated.
    """

    diagnosis: Diagnosis
    finding: RankedCause | None
    then: Cost | None
    fix: PlainFix | None = None
    leading: FoundPass | None = None
    partners: tuple[RankedCause, ...] = ()

    @property
    def gain(self) -> tuple[float, int]:
        """The share of multiply-adds and the number of nodes that the change adds. Both are 0 if no node is then delegated."""
        now, then = self.diagnosis.now, self.then
        if then is None or then.measures.outcome != TAKEN:
            return 0.0, 0
        before = now.multiply_adds / now.total_multiply_adds if now.total_multiply_adds else 0.0
        after = then.multiply_adds / then.total_multiply_adds if then.total_multiply_adds else 0.0
        return after - before, then.measures.delegated_nodes - now.measures.delegated_nodes

    @property
    def helps(self) -> bool:
        """Whether the change delegates more multiply-adds, or as many in fewer kernels, partitions or bytes.

        The change also helps if it delegates more nodes, but no more kernels and partitions.
        """
        if self.then is None:
            return False
        now = self.diagnosis.now
        return self.gain[0] > 0 or gain(now, self.then) > NO_GAIN or adds_nodes(now, self.then)

    @property
    def findings(self) -> tuple[RankedCause, ...]:
        """The causes that are fixed."""
        return self.partners if self.finding is None else (*self.partners, self.finding)

    @property
    def title(self) -> str:
        if self.finding is not None:
            return "; and ".join([own.cause.title for own in self.findings])
        return "fixed sizes of inputs" if self.fix is not None and self.fix.arguments else "the usual passes of fix"

    @property
    def order(self) -> tuple[Any, ...]:
        """The key of the order: accelerators, plugins, CPU libraries, deprecated delegates; the largest gain first."""
        delegate = self.diagnosis.target.delegate
        kind = len(_ORDER) if delegate.deprecated else _ORDER.index(delegate.ranking)
        return kind, self.then is None, *[-part for part in self.gain]

    @property
    def applied(self) -> Remedy | FoundPass | PlainFix | None:
        """The change whose effect on other targets is to be simulated. None if it cannot be simulated."""
        if self.leading is not None or self.finding is None:
            return self.leading or self.fix
        return combined(*[own.cause.advised for own in self.findings]) if self.then is not None else None

    @property
    def brings(self) -> str:
        """The gain in words. If no nodes are added, the words name kernels, partitions or bytes."""
        if self.then is None:
            return "the result is not simulated"
        share_added, nodes_added = self.gain
        work = f"{share_added:.0%} of multiply-adds".replace("%", " %") if share_added > 0 else ""
        nodes = f"{nodes_added:+,} {'node' if nodes_added == 1 else 'nodes'}" if nodes_added > 0 else ""
        if nodes or work:
            return " and ".join(filter(None, [nodes, work]))
        now, then = self.diagnosis.now.measures, self.then.measures
        kernels = kernels_title([self.diagnosis.target.delegate.name])
        pairs = (
            (kernels, now.delegate_kernels, then.delegate_kernels),
            ("partitions", now.partitions, then.partitions),
            *[(column.title, column.of(now), column.of(then)) for column in FURTHER],
        )
        return next((f"{what} {before:,} -> {after:,}" for what, before, after in pairs if after < before), "")


def best_lines(diagnoses: Sequence[Diagnosis], width: int) -> Iterator[Line]:
    """Yield the changes with the largest gain if nothing else is changed, and the result of ``fix`` for all targets together."""
    labels = {id(diagnosis): label for label, diagnosis in zip(diagnosis_labels(diagnoses), diagnoses, strict=True)}
    fix = joint_fix(diagnoses)
    best = _best_changes(diagnoses, has_joint_fix=fix is not None and fix.plan is not None)
    left_out = dict.fromkeys([reason for diagnosis in diagnoses for reason in diagnosis.not_simulated])
    for reason in left_out:
        yield from paragraph(message(f"Not simulated: {reason}"), width)
    if not best and not left_out and fix is None:
        has_causes = any(diagnosis.findings for diagnosis in diagnoses)
        yield from paragraph("No single change helps." if has_causes else _NOTHING_LEFT, width)
    if best:
        yield Line("The best changes" if len(best) > 1 else "The best change", HEADING)
    for number, change in enumerate(best, 1):
        where = f"{model_name(change.diagnosis)} on {labels[id(change.diagnosis)]}"
        words = words_of(change.diagnosis.target.delegate.name)
        is_assumed = change.leading is None and any(finding.cause.remedy.accepts for finding in change.findings)
        condition = f" if the {words.actor} accepted these nodes" if is_assumed else ""
        yield from indented(f"{number}. {where}: {message(change.title)}: {change.brings}{condition}", width, "")
        worse = [] if change.applied is None else worsened(change.diagnosis, change.applied, diagnoses)
        if worse:
            yield from indented(f"but worse for {and_list([labels[id(other)] for other in worse])}", width, "   ")
        for finding in change.findings or (None,):
            yield from advice_lines(change.diagnosis, finding, width, change.fix)
    if len({id(change.diagnosis) for change in best}) < len(best):
        yield from paragraph("Each gain is that of one change alone. Gains for the same target may not add up.", width)
    if fix is not None:
        yield from [Line("")] if best or left_out else []
        yield from joint_fix_lines(fix, width)


def _best_changes(diagnoses: Sequence[Diagnosis], *, has_joint_fix: bool) -> Sequence[_Change]:
    """Return the first changes in the order of ``_Change.order``. Changes for one target stay together.

    The usual passes of ``fix`` are tried for the targets of the first changes, if there is no result for all targets.
    """
    changes = sorted(_changes(diagnoses), key=lambda change: change.order)[: 2 * _BEST]
    own = {id(change.diagnosis): change.diagnosis for change in changes}
    changes = [_with_leading_pass(change) for change in changes]
    if not has_joint_fix:
        for diagnosis in [*own.values()][:_BEST]:
            plain = diagnosis.plain_fix
            if plain is not None and plain.cost is not None and not plain.arguments:
                changes.append(_Change(diagnosis, None, plain.cost, plain))
    helping = [change for change in changes if change.helps or change.then is None]
    best = sorted(helping, key=lambda change: change.order)[:_BEST]
    first = {id(change.diagnosis): number for number, change in reversed([*enumerate(best)])}
    return sorted(best, key=lambda change: (change.order[0], first[id(change.diagnosis)]))


def _changes(diagnoses: Sequence[Diagnosis]) -> Iterator[_Change]:
    """Yield the changes for each cause that help. A cause that is a partner of another cause has no change of its own.

    Causes are partners only if fixing all of them delegates more than fixing one of them.
    """
    for diagnosis in diagnoses:
        own_changes = [*_single_changes(diagnosis)]
        partners = {own.cause.identity for change in own_changes for own in change.partners}
        yield from [change for change in own_changes if change.finding is None or change.finding.cause.identity not in partners]


def _single_changes(diagnosis: Diagnosis) -> Iterator[_Change]:
    is_of_sizes = False
    for place, finding in enumerate(diagnosis.findings):
        change = _Change(diagnosis, finding, finding.alone)
        before = diagnosis.findings[:place]
        if finding.needs and not change.helps and {own.cause.identity for own in before} == {*finding.needs}:
            singles = [_Change(diagnosis, own, own.alone) for own in before]
            pair = replace(change, then=finding.together, partners=before)
            change = pair if all(not single.helps or single.gain < pair.gain for single in singles) else change
        if change.helps:
            is_of_sizes |= finding.cause.remedy.fixed_inputs
            yield replace(change, fix=diagnosis.shaped_fix if finding.cause.remedy.fixed_inputs else None)
        elif not finding.cause.is_simulated and awaits_compiler(diagnosis.target.delegate, diagnosis.now.measures):
            yield replace(change, then=None)
    shaped = None if is_of_sizes else diagnosis.shaped_fix
    if shaped is not None and shaped.cost is not None:
        yield _Change(diagnosis, None, shaped.cost, shaped)


def _with_leading_pass(change: _Change) -> _Change:
    """Return the change with the result of the pass of ``fix`` that is named first, if there is such a pass."""
    leading = None if change.finding is None or change.partners else leading_pass(change.diagnosis, change.finding)
    return change if leading is None else replace(change, then=leading.cost, leading=leading)

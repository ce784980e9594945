"""An acceptance rule of any delegate, and its refusals.

A delegate's rule for an operator is the list of conditions that the delegate tests, in its order. A condition (``Check``) says
what it demands, finds what a node has instead, and is documented and explained by its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

from ..graph.graph import NodeView
from ..releases.catalogue import Release, parse_release
from .kinds import Kind
from .source import Source

T = TypeVar("T")
TargetT_contra = TypeVar("TargetT_contra", contravariant=True)
"""The target that a delegate's rules depend on besides the node: options, the release, notes on earlier nodes."""


class Reason(NamedTuple):
    """One reason why a node does not run on the delegate. ``kind`` is the delegate's own name for it, or ours if it has none."""

    code: str
    kind: str
    message: str
    found: str
    needed: str
    hint: str

    def to_dict(self) -> dict[str, str]:
        """Return the fields as a dictionary, for JSON."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A delegate's verdict on one node, with each reason in the delegate's order."""

    is_supported: bool
    reasons: tuple[Reason, ...] = ()


ACCEPTED = Verdict(True)

NodeFinder: TypeAlias = Callable[[NodeView], str | None]
"""Returns what was found if a demand is not met, None if it is."""


@dataclass(frozen=True, eq=False)
class Condition(Generic[TargetT_contra]):
    """A condition on the targets that a check applies to; ``words`` describe them in documentation, such as "from level 29"."""

    words: str
    holds: Callable[[TargetT_contra], bool]


@dataclass(frozen=True, eq=False)
class Check(Generic[TargetT_contra]):
    """One condition of a rule. ``needed`` completes the sentence "needs ...".

    ``hint`` and ``native`` (the delegate's own name for this refusal) are the kind's unless given, ``source`` the rule's.
    """

    kind: Kind
    needed: str
    finder: Callable[[NodeView, TargetT_contra], str | None]
    hint: str = ""
    native: str = ""
    source: Source | None = None
    applies: str = ""
    """The nodes that the check applies to, if not all: "if given"."""
    data: tuple[object, ...] = ()
    """The demand as plain data: its name, operands, allowed values; empty for a check with a function of its own."""
    conditions: tuple[Condition[TargetT_contra], ...] = ()
    introduced: Release | None = None
    withdrawn: Release | None = None
    said: Callable[[NodeView, TargetT_contra], str] | None = None
    """The delegate's own message for this refusal, where its name for one is a line of its log."""

    @property
    def demand(self) -> str:
        """The demand and the nodes that it concerns, for documentation; a refusal is about such a node and need not say so."""
        return f"{self.needed} ({self.applies})" if self.applies else self.needed

    @overload
    def when(self: Check[object], condition: Condition[T]) -> Check[T]: ...

    @overload
    def when(self, condition: Condition[TargetT_contra]) -> Check[TargetT_contra]: ...

    def when(self, condition: Condition[Any]) -> Check[Any]:
        """Return this check for the targets that meet a condition."""
        return replace(self, conditions=(*self.conditions, condition))

    def from_release(self, release: str) -> Check[TargetT_contra]:
        """Return this check for releases of the runtime from this one on."""
        return replace(self, introduced=parse_release(release))

    def before_release(self, release: str) -> Check[TargetT_contra]:
        """Return this check for releases of the runtime before this one."""
        return replace(self, withdrawn=parse_release(release))

    def reported_as(self, native: str) -> Check[TargetT_contra]:
        """Return this check with the delegate's own name for the refusal, where it is not the kind's."""
        return replace(self, native=native)

    def saying(self, said: str | Callable[[NodeView], str]) -> Check[TargetT_contra]:
        """Return this check with what the delegate says of a refusal: always the same, or something about the node."""
        return replace(self, said=(lambda node, _: said(node)) if callable(said) else (lambda *_: said))

    def of_kind(self, kind: Kind) -> Check[TargetT_contra]:
        """Return this check as of another kind."""
        return replace(self, kind=kind)

    def from_source(self, source: Source) -> Check[TargetT_contra]:
        """Return this check with its own place upstream."""
        return replace(self, source=source)

    def counts_in(self, release: Release) -> bool:
        """Whether the check applies in a release of the runtime."""
        return (self.introduced is None or release.is_at_least(self.introduced)) and (
            self.withdrawn is None or not release.is_at_least(self.withdrawn)
        )


@dataclass(frozen=True, eq=False)
class OpRule(Generic[TargetT_contra]):
    """The checks of one operator, in the delegate's order, unless ``accepted_early`` accepts the node first."""

    checks: tuple[Check[TargetT_contra], ...]
    accepted_early: Check[TargetT_contra] | None = None
    """A check that accepts the node at once if its demand is met; it never refuses."""
    introduced: Release | None = None
    """The release of the runtime from which the delegate knows the operator; None if all known releases do."""
    source: tuple[Source, ...] = ()
    """The upstream sources of the rule; empty for the source of the whole rule book."""

    def from_release(self, release: str) -> OpRule[TargetT_contra]:
        """Return this rule for releases of the runtime from this one on; before, the operator is not known."""
        return replace(self, introduced=parse_release(release))

    def from_source(self, *source: Source) -> OpRule[TargetT_contra]:
        """Return this rule with its place upstream."""
        return replace(self, source=source)

    @property
    def all_checks(self) -> tuple[Check[TargetT_contra], ...]:
        """The checks, with the one that accepts early in front."""
        return self.checks if self.accepted_early is None else (self.accepted_early, *self.checks)


Rules: TypeAlias = Mapping[str, OpRule[TargetT_contra]]
"""Rules by operator."""

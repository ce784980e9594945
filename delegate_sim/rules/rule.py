"""A delegate's rule for an operator: the delegate's checks in their original order.

A ``Check`` states a demand. If a node fails the check, the check describes the actual value. The check's ``Kind`` explains the
refusal.
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
"""The type of the second argument of a check: a target with its options and release."""


class Reason(NamedTuple):
    """One reason why a node does not run on the delegate.

    ``kind`` is the delegate's own name for the reason. If the delegate has no name, ``kind`` is delegate-sim's name.
    """

    code: str
    kind: str
    message: str
    found: str
    needed: str
    hint: str
    partitions: int = 0
    """The number of partitions in ``found``, if the reason is a limit on partitions."""

    def to_dict(self) -> dict[str, str]:
        """Return the fields as a dictionary, for JSON."""
        return {name: getattr(self, name) for name in ("code", "kind", "message", "found", "needed", "hint")}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A delegate's verdict on one node, with its reasons in the delegate's order."""

    is_supported: bool
    reasons: tuple[Reason, ...] = ()


ACCEPTED = Verdict(True)

NodeFinder: TypeAlias = Callable[[NodeView], str | None]
"""A function that describes the actual value if a node fails a demand. It returns None if the node meets the demand."""


@dataclass(frozen=True, eq=False)
class Condition(Generic[TargetT_contra]):
    """A condition that limits a check to some targets. ``words`` describes these targets, as in "from level 29"."""

    words: str
    holds: Callable[[TargetT_contra], bool]


@dataclass(frozen=True, eq=False)
class Check(Generic[TargetT_contra]):
    """One check of a rule: a demand that a node must meet.

    ``needed`` completes the sentence "needs ...". ``native`` is the delegate's own name for the refusal. If ``hint`` or
    ``native`` is empty, the kind's text is used. If ``source`` is None, the rule's source is used.
    """

    kind: Kind
    needed: str
    finder: Callable[[NodeView, TargetT_contra], str | None]
    hint: str = ""
    native: str = ""
    source: Source | None = None
    applies: str = ""
    """A description of the nodes to which the check applies, such as "if given". "" for all nodes."""
    data: tuple[object, ...] = ()
    """The demand as plain data: its name, operands and allowed values. Empty if the check has its own function."""
    conditions: tuple[Condition[TargetT_contra], ...] = ()
    introduced: Release | None = None
    withdrawn: Release | None = None
    said: Callable[[NodeView, TargetT_contra], str] | None = None
    """A function that returns the delegate's message for this refusal. None if the delegate logs no message."""

    @property
    def demand(self) -> str:
        """The demand and the nodes that it applies to, as text for documentation."""
        return f"{self.needed} ({self.applies})" if self.applies else self.needed

    @overload
    def when(self: Check[object], condition: Condition[T]) -> Check[T]: ...

    @overload
    def when(self, condition: Condition[TargetT_contra]) -> Check[TargetT_contra]: ...

    def when(self, condition: Condition[Any]) -> Check[Any]:
        """Return a copy of this check for only the targets that meet a condition."""
        return replace(self, conditions=(*self.conditions, condition))

    def from_release(self, release: str) -> Check[TargetT_contra]:
        """Return a copy of this check that applies only from this release of the runtime on."""
        return replace(self, introduced=parse_release(release))

    def before_release(self, release: str) -> Check[TargetT_contra]:
        """Return a copy of this check that applies only before this release of the runtime."""
        return replace(self, withdrawn=parse_release(release))

    def reported_as(self, native: str) -> Check[TargetT_contra]:
        """Return a copy of this check with another native name for the refusal."""
        return replace(self, native=native)

    def saying(self, said: str | Callable[[NodeView], str]) -> Check[TargetT_contra]:
        """Return a copy of this check with the delegate's message for the refusal.

        The message is a fixed text, or a function of the node.
        """
        return replace(self, said=(lambda node, _: said(node)) if callable(said) else (lambda *_: said))

    def of_kind(self, kind: Kind) -> Check[TargetT_contra]:
        """Return a copy of this check with another kind."""
        return replace(self, kind=kind)

    def from_source(self, source: Source) -> Check[TargetT_contra]:
        """Return a copy of this check with another upstream location."""
        return replace(self, source=source)

    def counts_in(self, release: Release) -> bool:
        """Return whether the check applies in a release of the runtime."""
        return (self.introduced is None or release.is_at_least(self.introduced)) and (
            self.withdrawn is None or not release.is_at_least(self.withdrawn)
        )


@dataclass(frozen=True, eq=False)
class OpRule(Generic[TargetT_contra]):
    """The checks of one operator, in the delegate's order."""

    checks: tuple[Check[TargetT_contra], ...]
    accepted_early: Check[TargetT_contra] | None = None
    """A check that runs before all other checks. If a node meets this check, it is accepted at once."""
    introduced: Release | None = None
    """The first release of the runtime in which the delegate supports the operator. None for all known releases."""
    source: tuple[Source, ...] = ()
    """The upstream locations of the rule, by default the location of the rule book."""

    def from_release(self, release: str) -> OpRule[TargetT_contra]:
        """Return a copy of this rule that applies only from this release of the runtime on.

        In earlier releases, the delegate does not support the operator.
        """
        return replace(self, introduced=parse_release(release))

    def from_source(self, *source: Source) -> OpRule[TargetT_contra]:
        """Return a copy of this rule with other upstream locations."""
        return replace(self, source=source)

    @property
    def all_checks(self) -> tuple[Check[TargetT_contra], ...]:
        """All checks. If there is a check ``accepted_early``, it comes first."""
        return self.checks if self.accepted_early is None else (self.accepted_early, *self.checks)


def op_rule(*checks: Check[TargetT_contra], accepted_early: Check[TargetT_contra] | None = None) -> OpRule[TargetT_contra]:
    """Return the rule of an operator with these checks, in the delegate's order."""
    return OpRule(checks, accepted_early)


Rules: TypeAlias = Mapping[str, OpRule[TargetT_contra]]
"""Rules by operator."""

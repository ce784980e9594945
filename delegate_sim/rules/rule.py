"""A delegate's rule for an operator: the delegate's checks, in the delegate's order.

A ``Check`` states a demand. If a node fails the check, the check describes the actual value, and the check's ``Kind`` explains
the refusal.
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

    ``kind`` is the delegate's own name for the reason, or delegate-sim's name if the delegate does not name the reason.
    """

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
    """A delegate's verdict on one node, with its reasons in the delegate's order."""

    is_supported: bool
    reasons: tuple[Reason, ...] = ()


ACCEPTED = Verdict(True)

NodeFinder: TypeAlias = Callable[[NodeView], str | None]
"""A function that returns a description of the actual value if a node fails a demand, or None."""


@dataclass(frozen=True, eq=False)
class Condition(Generic[TargetT_contra]):
    """A condition that limits a check to some targets. ``words`` describes the condition, as in "from level 29"."""

    words: str
    holds: Callable[[TargetT_contra], bool]


@dataclass(frozen=True, eq=False)
class Check(Generic[TargetT_contra]):
    """One check of a rule: a demand that a node must meet.

    ``needed`` completes the sentence "needs ...". ``native`` is the delegate's own name for the refusal. By default, ``hint``
    and ``native`` come from the kind, and ``source`` comes from the rule.
    """

    kind: Kind
    needed: str
    finder: Callable[[NodeView, TargetT_contra], str | None]
    hint: str = ""
    native: str = ""
    source: Source | None = None
    applies: str = ""
    """A description of the nodes that the check applies to, such as "if given", or "" for all nodes."""
    data: tuple[object, ...] = ()
    """The demand as plain data: its name, operands and allowed values. Empty for a check with its own function."""
    conditions: tuple[Condition[TargetT_contra], ...] = ()
    introduced: Release | None = None
    withdrawn: Release | None = None
    said: Callable[[NodeView, TargetT_contra], str] | None = None
    """A function that returns the delegate's own message for this refusal, or None if the delegate logs no message."""

    @property
    def demand(self) -> str:
        """The demand and the nodes that it applies to, as text for documentation."""
        return f"{self.needed} ({self.applies})" if self.applies else self.needed

    @overload
    def when(self: Check[object], condition: Condition[T]) -> Check[T]: ...

    @overload
    def when(self, condition: Condition[TargetT_contra]) -> Check[TargetT_contra]: ...

    def when(self, condition: Condition[Any]) -> Check[Any]:
        """Return this check, limited to the targets that meet a condition."""
        return replace(self, conditions=(*self.conditions, condition))

    def from_release(self, release: str) -> Check[TargetT_contra]:
        """Return this check, limited to this release of the runtime and later releases."""
        return replace(self, introduced=parse_release(release))

    def before_release(self, release: str) -> Check[TargetT_contra]:
        """Return this check, limited to releases of the runtime before this release."""
        return replace(self, withdrawn=parse_release(release))

    def reported_as(self, native: str) -> Check[TargetT_contra]:
        """Return this check with another native name for the refusal."""
        return replace(self, native=native)

    def saying(self, said: str | Callable[[NodeView], str]) -> Check[TargetT_contra]:
        """Return this check with the delegate's message for the refusal.

        The message is a fixed text, or a function of the node.
        """
        return replace(self, said=(lambda node, _: said(node)) if callable(said) else (lambda *_: said))

    def of_kind(self, kind: Kind) -> Check[TargetT_contra]:
        """Return this check with another kind."""
        return replace(self, kind=kind)

    def from_source(self, source: Source) -> Check[TargetT_contra]:
        """Return this check with another upstream location."""
        return replace(self, source=source)

    def counts_in(self, release: Release) -> bool:
        """Return whether the check applies in a release of the runtime."""
        return (self.introduced is None or release.is_at_least(self.introduced)) and (
            self.withdrawn is None or not release.is_at_least(self.withdrawn)
        )


@dataclass(frozen=True, eq=False)
class OpRule(Generic[TargetT_contra]):
    """The checks of one operator, in the delegate's order.

    If a node meets the check ``accepted_early``, the node is accepted without the other checks.
    """

    checks: tuple[Check[TargetT_contra], ...]
    accepted_early: Check[TargetT_contra] | None = None
    """A check that runs before all other checks.

    A node that meets this check is accepted. All other nodes continue with the other checks.
    """
    introduced: Release | None = None
    """The first release of the runtime in which the delegate supports the operator, or None for all known releases."""
    source: tuple[Source, ...] = ()
    """The upstream locations of the rule, by default the location of the rule book."""

    def from_release(self, release: str) -> OpRule[TargetT_contra]:
        """Return this rule, limited to this release of the runtime and later releases.

        In earlier releases, the delegate does not support the operator.
        """
        return replace(self, introduced=parse_release(release))

    def from_source(self, *source: Source) -> OpRule[TargetT_contra]:
        """Return this rule with other upstream locations."""
        return replace(self, source=source)

    @property
    def all_checks(self) -> tuple[Check[TargetT_contra], ...]:
        """All checks, starting with ``accepted_early`` if there is one."""
        return self.checks if self.accepted_early is None else (self.accepted_early, *self.checks)


Rules: TypeAlias = Mapping[str, OpRule[TargetT_contra]]
"""Rules by operator."""

"""What an acceptance rule is, whatever the delegate, and what a refusal says.

A delegate's rules are, for each operator, the conditions that the delegate tests in its order. A condition (``Check``)
says what it demands, finds what is there, and is listed in the documentation and explained by its code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

from .graph import NodeView
from .runtime import Release, parse_release


class Reason(NamedTuple):
    """Why a node does not run on the delegate. ``kind`` is the delegate's own name for it, or ours where it has none."""

    code: str
    kind: str
    message: str
    found: str
    needed: str
    hint: str

    def to_dict(self) -> dict[str, str]:
        """Return the fields as a dictionary, for JSON."""
        return self._asdict()


class Explanation(NamedTuple):
    """What stands behind a code: a title, what it means, and what to do about it."""

    title: str
    meaning: str
    advice: str


class Verdict(NamedTuple):
    """A delegate's verdict on one node, with each reason in the delegate's order."""

    is_supported: bool
    reasons: tuple[Reason, ...] = ()


ACCEPTED = Verdict(True)

Finder = Callable[[NodeView, Any], str | None]
"""Returns what was found where the demand is not met, None where it is. The second argument is the target."""


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of a rule.

    It counts for targets with ``since <= level < below`` and, unless ``accelerator`` is None, only with (or without) a
    named accelerator, and in releases of the runtime from ``introduced`` on and before ``withdrawn``. ``needed`` completes
    "needs ...".
    """

    code: str
    kind: str
    needed: str
    finder: Finder
    hint: str = ""
    since: int | None = None
    below: int | None = None
    accelerator: bool | None = None
    introduced: Release | None = None
    withdrawn: Release | None = None

    def from_release(self, release: str) -> Check:
        """Return this check for releases of the runtime from this one on."""
        return replace(self, introduced=parse_release(release))

    def before_release(self, release: str) -> Check:
        """Return this check for releases of the runtime before this one."""
        return replace(self, withdrawn=parse_release(release))

    def counts_in(self, release: Release) -> bool:
        """Whether the check counts in a release of the runtime."""
        return (self.introduced is None or release.is_at_least(self.introduced)) and (
            self.withdrawn is None or not release.is_at_least(self.withdrawn)
        )

    def from_level(self, level: int) -> Check:
        """Return this check for targets of at least this level."""
        return replace(self, since=level)

    def below_level(self, level: int) -> Check:
        """Return this check for targets below this level."""
        return replace(self, below=level)

    def with_accelerator(self, named: bool) -> Check:
        """Return this check for targets with, or without, a named accelerator."""
        return replace(self, accelerator=named)

    def counts_at(self, level: int, accelerator: bool) -> bool:
        """Whether the check counts for this target."""
        return (
            (self.since is None or level >= self.since)
            and (self.below is None or level < self.below)
            and (self.accelerator is None or accelerator == self.accelerator)
        )

    def test(self, node: NodeView, target: Any) -> Reason | None:
        """Return the refusal, None if the demand is met."""
        found = self.finder(node, target)
        if found is None:
            return None
        return Reason(self.code, self.kind, f"{found}; needs {self.needed}", found, self.needed, self.hint)


@dataclass(frozen=True, slots=True)
class OpRule:
    """What a delegate demands of one operator: every check in order, unless ``accepted_early`` lets the node pass before."""

    checks: tuple[Check, ...]
    accepted_early: Check | None = None
    """A check whose being met accepts the node at once; it never refuses."""
    introduced: Release | None = None
    """The release of the runtime from which on the delegate knows the operator; None if all known releases do."""

    def from_release(self, release: str) -> OpRule:
        """Return this rule for releases of the runtime from this one on; before, the operator is not known."""
        return replace(self, introduced=parse_release(release))


RuleSet = Mapping[str, OpRule]


def rule_set(*families: Mapping[str, OpRule]) -> dict[str, OpRule]:
    """Join the rules of several families; an operator may stand in one only."""
    joined: dict[str, OpRule] = {}
    for family in families:
        for op, rule in family.items():
            if op in joined:
                raise ValueError(f"two rules for {op}")
            joined[op] = rule
    return joined


def for_each(ops: Iterable[str], *checks: Check) -> dict[str, OpRule]:
    """Give several operators the same checks."""
    rule = OpRule(tuple(checks))
    return dict.fromkeys(ops, rule)


def rules_in(rules: RuleSet, release: Release) -> RuleSet:
    """Return the rules as they are in a release of the runtime: operators that it knows, and checks that count in it."""
    found = {}
    for op, rule in rules.items():
        if rule.introduced is None or release.is_at_least(rule.introduced):
            early = rule.accepted_early if rule.accepted_early is not None and rule.accepted_early.counts_in(release) else None
            found[op] = OpRule(tuple([check for check in rule.checks if check.counts_in(release)]), early)
    return found


def first_failure(rule: OpRule, node: NodeView, target: Any) -> Verdict:
    """Return the verdict of a delegate that stops at the first check that a node does not meet."""
    for check in rule.checks:
        reason = check.test(node, target)
        if reason is not None:
            return Verdict(False, (reason,))
    return ACCEPTED


def without_rule(code: str, kind: str, node: NodeView, needed: str, hint: str, *, problem: str = "is not supported") -> Verdict:
    """Return the refusal of a node whose operator the delegate does not know."""
    found = f"custom operator {node.op}" if node.node.is_custom else node.op
    return Verdict(False, (Reason(code, kind, f"{found} {problem}", found, needed, hint),))


Judge = TypeVar("Judge", bound=Callable[..., Verdict])


def unless_assumed(validate: Judge) -> Judge:
    """Let a delegate's verdict be that a node is accepted where its graph is to assume so; its first argument is the node."""

    @functools.wraps(validate)
    def judge(node: NodeView, *target: Any) -> Verdict:
        return ACCEPTED if node.node.index in node.graph.assumed else validate(node, *target)

    return cast(Judge, judge)


def listed(names: Iterable[str]) -> str:
    """Join names for a sentence."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last

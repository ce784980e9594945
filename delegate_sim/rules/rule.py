"""A delegate's rule for an operator: its upstream location, and the delegate's checks in their original order.

A ``Check`` states a demand. If a node fails the check, the check describes the actual value. The check's ``Kind`` explains the
refusal.

``delegates/NAME/rules/FAMILY.py`` has a delegate's rules for one family, and some files have the rules of several small families.
Such a file is imported only if a model has an operator of its families. ``model/schema.py`` lists the families and
their operators.
"""

from __future__ import annotations

import functools
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

from ..foundation.columns import LIST, Column, Declared, attributes, within
from ..graph.graph import NodeView
from ..model.schema import FAMILIES
from ..releases.catalogue import Release, parse_release
from .kinds import Kind


@functools.cache
def recorded_lines() -> Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]:
    """Return the first and the last line of every source, by repository and commit, file, and ``Source.part``.

    ``make sources ARGS=--write`` (``tools/sources.py``) writes these lines. Only documentation needs them.
    """
    lines: Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]
    lines = json.loads(pkgutil.get_data(__package__, "source_lines.json") or b"")
    return lines


class Repository(NamedTuple):
    """An upstream repository on GitHub, at the commit from which the rules were taken."""

    name: str
    """The owner and the name, as in ``google-ai-edge/LiteRT``."""
    commit: str
    """The full hash of the commit."""


@dataclass(frozen=True, slots=True)
class Source(Declared):
    """A function, method, class or table in an upstream file, or one branch of a long function."""

    columns = (
        *within("repository", [Column("repository", source="name"), Column("commit")]),
        *(*attributes("file", "symbol"), Column("lines", LIST)),
    )

    repository: Repository
    file: str
    """The path in the repository."""
    symbol: str
    overload: str = ""
    """A word from the function's parameters. It is needed if several functions in the file have the same name."""
    branch: str = ""
    """The operator of a ``case``, or text from the condition of a branch. "" for the whole function."""

    def with_symbol(self, symbol: str, overload: str = "") -> Source:
        """Return the location of another symbol in the same file."""
        return replace(self, symbol=symbol, overload=overload, branch="")

    def with_branch(self, branch: str) -> Source:
        """Return the location of a branch of this function."""
        return replace(self, branch=branch)

    def of_operator(self, op: str) -> Source:
        """Return the location of an operator's branch in the function, or of the whole function if the branch is not known."""
        branch = self.with_branch(op)
        return self if self.branch or branch.lines is None else branch

    @property
    def part(self) -> str:
        """The symbol, the overload and the branch as one string, which is the key in ``source_lines.json``."""
        return ", ".join([word for word in (self.symbol, self.overload, self.branch) if word])

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and the last line at the pinned commit. None if ``make sources`` has not recorded the lines."""
        files = recorded_lines().get(f"{self.repository.name}@{self.repository.commit}", {})
        place = files.get(self.file, {}).get(self.part)
        return None if place is None else (place[0], place[1])

    @property
    def location(self) -> str:
        """The path with line numbers, as in a GitHub link."""
        return self.file if self.lines is None else f"{self.file}#L{self.lines[0]}-L{self.lines[1]}"

    @property
    def url(self) -> str:
        """The link to the lines at the pinned commit."""
        return f"https://github.com/{self.repository.name}/blob/{self.repository.commit}/{self.location}"

    def __str__(self) -> str:
        return f"{self.location}: {self.symbol}"


LITERT = Repository("google-ai-edge/LiteRT", "f67457790c9c2ab67347d6fe53270e8d3df20868")
"""The repository of the runtime. A delegate from another repository has its repository in its own package."""


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


class Verdict(NamedTuple):
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


class LazyRules(Mapping[str, OpRule[T]]):
    """Rules that are loaded when an operator in ``possible`` is first looked up."""

    def __init__(self, possible: frozenset[str], load: Callable[[], Rules[T]]) -> None:
        self.possible = possible
        self._load = load

    @functools.cached_property
    def _rules(self) -> Rules[T]:
        return self._load()

    def __getitem__(self, op: str) -> OpRule[T]:
        if op not in self.possible:
            raise KeyError(op)
        return self._rules[op]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


def _read_rules(module: ModuleType) -> Rules[T]:
    rules: Rules[T] = module.RULES
    return rules


def modules_of_families(**grouped: str) -> Mapping[str, str]:
    """Return the name of the module of each family. A module has the families that are listed for it, or only its namesake."""
    listed = {family: module for module, families in grouped.items() for family in families.split()}
    return MappingProxyType({family: listed.get(family, family) for family in FAMILIES})


def family_rules(
    package: str, modules: Mapping[str, str] = modules_of_families(), read: Callable[[ModuleType], Rules[T]] = _read_rules
) -> tuple[LazyRules[T], ...]:
    """Return the rules in a package: one mapping for each module with rules.

    ``modules`` has the module of each family. ``read`` returns the rules in a module, by default the module's ``RULES``.
    """

    def load(module: str) -> Rules[T]:
        return read(import_module(f"{package}.{module}"))

    operators: dict[str, frozenset[str]] = {}
    for family, module in modules.items():
        operators[module] = operators.get(module, frozenset()) | FAMILIES[family]
    present = {module.name for module in iter_modules(sys.modules[package].__path__)}
    return tuple(
        LazyRules(possible, functools.partial(load, module))
        for module, possible in operators.items()
        if possible and module in present
    )


def with_change(rules: Rules[T], change: Callable[[Rules[T]], Rules[T]]) -> LazyRules[T]:
    """Return a copy of rules. The function ``change`` is applied when the rules are loaded, and must not add operators."""
    possible = rules.possible if isinstance(rules, LazyRules) else frozenset(rules)
    return LazyRules(possible, lambda: change(rules))

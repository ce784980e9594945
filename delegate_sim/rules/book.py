"""The rules of a delegate, the engine that evaluates them, and the rules as a list, for documentation and as plain data."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ..foundation.columns import LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, within
from ..foundation.printable import shortened
from ..graph.forms import FormTable, node_forms
from ..graph.graph import Graph, NodeView
from ..releases.catalogue import Release
from . import operands
from .kinds import OPERAND_COUNT, OPERATOR, Kind
from .rule import ACCEPTED, Check, OpRule, Reason, Rules, Source, Verdict

if TYPE_CHECKING:
    from ..delegates.options import Option


class RuleTarget(Protocol):
    """The part of a target that all delegates' rules may use. The targets of some delegates have more fields."""

    @property
    def release(self) -> Release:
        """The release of the runtime."""


T = TypeVar("T", bound=RuleTarget)

_MOST_KEPT = 4096


class Policy(Enum):
    """The delegate's reaction to a node that fails a check."""

    FIRST_FAILURE = "stops at the first failure"
    ALL_FAILURES = "collects every failure"


class Unknown(NamedTuple):
    """The refusal of an operator without a rule. ``problem`` may contain the placeholder ``{builtin_code}``."""

    needed: str
    hint: str = ""
    problem: str = "is not supported"
    kind: Kind = OPERATOR
    said: str = ""
    """The delegate's own message, which may contain the placeholder ``{op}``."""


class _PreparedCheck(NamedTuple):
    finder: Callable[[NodeView, Any], str | None]
    code: str
    kind: str
    needed: str
    hint: str
    said: Callable[[NodeView, Any], str] | None


class _Checks(NamedTuple):
    early: Callable[[NodeView, Any], str | None] | None
    checks: tuple[_PreparedCheck, ...]
    accepted: Callable[[NodeView], Verdict]
    """A function that returns the verdict on a node that meets all checks."""


@dataclass(frozen=True, eq=False, repr=False)
class RuleBook(Generic[T]):
    """The rules of one delegate.

    ``families`` has the rules of builtin operators, with one mapping for each family. ``custom`` has the rules of custom
    operators. ``kinds`` lists the kinds of problem, in the delegate's words. If a rule gives no upstream location, its
    location is ``source``.

    ``excluded`` is called before the rules. It returns a reason to refuse a node, or None. ``key`` returns the part of a
    target that determines which checks apply, by default the whole target. ``others`` is the rule for all operators without
    their own rule. If ``others`` is None, these operators are refused.
    """

    delegate: str
    families: tuple[Rules[T], ...]
    kinds: tuple[Kind, ...]
    source: Source
    unknown: Unknown
    policy: Policy = Policy.FIRST_FAILURE
    custom: Rules[T] = field(default_factory=dict)
    unknown_custom: Unknown | None = None
    excluded: Callable[[NodeView, T], Reason | None] | None = None
    key: Callable[[T], Hashable] | None = None
    others: OpRule[T] | None = None
    reads_operands: bool = True
    """True if the delegate reads the operands of accepted nodes. False if it selects nodes only by operator."""
    has_native_messages: bool = False
    """True if the native name of a refusal is the delegate's own message (``Check.said``)."""

    @functools.cached_property
    def _kept(self) -> dict[Hashable, _Checks | None]:
        return {}

    @functools.cached_property
    def rules(self) -> Rules[T]:
        """All rules by operator, builtin operators first. This attribute loads the rules of every operator family."""
        return MappingProxyType({**_joined(self.families), **self.custom})

    @functools.cached_property
    def _by_name(self) -> Mapping[str, Kind]:
        return {kind.name: kind for kind in self.kinds}

    @functools.cached_property
    def explained(self) -> Mapping[str, Kind]:
        """The kinds of problem, keyed by the delegate's codes."""
        return {kind.code(self.delegate): kind for kind in self.kinds}

    def validate(self, node: NodeView, target: T) -> Verdict:
        """Return the delegate's verdict on one node. The verdict lists the failed checks in the delegate's order."""
        return ACCEPTED if node.is_assumed else self._judge(node, target)

    def validate_once(self, node: NodeView, target: T, form: int, known: FormTable[int, Verdict]) -> Verdict:
        """Return the verdict on one node, whatever is assumed. ``known`` has earlier verdicts for this target by form.

        Nodes of one form (``graph/forms.py``) are judged once, unless a check asks for the graph around a node. Checks must not
        read names and indices; only ``Check.said`` may.
        """
        verdict = known.get(form)
        if verdict is None:
            verdict = self._judge(node, target)
            if not node.reads_graph and not (self.has_native_messages and verdict.reasons):
                known.add(form, verdict)
        return verdict

    def _judge(self, node: NodeView, target: T) -> Verdict:
        if self.excluded is not None:
            refusal = self.excluded(node, target)
            if refusal is not None:
                return Verdict(False, (refusal,))
        rule = self._checks_for(node.op, node.node.is_custom, target)
        if rule is None:
            return Verdict(False, (self.unsupported(node),))
        if rule.early is not None and rule.early(node, target) is None:
            return rule.accepted(node)
        reasons: list[Reason] = []
        for check in rule.checks:
            problem = check.finder(node, target)
            if problem is not None:
                problem = shortened(problem)
                name = check.kind if check.said is None else check.said(node, target)
                reasons.append(Reason(check.code, name, f"{problem}; needs {check.needed}", problem, check.needed, check.hint))
                if self.policy is Policy.FIRST_FAILURE:
                    break
        return Verdict(False, tuple(reasons)) if reasons else rule.accepted(node)

    def verdicts(self, graph: Graph, nodes: Iterable[int], target: T) -> dict[int, Verdict]:
        """Return the verdicts on nodes of a graph, by node index."""
        verdicts = graph.results.get("verdicts", (self, target), dict[int, Verdict])
        by_form = graph.shared.get("verdicts", (self, target), FormTable[int, Verdict])
        forms = node_forms(graph)
        for index in nodes:
            if index not in verdicts:
                known = by_form.get(forms[index])
                verdicts[index] = known or self.validate_once(graph.view(graph.nodes[index]), target, forms[index], by_form)
        return {index: ACCEPTED if index in graph.assumed else verdicts[index] for index in nodes}

    def rule_of(self, op: str, *, is_custom: bool = False) -> OpRule[T] | None:
        """Return the rule of an operator, or ``others`` if the operator has no rule.

        Return None if ``others`` is also missing.
        """
        rule = self.custom.get(op) if is_custom else self._builtin(op)
        if rule is not None or (is_custom and self.unknown_custom is not None):
            return rule
        return self.others

    def has_rule(self, op: str) -> bool:
        """Return whether an operator, builtin or custom, has its own rule."""
        return op in self.custom or self._builtin(op) is not None

    def changed_in(self, ops: Iterable[tuple[str, bool]]) -> set[Release]:
        """Return the releases in which checks of the operators ``ops`` were added or removed.

        For each operator, ``ops`` has a pair: the name, and whether the operator is custom.
        """
        rules = [rule for op, is_custom in ops if (rule := self.rule_of(op, is_custom=is_custom)) is not None]
        releases = {release for rule in rules for check in rule.all_checks for release in (check.introduced, check.withdrawn)}
        releases.update([rule.introduced for rule in rules])
        return {release for release in releases if release is not None}

    def unsupported(self, node: NodeView, unknown: Unknown | None = None) -> Reason:
        """Return the reason to refuse a node with an unsupported operator."""
        if unknown is None:
            unknown = self.unknown_custom if node.node.is_custom and self.unknown_custom is not None else self.unknown
        kind = self._worded(unknown.kind)
        name = shortened(f"custom operator {node.op}" if node.node.is_custom else node.op)
        message = f"{name} {unknown.problem.format(builtin_code=node.node.builtin_code)}"
        native = unknown.said.format(op=node.op) or kind.native or kind.suffix or kind.name
        return Reason(kind.code(self.delegate), native, message, name, unknown.needed, unknown.hint or kind.hint)

    def code_of(self, kind: Kind) -> str:
        """Return the delegate's code for a kind of problem."""
        return self._worded(kind).code(self.delegate)

    def native_of(self, kind: Kind) -> str:
        """Return the delegate's own name for a kind of problem, or delegate-sim's name if the delegate has none."""
        worded = self._worded(kind)
        return worded.native or worded.suffix or worded.name

    def hint_of(self, check: Check[T]) -> str:
        """Return a short hint on the change that makes a node pass a check."""
        return check.hint or self._worded(check.kind).hint

    def sources_of(self, rule: OpRule[T]) -> tuple[Source, ...]:
        """Return the upstream locations of a rule."""
        return rule.source or (self.source,)

    def source_of(self, check: Check[T], rule: OpRule[T]) -> Source:
        """Return the upstream location of a check."""
        return check.source or self.sources_of(rule)[0]

    def _worded(self, kind: Kind) -> Kind:
        if kind.name not in self._by_name:
            raise ValueError(f"{self.delegate} has no words for the kind {kind.name}")
        return self._by_name[kind.name]

    def _checks_for(self, op: str, is_custom: bool, target: T) -> _Checks | None:
        key = (op, is_custom, target if self.key is None else self.key(target))
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._applying(op, is_custom, target)
        return self._kept[key]

    def _builtin(self, op: str) -> OpRule[T] | None:
        return next((family[op] for family in self.families if op in family), None)

    def _applying(self, op: str, is_custom: bool, target: T) -> _Checks | None:
        rule = self.rule_of(op, is_custom=is_custom)
        if rule is None or (rule.introduced is not None and not target.release.is_at_least(rule.introduced)):
            return None
        early = rule.accepted_early
        applying = [check for check in rule.checks if _counts(check, target)]
        checks = [
            _PreparedCheck(
                check.finder,
                self.code_of(check.kind),
                check.native or self.native_of(check.kind),
                check.needed,
                self.hint_of(check),
                check.said if self.has_native_messages else None,
            )
            for check in applying
        ]
        is_counted = any(check.kind.name == OPERAND_COUNT.name for check in applying)
        return _Checks(
            early.finder if early is not None and _counts(early, target) else None,
            tuple(checks),
            functools.partial(operands.malformed_verdict, is_counted=is_counted) if self.reads_operands else lambda _: ACCEPTED,
        )


def _counts(check: Check[T], target: T) -> bool:
    return check.counts_in(target.release) and all(condition.holds(target) for condition in check.conditions)


def _joined(families: Iterable[Rules[T]]) -> dict[str, OpRule[T]]:
    joined: dict[str, OpRule[T]] = {}
    for family in families:
        for op, rule in family.items():
            if op in joined:
                raise ValueError(f"two rules for {op}")
            joined[op] = rule
    return joined


OTHERS = "any other operator"
"""The heading for operators without a rule."""


class ListedCheck(NamedTuple):
    """A check of an operator's rule. ``source`` is its upstream location, or None if it is not known."""

    book: RuleBook[Any]
    check: Check[Any]
    source: Source | None


CHECK = (
    Column("code", source=lambda listed: listed.book.code_of(listed.check.kind)),
    Column("kind", source=lambda listed: listed.check.native or listed.book.native_of(listed.check.kind)),
    *within("check", attributes("needed", "applies")),
    Column("hint", source=lambda listed: listed.book.hint_of(listed.check)),
    Column("when", LIST, source=lambda listed: [condition.words for condition in listed.check.conditions]),
    *within("check", [Column("introduced", source="introduced.name"), Column("withdrawn", source="withdrawn.name")]),
    Column("source", OBJECT),
)
"""The columns of a check."""


class _Operator(NamedTuple):
    op: str
    rule: OpRule[Any] | None
    accepted_early: ListedCheck | None
    checks: Sequence[ListedCheck]


_OPERATOR = (
    *(Column("op"), Column("accepted", YES_OR_NO, source=lambda listed: listed.rule is not None)),
    *(Column("introduced", source="rule.introduced.name"), Column("accepted_early", OBJECT, parts=CHECK)),
    Column("checks", LIST, parts=CHECK),
)


def _operators(listed: ListedRules) -> Iterator[_Operator]:
    for op, rule in listed.rules.items():
        if rule is None:
            yield _Operator(op, None, None, ())
            continue
        early = None if rule.accepted_early is None else _listed(listed.book, rule.accepted_early, op, rule)
        yield _Operator(op, rule, early, [_listed(listed.book, check, op, rule) for check in rule.checks])


def _listed(book: RuleBook[Any], check: Check[Any], op: str, rule: OpRule[Any]) -> ListedCheck:
    return ListedCheck(book, check, book.source_of(check, rule).of_operator(op))


@dataclass(frozen=True, slots=True)
class ListedRules(Declared):
    """A set of rules, and what the output says about it. ``rules`` has the rules to list, None for a refused operator.

    ``title`` is the subject of "accepts", and ``tester`` tests the conditions. ``kinds`` are the kinds of problem, by code.
    ``selecting`` has the values of the options that selected the rules, and ``note`` names these options in words.
    """

    document = "rules"
    columns = (
        *(Column("delegate", source="name"), Column("options", OBJECT, source="selecting")),
        Column("operators", LIST, source=_operators, parts=_OPERATOR),
    )

    name: str
    title: str
    summary: str
    book: RuleBook[Any]
    kinds: Mapping[str, Kind]
    options: Sequence[Option] = ()
    selecting: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    tester: str = "delegate"
    rules: Mapping[str, OpRule[Any] | None] = field(default_factory=dict)

"""Tables of cases for rules that stop at the first failure: nodes, and the code of the one reason given for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from delegate_sim.graph.graph import NodeView
from delegate_sim.model.model import Tensor
from delegate_sim.rules.book import Policy, RuleBook
from tests.support.graphs import node_view


class Case(NamedTuple):
    """A node, the code expected (None where it is taken), and the target."""

    op: str
    code: str | None
    node: NodeView
    target: Any

    @property
    def name(self) -> str:
        return f"{self.op}-{self.code or 'accepted'}"


class CaseTable:
    """For each operator a node that is taken, and variants of it."""

    def __init__(self, target: Any = None) -> None:
        self.target = target
        self.cases: list[Case] = []
        self._accepted: dict[str, Mapping[str, Any]] = {}

    def accepted(
        self,
        op: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[Tensor],
        version: int = 1,
        target: Any = None,
        **options: Any,
    ) -> None:
        """Add the node that other cases of this operator are variants of."""
        arguments = {
            "inputs": inputs,
            "outputs": outputs,
            "version": version,
            "options": options,
            "target": target or self.target,
        }
        self._accepted[op] = arguments
        self._add(op, None, arguments)

    def variant(
        self, op: str, code: str | None, *, inputs: Any = None, outputs: Any = None, version=None, target=None, **options: Any
    ) -> None:
        """Add a variant of the accepted node; operands are given as a new list, or by position."""
        arguments = dict(self._accepted[op])
        arguments["inputs"] = _replaced(arguments["inputs"], inputs)
        arguments["outputs"] = _replaced(arguments["outputs"], outputs)
        arguments["version"] = version or arguments["version"]
        arguments["target"] = target or arguments["target"]
        arguments["options"] = {**arguments["options"], **options}
        self._add(op, code, arguments)

    def without_options(self, op: str, code: str | None) -> None:
        """Add the accepted node without an options table, whose fields the runtime leaves at 0."""
        self._add(op, code, {**self._accepted[op], "options": None})

    def checks(self, book: RuleBook[Any]) -> tuple[set[tuple[str, int, str]], set[tuple[str, int, str]]]:
        """Return the checks that refuse a case, and those that a case meets; each as (operator, position, code)."""
        refused: set[tuple[str, int, str]] = set()
        met: set[tuple[str, int, str]] = set()
        for case in self.cases:
            for position, check in enumerate(book.rules[case.op].checks):
                found = check.finder(case.node, case.target)
                (met if found is None else refused).add((case.op, position, book.code_of(check.kind)))
                if found is not None and book.policy is Policy.FIRST_FAILURE:
                    break
        return refused, met

    def assert_complete(self, book: RuleBook[Any]) -> None:
        """Every operator has cases, and every check is both met and not met by some."""
        assert {case.op for case in self.cases} == set(book.rules)
        refused, met = self.checks(book)
        every = {
            (op, position, book.code_of(check.kind))
            for op, rule in book.rules.items()
            for position, check in enumerate(rule.checks)
        }
        assert every - refused == set()
        assert every - met == set()

    def _add(self, op: str, code: str | None, arguments: Mapping[str, Any]) -> None:
        node = {name: value for name, value in arguments.items() if name != "target"}
        self.cases.append(Case(op, code, node_view(op, **node), arguments["target"]))


def _replaced(tensors: Sequence[Tensor | None], changes: Any) -> Sequence[Tensor | None]:
    if isinstance(changes, Mapping):
        return [changes.get(position, tensor) for position, tensor in enumerate(tensors)]
    return tensors if changes is None else changes


def assert_explained(book: RuleBook[Any]) -> None:
    """Every kind of the rules occurs, and every check has a hint."""
    checks = [check for rule in book.rules.values() for check in rule.all_checks]
    used = {book.code_of(check.kind) for check in checks} | {book.code_of(book.unknown.kind)}
    if book.unknown_custom is not None:
        used.add(book.code_of(book.unknown_custom.kind))
    assert used == set(book.explained)
    assert all(book.hint_of(check) for check in checks)

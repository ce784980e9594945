"""Rules that are loaded by operator family.

``delegates/NAME/rules/FAMILY.py`` has a delegate's rules for one family, and some files have the rules of several small families.
Such a file is imported only if a model has an operator of its families. ``model/operator_families.py`` lists the families and
their operators.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import TypeVar

from ..model.operator_families import FAMILIES
from .rule import OpRule, Rules

T = TypeVar("T")


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

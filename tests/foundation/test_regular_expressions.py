"""Every regular expression of the package takes time in proportion to the text."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any

import pytest

import delegate_sim
import delegate_sim_cli
from delegate_sim.device.parse.tables import FORMS
from tests.support.backtracking import captures_long_number, slow_text

PARTS = 8
_USES = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


def _modules() -> Iterator[ModuleType]:
    for package in (delegate_sim, delegate_sim_cli):
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                try:
                    yield importlib.import_module(found.name)
                except ImportError as error:  # an optional package
                    assert not (error.name or "").startswith("delegate_sim")  # noqa: PT017


def _patterns_in(value: Any) -> Iterator[re.Pattern[str]]:
    """Yield the patterns in a value, also inside containers and dataclasses."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _patterns_in(inner)
    elif isinstance(value, tuple | list | set | frozenset):
        for inner in value:
            yield from _patterns_in(inner)
    elif is_dataclass(value) and not isinstance(value, type) and type(value).__module__.endswith("known_lines"):
        for one in fields(value):
            yield from _patterns_in(getattr(value, one.name))


def _uses(module: ModuleType) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield (where, method, pattern) for the patterns of a module."""
    file = module.__file__
    assert file is not None
    with open(file, encoding="utf-8") as source:
        nodes = list(ast.walk(ast.parse(source.read())))
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    loops: dict[str, list[str]] = {}  # the collections over which a variable runs
    for node in nodes:
        if (
            isinstance(node, ast.For | ast.comprehension)
            and isinstance(node.target, ast.Name)
            and isinstance(node.iter, ast.Name)
        ):
            loops.setdefault(node.target.id, []).append(node.iter.id)
    by_name: dict[str, set[str]] = {}
    for call in calls:
        owner, method = call.func.value, call.func.attr  # type: ignore[attr-defined]
        if (
            isinstance(owner, ast.Subscript)
            and isinstance(owner.value, ast.Name)
            and owner.value.id == "FORMS"
            and method in _USES
        ):
            keys = [
                node.value for node in ast.walk(owner.slice) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            for key in keys:
                yield f"{module.__name__}:{call.lineno}", method, FORMS[key]
        if not isinstance(owner, ast.Name):
            continue
        names = [owner.id, *loops.get(owner.id, ())]
        if owner.id == "re" and method in _USES and call.args:
            try:
                pattern = eval(compile(ast.Expression(call.args[0]), file, "eval"), dict(vars(module)))
            except NameError:
                continue  # made of parts that are escaped, or translated from another syntax
            flags = [word.value for word in call.keywords if word.arg == "flags"]
            flag = eval(compile(ast.Expression(flags[0]), file, "eval"), dict(vars(module))) if flags else 0
            yield f"{module.__name__}:{call.lineno}", method, re.compile(pattern, flag)
        elif method in _USES:
            for name in names:
                by_name.setdefault(name, set()).add(method)
    for name, value in vars(module).items():
        if value is FORMS:  # each form has its own method
            continue
        for pattern in _patterns_in(value):
            for method in sorted(by_name.get(name, {"search"})):
                yield f"{module.__name__}.{name}", method, pattern


@pytest.fixture(scope="module")
def uses():
    return [use for module in _modules() for use in _uses(module)]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_text_is_slow(uses, part):
    found = {}
    for where, method, pattern in uses:
        if isinstance(pattern.pattern, str):
            found.setdefault((pattern.pattern, pattern.flags, method), where)
    slow = {}
    for (text, flags, method), where in list(found.items())[part::PARTS]:
        attack = slow_text(re.compile(text, flags), method)
        if attack is not None:
            slow[where, method, text] = attack
    assert slow == {}


@pytest.mark.parametrize(
    ("method", "pattern"),
    [
        ("search", r"(?:a+)+b"),
        ("search", r"(?:a|a)*b"),
        ("search", r"\w*Qnn"),
        ("search", r"NN\w* SL driver"),
        ("search", r"\d: count=\d{1,9}.* avg=\d"),
        ("search", r"a \((?P<name>.*)\)\."),
        ("sub", r" \(at .*\)$"),
        ("sub", r"\((\S{41,})\)"),
        ("match", r"\s*(==|<)?\s*(\d+)"),
        ("fullmatch", r"\w*_\w*: ?.*"),
        ("fullmatch", r"(.+?) node(?: \((.*)\))?\."),
    ],
)
def test_slow_patterns_are_noticed(method: str, pattern: str):
    assert slow_text(re.compile(pattern), method) is not None


@pytest.mark.parametrize(
    ("method", "pattern"),
    [
        ("search", r"\b\w+ partitions"),
        ("search", r"NN\w{0,80} SL driver"),
        ("sub", r" \(at [^()]*\)$"),
        ("match", r"\s*(?:(==|<)\s*)?(\d+)"),
        ("fullmatch", r"[^\W_]*_\w*: ?.*"),
        ("fullmatch", r"(?P<mark>['\"])(?:[^'\"\\]|\\.)*(?P=mark)(?<!x)$"),
    ],
)
def test_other_patterns_are_fast(method: str, pattern: str):
    assert slow_text(re.compile(pattern), method) is None


_LONG_NUMBERS = {
    "never converted in op filters": "(?P<number>-?[0-9]+)\n",
    "never converted in Markdown": r"(?P<number> ^\d+(?=[.)]) )",
    "converted only in part": r"\{([0-9]+)(?:(,)([0-9]*))?\}",
}
"""Parts of patterns that capture numbers of any length, by the reason why no such number becomes an integer as a whole."""


def test_captured_numbers_have_a_largest_number_of_digits(uses):
    """``int`` refuses more than 4,300 digits."""
    found = {where: pattern.pattern for where, _, pattern in uses if captures_long_number(pattern)}
    assert {where: text for where, text in found.items() if not any(part in text for part in _LONG_NUMBERS.values())} == {}


@pytest.mark.parametrize(
    ("pattern", "is_long"),
    [
        (r"(\d+)", True),
        (r"(?P<count>[0-9]+)", True),
        (r"(?P<version>\d{1,9}(?:\.\d+)?)", True),
        (r"a(?:b|(-?[\d,]*))", True),
        (r"(\d{1,9})", False),
        (r"\d+ nodes", False),
        (r"(\w+)", False),
        (r"(.*)", False),
    ],
)
def test_long_numbers_are_noticed(pattern: str, is_long: bool):
    assert captures_long_number(re.compile(pattern)) is is_long

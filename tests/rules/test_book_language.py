"""Properties of every delegate's rules: one language, one place for each operator, a hint and a source for each check."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections import Counter
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, DELEGATE_NAMES, find_delegate
from delegate_sim.model.schema import FAMILIES, FAMILY_OF
from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from delegate_sim.rules.operands import INPUT
from delegate_sim.rules.vocabulary import has_elements
from tests.support.graphs import arena, node_view
from tests.support.tables import for_each

PACKAGE = Path(delegate_sim.__file__).parent
DEFINED_ONCE = {
    "check",
    "typed",
    "constant",
    "validate",
    "rank",
    "max_version",
    "operand_count",
    "activation",
    "where",
    "where_given",
}
IN_THE_WHOLE_PACKAGE = {"check", "typed", "validate", "_rules_of"}
"""Those that nothing outside the rules and delegates defines either: one engine judges nodes, in one language."""
PUBLIC_FUNCTIONS = ("delegate_sim/api/check.py",)
"""The Python interface, whose functions are named for commands: ``delegate_sim.check``."""
SHARED_TYPE_NAMES = frozenset[str]()
"""Types that may share a name, each with the reason; none does."""


def delegate_packages():
    return sorted(path.parent for path in (PACKAGE / "delegates").glob("*/rules"))


def family_files():
    return [path for package in delegate_packages() for path in sorted((package / "rules").glob("*.py"))]


@functools.cache
def keys_of(path):
    """The operators that stand as literal keys in a module, also in ``dict.fromkeys`` of a tuple, or in the rows of a table."""
    if path.suffix == ".json":
        rows = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(rows, dict):
            return tuple([op for lists in rows.values() for ops in lists.values() for op in ops])
        return tuple([op for row in rows for op in row["operators"]])
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    tuples = {
        node.targets[0].id: node.value.elts
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Tuple)
    }

    def elements(node):
        if isinstance(node, ast.Name):
            return tuples.get(node.id, ())
        each = node.elts if isinstance(node, ast.Tuple) else ()
        return [key for one in each for key in (elements(one.value) if isinstance(one, ast.Starred) else [one])]

    keys = [key for node in nodes if isinstance(node, ast.Dict) for key in node.keys]
    keys += [key for node in nodes if is_fromkeys(node) for key in elements(node.args[0])]
    keys += [key for node in nodes if isinstance(node, ast.DictComp) for key in elements(node.generators[0].iter)]
    return tuple(key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def is_fromkeys(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "dict.fromkeys"


def definitions(kinds):
    """The definitions at the top of modules of the package and the command line: (name, node, path)."""
    for path in [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "cli").rglob("*.py")]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, kinds):
                yield node, path.relative_to(PACKAGE.parent).as_posix()


def test_the_checks_of_the_vocabulary_are_defined_once():
    defined = Counter()
    for node, path in definitions((ast.FunctionDef, ast.ClassDef)):
        if isinstance(node, ast.ClassDef):
            defined.update(each.name for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "validate")
        elif node.name in IN_THE_WHOLE_PACKAGE or path.startswith(("delegate_sim/rules/", "delegate_sim/delegates/")):
            defined[node.name] += path not in PUBLIC_FUNCTIONS
    assert {name: defined[name] for name in DEFINED_ONCE} == dict.fromkeys(DEFINED_ONCE, 1)
    assert not defined["_rules_of"]


def is_type_alias(node):
    """Whether an assignment names a type: ``Name = Callable[...]``, ``Name = A | B`` or ``Name: TypeAlias = ...``."""
    if isinstance(node, ast.AnnAssign):
        return "TypeAlias" in ast.unparse(node.annotation)
    return isinstance(node.value, ast.Subscript | ast.BinOp) and isinstance(node.targets[0], ast.Name)


def type_names():
    """The classes and aliases of types, each with its module."""
    for node, path in definitions((ast.ClassDef, ast.Assign, ast.AnnAssign)):
        if isinstance(node, ast.ClassDef):
            yield node.name, path
        elif is_type_alias(node):
            name = ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
            if re.match("_*[A-Z]", name) and not name.isupper():
                yield name, path


def test_no_two_types_have_one_name():
    found = {}
    for name, path in type_names():
        found.setdefault(name, []).append(path)
    assert {name: paths for name, paths in found.items() if len(paths) > 1 and name not in SHARED_TYPE_NAMES} == {}


def test_classes_and_aliases_are_seen():
    assert {"Check", "NodeFinder", "OptionValues", "OutlineOperand", "VersionCondition"} <= {name for name, _ in type_names()}


def test_the_fused_activation_is_read_in_one_place():
    readers = [path for path in PACKAGE.rglob("*.py") if "def fused_activation" in path.read_text(encoding="utf-8")]
    assert [path.relative_to(PACKAGE).as_posix() for path in readers] == ["graph/graph.py"]


@pytest.mark.parametrize("shape", [(), (2, 3), (0,), (2, 0), (-1, 3)])
def test_tensors_without_elements(shape):
    node = node_view("RELU", [arena("FLOAT32", *shape)], [])
    found = None if 0 not in shape else f"input 0 of shape {list(shape)}"
    assert has_elements(INPUT).finder(node, None) == found
    strict = f"input 0 of shape {list(shape)}" if min(shape, default=1) <= 0 else None
    assert has_elements(INPUT, allows_negative=False).finder(node, None) == strict


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_every_operator_stands_in_one_file(name):
    book = find_delegate(name).rules
    files = files_with_rules(type(find_delegate(name)).__module__)
    for op in book.rules.keys() - book.custom:
        holders = {path.stem for path in files if op in keys_of(path)}
        assert len(holders) == 1, op
        assert files[0].parent.name == "delegates" or holders <= {FAMILY_OF[op], *GROUPS}, op


def files_with_rules(module):
    """Return the files that may have the rules of the delegate in a module."""
    path = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    if path.parent.name == "delegates":
        separate = path.with_stem(f"{path.stem}_rules")
        return [separate if separate.exists() else path]
    folder = path.parent / "rules"
    files = [*(folder if folder.exists() else path.parent).iterdir()]
    return [each for each in files if each.suffix in (".py", ".json") and each.stem in {*FAMILIES, *GROUPS}]


GROUPS = {"activation", "arithmetic", "calls", "layers", "operators", "rules", "shapes", "slicing", "windows"}
"""Modules that have the rules of several small families."""
OTHER_FILES = {"__init__", "checks", "composite_layers", "composites", "questions"}
"""Modules that rules of several families share."""


def test_every_other_file_exists():
    assert {path.stem for path in family_files()} >= OTHER_FILES


@for_each(family_files(), lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_rules_stand_in_files_named_for_families(path):
    assert path.stem in {*FAMILIES, *GROUPS, *OTHER_FILES}


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_every_check_has_a_hint_a_source_and_words_for_its_kind(name):
    for book in find_delegate(name).rule_books:
        for op, rule in book.rules.items():
            for check in rule.all_checks:
                assert book.hint_of(check), (op, check.needed)
                assert check.needed, op
                source = book.source_of(check, rule)
                assert re.fullmatch(r"[0-9a-f]{40}", source.repository.commit), (op, source)
                assert source.file, (op, source)
                assert re.fullmatch(r"~?\w+(::~?\w+)*", source.symbol), (op, source)


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_every_kind_is_explained(name):
    for code, kind in find_delegate(name).kinds.items():
        assert all((kind.title, kind.meaning, kind.advice, kind.hint)), code


def test_one_delegate_is_applied_by_default():
    assert [name for name in DELEGATE_NAMES if find_delegate(name).is_applied_by_default] == [APPLIED_BY_DEFAULT]


def _overlap(one, other):
    """Whether two checks count in one release."""
    return any(one.counts_in(release) and other.counts_in(release) for release in map(parse_release, KNOWN_RELEASES))


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_a_check_stands_twice_only_where_a_release_moved_it(name):
    for book in find_delegate(name).rule_books:
        for op, rule in book.rules.items():
            places = {}
            for check in rule.checks:
                key = (check.demand, check.kind, check.conditions, book.source_of(check, rule))
                assert not any(_overlap(check, earlier) for earlier in places.setdefault(key, [])), (op, check.demand)
                places[key].append(check)

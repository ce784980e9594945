"""Imports go one way: each room of the house imports only from those below it."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.delegates.registry import DEFAULT_DELEGATE, DELEGATE_NAMES, find_delegate
from delegate_sim.rules import kinds
from tests.support.models import chain_model
from tools.docs.architecture import PAGE, imported_names, page_with_picture, rooms_imported

ROOT = Path(__file__).resolve().parents[2]

LAYERS = (
    ("errors", "version"),
    ("refusal",),
    ("foundation",),
    ("bundles", "releases"),
    ("model",),
    ("graph",),
    ("rules", "nnapi_runtime"),
    ("prepare",),
    ("versions", "delegates"),
    ("runtime",),
    ("hypothetical", "llm"),
    ("apps", "results", "inference"),
    ("micro",),
    ("fixing",),
    ("device", "diagnosis", "live"),
    ("timing", "verification"),
    ("conversion", "reduction"),
    ("export", "gate", "page", "scan", "sweeping"),
    ("api",),
)
"""The rooms of ``delegate_sim``, lowest first. Rooms of one layer do not import each other."""
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

CLI_LAYERS = (
    ("codes", "exits"),
    ("console",),
    ("assertions", "model_explorer", "models", "options", "text"),
    ("pytest_plugin",),
    ("formats",),
    ("answers",),
    ("commands",),
    ("main",),
    ("start",),
)
"""The rooms of the command line, lowest first."""
CLI_LEVEL = {room: level for level, rooms in enumerate(CLI_LAYERS) for room in rooms}
ENTRANCES = ("__init__", "__main__")
"""The modules above all rooms of a package, which import what they hand on."""


def modules(package="delegate_sim"):
    entrances = [ROOT / package / f"{name}.py" for name in ENTRANCES]
    return sorted(path for path in (ROOT / package).rglob("*.py") if path not in entrances)


def room_of(path, package="delegate_sim"):
    return path.relative_to(ROOT / package).with_suffix("").parts[0]


def imports_from_above(package, imported, level):
    """Describe the imports that lead from a module to another room that is not below its own."""
    offenders = []
    for path in modules(package):
        own, name = room_of(path, package), path.relative_to(ROOT).as_posix()
        offenders += [f"{name} imports {room}" for room in imported(path) if room != own and level[room] >= level[own]]
    return offenders


def test_modules_import_only_from_below():
    assert imports_from_above("delegate_sim", rooms_imported, LEVEL) == []


def test_every_room_has_a_layer():
    found = {path.stem if path.is_file() else path.name for path in (ROOT / "delegate_sim").iterdir()}
    assert found - {*ENTRANCES, "__pycache__", "py"} == set(LEVEL)


def test_modules_directly_in_the_package_are_held_to_the_layers():
    assert ROOT / "delegate_sim" / "errors.py" in modules()


def test_modules_of_the_command_line_import_only_from_below():
    def imported(path):
        return rooms_imported(path, ROOT / "cli", "delegate_sim_cli")

    assert imports_from_above("cli", imported, CLI_LEVEL) == []


def dotted_name(path, package, name):
    parts = path.relative_to(ROOT / package).with_suffix("").parts
    return ".".join([name, *(parts[:-1] if parts[-1] == "__init__" else parts)])


def import_graph(package, name):
    """Return the modules that each module of a package imports, inside functions as well."""
    paths = {dotted_name(path, package, name): path for path in modules(package)}
    graph = {}
    for module, path in paths.items():
        imported = imported_names(path, ROOT / package, name)
        targets = {dotted if dotted in paths else dotted.rpartition(".")[0] for dotted in imported}
        graph[module] = targets & paths.keys() - {module}
    return graph


@pytest.mark.parametrize(("package", "name"), [("delegate_sim", "delegate_sim"), ("cli", "delegate_sim_cli")])
def test_no_modules_import_each_other(package, name):
    graphlib.TopologicalSorter(import_graph(package, name)).prepare()


MOST_MODULES = 16
LARGER_FOLDERS = {
    "cli/commands": "a module for each command",
    "cli/text": "a module for each kind of result",
    "tests/support": "a module for each kind of test data",
}
"""Folders that may have more modules, and why."""


def test_folders_have_few_modules():
    sizes = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for package in ("delegate_sim", "cli", "tools", "benchmarks", "fixtures", "tests/support")
        for path in (ROOT / package).rglob("*.py")
        if path.stem not in ENTRANCES
    )
    assert {folder for folder, size in sizes.items() if size > MOST_MODULES} == set(LARGER_FOLDERS)


def test_an_import_from_above_is_named():
    module = "delegate_sim/foundation/limits.py"
    offenders = imports_from_above("delegate_sim", lambda path: ["foundation", "api"] * (path == ROOT / module), LEVEL)
    assert offenders == [f"{module} imports api"]


def test_every_room_of_the_command_line_has_a_layer():
    found = {path.stem if path.is_file() else path.name for path in (ROOT / "cli").iterdir()}
    assert found - {*ENTRANCES, "__pycache__", "py"} == set(CLI_LEVEL)


def test_the_package_does_not_import_the_command_line():
    for path in modules():
        assert "delegate_sim_cli" not in path.read_text(encoding="utf-8"), path


NAMING_ROOMS = ("delegates", "llm", "nnapi_runtime")
NAMING_MODULES = ("bundles.py", "mcp.py")
ABOVE_DELEGATES = [
    *[path for path in modules() if room_of(path) not in NAMING_ROOMS and path.name not in NAMING_MODULES],
    ROOT / "delegate_sim" / "__init__.py",
    *[path for path in modules("cli") if path.name not in NAMING_MODULES],
]
"""Modules that name no delegate.

``nnapi_runtime`` is about Android's own runtime, whatever the delegate in front of it. ``llm`` and ``bundles`` are about the
engine of LiteRT-LM, which names its backends after hardware and chooses the delegate of each. The descriptions of
the tools in ``mcp`` give examples.
"""
GENERIC = {"backend", "device", "driver", "max_partitions", "release", "soc", "subgraphs"}
"""Names of options that are everyday words, which mean other things elsewhere."""

OF_FILES_AND_TOOLS = (
    *("edgetpu-custom-op", "edgetpu_compiler", "libedgetpu", "(?:lib)?hexagon_nn", "hexagon/", "ArmNN (?=Failed)"),
)
"""A custom operator of model files, a compiler, libraries and lines of logs, whose names contain that of a delegate."""


@functools.cache
def words_of_delegates():
    """The names of all delegates, of their options and flags, and the codes that are theirs alone."""
    shared = {kind.name for kind in vars(kinds).values() if isinstance(kind, kinds.Kind)}
    words = set(DELEGATE_NAMES)
    for delegate in map(find_delegate, DELEGATE_NAMES):
        words |= {name for option in delegate.options for name in (option.name, option.flag) if name} - GENERIC
        words |= {code for code in (*delegate.kinds, *delegate.further_kinds) if code not in shared}
    return frozenset(words)


def strings_in(tree):
    """The strings of a module, without docstrings and the epilogs of help texts, whose examples may name anything."""
    free = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            free.add(id(node.value))
        elif isinstance(node, ast.Assign) and [each.id for each in node.targets if isinstance(each, ast.Name)] == ["_EPILOG"]:
            free |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in free:
            yield node.value


def delegates_named_in(source):
    """Words of delegates among a module's strings: their names and what has a hyphen or underscore anywhere, others alone."""
    words = words_of_delegates()
    found = set()
    for string in strings_in(ast.parse(source)):
        text = re.sub("|".join(OF_FILES_AND_TOOLS), "", string)
        found |= words & {text}
        found |= {word for word in re.findall(r"[\w-]+", text) if word in words and re.search(r"[-_]", word)}
        found |= {*DELEGATE_NAMES}.intersection(re.findall("[a-z]+", text.lower()))
    return found


def test_nothing_but_the_registry_and_the_delegates_names_a_delegate():
    """Code above the delegates asks ``Delegate`` for what it needs, options and codes included."""
    named = {path.relative_to(ROOT).as_posix(): delegates_named_in(path.read_text(encoding="utf-8")) for path in ABOVE_DELEGATES}
    assert {name: words for name, words in named.items() if words} == {}


@pytest.mark.parametrize(
    "source",
    [
        'x = "nnapi"',
        'x = "--no-default-xnnpack"',
        'x = "NNAPI has"',
        'x = f"--{a} coreml_version=3"',
        'x = ["nnapi-driver"]',
        'd["feature-level"]',
    ],
)
def test_names_options_and_codes_of_delegates_are_found(source):
    assert delegates_named_in(source)


@pytest.mark.parametrize(
    "source", ['"""About nnapi."""', '_EPILOG = "--delegate gpu"', 'x = "the driver"', 'x = "partition-limit"']
)
def test_documentation_and_shared_words_are_free(source):
    assert not delegates_named_in(source)


@pytest.mark.parametrize("module", ["delegate_sim", "delegate_sim_cli.pytest_plugin"])
def test_the_default_delegate_is_known_without_loading_the_registry(module):
    code = f"import sys, {module}; print('delegate_sim.delegates.registry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_default_delegate_is_the_one_of_the_registry():
    model = chain_model(["RELU"]).bytes()
    assert delegate_sim.analyze(model, defaults="api").runs[0].delegate is find_delegate(DEFAULT_DELEGATE)


def test_the_picture_shows_the_imports_as_they_are():
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_picture(page), "run `make docs`"

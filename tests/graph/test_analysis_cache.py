"""The results that simulations of one analysis share, and that what may be shared is declared."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.graph import file_graph
from delegate_sim.prepare import kernels, preparation
from delegate_sim.prepare.kernel import CHANGED_IN, KERNELS, KernelNode
from delegate_sim.releases.catalogue import KNOWN_RELEASES, NEWEST, OLDEST, Release, oldest_alike, parse_release
from delegate_sim.results.compare import release_table
from delegate_sim.runtime.target import Target

MODELS = sorted((Path(delegate_sim.__file__).parents[1] / "fixtures" / "models").glob("*.tflite"))


class NotedRelease(Release):
    """A release that notes which others it is compared with, and may be asked for nothing else."""

    asked: set[Release]

    def is_at_least(self, other):
        self.asked.add(other)
        return super().is_at_least(other)

    def __str__(self):
        raise AssertionError("a release is named")


def noted(release):
    made = NotedRelease(*release)
    made.asked = set()
    return made


def test_a_result_is_made_once_for_equal_keys():
    cache, made = AnalysisCache(), []
    for key in (("a", {"b": 1}), ("a", {"b": 1}), ("a", {"b": 2})):
        assert cache.get("question", key, lambda key=key: made.append(key) or key) == key
    assert made == [("a", {"b": 1}), ("a", {"b": 2})]
    assert cache.get("other question", ("a", {"b": 1}), lambda: "other") == "other"


def test_few_results_are_kept():
    cache = AnalysisCache()
    for number in range(40):
        cache.get("question", (number,), lambda number=number: number)
    assert cache.get("question", (19,), lambda: "again") == 19
    assert cache.get("question", (0,), lambda: "again") == "again"


def test_the_oldest_release_that_is_alike():
    changes = [parse_release("litert-1.1.0"), parse_release("tf-2.12")]
    assert oldest_alike(parse_release("tf-2.11"), changes) == OLDEST
    assert oldest_alike(parse_release("tf-2.18"), changes) == parse_release("tf-2.12")
    assert oldest_alike(NEWEST, changes) == parse_release("litert-1.1.0")
    assert min(map(parse_release, KNOWN_RELEASES), key=lambda release: release.order) == OLDEST


@pytest.mark.parametrize("release", [OLDEST, NEWEST], ids=str)
def test_kernels_compare_only_with_releases_that_they_declare(monkeypatch, release):
    run, compared = preparation._run_kernel, set()

    def run_kernel(node):
        node.release = noted(release)
        try:
            run(node)
        finally:
            op = preparation._kernel_name(node.op, node.node.is_custom)
            compared.update([(op, other) for other in node.release.asked])

    monkeypatch.setattr(preparation, "_run_kernel", run_kernel)
    for path in MODELS:
        preparation.prepare(load(path))
    assert compared
    assert not {(op, other) for op, other in compared if other not in CHANGED_IN[op]}


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(kernels.__path__)])
def test_kernels_declare_every_release_that_their_module_names(name):
    module = importlib.import_module(f"{kernels.__name__}.{name}")
    declared = {release for op, made in KERNELS.items() if made.__module__ == module.__name__ for release in CHANGED_IN[op]}
    asked = re.findall(r'"((?:tf|litert)-[\d.]+)"', re.sub(r"@kernel\(.*", "", inspect.getsource(module)))
    assert set(map(parse_release, asked)) <= declared


def test_a_kernel_that_asks_for_a_release_that_it_does_not_declare():
    with pytest.raises(RuntimeError, match=r"NEG does not list litert-1\.3\.0"):
        KernelNode.since(SimpleNamespace(op="NEG", release=NEWEST), "litert-1.3.0")


@pytest.mark.parametrize("name", [name for name in DELEGATE_NAMES if find_delegate(name).history.changed_in is not None])
@pytest.mark.parametrize("release", [OLDEST, NEWEST], ids=str)
def test_delegates_compare_only_with_releases_that_they_declare(name, release):
    delegate = find_delegate(name)
    options = parse_options(name, delegate.options, {})
    for path in MODELS:
        model = load(path)
        for graph in (*preparation.prepare(model), *[file_graph(model, subgraph) for subgraph in model.subgraphs]):
            asked = noted(release)
            delegate.decide(graph, options, asked)
            declared = delegate.rules_for(options).changed_in({(node.op, node.is_custom) for node in graph.nodes})
            assert asked.asked <= {*delegate.history.changed_in, *declared}, path.stem


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_a_table_of_releases_is_that_of_each_by_itself(monkeypatch, name):
    delegate = find_delegate(name)
    target = Target(delegate, parse_options(name, delegate.options, {}), defaults="benchmark")
    for path in MODELS[DELEGATE_NAMES.index(name) % 12 :: 12]:
        model = load(path)
        table = release_table.release_table(model, target)
        with monkeypatch.context() as patch:
            simulate = release_table.simulate
            patch.setattr(release_table, "simulate", lambda *given, simulate=simulate, cache: simulate(*given))
            patch.setattr(type(delegate), "history", delegate.history._replace(changed_in=None))
            patch.setattr(preparation, "oldest_alike", lambda release, _: release)
            alone = release_table.release_table(model, target)
        assert (table.rows, table.platforms) == (alone.rows, alone.platforms)

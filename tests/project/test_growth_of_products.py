"""Two quantities of an input grow together. The work grows with the size of the input, and not with the product.

The limits of a command are lowered, so that small inputs reach them: work that no limit counts then grows with the product.
"""

from __future__ import annotations

import json

import pytest

from delegate_sim.foundation import work_budget
from delegate_sim.graph import effort
from fixtures.builder import ModelBuilder
from fixtures.bundles import litertlm_bytes, zip_bytes
from fixtures.op_profiles import write_profile
from tests.support.growth import (
    CHECK,
    archive,
    baseline,
    calls_of,
    configuration,
    devices,
    driver,
    entry,
    filters,
    log,
    op_profile,
    outlines,
    rows,
    run,
    written,
)
from tests.support.models import chain_model

PRODUCTS = {}
MOST_CALLS = 1.3
"""The factor of calls for each factor of bytes."""
LOWERED = 100
"""The factor by which the limits on work are lowered."""
MOST_CALLS_IN_ALL = 3_000_000
"""The calls that no input may cause with these limits. With the usual limits, a command may make a hundred times as many."""


def product(size):
    """Register a function that makes an input in which two quantities have this size."""

    def register(make):
        PRODUCTS[make.__name__] = (make, size)
        return make

    return register


def nodes(count):
    return {"model.tflite": chain_model([f"ADD {number % 7 + 1}" for number in range(count)]).bytes()}


DISTINCT = 'delegate = "gpu"\n[targets.t{0}.options]\nmax_delegated_partitions = {0}'


def targets(count, *words, setting=DISTINCT):
    tables = "".join([f"[targets.t{number}]\n{setting.format(number)}\n" for number in range(1, count + 1)])
    return {**nodes(count), **configuration(f'models = ["model.tflite"]\n{tables}')[0]}, (words or CHECK)


@product(80)
def targets_and_nodes(count):
    return targets(count)


@product(80)
def targets_and_nodes_with_advice(count):
    return targets(count, setting='delegate = "nnapi"')


@product(120)
def targets_of_kind_micro_and_nodes(count):
    return targets(count, setting='kind = "micro"')


@product(80)
def exported_targets_and_nodes(count):
    return targets(count, "export", "model-explorer", "model.tflite", "--output", "x.json", "--force")


@product(80)
def diagnosed_targets_and_nodes(count):
    return targets(count, "diagnose", "model.tflite")


@product(80)
def rewritten_targets_and_nodes(count):
    return targets(count, "fix", "--plan", "--per-target", "model.tflite")


@product(200)
def runs_of_a_log_and_nodes(count):
    replaced = f"Replacing {count} out of {count} node(s) with delegate (TfLiteNnapiDelegate) node."
    lines = f"STARTING!\nLoaded model model.tflite\n{replaced}\n"
    files, words = log(lines * count)
    return {**files, **nodes(count)}, words


@product(200)
def rows_of_an_op_profile_and_nodes(count):
    files, words = op_profile(write_profile(rows(count)))
    return {**files, **nodes(count)}, words


@product(200)
def rejections_of_a_driver_and_nodes(count):
    files, words = driver("".join([f'[[rejects]]\noperation = "ADD"\nshapes = [[{number}]]\n' for number in range(count)]))
    return {**files, **nodes(count)}, words


@product(100)
def refusals_of_devices_and_nodes(count):
    refusal = '[[devices.refuses]]\noperation = "ADD"\nshapes = [[{}]]\n'
    text = "".join(
        [
            f'[[devices]]\nname = "d{device}"\nfeature_level = 30\n' + "".join([refusal.format(n) for n in range(count // 4)])
            for device in range(4)
        ]
    )
    files, words = devices(text)
    return {**files, **nodes(count)}, words


@product(200)
def op_filters_and_nodes(count):
    files, words = filters("".join([f'filters {{ op_name_pattern: "a{number}.*b" }}\n' for number in range(count)]))
    return {**files, **nodes(count)}, words


@product(150)
def patterns_and_files(count):
    patterns = json.dumps([f"*{number}*x" for number in range(count)])
    text = f'models = {patterns}\n[targets.one]\ndelegate = "gpu"\n'
    return {**{f"{number}.tflite": b"" for number in range(count)}, **configuration(text)[0]}, CHECK


@product(150)
def entries_of_a_baseline_and_targets(count):
    files, words = targets(count)
    content, _ = baseline([{**entry(), "target": f"t{number}"} for number in range(count)], outlines(1))
    return {**content, **files}, words


@product(150)
def ignored_findings_and_nodes(count):
    ignored = "".join([f'[[ignore]]\ncode = "gpu-*"\nmodels = ["m*{number}"]\nreason = "x"\n' for number in range(count)])
    text = f'models = ["model.tflite"]\n[targets.one]\ndelegate = "gpu"\n{ignored}'
    return {**nodes(count), **configuration(text)[0]}, CHECK


@product(60)
def overrides_and_targets(count):
    files, words = targets(count)
    overrides = "".join([f'[[overrides]]\ntargets = ["t*"]\nmax-fallback = {number}\n' for number in range(count)])
    return {**files, "delegate-sim.toml": files["delegate-sim.toml"] + overrides.encode()}, words


@product(12)
def members_and_sections(count):
    inner = litertlm_bytes([(9, {"name": f"{number}"}, b"x") for number in range(count)])
    return archive("a.zip", zip_bytes({f"{number}.litertlm": inner for number in range(count)}))


def reading(builder, *words):
    return {"model.tflite": builder.bytes()}, (words[0], "model.tflite", *words[1:])


@product(60)
def nodes_and_operands(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    sources = [graph.input(f"x{number}", "FLOAT32", [1, 1]) for number in range(count)]
    for number in range(count):
        result = graph.tensor(f"y{number}", "FLOAT32", [1, count])
        graph.node("CONCATENATION", sources, [result], options={"axis": 1})
    graph.outputs(result)
    return reading(builder, "analyze", "--delegate", "gpu")


@product(300)
def nodes_and_elements_of_a_constant(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result, axes = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("axes", "INT32", [count], [1] * count)
    for number in range(count):
        source, result = result, graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node("MEAN", [source, axes], [result], options={"keep_dims": True})
    graph.outputs(result)
    return reading(builder, "analyze", "--delegate", "gpu")


@product(300)
def tensors_and_bytes_of_a_buffer(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result, shared = graph.input("x", "FLOAT32", [1, count]), builder.buffer(bytes(4 * count))
    for number in range(count):
        source, result = result, graph.tensor(f"y{number}", "FLOAT32", [1, count])
        graph.node("ADD", [source, graph.tensor(f"c{number}", "FLOAT32", [1, count], buffer=shared)], [result])
    graph.outputs(result)
    return reading(builder, "fix", "--delegate", "gpu", "--plan")


@product(200)
def signatures_and_subgraphs(count):
    builder = ModelBuilder()
    for number in range(count):
        graph = builder.subgraph(f"s{number}")
        source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
        graph.node("RELU", [source], [result])
        graph.outputs(result)
        builder.signature(f"k{number}", graph, {"x": source}, {"y": result})
    return reading(builder, "inspect")


@product(100)
def calls_and_nodes_of_a_subgraph(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    condition, result = graph.input("c", "BOOL", [1]), graph.input("x", "FLOAT32", [1, 4])
    for number in range(count):
        source, result = result, graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node("IF", [condition, source], [result], options={"then_subgraph_index": 1, "else_subgraph_index": 1})
    graph.outputs(result)
    body = builder.subgraph("body")
    result = body.input("x", "FLOAT32", [1, 4])
    for number in range(count):
        source, result = result, body.tensor(f"z{number}", "FLOAT32", [1, 4])
        body.node("RELU", [source], [result])
    body.outputs(result)
    return reading(builder, "analyze", "--delegate", "gpu")


@pytest.fixture(autouse=True)
def _lowered_limits(monkeypatch):
    for module, names in ((work_budget, ["_MOST_STEPS"]), (effort, ["_MOST_NODES", "_MOST_NODES_REQUIRED"])):
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name) // LOWERED)


def size_of(made):
    files, _ = made
    return sum(map(len, files.values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", PRODUCTS)
def test_the_work_does_not_grow_with_the_product(tmp_path, monkeypatch, name):
    make, size = PRODUCTS[name]
    run(written(tmp_path / "first", make(max(2, size // 5)), monkeypatch))  # imports modules
    small, large = make(size), make(2 * size)
    before, _ = calls_of(written(tmp_path / "small", small, monkeypatch))
    after, _ = calls_of(written(tmp_path / "large", large, monkeypatch))
    assert max(before, after) < MOST_CALLS_IN_ALL
    assert after / before < MOST_CALLS * max(2, size_of(large) / size_of(small))

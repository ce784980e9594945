"""The passes that are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from delegate_sim import analyze, diagnose, load
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.errors import FixError, OptionError
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.fixing.score import is_better, is_no_worse, standing
from delegate_sim.fixing.search import search, try_approximate, try_shapes
from delegate_sim.hypothetical.fixed_inputs import parse_shapes
from delegate_sim.hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, simulate_if
from delegate_sim.results.report.measures import FAILS_LATER, TAKEN, measure
from fixtures.builder import ModelBuilder
from tests.support.fixing.targets import target
from tests.support.models import chain_model

NNAPI = target("nnapi", feature_level="30")
SWIN = Path(__file__).resolve().parents[3] / "shared" / "repro" / "fix" / "swin_window.tflite"


def layers(*versions, approximate=False):
    """FULLY_CONNECTED of some versions, with GELU between them."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [2, 8])
    for number, version in enumerate(versions):
        weights = graph.tensor(f"w{number}", "FLOAT32", [8, 8], data=range(64))
        result = graph.tensor(f"y{number}", "FLOAT32", [2, 8])
        graph.node("FULLY_CONNECTED", [tensor, weights, graph.tensor("b", "FLOAT32", [8], data=range(8))], [result], version, {})
        tensor = graph.tensor(f"g{number}", "FLOAT32", [2, 8])
        graph.node("GELU", [result], [tensor], 1, {"approximate": approximate})
    graph.outputs(tensor)
    return load(builder.bytes())


@pytest.mark.parametrize(
    ("allowed", "names"),
    [
        (Exactness.EXACT, ["own-versions"]),
        (Exactness.ROUNDING, ["own-versions", "gelu-by-exponential"]),
        (Exactness.APPROXIMATE, ["own-versions", "gelu-by-exponential", "gelu-approximated"]),
    ],
)
def test_exact_passes_come_first_and_others_only_where_they_add(allowed, names):
    plan = search(layers(9, 9), [NNAPI], allowed)
    assert [step.name for step in plan.steps] == names[: len(plan.steps)]
    assert len(plan.steps) == min(len(names), 2 if allowed else 1)
    assert plan.exactness == min(allowed, Exactness.ROUNDING)
    assert is_better(plan.after, plan.before)
    assert plan.after == (standing(plan.rewritten.model, NNAPI),)


def test_approximate_passes_that_would_help_are_named():
    rounding, exact = (search(layers(9, 9), [NNAPI], allowed) for allowed in (Exactness.ROUNDING, Exactness.EXACT))
    better = try_approximate(exact).approximate
    assert better is not None
    assert is_better(better.after, exact.after)
    assert try_approximate(rounding).approximate is None, "nothing is left"
    assert try_approximate(exact, {}).approximate is None, "the user chose the passes"


def test_a_model_that_is_delegated_stays_as_it_is():
    plan = search(load(chain_model(["ADD", "RELU"]).bytes()), [NNAPI])
    assert (plan.is_changed, plan.steps, plan.before) == (False, (), plan.after)


def test_no_target_is_worse_off():
    """Written out, GELU is taken by NNAPI; another delegate that takes GELU must not get more bytes or kernels by it."""
    model = layers(4)
    alone = search(model, [NNAPI])
    assert [step.name for step in alone.steps] == ["gelu-by-exponential"]
    for name in DELEGATE_NAMES:
        if name.startswith("npu"):
            continue
        both = search(model, [NNAPI, target(name)])
        for before, after in zip(both.before, both.after, strict=True):
            assert after.score <= before.score


def test_passes_that_gain_only_together_are_found():
    """With one partition at most, one kernel more is a gain only if both nodes that divide the model are taken."""
    names = ("own-versions", "gelu-by-exponential")
    model = load(mixed().bytes())
    passes = {name: PASSES[name] for name in names}
    one_by_one = [
        search(model, [target("nnapi", feature_level="30", max_number_delegated_partitions="1")], passes={name: passes[name]})
        for name in names
    ]
    together = search(model, [target("nnapi", feature_level="30", max_number_delegated_partitions="1")], passes=passes)
    assert together.after[0].score <= min(plan.after[0].score for plan in one_by_one)


def mixed():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [2, 8])
    made = [graph.tensor(f"y{number}", "FLOAT32", [2, 8]) for number in range(4)]
    graph.node("RELU", [x], [made[0]], 1)
    graph.node("GELU", [made[0]], [made[1]], 1, {"approximate": False})
    graph.node("RELU", [made[1]], [made[2]], 1)
    graph.node("ADD", [made[2], made[2]], [made[3]], 4, {})
    graph.outputs(made[3])
    return builder


def test_what_is_foretold_is_what_whatif_says_of_the_same_change():
    """Assuming the versions that the pass gives, and the plan, come to the same."""
    model = layers(9, 9)
    now = apply_pass(start(model), PASSES["own-versions"])
    versions = {index: node.version for index, node in enumerate(now.model.subgraphs[0].nodes) if node.op == "FULLY_CONNECTED"}
    hypothetical = HypotheticalChanges(node_versions={NodeKey(0, index): version for index, version in versions.items()})
    run = simulate_if(model, NNAPI, hypothetical)
    assert measure(run) == standing(now.model, NNAPI).measures


@pytest.mark.parametrize("batch", [1, 3])
def test_a_given_batch_comes_to_what_whatif_says_of_it(batch):
    model = reshaper()
    plan = search(model, [NNAPI], shapes=parse_shapes(model, [f"x={batch},4"]), passes={})
    assumed = simulate_if(model, NNAPI, HypotheticalChanges(batch=batch))
    assert measure(assumed) == plan.after[0].measures
    assert plan.after[0].measures != plan.before[0].measures


@pytest.mark.parametrize("name", ["nnapi", "gpu", "xnnpack", "hexagon"])
def test_widened_weights_come_to_what_whatif_says_of_a_model_of_floats(name):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y, z = graph.input("x", "FLOAT32", [2, 8]), graph.tensor("y", "FLOAT32", [2, 8]), graph.tensor("z", "FLOAT32", [2, 8])
    weights = graph.tensor("w", "INT8", [8, 8], data=range(64), scale=[0.5], zero_point=[0])
    graph.node("FULLY_CONNECTED", [x, weights, -1], [y], 9, {"asymmetric_quantize_inputs": True})
    graph.node("RELU", [y], [z], 1)
    graph.outputs(z)
    model = load(builder.bytes())
    on = target(name)
    made = apply_pass(start(model), PASSES["weights-widened"])
    assumed = simulate_if(model, on, HypotheticalChanges(conversion="float"))
    assert measure(assumed) == standing(made.model, on).measures


@pytest.mark.skipif(not SWIN.exists(), reason="needs ../shared/repro")
def test_a_step_that_is_worse_for_one_target_does_not_block_a_better_end():
    model = load(SWIN)
    targets = [target("gpu"), target("vx")]
    plan = search(model, targets)
    alone = search(model, targets[:1])
    assert plan.after[0].score == alone.after[0].score < plan.before[0].score
    assert plan.after[1].score == plan.before[1].score
    assert plan.conflicts == ()


def test_targets_in_conflict_are_named():
    """Core ML takes the parts around GELU as they are; written out for NNAPI, it would get more boundary bytes."""
    model = load(mixed().bytes())
    plan = search(model, [NNAPI, target("coreml")])
    (conflict,) = plan.conflicts
    assert conflict.alone.score == search(model, [NNAPI]).after[0].score
    assert [standing.target.delegate.name for standing in conflict.losing] == ["coreml"]
    assert conflict.losing[0].score > plan.after[1].score


@pytest.mark.parametrize(
    ("name", "changed", "expected"),
    [
        ("gpu", {"border_bytes": 1000}, False),
        ("xnnpack", {"border_bytes": 1000}, True),
        ("armnn", {"border_bytes": 1000}, True),
        ("gpu", {"nodes": 9}, False),
        ("xnnpack", {"nodes": 9}, True),
        ("xnnpack", {"nodes": 9, "partitions": 9}, False),
        ("gpu", {"nodes": 9, "border_bytes": 0}, False),
        ("gpu", {"nodes": 2}, True),
    ],
)
def test_results_that_are_no_worse(name, changed, expected):
    result = standing(load(chain_model(["ADD", "RELU"]).bytes()), target(name))
    partial = replace(result.measures, nodes=3, delegated_nodes=2, border_bytes=500)
    before = replace(result, measures=partial, multiply_adds=4, total_multiply_adds=4)
    after = replace(before, measures=replace(before.measures, **changed))
    assert is_no_worse([after], [before]) is expected


@pytest.mark.parametrize(("delegates", "steps"), [("mldrift", 2), ("mldrift gpu", 0)])
def test_more_nodes_on_the_cpu_are_worse_for_another_target(delegates, steps):
    """A CAST to INT64 after ARG_MAX is one node more for the delegate that does not take ARG_MAX."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y, z = (
        graph.input("x", "FLOAT32", [1, 4, 4, 3]),
        graph.tensor("y", "FLOAT32", [1, 4, 4, 3]),
        graph.tensor("z", "INT64", [1, 4, 4]),
    )
    graph.node("RELU", [x], [y])
    graph.node("ARG_MAX", [y, graph.tensor("axis", "INT32", [], data=[3])], [z], options={"output_type": 4})
    graph.outputs(z)
    plan = search(load(builder.bytes()), [target(name) for name in delegates.split()])
    assert len(plan.steps) == steps
    left = [[one.measures.fallback_nodes for one in side] for side in (plan.before, plan.after)]
    assert all(now <= then for then, now in zip(*left, strict=True))
    assert all(step.nodes > 0 for step in plan.steps)


def test_fixed_sizes_that_gain_are_suggested_with_their_result():
    model = reshaper()
    plan = try_shapes(search(model, [NNAPI]))
    assert plan.with_shapes is not None
    assert dict(plan.with_shapes.shapes) == {model.subgraphs[0].inputs[0]: (1, 4)}
    assert plan.with_shapes.after[0].score < plan.after[0].score
    given = search(model, [NNAPI], shapes=parse_shapes(model, ["x=1,4"]))
    assert try_shapes(given) is given


def test_each_trial_is_reported():
    told = []
    plan = search(layers(9, 9), [NNAPI], report=told.append)
    assert told[0] == "own-versions, step 1"
    # A pass that helps less than another pass, and not after it, is told but is no part of the plan.
    assert {name.split(",")[0] for name in told} >= {each.name for each in (*plan.steps, *plan.rejected)}


def test_measures_are_those_of_analyze():
    model = layers(9, 9)
    plan = search(model, [NNAPI])
    (run,) = analyze(plan.rewritten.model, "nnapi", {"feature_level": 30}, defaults="benchmark").runs
    assert sum(len(subgraph.delegated) for subgraph in run.subgraphs) == plan.after[0].measures.delegated_nodes


def reshaper(*, splits=False):
    """A batch that is open, and a RESHAPE to a shape that is computed from it. ML Drift crashes for a SPLIT into one part."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])
    shape, batch, sizes = graph.tensor("s", "INT32", [2]), graph.tensor("n", "INT32", []), graph.tensor("p", "INT32", [3])
    begin, end, ones = (graph.tensor(name, "INT32", [1], data=[value]) for name, value in (("b", 0), ("e", 1), ("o", 1)))
    two = graph.tensor("two", "INT32", [], data=[2])
    y = graph.tensor("y", "FLOAT32", [1, 2, 2], signature=[-1, 2, 2])
    z = graph.tensor("z", "FLOAT32", [1, 2, 2], signature=[-1, 2, 2])
    graph.node("SHAPE", [x], [shape], 1, {"out_type": 2})
    graph.node("STRIDED_SLICE", [shape, begin, end, ones], [batch], 1, {"shrink_axis_mask": 1})
    graph.node("PACK", [batch, two, two], [sizes], 1, {"values_count": 3})
    graph.node("RESHAPE", [x, sizes], [y], 1, {})
    if splits:
        graph.node("SPLIT", [graph.tensor("axis", "INT32", [], data=[2]), y], [z], options={"num_splits": 1})
    else:
        graph.node("RELU", [y], [z], 1)
    graph.outputs(z)
    return load(builder.bytes())


def test_a_given_shape_is_folded():
    model = reshaper()
    shapes = parse_shapes(model, ["x=3,4"])
    plan = search(model, [NNAPI], shapes=shapes)
    graph = plan.rewritten.model.subgraphs[0]
    assert [node.op for node in graph.nodes] == ["RESHAPE", "RELU"]
    assert graph.tensors[graph.outputs[0]].shape == (3, 2, 2)
    assert not any(
        tensor.has_unspecified_dimension for tensor in graph.tensors if tensor.index in (*graph.inputs, *graph.outputs)
    )
    assert (plan.before[0].measures.outcome, plan.after[0].measures.outcome) == ("refused", "delegated")


def test_a_kernel_that_crashes_with_fixed_sizes_is_cured():
    model = reshaper(splits=True)
    plan = search(model, [target("mldrift")], shapes=parse_shapes(model, ["x=3,4"]))
    assert ([step.name for step in plan.steps], plan.after[0].measures.outcome) == (["split-as-slices"], "delegated")


def test_a_model_that_fails_with_fixed_sizes_alone_is_refused():
    model = reshaper(splits=True)
    with pytest.raises(FixError, match="with these shapes, ML Drift does not run the model: "):
        search(model, [target("mldrift")], shapes=parse_shapes(model, ["x=3,4"]), passes={})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "a shape is INPUT=1,224,224,3"),
        ("x=1,a", "a shape is INPUT=1,224,224,3"),
        ("x=0,4", "a shape is INPUT=1,224,224,3"),
        ("v=1,4", "the model has no input 'v'; it has 'x'"),
        ("x=1,5", r"input 'x' has shape \[-1, 4\], which does not match \[1, 5\]"),
        ("x=1", r"input 'x' has shape \[-1, 4\]"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(text, words):
    with pytest.raises(OptionError, match=words):
        parse_shapes(reshaper(), [text])


def test_a_signature_with_a_tensor_that_does_not_exist_names_no_input():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("ABS", [x], [y])
    graph.outputs(y)
    builder.signature("main", 0, {"own": x, "other": 1_000_000, "last": (1 << 32) - 1}, {"y": y})
    model = load(builder.bytes())
    assert parse_shapes(model, ["own=2,4"]) == {x: (2, 4)}
    for name in ("other", "last"):
        with pytest.raises(OptionError, match=f"the model has no input '{name}'; it has 'x', 'own'$"):
            parse_shapes(model, [f"{name}=2,4"])


def test_a_diagnosis_names_the_pass_that_does_what_it_advises():
    found = diagnose(layers(9, 9), "nnapi", {"feature_level": 30}, defaults="api")
    named = {finding.cause.operators[0][0]: found.pass_for(finding) for finding in found.findings}
    assert {op: each and each.name for op, each in named.items()} == {
        "FULLY_CONNECTED": "own-versions",
        "GELU": "gelu-by-exponential",
    }
    entry = found.to_dict()["causes"]
    fixes = {cause["fix"]["pass"]: cause["fix"] for cause in entry}
    assert fixes["own-versions"]["exactness"] == "exact"
    assert fixes["own-versions"]["result"]["delegated_nodes"] > found.now.measures.delegated_nodes


def test_a_diagnosis_names_no_pass_where_none_helps():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [2, 8]), graph.tensor("y", "FLOAT32", [2, 8])
    graph.node("ROUND", [x], [y], 1)
    graph.outputs(y)
    found = diagnose(builder.bytes(), "nnapi", {"feature_level": 30}, defaults="api")
    assert [found.pass_for(finding) for finding in found.findings] == [None]


def test_of_several_passes_the_one_that_helps_most_is_named():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1, 2, 2, 4, 4])
    product, y = graph.tensor("product", "FLOAT32", [1, 2, 2, 4, 4]), graph.tensor("y", "FLOAT32", [1, 2, 2, 4, 1])
    graph.node("BATCH_MATMUL", [x, x], [product], options={})
    weights = graph.tensor("w", "FLOAT32", [1, 4], data=[1.0] * 4)
    graph.node("FULLY_CONNECTED", [product, weights, -1], [y], options={"keep_num_dims": True})
    graph.outputs(y)
    diagnosis = diagnose(builder.bytes(), "gpu", defaults="benchmark")
    rank = next(finding for finding in diagnosis.findings if finding.cause.identity.problem.value == "rank")
    assert diagnosis.pass_for(rank).name == "rows-of-rank-4"


def _slice(graph, shape, begin, taken, stride=1):
    end = [first + stride * size for first, size in zip(begin, taken, strict=True)]
    values = (begin, end, [stride] * len(begin))
    rows = [graph.tensor(f"row {place}", "INT32", [len(row)], data=row) for place, row in enumerate(values)]
    x, y = graph.input("x", "FLOAT32", shape), graph.tensor("y", "FLOAT32", taken)
    graph.node("STRIDED_SLICE", [x, *rows], [y], 1, {})
    return y


def _select(graph, shape):
    condition, first, second = (
        graph.input(name, kind, shape) for name, kind in (("c", "BOOL"), ("x", "FLOAT32"), ("z", "FLOAT32"))
    )
    y = graph.tensor("y", "FLOAT32", shape)
    graph.node("SELECT_V2", [condition, first, second], [y], 1, {})
    return y


@pytest.mark.parametrize(
    "add",
    [
        lambda graph: _slice(graph, [9], [2], [3]),
        lambda graph: _slice(graph, [1, 12], [0, 4], [1, 4]),
        lambda graph: _slice(graph, [3, 12], [0, 4], [2, 4]),
        lambda graph: _slice(graph, [4, 4, 12], [0, 0, 0], [2, 2, 6], stride=2),
        lambda graph: _select(graph, [1, 12]),
    ],
    ids=["slice of rank 1", "slice of one row", "slice of rank 2", "slice with strides of rank 3", "select of rank 2"],
)
def test_slices_and_selections_run_on_the_gpu_with_four_dimensions(add):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(add(graph))
    plan = search(load(builder.bytes()), [target("gpu")])
    assert [step.name for step in plan.steps] == ["raised-to-rank-4"]
    assert [standing.measures.fallback_nodes for standing in (*plan.before, *plan.after)] == [1, 0]


def test_running_all_nodes_is_better_than_fewer_bytes():
    """LiteRT-LM refuses a model on the GPU if one node stays on the CPU."""
    builder = ModelBuilder()
    main, region = builder.subgraph("main"), builder.subgraph("region")
    x, cache, position = (
        main.input("x", "FLOAT32", [1, 4]),
        main.input("cache", "FLOAT32", [1, 64, 8]),
        main.input("p", "INT32", [1, 1]),
    )
    weights = main.tensor("w", "FLOAT32", [8, 4], data=[0.5] * 32)
    row, update = main.tensor("row", "FLOAT32", [1, 8]), main.tensor("update", "FLOAT32", [1, 1, 8])
    main.node("FULLY_CONNECTED", [x, weights, -1], [row], 1, {})
    main.node("RESHAPE", [row, main.tensor("shape", "INT32", [3], data=[1, 1, 8])], [update], 1, {"new_shape": [1, 1, 8]})
    region.outputs([region.input(name, "FLOAT32", []) for name in ("old", "new")][1])
    options = {"update_window_dims": [0, 2], "inserted_window_dims": [1], "scatter_dims_to_operand_dims": [1]}
    options |= {"index_vector_dim": 1, "update_computation_subgraph_index": region.index}
    written = main.tensor("written", "FLOAT32", [1, 64, 8])
    main.node("STABLEHLO_SCATTER", [cache, position, update], [written], 1, options)
    main.outputs(written)
    plan = search(load(builder.bytes()), [target("mldrift")])
    assert [step.name for step in plan.steps] == ["scatter-as-update-slice"]
    before, after = plan.before[0].measures, plan.after[0].measures
    assert (before.fallback_nodes, after.fallback_nodes) == (1, 0)
    assert after.border_bytes > before.border_bytes


def unpacked_weights():
    """Return a model whose GPU kernel cannot be built: a FULLY_CONNECTED with weights that a DEQUANTIZE unpacks."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    packed = graph.tensor("packed", "INT8", [8, 8], [1] * 64, scale=0.5)
    weights, result = graph.tensor("weights", "FLOAT32", [8, 8]), graph.tensor("y", "FLOAT32", [1, 8])
    graph.node("DEQUANTIZE", [packed], [weights], version=2)
    graph.node("FULLY_CONNECTED", [graph.input("x", "FLOAT32", [1, 8]), weights], [result], options={})
    graph.outputs(result)
    return load(builder.bytes())


def test_a_model_that_does_not_run_although_all_nodes_are_accepted():
    plan = search(unpacked_weights(), [target("mldrift")])
    before, after = plan.before[0], plan.after[0]
    assert (before.measures.outcome, before.on_cpu, len(before.to_change)) == (FAILS_LATER, frozenset(), 2)
    assert [step.name for step in plan.steps] == ["constants-dequantized"]
    assert (after.measures.outcome, after.to_change) == (TAKEN, frozenset())

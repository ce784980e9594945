"""The compiled models of a bundle: the first run on the CPU, and kernels that end the process."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.llm.compiled import compile_for_cpu, compile_for_gpu, first_run
from delegate_sim.llm.report import ENGINE, Stopped
from fixtures.builder import ModelBuilder
from tests.support.composites import EMPTY_MAP, nested_composites
from tests.support.delegates import xnnpack_shape_cases

ATTENTION = (1, 4, 2, 8)


def on_cpu(content):
    return compile_for_cpu("decoder", delegate_sim.load(content), ENGINE)


def operators(compiled):
    return [node.op for node in compiled.model.subgraphs[0].nodes]


def test_nested_composites_are_inlined_one_level_in_each_round():
    inlined, failure = first_run(on_cpu(nested_composites(3, 2)), 0)
    assert failure is None
    assert operators(inlined) == ["ATAN2"] * 8


def test_each_round_applies_the_delegate_again():
    inlined, _ = first_run(on_cpu(nested_composites(2, 1, "RELU")), 0)
    assert operators(inlined) == ["RELU"]
    assert [(line.replaced, line.nodes) for line in inlined.replacements] == [(1, 1)]


def test_a_composite_that_the_delegate_took_is_not_inlined():
    builder = ModelBuilder()
    main = builder.subgraph("main")
    operands = [main.input(name, "FLOAT32", ATTENTION) for name in ("query", "key", "value")]
    inner, outer = main.tensor("inner", "FLOAT32", ATTENTION), main.tensor("outer", "FLOAT32", ATTENTION)
    for name, inputs, result, body in (("odml.scaled_dot_product_attention", operands, inner, 1), ("odml.x", [inner], outer, 2)):
        options = {"name": name, "composite_attributes": EMPTY_MAP, "decomposition_subgraph_index": body, "version": 1}
        main.node("STABLEHLO_COMPOSITE", inputs, [result], options=options)
    main.outputs(outer)
    for name, count in (("attention", 3), ("other", 1)):
        body = builder.subgraph(name)
        inputs, result = (
            [body.input(f"x{number}", "FLOAT32", ATTENTION) for number in range(count)],
            body.tensor("y", "FLOAT32", ATTENTION),
        )
        body.node("ABS", inputs[:1], [result])
        body.outputs(result)
    inlined, failure = first_run(on_cpu(builder.bytes()), 0)
    assert failure is None
    assert operators(inlined) == ["STABLEHLO_COMPOSITE", "ABS"]
    assert [(line.replaced, line.nodes) for line in inlined.replacements] == [(2, 2)]


@pytest.mark.parametrize("name", [name for name, (code, failing, _) in xnnpack_shape_cases.CASES.items() if failing])
def test_a_kernel_that_cannot_be_prepared_fails_in_the_first_run(name):
    _, failing, twin = xnnpack_shape_cases.CASES[name]
    assert first_run(on_cpu(twin), 0)[1] is None
    _, failure = first_run(on_cpu(failing), 0)
    assert failure.message.startswith("AllocateTensors will fail: ")


def test_a_kernel_of_xnnpack_that_ends_the_process():
    ((_, failing, _),) = xnnpack_shape_cases.CRASHES.values()
    with pytest.raises(Stopped) as stopped:
        on_cpu(failing)
    assert (stopped.value.stop.check, stopped.value.stop.is_crash) == ("delegate-kernel", True)


def split(is_constant):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    axis = graph.tensor("axis", "INT32", (), [3])
    data = (
        graph.tensor("data", "FLOAT32", (1, 1, 1, 4), [1.0] * 4) if is_constant else graph.input("data", "FLOAT32", (1, 1, 1, 4))
    )
    source = graph.input("x", "FLOAT32", (1, 1, 1, 2))
    halves = [graph.tensor(name, "FLOAT32", (1, 1, 1, 2)) for name in ("first", "second")]
    result = graph.tensor("y", "FLOAT32", (1, 1, 1, 2))
    graph.node("SPLIT", [axis, data], halves, 1, {"num_splits": 2})
    graph.node("ADD", [source, halves[0]], [result], options={})
    graph.outputs(result)
    return delegate_sim.load(builder.bytes())


def test_a_kernel_of_the_gpu_that_ends_the_process():
    assert compile_for_gpu("decoder", split(False), ENGINE, is_whole=True).run.refusal is None
    with pytest.raises(Stopped) as stopped:
        compile_for_gpu("decoder", split(True), ENGINE, is_whole=True)
    assert (stopped.value.stop.check, stopped.value.stop.operator, stopped.value.stop.is_crash) == (
        "delegate-kernel",
        "SPLIT",
        True,
    )


@pytest.mark.parametrize("is_whole", [True, False])
def test_weights_with_scales_for_blocks_need_shared_constants(is_whole):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", (1, 32)), graph.tensor("y", "FLOAT32", (1, 4))
    scales = graph.tensor("scales", "FLOAT16", (4,), [0.5] * 4)
    weights = graph.tensor("w", "INT4", (4, 32), buffer=builder.buffer(bytes(64)), blockwise=(scales, -1, 32))
    graph.node("FULLY_CONNECTED", [source, weights, -1], [result], options={})
    graph.outputs(result)
    model = delegate_sim.load(builder.bytes())
    if is_whole:
        assert compile_for_gpu("decoder", model, ENGINE, is_whole=True).run.refusal is None
        return
    with pytest.raises(Stopped) as stopped:
        compile_for_gpu("decoder", model, ENGINE, is_whole=False)
    assert stopped.value.stop.is_crash

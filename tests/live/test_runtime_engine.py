"""The delegate xnnpack against the one in the runtime, where the package's extra ``live`` is installed."""

from __future__ import annotations

import os
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings

from delegate_sim import analyze, load
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.errors import OptionError
from delegate_sim.live.comparison import compare_live
from delegate_sim.live.live_runs import find_engine
from delegate_sim.results.report.number_risks import number_risks
from delegate_sim.runtime.delegate_application import VALIDATION_PREFIX

pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'live'")

from ai_edge_litert.interpreter import Interpreter, OpResolverType

from delegate_sim.live.execution_plans import NodePlan, Partition, plans
from tests.support.delegates.xnnpack_expert_cases import ACCEPTED, REFUSED, scattered
from tests.support.delegates.xnnpack_number_cases import CASES as CASES_OF_NUMBERS
from tests.support.delegates.xnnpack_shape_cases import CASES
from tests.support.dynamic_cases import behind_dynamic, kernel_behind_dynamic
from tests.support.live.graphs import models
from tests.support.tables import for_each

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "models").glob("*.tflite"))
EXAMPLES = int(os.environ.get("DELEGATE_SIM_LIVE_EXAMPLES", "200"))
EVERY = 1 if EXAMPLES > 200 else 3
"""Of models that are run in a process each, every third; ``make random-graphs`` takes all."""


def prepares_without_delegate(model: bytes) -> bool:
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    try:
        Interpreter(model_content=model, experimental_op_resolver_type=resolver).allocate_tensors()
    except (ValueError, RuntimeError):
        return False
    return True


def expected(model: bytes) -> list[NodePlan] | None:
    """Return the predicted execution plans, None if the runtime should fail to make a kernel."""
    (run,) = analyze(model, "xnnpack", defaults="api").runs
    if any("AllocateTensors will fail" in warning for warning in run.warnings):
        return None
    made = []
    for subgraph in run.subgraphs:
        if not subgraph.graph.name.startswith(VALIDATION_PREFIX):
            plan: list[int | Partition] = [] if subgraph.subsets else list(subgraph.graph.execution_plan)
            for subset in subgraph.subsets:
                plan += [Partition("TfLiteXNNPackDelegate", subset.nodes)] if subset.is_delegated else subset.nodes
            made.append(tuple(plan))
    return made


def actual(model: bytes) -> list[NodePlan] | None:
    """Return the execution plans of the runtime, None if it fails because of its delegate."""
    try:
        return plans(model)
    except (ValueError, RuntimeError):
        assume(prepares_without_delegate(model))
        return None


@pytest.mark.parametrize("path", FIXTURES[::EVERY], ids=lambda path: path.stem)
def test_the_runtime_decides_about_a_fixture_as_simulated(path):
    """In a process of its own, since the runtime may crash where it fails."""
    model = load(path)
    found = compare_live(find_engine(find_delegate("xnnpack")), model, analyze(model, "xnnpack", defaults="api").runs[0])
    assert found.is_run
    assert not found.differences


def test_other_options_than_its_own_cannot_be_given_to_the_runtime():
    model = load(FIXTURES[0])
    with pytest.raises(OptionError, match="only with its default options"):
        compare_live(
            find_engine(find_delegate("xnnpack")), model, analyze(model, "xnnpack", {"qs8": False}, defaults="api").runs[0]
        )


@given(model=models())
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
def test_random_graph_is_partitioned_as_foretold(model):
    assert actual(model) == expected(model)


@pytest.mark.parametrize("name", CASES)
def test_kernels_fail_over_shapes_as_foretold(name):
    _, failing, twin = CASES[name]
    assert plans(twin) == expected(twin)
    if failing is not None:
        assert expected(failing) is None
        with pytest.raises(RuntimeError):
            plans(failing)


@pytest.mark.parametrize("is_moved", [True, False])
def test_cpu_kernel_that_partitioning_moves_in_front_of_a_dynamic_tensor(is_moved):
    """It fails when tensors are allocated; where it stays behind, the runtime does not prepare it before it runs."""
    model = behind_dynamic(moves=is_moved)
    if is_moved:
        assert analyze(model, "xnnpack", defaults="api").runs[0].refusal.code == "cpu-kernel-not-prepared"
        with pytest.raises(RuntimeError, match="FLOOR_DIV"):
            plans(model)
    else:
        assert analyze(model, "xnnpack", defaults="api").runs[0].refusal is None
        assert plans(model) == expected(model)


def test_kernel_of_the_delegate_behind_a_dynamic_tensor():
    model = kernel_behind_dynamic()
    refusal = analyze(model, "xnnpack", defaults="api").runs[0].refusal
    assert refusal.is_at_invoke
    assert refusal.message.startswith("Invoke will fail: ")
    assert plans(model) == expected(model)


@pytest.mark.parametrize("model", [*ACCEPTED.values(), scattered()], ids=[*ACCEPTED, "scattered"])
def test_mixtures_of_experts_are_replaced_one_by_one(model):
    assert plans(model) == expected(model)


@pytest.mark.parametrize("name", REFUSED)
def test_mixture_of_experts_is_refused_in_the_same_words(name):
    model, said = REFUSED[name]
    with pytest.raises((RuntimeError, ValueError), match=re.escape(f"moe node #1 {said}")):
        plans(model)


def outputs(model: bytes, resolver: OpResolverType) -> list[npt.NDArray[Any]]:
    """Return the outputs for one set of random inputs, in the order of the model."""
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    values = np.random.default_rng(0)
    for tensor in interpreter.get_input_details():
        size = 20 if tensor["dtype"] == np.int8 else 1
        interpreter.set_tensor(tensor["index"], (values.normal(size=tensor["shape"]) * size).astype(tensor["dtype"]))
    interpreter.invoke()
    return [interpreter.get_tensor(tensor["index"]) for tensor in interpreter.get_output_details()]


@for_each(CASES_OF_NUMBERS)
def test_numbers_are_wrong_as_foretold(name):
    model, _ = CASES_OF_NUMBERS[name]
    runtime = f"litert-{metadata.version('ai-edge-litert')}"
    risks = number_risks(analyze(model, "xnnpack", runtime=runtime, defaults="api").runs[0])
    with_delegate, without = [
        outputs(model, resolver) for resolver in (OpResolverType.AUTO, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    ]
    are_close = [
        np.allclose(*pair, rtol=1e-3, atol=1.0 if pair[0].dtype == np.int8 else 1e-4)
        for pair in zip(with_delegate, without, strict=True)
    ]
    assert all(are_close) == (not risks)

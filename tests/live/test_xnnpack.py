"""The delegate xnnpack against the one in the runtime, where the package's extra ``live`` is installed."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from delegate_sim import analyze
from delegate_sim.runtime.application import VALIDATION_PREFIX

pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'live'")

from tests.live.graphs import models
from tests.live.runtime import Partition, Plan, plans, prepares_without_delegate

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "models").glob("*.tflite"))
EXAMPLES = int(os.environ.get("DELEGATE_SIM_LIVE_EXAMPLES", "500"))


def expected(model: bytes) -> list[Plan] | None:
    """Return the execution plans that are foretold, None if the runtime should fail to make a kernel."""
    (run,) = analyze(model, "xnnpack").runs
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


def actual(model: bytes) -> list[Plan] | None:
    """Return the execution plans of the runtime, None if it fails because of its delegate."""
    try:
        return plans(model)
    except (ValueError, RuntimeError):
        assume(prepares_without_delegate(model))
        return None


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_fixture_is_partitioned_as_foretold(path):
    model = path.read_bytes()
    if not prepares_without_delegate(model):
        pytest.skip("the runtime cannot prepare it with its own kernels")
    foretold = expected(model)
    if foretold is not None:
        assert plans(model) == foretold
        return
    # The runtime may crash where it fails: not in this process.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises((RuntimeError, BrokenProcessPool)):
        pool.submit(plans, model).result()


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

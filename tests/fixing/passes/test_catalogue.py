"""Each pass on random graphs around it: what the runtime computes before and after."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")

from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.fix import ROUNDING, STEPS, corresponding
from delegate_sim.fixing.flatbuffer.model_writing import write
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.inference.difference import compare
from delegate_sim.inference.inputs import edge_inputs, generated_inputs
from fixtures.comparisons import one_process
from tests.support.fixing.nodes import MAKERS, models_around

EXAMPLES = int(os.environ.get("DELEGATE_SIM_FIX_EXAMPLES", "10"))


@pytest.fixture(scope="module", autouse=True)
def _one_process():
    with one_process():
        yield


def test_every_pass_is_tested():
    assert set(MAKERS) == set(PASSES)


@pytest.mark.parametrize("name", PASSES)
def test_models_compute_the_same_before_and_after(name):
    each = PASSES[name]
    rewritten = 0

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), derandomize=True, database=None, deadline=None)
    @given(data=st.data())
    def check(data):
        nonlocal rewritten
        content = data.draw(models_around(name))
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder, "before.tflite"), Path(folder, "after.tflite")
            before.write_bytes(content)
            model = load(str(before))
            assume(not _reads_unwritten(model))
            made = apply_pass(start(model), each)
            assume(made is not None)
            after.write_bytes(b"".join([bytes(chunk) for chunk in write(model, made.change, made.weights)]))
            inputs = [generated_inputs(model, model.subgraphs[0], seed, {}) for seed in (0, 1)]
            try:
                edges = edge_inputs(model, model.subgraphs[0], {}) if each.exactness == Exactness.EXACT else ()
                tensors = corresponding(model, made.model)
                found = compare(model, load(str(after)), inputs, tensors, is_timed=False, edges=edges)
            except FixError as error:
                assume("original model" not in str(error))
                raise
        assert not found.problem
        assume(not any(tensor.unsteady for tensor in (*found.outputs, *found.tensors)))
        assume(found.edges is None or not any(tensor.unsteady for tensor in (*found.edges.outputs, *found.edges.tensors)))
        rewritten += 1
        if each.exactness == Exactness.EXACT:
            assert [tensor for tensor in (*found.tensors, *found.outputs) if tensor.bits] == []
            assert each.holds_for or found.edges is None or found.edges.is_same or found.edges.problem
        elif each.exactness == Exactness.ROUNDING:
            graph = model.subgraphs[0]
            tensors = [(tensor, graph.tensors[index]) for tensor, index in zip(found.outputs, graph.outputs, strict=True)]
            assert [tensor for tensor, own in tensors if own.scale > 0 and tensor.greatest > STEPS] == []
            assert [
                tensor for tensor, own in tensors if not own.scale and tensor.relative > ROUNDING and tensor.range > 1e-6
            ] == []

    check()
    assert rewritten, "the pass rewrites none of the nodes made for it"


def _reads_unwritten(model):
    """Whether TRANSPOSE has an order in INT64: the CPU kernel takes it for INT32, and leaves parts of its result unwritten."""
    graph = model.subgraphs[0]
    return any(node.op == "TRANSPOSE" and graph.tensors[node.inputs[1]].type == "INT64" for node in graph.nodes)

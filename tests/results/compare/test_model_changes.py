"""The changes between two outlines, and the limit on their comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest

from delegate_sim import load
from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.gate.baseline_content import packed, unpacked
from delegate_sim.results.compare.model_changes import compare_outlines
from delegate_sim.results.compare.model_outline import NodeOutline, Output, SubgraphOutline, outline
from fixtures.builder import ModelBuilder

NODE = NodeOutline("ADD", 1, (), (Output("y", "FLOAT32[1]"),))
SMALL = [SubgraphOutline("main", (), (NODE,))]
LARGE = {
    "subgraphs": [SubgraphOutline("main", (), ())] * 100,
    "nodes": [SubgraphOutline("main", (), (NODE,) * 100)],
    "operands": [SubgraphOutline("main", (), (NodeOutline("ADD", 1, (None,) * 500, ()),))],
    "inputs": [SubgraphOutline("main", (Output("x", "FLOAT32[1]"),) * 500, ())],
}


@pytest.mark.parametrize("name", LARGE)
def test_an_outline_that_is_much_larger_than_the_model_uses_up_the_budget(monkeypatch, name):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 900)
    with work_budget.work_budget():
        for _ in range(10):
            compare_outlines(LARGE[name], LARGE[name])
        with pytest.raises(LimitError, match="comparing the model with the baseline takes more than the limit of 900 steps"):
            compare_outlines(LARGE[name], SMALL)


@pytest.mark.parametrize(
    ("op", "old", "new", "changes"),
    [
        ("STRIDED_SLICE", {}, {"shrink_axis_mask": 10}, [("option shrink_axis_mask", "0", "10")]),
        ("STRIDED_SLICE", {"begin_mask": 3}, {"begin_mask": 1, "offset": True}, [
            ("option begin_mask", "3", "1"), ("option offset", "false", "true"),
        ]),
        ("ADD", {"fused_activation_function": 1}, {}, [("option fused_activation_function", "RELU", "NONE")]),
        ("RESHAPE", {"new_shape": [1, 8]}, {"new_shape": [2, 4]}, []),
        ("ADD", {}, None, [("option pot_scale_int16", "true", "false")]),
        ("ADD", {}, {"pot_scale_int16": True}, []),
        ("LEAKY_RELU", {"alpha": 0.1}, {"alpha": 0.25}, [("option alpha", "0.1", "0.25")]),
        ("ADD", {"fused_activation_function": 1}, {"fused_activation_function": 1}, []),
    ],
)  # fmt: skip
def test_changed_options_of_a_node(op, old, new, changes):
    def outline_of(options):
        builder = ModelBuilder()
        graph = builder.subgraph("main")
        operands = [graph.input(name, "FLOAT32", [8]) for name in "abcd"]
        result = graph.tensor("y", "FLOAT32", [8])
        graph.node(op, operands, [result], options=options)
        graph.outputs(result)
        return outline(load(builder.bytes()))

    found = compare_outlines(unpacked(packed(outline_of(old))), outline_of(new)).changes
    assert [(change.what, change.old, change.new) for change in found] == changes


def test_the_options_of_an_outline_without_options_are_not_compared():
    known = replace(NODE, options={"fused_activation_function": "RELU"})
    assert compare_outlines(SMALL, [SubgraphOutline("main", (), (known,))]).changes == ()
    assert compare_outlines([SubgraphOutline("main", (), (known,))], SMALL).changes == ()

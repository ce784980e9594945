"""The limit on the comparison of outlines."""

from __future__ import annotations

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.results.compare.model_changes import compare_outlines
from delegate_sim.results.compare.model_outline import NodeOutline, Output, SubgraphOutline

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

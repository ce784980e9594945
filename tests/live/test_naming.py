"""Names that tell the results of nodes apart."""

from __future__ import annotations

import delegate_sim
from delegate_sim.live import engine
from tests.support.delegates.npu_models import chain


def test_results_of_one_name_are_told_apart():
    builder = chain(["RELU", "NEG", "TANH"])
    model = delegate_sim.load(builder.bytes())
    assert engine.with_distinct_names(model) == bytes(model.content)
    same = delegate_sim.load(bytes(model.content).replace(b"t1", b"t0").replace(b"t2", b"t0"))
    assert not engine.result_names(same)
    renamed = delegate_sim.load(engine.with_distinct_names(same))
    assert [place for _, place in sorted(engine.result_names(renamed).items(), key=lambda each: each[1])] == [
        (0, 0),
        (0, 1),
        (0, 2),
    ]
    assert [graph.nodes for graph in renamed.subgraphs] == [graph.nodes for graph in same.subgraphs]

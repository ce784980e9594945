"""An entry of a baseline."""

from __future__ import annotations

from delegate_sim.gate.baseline import Entry, Fallback
from delegate_sim.results.compare.model_outline import Constant, NodeOutline, Output, SubgraphOutline
from delegate_sim.results.report.measures import Measures

OUTLINE = (
    SubgraphOutline(
        "main",
        (Output("x", "FLOAT32[1,?]"),),
        (NodeOutline("ADD", 2, ("x", Constant("FLOAT32[4]"), None), (Output("y", "FLOAT32[1,4]"),)),),
    ),
)


def entry(sha256="ab", partitions=1, outline=OUTLINE):
    measures = Measures("delegated", 3, 2, partitions, 1, 64)
    fallback = (Fallback(0, "nnapi-operator", frozenset({2})),)
    return Entry(sha256, "nnapi", {"feature_level": 31}, "litert-2.3", "api", "0123", "0.1.0", measures, fallback, outline)

"""Recorded verdicts of Mesa 25.0 that depend on memory behind the shapes, beside the verdicts told here.

The records lie beside the repository, in ../shared; without them these tests are skipped.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.teflon import ETNAVIV, MESA_25_0, RULES, reads_stale_sizes
from delegate_sim.graph.forms import node_forms
from delegate_sim.model.reader import load
from delegate_sim.prepare.preparation import prepare

SHARED = Path(__file__).resolve().parents[4] / "shared"
RECORDS = SHARED / "oracle-teflon" / "teflon" / "keras.jsonl.gz"
OPERATORS = ("CONCATENATION", "SPLIT")

pytestmark = pytest.mark.skipif(not RECORDS.exists(), reason="the recorded verdicts (../shared) are not here")


def recorded_nodes():
    """Yield the recorded subgraph, form, view and verdict of each CONCATENATION and SPLIT."""
    with gzip.open(RECORDS, "rt") as lines, zipfile.ZipFile(SHARED / "corpus" / "keras.zip") as models:
        for record in map(json.loads, lines):
            if not any(operator in str(applied["ops"]) for applied in record["subgraphs"] for operator in OPERATORS):
                continue
            graphs = prepare(load(models.read(record["model"])))
            for applied in record["subgraphs"]:
                graph = graphs[applied["index"]]
                forms = node_forms(graph)
                for index, verdict in enumerate(applied["supported"]):
                    if graph.nodes[index].op in OPERATORS and verdict is not None:
                        place = record["model"], graph.index, forms[index]
                        yield place, graph.view(graph.nodes[index]), bool(verdict)


@pytest.mark.slow
def test_only_nodes_that_read_behind_the_shapes_differ_and_equal_ones_differ_among_each_other():
    rules = RULES[MESA_25_0, ETNAVIV]
    verdicts: dict[object, set[bool]] = {}
    differences, stale = [], 0
    for place, node, verdict in recorded_nodes():
        is_supported = rules.validate(node, ReleaseOnly()).is_supported
        if not (is_supported and reads_stale_sizes(node)):
            differences += [] if is_supported == verdict else [place]
            continue
        stale += 1
        verdicts.setdefault(place, set()).add(verdict)
    assert not differences
    assert stale > 50
    assert sum(len(both) == 2 for both in verdicts.values()) >= 5

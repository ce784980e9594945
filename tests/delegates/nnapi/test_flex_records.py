"""TensorFlow 2.10's interpreter applies Flex before NNAPI is asked, which moves the nodes of the recorded verdicts.

Beside that the verdicts are the same: each operator's nodes are taken, or refused, as often as recorded.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

import delegate_sim

SHARED = Path(__file__).resolve().parents[4] / "shared"
FLEX_KERNEL = "DELEGATE"


def records(corpus):
    path = SHARED / "oracle-releases" / "nnapi" / f"{corpus}.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        for line in lines:
            if f'"{FLEX_KERNEL}:1"' in line:
                record = json.loads(line)
                if record["options"].get("release") == "tf-2.10":
                    yield record


def without_flex(pairs):
    """Leave out Flex operators, which are in the kernel, and the kernel itself."""
    return sorted((op, bool(taken)) for op, taken in pairs if op != FLEX_KERNEL and not op.startswith("Flex"))


@pytest.mark.parametrize("corpus", ["keras", "real"])
def test_verdicts_of_each_operator_are_those_recorded(corpus):
    if not (SHARED / "oracle-releases").exists():
        pytest.skip("the recorded verdicts (../shared) are not here")
    compared = 0
    with zipfile.ZipFile(SHARED / "corpus" / f"{corpus}.zip") as files:
        for record in records(corpus):
            model = delegate_sim.load(files.read(record["model"]))
            found = delegate_sim.analyze(
                model, "nnapi", {**record["options"], "nnapi_runtime": "none"}, defaults="api"
            ).to_dict()["runs"][0]
            subgraphs = {subgraph["index"]: subgraph for subgraph in found["subgraphs"]}
            for expected in record["subgraphs"]:
                ops = [op.partition(":")[0] for op in expected["ops"]]
                nodes = subgraphs[expected["index"]]["nodes"]
                assert without_flex([(node["op"], node["supported"]) for node in nodes]) == without_flex(
                    zip(ops, expected["supported"], strict=True)
                ), (record["model"], record["options"])
                compared += len(nodes)
    assert compared

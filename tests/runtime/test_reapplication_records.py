"""Recorded applications of delegates to subgraphs that call each other, one after the other, beside the lines told here.

The records number the applications, several for each subgraph, so that they are compared in order. They lie beside the
repository, in ../shared; without them these tests are skipped.
"""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from pathlib import Path

import pytest

import delegate_sim

SHARED = Path(__file__).resolve().parents[3] / "shared"
MODELS = SHARED / "corpus" / "keras.zip"
LINE = re.compile(r"Replacing (\d+) out of (\d+) node\(s\) .* yielding (\d+) partitions")

pytestmark = pytest.mark.skipif(not MODELS.exists(), reason="the recorded verdicts (../shared) are not here")


@pytest.mark.parametrize(
    ("delegate", "oracle", "are_all"),
    [("gpu", "oracle", True), ("mldrift", "oracle-mldrift", False), ("armnn", "oracle-armnn", True)],
)
def test_applications_follow_each_other_as_recorded(delegate, oracle, are_all):
    compared = 0
    with gzip.open(SHARED / oracle / delegate / "keras.jsonl.gz", "rt") as lines, zipfile.ZipFile(MODELS) as models:
        for record in map(json.loads, filter(lambda line: '"ctl_nested.' in line[:60], lines)):
            # Records of Arm NN go on after a build that fails; a real run ends there.
            if record["outcome"] != "partitioned" or not record.get("builds", True):
                continue
            if "GpuAcc" in record["options"].get("backends", ""):
                continue
            run = delegate_sim.analyze(
                models.read(record["model"]), delegate, options=record["options"], defaults="api"
            ).to_dict()["runs"][0]
            told = [tuple(map(int, found.groups())) for line in run["log_lines"] if (found := LINE.match(line))]
            recorded = [
                (len(applied["replaced"]), applied["nodes_total"], applied["partitions"])
                for applied in record["subgraphs"]
                if applied["replaced"]
            ]
            # ML Drift's records end once each subgraph of the file could have had one application.
            assert (told if are_all else told[: len(recorded)]) == recorded, record["model"]
            compared += bool(recorded)
    assert compared

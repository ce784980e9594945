"""The very lines that public models give. The models lie beside the repository, in ../shared; without them this is skipped."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import delegate_sim

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus" / "real.zip"

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the public models (../shared) are not here")


@pytest.mark.parametrize("delegate", ["vx", "vx-nxp"])
def test_mobilenet_is_taken_whole(delegate):
    with zipfile.ZipFile(CORPUS) as files:
        path = next(path for path in files.namelist() if path.endswith("mobilenet_v1_0.25_224_quant.tflite"))
        run = delegate_sim.analyze(files.read(path), delegate, runtime="tf-2.15", defaults="api").to_dict()["runs"][0]
    assert run["log_lines"] == [
        "Replacing 31 out of 31 node(s) with delegate (Vx Delegate) node, yielding 1 partitions for the whole graph."
    ]

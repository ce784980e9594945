"""Verdicts on TensorFlow Lite Micro against records of its own code, on a fixed sample.

The records lie beside the repository, in ../shared; without them these tests are skipped.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
TOOL = SHARED / "tools" / "micro_conformance.py"


@pytest.mark.slow
@pytest.mark.skipif(not TOOL.exists(), reason="the recorded verdicts (../shared) are not here")
@pytest.mark.parametrize("corpus", ["fuzz", "keras", "onnx", "real", "torch"])
def test_a_sample_agrees_with_the_runtime(monkeypatch, capsys, corpus):
    main = runpy.run_path(str(TOOL))["main"]
    monkeypatch.setattr("sys.argv", [str(TOOL), "--corpus", corpus, "--sample", "60" if corpus == "fuzz" else "20"])
    main()
    printed = capsys.readouterr().out
    compared = {
        name: (int(wrong), int(count)) for name, wrong, count in re.findall(r"(\w+) [\d.]+% \((\d+) of (\d+) differ\)", printed)
    }
    assert {name for name, (wrong, _) in compared.items() if wrong} == set(), printed
    assert compared["outcomes"][1] > 15
    assert compared["arena"][1] > 5

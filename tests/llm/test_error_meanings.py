"""The meanings of the engine's errors."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from delegate_sim.device.parse.log import read_log
from delegate_sim.device.parse.log_summary import summary_of
from delegate_sim.llm.report import engine_meaning

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "oracle-llm"


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("Model provided has model identifier 'RTLM', should be 'TFL3'", "the file is a LiteRT-LM bundle"),
        (
            "E/litert  ( 12): [litert_dispatch.cc:187] Unsupported dispatch runtime version",
            "from another release than the runtime",
        ),
        ("Failed to allocate tensors!", "a node cannot be prepared"),
        ("Failed to create engine: INTERNAL", "LiteRT-LM's engine cannot be created"),
        (
            "Failed to create engine: INVALID_ARGUMENT: Main backend constraint mismatch. Model requires one of [gpu] but Main "
            "backend is CPU",
            "backend_constraint",
        ),
        ("└ Failed to modify graph with delegate", "could not be applied"),
        ("Failed to run prefill: INVALID_ARGUMENT: Input token ids are too long. Exceeding", "longer than the context"),
    ],
)
def test_a_log_says_what_an_error_of_the_engine_means(line, meaning):
    errors = summary_of(read_log(f"{line}\n")).errors
    assert [meaning in error.meaning for error in errors] == [True]


def test_the_reason_behind_the_first_line_is_the_cause():
    log = "Failed to create engine: UNKNOWN: ERROR: [a.cc:236]\n└ ERROR: [b.cc:1]\n└ Failed to build TFL interpreter\n"
    assert summary_of(read_log(log)).cause == "└ Failed to build TFL interpreter"


def test_a_reason_of_a_library_that_is_not_needed_is_no_error():
    assert summary_of(read_log("└ Could not load shared library x.so: x.so: cannot open shared object file\n")).errors == ()


@pytest.mark.skipif(not RECORDS.is_dir(), reason="the records of the engine are not beside the checkout")
def test_every_error_that_the_engine_returned_has_a_meaning():
    missing = set()
    for path in RECORDS.glob("*.jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                error = record["error"] or ""
                if record["outcome"] in ("refused", "starts-then-fails") and not any(
                    engine_meaning(line) for line in error.splitlines() if not line.startswith("└ ERROR: [")
                ):
                    missing.add(error)
    assert not missing

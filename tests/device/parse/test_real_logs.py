"""Logs that devices really printed, from public threads: what each says was written down by reading it (``real_logs.toml``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.device.parse.log import read_runs
from delegate_sim.device.parse.log_runs import separate_runs
from delegate_sim.device.parse.log_summary import summary_of
from delegate_sim.foundation.parsing.toml import loads
from tests.support.device.logs import SOURCES
from tests.support.tables import for_each

SHARED = Path(__file__).resolve().parents[4] / "shared"
LOGS = {path.name.partition("_")[0]: path for folder in ("logs", "logs-2") for path in sorted(SHARED.glob(f"{folder}/*.log"))}
SAID = loads((Path(__file__).parent / "real_logs.toml").read_text(encoding="utf-8"))

RUNTIME = "Android's neural networks runtime"
PARTS = {
    "04": {"the accelerator's driver": 1},
    "18": {RUNTIME: 3},
    "19": {RUNTIME: 4},
    "21": {"the accelerator's vendor library": 1},
    "30": {"LiteRT 2's compiler plugins": 1},
    "38": {RUNTIME: 4},
}
"""The parts of the system that printed lines of a log, each with the number of its lines."""

PREFIXES = (
    *("    ", "> ", "\t", "1: ", "[component_container-1] ", "app-1  | ", "* "),
    *(
        "I/tflite: ",
        "I/tflite  ( 1234): ",
        "11-20 12:00:00.000 I/tflite  ( 1234): ",
        "11-20 12:00:00.000  1234  1234 I tflite  : ",
    ),
    "2024-09-28 17:01:29.526 12310-12310/org.tensorflow.lite.benchmark I/tflite: ",
    "2024-09-28 17:01:29.526 12310-12310/? I/tflite: ",
    "2023-04-04 17:24:18.428 19036-19036 tflite                  pid-19036                            I  ",
    "06-08 12:09:32.317 I tflite        : ",
    "13:41:58.272 tflite              I  ",
    "com.myapp.myapp                     I  ",
    "2026-10-28 14:41:14.151361+0800 TFLiteBenchmark[3921:935759] ",
    "2024-03-07 10:44:37.676 label_image[18419:1846370] ",
    "Nov 20 12:00:00 host prog[123]: ",
    "2026-11-20T12:00:00.000Z ",
)
"""The prefixes that loggers and pages put in front of a line."""
NEEDS_LOGS = pytest.mark.skipif(not LOGS, reason="../shared/logs is missing")


def log_text(number):
    if number not in LOGS:
        pytest.skip(f"../shared has no log {number}")
    return LOGS[number].read_text(encoding="utf-8")


def summaries(text):
    return [summary_of(log) for log in separate_runs(read_runs(text.splitlines(keepends=True), SOURCES))]


def counts_of(delegate):
    """The counts of a delegate, as ``real_logs.toml`` writes them."""
    names = ("source", "delegated", "total", "partitions", "kernels")
    return [{name: value for name in names if (value := getattr(count, name)) is not None} for count in delegate.counts]


def check(found, said):
    """Compare the summary of a run with what a reader wrote down."""
    name = said["delegate"] if said["delegate"] in DELEGATE_NAMES else ""
    assert (found.delegate.name, found.delegate.outcome) == (name, said["outcome"])
    assert found.delegate.failed_running == said.get("failed_running", False)
    assert said.get("title", "").casefold() in found.delegate.title.casefold()
    assert bool(found.delegate.title) == bool(said["delegate"] or said.get("title"))
    assert counts_of(found.delegate) == said.get("counts", [])
    assert [[other.name, other.outcome] for other in found.others] == said.get("then", [])
    assert [op for op, _, _ in found.refusals] == said.get("refused", [])
    assert [error.kind for error in found.errors] == said.get("errors", [])
    assert [error.node for error in found.errors if error.node is not None] == said.get("nodes", [])
    assert said.get("cause", "") in found.cause
    assert bool(found.cause) == bool(said.get("cause"))
    assert dict(found.operators) == said.get("operators", {})
    assert [count.total for count in found.counts] == ([said["executed"]] if "executed" in said else [])
    told = found.to_dict()
    assert (told["version"], told["may_be_older"]) == (said.get("version", ""), said.get("older", True))
    assert ([found.releases[0], found.releases[-1]] if found.releases else None) == said.get("releases")
    assert told["accelerators"] == said.get("accelerators", [])
    assert told["chips"] == said.get("chips", [])
    assert len(told["notes"]) == len(said.get("notes", []))
    assert all(words in note["line"] for note, words in zip(told["notes"], said.get("notes", []), strict=True))


@NEEDS_LOGS
@for_each(sorted(SAID))
def test_what_a_log_says(number):
    found = summaries(log_text(number))
    assert len(found) == len(SAID[number])
    for summary, said in zip(found, SAID[number], strict=True):
        check(summary, said)


@NEEDS_LOGS
@for_each(sorted(PARTS))
def test_which_parts_of_the_system_printed_lines(number):
    parts = dict(summaries(log_text(number))[-1].parts)
    assert {part: parts.get(part) for part in PARTS[number]} == PARTS[number]


@NEEDS_LOGS
def test_every_log_is_tested():
    assert set(LOGS) == set(SAID)


@NEEDS_LOGS
@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("number", ["02", "10", "11", "37", "40", "42", "54", "56", "59", "67", "76"])
def test_a_page_that_quotes_a_log_works_as_the_log_does(number, prefix):
    text = log_text(number)
    page = (
        "I tried this, and got:\n\n" + "".join(f"{prefix}{line}" for line in text.splitlines(keepends=True)) + "\n\nAny idea?\n"
    )
    assert [told(each) for each in summaries(page)] == [told(each) for each in summaries(text)]


def told(summary):
    """A summary without the lines that were not used."""
    return {key: value for key, value in summary.to_dict().items() if key not in ("unused", "unused_count", "line_count")}


@NEEDS_LOGS
def test_each_run_has_its_own_counts():
    first, second = summaries(log_text("33"))
    assert [(each.delegated, each.total, each.partitions) for each in first.delegate.counts] == [(539, 548, 19)]
    assert [(each.delegated, each.total, each.partitions) for each in second.delegate.counts] == [(431, 461, 58)]


@NEEDS_LOGS
@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("38", "kernel 3 (the model's 482 nodes"),
        ("40", "the model has at most 248"),
        ("06", "while the model is being built"),
        ("40", "ANeuralNetworksCompilation_finish, while the driver compiles the model"),
        ("10", "returned -1 from hexagon_nn_config"),
        ("21", "did not register the custom operator DISPATCH_OP"),
        ("77", "libedgetpu and TensorFlow Lite use different"),
        ("110", "compiled for a newer Edge TPU runtime"),
        ("123", "for another SoC"),
        ("137", "no OpenCL that this process may use"),
        ("138", "a composite that no delegate took"),
    ],
)
def test_errors_are_explained(number, words):
    assert any(words in error.meaning for error in summaries(log_text(number))[-1].errors)


@NEEDS_LOGS
@for_each(sorted(SAID))
def test_what_a_log_says_follows_its_schema(number):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    path = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "log.schema.json"
    runs = [each.to_dict() for each in summaries(log_text(number))]
    content = json.loads(json.dumps({"schema": "delegate-sim/log/1", "log": "x", "runs": runs}))
    jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8"))).validate(content)

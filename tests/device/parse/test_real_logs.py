"""Logs that devices really printed, from public threads: what each says was written down by reading it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.device.parse.log import read_runs
from delegate_sim.device.parse.log_runs import separate_runs
from delegate_sim.device.parse.log_summary import summary_of

LOGS = Path(__file__).resolve().parents[4] / "shared" / "logs"


class Said(NamedTuple):
    """The statements of the last run of a log.

    ``counts`` are those of the delegate: whose count it is, nodes delegated, nodes in all, partitions, delegate kernels.
    """

    delegate: str
    outcome: str
    counts: tuple[tuple[str, int | None, int | None, int | None, int | None], ...] = ()
    title: str = ""
    """A part of what an unknown delegate is called."""
    then: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()
    """The numbers of the nodes that errors name."""
    operators: Mapping[str, int] = MappingProxyType({})
    """Operators in a table."""
    executed: int | None = None
    runs: int = 1
    version: str = ""
    releases: tuple[str, str] | None = None
    """The first and the last release that words its lines like this."""
    older: bool = True
    """Whether an unknown, older release may have printed it."""
    accelerators: tuple[str, ...] = ()
    parts: Mapping[str, int] = MappingProxyType({})


def replaced(delegated, total, partitions):
    return ("replacement", delegated, total, partitions, None)


def own(delegated, total, partitions):
    return ("own", delegated, total, partitions, None)


def split(taken, left):
    return ("split", taken, taken + left, None, None)


def made(kernels):
    return ("kernels", None, None, None, kernels)


def applied(kernels):
    return ("application", None, None, None, kernels)


def table(kernels):
    return ("table", None, None, None, kernels)


RUNTIME = "Android's neural networks runtime"
DRIVER = "the accelerator's driver"
VENDOR = "the accelerator's vendor library"
LITERT = "LiteRT 2's runtime"
PLUGIN = "LiteRT 2's compiler plugins"
PLAIN = ("tf-2.10", "tf-2.11")
WHOLE_GRAPH = ("tf-2.13", "litert-1.0")
SUBGRAPH = ("tf-2.19", "litert-2.1")
NAMED = ("litert-2.2", "litert-2.3")
XNNPACK_MADE = (("xnnpack", "created"),)

DRIFT = "mldrift" if "mldrift" in DELEGATE_NAMES else ""
"""LiteRT 2's graphics accelerator, where it is simulated."""
CL = "" if DRIFT else "LITERT_CL"

SAID = {
    "00": Said("nnapi", "none", (applied(0),)),
    "01": Said("gpu", "created", refused=("UNPACK",)),
    "02": Said("gpu", "whole", (made(1), applied(1))),
    "04": Said("nnapi", "unknown", refused=("CONVOLUTION_2D",), parts={DRIVER: 1}),
    "05": Said("nnapi", "requested"),
    "06": Said("nnapi", "failed", errors=("api-error",)),
    "07": Said("nnapi", "failed", errors=("api-error",)),
    "08": Said("nnapi", "failed", refused=("TRANSPOSE_CONV",), errors=("kernel-error",)),
    "09": Said("hexagon", "part", (own(136, 139, 2), replaced(136, None, 5)), then=(("xnnpack", "part"),), releases=PLAIN),
    "10": Said(
        "hexagon",
        "failed",
        (own(125, 125, 1), applied(None)),
        errors=("call-error", "kernel-error", "node-error", "benchmark-failed"),
        nodes=(125,),
    ),
    "11": Said("hexagon", "requested"),
    "13": Said("gpu", "whole", (table(1),), executed=1),
    "14": Said(
        "",
        "unknown",
        operators={"CONV_2D": 34, "DEPTHWISE_CONV_2D": 13, "TFLite_Detection_PostProcess": 1, "CONCATENATION": 2, "LOGISTIC": 1},
        executed=64,
    ),
    "15": Said("gpu", "whole", (made(1), applied(1))),
    "17": Said("nnapi", "whole", (replaced(63, None, 1),), releases=PLAIN),
    "18": Said("nnapi", "created", parts={RUNTIME: 3}),
    "19": Said("nnapi", "unknown", parts={RUNTIME: 4}),
    "20": Said("", "unknown", accelerators=("NPU", "GPU", "CPU"), older=False),
    "21": Said(
        "",
        "failed",
        title="dispatch",
        errors=("failure", "failure", "kernel-error", "custom-error", "node-error"),
        nodes=(0,),
        older=False,
        parts={VENDOR: 1},
    ),
    "23": Said("", "requested", title="QNN", older=False),
    "24": Said("", "requested", title="NPU", accelerators=("NpuAccelerator", "NPU"), older=False),
    "25": Said("", "unknown", accelerators=("LiteRT GPU", "GPU"), older=False),
    "26": Said("", "requested", title="dispatch", older=False),
    "28": Said(DRIFT, "part", (replaced(4, 7, 3),), title=CL, refused=("DIV", "REDUCE_MAX"), releases=SUBGRAPH, older=False),
    "29": Said(DRIFT, "whole", (replaced(796, 796, 1), replaced(782, 782, 1)), title=CL, releases=SUBGRAPH, older=False),
    "30": Said(
        "",
        "part",
        (("compiled", 3911, 3912, 2, None), replaced(2, 3, 3)),
        title="DispatchDelegate",
        accelerators=("NPU",),
        releases=NAMED,
        older=False,
        parts={PLUGIN: 1},
    ),
    "31": Said(
        "",
        "failed",
        (replaced(1, 1, 1),),
        title="DispatchDelegate",
        errors=("failure", "failure"),
        runs=2,
        releases=NAMED,
        older=False,
    ),
    "33": Said("xnnpack", "part", (replaced(431, 461, 58),), runs=2, releases=SUBGRAPH, older=False),
    "34": Said("xnnpack", "part", (replaced(642, 685, 19),), releases=SUBGRAPH, older=False),
    "35": Said("xnnpack", "part", (replaced(328, 336, 7),), releases=WHOLE_GRAPH, older=False),
    "37": Said("nnapi", "part", (replaced(5, 64, 5),), then=(("xnnpack", "part"),), releases=WHOLE_GRAPH, older=False),
    "38": Said(
        "nnapi",
        "failed",
        (replaced(29, 482, 7),),
        errors=("preparation-error", "api-error", "node-error"),
        nodes=(484,),
        releases=WHOLE_GRAPH,
        older=False,
        parts={RUNTIME: 3},
    ),
    "39": Said(
        "nnapi", "failed", (replaced(5, None, 1),), errors=("api-error", "node-error", "crash"), nodes=(5,), releases=PLAIN
    ),
    "40": Said("nnapi", "failed", (applied(None),), errors=("api-error", "node-error", "benchmark-failed"), nodes=(248,)),
    "42": Said("nnapi", "part", (table(3),), operators={"STRIDED_SLICE": 6, "RESIZE_NEAREST_NEIGHBOR": 2}, executed=11),
    "43": Said(
        "hexagon",
        "part",
        (table(1),),
        then=(("gpu", "part"),),
        operators={"QUANTIZE": 2, "CONV_2D": 1, "MAX_POOL_2D": 1, "CONCATENATION": 1, "MEAN": 1, "FULLY_CONNECTED": 1},
    ),
    "44": Said("", "part", (table(1),), title="DELEGATE", operators={"SPLIT": 1, "ADD": 1}),
    "45": Said("xnnpack", "part", (table(17),), operators={"TRANSPOSE_CONV": 4, "STRIDED_SLICE": 12, "TANH": 1, "DENSIFY": 1}),
    "46": Said("nnapi", "part", (table(1),)),
    "47": Said("", "none", (own(0, 31, 0),), title="QNN"),
    "50": Said("coreml", "part", (own(75, 77, 2),)),
    "51": Said("nnapi", "applied"),
    "52": Said("vx", "created", then=XNNPACK_MADE, refused=("CUSTOM",)),
    "54": Said("vx", "whole", (replaced(31, 31, 1), applied(1)), version="2.15.0", releases=("tf-2.15", "tf-2.15"), older=False),
    "55": Said(
        "nnapi", "whole", (replaced(31, 31, 1), applied(1)), version="2.15.0", releases=("tf-2.15", "tf-2.15"), older=False
    ),
    "56": Said("", "failed", (applied(None),), title="Arm NN", errors=("benchmark-failed",)),
    "57": Said("", "created", title="Arm NN", refused=("TILE",)),
    "59": Said(
        "gpu",
        "part",
        (split(97, 200),),
        refused=(
            *(
                "ARG_MAX",
                "CAST",
                "CONCATENATION",
                "DEQUANTIZE",
                "FLOOR_DIV",
                "GATHER_ND",
                "MUL",
                "PACK",
                "RESHAPE",
                "SUB",
                "UNPACK",
            ),
        ),
    ),
    "60": Said("gpu", "part", (split(351, 1084),), refused=("GATHER",)),
    "62": Said(
        "gpu",
        "failed",
        refused=(*("ADD", "ADD_N", "ARG_MAX", "CAST", "DIV", "EXP", "GATHER", "NON_MAX_SUPPRESSION_V5", "PACK", "REDUCE_MAX"),),
    ),
    "63": Said("gpu", "part", (split(30, 1),)),
    "64": Said("gpu", "failed", (split(2, 249),), refused=("MAXIMUM", "RESIZE_NEAREST_NEIGHBOR"), errors=("immutable-error",)),
    "65": Said("gpu", "created", refused=("ADD", "MUL", "SPLIT", "SPLIT_V")),
    "67": Said("gpu", "failed", (split(25, 40),), refused=("MUL",), errors=("preparation-error", "node-error"), nodes=(65,)),
    "68": Said("gpu", "part", (split(123, 156),), refused=("DEQUANTIZE", "TRANSPOSE_CONV")),
    "69": Said("gpu", "whole", (replaced(290, 290, 1),), releases=("tf-2.13", "litert-2.3"), older=False),
    "70": Said("gpu", "created", errors=("build-error",)),
    "72": Said("nnapi", "requested"),
    "73": Said("", "failed", errors=("dynamic-error",)),
    "74": Said("", "failed", errors=("dynamic-error",)),
    "76": Said("", "failed", title="Flex", errors=("kernel-error", "node-error"), nodes=(1139,)),
    "77": Said("", "failed", title="Edge TPU", errors=("other-error", "node-error"), nodes=(1,)),
}

PREFIXES = (
    *("    ", "> ", "\t", "1: ", "[component_container-1] ", "app-1  | ", "* "),
    *(
        "I/tflite: ",
        "I/tflite  ( 1234): ",
        "11-20 12:00:00.000 I/tflite  ( 1234): ",
        "11-20 12:00:00.000  1234  1234 I tflite  : ",
    ),
    "2020-09-28 17:01:29.526 12310-12310/org.tensorflow.lite.benchmark I/tflite: ",
    "2020-09-28 17:01:29.526 12310-12310/? I/tflite: ",
    "2023-04-04 17:24:18.428 19036-19036 tflite                  pid-19036                            I  ",
    "06-08 12:09:32.317 I tflite        : ",
    "13:41:58.272 tflite              I  ",
    "com.myapp.myapp                     I  ",
    "2026-10-28 14:41:14.151361+0800 TFLiteBenchmark[3921:935759] ",
    "2021-03-07 10:44:37.676 label_image[18419:1846370] ",
    "Nov 20 12:00:00 host prog[123]: ",
    "2026-11-20T12:00:00.000Z ",
)
"""The prefixes that loggers and pages put in front of a line."""
NEEDS_LOGS = pytest.mark.skipif(not LOGS.is_dir(), reason="../shared/logs is missing")


def log_text(number):
    found = sorted(LOGS.glob(f"{number}_*.log"))
    if not found:
        pytest.skip(f"../shared/logs has no log {number}")
    return found[0].read_text(encoding="utf-8")


def summaries(text):
    return [summary_of(log) for log in separate_runs(read_runs(text.splitlines(keepends=True)))]


@NEEDS_LOGS
@pytest.mark.parametrize("number", sorted(SAID))
def test_what_a_log_says(number):
    said, found = SAID[number], summaries(log_text(number))
    assert len(found) == said.runs
    last = found[-1]
    assert (last.delegate.name, last.delegate.outcome) == (said.delegate, said.outcome)
    assert said.title in last.delegate.title
    assert bool(last.delegate.title) == bool(said.delegate or said.title)
    told = [(each.source, each.delegated, each.total, each.partitions, each.kernels) for each in last.delegate.counts]
    assert tuple(told) == said.counts
    assert tuple((other.name, other.outcome) for other in last.others) == said.then
    assert [op for op, _, _ in last.refusals] == list(said.refused)
    assert [error.kind for error in last.errors] == list(said.errors)
    assert tuple(error.node for error in last.errors if error.node is not None) == said.nodes
    assert dict(last.operators) == said.operators
    assert [each.total for each in last.counts] == ([] if said.executed is None else [said.executed])
    assert (last.version, last.may_be_older) == (said.version, said.older)
    assert ((last.releases[0], last.releases[-1]) if last.releases else None) == said.releases
    assert last.accelerators == said.accelerators
    parts = dict(last.parts)
    assert {part: parts.get(part) for part in said.parts} == said.parts


@NEEDS_LOGS
def test_every_log_is_tested():
    assert {path.name[:2] for path in LOGS.glob("*.log")} == set(SAID)


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
    return replace(summary, unused=(), unused_count=0, line_count=0)


@NEEDS_LOGS
def test_each_run_has_its_own_counts():
    first, second = summaries(log_text("33"))
    assert [(each.delegated, each.total, each.partitions) for each in first.delegate.counts] == [(539, 548, 19)]
    assert [(each.delegated, each.total, each.partitions) for each in second.delegate.counts] == [(431, 461, 58)]


@NEEDS_LOGS
@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("38", "kernel 3: the model's 482 nodes"),
        ("40", "the model has at most 248"),
        ("06", "while the model is being built"),
        ("40", "ANeuralNetworksCompilation_finish, while the driver compiles the model"),
        ("10", "returned -1 from hexagon_nn_config"),
        ("21", "no custom operator DISPATCH_OP"),
    ],
)
def test_errors_are_explained(number, words):
    assert any(words in error.meaning for error in summaries(log_text(number))[-1].errors)


@NEEDS_LOGS
@pytest.mark.parametrize("number", sorted(SAID))
def test_what_a_log_says_follows_its_schema(number):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    path = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "log.schema.json"
    runs = [each.to_dict() for each in summaries(log_text(number))]
    content = json.loads(json.dumps({"schema": "delegate-sim/log/1", "log": "x", "runs": runs}))
    jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8"))).validate(content)

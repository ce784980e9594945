"""Measure other tools that look at a model beside this one, as whole processes: benchmarks/peer_costs.md.

Run by ``make peer-costs``, where ../shared exists. Each tool gets an environment of its own; one that cannot be installed is
said to be missing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import compile_all, described

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).with_suffix(".md")
CORPUS = ROOT.parent / "shared" / "corpus" / "keras.zip"
MODELS = {
    "MobileNet V1": "mobilenet_v1_100_224.int8io.tf221.tflite",
    "DistilBERT": "distilbert_batch8.dyn_unfold.tf215.tflite",
}
_RUNS, _LIMIT = 5, 900
_MEASURED = """
import json, os, resource, subprocess, sys, time
start = time.perf_counter()
try:
    done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=float(sys.argv[1]))
except subprocess.TimeoutExpired:
    done = None
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
status, printed = (None, b"") if done is None else (done.returncode, done.stdout[-400:])
print(json.dumps([status, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss, printed.decode("utf-8", "replace")]))
"""
"""Runs a command in a small process, and says how it ended, what it took, and the peak of its greatest process."""
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_ANALYZER = "import sys, tensorflow as tf; tf.lite.experimental.Analyzer.analyze(model_path=sys.argv[1], gpu_compatibility=True)"
_EXPLORER = """
import sys
from model_explorer.builtin_tflite_flatbuffer_adapter import BuiltinTfliteFlatbufferAdapter
print(len(BuiltinTfliteFlatbufferAdapter().convert(sys.argv[1], {})["graphCollections"]))
"""
_ONNX = """
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
path, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
nodes, constants, last = [], [], "input"
def constant(*shape):
    constants.append(numpy_helper.from_array(np.zeros(shape, np.float32), f"c{len(constants)}"))
    return constants[-1].name
def node(op, *inputs, **attributes):
    global last
    last = f"t{len(nodes)}"
    nodes.append(helper.make_node(op, list(inputs), [last], **attributes))
if kind == "image":
    shape, width = [1, 3, 224, 224], 32
    node("Conv", last, constant(32, 3, 3, 3), constant(32), strides=[2, 2], pads=[1, 1, 1, 1])
    node("Relu", last)
    for number in range(13):
        wider = min(1024, width * 2) if number in (0, 1, 3, 5, 11) else width
        steps = [2, 2] if number in (1, 3, 5, 11) else [1, 1]
        node("Conv", last, constant(width, 1, 3, 3), constant(width), group=width, strides=steps, pads=[1, 1, 1, 1])
        node("Relu", last)
        node("Conv", last, constant(wider, width, 1, 1), constant(wider))
        node("Relu", last)
        width = wider
    node("GlobalAveragePool", last)
    node("Flatten", last)
    node("Gemm", last, constant(width, 1000), constant(1000))
    node("Softmax", last)
else:
    shape = [8, 16, 32]
    weights, bias = constant(32, 32), constant(32)
    while len(nodes) < count:
        source = last
        node("MatMul", last, weights)
        node("Add", last, bias)
        node("Mul", last, bias)
        node("Softmax", last)
        node("Add", last, source)
tensor = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
graph = helper.make_graph(nodes, "graph", [tensor("input", shape)], [tensor(last, None)], constants)
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
"""
"""Writes an ONNX model: MobileNet V1, or a chain of so many nodes as transformers have. There is no converter back to ONNX."""


class Tool(NamedTuple):
    """A tool: what it does, the packages of its environment (the first names the release), and its command for a model."""

    does: str
    packages: Sequence[str]
    command: Sequence[str]
    takes_onnx: bool = False


TOOLS = {
    "tensorflow": Tool("`tf.lite.experimental.Analyzer`", ["tensorflow"], ["{bin}/python", "-c", _ANALYZER, "{model}"]),
    "onnx": Tool(
        "ONNX Runtime mobile usability checker (on ONNX models)",
        ["onnxruntime", "onnx"],
        ["{bin}/python", "-m", "onnxruntime.tools.check_onnx_model_mobile_usability", "{model}"],
        takes_onnx=True,
    ),
    "vela": Tool("Vela", ["ethos-u-vela"], ["{bin}/vela", "{model}", "--output-dir", "{folder}"]),
    "litert": Tool(
        "`apply_plugin_main --cmd=partition`, Intel's plugin",
        ["ai-edge-litert", "openvino>=2026.3.1,<2026.4"],
        [
            *("env", "LD_LIBRARY_PATH={site}/openvino/libs:{site}/ai_edge_litert"),
            *("{site}/ai_edge_litert/tools/apply_plugin_main", "--cmd=partition", "--model={model}", "--o={folder}/out.tflite"),
            *("--soc_manufacturer=IntelOpenVINO", "--soc_model=PTL"),
            "--libs={site}/ai_edge_litert/vendors/intel_openvino/compiler",
        ],
    ),
    "explorer": Tool("Model Explorer's conversion", ["ai-edge-model-explorer"], ["{bin}/python", "-c", _EXPLORER, "{model}"]),
}
OURS = {
    "`delegate-sim analyze` (all delegates)": ["analyze", "{model}"],
    "`delegate-sim analyze --delegate nnapi`": ["analyze", "{model}", "--delegate", "nnapi"],
}


class Measured(NamedTuple):
    """The end of a command (None: it was stopped), seconds, seconds of CPU time, and peak memory in MiB."""

    status: int | None
    seconds: float
    cpu: float
    peak: float
    printed: str


def main() -> None:
    """Measure, print the page, and with ``--write`` put it into its file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--environments", type=Path, default=ROOT, help="folder of the tools' environments, .venv-peer-NAME")
    parser.add_argument("--limit", type=float, default=_LIMIT, help="seconds after which a tool is stopped")
    parser.add_argument("--runs", type=int, default=_RUNS, help="runs of what takes less than ten seconds; once else")
    given = parser.parse_args()
    compile_all()
    with tempfile.TemporaryDirectory(prefix="delegate-sim-bench-") as directory:
        page = as_page(rows(Path(directory), given.environments, given.limit, given.runs))
    print(page)
    if given.write:
        PAGE.write_text(page, encoding="utf-8")


def rows(folder: Path, environments: Path, limit: float, runs: int) -> list[list[str]]:
    """Measure all tools on all models."""
    models = extracted(folder)
    ours = str(Path(sys.executable).with_name("delegate-sim"))
    version = subprocess.run([ours, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    rows = []
    for name, arguments in OURS.items():
        command = [ours, *arguments]
        rows.append([name, version, *[cell for model in models.values() for cell in cells(command, model, folder, limit, runs)]])
    for name, tool in TOOLS.items():
        place = environments / f".venv-peer-{name}"
        print(f"{name}: {place}", file=sys.stderr)
        fault = made(place, tool.packages)
        if fault:
            rows.append([tool.does, "", *[f"cannot be installed: {fault}", "", ""] * len(models)])
            continue
        cost = []
        for kind, model in zip(("image", "transformer"), models.values(), strict=True):
            path = model
            if tool.takes_onnx:
                path = model.with_suffix(".onnx")
                subprocess.run([str(place / "bin" / "python"), "-c", _ONNX, str(path), kind, "3224"], check=True)
            command = [part.replace("{bin}", str(place / "bin")).replace("{site}", str(site(place))) for part in tool.command]
            cost += cells(command, path, folder, limit, runs)
        rows.append([tool.does, release(place, tool.packages[0]), *cost])
    return rows


def extracted(folder: Path) -> dict[str, Path]:
    """Write the models to a folder; raises SystemExit where the converted models are not."""
    if not CORPUS.is_file():
        raise SystemExit(f"{CORPUS} is needed")
    paths = {}
    with zipfile.ZipFile(CORPUS) as archive:
        for name, end in MODELS.items():
            paths[name] = folder / end
            paths[name].write_bytes(archive.read(next(member for member in archive.namelist() if member.endswith(end))))
    return paths


def made(place: Path, packages: Sequence[str]) -> str:
    """Make an environment with packages unless it is there; return why it cannot be made."""
    if (place / "bin" / "python").exists():
        return ""
    venv.create(place, with_pip=True)
    install = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def site(place: Path) -> Path:
    """Return where an environment keeps packages."""
    return next(place.glob("lib/python*/site-packages"))


def release(place: Path, package: str) -> str:
    """Return the version of a package in an environment."""
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    result = subprocess.run([str(place / "bin" / "python"), "-c", code, package], capture_output=True, text=True, check=True)
    return f"{package} {result.stdout.strip()}"


def cells(command: Sequence[str], model: Path, folder: Path, limit: float, runs: int) -> list[str]:
    """Measure a command on a model; return its seconds, CPU time and peak memory as text."""
    filled = [part.replace("{model}", str(model)).replace("{folder}", str(folder)) for part in command]
    measured = [_run(filled, limit)]
    while measured[0].status == 0 and measured[0].seconds < 10 and len(measured) < runs:
        measured.append(_run(filled, limit))
    first = measured[0]
    if first.status is None:
        return [f"more than {limit:,.0f}", f"{first.cpu:,.1f}", f"{first.peak:,.0f}"]
    note = ""
    if first.status:
        print(first.printed, file=sys.stderr)
        note = f", ends with code {first.status}"
    seconds = [run.seconds for run in measured]
    spread = f" ({min(seconds):.2f} to {max(seconds):.2f})" if len(seconds) > 1 else ""
    cpu, peak = (statistics.median(values) for values in ([run.cpu for run in measured], [run.peak for run in measured]))
    return [f"{statistics.median(seconds):.2f}{spread}{note}", f"{cpu:.1f}", f"{peak:,.0f}"]


def _run(command: Sequence[str], limit: float) -> Measured:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(limit), *command], stdout=subprocess.PIPE, check=True, env=environment
    )
    status, seconds, cpu, peak, printed = json.loads(done.stdout)
    return Measured(status, seconds, cpu, peak * _RSS_UNIT / 2**20, printed)


def as_page(found: Sequence[Sequence[str]]) -> str:
    """Return the figures as a page of Markdown."""
    heads = [f"{name}, {what}" for name in MODELS for what in ("s", "CPU s", "peak MiB")]
    lines = [
        "# What other tools cost",
        "",
        "Made by `make peer-costs`: whole processes, medians (least to most) of several runs, one run of what takes ten seconds",
        "and more. Models are a MobileNet V1 of 8 bits (34 nodes) and a DistilBERT (3,224 nodes) as TensorFlow converts them;",
        "for ONNX, a MobileNet V1 and a chain of 3,225 nodes as transformers have. Peak memory is that of the greatest process.",
        "",
        described(),
        "",
        f"| tool | release | {' | '.join(heads)} |",
        "|---|---|" + "---|" * len(heads),
        *[f"| {' | '.join(row)} |" for row in found],
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

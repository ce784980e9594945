"""Inputs of any size for the commands, and the number of calls that a command makes with an input."""

from __future__ import annotations

import base64
import contextlib
import cProfile
import io
import json
import zlib
from pathlib import Path

from delegate_sim.gate.baseline import baseline_text
from delegate_sim.gate.baseline_content import Baseline
from delegate_sim_cli.exits import USAGE
from delegate_sim_cli.main import program
from fixtures.builder import ModelBuilder
from fixtures.op_profiles import ProfiledRow
from tests.support.models import chain_model

LIMIT = "limit"
"""A word in the messages of all limits."""
MODEL = chain_model(["ADD", "RELU", "ADD", "ROUND"]).bytes()
CHECK = ("check", "--config", "delegate-sim.toml")
CONFIGURATION = 'models = ["model.tflite"]\n[targets.one]\ndelegate = "gpu"\n'


def log(text, *words):
    return {"device.log": text.encode()}, ("reconcile", "model.tflite", "--log", "device.log", *words)


def op_profile(text):
    return {"profile.txt": text.encode()}, ("analyze", "model.tflite", "--delegate", "gpu", "--op-profile", "profile.txt")


def rows(count):
    return [ProfiledRow("ADD", f"[t{number}]", number % 4, 1.0) for number in range(count)]


def configuration(text):
    return {"delegate-sim.toml": text.encode()}, CHECK


def driver(text):
    files = {"driver.toml": f'schema = "delegate-sim/driver/1"\n{text}'.encode()}
    return files, ("analyze", "model.tflite", "--delegate", "nnapi", "--driver", "driver.toml")


def devices(text):
    files = {"devices.toml": f'schema = "delegate-sim/devices/1"\n{text}'.encode()}
    return files, ("analyze", "model.tflite", "--delegate", "nnapi", "--devices", "devices.toml")


def baseline(entries, models):
    content = {**json.loads(baseline_text(Baseline())), "entries": entries, "models": models}
    return {"delegate-sim-baseline.json": json.dumps(content).encode(), **configuration(CONFIGURATION)[0]}, CHECK


def entry(model="model.tflite", fallback=()):
    counts = dict.fromkeys(("nodes", "delegated_nodes", "partitions", "delegate_kernels", "border_bytes"), 1)
    settings = {"delegate": "gpu", "options": {}, "runtime": "litert-2.3", "defaults": "benchmark", "rule_set": "1", "tool": "1"}
    own = {"model": model, "target": "one", "outcome": "delegated", **counts, "fallback": list(fallback)}
    return {**own, **settings, "sha256": "0" * 64}


def outlines(nodes, sha256="0" * 64):
    content = [["main", [], [["ADD", 1, [], []]] * nodes]]
    return [[sha256, base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()]]


def filters(text, name="t"):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor(name, "FLOAT32", [1, 4])
    graph.node("RELU", [graph.input("x", "FLOAT32", [1, 4])], [result])
    graph.outputs(result)
    files = {"filters.textproto": text.encode(), "model.tflite": builder.bytes()}
    return files, ("analyze", "model.tflite", "--delegate", "npu-google", "--option", "op_filters=filters.textproto")


def archive(name, content):
    return {name: content}, ("scan", name, "--delegate", "gpu", "--processes", "1", "--output", "zoo.csv")


def run(words):
    """Run a command. Return whether it fails because the input exceeds a limit."""
    printed, code = io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            program.main(list(words))
        except SystemExit as end:
            code = end.code
    return code == USAGE and LIMIT in printed.getvalue()


def written(folder, made, monkeypatch):
    """Write an input to a new folder, make this the current one, and return the command."""
    files, words = made
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, content in {"model.tflite": MODEL, **files}.items():
        Path(name).write_bytes(content)
    return words


def calls_of(words):
    """Return the number of functions that Python enters while it runs a command, and what ``run`` returns."""
    return calls_while(lambda: run(words))


def calls_while(function):
    """Return the number of functions that Python enters while it calls a function, and what the function returns."""
    profile = cProfile.Profile()
    result = profile.runcall(function)
    return sum([entry.callcount for entry in profile.getstats()]), result

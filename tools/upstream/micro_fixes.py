"""Run the models that ``fix --micro`` rewrites in TensorFlow Lite Micro's Python package (``make micro-fixes``).

Needs a Python with ``tflite-micro`` (TFLM), and reads models from ``../shared/corpus``. For each model that the runtime refuses
and ``fix`` changes, the rewritten file runs in TensorFlow Lite Micro, and the original file runs in LiteRT with the same inputs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import delegate_sim
from delegate_sim.errors import DelegateSimError
from delegate_sim.fixing.fix import fix
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.search import FixPlan, search
from delegate_sim.inference.inputs import generated_inputs
from delegate_sim.micro.delegate import micro_target
from delegate_sim.micro.report import MicroReport, analyze
from delegate_sim.model.model import Model

SHARED = Path(__file__).resolve().parents[3] / "shared"
_SECONDS = 120
_LARGEST = 1 << 24
_NEAR, _COARSE = 1e-3, 0.05
"""Bounds of the largest difference of an output, as a share of the output's largest value."""

_MICRO = """
import sys, numpy as np
from tflite_micro.python.tflite_micro import runtime
model, given, results = sys.argv[1:]
interpreter = runtime.Interpreter.from_file(model, arena_size=1 << 26)
inputs = np.load(given)
for number in range(len(inputs)):
    interpreter.set_input(inputs[f"arr_{number}"], number)
print("allocated", flush=True)
interpreter.invoke()
outputs = []
while True:
    try:
        outputs.append(np.array(interpreter.get_output(len(outputs))))
    except Exception:
        break
np.savez(results, *outputs)
"""
_LITERT = """
import sys, numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
model, given, results = sys.argv[1:]
interpreter = Interpreter(model, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
interpreter.allocate_tensors()
inputs = np.load(given)
for number, detail in enumerate(interpreter.get_input_details()):
    interpreter.set_tensor(detail["index"], inputs[f"arr_{number}"])
interpreter.invoke()
np.savez(results, *[interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()])
"""


class Case(NamedTuple):
    """One rewritten model: what the analysis predicts, what the runtime did, and how much the outputs differ."""

    model: str
    passes: tuple[str, ...]
    reasons: tuple[str, ...]
    """The codes of the refusals before the rewrite."""
    predicted: str
    ran: str
    difference: float | None

    @property
    def outputs(self) -> str:
        """The distance of the outputs from those of the original in LiteRT, in a word."""
        if self.difference is None:
            return "not compared"
        return "near" if self.difference <= _NEAR else "coarse" if self.difference <= _COARSE else "different"


def main() -> None:
    """Print the totals, and every model for which the prediction is wrong or the outputs differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="a Python with tflite-micro")
    parser.add_argument("--corpus", action="append", help="the name of a corpus; by default keras, torch, onnx and real")
    parser.add_argument("--every", type=int, default=1, help="take only every Nth model")
    parser.add_argument("--allow", choices=[kind.name.lower() for kind in Exactness], default="approximate")
    arguments = parser.parse_args()
    totals: Counter[str] = Counter()
    for corpus in arguments.corpus or ("keras", "torch", "onnx", "real"):
        for case in _cases(corpus, arguments.every, Exactness[arguments.allow.upper()], arguments.python):
            totals[f"predicted {case.predicted}, ran: {case.ran}, {case.outputs}"] += 1
            totals["models"] += 1
            totals.update([f"models with {reason}: {case.predicted}" for reason in case.reasons])
            if case.predicted != case.ran or case.outputs == "different":
                print(corpus, case)
    for key, count in sorted(totals.items()):
        print(f"{count:6,}  {key}")


def _cases(corpus: str, every: int, allowed: Exactness, python: str) -> Iterator[Case]:
    with zipfile.ZipFile(SHARED / "corpus" / f"{corpus}.zip") as archive:
        names = sorted([entry.filename for entry in archive.infolist() if entry.file_size <= _LARGEST])
        for name in names[::every]:
            if not name.endswith(".tflite"):
                continue
            content = archive.read(name)
            try:
                model = delegate_sim.load(content)
                report = analyze(model)
                if report.runs:
                    continue
                result = search(model, [micro_target()], allowed)
            except DelegateSimError as error:
                print(f"{corpus} {name}: {error}")
                continue
            if result.is_changed:
                yield _case(name, model, report, result, python)


def _case(name: str, model: Model, report: MicroReport, result: FixPlan, python: str) -> Case:
    with tempfile.TemporaryDirectory() as folder:
        original, rewritten, given = [Path(folder, file) for file in ("original.tflite", "rewritten.tflite", "given.npz")]
        original.write_bytes(bytes(model.content))
        fix(result, str(rewritten), proves=False)
        np.savez(given, *generated_inputs(model, model.subgraphs[0], 1, {}))
        expected, outputs = Path(folder, "expected.npz"), Path(folder, "outputs.npz")
        ran = _ran(python, _MICRO, rewritten, given, outputs)
        difference = None
        if ran == "runs" and _ran(sys.executable, _LITERT, original, given, expected) == "runs":
            difference = _difference(expected, outputs)
    reasons = sorted({reason.code for node in report.refused for reason in node.reasons})
    passes = tuple([step.name for step in result.steps])
    return Case(name, passes, tuple(reasons), "runs" if result.after[0].takes_nodes else "refused", ran, difference)


def _ran(python: str, script: str, *files: Path) -> str:
    try:
        command = [python, "-c", script, *map(str, files)]
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "timeout"
    if done.returncode < 0:
        return "crashed"
    return "runs" if done.returncode == 0 else "refused"


def _difference(expected: Path, outputs: Path) -> float:
    first, second = np.load(expected), np.load(outputs)
    pairs = [(first[name].astype(np.float64), second[name].astype(np.float64)) for name in first.files if name in second.files]
    return max([_share(one.ravel(), other.ravel()) for one, other in pairs], default=0.0)


def _share(one: np.ndarray, other: np.ndarray) -> float:
    if one.shape != other.shape:
        return float("inf")
    errors = np.abs(one - other)[~(np.isnan(one) & np.isnan(other))]
    return float(errors.max(initial=0.0) / max(np.abs(one[np.isfinite(one)]).max(initial=0.0), 1e-9))


if __name__ == "__main__":
    main()

"""Conversions that no converter makes: a dense layer as TensorFlow would write it with each of the settings."""

from __future__ import annotations

import hashlib
from pathlib import Path

from delegate_sim.conversion.calibration import DRAWN
from delegate_sim.conversion.convert import Conversion, Failure, FailureKind
from delegate_sim.conversion.converters import Converter, Route
from delegate_sim.conversion.settings import FLOAT, Settings
from delegate_sim.conversion.sources import SourceKind, SourceModel
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.inference.difference import Difference, TensorDifference
from delegate_sim.results.report.measures import Measures
from delegate_sim.sweeping.rows import Origin, SweepRow
from fixtures.builder import ModelBuilder

TENSORFLOW = Route(Converter("tensorflow", "2.99.0", "/python"))
QUANTIZED = Route(TENSORFLOW.converter, Converter("ai-edge-quantizer", "0.9.9", "/python"))
MISSING = Route(Converter("tensorflow", install="pip install '.[sweep-tf]'"))
HALF = Route(TENSORFLOW.converter, Converter("ai-edge-quantizer", install="pip install '.[sweep-torch]'"))
SOURCE = SourceModel(SourceKind.KERAS, "/models/net.keras", "0" * 64, "models/net.keras")
UNITS = 4


def dense(settings: Settings, *, is_wrong: bool = False) -> ModelBuilder:
    """Return the model; its batch is open unless it is ``fixed``, and a float one that is wrong has other weights."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    quantized = settings.quantization == "int8"
    kind, scale = ("INT8", 0.5) if quantized else ("FLOAT32", None)
    open_batch = None if "fixed" in settings.options else [-1, 2]
    source = graph.input("x", "FLOAT32", [1, 2], signature=open_batch)
    inner = source
    if open_batch:
        inner = _reshaped(graph, source)
    if quantized:
        stored = graph.tensor("xq", kind, [1, 2], scale=scale, signature=open_batch)
        graph.node("QUANTIZE", [inner], [stored], 1, {})
        inner = stored
    per_channel = quantized and not {"dense-per-tensor", "per-tensor"} & set(settings.options)
    weights = graph.tensor(
        "w", kind, [UNITS, 2], data=[2 if is_wrong else 1] * (2 * UNITS), scale=[0.5] * UNITS if per_channel else scale
    )
    bias = graph.tensor("b", "INT32" if quantized else "FLOAT32", [UNITS], data=[0] * UNITS, scale=0.25 if quantized else None)
    result = graph.tensor("y", kind, [1, UNITS], scale=scale, signature=open_batch and [-1, UNITS])
    graph.node("FULLY_CONNECTED", [inner, weights, bias], [result], 4 if quantized else 1, {})
    if quantized:
        real = graph.tensor("z", "FLOAT32", [1, UNITS], signature=open_batch and [-1, UNITS])
        graph.node("DEQUANTIZE", [result], [real], 2, {})
        result = real
    graph.outputs(result)
    return builder


def _reshaped(graph, source):
    """A RESHAPE to what is computed from the shape, as the converter writes it for an open batch."""
    shape, size = graph.tensor("shape", "INT32", [2]), graph.tensor("size", "INT32", [])
    one = [graph.tensor(f"number{number}", "INT32", [1], data=[number]) for number in (0, 1)]
    two = graph.tensor("two", "INT32", [], data=[2])
    sizes, result = graph.tensor("sizes", "INT32", [2]), graph.tensor("reshaped", "FLOAT32", [1, 2], signature=[-1, 2])
    graph.node("SHAPE", [source], [shape], 1, {"out_type": 2})
    graph.node("STRIDED_SLICE", [shape, one[0], one[1], one[1]], [size], 1, {"shrink_axis_mask": 1})
    graph.node("PACK", [size, two], [sizes], 1, {"values_count": 2, "axis": 0})
    graph.node("RESHAPE", [source, sizes], [result], 1, None)
    return result


class Fake:
    """In the place of ``convert``: counts what it is asked for, and fails where it is told to.

    ``failures`` are by the name of settings; an exception there is raised.
    """

    def __init__(self, folder: Path, failures=(), make=dense) -> None:
        self.folder = folder
        self.failures = dict(failures)
        self.make = make
        self.asked: list[tuple[str, str]] = []

    def __call__(self, source, route, settings, cache, calibration=DRAWN, limits=None):
        self.asked.append((route.name, settings.name))
        given = (source, route, settings, calibration, f"# {route.name}\nconvert({settings.name!r})\n")
        found = self.failures.get(settings.name)
        if isinstance(found, BaseException):
            raise found
        lacking = next((each for each in (route.converter, route.quantizer) if each is not None and each.is_missing), None)
        if lacking is not None:
            found = Failure(FailureKind.MISSING, f"not installed: {lacking.install}")
        if found is not None:
            return Conversion(*given, failure=found, seconds=1.0)
        content = bytes(self.make(settings).bytes())
        path = self.folder / f"{len(self.asked)}.tflite"
        path.write_bytes(content)
        return Conversion(*given, str(path), len(content), hashlib.sha256(content).hexdigest(), seconds=1.0)


def cost(share, *, outcome="delegated", kernels=1, border=0, work=100):
    return Cost(Measures(outcome, 10, 5, kernels, kernels, border), share, work)


def row(number, shares, size=1, error=0.0, *, same_as=None, **of_cost):
    made = Conversion(SOURCE, TENSORFLOW, FLOAT, DRAWN, "", size=size)
    difference = None
    if error is not None:
        difference = Difference((TensorDifference("y", 1, 1, 1, error, error, 1.0, ""),), (), 1)
    costs = tuple([cost(share, **of_cost) for share in shares])
    return SweepRow(number, made, Origin(""), costs, difference, same_as=same_as)

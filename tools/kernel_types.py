"""Measure which types CPU kernels compute: ``delegate_sim/runtime/invoke_types.json``.

``make kernel-types ARGS="tf-2.14=FOLDER litert-2.3.0=FOLDER ..."`` makes the table again, from wheels of releases, oldest first.
Each folder has an installed wheel (``pip install --target FOLDER ai-edge-litert==2.3.0``, or tflite-runtime). There is a model of
one node for each operator and type. A process with the wheel invokes the models, without the delegate that is applied by default.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from delegate_sim.model import schema
from fixtures.builder import ModelBuilder

TABLE = Path(__file__).resolve().parents[1] / "delegate_sim" / "runtime" / "invoke_types.json"
_NAMES = """
FLOAT32 FLOAT16 BFLOAT16 FLOAT64 INT8 UINT8 INT16 INT32 INT64 UINT32 UINT16 UINT64 BOOL STRING INT4 COMPLEX64 INT2 UINT4
COMPLEX128 FLOAT8_E4M3FN FLOAT8_E5M2
"""
TYPES = tuple(_NAMES.split())
_QUANTIZED = ("INT8", "UINT8", "INT16", "INT4", "INT2", "UINT4")
_FORMATS = {"INT32": "<i4", "INT64": "<i8", "FLOAT32": "<f4"}
_BIAS = {"INT8": "INT32", "UINT8": "INT32", "INT16": "INT64"}
_RESULT_SCALES = {"LOGISTIC": (8, 15), "SOFTMAX": (8, 15), "TANH": (7, 15), "LOG_SOFTMAX": (4, 4)}
"""For results with a prescribed scale, the binary digits behind the point, in 8 and in 16 bits."""
_RESULT_ZEROS = {("LOGISTIC", "INT8"): -128, ("SOFTMAX", "INT8"): -128, ("LOG_SOFTMAX", "INT8"): 127}
_RESULT_ZEROS |= {("TANH", "UINT8"): 128, ("LOG_SOFTMAX", "UINT8"): 255}
_OK, _FAILS = "ok", "fails in Invoke"

_IMAGE = (1, 4, 4, 2)
_PADDED = ((4, 2), [0, 0, 1, 1, 1, 1, 0, 0])


class Operand(NamedTuple):
    """An operand of a case. ``type`` is a type, ``T`` or ``U`` for a type that is tried, or ``B`` for the type of a bias."""

    type: str
    shape: tuple[int, ...] = _IMAGE
    values: Sequence[float] | None = None
    is_weights: bool = False


class Case(NamedTuple):
    """A node that is measured. ``tested`` is the operand in the table. ``when`` has the types ``T`` for which it is tested."""

    op: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    options: Mapping[str, object] = {}
    tested: str = "input 0"
    when: tuple[str, ...] = ()


_T, _U = Operand("T"), Operand("U")


def _t(*shape: int) -> Operand:
    return Operand("T", shape)


def _ints(*values: int, shape: tuple[int, ...] | None = None) -> Operand:
    return Operand("INT32", (len(values),) if shape is None else shape, values)


def _number(value: int) -> Operand:
    return _ints(value, shape=())


def _cases() -> Iterator[Case]:
    unary = "ELU EXP HARD_SWISH LOGISTIC LOG_SOFTMAX NEG RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 SIGN TANH ZEROS_LIKE"
    for op in unary.split():
        yield Case(op, (_T,), (_T,))
    yield Case("SOFTMAX", (_T,), (_T,), {"beta": 1.0})
    yield Case("GELU", (_T,), (_T,))
    yield Case("LEAKY_RELU", (_T,), (_T,), {"alpha": 0.1})
    yield Case("PRELU", (_T, _t(1, 1, 2)), (_T,))
    binary = "ADD SUB MUL DIV MAXIMUM MINIMUM SQUARED_DIFFERENCE BITWISE_XOR RIGHT_SHIFT ADD_N"
    for op in (*binary.split(), *[f"STABLEHLO_{op}" for op in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM", "AND", "SHIFT_LEFT")]):
        yield Case(op, (_T, _T), (_T,))
    for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        yield Case(op, (_T, _T), (Operand("BOOL"),))
    for op in ("SUM", "MEAN", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"):
        yield Case(op, (_T, _ints(1)), (_t(1, 4, 2),))
    yield Case("TOPK_V2", (_t(2, 8), _number(3)), (_t(2, 3), Operand("INT32", (2, 3))))
    yield Case("TRANSPOSE", (_t(2, 3, 4), _ints(2, 0, 1)), (_t(4, 2, 3),))
    padding = Operand("INT32", *_PADDED)
    yield Case("PAD", (_T, padding), (_t(1, 6, 6, 2),))
    yield Case("PADV2", (_T, padding, _t()), (_t(1, 6, 6, 2),))
    yield Case("MIRROR_PAD", (_T, padding), (_t(1, 6, 6, 2),))
    yield Case("SLICE", (_T, _ints(0, 1, 1, 0), _ints(1, 2, 2, 2)), (_t(1, 2, 2, 2),))
    yield Case("STRIDED_SLICE", (_T, _ints(0, 1, 1, 0), _ints(1, 3, 3, 2), _ints(1, 1, 1, 1)), (_t(1, 2, 2, 2),))
    yield Case("TILE", (_t(2, 3), _ints(2, 1)), (_t(4, 3),))
    yield Case("FILL", (_ints(2, 3), _t()), (_t(2, 3),), tested="input 1")
    for op in ("SELECT", "SELECT_V2"):
        yield Case(op, (Operand("BOOL", (2, 3)), _t(2, 3), _t(2, 3)), (_t(2, 3),), tested="input 1")
    yield Case("ONE_HOT", (Operand("INT32", (2,)), _number(3), _t(), _t()), (_t(2, 3),), {"axis": -1}, "input 2")
    yield Case("SPACE_TO_BATCH_ND", (_T, _ints(2, 2), _ints(0, 0, 0, 0, shape=(2, 2))), (_t(4, 2, 2, 2),))
    yield Case("BATCH_TO_SPACE_ND", (_t(4, 2, 2, 2), _ints(2, 2), _ints(0, 0, 0, 0, shape=(2, 2))), (_T,))
    for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        yield Case(op, (_T, _ints(8, 8)), (_t(1, 8, 8, 2),))
    pool = {"padding": 1, "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
        yield Case(op, (_T,), (_t(1, 2, 2, 2),), pool)
    yield Case("DYNAMIC_UPDATE_SLICE", (_t(4, 3), _t(2, 3), Operand("INT32", (2,))), (_t(4, 3),))
    yield Case("UNIQUE", (_t(4),), (_t(4), Operand("INT32", (4,))), {"idx_out_type": 2})
    yield Case("MULTINOMIAL", (Operand("FLOAT32", (1, 4)), _number(2)), (_t(1, 2),), {"seed": 1}, "output 0")
    for op in ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"):
        yield Case(op, (_ints(2, 3),), (_t(2, 3),), {"seed": 1}, "output 0")
    yield Case("DILATE", (_t(2, 2), _ints(2, 2), _t()), (_t(3, 3),))
    sizes = [Operand("INT64", (2,), values) for values in ((2, 2), (1, 1), (1, 1))]
    yield Case("REDUCE_WINDOW", (_t(4, 4), _t(), *sizes), (_t(3, 3),), {"reduce_function": 1})
    sub_byte = ("INT4", "INT2", "UINT4")
    others = tuple([name for name in TYPES if name not in ("FLOAT32", "STRING", "UINT64", *sub_byte, *TYPES[18:])])
    yield Case("CAST", (_T,), (_U,))
    for when in (("FLOAT32",), others, sub_byte):
        yield Case("CAST", (_T,), (_U,), tested="output 0", when=when)
    conv = {"padding": 0, "stride_w": 1, "stride_h": 1}
    kernel = Operand("U", (3, 3, 3, 2), is_weights=True), Operand("B", (3,), is_weights=True)
    yield Case("CONV_2D", (_T, *kernel), (_t(1, 4, 4, 3),), conv, "input 1", ("INT8",))
    kernel = Operand("U", (1, 3, 3, 2), is_weights=True), Operand("B", (2,), is_weights=True)
    yield Case("DEPTHWISE_CONV_2D", (_T, *kernel), (_T,), {**conv, "depth_multiplier": 1}, "input 1", ("FLOAT32",))
    kernel = Operand("U", (3, 8), is_weights=True), Operand("B", (3,), is_weights=True)
    yield Case("FULLY_CONNECTED", (_t(2, 8), *kernel), (_t(2, 3),), {}, "input 1", ("FLOAT32",))


CASES = tuple(_cases())


class Trial(NamedTuple):
    """A model of a case. ``found`` is the type of the tested operand."""

    case: Case
    found: str
    model: bytes


def trials(case: Case, only: Sequence[str] = TYPES) -> Iterator[Trial]:
    """Yield the models of a case, with each type in ``only``, quantized and not quantized."""
    side, position = case.tested.split()
    tested = (case.inputs if side == "input" else case.outputs)[int(position)].type
    given = {operand.type for operand in (*case.inputs, *case.outputs)}
    for first, second in itertools.product(case.when or (TYPES if "T" in given else ("",)), TYPES if "U" in given else ("",)):
        types = {"T": first, "U": second, "B": _BIAS.get(first, first)}
        if types[tested] not in only:
            continue
        for is_quantized in (True, False) if {first, second} & set(_QUANTIZED) else (False,):
            yield Trial(case, types[tested], _model(case, types, is_quantized))


def _model(case: Case, types: Mapping[str, str], is_quantized: bool) -> bytes:
    builder = ModelBuilder()
    graph = builder.subgraph()
    inputs, outputs = [], []
    for number, operand in enumerate(case.inputs):
        name, quantization = types.get(operand.type, operand.type), dict[str, Any]()
        if is_quantized and operand.type in types:
            quantization = {"scale": 0.01 if operand.type == "B" else 0.1} if name in (*_QUANTIZED, "INT32", "INT64") else {}
        if operand.values is None and not operand.is_weights:
            inputs.append(graph.input(f"input{number}", name, operand.shape, **quantization))
            continue
        data = bytes((int(np.prod(operand.shape)) * (schema.BITS_PER_ELEMENT.get(name) or 8) + 7) // 8)
        if operand.values is not None:
            data = np.array(operand.values, _FORMATS[name]).tobytes()
        inputs.append(graph.tensor(f"input{number}", name, operand.shape, data=data, **quantization))
    for number, operand in enumerate(case.outputs):
        name, quantization = types.get(operand.type, operand.type), {}
        if is_quantized and operand.type in types and name in _QUANTIZED:
            digits = _RESULT_SCALES.get(case.op)
            scale = 0.1 if digits is None else 2.0 ** -digits[name == "INT16"]
            quantization = {"scale": scale, "zero_point": _RESULT_ZEROS.get((case.op, name), 0)}
        outputs.append(graph.tensor(f"output{number}", name, operand.shape, **quantization))
    options = {**case.options}
    if case.op == "CAST":
        numbers = schema.enum_values("TensorType")
        options = {"in_data_type": numbers[types["T"]], "out_data_type": numbers[types["U"]]}
    graph.node(case.op, inputs, outputs, options=options if schema.options_table(case.op) else None)
    graph.outputs(*outputs)
    return bytes(builder.bytes())


_RUNNER = """
import sys
try:
    from tflite_runtime.interpreter import Interpreter, OpResolverType
except ImportError:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
import numpy as np
for path in map(str.strip, sys.stdin):
    result = "prepare"
    try:
        interpreter = Interpreter(path, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        interpreter.allocate_tensors()
        result = "fails in Invoke"
        for own in interpreter.get_input_details():
            value = b"a" if own["dtype"] is np.bytes_ else 1
            interpreter.set_tensor(own["index"], np.full(own["shape"], value, own["dtype"] if value == 1 else None))
    except (RuntimeError, TypeError, ValueError, KeyError):
        pass  # numpy has no such type
    if result != "prepare":
        print(path, "begins", sep="\\t", flush=True)
        try:
            interpreter.invoke()
            result = "ok"
        except RuntimeError:
            pass
    print(path, result, sep="\\t", flush=True)
"""


def results(paths: Sequence[str], folder: str) -> Mapping[str, str]:
    """Prepare and invoke models with the wheel in a folder ("" for the installed one). Return what happened to each model."""
    outcomes: dict[str, str] = {}
    while left := [path for path in paths if path not in outcomes]:
        environment = {**os.environ, "PYTHONPATH": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [sys.executable, "-c", _RUNNER]
        done = subprocess.run(command, input="\n".join(left), env=environment, capture_output=True, text=True, check=False)
        lines = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 1]
        if not lines:
            raise RuntimeError(done.stderr)
        outcomes.update((path, result) for path, result in lines)
        if done.returncode:  # the process ended at the model after the last result
            died = lines[-1][0] if lines[-1][1] == "begins" else left[left.index(lines[-1][0]) + 1]
            outcomes[died] = "ends"
    return outcomes


def _types(case: Case, outcomes: Mapping[str, Mapping[str, set[str]]]) -> str:
    """Return the types that releases compute. A type that not all releases compute has the release in which that changed."""
    words = []
    for name in TYPES:
        known = [(release, _OK in seen[name]) for release, seen in outcomes.items() if seen.get(name, set()) & {_OK, _FAILS}]
        changes = [release for (release, now), (_, before) in zip(known[1:], known, strict=False) if now != before]
        if len(changes) > 1:
            raise ValueError(f"{case.op} computes {name} only between releases: {known}")
        if changes:
            words.append(f"{name}{'<' if known[0][1] else '>='}{changes[0]}")
        elif known and known[0][1]:
            words.append(name)
    if not words:
        raise ValueError(f"{case.op} computes no type, so its model is wrong")
    return " ".join(words)


def table(folders: Mapping[str, str]) -> Mapping[str, Any]:
    """Measure the wheels in the folders, and return the content of the table."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        own = [
            (str(Path(directory, f"{place}.tflite")), trial) for place, trial in enumerate(itertools.chain(*map(trials, CASES)))
        ]
        for path, trial in own:
            Path(path).write_bytes(trial.model)
        measured = {release: results([path for path, _ in own], folder) for release, folder in folders.items()}
        for case in CASES:
            outcomes: dict[str, dict[str, set[str]]] = {release: {} for release in folders}
            for path, trial in own:
                if trial.case is case:
                    for release, seen in measured.items():
                        outcomes[release].setdefault(trial.found, set()).add(seen[path])
            when = {"when": f"input 0 {' '.join(case.when)}"} if case.when else {}
            rows.append({"op": case.op, "operand": case.tested, **when, "types": _types(case, outcomes)})
    return {"tested": " ".join(TYPES), "releases": " ".join(folders), "rows": rows}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the wheels and write the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.kernel_types", description=__doc__)
    parser.add_argument("wheels", nargs="+", metavar="RELEASE=FOLDER", help="a release and the folder of its wheel, oldest first")
    given = parser.parse_args(arguments)
    content = table(dict(wheel.split("=", 1) for wheel in given.wheels))
    rows = ",\n".join([f"    {json.dumps(row)}" for row in content["rows"]])
    head = [f"  {json.dumps(key)}: {json.dumps(content[key])},\n" for key in ("tested", "releases")]
    TABLE.write_text(f'{{\n{"".join(head)}  "rows": [\n{rows}\n  ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()

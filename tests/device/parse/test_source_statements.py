"""Lines of a log are found in the table of upstream log statements, with the component that prints them and typed fields."""

from __future__ import annotations

import itertools
import pkgutil
import re

import pytest

from delegate_sim.device.parse import known_lines
from delegate_sim.device.parse.error_meanings import explained_errors
from delegate_sim.device.parse.known_lines import is_specific
from delegate_sim.device.parse.log import read_log
from tests.support.device.logs import SOURCES

ROWS = [
    line.split("\t")
    for line in pkgutil.get_data("delegate_sim.device.parse", "sources.tsv").decode().splitlines()
    if not line.startswith(("# ", "= ", "/ "))
]
SAMPLES = {"d": "7", "f": "0.5", "x": "0x1f", "s": "word", "v": "word"}


@pytest.mark.parametrize(
    ("line", "printed_by", "values"),
    [
        ("TfLiteGpuDelegate Invoke: Write to buffer failed. Source data is larger than buffer.", ("the GPU delegate",), ()),
        (
            "failed to create Convolution (NHWC, F32) operator with 0x1 kernel: kernel dimensions must be non-zero",
            ("XNNPACK",),
            ("Convolution (NHWC, F32)", 0, 1),
        ),
        ("Failed to build LiteRt model", ("LiteRT-LM",), ()),
    ],
)
def test_components_and_fields(line, printed_by, values):
    statement = SOURCES.of(line)
    assert (statement.printed_by, statement.values) == (printed_by, values)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "my application failed to load the profile of a user",
        "failed to create Convolution operator",
        "a failed to create Convolution (NHWC, F32) operator with onex1 kernel: kernel dimensions must be non-zero",
        "ToTensorConverterX: input data size does not match expected sizes",
    ],
)
def test_other_lines_are_unknown(line):
    assert SOURCES.of(line) is None


def test_every_statement_is_specific_and_found():
    """A line that is made from a statement is found, unless many components print it."""
    assert [form for _, form, *_ in ROWS if not is_specific(form)] == []
    lines = [
        re.sub(r"%([dfxsv%])", lambda field: SAMPLES.get(field[1], "%"), form)
        for _, form, *_ in itertools.islice(ROWS, 0, None, 23)
    ]
    missing = [line for line in lines if SOURCES.of(line) is None]
    assert len(missing) <= len(lines) // 20, missing[:10]


def test_an_unknown_error_is_given_back_with_its_component():
    log = read_log(
        "INFO: Created TensorFlow Lite delegate for GPU.\n"
        "ERROR: failed to create Convolution (NHWC, F32) operator with 0x1 kernel: kernel dimensions must be non-zero\n"
        "Segmentation fault\n",
        SOURCES,
    )
    errors = {error.printed_by: error.meaning for error in explained_errors(log)}
    assert errors["XNNPACK",] == ""


def test_each_comparison_costs_steps(monkeypatch):
    compared, spent = [], []
    values_of = known_lines._values
    monkeypatch.setattr(known_lines, "_values", lambda row, *rest: compared.append(row) or values_of(row, *rest))
    monkeypatch.setattr(known_lines, "spend_steps", lambda steps, _: spent.append(steps))
    SOURCES.of("op node tensor input output type error failed index size not supported invalid delegate get the model")
    assert compared
    assert spent.count(known_lines._STEPS_OF_A_COMPARISON) >= len(compared)

"""Every output of ``analyze`` gives the same first reason for nodes on the CPU: the main blocker."""

from __future__ import annotations

import csv
import io
import re

import pytest
from click.testing import CliRunner

from delegate_sim_cli.main import program

MODEL = "fixtures/models/transformer_block.tflite"
DELEGATES = ("gpu", "coreml", "hexagon", "vx", "xnnpack")


def analyzed(*arguments):
    return CliRunner().invoke(program, ["analyze", MODEL, *arguments], env={"COLUMNS": "200"}).output


@pytest.fixture(scope="module")
def sheet():
    return {row["delegate"]: row for row in csv.DictReader(io.StringIO(analyzed("--delegate", "all", "--format", "csv")))}


@pytest.fixture(scope="module")
def overview():
    rows = re.findall(r"^    (\S+) .*  (\S+) ([\d,]+): (\S+)$", analyzed(), re.MULTILINE)
    return {delegate: (op, code) for delegate, op, _, code in rows}


@pytest.mark.parametrize("delegate", DELEGATES)
def test_the_first_reason_is_the_main_blocker(sheet, overview, delegate):
    op, code = overview[delegate]
    assert (sheet[delegate]["op"], sheet[delegate]["code"]) == (op, code)
    text = analyzed("--delegate", delegate)
    reasons, _, _ = text.partition("by reason\n")[2].partition("\n\n")
    assert re.match(rf"  {code}: needs ", reasons)
    assert re.search(r"^    (\S+): \d+ nodes?", reasons, re.MULTILINE)[1] == op
    assert f"`{code}`" in analyzed("--delegate", delegate, "--format", "markdown").partition("**warning**")[2].partition("\n")[0]


def test_the_main_blocker_of_a_rejected_model_is_the_rejection():
    arguments = ["analyze", "fixtures/models/float16_weights_many_partitions.tflite", "--defaults", "api"]
    invoked = [CliRunner().invoke(program, [*arguments, *more], env={"COLUMNS": "200"}) for more in ((), ("--format", "csv"))]
    table, rows = [result.output for result in invoked]
    (row,) = [row for row in csv.DictReader(io.StringIO(rows)) if row["delegate"] == "nnapi"]
    assert (row["op"], row["code"]) == ("CONV_2D", "cpu-kernel-after-remapping")
    assert re.search(r"nnapi +rejected .* CONV_2D 1: cpu-kernel-after-remapping$", table, re.MULTILINE)

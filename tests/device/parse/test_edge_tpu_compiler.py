"""The output of the Edge TPU compiler, of several versions and with several endings; the outputs are made up."""

from __future__ import annotations

import pytest

from delegate_sim.device.parse.log import read_log, read_runs
from delegate_sim.device.parse.log_summary import summary_of
from tests.support.device.logs import summary
from tests.support.edge_tpu import FAILURE

SUCCESS = """Edge TPU Compiler version 15.0.340273435
Started a compilation timeout timer of 180 seconds.

Model compiled successfully in 2160 ms.

Input model: net.tflite
Input size: 23.66MiB
Output model: net_edgetpu.tflite
Number of Edge TPU subgraphs: 2
Total number of operations: 12
Number of operations that will run on Edge TPU: 9
Number of operations that will run on CPU: 3

Operator                       Count      Status

QUANTIZE                       1          Mapped to Edge TPU
CONV_2D                        8          Mapped to Edge TPU
SOFTMAX                        1          Max 16000 elements supported
CUSTOM                         2          Operation is working on an unsupported data type
Compilation child process completed within timeout period.
Compilation succeeded!
"""


def test_what_was_compiled():
    found = summary(SUCCESS)
    compilation = found.log.edge_tpu
    assert (compilation.version, compilation.source, compilation.result) == ("15.0.340273435", "net.tflite", "net_edgetpu.tflite")
    assert (compilation.mapped, compilation.left, compilation.kernels) == (9, 3, 2)
    assert (found.delegate.name, found.delegate.outcome) == ("edgetpu", "compiled")
    assert [(op, times) for op, _, times in found.refusals] == [("SOFTMAX", 1), ("CUSTOM", 2)]
    assert not found.log.unused_count


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("Compilation failed: Compilation failed due to large activation tensors in model.", "smaller input"),
        ("Compilation failed: Model not quantized", "8-bit integers"),
        ("Invalid model: net.tflite", "cannot read the model"),
        ("Internal compiler error. Aborting!", "the compiler itself failed"),
    ],
)
def test_why_nothing_was_compiled(line, meaning):
    found = summary(f"Edge TPU Compiler version 16.0.384591198\n{line}\nCompilation failed!\n")
    assert found.delegate.outcome == "not-compiled"
    assert found.cause in line
    assert meaning in found.errors[0].meaning


def test_a_later_attempt_that_succeeds_counts():
    text = FAILURE + "Try to compile segment with 10 ops\n" + SUCCESS.partition("\n")[2]
    found = summary(text)
    assert (found.delegate.outcome, found.log.edge_tpu.failure) == ("compiled", "")


def test_models_one_after_another_are_runs():
    runs = [summary_of(log) for log in read_runs((FAILURE + SUCCESS).splitlines(keepends=True))]
    assert [run.delegate.outcome for run in runs] == ["not-compiled", "compiled"]


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ("More than one subgraph is not supported", "edgetpu_compiler -a"),
        ("Operation is working on an unsupported data type", "8-bit integers"),
        ("Tensor has unsupported rank (up to 3 innermost dimensions mapped)", "three innermost dimensions"),
        ("Operation is otherwise supported, but not mapped due to some unspecified limitation", "does not say which"),
        ("Operation version not supported", "newer than the compiler"),
        ("Operation not supported", "does not support the operator"),
        ("Attempting to use a dynamic-sized tensor as an input", "known when the model is compiled"),
        ("Mapped to Edge TPU", "the Edge TPU runs it"),
    ],
)
def test_what_a_status_means(status, meaning):
    (row,) = read_log(f"Operator   Count   Status\nADD   2   {status}\n").edge_tpu.rows
    assert meaning in row.meaning

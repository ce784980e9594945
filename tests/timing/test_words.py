"""Measured times in words."""

from __future__ import annotations

import pytest

from delegate_sim.device.parse.operator_tables import NO_TIMES, RunTimes
from delegate_sim.timing.measured import NODE, UNMATCHED, MeasuredPart, Timing, milliseconds, timing_sentence


def timing(*parts, times=NO_TIMES):
    return Timing("p.txt", (), parts, (), (), times)


@pytest.mark.parametrize(("ms", "text"), [(0.0004, "0.000 ms"), (9.9994, "9.999 ms"), (10, "10.0 ms"), (1234.56, "1,234.6 ms")])
def test_milliseconds(ms, text):
    assert milliseconds(ms) == text


def test_the_largest_groups_come_first():
    parts = [MeasuredPart(NODE, f"OP{number}", "", number + 1.0, 1, ()) for number in range(6)]
    text = timing_sentence(timing(*parts, MeasuredPart(UNMATCHED, "X", "", 9.0, 1, ())))
    assert text.startswith("measured in p.txt: 30.0 ms; not matched 9.000 ms (30.0 %), OP5 on the CPU 6.000 ms (20.0 %), ")
    assert text.endswith("2 more 3.000 ms (10.0 %)")


def test_a_file_without_nodes():
    assert timing_sentence(timing(times=RunTimes(inference_ms=2.0))) == "p.txt has no times of nodes; an inference takes 2.000 ms"
    assert timing_sentence(timing()) == "p.txt has no times of nodes"

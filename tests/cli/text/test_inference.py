"""The comparison of two models as text: the first line, and the measured latency."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.inference.difference import Difference, Latency, TensorDifference
from delegate_sim_cli.text.fix import answer_text
from delegate_sim_cli.text.inference import difference_lines, latency_text


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ((1.0,) * 5, (2.0, 2.1, 1.9, 2.0, 2.0), "2.00 times slower than before (1e+03 ms), 1.95 to 2.05 times, on this CPU "),
        # Most runs of the second model are faster than the run before, but the second median is larger.
        (
            (0.001, 0.001, 0.001, 0.0012, 0.0012),
            (0.0009, 0.0009, 0.00105, 0.00108, 0.00108),
            "1.11 times faster than before (1 ms), 1.03 to 1.11 times, on ",
        ),
        ((0.001,) * 5, (0.0009, 0.0011, 0.001, 0.0012, 0.00095), "As fast as before (1 ms), 0.92 to 1.15 times the latency, on "),
    ],
)
def test_the_latency_has_one_estimate(first, second, text):
    assert latency_text(Latency(first, second)).startswith(text)


@pytest.mark.parametrize(
    ("is_constant", "between", "verified", "fixed"),
    [
        (False, [], "Outputs are the same, bit for bit: 1 output", "same outputs, bit for bit"),
        (
            True,
            [True, False],
            "Outputs are the same, bit for bit, but no output depends on the tried inputs: 1 output",
            "exact, but no output depends on the tried inputs; 1 tensor between nodes does, and is the same",
        ),
        (
            True,
            [True],
            "This shows nothing: no output depends on the tried inputs. Outputs are equal: 1 output",
            "exact, but this shows nothing: no output depends on the tried inputs",
        ),
    ],
)
def test_the_first_line_claims_no_more_than_the_comparison_shows(is_constant, between, verified, fixed):
    output, *tensors = [TensorDifference("y", 4, 0, 0, 0.0, 0.0, 1.0, "", is_constant=own) for own in (is_constant, *between)]
    difference = Difference((output,), tuple(tensors), 2)
    assert next(difference_lines(difference, 120, False)).text.startswith(verified)
    plan = SimpleNamespace(
        is_changed=True, simulations=1, holds_for=(), exactness=Exactness.EXACT, model=SimpleNamespace(size=10)
    )
    written = SimpleNamespace(path="f.tflite", size=10, unread_bytes=0, difference=difference, second_path=None)
    assert answer_text(plan, written, "").endswith(f": {fixed}")

"""The measured latency as text."""

from __future__ import annotations

import pytest

from delegate_sim.inference.difference import Latency
from delegate_sim_cli.text.inference import latency_text


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

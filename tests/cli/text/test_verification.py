"""A comparison on a delegate's real code, as text."""

from __future__ import annotations

import pytest

from cli.text.elements.paragraphs import GOOD
from cli.text.verification import verification_lines
from delegate_sim.verification.comparison import ErrorTolerance
from delegate_sim.verification.verify import Verification


@pytest.mark.parametrize(("delegated", "is_praised"), [(None, True), (2, True), (1, True), (0, False)])
def test_a_delegate_that_runs_no_node_is_not_praised(delegated, is_praised):
    result = Verification("m.tflite", "mldrift", "litert-2.3.0", ErrorTolerance(0.001, 1), 2, delegated, 2, ())
    first = next(verification_lines(result, 80, False))
    assert (first.style == GOOD) is is_praised

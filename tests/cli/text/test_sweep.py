"""Tables of sweeps as text."""

from __future__ import annotations

import pytest

from delegate_sim_cli.text.sweep import difference_text
from tests.support.conversion.sweep_conversions import row


@pytest.mark.parametrize(
    ("error", "text"),
    [(0.0, "0 %"), (0.0041, "0.41 %"), (0.0996, "10 %"), (0.996, "100 %"), (12.5, "1,250 %"), (None, "unknown")],
)
def test_differences_are_shares_of_the_range(error, text):
    assert difference_text(row(1, [1], error=error)) == text
